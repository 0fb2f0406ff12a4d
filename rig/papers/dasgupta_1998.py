"""Dasgupta & Mruthyunjaya (1998): figures 3 to 10, the counts of operations, the claims."""

import numpy as np

from rig.papers.dasgupta_claims import claims
from rig.papers.dasgupta_operations import operation_sheet
from rig.papers.dasgupta_singular import step_sheet
from rig.papers.drawing import FRACTION, GREY, INK, Curve, Rule, one_panel, series, six_panels
from rig.papers.optimal_path import optimal_path
from rig.papers.paths import PathRun, run_path
from rig.papers.study import Picture, Report, Study
from rig.papers.traces import singular_times, traced_path, zeros
from rig.papers.trajectory_figure import trajectory_figure

_SPIKE = Rule(near=0.0045)
"""The paper's sample at 3.7 s, which comes nearest to the singularity, is still within the axes."""
_FRACTION = Rule(near=0.02, most=1.5)
_JUMPS = "At the edges of the blends the acceleration jumps, and with it what is drawn."

_ERRATA = (
    "Eq. 16 moves I_u0 by the theorem of parallel axes although eq. 18 already has m_u r_u×a_u: the upper part's "
    "inertia is counted twice.",
    "Eqs. 6, 9 and 20 let the leg neither spin nor be resisted but along its own axis s. A universal joint forces a "
    "spin and resists along u×v.",
    "Eq. 9 reads 2LW; it is 2L̇W. Eq. 33 adds ΣK where eq. 35 subtracts it, rightly.",
    "The appendix prints tensors that no body has: the lower part's principal moments are −0.0028, −0.0004 and "
    "0.0162 kg m², the platform's break A + B ≥ C. The second I_d0 printed is I_u0; no value of g is given, 9.81 m/s² "
    "is taken here.",
    "The z of r_u0 is +0.08 m here and −0.08 m in the paper of 2012.",
)


def study(report: Report) -> Study:
    """The whole of it."""
    report("dasgupta-1998: paths I to III", 0.0)
    one, two, three = run_path("I"), run_path("II"), run_path("III")
    found = claims()
    report("dasgupta-1998: the optimised path", 0.3)
    best = optimal_path()
    report("dasgupta-1998: figures", 0.7)
    return Study(
        "dasgupta-1998",
        "The Stewart platform with the inertia of its legs",
        "B. Dasgupta & T. S. Mruthyunjaya, A Newton–Euler formulation for the inverse dynamics of the Stewart platform "
        "manipulator, Mechanism and Machine Theory 33 (8), 1998, pp. 1135–1152",
        "Leg forces along three straight paths of a manipulator without any symmetry. The figures show the exact "
        "model, and dashed the paper's equations as printed.",
        (*found, *best.claims),
        (
            trajectory_figure(),
            _forces("Figure 4", one, "Path I (6 s): actuator forces"),
            _condition("Figure 5", one, "Path I: condition number of H"),
            _fractions("Figure 6", one, "Path I: fraction of dynamic forces F_d/F"),
            _forces("Figure 7", two, "Path II (0.6 s): actuator forces"),
            _fractions("Figure 8", two, "Path II: fraction of dynamic forces F_d/F"),
            _forces("Figure 9", three, "Path III (6 s): actuator forces"),
            _condition("Figure 10", three, "Path III: condition number of H", best.marks, log=True),
            *best.pictures,
        ),
        (operation_sheet(), step_sheet()),
        _ERRATA,
    )


def _forces(title: str, run: PathRun, what: str) -> Picture:
    singular = singular_times(run.name)
    unit, scale = ("force, kN", 1e-3) if singular else ("force, N", 1.0)
    drawn, poles = traced_path(run.name), (singular,) * 6
    curves = (
        Curve("T: total $F$, exact", scale * drawn.exact, width=2.2, poles=poles),
        Curve("T as printed", scale * drawn.dasgupta, INK, "--", 0.9, poles),
        Curve("S: massless legs $F_0$", scale * drawn.massless, GREY, "-", 0.8, poles),
        Curve(r"D: difference $F_\mathrm{d}$", scale * drawn.dynamic, GREY, ":", 1.4, poles),
    )
    picture = (
        six_panels(drawn.times, curves, unit, linear=1.0, rule=_SPIKE, pole="singularity")
        if singular
        else six_panels(drawn.times, curves, unit)
    )
    caption = f"{what} of the six legs, pushing positive; letters as in the paper. " + (
        "Logarithmic beyond ±1 kN. At the singularity the forces grow without end and change their sign: the curves "
        "are cut there."
        if singular
        else _JUMPS
    )
    return Picture(f"{title}: {what.split(':')[0]}, leg forces", caption, picture, run.numbers(_file(title)))


def _fractions(title: str, run: PathRun, what: str) -> Picture:
    drawn = traced_path(run.name)
    curves = (
        Curve("exact", drawn.fraction, width=1.6, poles=zeros(drawn.times, drawn.exact)),
        Curve("as printed", drawn.printed_fraction, INK, "--", 0.9, zeros(drawn.times, drawn.dasgupta)),
    )
    table = np.hstack([run.fraction, run.printed_fraction])
    columns = [f"{name}{leg}" for name in ("exact", "dasgupta1998_") for leg in range(1, 7)]
    return Picture(
        f"{title}: {what.split(':')[0]}, dynamic fraction",
        f"{what}. Where a leg's total force is zero the fraction has a pole: the curve is cut there, and what "
        f"lies beyond ±{_FRACTION.most:g} or near the pole does not rule the axis. {_JUMPS}",
        six_panels(drawn.times, curves, FRACTION, rule=_FRACTION, pole="pole: $F$ is zero"),
        series(_file(title), "t", run.times, columns, table),
    )


def _condition(
    title: str, run: PathRun, what: str, marks: tuple[tuple[float, str], ...] = (), *, log: bool = False
) -> Picture:
    drawn, poles = traced_path(run.name), (singular_times(run.name),)
    curves = (
        Curve("condition number", drawn.condition, width=1.2, poles=poles),
        Curve("every dτ, as in the paper", run.condition, GREY, "none", x=run.times, marker="."),
    )
    picture = one_panel(drawn.times, curves, "condition number", log=log, marks=marks, rule=_SPIKE)
    numbers = series(_file(title), "t", run.times, ("condition",), run.condition[:, None])
    caption = f"{what}, σmax/σmin with moments in N m, as in the paper."
    return Picture(f"{title}: {what}", caption, picture, numbers)


def _file(title: str) -> str:
    return title.lower().replace("ure ", "-")
