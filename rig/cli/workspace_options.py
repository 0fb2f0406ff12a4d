"""Parsing of the pose-grid options of `rig workspace`."""

from collections.abc import Sequence
from typing import Any

import typer

from kinematics import Quantity
from rig.cli.options import parse_quantity

_UNITS = {"position": Quantity("length", "m"), "orientation": Quantity("angle", "rad")}
_NAMES = {"position": ("x", "y", "z"), "orientation": ("rx", "ry", "rz")}


def grid_fields(
    constant_orientation: str | None, orientation: str | None, plane: str | None, ranges: Sequence[str]
) -> dict[str, Any]:
    """Return the given fields of a `WorkspaceRequest`; None for omitted ones.

    Raises:
        typer.BadParameter: invalid options.
    """
    if constant_orientation is not None and orientation is not None:
        raise typer.BadParameter("give --constant-orientation or --orientation, not both", param_hint="'--orientation'")
    kind = "position" if orientation is None else "orientation"
    names, unit = _NAMES[kind], _UNITS[kind]
    fixed = None
    if constant_orientation is not None:
        fixed = _three(constant_orientation, _UNITS["orientation"], "--constant-orientation")
    elif orientation is not None and orientation != "home":
        fixed = _three(orientation, _UNITS["position"], "--orientation")
    given = {}
    for text in ranges:
        name, value = _assignment(text, names, "--range")
        given[name] = _range(value, unit)
    flat = None
    if plane is not None:
        name, value = _assignment(plane, names, "--slice")
        flat = name, parse_quantity(value, unit, "--slice")
    return {"kind": kind, "fixed": fixed, "plane": flat, "ranges": given}


def _assignment(text: str, names: tuple[str, ...], option: str) -> tuple[str, str]:
    """Return name and value of NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not equals or name.strip() not in names:
        raise typer.BadParameter(
            f"{text!r} does not begin with one of {', '.join(names)}, and =", param_hint=f"'{option}'"
        )
    return name.strip(), value


def _range(text: str, unit: Quantity) -> tuple[float, float]:
    low, _, high = text.partition(":")
    bounds = parse_quantity(low, unit, "--range"), parse_quantity(high, unit, "--range")
    if not bounds[0] < bounds[1]:
        raise typer.BadParameter(f"{text!r} is no range from low to high", param_hint="'--range'")
    return bounds


def _three(text: str, unit: Quantity, option: str) -> tuple[float, ...]:
    parts = text.split(",")
    if len(parts) != 3:
        raise typer.BadParameter(f"{text!r} is not three values with commas between", param_hint=f"'{option}'")
    return tuple(parse_quantity(part, unit, option) for part in parts)
