"""Resampling of stamped samples to an even cycle: jitter and open gaps, and the delay of measured to commanded."""

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
"""samples of a stretch that is worth a cycle"""

_WINDOW = 101  # samples, over which stamps are even
_GAP = 1.5  # of the usual interval
_COARSE = (1.0, 0.1, 1e-2, 1e-3, 1e-4)
"""s: resolutions of stamps that are looked for"""
_BLOCKS = 20
_EXACT = 1e-3  # of an interval: less jitter than that is rounding
_MAX_SHARE_SIGMA = 0.1  # standard uncertainty of the share, above which the motion does not tell it
_FOURTH = np.array([1.0, -4.0, 6.0, -4.0, 1.0])
_FOURTH_GAIN = float(_FOURTH @ _FOURTH)
"""fourth differences leave nothing of a motion and this much of the variance of white noise"""
_BEYOND = 0.1  # of a cycle, by which a spline may go on beyond its ends
_TRIMMED = 10  # samples at either end of what `scipy.signal.resample_poly` has to make up
_RAISED = 1.01  # of the log's own rate, up to which a cycle is not faster than it


@dataclass(frozen=True, slots=True, eq=False)
class Stamps:
    """What the stamps of samples (n,) are.

    t: s, when they were taken, as far as that is known. interval: the usual one, s. jitter, largest: RMS and greatest
    deviation of the stamps from even times, s. share, sigma: part of it that the motion follows; None where it does not
    tell. sampled: whether t are the stamps, else the even times. time_noise: RMS, s, of what the times are unknown by;
    None where nothing moved. stretches: those without a gap, as slices; pieces: those in which no sample is missing.
    bridged: intervals inside of stretches in which samples are missing; longest_bridged:
    s, of these.
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
        """Samples a second, the nearest whole number where it is that to one in five thousand."""
        rate = 1.0 / self.interval
        return float(round(rate)) if rate > 1.0 and abs(rate - round(rate)) < 2e-4 * rate else float(f"{rate:.6g}")


def stamps_of(
    t: Array, values: Array, kind: Literal["auto", "sampled", "even"], gap: float | None, name: str
) -> Stamps:
    """What the increasing stamps t (n,), s, of samples (n, k) of a motion are.

    kind: what is known of them, see `TimeColumn.stamps`. gap: s, longest interval that is none, or None. name: for
    messages. Raises InputError where there is no stretch of FEWEST samples.
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
    """Samples (n, k) on the cycle begin + i/rate, i < count: (count, k), not a number where there are none.

    Cubic splines inside each stretch; where the rate is lowered, a linear-phase low-pass below half of it
    (`scipy.signal.resample_poly`) on samples between, whose ends are left out.
    """
    from scipy.interpolate import make_interp_spline  # takes long to import, and few need it
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
    """Refuse a cycle that is faster than the samples: values between samples are unknown. Raises InputError."""
    if rate > _RAISED * own:
        raise InputError(f"rate: {rate:g} Hz, must be at most {own:g} Hz: {name} has no more samples a second")


def white_noise(values: Array, stretches: Sequence[slice]) -> Array:
    """Standard deviation (k,) of the white noise of which samples (n, k) have as much in their fourth differences."""
    squares = np.concatenate([_high_passed(values[part]) ** 2 for part in stretches])
    noise: Array = np.sqrt(squares.mean(axis=0) / _FOURTH_GAIN)
    return noise


def ratio_by_blocks(upper: npt.ArrayLike, lower: npt.ArrayLike) -> tuple[float, float]:
    """Σ upper / Σ lower of blocks (m,), and its standard uncertainty by leaving out one after the other."""
    above, below = np.asarray(upper, dtype=np.float64), np.asarray(lower, dtype=np.float64)
    count = len(above)
    without = (above.sum() - above) / (below.sum() - below)
    sigma = math.sqrt((count - 1) / count * float(np.sum((without - without.mean()) ** 2)))
    return float(above.sum() / below.sum()), sigma


def _usual(steps: Array) -> float:
    """The usual interval, s: the mean of those that are no gaps, since stamps that are rounded have several."""
    median = float(np.median(steps))
    return float(steps[steps <= 2.0 * median].mean())


def _resolution(t: Array, interval: float) -> float:
    """Step of a clock whose stamps are all multiples of it, s, by which an interval may be longer; 0 without one."""
    for step in _COARSE:
        if step <= interval and np.all(np.abs(t / step - np.round(t / step)) < 1e-3):
            return step
    return 0.0


def _split(steps: Array, gap: float) -> tuple[slice, ...]:
    """Stretches of FEWEST samples at least without a step, s, of more than a gap."""
    edges = [0, *(np.flatnonzero(steps > gap) + 1).tolist(), len(steps) + 1]
    return tuple(slice(a, b) for a, b in pairwise(edges) if b - a >= FEWEST)


def _even(t: Array, line: Array) -> Array:
    """Even times (n,) of stamps: as a line (n,), but for what a clock drifts over some hundred samples."""
    from scipy.signal import savgol_filter  # takes long to import, and few need it

    window = min(_WINDOW, len(t) - 1 + len(t) % 2)
    smooth: Array = line + savgol_filter(t - line, window, 1)
    return smooth


def _followed(
    values: Array, late: Array, stretches: Sequence[slice], interval: float
) -> tuple[float | None, float | None]:
    """The part of the stamps' deviations (n,), s, that samples (n, k) follow; none where they do not tell it."""
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
    """RMS, s, of what the times of samples are unknown by: by how much more they scatter the faster the motion is.

    late (n,): of the samples' times from the even ones, as they are taken to be. None where nothing moved.
    """
    seen, speeds = [], []
    for part in stretches:
        speed = np.gradient(values[part], interval, axis=0)
        seen.append(_high_passed(values[part] - speed * late[part, np.newaxis]) ** 2 / _FOURTH_GAIN)
        speeds.append(speed[2:-2] ** 2)
    squares, energies = np.concatenate(seen), np.concatenate(speeds)
    energies = energies - energies.mean(axis=0)  # each column has a noise of its own beside
    whole = float(np.sum(energies**2))
    if not whole > 0.0:
        return None
    return math.sqrt(max(0.0, float(np.sum(energies * squares)) / whole))


def _high_passed(values: Array) -> Array:
    """Fourth differences (n − 4, k) of samples (n, k)."""
    return np.diff(values, 4, axis=0)


LONGEST = 1.0
"""s, of a delay that is looked for"""

_BLOCK = 1.0  # s at least
_FEWEST_BLOCKS = 5
_ROUNDS = 8
_ENOUGH = 1e-5  # of a sample


@dataclass(frozen=True, slots=True)
class Delay:
    """How much later the measured motion is than the commanded one, s, and its standard uncertainty."""

    delay: float
    sigma: float


def delay_of(commanded: Array, measured: Array, stretches: Sequence[slice], rate: float) -> Delay | None:
    """The delay of measured behind commanded leg lengths (n, 6), m, both on one even cycle, of stretches without a gap.

    The lag of the greatest cross-correlation of the legs' speeds; about it measured = offset + gain · commanded(t − τ)
    by least squares, one τ for all legs, an offset and a gain for each. The uncertainty is that of blocks of time left
    out one after the other, so that what the machine does beside following is in it.

    None where nothing moves, the lag is longer than LONGEST or a quarter of the longest stretch, or there are too few
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
    from scipy.interpolate import make_interp_spline  # takes long to import, and few need it

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
        if not abs(shift - start) < 2.0:  # not what the cross-correlation has found: the fit has no one answer
            return None
        if abs(change) < _ENOUGH:
            break
    return Delay(shift / rate, sigma / rate)


def _nearest(commanded: Array, measured: Array, stretches: Sequence[slice], reach: int) -> int:
    """Whole samples by which the speeds of measured and commanded legs (n, 6) are most alike, at most `reach`."""
    from scipy.signal import correlate  # takes long to import, and few need it

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
