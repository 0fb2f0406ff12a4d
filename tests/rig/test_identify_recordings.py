"""Recordings as what is identified from: those that may not go together, and zeros that were taken off already."""

import os
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from calibration import ForceRecord, Parameter, ParameterFile, format_parameters
from dynamics import load_mechanism
from rig.analysis import force_records, identify_recordings, identifying
from rig.errors import InputError
from rig.recording import Recorded
from rig.states import State
from rig.telemetry import ROW

ZEROS = (6.0, -5.0, 4.0, 0.0, -2.0, 7.0)


def recording(path: Path, zeros: tuple[float, ...] = ()) -> Recorded:
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
    header["parameters"] = {"p.toml": format_parameters(file)} if zeros else {}
    return cast(Recorded, SimpleNamespace(path=path, header=header, blocks=lambda: iter([rows])))


def test_zeros_taken_off_before_recording_are_told(tmp_path: Path) -> None:
    assert force_records([recording(tmp_path / "a.mcap", ZEROS)]).zeros.tolist() == list(ZEROS)
    assert not force_records([recording(tmp_path / "b.mcap")]).zeros.any()
    with pytest.raises(InputError, match="other zeros of the load cells than"):
        force_records([recording(tmp_path / "a.mcap", ZEROS), recording(tmp_path / "b.mcap")])


def test_a_file_of_a_second_identification_has_the_whole_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    again = (
        Parameter("platform.mass", "kg", 18.0, 17.0, 0.1),
        *(Parameter(f"load_cells[{leg}].offset", "N", 0.0, 0.25, 0.1) for leg in range(6)),
    )
    monkeypatch.setattr(identifying, "identify", lambda *_: None)
    monkeypatch.setattr(identifying, "hold_out", lambda *_: None)
    monkeypatch.setattr(identifying, "told_parameters", lambda _: (again, np.eye(7), ()))
    one, other = recording(tmp_path / "a.mcap", ZEROS), recording(tmp_path / "b.mcap", ZEROS)
    mass, *cells = identify_recordings([one], [other]).parameters
    assert mass == again[0]
    assert [each.value for each in cells] == [zero + 0.25 for zero in ZEROS]
    assert [each.nominal for each in cells] == list(ZEROS)


def test_a_recording_counts_once_and_judges_nothing_that_is_fitted_to_it(tmp_path: Path) -> None:
    one, link = tmp_path / "a.mcap", tmp_path / "b.mcap"
    one.touch()
    os.symlink(one, link)
    with pytest.raises(InputError, match=r"b\.mcap: given twice"):
        force_records([recording(one), recording(link)])
    with pytest.raises(InputError, match=r"a\.mcap: given twice"):
        identify_recordings([recording(one)], [recording(one)])


def test_stretches_are_those_of_a_recording(tmp_path: Path) -> None:
    (stretch,) = force_records([recording(tmp_path / "a.mcap")]).records
    assert isinstance(stretch, ForceRecord) and len(stretch.cells) == 3000
