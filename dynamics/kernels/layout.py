"""Where everything stands in the packed arrays the kernels work on, and how a motion gets there.

Two flat float64 arrays carry all the data, because each array argument costs time at every call from Python:

`parameters`: the mechanism, read only. A header for the platform, then `LEG_STRIDE` numbers for each leg.
`work`: scratch memory, written by every kernel. The motion, the platform's rotation, the equations of the platform
(six rows of `MATRIX_STRIDE` numbers: H or M, then right-hand sides), then `ROW_STRIDE` numbers for each leg.

Symmetric tensors are packed as xx, yy, zz, xy, xz, yz.
"""

import math

from kinematics import Array, kernel, rotation_matrix

# -- parameters ------------------------------------------------------------------------------------------------------
GRAVITY = 0  # g, base axes
MASS = 3  # M
CENTER = 4  # R₀, platform axes
INERTIA = 7  # I_p, platform axes, about the centre of mass
COULOMB_SPEED = 13  # m/s; 0 takes the sign of L̇ as it is
LEGS = 14
LEG_STRIDE = 38
# offsets within one leg
BASE = 0  # b
AXIS = 3  # u
TOP = 6  # p, platform axes
LOWER_MASS = 9  # m_d
LOWER_CENTER = 10  # r_d0, axes of D
LOWER_INERTIA = 13  # I_d0
UPPER_MASS = 19  # m_u
UPPER_CENTER = 20  # r_u0, axes of U
LEG_INERTIA = 23  # I_d0 + I_u0
UNIVERSAL = 29  # C_u
PRISMATIC = 30  # C_p
SPHERICAL = 31  # C_s
COULOMB = 32  # F_c
CELL_LOCATION = 33  # one of the CELL_… below
CELL_MASS = 34  # m_e
CELL_PLACE = 35  # r_e0: axes of U from the platform point, for a base cell axes of D from the base point
PARAMETERS_SIZE = LEGS + 6 * LEG_STRIDE

CELL_ACTUATOR, CELL_ROD_END, CELL_BASE = 0, 1, 2

# -- work ------------------------------------------------------------------------------------------------------------
MOTION = 0  # the 19 numbers of a motion
ROTATION = 19  # R, row by row
MATRIX = 28
MATRIX_STRIDE = 11  # six columns of H (or M) and up to five right-hand sides
ROWS = MATRIX + 6 * MATRIX_STRIDE
ROW_STRIDE = 48
# offsets within the row of one leg
LEG_S, LEG_V, LEG_W = 0, 3, 6  # T = [s v w], w = s×v
LEG_C = 9  # c = u×v
LEG_Q = 12  # q
LEG_SPIN = 15  # W
LEG_SPIN_RATE = 18  # A
LEG_RD, LEG_RU = 21, 24  # r_d, r_u
LEG_AD, LEG_AU = 27, 30  # a_d, a_u (of the centres of mass)
LEG_MOMENT = 33  # (I_d+I_u)A + W×(I_d+I_u)W
LEG_LENGTH, LEG_SPEED, LEG_ACCELERATION = 36, 37, 38  # L, L̇, L̈
LEG_SINE, LEG_COSINE = 39, 40  # n = ‖u×s‖ = −s·c, μ = u·s
LEG_K = 41  # K
LEG_D = 44  # D
LEG_MC = 45  # m_c
LEG_X = 46  # x
LEG_F = 47  # F
STAGES = ROWS + 6 * ROW_STRIDE  # RK4: the step's start, its end, the slope and the leg forces of a stage
WORK_SIZE = STAGES + 3 * 13 + 6

# -- status ----------------------------------------------------------------------------------------------------------
OK = 0
# 1…6: the number of the leg whose axis lies along its universal joint's fixed axis, or which has no length
SINGULAR = 7  # H, or the mass matrix
NOT_FINITE = 8

LEAST_QUATERNION = 1e-100  # of the square of its norm
LEAST_PIVOT = 1e-12  # of rows scaled to a largest element of 1


@kernel
def load_motion(motion: Array, moving: float, accelerating: float, work: Array) -> int:
    """Copy a motion (19,) into `work` and form R; `moving` and `accelerating` (0 or 1) scale its last twelve.

    The quaternion need not have unit length. Returns a status.
    """
    for k in range(7):
        work[MOTION + k] = motion[k]
    for k in range(7, 13):
        work[MOTION + k] = moving * motion[k]
    for k in range(13, 19):
        work[MOTION + k] = accelerating * motion[k]
    return form_rotation(work)


@kernel
def load_state(state: Array, work: Array) -> int:
    """Copy a state (13,) into `work` as a motion without acceleration and form R. Returns a status."""
    for k in range(13):
        work[MOTION + k] = state[k]
    for k in range(13, 19):
        work[MOTION + k] = 0.0
    return form_rotation(work)


@kernel
def form_rotation(work: Array) -> int:
    """Form R (platform → base) from the quaternion of the motion in `work`. Returns a status."""
    total = 0.0
    for k in range(19):
        total += abs(work[MOTION + k])
    w, x, y, z = work[MOTION + 3], work[MOTION + 4], work[MOTION + 5], work[MOTION + 6]
    if not (math.isfinite(total) and w * w + x * x + y * y + z * z > LEAST_QUATERNION):
        return NOT_FINITE
    (
        work[ROTATION], work[ROTATION + 1], work[ROTATION + 2],
        work[ROTATION + 3], work[ROTATION + 4], work[ROTATION + 5],
        work[ROTATION + 6], work[ROTATION + 7], work[ROTATION + 8],
    ) = rotation_matrix(w, x, y, z)  # fmt: skip
    return OK
