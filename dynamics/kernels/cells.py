"""What the load cells read, and the reactions at every joint, once the inverse dynamics of a motion is known."""

from dynamics.kernels.inverse import inverse_kernel, terms_kernel
from dynamics.kernels.layout import (
    CELL_BASE,
    CELL_LOCATION,
    CELL_MASS,
    CELL_PLACE,
    CELL_ROD_END,
    GRAVITY,
    LEG_AD,
    LEG_AU,
    LEG_C,
    LEG_D,
    LEG_F,
    LEG_K,
    LEG_LENGTH,
    LEG_MC,
    LEG_RD,
    LEG_S,
    LEG_SPIN,
    LEG_STRIDE,
    LEG_X,
    LEGS,
    LOWER_INERTIA,
    LOWER_MASS,
    OK,
    ROW_STRIDE,
    ROWS,
    UNIVERSAL,
    UPPER_MASS,
)
from dynamics.kernels.leg import euler_moment, load, sliding_acceleration, store, to_base, turning_acceleration
from kinematics import Array, cross, dot, kernel

REACTIONS = 18
"""Numbers per leg in `reactions_kernel`'s output: F_s, F_b, m_c c, F_p, F_p − F s and M_p, three each."""


@kernel
def cell_readings(parameters: Array, work: Array, cells: Array) -> None:
    """Predict the six cells' readings (6,), N, compression positive, from the legs' rows in `work`.

    actuator: F − m_e s·(a_e−g)      rod end: −x + m_e s·(a_e−g)      base: s·F_b − m_e s·(a_e−g)
    m_e at r_e being what lies between drive and cell, beyond the cell on the rod, between base joint and cell.
    """
    gx, gy, gz = load(parameters, GRAVITY)
    for leg in range(6):
        at = LEGS + leg * LEG_STRIDE
        row = ROWS + leg * ROW_STRIDE
        sx, sy, sz = load(work, row + LEG_S)
        location = parameters[at + CELL_LOCATION]
        rx, ry, rz = load(parameters, at + CELL_PLACE)
        if location == CELL_BASE:
            rx, ry, rz = to_base(work, row, rx, ry, rz)
            ax, ay, az = turning_acceleration(work, row, rx, ry, rz)
        else:
            rx, ry, rz = to_base(work, row, work[row + LEG_LENGTH] + rx, ry, rz)
            ax, ay, az = sliding_acceleration(work, row, rx, ry, rz)
        carried = parameters[at + CELL_MASS] * dot(sx, sy, sz, ax - gx, ay - gy, az - gz)
        if location == CELL_ROD_END:
            cells[leg] = carried - work[row + LEG_X]
        elif location == CELL_BASE:
            dx, dy, dz = load(work, row + LEG_AD)
            ux, uy, uz = load(work, row + LEG_AU)
            m_d, m_u = parameters[at + LOWER_MASS], parameters[at + UPPER_MASS]
            through = m_d * dot(sx, sy, sz, dx - gx, dy - gy, dz - gz)
            through += m_u * dot(sx, sy, sz, ux - gx, uy - gy, uz - gz)
            cells[leg] = through - work[row + LEG_X] - carried
        else:
            cells[leg] = work[row + LEG_F] - carried


@kernel
def cells_kernel(parameters: Array, motion: Array, wrench: Array, work: Array, forces: Array, cells: Array) -> int:
    """Actuator forces (6,) and load-cell readings (6,), N, of a motion (19,) under a wrench (6,) in platform axes.

    Returns a status; the outputs are written only with OK.
    """
    status = inverse_kernel(parameters, motion, wrench, work, forces)
    if status == OK:
        cell_readings(parameters, work, cells)
    return status


@kernel
def cell_and_terms_kernel(
    parameters: Array, motion: Array, wrench: Array, work: Array, forces: Array, cells: Array, terms: Array
) -> int:
    """Actuator forces (6,), load-cell readings (6,) and the forces' terms (30,), see `terms_kernel`, N.

    Returns a status; the outputs are worthless unless it is OK.
    """
    status = terms_kernel(parameters, motion, wrench, work, terms)
    if status == OK:
        for leg in range(6):
            forces[leg] = work[ROWS + leg * ROW_STRIDE + LEG_F]
        cell_readings(parameters, work, cells)
    return status


@kernel
def reactions_kernel(parameters: Array, work: Array, out: Array) -> None:
    """Joint reactions of the six legs, base axes, N and N m, into `out` (6, REACTIONS), after `inverse_kernel`.

    F_s = x s + K                                     on the leg's top, from the platform
    F_b = m_d a_d + m_u a_u − (m_d+m_u) g − F_s       on the leg's foot, from the base
    m_c c                                             constraint moment of the universal joint on the leg
    F_p = m_u (a_u−g) − F_s + (C_p L̇ + F_c sign L̇) s  lower on upper part, without friction; F_p − F s of it is
                                                      the guide's
    M_p = m_c c − C_u W − m_d r_d×(a_d−g) − I_d A − W×I_d W     guide's moment, lower on upper part, about b
    """
    gx, gy, gz = load(parameters, GRAVITY)
    for leg in range(6):
        at = LEGS + leg * LEG_STRIDE
        row = ROWS + leg * ROW_STRIDE
        m_d, m_u = parameters[at + LOWER_MASS], parameters[at + UPPER_MASS]
        F, x = work[row + LEG_F], work[row + LEG_X]
        sx, sy, sz = load(work, row + LEG_S)
        Kx, Ky, Kz = load(work, row + LEG_K)
        tx, ty, tz = x * sx + Kx, x * sy + Ky, x * sz + Kz
        dx, dy, dz = load(work, row + LEG_AD)
        dx, dy, dz = m_d * (dx - gx), m_d * (dy - gy), m_d * (dz - gz)
        ux, uy, uz = load(work, row + LEG_AU)
        ux, uy, uz = m_u * (ux - gx), m_u * (uy - gy), m_u * (uz - gz)
        m_c = work[row + LEG_MC]
        cx, cy, cz = load(work, row + LEG_C)
        cx, cy, cz = m_c * cx, m_c * cy, m_c * cz
        # D less its part m_u s·(a_u−g) is the friction along the leg
        friction = work[row + LEG_D] - dot(sx, sy, sz, ux, uy, uz)
        px, py, pz = ux - tx + friction * sx, uy - ty + friction * sy, uz - tz + friction * sz
        ex, ey, ez = euler_moment(parameters, at + LOWER_INERTIA, work, row)
        rx, ry, rz = load(work, row + LEG_RD)
        rx, ry, rz = cross(rx, ry, rz, dx, dy, dz)
        C_u = parameters[at + UNIVERSAL]
        Wx, Wy, Wz = load(work, row + LEG_SPIN)
        reaction = out[leg]
        store(reaction, 0, tx, ty, tz)
        store(reaction, 3, dx + ux - tx, dy + uy - ty, dz + uz - tz)
        store(reaction, 6, cx, cy, cz)
        store(reaction, 9, px, py, pz)
        store(reaction, 12, px - F * sx, py - F * sy, pz - F * sz)
        store(reaction, 15, cx - C_u * Wx - rx - ex, cy - C_u * Wy - ry - ey, cz - C_u * Wz - rz - ez)


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
        reactions_kernel(parameters, work, reactions[sample])
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
