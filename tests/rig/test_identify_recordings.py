"""Recordings as what is identified from: those that may not go together, and zeros that were taken off already."""

import os
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from calibration import (
    Drift,
    ForceRecord,
    LoadCellCalibration,
    Parameter,
    ParameterFile,
    Tare,
    format_cell_calibration,
    format_parameters,
    identity,
)
from dynamics import load_mechanism
from rig.analysis import force_records, identify_recordings
from rig.errors import InputError
from rig.recording import Recorded
from rig.states import State
from rig.telemetry import ROW

ZEROS = (6.0, -5.0, 4.0, 0.0, -2.0, 7.0)


def recording(path: Path, zeros: tuple[float, ...] = (), calibration: str | None = None) -> Recorded:
    """A recording of a platform at rest under noise, made with a file of cells' zeros where there are any."""
    rows = np.zeros(3000, ROW)
    rows["t"] = np.arange(3000) / 500.0
    rows["state"] = State.RUNNING
    rows["pose"] = (0.0, 0.0, 0.4, 1.0, 0.0, 0.0, 0.0)
    rows["force_measured"] = np.random.default_rng(1).normal(size=(3000, 6))
    machine = load_mechanism("lab-hexapod")
    found = tuple(Parameter(f"load_cells[{leg}].offset", "N", 0.0, zero, 0.1) for leg, zero in enumerate(zeros))
    file = ParameterFile("inertia", date(2026, 1, 1), machine.name, found)
    header: dict[str, Any] = {"mechanism": machine.source, "rate": 500.0, "config": {}}
    if calibration is not None:
        header["calibration"] = calibration
    header["parameters"] = {"p.toml": format_parameters(file)} if zeros else {}
    return cast(Recorded, SimpleNamespace(path=path, header=header, blocks=lambda: iter([rows])))


def test_zeros_taken_off_before_recording_are_told(tmp_path: Path) -> None:
    assert force_records([recording(tmp_path / "a.mcap", ZEROS)]).cells.zeros.tolist() == list(ZEROS)
    assert not force_records([recording(tmp_path / "b.mcap")]).cells
    with pytest.raises(InputError, match=r"b\.mcap: its cells were corrected otherwise than those of"):
        force_records([recording(tmp_path / "a.mcap", ZEROS), recording(tmp_path / "b.mcap")])


def test_a_recording_counts_once_and_judges_nothing_that_is_fitted_to_it(tmp_path: Path) -> None:
    one, link = tmp_path / "a.mcap", tmp_path / "b.mcap"
    one.touch()
    os.symlink(one, link)
    with pytest.raises(InputError, match=r"b\.mcap: given twice"):
        force_records([recording(one), recording(link)])
    with pytest.raises(InputError, match=r"a\.mcap: given twice"):
        identify_recordings([recording(one)], [recording(one)])


def test_what_calibrations_know_is_known_before(tmp_path: Path) -> None:
    """Gains by the calibration of the cells, common errors included; joints by a file of the geometry."""
    errors = np.full((6, 6), 1e-4) + np.diag(np.full(6, 1e-6))
    covariance = np.zeros((12, 12))
    covariance[:6, :6] = errors
    cells = replace(identity().cells[0], gain=1.0, gain_standard_error=0.01, range=100.0, n=9)
    tared = Tare(np.zeros(6), np.zeros(6), 9)
    made = LoadCellCalibration(
        (cells,) * 6, date(2026, 1, 1), tare_before=tared, tare_after=tared, drift=Drift(np.zeros(6), np.ones(6)),
        covariance=covariance,
    )  # fmt: skip
    one = recording(tmp_path / "a.mcap", calibration=format_cell_calibration(made))
    found = force_records([one])
    assert found.calibration is not None and found.calibration.gain_covariance == pytest.approx(errors, rel=1e-5)
    with pytest.raises(InputError, match=r"b\.mcap: recorded with another calibration"):
        force_records([one, recording(tmp_path / "b.mcap")])


def test_stretches_are_those_of_a_recording(tmp_path: Path) -> None:
    (stretch,) = force_records([recording(tmp_path / "a.mcap")]).records
    assert isinstance(stretch, ForceRecord) and len(stretch.cells) == 3000
