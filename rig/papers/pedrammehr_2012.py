"""Pedrammehr, Mahboubkhah & Khani (2012): figures 5 to 10, the spin of the legs, the claims."""

import numpy as np

from kinematics import Array, Blend
from rig.papers.drawing import GREY, INK, Curve, components, series, six_panels
from rig.papers.paths import PLANS, run_path
from rig.papers.pedrammehr_claims import claims
from rig.papers.pedrammehr_equations import errata_sheet
from rig.papers.pods import PodRun, path_one, pods_of, turning_pods
from rig.papers.study import Picture, Report, Study
from rig.papers.traces import drawn_motions, traced_path

_OWN = "the paper's own L_uo (z = −0.08 m)"
_OTHER = "the L_uo of 1998 (z = +0.08 m)"

_ERRATA = (
    "Path 1: 0.5 m in 6 s at a greatest speed of 0.08 m/s is not possible; at constant speed, as the text says, it is "
    "0.0833 m/s.",
    "Eqs. 32, 33 and 50 add parallel-axis terms to tensors that eqs. 31 and 49 use beside m r×a: inertia is counted "
    "twice, as in 1998, and the terms are taken in base axes and then rotated from local ones.",
    "Eq. 21 lacks c in its second term, ω_u ω_v c×l n, and is mended here; eq. 25's last term should be "
    "−ω_u ω_v/√(1−(u·n)²).",
    "Eqs. 42 and 43 carry that along and leave out terms of eqs. 36 and 39, as the table shows; eq. 43 has L_u where "
    "m_d L_d×[ω_l×(ω_l×L_d)] is meant, eq. 42 L_u for I_u. The n uᵀ n uᵀ of eq. 42 is (u·n) n uᵀ, and right.",
    "The z of L_uo is −0.08 m, in the paper of 1998, whose manipulator it is, +0.08 m. The paper's own is taken first; "
    "the table of errors is of the 1998 value.",
    "The tensors are those of 1998, which no body has.",
)


def study(report: Report) -> Study:
    """The whole of it."""
    report("pedrammehr-2012: paths 1 to 3", 0.0)
    path_two = PLANS["I"].trajectory()
    first, second = pods_of(path_one()), pods_of(path_two)
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
            _rotation("Figure 5", first, "Path 1", path_one(), acceleration=False),
            _rotation("Figure 6", first, "Path 1", path_one(), acceleration=True),
            _rotation("Figure 7", second, "Path 2", path_two, acceleration=False),
            _rotation("Figure 8", second, "Path 2", path_two, acceleration=True),
            _forces("Figure 9", "I", "Path 2 (6 s)", "pedrammehr-2012", _OWN),
            _forces("Figure 9, 1998", "I", "Path 2 (6 s)", "dasgupta-1998", _OTHER),
            _forces("Figure 10", "II", "Path 3 (0.6 s)", "pedrammehr-2012", _OWN),
            _forces("Figure 10, 1998", "II", "Path 3 (0.6 s)", "dasgupta-1998", _OTHER),
        ),
        (errata_sheet(),),
        _ERRATA,
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
    """With the spin and without, (n, 6, 3)."""
    return (run.acceleration, run.acceleration_simple) if acceleration else (run.velocity, run.velocity_simple)


def _with_size(vectors: Array) -> Array:
    """Components and size (n, 6, 4)."""
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
