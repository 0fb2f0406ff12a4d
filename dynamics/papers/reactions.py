"""Leg reactions of a published model by its own equations, and the load-cell readings that follow."""

from dataclasses import dataclass

import numpy as np

from dynamics.closed_form import dot, times, transpose
from dynamics.mechanism import Mechanism
from kinematics import Array


@dataclass(frozen=True, slots=True, eq=False)
class LegReactions:
    """Reactions of six legs in n samples by one published model; N, vectors in base axes.

    directions (n, 6, 3): s, unit vectors.
    forces (n, 6): actuator forces F, pushing positive.
    axial (n, 6), across (n, 6, 3): x and K of F_s = x s + K, force of the platform on the leg's top at the spherical
        joint.
    base_forces (n, 6, 3): F_b, force of the base on the leg's foot at the universal joint.
    beyond (n, 6): m_e s·(a_e−g), force along the leg taken by the part between load cell and joint (or drive).
    """

    directions: Array
    forces: Array
    axial: Array
    across: Array
    base_forces: Array
    beyond: Array

    def cells(self, mechanism: Mechanism) -> Array:
        """Readings (n, 6) N, compression positive, of the mechanism's load cells; drives take no force.

        motor: F                             actuator: F − m_e s·(a_e−g)
        rod end: −x + m_e s·(a_e−g)      base: s·F_b − m_e s·(a_e−g)
        """
        readings = self.forces - self.beyond
        locations = np.array([leg.load_cell.location for leg in mechanism.legs])
        tops, feet = locations == "rod_end", locations == "base"
        readings[:, tops] = self.beyond[:, tops] - self.axial[:, tops]
        readings[:, feet] = dot(self.directions[:, feet], self.base_forces[:, feet]) - self.beyond[:, feet]
        return readings


def beyond_cells(mechanism: Mechanism, T: Array, L: Array, L_ddot: Array, W: Array, A: Array) -> Array:
    """m_e s·(a_e−g) (n, 6) N of the legs' `mass_beyond` at its place, with the leg motion of the model.

    a_e = A×r_e + W×(W×r_e) on the lower part, plus L̈ s + 2L̇ W×s on the upper one.
    T = [s v s×v] (n, 6, 3, 3), lengths L (n, 6) m, L̈ (n, 6) m/s², W (n, 6, 3) rad/s, A (n, 6, 3) rad/s².
    """
    cells = [leg.load_cell for leg in mechanism.legs]
    mass = np.array([cell.mass_beyond for cell in cells])
    upper = np.array([cell.location != "base" for cell in cells])
    x, y, z = np.array([cell.place for cell in cells]).T
    along = x + np.where(upper, L, 0.0)
    w_s, w_v, w_w = np.moveaxis(times(transpose(T), W), -1, 0)
    _, a_v, a_w = np.moveaxis(times(transpose(T), A), -1, 0)
    turning = a_v * z - a_w * y + w_s * (w_v * y + w_w * z) - (w_v**2 + w_w**2) * along
    return np.asarray(mass * (turning + np.where(upper, L_ddot, 0.0) - T[..., 0] @ mechanism.gravity))
