"""The lag between model and measurement: found below a sample, with an uncertainty that is what errors are like."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from configured import VIRTUAL
from scipy.interpolate import CubicSpline
from validated import RATE, forces, lag_of, noise

from rig.client.runs import demo_trajectory, execute
from rig.recording import open_recording
from rig.report import summarize
from rig.report.validation import validate
from rig.report.validation.lag import LONGEST_LAG

DURATION = 14.0
TIMES = np.arange(round(DURATION * RATE)) / RATE


@pytest.mark.parametrize("lag", [3e-3, -45.1e-3, 0.0, 0.0907])
def test_a_lag_is_found_below_a_sample(lag: float) -> None:
    found = lag_of(forces(TIMES - lag) + noise(1, len(TIMES)) + np.arange(6.0), forces(TIMES))
    assert found["lag_s"] == pytest.approx(lag, abs=0.1e-3)
    assert found["sigma_s"] < 0.03e-3
    for leg in found["legs"]:
        assert leg["lag_s"] == pytest.approx(lag, abs=0.2e-3)
    assert found["why"] == ""


@pytest.mark.parametrize(("remembered", "largest"), [(0.0, 0.1e-3), (0.9, 0.2e-3)])
def test_errors_are_as_large_as_their_sigma_says(remembered: float, largest: float) -> None:
    """By the residual's own spectrum: for white noise alone, sigmas would be a fourth of the errors of coloured."""
    errors, sigmas, joint = [], [], []
    late, model = forces(TIMES - 3e-3), forces(TIMES)
    for seed in range(40):
        found = lag_of(late + noise(seed, len(TIMES), remembered), model)
        errors.append([leg["lag_s"] - 3e-3 for leg in found["legs"]])
        sigmas.append([leg["sigma_s"] for leg in found["legs"]])
        joint.append((found["lag_s"] - 3e-3, found["sigma_s"]))
    ratio = float(np.sqrt(np.mean((np.array(errors) / np.array(sigmas)) ** 2)))
    assert 0.9 < ratio < 1.2
    assert np.abs([error for error, _ in joint]).max() < largest
    assert 0.5 < np.sqrt(np.mean([(error / sigma) ** 2 for error, sigma in joint])) < 1.6


@pytest.mark.parametrize("lag", [0.0, 30e-3, -90e-3])
def test_a_lag_is_found_at_the_lowest_rate_or_has_too_few_samples(lag: float) -> None:
    def slow(times: Any) -> Any:
        turns = 2.0 * math.pi * np.array([0.23, 0.31, 0.37, 0.43, 0.53, 0.61])
        return 20.0 * np.sin(np.outer(times, turns)) + 10.0 * np.cos(0.5 * np.outer(times, turns))

    times = np.arange(100) / 5.0
    found = lag_of(slow(times - lag) + noise(1, len(times)), slow(times), rate=5.0)
    assert found["why"] == "" and 0.0 < found["sigma_s"] < 2e-3
    assert found["lag_s"] == pytest.approx(lag, abs=3.0 * found["sigma_s"])
    assert lag_of(slow(times[:50]), slow(times[:50]), rate=5.0)["why"] == "few_samples"
    assert lag_of(slow(times), np.ones((100, 6)), rate=5.0)["why"] == "no_change"


def test_legs_of_different_lags_are_told_apart() -> None:
    late = forces(TIMES - 3e-3)
    same = lag_of(late + noise(2, len(TIMES)), forces(TIMES))
    late[:, 4] = forces(TIMES - 4e-3)[:, 4]
    other = lag_of(late + noise(2, len(TIMES)), forces(TIMES))
    assert same["consistency_p"] > 0.01
    assert other["consistency_p"] < 1e-6
    assert other["legs"][4]["lag_s"] == pytest.approx(4e-3, abs=0.2e-3)


def test_gaps_are_not_taken_for_a_lag() -> None:
    """Cycles are missing: the samples beside a gap are further apart than others."""
    kept = np.ones(len(TIMES), bool)
    kept[1500:1540] = kept[4000:4100] = False
    measured = (forces(TIMES - 3e-3) + noise(3, len(TIMES)))[kept]
    model = forces(TIMES)[kept]
    with_gaps = lag_of(measured, model, gaps=(1500, 3960))
    assert with_gaps["lag_s"] == pytest.approx(3e-3, abs=0.1e-3)


def test_what_the_motion_cannot_tell_is_not_told() -> None:
    still = np.full((len(TIMES), 6), 40.0)
    for measured, model in (
        (still + noise(4, len(TIMES)), still),
        (still + noise(5, len(TIMES)), still + 1e-3 * (forces(TIMES) - 45)),
        (forces(TIMES)[:60], forces(TIMES)[:60]),
    ):
        found = lag_of(measured, model)
        assert found["lag_s"] is None and found["why"]
        assert all(leg["lag_s"] is None for leg in found["legs"])
    assert math.isclose(LONGEST_LAG, 0.1)


@pytest.mark.usefixtures("undrawn_reports")
def test_cells_of_the_virtual_rig_read_late(tmp_path: Path) -> None:
    """A recording of the engine's, its measured forces held back by 3 ms: one and a half cycles.

    What is held for a cycle is read late by itself. The model knows; where it is taken out of it, the report tells it.
    """
    trajectory = demo_trajectory(VIRTUAL.machine.geometry.home_pose, 4.0)
    run = execute(VIRTUAL, trajectory, "run", tmp_path, lockstep=True, report=lambda _progress: None)
    recording = open_recording(run.recording)
    rows, summary = recording.rows, summarize(recording)
    found = {0.0: validate(recording, summary)}
    shifted = CubicSpline(rows["t"], rows["force_measured"])(rows["t"] - 3e-3)
    rows["force_measured"] = np.where(rows["t"][:, np.newaxis] > 3e-3, shifted, rows["force_measured"])
    found[3e-3] = validate(recording, summary)
    for lag, made in found.items():
        assert made["lag"]["hold_s"] == 0.0
        assert made["together"]["lag_beyond_hold_s"] == made["together"]["lag_s"] == pytest.approx(lag, abs=0.2e-3)
    rows["force_model"] -= rows["force_held"]
    rows["force_residual"] += rows["force_held"]
    rows["force_held"] = 0.0  # as recordings of before have it
    older = validate(recording, summary)
    assert older["lag"]["hold_s"] == pytest.approx(VIRTUAL.period - VIRTUAL.command_lead)
    assert older["together"]["lag_beyond_hold_s"] == pytest.approx(3e-3, abs=0.2e-3)
    apart = found[3e-3]["together"]["lag_s"] - found[0.0]["together"]["lag_s"]
    assert apart == pytest.approx(3e-3, abs=0.06e-3)
