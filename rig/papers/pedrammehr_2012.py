"""Pedrammehr, Mahboubkhah & Khani (2012): rotation of the pods, compact equations, forces, figures 5 to 10, claims.

Forces are computed with the paper's own L_uo, and with that of 1998.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from dynamics import papers
from kinematics import Array, Blend, LegMotion, TrajectoryError, leg_kinematics
from rig.papers.claims import Between, Claim, Criterion, Legs, Near, Threshold, Unquantified, number
from rig.papers.drawing import GREY, INK, Curve, components, series, six_panels
from rig.papers.paths import (
    PLANS,
    SAMPLES,
    PathRun,
    drawn_motions,
    error_claims,
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


def printed_path_refusal() -> str:
    """Return why path 1 is impossible at its printed speed; empty if possible."""
    try:
        _PATH_1.trajectory()
    except TrajectoryError as error:
        return str(error)
    return ""


def pods_of(trajectory: Blend) -> PodRun:
    """Compute the pods' rotation along a path of the 1998 manipulator, at 61 samples."""
    times = np.linspace(0.0, trajectory.duration, SAMPLES)
    return turning_pods(times, trajectory.motion(times))


def turning_pods(times: Array, motions: Array) -> PodRun:
    """Compute the pods' rotation in motions (n, 19) of the 1998 manipulator at times (n,)."""
    legs = leg_kinematics(manipulator().geometry, motions)
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


_ROUNDING = 1e-9


def equation_claims() -> list[Claim]:
    """Claims that eqs. 25, 42 and 43 follow from their derivation."""
    printed, mended = _spin_error(False), _spin_error(True)
    return [
        Claim(
            "tangential-acceleration",
            "Eq. 25 gives the pods' angular acceleration along themselves, α_l·n of eq. 18",
            "§5, eq. 25",
            Between(None, _ROUNDING),
            printed,
            "%",
            measure="RMS difference on path 3, relative to α_l·n",
            why=f"the last term is −ω_u ω_v/√(1−(u·n)²); with it the difference is {number(mended, '%')}",
            threshold=Threshold.OURS,
        ),
        Claim(
            "compact-form",
            "Eqs. 42 and 43 are eq. 40, written compactly",
            "§7, eqs. 40–43",
            Between(None, _ROUNDING),
            _difference("II", ())[0],
            "%",
            measure="RMS difference of the actuator forces on path 3, the paper's own inertias in both",
            why=f"terms of eqs. 36 and 39 are lost on the way: at most {_difference('II', ())[1]:.1f} N; with them the "
            f"difference is {number(_difference('II', papers.EVERY_TERM)[0], '%')}",
            threshold=Threshold.OURS,
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
    "eqs. 32, 33 and 50 count inertia twice beside eqs. 31 and 49. At low speed this hardly shows, ten times as fast "
    "it is as large as all the errors of 1998 together"
)
_STATIC = (
    "slowly, what counts is not the spin but how the universal joint bears the weight of a leg that is not balanced: "
    "with a moment along u×v, which 2012 has right"
)
_PATHS = (("2", "I", "fig. 9"), ("3", "II", "fig. 10"))


def force_claims() -> list[Claim]:
    """Return all claims on forces."""
    found = []
    for path, name, figure in _PATHS:
        own, other = run_path(name, OWN), run_path(name)
        found += [trend(path, figure, own), _significance(path, figure, own, other), accuracy(path, figure, own, other)]
    return [*found, parallel_axes(), *_at_rest(run_path("I", OWN)), *_errors()]


def trend(path: str, figure: str, run: PathRun) -> Claim:
    """Claim that the two models' forces rise and fall together."""
    least = min(np.corrcoef(run.pedrammehr[:, leg], run.dasgupta[:, leg])[0, 1] for leg in range(6))
    return Claim(
        f"path-{path}-trends",
        f"Path {path}: both models show similar trends of change",
        f"§9, {figure}",
        Between(0.99, None),
        float(least),
        measure="least correlation over time of the two models' forces, by pod",
        threshold=Threshold.OURS,
    )


def _significance(path: str, figure: str, own: PathRun, other: PathRun) -> Claim:
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


def accuracy(path: str, figure: str, own: PathRun, other: PathRun) -> Claim:
    """Claim that 2012 is closer to the exact model than 1998: by both measures, by neither, or undecidable."""
    ours, theirs = force_error(own.pedrammehr, own.exact), force_error(own.dasgupta, own.exact)
    by_1998 = force_error(other.pedrammehr, other.exact), force_error(other.dasgupta, other.exact)
    by_rms, by_peak = ours[0] < theirs[0], ours[1] < theirs[1]
    criterion: Criterion = Between(None, 1.0) if by_rms == by_peak else Unquantified("more accurate")
    split = (
        "by the RMS error it is, by the largest error it is not, and the paper says of neither that it is meant. "
        if by_rms != by_peak
        else ""
    )
    return Claim(
        f"path-{path}-accuracy",
        f"Path {path}: the improved formulation is more accurate than the previous one",
        f"abstract, §9, {figure}",
        criterion,
        ours[0] / theirs[0],
        measure="RMS error against the exact model over that of 1998, with the paper's own L_uo: "
        f"{_against(ours, theirs)}; with that of 1998: {_against(*by_1998)}",
        why=split + (_TWICE if path == "3" else _STATIC),
    )


def _against(ours: tuple[float, float], theirs: tuple[float, float]) -> str:
    return f"{ours[0]:.2f} against {theirs[0]:.2f} % RMS, {ours[1]:.1f} against {theirs[1]:.1f} N at most"


def parallel_axes() -> Claim:
    """Claim that the parallel-axis terms bring the forces closer to the exact ones."""
    run, machine = run_path("II", OWN), manipulator(OWN)
    printed, without = (
        force_error(papers.compact_forces(machine, run.motions, mends=mends), run.exact)
        for mends in (papers.EVERY_TERM, tuple(papers.Mend))
    )
    return PRINTED.claim(
        "parallel-axes",
        without[0] - printed[0],
        measure=(
            "RMS error of path 3 without the terms less that with them, all other equations the same "
            f"({number(without[0])} and {printed[0]:.2f} %; largest {number(without[1])} and {printed[1]:.1f} N)"
        ),
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


AGREEMENT = 0.05
"""Common tolerance for “agree” and “perpendicular”: a fraction of the largest size on the path."""
_NO_SPIN = 1e-12  # relative to the pod's angular velocity: rounding
_PODS = (1, 2, 3, 4, 5, 6)
_FOURTH = "pod 4's fixed axis u is along the motion, so that it turns about v alone and does not spin"


def claims() -> tuple[Claim, ...]:
    """Return all claims, in the paper's order."""
    return (
        *_first_path(),
        *spin_claims(pods_of(path_one())),
        *equation_claims(),
        *force_claims(),
        _elapsed(),
    )


def _first_path() -> list[Claim]:
    return [
        Claim(
            "path-1-speed",
            "Path 1: 0.5 m in 6 s at a greatest speed of 0.08 m/s",
            "appendix 2",
            Near(_PATH_1.speed, 0.01),
            _LEAST_SPEED,
            "m/s",
            measure="least speed that covers the way in the time",
            why="not possible: " + printed_path_refusal(),
            apart="arithmetic on printed numbers: 0.5 m over 6 s",
        ),
        PRINTED.claim("path-1-constant", float(np.linalg.norm(path_one().motion([0.5 * _PATH_1.duration])[0, 7:10]))),
    ]


def _gaps(full: Array, simple: Array) -> Array:
    """Largest difference of the norms of vectors (n, 6, 3), by pod (6,), relative to the largest norm."""
    sizes = np.linalg.norm(full, axis=-1), np.linalg.norm(simple, axis=-1)
    gaps: Array = np.abs(sizes[0] - sizes[1]).max(axis=0) / sizes[0].max(axis=0)
    return gaps


def _agreeing(gaps: Array) -> tuple[int, ...]:
    return tuple(pod for pod in _PODS if gaps[pod - 1] < AGREEMENT)


def _reading(gaps: Array) -> str:
    """Format the tolerance and the range in which it could lie; gaps (…) of both figures."""
    low, high = gaps[gaps < AGREEMENT].max(initial=0.0), gaps[gaps >= AGREEMENT].min(initial=1.0)
    return (
        f"“To a great extent” is read as within {100 * AGREEMENT:g} % of the largest size on the path; every tolerance "
        f"from {100 * low:.1f} to {100 * high:.1f} % gives the same pods in figures 5 and 6, and pod 4 with any. The "
        "paper does not print the axes u: they are those of 1998, whose manipulator it says it is"
    )


def _as_vectors(full: Array, simple: Array) -> str:
    """Format the largest differences of vectors (n, 6, 3), by pod, relative to the largest norm."""
    apart = np.linalg.norm(full - simple, axis=-1).max(axis=0) / np.linalg.norm(full, axis=-1).max(axis=0)
    percent = ", ".join(f"{100 * share:.0f}" for share in apart)
    agreeing = number(_agreeing(apart))
    return f"Sizes are compared: as vectors they are up to {percent} % apart by pod, and agree in {agreeing}"


def _axial_shares(vectors: Array, axial: Array) -> Array:
    """Largest component along the pod, axial (n, 6), over the largest norm of vectors (n, 6, 3), by pod (6,)."""
    shares: Array = np.abs(axial).max(axis=0) / np.linalg.norm(vectors, axis=-1).max(axis=0)
    return shares


def spin_claims(run: PodRun) -> list[Claim]:
    """Claims on the pods' rotation on path 1, figures 5 and 6."""
    shares = _axial_shares(run.velocity, run.axial)
    not_spinning = tuple(pod for pod in _PODS if shares[pod - 1] < _NO_SPIN)
    gaps = _gaps(run.velocity, run.velocity_simple), _gaps(run.acceleration, run.acceleration_simple)
    gap = max(
        np.abs(values[:, [pod - 1 for pod in not_spinning]]).max(initial=0.0)
        for values in (run.velocity - run.velocity_simple, run.acceleration - run.acceleration_simple)
    )
    across = run.acceleration - run.axial_acceleration[..., None] * run.direction
    by_1998 = np.linalg.norm(across - run.acceleration_simple, axis=-1).max()
    return [
        PRINTED.claim(
            "path-1-velocities",
            _agreeing(gaps[0]),
            measure=f"pods whose angular velocity differs by less than {100 * AGREEMENT:g} % in size",
            why=(
                f"1, 2 and 6 do; pod 4, which the text counts among the others, agrees altogether: {_FOURTH}. "
                f"{_as_vectors(run.velocity, run.velocity_simple)}. {_reading(np.concatenate(gaps))}"
            ),
        ),
        PRINTED.claim(
            "path-1-accelerations",
            _agreeing(gaps[1]),
            measure=f"pods whose angular acceleration differs by less than {100 * AGREEMENT:g} % in size",
            why=(
                "pod 3 does, and pod 4 agrees altogether, as before. "
                f"{_as_vectors(run.acceleration, run.acceleration_simple)}"
            ),
        ),
        _perpendicular("path-1-perpendicular", "velocities", (1, 2, 6), shares),
        _perpendicular(
            "path-1-perpendicular-accelerations",
            "accelerations",
            (3,),
            _axial_shares(run.acceleration, run.axial_acceleration),
        ),
        PRINTED.claim("path-1-spin", not_spinning),
        PRINTED.claim("no-spin-identical", float(gap)),
        PRINTED.claim("tangential-only", float(by_1998)),
    ]


def _perpendicular(key: str, which: str, pods: tuple[int, ...], shares: Array) -> Claim:
    """Claim that a pod's rotation, with fractions (6,) along the pods, is transverse where the norms agree."""
    percent = ", ".join(f"{100 * share:.0f}" for share in shares)
    named = " and ".join(filter(None, (", ".join(map(str, pods[:-1])), str(pods[-1]))))
    return Claim(
        key,
        f"“Therefore” the angular {which} of pod{'s' if pods[1:] else ''} {named} are perpendicular to "
        f"the pod{'s' if pods[1:] else ''}",
        "§9",
        Legs(pods),
        tuple(pod for pod in _PODS if shares[pod - 1] < AGREEMENT),
        measure=f"pods whose angular {which} have less than {100 * AGREEMENT:g} % of their size along the pod",
        why=f"{_FOURTH}. By pod up to {percent} % lie along it; a part along the pod adds with its square: 20 % make "
        "the size 2 % larger",
        threshold=Threshold.OURS,
    )


def _elapsed() -> Claim:
    machine = manipulator("pedrammehr-2012")
    motions = [path_one().motion(run_path("I").times), run_path("I").motions, run_path("II").motions]
    begin = perf_counter()
    for samples in motions:
        papers.variant_forces("pedrammehr-2012", machine, samples)
    return PRINTED.claim("elapsed", round(perf_counter() - begin, 4))


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
