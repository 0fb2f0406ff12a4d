"""Claims of Pedrammehr et al. (2012): path 1, how the pods turn, the time it takes; the forces' are elsewhere."""

from time import perf_counter

import numpy as np

from dynamics import variant_forces
from kinematics import Array
from rig.papers.claims import Between, Claim, Legs, Near, Origin, Rounded, Threshold, Unquantified, number
from rig.papers.paths import manipulator, run_path
from rig.papers.pedrammehr_equations import equation_claims
from rig.papers.pedrammehr_forces import force_claims
from rig.papers.pods import (
    DURATION,
    END,
    PRINTED_SPEED,
    START,
    PodRun,
    path_one,
    pods_of,
    printed_path_refusal,
)

AGREEMENT = 0.05
"""The one tolerance for “agree” and for “perpendicular”: a share of the largest size on the path."""
_NO_SPIN = 1e-12  # of the pod's angular velocity: rounding
_PODS = (1, 2, 3, 4, 5, 6)
_FOURTH = "pod 4's fixed axis u is along the motion, so that it turns about v alone and does not spin"


def claims() -> tuple[Claim, ...]:
    """All of them, in the paper's order."""
    return (
        *_first_path(),
        *spin_claims(pods_of(path_one())),
        *equation_claims(),
        *force_claims(),
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
            apart="arithmetic on printed numbers: 0.5 m over 6 s",
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


def _gaps(full: Array, simple: Array) -> Array:
    """Largest difference of the sizes of vectors (n, 6, 3), by pod (6,), over the largest size."""
    sizes = np.linalg.norm(full, axis=-1), np.linalg.norm(simple, axis=-1)
    gaps: Array = np.abs(sizes[0] - sizes[1]).max(axis=0) / sizes[0].max(axis=0)
    return gaps


def _agreeing(gaps: Array) -> tuple[int, ...]:
    return tuple(pod for pod in _PODS if gaps[pod - 1] < AGREEMENT)


def _reading(gaps: Array) -> str:
    """What the tolerance is, and how far it could be another; gaps (…) of both figures."""
    low, high = gaps[gaps < AGREEMENT].max(initial=0.0), gaps[gaps >= AGREEMENT].min(initial=1.0)
    return (
        f"“To a great extent” is read as within {100 * AGREEMENT:g} % of the largest size on the path; every tolerance "
        f"from {100 * low:.1f} to {100 * high:.1f} % gives the same pods in figures 5 and 6, and pod 4 with any. The "
        "paper does not print the axes u: they are those of 1998, whose manipulator it says it is"
    )


def _as_vectors(full: Array, simple: Array) -> str:
    """How far vectors (n, 6, 3) are apart themselves, by pod, over the largest size."""
    apart = np.linalg.norm(full - simple, axis=-1).max(axis=0) / np.linalg.norm(full, axis=-1).max(axis=0)
    percent = ", ".join(f"{100 * share:.0f}" for share in apart)
    agreeing = number(_agreeing(apart))
    return f"Sizes are compared: as vectors they are up to {percent} % apart by pod, and agree in {agreeing}"


def _axial_shares(vectors: Array, axial: Array) -> Array:
    """Largest component along the pod, axial (n, 6), over the largest size of vectors (n, 6, 3), by pod (6,)."""
    shares: Array = np.abs(axial).max(axis=0) / np.linalg.norm(vectors, axis=-1).max(axis=0)
    return shares


def spin_claims(run: PodRun) -> list[Claim]:
    """What the paper says about its figures 5 and 6, of the pods on path 1."""
    shares = _axial_shares(run.velocity, run.axial)
    still = tuple(pod for pod in _PODS if shares[pod - 1] < _NO_SPIN)
    gaps = _gaps(run.velocity, run.velocity_simple), _gaps(run.acceleration, run.acceleration_simple)
    gap = max(
        np.abs(values[:, [pod - 1 for pod in still]]).max(initial=0.0)
        for values in (run.velocity - run.velocity_simple, run.acceleration - run.acceleration_simple)
    )
    across = run.acceleration - run.axial_acceleration[..., None] * run.direction
    beside = np.linalg.norm(across - run.acceleration_simple, axis=-1).max()
    return [
        Claim(
            "path-1-velocities",
            "Path 1: angular velocities with and without spin agree to a great extent in pods 1, 2 and 6",
            "§9, fig. 5",
            Legs((1, 2, 6)),
            _agreeing(gaps[0]),
            measure=f"pods whose angular velocity differs by less than {100 * AGREEMENT:g} % in size",
            why=f"1, 2 and 6 do; pod 4, which the text counts among the others, agrees altogether: {_FOURTH}. "
            f"{_as_vectors(run.velocity, run.velocity_simple)}. {_reading(np.concatenate(gaps))}",
            threshold=Threshold.OURS,
        ),
        Claim(
            "path-1-accelerations",
            "Path 1: angular accelerations with and without spin agree to a great extent in pod 3",
            "§9, fig. 6",
            Legs((3,)),
            _agreeing(gaps[1]),
            measure=f"pods whose angular acceleration differs by less than {100 * AGREEMENT:g} % in size",
            why="pod 3 does, and pod 4 agrees altogether, as before. "
            f"{_as_vectors(run.acceleration, run.acceleration_simple)}",
            threshold=Threshold.OURS,
        ),
        _perpendicular("path-1-perpendicular", "velocities", (1, 2, 6), shares),
        _perpendicular(
            "path-1-perpendicular-accelerations",
            "accelerations",
            (3,),
            _axial_shares(run.acceleration, run.axial_acceleration),
        ),
        Claim(
            "path-1-spin",
            "Path 1: leg 4 has no axial spin at all, the others have",
            "fig. 5",
            Legs((4,)),
            still,
            measure="pods without any spin, to rounding",
            origin=Origin.REPRODUCTION,
        ),
        Claim(
            "no-spin-identical",
            "Both models give identical angular velocities and accelerations where a pod does not spin",
            "§9, figs. 5–8",
            Between(None, 1e-12),
            float(gap),
            "rad/s",
            measure="largest difference in the pods without spin, path 1, rad/s and rad/s²",
            threshold=Threshold.OURS,
            apart="by construction: without ω·n eqs. 12 and 16 are one",
        ),
        Claim(
            "tangential-only",
            "The differences are the components along the pod that the simplified model leaves out",
            "§9, fig. 6",
            Unquantified(
                "the differences in other pods present the contribution of the tangential components",
                "no equation given for the simplified acceleration",
            ),
            float(beside),
            "rad/s²",
            measure="largest difference of the angular accelerations across the pod, path 1, by eq. 9 of 1998",
            why="true of the velocities. By eqs. 22 and 23 of 2012, with the spin in α_n, it is true by definition. "
            "Eq. 9 of 1998 has the rest wrong too for a pod that spins, by (W·s) s×W: its W×(W×S) is without the spin",
        ),
    ]


def _perpendicular(key: str, which: str, pods: tuple[int, ...], shares: Array) -> Claim:
    """That a pod's rotation, whose shares (6,) along the pods are given, is across it where the sizes agree."""
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
        variant_forces("pedrammehr-2012", machine, samples)
    return Claim(
        "elapsed",
        "The three paths take 1.58 s of computation (MATLAB, Core 2 Duo at 2.5 GHz)",
        "§9",
        Between(None, 1.58),
        round(perf_counter() - begin, 4),
        "s",
        measure="the same equations, 61 samples a path, on this machine",
        apart="another machine and another language, a number of samples that is not printed",
    )
