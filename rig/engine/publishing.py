"""Publishing: the cyclic thread takes a snapshot of the engine at the end of each cycle; all others read that alone."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from actuators import Status
from kinematics import Array, kernel, rotate, rotation_matrix
from rig.engine.lease import Lease
from rig.engine.snapshot import DriveReport, Snapshot, Unproven, make_snapshot
from rig.safety import Cause, no_force
from rig.states import State

if TYPE_CHECKING:
    from rig.engine.core import Engine

_NONE = (0.0,) * 6
_REPORTING = 0.5  # s from one look at what the drives say of themselves to the next


@kernel
def _farthest_joint_kernel(geometry: Array, pose: Array, joints: Array) -> float:
    """Largest distance, m, of a platform joint at a pose (7,) from its place among `joints` (6, 3), base frame."""
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = rotation_matrix(pose[3], pose[4], pose[5], pose[6])
    farthest = 0.0
    for i in range(6):
        x, y, z = rotate(
            r00, r01, r02, r10, r11, r12, r20, r21, r22, geometry[i, 6], geometry[i, 7], geometry[i, 8]
        )  # fmt: skip
        x, y, z = x + pose[0] - joints[i, 0], y + pose[1] - joints[i, 1], z + pose[2] - joints[i, 2]
        farthest = max(farthest, math.sqrt(x * x + y * y + z * z))
    return farthest


@dataclass(slots=True)
class RuntimeInfo:
    """What a snapshot tells of where its engine runs; see there."""

    realtime: tuple[str, ...] = ()
    recording: str = ""
    ring: str = ""
    loop: str = ""
    unproven: Unproven | None = None
    hold_left: float | None = None
    begun_under: Lease | None = None
    """the one under which the rig was last told to move"""


class Publisher:
    """Takes snapshots of an engine, in its cyclic thread.

    Args:
        engine: whose.

    `latest` is the one published last; any thread may read it, at any time. `surroundings` is for whoever runs the
    engine to fill in.
    """

    def __init__(self, engine: "Engine") -> None:
        geometry = engine.config.machine.geometry
        self._engine = engine
        self._geometry = geometry.array
        self._home = geometry.platform_joints(geometry.home_pose)
        self._virtual = engine.config.virtual is not None
        self._watchdog = max(engine.config.drives.watchdog, 2.0 * engine.config.exchange_period)
        self._tare_bound = engine.config.safety.bound("tare_shift")
        self._scale = engine.config.load_cells.range
        self._fields = engine.frame.fields
        self.surroundings = RuntimeInfo()
        self._reports: tuple[DriveReport, ...] = ()
        self._stopped_for: Cause | None = None
        """the first cause of the last stop, while the motion that it stopped stands"""
        self._reported = -math.inf
        """s, rig time at which they were made"""
        self.latest = self.take()

    def rehearse(self) -> None:
        """Have the kernel compiled, and publish what is known before the first cycle."""
        _farthest_joint_kernel(self._geometry, self._fields["pose"], self._home)
        self.publish()

    def publish(self) -> None:
        """Have everybody see what has come of the cycle."""
        self.latest = self.take()

    def take(self) -> Snapshot:
        """The engine as it stands."""
        engine, fields, around = self._engine, self._fields, self.surroundings
        machine, reference, bank, tick, sink = engine.machine, engine.reference, engine.bank, engine.tick, engine.sink
        if tick.t >= self._reported + _REPORTING:
            self._reported = tick.t
            self._reports = () if machine.state is State.OFF else tuple(map(bank.report, range(6)))
        if machine.cause is not None:
            self._stopped_for = machine.cause
        elif not reference.paused:
            self._stopped_for = None
        stopped_for = self._stopped_for if reference.paused else None
        state, cause, pose_known = machine.state, machine.cause, machine.homed and engine.frame.pose_valid
        braked = state is State.PARKED
        force = bank.force.tolist()
        return make_snapshot(
            state=state,
            stop=machine.stop,
            t=tick.t,
            finding=None if cause is None else cause.finding,
            cause_t=0.0 if cause is None else cause.t,
            latched=machine.latched,
            homed=machine.homed,
            paused=reference.paused,
            lease="",
            paused_for=None if stopped_for is None else stopped_for.finding,
            begun_by="" if around.begun_under is None or around.begun_under.held else around.begun_under.client,
            motion=engine.motions.name,
            last_motion=engine.motions.latest,
            path_time=reference.path_time,
            path_duration=reference.path_duration,
            pace=reference.rate,
            reference=tuple(fields["reference"][:7].tolist()),
            cycles=engine.cycles,
            overruns=tick.overruns,
            rate=engine.config.rate,
            virtual=self._virtual,
            realtime=around.realtime,
            recording=around.recording,
            rows=sink.recorded,
            dropped=sink.dropped,
            recording_fault=sink.fault,
            recording_room=sink.room,
            ring=around.ring,
            from_home=_farthest_joint_kernel(self._geometry, fields["pose"], self._home) if pose_known else math.nan,
            events=engine.events,
            echo_lag=tuple(map(int, bank.lag.tolist())),
            hold_left=around.hold_left,
            slowing=reference.slowing,
            settled=engine.settled_for(),
            stops=machine.stops,
            clearing=engine.clearing,
            pose_known=pose_known,
            silent=tuple([leg + 1 for leg in range(6) if bank.overdue(leg)]) if 0.0 in bank.fresh.tolist() else (),
            torque=(torque := tuple(bank.legs(Status.ENABLED))),
            powered=bank.powered(self._watchdog) if torque and state is not State.OFF else (),
            cells_silence=bank.cells_silence() if bank.cells_overdue else None,
            dead_cells=tuple(filter(None, [no_force(leg, force[leg], self._scale) for leg in range(6)])),
            force_model=tuple(fields["force_model"].tolist()) if braked else _NONE,
            tare_residual=tuple(engine.tare_residual.tolist()) if braked else _NONE,
            tare_bound=self._tare_bound,
            leg_test=None if engine.leg_test is None else engine.leg_test.status,
            loop=around.loop,
            unproven=around.unproven,
            slower=tick.slower,
            drives=self._reports,
            cells_rejected=bank.cells_rejected,
        )


def closing_counts(engine: "Engine") -> dict[str, Any]:
    """What a recording says at its end of the engine that made it, once its last cycle is done.

    Keys: `cycles`, `overruns`; by leg, (6,): `lagging` (good replies to an earlier cycle's command), `mismatched`
    (replies not believed for the command that they echo) and `rejected` (what came that was no good reply, those among
    it); `cells_rejected`, the same of devices that read load cells alone.
    """
    latest = engine.snapshot
    return {
        "cycles": latest.cycles,
        "overruns": latest.overruns,
        "lagging": engine.bank.lagging,
        "rejected": engine.bank.rejected,
        "cells_rejected": engine.bank.cells_rejected,
        "mismatched": engine.bank.mismatched,
    }
