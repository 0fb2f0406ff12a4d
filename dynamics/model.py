"""`Dynamics`: the equations of motion of one mechanism, forward dynamics in three ways, and the loads of its joints."""

import math
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from dynamics.arguments import UNIT_TOLERANCE, WRENCH_FIELDS, batch, checked
from dynamics.closed_form import closed_form_equations
from dynamics.errors import DynamicsError, SingularityError
from dynamics.kernels.cells import (
    REACTIONS,
    cell_and_terms_kernel,
    cells_batch_kernel,
    inverse_batch_kernel,
)
from dynamics.kernels.forward import acceleration_kernel, equations_kernel, response_batch_kernel, rk4_kernel
from dynamics.kernels.inverse import forces_kernel
from dynamics.kernels.layout import COULOMB_SPEED, LEAST_PIVOT, NOT_FINITE, SINGULAR, WORK_SIZE, WRONG_SHAPE
from dynamics.mechanism import Mechanism
from kinematics import Array, Kernel, KinematicsError, finite_array, leg_kinematics, leg_matrix, quaternion_to_matrix

TERMS = ("platform inertia", "gravity", "leg inertia", "friction", "external")
"""Names of the rows of `CycleForces.terms`, in order."""

_FORCE_FIELDS = ("f1", "f2", "f3", "f4", "f5", "f6")
_WANTED = "motion, wrench and out must be contiguous arrays of float64, shapes (19,), (6,) and (6,)"


class CycleForces(NamedTuple):
    """Model output of one sample: forces (6,) N, load-cell readings (6,) N, terms (5, 6) N as in TERMS."""

    forces: Array
    cells: Array
    terms: Array


@dataclass(frozen=True, slots=True, eq=False)
class InverseResult:
    """Leg forces and joint reactions of n samples; six legs, vectors in base axes, N and N m.

    forces (n, 6): forces F of the drives' motors at the rods, pushing positive; without inertia and friction of the
    drives themselves (`Drive`) the forces of the actuators on the rods.
    tops (n, 6, 3): F_s, force of the platform on the leg's top at the spherical joint.
    base_forces (n, 6, 3): F_b, force of the base on the leg's foot at the universal joint.
    universal_moments (n, 6, 3): m_c c, constraint moment of the universal joint on the leg.
    prismatic_forces (n, 6, 3): F_p, force of the lower on the upper part, without joint friction.
    guide_forces (n, 6, 3): the part of F_p across the leg, borne by the guide.
    prismatic_moments (n, 6, 3): M_p, moment of the lower on the upper part about the base point.
    """

    forces: Array
    tops: Array
    base_forces: Array
    universal_moments: Array
    prismatic_forces: Array
    guide_forces: Array
    prismatic_moments: Array


class Dynamics:
    """Exact dynamics of a mechanism, inertia of legs and drives included; see `dynamics.kernels` for the equations.

    `coulomb_speed` (m/s) smooths the prismatic joints' Coulomb friction to F_c tanh(L̇/coulomb_speed); 0 uses the sign.
    `parameters` is the mechanism with this speed, packed for the kernels. Working memory is allocated once, so an
    instance belongs to one thread.

    A motion is (19,) [pose, twist, acceleration], a state its first 13, a wrench (6,) [force; moment] at the
    platform origin in PLATFORM axes, N and N m; None is no wrench. The fast methods (`forces`, `cell_and_terms`) need
    contiguous float64 arrays; the others take any array-like.

    Raises SingularityError if the leg forces are not determined, DynamicsError for any other invalid
    argument: a wrong shape, or a number that is not finite.
    """

    def __init__(self, mechanism: Mechanism, coulomb_speed: float = 0.0) -> None:
        if not (np.isfinite(coulomb_speed) and coulomb_speed >= 0.0):
            raise DynamicsError(f"coulomb_speed: {coulomb_speed} m/s, must be finite and at least 0 m/s")
        self.mechanism = mechanism
        self.coulomb_speed = float(coulomb_speed)
        self.parameters: Array = mechanism.array.copy()
        self.parameters[COULOMB_SPEED] = self.coulomb_speed
        self._work: Array = np.zeros(WORK_SIZE)
        self._work[: len(self.parameters)] = self.parameters
        self._no_wrench: Array = np.zeros(6)

    def forces(self, motion: Array, wrench: Array | None = None, out: Array | None = None) -> Array:
        """Compute actuator forces (6,) N of a motion (19,), into `out` if given (without allocation), else a new array.

        F = D − x with H x = c, see `dynamics.kernels.inverse`.
        """
        if wrench is None:
            wrench = self._no_wrench
        if out is None:
            out = np.empty(6)
        try:
            status = forces_kernel(motion, wrench, self._work, out)
        except Kernel.unfit() as error:
            raise DynamicsError(_WANTED) from error
        if status:
            raise model_failure(status)
        return out

    def cell_and_terms(self, motion: Array, wrench: Array | None = None, out: CycleForces | None = None) -> CycleForces:
        """Forces, load-cell readings and the forces split by cause of a motion (19,). The terms sum to the forces.

        Into `out` if given, without allocation, else into new arrays.
        """
        if wrench is None:
            wrench = self._no_wrench
        if out is None:
            out = CycleForces(np.empty(6), np.empty(6), np.empty((5, 6)))
        try:
            status = cell_and_terms_kernel(motion, wrench, self._work, out.forces, out.cells, out.terms.reshape(30))
        except Kernel.unfit() as error:
            raise DynamicsError(_WANTED) from error
        if status:
            raise model_failure(status)
        return out

    def inverse(self, motions: npt.ArrayLike, wrenches: npt.ArrayLike | None = None) -> InverseResult:
        """Compute forces and all joint reactions of motions (n, 19) under wrenches (n, 6), or one (6,) for all.

        An error names the index of the sample.
        """
        samples, loads = batch(motions, wrenches)
        forces = np.empty((len(samples), 6))
        reactions = np.empty((len(samples), 6, REACTIONS))
        status, sample = inverse_batch_kernel(self.parameters, samples, loads, self._work, forces, reactions)
        if status:
            raise model_failure(status, f"sample {sample}: ")
        return InverseResult(forces, *(reactions[:, :, 3 * k : 3 * k + 3] for k in range(6)))

    def cells(self, motions: npt.ArrayLike, wrenches: npt.ArrayLike | None = None) -> Array:
        """Compute the readings (n, 6) N, compression positive, of the mechanism's load cells."""
        return self.cells_and_forces(motions, wrenches)[0]

    def cells_and_forces(self, motions: npt.ArrayLike, wrenches: npt.ArrayLike | None = None) -> tuple[Array, Array]:
        """Compute readings as `cells` and actuator forces as `inverse`, both (n, 6) N."""
        samples, loads = batch(motions, wrenches)
        forces, readings = np.empty((len(samples), 6)), np.empty((len(samples), 6))
        status, sample = cells_batch_kernel(self.parameters, samples, loads, self._work, forces, readings)
        if status:
            raise model_failure(status, f"sample {sample}: ")
        return readings, forces

    def acceleration(self, state: npt.ArrayLike, forces: npt.ArrayLike, wrench: npt.ArrayLike | None = None) -> Array:
        """Compute the acceleration [a, α] (6,) of the platform, base axes, in a state (13,) under leg forces (6,) N."""
        out = np.empty(6)
        status = acceleration_kernel(
            self.parameters,
            _vector("state", state, 13),
            _vector("forces", forces, 6, _FORCE_FIELDS),
            self._wrench(wrench),
            self._work,
            out,
        )
        if status:
            raise model_failure(status, forward_dynamics=True)
        return out

    def response(self, states: npt.ArrayLike, forces: npt.ArrayLike) -> Array:
        """Compute M⁻¹ H ΔF (n, 6): the accelerations due to leg forces ΔF (n, 6) N in states (n, 13)."""
        added = np.ascontiguousarray(checked("forces", forces, 6, _FORCE_FIELDS).reshape(-1, 6))
        places = np.ascontiguousarray(checked("states", states, 13).reshape(-1, 13))
        if len(added) != len(places):
            raise DynamicsError(f"{len(places)} states but {len(added)} rows of forces")
        out = np.empty((len(places), 6))
        status, sample = response_batch_kernel(
            self.parameters, places, added, self._no_wrench, self._work, np.zeros(12), out
        )
        if status:
            raise model_failure(status, f"sample {sample}: ", forward_dynamics=True)
        return out

    def step(
        self,
        state: npt.ArrayLike,
        forces: npt.ArrayLike,
        dt: float,
        wrench: npt.ArrayLike | None = None,
        forces_end: npt.ArrayLike | None = None,
    ) -> Array:
        """State (13,) after one RK4 step of `dt` s under leg forces (6,) N, linear to `forces_end` if given.

        The wrench is constant in platform axes. The quaternion is normalised.
        """
        if not math.isfinite(dt):
            raise DynamicsError(f"dt: {dt} s is not finite")
        start = _vector("forces", forces, 6, _FORCE_FIELDS)
        end = start if forces_end is None else _vector("forces_end", forces_end, 6, _FORCE_FIELDS)
        new = _vector("state", state, 13)
        status = rk4_kernel(self.parameters, new, start, end, self._wrench(wrench), float(dt), self._work)
        if status:
            raise model_failure(status, forward_dynamics=True)
        return new

    def mass_matrix(self, pose: npt.ArrayLike) -> Array:
        """M(X) (6, 6) of M [a; α] + h = H F + wrench at a pose (7,), base axes about the platform origin."""
        return self._equations(np.concatenate([_vector("pose", pose, 7), np.zeros(6)]))[0]

    def bias(self, state: npt.ArrayLike) -> Array:
        """h(X, Ẋ) (6,) of M [a; α] + h = H F + wrench in a state (13,), base axes: gravity, friction, velocity."""
        return self._equations(_vector("state", state, 13))[1]

    def _equations(self, state: Array) -> tuple[Array, Array]:
        mass, bias = np.empty((6, 6)), np.empty(6)
        status = equations_kernel(self.parameters, state, self._work, mass, bias)
        if status:
            raise model_failure(status, forward_dynamics=True)
        return mass, bias

    def _wrench(self, wrench: npt.ArrayLike | None) -> Array:
        return self._no_wrench if wrench is None else _vector("wrench", wrench, 6, WRENCH_FIELDS)


def _vector(name: str, value: npt.ArrayLike, size: int, fields: tuple[str, ...] = ()) -> Array:
    """Check one sample as `checked`, which it calls only if a fast check fails; for calls in a loop."""
    array: Array
    if isinstance(value, np.ndarray) and value.dtype == np.float64 and value.shape == (size,):
        array = value.copy()
        quaternion = array[3:7]
        if math.isfinite(array.dot(array)) and (fields or abs(quaternion.dot(quaternion) - 1.0) < UNIT_TOLERANCE):
            return array
    array = checked(name, value, size, fields)
    if array.ndim != 1:
        raise DynamicsError(f"{name}: shape {array.shape}, must be ({size},)")
    return array


def model_failure(status: int, where: str = "", forward_dynamics: bool = False) -> DynamicsError:
    """Return the exception for a kernel status other than OK."""
    if status == SINGULAR:
        if forward_dynamics:
            return DynamicsError(f"{where}the mass matrix is singular: the mechanism has no inertia in some direction")
        return SingularityError(
            f"the platform is singular here: H has a relative pivot below {LEAST_PIVOT:g}, "
            "the leg forces are not determined",
            where,
        )
    if status == WRONG_SHAPE:
        return DynamicsError(where + _WANTED)
    if status == NOT_FINITE:
        return DynamicsError(f"{where}a number of the motion, state, wrench or forces is not finite, or too large")
    return SingularityError(
        f"leg {status} has no length or lies along the fixed axis of its universal joint: its spin is undefined", where
    )


EquationsMethod = Literal["kernel", "closed-form", "strobed"]


def equations_of_motion(
    mechanism: Mechanism, state: npt.ArrayLike, *, method: EquationsMethod = "kernel", coulomb_speed: float = 0.0
) -> tuple[Array, Array]:
    """M (6, 6) and h (6,) in a state (13,), base axes about the platform origin, N and N m.

    `coulomb_speed` (m/s) as in `Dynamics`. Raises DynamicsError for an unknown method, a wrong shape or a number that
    is not finite, SingularityError if a leg's universal joint or, strobed, the platform is singular.
    """
    start = _one("state", state, 13)
    if method == "kernel":
        dynamics = Dynamics(mechanism, coulomb_speed)
        return dynamics.mass_matrix(start[:7]), dynamics.bias(start)
    if method == "closed-form":
        return closed_form_equations(mechanism, start, coulomb_speed)
    if method == "strobed":
        return _strobed(mechanism, start, coulomb_speed)
    raise DynamicsError(f"method: {method!r}, must be one of {', '.join(get_args(EquationsMethod))}")


def forward_dynamics(
    mechanism: Mechanism,
    state: npt.ArrayLike,
    forces: npt.ArrayLike,
    wrench: npt.ArrayLike | None = None,
    *,
    method: EquationsMethod = "kernel",
    coulomb_speed: float = 0.0,
) -> Array:
    """Acceleration [ẗ; α] (6,) in a state (13,) under leg forces (6,) N and a wrench (6,) in platform axes.

    M and h by `method`; `kernel` is `Dynamics.acceleration`, to be called directly in loops. Raises as
    `equations_of_motion`, and DynamicsError if the mass matrix is singular.
    """
    if method == "kernel":
        return Dynamics(mechanism, coulomb_speed).acceleration(state, forces, wrench)
    start = _one("state", state, 13)
    push = _one("forces", forces, 6, ("f1", "f2", "f3", "f4", "f5", "f6"))
    load = np.zeros(6) if wrench is None else _one("wrench", wrench, 6, WRENCH_FIELDS)
    M, h = equations_of_motion(mechanism, start, method=method, coulomb_speed=coulomb_speed)
    R = quaternion_to_matrix(start[3:7])
    external = np.concatenate([R @ load[:3], R @ load[3:]])
    try:
        return np.asarray(np.linalg.solve(M, leg_matrix(mechanism.geometry, start[:7]) @ push + external - h))
    except np.linalg.LinAlgError:
        raise DynamicsError("the mass matrix is singular: the mechanism has no inertia in some direction") from None


def _strobed(mechanism: Mechanism, state: Array, coulomb_speed: float) -> tuple[Array, Array]:
    """Column j of M is H F for the j-th unit acceleration at rest without gravity, h is H F without acceleration."""
    H = leg_matrix(mechanism.geometry, state[:7])
    strobes = np.zeros((6, 19))
    strobes[:, :7] = state[:7]
    strobes[:, 13:] = np.eye(6)
    weightless = Dynamics(replace(mechanism, gravity=np.zeros(3)))
    M = H @ weightless.inverse(strobes).forces.T
    h = H @ Dynamics(mechanism, coulomb_speed).inverse(np.concatenate([state, np.zeros(6)])).forces[0]
    return M, h


def _one(name: str, value: npt.ArrayLike, size: int, fields: tuple[str, ...] = ()) -> Array:
    array = checked(name, value, size, fields)
    if array.ndim != 1:
        raise DynamicsError(f"{name}: shape {array.shape}, must be ({size},)")
    return array


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
"""Joint reactions and their units, in the order of the table. `ReactionPeak` describes them."""


@dataclass(frozen=True, slots=True)
class ReactionPeak:
    """The sample at which the reaction of one joint is greatest.

    reaction: of a leg, as in `InverseResult`,
        spherical force   F_s, platform on leg
        universal force   F_b, base on leg
        universal moment  m_c c, constraint moment of the base on the leg
        prismatic force   F_p, lower on upper part, without friction; its part along the leg is the drive's F
        guide force       F_p − F s, the part of F_p across the leg
        prismatic moment  M_p, lower on upper part, about the base point
    and of the base as a whole, the load of the rig on the floor,
        base force        −Σ F_b
        base moment       −Σ (b×F_b + m_c c − C_u W), about the base frame's origin
    leg: 1 to 6; None for the base as a whole.  unit: "N" or "N m".
    magnitude: the vector's length.  sample: index into the motions; time: s, None where no times were given.
    components (3,): the vector there, base axes.  leg_components: the same along the leg's axes s, v, s×v (those of
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

    In the order of REACTION_UNITS, legs 1 to 6 within each. `times` (n,) s are the sample times. The first of equal
    peaks is returned.
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
    for reaction, vectors in leg_reactions(result).items():
        for leg in range(6):
            peaks.append(_peak(reaction, leg + 1, vectors[:, leg], dates, axes[:, leg]))
    force, moment = base_loads(mechanism, result, legs.angular_velocity)
    peaks += [_peak("base force", None, force, dates), _peak("base moment", None, moment, dates)]
    return tuple(peaks)


def base_loads(mechanism: Mechanism, result: InverseResult, angular_velocities: Array) -> tuple[Array, Array]:
    """Force (n, 3) N and moment (n, 3) N m about the base frame's origin that the six legs put on the base, base axes.

    `result` are the reactions, `angular_velocities` (n, 6, 3) rad/s the legs' W in the same samples. The weight of the
    base is not included.
    """
    resisting = np.array([leg.friction.universal for leg in mechanism.legs])[:, None] * angular_velocities
    levers = np.cross(mechanism.geometry.base_points, result.base_forces)
    return -result.base_forces.sum(axis=1), -(levers + result.universal_moments - resisting).sum(axis=1)


def leg_reactions(result: InverseResult) -> dict[str, Array]:
    """Return the legs' joint reactions (n, 6, 3), N or N m, base axes, by name as in `ReactionPeak`."""
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
