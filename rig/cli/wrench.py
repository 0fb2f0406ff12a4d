"""`rig wrench`: the external wrench on the platform over a recording, and when something touched it."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rig.cli.options import JsonOption, check_made_of, end_doubtful, parse_span, print_caveats

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rig.analysis import Contact, ContactLog, ExternalWrench, Smoothing, WrenchEstimator
    from rig.recording import Recorded

_AXES = ("fx", "fy", "fz", "mx", "my", "mz")
_LISTED = 20


def wrench(
    recording: Annotated[Path, typer.Argument(metavar="RECORDING", help="A recording (.mcap).")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="CSV file of the wrench over time; left out: none."),
    ] = None,
    bandwidth: Annotated[
        float, typer.Option("--bandwidth", metavar="HZ", help="Of the low-pass on the residuals; 0 for none.", min=0.0)
    ] = 20.0,
    false_alarms: Annotated[
        float,
        typer.Option("--false-alarms", metavar="PER_HOUR", help="Contacts an hour that may be nothing but noise."),
    ] = 1.0,
    quiet: Annotated[
        str | None,
        typer.Option(
            "--quiet",
            metavar="FROM,TO",
            help="Rig times, s, between which nothing touched the platform: noise and bias are learned from there.",
        ),
    ] = None,
    noise: Annotated[
        float | None,
        typer.Option("--noise", metavar="N", help="Of each load cell, standard deviation; left out: the recording's."),
    ] = None,
    model_sigma: Annotated[
        float,
        typer.Option("--model-sigma", metavar="N", help="What the model itself may be off by at a cell.", min=0.0),
    ] = 0.0,
    as_json: JsonOption = False,
) -> None:
    """The external wrench that the load cells' residuals imply, in platform axes, and the contacts.

    Each component comes with its standard uncertainty. A contact begins where the six residuals together are farther
    from nothing than noise gets by chance more often than --false-alarms says. Give --quiet where the model is not
    exact: what it leaves there, bias, covariance and course in time, is what counts as noise.
    """
    from calibration import ReadingsUncertainty
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
    from rig.errors import InputError
    from rig.recording import RecordingFile

    if noise is not None and quiet is not None:
        raise typer.BadParameter("noise is stated by --noise or learned by --quiet, not both", param_hint="'--noise'")
    if output is not None:
        check_made_of(recording, output)
    opened = RecordingFile(recording)
    print_caveats(opened)
    made_by = rig_of(opened)
    smoothing = Smoothing(bandwidth or None, made_by.rate)
    if quiet is not None:
        span = parse_span(quiet, "--quiet")
        learned = learned_noise(list(recorded_residuals(opened, smoothing, span)))
    else:
        sigma = made_by.noise if noise is None else noise
        if sigma is None:
            raise InputError(f"{recording}: does not say the cells' noise; give --noise or --quiet")
        learned = stated_noise(sigma, smoothing, math.hypot(model_sigma, made_by.rounding.max()))
    unsure = ReadingsUncertainty(
        made_by.mechanism, recorded_parameters(opened), made_by.coulomb_speed, recorded_calibration(opened)
    )
    estimator = WrenchEstimator(made_by.mechanism, smoothing, learned, false_alarms, unsure)
    survey = _Survey(ContactLog(smoothing))
    pieces = survey.watched(_estimates(opened, smoothing, estimator))
    if output is not None:
        _write(output, pieces)
    else:
        for _ in pieces:
            pass
    if not survey.samples:
        raise InputError(
            f"{recording}: the platform never stood under power with its pose known, or not for long enough"
        )
    found = survey.log.found
    summary: dict[str, Any] = {
        "recording": str(recording),
        "bandwidth_hz": smoothing.bandwidth,
        "noise": learned.source,
        "bias_n": learned.mean.tolist(),
        "threshold": estimator.threshold,
        "false_alarms_per_hour": false_alarms,
        "begin_s": survey.begin,
        "end_s": survey.end,
        "judged_s": survey.samples / made_by.rate,
        "sigma": dict(zip(_AXES, survey.sigma, strict=True)),
        "contacts": [_told(one) for one in found],
        "output": None if output is None else str(output),
    }
    typer.echo(json.dumps(summary, indent=2) if as_json else _described(summary, found))
    end_doubtful(opened)


def _estimates(opened: "Recorded", smoothing: "Smoothing", estimator: "WrenchEstimator") -> "Iterator[ExternalWrench]":
    from rig.analysis import recorded_residuals

    for residuals in recorded_residuals(opened, smoothing):
        yield estimator.estimate(residuals)


class _Survey:
    """What is kept of the wrenches that pass by."""

    def __init__(self, log: "ContactLog") -> None:
        self.log = log
        self.samples = 0
        self.begin = self.end = 0.0
        self._variances: Any = 0.0

    @property
    def sigma(self) -> list[float]:
        """Root mean square of the standard uncertainties (6,)."""
        found: list[float] = ((self._variances / self.samples) ** 0.5).tolist()
        return found

    def watched(self, pieces: "Iterator[ExternalWrench]") -> "Iterator[ExternalWrench]":
        """The same pieces, taken note of."""
        for piece in pieces:
            if not self.samples:
                self.begin = float(piece.t[0])
            self.end = float(piece.t[-1])
            self.samples += len(piece)
            self._variances = self._variances + (piece.sigma**2).sum(axis=0)
            self.log.add(piece)
            yield piece


def _write(output: Path, pieces: "Iterator[ExternalWrench]") -> None:
    from rig.csvio import write_blocks

    names = ("t", *_AXES, *(f"sigma_{axis}" for axis in _AXES), "distance", "contact")
    blocks = ([one.t, *one.wrench.T, *one.sigma.T, one.distance, one.contact.astype(int)] for one in pieces)
    write_blocks(output, names, blocks)


def _told(one: "Contact") -> dict[str, Any]:
    return {
        "begin_s": one.begin,
        "end_s": one.end,
        "peak_s": one.peak,
        "distance": one.distance,
        "wrench": dict(zip(_AXES, one.wrench, strict=True)),
        "sigma": dict(zip(_AXES, one.sigma, strict=True)),
    }


def _described(summary: dict[str, Any], found: "Sequence[Contact]") -> str:
    from kinematics import decimals_of

    width = summary["bandwidth_hz"]
    sigma = list(summary["sigma"].values())
    force, moment = decimals_of(sigma[:3], 3), decimals_of(sigma[3:], 4)
    lines = [
        f"judged     {summary['judged_s']:.3f} s of {summary['begin_s']:.3f} to {summary['end_s']:.3f} s, "
        + ("not smoothed" if width is None else f"bandwidth {width:g} Hz"),
        f"noise      {summary['noise']}",
        f"sigma      force {', '.join(f'{value:.{force}f}' for value in sigma[:3])} N; "
        f"moment {', '.join(f'{value:.{moment}f}' for value in sigma[3:])} N m",
        f"threshold  distance² {summary['threshold']:.1f}: {summary['false_alarms_per_hour']:g} false alarms an hour",
        f"contacts   {len(found)}",
    ]
    if found:
        lines.append(f"  {'from s':>9} {'to s':>9} {'peak s':>9}" + "".join(f" {axis:>15}" for axis in _AXES))
    digits = decimals_of(sigma, 2)
    for one in found[:_LISTED]:
        values = "".join(
            f" {f'{value:.{digits}f} ± {spread:.{digits}f}':>15}"
            for value, spread in zip(one.wrench, one.sigma, strict=True)
        )
        lines.append(f"  {one.begin:9.3f} {one.end:9.3f} {one.peak:9.3f}{values}")
    if len(found) > _LISTED:
        lines.append(f"  and {len(found) - _LISTED} more; --json has all")
    if summary["output"]:
        lines.append(f"wrench     {summary['output']}")
    return "\n".join(lines)
