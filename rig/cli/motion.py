"""`rig motion`: a motion from a template, in a size that the rig permits."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from rig.cli.options import ConfigArgument, JsonOption, OutputOption

if TYPE_CHECKING:
    from rig.client import Template
    from rig.services import TemplateError

_NAMES = "sine|sweep|circle|step|random|multisine|sea|road|seismic|csv"
_OPTIONS = {"axes": "--axis", "start": "--from", "end": "--to", "axis": "--component"}
"""Options whose names differ from the number's."""


def motion(
    config: ConfigArgument,
    template: Annotated[str, typer.Argument(metavar=_NAMES, help="Template of the motion.")],
    output: OutputOption,
    axis: Annotated[
        list[str] | None, typer.Option("--axis", metavar="x|y|z|rx|ry|rz", help="Moving axis; may be repeated.")
    ] = None,
    amplitude: Annotated[
        str | None,
        typer.Option("--amplitude", metavar="LENGTH", help='Amplitude of x, y, z, such as "20 mm"; random: RMS.'),
    ] = None,
    angle: Annotated[
        str | None,
        typer.Option("--angle", metavar="ANGLE", help='Amplitude of rx, ry, rz, such as "3 deg"; random: RMS.'),
    ] = None,
    frequency: Annotated[str | None, typer.Option("--frequency", metavar="HZ", help="Frequency of a sine.")] = None,
    cycles: Annotated[
        int | None, typer.Option("--cycles", help="Cycles of a sine, turns of a circle, periods of a multisine.")
    ] = None,
    start: Annotated[
        str | None, typer.Option("--from", metavar="HZ", help="Start of a sweep, or lower end of a band.")
    ] = None,
    end: Annotated[
        str | None, typer.Option("--to", metavar="HZ", help="End of a sweep, or upper end of a band.")
    ] = None,
    duration: Annotated[
        str | None,
        typer.Option("--duration", metavar="S", help="Duration; of a step, in each direction."),
    ] = None,
    plane: Annotated[str | None, typer.Option("--plane", metavar="xy|xz|yz", help="Plane of a circle.")] = None,
    radius: Annotated[str | None, typer.Option("--radius", metavar="LENGTH", help="Radius of a circle.")] = None,
    period: Annotated[
        str | None, typer.Option("--period", metavar="S", help="Period of a turn, of a multisine, or of a sea's peak.")
    ] = None,
    pose: Annotated[
        str | None,
        typer.Option(
            "--pose", metavar="x,y,z,rx,ry,rz", help="Target pose of a step, relative to home; SI or with units."
        ),
    ] = None,
    hold: Annotated[str | None, typer.Option("--hold", metavar="S", help="Dwell time of a step at its target.")] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", help="Seed of random motion, of phases, of a sea, a road or a synthetic record."),
    ] = None,
    spectrum: Annotated[
        str | None, typer.Option("--spectrum", metavar="JONSWAP|Pierson-Moskowitz", help="Spectrum of a sea.")
    ] = None,
    height: Annotated[
        str | None,
        typer.Option(
            "--height", metavar="LENGTH", help="Significant wave height; of a road, the profile's RMS in its band."
        ),
    ] = None,
    heading: Annotated[
        str | None,
        typer.Option("--heading", metavar="ANGLE", help="Direction of waves, from x towards y."),
    ] = None,
    road: Annotated[
        str | None, typer.Option("--road", metavar="sized|A|…|H", help="Class of a road, ISO 8608.")
    ] = None,
    speed: Annotated[str | None, typer.Option("--speed", metavar="SPEED", help="Speed on a road.")] = None,
    wheelbase: Annotated[
        str | None, typer.Option("--wheelbase", metavar="LENGTH", help="Wheelbase of the vehicle on a road.")
    ] = None,
    track: Annotated[
        str | None, typer.Option("--track", metavar="LENGTH", help="Track of the vehicle on a road.")
    ] = None,
    file: Annotated[
        str | None,
        typer.Option(
            "--file",
            metavar="FILE",
            help="csv: poses, t,x,y,z,qw,qx,qy,qz. seismic: CSV of t,ax,ay,az, a PEER .AT2, a column of numbers, "
            "or synthetic.",
        ),
    ] = None,
    file_y: Annotated[
        str | None, typer.Option("--file-y", metavar="FILE", help="Seismic record of the component along y.")
    ] = None,
    file_z: Annotated[
        str | None, typer.Option("--file-z", metavar="FILE", help="Seismic record of the component along z.")
    ] = None,
    component: Annotated[
        str | None, typer.Option("--component", metavar="x|y|z", help="Axis of a seismic record of one component.")
    ] = None,
    unit: Annotated[
        str | None, typer.Option("--unit", metavar="m/s^2|g|cm/s^2", help="Unit of a seismic record.")
    ] = None,
    step: Annotated[
        str | None, typer.Option("--step", metavar="S", help="Time between two samples of a column of numbers.")
    ] = None,
    high_pass: Annotated[
        str | None, typer.Option("--high-pass", metavar="HZ", help="Corner of a seismic record's high-pass.")
    ] = None,
    low_pass: Annotated[
        str | None, typer.Option("--low-pass", metavar="HZ", help="Corner of a seismic record's low-pass.")
    ] = None,
    fade: Annotated[
        str | None, typer.Option("--fade", metavar="S", help="Fade at both ends of a seismic record.")
    ] = None,
    scale: Annotated[
        str | None, typer.Option("--scale", metavar="FACTOR", help="Factor of a seismic record's accelerations.")
    ] = None,
    threshold: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Threshold of its runs, named as in [validation]; may be repeated."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write a motion from a template, for `rig run` and the app: at rest at both ends, checked as by `rig check`.

    Missing sizes are chosen: about half of the largest that pass on this rig. Other missing values have the defaults
    shown in the app. Numbers are SI or have a unit. Ends with 4 if the motion does not pass.
    """
    from kinematics import Thresholds
    from rig.cli.options import parse_given
    from rig.errors import InputError
    from rig.services import MotionRequest, TemplateError, motion_templates, write_motion

    if template not in (known := motion_templates()):
        raise typer.BadParameter(f"{template!r} must be one of {', '.join(known)}", param_hint="'TEMPLATE'")
    given: dict[str, Any] = {
        "axes": tuple(axis) if axis else None,
        "amplitude": _number(amplitude),
        "angle": _number(angle),
        "frequency": _number(frequency),
        "cycles": cycles,
        "start": _number(start),
        "end": _number(end),
        "duration": _number(duration),
        "plane": plane,
        "radius": _number(radius),
        "period": _number(period),
        "pose": None if pose is None else tuple(_number(each) for each in pose.split(",")),
        "hold": _number(hold),
        "seed": seed,
        "spectrum": spectrum,
        "height": _number(height),
        "heading": _number(heading),
        "road": road,
        "speed": _number(speed),
        "wheelbase": _number(wheelbase),
        "track": _number(track),
        "file": _file(file),
        "file_y": _file(file_y),
        "file_z": _file(file_z),
        "axis": component,
        "unit": unit,
        "step": _number(step),
        "high_pass": _number(high_pass),
        "low_pass": _number(low_pass),
        "fade": _number(fade),
        "scale": _number(scale),
    }
    given = {name: value for name, value in given.items() if value is not None}
    thresholds = parse_given(threshold or (), Thresholds)
    try:
        made = write_motion(MotionRequest(config, template, output, given, thresholds))
    except TemplateError as error:
        raise InputError(_faults(error)) from None
    named = made.thresholds.named
    if as_json:
        output_data = {"trajectory": str(output), "template": template, "numbers": made.motion.model_dump(mode="json")}
        output_data["validation"] = named
        if made.spectra is not None:
            output_data["spectra"] = made.spectra.as_dict()
        checks = made.verdict.as_dict()["checks"]
        typer.echo(json.dumps(output_data | {"duration_s": made.verdict.duration, "checks": checks}, indent=2))
        return
    typer.echo(f"{template}: {_numbers(made.motion)}")
    if named:
        typer.echo(f"its runs are judged by {', '.join(f'{name} {value:g}' for name, value in named.items())}")
    for line in () if made.spectra is None else made.spectra.lines():
        typer.echo(line)
    typer.echo(f"{made.verdict.duration:g} s, passes every limit: {made.trajectory}")


def _file(name: str | None) -> str | None:
    """Return a file's full name; that of the synthetic record stays."""
    from kinematics import SYNTHETIC

    return name if name is None or name == SYNTHETIC else str(Path(name).absolute())


def _number(text: str | None) -> float | str | None:
    """Parse an SI number; other text, which carries a unit, is returned unchanged."""
    from kinematics import NumberTextError, read_number

    try:
        return None if text is None else read_number(text)
    except NumberTextError as error:
        return math.nan if error.code == "not finite" else text


def _faults(error: "TemplateError") -> str:
    """Describe the faults of a template's numbers by their options."""
    if error.unknown:
        unknown, known = (", ".join(map(_option, names)) for names in (error.unknown, error.known))
        return f"{error.template}: has no {unknown}; it has {known}"
    return "\n".join(f"{_option(name)}: {fault}" for name, fault in error.invalid)


def _option(name: str) -> str:
    return _OPTIONS.get(name, f"--{name.replace('_', '-')}")


def _numbers(made: "Template") -> str:
    from kinematics import Quantity, in_words

    parts = []
    for name, field in type(made).model_fields.items():
        value = getattr(made, name)
        if not made.matters(name) or value is None or value == "":
            continue
        kinds = [*field.metadata, *(kind for each in get_args(field.annotation) for kind in get_args(each))]  # or None
        unit = next((each.unit for each in kinds if isinstance(each, Quantity)), "")
        if isinstance(value, tuple):
            value = " ".join(f"{each:.4g}" if isinstance(each, float) else each for each in value)
        parts.append(f"{_option(name)[2:]} {in_words(value, unit) if isinstance(value, float) else value}")
    return ", ".join(parts)
