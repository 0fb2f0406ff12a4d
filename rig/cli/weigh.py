"""`rig weigh`: the mass, centre of mass and inertia of what stands on the platform."""

import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rig.cli.options import (
    JsonOption,
    LookOption,
    ProgressOption,
    check_new_file,
    end_doubtful,
    parse_span,
    print_warning,
    tell_caveats,
    tell_holds,
)

if TYPE_CHECKING:
    from calibration import CellZero, ParameterFile, PayloadEstimate, PayloadSamples
    from dynamics import Mechanism
    from rig.analysis import Smoothing, Weighing
    from rig.recording import RecordingFile

_UNITS = ("kg", "m", "m", "m", *["kg m²"] * 6)


def weigh(
    recordings: Annotated[
        list[Path], typer.Argument(metavar="RECORDING…", help="Recordings (.mcap) with the payload on the platform.")
    ],
    before: Annotated[
        str | None,
        typer.Option(
            "--before",
            metavar="RECORDING|FROM,TO",
            help="Without the payload: a recording, or a stretch of the first one, s. It gives the cells' zero, which "
            "counts as right where this is left out.",
        ),
    ] = None,
    during: Annotated[
        str | None,
        typer.Option("--during", metavar="FROM,TO", help="Rig times, s, with the payload; left out: all of them."),
    ] = None,
    at_rest: Annotated[
        bool, typer.Option("--at-rest", help="Poses at rest only: mass and centre of mass, no inertia.")
    ] = False,
    bandwidth: Annotated[
        float, typer.Option("--bandwidth", metavar="HZ", help="Of the low-pass on cells and model alike.")
    ] = 10.0,
    noise: Annotated[
        float | None,
        typer.Option("--noise", metavar="N", help="Of each load cell, standard deviation; left out: the recording's."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Parameter file of the platform with its payload, never overwritten."
        ),
    ] = None,
    date: Annotated[
        datetime | None, typer.Option("--date", formats=["%Y-%m-%d"], help="Of the file; left out: today.")
    ] = None,
    look: LookOption = False,
    progress: ProgressOption = False,
    as_json: JsonOption = False,
) -> None:
    """Weigh a payload by the load cells: mass and centre of mass from a few poses, inertia from a motion as well.

    Hold the platform at some poses, tilted ones among them, and let it turn about all axes for the inertia. Every
    number comes with its standard uncertainty. Data that do not tell one are refused, with what would tell it. The file
    lays the platform's mass, centre of mass and inertia with its payload over the mechanism.
    """
    from calibration import CalibrationError, fit_payload
    from rig.analysis import Smoothing, rig_of
    from rig.cli.progress import tell_step
    from rig.errors import InputError

    tell = tell_step if progress else lambda _step: None
    if output is not None and not look:
        check_new_file(output)
    opened = [_open(path) for path in recordings]
    made_by = rig_of(opened[0])
    for other in opened[1:]:
        if rig_of(other).mechanism.source != made_by.mechanism.source or rig_of(other).rate != made_by.rate:
            raise InputError(f"{other.path}: of another mechanism or rate than {opened[0].path}")
    sigma = made_by.noise if noise is None else noise
    if sigma is None or not 0.0 < sigma < float("inf"):
        raise InputError("noise: not known, or not above 0 N; give --noise")
    smoothing = Smoothing(bandwidth, made_by.rate)
    tell("reading the recordings")
    zero = None if before is None else _zero(before, opened[0], made_by.mechanism.source, smoothing, sigma)
    weighing = _weighing(
        opened, made_by.mechanism, smoothing, sigma, parse_span(during, "--during") if during else None
    )
    if look:
        poses, moving = len(weighing.at_rest), len(weighing.in_motion)
        tell_holds(f"{poses} poses at rest, {moving} samples in motion, {made_by.mechanism.name}", as_json)
        return
    tell("fitting the payload")
    inertia = len(weighing.in_motion) > 0 and not at_rest
    if not inertia and not len(weighing.at_rest):
        raise InputError("payload: the platform neither rested under power with its pose known, nor moved")
    try:
        samples = weighing.everything if inertia else weighing.at_rest
        found = fit_payload(samples, made_by.mechanism, inertia=inertia, zero=zero)
    except CalibrationError as error:
        if not inertia or not len(weighing.at_rest):
            raise
        print_warning(f"the motion does not tell everything, only poses at rest are used:\n  {error}")
        samples = weighing.at_rest
        found = fit_payload(samples, made_by.mechanism, inertia=False, zero=zero)
    file = _file(found, made_by.mechanism, weighing, opened, before, date)
    if output is not None:
        from calibration import save_parameters

        save_parameters(output, file)
    typer.echo(
        json.dumps(_summary(found, file, weighing, samples, zero, output), indent=2)
        if as_json
        else _described(found, file, weighing)
    )
    if output is not None and not as_json:
        typer.echo(f"parameters {output}")
    for one in opened:
        end_doubtful(one)


def _open(path: Path) -> "RecordingFile":
    from rig.recording import RecordingFile

    opened = RecordingFile(path)
    tell_caveats(opened)
    return opened


def _zero(before: str, loaded: "RecordingFile", mechanism: str, smoothing: "Smoothing", noise: float) -> "CellZero":
    from rig.analysis import recorded_residuals, rig_of, zero_of
    from rig.errors import InputError

    if Path(before).suffix == ".mcap":
        recording = _open(Path(before))
        if rig_of(recording).mechanism.source != mechanism:
            raise InputError(f"--before: {before} is of another mechanism")
        pieces = recorded_residuals(recording, smoothing)
    else:
        pieces = recorded_residuals(loaded, smoothing, parse_span(before, "--before"))
    zero = zero_of(pieces, smoothing, noise)
    if zero is None:
        raise InputError(f"--before: {before} holds too little of the platform under power with its pose known")
    return zero


def _weighing(
    opened: "list[RecordingFile]",
    mechanism: "Mechanism",
    smoothing: "Smoothing",
    noise: float,
    span: tuple[float, float] | None,
) -> "Weighing":
    from rig.analysis import recorded_residuals, weighing_of

    pieces = (piece for one in opened for piece in recorded_residuals(one, smoothing, span))
    return weighing_of(pieces, mechanism, smoothing, noise)


def _file(
    found: "PayloadEstimate",
    mechanism: "Mechanism",
    weighing: "Weighing",
    opened: "list[RecordingFile]",
    before: str | None,
    date: datetime | None,
) -> "ParameterFile":
    import numpy as np

    from calibration import (
        Parameter,
        ParameterFile,
        loaded_platform,
        nominal_platform,
        payload_names,
        payload_sigma,
        payload_values,
    )
    from rig import __version__

    names, values, covariance = loaded_platform(mechanism, found)
    count = len(names)
    rows = zip(names, _UNITS, nominal_platform(mechanism, count), values, np.sqrt(np.diag(covariance)), strict=False)
    own = zip(payload_names(count), _UNITS, payload_values(found.theta), payload_sigma(found), strict=False)
    return ParameterFile(
        kind="payload",
        date=(datetime.now() if date is None else date).date(),
        mechanism=mechanism.name,
        parameters=tuple(
            Parameter(name, unit, float(nominal), float(value), float(sigma))
            for name, unit, nominal, value, sigma in rows
        ),
        nuisance=tuple(Parameter(name, unit, 0.0, float(value), float(sigma)) for name, unit, value, sigma in own),
        covariance=covariance,
        provenance={
            "recordings": ", ".join(str(one.path) for one in opened),
            "mechanism_sha256": str(opened[0].header.get("mechanism_sha256", "")),
            "zero": "taken to be right" if before is None else f"without the payload: {before}",
            "software": f"stewart-rig {__version__}",
        },
        findings={
            "chi_square": found.chi_square,
            "poses": float(len(weighing.at_rest)),
            "samples_in_motion": float(len(weighing.in_motion) if found.has_inertia else 0),
        },
    )


def _summary(
    found: "PayloadEstimate",
    file: "ParameterFile",
    weighing: "Weighing",
    samples: "PayloadSamples",
    zero: "CellZero | None",
    output: Path | None,
) -> dict[str, Any]:
    from dataclasses import asdict

    import numpy as np

    before = samples.residual - (0.0 if zero is None else zero.mean)
    after = before - samples.design[:, :, : len(found.theta)] @ found.theta
    return {
        "mechanism": file.mechanism,
        "cells": [
            {"leg": leg + 1, "residual_before_n": old, "residual_after_n": new}
            for leg, (old, new) in enumerate(
                zip(*(np.sqrt(np.mean(each**2, axis=0)).tolist() for each in (before, after)), strict=True)
            )
        ],
        "payload": [asdict(each) for each in file.nuisance],
        "parameters": [asdict(each) for each in file.parameters],
        "inertia": found.has_inertia,
        "chi_square": found.chi_square,
        "poses": len(weighing.at_rest),
        "samples_in_motion": len(weighing.in_motion) if found.has_inertia else 0,
        "provenance": dict(file.provenance),
        "output": None if output is None else str(output),
    }


def _described(found: "PayloadEstimate", file: "ParameterFile", weighing: "Weighing") -> str:
    used = f"{len(weighing.at_rest)} poses at rest"
    if found.has_inertia:
        used += f", {len(weighing.in_motion)} samples in motion"
    lines = [
        f"weighed with  {used}; the cells' zero {file.provenance['zero']}",
        f"fit           reduced χ² {found.chi_square:.3g} of {found.freedom} degrees"
        + (": the uncertainties are enlarged by it" if found.chi_square > 1.0 else ""),
        f"{'payload':<27} {'value':>12} {'sigma':>10}  unit",
    ]
    for each in file.nuisance:
        lines.append(f"  {each.name.removeprefix('payload.'):<25} {each.value:12.5g} {each.sigma:10.2g}  {each.unit}")
    lines.append(f"{'platform with it':<27} {'value':>12} {'sigma':>10} {'without':>12}  unit")
    for each in file.parameters:
        name = each.name.removeprefix("platform.")
        lines.append(f"  {name:<25} {each.value:12.5g} {each.sigma:10.2g} {each.nominal:12.5g}  {each.unit}")
    if not found.has_inertia:
        lines.append("inertia: not told by poses at rest, the platform keeps that of its mechanism")
    return "\n".join(lines)
