"""The study of a mechanism on a trajectory, as the papers study theirs."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rig.errors import FieldError
from rig.services.job import Notice, OnEvent, Progress, no_progress
from rig.services.path_planning import Pose, Six
from rig.services.request import request
from rig.services.sources import Notices

if TYPE_CHECKING:
    from rig.motions import SampledMotion
    from rig.study import MachineStudy


@request
class StudyRequest:
    """A mechanism, a motion, and the folder for what is found."""

    mechanism: str
    """a mechanism file, or the name of a shipped one"""
    trajectory: str
    """a motion as `rig.motions.read_motion` reads it: a trajectory, a table, a recording"""
    output: Path
    """folder, which appears when all of it is written"""
    friction: Literal["same", "printed", "none"] = "same"
    """of the models that are compared: the mechanism's in each, that of each model's paper, or none"""
    step: float | None = None
    """s, between the samples; None: rows of a table or a recording, at most 20,000, of a trajectory 10 ms or a 600th"""
    wrench: Six | None = None
    """N and N m: a constant external wrench at the platform origin, platform axes"""
    margin: Six | None = None
    """m and rad: how much wider than the motion the box of static poses is, on every side; None: a quarter of the
    platform joints' radius, and 0.2 rad"""
    box: tuple[Six, Six] | None = None
    """m and rad, base frame: least and greatest coordinates of that box, in place of the margin"""
    poses: int = 4000
    """static poses drawn from the box"""
    seed: int = 0
    """seed of the draw"""
    guess: Pose | None = None
    """a pose near the first row of a table of leg lengths; None: home"""
    force: bool = False
    """replace an earlier study in the folder"""

    def __post_init__(self) -> None:
        if self.margin is not None and self.box is not None:
            raise FieldError("margin", "widens the box around the motion, and cannot be given with a box")
        if self.margin is not None and min(self.margin) < 0.0:
            raise FieldError("margin", f"{min(self.margin):g} must be at least 0, in m or rad")
        if not 100 <= self.poses <= 1_000_000:
            raise FieldError("poses", f"{self.poses} must be 100 to 1000000")
        if self.step is not None and not 0.0 < self.step < float("inf"):
            raise FieldError("step", f"{self.step:g} s must be above 0 s")


@dataclass(frozen=True, slots=True, eq=False)
class StudyResult:
    """Result: the study, its page, its JSON, tables and figures, and notices on the files."""

    study: "MachineStudy"
    page: Path
    summary: Path
    tables: tuple[Path, ...]
    figures: tuple[Path, ...]
    notices: tuple[Notice, ...]

    def sections(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Return titles of the page's sections, each with its sentences."""
        from rig.study import SECTIONS

        found = self.study.statements
        return tuple((title, tuple(one.text for one in found[name])) for name, title in SECTIONS.items())

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object."""
        from rig.study import as_dict

        paths = {"page": str(self.page), "json": str(self.summary), "tables": list(map(str, self.tables)),
                 "figures": list(map(str, self.figures))}  # fmt: skip
        return as_dict(self.study) | {"paths": paths}


def study(request: StudyRequest, progress: OnEvent = no_progress) -> StudyResult:
    """Study a mechanism on a motion, and write page, figures, tables and JSON.

    Events: `studying` with the current `what`; notices of the mechanism.

    Raises:
        FieldError: a field that is invalid for this mechanism or motion.
        InputError, TrajectoryError, RecordingError: a file that cannot be read, or a folder that cannot be written.
        KinematicsError, DynamicsError: a mechanism or motion that cannot be evaluated.
    """
    from dynamics import load_mechanism
    from rig.motions import read_motion
    from rig.study import check_study_folder, path_box, study_machine, write_study

    check_study_folder(request.output, force=request.force)
    machine = load_mechanism(request.mechanism, evaluate_only=True)
    notices = Notices(progress)
    for warning in machine.warnings:
        notices.add("mechanism", warning)
    motion = read_motion(
        request.trajectory, machine.geometry, guess=None if request.guess is None else np.array(request.guess)
    )
    motion = _loaded(_stepped(motion, request.step), request.wrench)

    def stage_report(begin: float, end: float) -> Callable[[str, float], None]:
        return lambda what, fraction: progress(
            Progress("studying", begin + (end - begin) * fraction, 1.0, {"what": what})
        )

    box = None
    if request.box is not None:
        box = np.array(request.box[0]), np.array(request.box[1])
    elif request.margin is not None:
        box = path_box(machine, motion.motions, np.array(request.margin))
    found = study_machine(
        machine,
        motion,
        friction=request.friction,
        box=box,
        poses=request.poses,
        seed=request.seed,
        report=stage_report(0.0, 0.3),
    )
    page, summary, *files = write_study(found, request.output, force=request.force, report=stage_report(0.3, 1.0))
    tables, figures = (
        tuple(path for path in files if (path.parent.name == "tables") is wanted) for wanted in (True, False)
    )
    return StudyResult(found, page, summary, tables, figures, notices.found)


def _stepped(motion: "SampledMotion", step: float | None) -> "SampledMotion":
    """Return the motion in steps; rows through which a motion was laid, where they are coarse, in usual ones."""
    from rig.motions import usual_step

    if step is not None:
        return motion.sampled(step)
    if motion.kind == "trajectory" or motion.trajectory is None:
        return motion
    usual = usual_step(float(motion.times[-1] - motion.times[0]))
    return motion.sampled(usual) if float(np.median(np.diff(motion.times))) > usual else motion


def _loaded(motion: "SampledMotion", wrench: Six | None) -> "SampledMotion":
    if wrench is None:
        return motion
    if motion.wrenches is not None:
        raise FieldError("wrench", f"{motion.source} has a wrench of its own")
    return replace(motion, wrenches=np.tile(np.array(wrench), (len(motion.times), 1)))
