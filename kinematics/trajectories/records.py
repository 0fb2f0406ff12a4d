"""Recorded accelerations, such as a seismic record: files, baseline correction, and the motion that they make."""

import csv
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from kinematics.arrays import Array
from kinematics.errors import InputFileError, TrajectoryError
from kinematics.inputs import open_table, read_numbers
from kinematics.trajectories.base import PLATFORM, time_span
from kinematics.trajectories.generators import smooth_step

RecordAxis: TypeAlias = Literal["x", "y", "z"]
RecordUnit: TypeAlias = Literal["file", "m/s^2", "g", "cm/s^2"]
SYNTHETIC = "synthetic"
"""Name of a record that is not a file: filtered noise with an envelope."""

_FACTORS = {"m/s^2": 1.0, "g": 9.80665, "cm/s^2": 0.01}
_COLUMNS: dict[str, RecordAxis] = {"ax": "x", "ay": "y", "az": "z"}
_FEWEST, _MOST = 20, 200_000  # samples
_UNEVEN = 0.05  # of a step: how far a time may be from even steps, as rounding in files makes it
_LARGEST = 100.0  # m/s²; the strongest ground motions have some 40
_PAD = 2.0  # periods of the high-pass, of rest before and after the record
_FINER = 4  # samples of the motion for one of the record, so that a spline goes through them without a loss
_TABLE, _PEER = ".csv", ".at2"
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_COUNT = re.compile(r"NPTS\s*=\s*(\d+)", re.IGNORECASE), re.compile(r"DT\s*=\s*([\d.eE+-]+)", re.IGNORECASE)
_OLD_COUNT = re.compile(r"^\s*(\d+)\s+([\d.eE+-]+)\s+NPTS\s*,\s*DT", re.IGNORECASE)
_PEER_HEADER = 4  # lines


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """Accelerations (n, k), m/s², along `axes`, at even steps of `step` s."""

    source: str
    step: float
    axes: tuple[RecordAxis, ...]
    accelerations: Array

    @property
    def duration(self) -> float:
        """Return the time from the first to the last sample, s."""
        return self.step * (len(self.accelerations) - 1)


def read_record(path: Path, axis: RecordAxis, unit: RecordUnit = "file", step: float | None = None) -> Record:
    """Read a record of accelerations.

    path: .csv: t, s, in even steps, and one to three of ax, ay, az. .at2: one component along `axis`, in g, as the PEER
    ground motion databases have it. Else a column or lines of numbers, one component along `axis`, `step` s apart.
    unit: "file": g of an .at2, m/s² otherwise.

    Raises TrajectoryError naming the file and what is wrong: with lines, values, units and bounds.
    """
    try:
        if path.suffix.lower() == _TABLE:
            found = _read_table(path, unit, step)
        else:
            found = _read_component(path, axis, unit, step)
    except (InputFileError, csv.Error) as error:
        raise TrajectoryError(f"{path}: {error}") from None
    count = len(found.accelerations)
    if not _FEWEST <= count <= _MOST:
        raise TrajectoryError(f"{path}: {count} samples, must be {_FEWEST} to {_MOST}")
    peak = float(np.abs(found.accelerations).max())
    if not 0.0 < peak <= _LARGEST:
        raise TrajectoryError(
            f"{path}: the greatest acceleration is {peak:g} m/s², must be above 0 and at most {_LARGEST:g} m/s²: "
            f'is the unit right ("g", "cm/s^2")?'
        )
    return found


def _read_table(path: Path, unit: RecordUnit, step: float | None) -> Record:
    if step is not None:
        raise InputFileError(f"step: {step:g} s is given, but the file has times")
    with open_table(path) as file:
        reader = csv.reader(file)
        header = [cell.strip() for cell in next(reader, [])]
        axes = tuple(axis for name, axis in _COLUMNS.items() if name in header)
        wrong = [name for name in header if name != "t" and name not in _COLUMNS]
        if "t" not in header or not axes or wrong or len(set(header)) < len(header):
            raise InputFileError(
                f"line 1: columns are {', '.join(header)[:100] or 'none'}, must be t and one to three of ax, ay, az"
            )
        rows = []
        for row in reader:
            if any(map(str.strip, row)):
                rows.append(_numbers(row, len(header), reader.line_num))
    values = np.array(rows, dtype=np.float64).reshape(-1, len(header))
    times = values[:, header.index("t")]
    if len(times) < 2:
        return Record(str(path), 1.0, axes, values[:, : len(axes)])
    found = (times[-1] - times[0]) / (len(times) - 1)
    departure = np.abs(times - times[0] - found * np.arange(len(times)))
    worst = int(departure.argmax())
    if not (found > 0.0 and departure[worst] <= _UNEVEN * found):
        raise InputFileError(
            f"row {worst + 2}: t = {times[worst]:.9g} s is {departure[worst]:.3g} s off even steps of {found:.6g} s, "
            f"must be within {_UNEVEN:.0%} of a step"
        )
    places = [header.index(name) for name in _COLUMNS if name in header]
    return Record(str(path), time_span("step", float(found)), axes, _FACTORS[_unit(unit)] * values[:, places])


def _unit(unit: RecordUnit) -> str:
    return "m/s^2" if unit == "file" else unit


def _numbers(row: list[str], width: int, line: int) -> list[float]:
    if len(row) != width:
        raise InputFileError(f"line {line}: {len(row)} values, must be {width}")
    try:
        numbers = read_numbers(row)
    except ValueError:
        numbers = [math.nan]
    if not all(map(math.isfinite, numbers)):
        raise InputFileError(f"line {line}: {', '.join(row)[:60]!r}, must be finite numbers")
    return numbers


def _read_component(path: Path, axis: RecordAxis, unit: RecordUnit, step: float | None) -> Record:
    with open_table(path) as file:
        lines = list(file)
    count, first, factor = -1, 0, _FACTORS[_unit(unit)]
    if path.suffix.lower() == _PEER:
        if step is not None:
            raise InputFileError(f"step: {step:g} s is given, but the file has one")
        if unit not in ("file", "g"):
            raise InputFileError(f'unit: "{unit}", an .at2 file is in g')
        count, step = _peer_header(lines)
        first, factor = _PEER_HEADER, _FACTORS["g"]
    elif step is None:
        raise InputFileError("step: missing; a file of one column has no times")
    values: list[float] = []
    for number, line in enumerate(lines[first:], start=first + 1):
        text = line.partition("#")[0] if count < 0 else line
        if _NUMBER.sub("", text).strip():
            raise InputFileError(f"line {number}: {text.strip()[:60]!r}, must be numbers")
        values += map(float, _NUMBER.findall(text))  # without a space in between before a minus
    if not np.isfinite(values).all():
        raise InputFileError("numbers must be finite")
    if count >= 0 and len(values) != count:
        raise InputFileError(f"{len(values)} samples, must be {count}, its NPTS")
    return Record(str(path), time_span("step", step), (axis,), factor * np.array(values)[:, None])


def _peer_header(lines: list[str]) -> tuple[int, float]:
    """Return number and step, s, of a PEER record's samples: line 3 has the quantity, line 4 these, in two ways."""
    if len(lines) < _PEER_HEADER:
        raise InputFileError(f"{len(lines)} lines, an .at2 file begins with {_PEER_HEADER} of a header")
    quantity = lines[2].upper()
    if "ACCELERATION" not in quantity or not re.search(r"\bG\b", quantity):
        raise InputFileError(f"line 3: {lines[2].strip()[:60]!r}, must be of an acceleration in units of g")
    old, (count, step) = _OLD_COUNT.match(lines[3]), (pattern.search(lines[3]) for pattern in _COUNT)
    try:
        if old:
            return int(old[1]), float(old[2])
        if count and step:
            return int(count[1]), float(step[1])
    except ValueError:
        pass
    raise InputFileError(f"line 4: {lines[3].strip()[:60]!r}, must have NPTS and DT")


def joined(records: list[Record]) -> Record:
    """Return components as one record. Raises TrajectoryError unless steps and numbers of samples are the same."""
    first = records[0]
    for other in records[1:]:
        if len(other.accelerations) != len(first.accelerations) or abs(other.step - first.step) > 1e-9 * first.step:
            raise TrajectoryError(
                f"{other.source}: {len(other.accelerations)} samples of {other.step:g} s, must be "
                f"{len(first.accelerations)} of {first.step:g} s as in {first.source}"
            )
    axes = tuple(axis for each in records for axis in each.axes)
    if len(set(axes)) < len(axes):
        raise TrajectoryError(f"components along {', '.join(axes)}, must each have an axis of its own")
    return Record(first.source, first.step, axes, np.hstack([each.accelerations for each in records]))


def synthetic_record(seed: int, duration: float = 20.0, step: float = 0.01) -> Record:
    """Return a record like that of an earthquake on firm ground, along x, y, z; the same seed gives the same record.

    Noise with the spectrum of Kanai and Tajimi (15 rad/s, damping 0.6), below 0.2 Hz cut by the second filter of Clough
    and Penzien, times the envelope of Jennings, Housner and Tsai (1968). Peaks of 3, 2.5 and 2 m/s².
    """
    count = round(duration / step) + 1
    t = step * np.arange(count)
    omega = 2.0 * np.pi * np.fft.rfftfreq(count, step)
    ground, zeta = 15.0, 0.6
    shape = (ground**2 + 2j * zeta * ground * omega) / (ground**2 - omega**2 + 2j * zeta * ground * omega)
    low = 2.0 * np.pi * 0.2
    shape *= omega**2 / (low**2 - omega**2 + 2j * zeta * low * omega)
    rise, fall = 0.15 * duration, 0.5 * duration
    envelope = np.minimum(t / rise, 1.0) ** 2 * np.exp(-np.maximum(t - fall, 0.0) * 8.0 / duration)
    source = np.random.PCG64(seed)
    columns = []
    for peak in (3.0, 2.5, 2.0):
        # NumPy guarantees stable results only for a bit generator's raw numbers
        phases = 2.0 * np.pi * (source.random_raw(len(omega)) >> np.uint64(11)) * 2.0**-53
        column = envelope * np.fft.irfft(shape * np.exp(1j * phases), count)
        columns.append(column * peak / np.abs(column).max())
    return Record(SYNTHETIC, step, ("x", "y", "z"), np.column_stack(columns))


@dataclass(frozen=True, slots=True, eq=False)
class Corrected:
    """Displacements of a record, at rest at both ends.

    times (n,) s, from the start of the rest before it. displacement (n, 6): of COORDINATES, m. drift (k,): greatest
    displacement at the ends before it was faded to zero there, m. start: s, of the record's first sample.
    """

    times: Array
    displacement: Array
    drift: Array
    start: float


def corrected(record: Record, high_pass: float, low_pass: float | None, fade: float) -> Corrected:
    """Integrate a record twice, without a drift.

    Mean and linear trend are removed, the ends are faded over `fade` s each (Tukey window), and 2/`high_pass` s of rest
    go before and after (Boore, Bull. Seism. Soc. Am. 95, 2005). A Butterworth high-pass of second order, forwards and
    backwards, |H|² = 1/(1 + (f_h/f)⁴), takes what the strokes have no room for, a low-pass of the same form what the
    drives cannot follow. Neither changes a phase. The integration is by 1/ω²; what is left at the ends of the rest, the
    drift, is faded out in its outer halves.

    Raises TrajectoryError for corners that are not below half the sampling rate or not in order, or a long fade.
    """
    step, nyquist = record.step, 0.5 / record.step
    if not 0.0 < high_pass < nyquist:
        raise TrajectoryError(f"high_pass: {high_pass:g} Hz, must be above 0 and below {nyquist:g} Hz, half the rate")
    if low_pass is not None and not high_pass < low_pass < nyquist:
        raise TrajectoryError(
            f"low_pass: {low_pass:g} Hz, must be above the high-pass, {high_pass:g} Hz, and below {nyquist:g} Hz, "
            f"half the rate"
        )
    if not fade <= 0.5 * record.duration:
        raise TrajectoryError(f"fade: {fade:g} s, must be at most half of the record, {0.5 * record.duration:g} s")
    from scipy.fft import irfft, next_fast_len, rfft, rfftfreq  # slow to import, rarely needed

    count, pad = len(record.accelerations), math.ceil(_PAD / high_pass / step)
    whole = count + 2 * pad
    t = step * np.arange(count)
    line = np.column_stack([np.ones(count), t - t.mean()])
    level = record.accelerations - line @ np.linalg.lstsq(line, record.accelerations, rcond=None)[0]
    ends = np.minimum(np.minimum(t, t[::-1]) / fade, 1.0)
    size = next_fast_len(whole)
    padded = np.zeros((size, level.shape[1]))
    padded[pad : pad + count] = level * (0.5 - 0.5 * np.cos(np.pi * ends))[:, None]
    frequency = rfftfreq(size, step)[1:, None]
    gain = 1.0 / (1.0 + (high_pass / frequency) ** 4)
    if low_pass is not None:
        gain /= 1.0 + (frequency / low_pass) ** 4
    spectrum = rfft(padded, axis=0)
    spectrum[0] = 0.0
    spectrum[1:] *= -gain / (2.0 * np.pi * frequency) ** 2
    finer = max(1, min(_FINER, _MOST // whole))
    length = (whole - 1) * finer + 1
    place = finer * irfft(spectrum, size * finer, axis=0)[:length]
    times: Array = step / finer * np.arange(length, dtype=np.float64)
    drift = np.maximum(np.abs(place[0]), np.abs(place[-1]))
    outer = 0.5 * pad * step
    window = smooth_step(times / outer)[0] * smooth_step((times[-1] - times) / outer)[0]
    displacement = np.zeros((length, len(PLATFORM)))
    for column, axis in enumerate(record.axes):
        displacement[:, "xyz".index(axis)] = window * place[:, column]
    return Corrected(times, displacement, drift, pad * step)
