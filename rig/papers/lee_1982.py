"""Lee, Chung, Mudge & Turney (1982): computed torque on a PUMA, tables 1 and 2, figures 3 to 8, the claims.

With full gain matrices the question is whether the error satisfies ë + K_v ė + K_p e = 0 (eq. 4.3).
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.linalg import expm

from dynamics import papers, serial
from kinematics import Array
from rig.papers import operation_claims as counting
from rig.papers.chains import control_laws_gaps
from rig.papers.claims import Between, Claim, Computed, Legs, Mended, Range, number
from rig.papers.drawing import GREY, INK, Curve, series, six_panels
from rig.papers.printed import printed_study
from rig.papers.study import Picture, Report, Study

PRINTED = printed_study("lee-1982")
"""Claims and data as printed."""

POSITION_GAINS = 100.0 * (np.eye(6) + 0.3 * (np.eye(6, k=1) + np.eye(6, k=-1)))
"""K_p, 1/s²: the paper's 100 on the diagonal, with coupling of neighbouring joints."""
VELOCITY_GAINS = 20.0 * (np.eye(6) - 0.25 * (np.eye(6, k=2) + np.eye(6, k=-2)))
"""K_v, 1/s: the paper's 20 on the diagonal, with coupling of every second joint."""
_OFFSET = (0.2, -0.1, 0.15, -0.2, 0.1, 0.3)  # rad
_SLIP = (0.5, 0.3, -0.4, 0.2, -0.6, 0.1)  # rad/s
_DURATION, _STEP = 2.0, 0.01  # s


@dataclass(frozen=True, slots=True, eq=False)
class ErrorRun:
    """Errors e = qᵈ − q (m, n) of a simulated arm at times (m,) s, and those of eq. 4.3 from the same start; rad."""

    times: Array
    error: Array
    expected: Array

    @property
    def gap(self) -> float:
        """Largest difference, relative to the largest error."""
        return float(np.abs(self.error - self.expected).max() / np.abs(self.expected).max())


def error_run(chain: serial.SerialChain, kp: Array, kv: Array, duration: float, step: float) -> ErrorRun:
    """Simulate a chain of six joints under continuous eq. 4.4, tracking a motion sin t of its joints."""

    def desired(time: float) -> tuple[list[float], list[float], list[float]]:
        place, rate = [float(np.sin(time))] * 6, [float(np.cos(time))] * 6
        return place, rate, [-x for x in place]

    def torque(time: float, q: list[float], qd: list[float]) -> list[float]:
        tau: list[float] = serial.computed_torque(chain, desired(time), q, qd, kp, kv)
        return tau

    start = desired(0.0)
    q, qd = ([a - b for a, b in zip(x, y, strict=True)] for x, y in zip(start[:2], (_OFFSET, _SLIP), strict=True))
    run = serial.simulate_chain(chain, q, qd, torque, duration, step)
    aims = np.array([desired(time)[0] for time in run.times])
    return ErrorRun(run.times, aims - run.q, error_equation(kp, kv, run.times))


def error_equation(kp: Array, kv: Array, times: Array) -> Array:
    """Solve ë + K_v ė + K_p e = 0 from the start of `error_run` for e(t) (m, n), rad; times (m,) s at equal steps."""
    n = len(kp)
    companion = np.block([[np.zeros((n, n)), np.eye(n)], [-kp, -kv]])
    ahead = expm(companion * (times[1] - times[0]))
    states = [np.array([*_OFFSET, *_SLIP])]
    for _ in times[1:]:
        states.append(ahead @ states[-1])
    return np.array(states)[:, :n]


@cache
def coupled_run() -> ErrorRun:
    """Simulate the PUMA under gains that couple its joints."""
    return error_run(serial.puma(rotors=False), POSITION_GAINS, VELOCITY_GAINS, _DURATION, _STEP)


JOINTS = (1, 2, 3, 4, 5, 6)
_MOTION = 2.0
"""s, duration of the motion taken here."""
_EXACT = "plant and law are one model: nothing else can come out, whatever the arm's numbers are"


@cache
def printed_run() -> serial.ControlStudy:
    """Simulate the PUMA by the paper's equations: no rotors, q̈ᵈ at the sampling instant."""
    return serial.puma_study()


@cache
def our_run() -> serial.ControlStudy:
    """Simulate the PUMA with its rotors, and q̈ᵈ as the mean over the coming sample."""
    return serial.puma_study(plant=serial.puma(), model=serial.puma(), preview=True)


_DRAWS = 12
"""Gains drawn for each rank of K_v."""


def _drawn_gains() -> Iterator[tuple[Array, Array]]:
    """Symmetric K_p > 0 and K_v ≥ 0 of every rank, the second in general position, and once across a mode of K_p."""
    for rank in JOINTS:
        for draw in range(_DRAWS):
            rng = np.random.default_rng((rank, draw))
            axes = np.linalg.qr(rng.normal(size=(6, 6)))[0]
            position = axes @ np.diag(np.linspace(20.0, 200.0, 6)) @ axes.T
            across = axes[:, 1:] @ rng.normal(size=(5, min(rank, 5)))
            for root in (rng.normal(size=(6, rank)), across):
                yield 0.5 * (position + position.T), 2.0 * root @ root.T


def slowest_decay() -> float:
    """Least decay rate of ë + K_v ė + K_p e = 0 under gains that meet (a) to (c), over the largest √K_p."""
    rates = []
    for position, velocity in _drawn_gains():
        if not serial.broken_conditions(position, velocity):
            companion = np.block([[np.zeros((6, 6)), np.eye(6)], [-position, -velocity]])
            slowest = -np.linalg.eigvals(companion).real.max()
            rates.append(slowest / math.sqrt(np.linalg.eigvalsh(position)[-1]))
    return float(min(rates))


def gains() -> Iterator[Claim]:
    """Claims of §4 on the gains."""
    yield PRINTED.claim("error-equation", coupled_run().gap, apart=_EXACT)
    yield PRINTED.claim("error-vanishes", slowest_decay())


def law_claim() -> Claim:
    """Claim of §4 that the two control laws are equivalent: as printed, and with eq. 3.10 mended."""
    printed = control_laws_gaps(serial.lagrange_control_as_printed)
    return Claim(
        "control-laws",
        "The Newton–Euler control law 4.4 is equivalent to the computed-torque law 4.1",
        "§4, eqs. 3.8–3.10, 4.1, 4.4",
        Between(None, counting.ROUNDING),
        min(printed),
        measure="difference of the torques relative to the largest, D, H and G by eqs. 3.8 to 3.10: least of 7 random "
        "chains of 2 to 8 joints",
        why="with the g of eq. 4.32 eq. 3.10 is right, and eq. 3.6 is not: one of the two signs is wrong",
        words="the same control effects",
        thresholds=counting.EQUAL,
        mended=Mended(
            "the sign of eqs. 3.6 and 4.41 in eq. 3.10", max(control_laws_gaps(serial.computed_torque_lagrange))
        ),
    )


def cubic(start: Array, end: Array, duration: float, time: float) -> tuple[Array, Array, Array]:
    """q, q̇, q̈ (n,) of a cubic from rest to rest; then constant."""
    s, way = min(max(time / duration, 0.0), 1.0), end - start
    rest = float(0.0 <= time < duration)
    return (
        start + (3.0 - 2.0 * s) * s**2 * way,
        6.0 * s * (1.0 - s) / duration * way,
        rest * (6.0 - 12.0 * s) / duration**2 * way,
    )


def blend(start: Array, end: Array, duration: float, time: float) -> tuple[Array, Array, Array]:
    """q, q̇, q̈ (n,) of a constant speed between two parabolic blends, each a third of the duration; then constant."""
    s, way = min(max(time / duration, 0.0), 1.0), end - start
    if s < 1.0 / 3.0:
        place, rate, bend = 2.25 * s**2, 4.5 * s, 4.5
    elif s < 2.0 / 3.0:
        place, rate, bend = 1.5 * s - 0.25, 1.5, 0.0
    else:
        place, rate, bend = 1.0 - 2.25 * (1.0 - s) ** 2, 4.5 * (1.0 - s), -4.5 * float(s < 1.0)
    return start + place * way, rate / duration * way, bend / duration**2 * way


_DURATIONS = (1.0, _MOTION, 7.0)
"""s, of a motion that the paper does not print."""
_FORMS = {"quintic": serial.quintic, "cubic": cubic, "parabolic blends": blend}
_SHARES = (0.001, 0.01, 0.1)
"""Of a joint's peak: what its error must pass on the other side to oscillate."""


@cache
def _other_runs() -> tuple[tuple[serial.ControlStudy, ...], tuple[serial.ControlStudy, ...]]:
    """Runs of other durations, and of other forms of the motion; without the rest at its end."""
    durations = tuple(serial.puma_study(duration=time, settling=0.0) for time in _DURATIONS if time != _MOTION)
    forms = tuple(serial.puma_study(settling=0.0, profile=form) for form in tuple(_FORMS.values())[1:])
    return durations, forms


def errors() -> list[Claim]:
    """Claims of §5 on the position errors: as printed, with our results."""
    run, ours = printed_run(), our_run()
    (short, long), forms = _other_runs()
    timed, formed = (short, run, long), (run, *forms)

    def peak(study: serial.ControlStudy) -> float:
        return float(study.peak.max())

    def ranges(found: Callable[[serial.ControlStudy], Computed]) -> tuple[Range, Range]:
        return (
            Range("duration", _DURATIONS, tuple(map(found, timed)), _MOTION, "s"),
            Range("motion", tuple(_FORMS), tuple(map(found, formed)), "quintic"),
        )

    arms = ("without rotors", "with rotors and preview")
    return [
        PRINTED.claim(
            "errors",
            peak(run),
            *ranges(peak),
            Range("arm", arms, (peak(run), peak(ours)), arms[0]),
            measure=f"largest of all joints; joints 1 to 6: {_peaks(run)} µrad",
        ),
        Claim(
            "oscillatory",
            "The position errors are slightly oscillatory about the desired position",
            "§5, figs. 3–8",
            Legs(JOINTS),
            _swinging(run),
            measure="joints whose error takes both signs by more than a hundredth of its peak",
            ranges=(
                *ranges(_swinging),
                Range("share of the peak", _SHARES, tuple(_swinging(run, share) for share in _SHARES), 0.01),
            ),
        ),
    ]


def _peaks(run: serial.ControlStudy) -> str:
    return ", ".join(f"{1e6 * peak:.0f}" for peak in run.peak)


def _swinging(run: serial.ControlStudy, share: float = 0.01) -> tuple[int, ...]:
    error = run.error
    least = np.minimum(error.max(axis=0), -error.min(axis=0)) / np.abs(error).max(axis=0)
    return tuple(joint for joint in JOINTS if least[joint - 1] > share)


def numbers() -> Iterable[Claim]:
    """Claims by arithmetic on numbers printed in §5."""
    literals = "arithmetic on printed numbers"
    return [
        PRINTED.claim(
            "converter",
            math.degrees(serial.ERROR_BOUND * 2**12),
            why=(
                "of a converter that covers 100°, more than the 90° that joints 3 and 6 turn; over a full turn "
                f"a bit is {number(math.tau / 2**12, 'rad')}"
            ),
            apart=literals,
        ),
        PRINTED.claim("damping", 2.0 * math.sqrt(100.0), apart=literals),
        PRINTED.claim("ten-hertz", math.sqrt(100.0) / math.tau, apart=literals),
    ]


NAME = "lee-1982"
TABLES = tuple(f"{NAME} table {number}" for number in (1, 2))
HERE = tuple(f"{table} here" for table in TABLES)
_FITTED = "fitted: four full products for each trace were taken because they give the printed rows"
_ADD, _MULTIPLY, _FETCH = 0.5e-6, 3.3e-6, 0.45e-6  # s, PDP 11/45 as printed
_TIMES = "arithmetic on the totals of table 2 and the printed times"


def claims() -> tuple[Claim, ...]:
    """Return all claims, in the paper's order."""
    return (*gains(), law_claim(), *errors(), *numbers(), *orders(), *ratios(), *printed_totals())


def study(report: Report) -> Study:
    """Reproduce the study."""
    report(f"{NAME}: PUMA under computed torque, and its operations", 0.0)
    found = claims()
    report(f"{NAME}: figures", 0.8)
    return Study(
        NAME,
        PRINTED.title,
        PRINTED.citation,
        PRINTED.summary,
        found,
        (_errors(),),
        tuple(counting.sheet(name) for name in (TABLES[0], HERE[0], TABLES[1], HERE[1])),
        PRINTED.errata,
        PRINTED.open,
    )


def orders() -> Iterator[Claim]:
    """Claims on the orders in n."""
    newton, lagrange = (
        "The law by Newton–Euler: operations linear in n",
        "The law by D, H and G of eqs. 3.8 to 3.10: operations of order n⁴",
    )
    yield counting.order(TABLES[1], 1, newton, "table 2", {"vector products one by one": HERE[1]})
    yield counting.order(TABLES[0], 4, lagrange, "table 1", {"nothing formed twice": HERE[0]})


def printed_totals() -> list[Claim]:
    """Claims on the tables' totals."""
    return [
        *counting.totals(TABLES[0], fitted=_FITTED),
        *counting.totals(TABLES[1], _programs()),
        *counting.totals(HERE[0]),
        *(claim for name in TABLES for claim in counting.sums(name)),
    ]


def _programs() -> dict[str, tuple[int, int]]:
    """Counts of table 2's terms if they are programmed otherwise: the paper does not print how ω×(ω×r) is formed."""
    multiplications, additions = counting.counts(TABLES[1])
    return {
        "vector products one by one": counting.counts(HERE[1]),
        "r̄_i + r_i formed for each link": (multiplications, additions + 3 * counting.JOINTS),
    }


_PROGRAMS = ("as table 1 counts", "nothing formed twice", "the torques alone, of order n³, as Turney et al.")


def ratios() -> list[Claim]:
    """Claims on the costs of the two laws relative to each other, and in time."""
    newton = counting.counts(TABLES[1])
    servo = next(row.counted for row in papers.counted_table(TABLES[1]).rows if row.term.startswith("q̈ᵈ"))
    torques = sum(counting.counts("turney-1980 table 2")) + _size(servo)
    sizes = [sum(counting.counts(TABLES[0])), sum(counting.counts(HERE[0])), torques]
    found = tuple(size / sum(newton) for size in sizes)
    published = [papers.counted_table(name).rows[-1].published or () for name in TABLES]
    printed = [_size(laws) for laws in published]
    times = [_pdp(*newton), _pdp(*(law.at(counting.JOINTS) for law in published[1]))]
    return [
        PRINTED.claim(
            "hundred-times",
            found[0],
            Range("Lagrange's program", _PROGRAMS, found, _PROGRAMS[0]),
            measure=(
                f"{sizes[0]}, {sizes[1]} and {sizes[2]} over {sum(newton)}; by the printed totals "
                f"{printed[0]} over {printed[1]}"
            ),
        ),
        PRINTED.claim("pdp", 1e3 * times[0], why=f"with the printed counts {1e3 * times[1]:.2f} ms", apart=_TIMES),
    ]


def _size(laws: tuple[papers.Law, ...]) -> int:
    return sum(law.at(counting.JOINTS) for law in laws)


def _pdp(multiplications: int, additions: int) -> float:
    return multiplications * (_MULTIPLY + _FETCH) + additions * (_ADD + _FETCH)


def _errors() -> Picture:
    run, ours = printed_run(), our_run()
    bound = np.full_like(run.error, 1e6 * serial.ERROR_BOUND)
    curves = (
        Curve("error θᵈ − θ, equations as printed", 1e6 * run.error, width=1.6),
        Curve("with rotors and preview", 1e6 * ours.error, INK, "--", 0.8),
        Curve("± 4.26·10⁻⁴ rad", bound, GREY, ":", 1.0),
        Curve("_", -bound, GREY, ":", 1.0),
    )
    columns = [f"{name}{joint}" for name in ("desired", "actual", "torque", "error_ours") for joint in JOINTS]
    table = np.hstack([run.desired, run.actual, run.torques, ours.error])
    return Picture(
        "Figures 3 to 8: position errors of joints 1 to 6",
        "Computed torque, K_p = 100, K_v = 20, sampled every 10 ms, from (90, 0, 90, 0, 0, 0)° to "
        "(45, 30, 0, 45, 60, 90)°.",
        six_panels(run.times, curves, "error, µrad", panel="Joint"),
        series("figs-3-to-8", "t", run.times, columns, table),
    )
