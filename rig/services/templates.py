"""Motions made from templates, in a size that a rig permits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from kinematics import Thresholds
from rig.errors import InputError, RefusedError
from rig.services.job import OnEvent, no_progress
from rig.services.request import request

if TYPE_CHECKING:
    from rig.analysis import RecordSpectra
    from rig.client import Template
    from rig.safety import TrajectoryVerdict


@request
class MotionRequest:
    """A motion made from a template, starting and ending at rest."""

    config: str
    """a configuration's file, or the name of a shipped one"""
    template: str
    """its name, see `motion_templates`"""
    output: Path
    """trajectory file to write"""
    numbers: Mapping[str, Any] = field(default_factory=dict)
    """by name, see `motion_templates`: SI, or text with a unit; missing sizes are chosen, the rest has its default"""
    thresholds: Thresholds = Thresholds()
    """required results of its runs"""


@dataclass(frozen=True, slots=True)
class MotionResult:
    """Result: the file, the template with all its numbers, and the passed verdict of the limits."""

    trajectory: Path
    motion: "Template"
    thresholds: Thresholds
    verdict: "TrajectoryVerdict"
    spectra: "RecordSpectra | None" = None
    """of a seismic record and of the motion"""


class TemplateError(InputError):
    """Numbers that a template does not accept.

    Args:
        template: its name.
        unknown: names of unknown numbers.
        invalid: faults of others, each with its name.
        known: the known names.
    """

    def __init__(
        self, template: str, unknown: tuple[str, ...], invalid: Sequence[tuple[str, str]], known: tuple[str, ...]
    ):
        self.template, self.unknown, self.invalid, self.known = template, unknown, tuple(invalid), known
        missing = f"{template}: has no {', '.join(unknown)}; it has {', '.join(known)}"
        super().__init__(missing if unknown else "\n".join(f"{name}: {fault}" for name, fault in invalid))


def motion_templates() -> dict[str, tuple[str, ...]]:
    """Return the templates, each with the names of its numbers."""
    from rig.client import TEMPLATES

    return {name: tuple(kind.model_fields) for name, kind in TEMPLATES.items()}


def write_motion(request: MotionRequest, progress: OnEvent = no_progress) -> MotionResult:
    """Write a motion from a template, checked as by `check`.

    Missing sizes are about half of the largest that pass on this rig.

    Raises:
        TemplateError: numbers that the template does not accept.
        InputError: no such template, a file that cannot be read or written.
        RefusedError: the motion does not pass, or no size does.
    """
    from kinematics import AccelerationsPart, build_trajectory, trajectory_text
    from rig.analysis import record_spectra
    from rig.client import checked_motion, fitted, template_motion
    from rig.config import load_config
    from rig.csvio import check_output, whole_file

    del progress  # no stages
    made = _made(request.template, request.numbers)
    check_output(request.output)
    rig = load_config(request.config)
    made = fitted(rig, made, request.numbers)
    spec = template_motion(made).model_copy(update={"validation": request.thresholds})
    _, verdict = checked_motion(rig, build_trajectory(spec, rig.machine.geometry.home))
    if verdict.finding is not None:
        raise RefusedError(verdict.finding)
    with whole_file(request.output) as written:
        written.write(trajectory_text(spec.model_dump(mode="json", exclude_defaults=True)))
    parts = [part for part in spec.parts if isinstance(part, AccelerationsPart)]
    spectra = record_spectra(parts[0], Path()) if parts else None
    return MotionResult(request.output, made, request.thresholds, verdict, spectra)


def _made(name: str, numbers: Mapping[str, Any]) -> "Template":
    from rig.client import TEMPLATES
    from rig.config import config_faults

    if name not in TEMPLATES:
        raise InputError(f"{name!r} must be one of {', '.join(TEMPLATES)}")
    kind = TEMPLATES[name]
    known = tuple(kind.model_fields)
    if unknown := tuple(each for each in numbers if each not in known):
        raise TemplateError(name, unknown, (), known)
    try:
        return kind.model_validate(dict(numbers))
    except ValidationError as error:
        faults: dict[str, str] = {}
        for fault in config_faults(error):  # the first of a number: an invalid axis makes a list too short as well
            faults.setdefault(str(fault.key[0]), fault.finding.text)
        raise TemplateError(name, (), tuple(faults.items()), known) from None
