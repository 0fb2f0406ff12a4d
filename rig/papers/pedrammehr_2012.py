"""Pedrammehr, Mahboubkhah & Khani (2012): figures 5 to 10, the spin of the legs, the claims."""

import numpy as np

from rig.papers.drawing import GREY, INK, Curve, series, six_panels
from rig.papers.paths import PLANS, PathRun, run_path
from rig.papers.pedrammehr_claims import claims
from rig.papers.pods import PodRun, path_one, pods_of
from rig.papers.study import Picture, Report, Study

_ERRATA = (
    "Path 1: 0.5 m in 6 s at a greatest speed of 0.08 m/s is not possible; at constant speed, as the text says, it is "
    "0.0833 m/s.",
    "Eqs. 32, 33 and 50 add parallel-axis terms to tensors that eqs. 31 and 49 use beside m r×a: inertia is counted "
    "twice, as in 1998, and the terms are taken in base axes and then rotated from local ones.",
    "Eq. 21 lacks c in its second term, ω_u ω_v c×l n; eq. 25's last term should be −ω_u ω_v/√(1−(u·n)²). "
    "Eqs. 42 and 43 carry 3 along; the last bracket of eq. 42 repeats n uᵀ. Here eq. 21 is mended.",
    "The z of L_uo is −0.08 m, in the paper of 1998, whose manipulator it is, +0.08 m. The comparisons here use the "
    "1998 value for all models.",
    "The tensors are those of 1998, which no body has.",
)


def study(report: Report) -> Study:
    """The whole of it."""
    report("pedrammehr-2012: paths 1 to 3", 0.0)
    first, second = pods_of(path_one()), pods_of(PLANS["I"].trajectory())
    found = claims()
    report("pedrammehr-2012: figures", 0.2)
    return Study(
        "pedrammehr-2012",
        "The spin of the legs, and what it is worth",
        "S. Pedrammehr, M. Mahboubkhah & N. Khani, Improved dynamic equations for the generally configured Stewart "
        "platform manipulator, Journal of Mechanical Science and Technology (KSME & Springer), 2012",
        "The same manipulator with universal joints that make the legs (“pods”) spin. Its paths 2 and 3 are paths "
        "I and II of 1998.",
        found,
        (
            _rotation("Figure 5", first, "Path 1", acceleration=False),
            _rotation("Figure 6", first, "Path 1", acceleration=True),
            _rotation("Figure 7", second, "Path 2", acceleration=False),
            _rotation("Figure 8", second, "Path 2", acceleration=True),
            _forces("Figure 9", run_path("I"), "Path 2 (6 s)"),
            _forces("Figure 10", run_path("II"), "Path 3 (0.6 s)"),
        ),
        (),
        _ERRATA,
    )


def _rotation(title: str, run: PodRun, path: str, *, acceleration: bool) -> Picture:
    full, simple = (run.acceleration, run.acceleration_simple) if acceleration else (run.velocity, run.velocity_simple)
    what, unit = ("angular acceleration", "rad/s²") if acceleration else ("angular velocity", "rad/s")
    sizes = [np.linalg.norm(values, axis=-1) for values in (full, simple, full - simple)]
    curves = (
        Curve("with the universal joint's spin", sizes[0], width=1.6),
        Curve("simplified, no spin", sizes[1], INK, "--", 0.9),
        Curve("difference", sizes[2], GREY, ":", 1.4),
    )
    columns = [f"{name}{axis}{pod}" for name in ("full_", "simple_") for pod in range(1, 7) for axis in "xyz"]
    table = np.hstack([full.reshape(len(full), -1), simple.reshape(len(simple), -1)])
    return Picture(
        f"{title}: {path}, {what}",
        f"{path}: size of the pods' {what} with and without the spin, and of the vectors' difference.",
        six_panels(run.times, curves, unit, panel="Pod"),
        series(title.lower().replace("ure ", "-"), "t", run.times, columns, table),
    )


def _forces(title: str, run: PathRun, path: str) -> Picture:
    curves = (
        Curve("exact", run.exact, width=1.6),
        Curve("2012 as printed", run.pedrammehr, INK, "--", 0.9),
        Curve("1998 as printed", run.dasgupta, GREY, "-", 0.9),
        Curve("2012 − 1998", run.pedrammehr - run.dasgupta, GREY, ":", 1.4),
    )
    numbers = run.numbers(title.lower().replace("ure ", "-"))
    caption = f"{path}: actuator forces by the improved and the simplified formulation, their difference, and exactly."
    return Picture(
        f"{title}: {path}, pod forces", caption, six_panels(run.times, curves, "force, N", panel="Pod"), numbers
    )
