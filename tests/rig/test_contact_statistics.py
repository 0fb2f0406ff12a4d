"""Smoothing, thresholds and noise of the external wrench, by Monte Carlo with truths that the estimators do not see."""

import math
from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from scipy.stats import chi2

from actuators import Mode
from calibration import LoadCellCalibration, Parameter, ParameterFile, ReadingsUncertainty, identity, overlaid
from dynamics import Dynamics, LoadCell, Mechanism, load_mechanism
from kinematics import coordinates_to_motion
from rig.analysis import (
    ContactLog,
    Residuals,
    Smoothing,
    WrenchEstimator,
    alarm_threshold,
    crossing_probability,
    learned_noise,
    residuals_of,
    stated_noise,
)
from rig.errors import InputError
from rig.states import State
from rig.telemetry import ROW, CycleFlag

LAB = load_mechanism("lab-hexapod")
RATE = 200.0


def pieces(residual: np.ndarray, pose: np.ndarray | None = None) -> Residuals:
    """Smoothed residuals (n, 6) of a platform that stands at home, or at a pose."""
    motion = np.zeros((len(residual), 19))
    motion[:, :7] = LAB.geometry.home_pose if pose is None else pose
    state = np.full(len(residual), State.ENGAGED, np.uint8)
    return Residuals(
        np.arange(len(residual)) / RATE, residual, motion, residual, np.zeros((len(residual), 6, 2)), state
    )


def coloured(random: np.random.Generator, count: int, smoothing: Smoothing) -> np.ndarray:
    """White noise of 0.5 N, smoothed."""
    return smoothing(random.normal(0.0, 0.5, (count, 6)))


def test_the_low_pass_is_at_minus_3_db_at_its_bandwidth_and_shifts_nothing() -> None:
    smoothing = Smoothing(10.0, 500.0)
    t = np.arange(2000) / 500.0
    inner = t[smoothing.half : len(t) - smoothing.half]
    wave = np.cos(2 * np.pi * 10.0 * t)[:, None] + 100.0
    np.testing.assert_allclose(
        smoothing(wave)[:, 0], 100.0 + math.sqrt(0.5) * np.cos(2 * np.pi * 10.0 * inner), atol=1e-4
    )
    slow = np.sin(2 * np.pi * 0.2 * t)[:, None]
    slope = 2 * np.pi * 0.2 * np.cos(2 * np.pi * 0.2 * inner)
    np.testing.assert_allclose(smoothing.derivative(slow)[:, 0], slope, rtol=1e-3, atol=2e-4)
    noise = smoothing(np.random.default_rng(0).normal(size=(200_000, 1)))[:, 0]
    assert noise.var() == pytest.approx(smoothing.noise_gain, rel=0.03)
    assert np.corrcoef(noise[1:], noise[:-1])[0, 1] == pytest.approx(smoothing.noise_correlation, abs=0.002)
    apart = smoothing.settled
    assert abs(np.corrcoef(noise[apart:], noise[:-apart])[0, 1]) < 0.06


@pytest.mark.parametrize("bandwidth", [0.0, -1.0, math.nan, math.inf, 41.0])
def test_a_bandwidth_that_cannot_be_is_refused(bandwidth: float) -> None:
    with pytest.raises(InputError, match=r"at most 40 Hz"):
        Smoothing(bandwidth, RATE)


@pytest.mark.parametrize(("bandwidth", "per_hour"), [(None, 3600.0), (20.0, 3600.0), (5.0, 3600.0), (5.0, 900.0)])
def test_noise_makes_contacts_as_often_as_is_stated(bandwidth: float | None, per_hour: float) -> None:
    """Those of the list, in which what is near in time is one."""
    smoothing = Smoothing(bandwidth, RATE)
    estimator = WrenchEstimator(LAB, smoothing, stated_noise(0.5, smoothing), per_hour=per_hour)
    noise = pieces(coloured(np.random.default_rng(4), 160_000, smoothing))
    log = ContactLog(smoothing)
    log.add(estimator.estimate(noise))
    expected = len(noise) / RATE * per_hour / 3600.0
    assert len(log.found) == pytest.approx(expected, abs=3.0 * math.sqrt(expected))


def test_more_false_alarms_than_stand_apart_are_refused() -> None:
    smoothing = Smoothing(2.0, RATE)
    with pytest.raises(InputError, match=r"false alarms: 1800 an hour, must be at most 1\.57e\+03"):
        WrenchEstimator(LAB, smoothing, stated_noise(0.5, smoothing), per_hour=1800.0)


def test_the_continuous_limit_meets_the_sampled_one() -> None:
    below, above = (crossing_probability(30.0, rho) / math.sqrt(1.0 - rho) for rho in (0.9994, 0.9996))
    assert above == pytest.approx(below, rel=0.01)
    beyond = float(chi2.sf(30.0, 6))
    assert crossing_probability(30.0, 0.0) == pytest.approx(beyond * (1.0 - beyond), rel=1e-9)


def test_from_few_quiet_samples_the_threshold_is_wider() -> None:
    """White noise, 40 samples each of 400 rigs: marginal probability is Hotelling's, far above that of χ²."""
    random = np.random.default_rng(2)
    per_hour = 2e-3 * 3600.0 * RATE
    few, many = (alarm_threshold(per_hour, RATE, 0.0, samples) for samples in (40.0, math.inf))
    passed = narrow = 0
    smoothing = Smoothing(None, RATE)
    for _ in range(400):
        noise = replace(learned_noise([pieces(random.normal(0.0, 0.5, (4000, 6)))]), samples=40.0)
        values = random.normal(0.0, 0.5, (40, 6))
        noise = replace(noise, mean=values.mean(axis=0), covariance=np.cov(values, rowvar=False))
        distance = noise.distance(random.normal(0.0, 0.5, (200, 6)))
        passed += int(np.count_nonzero(distance > few))
        narrow += int(np.count_nonzero(distance > many))
    assert passed / 80_000 == pytest.approx(2e-3, rel=0.35)
    assert narrow > 3 * passed
    assert smoothing.half == 0


def test_noise_and_bias_are_learned_from_a_quiet_stretch() -> None:
    smoothing = Smoothing(10.0, RATE)
    random = np.random.default_rng(3)
    mix = np.tril(random.uniform(0.2, 1.0, (6, 6)))
    values = coloured(random, 60_000, smoothing) @ mix.T + np.arange(6.0)
    noise = learned_noise([pieces(values[:30_000]), pieces(values[30_000:])])
    np.testing.assert_allclose(noise.mean, np.arange(6.0), atol=0.05)
    truth = 0.25 * smoothing.noise_gain * mix @ mix.T
    np.testing.assert_allclose(noise.covariance, truth, rtol=0.15, atol=0.02 * truth.max())
    assert noise.correlation == pytest.approx(smoothing.noise_correlation, abs=2e-3)
    independent = len(values) / (2.0 * math.sqrt(math.pi) * smoothing.half / 5.0)
    assert noise.samples == pytest.approx(independent, rel=0.2)
    estimator = WrenchEstimator(LAB, smoothing, noise, per_hour=1800.0)
    fresh = coloured(random, 120_000, smoothing) @ mix.T + np.arange(6.0)
    touched = estimator.estimate(pieces(fresh)).contact
    begun = np.count_nonzero(touched[1:] & ~touched[:-1])
    assert begun == pytest.approx(300, abs=90)


def test_too_short_a_quiet_stretch_is_refused() -> None:
    smoothing = Smoothing(2.0, RATE)
    with pytest.raises(InputError, match=r"independent at this bandwidth; noise is learned from 30 at least"):
        learned_noise([pieces(coloured(np.random.default_rng(0), 700, smoothing))])
    with pytest.raises(InputError, match="does not vary"):
        learned_noise([pieces(np.zeros((400, 6)))])
    with pytest.raises(InputError, match="must be above 0"):
        alarm_threshold(0.0, RATE, 0.5)
    with pytest.raises(InputError, match="at most"):
        alarm_threshold(1e9, RATE, 0.5)


@pytest.mark.parametrize("location", ["rod_end", "actuator", "base"])
def test_a_push_is_found_within_its_uncertainty_while_the_platform_moves(location: str) -> None:
    """Of a platform that does not keep to its reference: its own inertia and friction are no push of 20 N, 2 N m."""
    machine = replace(
        LAB,
        legs=tuple(replace(leg, load_cell=LoadCell(location, 0.12)) for leg in LAB.legs),  # type: ignore[arg-type]
    )
    wrench = np.array([12.0, -9.0, 13.2, 1.2, -0.9, 1.32])
    rows = moving_rows(machine, wrench, seed=5)
    smoothing = Smoothing(20.0, RATE)
    estimator = WrenchEstimator(machine, smoothing, stated_noise(0.5, smoothing))
    (residuals,) = residuals_of([rows[:700], rows[700:]], machine, smoothing)
    found = estimator.estimate(residuals)
    assert len(found) == len(rows) - 2 * smoothing.half
    z = (found.wrench - wrench) / found.sigma
    assert np.abs(z.mean(axis=0)).max() < 0.35 and np.abs(z.std(axis=0) - 1.0).max() < 0.2
    assert np.mean(np.abs(z) < 3.0) > 0.99 and found.contact.all()


def moving_rows(machine: Mechanism, wrench: np.ndarray, seed: int) -> np.ndarray:
    """Telemetry of 6 s in which the platform swings about a reference that moves as well."""
    random = np.random.default_rng(seed)
    t = np.arange(1200) / RATE

    def motion(amplitude: float, frequency: float) -> np.ndarray:
        w = 2 * np.pi * frequency * np.array([1.0, 1.3, 0.8, 1.1, 0.7, 0.9])
        size = amplitude * np.array([1.0, 1.0, 0.6, 2.0, 2.0, 2.0])
        phase = np.outer(t, w)
        return np.stack([size * np.sin(phase), size * w * np.cos(phase), -size * w * w * np.sin(phase)])

    planned = motion(0.03, 0.7)
    actual = planned + motion(0.001, 2.0)
    offset = np.concatenate([machine.geometry.home_pose[:3], np.zeros(3)])
    reference, truth = (coordinates_to_motion(part[0] + offset, part[1], part[2]) for part in (planned, actual))
    rows = np.zeros(len(t), ROW)
    rows["t"], rows["state"], rows["flags"] = t, State.RUNNING, CycleFlag.POSE
    rows["reference"] = reference
    rows["pose"], rows["twist"] = truth[:, :7], truth[:, 7:13]
    measured = Dynamics(machine).cells(truth, wrench) + random.normal(0.0, 0.5, (len(t), 6))
    rows["force_measured"], rows["force_model"] = measured, Dynamics(machine).cells(reference)
    rows["force_residual"] = rows["force_measured"] - rows["force_model"]
    return rows


def test_gaps_and_rows_without_power_or_pose_are_left_out() -> None:
    rows = moving_rows(LAB, np.zeros(6), seed=1)
    rows["state"][:100] = State.PARKED
    rows["flags"][400:402] = 0
    rows["t"][900:] += 0.05
    smoothing = Smoothing(20.0, RATE)
    found = list(residuals_of([rows], LAB, smoothing))
    assert [len(one) + 2 * smoothing.half for one in found] == [300, 498, 300]
    joined = list(residuals_of(np.split(rows, [50, 399, 401, 650, 900]), LAB, smoothing))
    for one, other in zip(found, joined, strict=True):
        np.testing.assert_allclose(one.residual, other.residual, atol=1e-9)


DRIVES = {"delay": 1e-4, "force_bandwidth": 300.0}


@pytest.mark.parametrize("bandwidth", [None, 20.0])
def test_held_forces_go_on_from_piece_to_piece(bandwidth: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = moving_rows(LAB, np.zeros(6), seed=2)
    rows["mode"] = Mode.FORCE
    rows["force_command"] = np.random.default_rng(1).normal(0.0, 20.0, (len(rows), 6))
    rows["velocity"] = np.random.default_rng(2).normal(0.0, 2e-3, (len(rows), 6))
    smoothing = Smoothing(bandwidth, RATE)
    (whole,) = residuals_of([rows], LAB, smoothing, 1e-3, DRIVES)
    (without,) = residuals_of([rows], LAB, smoothing, 1e-3)
    assert np.abs(without.residual - whole.residual).max() > 1.0
    monkeypatch.setattr("rig.analysis.residuals._PIECE", 400)
    parts = list(residuals_of(np.split(rows, 8), LAB, smoothing, 1e-3, DRIVES))
    assert len(parts) == 3
    np.testing.assert_allclose(np.concatenate([part.t for part in parts]), whole.t)
    np.testing.assert_allclose(np.concatenate([part.residual for part in parts]), whole.residual, atol=1e-4)


def test_what_the_parameters_are_unsure_of_is_in_the_covariance() -> None:
    """Machines drawn by a file's covariance, which no smoothing averages out: distances stay those of χ²."""
    names = ("platform.mass", "platform.center_of_mass[2]", "load_cells[1].offset")
    values = (LAB.mass, LAB.center_of_mass[2], 0.0)
    covariance = np.array([[0.3, 0.0, -1.0], [0.0, 4e-5, 0.0], [-1.0, 0.0, 4.0]])
    random = np.random.default_rng(6)
    parameters = [
        Parameter(name, "", value, value, sigma)
        for name, value, sigma in zip(names, values, np.sqrt(np.diag(covariance)), strict=True)
    ]
    file = ParameterFile("inertia", date(2026, 1, 2), LAB.name, tuple(parameters), covariance=covariance)
    smoothing = Smoothing(20.0, RATE)
    noise = stated_noise(0.5, smoothing)
    estimator = WrenchEstimator(LAB, smoothing, noise, model=ReadingsUncertainty(LAB, [file], 1e-3))
    blind = WrenchEstimator(LAB, smoothing, noise)
    distances, unaware = [], []
    for seed in range(40):
        away = random.multivariate_normal(np.zeros(3), covariance)
        changed = [replace(each, value=each.value + step) for each, step in zip(parameters, away, strict=True)]
        truth = overlaid(LAB, [replace(file, parameters=tuple(changed))])
        rows = moving_rows(truth, np.zeros(6), seed)[:300]
        rows["force_residual"] = rows["force_measured"] - Dynamics(LAB).cells(rows["reference"])
        rows["force_residual"][:, 1] += away[2]
        (residuals,) = residuals_of([rows], LAB, smoothing)
        distances.append(estimator.estimate(residuals).distance[::50])
        unaware.append(blind.estimate(residuals).distance[::50])
    assert np.mean(distances) == pytest.approx(6.0, abs=1.0)
    assert np.mean(unaware) > 60.0


def test_a_joint_that_its_length_offset_makes_up_for_is_no_uncertainty() -> None:
    """A base joint that is 0.1 mm nearer along its leg, at home, and an encoder that reads as much more."""
    home = np.zeros((1, 19))
    home[:, :7] = LAB.geometry.home_pose
    axis = home[0, :3] + LAB.geometry.platform_points[2] - LAB.geometry.base_points[2]
    axis /= np.linalg.norm(axis)
    names = (*(f"base.points[2][{k}]" for k in range(3)), "legs[2].length_offset")
    spread = []
    for sign in (1.0, -1.0):
        errors = 1e-4 * np.array([*axis, sign])
        parameters = tuple(
            Parameter(name, "m", 0.0, 0.0, abs(error)) for name, error in zip(names, errors, strict=True)
        )
        covariance = np.outer(errors, errors) + 1e-18 * np.eye(4)
        file = ParameterFile("geometry", date(2026, 1, 2), LAB.name, parameters, covariance=covariance)
        spread.append(float(np.sqrt(np.trace(ReadingsUncertainty(LAB, [file]).covariance(home)[0]))))
    assert spread[0] < 0.1 * spread[1]


def test_a_later_file_replaces_what_an_earlier_one_was_unsure_of() -> None:
    home = np.zeros((1, 19))
    home[:, :7] = LAB.geometry.home_pose

    def file(sigma: float) -> ParameterFile:
        return ParameterFile(
            "inertia", date(2026, 1, 2), LAB.name, (Parameter("platform.mass", "kg", 18.0, LAB.mass, sigma),)
        )

    both, last = (ReadingsUncertainty(LAB, files).covariance(home) for files in ([file(1.0), file(0.01)], [file(0.01)]))
    np.testing.assert_array_equal(both, last)


def test_gains_that_a_bench_told_count_and_those_of_the_weight_itself_do_not() -> None:
    home = np.zeros((1, 19))
    home[:, :7] = LAB.geometry.home_pose
    cells = replace(identity().cells[0], gain_standard_error=0.01)
    bench = LoadCellCalibration((cells,) * 6, date(2026, 1, 2))
    spread = np.sqrt(np.diag(ReadingsUncertainty(LAB, [], calibration=bench).covariance(home)[0]))
    assert spread == pytest.approx(0.01 * np.abs(Dynamics(LAB).cells(home)[0]))
    in_place = replace(bench, covariance=1e-4 * np.eye(12))
    assert not ReadingsUncertainty(LAB, [], calibration=in_place)
