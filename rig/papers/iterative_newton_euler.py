"""The note on the iterative Newton–Euler form: its equations held against other ways, on chains of both joints."""

from collections.abc import Callable

import numpy as np

from dynamics import (
    Link,
    LinkStates,
    ModifiedChain,
    iterative_newton_euler,
    iterative_newton_euler_as_printed,
    link_states,
)
from kinematics import Array, minimum_jerk
from rig.papers import iterative_checks as checks
from rig.papers.claims import Between, Claim, Threshold
from rig.papers.drawing import INK, Curve, series, six_panels
from rig.papers.operation_claims import agreement
from rig.papers.study import Numbers, Picture, Report, Sheet, Study

NAME = "iterative-newton-euler"
_AGREED = 1e-6
"""Relative, that the equations may differ by from differences, whose own error is some 1e-9."""
_RIGHT = 0.5 * np.pi
_DURATION, _SAMPLES = 2.0, 101  # s
_SHOWN = 25
"""The sample of the table, at 0.5 s."""


def study(report: Report) -> Study:
    """The whole of it."""
    report(f"{NAME}: equations", 0.0)
    found = [*motion(), *forces()]
    report(f"{NAME}: an arm of both kinds of joint", 0.7)
    return Study(
        NAME,
        "The iterative Newton–Euler form",
        "Newton–Euler dynamics of a serial arm in iterative form, a note in Chinese in the textbook's (modified) "
        "Denavit–Hartenberg frames",
        "The outward and inward iteration of turning and sliding joints, held against differences of the links' poses, "
        "Lagrange's equations of their energies and virtual work.",
        tuple(found),
        _pictures(),
        (_sheet(),),
        (
            "§2.3's algorithm for prismatic joints has no N_i and no n_i: a turning joint below a sliding one needs "
            "both, as eqs. 2-2 to 2-5 have them.",
            "§2.2 has F_i = m v̇_c,i where m_i is meant.",
            "The vector to the next frame's origin is r_{i+1} in §2.1 and for prismatic joints, p_{i+1} elsewhere; r_c "
            "and p_c are one vector too.",
            "f_{N+1} and n_{N+1} are called the forces of contact: they are those that the arm exerts, the opposite "
            "of those that act on it.",
        ),
    )


def arm() -> ModifiedChain:
    """An arm laid out as Stanford's, its third joint sliding; masses in round numbers of ours, 9.8 m/s²."""
    steps = (
        (0.0, 0.4, "revolute", 9.0, (0.0, 0.02, -0.1), (0.3, 0.3, 0.1)),
        (-_RIGHT, 0.15, "revolute", 6.0, (0.0, -0.05, 0.0), (0.1, 0.05, 0.1)),
        (_RIGHT, 0.3, "prismatic", 4.0, (0.01, 0.0, -0.4), (0.4, 0.4, 0.01)),
        (0.0, 0.0, "revolute", 1.0, (0.0, 0.0, -0.05), (0.002, 0.002, 0.001)),
        (-_RIGHT, 0.0, "revolute", 0.6, (0.0, -0.02, 0.0), (0.001, 0.0005, 0.001)),
        (_RIGHT, 0.0, "revolute", 0.5, (0.02, 0.0, 0.1), (0.002, 0.002, 0.0005)),
    )
    links = [
        Link(kind, alpha=alpha, d=d, mass=mass, center=center, inertia=np.diag(moments).tolist())  # type: ignore[arg-type]
        for alpha, d, kind, mass, center, moments in steps
    ]
    return ModifiedChain(tuple(links), (0.0, 0.0, -9.8))


def motion() -> list[Claim]:
    """§2.1: velocities and accelerations."""
    return [
        _claim("velocities", "Outward iteration gives each link's ω and v, of turning and of sliding joints", "§2.1",
               checks.velocity_error, "differences of the links' poses"),
        _claim("accelerations", "… and ω̇ and v̇", "§2.1", checks.acceleration_error,
               "differences of ω and v in base axes"),
        _claim("center-accelerations", "… and from them v̇_c, by the same equation for both kinds of joint", "§2.1",
               checks.center_error, "second differences of the centres' places"),
    ]  # fmt: skip


def forces() -> list[Claim]:
    """§§2.2 to 2.4: forces and moments."""
    worst = max(map(checks.prismatic_error, checks.cases()))
    return [
        _claim("joint-forces", "Inward iteration by eqs. 2-4 to 2-6 gives the joint forces of a motion", "§2.2",
               checks.lagrange_error, "Lagrange's equations of the links' energies, by differences"),
        Claim(
            "prismatic-rows",
            "The complete algorithm of §2.3, with its own rows for prismatic joints, gives the joint forces",
            "§2.3",
            Between(None, _AGREED),
            worst,
            measure="§2.3 as printed: largest relative difference from eqs. 2-4 to 2-6, 6 random chains of 2 to 7 "
            "joints of both kinds",
            why="links of prismatic joints have no N_i there and pass no n_i on; a chain of turning joints alone, or "
            "of sliding ones alone, is right",
            threshold=Threshold.OURS,
        ),
        _claim("contact", "f_{N+1} and n_{N+1} bring in the forces of a contact", "§2.2",
               checks.contact_error, "the virtual work of what acts on the tip"),
        _claim("gravity", "v̇_0 = G, against gravity, brings in the links' weights", "§2.4",
               checks.gravity_error, "slope of the potential energy, by differences"),
        agreement(
            "standard-form",
            "The iteration in modified frames is the recursion in standard ones",
            "§2",
            checks.standard_form_error(),
            "largest relative difference of the joint forces under a contact, 6 random chains of 2 to 7 joints",
        ),
    ]  # fmt: skip


def _claim(key: str, statement: str, source: str, error: Callable[[checks.Case], float], against: str) -> Claim:
    return Claim(
        key,
        statement,
        source,
        Between(None, _AGREED),
        max(map(error, checks.cases())),
        measure=f"largest relative difference from {against}, 6 random chains of 2 to 7 joints, turning and sliding",
        threshold=Threshold.OURS,
    )


def _path() -> tuple[Array, Array, Array, Array]:
    """Times (m,) s and q, q̇, q̈ (m, 6) of the arm: one swing of every joint, rest to rest."""
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
        for law in (iterative_newton_euler, iterative_newton_euler_as_printed)
    )
    states = [link_states(chain, *row) for row in zip(q, qd, qdd, strict=True)]

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
    states: LinkStates = link_states(arm(), *(rows[_SHOWN] for rows in path))
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
