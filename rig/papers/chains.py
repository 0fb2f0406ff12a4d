"""Random serial chains, and the agreement of the formulations of their dynamics."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import permutations

import numpy as np

from dynamics import serial
from kinematics import Array
from rig.papers.paths import manipulator, run_path

Recursion = Callable[[serial.SerialChain, list[float], list[float], list[float]], list[float]]
ControlLaw = Callable[..., list[float]]
_SIZES = range(2, 9)
_FEW = range(2, 6)


def random_chain(rng: np.random.Generator, joints: int, revolute: bool = False) -> serial.SerialChain:
    """Return a chain of random numbers, with rotors and viscous friction; both kinds of joint, or revolute only.

    If all joints are revolute, a link's inertia is in principal axes, as 001 eq. 1.26 assumes.
    """
    links = []
    for index in range(joints):
        axes = np.eye(3) if revolute else np.linalg.qr(rng.normal(size=(3, 3)))[0]
        moments = rng.uniform(0.02, 0.03, 3)
        turns = revolute or index == joints - 1 or (index > 0 and rng.uniform() < 0.6)
        links.append(
            serial.Link(
                "revolute" if turns else "prismatic",
                a=rng.uniform(-0.5, 0.5),
                alpha=rng.uniform(-np.pi, np.pi),
                d=rng.uniform(-0.5, 0.5),
                theta=rng.uniform(-np.pi, np.pi),
                mass=rng.uniform(0.5, 5.0),
                center=rng.uniform(-0.2, 0.2, 3).tolist(),
                inertia=_symmetric(axes @ np.diag(moments) @ axes.T),
                motor_inertia=rng.uniform(0.0, 0.5),
                viscous=rng.uniform(0.0, 2.0),
            )
        )
    return serial.SerialChain(tuple(links), rng.normal(scale=6.0, size=3).tolist())


def _symmetric(tensor: Array) -> list[list[float]]:
    symmetric: list[list[float]] = (0.5 * (tensor + tensor.T)).tolist()
    return symmetric


def strobed_mass_error() -> float:
    """Largest difference of the strobed M from Lagrange's D, relative to its largest entry."""
    worst = 0.0
    for joints in _SIZES:
        rng = np.random.default_rng(joints)
        chain = random_chain(rng, joints)
        q = rng.normal(size=joints).tolist()
        lagrange = np.array(serial.lagrange_coefficients(chain, q).D, dtype=float)
        strobed = np.array(serial.strobed_mass_matrix(chain, q), dtype=float)
        worst = max(worst, float(np.abs(strobed - lagrange).max() / np.abs(strobed).max()))
    return worst


def recursion_errors(recursion: Recursion) -> list[float]:
    """Errors of a recursion for revolute chains of 2 to 8 joints, relative to the largest joint force.

    The reference is Lagrange–Euler.
    """
    errors = []
    for joints in _SIZES:
        rng = np.random.default_rng(200 + joints)
        chain = random_chain(rng, joints, revolute=True)
        q, qd, qdd = rng.normal(size=(3, joints)).tolist()
        right = np.array(serial.lagrange_euler(chain, q, qd, qdd), dtype=float)
        gap = np.abs(np.array(recursion(chain, q, qd, qdd), dtype=float) - right).max()
        errors.append(float(gap / np.abs(right).max()))
    return errors


@cache
def strobed_rates(as_printed: bool) -> float:
    """Largest difference of a strobed C^i_jk from Lagrange's, relative to the largest, chains of 2 to 5 joints.

    As printed at the end of §3, τ with q̇_j = q̇_k = 1 is C^i_jk; corrected: minus C_jj and C_kk, divided by two.
    """
    worst = 0.0
    for joints in _FEW:
        rng = np.random.default_rng(300 + joints)
        chain = random_chain(rng, joints)
        smooth = replace(chain, links=tuple(replace(link, viscous=0.0) for link in chain.links))
        q, at_rest = rng.normal(size=joints).tolist(), [0.0] * joints
        right = np.array(serial.lagrange_coefficients(smooth, q).H, dtype=float)
        strobed = np.array(serial.strobed_coriolis(smooth, q), dtype=float)
        if as_printed:
            for j, k in permutations(range(joints), 2):
                rates = [float(index in (j, k)) for index in range(joints)]
                strobed[:, j, k] = serial.newton_euler(smooth, q, rates, at_rest, gravity=(0.0, 0.0, 0.0))
        worst = max(worst, float(np.abs(strobed - right).max() / np.abs(right).max()))
    return worst


def control_laws_gaps(lagrange: ControlLaw) -> list[float]:
    """Differences of a control law 4.1 of Lee et al. (1982) from 4.4, relative to the largest torque, by chain."""
    gaps = []
    for joints in _SIZES:
        rng = np.random.default_rng(100 + joints)
        chain = random_chain(rng, joints)
        rows = [list(row) for row in rng.normal(size=(5, joints)).tolist()]
        desired = rows[0], rows[1], rows[2]
        one = np.array(serial.computed_torque(chain, desired, rows[3], rows[4], 100.0, 20.0), dtype=float)
        other = np.array(lagrange(chain, desired, rows[3], rows[4], 100.0, 20.0), dtype=float)
        gaps.append(float(np.abs(one - other).max() / np.abs(one).max()))
    return gaps


def legs_as_chains_error() -> float:
    """Largest difference of the platform's leg forces by six serial recursions from the vector form, path I."""
    run, machine = run_path("I"), manipulator()
    some = range(0, len(run.times), 10)
    gaps = [np.abs(serial.serial_leg_forces(machine, run.motions[k])[0] - run.exact[k]).max() for k in some]
    return float(max(gaps) / np.abs(run.exact).max())
