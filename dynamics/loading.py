"""From a mechanism's file to a `Mechanism`, or to everything that is wrong with it."""

import reprlib
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from dynamics.errors import MechanismError
from dynamics.mechanism import Body, Friction, Leg, LegLimits, LoadCell, Mechanism
from dynamics.schema import (
    UNPHYSICAL,
    BodyTable,
    LegTable,
    OneLegMechanismTable,
    SixLegsMechanismTable,
)
from kinematics import (
    Geometry,
    InputFileError,
    KinematicsError,
    MissingFileError,
    parse_toml,
    read_text,
)


def mechanism_names() -> tuple[str, ...]:
    """Names of the shipped mechanisms, sorted."""
    folder = resources.files("dynamics") / "mechanisms"
    return tuple(sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml")))


def load_mechanism(path_or_name: str | Path, *, evaluate_only: bool = False) -> Mechanism:
    """Read a mechanism from a TOML file, or a shipped one by its bare name ("lab-hexapod").

    A body that cannot exist is refused unless the file says `allow_unphysical = true` or the mechanism is
    only evaluated (`evaluate_only`); it is then named in the mechanism's `warnings`.
    Raises MechanismError with all faults of the file, or why it cannot be read.
    """
    name = str(path_or_name)
    if isinstance(path_or_name, str) and name in mechanism_names():
        text = (resources.files("dynamics") / "mechanisms" / f"{name}.toml").read_text(encoding="utf-8")
        return parse_mechanism(text, source=name, evaluate_only=evaluate_only)
    path = Path(path_or_name)
    try:
        text = read_text(path)
    except MissingFileError:
        shipped = ", ".join(mechanism_names())
        raise MechanismError(name, [f"no such file; shipped mechanisms are {shipped}"]) from None
    except InputFileError as error:
        raise MechanismError(name, [str(error)]) from None
    return parse_mechanism(text, source=name, evaluate_only=evaluate_only)


@lru_cache(maxsize=16)  # a configuration that is changed step by step is checked with its mechanism at each
def parse_mechanism(text: str, *, source: str = "mechanism", evaluate_only: bool = False) -> Mechanism:
    """Make a mechanism from the text of its file; `source` names it in messages. See `load_mechanism`."""
    try:
        data = parse_toml(text)
    except InputFileError as error:
        raise MechanismError(source, [str(error)]) from None
    return parse_tables(data, source=source, evaluate_only=evaluate_only, text=text)


def parse_tables(
    data: dict[str, Any], *, source: str = "mechanism", evaluate_only: bool = False, text: str = ""
) -> Mechanism:
    """Make a mechanism from the tables of its file, see `mechanism_tables`; `text` is the file's, if there is one."""
    table, warnings = _validated(data, source, evaluate_only)
    legs = table.legs if isinstance(table, SixLegsMechanismTable) else [table.legs] * 6
    platform = table.platform
    try:
        geometry = Geometry(table.base.points, table.base.universal_axes, platform.points, platform.home)
        faults = _home_faults(geometry, legs)
    except KinematicsError as error:
        faults = [str(error)]
    if faults:
        raise MechanismError(source, faults)
    body = _body(platform)
    return Mechanism(
        name=table.name,
        geometry=geometry,
        gravity=_constant(table.gravity),
        mass=body.mass,
        center_of_mass=body.center_of_mass,
        inertia=body.inertia,
        legs=tuple(_leg(leg) for leg in legs),
        warnings=tuple(warnings),
        source=text,
    )


def _validated(
    data: dict[str, Any], source: str, evaluate_only: bool
) -> tuple[OneLegMechanismTable | SixLegsMechanismTable, list[str]]:
    """The file's tables and warnings, or MechanismError with every fault."""
    schema = SixLegsMechanismTable if isinstance(data.get("legs"), list) else OneLegMechanismTable
    tolerant = evaluate_only or data.get("allow_unphysical") is True
    try:
        return schema.model_validate(data), []
    except ValidationError as error:
        found = error.errors(include_url=False)
    tolerated = [fault for fault in found if tolerant and fault["type"] == UNPHYSICAL]
    faults = [_message(fault) for fault in found if fault not in tolerated]
    if not faults:
        try:
            table = schema.model_validate(data, context={"allow_unphysical": True})
        except ValidationError as error:  # what a body's first fault had hidden
            faults = [_message(fault) for fault in error.errors(include_url=False)]
        else:
            return table, [_message(fault) for fault in tolerated]
    raise MechanismError(source, faults)


def _message(fault: ErrorDetails) -> str:
    """One line for a fault: its path inside the file, the leg a list index means, and what is wrong."""
    path, numbers = "", [part for part in fault["loc"] if isinstance(part, int)]
    for part in fault["loc"]:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    if path.startswith(("legs[", "base.points[", "base.universal_axes[", "platform.points[")):
        path += f" (leg {numbers[0] + 1})"
    context = fault.get("ctx", {})
    match fault["type"]:
        case "missing":
            text = "missing"
        case "extra_forbidden":
            text = "unknown key"
        case "too_short" | "too_long":
            expected = context.get("min_length", context.get("max_length"))
            given = fault["input"]
            text = f"{len(given) if isinstance(given, list) else '?'} entries, must be {expected}"
        case "model_type" | "dict_type":
            text = "must be a table"
        case "list_type":
            text = f"{reprlib.repr(fault['input'])} must be a list"
        case "finite_number":
            text = f"{_number(fault['input'])} is not finite"
        case "literal_error":
            text = f"{reprlib.repr(fault['input'])} must be {context['expected']}"
        case "value_error":
            text = str(context["error"])
        case _:
            text = fault["msg"]
    return f"{path}: {text}"


def _number(value: object) -> str:
    return "NaN" if value != value else str(value)


def _home_faults(geometry: Geometry, legs: list[LegTable]) -> list[str]:
    """Legs whose length at home is outside their limits."""
    if geometry.home is None:
        return []
    faults = []
    for number, (leg, length) in enumerate(zip(legs, geometry.home_lengths, strict=True), start=1):
        bounds = leg.limits.length if leg.limits else None
        if bounds and not bounds[0] <= length <= bounds[1]:
            faults.append(
                f"platform.home: leg {number} is {length:.4f} m long there, outside its limits {bounds[0]:g} to "
                f"{bounds[1]:g} m"
            )
    return faults


def _leg(table: LegTable) -> Leg:
    limits = None
    if table.limits is not None:
        values: Mapping[str, Any] = table.limits.model_dump()
        length = table.limits.length
        limits = LegLimits(**{**values, "length": (length[0], length[1]) if length else None})
    cell = table.load_cell
    return Leg(
        lower=_body(table.lower),
        upper=_body(table.upper),
        friction=Friction(**table.friction.model_dump()),
        limits=limits,
        load_cell=LoadCell(cell.location, cell.mass_beyond, _constant(cell.place)),
        length_offset=table.length_offset,
    )


def _body(table: BodyTable) -> Body:
    inertia = np.array(table.inertia)
    return Body(table.mass, _constant(table.center_of_mass), _constant((inertia + inertia.T) / 2.0))


def _constant(values: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    array = np.array(values, dtype=np.float64)
    array.flags.writeable = False
    return array
