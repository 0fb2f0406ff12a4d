"""Lee, Chung, Mudge & Turney (1982), §§4–5: what is claimed of computed torque on the PUMA."""

import math
from collections.abc import Iterable, Iterator
from functools import cache

import numpy as np

from dynamics import (
    ERROR_BOUND,
    ControlStudy,
    computed_torque_lagrange,
    lagrange_control_as_printed,
    puma,
    puma_study,
)
from rig.papers import operation_claims as counting
from rig.papers.chains import control_laws_gaps
from rig.papers.claims import Between, Claim, Legs, Near, Threshold, number
from rig.papers.control import coupled_run

JOINTS = (1, 2, 3, 4, 5, 6)
_EXACT = "plant and law are one model: nothing else can come out, whatever the arm's numbers are"
_OURS = "with rotors in arm and law, and the mean of q̈ᵈ over the coming sample: not in the paper's equations"


@cache
def printed_run() -> ControlStudy:
    """The PUMA as the paper's equations have it: no rotors, q̈ᵈ at the sampling instant."""
    return puma_study()


@cache
def our_run() -> ControlStudy:
    """The PUMA with its rotors, and q̈ᵈ as the mean over the coming sample."""
    return puma_study(plant=puma(), model=puma(), preview=True)


def gains() -> Iterator[Claim]:
    """What §4 says of the gains."""
    run = coupled_run()
    yield Claim(
        "error-equation",
        "With an exact model the law of eq. 4.4 leaves ë + K_v ė + K_p e = 0, K_v and K_p full matrices",
        "§4, eqs. 4.3, 4.4",
        Between(None, 1e-4),
        run.gap,
        measure="largest difference of a simulated PUMA's error from that equation's solution, of the largest "
        "error; gains that couple the joints",
        threshold=Threshold.OURS,
        apart=_EXACT,
    )
    yield Claim(
        "error-vanishes",
        "Under conditions (a) to (c) on K_v and K_p the error goes to zero",
        "§4, after eq. 4.3",
        Between(None, 1e-3),
        run.left,
        measure="what is left of it after 2 s; the same run",
        threshold=Threshold.OURS,
        apart=_EXACT,
    )


def laws() -> Iterator[Claim]:
    """What §4 says of the two control laws: as printed, and as mended."""
    printed = control_laws_gaps(lagrange_control_as_printed)
    yield Claim(
        "control-laws",
        "The Newton–Euler control law 4.4 is equivalent to the computed-torque law 4.1",
        "§4, eqs. 3.8–3.10, 4.1, 4.4",
        Between(None, counting.ROUNDING),
        min(printed),
        measure="difference of the torques relative to the largest, D, H and G by eqs. 3.8 to 3.10 as printed: least "
        f"of 7 random chains of 2 to 8 joints; largest {number(max(printed))}",
        why="eq. 3.10 has G with the opposite sign of eq. 3.6, g = (0, 0, −|g|, 0) as after eq. 3.5; §4 gets the right "
        "term in eq. 4.41 with g = (0, 0, |g|, 0), as after eq. 4.32",
        threshold=Threshold.OURS,
    )
    yield counting.agreement(
        "control-laws-mended",
        "… with the sign of eq. 3.6 in eq. 3.10",
        "§4",
        max(control_laws_gaps(computed_torque_lagrange)),
        "largest relative difference of the torques, random chains of 2 to 8 joints",
    )


def errors() -> list[Claim]:
    """What §5 says of the position errors: as printed, ours beside it."""
    run, ours = printed_run(), our_run()
    return [
        Claim(
            "errors",
            "Every joint's position error stays below 4.26·10⁻⁴ rad at 10 ms sampling",
            "§5, figs. 3–8",
            Between(None, ERROR_BOUND),
            float(run.peak.max()),
            "rad",
            measure=f"largest of all joints, eqs. 3.21–3.27 and 4.4 as printed; joints 1 to 6: {_peaks(run)} µrad",
            why="a torque held for a sample lags by half of one, and without rotors nothing but small links resists "
            "at the wrist. Neither the arm's numbers nor its trajectory are printed: here 2 s, and only with some 7 s "
            "would it stay below",
        ),
        Claim(
            "errors-ours",
            "… with rotors and a preview of one sample",
            "§5, figs. 3–8",
            Between(None, ERROR_BOUND),
            float(ours.peak.max()),
            "rad",
            measure=f"largest of all joints; joints 1 to 6: {_peaks(ours)} µrad",
            apart=_OURS,
        ),
        Claim(
            "oscillatory",
            "The position errors are slightly oscillatory about the desired position",
            "§5, figs. 3–8",
            Legs(JOINTS),
            _swinging(run),
            measure="joints whose error, as printed, takes both signs by more than a hundredth of its peak",
            why="a joint that is missing here only lags to one side",
            threshold=Threshold.OURS,
        ),
    ]


def _peaks(run: ControlStudy) -> str:
    return ", ".join(f"{1e6 * peak:.0f}" for peak in run.peak)


def _swinging(run: ControlStudy) -> tuple[int, ...]:
    error = run.error
    least = np.minimum(error.max(axis=0), -error.min(axis=0)) / np.abs(error).max(axis=0)
    return tuple(joint for joint in JOINTS if least[joint - 1] > 0.01)


def numbers() -> Iterable[Claim]:
    """Arithmetic on numbers that §5 prints."""
    literals = "arithmetic on printed numbers"
    return [
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
            apart=literals,
        ),
        Claim(
            "damping",
            "K_v = 2√K_p = 20: critical damping",
            "§5",
            Near(20.0, 0.0),
            2.0 * math.sqrt(100.0),
            "1/s",
            apart=literals,
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
            apart=literals,
        ),
    ]
