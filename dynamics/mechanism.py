"""The mechanism: joints, masses, inertias, friction, limits and load cells, and the size of the machine."""

import math
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from dynamics.errors import MechanismError
from dynamics.kernels import layout
from kinematics import Array, Geometry, PoseLimits

CellLocation = Literal["actuator", "rod_end", "base", "motor"]

_LOCATIONS = {
    "motor": layout.CELL_MOTOR,
    "actuator": layout.CELL_ACTUATOR,
    "rod_end": layout.CELL_ROD_END,
    "base": layout.CELL_BASE,
}


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """A rigid part: mass kg, centre of mass (3,) m in its frame, inertia (3, 3) kg m² about it, frame axes."""

    mass: float
    center_of_mass: Array
    inertia: Array


NO_BODY = Body(0.0, np.zeros(3), np.zeros((3, 3)))
"""A part without mass."""


@dataclass(frozen=True, slots=True)
class Friction:
    """A leg's joint friction.

    Viscous of the universal (C_u, N m s/rad), prismatic (C_p, N s/m) and spherical joint (C_s, N m s/rad), Coulomb of
    the prismatic (F_c, N).
    """

    universal: float = 0.0
    prismatic: float = 0.0
    spherical: float = 0.0
    coulomb: float = 0.0


@dataclass(frozen=True, slots=True)
class Drive:
    """Inertia and friction of a leg's drive, between its motor and the rod.

    The inertia of what turns (rotor, coupling, gears, screw or nut) is given in one of two forms: `inertia` J (kg m²,
    referred to the screw) with `lead` (m per revolution), or `reflected_mass` (kg, at the rod). Masses that move with
    the leg's parts, the screw's among them, belong to these. Friction is referred to the rod: `viscous` C_r (N s/m),
    `coulomb` F_r (N). The motor's force F exceeds that on the rod by m_r L̈ + C_r L̇ + F_r sign(L̇); gravity does not
    act on what turns, and its spin momentum is neglected, see `rotor_spin_forces`.

    Raises ValueError unless exactly one form is given, or none.
    """

    inertia: float | None = None
    lead: float | None = None
    reflected_mass: float | None = None
    viscous: float = 0.0
    coulomb: float = 0.0

    def __post_init__(self) -> None:
        """Refuse two forms, and half of one."""
        if self.reflected_mass is not None and (self.inertia, self.lead) != (None, None):
            raise ValueError(
                f"reflected_mass {self.reflected_mass:g} kg is the drive's inertia: inertia and lead must be left out"
            )
        if (self.inertia is None) != (self.lead is None):
            missing = "inertia (kg m²)" if self.inertia is None else "lead (m per revolution)"
            raise ValueError(f"{missing} is missing: inertia and lead are given together")

    @property
    def mass(self) -> float:
        """m_r, kg: the reflected mass, J (2π/lead)² where inertia and lead are given."""
        if self.inertia is None or self.lead is None:
            return self.reflected_mass or 0.0
        return self.inertia * (2.0 * math.pi / self.lead) ** 2

    def with_mass(self, mass: float) -> "Drive":
        """Return the drive with another reflected mass m_r, kg, in the form in which it is given."""
        if mass == self.mass:
            return self
        if self.inertia is None or self.lead is None:
            return replace(self, reflected_mass=mass)
        return replace(self, inertia=mass / (2.0 * math.pi / self.lead) ** 2)


@dataclass(frozen=True, slots=True)
class LegLimits:
    """Limits of a leg; None is unlimited.

    Length (least, greatest) m, velocity m/s, acceleration m/s², force N, and the greatest angles, rad, between the leg
    and its home direction, at the universal joint in the base frame and at the spherical joint in the platform frame.
    """

    length: tuple[float, float] | None = None
    velocity: float | None = None
    acceleration: float | None = None
    force: float | None = None
    universal_angle: float | None = None
    spherical_angle: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class LoadCell:
    """Location of a leg's load cell, and the mass between the cell and the joint.

    A cell between drive and rod ("actuator"), at the rod's end or at the base reads no inertia or friction of the drive
    itself; a force from the motor's current ("motor") does. `mass_beyond` (m_e, kg) lies between drive and cell
    ("actuator"), between cell and spherical joint ("rod_end"), or between base joint and cell ("base"), at `place` (3,)
    m: from the platform point in axes of U, for "base" from the base point in axes of D. It is 0 for "motor".
    """

    location: CellLocation = "actuator"
    mass_beyond: float = 0.0
    place: Array = field(default_factory=lambda: np.zeros(3))

    @property
    def reads_friction(self) -> bool:
        """Whether the cell reads the prismatic joint's friction: it is on the motor's side of the joint."""
        return self.location in ("actuator", "motor")


@dataclass(frozen=True, slots=True, eq=False)
class Leg:
    """One leg: its two parts, its friction, its drive, its load cell and its limits.

    The lower part is in frame D (origin at the base point, x along the leg, y = (u×s)/‖u×s‖), the upper part in frame U
    (the same axes, origin at the platform point). `length_offset`, m, is the drive's reading minus the distance between
    the joint centres.
    """

    lower: Body
    upper: Body
    friction: Friction = Friction()
    limits: LegLimits | None = None
    load_cell: LoadCell = field(default_factory=LoadCell)
    length_offset: float = 0.0
    drive: Drive = Drive()

    @property
    def viscous(self) -> float:
        """Viscous friction along the leg that the motor feels, N s/m: of prismatic joint and drive."""
        return self.friction.prismatic + self.drive.viscous

    @property
    def coulomb(self) -> float:
        """Coulomb friction along the leg that the motor feels, N: of prismatic joint and drive."""
        return self.friction.coulomb + self.drive.coulomb

    @property
    def cell_viscous(self) -> float:
        """The part of `viscous` that the load cell reads, N s/m: what is on the rod's side of it."""
        return self._read_by_cell(self.friction.prismatic, self.drive.viscous)

    @property
    def cell_coulomb(self) -> float:
        """The part of `coulomb` that the load cell reads, N."""
        return self._read_by_cell(self.friction.coulomb, self.drive.coulomb)

    def _read_by_cell(self, joint: float, drive: float) -> float:
        return {"actuator": joint, "motor": joint + drive}.get(self.load_cell.location, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Mechanism:
    """A 6-UPS platform with all its dynamic parameters. SI units; six legs, in order.

    gravity (3,) in the base frame; mass, center_of_mass (3,) and inertia (3, 3) of the platform with its payload,
    platform frame, the inertia about the centre of mass. `warnings` lists faults ignored because the mechanism is only
    evaluated; `source` is the text of its file. `array` is the mechanism packed for the kernels, read only, without
    smoothing of Coulomb friction.
    Use `dataclasses.replace` for a changed copy (another payload, for example).

    Raises MechanismError for shapes that do not fit or numbers that are not finite.
    """

    name: str
    geometry: Geometry
    gravity: Array
    mass: float
    center_of_mass: Array
    inertia: Array
    legs: tuple[Leg, ...]
    warnings: tuple[str, ...] = ()
    source: str = ""
    array: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Pack the array of the kernels, which checks every shape and number."""
        if len(self.legs) != 6:
            raise MechanismError(self.name, [f"legs: {len(self.legs)} legs, must be 6"])
        legs = np.column_stack([self._leg(min(index, 5)) for index in range(layout.LANES)])
        array = np.concatenate([self._platform(), legs.ravel()])
        array.flags.writeable = False
        object.__setattr__(self, "array", array)

    @property
    def limits(self) -> tuple[LegLimits | None, ...]:
        """The limits of the six legs."""
        return tuple(leg.limits for leg in self.legs)

    @property
    def length_offsets(self) -> Array:
        """Drive readings minus the distances between the leg's joints, (6,) m."""
        return np.array([leg.length_offset for leg in self.legs])

    def _platform(self) -> Array:
        return np.concatenate(
            [
                self._packed("gravity", self.gravity, (3,)),
                self._packed("platform.mass", self.mass, ()),
                self._packed("platform.center_of_mass", self.center_of_mass, (3,)),
                _tensor(self._packed("platform.inertia", self.inertia, (3, 3))),
                np.zeros(layout.LEGS - layout.COULOMB_SPEED),
            ]
        )

    def _leg(self, index: int) -> Array:
        leg, path = self.legs[index], f"legs[{index}]"
        lower, upper, friction, cell = leg.lower, leg.upper, leg.friction, leg.load_cell
        lower_inertia = self._packed(f"{path}.lower.inertia", lower.inertia, (3, 3))
        upper_inertia = self._packed(f"{path}.upper.inertia", upper.inertia, (3, 3))
        frictions = (friction.universal, friction.prismatic, friction.spherical, friction.coulomb)
        drive = (leg.drive.mass, leg.drive.viscous, leg.drive.coulomb)
        return np.concatenate(
            [
                self.geometry.array[index],
                self._packed(f"{path}.lower.mass", lower.mass, ()),
                self._packed(f"{path}.lower.center_of_mass", lower.center_of_mass, (3,)),
                _tensor(lower_inertia),
                self._packed(f"{path}.upper.mass", upper.mass, ()),
                self._packed(f"{path}.upper.center_of_mass", upper.center_of_mass, (3,)),
                _tensor(lower_inertia + upper_inertia),
                self._packed(f"{path}.friction", frictions, (4,)),
                [float(_LOCATIONS[cell.location])],
                self._packed(f"{path}.load_cell.mass_beyond", cell.mass_beyond, ()),
                self._packed(f"{path}.load_cell.place", cell.place, (3,)),
                self._packed(f"{path}.drive", drive, (3,)),
            ]
        )

    def _packed(self, path: str, value: object, shape: tuple[int, ...]) -> Array:
        array = np.array(value, dtype=np.float64)
        if array.shape != shape:
            raise MechanismError(self.name, [f"{path}: shape {array.shape}, must be {shape}"])
        if not np.isfinite(array).all():
            raise MechanismError(self.name, [f"{path}: {array.tolist()} is not finite"])
        return array.reshape(-1)


def _tensor(flat: Array) -> Array:
    """Pack a symmetric tensor, given row by row, as xx, yy, zz, xy, xz, yz."""
    return flat[[0, 4, 8, 1, 2, 5]]


def pose_limits(mechanism: Mechanism, **options: Any) -> PoseLimits:
    """Stroke and joint-angle limits of the six legs; a limit that is not given is free.

    options: the other arguments of `PoseLimits` (clearance, leg_radius, condition, characteristic_length, same_side).
    same_side is False if the mechanism has no home, unless given.
    Raises KinematicsError for an impossible limit.
    """
    legs = [leg.limits or LegLimits() for leg in mechanism.legs]
    options.setdefault("same_side", mechanism.geometry.home is not None)
    return PoseLimits(
        [leg.length or (0.0, math.inf) for leg in legs],
        [math.pi if leg.universal_angle is None else leg.universal_angle for leg in legs],
        [math.pi if leg.spherical_angle is None else leg.spherical_angle for leg in legs],
        **options,
    )


# The lab-hexapod's least force limit of a leg, N; shortest stroke, m; mass moved by the legs, kg; least speed, m/s.
_FORCE, _STROKE, _MASS, _SPEED = 400.0, 0.22, 24.6, 0.8
_WEIGHT = 18.0 * 9.80665  # N, of its platform
_LENGTH = 0.22  # m, from its platform's origin to a joint


@dataclass(frozen=True, slots=True)
class MachineSize:
    """Forces, lengths, masses and speeds of a machine relative to those of the lab-hexapod."""

    force: float
    length: float
    mass: float
    speed: float


def machine_size(mechanism: Mechanism) -> MachineSize:
    """Compute the size of a mechanism from the weakest leg, the shortest stroke, the moved mass and the slowest leg.

    Without leg limits it uses the platform: its weight for forces (its mass without gravity), the place of its joints
    for lengths, √(length) for speeds.
    """
    limits = [leg.limits for leg in mechanism.legs if leg.limits is not None]
    forces = [each.force for each in limits if each.force is not None]
    strokes = [each.length[1] - each.length[0] for each in limits if each.length is not None]
    speeds = [each.velocity for each in limits if each.velocity is not None]
    gravity = float(np.linalg.norm(mechanism.gravity)) or 9.80665
    radius = float(np.linalg.norm(mechanism.geometry.platform_points, axis=1).max())
    length = _round(min(strokes) / _STROKE if strokes else radius / _LENGTH)
    return MachineSize(
        force=_round(min(forces) / _FORCE if forces else mechanism.mass * gravity / _WEIGHT),
        length=length,
        mass=_round((mechanism.mass + sum(leg.upper.mass for leg in mechanism.legs)) / _MASS),
        speed=_round(min(speeds) / _SPEED if speeds else length**0.5),
    )


def _round(value: float) -> float:
    """Round to nine digits, so that a machine of the lab-hexapod's size has exactly 1."""
    return float(f"{value:.9g}")


def without_friction(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism with frictionless joints and drives."""
    legs = tuple(
        replace(leg, friction=Friction(), drive=replace(leg.drive, viscous=0.0, coulomb=0.0)) for leg in mechanism.legs
    )
    return replace(mechanism, legs=legs)
