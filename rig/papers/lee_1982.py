"""Lee, Chung, Mudge & Turney (1982): tables 1 and 2, figures 3 to 8, the claims."""

import math

import numpy as np

from dynamics import ERROR_BOUND, ControlStudy, puma_study
from rig.papers import operation_claims as counting
from rig.papers.chains import control_laws_spread
from rig.papers.claims import Between, Claim, Legs, Near, number
from rig.papers.drawing import GREY, INK, Curve, series, six_panels
from rig.papers.study import Picture, Report, Study

_NAME = "lee-1982"
_TABLES = tuple(f"{_NAME} table {number}" for number in (1, 2))
_ADD, _MULTIPLY, _FETCH = 0.5e-6, 3.3e-6, 0.45e-6  # s, PDP 11/45 as printed
_JOINTS = (1, 2, 3, 4, 5, 6)

_ERRATA = (
    "No parameters of the PUMA 600 are printed: here it is a PUMA 560 as measured by Armstrong, Khatib & Burdick "
    "(1986), with rotors as collected by Corke & Armstrong-Hélouvry (1994). Neither is the trajectory: here a quintic "
    "of 2 s from rest to rest, and 0.5 s at its end.",
    "Eq. 3.10 has G with the wrong sign; eq. 3.6 has it right.",
    "Table 2's a_i and ā_i cannot be had from eqs. 3.23 and 3.24, which take 27n and 21n, 18n and 15n.",
)


def study(report: Report) -> Study:
    """The whole of it."""
    report(f"{_NAME}: PUMA under computed torque", 0.0)
    run = puma_study()
    report(f"{_NAME}: PUMA without preview", 0.4)
    plain = puma_study(preview=False)
    report(f"{_NAME}: tables and figures", 0.8)
    return Study(
        _NAME,
        "Computed torque on a PUMA",
        "C. S. G. Lee, M. J. Chung, T. N. Mudge & J. L. Turney, On the control of mechanical manipulators, "
        "The University of Michigan, Ann Arbor, 1982",
        "A PUMA follows its joints' trajectory under the Newton–Euler control law, sampled every 10 ms, and the law's "
        "operations are counted.",
        (*_control(run, plain), *_complexity()),
        (_errors(run, plain),),
        tuple(counting.sheet(name) for name in _TABLES),
        _ERRATA,
    )


def _control(run: ControlStudy, plain: ControlStudy) -> list[Claim]:
    peaks = ", ".join(f"{1e6 * peak:.0f}" for peak in run.peak)
    rough = ", ".join(f"{1e6 * peak:.0f}" for peak in plain.peak)
    error = run.error
    least = np.minimum(error.max(axis=0), -error.min(axis=0)) / np.abs(error).max(axis=0)
    swings = tuple(joint for joint in _JOINTS if least[joint - 1] > 0.01)
    return [
        counting.agreement(
            "control-laws",
            "The Newton–Euler control law 4.4 is equivalent to the computed-torque law 4.1",
            "§4",
            control_laws_spread(),
            "largest relative difference of the torques, random chains of 2 to 8 joints",
        ),
        Claim(
            "errors",
            "Every joint's position error stays below 4.26·10⁻⁴ rad at 10 ms sampling",
            "§5, figs. 3–8",
            Between(None, ERROR_BOUND),
            float(run.peak.max()),
            "rad",
            measure=f"largest of all joints; joints 1 to 6: {peaks} µrad",
            why="with the mean of q̈ᵈ over the coming sample, which is all that a torque held for 10 ms can give",
        ),
        Claim(
            "errors-all",
            "… in every joint",
            "§5, figs. 3–8",
            Legs(_JOINTS),
            tuple(joint for joint in _JOINTS if run.peak[joint - 1] < ERROR_BOUND),
            measure="joints whose error stays below",
        ),
        Claim(
            "errors-no-preview",
            "… with q̈ᵈ taken at the sampling instant, as eq. 4.4 has it",
            "§5, eq. 4.4",
            Between(None, ERROR_BOUND),
            float(plain.peak.max()),
            "rad",
            measure=f"largest of all joints; joints 1 to 6: {rough} µrad",
            why="the torque then lags by half a sample; joint 3, which turns by 90° under gravity's load, passes the "
            "bound. The print does not say which is meant, nor how fast its arm moves",
        ),
        Claim(
            "oscillatory",
            "The position errors are slightly oscillatory about the desired position",
            "§5, figs. 3–8",
            Legs(_JOINTS),
            swings,
            measure="joints whose error takes both signs, by more than a hundredth of its peak",
            why="a joint that is missing here only lags to one side: joint 3's error grows with its speed, for "
            "gravity's load changes while the torque is held for a sample",
        ),
        Claim(
            "converter",
            "4.26·10⁻⁴ rad is the resolution of a 12-bit converter",
            "§5",
            Near(100.0, 0.001),
            math.degrees(ERROR_BOUND * 2**12),
            "°",
            measure="2¹² steps of it",
            why="of a converter that covers 100°, more than the 90° that joints 3 and 6 turn; over a full turn "
            f"a bit is {number(math.tau / 2**12, 'rad')}",
        ),
        Claim(
            "damping",
            "K_v = 2√K_p = 20: critical damping",
            "§5",
            Near(20.0, 0.0),
            2.0 * math.sqrt(100.0),
            "1/s",
        ),
        Claim(
            "ten-hertz",
            "K_p = 100 is for a natural frequency not over ten hertz",
            "§5",
            Near(10.0, 0.1),
            math.sqrt(100.0) / math.tau,
            "Hz",
            measure="√K_p/2π",
            why="√K_p = 10 is in rad/s",
        ),
    ]


def _complexity() -> list[Claim]:
    lagrange, newton = (counting.table(name).rows[-1] for name in _TABLES)
    n = counting.JOINTS
    printed = [sum(law.at(n) for law in row.published or ()) for row in (lagrange, newton)]
    counted = [sum(law.at(n) for law in row.counted) for row in (lagrange, newton)]
    time = [_pdp(*(law.at(n) for law in laws)) for laws in (newton.published or newton.counted, newton.counted)]
    return [
        counting.order(_TABLES[0], 4, "The law by Lagrange–Euler: operations of order n⁴", "table 1"),
        counting.order(_TABLES[1], 1, "The law by Newton–Euler: operations linear in n", "table 2"),
        Claim(
            "hundred-times",
            "For six joints the law by Lagrange takes about 100 times the operations of that by Newton–Euler",
            "§5",
            Near(100.0, 0.5),
            printed[0] / printed[1],
            measure="by the printed totals of tables 1 and 2",
            why=f"{printed[0]} over {printed[1]}",
        ),
        Claim(
            "hundred-times-counted",
            "… as counted here",
            "§5",
            Near(100.0, 0.5),
            counted[0] / counted[1],
            measure=f"{counted[0]} over {counted[1]}",
            why="nothing is formed twice here: ∂T J once for each pair, and only the diagonal of the product under a "
            "trace, 16 multiplications instead of 256",
        ),
        Claim(
            "pdp",
            "A PDP 11/45 computes the Newton–Euler law in about 3 ms",
            "§5",
            Near(3.0, 0.1),
            1e3 * time[0],
            "ms",
            measure="printed counts at n = 6, 3.3 µs a multiplication, 0.5 µs an addition, 0.45 µs a fetch",
            why=f"with the counts here {1e3 * time[1]:.2f} ms",
        ),
        *(claim for name in _TABLES for claim in counting.totals(name)),
        *(claim for name in _TABLES for claim in counting.sums(name)),
    ]


def _pdp(multiplications: int, additions: int) -> float:
    return multiplications * (_MULTIPLY + _FETCH) + additions * (_ADD + _FETCH)


def _errors(run: ControlStudy, plain: ControlStudy) -> Picture:
    bound = np.full_like(run.error, 1e6 * ERROR_BOUND)
    curves = (
        Curve("error θᵈ − θ", 1e6 * run.error, width=1.6),
        Curve("with q̈ᵈ at the sampling instant", 1e6 * plain.error, INK, "--", 0.8),
        Curve("± 4.26·10⁻⁴ rad", bound, GREY, ":", 1.0),
        Curve("_", -bound, GREY, ":", 1.0),
    )
    columns = [f"{name}{joint}" for name in ("desired", "actual", "torque", "error_no_preview") for joint in _JOINTS]
    table = np.hstack([run.desired, run.actual, run.torques, plain.error])
    return Picture(
        "Figures 3 to 8: position errors of joints 1 to 6",
        "Computed torque, K_p = 100, K_v = 20, sampled every 10 ms, from (90, 0, 90, 0, 0, 0)° to "
        "(45, 30, 0, 45, 60, 90)°.",
        six_panels(run.times, curves, "error, µrad", panel="Joint"),
        series("figs-3-to-8", "t", run.times, columns, table),
    )
