"""Claims of Pedrammehr et al. (2012), and what a reproduction of its paths must show."""

from time import perf_counter

import numpy as np

from dynamics import variant_forces
from kinematics import Array
from rig.papers.claims import Between, Claim, Legs, Near, Origin, Rounded
from rig.papers.error_table import error_claims
from rig.papers.paths import PLANS, PathRun, force_error, manipulator, run_path
from rig.papers.pods import (
    DURATION,
    END,
    PRINTED_SPEED,
    START,
    PodRun,
    own_mechanism_forces,
    path_one,
    pods_of,
    printed_path_refusal,
)

_NO_SPIN = 1e-12  # of the pod's angular velocity: rounding
_PODS = (1, 2, 3, 4, 5, 6)
_FOURTH = "pod 4's fixed axis u is along the motion, so that it turns about v alone and does not spin"
_TWICE = (
    "eqs. 32, 33 and 50 count inertia twice beside eqs. 31 and 49. At low speed this hardly shows, ten times as fast "
    "it is as large as all the errors of 1998 together"
)

_STATIC = (
    "slowly, what counts is not the spin but how the universal joint bears the weight of a leg that is not balanced: "
    "with a moment along u×v, which 2012 has right"
)


def claims() -> tuple[Claim, ...]:
    """All of them, in the paper's order."""
    first, second = pods_of(path_one()), pods_of(PLANS["I"].trajectory())
    slow, fast = run_path("I"), run_path("II")
    return (
        *_first_path(),
        *_spin(first, second),
        *_forces(slow, fast),
        *_at_rest(slow),
        *_errors(slow, fast),
        _elapsed(),
    )


def _first_path() -> list[Claim]:
    least = (END[0] - START[0]) / DURATION
    return [
        Claim(
            "path-1-speed",
            "Path 1: 0.5 m in 6 s at a greatest speed of 0.08 m/s",
            "appendix 2",
            Near(PRINTED_SPEED, 0.01),
            least,
            "m/s",
            measure="least speed that covers the way in the time",
            why="not possible: " + printed_path_refusal(),
        ),
        Claim(
            "path-1-constant",
            "Path 1 at constant speed, as the text has it, takes 0.0833 m/s",
            "§9",
            Rounded(0.0833, 1e-4),
            float(np.linalg.norm(path_one().motion([0.5 * DURATION])[0, 7:10])),
            "m/s",
            origin=Origin.REPRODUCTION,
        ),
    ]


def _near(full: Array, simple: Array, share: float) -> tuple[int, ...]:
    """Pods whose sizes of a vector (n, 6, 3) differ by less than a share of the largest, throughout."""
    sizes = np.linalg.norm(full, axis=-1), np.linalg.norm(simple, axis=-1)
    gap = np.abs(sizes[0] - sizes[1]).max(axis=0) / sizes[0].max(axis=0)
    return tuple(pod for pod in _PODS if gap[pod - 1] < share)


def _spinless(run: PodRun) -> tuple[int, ...]:
    share = np.abs(run.axial).max(axis=0) / np.linalg.norm(run.velocity, axis=-1).max(axis=0)
    return tuple(pod for pod in _PODS if share[pod - 1] < _NO_SPIN)


def _spin(first: PodRun, second: PodRun) -> list[Claim]:
    still = _spinless(first)
    spin = np.abs(first.axial).max(axis=0)
    gap = max(
        np.abs(values[:, [pod - 1 for pod in still]]).max(initial=0.0)
        for values in (first.velocity - first.velocity_simple, first.acceleration - first.acceleration_simple)
    )
    others = ", ".join(f"{spin[pod - 1]:.3f}" for pod in _PODS if pod not in still)
    across = first.acceleration - first.axial_acceleration[..., None] * first.direction
    beside = np.linalg.norm(across - first.acceleration_simple, axis=-1).max()
    return [
        Claim(
            "path-1-velocities",
            "Path 1: angular velocities with and without spin agree to a great extent in pods 1, 2 and 6",
            "§9, fig. 5",
            Legs((1, 2, 6)),
            _near(first.velocity, first.velocity_simple, 0.02),
            measure="pods whose angular velocity differs by less than 2 % in size",
            why=f"1, 2 and 6 come near; pod 4, which the text leaves out, agrees altogether: {_FOURTH}",
        ),
        Claim(
            "path-1-accelerations",
            "Path 1: angular accelerations with and without spin agree to a great extent in pod 3",
            "§9, fig. 6",
            Legs((3,)),
            _near(first.acceleration, first.acceleration_simple, 0.05),
            measure="pods whose angular acceleration differs by less than 5 % in size",
            why="as before, and pod 4 agrees altogether",
        ),
        Claim(
            "path-1-perpendicular",
            "“Therefore” the angular velocities of pods 1, 2 and 6 are perpendicular to the pods",
            "§9",
            Legs((1, 2, 6)),
            still,
            measure="pods without any spin",
            why=f"{_FOURTH}. All the others spin, at up to {others} rad/s; a spin adds with its square, so "
            "that it hardly shows in the size",
        ),
        Claim(
            "path-1-spin",
            "Path 1: leg 4 has no axial spin at all, the others have",
            "fig. 5",
            Legs((4,)),
            still,
            measure="pods without any spin",
            origin=Origin.REPRODUCTION,
        ),
        Claim(
            "no-spin-identical",
            "Both models give identical angular velocities and accelerations where a pod does not spin",
            "§9",
            Between(None, 1e-12),
            float(gap),
            "rad/s",
            measure="largest difference in the pods without spin, path 1, rad/s and rad/s²",
        ),
        Claim(
            "tangential-only",
            "The differences are the components along the pod that the simplified model leaves out",
            "§9",
            Between(None, 1e-9),
            float(beside),
            "rad/s²",
            measure="largest difference of the angular accelerations across the pod, path 1",
            why="true of the velocities. For a pod that spins, eq. 9 of 1998 has the rest wrong too, by (W·s) s×W: "
            "it takes W×(W×S) without the spin",
        ),
        Claim(
            "path-2-spin",
            "Path 2: the pods spin (the difference in figures 7 and 8)",
            "§9, figs. 7, 8",
            Legs(_PODS),
            tuple(pod for pod in _PODS if pod not in _spinless(second)),
            measure="pods that spin",
        ),
    ]


def _forces(slow: PathRun, fast: PathRun) -> list[Claim]:
    found = []
    for path, run, figure in (("2", slow, "fig. 9"), ("3", fast, "fig. 10")):
        columns = range(6)
        trend = min(np.corrcoef(run.pedrammehr[:, leg], run.dasgupta[:, leg])[0, 1] for leg in columns)
        apart, largest = force_error(run.dasgupta, run.pedrammehr)
        ours, theirs = force_error(run.pedrammehr, run.exact), force_error(run.dasgupta, run.exact)
        found += [
            Claim(
                f"path-{path}-trends",
                f"Path {path}: both models show similar trends of change",
                f"§9, {figure}",
                Between(0.99, None),
                float(trend),
                measure="least correlation over time of the two models' forces, by pod",
            ),
            Claim(
                f"path-{path}-significant",
                f"Path {path}: the differences between the improved and the simplified forces are significant",
                f"§9, {figure}",
                Between(5.0, None),
                apart,
                "%",
                measure=f"RMS difference of the forces relative to the improved ones; at most {largest:.1f} N",
                why="5 % is taken as significant; the paper gives no number",
            ),
            Claim(
                f"path-{path}-accuracy",
                f"Path {path}: the improved formulation is more accurate than the previous one",
                f"abstract, {figure}",
                Between(None, 0.9),
                ours[0] / theirs[0],
                measure=f"RMS error against the exact model over that of 1998 ({ours[0]:.2f} % over {theirs[0]:.2f} %; "
                f"largest {ours[1]:.1f} N and {theirs[1]:.1f} N)",
                why="at least a tenth less is asked for. " + (_TWICE if path == "3" else _STATIC),
            ),
        ]
    return found


def _at_rest(run: PathRun) -> list[Claim]:
    still = run.motions.copy()
    still[:, 7:] = 0.0
    exact, dasgupta, pedrammehr = (
        variant_forces(model, manipulator(), still) for model in ("exact", "dasgupta-1998", "pedrammehr-2012")
    )
    before, now = force_error(dasgupta, exact), force_error(pedrammehr, exact)
    return [
        Claim(
            "reaction-direction",
            "The reaction moment of the universal joint along u×v is justifiable (eq. 34), that along the pod is not",
            "§7",
            Between(None, 1e-9),
            now[0],
            "%",
            measure="RMS error of the 2012 forces against the exact ones, standing still in the poses of path 2",
            why="at rest its equations are exact",
        ),
        Claim(
            "reaction-share",
            "… and makes the difference to 1998 on path 2: share of that model's error that it has standing still",
            "§7, fig. 9",
            Near(1.0, 0.1),
            before[0] / force_error(run.dasgupta, run.exact)[0],
            measure=f"RMS error at rest ({before[0]:.2f} %, at most {before[1]:.1f} N) over that in motion",
            why=_STATIC,
            origin=Origin.REPRODUCTION,
        ),
    ]


def _errors(slow: PathRun, fast: PathRun) -> list[Claim]:
    found: list[Claim] = []
    for run, share, peak in ((slow, 0.07, 1.2), (fast, 5.62, 118.5)):
        error = force_error(run.pedrammehr, run.exact)
        exact, _, pedrammehr = own_mechanism_forces(run.name)
        own = force_error(pedrammehr, exact)
        why = f"{_TWICE}. With this paper's own L_uo: {own[0]:.2f} % and {own[1]:.1f} N"
        subject = f"Path {run.name} of 1998: the 2012 model as printed"
        found += error_claims(f"path-{len(run.name)}", subject, error, share, peak, why)
    return found


def _elapsed() -> Claim:
    machine = manipulator()
    motions = [path_one().motion(run_path("I").times), run_path("I").motions, run_path("II").motions]
    begin = perf_counter()
    for samples in motions:
        variant_forces("pedrammehr-2012", machine, samples)
    return Claim(
        "elapsed",
        "The three paths take 1.58 s of computation (MATLAB, Core 2 Duo at 2.5 GHz)",
        "§9",
        Between(None, 1.58),
        round(perf_counter() - begin, 4),
        "s",
        measure="the same equations, 61 samples a path, on this machine",
        why="another machine and another language: an upper bound, not a comparison",
    )
