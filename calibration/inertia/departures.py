"""Candidate terms beyond the model. The identification selects those that the data support.

Friction of a prismatic joint beyond Coulomb and viscous friction (Armstrong-Hélouvry, Dupont & Canudas de Wit,
Automatica 30(7), 1994): Stribeck's excess near standstill, a part of the axial force, a power of the speed, presliding
(Dahl), one that depends on the position, one that falls as the drive warms up. Errors of a load cell: curvature,
hysteresis, a zero that jumps or warms up, forces of legs that are no neighbours. Of the machine: a base that is not
level, something elastic between base and platform, backlash.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dynamics import friction_signs
from kinematics import Array

_USUAL = (0.0045, 0.0064, 0.009, 0.0127, 0.018, 0.0255, 0.036)
"""m/s, usual Stribeck speeds, at which the excess is 1/e; their sum approximates curves of other exponents"""
_SLOW, _FAST = (0.0011, 0.0016, 0.0023, 0.0032), (0.051, 0.072, 0.102, 0.144, 0.204, 0.288)
"""m/s, unusual ones"""
_POWERS = (0.5, 1.5, 2.0, 3.0)
_POWER_SPEED = 0.1  # m/s, at which a power's coefficient is a force
_PRESLIDING = (2e-6, 1e-5, 5e-5, 2e-4, 8e-4, 3.2e-3)
"""m, travel constants of presliding after a reversal"""
_WARM_UP = (5.0, 20.0, 80.0, 320.0)  # s
_WAVES = 16
"""half waves of friction over the stroke"""
_HYSTERESIS = (0.05, 0.15, 0.4)
"""part of the span of a cell's force after which it is on the other branch of the hysteresis"""
_JUMPS = 2.0
"""s, between the times at which a zero may jump"""
_FORCE, _PART, _SMALL_PART = 10.0, 0.02, 5e-3  # σ before: N; of a force; of another leg's force
_USUAL_FORCE = 2.0  # N, of Stribeck's usual excess


@dataclass(frozen=True, slots=True)
class Term:
    """A candidate: its code, and for each of its columns a name, a unit and the prior's standard deviation.

    usual: whether a friction term is always estimated.
    """

    code: str
    columns: tuple[tuple[str, str, float], ...]
    usual: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Scales:
    """Scales of the candidates, from the recordings that are fitted: middle and span of the legs' lengths, m.

    forces: (6, 2) N, least and greatest of each cell. unit: factor on priors in N, the machine's size.
    Held-out recordings use the same scales.
    """

    middle: float
    span: float
    forces: Array
    unit: float = 1.0


def friction_terms(span: float, unit: float = 1.0) -> tuple[Term, ...]:
    """Candidates of the friction of one leg, in the order of `friction_columns`; `span`, m, of the legs' lengths.

    unit: see `Scales`.

    Similar shapes are one term: if the data do not distinguish them, the covariance shows it.
    """
    usual_force, force = unit * _USUAL_FORCE, unit * _FORCE

    def stribeck(speeds: Sequence[float], usual: bool) -> Term:
        names = [f"stribeck_{speed:g}_{which}" for speed in speeds for which in ("odd", "even")]
        return Term("stribeck", tuple((name, "N", usual_force if usual else force) for name in names), usual)

    return (
        Term("load_friction", (("friction_by_load", "", _PART),), usual=True),
        stribeck(_USUAL, True),
        stribeck(_SLOW, False),
        stribeck(_FAST, False),
        Term("viscous_power", tuple((f"friction_by_speed^{power:g}", "N", force) for power in _POWERS)),
        Term("presliding", tuple((f"presliding_{travel:g}", "N", force) for travel in _PRESLIDING)),
        Term("friction_warm_up", tuple((f"friction_warm_up_{time:g}", "N", force) for time in _WARM_UP)),
        *(
            Term(
                "position_friction",
                tuple((f"friction_{which}_{2e3 * span / wave:.3g}mm", "N", force) for which in ("sin", "cos")),
            )
            for wave in range(1, _WAVES + 1)
        ),
    )


FRICTION_CODES = frozenset(term.code for term in friction_terms(1.0) if not term.usual)
"""Codes of the candidates of friction."""


def friction_columns(
    speeds: Array, lengths: Array, load: Array, t: Array, scales: Scales, coulomb_speed: float
) -> Array:
    """Friction (n, k) of a leg per unit of each candidate's coefficient, against its motion.

    speeds, lengths, load (n,): m/s, m, N of the axial force. t (n,): s since the first stretch.
    """
    signs = friction_signs(speeds, coulomb_speed)
    columns = [signs * load]
    for speed in (*_USUAL, *_SLOW, *_FAST):
        odd = signs * np.exp(-((speeds / speed) ** 2))
        columns += [odd, signs * odd]
    columns += [signs * np.abs(speeds / _POWER_SPEED) ** power for power in _POWERS]
    columns += [dahl(lengths, signs[0], travel) - signs for travel in _PRESLIDING]
    columns += [signs * np.exp(-t / time) for time in _WARM_UP]
    turn = np.exp(1j * np.pi / scales.span * (lengths - scales.middle))
    wave = signs.astype(np.complex128)
    for _ in range(_WAVES):
        wave = wave * turn
        columns += [wave.imag, wave.real]
    return np.stack(columns).T


FRICTION_SHAPES = ("coulomb", *(f"stribeck_{speed:g}" for speed in _USUAL[2::3]), "load")
"""A small set for usual friction besides the viscous one, see `friction_shapes`."""


def friction_shapes(speeds: Array, load: Array, coulomb_speed: float) -> Array:
    """The shapes (n, 6, 4) of `FRICTION_SHAPES` at speeds (n, 6) m/s and axial forces (n, 6) N."""
    signs = friction_signs(speeds, coulomb_speed)
    excesses = [signs * np.exp(-((speeds / speed) ** 2)) for speed in _USUAL[2::3]]
    return np.stack([signs, *excesses, signs * load], axis=2)


def dahl(lengths: Array, begin: float, travel: float) -> Array:
    """Dahl's friction of strength one (n,): dz = (sign(dl) − z) |dl| / travel, at first `begin`.

    z(k) = decay(k) z(k − 1) + state(k), for steps of 1, 2, 4 … samples until the decay is 0.
    """
    steps = np.diff(lengths, prepend=lengths[:1])
    decay = np.exp(-np.abs(steps) / travel)
    state = np.sign(steps) * (1.0 - decay)
    decay[0], state[0] = 0.0, begin
    reach = 1
    while reach < len(state) and decay.any():
        state[reach:] += decay[reach:] * state[:-reach]
        decay[reach:] *= decay[:-reach].copy()
        reach *= 2
    return state


def cell_terms(scales: Scales, leg: int, count: int) -> tuple[Term, ...]:
    """Candidates of the load cell of a leg, with `count` times at which its zero may jump."""
    span, force = float(np.ptp(scales.forces[leg])), scales.unit * _FORCE
    return (
        Term("curvature", (("curvature", "N", _PART * span), ("cubic", "N", _PART * span))),
        Term("hysteresis", tuple((f"hysteresis_{part:g}", "N", _PART * span) for part in _HYSTERESIS)),
        Term("zero_warm_up", tuple((f"warm_up_{time:g}", "N", force) for time in _WARM_UP[1:])),
        Term("far_cross_talk", tuple((f"cross_talk_{way:+d}", "", _SMALL_PART) for way in (2, 3, 4))),
        *(Term("zero_jump", ((f"jump_{number}", "N", force),)) for number in range(count)),
    )


def jump_times(t: Array) -> Array:
    """Times, s, at which a zero may jump, for samples of one clock."""
    times: Array = np.arange(t[0] + _JUMPS, t[-1] - 0.5 * _JUMPS, _JUMPS)
    return times


def cell_columns(forces: Array, leg: int, t: Array, begins: Sequence[int], scales: Scales) -> list[Array]:
    """Reading (m,) of the cell of a leg per unit of each candidate's coefficient, in the order of `cell_terms`.

    forces (m, 6): N, the model's. t (m,): s since the first sample. begins: first sample of each stretch.
    """
    low, high = scales.forces[leg]
    scaled = (forces[:, leg] - 0.5 * (low + high)) / (0.5 * (high - low))
    columns = [scaled**2, scaled**3]
    columns += [play(scaled, 2.0 * part, begins) for part in _HYSTERESIS]
    columns += [np.exp(-t / time) for time in _WARM_UP[1:]]
    columns += [forces[:, (leg + way) % 6] for way in (2, 3, 4)]
    columns += [(t > time).astype(np.float64) for time in jump_times(t)]
    return columns


def play(values: Array, width: float, begins: Sequence[int]) -> Array:
    """Play (backlash) operator of values (m,): −1 to 1, reached after a reversal by `width`."""
    moves = (2.0 * np.diff(values, prepend=values[:1]) / width).tolist()
    course = []
    for first, last in pairwise([*begins, len(moves)]):
        here = 0.0
        course.append(here)
        for move in moves[first + 1 : last]:
            here = min(1.0, max(-1.0, here + move))
            course.append(here)
    return np.array(course)
