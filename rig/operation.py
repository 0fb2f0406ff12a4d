"""The usual course of a run, for any rig: connect, home, engage, move to the start, follow, park, disconnect."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from kinematics import (
    Array,
    MotionTable,
    Trajectory,
    coordinates_to_pose,
    leg_lengths,
    pose_difference,
    tabulate,
)
from rig.checks import check_trajectory
from rig.config import RigConfig
from rig.engine.messages import Connect, Disconnect, Engage, Follow, Home, Park, Shutdown, Status, Stop
from rig.engine.reference import straight_move
from rig.errors import RefusedError, RunFaultError
from rig.session import Rig
from rig.states import State

_SETTLE = 0.5  # s at rest: the mean of the cells' residual, and the platform under control
_SAME_POSE = 1e-6  # m, rad
_TABLE_RATE = 500.0  # Hz; at the least, whatever the cycle
_STATE_TIMEOUT = 10.0  # s
_AT_REST = (State.OFF, State.IDLE, State.PARKED, State.FAULT)


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run is."""

    phase: str
    fraction: float
    """of the motion, 0 to 1"""


def prepare_motion(config: RigConfig, trajectory: Trajectory) -> MotionTable:
    """The trajectory as the cycle reads it, after the same check that the engine makes.

    Raises:
        RefusedError: the trajectory is outside the limits: worst sample, its time, the largest scale that would pass.
        TrajectoryError: it has no finite value somewhere.
    """
    rate = max(config.rate, _TABLE_RATE)
    table = tabulate(trajectory, 1.0 / rate)
    verdict = check_trajectory(config.machine, config.safety, table, rate)
    if not verdict.passed:
        raise RefusedError(verdict.message)
    return table


def run_motion(rig: Rig, table: MotionTable, name: str, report: Callable[[Progress], None]) -> None:
    """Do a whole run from OFF to OFF around one motion.

    Args:
        rig: in state OFF.
        table: the motion, from `prepare_motion`.
        name: of the motion, for events.
        report: told the progress now and then.

    Raises:
        RunFaultError: the run ended in a fault.
        RefusedError: a guard said no.
        HardwareError: a drive is silent, or a state was not reached in time.
        InterruptedRunError: Ctrl-C; the rig still has to be brought to rest with `bring_to_rest`.
    """
    connect_and_home(rig, report)
    report(Progress("engaging", 0.0))
    rig.request(Engage())
    _reach(rig, State.ENGAGED, _STATE_TIMEOUT)
    start = coordinates_to_pose(table.samples[0, :6])
    _move_to(rig, start, report)
    _let_pass(rig, _SETTLE)
    _follow(rig, table, name, report)
    _let_pass(rig, _SETTLE)
    report(Progress("parking", 1.0))
    rig.request(Park())
    _reach(rig, State.PARKED, _STATE_TIMEOUT + _longest_move(rig))
    leave(rig)


def connect_and_home(rig: Rig, report: Callable[[Progress], None]) -> None:
    """Bring a rig from OFF to PARKED, at rest. Raises as `run_motion`."""
    report(Progress("connecting", 0.0))
    rig.request(Connect())
    _reach(rig, State.IDLE, _STATE_TIMEOUT)  # whoever interrupts by now is heard before anything moves
    report(Progress("homing", 0.0))
    rig.request(Home())
    _reach(rig, State.PARKED, rig.config.safety.homing_timeout + _STATE_TIMEOUT)
    _let_pass(rig, _SETTLE)


def bring_to_rest(rig: Rig, category: Literal[0, 1] = 1) -> None:
    """Stop whatever the rig is doing by a stop of `category`, wait until no drive has torque, and end the engine.

    Raises:
        HardwareError: the rig did not come to rest in time.
    """
    rig.request(Stop(category))
    rig.wait(lambda status: status.state in _AT_REST, _STATE_TIMEOUT, "the rig to come to rest")
    leave(rig)


def leave(rig: Rig) -> None:
    """Close the drives and end the engine; the rig must be without torque."""
    if rig.status().state in (State.IDLE, State.PARKED):
        rig.request(Disconnect())
    rig.request(Shutdown())


def _move_to(rig: Rig, pose: Array, report: Callable[[Progress], None]) -> None:
    here = np.array(rig.status().reference)
    if float(np.abs(pose_difference(pose, here)).max()) <= _SAME_POSE:
        return
    motion = rig.config.motion
    report(Progress("moving to the start", 0.0))
    _follow(rig, straight_move(here, pose, motion.approach_speed, motion.approach_rotation), "move to the start", None)


def _follow(rig: Rig, table: MotionTable, name: str, report: Callable[[Progress], None] | None) -> None:
    rig.request(Follow(name, table.step), table.samples)

    def done(status: Status) -> bool:
        _refuse_fault(status)
        if status.paused or status.state in _AT_REST:
            raise RunFaultError(f"the motion {name!r} was stopped at {status.path_time:.3f} s: {_last_warning(status)}")
        if report is not None:
            report(Progress("running", min(1.0, status.path_time / max(status.path_duration, 1e-9))))
        return status.state is State.ENGAGED

    rig.wait(done, table.duration + _STATE_TIMEOUT, f"the motion {name!r} to end")


def _reach(rig: Rig, state: State, timeout: float) -> None:
    def reached(status: Status) -> bool:
        _refuse_fault(status)
        return status.state is state

    rig.wait(reached, timeout, f"state {state.name}")


def _let_pass(rig: Rig, duration: float) -> None:
    end = rig.status().t + duration

    def passed(status: Status) -> bool:
        _refuse_fault(status)
        return status.t >= end

    rig.wait(passed, duration + _STATE_TIMEOUT, f"{duration:g} s to pass")


def _refuse_fault(status: Status) -> None:
    if status.state is State.FAULT or (status.state is State.STOPPING and status.latched):
        raise RunFaultError(f"the run ended in a fault at {status.cause_t:.3f} s: {status.cause}")
    if status.state is State.STOPPING:
        raise RunFaultError(f"the run was stopped at {status.cause_t:.3f} s: {status.cause}")


def _last_warning(status: Status) -> str:
    texts = [event.text for event in status.events if event.level != "info"]
    return texts[-1] if texts else "for no reason given"


def _longest_move(rig: Rig) -> float:
    """s that parking can take at most: across the whole stroke at the approach speed."""
    machine = rig.config.machine
    home: list[float] = leg_lengths(machine.geometry, machine.geometry.home_pose).tolist()
    reach = max(
        abs(limit - length)
        for leg, length in zip(machine.legs, home, strict=True)
        for limit in ((leg.limits and leg.limits.length) or (0.0, 2.0 * length))
    )
    return 4.0 * reach / rig.config.motion.approach_speed
