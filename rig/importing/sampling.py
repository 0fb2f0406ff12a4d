"""Resampling of stamped samples to a constant rate: jitter and gaps, and the delay between commanded and measured."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from kinematics import Array
from rig.errors import InputError

FEWEST = 16
"""minimum samples of a usable stretch"""

_WINDOW = 101  # samples, window for even stamps
_GAP = 1.5  # of the usual interval
_COARSE = (1.0, 0.1, 1e-2, 1e-3, 1e-4)
"""candidate resolutions of stamps, s"""
_BLOCKS = 20
_EXACT = 1e-3  # of an interval: less jitter than that is rounding
_MAX_SHARE_SIGMA = 0.1  # standard uncertainty of the share, above which it is undetermined
_FOURTH = np.array([1.0, -4.0, 6.0, -4.0, 1.0])
_FOURTH_GAIN = float(_FOURTH @ _FOURTH)
"""variance gain of white noise in fourth differences, which cancel a motion"""
_BEYOND = 0.1  # of a cycle, allowed extrapolation of a spline
_TRIMMED = 10  # samples at either end affected by the edges of `scipy.signal.resample_poly`
_RAISED = 1.01  # tolerance of the cycle's rate over the log's own


@dataclass(frozen=True, slots=True, eq=False)
class Stamps:
    """Analysis of the stamps of samples (n,).

    t: s, estimated sampling times. interval: the usual one, s. jitter, largest: RMS and greatest deviation of the
    stamps from even times, s. share, sigma: fraction of it that the motion follows; None if undetermined. sampled:
    whether t are the stamps, otherwise the even times. time_noise: RMS uncertainty of the times, s; None without
    motion. stretches: those without a gap, as slices; pieces: those without missing samples. bridged: intervals inside
    of stretches with missing samples; longest_bridged: s, of these.
    """

    t: Array
    interval: float
    jitter: float
    largest: float
    share: float | None
    sigma: float | None
    sampled: bool
    time_noise: float | None
    stretches: tuple[slice, ...]
    pieces: tuple[slice, ...]
    bridged: int
    longest_bridged: float

    @property
    def rate(self) -> float:
        """Samples per second, rounded to a whole number if within one in five thousand."""
        rate = 1.0 / self.interval
        return float(round(rate)) if rate > 1.0 and abs(rate - round(rate)) < 2e-4 * rate else float(f"{rate:.6g}")


def stamps_of(
    t: Array, values: Array, kind: Literal["auto", "sampled", "even"], gap: float | None, name: str
) -> Stamps:
    """Analyse the increasing stamps t (n,), s, of samples (n, k) of a motion.

    kind: assumption about them, see `TimeColumn.stamps`. gap: s, longest interval that is not a gap, or None. name:
    for messages. Raises InputError without a stretch of FEWEST samples.
    """
    steps = np.diff(t)
    if len(t) < FEWEST:
        raise InputError(f"{name}: {len(t)} samples, at least {FEWEST} are needed")
    interval = _usual(steps)
    usual = _GAP * interval + _resolution(t, interval)
    gap = usual if gap is None else gap
    stretches, pieces = (_split(steps, longest) for longest in (gap, min(gap, usual)))
    if not stretches or not pieces:
        raise InputError(
            f"{name}: no stretch of {FEWEST} samples without a gap of more than {gap:.3g} s, the usual interval is "
            f"{interval:.3g} s; say what a gap is (time.gap), if its samples are that irregular"
        )
    interval = float(np.concatenate([steps[part.start : part.stop - 1] for part in pieces]).mean())
    numbers = np.where(steps <= usual, 1.0, np.maximum(1.0, np.round(steps / interval)))
    even = t.copy()
    for part in stretches:
        even[part] = _even(t[part], interval * np.append(0.0, np.cumsum(numbers[part.start : part.stop - 1])))
    late = t - even
    deviations = np.concatenate([late[part] for part in stretches])
    jitter, largest = float(np.sqrt(np.mean(deviations**2))), float(np.abs(deviations).max())
    share = sigma = None
    sampled = kind != "even"
    if jitter > _EXACT * interval:
        share, sigma = _followed(values, late, pieces, interval)
        if kind == "auto" and share is not None:
            sampled = share > 0.5
    noise = _time_noise(values, late if sampled else np.zeros_like(late), pieces, interval)
    bridged = steps[(steps > usual) & (steps <= gap)]
    return Stamps(
        t=t if sampled else even,
        interval=interval,
        jitter=jitter,
        largest=largest,
        share=share,
        sigma=sigma,
        sampled=sampled,
        time_noise=noise,
        stretches=stretches,
        pieces=pieces,
        bridged=len(bridged),
        longest_bridged=float(bridged.max(initial=0.0)),
    )


def resampled(stamps: Stamps, values: Array, rate: float, begin: float, count: int) -> Array:
    """Resample (n, k) to the cycle begin + i/rate, i < count: (count, k), NaN if there are no samples.

    Cubic splines inside each stretch; if the rate is lowered, after a linear-phase low-pass below half of it
    (`scipy.signal.resample_poly`) on samples between, with the ends left out.
    """
    from scipy.interpolate import make_interp_spline  # slow to import, rarely needed
    from scipy.signal import resample_poly

    result = np.full((count, values.shape[1]), np.nan)
    fold = max(1, math.ceil(1.0 / (stamps.interval * rate) / _RAISED))
    for part in stamps.stretches:
        t = stamps.t[part] - begin
        first, last = math.ceil(t[0] * rate - _BEYOND), math.floor(t[-1] * rate + _BEYOND)
        if last < first or not np.all(np.diff(t) > 0.0):
            continue
        grid = np.arange(first * fold, last * fold + 1) / (fold * rate)
        fine = make_interp_spline(t, values[part], k=3)(grid)
        if fold > 1:
            if last - first < 2 * _TRIMMED:
                continue
            fine = resample_poly(fine, 1, fold, axis=0, padtype="line")[_TRIMMED:-_TRIMMED]
            first += _TRIMMED
        begin_at, end_at = max(first, 0), min(first + len(fine), count)
        if begin_at < end_at:
            result[begin_at:end_at] = fine[begin_at - first : end_at - first]
    return result


def check_rate(rate: float, own: float, name: str) -> None:
    """Reject a cycle faster than the samples: values between samples are unknown. Raises InputError."""
    if rate > _RAISED * own:
        raise InputError(f"rate: {rate:g} Hz, must be at most {own:g} Hz: {name} has no more samples a second")


def white_noise(values: Array, stretches: Sequence[slice]) -> Array:
    """Estimate the standard deviation (k,) of white noise from the fourth differences of samples (n, k)."""
    squares = np.concatenate([_high_passed(values[part]) ** 2 for part in stretches])
    noise: Array = np.sqrt(squares.mean(axis=0) / _FOURTH_GAIN)
    return noise


def ratio_by_blocks(upper: npt.ArrayLike, lower: npt.ArrayLike) -> tuple[float, float]:
    """Σ upper / Σ lower of blocks (m,), and its jackknife standard uncertainty."""
    above, below = np.asarray(upper, dtype=np.float64), np.asarray(lower, dtype=np.float64)
    count = len(above)
    without = (above.sum() - above) / (below.sum() - below)
    sigma = math.sqrt((count - 1) / count * float(np.sum((without - without.mean()) ** 2)))
    return float(above.sum() / below.sum()), sigma


def _usual(steps: Array) -> float:
    """Mean of the intervals without gaps, s, since rounded stamps have several."""
    median = float(np.median(steps))
    return float(steps[steps <= 2.0 * median].mean())


def _resolution(t: Array, interval: float) -> float:
    """Step of a clock of which all stamps are multiples, s, a possible excess of an interval; 0 if none."""
    for step in _COARSE:
        if step <= interval and np.all(np.abs(t / step - np.round(t / step)) < 1e-3):
            return step
    return 0.0


def _split(steps: Array, gap: float) -> tuple[slice, ...]:
    """Stretches of at least FEWEST samples without a step, s, longer than a gap."""
    edges = [0, *(np.flatnonzero(steps > gap) + 1).tolist(), len(steps) + 1]
    return tuple(slice(a, b) for a, b in pairwise(edges) if b - a >= FEWEST)


def _even(t: Array, line: Array) -> Array:
    """Even times (n,) of stamps: a line (n,) plus the drift of a clock over some hundred samples."""
    from scipy.signal import savgol_filter  # slow to import, rarely needed

    window = min(_WINDOW, len(t) - 1 + len(t) % 2)
    smooth: Array = line + savgol_filter(t - line, window, 1)
    return smooth


def _followed(
    values: Array, late: Array, stretches: Sequence[slice], interval: float
) -> tuple[float | None, float | None]:
    """Fraction of the stamps' deviations (n,), s, that samples (n, k) follow, with σ; None if undetermined."""
    upper, lower = [], []
    for part in stretches:
        effect = _high_passed(np.gradient(values[part], interval, axis=0) * late[part, np.newaxis])
        seen = _high_passed(values[part])
        upper += list((effect * seen).sum(axis=1))
        lower += list((effect * effect).sum(axis=1))
    blocks = [np.array_split(np.array(each), _BLOCKS) for each in (upper, lower)]
    sums = [np.array([block.sum() for block in each]) for each in blocks]
    if len(upper) < 10 * _BLOCKS or not (sums[1] > 0.0).all():
        return None, None
    share, sigma = ratio_by_blocks(*sums)
    return (share, sigma) if sigma < _MAX_SHARE_SIGMA else (None, None)


def _time_noise(values: Array, late: Array, stretches: Sequence[slice], interval: float) -> float | None:
    """RMS uncertainty, s, of the samples' times: from the growth of their scatter with the speed of the motion.

    late (n,): assumed times of the samples minus the even ones. None without motion.
    """
    seen, speeds = [], []
    for part in stretches:
        speed = np.gradient(values[part], interval, axis=0)
        seen.append(_high_passed(values[part] - speed * late[part, np.newaxis]) ** 2 / _FOURTH_GAIN)
        speeds.append(speed[2:-2] ** 2)
    squares, energies = np.concatenate(seen), np.concatenate(speeds)
    energies = energies - energies.mean(axis=0)  # each column also has its own noise
    whole = float(np.sum(energies**2))
    if not whole > 0.0:
        return None
    return math.sqrt(max(0.0, float(np.sum(energies * squares)) / whole))


def _high_passed(values: Array) -> Array:
    """Fourth differences (n − 4, k) of samples (n, k)."""
    return np.diff(values, 4, axis=0)


LONGEST = 1.0
"""longest delay that is searched, s"""

_BLOCK = 1.0  # s at least
_FEWEST_BLOCKS = 5
_ROUNDS = 8
_ENOUGH = 1e-5  # of a sample


@dataclass(frozen=True, slots=True)
class Delay:
    """Delay of measured behind commanded motion, s, and its standard uncertainty."""

    delay: float
    sigma: float


def delay_of(commanded: Array, measured: Array, stretches: Sequence[slice], rate: float) -> Delay | None:
    """Estimate the delay of measured behind commanded leg lengths (n, 6), m, at one rate, from stretches without a gap.

    The start is the lag of the greatest cross-correlation of the legs' speeds; then least squares of
    measured = offset + gain · commanded(t − τ), one τ for all legs, an offset and a gain for each. The uncertainty is a
    jackknife over blocks of time, so that it includes other motions of the machine.

    Returns None without motion, for a lag longer than LONGEST or a quarter of the longest stretch, or with too few
    blocks of a second.
    """
    reach = int(min(LONGEST * rate, max(part.stop - part.start for part in stretches) / 4))
    start = _nearest(commanded, measured, stretches, reach)
    margin = abs(start) + 3
    block = max(1, round(_BLOCK * rate))
    parts = [part for part in stretches if part.stop - part.start >= 2 * margin + block]
    inner = [np.arange(part.start + margin, part.stop - margin) for part in parts]
    labels = [np.arange(len(rows)) * (len(rows) // block) // len(rows) for rows in inner]
    ends = np.cumsum([0] + [int(each[-1]) + 1 for each in labels])
    blocks = int(ends[-1])
    if abs(start) >= reach or blocks < _FEWEST_BLOCKS:
        return None
    label = np.concatenate([each + end for each, end in zip(labels, ends[:-1], strict=True)])
    from scipy.interpolate import make_interp_spline  # slow to import, rarely needed

    splines = [make_interp_spline(np.arange(part.start, part.stop), commanded[part], k=3) for part in parts]
    slopes = [spline.derivative() for spline in splines]
    seen = np.concatenate([measured[rows] for rows in inner])
    shift, sigma = float(start), math.inf
    for _ in range(_ROUNDS):
        moved, rising = (
            np.concatenate([each(rows - shift) for each, rows in zip(of, inner, strict=True)])
            for of in (splines, slopes)
        )
        upper, lower = np.zeros(blocks), np.zeros(blocks)
        for leg in range(6):
            known = np.column_stack([np.ones(len(seen)), moved[:, leg]])
            both = np.column_stack([seen[:, leg], -rising[:, leg]])
            solved = np.linalg.lstsq(known, both, rcond=None)[0]
            left = both - known @ solved
            across = float(solved[1, 0]) * left[:, 1]
            upper += np.bincount(label, across * left[:, 0], blocks)
            lower += np.bincount(label, across * across, blocks)
        if not (lower.sum() - lower > 0.0).all():
            return None
        change, sigma = ratio_by_blocks(upper, lower)
        shift += change
        if not abs(shift - start) < 2.0:  # far from the cross-correlation's result: the fit is ambiguous
            return None
        if abs(change) < _ENOUGH:
            break
    return Delay(shift / rate, sigma / rate)


def _nearest(commanded: Array, measured: Array, stretches: Sequence[slice], reach: int) -> int:
    """Whole samples by which the speeds of measured and commanded legs (n, 6) correlate best, at most `reach`."""
    from scipy.signal import correlate  # slow to import, rarely needed

    total = np.zeros(2 * reach + 1)
    for part in stretches:
        count = part.stop - part.start
        if count < 2 * reach + 2:
            continue
        seen, asked = np.diff(measured[part], axis=0), np.diff(commanded[part], axis=0)
        for leg in range(6):
            both = correlate(seen[:, leg], asked[:, leg], mode="full")
            total += both[count - 2 - reach : count - 1 + reach]
    return int(np.argmax(total)) - reach if total.max(initial=0.0) > 0.0 else reach
