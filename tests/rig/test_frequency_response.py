"""Frequency response of known systems with known delays: the estimator sees samples with noise only."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from kinematics import TrajectorySpec, build_trajectory
from rig.analysis import fit_response, frequency_response, multisine, steady_periods, well_excited
from rig.errors import InputError

RATE = 500.0
PERIOD = 2.0
NATURAL, DAMPING, DELAY = 15.0, 0.6, 0.004
FREQUENCIES = np.unique(np.round(np.geomspace(0.5, 40.0, 30) * PERIOD)) / PERIOD


def system(f: np.ndarray | float) -> np.ndarray:
    """Second order with a dead time."""
    s = np.asarray(f) * 1j
    return np.asarray(np.exp(-2 * np.pi * s * DELAY) / (1 + 2 * DAMPING * s / NATURAL + (s / NATURAL) ** 2))


def signals(seed: int, periods: int = 8, noise: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    t = np.arange(round(periods * PERIOD * RATE)) / RATE
    turns = 2 * np.pi * np.outer(t, FREQUENCIES) + np.random.default_rng(0).uniform(0, 2 * np.pi, len(FREQUENCIES))
    H = system(FREQUENCIES)
    output = (np.abs(H) * np.cos(turns + np.angle(H))).sum(axis=1)
    return np.cos(turns).sum(axis=1), output + random.normal(0.0, noise, len(t))


def test_a_known_system_is_found_within_the_stated_uncertainty() -> None:
    level = abs(system(FREQUENCIES[0])) / math.sqrt(2.0)
    true = brentq(lambda f: float(abs(system(f))) - float(level), 5.0, 40.0)
    z, line = [], []
    for seed in range(20):
        u, y = signals(seed)
        response = well_excited(frequency_response(u, y, u, RATE))
        assert response.periodic and len(response.frequency) == len(FREQUENCIES)
        fit = fit_response(response)
        found = response.bandwidth()
        assert fit.order == 2 and found is not None and fit.natural_frequency and fit.natural_frequency_sigma
        errors = fit.dead_time - DELAY, fit.natural_frequency - NATURAL
        z.append([errors[0] / fit.dead_time_sigma, errors[1] / fit.natural_frequency_sigma])
        line.append(np.abs(response.gain - system(FREQUENCIES)) ** 2 / response.sigma**2)
        assert found[0] == pytest.approx(true, abs=4.0 * found[1]) and found[1] < 0.2
        lag = DELAY + 2 * DAMPING / (2 * math.pi * NATURAL)
        assert fit.lag == pytest.approx(lag, abs=4.0 * fit.lag_sigma)
    assert np.std(z) == pytest.approx(1.0, abs=0.35)
    assert np.mean(line) == pytest.approx(1.0 + 2.0 / 5.0, abs=0.3)  # of 7 degrees of freedom, F has a heavier tail


def test_a_pure_delay_is_nothing_more() -> None:
    u, _ = signals(0)
    y = np.roll(u, 3) + np.random.default_rng(1).normal(0.0, 0.1, len(u))
    fit = fit_response(well_excited(frequency_response(u, y, u, RATE)))
    assert fit.order == 0 and fit.natural_frequency is None
    assert fit.dead_time == pytest.approx(3.0 / RATE, abs=4.0 * fit.dead_time_sigma) and fit.dead_time_sigma < 2e-5


def test_a_chirp_is_averaged_by_welch() -> None:
    t = np.arange(20_000) / RATE
    u = np.sin(2 * np.pi * (0.5 * t % 10 + 0.15 * (t % 10) ** 2))
    rolled = np.concatenate([np.zeros(5), u[:-5]]) + np.random.default_rng(2).normal(0.0, 0.05, len(u))
    source = u + 1e-4 * t  # which never repeats itself
    response = well_excited(frequency_response(source, rolled, source, RATE), (1.0, 3.0))
    assert not response.periodic
    assert fit_response(response).lag == pytest.approx(5 / RATE, abs=1e-3)


def test_what_is_not_excited_is_named() -> None:
    u, y = signals(0)
    with pytest.raises(InputError, match=r"not enough excitation at 5\d\.?\d* to 80 Hz"):
        well_excited(frequency_response(u, y, u, RATE), (1.0, 80.0))
    t = np.arange(4000) / RATE
    one = np.sin(2 * np.pi * 0.5 * t)
    with pytest.raises(InputError, match=r"1 frequencies \(0.5 Hz\), at least 5"):
        well_excited(frequency_response(one, one, one, RATE))
    drowned = np.random.default_rng(0).normal(0.0, 50.0, len(u))
    with pytest.raises(InputError, match="not enough excitation"):
        well_excited(frequency_response(u, drowned, u, RATE), (1.0, 40.0))


def test_the_multisine_repeats_itself_between_its_fades() -> None:
    spec = multisine("ry", 0.5, 20.0, 0.02, 2.0, 4)
    home = np.array([0.0, 0.0, 0.45, 1.0, 0.0, 0.0, 0.0])
    trajectory = build_trajectory(TrajectorySpec.model_validate(spec), home)
    t = np.arange(0.0, trajectory.duration, 1 / RATE)
    angle = 2.0 * trajectory.motion(t)[:, 5]
    found = steady_periods(angle)
    assert found is not None and found[1] == PERIOD * RATE
    assert found[0].stop - found[0].start == 4 * PERIOD * RATE
    assert 0.015 < np.abs(angle).max() < 0.021
    with pytest.raises(InputError, match="longer period"):
        multisine("z", 0.6, 0.7, 0.01, 2.0, 4)
    with pytest.raises(InputError, match="at least 2"):
        multisine("z", 0.5, 10.0, 0.01, 2.0, 1)
