"""The mechanism file: its tables, keys and units; reading it into a `Mechanism`, with all faults, and writing it."""

import reprlib
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import tomlkit
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from dynamics.errors import MechanismError
from dynamics.mechanism import Body, Drive, Friction, Leg, LegLimits, LoadCell, Mechanism
from kinematics import (
    Acceleration,
    Angle,
    AngularDamping,
    Array,
    Damping,
    Force,
    Geometry,
    Inertia,
    InputFileError,
    KinematicsError,
    Length,
    Mass,
    MissingFileError,
    Speed,
    parse_toml,
    read_text,
    toml_item,
    within,
)

UNPHYSICAL = "unphysical"
"""Type of the faults of bodies that cannot exist; only these may be ignored."""

_LIGHTEST = 1e-6  # kg, of a platform
_HEAVIEST = 1e6  # kg, reflected, of a drive
_ROUNDING = 1e-9  # relative to the largest principal moment or element, for the file's rounding


def _axis(value: list[float]) -> list[float]:
    if not 1e-9 < np.linalg.norm(value) < 1e9:
        raise ValueError(f"{value} has no direction")
    return value


def _symmetric(value: list[list[float]]) -> list[list[float]]:
    tensor = np.array(value)
    excess = np.abs(tensor - tensor.T)
    if excess.max() > _ROUNDING * np.abs(tensor).max():
        i, j = np.unravel_index(int(excess.argmax()), (3, 3))
        raise ValueError(
            f"not symmetric: element [{i}][{j}] is {tensor[i, j]:g} kg m², [{j}][{i}] is {tensor[j, i]:g} kg m²"
        )
    return value


def _distinct(points: list[list[float]]) -> list[list[float]]:
    for i, point in enumerate(points):
        for j in range(i):
            if np.linalg.norm(np.subtract(point, points[j])) < 1e-6:
                raise ValueError(f"legs {j + 1} and {i + 1} have the same point {point} m")
    return points


Three = Field(min_length=3, max_length=3)
Six = Field(min_length=6, max_length=6)
Place = Annotated[Length, within(-100.0, 100.0, "m")]
BodyMass = Annotated[Mass, within(0.0, 1e6, "kg")]
DriveMass = Annotated[Mass, within(0.0, _HEAVIEST, "kg")]
Moment = Annotated[Inertia, within(-1e8, 1e8, "kg m²")]
JointDamping = Annotated[AngularDamping, within(0.0, 1e6, "N m s/rad")]
JointAngle = Annotated[Angle, within(1e-3, 3.2, "rad")]
Position = Annotated[list[Place], Three]
Axis = Annotated[list[Annotated[float, within(-1e6, 1e6)]], Three, AfterValidator(_axis)]
Tensor = Annotated[list[Annotated[list[Moment], Three]], Three, AfterValidator(_symmetric)]
Points = Annotated[list[Position], Six, AfterValidator(_distinct)]


class Table(BaseModel):
    """A table of the file: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, defer_build=True)


class BodyTable(Table):
    """A rigid part: mass, centre of mass, inertia about the centre of mass in the axes of its frame."""

    mass: BodyMass
    """Mass, kg."""
    center_of_mass: Position
    """Centre of mass in the axes of the part's frame, m."""
    inertia: Tensor
    """Inertia about the centre of mass, symmetric, kg m²."""

    @model_validator(mode="after")
    def _realisable(self, info: ValidationInfo) -> "BodyTable":
        if not (info.context or {}).get("allow_unphysical", False):
            problems = unphysical(self.mass, np.array(self.inertia))
            if problems:
                raise PydanticCustomError(UNPHYSICAL, "{problems}", {"problems": "; ".join(problems)})
        return self


def unphysical(mass: float, inertia: np.ndarray[Any, np.dtype[np.float64]]) -> list[str]:
    """Return why no real body has this mass (kg) and inertia (3, 3, kg m², about its centre of mass).

    A distribution of positive mass has principal moments A ≤ B ≤ C that are not negative and satisfy A + B ≥ C.
    """
    problems = []
    principal = np.linalg.eigvalsh(inertia)
    shown = ", ".join(f"{moment:.4g}" for moment in principal)
    slack = _ROUNDING * float(np.abs(principal).max())
    if principal[0] < -slack:
        problems.append(f"no real body has this inertia: principal moments {shown} kg m², none may be negative")
    elif principal[0] + principal[1] < principal[2] - slack:
        problems.append(
            f"no real body has this inertia: principal moments {shown} kg m², "
            "the two smaller must sum to at least the largest"
        )
    elif mass == 0.0 and principal[2] > 0.0:
        problems.append(f"no real body has this inertia: principal moments {shown} kg m² without mass")
    return problems


class BaseTable(Table):
    """The base: centres of the universal joints and their fixed axes, base frame."""

    points: Points
    """Centres of the universal joints, legs 1 to 6, base frame, m."""
    universal_axes: Annotated[list[Axis], Six]
    """Axis of each universal joint that is fixed in the base, base frame, of any length."""


class PlatformTable(BodyTable):
    """The platform: centres of the spherical joints in its frame, home position (level), body including the payload."""

    points: Points
    """Centres of the spherical joints, legs 1 to 6, platform frame, m."""
    home: Position | None = None
    """Position of the platform's origin at home, with a level platform, base frame, m; a rig needs it."""

    @model_validator(mode="after")
    def _has_mass(self) -> "PlatformTable":
        if self.mass < _LIGHTEST:
            raise ValueError(f"mass {self.mass:g} kg must be at least {_LIGHTEST:g} kg")
        return self


class FrictionTable(Table):
    """Joint friction of a leg; defaults are zero."""

    universal: JointDamping = 0.0
    """Viscous friction of the universal joint, N m s/rad."""
    prismatic: Annotated[Damping, within(0.0, 1e7, "N s/m")] = 0.0
    """Viscous friction of the prismatic joint, N s/m."""
    spherical: JointDamping = 0.0
    """Viscous friction of the spherical joint, N m s/rad."""
    coulomb: Annotated[Force, within(0.0, 1e6, "N")] = 0.0
    """Coulomb friction of the prismatic joint, N."""


class DriveTable(Table):
    """Inertia and friction of a leg's drive: `inertia` with `lead`, or `reflected_mass`, or friction alone."""

    inertia: Annotated[Inertia, within(0.0, 1e4, "kg m²")] | None = None
    """Inertia of what turns with the screw: rotor, coupling, gears and screw, referred to the screw, kg m². Their mass
    and the inertia with which they swing with the leg belong to its parts."""
    lead: Annotated[Length, within(1e-5, 10.0, "m")] | None = None
    """Lead of the screw, m per revolution."""
    reflected_mass: DriveMass | None = None
    """The same inertia as a mass at the rod, kg: inertia (2π/lead)²."""
    viscous: Annotated[Damping, within(0.0, 1e7, "N s/m")] = 0.0
    """Viscous friction in the drive, at the rod, N s/m."""
    coulomb: Annotated[Force, within(0.0, 1e6, "N")] = 0.0
    """Coulomb friction in the drive, at the rod, N."""

    @model_validator(mode="after")
    def _one_form(self) -> "DriveTable":
        mass = Drive(self.inertia, self.lead, self.reflected_mass).mass
        if mass > _HEAVIEST:
            raise ValueError(
                f"inertia {self.inertia:g} kg m² with lead {self.lead:g} m is a reflected mass of {mass:g} kg, "
                f"must be at most {_HEAVIEST:g} kg"
            )
        return self


class LimitsTable(Table):
    """Limits of a leg; omitted quantities are unlimited."""

    length: Annotated[list[Place], Field(min_length=2, max_length=2)] | None = None
    """Minimum and maximum length, m."""
    velocity: Annotated[Speed, within(1e-4, 100.0, "m/s")] | None = None
    """Maximum speed, m/s."""
    acceleration: Annotated[Acceleration, within(1e-3, 1e4, "m/s²")] | None = None
    """Maximum acceleration, m/s²."""
    force: Annotated[Force, within(0.01, 1e7, "N")] | None = None
    """Maximum force, N."""
    universal_angle: JointAngle | None = None
    """Maximum angle between the leg and its direction at home, in the base frame, rad."""
    spherical_angle: JointAngle | None = None
    """Maximum angle between the leg and its direction at home, in the platform frame, rad."""

    @model_validator(mode="after")
    def _ordered(self) -> "LimitsTable":
        if self.length is not None and not 0.0 < self.length[0] < self.length[1]:
            raise ValueError(f"length {self.length} m must be [least, greatest], both above 0 m")
        return self


class LoadCellTable(Table):
    """Location of a leg's load cell, and the mass between it and the joint whose force is wanted."""

    location: Literal["actuator", "rod_end", "base", "motor"] = "actuator"
    """Location of the cell: between actuator and rod, at the rod's end, or at the base joint; "motor" is a force from
    the motor's current, which alone reads the drive's inertia and friction."""
    mass_beyond: BodyMass = 0.0
    """Mass of the part between the cell and the joint whose force is wanted, kg."""
    place: Position = Field(default_factory=lambda: [0.0, 0.0, 0.0])
    """Position of that mass in the axes of its part, m."""


class LegTable(Table):
    """One leg: lower and upper part, friction, limits, load cell and length offset of its drive."""

    lower: BodyTable
    """Lower part, from the base joint, with its x axis along the leg."""
    upper: BodyTable
    """Upper part, from the platform joint, in the same axes."""
    friction: FrictionTable = FrictionTable()
    """Friction of the joints."""
    limits: LimitsTable | None = None
    """Limits; a rig needs length, velocity, acceleration and force."""
    load_cell: LoadCellTable = LoadCellTable()
    """The load cell."""
    length_offset: Annotated[Length, within(-0.1, 0.1, "m")] = 0.0
    """Offset of the drive's reading from the leg's length, m; from calibration."""
    drive: DriveTable | None = None
    """Inertia and friction of the drive; not given: none."""

    @model_validator(mode="after")
    def _cell_within_part(self, info: ValidationInfo) -> "LegTable":
        if self.load_cell.location == "motor" and self.load_cell.mass_beyond:
            raise ValueError(
                f"load_cell.mass_beyond {self.load_cell.mass_beyond:g} kg must be 0 kg: "
                'nothing is between a motor and its current (location "motor")'
            )
        part = "lower" if self.load_cell.location == "base" else "upper"
        mass = (self.lower if part == "lower" else self.upper).mass
        if self.load_cell.mass_beyond > mass:
            raise ValueError(
                f"load_cell.mass_beyond {self.load_cell.mass_beyond:g} kg is more than the {part} part's {mass:g} kg"
            )
        return self


class MechanismTable(Table):
    """A whole mechanism file. `legs` is one table for six identical legs, or six tables."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    """Name of the mechanism."""
    allow_unphysical: StrictBool = False
    """Accept masses and inertias that no real body can have."""
    gravity: Annotated[list[Annotated[Acceleration, within(-100.0, 100.0, "m/s²")]], Three]
    """Gravity in the base frame, m/s²."""
    base: BaseTable
    """The base."""
    platform: PlatformTable
    """The platform, with its payload."""


class OneLegMechanismTable(MechanismTable):
    """A mechanism whose six legs are identical: `[legs]`."""

    legs: LegTable
    """One table for six identical legs."""


class SixLegsMechanismTable(MechanismTable):
    """A mechanism with six different legs: `[[legs]]` six times."""

    legs: Annotated[list[LegTable], Six]
    """Six tables, legs 1 to 6."""


def mechanism_names() -> tuple[str, ...]:
    """Names of the shipped mechanisms, sorted."""
    folder = resources.files("dynamics") / "mechanisms"
    return tuple(sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml")))


def load_mechanism(path_or_name: str | Path, *, evaluate_only: bool = False) -> Mechanism:
    """Read a mechanism from a TOML file, or a shipped one by its bare name ("lab-hexapod").

    A body that cannot exist is rejected unless the file says `allow_unphysical = true` or the mechanism is
    only evaluated (`evaluate_only`); the mechanism's `warnings` then name it.
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


@lru_cache(maxsize=16)  # a configuration edited step by step is checked with its mechanism at each step
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
    """Make a mechanism from the tables of its file, see `mechanism_tables`; `text` is the file's text, if any."""
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
    """Return the file's tables and warnings; raise MechanismError with every fault."""
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
        except ValidationError as error:  # faults hidden by a body's first fault
            faults = [_message(fault) for fault in error.errors(include_url=False)]
        else:
            return table, [_message(fault) for fault in tolerated]
    raise MechanismError(source, faults)


def _message(fault: ErrorDetails) -> str:
    """Format a fault as one line: its path in the file, the leg of a list index, and the fault."""
    path, numbers = "", [part for part in fault["loc"] if isinstance(part, int)]
    for part in fault["loc"]:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    if path.startswith(("legs[", "base.points[", "base.universal_axes[", "platform.points[")):
        path += f" (leg {numbers[0] + 1})"
    return f"{path}: {fault_text(fault)}"


def fault_text(fault: ErrorDetails) -> str:
    """Return what is wrong with a key of a file, without its path."""
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
    return text


def _number(value: object) -> str:
    return "NaN" if value != value else str(value)


def _home_faults(geometry: Geometry, legs: list[LegTable]) -> list[str]:
    """Return faults for legs whose length at home is outside their limits."""
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
        drive=Drive() if table.drive is None else Drive(**table.drive.model_dump()),
    )


def _body(table: BodyTable) -> Body:
    inertia = np.array(table.inertia)
    return Body(table.mass, _constant(table.center_of_mass), _constant((inertia + inertia.T) / 2.0))


def _constant(values: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    array = np.array(values, dtype=np.float64)
    array.flags.writeable = False
    return array


_HEAD = "SI units; the base's points and axes in the base frame, the platform's in its own."


def mechanism_tables(mechanism: Mechanism) -> dict[str, Any]:
    """Return a mechanism as the nested tables of its file: numbers, lists and mappings; six tables `legs`.

    Everything that defines the mechanism is included; missing parts (home, limits) are left out.
    """
    geometry = mechanism.geometry
    platform: dict[str, Any] = {"points": geometry.platform_points.tolist()}
    if geometry.home is not None:
        platform["home"] = geometry.home[:3].tolist()
    platform |= _body_table(Body(mechanism.mass, mechanism.center_of_mass, mechanism.inertia))
    tables: dict[str, Any] = {"name": mechanism.name}
    if mechanism.warnings:
        tables["allow_unphysical"] = True
    return tables | {
        "gravity": np.asarray(mechanism.gravity).tolist(),
        "base": {"points": geometry.base_points.tolist(), "universal_axes": geometry.universal_axes.tolist()},
        "platform": platform,
        "legs": [_leg_table(leg) for leg in mechanism.legs],
    }


def format_tables(tables: dict[str, Any], *comments: str) -> str:
    """Format a mechanism file from its tables, after the lines of `comments`; every number to the last bit."""
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
    """Format a mechanism file; see `format_tables`."""
    return format_tables(mechanism_tables(mechanism), *comments)


def _table(values: dict[str, Any]) -> tomlkit.items.Table:
    table = tomlkit.table()
    for key, value in values.items():
        table.add(key, _table(value) if isinstance(value, dict) else toml_item(value))
    return table


def _body_table(body: Body) -> dict[str, Any]:
    return {
        "mass": float(body.mass),
        "center_of_mass": _numbers(body.center_of_mass),
        "inertia": _numbers(body.inertia),
    }


def _leg_table(leg: Leg) -> dict[str, Any]:
    friction, cell = leg.friction, leg.load_cell
    tables: dict[str, Any] = {
        "lower": _body_table(leg.lower),
        "upper": _body_table(leg.upper),
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
    if leg.drive != Drive():
        tables["drive"] = {name: float(value) for name, value in asdict(leg.drive).items() if value is not None}
    return tables


def _numbers(values: Array) -> list[Any]:
    listed: list[Any] = np.asarray(values, dtype=np.float64).tolist()
    return listed


_OFF_AXIS = 1e-9
"""Relative tolerance of a length or an inertia for rounding."""


def with_spherical_ends(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism with a spherical joint at the base end of its legs too, for all functions of the model.

    Forces, reactions, load cells and motions are those of legs with W·s = 0 and no moment from the base about s; only
    functions that return the leg's W or A (`kinematics.leg_kinematics`) still have the universal joint's spin.
    Raises MechanismError with leg, value and unit if a leg is not symmetric about its axis (a centre of mass or a
    cell's mass off the axis, products of inertia, different transverse inertias), or if its end joints have friction,
    which would rotate the leg about its axis.
    """
    faults = [fault for number, leg in enumerate(mechanism.legs, start=1) for fault in _faults(number, leg)]
    if faults:
        raise MechanismError(mechanism.name, faults)
    legs = tuple(replace(leg, lower=_rod(leg.lower), upper=_rod(leg.upper)) for leg in mechanism.legs)
    return replace(mechanism, legs=legs)


def _rod(body: Body) -> Body:
    across = body.inertia[1, 1]
    return replace(body, inertia=np.diag([0.0, across, across]))


def _faults(number: int, leg: Leg) -> list[str]:
    faults = []
    for name, part in (("lower", leg.lower), ("upper", leg.upper)):
        place, inertia = np.asarray(part.center_of_mass), np.asarray(part.inertia)
        if np.abs(place[1:]).max() > _OFF_AXIS * np.abs(place).max():
            faults.append(
                f"leg {number}: {name}.center_of_mass: {place.tolist()} m, must lie on the leg's axis, [x, 0, 0] m"
            )
        across = np.diag(inertia)[1:]
        uneven = np.abs(inertia - np.diag([inertia[0, 0], across.mean(), across.mean()])).max()
        if uneven > _OFF_AXIS * np.abs(inertia).max():
            faults.append(
                f"leg {number}: {name}.inertia: {inertia.tolist()} kg m², must be symmetric about the leg's axis, "
                "diag(I_xx, I_yy, I_yy)"
            )
    for name in ("universal", "spherical"):
        friction = getattr(leg.friction, name)
        if friction:
            faults.append(f"leg {number}: friction.{name}: {friction:g} N m s/rad, must be 0: it would turn the leg")
    off = np.abs(leg.load_cell.place[1:]).max()
    if leg.load_cell.mass_beyond and off > _OFF_AXIS:
        faults.append(f"leg {number}: load_cell.place: {off:g} m off the leg's axis, must be 0")
    return faults
