"""A mechanism as its file: the tables that `parse_mechanism` reads, and their text."""

from typing import Any

import numpy as np
import tomlkit

from dynamics.mechanism import Body, Leg, Mechanism
from kinematics import Array, toml_item

_HEAD = "SI units; the base's points and axes in the base frame, the platform's in its own."


def mechanism_tables(mechanism: Mechanism) -> dict[str, Any]:
    """A mechanism as the nested tables of its file: numbers, lists and mappings; six tables `legs`, as in the file.

    Everything is there that makes the mechanism what it is; what it does not have (a home, limits) is left out.
    """
    geometry = mechanism.geometry
    platform: dict[str, Any] = {"points": geometry.platform_points.tolist()}
    if geometry.home is not None:
        platform["home"] = geometry.home[:3].tolist()
    platform |= _body(Body(mechanism.mass, mechanism.center_of_mass, mechanism.inertia))
    tables: dict[str, Any] = {"name": mechanism.name}
    if mechanism.warnings:
        tables["allow_unphysical"] = True
    return tables | {
        "gravity": np.asarray(mechanism.gravity).tolist(),
        "base": {"points": geometry.base_points.tolist(), "universal_axes": geometry.universal_axes.tolist()},
        "platform": platform,
        "legs": [_leg(leg) for leg in mechanism.legs],
    }


def format_tables(tables: dict[str, Any], *comments: str) -> str:
    """Text of a mechanism's file from its tables, after the lines of `comments`; every number to the last bit."""
    document = tomlkit.document()
    for line in (*comments, _HEAD):
        document.add(tomlkit.comment(line))
    for key, value in tables.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            array = tomlkit.aot()
            for each in value:
                array.append(_table(each))
            document.add(key, array)
        else:
            document.add(key, _table(value) if isinstance(value, dict) else toml_item(value))
    return tomlkit.dumps(document)


def format_mechanism(mechanism: Mechanism, *comments: str) -> str:
    """Text of a mechanism's file; see `format_tables`."""
    return format_tables(mechanism_tables(mechanism), *comments)


def _table(values: dict[str, Any]) -> tomlkit.items.Table:
    table = tomlkit.table()
    for key, value in values.items():
        table.add(key, _table(value) if isinstance(value, dict) else toml_item(value))
    return table


def _body(body: Body) -> dict[str, Any]:
    return {
        "mass": float(body.mass),
        "center_of_mass": _numbers(body.center_of_mass),
        "inertia": _numbers(body.inertia),
    }


def _leg(leg: Leg) -> dict[str, Any]:
    friction, cell = leg.friction, leg.load_cell
    tables: dict[str, Any] = {
        "lower": _body(leg.lower),
        "upper": _body(leg.upper),
        "friction": {
            name: float(getattr(friction, name)) for name in ("universal", "prismatic", "spherical", "coulomb")
        },
    }
    if leg.limits is not None:
        limits = {name: getattr(leg.limits, name) for name in leg.limits.__slots__}
        tables["limits"] = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in limits.items()
            if value is not None
        }
    place = _numbers(cell.place)
    tables["load_cell"] = {"location": cell.location, "mass_beyond": float(cell.mass_beyond), "place": place}
    tables["length_offset"] = float(leg.length_offset)
    return tables


def _numbers(values: Array) -> list[Any]:
    listed: list[Any] = np.asarray(values, dtype=np.float64).tolist()
    return listed
