"""External wrench on the platform over a recording, with contacts."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from calibration import ReadingsUncertainty
from rig.csvio import write_blocks
from rig.errors import InputError
from rig.services.job import Notice, OnEvent, no_progress
from rig.services.outputs import check_made_of
from rig.services.request import request
from rig.services.sources import Notices

if TYPE_CHECKING:
    from rig.analysis import Contact, ContactLog, ExternalWrench, Smoothing, WrenchEstimator
    from rig.recording import Recorded

_AXES = ("fx", "fy", "fz", "mx", "my", "mz")


@request
class WrenchRequest:
    """A recording, and the source of its noise.

    Raises:
        InputError: both of `noise` and `quiet`, or an invalid number.
    """

    recording: Path
    output: Path | None = None
    """CSV file of the wrench over time to write"""
    bandwidth: Annotated[float, Field(gt=0.0)] | None = 20.0
    """Hz, low-pass cutoff of the residuals; None for none"""
    false_alarms: float = 1.0
    """false alarms per hour caused by noise"""
    quiet: tuple[float, float] | None = None
    """s, rig time without contact, from which noise and bias are estimated"""
    noise: float | None = None
    """N, standard deviation of each load cell's noise; None: the recording's"""
    model_sigma: Annotated[float, Field(ge=0.0)] = 0.0
    """N, standard uncertainty of the model at a cell"""

    def __post_init__(self) -> None:
        if self.noise is not None and self.quiet is not None:
            raise InputError("noise is stated by noise or learned by quiet, not both")


@dataclass(frozen=True, slots=True, eq=False)
class WrenchResult:
    """Result of the service.

    contacts: with the platform. bias: N, of each cell (6,). threshold: squared distance above which a
    contact begins. begin, end, judged: s. sigma: root mean square of the standard uncertainties (6,), N, N m. wrench:
    the written file, or None. notices: for the user. damaged: whether the recording is.
    """

    recording: Path
    bandwidth: float | None
    noise: str
    bias: tuple[float, ...]
    threshold: float
    false_alarms: float
    begin: float
    end: float
    judged: float
    sigma: tuple[float, ...]
    contacts: "tuple[Contact, ...]"
    wrench: Path | None
    notices: tuple[Notice, ...]
    damaged: bool

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object, SI."""
        return {
            "recording": str(self.recording),
            "bandwidth_hz": self.bandwidth,
            "noise": self.noise,
            "bias_n": list(self.bias),
            "threshold": self.threshold,
            "false_alarms_per_hour": self.false_alarms,
            "begin_s": self.begin,
            "end_s": self.end,
            "judged_s": self.judged,
            "sigma": dict(zip(_AXES, self.sigma, strict=True)),
            "contacts": [_contact(one) for one in self.contacts],
            "output": None if self.wrench is None else str(self.wrench),
        }


def external_wrench(request: WrenchRequest, progress: OnEvent = no_progress) -> WrenchResult:
    """Estimate the external wrench from the load cells' residuals, in platform axes, and the contacts.

    Raises:
        InputError, RecordingError: a recording that cannot be used.
    """
    from rig.analysis import (
        ContactLog,
        Smoothing,
        WrenchEstimator,
        learned_noise,
        recorded_calibration,
        recorded_parameters,
        recorded_residuals,
        rig_of,
        stated_noise,
    )

    recording = request.recording
    if request.output is not None:
        check_made_of(recording, request.output)
    notices = Notices(progress)
    opened = notices.opened(recording)
    made_by = rig_of(opened)
    smoothing = Smoothing(request.bandwidth, made_by.rate)
    if request.quiet is not None:
        learned = learned_noise(list(recorded_residuals(opened, smoothing, request.quiet)))
    else:
        sigma = made_by.noise if request.noise is None else request.noise
        if sigma is None:
            raise InputError(f"{recording}: does not say the cells' noise; give --noise or --quiet")
        learned = stated_noise(sigma, smoothing, math.hypot(request.model_sigma, made_by.rounding.max()))
    unsure = ReadingsUncertainty(
        made_by.mechanism, recorded_parameters(opened), made_by.coulomb_speed, recorded_calibration(opened)
    )
    estimator = WrenchEstimator(made_by.mechanism, smoothing, learned, request.false_alarms, unsure)
    survey = _Survey(ContactLog(smoothing))
    pieces = survey.watched(_estimates(opened, smoothing, estimator))
    if request.output is not None:
        _write(request.output, pieces)
    else:
        for _ in pieces:
            pass
    if not survey.samples:
        raise InputError(
            f"{recording}: the platform never stood under power with its pose known, or not for long enough"
        )
    return WrenchResult(
        recording=recording,
        bandwidth=smoothing.bandwidth,
        noise=learned.source,
        bias=tuple(learned.mean.tolist()),
        threshold=estimator.threshold,
        false_alarms=request.false_alarms,
        begin=survey.begin,
        end=survey.end,
        judged=survey.samples / made_by.rate,
        sigma=tuple(survey.sigma),
        contacts=tuple(survey.log.found),
        wrench=request.output,
        notices=notices.found,
        damaged=bool(opened.doubts),
    )


def _estimates(opened: "Recorded", smoothing: "Smoothing", estimator: "WrenchEstimator") -> "Iterator[ExternalWrench]":
    from rig.analysis import recorded_residuals

    for residuals in recorded_residuals(opened, smoothing):
        yield estimator.estimate(residuals)


class _Survey:
    """Statistics of the wrenches that pass through `watched`."""

    def __init__(self, log: "ContactLog") -> None:
        self.log = log
        self.samples = 0
        self.begin = self.end = 0.0
        self._variances: Any = 0.0

    @property
    def sigma(self) -> list[float]:
        """Return the root mean square of the standard uncertainties (6,)."""
        found: list[float] = ((self._variances / self.samples) ** 0.5).tolist()
        return found

    def watched(self, pieces: "Iterator[ExternalWrench]") -> "Iterator[ExternalWrench]":
        """Yield the pieces unchanged and add them to the statistics."""
        for piece in pieces:
            if not self.samples:
                self.begin = float(piece.t[0])
            self.end = float(piece.t[-1])
            self.samples += len(piece)
            self._variances = self._variances + (piece.sigma**2).sum(axis=0)
            self.log.add(piece)
            yield piece


def _write(output: Path, pieces: "Iterator[ExternalWrench]") -> None:
    names = ("t", *_AXES, *(f"sigma_{axis}" for axis in _AXES), "distance", "contact")
    blocks = ([one.t, *one.wrench.T, *one.sigma.T, one.distance, one.contact.astype(int)] for one in pieces)
    write_blocks(output, names, blocks)


def _contact(one: "Contact") -> dict[str, Any]:
    return {
        "begin_s": one.begin,
        "end_s": one.end,
        "peak_s": one.peak,
        "distance": one.distance,
        "wrench": dict(zip(_AXES, one.wrench, strict=True)),
        "sigma": dict(zip(_AXES, one.sigma, strict=True)),
    }
