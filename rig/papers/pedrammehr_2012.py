"""Pedrammehr, Mahboubkhah & Khani (2012): rotation of the pods, compact equations, forces, figures 5 to 10, claims.

Forces are computed with the paper's own L_uo, and with that of 1998.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from dynamics import Mechanism, papers
from kinematics import Array, Blend, LegMotion, leg_kinematics
from rig.papers.claims import Between, Claim, Mended, Range, Rounded, Unquantified, number
from rig.papers.drawing import GREY, INK, Curve, components, series, six_panels
from rig.papers.paths import (
    PLANS,
    SAMPLES,
    PathRun,
    drawn_motions,
    error_claims,
    evaluate_path,
    force_error,
    manipulator,
    rms,
    run_path,
    traced_path,
)
from rig.papers.printed import printed_study
from rig.papers.study import Numbers, Picture, Report, Sheet, Study

PRINTED = printed_study("pedrammehr-2012")
"""Claims and data as printed."""

_PATH_1 = PRINTED.paths["1"]
_LEAST_SPEED = (_PATH_1.end[0] - _PATH_1.start[0]) / _PATH_1.duration
"""m/s, lowest speed for path 1 in its printed time"""


@dataclass(frozen=True, slots=True, eq=False)
class PodRun:
    """The pods' rotation along a path, with their universal joints and simplified (no spin): (n, 6, 3), base axes.

    direction: s.  velocity, acceleration: W rad/s, A rad/s².  *_simple: 1998 eqs. 6 and 9.
    axial, axial_acceleration (n, 6): W·s, A·s.
    """

    times: Array
    direction: Array
    velocity: Array
    velocity_simple: Array
    acceleration: Array
    acceleration_simple: Array
    axial: Array
    axial_acceleration: Array


def path_one() -> Blend:
    """Path 1 at its only constant speed."""
    return replace(_PATH_1, speed=_LEAST_SPEED).trajectory()


PRINTED_AXES = "as in 1998"
"""Fixed axes u of the universal joints: the paper says that the geometry is that of 1998, and prints no axes."""


def fixed_axes() -> dict[str, Array]:
    """Return fixed axes u (6, 3) of the universal joints, by how the paper could be read."""
    geometry = manipulator().geometry
    places = np.asarray(geometry.base_points)
    level = _unit(places * [1.0, 1.0, 0.0])
    return {
        PRINTED_AXES: np.asarray(geometry.universal_axes),
        "along b": _unit(places),
        "along level b": level,
        "across level b": np.cross([0.0, 0.0, 1.0], level),
        "across the pods": _unit(np.cross([0.0, 0.0, 1.0], _first_directions())),
        "along x": np.tile([1.0, 0.0, 0.0], (6, 1)),
        "along y": np.tile([0.0, 1.0, 0.0], (6, 1)),
    }


def _first_directions() -> Array:
    """Directions of the pods (6, 3) at the start of path 1."""
    motion = path_one().motion([0.0])
    return np.asarray(leg_kinematics(manipulator().geometry, motion).direction[0])


def _unit(vectors: Array) -> Array:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


def machine_with(axes: Array, name: str = "dasgupta-1998") -> Mechanism:
    """Return the papers' manipulator with fixed axes u (6, 3)."""
    machine = manipulator(name)
    return replace(machine, geometry=replace(machine.geometry, universal_axes=axes))


def pods_of(trajectory: Blend, axes: Array | None = None) -> PodRun:
    """Compute the pods' rotation along a path of the 1998 manipulator, at 61 samples; with other axes u (6, 3)."""
    times = np.linspace(0.0, trajectory.duration, SAMPLES)
    return turning_pods(times, trajectory.motion(times), axes)


def turning_pods(times: Array, motions: Array, axes: Array | None = None) -> PodRun:
    """Compute the pods' rotation in motions (n, 19) of the 1998 manipulator at times (n,)."""
    machine = manipulator() if axes is None else machine_with(axes)
    legs = leg_kinematics(machine.geometry, motions)
    velocity, acceleration = _without_spin(motions, legs)
    axial = np.einsum("nij,nij->ni", legs.angular_acceleration, legs.direction)
    return PodRun(
        times,
        legs.direction,
        legs.angular_velocity,
        velocity,
        legs.angular_acceleration,
        acceleration,
        legs.spin,
        axial,
    )


def _without_spin(motions: Array, legs: LegMotion) -> tuple[Array, Array]:
    """Angular velocity and acceleration of legs without spin: W = s×Ṡ/L, A = (s×S̈ − 2L̇W)/L (1998 eqs. 6, 9).

    The transverse speed and acceleration of a platform point are those of the exact kinematics:
    Ṡ = L̇s + W×S and S̈ = L̈s + A×S + W×(W×S) + 2L̇W×s for any spin.
    """
    s, length = legs.direction, legs.length[..., None]
    S, rate = s * length, legs.velocity[..., None]
    W, A = legs.angular_velocity, legs.angular_acceleration
    S_dot = rate * s + np.cross(W, S)
    S_ddot = (
        legs.acceleration[..., None] * s + np.cross(A, S) + np.cross(W, np.cross(W, S)) + 2.0 * rate * np.cross(W, s)
    )
    simple = np.cross(s, S_dot) / length
    return simple, (np.cross(s, S_ddot) - 2.0 * rate * simple) / length


_ROUNDING, _EQUAL = 1e-9, (1e-9, 1e-3)
"""%, and what may count as equal."""


def equation_claims() -> list[Claim]:
    """Claims that eqs. 25, 42 and 43 follow from their derivation."""
    return [
        Claim(
            "tangential-acceleration",
            "Eq. 25 gives the pods' angular acceleration along themselves, α_l·n of eq. 18",
            "§5, eq. 25",
            Between(None, _ROUNDING),
            _spin_error(False),
            "%",
            measure="RMS difference on path 3, relative to α_l·n",
            words="gives",
            thresholds=_EQUAL,
            mended=Mended("−ω_u ω_v/√(1−(u·n)²) as the last term, as eqs. 18, 22 and 24 give it", _spin_error(True)),
        ),
        Claim(
            "compact-form",
            "Eqs. 42 and 43 are eq. 40, written compactly",
            "§7, eqs. 40–43",
            Between(None, _ROUNDING),
            _difference("II", ())[0],
            "%",
            measure="RMS difference of the actuator forces on path 3, at most "
            f"{number(_difference('II', ())[1], 'N')}; the paper's own inertias in both",
            words="compact expression for F_i",
            thresholds=_EQUAL,
            ranges=(Range("path", ("2", "3"), (_difference("I", ())[0], _difference("II", ())[0]), "3"),),
            mended=Mended(
                "the terms of eqs. 36 and 39 that are lost on the way", _difference("II", papers.EVERY_TERM)[0]
            ),
        ),
    ]


def errata_sheet() -> Sheet:
    """Table of the effect of each term missing in eqs. 42 and 43."""
    header = ("Eqs. 42 and 43", "Path 2: RMS", "largest", "Path 3: RMS", "largest", "What is left as printed")
    everything = tuple(papers.Mend)
    cases: list[tuple[str, Collection[papers.Mend], str]] = [("as printed", (), "everything")]
    cases += [
        (f"mended but for ({place})", tuple(other for other in papers.EVERY_TERM if other is not mend), mend.value)
        for place, mend in enumerate(papers.EVERY_TERM, 1)
    ]
    cases += [("mended", papers.EVERY_TERM, "only the inertias, as in eq. 40")]
    rows = [(name, *_difference("I", mends), *_difference("II", mends), text) for name, mends, text in cases]
    exact = [_difference(path, everything, exact=True) for path in ("I", "II")]
    rows.append(
        ("mended, and the inertias, against the exact model", *exact[0], *exact[1], f"nothing: {papers.Mend.INERTIA}")
    )
    return Sheet(
        "Eqs. 42 and 43, printed and mended",
        "Actuator forces by eqs. 41 to 43, 48 and 51 against those by eq. 40 with the paper's own inertias and L_uo: "
        "RMS difference over all pods and samples, relative to the forces, and the largest.",
        header,
        tuple((row[0], *_shown(row[1:3]), *_shown(row[3:5]), row[5]) for row in rows),
        Numbers(
            "eqs-42-and-43",
            ("case", "path2_rms_percent", "path2_N", "path3_rms_percent", "path3_N", "what"),
            tuple(rows),
        ),
    )


def _shown(error: tuple[float, float]) -> tuple[str, str]:
    share, largest = number(error[0], "%"), number(error[1], "N")
    return share.replace(" ", "\u00a0"), largest.replace(" ", "\u00a0")


def _spin_error(mended: bool) -> float:
    ours, expected = papers.tangential_accelerations(manipulator(OWN), run_path("II", OWN).motions, mended=mended)
    return 100.0 * rms(ours - expected) / rms(expected)


def _difference(path: str, mends: Collection[papers.Mend], *, exact: bool = False) -> tuple[float, float]:
    run = run_path(path, OWN)
    forces = papers.compact_forces(manipulator(OWN), run.motions, mends=mends)
    return force_error(np.asarray(forces), run.exact if exact else run.pedrammehr)


OWN = "pedrammehr-2012"
"""The paper's manipulator: z of L_uo is −0.08 m; +0.08 m in 1998."""
_TWICE = (
    "eqs. 32, 33 and 50 count inertia that eqs. 31 and 49 have already. At low speed it is small, ten times as fast "
    "it is as large as all the errors of 1998 together"
)
_STATIC = (
    "slowly, what counts is not the spin but how the universal joint carries the weight of a leg that is not balanced: "
    "with a moment along u×v, which 2012 has right"
)
_PATHS = (("2", "I", "fig. 9"), ("3", "II", "fig. 10"))


def force_claims() -> list[Claim]:
    """Return all claims on forces."""
    found = []
    for path, name, figure in _PATHS:
        found += [trend(path, name, figure), _significance(path, figure, name), accuracy(path, name, figure)]
    return [*found, parallel_axes(), *_at_rest(run_path("I", OWN)), *_errors()]


@cache
def _with_axes(name: str) -> dict[str, PathRun]:
    """Evaluate path I or II with the fixed axes u that the paper could mean."""
    run = run_path(name, OWN)
    return {
        axes: run if axes == PRINTED_AXES else evaluate_path(name, machine_with(u, OWN), run.times, run.motions)
        for axes, u in fixed_axes().items()
    }


def _over_inputs(name: str, evaluate: Callable[[PathRun], float]) -> tuple[Range, Range]:
    """Results over the axes u and the L_uo that the paper could mean."""
    runs = _with_axes(name)
    other = {"2012": run_path(name, OWN), "1998": run_path(name)}
    return (
        Range("axes u", tuple(runs), tuple(map(evaluate, runs.values())), PRINTED_AXES),
        Range("L_uo", tuple(other), tuple(map(evaluate, other.values())), "2012"),
    )


def trend(path: str, name: str, figure: str) -> Claim:
    """Claim that the two models' forces rise and fall together."""

    def least(run: PathRun) -> float:
        return float(min(np.corrcoef(run.pedrammehr[:, leg], run.dasgupta[:, leg])[0, 1] for leg in range(6)))

    return Claim(
        f"path-{path}-trends",
        f"Path {path}: both models show similar trends of change",
        f"§9, {figure}",
        Between(0.95, None),
        least(run_path(name, OWN)),
        measure="least correlation over time of the two models' forces, by pod",
        words="similar trends of change",
        thresholds=(0.8, 0.99),
        ranges=_over_inputs(name, least),
    )


def _significance(path: str, figure: str, name: str) -> Claim:
    own, other = run_path(name, OWN), run_path(name)
    apart, largest = force_error(own.dasgupta, own.pedrammehr)
    by_1998, largest_by_1998 = force_error(other.dasgupta, other.pedrammehr)
    return Claim(
        f"path-{path}-significant",
        f"Path {path}: the differences between the improved and the simplified forces are significant",
        f"§9, {figure}",
        Unquantified("significant"),
        apart,
        "%",
        measure=f"RMS difference of the forces relative to the improved ones, at most {largest:.1f} N, with the "
        f"paper's own L_uo; with that of 1998 {by_1998:.2f} % and {largest_by_1998:.1f} N",
        why="the paper gives no number that would be significant, and none for its differences",
    )


_ERRORS = ("RMS", "largest")


_REFERENCES = ("eq. 16 as printed", "eq. 16 mended")
"""The model of 1998 that 2012 compares with: by its §1 that model has no theorem of parallel axes, which is eq. 16."""


def _reference(run: PathRun) -> PathRun:
    """The run with eq. 16 of 1998 mended."""
    mended = papers.mended_1998(manipulator(OWN), run.motions, (papers.Mend1998.INERTIA,))
    return replace(run, dasgupta=np.asarray(mended))


def accuracy(path: str, name: str, figure: str) -> Claim:
    """Claim that 2012 is closer to the exact model than 1998, by any measure of the error and any input."""

    def ratios(run: PathRun) -> tuple[float, float]:
        ours, theirs = force_error(run.pedrammehr, run.exact), force_error(run.dasgupta, run.exact)
        return ours[0] / theirs[0], ours[1] / theirs[1]

    own = run_path(name, OWN)
    ours, theirs = force_error(own.pedrammehr, own.exact), force_error(own.dasgupta, own.exact)
    return Claim(
        f"path-{path}-accuracy",
        f"Path {path}: the improved formulation is more accurate than the previous one",
        f"abstract, §9, {figure}",
        Between(None, 1.0),
        ratios(own)[0],
        measure="error against the exact model over that of 1998: "
        f"{ours[0]:.2f} against {theirs[0]:.2f} % RMS, {ours[1]:.1f} against {theirs[1]:.1f} N at most",
        why=_TWICE if path == "3" else _STATIC,
        words="more accurate",
        ranges=(
            Range("error", _ERRORS, ratios(own), _ERRORS[0]),
            Range("1998", _REFERENCES, (ratios(own)[0], ratios(_reference(own))[0]), _REFERENCES[0]),
            *_over_inputs(name, lambda run: ratios(run)[0]),
        ),
    )


_READ = ("in base axes, as printed", "in the parts' own axes")


def parallel_axes() -> Claim:
    """Claim that the parallel-axis terms bring the forces closer to the exact ones."""

    def gain(run: PathRun, axes: Array, own_axes: bool = False) -> float:
        machine = machine_with(axes, OWN)
        without, terms = (
            force_error(papers.compact_forces(machine, run.motions, mends=mends, own_axes=own_axes), run.exact)[0]
            for mends in (tuple(papers.Mend), papers.EVERY_TERM)
        )
        return without - terms

    runs, axes = _with_axes("II"), fixed_axes()
    gains = {name: gain(run, axes[name]) for name, run in runs.items()}
    taken, slow = gains[PRINTED_AXES], run_path("I", OWN)
    read = (taken, gain(runs[PRINTED_AXES], axes[PRINTED_AXES], own_axes=True))
    return PRINTED.claim(
        "parallel-axes",
        taken,
        Range("components", _READ, read, _READ[0]),
        Range("axes u", tuple(gains), tuple(gains.values()), PRINTED_AXES),
        Range("path", ("2", "3"), (gain(slow, axes[PRINTED_AXES]), taken), "3"),
        why=f"{_TWICE}; without the terms the equations are exact",
    )


def _at_rest(run: PathRun) -> list[Claim]:
    at_rest = run.motions.copy()
    at_rest[:, 7:] = 0.0
    exact, dasgupta, pedrammehr = (
        papers.variant_forces(model, manipulator(OWN), at_rest)
        for model in ("exact", "dasgupta-1998", "pedrammehr-2012")
    )
    before, now = force_error(dasgupta, exact), force_error(pedrammehr, exact)
    return [
        PRINTED.claim(
            "reaction-direction",
            now[0],
            measure=(
                "RMS error of the 2012 forces against the exact ones, standing still in the poses of path 2; those "
                f"of 1998 {before[0]:.2f} %, at most {before[1]:.1f} N"
            ),
        ),
        PRINTED.claim(
            "reaction-share",
            before[0] / force_error(run.dasgupta, run.exact)[0],
            measure=f"RMS error at rest ({before[0]:.2f} %, at most {before[1]:.1f} N) over that in motion",
            why=_STATIC,
        ),
    ]


def _errors() -> list[Claim]:
    """Claims of the table of errors, which uses the 1998 L_uo."""
    found: list[Claim] = []
    for name, share, peak in (("I", 0.07, 1.2), ("II", 5.62, 118.5)):
        run, own = run_path(name), run_path(name, OWN)
        error, by_1998 = force_error(run.pedrammehr, run.exact), force_error(own.pedrammehr, own.exact)
        why = f"{_TWICE}. With this paper's own L_uo: {by_1998[0]:.2f} % and {by_1998[1]:.1f} N"
        subject = f"Path {name} of 1998: the 2012 model as printed"
        found += error_claims(f"path-{len(name)}", subject, error, share, peak, why)
    return found


AGREEMENT = 0.035
"""Tolerance for “agree” and “perpendicular”: a fraction of the largest size on the path."""
_AGREEMENTS = (0.01, 0.02, AGREEMENT, 0.05, 0.1, 0.2)
_NO_SPIN = 1e-12  # relative to the pod's angular velocity: rounding
_PODS = (1, 2, 3, 4, 5, 6)
_FOURTH = "pod 4's axis u of 1998 is along the motion, so that it turns about v alone and does not spin"


def claims() -> tuple[Claim, ...]:
    """Return all claims, in the paper's order."""
    return (
        *_first_path(),
        *spin_claims(),
        *equation_claims(),
        *force_claims(),
    )


def _first_path() -> list[Claim]:
    return [
        Claim(
            "path-1-speed",
            "Path 1: 0.5 m in 6 s at a greatest speed of 0.08 m/s",
            "appendix 2",
            Rounded(_PATH_1.speed, 0.01),
            _LEAST_SPEED,
            "m/s",
            measure="least speed that covers the way in the time, rounded as printed",
            apart="arithmetic on printed numbers: 0.5 m over 6 s",
        ),
        PRINTED.claim("path-1-constant", float(np.linalg.norm(path_one().motion([0.5 * _PATH_1.duration])[0, 7:10]))),
    ]


def _gaps(full: Array, simple: Array) -> Array:
    """Largest difference of the norms of vectors (n, 6, 3), by pod (6,), relative to the largest norm."""
    sizes = np.linalg.norm(full, axis=-1), np.linalg.norm(simple, axis=-1)
    gaps: Array = np.abs(sizes[0] - sizes[1]).max(axis=0) / _largest(full)
    return gaps


def _largest(vectors: Array) -> Array:
    """Largest norm of vectors (n, 6, 3), by pod (6,); 1 for a pod at rest."""
    sizes: Array = np.linalg.norm(vectors, axis=-1).max(axis=0)
    return np.where(sizes > 0.0, sizes, 1.0)


def _within(shares: Array, tolerance: float) -> tuple[int, ...]:
    return tuple(pod for pod in _PODS if shares[pod - 1] < tolerance)


def _percent(shares: Array) -> str:
    return ", ".join(f"{100 * share:.0f}" for share in shares)


def _axial_shares(vectors: Array, axial: Array) -> Array:
    """Largest component along the pod, axial (n, 6), over the largest norm of vectors (n, 6, 3), by pod (6,)."""
    shares: Array = np.abs(axial).max(axis=0) / _largest(vectors)
    return shares


def spin_claims() -> list[Claim]:
    """Claims on the pods' rotation on path 1, figures 5 and 6."""
    runs = {name: pods_of(path_one(), axes) for name, axes in fixed_axes().items()}
    run = runs[PRINTED_AXES]

    def claim(key: str, measured: Callable[[PodRun], Array]) -> Claim:
        shares = {name: measured(one) for name, one in runs.items()}
        taken = shares[PRINTED_AXES]
        tolerances = tuple(100.0 * tolerance for tolerance in _AGREEMENTS)
        over_axes = (
            Range(
                f"axes u, within {number(100.0 * tolerance, '%')}",
                tuple(shares),
                tuple(_within(found, tolerance) for found in shares.values()),
                PRINTED_AXES,
            )
            for tolerance in (AGREEMENT, 0.1, 0.2)
        )
        return PRINTED.claim(
            key,
            _within(taken, AGREEMENT),
            Range("tolerance", tolerances, tuple(_within(taken, t) for t in _AGREEMENTS), 100.0 * AGREEMENT, "%"),
            *over_axes,
            why=f"by pod up to {_percent(taken)} %, and with u along b {_percent(shares['along b'])} %",
        )

    not_spinning = _within(_axial_shares(run.velocity, run.axial), _NO_SPIN)
    gap = max(
        np.abs(values[:, [pod - 1 for pod in not_spinning]]).max(initial=0.0)
        for values in (run.velocity - run.velocity_simple, run.acceleration - run.acceleration_simple)
    )
    across = run.acceleration - run.axial_acceleration[..., None] * run.direction
    by_1998 = np.linalg.norm(across - run.acceleration_simple, axis=-1).max()
    return [
        claim("path-1-velocities", lambda one: _gaps(one.velocity, one.velocity_simple)),
        claim("path-1-accelerations", lambda one: _gaps(one.acceleration, one.acceleration_simple)),
        claim("path-1-perpendicular", lambda one: _axial_shares(one.velocity, one.axial)),
        claim(
            "path-1-perpendicular-accelerations",
            lambda one: _axial_shares(one.acceleration, one.axial_acceleration),
        ),
        PRINTED.claim("path-1-spin", not_spinning, why=_FOURTH),
        PRINTED.claim("no-spin-identical", float(gap)),
        PRINTED.claim("tangential-only", float(by_1998)),
    ]


_OWN_JOINTS = "the paper's own L_uo (z = −0.08 m)"
_OTHER_JOINTS = "the L_uo of 1998 (z = +0.08 m)"


def study(report: Report) -> Study:
    """Reproduce the study."""
    report("pedrammehr-2012: paths 1 to 3", 0.0)
    path_two = PLANS["I"].trajectory()
    first, second = pods_of(path_one()), pods_of(path_two)
    found = claims()
    report("pedrammehr-2012: figures", 0.2)
    return Study(
        "pedrammehr-2012",
        PRINTED.title,
        PRINTED.citation,
        PRINTED.summary,
        found,
        (
            _rotation("Figure 5", first, "Path 1", path_one(), acceleration=False),
            _rotation("Figure 6", first, "Path 1", path_one(), acceleration=True),
            _rotation("Figure 7", second, "Path 2", path_two, acceleration=False),
            _rotation("Figure 8", second, "Path 2", path_two, acceleration=True),
            _forces("Figure 9", "I", "Path 2 (6 s)", "pedrammehr-2012", _OWN_JOINTS),
            _forces("Figure 9, 1998", "I", "Path 2 (6 s)", "dasgupta-1998", _OTHER_JOINTS),
            _forces("Figure 10", "II", "Path 3 (0.6 s)", "pedrammehr-2012", _OWN_JOINTS),
            _forces("Figure 10, 1998", "II", "Path 3 (0.6 s)", "dasgupta-1998", _OTHER_JOINTS),
        ),
        (errata_sheet(),),
        PRINTED.errata,
        PRINTED.open,
    )


def _rotation(title: str, run: PodRun, path: str, trajectory: Blend, *, acceleration: bool) -> Picture:
    what, unit = ("angular acceleration", "rad/s²") if acceleration else ("angular velocity", "rad/s")
    drawn = turning_pods(*drawn_motions(trajectory))
    full, simple = (_with_size(values) for values in _rates(drawn, acceleration=acceleration))
    curves = (
        Curve("without simplification", full, width=1.6),
        Curve("simplified, no spin", simple, INK, "--", 0.9),
        Curve("difference", full - simple, GREY, ":", 1.4),
    )
    columns = [f"{name}{axis}{pod}" for name in ("full_", "simple_") for pod in range(1, 7) for axis in "xyz"]
    table = np.hstack([values.reshape(len(values), -1) for values in _rates(run, acceleration=acceleration)])
    return Picture(
        f"{title}: {path}, {what}",
        f"{path}: the pods' {what} with and without the spin, its components in base axes and its size, and their "
        "differences. The differences of the sizes are what the paper's words on its figure agree with.",
        components(drawn.times, curves, ("x", "y", "z", "size"), unit),
        series(title.lower().replace("ure ", "-"), "t", run.times, columns, table),
    )


def _rates(run: PodRun, *, acceleration: bool) -> tuple[Array, Array]:
    """Rates with and without spin, (n, 6, 3)."""
    return (run.acceleration, run.acceleration_simple) if acceleration else (run.velocity, run.velocity_simple)


def _with_size(vectors: Array) -> Array:
    """Components and norm (n, 6, 4)."""
    return np.concatenate([vectors, np.linalg.norm(vectors, axis=-1, keepdims=True)], axis=-1)


def _forces(title: str, name: str, path: str, machine: str, whose: str) -> Picture:
    run, drawn = run_path(name, machine), traced_path(name, machine)
    curves = (
        Curve("exact", drawn.exact, width=1.6),
        Curve("2012 as printed", drawn.pedrammehr, INK, "--", 0.9),
        Curve("1998 as printed", drawn.dasgupta, GREY, "-", 0.9),
        Curve("2012 − 1998", drawn.pedrammehr - drawn.dasgupta, GREY, ":", 1.4),
    )
    caption = (
        f"{path}, with {whose}: actuator forces by the improved and the simplified formulation, their difference, and "
        "exactly."
    )
    return Picture(
        f"{title}: {path}, pod forces",
        caption,
        six_panels(drawn.times, curves, "force, N", panel="Pod"),
        run.numbers(title.lower().replace("ure ", "-").replace(", ", "-").replace(" ", "-")),
    )
