"""Load-cell readings and joint reactions from the inverse dynamics of a motion."""

from dynamics.kernels.inverse import combine, drive_part, euler, inverse_kernel, load, terms_kernel, turning, vector
from dynamics.kernels.layout import (
    ACCELERATION,
    AD,
    AU,
    CELL_BASE,
    CELL_LOCATION,
    CELL_MASS,
    CELL_MOTOR,
    CELL_PLACE,
    CELL_ROD_END,
    GRAVITY,
    LANES,
    LENGTH,
    LOWER_INERTIA,
    LOWER_MASS,
    MC,
    OK,
    RD,
    SPIN,
    SPIN_RATE,
    UNIVERSAL,
    UPPER_MASS,
    C,
    D,
    F,
    K,
    S,
    V,
    W,
    X,
)
from kinematics import Array, cross, dot, kernel, rotate

REACTIONS = 18
"""Values per leg in the output of `reactions_kernel`: F_s, F_b, m_c c, F_p, F_p − F s and M_p, three each."""


@kernel
def cell_readings(work: Array, cells: Array) -> None:
    """Compute the six cells' readings (6,), N, compression positive, from the leg rows in `work`.

    motor: F      actuator: F − R − m_e s·(a_e−g)      rod end: −x + m_e s·(a_e−g)      base: s·F_b − m_e s·(a_e−g)
    R = m_r L̈ + C_r L̇ + F_r sign(L̇) is what the drive itself takes of the motor's force. m_e at r_e is the mass between
    drive and cell, beyond the cell on the rod, or between base joint and cell.
    """
    gx, gy, gz = vector(work, GRAVITY)
    for i in range(6):
        sx, sy, sz = load(work, S + i)
        Wx, Wy, Wz = load(work, SPIN + i)
        Ax, Ay, Az = load(work, SPIN_RATE + i)
        location = work[CELL_LOCATION + i]
        x, y, z = load(work, CELL_PLACE + i)
        if location != CELL_BASE:
            x += work[LENGTH + i]
        vx, vy, vz = load(work, V + i)
        wx, wy, wz = load(work, W + i)
        rx, ry, rz = combine(sx, sy, sz, vx, vy, vz, wx, wy, wz, x, y, z)
        x, y, z = turning(Ax, Ay, Az, Wx, Wy, Wz, rx, ry, rz)
        a_e = dot(sx, sy, sz, x - gx, y - gy, z - gz)
        if location != CELL_BASE:
            a_e += work[ACCELERATION + i]  # L̈ s; 2L̇ W×s is perpendicular to the leg
        carried = work[CELL_MASS + i] * a_e
        if location == CELL_ROD_END:
            cells[i] = carried - work[X + i]
        elif location == CELL_BASE:
            x, y, z = load(work, AD + i)
            through = work[LOWER_MASS + i] * dot(sx, sy, sz, x - gx, y - gy, z - gz)
            x, y, z = load(work, AU + i)
            through += work[UPPER_MASS + i] * dot(sx, sy, sz, x - gx, y - gy, z - gz)
            cells[i] = through - work[X + i] - carried
        elif location == CELL_MOTOR:
            cells[i] = work[F + i]
        else:
            cells[i] = work[F + i] - drive_part(work, i) - carried


@kernel
def cells_kernel(parameters: Array, motion: Array, wrench: Array, work: Array, forces: Array, cells: Array) -> int:
    """Actuator forces (6,) and load-cell readings (6,), N, of a motion (19,) under a wrench (6,) in platform axes.

    Returns a status; the outputs are written only with OK.
    """
    status = inverse_kernel(parameters, motion, wrench, work, forces)
    if status == OK:
        cell_readings(work, cells)
    return status


@kernel
def cell_and_terms_kernel(motion: Array, wrench: Array, work: Array, forces: Array, cells: Array, terms: Array) -> int:
    """Compute actuator forces (6,), load-cell readings (6,) and terms of the forces (30,) (`terms_kernel`), N.

    `work` already holds the parameters. Returns a status; the outputs are invalid unless it is OK.
    """
    status = terms_kernel(motion, wrench, work, terms)
    if status == OK:
        for i in range(6):
            forces[i] = work[F + i]
        cell_readings(work, cells)
    return status


@kernel
def reactions_kernel(work: Array, out: Array) -> None:
    """Compute joint reactions of the six legs, base axes, N and N m, into `out` (6, REACTIONS), after `inverse_kernel`.

    F_s = x s + K                                     on the leg's top, from the platform
    F_b = m_d a_d + m_u a_u − (m_d+m_u) g − F_s       on the leg's foot, from the base
    m_c c                                             constraint moment of the universal joint on the leg
    F_p = m_u (a_u−g) − F_s + (C_p L̇ + F_c sign L̇) s  lower on upper part, without friction; F_p − (F − R) s is the
                                                          guide's part, see `cell_readings` for R
    M_p = m_c c − C_u W − m_d r_d×(a_d−g) − I_d A − W×I_d W     guide's moment, lower on upper part, about b
    """
    gx, gy, gz = vector(work, GRAVITY)
    for i in range(6):
        m_d, m_u = work[LOWER_MASS + i], work[UPPER_MASS + i]
        drive, x = drive_part(work, i), work[X + i]
        force = work[F + i] - drive
        sx, sy, sz = load(work, S + i)
        vx, vy, vz = load(work, V + i)
        wx, wy, wz = load(work, W + i)
        Kx, Ky, Kz = load(work, K + i)
        tx, ty, tz = x * sx + Kx, x * sy + Ky, x * sz + Kz
        dx, dy, dz = load(work, AD + i)
        dx, dy, dz = m_d * (dx - gx), m_d * (dy - gy), m_d * (dz - gz)
        ux, uy, uz = load(work, AU + i)
        ux, uy, uz = m_u * (ux - gx), m_u * (uy - gy), m_u * (uz - gz)
        m_c = work[MC + i]
        cx, cy, cz = load(work, C + i)
        cx, cy, cz = m_c * cx, m_c * cy, m_c * cz
        # D without m_u s·(a_u−g) and the drive's part is the friction of the prismatic joint
        friction = work[D + i] - dot(sx, sy, sz, ux, uy, uz) - drive
        px, py, pz = ux - tx + friction * sx, uy - ty + friction * sy, uz - tz + friction * sz
        # I_d A + W×I_d W
        Wx, Wy, Wz = load(work, SPIN + i)
        Ax, Ay, Az = load(work, SPIN_RATE + i)
        hx, hy, hz = rotate(sx, sy, sz, vx, vy, vz, wx, wy, wz, Wx, Wy, Wz)
        ex, ey, ez = rotate(sx, sy, sz, vx, vy, vz, wx, wy, wz, Ax, Ay, Az)
        Ixx, Iyy, Izz = load(work, LOWER_INERTIA + i)
        Ixy, Ixz, Iyz = load(work, LOWER_INERTIA + 3 * LANES + i)
        ex, ey, ez = euler(Ixx, Iyy, Izz, Ixy, Ixz, Iyz, ex, ey, ez, hx, hy, hz)
        ex, ey, ez = combine(sx, sy, sz, vx, vy, vz, wx, wy, wz, ex, ey, ez)
        rx, ry, rz = load(work, RD + i)
        rx, ry, rz = cross(rx, ry, rz, dx, dy, dz)
        C_u = work[UNIVERSAL + i]
        reaction = out[i]
        reaction[0], reaction[1], reaction[2] = tx, ty, tz
        reaction[3], reaction[4], reaction[5] = dx + ux - tx, dy + uy - ty, dz + uz - tz
        reaction[6], reaction[7], reaction[8] = cx, cy, cz
        reaction[9], reaction[10], reaction[11] = px, py, pz
        reaction[12], reaction[13], reaction[14] = px - force * sx, py - force * sy, pz - force * sz
        reaction[15] = cx - C_u * Wx - rx - ex
        reaction[16] = cy - C_u * Wy - ry - ey
        reaction[17] = cz - C_u * Wz - rz - ez


@kernel
def inverse_batch_kernel(
    parameters: Array, motions: Array, wrenches: Array, work: Array, forces: Array, reactions: Array
) -> tuple[int, int]:
    """Forces (n, 6) and reactions (n, 6, REACTIONS) of motions (n, 19) under wrenches (n, 6).

    Returns the status and index of the first sample whose status is not OK, or OK and n.
    """
    n = motions.shape[0]
    for sample in range(n):
        status = inverse_kernel(parameters, motions[sample], wrenches[sample], work, forces[sample])
        if status != OK:
            return status, sample
        reactions_kernel(work, reactions[sample])
    return OK, n


@kernel
def cells_batch_kernel(
    parameters: Array, motions: Array, wrenches: Array, work: Array, forces: Array, cells: Array
) -> tuple[int, int]:
    """Forces (n, 6) and load-cell readings (n, 6) of motions (n, 19) under wrenches (n, 6).

    Returns the status and index of the first sample whose status is not OK, or OK and n.
    """
    n = motions.shape[0]
    for sample in range(n):
        status = cells_kernel(parameters, motions[sample], wrenches[sample], work, forces[sample], cells[sample])
        if status != OK:
            return status, sample
    return OK, n
