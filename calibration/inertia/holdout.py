"""Residuals of held-out forces, and a verdict on the fit."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from calibration.inertia.design import THETA, at_once, design_of
from calibration.inertia.estimate import FoundTerm, Identification
from calibration.inertia.samples import ForceRecord, fast_part, measured_motion, prepared, without_spikes
from dynamics import Dynamics, Mechanism
from kinematics import Array

_EDGE = 0.5  # s at either end that the filter has not settled in
_CUTOFFS = (0.05, 0.1, 0.2)  # of the rate: slower hides what the machine does, faster shows what the encoders do not
_LEAST = 1.5  # s, beside the edges
_OF_ITS_TIME = ("offset", "drift", "lag", "jump", "warm_up")
"""prefixes of unknowns that `Identification.zeros` and `lags` give, or that belong to a stretch's time"""
_CHANCE = 1e-3
"""false-alarm probability, over all cells and bands"""
_RELEVANT = 2.0
"""part of the noise's variance in a band below which an excess is ignored: reversals cause as much"""
_LEAST_NAMED = {"presliding": 0.3}
"""Smallest effect, RMS, of a term that is named, in the cells' noise. A leg that turns round between two samples has an
apparent presliding of up to 0.27 of it."""
Verdict = Literal["pass", "lack_of_fit", "undecided"]


@dataclass(frozen=True, slots=True)
class Misfit:
    """A cell (leg 0 to 5) whose residual exceeds the noise in a band, Hz: both in N RMS in that band."""

    leg: int
    band: tuple[float, float]
    residual: float
    noise: float
    held_out: bool


@dataclass(frozen=True, slots=True)
class ForceHoldOut:
    """Residuals (RMS over the six cells, every sample) before and after, and the noise of the same readings, N.

    legs_before, legs_after, legs_noise: (6,) of each cell. cutoff: Hz, of the motion's low-pass. verdict: whether the
    residual is noise, in what was held out and in what was fitted; undecided where the noise is known from the same
    readings only. misfits: excesses, the worst first. suspects: estimated effects beyond the model, the greatest
    first. Effects below `_LEAST_NAMED` are left out.
    """

    before: float
    after: float
    noise: float
    legs_before: Array
    legs_after: Array
    legs_noise: Array
    cutoff: float
    verdict: Verdict
    misfits: tuple[Misfit, ...]
    suspects: tuple[FoundTerm, ...]


def hold_out(
    result: Identification, fitted: Sequence[ForceRecord], judged: Sequence[ForceRecord], coulomb_speed: float
) -> ForceHoldOut:
    """Judge an identification by held-out stretches; nothing is fitted to them.

    Before is the nominal model; after is the identified one with the estimated errors of cells and geometry, and
    the zeros' drift where a stretch of the same recording was fitted. The motion's low-pass is the one with the least
    residual of `fitted`. Noise is the identification's stated one, else the part of the residual that is too fast for a
    machine.
    """
    cutoffs = [part * judged[0].rate for part in _CUTOFFS]
    spikeless = [replace(record, cells=without_spikes(record.cells, record.steps)[0]) for record in (*fitted, *judged)]

    def after(record: ForceRecord, cutoff: float) -> Array:
        left = _left(result.mechanism, record, cutoff, result.lags, coulomb_speed)
        t = record.begin + (int(_EDGE * record.rate) + np.arange(len(left))) / record.rate
        return left - result.zeros(record.source, t)

    # gains and the like are smooth: they are the same at every cutoff
    left = [np.mean([np.mean(after(record, cutoff) ** 2) for record in spikeless[: len(fitted)]]) for cutoff in cutoffs]
    cutoff = cutoffs[int(np.argmin(left))]
    sums = np.zeros((3, 6))
    samples = 0
    powers, degrees = np.zeros_like(result.excess), np.zeros(result.excess.shape[1])
    for record in spikeless[len(fitted) :]:
        before = _left(result.nominal, record, cutoff, np.zeros(6), coulomb_speed)
        values = after(record, cutoff) - _beyond(result, record)
        sums[0] += np.sum(before**2, axis=0)
        sums[1] += np.sum(values**2, axis=0)
        sums[2] += len(values) * fast_part(values, record.rate) ** 2
        samples += len(values)
        power, free = _bands(values, record.rate, result.bands)
        powers += power
        degrees += free
    stated = result.settings.noise
    if stated is not None:
        sums[2] = samples * stated**2
    legs = np.sqrt(sums / samples)
    whole = [float(np.sqrt(np.mean(values**2))) for values in legs]
    noise = np.maximum(result.noise, 1e-6)
    ratio = powers / np.maximum(degrees, 1.0) / noise[:, np.newaxis] ** 2
    misfits = [
        *_misfits(ratio, np.broadcast_to(degrees, ratio.shape), result.bands, noise, judged[0].rate, held_out=True),
        *_misfits(result.excess, result.degrees, result.bands, noise, judged[0].rate, held_out=False),
    ]
    verdict: Verdict = "lack_of_fit" if misfits else "pass" if stated is not None else "undecided"
    return ForceHoldOut(
        whole[0],
        whole[1],
        whole[2],
        legs[0],
        legs[1],
        legs[2],
        cutoff,
        verdict,
        tuple(sorted(misfits, key=lambda each: -each.residual / each.noise)),
        tuple(
            sorted(
                (each for each in result.terms if each.size >= _LEAST_NAMED.get(each.code, 0.0) * whole[2]),
                key=lambda each: -each.size,
            )
        ),
    )


def _beyond(result: Identification, record: ForceRecord) -> Array:
    """Estimated effects on the cells of a stretch beyond the identified mechanism, drives included, (n', 6) N."""
    settings = result.settings
    samples = prepared(
        result.nominal.geometry, [record], settings.cutoff, settings.coulomb_speed, result.scales, _LEAST
    )
    found = {each.name: value for each, value in zip(result.others, result.estimate[THETA:], strict=True)}
    design = design_of(
        result.nominal,
        samples,
        settings.known(result.nominal),
        settings.coulomb_speed,
        result.mechanism if result.consistent else result.nominal,
        result.theta,
        {},
        any(each.evidence is not None for each in result.terms),
    )
    time_dependent = {name for name in found if name.split(".")[-1].startswith(_OF_ITS_TIME)}
    values = np.zeros((len(samples.t), 6))
    for leg, channel in enumerate(design.channels[:6]):
        for column, place in enumerate(channel.places):
            if place < THETA or place in design.drives or column in channel.held:
                continue
            name = design.others[place - THETA].name
            if name in found and name not in time_dependent:
                values[:, leg] += found[name] * channel.rows[:, column]
    count = len(record.pose) - 2 * int(_EDGE * record.rate)
    return between(values, np.arange(count, dtype=np.float64) * (samples.rate / record.rate))


def between(values: Array, places: Array) -> Array:
    """Values (m, k) at `places` (n,), in steps from the first row: the cubic spline, of one piece by either end."""
    from scipy.linalg import solve_banded  # takes long to import, and few need it

    count = len(values)
    bends = np.zeros_like(values)
    bends[1:-1] = np.diff(values, 2, axis=0)
    bands = np.zeros((5, count))  # of the equations of the second derivatives: [1, 4, 1] / 6, and at the ends …
    bands[1, 2:] = bands[3, :-2] = 1.0 / 6.0
    bands[2, 1:-1] = 4.0 / 6.0
    bands[2, [0, -1]], bands[1, 1], bands[3, -2] = 1.0, -2.0, -2.0  # … no change of the third from piece to piece
    bands[0, 2] = bands[4, -3] = 1.0
    bends = solve_banded((2, 2), bands, bends)
    here = np.minimum(places.astype(np.intp), count - 2)
    after = (places - here)[:, np.newaxis]
    before = 1.0 - after
    smooth: Array = before * values[here] + after * values[here + 1]
    smooth += ((before**3 - before) * bends[here] + (after**3 - after) * bends[here + 1]) / 6.0
    return smooth


def _bands(values: Array, rate: float, bands: Array) -> tuple[Array, Array]:
    """Sums of squares (6, b) N² of values (n, 6) in bands, as white noise would have at all, and of how many (b,).

    A straight line is removed first, since a zero's drift is unknown.
    """
    time = np.linspace(-1.0, 1.0, len(values))[:, np.newaxis]
    away = values - values.mean(axis=0)
    away -= time * (np.sum(time * away, axis=0) / np.sum(time**2))
    frequencies = np.fft.rfftfreq(len(values), 1.0 / rate)
    power = 2.0 / len(values) * np.abs(np.fft.rfft(away, axis=0)) ** 2
    sums, counts = np.zeros((values.shape[1], len(bands) - 1)), np.zeros(len(bands) - 1)
    for band in range(len(bands) - 1):
        inside = (frequencies >= max(bands[band], 1e-9)) & (frequencies < bands[band + 1])
        sums[:, band] = power[inside].sum(axis=0)
        counts[band] = 2.0 * np.count_nonzero(inside)
    counts[0] = max(counts[0] - 2.0, 1.0)
    return sums, counts


def _misfits(excess: Array, degrees: Array, bands: Array, noise: Array, rate: float, *, held_out: bool) -> list[Misfit]:
    """Cells and bands whose variance relative to the noise's (6, b) is significant."""
    if not (excess > _RELEVANT).any():
        return []
    from scipy.special import chdtrc  # takes long to import, and few need it

    chance = chdtrc(degrees, excess * degrees) * excess.size * 2.0
    found = []
    for leg, band in zip(*np.nonzero((chance < _CHANCE) & (excess > _RELEVANT)), strict=True):
        low, high = float(bands[band]), float(bands[band + 1])
        here = float(noise[leg] * np.sqrt((high - low) / (0.5 * rate)))
        found.append(Misfit(int(leg), (low, high), here * float(np.sqrt(excess[leg, band])), here, held_out))
    return found


def _left(mechanism: Mechanism, record: ForceRecord, cutoff: float, lags: Array, coulomb_speed: float) -> Array:
    """Residuals of the cells of a stretch to a mechanism, each delayed by its lag, (n', 6) N."""
    motion = measured_motion(record, cutoff)
    edge = int(_EDGE * record.rate)
    inner = slice(edge, len(motion) - edge)
    excess = None if record.excess is None else record.excess[inner]
    dynamics = Dynamics(mechanism, coulomb_speed)
    left: Array = record.cells[inner] - dynamics.cells(at_once(mechanism, motion[inner], excess))
    if lags.any():
        left += lags * np.gradient(dynamics.cells(motion[inner]), 1.0 / record.rate, axis=0)
    return left
