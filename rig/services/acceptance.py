"""The acceptance test of a motion base by the field's standards."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from kinematics import COORDINATES
from rig.config import RigConfig
from rig.errors import ExitCode, FieldError, HardwareError, InputError, RefusedError, RunFaultError
from rig.findings import Code, Finding
from rig.services.job import CancelledError, Notice, OnEvent, Progress, no_progress
from rig.services.request import request
from rig.services.sources import Notices

if TYPE_CHECKING:
    import numpy as np

    from rig.acceptance import Acceptance, AcceptanceTest, Channel, Sensors, Trial
    from rig.config import SensorOptions
    from rig.recording import Recorded, SensorSeries

_Position = tuple[float, float, float]
_SAME_JOINTS = 0.02  # m, by which a calibration may have moved them since
_SHOWN = 0.1  # s between two events of a motion
_BETWEEN = 1.5  # s, usual way to the start of a motion, with the rests before and after it


@request
class AcceptRequest:
    """The acceptance test of a rig, or of a recording of one.

    Raises:
        FieldError: an unknown axis or test; a sensor's file without a recording.
    """

    config: str
    """a configuration's file, or the name of a shipped one; its [acceptance] has sizes and thresholds"""
    output: Path | None = None
    """HTML page to write, with the numbers as JSON next to it; None: next to the recording"""
    axes: tuple[str, ...] = COORDINATES
    """coordinates that are moved"""
    tests: tuple[str, ...] = ()
    """tests by name, see `acceptance_tests`; empty: all"""
    lockstep: bool = False
    """virtual rig in this process, on a manual clock"""
    record: bool = True
    """whether to record; only with `lockstep` it need not be"""
    recording: Path | None = None
    """a recording of the test, evaluated again; nothing moves"""
    accelerometer: Path | None = None
    """CSV of specific force on the platform, t, ax, ay, az, during the recording"""
    accelerometer_position: Annotated[_Position, Field(description="m")] = (0.0, 0.0, 0.0)
    """m, of the accelerometer, platform frame"""
    tracker: Path | None = None
    """CSV of the platform's poses in the base frame, t, x, y, z, qw, qx, qy, qz, during the recording"""
    unproven: bool = False
    """home even if a leg's wiring was not tested"""
    operator: str | None = None
    """operator, for the recording"""
    note: str | None = None
    """purpose, for the recording"""
    folder: Path | None = None
    """folder of the recording; None: the configuration's"""

    def __post_init__(self) -> None:
        for axis in self.axes:
            if axis not in COORDINATES:
                raise FieldError("axes", f"{axis!r} is none of {', '.join(COORDINATES)}")
        if not self.axes or len(set(self.axes)) != len(self.axes):
            raise FieldError("axes", f"{', '.join(self.axes) or 'none'}: each at most once, and at least one")
        for test in self.tests:
            if test not in (known := acceptance_tests()):
                raise FieldError("tests", f"{test!r} is none of {', '.join(known)}")
        for name in ("accelerometer", "tracker"):
            if getattr(self, name) is not None and self.recording is None:
                raise FieldError(name, "a sensor's file is of a recording: give this, too")
        if not self.record and (not self.lockstep or self.output is None):
            raise FieldError("record", "not to record needs lockstep, and an output")


@dataclass(frozen=True, slots=True, eq=False)
class AcceptResult:
    """Result of the service.

    found: the numbers. page, summary: the written HTML and JSON. recording: None if nothing was recorded. notices: for
    the user. fault: why the rig was not parked after the test, None where it was.
    """

    found: "Acceptance"
    numbers: dict[str, Any]
    page: Path
    summary: Path
    recording: Path | None
    notices: tuple[Notice, ...]
    fault: Finding | None = None

    @property
    def verdict(self) -> str:
        """Verdict on all numbers."""
        return self.found.verdict.value

    @property
    def exit_code(self) -> ExitCode:
        """Exit code of the command: a stop, then a fault, then a number that fails."""
        if self.found.ended is not None and self.found.ended.code is Code.ACCEPT_STOPPED:
            return ExitCode.INTERRUPTED
        if self.found.ended is not None or self.fault is not None:
            return ExitCode.FAULT
        return ExitCode.MISFIT if self.verdict == "fail" else ExitCode.OK

    def lines(self) -> list[str]:
        """Return the result as text: the verdict, a line for each number that did not pass, and the files."""
        from rig.acceptance import displayed

        found = self.found
        counts = Counter(number.verdict(found.confidence).value for number in found.numbers)
        text = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        lines = [f"verdict    {self.verdict}: {text}"]
        lines += [f"ended      {finding.text}" for finding in (found.ended, self.fault) if finding is not None]
        for number in found.numbers:
            verdict = number.verdict(found.confidence).value
            if verdict in ("pass", "stated"):
                continue
            what = f"{number.test.value} {number.place}".strip()
            if number.value is None:
                lines.append(f"{verdict:10} {what}: {number.reason}")
                continue
            value, sigma, unit, bound = displayed(number)
            at = "" if number.at is None else f" ({number.at.text()})"
            figures = " ".join(part for part in (value, f"± {sigma}", unit) if part)
            lines.append(f"{verdict:10} {what}: {number.name} {figures}, {bound}{at}")
        unused = [one["not_used"] for one in self.numbers["sensors"].values() if "not_used" in one]
        lines += [f"not used   {reason}" for reason in unused]
        lines.append(f"rig time   {found.rig_time / 60.0:.1f} min")
        if self.recording is not None:
            lines.append(f"recording  {self.recording}")
        return [*lines, f"page       {self.page}", f"numbers    {self.summary}"]

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object, SI."""
        fault = None if self.fault is None else self.fault.as_dict()
        return self.numbers | {"fault": fault, "paths": {"page": str(self.page), "json": str(self.summary)}}


@dataclass(frozen=True, slots=True, eq=False)
class AcceptancePlan:
    """The motions of a test. trials: in their order, with their sizes; of size 0 where none passes the check."""

    trials: "tuple[Trial, ...]"
    exit_code: ClassVar[ExitCode] = ExitCode.OK

    @property
    def duration(self) -> float:
        """Estimated rig time, s, with the ways to the motions' starts; without homing and parking."""
        return sum(trial.duration + _BETWEEN for trial in self.trials if trial.size)

    def lines(self) -> list[str]:
        """Return the plan as text."""
        lines = [f"{'motion':24} {'size':>10} {'largest':>10} {'':4} {'s':>7}"]
        for trial in self.trials:
            lines.append(
                f"{trial.title:24} {trial.size:10.4g} {trial.largest:10.4g} {trial.unit:4} {trial.duration:7.1f}"
            )
        motions = "1 motion" if len(self.trials) == 1 else f"{len(self.trials)} motions"
        return [*lines, f"{motions}, {self.duration / 60.0:.1f} min with the ways to their starts"]

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as a JSON object, SI."""
        return {"motions": [trial.as_dict() for trial in self.trials], "duration_s": self.duration}


def acceptance_tests() -> tuple[str, ...]:
    """Return the names of all tests."""
    from rig.acceptance import AcceptanceTest

    return tuple(test.value for test in AcceptanceTest)


def accept(request: AcceptRequest, progress: OnEvent = no_progress) -> AcceptResult:
    """Carry out the acceptance test on a rig, or evaluate a recording of it, and write page and JSON.

    Each motion is run at a part of the largest size that passes the check. The rig homes, engages, moves and parks. A
    test that ends early, by a fault of a machine, a stop, Ctrl-C or a cancellation, has a result, too: what it measured
    until then. The rig is left without torque then, as after every stop.

    Events: `sizing-motions`; `rig` with its `phase`; `accepting` with the motion as `what`, its `kind` and `axis`.

    Raises:
        InputError: the configuration, an unusable file or folder.
        RefusedError: no motion passes the check, or the loop is unstable; nothing was started.
        RunFaultError, HardwareError: the rig could not be homed or engaged.
    """
    from rig.acceptance import completed, summary_of, write_acceptance
    from rig.config import load_config
    from rig.csvio import check_output

    settings = load_config(request.config)
    if request.output is not None:
        for path in _outputs(request.output):
            check_output(path)
    notices = Notices(progress)
    tests = _tests(request)
    trials = _planned(request, settings, progress)
    sensors: dict[str, Any] = {}
    fault: Finding | None = None
    if request.recording is not None:
        opened = notices.opened(request.recording)
        found = _evaluated(request, settings, opened, trials, tests, sensors, progress)
        recording: Path | None = request.recording
    else:
        found, recording, fault = _performed(request, settings, trials, tests, progress)
        if recording is not None and any(options.kind != "scalar" for options in settings.sensors):
            measured = _evaluated(request, settings, notices.opened(recording), trials, tests, sensors, progress)
            found = completed(measured, found)
    page, summary = _outputs(request.output or _page_path(recording))
    numbers = summary_of(found, datetime.now().astimezone(), None if recording is None else recording.name, sensors)
    if found.ended is None:  # a job that was cancelled takes no event any more
        progress(Progress("reporting"))
    write_acceptance(found, numbers, page, summary)
    return AcceptResult(found, numbers, page, summary, recording, notices.found, fault)


def plan_acceptance(request: AcceptRequest, progress: OnEvent = no_progress) -> AcceptancePlan:
    """Find the motions and their sizes; nothing moves. Raises as `accept` for what is known without."""
    from rig.config import load_config

    return AcceptancePlan(tuple(_planned(request, load_config(request.config), progress)))


def _tests(request: AcceptRequest) -> "list[AcceptanceTest]":
    from rig.acceptance import AcceptanceTest

    return [AcceptanceTest(name) for name in request.tests] or list(AcceptanceTest)


def _planned(request: AcceptRequest, settings: RigConfig, progress: OnEvent) -> "list[Trial]":
    from rig.acceptance import planned

    trials = planned(
        settings, request.axes, _tests(request), lambda part: progress(Progress("sizing-motions", part, 1.0))
    )
    if not any(trial.size for trial in trials):
        raise RefusedError("no motion of the acceptance test passes the check of motions, at any size")
    return trials


def _outputs(page: Path) -> tuple[Path, Path]:
    if page.suffix == ".json":
        raise InputError(f"output: {page}: must be the HTML page, the JSON is written beside it")
    return page, page.with_suffix(".json")


def _page_path(recording: Path | None) -> Path:
    assert recording is not None  # a request without one has an output
    return recording.with_suffix(".acceptance.html")


def _performed(
    request: AcceptRequest, settings: RigConfig, trials: "list[Trial]", tests: "list[AcceptanceTest]", progress: OnEvent
) -> "tuple[Acceptance, Path | None, Finding | None]":
    """Carry it out: the numbers, the recording, and why the rig was not parked."""
    from rig.acceptance import perform
    from rig.client import on_free_ports, open_rig
    from rig.config import names_file
    from rig.safety import check_loop

    loop = check_loop(settings)
    if not loop.passed:
        raise RefusedError(loop.message)
    named = {key: value for key in ("operator", "note") if (value := getattr(request, key)) is not None}
    if named:
        settings = settings.changed({"recording": named})
    if settings.virtual is not None and not request.lockstep and not names_file(request.config):
        settings = on_free_ports(settings)
    keep = max(trial.duration for trial in trials) + 10.0
    folder = request.folder if request.record else None
    found: Acceptance | None = None
    recording: Path | None = None
    try:
        with open_rig(
            settings,
            lockstep=request.lockstep,
            output=folder,
            record=request.record,
            client="acceptance test",
            keep=keep,
        ) as robot:
            recording = robot.recording if request.record else None
            progress(Progress("rig", values={"phase": "homing"}))
            robot.home(unproven=request.unproven)
            progress(Progress("rig", values={"phase": "engaging"}))
            robot.engage()
            found = perform(robot, trials, tests, _Showing(progress))
            if found.ended is None:
                robot.park()
    except (RefusedError, RunFaultError, HardwareError) as error:
        if found is None:
            raise
        return found, recording, error.finding  # what was measured is not lost with it
    return found, recording, None


class _Showing:
    """Shows a motion's progress as events, not more often than one can look; a cancellation stops the test."""

    def __init__(self, progress: OnEvent) -> None:
        self._progress = progress
        self._at = 0.0

    def __call__(self, trial: "Trial", part: float) -> None:
        from rig.acceptance import TestStoppedError

        now = time.monotonic()
        if now - self._at < _SHOWN:
            return
        self._at = now
        values = {"what": trial.title, "kind": trial.kind.value, "axis": trial.axis}
        try:
            self._progress(Progress("accepting", part, 1.0, values))
        except CancelledError:
            raise TestStoppedError from None


def _evaluated(
    request: AcceptRequest,
    settings: RigConfig,
    recording: "Recorded",
    trials: "list[Trial]",
    tests: "list[AcceptanceTest]",
    said: dict[str, Any],
    progress: OnEvent,
) -> "Acceptance":
    import numpy as np

    from rig.acceptance import evaluate
    from rig.analysis import rig_of

    if recording.header.get("mechanism") is None or recording.header.get("config", {}).get("rate") != settings.rate:
        raise InputError(f"{recording.path}: is not of a rig like {settings.name!r}: another rate, or no mechanism")
    recorded, own = rig_of(recording).mechanism, settings.machine
    for joints in ("base_points", "platform_points"):
        apart = float(np.abs(getattr(recorded.geometry, joints) - getattr(own.geometry, joints)).max())
        if apart > _SAME_JOINTS:
            raise InputError(
                f"{recording.path}: is of the mechanism {recorded.name!r}, whose joints are up to {1e3 * apart:.3g} mm "
                f"from those of {own.name!r}, the configuration's"
            )
    return evaluate(
        recording,
        settings,
        trials,
        tests,
        _sensors(request, settings, said, recording),
        lambda trial, part: progress(Progress("accepting", part, 1.0, {"what": trial.title})),
    )


def _recorded(settings: RigConfig, recording: "Recorded", kind: str) -> "tuple[SensorOptions, SensorSeries] | None":
    """Return the first sensor of a kind in the configuration whose readings the recording has."""
    for options in settings.sensors:
        if options.kind == kind and options.name in recording.sensors:
            return options, recording.sensors[options.name]
    return None


def _without(name: str, source: "Path | Channel | None", error: InputError, said: dict[str, Any]) -> None:
    """Go on with the encoders where a recorded sensor cannot be used; raise `error` for a file that was asked for."""
    if isinstance(source, Path):
        raise error
    said[name] = {"not_used": str(error)}


def _sensors(
    request: AcceptRequest, settings: RigConfig, said: dict[str, Any], recording: "Recorded"
) -> "Callable[[np.ndarray[Any, Any]], Sensors]":
    """Return a function that makes the sensors: of the request's files, else those that are recorded.

    How each is aligned is put into `said`.
    """

    def made(rows: "np.ndarray[Any, Any]") -> "Sensors":
        import numpy as np

        from rig.acceptance import Accelerometer, Channel, Sensors, Tracker
        from rig.sensing import platform_poses, specific_forces

        accelerometer = tracker = None
        t, commanded = rows["t"], None
        felt: Path | Channel | None = request.accelerometer
        seen: Path | Channel | None = request.tracker
        position = np.array(request.accelerometer_position)
        if felt is None and (imu := _recorded(settings, recording, "imu")) is not None:
            felt, position = (
                Channel(imu[0].name, imu[1].time, specific_forces(imu[1], imu[0])),
                np.array(imu[0].position),
            )
        if seen is None and (poses := _recorded(settings, recording, "pose")) is not None:
            seen = Channel(poses[0].name, poses[1].time, platform_poses(poses[1], poses[0]))
        if felt is not None or seen is not None:
            from kinematics import pose_to_coordinates

            commanded = pose_to_coordinates(np.ascontiguousarray(rows["reference"][:, :7]))
        try:
            if commanded is not None and felt is not None:
                accelerometer = Accelerometer(felt, position, settings.machine.gravity, t, commanded)
        except InputError as error:
            _without("accelerometer", felt, error, said)
        try:
            if commanded is not None and seen is not None:
                tracker = Tracker(seen, t, commanded)
        except InputError as error:
            _without("tracker", seen, error, said)
        for name, sensor in (("accelerometer", accelerometer), ("tracker", tracker)):
            if sensor is not None:
                found = asdict(sensor.alignment)
                said[name] = {
                    "offset_s": found["offset"],
                    "offset_sigma_s": found["sigma"],
                    "correlation": found["correlation"],
                    "corrected": found["used"],
                }
        return Sensors(accelerometer, tracker)

    return made
