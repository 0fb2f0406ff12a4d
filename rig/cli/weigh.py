"""`rig weigh`: the mass, centre of mass and inertia of what stands on the platform."""

import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rig.cli.options import (
    JsonOption,
    ProbeOption,
    ProgressOption,
    check_new_file,
    end_doubtful,
    parse_span,
    print_caveats,
    print_contents,
    print_warning,
)

if TYPE_CHECKING:
    from calibration import ParameterFile, PayloadEstimate
    from rig.analysis import Weighing
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
            help="Without the payload: a recording, or a stretch of the first one, s. What the rig has beyond its "
            "model is told by it and cancels, whatever the motions are. A rig that is not identified needs it.",
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
    mass: Annotated[
        float,
        typer.Option(
            metavar="PART", help="How well masses that no parameter file tells are known, one sigma: 0.2 is 20 %."
        ),
    ] = 0.2,
    inertia: Annotated[float, typer.Option(metavar="PART", help="The same of moments of inertia.")] = 0.2,
    center: Annotated[
        float | None,
        typer.Option(
            metavar="M", help="The same of centres of mass, each axis; left out: 3 mm, times the machine's size."
        ),
    ] = None,
    zero_change: Annotated[
        float | None,
        typer.Option(
            "--zero-change",
            metavar="N",
            help="How much each cell's zero may change between recordings, one sigma; left out: the drift that its "
            "calibration saw, none without one.",
        ),
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
    look: ProbeOption = False,
    progress: ProgressOption = False,
    as_json: JsonOption = False,
) -> None:
    """Weigh a payload by the load cells: mass and centre of mass from a few poses, inertia from a motion as well.

    Hold the platform at some poses, tilted ones among them, and let it turn about all axes for the inertia: the same
    without the payload, for --before, and with it. Every number comes with its standard uncertainty, in which count the
    cells' noise, gains and zeros, the joints' places, and how well the rig's own masses are known: by --before, by the
    parameter files that the recording was made with, or as stated.

    Refuses (exit code 4) data that do not tell a number, with what would tell it, and a model that does not fit them.
    The file lays the platform's mass, centre of mass and inertia with its payload over the mechanism.
    """
    from calibration import CALIBRATED_CELLS, Accuracy, CalibrationError, UnidentifiablePayloadError
    from rig.analysis import Stretch, rig_of, weighing_of
    from rig.cli.progress import print_step
    from rig.errors import InputError, RefusedError

    tell = print_step if progress else lambda _step: None
    if output is not None and not look:
        check_new_file(output)
    stated = {"mass": mass, "inertia": inertia, **({} if center is None else {"center": center}), **CALIBRATED_CELLS}
    try:
        Accuracy(**stated)
    except CalibrationError as error:
        raise typer.BadParameter("; ".join(error.faults)) from None
    opened = [_open(path) for path in recordings]
    span = parse_span(during, "--during") if during else None
    bare = None
    if before is not None and Path(before).suffix == ".mcap":
        bare = Stretch(_open(Path(before)))
    elif before is not None:
        bare = Stretch(opened[0], parse_span(before, "--before"))
    tell("reading the recordings")
    accuracy = Accuracy.of(rig_of(opened[0]).mechanism, **stated)
    weighing = weighing_of(
        [Stretch(one, span) for one in opened],
        bare,
        bandwidth=bandwidth,
        noise=noise,
        accuracy=accuracy,
        change=zero_change,
    )
    poses, moving = weighing.counts(loaded=True)
    if look:
        print_contents(f"{poses} poses at rest, {moving} samples in motion, {weighing.rig.mechanism.name}", as_json)
        return
    tell("fitting the payload")
    in_motion = moving > 0 and not at_rest
    if not in_motion and not poses:
        raise InputError("payload: the platform neither rested under power with its pose known, nor moved")
    try:
        try:
            found = weighing.fit(inertia=in_motion)
        except UnidentifiablePayloadError as error:
            if not in_motion or not poses:
                raise
            print_warning(f"the motion does not tell everything, only poses at rest are used:\n  {error}")
            found = weighing.fit(inertia=False)
        file = _file(found, weighing, opened, before, date)
    except CalibrationError as error:
        raise RefusedError("\n  ".join(["weighing refused, nothing written:", *error.faults])) from None
    if output is not None:
        from calibration import save_parameters

        save_parameters(output, file)
    typer.echo(json.dumps(_summary(found, file, output), indent=2) if as_json else _described(found, file))
    if output is not None and not as_json:
        typer.echo(f"parameters {output}")
    for one in opened:
        end_doubtful(one)


def _open(path: Path) -> "RecordingFile":
    from rig.recording import RecordingFile

    opened = RecordingFile(path)
    print_caveats(opened)
    return opened


def _file(
    found: "PayloadEstimate",
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

    mechanism = weighing.rig.mechanism
    names, values, covariance = loaded_platform(mechanism, found)
    count = len(names)
    rows = zip(names, _UNITS, nominal_platform(mechanism, count), values, np.sqrt(np.diag(covariance)), strict=False)
    poses, moving = weighing.counts(loaded=True)
    bare_poses, bare_moving = weighing.counts(loaded=False)
    known = "by parameter files" if weighing.nuisance.identified else "by the mechanism's file, to what is stated"
    if before is not None:
        known = f"without the payload: {before}"
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
            "platform": known,
            "software": f"stewart-rig {__version__}",
        },
        findings={
            "chi_square_at_rest": found.rest.chi_square,
            "freedom_at_rest": found.rest.freedom,
            "chi_square_in_motion": found.motion.chi_square,
            "freedom_in_motion": found.motion.freedom,
            "poses": float(poses),
            "samples_in_motion": float(moving if found.has_inertia else 0),
            "poses_without": float(bare_poses),
            "samples_in_motion_without": float(bare_moving if found.has_inertia else 0),
        },
    )


def _summary(found: "PayloadEstimate", file: "ParameterFile", output: Path | None) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "mechanism": file.mechanism,
        "cells": [
            {"leg": leg + 1, "residual_before_n": old, "residual_after_n": new}
            for leg, (old, new) in enumerate(zip(found.before.tolist(), found.after.tolist(), strict=True))
        ],
        "payload": [asdict(each) for each in file.nuisance],
        "parameters": [asdict(each) for each in file.parameters],
        "inertia": found.has_inertia,
        "chi_square": found.chi_square,
        **{name: value if name.startswith(("chi", "freedom")) else int(value) for name, value in file.findings.items()},
        "provenance": dict(file.provenance),
        "output": None if output is None else str(output),
    }


def _described(found: "PayloadEstimate", file: "ParameterFile") -> str:
    told = file.findings

    def used(suffix: str) -> str:
        words = f"{told[f'poses{suffix}']:.0f} poses at rest"
        return words + (f", {told[f'samples_in_motion{suffix}']:.0f} samples in motion" if found.has_inertia else "")

    fits = [
        f"{fit.chi_square:.3g} {where} of {fit.freedom:.0f} degrees"
        for fit, where in ((found.rest, "at rest"), (found.motion, "in motion"))
        if fit.freedom
    ]
    bare = (
        f"; without the payload {used('_without')}"
        if told["poses_without"] or told["samples_in_motion_without"]
        else ""
    )
    lines = [
        f"weighed with  {used('')}{bare}",
        f"platform      known {file.provenance['platform']}",
        f"fit           reduced χ² {', '.join(fits) or 'not told'}"
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
