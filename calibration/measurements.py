"""Load-cell measurements from a table: ``cell,mass,reading,phase``."""

import csv
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from calibration.cells import CellLoads, CellMeasurements
from calibration.errors import CalibrationFileError
from calibration.taring import CELLS, Array, read_only
from kinematics import InputFileError, NumberTextError, open_table, read_number

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
