"""Spherical joints at both ends of the legs (Dasgupta & Mruthyunjaya 1998, §§1 and 2.1), and the claim.

By Lagrange's equations of rods, independent of the elimination of eqs. 17 to 24.
"""

from dataclasses import replace

import numpy as np

from dynamics import Body, LoadCell, Mechanism, papers, with_spherical_ends
from kinematics import Array, quaternion_to_matrix
from rig.papers.claims import Claim, Mended, Range, number
from rig.papers.paths import force_error, manipulator, run_path
from rig.papers.printed import printed_study


def symmetric_legs(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism with legs symmetric about their axes, as spherical joints at both ends need them.

    Centres of mass on the axis, no products of inertia, the mean of the transverse inertias, end joints without
    friction, no mass beyond the load cells.
    """
    legs = tuple(
        replace(
            leg,
            lower=_symmetric(leg.lower),
            upper=_symmetric(leg.upper),
            friction=replace(leg.friction, universal=0.0, spherical=0.0),
            load_cell=LoadCell(leg.load_cell.location),
        )
        for leg in mechanism.legs
    )
    return replace(mechanism, legs=legs)


def _symmetric(body: Body) -> Body:
    axial, *across = np.diag(body.inertia)
    mean = float(np.mean(across))
    return replace(body, center_of_mass=body.center_of_mass * [1.0, 0.0, 0.0], inertia=np.diag([axial, mean, mean]))


def rod_forces(machine: Mechanism, motions: Array) -> Array:
    """Actuator forces (n, 6) N of motions (n, 19), for symmetric legs with spherical joints at both ends.

    A leg has the three coordinates of its platform point: length L and direction s. T = ½ m_u L̇² + ½ J(L) ‖ṡ‖² with
    J = m_d x_d² + I_d + m_u (L + x_u)² + I_u, V = −g·(m_d x_d s + m_u (L + x_u) s), and Lagrange's equations give the
    force P of the platform on its platform point in addition to F s.
    """
    geometry, g = machine.geometry, machine.gravity
    forces = np.empty((len(motions), 6))
    for sample, motion in enumerate(motions):
        t, v, omega, a, alpha = (motion[at : at + 3] for at in (0, 7, 10, 13, 16))
        turn = quaternion_to_matrix(motion[3:7])
        system, load = np.empty((6, 6)), np.zeros(6)
        for leg, (part, b, p) in enumerate(
            zip(machine.legs, geometry.base_points, geometry.platform_points, strict=True)
        ):
            q = turn @ p
            S, Sd = q + t - b, v + np.cross(omega, q)
            Sdd = a + np.cross(alpha, q) + np.cross(omega, np.cross(omega, q))
            L = np.sqrt(S @ S)
            s = S / L
            across = np.eye(3) - np.outer(s, s)
            Ld = s @ Sd
            sd = across @ Sd / L
            Ldd = s @ Sdd + L * (sd @ sd)
            turning = (across @ Sdd - 2.0 * Ld * sd) / L  # part of s̈ perpendicular to s
            m_d, m_u, x_u = part.lower.mass, part.upper.mass, L + part.upper.center_of_mass[0]
            x_d = part.lower.center_of_mass[0]
            J = m_d * x_d**2 + part.lower.inertia[1, 1] + m_u * x_u**2 + part.upper.inertia[1, 1]
            J_L = 2.0 * m_u * x_u
            along = m_u * (Ldd - s @ g) - 0.5 * J_L * (sd @ sd) + part.friction.prismatic * Ld
            P = along * s + (J * turning + J_L * Ld * sd - (m_d * x_d + m_u * x_u) * (across @ g)) / L
            system[:, leg] = [*s, *np.cross(q, s)]
            load += [*P, *np.cross(q, P)]
        r, inertia = turn @ machine.center_of_mass, turn @ machine.inertia @ turn.T
        push = machine.mass * (a + np.cross(alpha, r) + np.cross(omega, np.cross(omega, r)) - g)
        load[:3] += push
        load[3:] += np.cross(r, push) + inertia @ alpha + np.cross(omega, inertia @ omega)
        forces[sample] = np.linalg.solve(system, load)
    return forces


def spherical_claim() -> Claim:
    """Claim that the formulation applies to spherical joints at both ends: as printed, and with eq. 16 mended."""
    machine = symmetric_legs(manipulator())
    cases = {
        "printed": ("dasgupta-1998", machine),
        "mended": ("exact", with_spherical_ends(machine)),
        "universal": ("exact", machine),
    }
    errors: dict[str, list[float]] = {case: [] for case in cases}
    for path in ("I", "II"):
        motions = run_path(path).motions
        expected = rod_forces(machine, motions)
        for case, (model, made) in cases.items():
            errors[case].append(force_error(papers.variant_forces(model, made, motions), expected)[0])
    return printed_study("dasgupta-1998").claim(
        "spherical-ends",
        max(errors["printed"]),
        Range("path", ("I", "II"), tuple(errors["printed"]), "II"),
        mended=Mended("eq. 16 with the upper part's inertia counted once", max(errors["mended"])),
        why=f"on path I {number(errors['printed'][0], '%')}. It does not come from the joint: with universal joints at "
        f"the base the forces of the same legs differ by {number(max(errors['universal']), '%')}",
    )
