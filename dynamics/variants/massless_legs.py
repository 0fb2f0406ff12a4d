"""Dasgupta & Mruthyunjaya (1998), section 4.4: massless legs and frictionless joints."""

import numpy as np

from dynamics.mechanism import Mechanism
from dynamics.platform import about, leg_matrices, platform_motion, solve_legs, times
from dynamics.variants.reactions import LegReactions
from kinematics import Array


def massless(mechanism: Mechanism, motions: Array, wrenches: Array) -> LegReactions:
    """Leg forces F₀ from constraints alone, of motions (n, 19) and wrenches (n, 6): H F₀ = −c₀ (eq. 41).

    The `mass_beyond` of a load cell is a piece of its leg, and such a leg has none: between cell and joint there is
    nothing, no joint has friction, and one force goes through the leg from end to end. Every cell reads F₀, wherever
    it sits.
    """
    motion = platform_motion(mechanism.geometry, motions)
    rotation, omega, alpha = motion.R, motion.omega, motion.alpha
    F_ext, M_ext = wrenches[:, :3], wrenches[:, 3:]
    M, g = mechanism.mass, mechanism.gravity
    R = rotation @ mechanism.center_of_mass  # eq. 30
    a = np.cross(alpha, R) + np.cross(omega, np.cross(omega, R)) + motion.tdd  # eq. 31
    I_b = about(mechanism.inertia, rotation)  # I, eq. 32
    force = times(rotation, F_ext) + M * (g - a)
    moment = M * np.cross(R, g - a) - times(I_b, alpha) - np.cross(omega, times(I_b, omega)) + times(rotation, M_ext)
    c_0 = np.concatenate([force, moment], axis=-1)
    F_0 = solve_legs(leg_matrices(motion), -c_0)
    return LegReactions(
        motion.s, F_0, -F_0, np.zeros_like(motion.s), F_0[..., None] * motion.s, beyond=np.zeros_like(F_0)
    )
