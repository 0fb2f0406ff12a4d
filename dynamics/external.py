"""Effects outside the model: external wrenches, payloads, Coulomb friction between samples, momentum of rotors."""

import math

import numpy as np
import numpy.typing as npt

from dynamics.arguments import checked
from dynamics.closed_form import solve_legs
from dynamics.errors import DynamicsError
from dynamics.mechanism import Mechanism
from kinematics import Array, Geometry, SingularityError, leg_kinematics, leg_matrices, quaternion_to_matrix

PAYLOAD = ("m", "mx", "my", "mz", "Jxx", "Jyy", "Jzz", "Jxy", "Jxz", "Jyz")
"""Parameters of the columns of `payload_wrenches`: mass, kg, first moment, kg m, and inertia about the
platform's origin, kg m², in platform axes."""


def wrench_from_residual(geometry: Geometry, poses: npt.ArrayLike) -> Array:
    """Compute W (n, 6, 6) at poses (n, 7): w = W r is the wrench that explains the load-cell residuals r (6,), N.

    w = [force; moment], N and N m, at the platform origin in platform axes; r is measured minus modelled. A wrench
    enters only the platform's six equations, H x = … + [R F; R M], and every cell reads −x plus terms independent
    of it (at the actuator F = D − x), hence W = −[Rᵀ; Rᵀ] H. This is exact, and defined at singular poses too, where W
    has no inverse. The covariance of w is W Σ Wᵀ with Σ that of r.
    Raises DynamicsError for a wrong shape, a number that is not finite or a quaternion not of unit norm.
    """
    samples = np.atleast_2d(checked("poses", poses, 7))
    rotation = quaternion_to_matrix(samples[:, 3:])
    from_base = samples[:, None, :3] - geometry.base_points
    legs = geometry.platform_points + from_base @ rotation  # platform axes, from base joint to platform joint
    lengths = np.linalg.norm(legs, axis=2, keepdims=True)
    if not lengths.all():
        sample, leg = np.argwhere(lengths[:, :, 0] == 0.0)[0]
        raise SingularityError(f"leg {leg + 1} has no length", f"sample {sample}: ")
    pulls = -legs / lengths
    return np.concatenate([pulls, np.cross(geometry.platform_points, pulls)], axis=2).transpose(0, 2, 1).copy()


def residual_from_wrench(geometry: Geometry, poses: npt.ArrayLike) -> Array:
    """Compute C (n, 6, 6) at poses (n, 7): r = C w are the cell residuals of a wrench w at the platform origin.

    w in platform axes; C is the inverse of `wrench_from_residual` and raises the same errors, and SingularityError,
    with the sample, if leg forces are not determined.
    """
    matrices = wrench_from_residual(geometry, poses)
    columns = [solve_legs(matrices, np.tile(unit, (len(matrices), 1))) for unit in np.eye(6)]
    return np.stack(columns, axis=2)


def payload_wrenches(motions: npt.ArrayLike, gravity: npt.ArrayLike) -> Array:
    """Compute Y (n, 6, 10) of motions (n, 19): a rigid body on the platform exerts the wrench Y θ at its origin.

    Platform axes, θ as in `PAYLOAD`: m, h = m c, and J about the origin. With g' = Rᵀ(g − ẗ), and ω, α:
        force   m g' − α×h − ω×(ω×h)            moment  h×g' − J α − ω×J ω
    the Newton–Euler equations of a body fixed to the platform. gravity (3,): base frame, m/s².
    Raises DynamicsError for a wrong shape, a number that is not finite or a quaternion not of unit norm.
    """
    samples = np.atleast_2d(checked("motions", motions, 19))
    g = checked("gravity", gravity, 3, ("gx", "gy", "gz"))
    to_platform = quaternion_to_matrix(samples[:, 3:7]).transpose(0, 2, 1)
    fall = np.einsum("nij,nj->ni", to_platform, g - samples[:, 13:16])
    omega = np.einsum("nij,nj->ni", to_platform, samples[:, 10:13])
    alpha = np.einsum("nij,nj->ni", to_platform, samples[:, 16:19])
    turning = _skew(omega)
    Y = np.zeros((len(samples), 6, 10))
    Y[:, :3, 0] = fall
    Y[:, :3, 1:4] = -_skew(alpha) - turning @ turning
    Y[:, 3:, 1:4] = -_skew(fall)
    Y[:, 3:, 4:] = -_inertia_columns(alpha) - turning @ _inertia_columns(omega)
    return Y


def _skew(vectors: Array) -> Array:
    """[v]× (n, 3, 3)."""
    x, y, z = vectors.T
    zero = np.zeros_like(x)
    return np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=1).reshape(-1, 3, 3)


def _inertia_columns(vectors: Array) -> Array:
    """Matrices (n, 3, 6) of J v as a linear function of Jxx, Jyy, Jzz, Jxy, Jxz, Jyz."""
    x, y, z = vectors.T
    zero = np.zeros_like(x)
    rows = [x, zero, zero, y, z, zero, zero, y, zero, x, zero, z, zero, zero, z, zero, x, y]
    return np.stack(rows, axis=1).reshape(-1, 3, 6)


_SUBSTEPS = 20  # per sample period
_PLACES = (np.arange(_SUBSTEPS) + 0.5) / _SUBSTEPS


def friction_signs(speeds: Array, coulomb_speed: float) -> Array:
    """Signs of speeds (any shape), m/s, smoothed over coulomb_speed, m/s, as in `Dynamics`."""
    signs: Array = np.tanh(speeds / coulomb_speed) if coulomb_speed else np.sign(speeds)
    return signs


def switched_friction(speeds: Array, coulomb_speed: float) -> Array:
    """Return sign(speed) minus its mean over the periods before and after, for speeds (n, 6) m/s; (n, 6).

    The mean is weighted as a second difference of lengths weights accelerations. Speeds are linear between samples; the
    sign is that of `friction_signs`.
    """
    here = friction_signs(speeds, coulomb_speed)
    mean = np.zeros_like(here)
    for place in _PLACES:
        between = friction_signs(speeds[:-1] + place * (speeds[1:] - speeds[:-1]), coulomb_speed)
        mean[:-1] += (1.0 - place) * between / _SUBSTEPS
        mean[1:] += place * between / _SUBSTEPS
    mean[:1] += 0.5 * here[:1]  # no samples before the first and after the last
    mean[-1:] += 0.5 * here[-1:]
    excess: Array = here - mean
    return excess


def rotor_spin_forces(mechanism: Mechanism, motions: npt.ArrayLike, turning: int = 1) -> Array:
    """What the model neglects of its drives: the forces (n, 6) N that the spin momentum of the rotors adds to F.

    In motions (n, 19). A rotor on the leg's axis has the angular momentum h L̇ s beyond that of the leg's own tensor,
    h = 2π J/lead, so that with the notation of `dynamics.kernels.inverse`
        C += h (L̈ s + L̇ W×s)        F += h A·s
    The first acts on the platform through the universal joint, the second on the motor. Both are in proportion to
    lead/(2π L) of the force that accelerates the rotor. `turning`: 1 for screws that turn about +s as the leg extends,
    −1 for the others; forces change their sign with it.
    Raises DynamicsError for a drive whose inertia is given without a lead, for another `turning`, a wrong shape or a
    number that is not finite, SingularityError where the leg forces are not determined.
    """
    if turning not in (1, -1):
        raise DynamicsError(f"turning: {turning}, must be 1 or -1")
    samples = np.atleast_2d(checked("motions", motions, 19))
    momentum = np.empty(6)
    for number, leg in enumerate(mechanism.legs):
        if leg.drive.lead is None and leg.drive.mass:
            raise DynamicsError(
                f"leg {number + 1}: drive.reflected_mass {leg.drive.mass:g} kg without a lead: "
                "the rotor's speed is unknown"
            )
        momentum[number] = (
            0.0 if leg.drive.lead is None else turning * leg.drive.mass * leg.drive.lead / (2.0 * math.pi)
        )
    geometry = mechanism.geometry
    legs = leg_kinematics(geometry, samples)
    s, W = legs.direction, legs.angular_velocity
    across = np.cross(geometry.universal_axes, s)
    sine = np.linalg.norm(across, axis=-1, keepdims=True)
    c = np.cross(geometry.universal_axes, across / sine)
    C = momentum[:, None] * (legs.acceleration[..., None] * s + legs.velocity[..., None] * np.cross(W, s))
    m_c = -np.sum(C * s, axis=-1, keepdims=True) / sine  # c·s = −‖u×s‖
    K = np.cross(C - m_c * c, s) / legs.length[..., None]
    q = geometry.platform_points @ quaternion_to_matrix(samples[:, 3:7]).transpose(0, 2, 1)
    wrench = -np.concatenate([K.sum(axis=1), np.cross(q, K).sum(axis=1)], axis=-1)
    x = solve_legs(leg_matrices(geometry, samples[:, :7]), wrench)
    return np.asarray(momentum * np.sum(legs.angular_acceleration * s, axis=-1) - x)
