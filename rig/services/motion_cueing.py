"""Motion cueing: a vehicle's motion as a motion of the rig, and how well its cues are given."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rig.errors import FieldError, InputError
from rig.services.job import Notice, OnEvent, Progress, no_progress
from rig.services.request import request
from rig.services.sources import Notices

if TYPE_CHECKING:
    from kinematics import Tuning
    from rig.cueing import Cueing, ObjectiveTest


@request
class CueRequest:
    """A rig, a vehicle's motion, a tuning, and the folder for what is found."""

    config: str
    """a configuration file, or the name of a shipped one"""
    vehicle: Path
    """CSV: t, s; ax, ay, az: specific force, m/s²; p, q, r: angular rate, rad/s; or step, sine or drive, manoeuvres"""
    output: Path
    """folder, which appears when all of it is written"""
    tuning: str | None = None
    """a tuning file, or the name of a shipped one; None: the shipped one of the mechanism's name"""
    rate: float | None = None
    """Hz, of the washout; None: the rig's"""
    fidelity: bool = True
    """whether to run the objective motion cueing test"""
    responses: tuple[Path, ...] = ()
    """responses of the rig's pose, as `rig respond --json` writes them"""
    force: bool = False
    """replace an earlier cueing in the folder"""

    def __post_init__(self) -> None:
        if self.rate is not None and not 10.0 <= self.rate <= 1e5:
            raise FieldError("rate", f"{self.rate:g} Hz, must be 10 to 100000 Hz")
        if self.responses and not self.fidelity:
            raise FieldError("responses", "can be used only with the objective motion cueing test, which is left out")


@dataclass(frozen=True, slots=True, eq=False)
class CueResult:
    """Result: the cueing, the objective test or None, the page, the motion for the rig, other files, and notices."""

    cueing: "Cueing"
    test: "ObjectiveTest | None"
    page: Path
    summary: Path
    motion: Path
    files: tuple[Path, ...]
    notices: tuple[Notice, ...]

    @property
    def passed(self) -> bool:
        """Whether the rig's check passes the motion."""
        return self.cueing.verdict.passed

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object, SI."""
        from rig.cueing import as_dict

        paths = {"page": str(self.page), "json": str(self.summary), "motion": str(self.motion),
                 "files": list(map(str, self.files))}  # fmt: skip
        return as_dict(self.cueing, self.test) | {"paths": paths}


def save_tuning(tuning: "Tuning", path: Path, source: str = "") -> None:
    """Write a tuning into a file, which appears whole.

    source: the file, or the name of the shipped tuning, that it was made from: comments and order are kept.

    Raises:
        InputError: the file cannot be written, or the source is no tuning any more.
    """
    from kinematics import InputFileError, tuning_source, tuning_text
    from rig.csvio import whole_file

    try:
        text = tuning_text(tuning, tuning_source(source) if source else "")
    except InputFileError as error:
        raise InputError(f"tuning {source}: {error}") from None
    with whole_file(path) as file:
        file.write(text)


def cue(request: CueRequest, progress: OnEvent = no_progress) -> CueResult:
    """Run a vehicle's motion through the washout of a rig, and write motion, page, figures and numbers.

    Events: `studying` with the current `what`; notices on the files.

    Raises:
        InputError: a file that cannot be used, a machine without limits, or a folder that cannot be written.
        KinematicsError, LimitError: a washout that this machine cannot have.
    """
    from kinematics import InputFileError, load_tuning, tuning_names
    from rig.config import load_config
    from rig.cueing import (
        MANOEUVRES,
        check_cueing_folder,
        named_vehicle,
        objective_test,
        read_response,
        read_vehicle,
        write_cueing,
    )
    from rig.cueing import cue as run

    check_cueing_folder(request.output, force=request.force)
    config = load_config(request.config)
    notices = Notices(progress)
    for warning in config.machine.warnings:
        notices.add("mechanism", warning)
    name = config.machine.name if request.tuning is None else request.tuning
    if request.tuning is None and name not in tuning_names():
        known = ", ".join(tuning_names())
        raise FieldError("tuning", f"none is shipped for the mechanism {name!r} ({known}), and none is given")
    try:
        tuning = load_tuning(name)
    except InputFileError as error:
        raise InputError(f"tuning {error}") from None
    rate = config.rate if request.rate is None else request.rate
    if str(request.vehicle) in MANOEUVRES:
        vehicle = named_vehicle(str(request.vehicle), rate, tuning.axes)
    elif not request.vehicle.exists():
        manoeuvres = ", ".join(MANOEUVRES)
        raise FieldError("vehicle", f"{request.vehicle}: no such file, nor one of the manoeuvres {manoeuvres}")
    else:
        vehicle = read_vehicle(request.vehicle, rate)
    responses = tuple(map(read_response, request.responses))
    if vehicle.looks_weightless:
        notices.add(
            "gravity",
            "the specific force begins near zero: a vehicle at rest has 9.81 m/s² along az; that of gravity may be "
            "missing",
            str(request.vehicle),
        )

    def stage(what: str, begin: float, end: float, fraction: float) -> None:
        progress(Progress("studying", begin + (end - begin) * fraction, 1.0, {"what": what}))

    stage("washout", 0.0, 0.1, 0.0)
    found = run(config.machine, config.safety, tuning, rate, vehicle)
    test = None
    if request.fidelity:
        test = objective_test(
            config.machine, config.safety, tuning, rate, responses,
            lambda fraction: stage("objective motion cueing test", 0.1, 0.7, fraction),
        )  # fmt: skip
    page, summary, motion, *files = write_cueing(
        found, test, request.output, force=request.force, report=lambda fraction: stage("figures", 0.7, 1.0, fraction)
    )
    return CueResult(found, test, page, summary, motion, tuple(files), notices.found)
