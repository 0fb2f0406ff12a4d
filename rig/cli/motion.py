"""`rig motion`: a motion from a template, in a size that the rig bears."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rig.cli.options import ConfigArgument, JsonOption, OutputOption

if TYPE_CHECKING:
    from rig.client import Template

_NAMES = "sine|sweep|circle|step|random|multisine|csv"
_OPTIONS = {"axes": "--axis", "start": "--from", "end": "--to"}
"""Options that are not called as the number is."""


def motion(
    config: ConfigArgument,
    template: Annotated[str, typer.Argument(metavar=_NAMES, help="What the motion is made from.")],
    output: OutputOption,
    axis: Annotated[
        list[str] | None, typer.Option("--axis", metavar="x|y|z|rx|ry|rz", help="Which moves; several times: several.")
    ] = None,
    amplitude: Annotated[
        str | None, typer.Option("--amplitude", metavar="LENGTH", help='Of x, y, z, such as "20 mm"; random: its RMS.')
    ] = None,
    angle: Annotated[
        str | None, typer.Option("--angle", metavar="ANGLE", help='Of rx, ry, rz, such as "3 deg"; random: its RMS.')
    ] = None,
    frequency: Annotated[str | None, typer.Option("--frequency", metavar="HZ", help="Of a sine.")] = None,
    cycles: Annotated[
        int | None, typer.Option("--cycles", help="Of a sine, turns of a circle, periods of a multisine.")
    ] = None,
    start: Annotated[str | None, typer.Option("--from", metavar="HZ", help="Begin of a sweep or a band.")] = None,
    end: Annotated[str | None, typer.Option("--to", metavar="HZ", help="Its end.")] = None,
    duration: Annotated[
        str | None, typer.Option("--duration", metavar="S", help="Of a sweep or random motion; of a step, each way.")
    ] = None,
    plane: Annotated[str | None, typer.Option("--plane", metavar="xy|xz|yz", help="Of a circle.")] = None,
    radius: Annotated[str | None, typer.Option("--radius", metavar="LENGTH", help="Of a circle.")] = None,
    period: Annotated[str | None, typer.Option("--period", metavar="S", help="Of a turn, or of a multisine.")] = None,
    pose: Annotated[
        str | None,
        typer.Option("--pose", metavar="x,y,z,rx,ry,rz", help="Where a step leads, from home; with units or SI."),
    ] = None,
    hold: Annotated[str | None, typer.Option("--hold", metavar="S", help="How long a step stays there.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Of random motion, or of a multisine's phases.")] = None,
    file: Annotated[Path | None, typer.Option("--file", metavar="CSV", help="Of poses: t,x,y,z,qw,qx,qy,qz.")] = None,
    threshold: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="What its runs have to achieve, as [validation] names it; repeatedly."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write a motion from a template, for `rig run` and the app: begun and ended at rest, checked as `rig check` does.

    Sizes that are left out are chosen: some half of the largest that pass on this rig. What else is left out has the
    values that the app shows. Numbers are SI or carry their unit. Ends with 4 where the motion does not pass.
    """
    from kinematics import Thresholds, build_trajectory, trajectory_text
    from rig.cli.options import parse_given
    from rig.client import checked_motion, fitted, template_motion
    from rig.config import load_config
    from rig.csvio import check_output, whole_file
    from rig.errors import RefusedError

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
        "file": None if file is None else str(file.absolute()),
    }
    given = {name: value for name, value in given.items() if value is not None}
    made, wanted = _made(template, given), parse_given(threshold or (), Thresholds)
    check_output(output)
    rig = load_config(config)
    made = fitted(rig, made, given)
    spec = template_motion(made).model_copy(update={"validation": wanted})
    _, verdict = checked_motion(rig, build_trajectory(spec, rig.machine.geometry.home))
    if not verdict.passed:
        raise RefusedError(verdict.message)
    with whole_file(output) as written:
        written.write(trajectory_text(spec.model_dump(mode="json", exclude_defaults=True)))
    if as_json:
        told = {"trajectory": str(output), "template": template, "numbers": made.model_dump(mode="json")}
        told["validation"] = wanted.named
        typer.echo(json.dumps(told | {"duration_s": verdict.duration, "checks": verdict.as_dict()["checks"]}, indent=2))
        return
    typer.echo(f"{template}: {_said(made)}")
    if wanted.named:
        typer.echo(f"its runs are judged by {', '.join(f'{name} {value:g}' for name, value in wanted.named.items())}")
    typer.echo(f"{verdict.duration:g} s, passes every limit: {output}")


def _number(text: str | None) -> float | str | None:
    """A number where it is one, in SI, else the text, which carries a unit."""
    from kinematics import NumberTextError, read_number

    try:
        return None if text is None else read_number(text)
    except NumberTextError as error:
        return math.nan if error.code == "not finite" else text


def _made(name: str, given: dict[str, Any]) -> "Template":
    from pydantic import ValidationError

    from rig.client import TEMPLATES
    from rig.errors import InputError

    if name not in TEMPLATES:
        raise typer.BadParameter(f"{name!r} is none of {', '.join(TEMPLATES)}", param_hint="'TEMPLATE'")
    fields = TEMPLATES[name].model_fields
    if strange := [_option(each) for each in given if each not in fields]:
        raise InputError(f"{name}: has no {', '.join(strange)}; it has {', '.join(map(_option, fields))}")
    try:
        return TEMPLATES[name].model_validate(given)
    except ValidationError as error:
        faults = [
            f"{_option(str(each['loc'][0]))}: {each['msg'].removeprefix('Value error, ')}" for each in error.errors()
        ]
        raise InputError("\n".join(faults)) from None


def _option(name: str) -> str:
    return _OPTIONS.get(name, f"--{name}")


def _said(made: "Template") -> str:
    from kinematics import Quantity, in_words

    said = []
    for name, field in type(made).model_fields.items():
        value = getattr(made, name)
        if not made.matters(name):
            continue
        unit = next((each.unit for each in field.metadata if isinstance(each, Quantity)), "")
        if isinstance(value, tuple):
            value = " ".join(f"{each:.4g}" if isinstance(each, float) else each for each in value)
        said.append(f"{_option(name)[2:]} {in_words(value, unit) if isinstance(value, float) else value}")
    return ", ".join(said)
