"""Supervision of timing, feedback, reference and recording in every cycle, which stops the rig.

Each check tells the engine of what it finds, which stops the rig before the check continues.
"""

import math

import numpy as np

from actuators import Status
from kinematics import Array
from rig.config import RigConfig
from rig.engine.braking import Braking
from rig.engine.cycle_data import CycleData
from rig.engine.drive_group import DriveGroup
from rig.engine.laws import ControlLaw
from rig.engine.reference import Reference
from rig.findings import Code, Finding, Value
from rig.safety import (
    LAW_STATES,
    TORQUE_STATES,
    Act,
    Cause,
    FeedbackMonitor,
    InputChecks,
    LegReference,
    MeasuredBounds,
    Report,
    RestMonitor,
    StateMachine,
    TorqueChecks,
    TrafficCheck,
    Trip,
)
from rig.states import State, StopSeverity

ROOM_BOUNDS = (600.0, 120.0)
"""s of room on the disk; a warning is given once below each."""
_HOMED = Status.HOMED.value
_NO_LAG = [0.0] * 6
# Looked up once: a member that is looked up in its class takes 50 ns.
_IDLE, _HOMING, _QUICK_STOP = State.IDLE, State.HOMING, StopSeverity.QUICK_STOP
_MORE_ROOM = 1.2
"""Factor on a bound above which there is room again."""


class Supervision:
    """Judges each cycle.

    Args:
        config: gives the bounds.
        law: the active one, which determines the valid checks.
        drives, machine, cycle: supervised parts.
        act: is told of each finding, and stops the rig or records it before it returns.
    """

    def __init__(
        self,
        config: RigConfig,
        law: ControlLaw,
        drives: DriveGroup,
        machine: StateMachine,
        cycle: CycleData,
        act: Act,
    ) -> None:
        self._config = config
        self._act = act
        self.law = law
        self._drives = drives
        self._machine = machine
        self._cycle = cycle
        self._leg_reference = LegReference(cycle.reference.length, cycle.reference.velocity)
        self._limits = cycle.reference.limits
        self._monitor = FeedbackMonitor(config, drives.resolution, drives.velocity_feedback)
        self._measured = MeasuredBounds(config.machine, config.safety, drives.auxiliary)
        self._rest = RestMonitor(config.safety, config.period)
        self._braking = Braking(config, self._limits)
        self._checked_leg = 0
        self._torque = TorqueChecks(machine, drives.homing_ends_off)
        self._lag: list[float] = drives.lag.tolist()
        self._traffic = TrafficCheck(config.safety.rejected_replies, drives.devices, config.period)
        self._inputs = InputChecks(config.period, config.io_stale_time, config.stale_time + config.period, machine)
        self._overruns_in_a_row = 0
        self._unrecorded = False
        self._room = math.inf
        self._short = 0
        """number of `ROOM_BOUNDS` reported as undercut"""

    @property
    def controlled(self) -> bool:
        """Whether the control law commands the drives, so that checks of the control are valid."""
        return self._machine.state in LAW_STATES and self._machine.stop < _QUICK_STOP

    def forget(self) -> None:
        """Restart: the next sample is compared with none before it."""
        self._monitor.forget()
        self._rest.forget()
        self._torque.forget()
        self._traffic.forget()
        self._inputs.forget()

    def rehearse(self) -> None:
        """Judge the drives' present values once, so that kernels are compiled; nothing is stopped."""
        drives, followed, residual = self._drives, self._cycle.reference, self._cycle.model.residual
        length, velocity, force = drives.length, drives.velocity, drives.force
        standing = Reference(followed.now[:7])
        followed.foresee(standing, 0.0)
        self._braking.accept(0.0, followed.now, followed.legs, followed.condition, standing)
        self._braking.brake(standing, 0.0)
        self._braking.forget()
        self._monitor.check_motion(0.0, 1.0, drives, LegReference(length, velocity), homed=True, controlled=True)
        self._monitor.check_forces(0.0, drives, residual, controlled=False)
        self._measured.check_speed(0.0, drives.fresh, velocity)
        self._measured.check_force(0.0, drives.fresh, force, Code.FORCE_WHILE_HOMING)
        self._rest.check(0.0, 1.0, drives.fresh, drives.status, length, velocity, self._monitor.departure, homed=True)
        self.forget()

    def traffic_lately(self, device: int) -> tuple[int, float]:
        """See `TrafficCheck.lately`, for a device (index), drives first."""
        return self._traffic.lately(self._drives.traffic(device).name)

    def timing(self, t: float, missed: int) -> None:
        """Judge that `missed` cycles were skipped before the one at rig time `t` (s)."""
        if not missed:
            self._overruns_in_a_row = 0
            return
        bound, watchdog = self._config.safety.overruns_in_a_row, self._config.drives.watchdog
        self._overruns_in_a_row += 1
        if missed * self._config.period > watchdog:
            self.host_suspended(t, missed * self._config.period)
        elif self._overruns_in_a_row >= bound:
            found = Finding(Code.OVERRUNS, 0, self._overruns_in_a_row, bound)
            self._act(Trip(Cause(found, t), StopSeverity.CATEGORY_1, latch=False))

    def host_suspended(self, t: float, suspended: float) -> None:
        """Judge that the process was not run for `suspended` s before the feedback of the cycle at `t` (s)."""
        watchdog = self._config.drives.watchdog
        if suspended > watchdog:
            self._act(Trip(Cause(Finding(Code.HOST_SUSPENDED, 0, suspended, watchdog), t), StopSeverity.QUICK_STOP))

    def inputs(self, t: float) -> None:
        """Judge the digital inputs of the last exchange, at rig time `t` (s)."""
        io, machine = self._drives.io, self._machine
        if io is None:
            return
        for found in self._inputs.check(t, io, self._drives):
            stopping = machine.state is State.STOPPING and machine.latched
            if isinstance(found, Trip) and stopping and found.category <= machine.stop:
                self._act(Report("error", found.cause.finding))  # which stops nothing any more
            if isinstance(found, Trip):
                self._even_after_fault(found)
            else:
                self._act(found)

    def feedback(self, t: float, elapsed: float) -> None:
        """Judge the last exchange, at rig time `t` (s), `elapsed` s after the one before."""
        drives, machine, monitor, law = self._drives, self._machine, self._monitor, self.law
        found = monitor.check_drives(t, drives, homed=machine.homed)
        if found is not None:
            self._act(found)
        found = self._torque.check(t, drives, drives.asked, drives.searching)
        if found is not None:  # a fault of the drive, found before, would explain its torque
            self._even_after_fault(found)
            if drives.io is not None:
                self._inputs.torque_lost(t, found)
        lag = _NO_LAG if drives.prompt else drives.lag.tolist()
        if lag != self._lag:
            self._lag_changed(lag)
        while self._traffic.due(t):
            disturbed = self._traffic.check(t, drives.traffic(self._traffic.turn))
            if disturbed is not None:
                self._act(disturbed)
        self.references()
        found = monitor.check_motion(
            t,
            elapsed,
            drives,
            self._leg_reference,
            homed=machine.homed if law.platform else law.homed,
            controlled=self.controlled if law.platform else law.commanded,
            following_error_stop=law.following_error_stop,
        )
        if found is not None:
            self._act(found)
        if machine.homed and not self._cycle.measurement.pose_valid and drives.fresh.all():
            self._act(Trip(Cause(Finding(Code.LENGTHS_WITHOUT_POSE), t), StopSeverity.QUICK_STOP, self._poseless))
        found = monitor.check_forces(
            t,
            drives,
            self._cycle.model.residual,
            controlled=self.controlled and law.platform,
            alive=law.platform and machine.state is not _IDLE,
        )
        if found is not None:
            self._act(found)

    def references(self) -> None:
        """If a drive has lost its reference, the rig is not homed any more, independent of other findings."""
        if not self._drives.status_all & _HOMED:
            self._machine.homed = False

    def measured(self, t: float, elapsed: float) -> None:
        """Judge the measured values by the machine's limits; arguments as `feedback`, which comes first."""
        drives, machine, measured = self._drives, self._machine, self._measured
        self._checked_leg = (self._checked_leg + 1) % 6  # these change slowly: one drive a cycle
        found = measured.check_drive(t, self._checked_leg)
        if found is not None:
            self._act(found)
        torque = machine.state in TORQUE_STATES
        if torque and (lost := drives.watchdog_fault(self._checked_leg)):  # elsewhere engaging is refused
            leg = self._checked_leg + 1
            self._act(Trip(Cause(Finding(Code.NO_WATCHDOG, leg, details={"text": lost}), t), StopSeverity.CATEGORY_1))
        if not torque:
            departure = self._monitor.departure
            found = self._rest.check(
                t, elapsed, drives.fresh, drives.status, drives.length, drives.velocity, departure, homed=machine.homed
            )
            if found is not None:
                self._even_after_fault(found)
            return
        self._rest.forget()
        if machine.stop < _QUICK_STOP:
            found = measured.check_speed(t, drives.fresh, drives.velocity)
            if found is not None:
                self._act(found)
        if not drives.cells_fresh:
            return
        found = None
        if machine.state is _HOMING:
            found = measured.check_force(t, drives.fresh, drives.force, Code.FORCE_WHILE_HOMING)
        elif self.controlled and any(self.law.own_loops):
            # a test tells of a dead cell; where six drives hold, one at its end of scale may be a force as well
            scale = math.inf if self.law.platform else self._config.load_cells.range
            fresh = np.multiply(drives.fresh, self.law.own_loops)
            found = measured.check_force(t, fresh, drives.force, Code.FORCE_WHILE_HOLDING, scale)
        if found is not None:
            self._act(found)

    def reference(self, t: float, source: Reference) -> None:
        """Judge the reference `source` of rig time `t` (s), if the host follows one; brake if it fails."""
        followed, braking = self._cycle.reference, self._braking
        if not (self.controlled and self.law.platform):
            braking.forget()
            return
        cause = braking.accept(t, followed.now, followed.legs, followed.condition, source)
        if cause is not None:
            self._act(Trip(_of_source(cause, source), StopSeverity.CATEGORY_2))
            braking.brake(source, t)
            followed.evaluate(source, self._cycle.measurement)

    def foresee(self, t: float, source: Reference) -> None:
        """Judge the reference of the next command at rig time `t` (s); it is not commanded if it fails.

        Raises:
            DynamicsError: the reference is not defined there.
        """
        followed = self._cycle.reference
        cause = followed.foresee(source, t)
        if cause is not None:
            self._act(Trip(_of_source(cause, source), StopSeverity.CATEGORY_2))
            self._braking.brake(source, t)
            followed.foresee(source, t)

    def come_to_rest(self, t: float, source: Reference) -> None:
        """Brake the reference `source` from the last good one, unless in progress; see `foresee`."""
        if not self._braking.active(source):
            self._braking.brake(source, t)
        self._cycle.reference.foresee(source, t)

    def lengths(self, t: float, command: Array) -> Trip | None:
        """Judge the lengths (6,) m to be commanded at rig time `t` (s), NaN for none, by the legs' limits.

        The last check of the set-points of a drive's own loop, whatever their source.
        """
        low, high = self._limits.legs[:, 0], self._limits.legs[:, 1]
        beyond = (command < low) | (command > high)
        if not beyond.any():
            return None
        leg = int(np.flatnonzero(beyond)[0])
        limits: dict[str, Value] = {"low": float(low[leg]), "high": float(high[leg])}
        found = Finding(Code.COMMANDED_LENGTH, leg + 1, float(command[leg]), details=limits)
        return Trip(Cause(found, t), StopSeverity.QUICK_STOP)

    def recording(self, t: float, fault: str, room: float) -> None:
        """Judge the recording at rig time `t` (s), with room on the disk for `room` s.

        `fault`: reason why nothing is recorded, or empty.
        """
        if fault and self._machine.state is State.RUNNING:
            failed = Finding(Code.RECORDING_FAILED, details={"text": fault})
            self._act(Trip(Cause(failed, t), StopSeverity.CATEGORY_2, latch=False))
        elif fault and not self._unrecorded:
            self._act(Report("warning", Finding(Code.NOT_RECORDED, details={"text": fault})))
        self._unrecorded = bool(fault)
        if room != self._room:
            self._room_changed(room)

    def _room_changed(self, room: float) -> None:
        """Report once when the room for the recording falls below each bound; again after it was clearly above."""
        self._room = room
        short = sum(room < bound for bound in ROOM_BOUNDS)
        if short > self._short:
            left: dict[str, Value] = {"minutes": room / 60.0, "least": ROOM_BOUNDS[short - 1] / 60.0}
            self._act(Report("warning", Finding(Code.DISK_NEARLY_FULL, details=left)))
        if short > self._short or (self._short and room > _MORE_ROOM * ROOM_BOUNDS[self._short - 1]):
            self._short = short

    def _lag_changed(self, now: list[float]) -> None:
        """Report once when the age of replies changes by whole cycles, by leg."""
        bound = self._config.safety.echo_lag
        for leg, (lag, before) in enumerate(zip(now, self._lag, strict=True), start=1):
            if lag == before:
                continue
            if not lag:
                self._act(Report("info", Finding(Code.REPLIES_PROMPT, leg)))
                continue
            code = Code.REPLIES_OLD if lag > 1 else Code.REPLIES_ONE_CYCLE_OLD
            self._act(Report("warning", Finding(code, leg, bound=bound, details={"cycles": lag})))
        self._lag = now

    def _even_after_fault(self, trip: Trip) -> None:
        """Stop and record in any case, also after another fault."""
        if self._machine.state is State.FAULT:
            self._act(Report("error", trip.cause.finding))
        self._act(trip)

    def _poseless(self) -> Finding | None:
        lost = self._machine.homed and not self._cycle.measurement.located(self._drives)
        return Finding(Code.NO_POSE) if lost else None


def _of_source(cause: Cause, source: Reference) -> Cause:
    """The fault that a source knows of itself, which is why its reference was refused; else `cause`."""
    fault = source.fault
    return cause if fault is None else Cause(fault, cause.t)
