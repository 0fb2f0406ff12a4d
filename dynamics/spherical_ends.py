"""A platform whose legs have a spherical joint at both ends, as an option of the exact model.

Dasgupta & Mruthyunjaya (1998), §§1 and 2.1: nothing controls the turning of such a leg about its own axis; it is left
out, and the legs must be symmetric about their axes. The leg then neither spins nor is resisted about its axis, the
forces depend on no inertia about it, and a leg that has none is one for which the spin that a universal joint forces
changes nothing: so the exact model is used with legs of no axial inertia.
"""

from dataclasses import replace

import numpy as np

from dynamics.errors import MechanismError
from dynamics.mechanism import Body, Leg, Mechanism

_OFF_AXIS = 1e-9
"""Share of a length or of an inertia that passes as rounding."""


def with_spherical_ends(mechanism: Mechanism) -> Mechanism:
    """The mechanism with a spherical joint at the base end of its legs too, for every function of the exact model.

    Forces, reactions, load cells and motions are those of legs with W·s = 0 and no moment from the base about s; only
    what shows the leg's own W or A (`kinematics.leg_kinematics`) still has the universal joint's spin.
    Raises MechanismError, naming every leg, value and unit, where a leg is not symmetric about its axis: a centre of
    mass or a cell's mass off the axis, products of inertia, different inertias across; or where its end joints have
    friction, which would turn the leg about its axis.
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
