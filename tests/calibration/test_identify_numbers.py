"""The numbers an identification rests on, beside those of SciPy and of the plain definitions."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.ndimage import median_filter
from scipy.signal import butter, sosfiltfilt

from calibration.inertia.departures import dahl, play
from calibration.inertia.holdout import between
from calibration.inertia.least_squares import Information, Sums
from calibration.inertia.samples import low_passed, medians_of_five, thinned
from rig.analysis import drive_forces

RATE, CUTOFF, EDGE = 500.0, 25.0, 250
GENERATOR = np.random.default_rng(1)
VALUES = np.cumsum(GENERATOR.normal(size=(3007, 3)), axis=0)


def test_the_low_pass_is_a_butterworth_filter_forwards_and_backwards() -> None:
    expected = sosfiltfilt(butter(4, CUTOFF, fs=RATE, output="sos"), VALUES, axis=0)
    assert low_passed(VALUES, CUTOFF, RATE)[EDGE:-EDGE] == pytest.approx(expected[EDGE:-EDGE], abs=1e-9)


def test_a_straight_line_goes_through_the_low_pass_to_its_ends() -> None:
    line = np.linspace([0.0, 3.0], [5.0, -1.0], 700)
    assert low_passed(line, 5.0, RATE) == pytest.approx(line, abs=1e-12)


@pytest.mark.parametrize("step", [1, 7, 10])
def test_rows_that_are_kept_are_those_of_the_low_pass(step: int) -> None:
    expected = low_passed(VALUES, CUTOFF, RATE)[EDGE:-EDGE:step]
    assert thinned(VALUES, CUTOFF, RATE, EDGE, step) == pytest.approx(expected, abs=1e-9)


def test_medians_are_those_of_five_readings() -> None:
    assert np.array_equal(medians_of_five(VALUES), median_filter(VALUES, size=(5, 1), mode="nearest"))


def test_presliding_friction_goes_by_its_differential_equation() -> None:
    lengths = 1e-4 * np.sin(np.linspace(0.0, 20.0, 1001))
    state, course = 0.5, [0.5]
    for step in np.diff(lengths):
        kept = np.exp(-abs(step) / 2e-5)
        state = kept * state + np.sign(step) * (1.0 - kept)
        course.append(state)
    assert dahl(lengths, 0.5, 2e-5) == pytest.approx(course, abs=1e-12)


def test_play_begins_anew_with_each_stretch() -> None:
    values = np.array([0.0, 0.3, 0.1, 0.1, 0.5, 0.9, 0.0])
    assert play(values, 1.0, [0, 4]) == pytest.approx([0.0, 0.6, 0.2, 0.2, 0.0, 0.8, -1.0])


def test_values_between_are_those_of_the_cubic_spline() -> None:
    values, places = VALUES[:40], np.linspace(0.0, 39.4, 300)
    assert between(values, places) == pytest.approx(CubicSpline(np.arange(40.0), values)(places), abs=1e-9)


def test_drives_forces_lag_their_commands_by_their_own_time() -> None:
    commands = np.zeros((400, 6))
    commands[10:] = 1.0
    about, more = drive_forces(commands, 1e-3, {"delay": 0.0, "force_bandwidth": 5.0})
    at = np.arange(400) - 11  # a command goes out with the next exchange
    expected = np.where(at > 0, 1.0 - np.exp(-2.0 * np.pi * 5.0 * 1e-3 * at), 0.0)
    assert (about + more)[:, 2] == pytest.approx(expected, abs=1e-12)


def test_elimination_leg_by_leg_inverts_the_whole_matrix() -> None:
    sizes = (9, 3, 2, 4, 1, 3, 2)
    ends = np.cumsum((0, *sizes))
    places = [np.arange(low, high) for low, high in pairwise(ends)]
    root = GENERATOR.normal(size=(ends[-1], 60))
    whole = root @ root.T
    for one in places[1:]:
        for other in places[1:]:
            if one is not other:
                whole[np.ix_(one, other)] = 0.0
    shared, right = places[0], GENERATOR.normal(size=ends[-1])
    matrix = Information(
        whole[np.ix_(shared, shared)],
        [whole[np.ix_(shared, each)] for each in places[1:]],
        [whole[np.ix_(each, each)] for each in places[1:]],
    )
    covariance, information = matrix.whole(places)
    assert information == pytest.approx(whole)
    assert covariance == pytest.approx(np.linalg.inv(whole), abs=1e-9)
    top, rest = matrix.solve(right[shared], [right[each] for each in places[1:]])
    assert np.concatenate([top, *rest]) == pytest.approx(np.linalg.solve(whole, right), abs=1e-9)
    across, own = matrix.covariance_of(2)
    assert across == pytest.approx(covariance[np.ix_(shared, places[3])])
    assert own == pytest.approx(covariance[np.ix_(places[3], places[3])])


def test_an_information_matrix_that_is_none_is_refused() -> None:
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        Information(-np.eye(2), [np.zeros((2, 1))] * 6, [np.eye(1)] * 6)


def test_sums_by_weights_are_of_the_channels_of_each_leg() -> None:
    channels, bands, count = 12, 2, 3
    shared = GENERATOR.normal(size=(channels, bands, count * (count + 1) // 2))
    mixed = [GENERATOR.normal(size=(bands, count, 4)) for _ in range(channels)]
    own = [GENERATOR.normal(size=(bands, 4, 4)) for _ in range(channels)]
    weights = GENERATOR.uniform(1.0, 2.0, (channels, bands))
    chosen = [np.array([0, 2])] * 6
    found = Sums(shared, tuple(mixed), tuple(own)).of(chosen).weighted(weights)
    kept = [0, 2, 3]
    assert found[0] == pytest.approx(np.einsum("cb,cbp->p", weights, shared))
    for leg in range(6):
        both = [(weights[number], mixed[number], own[number]) for number in (leg, 6 + leg)]
        assert found[1][leg] == pytest.approx(sum(np.einsum("b,bij->ij", w, m) for w, m, _ in both)[:, kept])
        assert found[2][leg] == pytest.approx(sum(np.einsum("b,bij->ij", w, o) for w, _, o in both)[np.ix_(kept, kept)])
