"""Layout of the two flat arrays of the kernels, and how motions and parameters are loaded into them.

`parameters` is the mechanism, read only; `work` is scratch memory that begins with a copy of the parameters. All
data of an evaluation are thus in one array: element `f` of leg i is at `f + i`, the next component of a vector is LANES
further on. A loop over the legs without calls that uses only one array is compiled to vector instructions for all legs
at once. The six legs are padded to LANES with copies of the last, so that there is no remainder loop.

Symmetric tensors are packed as xx, yy, zz, xy, xz, yz. Vectors are in base axes, SI units, unless noted.
"""

import math

from kinematics import Array, kernel, rotation_matrix

LANES = 8

# -- parameters, at the beginning of `work` too -----------------------------------------------------------------------
GRAVITY = 0  # g
MASS = 3  # M
CENTER = 4  # R₀, platform axes
INERTIA = 7  # I_p, platform axes, about the centre of mass
COULOMB_SPEED = 13  # m/s; 0 for the exact sign of L̇
LEGS = 16
BASE = LEGS  # b
AXIS = LEGS + 3 * LANES  # u
TOP = LEGS + 6 * LANES  # p, platform axes
LOWER_MASS = LEGS + 9 * LANES  # m_d
LOWER_CENTER = LEGS + 10 * LANES  # r_d0, axes of D
LOWER_INERTIA = LEGS + 13 * LANES  # I_d0
UPPER_MASS = LEGS + 19 * LANES  # m_u
UPPER_CENTER = LEGS + 20 * LANES  # r_u0, axes of U
LEG_INERTIA = LEGS + 23 * LANES  # I_d0 + I_u0
UNIVERSAL = LEGS + 29 * LANES  # C_u
PRISMATIC = LEGS + 30 * LANES  # C_p
SPHERICAL = LEGS + 31 * LANES  # C_s
COULOMB = LEGS + 32 * LANES  # F_c
CELL_LOCATION = LEGS + 33 * LANES  # one of the CELL_… below
CELL_MASS = LEGS + 34 * LANES  # m_e
CELL_PLACE = LEGS + 35 * LANES  # r_e0: axes of U from the platform point, for a base cell axes of D from the base point
DRIVE_MASS = LEGS + 38 * LANES  # m_r, inertia of the drive's rotating parts, reflected to the rod
DRIVE_VISCOUS = LEGS + 39 * LANES  # C_r, friction in the drive, between motor and rod
DRIVE_COULOMB = LEGS + 40 * LANES  # F_r
PARAMETERS_SIZE = LEGS + 41 * LANES

CELL_ACTUATOR, CELL_ROD_END, CELL_BASE, CELL_MOTOR = 0, 1, 2, 3

# -- work: the motion and the legs ------------------------------------------------------------------------------------
MOTION = PARAMETERS_SIZE  # the 19 numbers of a motion
ROTATION = MOTION + 19  # R, row by row
ROWS = MOTION + 32
S, V, W = ROWS, ROWS + 3 * LANES, ROWS + 6 * LANES  # T = [s v w], w = s×v
C = ROWS + 9 * LANES  # c = u×v
Q = ROWS + 12 * LANES  # q
ARM = ROWS + 15 * LANES  # q×s
SPIN = ROWS + 18 * LANES  # the leg's W
SPIN_RATE = ROWS + 21 * LANES  # A
RD, RU = ROWS + 24 * LANES, ROWS + 27 * LANES  # r_d, r_u
AD, AU = ROWS + 30 * LANES, ROWS + 33 * LANES  # a_d, a_u, of the centres of mass
EULER = ROWS + 36 * LANES  # (I_d+I_u)A + W×(I_d+I_u)W
LENGTH, SPEED, ACCELERATION = ROWS + 39 * LANES, ROWS + 40 * LANES, ROWS + 41 * LANES  # L, L̇, L̈
SINE, COSINE = ROWS + 42 * LANES, ROWS + 43 * LANES  # n = ‖u×s‖ = −s·c, μ = u·s
K = ROWS + 44 * LANES  # K
TURN = ROWS + 47 * LANES  # q×K − f
D = ROWS + 50 * LANES  # D
MC = ROWS + 51 * LANES  # m_c
X = ROWS + 52 * LANES  # x
F = ROWS + 53 * LANES  # F
TIP = ROWS + 54 * LANES  # the leg's part of M: 21 numbers, see forward.py

# -- work: the platform -----------------------------------------------------------------------------------------------
MATRIX = TIP + 21 * LANES  # six rows: the columns of H (or M), then up to five right-hand sides
MATRIX_STRIDE = 11
STAGES = MATRIX + 6 * MATRIX_STRIDE  # RK4: the step's start, its end, the slope and the leg forces of a stage
WORK_SIZE = STAGES + 3 * 13 + 6

# -- status -----------------------------------------------------------------------------------------------------------
OK = 0
# 1…6: number of a leg that has zero length or lies along its universal joint's fixed axis
SINGULAR = 7  # H, or the mass matrix
NOT_FINITE = 8
WRONG_SHAPE = 9

LEAST_QUATERNION = 1e-100  # of the square of its norm
LEAST_PIVOT = 1e-12  # of rows scaled to a largest element of 1


@kernel
def load_parameters(parameters: Array, work: Array) -> None:
    """Copy the parameters to the beginning of `work`."""
    for k in range(PARAMETERS_SIZE):
        work[k] = parameters[k]


@kernel
def load_motion(motion: Array, work: Array) -> int:
    """Copy a motion (19,) into `work` and form R. Returns a status."""
    for k in range(19):
        work[MOTION + k] = motion[k]
    return form_rotation(work)


@kernel
def load_state(state: Array, work: Array) -> int:
    """Copy a state (13,) into `work` as a motion with zero acceleration and form R. Returns a status."""
    for k in range(13):
        work[MOTION + k] = state[k]
    for k in range(13, 19):
        work[MOTION + k] = 0.0
    return form_rotation(work)


@kernel
def form_rotation(work: Array) -> int:
    """Form R (platform → base) from the quaternion of the motion in `work`, of any length. Returns a status."""
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
