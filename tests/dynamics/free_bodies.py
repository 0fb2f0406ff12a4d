"""What the models say the legs carry, a second way: each body on its own, 24 equations for all reactions at once.

No equation of `dynamics` is used. Places are differentiated along a path that has the motion's velocities and
accelerations: central differences over nine instants, whose rounding and truncation are some 1e-12 of a force.
"""

from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from dynamics import Mechanism
from kinematics import Array

_STEP = 0.005  # s
_TIMES = _STEP * np.arange(-4, 5)
_FIRST = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0.0, 4 / 5, -1 / 5, 4 / 105, -1 / 280]) / _STEP
_SECOND = np.array([-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560]) / _STEP**2
_NOW = 4


class FreeBodies(NamedTuple):
    """Of one sample: forces F (6,), tops F_s (6, 3), base_forces F_b (6, 3), cells (6,); N, base axes."""

    forces: Array
    tops: Array
    base_forces: Array
    cells: Array


def free_bodies(model: str, mechanism: Mechanism, motion: Array, wrench: Array) -> FreeBodies:
    """A motion (19,) under a wrench (6,) in platform axes, where `model` has its way.

    "dasgupta-1998": no leg spins about its axis, each universal joint resists about it, and m_u L² diag(0, 1, 1) is
    added to I_u0. "pedrammehr-2012": m (r·r 1 − r rᵀ) is added to every body's inertia, r in base axes. Neither has
    Coulomb friction. "massless": no leg has mass, no joint friction. "exact": nothing of these.
    """
    t, td, tdd = motion[:3], motion[7:10], motion[13:16]
    omega, alpha, g = motion[10:13], motion[16:19], mechanism.gravity
    turns = Rotation.from_rotvec(np.outer(_TIMES, omega) + np.outer(_TIMES**2 / 2, alpha))
    R = (turns * Rotation.from_quat(motion[3:7], scalar_first=True)).as_matrix()
    origin = t + np.outer(_TIMES, td) + np.outer(_TIMES**2 / 2, tdd)
    has_legs = model != "massless"
    matrix, right = np.zeros((24, 24)), np.zeros(24)  # unknown: F_s and m of leg i at 4 i to 4 i + 3
    legs = []
    for i, leg in enumerate(mechanism.legs):
        q = R @ mechanism.geometry.platform_points[i]
        S = origin + q - mechanism.geometry.base_points[i]
        L = np.linalg.norm(S, axis=1)
        s, u = S / L[:, None], mechanism.geometry.universal_axes[i]
        v = np.cross(u, s)
        v /= np.linalg.norm(v, axis=1)[:, None]
        axes = np.stack([s, v, np.cross(s, v)], axis=2)
        resisted = np.cross(u, v[_NOW])
        if model == "dasgupta-1998":
            axes = np.array([_least_turn(s[_NOW], now) for now in s]) @ axes[_NOW]
            resisted = s[_NOW]
        W = _vector(np.tensordot(_FIRST, axes, 1) @ axes[_NOW].T)
        A = _vector(np.tensordot(_SECOND, axes, 1) @ axes[_NOW].T)

        def on_leg(place: Array, upper: bool, axes: Array = axes, L: Array = L) -> tuple[Array, Array]:
            """Where a place of a part is from the base point, and its acceleration less g."""
            path = axes @ place + (L[:, None] * axes[:, :, 0] if upper else 0.0)
            return path[_NOW], _SECOND @ path - g

        lower, upper, friction, cell = leg.lower, leg.upper, leg.friction, leg.load_cell
        r_d, a_d = on_leg(lower.center_of_mass, False)
        r_u, a_u = on_leg(upper.center_of_mass, True)
        I_d, I_u = lower.inertia, upper.inertia
        if model == "dasgupta-1998":
            I_u = I_u + upper.mass * L[_NOW] ** 2 * np.diag([0.0, 1.0, 1.0])
        if model == "pedrammehr-2012":
            I_d, I_u = I_d + _parallel(lower.mass, r_d), I_u + _parallel(upper.mass, r_u)
        inertia = axes[_NOW] @ (I_d + I_u) @ axes[_NOW].T
        moment = lower.mass * np.cross(r_d, a_d) + upper.mass * np.cross(r_u, a_u)
        moment = moment + inertia @ A + np.cross(W, inertia @ W)
        rubbing = friction.spherical * (W - omega)
        moment = has_legs * (moment + rubbing + friction.universal * W)
        at, rows = slice(4 * i, 4 * i + 3), slice(3 * i, 3 * i + 3)
        matrix[rows, at], matrix[rows, 4 * i + 3], right[rows] = _cross(S[_NOW]), resisted, moment
        matrix[18:21, at], matrix[21:, at] = np.eye(3), _cross(q[_NOW])
        right[21:] += has_legs * rubbing
        speed = _FIRST @ L
        sliding = friction.prismatic * speed + (model == "exact") * friction.coulomb * np.sign(speed)
        a_e = on_leg(cell.place, cell.location != "base")[1]
        legs.append((s[_NOW], lower.mass * a_d, upper.mass * a_u, sliding, cell.mass_beyond * a_e))
    r = R @ mechanism.center_of_mass
    push = mechanism.mass * (_SECOND @ (origin + r) - g)
    inertia = mechanism.inertia
    if model == "pedrammehr-2012":
        inertia = inertia + _parallel(mechanism.mass, r[_NOW])
    inertia = R[_NOW] @ inertia @ R[_NOW].T
    right[18:21] += R[_NOW] @ wrench[:3] - push
    right[21:] += R[_NOW] @ wrench[3:] - np.cross(r[_NOW], push) - inertia @ alpha - np.cross(omega, inertia @ omega)
    tops: Array = np.asarray(np.linalg.solve(matrix, right), np.float64).reshape(6, 4)[:, :3]

    forces, feet, cells = np.empty(6), np.empty((6, 3)), np.empty(6)
    for i, (s, lower_push, upper_push, sliding, beyond) in enumerate(legs):
        # Newton's law of the upper part along the leg, of the whole leg, and of the piece that the cell does not read
        forces[i] = s @ (has_legs * upper_push - tops[i]) + has_legs * sliding
        feet[i] = has_legs * (lower_push + upper_push) - tops[i]
        piece = has_legs * (s @ beyond)
        location = mechanism.legs[i].load_cell.location
        cells[i] = {"actuator": forces[i] - piece, "rod_end": piece - s @ tops[i], "base": s @ feet[i] - piece}[
            location
        ]
    return FreeBodies(forces, tops, feet, cells)


def _least_turn(start: Array, end: Array) -> Array:
    """The rotation about start×end that brings one unit vector to the other: up to the second order it has no spin."""
    k = _cross(np.cross(start, end))
    return np.asarray(np.eye(3) + k + k @ k / (1.0 + start @ end))


def _parallel(mass: float, place: Array) -> Array:
    return np.asarray(mass * (place @ place * np.eye(3) - np.outer(place, place)))


def _cross(a: Array) -> Array:
    """ã of ã b = a×b."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def _vector(matrix: Array) -> Array:
    """a of the part of a matrix that is ã."""
    return np.array([matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]]) / 2.0
