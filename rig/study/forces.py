"""Leg forces along a motion: by cause, by model, with spherical joints at both ends; the legs' rotation; reactions."""

from dataclasses import dataclass, replace

import numpy as np

from dynamics import (
    NOT_UNIT,
    SINGULAR,
    BatchError,
    Drive,
    Dynamics,
    InverseResult,
    Mechanism,
    MechanismError,
    base_loads,
    inverse_batch,
    leg_reactions,
    massless_legs,
    papers,
    with_spherical_ends,
    without_friction,
)
from kinematics import Array, LegMotion, leg_kinematics
from rig.errors import InputError
from rig.motions import SampledMotion
from rig.papers import force_error, symmetric_legs

TERMS = ("platform gravity", "platform inertia", "legs' gravity", "legs' inertia", "friction", "external")
"""Causes of the leg forces; their forces add up to those of the exact model. The drives' inertia is the legs', and
their friction counts as friction."""
MODELS = ("massless", "dasgupta-1998", "pedrammehr-2012", *papers.MENDED)
"""Models that are compared with the exact one."""
JOINTS = ("spherical force", "universal force", "universal moment", "guide force", "prismatic moment")
"""Reactions of a leg that are drawn, as `dynamics.ReactionPeak` names them."""


def force_terms(mechanism: Mechanism, motions: Array, wrenches: Array | None) -> Array:
    """Split the exact model's forces of motions (n, 19) under wrenches (n, 6) by TERMS, (6, n, 6) N.

    Forces are linear in masses, frictions and wrench. So each term is a difference of forces of machines that lack
    one of these: legs without mass, no gravity, no friction.
    Raises as `inverse_batch`.
    """
    still = motions.copy()
    still[:, 7:] = 0.0
    bare, smooth = massless_legs(mechanism), without_friction(mechanism)

    def forces(machine: Mechanism, moves: Array, *, gravity: bool, loads: Array | None = None) -> Array:
        return inverse_batch(machine if gravity else replace(machine, gravity=np.zeros(3)), moves, loads)

    platform_gravity = forces(bare, still, gravity=True)
    platform_inertia = forces(bare, motions, gravity=False)
    external = np.zeros_like(platform_gravity)
    if wrenches is not None:
        external = forces(bare, still, gravity=False, loads=wrenches)
    frictionless = forces(smooth, motions, gravity=True)
    return np.stack(
        [
            platform_gravity,
            platform_inertia,
            forces(smooth, still, gravity=True) - platform_gravity,
            forces(smooth, motions, gravity=False) - platform_inertia,
            forces(mechanism, motions, gravity=True) - frictionless,
            external,
        ]
    )


@dataclass(frozen=True, slots=True, eq=False)
class ModelError:
    """Difference of a model's forces from the exact model's.

    rms: over all legs and samples, in percent of the exact forces' RMS.  peak: largest, N.
    rms_of_leg (6,): percent of the leg's own RMS, 0 for a leg without force.  at_rest, at_rest_peak: both, standing
        still in the same poses.
    """

    model: str
    rms: float
    peak: float
    rms_of_leg: Array
    at_rest: float
    at_rest_peak: float


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """Forces (n, 6) N with universal and with spherical joints at the legs' base ends.

    faults: why the mechanism's own legs do not allow spherical joints at both ends; where there are any, both forces
    are those of legs made symmetric (`symmetric_legs`).
    """

    universal: Array
    spherical: Array
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PathForces:
    """Leg forces along a motion, n samples; six legs, N, pushing positive.

    exact (n, 6): the exact model, with the mechanism's friction, or none if `friction` is "none".
    terms (6, n, 6): the exact forces by TERMS.
    models: forces (n, 6) of MODELS with the chosen friction.
    massless (n, 6): F₀ of eq. 41 of 1998, legs without mass, without friction and without drives. In `models` it is
        the legs' bodies alone that have no mass: what the drives take is the same in every model.
    errors: of MODELS against the exact model, likewise.
    reactions: of every joint, exact model.  base_force, base_moment (n, 3): load on the base, base axes, the moment
        about its origin.
    legs: the legs' motion.
    """

    mechanism: Mechanism
    friction: papers.FrictionChoice
    exact: Array
    terms: Array
    models: dict[str, Array]
    massless: Array
    errors: tuple[ModelError, ...]
    ends: Ends
    reactions: InverseResult
    base_force: Array
    base_moment: Array
    legs: LegMotion

    @property
    def dynamic(self) -> Array:
        """F_d = F − F₀ (n, 6), the part due to the legs' mass, their drives and friction (1998 eq. 42)."""
        return self.exact - self.massless

    @property
    def fraction(self) -> Array:
        """F_d/F (n, 6)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            fraction: Array = self.dynamic / self.exact
        return fraction

    @property
    def peak(self) -> Array:
        """Largest |F| of the six legs (n,) N."""
        return np.asarray(np.abs(self.exact).max(axis=1))

    @property
    def turning(self) -> Array:
        """Angular velocity of the legs without their spin (n, 6, 3) rad/s, eq. 6 of 1998: W − (W·s) s."""
        return np.asarray(self.legs.angular_velocity - self.legs.spin[..., None] * self.legs.direction)

    @property
    def turning_acceleration(self) -> Array:
        """Angular acceleration of legs that do not spin (n, 6, 3) rad/s², eq. 9 of 1998.

        (s×S̈ − 2L̇ s×Ṡ/L)/L is A − (A·s) s + (W·s) s×W for the W and A of a leg that spins.
        """
        legs, s = self.legs, self.legs.direction
        axial = np.einsum("nij,nij->ni", legs.angular_acceleration, s)
        swept = np.cross(s, legs.angular_velocity)
        return np.asarray(legs.angular_acceleration - axial[..., None] * s + legs.spin[..., None] * swept)

    def joint(self, name: str) -> Array:
        """Return the size (n, 6) of a reaction of JOINTS, N or N m."""
        return np.asarray(np.linalg.norm(leg_reactions(self.reactions)[name], axis=-1))


def regular_samples(mechanism: Mechanism, motion: SampledMotion) -> tuple[SampledMotion, Array]:
    """Leave out samples at which the platform is exactly singular; return the rest and the times left out, s.

    Raises:
        InputError: at a sample the spin of a leg or a number is undefined, or less than two samples are left.
    """
    try:
        inverse_batch(mechanism, motion.motions, motion.wrenches)
    except BatchError as error:
        if NOT_UNIT in error.statuses or (error.statuses != SINGULAR).any():
            where = motion.times[error.indices[int(np.argmax(error.statuses != SINGULAR))]]
            raise InputError(f"{motion.source}: t = {where:.6g} s: {error}") from None
        regular = np.setdiff1d(np.arange(len(motion.times)), error.indices)
        if len(regular) < 2:
            raise InputError(f"{motion.source}: the platform is singular at every sample but {len(regular)}") from None
        return motion.subset(regular), motion.times[error.indices]
    return motion, np.empty(0)


def path_forces(mechanism: Mechanism, motion: SampledMotion, friction: papers.FrictionChoice = "same") -> PathForces:
    """Compute all forces of a motion without singular samples; see `PathForces`.

    friction: of the models that are compared, see `dynamics.papers.variant_forces`; with "none" nothing has friction.

    Raises:
        InputError: all forces are zero.
        DynamicsError, KinematicsError: the forces are not determined somewhere.
    """
    if friction == "none":
        mechanism = without_friction(mechanism)
    motions, wrenches = motion.motions, motion.wrenches
    reactions = Dynamics(mechanism).inverse(motions, wrenches)
    exact = reactions.forces
    if not exact.any():
        raise InputError(f"{motion.source}: no leg has any force: there is neither gravity nor motion nor friction")
    still = motions.copy()
    still[:, 7:] = 0.0
    exact_still = inverse_batch(mechanism, still, wrenches)
    models, errors = {}, []
    for model in MODELS:
        forces, resting = (
            papers.variant_forces(model, mechanism, moves, wrenches, friction=friction) for moves in (motions, still)
        )
        models[model] = forces
        share, peak = force_error(forces, exact)
        at_rest = force_error(resting, exact_still) if exact_still.any() else (0.0, 0.0)  # weightless, all are zero
        sizes = np.sqrt(np.mean(exact**2, axis=0))
        apart = np.sqrt(np.mean((forces - exact) ** 2, axis=0))
        of_leg = 100.0 * np.divide(apart, sizes, out=np.zeros(6), where=sizes > 0.0)
        errors.append(ModelError(model, share, peak, of_leg, *at_rest))
    undriven = replace(mechanism, legs=tuple(replace(leg, drive=Drive()) for leg in mechanism.legs))
    legs = leg_kinematics(mechanism.geometry, motions)
    base_force, base_moment = base_loads(mechanism, reactions, legs.angular_velocity)
    return PathForces(
        mechanism=mechanism,
        friction=friction,
        exact=exact,
        terms=force_terms(mechanism, motions, wrenches),
        models=models,
        massless=papers.variant_forces("massless", undriven, motions, wrenches),
        errors=tuple(errors),
        ends=_ends(mechanism, motions, wrenches, exact),
        reactions=reactions,
        base_force=base_force,
        base_moment=base_moment,
        legs=legs,
    )


def _ends(mechanism: Mechanism, motions: Array, wrenches: Array | None, exact: Array) -> Ends:
    try:
        return Ends(exact, inverse_batch(with_spherical_ends(mechanism), motions, wrenches), ())
    except MechanismError as error:
        like = symmetric_legs(mechanism)
        universal = inverse_batch(like, motions, wrenches)
        return Ends(universal, inverse_batch(with_spherical_ends(like), motions, wrenches), tuple(error.faults))
