"""What was commanded and measured during a motion of the test: coordinates and accelerations over whole periods."""

import math
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kinematics import Geometry, pose_to_coordinates
from rig.acceptance.numbers import Basis, NotMeasurableError
from rig.acceptance.plan import Trial
from rig.acceptance.rounding import Rounding, drawn_rounding, encoder_steps
from rig.acceptance.sensors import Accelerometer, Tracker
from rig.config import RigConfig
from rig.findings import Code, Finding

Floats: TypeAlias = npt.NDArray[np.float64]
Complex: TypeAlias = npt.NDArray[np.complex128]
Rows: TypeAlias = npt.NDArray[np.void]

FIELDS = (
    "t",
    "path_time",
    "path_rate",
    "reference",
    "pose",
    "length",
    "length_reference",
    "force_residual",
)
"""Columns of telemetry that the tests need."""
_NEAR = 6  # lines to either side of a harmonic, about, that say how noisy it is
_MISSING = 0.005  # of the cycles, that may be skipped; these are interpolated


@dataclass(frozen=True, slots=True, eq=False)
class Sensors:
    """Measurements by external sensors; None where there are none, and the encoders serve."""

    accelerometer: Accelerometer | None = None
    tracker: Tracker | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Signals:
    """A motion, one row a cycle.

    t, path_time (n,): s. commanded, measured (n, 6): coordinates, m and rad. acceleration (n, 6): commanded, of the
    coordinates. sensed (n, 6): measured accelerations where a sensor gives them, NaN in a column without; None without
    a sensor. lengths (n, 2, 6): m, commanded and measured. residual (n, 6): N. poses: the basis of `measured`.
    scale (6,): of coordinates to lengths, the characteristic length for angles. skipped: number of interpolated cycles.
    steps (6,): m, of the encoders; 0 where they do not round.
    """

    t: Floats
    path_time: Floats
    commanded: Floats
    measured: Floats
    sensed: Floats | None
    lengths: Floats
    residual: Floats
    poses: Basis
    scale: Floats
    rate: float
    skipped: int
    steps: Floats

    def part(self, begin: float, duration: float) -> slice:
        """Rows from a time of the path on, for so many s. Raises NotMeasurableError where some are missing."""
        first = int(np.searchsorted(self.path_time, begin - 0.25 / self.rate))
        count = round(duration * self.rate)
        if first + count > len(self.t):
            raise NotMeasurableError(Finding(Code.ACCEPT_CUT_OFF, value=len(self.t) - first, bound=count))
        return slice(first, first + count)


def signals_of(rows: Rows, config: RigConfig, sensors: Sensors) -> Signals:
    """Prepare the rows of one motion. Raises NotMeasurableError if they cannot be used, with the reason."""
    if len(rows) < 4:
        raise NotMeasurableError(Finding(Code.ACCEPT_NOT_RUN))
    if not (rows["path_rate"] == 1.0).all():
        raise NotMeasurableError(Finding(Code.ACCEPT_SLOWED))
    for name in ("reference", "pose", "length", "length_reference"):
        if not np.isfinite(rows[name]).all():
            raise NotMeasurableError(Finding(Code.ACCEPT_GAPS, details={"column": name}))
    rate = config.rate
    cycles = np.round((rows["t"] - rows["t"][0]) * rate).astype(np.int64)
    if (np.diff(cycles) < 1).any():
        raise NotMeasurableError(Finding(Code.ACCEPT_DISORDER))
    count = int(cycles[-1]) + 1
    skipped = count - len(rows)
    if skipped > _MISSING * count:
        bound = math.floor(_MISSING * count)
        raise NotMeasurableError(Finding(Code.ACCEPT_SKIPPED, value=skipped, bound=bound, details={"count": count}))
    commanded, measured = (_coordinates(rows[name][:, :7]) for name in ("reference", "pose"))
    poses = Basis.ENCODERS
    t = rows["t"][0] + np.arange(count) / rate
    if sensors.tracker is not None:
        tracked = sensors.tracker.poses(t)
        measured, poses = _coordinates(tracked), Basis.TRACKER
    columns = {
        "path_time": rows["path_time"][:, np.newaxis],
        "commanded": commanded,
        "measured": measured,
        "length": rows["length"],
        "wanted": rows["length_reference"],
        "residual": rows["force_residual"],
    }
    if skipped:
        columns = {
            name: values if len(values) == count else _filled(cycles, values, count) for name, values in columns.items()
        }
    sensed = None if sensors.accelerometer is None else sensors.accelerometer.accelerations(t, columns["commanded"])
    return Signals(
        t=t,
        path_time=columns["path_time"][:, 0],
        commanded=columns["commanded"],
        measured=columns["measured"],
        sensed=sensed,
        lengths=np.stack([columns["wanted"], columns["length"]], axis=1),
        residual=columns["residual"],
        poses=poses,
        scale=np.array([1.0] * 3 + [config.safety.characteristic_length] * 3),
        rate=rate,
        skipped=skipped,
        steps=encoder_steps(rows["length"]),
    )


def _filled(cycles: npt.NDArray[np.int64], values: Floats, count: int) -> Floats:
    grid = np.arange(count)
    return np.stack([np.interp(grid, cycles, column) for column in values.T], axis=1)


def _coordinates(poses: Floats) -> Floats:
    coordinates = pose_to_coordinates(np.ascontiguousarray(poses))
    coordinates[:, 3:] = np.unwrap(coordinates[:, 3:], axis=0)
    return coordinates


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """The spectrum of signals (n, k) over whole periods: complex amplitudes (m, k) of sines, and their frequencies.

    cycles: periods in the signal; the line of the period's h-th harmonic is `cycles` h. rounding (d, h, k): drawn
    amplitudes of the harmonics from the 0th on by rounding, which repeats with the period; d is 0 without.
    """

    amplitudes: Complex
    frequencies: Floats
    cycles: int
    count: int
    rounding: Complex

    def harmonic(self, number: int) -> Complex:
        """Amplitudes (k,) at a harmonic of the period."""
        amplitudes: Complex = self.amplitudes[self.cycles * number]
        return amplitudes

    def sigma(self, number: int) -> Floats:
        """Standard uncertainties (k,) of a harmonic's magnitude: by the lines beside it, and by rounding."""
        place = self.cycles * number
        reach = self.cycles * max(1, round(_NEAR / self.cycles))  # narrow, since noise of accelerations is steep
        near = np.arange(max(1, place - reach), min(len(self.amplitudes), place + reach + 1))
        near = near[near % self.cycles != 0]
        power = (np.abs(self.amplitudes[near]) ** 2).mean(axis=0)
        if len(self.rounding):
            power = power + (np.abs(self.rounding[:, number]) ** 2).mean(axis=0)
        sigma: Floats = np.sqrt(0.5 * power)
        return sigma

    def accelerated(self) -> "Lines":
        """The spectrum of the second derivative."""
        factor = -((2.0 * math.pi * self.frequencies[:, np.newaxis]) ** 2)
        harmonics = factor[:: self.cycles][: self.rounding.shape[1]]
        return replace(self, amplitudes=self.amplitudes * factor, rounding=self.rounding * harmonics)

    def within(self, band: float, without: tuple[int, ...] = ()) -> "Lines":
        """Only the lines from the period's to a frequency, Hz, without some harmonics."""
        wanted = self.frequencies <= band
        wanted[[0, *(self.cycles * number for number in without)]] = False
        harmonics = wanted[:: self.cycles][: self.rounding.shape[1]]
        kept, rounding = self.amplitudes.copy(), self.rounding.copy()
        kept[~wanted], rounding[:, ~harmonics] = 0.0, 0.0
        return replace(self, amplitudes=kept, rounding=rounding)

    def rms(self) -> Floats:
        """RMS (k,) of the signal of these lines."""
        rms: Floats = np.sqrt(0.5 * (np.abs(self.amplitudes[1:]) ** 2).sum(axis=0))
        return rms

    def rms_sigma(self) -> Floats:
        """Standard uncertainties (k,) of `rms`.

        Lines that are no harmonics of the period are noise, and so are as uncertain as they are large. A harmonic is a
        constant with the noise of the lines beside it. Whatever the spectrum is like, a few large lines count as few.
        Rounding scatters as drawn, by itself and with what is left of a harmonic without it.
        """
        power = np.abs(self.amplitudes) ** 2
        number = np.arange(len(power))
        harmonic = (number % self.cycles == 0) & (number > 0)
        noise = np.where(harmonic[:, np.newaxis], 0.0, power)
        variance = (0.5 * noise[1:] ** 2).sum(axis=0)  # of a sum of |n|², whose mean square is twice its variance
        for place in number[harmonic & (power > 0.0).any(axis=1)].tolist():
            near = np.arange(max(1, place - self.cycles), min(len(power), place + self.cycles + 1))
            near = near[(near % self.cycles != 0) & (power[near] > 0.0).any(axis=1)]
            if len(near):
                variance += 2.0 * power[place] * power[near].mean(axis=0)
        if len(self.rounding):
            drawn = np.abs(self.rounding) ** 2  # (d, h, k)
            by_line = drawn.mean(axis=0)
            beside = (by_line * (power[:: self.cycles][: len(by_line)] - by_line)).sum(axis=0)
            variance += drawn.sum(axis=1).var(axis=0, ddof=1) + 2.0 * np.maximum(beside, 0.0)
        rms = self.rms()
        sigma: Floats = 0.25 * np.sqrt(variance) / np.where(rms > 0.0, rms, 1.0)
        return sigma

    def signal(self) -> Floats:
        """The signal (n, k) of these lines, without its mean."""
        found: Floats = np.fft.irfft(self.amplitudes * (0.5 * self.count), n=self.count, axis=0)
        return found

    def rounded(self) -> Floats:
        """The signals (d, count / cycles, k) of the drawn roundings."""
        count = self.count // self.cycles
        found: Floats = np.fft.irfft(self.rounding * (0.5 * count), n=count, axis=1)
        return found


def lines_of(signal: Floats, rate: float, cycles: int, rounding: Floats | None = None) -> Lines:
    """Return the spectrum of signals (n, k) over `cycles` periods; that of their mean is left out.

    rounding: (d, n / cycles, k), drawn errors by rounding over one period.
    """
    count = len(signal)
    amplitudes = np.fft.rfft(signal - signal.mean(axis=0), axis=0) * (2.0 / count)
    frequencies: Floats = np.fft.rfftfreq(count, 1.0 / rate).astype(np.float64)
    if rounding is None:
        drawn = np.zeros((0, 1, signal.shape[1]), np.complex128)
    else:
        drawn = np.fft.rfft(rounding, axis=1) * (2.0 / rounding.shape[1])
    return Lines(amplitudes, frequencies, cycles, count, drawn)


@dataclass(frozen=True, slots=True, eq=False)
class Accelerations:
    """Scaled accelerations (n, 6) over whole periods, m/s², in the band: commanded and measured, with their basis.

    rounding (d, n / cycles, 6): drawn errors of the measured ones by rounding, over one period.
    """

    commanded: Floats
    measured: Floats
    basis: tuple[Basis, ...]
    rounding: Floats

    @property
    def errors(self) -> Floats:
        """Measured minus commanded (n, 6)."""
        return self.measured - self.commanded


def accelerations_of(signals: Signals, part: slice, cycles: int, band: float, rounding: Rounding) -> Accelerations:
    """Return accelerations over whole periods: of the sensor where it has the axis, else from the measured poses.

    The second derivative is taken of the spectrum of the deviation from the commanded motion, which is nearly periodic
    even while a fade decays.
    """
    commanded = lines_of(signals.commanded[part] * signals.scale, signals.rate, cycles).accelerated().within(band)
    deviation = lines_of((signals.measured - signals.commanded)[part] * signals.scale, signals.rate, cycles)
    wanted = commanded.signal()
    measured = wanted + deviation.accelerated().within(band).signal()
    drawn = _accelerated(rounding.coordinates * signals.scale, signals.rate, band)
    basis = [signals.poses] * 6
    if signals.sensed is not None:
        for axis in np.flatnonzero(np.isfinite(signals.sensed[part]).all(axis=0)).tolist():
            sensed = lines_of(signals.sensed[part][:, [axis]] * signals.scale[axis], signals.rate, cycles)
            measured[:, axis] = sensed.within(band).signal()[:, 0]
            basis[axis] = Basis.ACCELEROMETER
            drawn[:, :, axis] = 0.0
    return Accelerations(wanted, measured, tuple(basis), drawn)


def _accelerated(periods: Floats, rate: float, band: float) -> Floats:
    """Second derivatives of periodic signals (d, n, k), one period each, in the band."""
    spectrum = np.fft.rfft(periods, axis=1)
    frequencies = np.fft.rfftfreq(periods.shape[1], 1.0 / rate)[:, np.newaxis]
    spectrum *= np.where(frequencies <= band, -((2.0 * math.pi * frequencies) ** 2), 0.0)
    found: Floats = np.fft.irfft(spectrum, n=periods.shape[1], axis=1)
    return found


def rounding_of(signals: Signals, part: slice, cycles: int, geometry: Geometry) -> Rounding:
    """Return drawn errors by the encoders' rounding over a part of `cycles` periods."""
    found = drawn_rounding(signals.lengths[part], signals.commanded[part], signals.steps, cycles, geometry)
    return found if signals.poses is Basis.ENCODERS else Rounding(found.legs, np.zeros_like(found.coordinates))


def whole_periods(signals: Signals, trial: Trial) -> slice:
    """Rows of a motion's whole periods. Raises as `Signals.part`."""
    return signals.part(trial.begin, trial.cycles * trial.period)
