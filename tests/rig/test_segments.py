"""The drives' forces by their commands, against the lag integrated in fine steps."""

import math

import numpy as np
import pytest

from dynamics import switched_friction
from rig.analysis import drive_forces
from rig.recording import RecordingError

PERIOD = 2e-3
FINE = 200  # steps a period


@pytest.mark.parametrize("delay", [0.0, 1e-4, 1.5e-3, 2.3e-3])
@pytest.mark.parametrize("bandwidth", [60.0, 300.0])
def test_forces_are_those_of_a_lag_behind_commands_that_are_held(delay: float, bandwidth: float) -> None:
    generator = np.random.default_rng(1)
    commands = generator.normal(size=(40, 6)).cumsum(axis=0) * 10.0
    lag, h = 1.0 / (2.0 * math.pi * bandwidth), PERIOD / FINE
    count = len(commands) * FINE
    force = commands[0].copy()
    course = np.empty((count, 6))
    for step in range(count):
        course[step] = force
        row = math.floor((step + 0.5) * h / PERIOD - delay / PERIOD) - 1  # computed a cycle before it goes out
        force = commands[max(row, 0)] + (force - commands[max(row, 0)]) * math.exp(-h / lag)
    mean, excess = drive_forces(commands, PERIOD, {"delay": delay, "force_bandwidth": bandwidth})
    weights = 1.0 - np.abs(np.arange(-FINE, FINE)) / FINE
    for row in range(5, 39):
        around = course[(row - 1) * FINE : (row + 1) * FINE]
        assert mean[row] == pytest.approx(weights @ around / weights.sum(), abs=0.15)
        assert mean[row] + excess[row] == pytest.approx(course[row * FINE], abs=0.15)
    assert np.abs(excess).max() > 0.5


def test_friction_that_turns_round_within_a_cycle_is_not_its_mean_about_then() -> None:
    """Against the mean of the sign, weighted as accelerations are by second differences, in fine steps."""
    t = np.arange(40) * PERIOD
    speeds = 0.02 * np.cos(2 * np.pi * (7.0 + np.arange(6.0)) * t[:, np.newaxis])
    excess = switched_friction(speeds, 1e-3)
    weights = 1.0 - np.abs(np.arange(-FINE, FINE) + 0.5) / FINE
    for row in range(1, 39):
        around = t[row] + (np.arange(-FINE, FINE) + 0.5) * PERIOD / FINE
        between = np.column_stack([np.interp(around, t, column) for column in speeds.T])
        mean = weights @ np.tanh(between / 1e-3) / weights.sum()
        assert excess[row] == pytest.approx(np.tanh(speeds[row] / 1e-3) - mean, abs=0.02)
    assert np.abs(excess).max() > 0.25 and np.abs(switched_friction(np.full((9, 6), 0.02), 1e-3)).max() < 1e-12


def test_what_the_drives_are_must_be_known() -> None:
    with pytest.raises(RecordingError, match="delay and force_bandwidth"):
        drive_forces(np.zeros((5, 6)), PERIOD, {"delay": 1e-4})
