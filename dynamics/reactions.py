"""What every joint of the mechanism carries at most over a motion: the loads of its mechanical design."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dynamics.arguments import batch
from dynamics.errors import DynamicsError
from dynamics.mechanism import Mechanism
from dynamics.model import Dynamics, InverseResult
from kinematics import Array, KinematicsError, finite_array, leg_kinematics

REACTION_UNITS = {
    "spherical force": "N",
    "universal force": "N",
    "universal moment": "N m",
    "prismatic force": "N",
    "guide force": "N",
    "prismatic moment": "N m",
    "base force": "N",
    "base moment": "N m",
}
"""The reactions in the order of the table, and their units. `ReactionPeak` says which they are."""


@dataclass(frozen=True, slots=True)
class ReactionPeak:
    """The sample at which the reaction of one joint is greatest.

    reaction: of a leg, as in `InverseResult`,
        spherical force   F_s, platform on leg
        universal force   F_b, base on leg
        universal moment  m_c c, constraint moment of the base on the leg
        prismatic force   F_p, lower on upper part, without friction; its part along the leg is the drive's F
        guide force       F_p − F s, the part of it across the leg
        prismatic moment  M_p, lower on upper part, about the base point
    and of the base as a whole, what the rig puts on the floor it stands on,
        base force        −Σ F_b
        base moment       −Σ (b×F_b + m_c c − C_u W), about the base frame's origin
    leg: 1 to 6; None for the base as a whole.  unit: "N" or "N m".
    magnitude: the vector's length.  sample: index into the motions; time: s, None where no times were given.
    components (3,): the vector then, base axes.  leg_components: the same along the leg's axes s, v, s×v (those of
    its frames D and U); None for the base as a whole.
    """

    reaction: str
    leg: int | None
    unit: str
    magnitude: float
    sample: int
    time: float | None
    components: tuple[float, float, float]
    leg_components: tuple[float, float, float] | None


def reaction_peaks(
    mechanism: Mechanism,
    motions: npt.ArrayLike,
    wrenches: npt.ArrayLike | None = None,
    *,
    times: npt.ArrayLike | None = None,
) -> tuple[ReactionPeak, ...]:
    """Peaks of every joint reaction over motions (n, 19) under wrenches (n, 6), or one (6,) for all; exact model.

    In the order of REACTION_UNITS, legs 1 to 6 within each. `times` (n,) s dates them. Of equal peaks the first counts.
    Raises DynamicsError for a wrong shape, a number that is not finite or no motion at all, SingularityError where the
    leg forces are not determined.
    """
    samples, loads = batch(motions, wrenches)
    if not len(samples):
        raise DynamicsError("motions: none given, must be at least one")
    dates = _times(times, len(samples))
    result = Dynamics(mechanism).inverse(samples, loads)
    legs = leg_kinematics(mechanism.geometry, samples)
    across = np.cross(mechanism.geometry.universal_axes, legs.direction)
    second = across / np.linalg.norm(across, axis=-1, keepdims=True)
    axes = np.stack([legs.direction, second, np.cross(legs.direction, second)], axis=-2)
    peaks = []
    for reaction, vectors in _leg_reactions(result).items():
        for leg in range(6):
            peaks.append(_peak(reaction, leg + 1, vectors[:, leg], dates, axes[:, leg]))
    force, moment = base_loads(mechanism, result, legs.angular_velocity)
    peaks += [_peak("base force", None, force, dates), _peak("base moment", None, moment, dates)]
    return tuple(peaks)


def base_loads(mechanism: Mechanism, result: InverseResult, angular_velocities: Array) -> tuple[Array, Array]:
    """Force (n, 3) N and moment (n, 3) N m about the base frame's origin that the six legs put on the base, base axes.

    `result` are the reactions, `angular_velocities` (n, 6, 3) rad/s the legs' W in the same samples. The weight of the
    base itself is no part of it.
    """
    resisting = np.array([leg.friction.universal for leg in mechanism.legs])[:, None] * angular_velocities
    levers = np.cross(mechanism.geometry.base_points, result.base_forces)
    return -result.base_forces.sum(axis=1), -(levers + result.universal_moments - resisting).sum(axis=1)


def _leg_reactions(result: InverseResult) -> dict[str, Array]:
    return {
        "spherical force": result.tops,
        "universal force": result.base_forces,
        "universal moment": result.universal_moments,
        "prismatic force": result.prismatic_forces,
        "guide force": result.guide_forces,
        "prismatic moment": result.prismatic_moments,
    }


def _peak(
    reaction: str, leg: int | None, vectors: Array, dates: Array | None, axes: Array | None = None
) -> ReactionPeak:
    magnitudes = np.linalg.norm(vectors, axis=-1)
    sample = int(np.argmax(magnitudes))
    return ReactionPeak(
        reaction=reaction,
        leg=leg,
        unit=REACTION_UNITS[reaction],
        magnitude=float(magnitudes[sample]),
        sample=sample,
        time=None if dates is None else float(dates[sample]),
        components=_three(vectors[sample]),
        leg_components=None if axes is None else _three(axes[sample] @ vectors[sample]),
    )


def _three(vector: Array) -> tuple[float, float, float]:
    x, y, z = vector.tolist()
    return x, y, z


def _times(times: npt.ArrayLike | None, samples: int) -> Array | None:
    if times is None:
        return None
    try:
        dates = finite_array("times", np.reshape(times, (-1, 1)), 1, ("t",))[:, 0]
    except KinematicsError as error:
        raise DynamicsError(str(error)) from None
    if len(dates) != samples:
        raise DynamicsError(f"times: {len(dates)} samples, must be as many as motions, {samples}")
    return dates
