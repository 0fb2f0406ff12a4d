"""Operating any rig: the single steps, each with its waiting, and the usual course of a run made of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from kinematics import (
    Array,
    MotionTable,
    Trajectory,
    coordinates_to_pose,
    pose_difference,
    pose_to_coordinates,
    scaled,
    tabulate,
)
from rig.client.rig import Rig
from rig.config import RigConfig
from rig.engine import (
    Connect,
    Disconnect,
    Engage,
    Follow,
    Home,
    Park,
    Reset,
    Shutdown,
    Snapshot,
    Stop,
    approach_move,
    straight_move,
)
from rig.errors import InterruptedRunError, RefusedError, RunFaultError
from rig.runtime import StopRequest
from rig.safety import Verdict, check_trajectory
from rig.states import State, StopSeverity

_LOOK_AND_RESET = (
    "Drives whose engine has died stop so. Look at the machine; then reset them: `rig run --reset`, or `reset` at the "
    "prompt of `rig operate`"
)
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


def checked_motion(config: RigConfig, trajectory: Trajectory, amplitude: float = 1.0) -> tuple[MotionTable, Verdict]:
    """The trajectory as the cycle reads it, and the verdict of the same check that the engine makes.

    Args:
        config: the rig.
        trajectory: the motion.
        amplitude: its size about its start pose, 1 for the motion as it is.

    Raises:
        TrajectoryError: it has no finite value somewhere.
    """
    rate = max(config.rate, _TABLE_RATE)
    table = tabulate(trajectory, 1.0 / rate)
    if amplitude != 1.0:
        table = MotionTable(table.step, scaled(table.samples, table.samples[0, :6], amplitude))
    return table, check_trajectory(config.machine, config.safety, table, rate)


def prepare_motion(config: RigConfig, trajectory: Trajectory, amplitude: float = 1.0, repeats: int = 1) -> MotionTable:
    """The trajectory as the cycle reads it, after the same check that the engine makes.

    Args:
        config, trajectory, amplitude: as `checked_motion`.
        repeats: how many times it is to be run: between two of them the platform moves back to the start.

    Raises:
        RefusedError: the trajectory, or the way back, is outside the limits: worst sample, its time, the largest scale
            that would pass.
        TrajectoryError: it has no finite value somewhere.
    """
    table, verdict = checked_motion(config, trajectory, amplitude)
    if not verdict.passed:
        raise RefusedError(verdict.message)
    if repeats > 1:
        start, end = ends(table)
        approach(config, end, start)
    return table


def ends(table: MotionTable) -> tuple[Array, Array]:
    """Where a motion starts and ends, poses (7,)."""
    return coordinates_to_pose(table.samples[0, :6]), coordinates_to_pose(table.samples[-1, :6])


def checked_move(config: RigConfig, here: Array, there: Array, speed: float, rotation_speed: float) -> MotionTable:
    """The move from one pose (7,) to another with minimum jerk and these peak speeds, m/s and rad/s.

    Raises:
        RefusedError: it is outside the limits. A target that is, however far, is refused before the way to it is made.
    """
    return _checked(config, there, lambda: straight_move(here, there, speed, rotation_speed))


def _checked(config: RigConfig, there: Array, make: Callable[[], MotionTable]) -> MotionTable:
    """The move to the pose `there` (7,) that `make` makes. Raises as `checked_move`."""
    target = _held(config, there)
    if not target.passed:
        faults = [check.at_rest for check in target.checks if not check.passed] or [target.obstacle]
        raise RefusedError("\n".join(["the target is outside the limits:", *(f"  {fault}" for fault in faults)]))
    table = make()
    verdict = check_trajectory(config.machine, config.safety, table, config.rate)
    if not verdict.passed:
        raise RefusedError(verdict.message)
    return table


def _held(config: RigConfig, pose: Array) -> Verdict:
    """Whether a pose (7,) may be held."""
    rows = np.zeros((2, 18))
    rows[:, :6] = pose_to_coordinates(pose)
    return check_trajectory(config.machine, config.safety, MotionTable(config.period, rows), config.rate)


def approach(config: RigConfig, here: Array, there: Array) -> MotionTable | None:
    """The move from one pose (7,) to another at the configured speeds; None where they are the same pose.

    Raises:
        RefusedError: it is outside the limits.
    """
    if _same_pose(here, there):
        return None
    return _checked(config, there, lambda: approach_move(config, here, there))


def run_motion(
    rig: Rig,
    table: MotionTable,
    name: str,
    report: Callable[[Progress], None],
    repeats: int = 1,
    *,
    reset: bool = False,
) -> None:
    """Do a whole run from OFF to OFF around one motion.

    Args:
        rig: in state OFF.
        table: the motion, from `prepare_motion`.
        name: of the motion, for events.
        report: told the progress now and then.
        repeats: how many times the motion is run, each time from its start.
        reset: whether a fault that the drives have from before is reset first; the operator's word.

    Raises:
        RunFaultError: the run ended in a fault.
        RefusedError: a guard said no.
        HardwareError: a drive is silent, or a state was not reached in time.
        InterruptedRunError: Ctrl-C; the rig still has to be brought to rest with `bring_to_rest`.
    """
    connect_and_home(rig, report, reset=reset)
    report(Progress("engaging", 0.0))
    engage(rig)
    perform(rig, table, name, report, repeats)
    _let_pass(rig, _SETTLE)
    report(Progress("parking", 1.0))
    park(rig)
    leave(rig)


def connect_and_home(rig: Rig, report: Callable[[Progress], None], *, reset: bool = False) -> None:
    """Bring a rig from OFF to PARKED, at rest; `reset` as for `connect`. Raises as `run_motion`."""
    report(Progress("connecting", 0.0))
    connect(rig, reset=reset)
    report(Progress("homing", 0.0))
    home(rig)


# -- single steps: each raises as `run_motion` ---------------------------------------------------------------------


def connect(rig: Rig, *, reset: bool = False) -> None:
    """OFF → IDLE: whoever interrupts by then is heard before anything moves.

    Args:
        rig: in state OFF.
        reset: whether the operator wants a fault reset that the drives have from before, as after an engine's death.
    """
    begun = rig.status().cycles
    rig.request(Connect())

    def looked_at(status: Snapshot) -> bool:
        return status.state is State.FAULT or (status.state is State.IDLE and status.cycles > begun)

    status = rig.wait(looked_at, _STATE_TIMEOUT, "state IDLE")
    if status.state is State.IDLE:
        return
    if not reset:
        raise RunFaultError(f"the drives were in a fault before they were connected: {status.cause}. {_LOOK_AND_RESET}")
    rig.request(Reset())
    _reach(rig, State.IDLE, _STATE_TIMEOUT)


def home(rig: Rig) -> None:
    """IDLE → PARKED, at rest for long enough to be engaged."""
    rig.request(Home())
    _reach(rig, State.PARKED, rig.config.safety.homing_timeout + _STATE_TIMEOUT)
    _let_pass(rig, _SETTLE)


def engage(rig: Rig) -> None:
    """PARKED → ENGAGED."""
    rig.request(Engage())
    _reach(rig, State.ENGAGED, _STATE_TIMEOUT)


def park(rig: Rig) -> None:
    """ENGAGED → PARKED: home, brakes on, torque off."""
    rig.request(Park())
    begun = rig.status()
    _reach(rig, State.PARKED, _STATE_TIMEOUT + begun.path_duration)


def move_to_start(rig: Rig, table: MotionTable, report: Callable[[Progress], None]) -> None:
    """Move an engaged rig to where a motion starts, at the configured speeds, and let it settle there."""
    start, _end = ends(table)
    _move_to(rig, start, report)
    _let_pass(rig, _SETTLE)


def perform(rig: Rig, table: MotionTable, name: str, report: Callable[[Progress], None], repeats: int = 1) -> None:
    """Move an engaged rig to the start of a motion and follow it `repeats` times, each time from its start."""
    move_to_start(rig, table, report)
    start, _end = ends(table)
    for number in range(repeats):
        if number:
            _move_to(rig, start, report, number / repeats)
        follow(rig, table, name, _part_of(report, number, repeats))


def follow(rig: Rig, table: MotionTable, name: str, report: Callable[[Progress], None] | None = None) -> None:
    """Follow a motion that starts where the platform is, to its end."""
    begin(rig, table, name)
    finish(rig, report)


def begin(rig: Rig, table: MotionTable, name: str) -> None:
    """ENGAGED → RUNNING: begin to follow a motion that starts where the platform is."""
    rig.request(Follow(name, table.step), table.samples)


def finish(rig: Rig, report: Callable[[Progress], None] | None = None) -> None:
    """Wait until the motion that was begun has come to its end."""
    begun = rig.status()

    def done(status: Snapshot) -> bool:
        _refuse_fault(status)
        if status.paused or status.state in _AT_REST:
            place = f"{status.path_time:.3f} s"
            raise RunFaultError(f"the motion {status.motion!r} was stopped at {place}: {_last_warning(status)}")
        if report is not None:
            report(Progress("running", min(1.0, status.path_time / max(status.path_duration, 1e-9))))
        return status.state is State.ENGAGED

    left = begun.path_duration - begun.path_time
    rig.wait(done, left + _STATE_TIMEOUT, f"the motion {begun.motion!r} to end")


def settle(rig: Rig) -> None:
    """Let a parked rig stand for long enough to be engaged."""
    _let_pass(rig, _SETTLE)


def stop(rig: Rig, category: StopRequest = 1) -> None:
    """Stop whatever the rig is doing, and wait: for standing under power (2), or until no drive has torque (1, 0).

    A first Ctrl-C meanwhile asks for no more than that.

    Raises:
        HardwareError: the rig did not come to rest in time.
    """
    rig.request(Stop(category))

    def come_to_rest() -> None:
        rig.wait(lambda status: has_stopped(status, category), _STATE_TIMEOUT, "the rig to come to rest")

    try:
        come_to_rest()
    except InterruptedRunError:
        come_to_rest()


def has_stopped(status: Snapshot, category: StopRequest) -> bool:
    """Whether a stop has done what it was asked for: standing under power (2), or no torque (1, 0)."""
    held = status.state is State.ENGAGED or (status.latched and status.stop is StopSeverity.CATEGORY_2)
    return status.state in _AT_REST or (category == 2 and held)


def bring_to_rest(rig: Rig, category: Literal[0, 1] = 1) -> None:
    """Stop whatever the rig is doing by a stop of `category`, wait until no drive has torque, and end the engine.

    Raises:
        HardwareError: the rig did not come to rest in time.
    """
    stop(rig, category)
    leave(rig)


def leave(rig: Rig) -> None:
    """Close the drives and end the engine; the rig must be without torque."""
    if rig.status().state in (State.IDLE, State.PARKED):
        rig.request(Disconnect())
    rig.request(Shutdown())


def _move_to(rig: Rig, pose: Array, report: Callable[[Progress], None], done: float = 0.0) -> None:
    here = np.array(rig.status().reference)
    if _same_pose(here, pose):
        return
    report(Progress("moving to the start", done))
    follow(rig, approach_move(rig.config, here, pose), "move to the start")


def _same_pose(one: Array, other: Array) -> bool:
    return float(np.abs(pose_difference(one, other)).max()) <= _SAME_POSE


def _part_of(report: Callable[[Progress], None], number: int, repeats: int) -> Callable[[Progress], None]:
    """Tells `report` the progress of one of several repeats, counted from 0, as that of all."""
    if repeats == 1:
        return report
    phase = f"running {number + 1} of {repeats}"
    return lambda progress: report(Progress(phase, (number + progress.fraction) / repeats))


def _reach(rig: Rig, state: State, timeout: float) -> None:
    def reached(status: Snapshot) -> bool:
        _refuse_fault(status)
        return status.state is state

    rig.wait(reached, timeout, f"state {state.name}")


def _let_pass(rig: Rig, duration: float) -> None:
    end = rig.status().t + duration

    def passed(status: Snapshot) -> bool:
        _refuse_fault(status)
        return status.t >= end

    rig.wait(passed, duration + _STATE_TIMEOUT, f"{duration:g} s to pass")


def _refuse_fault(status: Snapshot) -> None:
    if status.state is State.FAULT or (status.state is State.STOPPING and status.latched):
        raise RunFaultError(f"the run ended in a fault at {status.cause_t:.3f} s: {status.cause}")
    if status.state is State.STOPPING:
        raise RunFaultError(f"the run was stopped at {status.cause_t:.3f} s: {status.cause}")


def _last_warning(status: Snapshot) -> str:
    texts = [event.text for event in status.events if event.level != "info"]
    return texts[-1] if texts else "for no reason given"
