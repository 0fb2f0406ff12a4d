"""Six cells together: tare, drift, the calibration and its verdict, the steps at the rig."""

from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from numpy.typing import NDArray

from calibration import (
    STANDARD_GRAVITY,
    CalibrationError,
    CellMeasurements,
    Limits,
    calibrate_cells,
    drift,
    identity,
    judge,
    record_measurements,
    tare,
)

Array = NDArray[np.float64]
DAY = date(2026, 11, 21)


class SimulatedCells:
    """Six cells with gain, bias and noise under masses that hang exactly as asked."""

    def __init__(self, seed: int, *, noise: float = 0.5, sign: float = 1.0) -> None:
        self.random = np.random.default_rng(seed)
        self.sensitivity = self.random.uniform(0.8, 1.25, 6) * self.random.choice([1.0, -1.0], 6)
        self.bias = self.random.uniform(-30.0, 30.0, 6)
        self.drift = np.zeros(6)
        self.noise, self.sign = noise, sign
        self.force = np.zeros(6)
        self.hanger = np.zeros(6)
        self.creep = np.zeros(6)
        self.steps: list[tuple[int, float]] = []

    def load(self, cell: int, mass: float) -> None:
        self.steps.append((cell, mass))
        self.force[:] = 0.0
        self.force[cell - 1] = self.sign * (mass + self.hanger[cell - 1]) * STANDARD_GRAVITY

    def unload(self) -> None:
        self.force[:] = 0.0
        if self.steps:
            self.bias = self.bias + self.drift
        self.steps.append((0, 0.0))

    def read(self, samples: int) -> Array:
        self.bias = self.bias + self.creep
        noise = self.random.normal(0.0, self.noise, (samples, 6))
        raw: Array = self.bias + self.sensitivity * self.force + noise
        return raw


def record(cells: SimulatedCells) -> CellMeasurements:
    return record_measurements(cells, [0.0, 5.0, 10.0, 20.0], 100)


def test_tare_is_mean_and_noise() -> None:
    samples = np.random.default_rng(1).normal(np.arange(6.0), 0.5, (4000, 6))
    result = tare(samples)
    assert np.abs(result.offset - np.arange(6.0)).max() < 4.0 * 0.5 / np.sqrt(4000)
    assert result.noise == pytest.approx(np.full(6, 0.5), rel=0.05)
    assert result.n == 4000
    assert not result.offset.flags.writeable


def test_tare_refuses() -> None:
    with pytest.raises(CalibrationError, match=r"shape \(n, 6\), got \(10, 5\)"):
        tare(np.zeros((10, 5)))
    with pytest.raises(CalibrationError, match="1 samples, at least 2"):
        tare(np.zeros((1, 6)))
    samples = np.zeros((10, 6))
    samples[3, 1] = np.nan
    samples[4:6, 5] = np.inf
    with pytest.raises(CalibrationError) as caught:
        tare(samples)
    assert caught.value.faults == (
        "tare: cell 2: 1 of 10 samples are not finite",
        "tare: cell 6: 2 of 10 samples are not finite",
    )


def test_drift_is_judged_by_the_larger_of_both_bounds() -> None:
    samples = np.random.default_rng(2).normal(0.0, 0.5, (400, 6))
    before, gain = tare(samples), np.array([2.0, -2.0, 1.0, 1.0, 1.0, 1.0])
    after = tare(samples + np.array([0.4, 0.4, 0.6, -0.6, 0.1, 0.0]))
    moved = drift(before, after, gain, limit=0.5)
    assert moved.force == pytest.approx(np.array([0.8, -0.8, 0.6, -0.6, 0.1, 0.0]))
    assert moved.within.tolist() == [False, False, False, False, True, True]
    assert moved.bound == pytest.approx(np.full(6, 0.5))
    noisy = drift(tare(samples[:10] * 4), tare(samples[:10] * 4 + 0.9), np.ones(6), limit=0.5, sigmas=5.0)
    assert noisy.within.all()
    assert (noisy.bound > 0.9).all()


@pytest.mark.parametrize(("limit", "sigmas"), [(-1.0, 5.0), (np.nan, 5.0), (0.5, np.inf)])
def test_drift_refuses_bounds_that_are_none(limit: float, sigmas: float) -> None:
    zero = tare(np.zeros((5, 6)))
    with pytest.raises(CalibrationError, match="must be finite and not negative"):
        drift(zero, zero, np.ones(6), limit=limit, sigmas=sigmas)
    with pytest.raises(CalibrationError, match="six finite numbers"):
        drift(zero, zero, np.full(6, np.nan))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("load", ["compression", "tension"])
def test_injected_gain_bias_and_polarity_are_recovered(seed: int, load: str) -> None:
    cells = SimulatedCells(seed, sign=1.0 if load == "compression" else -1.0)
    result = calibrate_cells(record(cells), DAY, load=load)  # type: ignore[arg-type]
    gain_error = np.array([cell.gain_standard_error for cell in result.cells])
    offset_error = np.array([cell.offset_standard_error for cell in result.cells])
    assert (np.abs(result.gain - 1.0 / cells.sensitivity) < 4.0 * gain_error).all()
    assert (np.abs(result.offset - cells.bias) < 4.0 * offset_error).all()
    assert [cell.polarity for cell in result.cells] == np.sign(cells.sensitivity).tolist()
    assert (gain_error < 1e-3).all()
    assert not any(judge(result))

    force = np.random.default_rng(seed).uniform(-400.0, 400.0, (50, 3, 6))
    assert np.abs(result.apply(cells.bias + cells.sensitivity * force) - force).max() < 1.0


def test_apply_keeps_shapes_and_does_not_hide_a_dead_cell() -> None:
    calibration = identity()
    raw = np.array([1.0, -2.0, np.nan, np.inf, 5.0, 6.0])
    assert np.array_equal(calibration.apply(raw), raw, equal_nan=True)
    assert calibration.apply(np.zeros((4, 7, 6))).shape == (4, 7, 6)
    assert calibration.gain.tolist() == [1.0] * 6
    assert calibration.offset.tolist() == [0.0] * 6
    assert not calibration.gain.flags.writeable


def test_drift_during_the_calibration_is_judged() -> None:
    cells = SimulatedCells(3)
    cells.drift = np.array([0.0, 0.0, 2.0, 0.0, 0.0, 0.0])
    result = calibrate_cells(record(cells), DAY)
    assert result.drift is not None
    assert abs(result.drift.force[2]) == pytest.approx(2.0 / abs(cells.sensitivity[2]), abs=0.4)
    verdict = judge(result)
    assert "cell 3: the zero drifted by" in verdict[2][0]
    assert "allowed 0.5 N" in verdict[2][0]
    assert [len(reasons) for reasons in verdict] == [0, 0, 1, 0, 0, 0]
    assert not any(judge(calibrate_cells(record(cells), DAY, limits=Limits(drift=5.0)), Limits(drift=5.0)))


def test_hanger_left_out_of_the_masses_is_noticed() -> None:
    cells = SimulatedCells(4)
    cells.hanger[4] = 0.5
    verdict = judge(calibrate_cells(record(cells), DAY))
    assert "cell 5: unloaded it reads -4." in verdict[4][0]
    assert [len(reasons) for reasons in verdict] == [0, 0, 0, 0, 1, 0]


def test_identity_was_never_measured() -> None:
    assert all("never measured" in reasons[0] for reasons in judge(identity()))


def test_faults_of_all_cells_are_listed_at_once() -> None:
    cells = SimulatedCells(5)
    measurements = record(cells)
    loads = list(measurements.loads)
    loads[1] = replace(loads[1], readings=np.full(4, 3.0))
    loads[3] = replace(loads[3], readings=np.array([0.0, np.nan, 1.0, 2.0]))
    with pytest.raises(CalibrationError) as caught:
        calibrate_cells(replace(measurements, loads=tuple(loads)), DAY)
    assert [fault[:8] for fault in caught.value.faults] == ["cell 2: ", "cell 4: "]


def test_six_cells_or_none() -> None:
    measurements = record(SimulatedCells(6))
    with pytest.raises(CalibrationError, match="loads of 5 cells"):
        calibrate_cells(replace(measurements, loads=measurements.loads[:5]), DAY)
    calibration = calibrate_cells(measurements, DAY)
    with pytest.raises(CalibrationError, match="5 cells and 6 serial numbers"):
        replace(calibration, cells=calibration.cells[:5])


def test_steps_at_the_rig() -> None:
    cells = SimulatedCells(7)
    measurements = record(cells)
    loads = [(cell, mass) for cell in range(1, 7) for mass in (0.0, 5.0, 10.0, 20.0)]
    assert cells.steps == [(0, 0.0), *loads, (0, 0.0)]
    assert measurements.tare_before.shape == measurements.tare_after.shape == (100, 6)
    assert measurements.loads[2].masses.tolist() == [0.0, 5.0, 10.0, 20.0]
    assert measurements.loads[2].samples.tolist() == [100.0] * 4


def test_reading_that_never_settles_is_refused() -> None:
    cells = SimulatedCells(8, noise=0.01)
    cells.creep[1] = 0.5
    with pytest.raises(CalibrationError, match=r"^cell 2: the reading does not settle without load: .* allowed 0\.2$"):
        record(cells)


def test_reading_that_settles_late_is_waited_for() -> None:
    class Settling(SimulatedCells):
        def read(self, samples: int) -> Array:
            self.creep = self.creep * 0.5
            return super().read(samples)

    cells = Settling(9)
    cells.creep[:] = 20.0
    result = calibrate_cells(record(cells), DAY)
    assert not any(judge(result))


@pytest.mark.parametrize("when", ["tare", "load"])
def test_reading_that_is_not_finite_is_refused(when: str) -> None:
    class Broken(SimulatedCells):
        def read(self, samples: int) -> Array:
            raw = super().read(samples)
            if when == "tare" or self.force.any():
                raw[1, 3] = np.nan
            return raw

    with pytest.raises(CalibrationError, match=r"^cell 4: reading not finite (without load|under 5 kg)$"):
        record(Broken(10))


def test_recording_refuses_before_anything_is_loaded() -> None:
    cells = SimulatedCells(11)
    with pytest.raises(CalibrationError, match="masses: 2 distinct masses"):
        record_measurements(cells, [0.0, 5.0], 100)
    with pytest.raises(CalibrationError, match="at least 2, got 1"):
        record_measurements(cells, [0.0, 5.0, 10.0], 1)
    assert cells.steps == []
