"""The platform's equations with what changes slowly taken as constant, for an integrator that takes them once a step.

    M(X) V̇ = H F + r,    r = wrench − h        and for the legs' speeds w = Hᵀ V
    ẇ = B F + β,          B = Hᵀ M⁻¹ H,   β = Hᵀ M⁻¹ r + Ḣᵀ V

M is factorised as C Cᵀ (Cholesky), with Y = C⁻¹ H and y = C⁻¹ r, so that B = Yᵀ Y and V̇ = C⁻ᵀ (Y F + y).
"""

from math import sqrt

import numpy as np

from dynamics.kernels.forward import mass_matrix, residual_wrench
from dynamics.kernels.layout import (
    ACCELERATION,
    COULOMB,
    LANES,
    MATRIX,
    MATRIX_STRIDE,
    OK,
    PRISMATIC,
    SINGULAR,
    STAGES,
    load_state,
)
from kinematics import Array, kernel

MOBILITY = 0  # B, row by row
DRIFT = 36  # β
_Y = 42  # row by row
_RESIDUAL = 78  # y
_C = 84  # row by row; on the diagonal the inverses
FROZEN_SIZE = 120


def without_leg_friction(parameters: Array) -> tuple[Array, Array]:
    """A mechanism's parameters without friction of the prismatic joints, and that (2, 6): viscous N s/m, Coulomb N."""
    smooth = parameters.copy()
    friction = np.empty((2, 6))
    for row, place in enumerate((PRISMATIC, COULOMB)):
        friction[row] = smooth[place : place + 6]
        smooth[place : place + LANES] = 0.0
    return smooth, friction


@kernel
def frozen_kernel(state: Array, wrench: Array, work: Array, frozen: Array) -> int:
    """Fill `frozen` (FROZEN_SIZE,) at a state (13,), of the parameters that `work` holds already.

    wrench (6,): in platform axes. From `MOBILITY` on stands B (36), from `DRIFT` on β (6). Returns a status.
    """
    status = load_state(state, work)
    for leg in range(6):
        work[STAGES + leg] = 0.0
    if status == OK:
        status = residual_wrench(work, STAGES, wrench, work)
    if status != OK:
        return status
    for i in range(6):
        row = MATRIX + i * MATRIX_STRIDE
        for j in range(6):
            frozen[_Y + 6 * i + j] = work[row + j]
        frozen[_RESIDUAL + i] = work[row + 6]
    mass_matrix(work)
    for i in range(6):
        row = MATRIX + i * MATRIX_STRIDE
        for j in range(i):
            element = work[row + j]
            for k in range(j):
                element -= frozen[_C + 6 * i + k] * frozen[_C + 6 * j + k]
            frozen[_C + 6 * i + j] = element * frozen[_C + 7 * j]
        pivot = work[row + i]
        for k in range(i):
            pivot -= frozen[_C + 6 * i + k] * frozen[_C + 6 * i + k]
        if not pivot > 0.0:
            return SINGULAR
        inverse = 1.0 / sqrt(pivot)
        frozen[_C + 7 * i] = inverse
        for k in range(i):
            factor = frozen[_C + 6 * i + k]
            for j in range(6):
                frozen[_Y + 6 * i + j] -= factor * frozen[_Y + 6 * k + j]
            frozen[_RESIDUAL + i] -= factor * frozen[_RESIDUAL + k]
        for j in range(6):
            frozen[_Y + 6 * i + j] *= inverse
        frozen[_RESIDUAL + i] *= inverse
    y0, y1, y2 = frozen[_RESIDUAL], frozen[_RESIDUAL + 1], frozen[_RESIDUAL + 2]
    y3, y4, y5 = frozen[_RESIDUAL + 3], frozen[_RESIDUAL + 4], frozen[_RESIDUAL + 5]
    for i in range(6):
        a0, a1, a2 = frozen[_Y + i], frozen[_Y + 6 + i], frozen[_Y + 12 + i]
        a3, a4, a5 = frozen[_Y + 18 + i], frozen[_Y + 24 + i], frozen[_Y + 30 + i]
        # Ḣᵀ V: the platform's acceleration was zero
        frozen[DRIFT + i] = work[ACCELERATION + i] + (
            (a0 * y0 + a1 * y1) + (a2 * y2 + a3 * y3) + (a4 * y4 + a5 * y5)
        )  # fmt: skip
        for j in range(i, 6):
            element = (
                (a0 * frozen[_Y + j] + a1 * frozen[_Y + 6 + j])
                + (a2 * frozen[_Y + 12 + j] + a3 * frozen[_Y + 18 + j])
                + (a4 * frozen[_Y + 24 + j] + a5 * frozen[_Y + 30 + j])
            )
            frozen[MOBILITY + 6 * i + j] = element
            frozen[MOBILITY + 6 * j + i] = element
    return OK


@kernel
def frozen_acceleration_kernel(frozen: Array, forces: Array, acceleration: Array) -> None:
    """Acceleration [ẗ; α] (6,) of the platform under leg forces (6,) N, by what `frozen_kernel` left."""
    for i in range(6):
        total = frozen[_RESIDUAL + i]
        for j in range(6):
            total += frozen[_Y + 6 * i + j] * forces[j]
        acceleration[i] = total
    for i in range(5, -1, -1):
        total = acceleration[i]
        for k in range(i + 1, 6):
            total -= frozen[_C + 6 * k + i] * acceleration[k]
        acceleration[i] = total * frozen[_C + 7 * i]
