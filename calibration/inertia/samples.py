"""Recorded stretches as input of an estimator: low-passed motion with its derivatives, and forces."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibration.errors import CalibrationError
from calibration.inertia.departures import Scales, Term, friction_columns, friction_terms
from dynamics import friction_signs, switched_friction
from kinematics import Array, Geometry, leg_kinematics, leg_lengths, motion_of_derivatives

_ORDER = 4
_EDGE = 0.5  # s at either end that the filter has not settled in: further than that it does not reach
_REACH = 15.0  # periods of the cutoff, after which the filter's impulse response is down to rounding
_ROWS = 64  # that are filtered at once
_FAST = 0.2  # of the rate, above which there is noise alone
_LEAST = 4.0  # s
_SPIKE = 20.0  # times the noise; what a leg gives in the cycle in which it turns round is up to 16 times
_LEAST_SPIKE = 1e-9  # N
_FIRST = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / 12.0
_SECOND = np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) / 12.0


@dataclass(frozen=True, slots=True, eq=False)
class ForceRecord:
    """A stretch without a gap at a constant `rate`, Hz.

    pose (n, 7): measured, base frame. cells (n, 6): N, at the same times. drives, excess (n, 6): N, or None where they
    are not known: mean forces of the drives about each sample, and their excess at its instant. A force is held from
    one command to the next: poses give the mean acceleration over a period, cells read instants. range: N, end of the
    cells' scale. source: the recording that it is a part of, empty if unknown; begin: s, on that one's clock.
    steps (6,): N, resolution of the cells' readings; None or 0 if unknown.
    """

    rate: float
    pose: Array
    cells: Array
    drives: Array | None = None
    excess: Array | None = None
    range: float = math.inf
    source: str = ""
    begin: float = 0.0
    steps: Array | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """A stretch after its zero-phase low-pass, sampled without loss of information: all (m, …).

    t: s, from its beginning. motions (m, 19). cells, drives (m, 6): N. slopes (m, 6): N/s, of the cells. excess (m,
    6): N, see `ForceRecord`. signs (m, 6): of the legs' speeds; friction (m, 6, k): shapes of friction beyond
    them, by `friction_terms`; both low-passed too. jerks (m, 6): m/s³, of the legs. switched (m, 6):
    `dynamics.switched_friction` of their speeds, low-passed too. record (m,): the number of the stretch. spikes (6,):
    spikes of each cell that were replaced.
    """

    t: Array
    motions: Array
    cells: Array
    drives: Array | None
    slopes: Array
    excess: Array | None
    signs: Array
    friction: Array
    friction_terms: tuple[Term, ...]
    jerks: Array
    switched: Array
    record: NDArray[np.intp]
    rate: float
    spikes: NDArray[np.intp]
    scales: Scales


def prepared(
    geometry: Geometry,
    records: Sequence[ForceRecord],
    cutoff: float,
    coulomb_speed: float,
    scales: Scales | None = None,
    least: float = _LEAST,
    unit: float = 1.0,
) -> Samples:
    """All stretches together, low-passed at `cutoff`, Hz, without phase, at twice that many samples a second.

    scales: of another recording, for the same candidates; their own if None. least: s, of a stretch. unit: of
    forces, the machine's size.
    Raises CalibrationError for stretches that are too short, of several rates, or hold numbers that are not finite.
    """
    faults = []
    for number, record in enumerate(records, start=1):
        if len(record.pose) < (least + 2.0 * _EDGE) * record.rate:
            seconds = len(record.pose) / record.rate
            faults.append(f"stretch {number}: {seconds:.1f} s, must be at least {least + 2.0 * _EDGE:g} s")
        if not (np.isfinite(record.pose).all() and np.isfinite(record.cells).all()):
            faults.append(f"stretch {number}: holds numbers that are not finite")
        if record.rate != records[0].rate:
            faults.append(f"stretch {number}: {record.rate:g} Hz, the first has {records[0].rate:g} Hz")
        if not 2.0 * cutoff <= 0.5 * record.rate:
            faults.append(f"cutoff: {cutoff:g} Hz, must be at most a quarter of the rate of {record.rate:g} Hz")
    if not records:
        faults.append("no stretch in which the platform moved along a path")
    if faults:
        raise CalibrationError(list(dict.fromkeys(faults)))
    found = [without_spikes(record.cells, record.steps) for record in records]
    records = [replace(record, cells=cells) for record, (cells, _) in zip(records, found, strict=True)]
    scales = _scales(geometry, records, cutoff, unit) if scales is None else scales
    first = {each.source: min(other.begin for other in records if other.source == each.source) for each in records}
    parts = []
    for number, (record, (_, spikes)) in enumerate(zip(records, found, strict=True)):
        since = record.begin - first[record.source]
        parts.append(_stretch(geometry, record, number, cutoff, coulomb_speed, since, scales, spikes))

    def together(name: str) -> Array:
        return np.concatenate([getattr(part, name) for part in parts])

    def all_or_none(name: str) -> Array | None:
        return None if any(getattr(part, name) is None for part in parts) else together(name)

    return Samples(
        t=together("t"),
        motions=together("motions"),
        cells=together("cells"),
        slopes=together("slopes"),
        signs=together("signs"),
        friction=together("friction"),
        friction_terms=friction_terms(scales.span, scales.unit),
        jerks=together("jerks"),
        switched=together("switched"),
        record=np.concatenate([part.record for part in parts]),
        drives=all_or_none("drives"),
        excess=all_or_none("excess"),
        rate=parts[0].rate,
        spikes=np.sum([part.spikes for part in parts], axis=0),
        scales=scales,
    )


def _scales(geometry: Geometry, records: Sequence[ForceRecord], cutoff: float, unit: float) -> Scales:
    lengths = [leg_lengths(geometry, record.pose) for record in records]
    low, high = min(float(each.min()) for each in lengths), max(float(each.max()) for each in lengths)
    cells = np.concatenate([low_passed(record.cells, cutoff, record.rate) for record in records])
    forces = np.column_stack([cells.min(axis=0), cells.max(axis=0)])
    forces[:, 1] = np.maximum(forces[:, 1], forces[:, 0] + 1e-6)
    return Scales(0.5 * (low + high), max(high - low, 1e-6), forces, unit)


def without_spikes(cells: Array, steps: Array | None = None) -> tuple[Array, NDArray[np.intp]]:
    """Readings (n, 6) N with spikes replaced by the median of five, and their count (6,).

    Hampel's filter: a spike is beyond `_SPIKE` times the noise, taken from the median second difference. With coarse
    `steps` (6,) N that is often 0: the noise is at least that of rounding.
    """
    medians = medians_of_five(cells)
    bends = cells[1:-1] - 0.5 * (cells[:-2] + cells[2:])  # √1.5 times as large as white noise
    usual = 1.4826 * np.median(np.abs(bends), axis=0) / np.sqrt(1.5)
    if steps is not None:
        usual = np.maximum(usual, steps / np.sqrt(12.0))
    far = np.abs(cells - medians) > np.maximum(_SPIKE * usual, _LEAST_SPIKE)
    return np.where(far, medians, cells), np.count_nonzero(far, axis=0)


def medians_of_five(values: Array) -> Array:
    """Running medians of five of values (n, k); the end values are repeated."""
    padded = np.concatenate([values[:1], values[:1], values, values[-1:], values[-1:]])
    a, b, c, d, e = (padded[first : first + len(values)] for first in range(5))
    low = np.maximum(np.minimum(a, b), np.minimum(c, d))  # of a to d the two in the middle, in no order
    high = np.minimum(np.maximum(a, b), np.maximum(c, d))
    middle: Array = np.maximum(np.minimum(low, high), np.minimum(np.maximum(low, high), e))
    return middle


def measured_motion(record: ForceRecord, cutoff: float) -> Array:
    """The motion (n, 19) of a stretch, low-passed without phase; its first and last two samples are invalid."""
    turns = np.cumprod(np.where(np.sum(record.pose[1:, 3:] * record.pose[:-1, 3:], axis=1) < 0.0, -1.0, 1.0))
    signed = record.pose.copy()
    signed[1:, 3:] *= turns[:, np.newaxis]  # q and −q are one attitude; a filter must not see the step between them
    pose = low_passed(signed, cutoff, record.rate)
    first = _derivative(pose, _FIRST) * record.rate
    second = _derivative(pose, _SECOND) * record.rate**2
    return motion_of_derivatives(pose, first, second)


def low_passed(values: Array, cutoff: float, rate: float) -> Array:
    """Filter values (n, k) by a Butterworth low-pass forwards and backwards, without delay.

    Columns are extended at their ends as odd functions, as far as the filter reaches.
    """
    count = len(values)
    reach = min(count - 1, math.ceil(_REACH * rate / cutoff))
    line = np.linspace(values[0], values[-1], count, axis=1)
    away = values.T - line
    extended = np.concatenate([-away[:, reach:0:-1], away, -away[:, count - 2 :: -1][:, :reach]], axis=1)
    size = _fast_size(extended.shape[1])
    spectra = np.fft.rfft(extended, size)
    spectra *= _response(np.fft.rfftfreq(size, 1.0 / rate), cutoff, rate)
    filtered: Array = np.ascontiguousarray((line + np.fft.irfft(spectra, size)[:, reach : reach + count]).T)
    return filtered


def _fast_size(count: int) -> int:
    """The least number from `count` on whose Fourier transform is fast: 2ⁿ times 1, 3, 5, 9 or 15."""
    return min(factor << ((count - 1) // factor).bit_length() for factor in (1, 3, 5, 9, 15))


def _response(frequencies: NDArray[np.floating[Any]], cutoff: float, rate: float) -> Array:
    """Gain of the Butterworth low-pass forwards and backwards, by the bilinear transform, at frequencies, Hz."""
    gain: Array = 1.0 / (1.0 + (np.tan(np.pi / rate * frequencies) / np.tan(np.pi / rate * cutoff)) ** (2 * _ORDER))
    return gain


def thinned(values: Array, cutoff: float, rate: float, edge: int, step: int) -> Array:
    """Rows edge, edge + step … n − edge of `low_passed` values (n, k), of which only these are computed.

    By the filter's impulse response, truncated after `edge` samples.
    """
    size = 1 << (4 * edge).bit_length()
    half = np.fft.irfft(_response(np.fft.rfftfreq(size, 1.0 / rate), cutoff, rate), size)[: edge + 1]
    taps = np.concatenate([half[:0:-1], half])
    taps /= taps.sum()
    count = len(range(edge, len(values) - edge, step))
    weights = np.zeros((min(_ROWS, count), (min(_ROWS, count) - 1) * step + len(taps)))
    for row in range(len(weights)):
        weights[row, row * step : row * step + len(taps)] = taps
    thinned = np.empty((count, values.shape[1]))
    for first in range(0, count, _ROWS):
        here = min(_ROWS, count - first)
        reach = (here - 1) * step + len(taps)
        np.matmul(
            weights[:here, :reach], values[first * step : first * step + reach], out=thinned[first : first + here]
        )
    return thinned


def noise_floor(record: ForceRecord) -> Array:
    """Standard deviation (6,) N of white noise of the cells, by their part that is too fast for a machine."""
    return fast_part(record.cells, record.rate)


def fast_part(values: Array, rate: float) -> Array:
    """Standard deviation (6,) of white noise with the power that values (n, 6) have above a fifth of the rate."""
    cutoff = _FAST * rate
    fast = values - low_passed(values, cutoff, rate)
    noise_gain = float(np.mean((1.0 - _response(np.arange(4096) / 8192.0 * rate, cutoff, rate)) ** 2))
    edge = int(_EDGE * rate)
    deviation: Array = np.sqrt(np.mean(fast[edge:-edge] ** 2, axis=0) / noise_gain)
    return deviation


def _stretch(
    geometry: Geometry,
    record: ForceRecord,
    number: int,
    cutoff: float,
    coulomb_speed: float,
    since: float,
    scales: Scales,
    spikes: NDArray[np.intp],
) -> Samples:
    """A stretch that begins `since` s after the first of its source."""
    edge, step = int(_EDGE * record.rate), max(1, int(record.rate / (2.0 * cutoff)))
    chosen = slice(edge, len(record.pose) - edge, step)
    motion = measured_motion(record, cutoff)
    cells = low_passed(record.cells, cutoff, record.rate)
    speeds, accelerations = np.zeros_like(cells), np.zeros_like(cells)
    legs = leg_kinematics(geometry, motion[2:-2])
    speeds[2:-2], accelerations[2:-2] = legs.velocity, legs.acceleration
    load = np.abs(cells if record.drives is None else record.drives)
    times = since + np.arange(len(cells)) / record.rate
    lengths = leg_lengths(geometry, motion[:, :7])

    def passed(values: Array) -> Array:
        return thinned(values, cutoff, record.rate, edge, step)

    friction = [  # one leg after the other: these are many
        passed(friction_columns(speeds[:, leg], lengths[:, leg], load[:, leg], times, scales, coulomb_speed))
        for leg in range(6)
    ]

    return Samples(
        t=np.arange(len(record.pose))[chosen] / record.rate,
        motions=motion[chosen],
        cells=cells[chosen],
        drives=None if record.drives is None else passed(record.drives),
        slopes=_derivative(cells, _FIRST)[chosen] * record.rate,
        excess=None if record.excess is None else passed(record.excess),
        signs=passed(friction_signs(speeds, coulomb_speed)),
        friction=np.stack(friction, axis=1),
        friction_terms=(),
        jerks=_derivative(accelerations, _FIRST)[chosen] * record.rate,
        switched=passed(switched_friction(speeds, coulomb_speed)),
        record=np.full(len(range(len(record.pose))[chosen]), number),
        rate=record.rate / step,
        spikes=spikes,
        scales=scales,
    )


def _derivative(values: Array, stencil: Array) -> Array:
    result = np.zeros_like(values)
    n = len(values)
    for offset, weight in zip(range(-2, 3), stencil, strict=True):
        result[2:-2] += weight * values[2 + offset : n - 2 + offset]
    return result
