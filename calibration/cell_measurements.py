"""Measurements of load cells: from a table, step by step at a rig, and under a known load for a new zero."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from calibration.cells import (
    CELLS,
    CellLoads,
    CellMeasurements,
    LoadCellCalibration,
    Provenance,
    check_masses,
    drift,
    read_only,
    tare,
)
from calibration.errors import CalibrationError, CalibrationFileError
from kinematics import Array, InputFileError, NumberTextError, figure_and_bound, open_table, read_number


def rounded_noise(noise: float | Array, step: float | Array) -> float | Array:
    """Standard deviation of a reading with white `noise` once it is rounded to a `step` q, of the same unit.

    √(σ² + q²/12) (Widrow and Kollár, Quantization Noise, 2008): in motion over many steps, or of noise of half a step.
    """
    return np.sqrt(np.square(noise) + np.square(step) / 12.0)


def rounding_of_mean(noise: float | Array, step: float | Array) -> Array:
    """Standard deviation that rounding leaves in the mean of any number of readings of one value.

    q/√12 exp(−2π²σ²/q²): noise averages rounding out (Gray and Stockham, IEEE Trans. Inf. Theory 39, 1993, for
    Gaussian dither). A step of 0 gives 0.
    """
    steps = np.asarray(step, np.float64)
    ratio = np.divide(noise, steps, out=np.full(np.broadcast(noise, steps).shape, np.inf), where=steps > 0.0)
    left: Array = steps / np.sqrt(12.0) * np.exp(-2.0 * (np.pi * ratio) ** 2)
    return left


COLUMNS = ("cell", "mass", "reading", "phase")
TARES = ("tare_before", "tare_after")
PHASES = ("tare_before", "load", "tare_after")

_MOST_BYTES = 10_000_000  # some 100,000 readings

_Row = tuple[int, float, float, str]


def read_cell_measurements(path: str | Path) -> CellMeasurements:
    """Read a CSV table of load-cell readings.

    Columns, in any order: `cell` 1..6; `mass` kg (empty or 0 in a tare); `reading` in raw units; `phase` one of
    tare_before, load, tare_after. Rows keep their order in time; every row of a load is one reading.

    Raises:
        CalibrationFileError: no such file, wrong columns, or faulty rows, all at once with their line.
    """
    name = str(path)
    try:
        with open_table(path, _MOST_BYTES) as file:
            rows = _rows(file, name)
    except InputFileError as error:
        raise CalibrationFileError(name, str(error)) from None
    faults = [
        f"cell {cell}: no {phase} rows"
        for cell in range(1, CELLS + 1)
        for phase in PHASES
        if not any(row[0] == cell and row[3] == phase for row in rows)
    ]
    if faults:
        raise CalibrationFileError(name, faults)
    return CellMeasurements(
        _tare(rows, "tare_before", name),
        _tare(rows, "tare_after", name),
        tuple(_loads(rows, cell) for cell in range(1, CELLS + 1)),
    )


def _rows(lines: Iterable[str], name: str) -> list[_Row]:
    reader = csv.DictReader(lines, skipinitialspace=True)
    try:
        header = [column.strip() for column in reader.fieldnames or ()]
        if sorted(header) != sorted(COLUMNS):
            raise CalibrationFileError(
                name, f"columns must be {','.join(COLUMNS)} (phase one of {', '.join(PHASES)}), got {','.join(header)}"
            )
        reader.fieldnames = header
        rows: list[_Row] = []
        faults: list[str] = []
        for record in reader:
            before = len(faults)
            if None in record or None in record.values():
                faults.append(f"line {reader.line_num}: must have {len(COLUMNS)} fields; decimals have a point")
                continue
            fields = {key: value.strip() for key, value in record.items()}
            phase = fields["phase"]
            if phase not in PHASES:
                faults.append(f"line {reader.line_num}: phase must be one of {', '.join(PHASES)}, got {phase!r}")
            if fields["cell"] not in "123456" or len(fields["cell"]) != 1:
                faults.append(f"line {reader.line_num}: cell must be 1 to 6, got {fields['cell']!r}")
            if phase in TARES and not fields["mass"]:
                fields["mass"] = "0"
            mass, reading = (_number(fields, key, reader.line_num, faults) for key in ("mass", "reading"))
            if phase in TARES and mass:
                faults.append(f"line {reader.line_num}: mass must be 0 or empty in a tare, got {mass:g} kg")
            if mass < 0.0:
                faults.append(f"line {reader.line_num}: mass must not be negative, got {mass:g} kg")
            if len(faults) == before:
                rows.append((int(fields["cell"]), mass, reading, phase))
    except csv.Error as error:
        raise CalibrationFileError(name, f"line {reader.line_num}: not CSV: {error}") from None
    if faults:
        raise CalibrationFileError(name, faults)
    return rows


def _number(fields: dict[str, str], key: str, line: int, faults: list[str]) -> float:
    """Finite number of one field; 0 after adding a fault."""
    try:
        return read_number(fields[key])
    except NumberTextError:
        faults.append(f"line {line}: {key} must be a finite number, got {fields[key]!r}")
        return 0.0


def _tare(rows: list[_Row], phase: str, name: str) -> Array:
    columns = [[row[2] for row in rows if row[0] == cell and row[3] == phase] for cell in range(1, CELLS + 1)]
    counts = [len(column) for column in columns]
    if len(set(counts)) != 1:
        raise CalibrationFileError(
            name, f"{phase}: every cell needs the same number of rows, cells 1 to 6 have {counts}"
        )
    return read_only(np.transpose(columns))


def _loads(rows: list[_Row], cell: int) -> CellLoads:
    chosen = [row for row in rows if row[0] == cell and row[3] == "load"]
    return CellLoads(
        read_only([row[1] for row in chosen]), read_only([row[2] for row in chosen]), read_only(np.ones(len(chosen)))
    )


SETTLED_SIGMAS = 5.0
"""Standard errors by which two means may differ and still count as equal."""


class CellBench(Protocol):
    """Six load cells that can be read, and a person who loads them."""

    def read(self, samples: int) -> Array:
        """The next `samples` fresh raw readings of all cells, (samples, 6)."""
        ...

    def load(self, cell: int, mass: float) -> None:
        """Return when cell 1..6 carries `mass` kg and nothing else."""
        ...

    def unload(self) -> None:
        """Return when no cell carries anything."""
        ...


def record_measurements(
    source: CellBench, masses: Sequence[float], samples: int, *, settle: float = 0.2, attempts: int = 20
) -> CellMeasurements:
    """Tare, load each cell with each mass in turn, tare again.

    A reading is the mean of `samples` samples. It has settled when it differs from the mean of the `samples` samples
    before by at most max(`settle`, `SETTLED_SIGMAS` standard errors).

    Args:
        source: the cells.
        masses: kg, in the order in which each cell gets them; rising and then falling shows the hysteresis.
        samples: samples of a reading and of a tare, at least 2.
        settle: raw units.
        attempts: readings tried before giving up on one that does not settle.

    Raises:
        CalibrationError: masses that allow no fit, or a reading that is not finite or does not settle.
    """
    check_masses(np.asarray(masses, dtype=np.float64), "masses")
    if samples < 2:
        raise CalibrationError(f"samples of a reading: must be at least 2, got {samples}")
    source.unload()
    before = _settled(source, samples, settle, attempts, range(CELLS), "without load")
    loads = []
    for leg in range(CELLS):
        readings = []
        for mass in masses:
            source.load(leg + 1, mass)
            readings.append(
                float(_settled(source, samples, settle, attempts, [leg], f"under {mass:g} kg")[:, leg].mean())
            )
        loads.append(CellLoads(read_only(masses), read_only(readings), read_only(np.full(len(readings), samples))))
    source.unload()
    return CellMeasurements(
        before, _settled(source, samples, settle, attempts, range(CELLS), "without load"), tuple(loads)
    )


def _settled(source: CellBench, samples: int, settle: float, attempts: int, legs: Sequence[int], when: str) -> Array:
    """Samples (n, 6) in which the cells of `legs` (0..5) have come to rest."""
    previous = source.read(samples)
    faults: list[str] = []
    for _ in range(attempts):
        current = source.read(samples)
        bad = [leg for leg in legs if not np.isfinite(current[:, leg]).all()]
        if bad:
            raise CalibrationError([f"cell {leg + 1}: reading not finite {when}" for leg in bad])
        moved = np.abs(current.mean(axis=0) - previous.mean(axis=0))
        variance = current.var(axis=0, ddof=1) + previous.var(axis=0, ddof=1)
        allowed = np.maximum(settle, SETTLED_SIGMAS * np.sqrt(variance / samples))
        faults = [
            f"cell {leg + 1}: the reading does not settle {when}: two means of {samples} samples differ by "
            f"{figure} raw units, allowed {most}"
            for leg in legs
            if not moved[leg] <= allowed[leg]
            for figure, most in [figure_and_bound(moved[leg], allowed[leg], ".3g", 3)]
        ]
        if not faults:
            return current
        previous = current
    raise CalibrationError(faults)


_HALVES = 2


def shift_offsets(
    calibration: LoadCellCalibration,
    forces: ArrayLike,
    known: ArrayLike,
    day: date,
    *,
    drift_limit: float = 0.5,
    steps: ArrayLike = 0.0,
    provenance: Provenance,
) -> LoadCellCalibration:
    """Shift the offsets of a calibration so that the cells read the known load.

    The first half of the samples is the tare before, the second half the tare after: `drift` of the result is
    the zero's move in between. A cell that was never loaded with masses (`identity`) keeps its gain of 1 and has
    the one known load as its range.

    Args:
        calibration: the present one, by which `forces` were computed.
        forces: (n, 6) N, readings at rest, compression positive; at least four.
        known: (n, 6) N, the load on each cell at the same times.
        day: date of the result.
        drift_limit: N, drift between the halves that is always accepted.
        steps: (6,) N, resolution of the readings; the standard errors include what rounding leaves in a mean.
        provenance: who, where, from what.

    Raises:
        CalibrationError: wrong shapes, too few samples, or numbers that are not finite.
    """
    measured, load = np.asarray(forces, np.float64), np.asarray(known, np.float64)
    if measured.shape != load.shape or measured.ndim != 2 or measured.shape[1] != CELLS:
        raise CalibrationError(f"zero: {measured.shape} forces but {load.shape} known loads, must be (n, 6) both")
    if len(measured) < 2 * _HALVES:
        raise CalibrationError(f"zero: {len(measured)} samples, at least {2 * _HALVES} are needed to see a drift")
    unloaded: Array = calibration.offset + (measured - load) / calibration.gain
    whole = tare(unloaded)
    before, after = (tare(half) for half in np.array_split(unloaded, _HALVES))
    carried = np.abs(load).mean(axis=0)
    step = np.broadcast_to(np.asarray(steps, np.float64), CELLS) / np.abs(calibration.gain)
    cell_noise = np.sqrt(np.maximum(whole.noise**2 - step**2 / 12.0, 0.0))  # of the cell, before it was rounded
    error = np.hypot(whole.standard_error, rounding_of_mean(cell_noise, step))
    cells = []
    for leg, cell in enumerate(calibration.cells):
        if not cell.n:
            cell = replace(cell, range=float(carried[leg]), n=whole.n)
        cells.append(replace(cell, offset=float(whole.offset[leg]), offset_standard_error=float(error[leg])))
    covariance = None
    if calibration.covariance is not None:
        covariance = np.diag(np.append(np.zeros(CELLS), error**2))
        covariance[:CELLS, :CELLS] = calibration.covariance[:CELLS, :CELLS]
    return replace(
        calibration,
        cells=tuple(cells),
        covariance=covariance,
        date=day,
        tare_before=before,
        tare_after=after,
        drift=drift(before, after, calibration.gain, limit=drift_limit),
        provenance=provenance,
    )
