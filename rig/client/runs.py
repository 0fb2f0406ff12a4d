"""A whole run of a command or the app: a rig, a motion, a recording and its report."""

import contextlib
import re
import signal
import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

from actuators import SerialEndpoint
from kinematics import Array, Trajectory, TrajectorySpec, build_trajectory, decimals_of
from rig.client.interruption import Interruption
from rig.client.lifecycle import bring_to_rest, run_motion
from rig.client.live import LiveRig
from rig.client.lockstep import LockstepRig
from rig.client.motion_runner import Progress, compiling_progress
from rig.client.motions import prepare_motion
from rig.client.reporting import ReportProcess
from rig.config import RigConfig, device_keys, in_real_time
from rig.csvio import check_folder
from rig.engine import Pace, ProgressCallback, RunningEngine, check_buses, virtual_port
from rig.errors import HardwareError, InputError, InterruptedRunError, RefusedError, RigError, RunFaultError
from rig.findings import Code, Finding, Value
from rig.names import check_name
from rig.recording import RecordingFile, size_of_rows
from rig.runtime import slowdown_text
from rig.safety import check_loop
from rig.states import State
from rig.virtual import LATE_WINDOW, VirtualRigProcess, differs, truth_of, truth_path

_POLL = 0.1  # s
_SURELY_ROWS = 1_000_000
"""bytes; a larger recording has rows for sure, and need not be read"""
_NO_NAME = re.compile(r"[/\\\0]")
"""characters that are not portable in a file's name"""
_FADE_PART = 0.25  # of a short demo motion


@dataclass(frozen=True, slots=True)
class RunResult:
    """Result of a run."""

    recording: Path
    report: Path
    summary: dict[str, Any] = field(default_factory=dict)
    """the report's numbers with the paths; empty if nothing was recorded"""
    error: RigError | None = None
    """reason why the run ended early, or None"""


def execute(
    config: RigConfig,
    trajectory: Trajectory,
    name: str,
    folder: Path | None,
    *,
    amplitude: float = 1.0,
    speed: float = 1.0,
    repeats: int = 1,
    reset: bool = False,
    unproven: bool = False,
    lockstep: bool = False,
    identify: bool = False,
    report: Callable[[Progress], None],
) -> RunResult:
    """Do a whole run and report on it; in any case the rig is brought to rest and the recording closed.

    Args:
        config: the rig.
        trajectory: the motion.
        name: of the motion; recording and report are named after it and the time.
        folder: for both; None: the configuration's folder.
        amplitude: size of the motion about its start pose, 1 for the motion as it is.
        speed: part of full speed, 0.1 to 1.
        repeats: number of repetitions.
        reset: the operator's permission to reset an earlier fault of the drives first.
        unproven: the operator's permission to move legs without a recorded test of their wiring.
        lockstep: run rig and engine in this process on a manual clock.
        identify: report the residual after an identification; takes seconds more.
        report: receives the progress.

    Raises:
        RefusedError, TrajectoryError: the motion is outside the limits, or the control loop is unstable; nothing was
            started or written.
        InputError: the folder cannot be used.
        HardwareError: a process could not be started.
    """
    name = check_name("name of the motion", name)
    report(Progress("checking", 0.0))
    loop = check_loop(config)
    if not loop.passed:
        raise RefusedError(loop.message)
    buses = check_buses(config)
    if not buses.passed:
        raise RefusedError(buses.message)
    table = prepare_motion(config, trajectory, amplitude, repeats)

    def body(rig: LockstepRig | LiveRig) -> None:
        if speed != 1.0:
            rig.request(Pace(speed))
        run_motion(rig, table, name, report, repeats, reset=reset, unproven=unproven)

    return conduct(config, body, name, folder, Interruption(), lockstep=lockstep, identify=identify, report=report)


def conduct(
    config: RigConfig,
    body: Callable[[LockstepRig | LiveRig], None],
    name: str,
    folder: Path | None,
    interruption: Interruption,
    *,
    lockstep: bool,
    identify: bool = False,
    report: Callable[[Progress], None],
    engine: RunningEngine | None = None,
    report_compiling: ProgressCallback | None = None,
) -> RunResult:
    """Start a rig, let `body` operate it from OFF, and report on the recording.

    After any exception of `body` the rig is brought to rest and the recording closed.

    Args:
        config, name, folder, lockstep, identify, report: as `execute`.
        body: operates the rig, and ends its engine on success.
        interruption: handles Ctrl-C.
        engine: a running one, in any state, to be operated and ended in place of a new one; it continues its own
            recording.
        report_compiling: receives the progress of processes that compile the model first; None: `report` does.

    Raises:
        InputError: the folder cannot be used.
        HardwareError: a process could not be started.
        RefusedError: another client holds the running engine's lease.
    """
    reporting = ReportProcess(identify)
    if engine is not None:
        attach = partial(LiveRig, config, engine, name, interruption)
        with interruption.installed():
            return _run(body, attach, engine.recording, interruption, report, reporting)

    def start() -> LockstepRig | LiveRig:
        if lockstep:
            return LockstepRig(config, recording, interruption)
        rig = LiveRig(
            config,
            recording,
            name,
            interruption,
            report_compiling=report_compiling or (lambda now: report(compiling_progress(now))),
        )
        if config.virtual is not None:  # nothing real waits for the processor, and this process waits for the rig
            reporting.begin()
        return rig

    folder = Path(config.recording.directory) if folder is None else folder
    with interruption.installed(), _recording_in(folder, name) as recording, contextlib.closing(reporting):
        if differs(config):
            _write_truth(config, truth_path(recording))
        return _run(body, start, recording, interruption, report, reporting)


def _write_truth(config: RigConfig, target: Path) -> None:
    text = truth_of(config).text
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error.strerror}") from error


@contextlib.contextmanager
def _recording_in(folder: Path, name: str) -> Iterator[Path]:
    """See `new_recording`; after the `with` block an empty one is removed, with the folder made for it."""
    new = not folder.exists()
    recording = new_recording(folder, name)
    try:
        yield recording
    finally:
        if remove_empty(recording) or not recording.exists():
            truth_path(recording).unlink(missing_ok=True)
        if new:
            with contextlib.suppress(OSError):  # it holds something
                folder.rmdir()


def _run(
    body: Callable[[LockstepRig | LiveRig], None],
    start: Callable[[], LockstepRig | LiveRig],
    recording: Path,
    interruption: Interruption,
    report: Callable[[Progress], None],
    reporting: ReportProcess,
) -> RunResult:
    error: RigError | None = None
    unforeseen: Exception | None = None
    rig: LockstepRig | LiveRig | None = None
    try:
        rig = start()
        with rig:
            try:
                body(rig)
            except (Exception, KeyboardInterrupt) as stopped:
                lateness, latched = _twins_lateness(rig), _latched(rig)
                controlled, exchanged = _brought_to_rest(rig, report)
                if isinstance(stopped, KeyboardInterrupt) or not controlled:
                    error = InterruptedRunError("interrupted twice; the torque was taken off at once")
                elif isinstance(stopped, RigError):
                    error = _explained(stopped, exchanged, latched, lateness)
                else:
                    unforeseen = stopped
    except KeyboardInterrupt:
        late = "interrupted while the recording was being closed"
        error = InterruptedRunError("interrupted before anything moved" if rig is None else late)
    try:
        interruption.at_rest(reported=error is not None or unforeseen is not None)
        report(Progress("reporting", 1.0))
        result = _reported(recording, error, reporting)
    except KeyboardInterrupt:
        text = f"interrupted while the report was made; the recording is {recording}"
        result = RunResult(recording, recording.with_suffix(".html"), error=error or InterruptedRunError(text))
    if unforeseen is not None:
        raise unforeseen
    return result


def _twins_lateness(rig: LockstepRig | LiveRig) -> dict[str, Value]:
    """How late the virtual drives' process was in real time just now; empty where it was not."""
    virtual = rig.virtual if isinstance(rig, LiveRig) else None
    if virtual is None:
        return {}
    try:
        view = virtual.look()
    except RigError:  # it is gone, or too slow even for that
        return {}
    return {"late": view.late, "longest": view.longest, "window": LATE_WINDOW} if view.late else {}


def _latched(rig: LockstepRig | LiveRig) -> Finding | None:
    """The cause of the fault that the rig is in; None without one."""
    try:
        status = rig.status()
    except RigError:
        return None
    return status.finding if status.state is State.FAULT else None


def _explained(
    error: RigError, exchanged: Finding | None, latched: Finding | None, lateness: dict[str, Value]
) -> RigError:
    """The error with what else is known: drives that may be exchanged, a refusal's fault, virtual drives' lateness.

    Errors of other kinds, such as a process that has died, have causes of their own.
    """
    kind, found = type(error), error.finding
    if kind not in (RunFaultError, RefusedError, HardwareError):
        return error
    more = exchanged if isinstance(error, RunFaultError) else latched if isinstance(error, RefusedError) else None
    if more is not None and not found.names(more.code):
        found = Finding(Code.FAULT_EXPLAINED, within=(found, more))
    if lateness:
        found = Finding(Code.TWINS_LATE, details=lateness, within=(found,))
    return error if found is error.finding else kind(found)


def _brought_to_rest(rig: LockstepRig | LiveRig, report: Callable[[Progress], None]) -> tuple[bool, Finding | None]:
    """Stop the rig in a controlled way if possible, see `bring_to_rest`; False if a Ctrl-C interrupted it."""
    exchanged = None
    try:
        report(Progress("stopping", 1.0))
        with contextlib.suppress(RigError):
            exchanged = bring_to_rest(rig)
    except KeyboardInterrupt:
        with contextlib.suppress(RigError, KeyboardInterrupt):
            bring_to_rest(rig, category=0)
        return False, None
    return True, exchanged


def _reported(recording: Path, error: RigError | None, reporting: ReportProcess) -> RunResult:
    target = recording.with_suffix(".html")
    if not recording.exists():
        return RunResult(recording, target, error=error)
    opened = RecordingFile(recording)
    if not opened.count:
        return RunResult(recording, target, error=error)
    summary, failure = reporting.make(opened, target, finished=error is None)
    return RunResult(recording, target, summary, error or failure)


def remove_empty(recording: Path) -> bool:
    """Remove a recording without any cycle; whether it was one."""
    if not recording.exists() or recording.with_suffix(".html").exists():
        return False
    if size_of_rows(recording) < _SURELY_ROWS and not RecordingFile(recording).count:
        recording.unlink()
        return True
    return False


def new_recording(folder: Path, name: str) -> Path:
    """A new file name in `folder`, which is made if necessary. Raises InputError if the folder cannot be used."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make folder {folder}: {error.strerror}") from error
    check_folder(folder)
    stem = f"{_NO_NAME.sub('-', name)}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    path = folder / f"{stem}.mcap"
    number = 2
    while path.exists():
        path = folder / f"{stem}-{number}.mcap"
        number += 1
    return path


def describe(result: RunResult) -> str:
    """Text of a run's outcome in a few lines."""
    summary = result.summary
    cycle, tracking, written = summary["cycle"], summary["tracking"], summary["recording"]
    force = summary["force"]["legs"]
    error = cycle["period_error_p99_us"]  # None where there is no second cycle
    spread = "" if error is None else f", period error {error:.0f} µs (99 %)"
    validation = summary.get("validation") or {"verdict": None}
    reasons = "; ".join(validation["reasons"]) if validation["verdict"] else ""
    lines = [f"verdict    {validation['verdict']}{reasons and f': {reasons}'}"] if validation["verdict"] else []
    lines += [f"cycles     {cycle['cycles']} at {cycle['rate_hz']:g} Hz, {cycle['overruns']} overruns{spread}"]
    if busy := slowdown_text(cycle["slower"]):
        lines.append(f"time       {busy}")
    for name, kinds in cycle["replies"].items():
        lines.append(f"replies    {name}: {', '.join(f'{count} {kind}' for kind, count in kinds.items())}")
    if tracking["position_rms_m"] is not None:
        sizes = [leg["rms_residual_n"] for leg in force]
        residuals = ", ".join(f"{value:.{decimals_of(sizes, 2)}f}" for value in sizes)
        lines += [
            f"tracking   {tracking['position_rms_m'] * 1e3:.4f} mm, "
            f"{tracking['rotation_rms_rad'] * 1e3:.4f} mrad (RMS)",
            f"forces     residual {residuals} N (RMS, legs 1 to 6)",
        ]
    if identification := summary.get("identification"):
        lines.append(f"outlook    {identification['text']}")
    lines += [
        f"recording  {result.recording} ({written['rows']} rows, {written['dropped']} dropped)",
        f"report     {result.report if result.report.is_file() else 'could not be written'}",
    ]
    return "\n".join(lines)


def demo_trajectory(home: Array, duration: float, size: float = 1.0) -> Trajectory:
    """The shipped demo motion with another duration, s, and a scaled size.

    A short one is faded in and out over a quarter of it each.
    """
    text = (resources.files("kinematics") / "trajectories" / "demo.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    (part,) = data["parts"]
    part["duration"] = duration
    part["fade"] = f"{min(3.0, _FADE_PART * duration)} s"
    for term in part["terms"]:
        value, unit = term["amplitude"].split()
        term["amplitude"] = f"{size * float(value)} {unit}"
    return build_trajectory(TrajectorySpec.model_validate(data), home)


def _served_at(config: RigConfig) -> list[str]:
    """Addresses of the devices of a virtual rig, each once."""
    found = []
    for _key, address in device_keys(config):
        endpoint = address.endpoint
        found.append(virtual_port(endpoint).device if isinstance(endpoint, SerialEndpoint) else address.place)
    return list(dict.fromkeys(found))


def serve_virtual(
    config: RigConfig, print_line: Callable[[str], None], report_compiling: ProgressCallback | None = None
) -> None:
    """Serve the configuration's virtual rig until Ctrl-C or SIGTERM.

    Args:
        config: configuration with a virtual rig.
        print_line: receives the lines for the user.
        report_compiling: receives the progress where the model has to be compiled first.

    Raises:
        InputError: the configuration has no virtual rig.
        HardwareError: a port is taken.
    """
    if config.virtual is None:
        raise InputError(f"configuration {config.name!r} has no [virtual] table")
    interruption = Interruption()
    process = VirtualRigProcess(in_real_time(config))
    with interruption.installed(signal.SIGTERM), contextlib.ExitStack() as ends:
        ends.callback(process.stop)
        process.start(report_compiling=report_compiling)
        print_line(f"virtual rig: devices at {', '.join(_served_at(config))}; Ctrl-C ends it")
        while process.alive and interruption.count == 0:
            time.sleep(_POLL)
        if interruption.count == 0:
            raise HardwareError("the virtual rig ended by itself")
