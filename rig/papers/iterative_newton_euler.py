"""The note on the iterative Newton–Euler form: its equations verified independently, on chains of both joint types.

By differences of the links' poses, Lagrange's equations of their energies, and virtual work.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dynamics import serial
from kinematics import Array, minimum_jerk
from rig.papers.chains import random_chain
from rig.papers.claims import Between, Claim, Mended, Origin
from rig.papers.drawing import INK, Curve, series, six_panels
from rig.papers.operation_claims import agreement
from rig.papers.printed import printed_study
from rig.papers.study import Numbers, Picture, Report, Sheet, Study

PRINTED = printed_study("iterative-newton-euler")
"""Claims and data as printed."""

_SIZES = range(2, 8)
_STEP = 1e-5
"""Step of the differences, s or rad or m."""

Case = tuple[serial.ModifiedChain, Array, Array, Array]


def _mixed_chain(rng: np.random.Generator, joints: int) -> serial.SerialChain:
    """Return a random chain with alternating revolute and prismatic joints, the first one revolute."""
    chain = random_chain(rng, joints)
    kinds: tuple[serial.Joint, ...] = ("revolute", "prismatic")
    return replace(chain, links=tuple(replace(link, joint=kinds[i % 2]) for i, link in enumerate(chain.links)))


def cases() -> list[Case]:
    """Chains of 2 to 7 joints of both kinds, without rotors and friction, and a motion q, q̇, q̈ (n,) of each."""
    made = []
    for joints in _SIZES:
        rng = np.random.default_rng(400 + joints)
        chain = serial.modified_chain(_mixed_chain(rng, joints))
        bare = tuple(replace(link, motor_inertia=0.0, viscous=0.0) for link in chain.links)
        made.append((replace(chain, links=bare), *rng.normal(size=(3, joints))))
    return made


def _advanced(case: Case, time: float) -> tuple[serial.ModifiedChain, Array, Array]:
    chain, q, qd, qdd = case
    return chain, q + time * qd + 0.5 * time**2 * qdd, qd + time * qdd


def _states(case: Case, time: float = 0.0) -> tuple[serial.LinkStates, Array]:
    """The states at an instant, and the links' poses (n, 4, 4)."""
    chain, q, qd = _advanced(case, time)
    return serial.link_states(chain, q, qd, case[3]), serial.link_poses(chain, q)[:-1]


def _based(poses: Array, vectors: Array) -> Array:
    """Transform vectors (n, 3) of the links to axes of the base."""
    turned: Array = np.einsum("nij,nj->ni", poses[:, :3, :3], vectors)
    return turned


def _worst(ours: Array, right: Array) -> float:
    return float(np.abs(ours - right).max() / np.abs(right).max())


def velocity_error(case: Case) -> float:
    """Largest difference of ω and v from differences of the links' poses, relative to the largest."""
    states, poses = _states(case)
    (_, before), (_, after) = _states(case, -_STEP), _states(case, _STEP)
    rate = (after - before) / (2.0 * _STEP)
    turning = rate[:, :3, :3] @ np.swapaxes(poses[:, :3, :3], 1, 2)
    omega = np.stack([turning[:, 2, 1], turning[:, 0, 2], turning[:, 1, 0]], axis=1)
    return max(
        _worst(_based(poses, states.angular_velocity), omega), _worst(_based(poses, states.velocity), rate[:, :3, 3])
    )


def acceleration_error(case: Case) -> float:
    """Largest difference of ω̇ and v̇ from differences of ω and v, relative to the largest."""
    states, poses = _states(case)
    (first, before), (last, after) = _states(case, -_STEP), _states(case, _STEP)
    gaps = []
    for name, rate in (("angular_velocity", "angular_acceleration"), ("velocity", "acceleration")):
        change = _based(after, getattr(last, name)) - _based(before, getattr(first, name))
        gaps.append(_worst(_based(poses, getattr(states, rate)), change / (2.0 * _STEP)))
    return max(gaps)


def _centers(case: Case, time: float) -> Array:
    """Velocities (n, 3) of the centres of mass, axes of the base, by differences of their positions."""

    def places(at: float) -> Array:
        chain, q, _ = _advanced(case, at)
        poses = serial.link_poses(chain, q)[:-1]
        return poses[:, :3, 3] + _based(poses, np.array([link.center for link in chain.links]))

    step = 1e-3
    # fourth order, as the result is differentiated again
    near, far = (places(time + k * step) - places(time - k * step) for k in (1, 2))
    velocity: Array = (8.0 * near - far) / (12.0 * step)
    return velocity


def center_error(case: Case) -> float:
    """Largest difference of v̇_c from second differences of the centres' positions, relative to the largest."""
    states, poses = _states(case)
    step = 1e-3
    near, far = (_centers(case, k * step) - _centers(case, -k * step) for k in (1, 2))
    return _worst(_based(poses, states.center_acceleration), (8.0 * near - far) / (12.0 * step))


def _kinetic(chain: serial.ModifiedChain, q: Array, qd: Array) -> float:
    states = serial.link_states(chain, q, qd, np.zeros(len(chain)))
    energy = 0.0
    for link, omega, v in zip(chain.links, states.angular_velocity, states.velocity, strict=True):
        center = v + np.cross(omega, link.center)
        energy += 0.5 * (link.mass * center @ center + omega @ np.array(link.inertia) @ omega)
    return float(energy)


def _potential(chain: serial.ModifiedChain, q: Array) -> float:
    poses = serial.link_poses(chain, q)[:-1]
    heights = poses[:, :3, 3] + _based(poses, np.array([link.center for link in chain.links]))
    return float(-np.array([link.mass for link in chain.links]) @ heights @ np.array(chain.gravity))


def _momenta(chain: serial.ModifiedChain, q: Array, qd: Array) -> Array:
    """∂T/∂q̇ (n,), exact: T is quadratic in q̇."""
    units = np.eye(len(chain))
    return np.array([0.5 * (_kinetic(chain, q, qd + e) - _kinetic(chain, q, qd - e)) for e in units])


def lagrange_error(case: Case) -> float:
    """Largest difference of τ from d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q of the links' energies, relative to the largest."""
    chain, q, qd, qdd = case
    ahead, behind = (_momenta(*_advanced(case, sign * _STEP)) for sign in (1.0, -1.0))
    force = (ahead - behind) / (2.0 * _STEP)
    for i, e in enumerate(_STEP * np.eye(len(chain))):
        kinetic = _kinetic(chain, q + e, qd) - _kinetic(chain, q - e, qd)
        force[i] -= (kinetic - _potential(chain, q + e) + _potential(chain, q - e)) / (2.0 * _STEP)
    return _worst(np.array(serial.iterative_newton_euler(chain, q, qd, qdd)), force)


def gravity_error(case: Case) -> float:
    """Largest difference of τ at rest from the gradient of the potential energy, relative to the largest."""
    chain, q, _, _ = case
    at_rest = np.zeros(len(chain))
    slopes = [_potential(chain, q + e) - _potential(chain, q - e) for e in _STEP * np.eye(len(chain))]
    return _worst(np.array(serial.iterative_newton_euler(chain, q, at_rest, at_rest)), np.array(slopes) / (2.0 * _STEP))


def contact_error(case: Case) -> float:
    """Largest difference of a contact's contribution to τ from its virtual work, relative to the largest."""
    chain, q, qd, qdd = case
    wrench = np.random.default_rng(len(chain)).normal(scale=20.0, size=6)
    bare, loaded = (np.array(serial.iterative_newton_euler(chain, q, qd, qdd, load)) for load in (None, wrench))
    tip = serial.link_poses(chain, q)[-1]
    work = []
    for e in _STEP * np.eye(len(chain)):
        rate = np.linalg.solve(tip, serial.link_poses(chain, q + e)[-1] - serial.link_poses(chain, q - e)[-1]) / (
            2.0 * _STEP
        )
        twist = np.array([*rate[:3, 3], rate[2, 1], rate[0, 2], rate[1, 0]])
        work.append(-(twist @ wrench))
    return _worst(loaded - bare, np.array(work))


def prismatic_error(case: Case) -> float:
    """Largest difference of τ by §2.3 as printed from τ by eqs. 2-4 to 2-6, relative to the largest."""
    chain, q, qd, qdd = case
    printed = np.array(serial.iterative_newton_euler_as_printed(chain, q, qd, qdd))
    return _worst(printed, np.array(serial.iterative_newton_euler(chain, q, qd, qdd)))


def standard_form_error() -> float:
    """Largest difference of τ from the recursion in standard form, relative to the largest; with a contact."""
    worst = 0.0
    for joints in _SIZES:
        rng = np.random.default_rng(500 + joints)
        chain = _mixed_chain(rng, joints)
        q, qd, qdd = rng.normal(size=(3, joints))
        wrench = rng.normal(scale=20.0, size=6)
        ours = np.array(serial.iterative_newton_euler(serial.modified_chain(chain), q, qd, qdd, wrench))
        worst = max(worst, _worst(ours, np.array(serial.newton_euler(chain, q, qd, qdd, wrench))))
    return worst


NAME = "iterative-newton-euler"
_AGREED, _EQUAL = 1e-6, (1e-7, 1e-3)
"""Tolerance for the equations against differences, whose own error is some 1e-9, and what may count as equal."""
_RIGHT = 0.5 * np.pi
_DURATION, _SAMPLES = 2.0, 101  # s
_SHOWN = 25
"""Sample shown in the table, at 0.5 s."""


def study(report: Report) -> Study:
    """Reproduce the study."""
    report(f"{NAME}: equations", 0.0)
    found = claims()
    report(f"{NAME}: an arm of both kinds of joint", 0.7)
    return Study(
        NAME,
        PRINTED.title,
        PRINTED.citation,
        PRINTED.summary,
        found,
        _pictures(),
        (_sheet(),),
        PRINTED.errata,
        PRINTED.open,
    )


def arm() -> serial.ModifiedChain:
    """Return an arm like Stanford's, with prismatic third joint; round masses of our choice, 9.8 m/s²."""
    steps = (
        (0.0, 0.4, "revolute", 9.0, (0.0, 0.02, -0.1), (0.3, 0.3, 0.1)),
        (-_RIGHT, 0.15, "revolute", 6.0, (0.0, -0.05, 0.0), (0.1, 0.05, 0.1)),
        (_RIGHT, 0.3, "prismatic", 4.0, (0.01, 0.0, -0.4), (0.4, 0.4, 0.01)),
        (0.0, 0.0, "revolute", 1.0, (0.0, 0.0, -0.05), (0.002, 0.002, 0.001)),
        (-_RIGHT, 0.0, "revolute", 0.6, (0.0, -0.02, 0.0), (0.001, 0.0005, 0.001)),
        (_RIGHT, 0.0, "revolute", 0.5, (0.02, 0.0, 0.1), (0.002, 0.002, 0.0005)),
    )
    links = [
        serial.Link(kind, alpha=alpha, d=d, mass=mass, center=center, inertia=np.diag(moments).tolist())  # type: ignore[arg-type]
        for alpha, d, kind, mass, center, moments in steps
    ]
    return serial.ModifiedChain(tuple(links), (0.0, 0.0, -9.8))


def claims() -> tuple[Claim, ...]:
    """Return all claims, in the note's order."""
    return (*motion(), *forces())


def motion() -> list[Claim]:
    """§2.1: velocities and accelerations."""
    return [
        _claim("velocities", "Outward iteration gives each link's ω and v, of turning and of sliding joints", "§2.1",
               velocity_error, "differences of the links' poses"),
        _claim("accelerations", "… and ω̇ and v̇", "§2.1", acceleration_error,
               "differences of ω and v in base axes"),
        _claim("center-accelerations", "… and from them v̇_c, by the same equation for both kinds of joint", "§2.1",
               center_error, "second differences of the centres' places"),
    ]  # fmt: skip


def forces() -> list[Claim]:
    """§§2.2 to 2.4: forces and moments."""
    whole = _claim("joint-forces", "Inward iteration by eqs. 2-4 to 2-6 gives the joint forces of a motion", "§2.2",
                   lagrange_error, "Lagrange's equations of the links' energies, by differences")  # fmt: skip
    return [
        whole,
        Claim(
            "prismatic-rows",
            "The complete algorithm of §2.3, with its own rows for prismatic joints, gives the joint forces",
            "§2.3",
            Between(None, _AGREED),
            max(map(prismatic_error, cases())),
            measure="§2.3 as printed: largest relative difference from eqs. 2-4 to 2-6, 6 random chains of 2 to 7 "
            "joints of both kinds",
            why="a chain of sliding joints alone is right; but the rows keep terms in ω, which are zero unless a joint "
            "below turns",
            words="complete algorithm",
            thresholds=_EQUAL,
            mended=Mended("N_i and n_i for prismatic joints too, as eqs. 2-2 to 2-5 have them", whole.computed),
        ),
        _claim("contact", "f_{N+1} and n_{N+1} bring in the forces of a contact", "§2.2",
               contact_error, "the virtual work of what acts on the tip"),
        _claim("gravity", "v̇_0 = G, against gravity, brings in the links' weights", "§2.4",
               gravity_error, "slope of the potential energy, by differences"),
        replace(
            agreement(
                "standard-form",
                "The iteration in modified frames is the recursion in standard ones",
                "§2",
                standard_form_error(),
                "largest relative difference of the joint forces under a contact, 6 random chains of 2 to 7 joints",
            ),
            origin=Origin.REPRODUCTION,
        ),
    ]  # fmt: skip


def _claim(key: str, statement: str, source: str, error: Callable[[Case], float], against: str) -> Claim:
    return Claim(
        key,
        statement,
        source,
        Between(None, _AGREED),
        max(map(error, cases())),
        measure=f"largest relative difference from {against}, 6 random chains of 2 to 7 joints, turning and sliding",
        words="the equations",
        thresholds=_EQUAL,
    )


def _path() -> tuple[Array, Array, Array, Array]:
    """Times (m,) s and q, q̇, q̈ (m, 6) of the arm: one rest-to-rest swing of every joint."""
    times = np.linspace(0.0, _DURATION, _SAMPLES)
    start, end = np.array([0.0, 0.6, 0.0, 0.0, 0.0, 0.0]), np.array([1.2, 1.4, 0.3, 1.0, 0.8, 1.5])
    rise = minimum_jerk(times[:, None] / _DURATION)
    reach = end - start
    return times, start + rise[0] * reach, rise[1] * reach / _DURATION, rise[2] * reach / _DURATION**2


def _pictures() -> tuple[Picture, ...]:
    chain = arm()
    times, q, qd, qdd = _path()
    whole, printed = (
        np.array([law(chain, *row) for row in zip(q, qd, qdd, strict=True)])
        for law in (serial.iterative_newton_euler, serial.iterative_newton_euler_as_printed)
    )
    states = [serial.link_states(chain, *row) for row in zip(q, qd, qdd, strict=True)]

    def size(name: str) -> Array:
        return np.array([np.linalg.norm(getattr(state, name), axis=1) for state in states])

    curves = (
        Curve("§2.3 as printed", printed, INK, "--", 1.0),
        Curve("eqs. 2-4 to 2-6 for every link", whole, width=1.6),
    )
    columns = [f"{name}{joint}" for name in ("whole", "printed") for joint in range(1, 7)]
    accelerations = (
        Curve(r"$|\dot{v}|$ of the frame's origin", size("acceleration"), INK, "--", 1.0),
        Curve(r"$|\dot{v}_\mathrm{c}|$ of the centre of mass", size("center_acceleration"), width=1.6),
    )
    moving = ("angular_velocity", "velocity", "angular_acceleration", "acceleration", "center_acceleration")
    return (
        Picture(
            "Joint forces of an arm whose third joint slides",
            "The arm swings in 2 s from rest to rest. Without n₃ the joints below know nothing of the moments above.",
            six_panels(times, curves, "N m, joint 3 N", panel="Joint"),
            series("joint-forces", "t", times, columns, np.hstack([whole, printed])),
        ),
        Picture(
            "Accelerations of its links",
            "The same motion, as the outward iteration gives it; without the G of §2.4.",
            six_panels(times, accelerations, "m/s²", panel="Link"),
            series(
                "link-states", "t", times, [f"{name}{k}" for name in moving for k in range(1, 7)],
                np.hstack([size(name) for name in moving]),
            ),
        ),
    )  # fmt: skip


def _sheet() -> Sheet:
    times, *path = _path()
    states: serial.LinkStates = serial.link_states(arm(), *(rows[_SHOWN] for rows in path))
    parts = (
        ("ω, rad/s", states.angular_velocity),
        ("v, m/s", states.velocity),
        ("ω̇, rad/s²", states.angular_acceleration),
        ("v̇, m/s²", states.acceleration),
        ("v̇_c, m/s²", states.center_acceleration),
        ("f, N", states.force),
        ("n, N m", states.moment),
    )
    shown = tuple(
        (str(link + 1), *("  ".join(f"{x:.3f}" for x in values[link]).replace("-", "−") for _, values in parts))
        for link in range(6)
    )
    columns = tuple(f"{name.split(',')[0]}_{axis}" for name, _ in parts for axis in "xyz")
    rows = tuple((link + 1, *(x for _, values in parts for x in values[link].tolist())) for link in range(6))
    return Sheet(
        f"The links of this arm at {times[_SHOWN]:.1f} s",
        "Each in axes of its own frame; f and n are those of the link before on this one, at its frame's origin.",
        ("Link", *(name for name, _ in parts)),
        shown,
        Numbers("links", ("link", *columns), rows),
    )
