"""The mechanism file as a person writes it: tables, keys, units, and what is refused."""

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from kinematics import (
    Acceleration,
    Angle,
    AngularDamping,
    Damping,
    Force,
    Inertia,
    Length,
    Mass,
    Speed,
    within,
)

UNPHYSICAL = "unphysical"
"""Type of the faults that no real body has; they alone may be let pass."""

_LIGHTEST = 1e-6  # kg, of a platform
_ROUNDING = 1e-9  # of the largest principal moment or element: what a file's digits may cost


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
    """What keeps a body of this mass (kg) and inertia (3, 3, kg m², about its centre of mass) from being real.

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
    """The base: universal joints' centres and fixed axes (of any length), base frame."""

    points: Points
    """Centres of the universal joints, legs 1 to 6, base frame, m."""
    universal_axes: Annotated[list[Axis], Six]
    """Axis of each universal joint that is fixed in the base, base frame, of any length."""


class PlatformTable(BodyTable):
    """The platform: spherical joints' centres in its frame, its home position (level), its body with the payload."""

    points: Points
    """Centres of the spherical joints, legs 1 to 6, platform frame, m."""
    home: Position | None = None
    """Place of the platform's origin at home, where it is level, base frame, m; a rig needs it."""

    @model_validator(mode="after")
    def _has_mass(self) -> "PlatformTable":
        if self.mass < _LIGHTEST:
            raise ValueError(f"mass {self.mass:g} kg must be at least {_LIGHTEST:g} kg")
        return self


class FrictionTable(Table):
    """Joint friction of a leg; what is left out is zero."""

    universal: JointDamping = 0.0
    """Viscous friction of the universal joint, N m s/rad."""
    prismatic: Annotated[Damping, within(0.0, 1e7, "N s/m")] = 0.0
    """Viscous friction of the prismatic joint, N s/m."""
    spherical: JointDamping = 0.0
    """Viscous friction of the spherical joint, N m s/rad."""
    coulomb: Annotated[Force, within(0.0, 1e6, "N")] = 0.0
    """Coulomb friction of the prismatic joint, N."""


class LimitsTable(Table):
    """Limits of a leg; what is left out is not limited."""

    length: Annotated[list[Place], Field(min_length=2, max_length=2)] | None = None
    """Least and greatest length, m."""
    velocity: Annotated[Speed, within(1e-4, 100.0, "m/s")] | None = None
    """Greatest speed, m/s."""
    acceleration: Annotated[Acceleration, within(1e-3, 1e4, "m/s²")] | None = None
    """Greatest acceleration, m/s²."""
    force: Annotated[Force, within(0.01, 1e7, "N")] | None = None
    """Greatest force, N."""
    universal_angle: JointAngle | None = None
    """Greatest angle between the leg and its direction at home, seen from the base, rad."""
    spherical_angle: JointAngle | None = None
    """Greatest angle between the leg and its direction at home, seen from the platform, rad."""

    @model_validator(mode="after")
    def _ordered(self) -> "LimitsTable":
        if self.length is not None and not 0.0 < self.length[0] < self.length[1]:
            raise ValueError(f"length {self.length} m must be [least, greatest], both above 0 m")
        return self


class LoadCellTable(Table):
    """Where a leg's load cell sits, and the mass between it and the place whose force it is to tell."""

    location: Literal["actuator", "rod_end", "base"] = "actuator"
    """Where the cell sits: between actuator and rod, at the rod's end, or at the base joint."""
    mass_beyond: BodyMass = 0.0
    """Mass of the part between the cell and the joint whose force it is to tell, kg."""
    place: Position = Field(default_factory=lambda: [0.0, 0.0, 0.0])
    """Place of that mass in the axes of its part, m."""


class LegTable(Table):
    """One leg: lower and upper part, friction, limits, load cell, what its drive reads beyond its length."""

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
    """What the drive reads beyond the leg's length, m; from calibration."""

    @model_validator(mode="after")
    def _cell_within_part(self, info: ValidationInfo) -> "LegTable":
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
    """Let masses and inertias pass that no body can have."""
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
    """A mechanism whose legs are each their own: `[[legs]]` six times."""

    legs: Annotated[list[LegTable], Six]
    """Six tables, legs 1 to 6."""
