"""The line through one cell's readings: what it recovers, how sure it says it is, what it refuses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration import STANDARD_GRAVITY, CalibrationError, CellCalibration, Load, fit_cell

MASSES = np.array([0.0, 2.0, 5.0, 10.0, 15.0, 20.0])


@settings(max_examples=60)
@given(
    gain=st.floats(1e-4, 1e4),
    offset_force=st.floats(-300.0, 300.0),
    polarity=st.sampled_from([1, -1]),
    load=st.sampled_from(["compression", "tension"]),
    gravity=st.floats(9.78, 9.84),
    masses=st.lists(st.integers(0, 60), min_size=3, max_size=12, unique=True),
)
def test_noiseless_cell_is_recovered_to_rounding(
    gain: float, offset_force: float, polarity: int, load: Load, gravity: float, masses: list[int]
) -> None:
    force = np.array(masses) * (gravity if load == "compression" else -gravity)
    offset = offset_force / gain
    fit = fit_cell(masses, offset + polarity * force / gain, gravity, load=load)
    assert fit.polarity == polarity
    assert fit.gain == pytest.approx(gain, rel=1e-9)
    assert fit.offset == pytest.approx(offset, abs=1e-9 * 1000.0 / gain)
    assert fit.signed_gain == polarity * fit.gain
    assert fit.residual_max < 1e-9 * 1000.0
    assert fit.range == pytest.approx(np.ptp(force))
    assert fit.n == len(masses)


@pytest.mark.parametrize("known_noise", [True, False])
def test_errors_of_gain_and_offset_are_those_stated(known_noise: bool) -> None:
    """Over 400 random cells the deviations, in stated standard errors, have zero mean and unit spread; none is wild."""
    random = np.random.default_rng(20261121)
    masses = np.tile(MASSES, 8)
    scaled = []
    for _ in range(400):
        gain, polarity = random.uniform(0.5, 2.0), random.choice([1, -1])
        offset, noise = random.uniform(-50.0, 50.0), random.uniform(0.05, 0.3)
        reading = offset + polarity * masses * STANDARD_GRAVITY / gain + random.normal(0.0, noise, len(masses))
        fit = fit_cell(masses, reading, noise=noise if known_noise else None, nonlinearity_limit=5.0)
        assert fit.polarity == polarity
        assert fit.residual_rms == pytest.approx(noise * gain, rel=0.5)
        scaled.append([(fit.gain - gain) / fit.gain_standard_error, (fit.offset - offset) / fit.offset_standard_error])
    deviations = np.array(scaled)
    assert np.abs(deviations).max() < 4.5
    assert np.abs(deviations.mean(axis=0)).max() < 0.2
    assert deviations.std(axis=0) == pytest.approx([1.0, 1.0], abs=0.15)


def test_weights_follow_the_noise() -> None:
    """A reading that is a thousand times noisier hardly moves the line; the result is numpy's weighted fit."""
    random = np.random.default_rng(7)
    noise = np.array([0.01, 0.01, 0.01, 0.01, 0.01, 10.0])
    reading = 3.0 + 0.8 * MASSES * STANDARD_GRAVITY + random.normal(0.0, noise)
    fit = fit_cell(MASSES, reading, noise=noise)
    slope, intercept = np.polyfit(MASSES * STANDARD_GRAVITY, reading, 1, w=1.0 / noise)
    assert fit.gain == pytest.approx(1.0 / slope, rel=1e-12)
    assert fit.offset == pytest.approx(intercept, rel=1e-12)
    assert abs(fit.gain - 1.25) < 4.0 * fit.gain_standard_error
    assert fit.gain_standard_error < 1e-3


def test_scatter_beyond_the_noise_widens_the_errors() -> None:
    reading = MASSES * STANDARD_GRAVITY + np.array([0.5, -0.5, 0.5, -0.5, 0.5, -0.5])
    quiet = fit_cell(MASSES, reading, noise=1e-3)
    unknown = fit_cell(MASSES, reading)
    assert quiet.gain_standard_error == pytest.approx(unknown.gain_standard_error)


def test_noise_of_exactly_zero_is_noise_not_known() -> None:
    reading = MASSES * STANDARD_GRAVITY
    assert fit_cell(MASSES, reading, noise=0.0) == fit_cell(MASSES, reading)


def test_bent_cell_shows_its_nonlinearity() -> None:
    """reading = F + k F²: the best line leaves k R²/6 at most for evenly spread forces (ends and middle)."""
    force = np.linspace(0.0, 200.0, 201)
    bend = 6.0 * 0.003 / 200.0  # 0.3 % of the range
    fit = fit_cell(force / STANDARD_GRAVITY, force + bend * force**2)
    assert fit.nonlinearity == pytest.approx(0.3, rel=0.05)
    either_end = r"cell 4: not linear: at (0|20\.3943) kg .* off the line, allowed 0\.4 N \(0\.2 %"
    with pytest.raises(CalibrationError, match=either_end):
        fit_cell(force / STANDARD_GRAVITY, force + bend * force**2, nonlinearity_limit=0.2, cell=4)


def test_hysteresis_needs_masses_that_rise_and_fall() -> None:
    up = np.array([0.0, 5.0, 10.0, 20.0])
    masses = np.concatenate([up, up[-2::-1]])
    reading = masses * STANDARD_GRAVITY
    reading[5] += 0.4  # 5 kg on the way down
    range_ = 20.0 * STANDARD_GRAVITY
    fit = fit_cell(masses, reading)
    assert fit.hysteresis == pytest.approx(100.0 * 0.4 / range_, rel=2e-2)
    assert fit_cell(up, up).hysteresis is None
    assert fit_cell([0.0, 10.0, 5.0, 20.0, 5.0, 0.0], np.array([0.0, 10.0, 5.0, 20.0, 5.0, 0.0])).hysteresis is None


def _fit(masses: object, readings: object, **options: object) -> CellCalibration:
    return fit_cell(masses, readings, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("masses", "readings", "options", "message"),
    [
        ([0, 5, 5, 0], [0, 1, 1, 0], {"cell": 3}, "cell 3: 2 distinct masses, at least 3"),
        ([], [], {}, "cell 1: 0 distinct masses"),
        ([0, 5, 10], [0, 5], {}, r"\(3,\) masses but \(2,\) readings"),
        ([0, 5, 10], [0, np.nan, 10], {"cell": 6}, "cell 6: reading 2 of 3 is nan, not finite"),
        ([0, np.inf, 10], [0, 5, 10], {}, "cell 1: mass 2 of 3 is inf kg, not finite"),
        ([0, -5, 10], [0, 5, 10], {}, "mass -5 kg is negative; say load = tension"),
        ([0, 5, 10], [7, 7, 7], {"cell": 2}, "cell 2: no sensitivity: the reading changes by .* over 98.07 N"),
        ([0, 5, 10], [1e9, 1e9 + 1e-6, 1e9], {}, "no sensitivity"),
        ([0, 5, 10, 15], [0.1, -0.2, 0.2, 0.1], {"noise": 0.5}, "no sensitivity"),
        (
            [0, 5, 10, 15],
            [0, 49, 140, 147],
            {"cell": 5, "noise": 0.1},
            "cell 5: not linear: at 10 kg .* times the noise",
        ),
        ([0, 5, 10], [0, 5, 10], {"gravity": 0.0}, "gravity .* must be finite and positive, got 0"),
        ([0, 5, 10], [0, 5, 10], {"gravity": np.nan}, "gravity .* got nan"),
        ([0, 5, 10], [0, 5, 10], {"nonlinearity_limit": np.inf}, "nonlinearity limit"),
        ([0, 5, 10], [0, 5, 10], {"load": "sideways"}, "load must be compression or tension, got 'sideways'"),
        ([0, 5, 10], [0, 5, 10], {"noise": [0.1, 0.0, 0.1]}, "noise is zero for some readings only"),
        ([0, 5, 10], [0, 5, 10], {"noise": -0.1}, "noise must be finite and not negative"),
        ([0, 5, 10], [0, 5, 10], {"noise": [0.1, 0.1]}, "noise must be one number or 3"),
    ],
)
def test_refusals_name_leg_value_and_bound(
    masses: list[float], readings: list[float], options: dict[str, object], message: str
) -> None:
    with pytest.raises(CalibrationError, match=message):
        _fit(masses, readings, **options)


def test_repeatability_is_the_scatter_of_a_mass_put_on_again_from_the_same_side() -> None:
    series = np.array([0.0, 10.0, 20.0, 10.0] * 100 + [0.0])
    scatter = np.random.default_rng(3).normal(0.0, 0.05, len(series))
    way = 0.3 * (np.diff(series, prepend=1.0) < 0.0)  # hysteresis, which is not repeatability
    fit = fit_cell(series, series * STANDARD_GRAVITY + scatter + way, nonlinearity_limit=5.0)
    assert fit.repeatability == pytest.approx(100.0 * 0.05 / fit.range, rel=0.15)
    twice = np.repeat(series, 2)  # two readings one after the other are one loading
    again = fit_cell(twice, twice * STANDARD_GRAVITY + np.repeat(scatter + way, 2), nonlinearity_limit=5.0)
    assert again.repeatability == pytest.approx(fit.repeatability, rel=1e-6)
    up = np.array([0.0, 5.0, 10.0, 20.0])
    assert fit_cell(up, up).repeatability is None
