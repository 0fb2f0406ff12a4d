"""A new zero for cells that carry a known load."""

from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration import (
    CalibrationError,
    LoadCellCalibration,
    Provenance,
    identity,
    judge,
    load_cell_calibration,
    save_cell_calibration,
    shift_offsets,
)

DAY = date(2026, 11, 21)
LOAD = np.array([38.0, -36.0, 36.4, 35.0, 35.0, 37.7])


def calibrated() -> LoadCellCalibration:
    """Six cells with gains, signs and offsets of their own, as calibrated with masses."""
    cells = tuple(
        replace(cell, gain=0.5 + 0.1 * leg, offset=10.0 * leg, polarity=(-1) ** leg, n=7, range=200.0)
        for leg, cell in enumerate(identity().cells)
    )
    return replace(identity(), cells=cells, serials=("a", "b", "c", "d", "e", "f"), unit="mV")


def readings(before: LoadCellCalibration, moved: np.ndarray, n: int = 400, noise: float = 0.2) -> np.ndarray:
    """Forces as `before` sees them of cells whose zero has moved by `moved` raw units."""
    raw = before.offset + moved + LOAD / before.gain + noise * np.random.default_rng(3).standard_normal((n, 6))
    return before.apply(raw)


def zeroed(before: LoadCellCalibration, moved: np.ndarray, **options: float) -> LoadCellCalibration:
    forces = readings(before, moved)
    return shift_offsets(before, forces, np.broadcast_to(LOAD, forces.shape), DAY, provenance=Provenance(), **options)


@given(st.lists(st.floats(-50.0, 50.0), min_size=6, max_size=6))
def test_the_offset_moves_and_nothing_else(moved: list[float]) -> None:
    before, shift = calibrated(), np.array(moved)
    after = zeroed(before, shift)
    assert after.offset == pytest.approx(before.offset + shift, abs=0.06)  # 6 standard errors
    assert (after.gain == before.gain).all()
    assert (after.serials, after.unit, after.date) == (before.serials, before.unit, DAY)
    assert [(cell.n, cell.range) for cell in after.cells] == [(7, 200.0)] * 6
    assert after.apply(before.offset + shift + LOAD / before.gain) == pytest.approx(LOAD, abs=0.1)
    assert all(0.005 < cell.offset_standard_error < 0.02 for cell in after.cells)


def test_a_zero_can_be_kept_and_stands_up_to_judgement(tmp_path: Path) -> None:
    after = zeroed(calibrated(), np.arange(6.0))
    assert judge(after) == ((),) * 6
    save_cell_calibration(tmp_path / "zero.toml", after)
    again = load_cell_calibration(tmp_path / "zero.toml")
    assert (again.offset == after.offset).all() and (again.gain == after.gain).all()


def test_cells_that_were_never_loaded_with_masses_keep_their_gain_of_one(tmp_path: Path) -> None:
    after = zeroed(identity(), np.full(6, 2.5))
    assert (after.gain == 1.0).all() and after.offset == pytest.approx(np.full(6, 2.5), abs=0.06)
    assert [cell.n for cell in after.cells] == [400] * 6
    assert [cell.range for cell in after.cells] == pytest.approx(np.abs(LOAD))
    save_cell_calibration(tmp_path / "zero.toml", after)


def test_a_zero_that_drifts_meanwhile_is_seen() -> None:
    before = identity()
    forces = readings(before, np.zeros(6)) + np.linspace(0.0, 1.0, 400)[:, np.newaxis] * np.array([0, 0, 4.0, 0, 0, 0])
    after = shift_offsets(before, forces, np.broadcast_to(LOAD, forces.shape), DAY, provenance=Provenance())
    assert after.drift is not None
    assert after.drift.force[2] == pytest.approx(2.0, abs=0.1)
    assert after.drift.within.tolist() == [True, True, False, True, True, True]


@pytest.mark.parametrize(
    ("forces", "known", "words"),
    [
        (np.zeros((10, 6)), np.zeros((9, 6)), "must be"),
        (np.zeros((3, 6)), np.zeros((3, 6)), "3 samples, at least 4"),
        (np.zeros((10, 5)), np.zeros((10, 5)), "must be"),
        (np.full((10, 6), np.nan), np.zeros((10, 6)), "cell 1: 10 of 10 samples are not finite"),
        (np.zeros((10, 6)), np.full((10, 6), np.inf), "not finite"),
    ],
)
def test_what_no_zero_can_come_from_is_refused(forces: np.ndarray, known: np.ndarray, words: str) -> None:
    with pytest.raises(CalibrationError, match=words):
        shift_offsets(identity(), forces, known, DAY, provenance=Provenance())
