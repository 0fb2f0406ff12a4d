"""Frequency responses from commanded to measured pose and force, of a recorded excitation."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from kinematics import COORDINATES
from rig.errors import InputError
from rig.services.job import Notice, OnEvent, Progress, no_progress
from rig.services.outputs import check_made_of
from rig.services.request import request
from rig.services.sources import Contents, Notices

if TYPE_CHECKING:
    from rig.analysis import Distortion, Response, ResponseFit


@request
class RespondRequest:
    """The recording of an excitation.

    Raises:
        InputError: an invalid coordinate or band.
    """

    recording: Path
    dof: str | None = None
    """coordinate: x, y, z, rx, ry or rz; None: the excited coordinate"""
    band: tuple[float, float] | None = None
    """Hz, first and last frequency; None: the excited band"""
    output: Path | None = None
    """SVG file to write Bode plots to"""
    friction: Annotated[float, Field(ge=0.0)] = 0.2
    """relative sigma of the model's friction"""
    sensor: str | None = None
    """recorded inertial unit whose response is computed, too; None: none"""

    def __post_init__(self) -> None:
        if self.dof is not None and self.dof not in COORDINATES:
            raise InputError(f"coordinate {self.dof!r}: must be one of {', '.join(COORDINATES)}")
        if self.band is not None and not 0.0 < self.band[0] < self.band[1] < float("inf"):
            raise InputError(f"band: {self.band[0]:g} to {self.band[1]:g} Hz, must be above 0 Hz, the first below")


@dataclass(frozen=True, slots=True, eq=False)
class RespondResult:
    """Result of the service.

    dof: coordinate. begin, end: s, rig time. rate: cycles per second. responses, fits: by name, "pose", "force" and
    "imu". measured_with: what each was measured with, by name. notes: (response, code, text) of their limitations.
    plot: the written file, or None. notices: for the user. damaged: whether the recording is.
    """

    recording: Path
    dof: str
    begin: float
    end: float
    rate: float
    responses: "Mapping[str, Response]"
    fits: "Mapping[str, ResponseFit]"
    measured_with: Mapping[str, str]
    notes: tuple[tuple[str, str, str], ...]
    plot: Path | None
    notices: tuple[Notice, ...]
    damaged: bool

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object, SI."""
        return {
            "recording": str(self.recording),
            "dof": self.dof,
            "begin_s": self.begin,
            "end_s": self.end,
            "measured_with": dict(self.measured_with),
            "notes": [{"response": name, "code": code, "text": text} for name, code, text in self.notes],
            **{name: _response(one, self.fits[name]) for name, one in self.responses.items()},
            "plot": None if self.plot is None else str(self.plot),
        }


def respond(request: RespondRequest, progress: OnEvent = no_progress) -> RespondResult:
    """Compute responses with distortion, dead time, corner and bandwidth; see `rig.analysis.RecordedResponse`.

    Raises:
        InputError, RecordingError: a recording that cannot be used.
        RefusedError: too little excitation, with the frequencies that lack it.
    """
    from rig.analysis import draw_bode, notes_of, recorded_response

    if request.output is not None:
        check_made_of(request.recording, request.output)
    notices = Notices(progress)
    opened = notices.opened(request.recording)
    progress(Progress("reading-recording"))
    found = recorded_response(opened, request.dof, request.band, request.sensor)
    progress(Progress("fitting-response"))
    responses, fits = found.responses(), found.fits(request.friction)
    notes = tuple(notes_of(found, fits))
    if request.output is not None:
        draw_bode(responses, fits, found.dof, request.output)
    for name, code, text in notes:
        notices.add(code, text, name)
    return RespondResult(
        recording=request.recording,
        dof=found.dof,
        begin=found.begin,
        end=found.end,
        rate=found.rate,
        responses=responses,
        fits=fits,
        measured_with=found.measured_with,
        notes=notes,
        plot=request.output,
        notices=notices.found,
        damaged=bool(opened.doubts),
    )


def respond_contents(request: RespondRequest, progress: OnEvent = no_progress) -> Contents:
    """Describe what the recording excites. Raises as `respond` for faults known without a fit."""
    from rig.analysis import recorded_response

    notices = Notices(progress)
    opened = notices.opened(request.recording)
    progress(Progress("reading-recording"))
    found = recorded_response(opened, request.dof, request.band, request.sensor)
    tones = found.pose.frequency
    span = f"{len(tones)} frequencies from {tones[0]:.3g} to {tones[-1]:.3g} Hz"
    return Contents(f"coordinate {found.dof}, {span}, {found.begin:.1f} to {found.end:.1f} s", notices.found)


def _response(response: "Response", fit: "ResponseFit") -> dict[str, Any]:
    reached, distortion = response.bandwidth(), response.distortion
    return {
        "frequency_hz": response.frequency.tolist(),
        "magnitude": np.abs(response.gain).tolist(),
        "phase_rad": response.phase.tolist(),
        "sigma": response.sigma.tolist(),
        "noise_sigma": response.noise.tolist(),
        "bias_sigma": response.bias.tolist(),
        "coherence": response.coherence.tolist(),
        "output": response.output.tolist(),
        "averages": response.averages,
        "realizations": response.realizations,
        "periodic": response.periodic,
        "bandwidth_hz": None if reached is None else reached[0],
        "bandwidth_sigma_hz": None if reached is None else reached[1],
        "distortion": None if distortion is None else _distortion(distortion),
        "fit": asdict(fit),
    }


def _distortion(distortion: "Distortion") -> dict[str, Any]:
    return {
        "frequency_hz": distortion.frequency.tolist(),
        "even": distortion.even.tolist(),
        "level": distortion.level.tolist(),
        "noise": distortion.noise.tolist(),
        "even_part": distortion.even_part,
        "odd_part": distortion.odd_part,
        "noise_part": distortion.noise_part,
        "even_found": distortion.even_found,
        "odd_found": distortion.odd_found,
    }
