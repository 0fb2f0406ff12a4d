"""Rigs in motion: a complete trajectory run, and the demonstration on a virtual rig."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from rig.client import DemoResult, RunResult
from rig.client import Progress as RunProgress
from rig.config import RigConfig, in_real_time, relaxed_timing
from rig.errors import FieldError, InputError
from rig.services.job import OnEvent, Progress, no_progress
from rig.services.request import request
from rig.services.sources import Notices

if TYPE_CHECKING:
    from kinematics import Trajectory
    from rig.client import FittedMotion

Drives = Literal["tcp", "servo", "orca", "iai", "jrk-g2", "canopen", "mixed"]


@request
class RunRequest:
    """A trajectory on a rig: home, engage, move to its start, follow it, park, report."""

    config: str
    """a configuration's file, or the name of a shipped one; one with a [virtual] table starts its virtual rig"""
    trajectory: str
    """a trajectory (TOML, or CSV of poses), or "demo" """
    amplitude: Annotated[float, Field(ge=1e-3, le=1.0)] = 1.0
    """scale of the motion about its start pose"""
    speed: Annotated[float, Field(ge=0.1, le=1.0)] = 1.0
    """fraction of full speed, along the same path"""
    repeats: Annotated[int, Field(ge=1, le=1000)] = 1
    """number of repetitions"""
    rate: float | None = None
    """cycles per second; None: the configuration's"""
    reset: bool = False
    """reset existing drive faults"""
    lockstep: bool = False
    """virtual rig in this process, on a manual clock"""
    real_time: bool = False
    """run the virtual rig in real time"""
    unproven: bool = False
    """home even if a leg's wiring was not tested"""
    operator: str | None = None
    """operator, for the recording"""
    note: str | None = None
    """purpose of the run, for the recording"""
    output: Path | None = None
    """folder of recording and report; None: the configuration's"""


@request
class DemoRequest:
    """Demonstration run of the virtual rig."""

    duration: Annotated[float, Field(ge=4.0, le=3600.0)] = 20.0
    """s, of the motion"""
    rate: float | None = None
    """cycles per second; None: the configuration's"""
    lockstep: bool = False
    """rig and engine in this process on a manual clock: deterministic"""
    real_time: bool = False
    """run the virtual rig in real time"""
    seed: Annotated[int, Field(ge=0)] | None = None
    """seed of the load cells' noise; None: the configuration's"""
    as_built: Annotated[int, Field(ge=0)] = 1
    """seed of the as-built machine, which deviates from its drawing"""
    exact: bool = False
    """use the model itself as the plant instead"""
    plant: Literal["exact", "mujoco"] = "exact"
    """equations of motion of the plant"""
    identify: bool = False
    """then identify the parameters from an exciting motion, and repeat the first motion with them"""
    drives: Drives = "tcp"
    """kind of virtual drives"""
    operator: str | None = None
    """operator, for the recording"""
    note: str | None = None
    """purpose of the run, for the recording"""
    output: Path | None = None
    """folder of recordings and reports; None: the configuration's"""

    def __post_init__(self) -> None:
        if self.exact and self.identify:
            raise FieldError("identify", "there is nothing to identify where the plant is the model")


def run(request: RunRequest, progress: OnEvent = no_progress) -> RunResult:
    """Run a trajectory on a rig. In any case, the rig is brought to rest and the recording closed.

    Events: `rig` with its `phase`; notices of checks that are off and of the control loop.

    Returns:
        Its recording and report; `error` is the reason if it did not complete.

    Raises:
        RefusedError, TrajectoryError: the motion is outside the limits, or the loop is unstable; nothing was started.
        InputError: an unusable file or folder.
        HardwareError: a process could not be started.
    """
    from rig.client import execute
    from rig.motions import read_trajectory

    config = run_config(request.config, request.rate, request.lockstep, request.real_time)
    config = config.changed(metadata(request.operator, request.note))
    motion = read_trajectory(request.trajectory, config.machine.geometry)
    report_doubts(config, progress)
    return execute(
        config,
        motion,
        Path(request.trajectory).stem,
        request.output,
        amplitude=request.amplitude,
        speed=request.speed,
        repeats=request.repeats,
        reset=request.reset,
        unproven=request.unproven,
        lockstep=request.lockstep,
        report=reporting(progress),
    )


def demo(request: DemoRequest, progress: OnEvent = no_progress) -> DemoResult:
    """Run the virtual rig from start to finish, and identify it if requested.

    Events: `compiling`, on the first start on a machine.
    `fitted` with the motion's `size`, a fraction, what limits it (`limited_by`, see `FittedMotion`), and of
    what is predicted of it `following`, m, `residual`, N, `speed` and `acceleration` of a leg, each with its bound
    (`..._bound`, infinite for none); `rig` with its `phase`; notices of the control loop.

    Returns:
        The run, and the results of the identification.

    Raises:
        As `run`; RefusedError if the forces do not support an identification.
    """
    from rig.client import (
        as_built,
        at_rate,
        expecting,
        expecting_own_loops,
        fitted_demo,
        identify_on,
        on_free_ports,
        with_demo_thresholds,
    )
    from rig.config import load_config
    from rig.runtime import check_open_files

    if not request.lockstep:
        check_open_files()  # before a motion is fitted for seconds
    changes = _changes(None, request.seed, request.real_time) | metadata(request.operator, request.note)
    config = load_config("virtual" if request.drives == "tcp" else f"virtual-{request.drives}").changed(changes)
    if request.rate is not None:
        usual, config = config, at_rate(config, request.rate)
        if config.mode != usual.mode or config.drives.watchdog != usual.drives.watchdog:
            Notices(progress).add(
                "demo-rate",
                f"at {request.rate:g} Hz: mode {config.mode}, drives.watchdog {config.drives.watchdog:g} s",
            )
    foreign = request.plant == "mujoco"
    if foreign:
        from rig.virtual import mujoco_package

        mujoco_package()  # fail before anything is designed or started
        config = config.changed({"virtual": {"plant": {"engine": request.plant}}})
    config = with_demo_thresholds(config, timing=not request.lockstep, exact=request.exact and not foreign)
    if not request.exact:
        config = as_built(config, request.as_built)
    fitted = fitted_demo(config, request.duration, lambda done, total: progress(Progress("compiling", done, total)))
    progress(Progress("fitted", values=_described(config, fitted)))
    trajectory = fitted.trajectory
    if request.exact:
        config = expecting_own_loops(config, fitted.predicted)
    else:
        config = expecting(config, trajectory, fitted.predicted)
    if request.identify:
        return identify_on(
            config, trajectory, "demo", request.output, lockstep=request.lockstep, report=reporting(progress)
        )
    if not request.lockstep:
        config = relaxed_timing(on_free_ports(config))
    return DemoResult(_demo_run(config, trajectory, request, progress))


def _described(config: RigConfig, fitted: "FittedMotion") -> dict[str, Any]:
    """Return the values of the event `fitted`."""
    predicted, safety = fitted.predicted, config.safety
    return {
        "size": fitted.size,
        "limited_by": fitted.limited_by,
        "following": predicted.following,
        "following_bound": safety.bound("following_error"),
        "residual": predicted.residual,
        "residual_bound": safety.bound("force_residual"),
        "speed": predicted.speed,
        "speed_bound": predicted.speed_limit,
        "acceleration": predicted.acceleration,
        "acceleration_bound": predicted.acceleration_limit,
    }


def _demo_run(config: RigConfig, trajectory: "Trajectory", request: DemoRequest, progress: OnEvent) -> RunResult:
    from rig.client import execute

    report_doubts(config, progress)
    return execute(
        config,
        trajectory,
        "demo",
        request.output,
        lockstep=request.lockstep,
        identify=not request.exact,
        report=reporting(progress),
    )


def run_config(config: str, rate: float | None, lockstep: bool, real_time: bool) -> RigConfig:
    """Return the configuration of a run. Raises InputError for `lockstep` without a virtual rig."""
    from rig.config import load_config

    settings = load_config(config).changed(_changes(rate))
    if real_time:
        settings = in_real_time(settings)
    if lockstep and settings.virtual is None:
        raise InputError(f"--lockstep: configuration {settings.name!r} has no [virtual] table")
    return settings


def metadata(operator: str | None, note: str | None) -> dict[str, Any]:
    """Return the configuration changes for operator and note."""
    given = {key: value for key, value in (("operator", operator), ("note", note)) if value is not None}
    return {"recording": given} if given else {}


def _changes(rate: float | None, seed: int | None = None, real_time: bool = False) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if rate is not None:
        changes["rate"] = rate
    if real_time:
        changes["virtual"] = {"real_time": True}
    if seed is not None:
        changes.setdefault("virtual", {})["seed"] = seed
    return changes


def report_doubts(config: RigConfig, progress: OnEvent) -> None:
    """Report which checks are off, and doubts about a control loop that may be closed."""
    from rig.safety import check_loop, judge_sag

    notices = Notices(progress)
    if config.safety.off:
        notices.add("checks-off", f"checks {config.safety.disabled_text}")
    loop = check_loop(config)
    if loop.passed:
        for code, text in (("loop", loop.message), ("sag", judge_sag(config).message)):
            if text:
                notices.add(code, text)


def reporting(progress: OnEvent) -> Any:
    """Return a callback that converts the progress of a run to events."""

    def report(now: RunProgress) -> None:
        progress(Progress("rig", now.fraction, 1.0, {"phase": now.phase}))

    return report
