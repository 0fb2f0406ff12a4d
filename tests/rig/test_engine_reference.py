"""The reference: its path, its rate, and the time that a change of rate may take."""

import copy

import numpy as np
import pytest

from dynamics import load_mechanism
from kinematics import Array, MotionTable, coordinates_to_motion, leg_kinematics, pose_to_coordinates
from rig.engine.reference import RateChange, Reference, ReferenceSource, TableSource, straight_move

HOME = load_mechanism("lab-hexapod").geometry.home_pose
GEOMETRY = load_mechanism("lab-hexapod").geometry
DURATION = 4.0
STEP = 2e-3


def sine_table(step: float = STEP, amplitude: float = 0.02, frequency: float = 0.5) -> MotionTable:
    """From rest to rest: A sin³ in every coordinate, with another sign for each."""
    t = np.arange(round(DURATION / step) + 1) * step
    w = 2.0 * np.pi * frequency
    s, c = np.sin(w * t), np.cos(w * t)
    shape = np.stack([s**3, 3.0 * w * s**2 * c, w**2 * (6.0 * s * c**2 - 3.0 * s**3)], axis=1)
    scale = amplitude * np.array([1.0, -1.0, 0.5, 1.0, -2.0, 1.5])
    samples = (shape[:, :, np.newaxis] * scale).reshape(len(t), 18)
    samples[:, :6] += pose_to_coordinates(HOME)
    return MotionTable(step, samples)


def motion(reference: Reference | ReferenceSource, ahead: float = 0.0) -> Array:
    out = np.zeros(19)
    assert reference.evaluate(ahead, out)
    return out


def test_it_holds_a_pose_without_moving() -> None:
    reference = Reference(HOME)
    for _ in range(3):
        now = motion(reference, 0.5)
        np.testing.assert_allclose(now[:7], HOME, atol=1e-15)
        assert not now[7:].any()
        assert not reference.moving and not reference.paused and reference.path_rate == 0.0
        reference.advance(100.0)


def test_it_follows_a_table_to_its_end_and_rests_there() -> None:
    table, reference = sine_table(), Reference(HOME)
    reference.follow(table, "sine")
    assert (reference.name, reference.path_duration, reference.path_rate) == ("sine", DURATION, 1.0)
    for k in range(round(DURATION / STEP)):
        assert reference.moving and not reference.paused
        assert reference.path_time == pytest.approx(k * STEP, abs=1e-12)
        if k % 50 == 0:
            row = table.samples[k]
            expected = coordinates_to_motion(row[np.newaxis, :6], row[np.newaxis, 6:12], row[np.newaxis, 12:])[0]
            np.testing.assert_allclose(motion(reference), expected, atol=1e-9)
        reference.advance(STEP)
    reference.advance(STEP)
    assert not reference.moving and not reference.paused and reference.path_rate == 0.0
    assert not motion(reference)[7:].any()
    assert not motion(reference, 0.1)[7:].any()


@pytest.mark.parametrize("ahead", [0.0, 1e-4, 3.7e-3, 0.05, 0.9, 3.0])
def test_what_is_ahead_is_what_comes(ahead: float) -> None:
    reference = TableSource(sine_table(), "sine")
    for action in (None, 0.0, None, 1.0, None):
        if action is not None:
            reference.change_rate(action, 0.4)
        for _ in range(100):
            reference.advance(STEP)
        foreseen = motion(reference, ahead)
        later = copy.copy(reference)
        later.advance(ahead)
        np.testing.assert_allclose(foreseen, motion(later), atol=1e-11)


def test_position_speed_and_acceleration_are_one_motion_through_pause_and_return() -> None:
    reference, h = TableSource(sine_table(), "sine"), 5e-4
    changes = {400: 0.0, 1900: 1.0, 2700: 0.0, 2900: 1.0, 3300: 0.0, 5000: 1.0}  # the fourth interrupts a ramp
    rows, rates = [], []
    for k in range(12500):
        if k in changes:
            reference.change_rate(changes[k], 0.4)
        rows.append(motion(reference))
        rates.append(reference.path_rate)
        reference.advance(h)
    q = np.array(rows)
    speed, acceleration = np.array(q)[:, 7:10], np.array(q)[:, 13:16]
    derived = (speed[2:] - speed[:-2]) / (2 * h)
    smooth = np.ones(len(derived), bool)
    smooth[2897:2902] = False  # a ramp interrupted: the acceleration, and nothing else, jumps
    assert np.abs((q[2:, :3] - q[:-2, :3]) / (2 * h) - speed[1:-1])[smooth].max() < 4e-6
    assert np.abs(derived - acceleration[1:-1])[smooth].max() < 0.02 * np.abs(acceleration).max()
    assert np.abs(np.diff(speed, axis=0)).max() < 1.05 * h * np.abs(acceleration).max()
    assert min(rates) == 0.0 and max(rates) <= 1.0
    assert not reference.moving and not reference.paused


def test_the_law_of_a_ramp_is_exact() -> None:
    reference = TableSource(sine_table(), "sine")
    reference.advance(1.0)
    for x in (0.0, 0.2, 0.5, 0.9, 1.0, 1.7):
        place, rate, acceleration = reference.ramp_law(0.0, 0.4, 0.4 * x)
        y = min(x, 1.0)
        assert rate == pytest.approx(1.0 - 3.0 * y**2 + 2.0 * y**3, abs=1e-14)
        assert place == pytest.approx(1.0 + 0.4 * (y - y**3 + 0.5 * y**4), abs=1e-14)
        assert acceleration == pytest.approx(-6.0 * y * (1.0 - y) / 0.4, abs=1e-12)
    assert reference.path_rate == 1.0  # asking changes nothing
    reference.change_rate(0.0, 0.4)
    reference.advance(0.4)
    assert reference.path_time == pytest.approx(1.2, abs=1e-14) and reference.path_rate == 0.0 and reference.paused


def test_time_passes_the_same_in_one_step_and_in_many() -> None:
    one, many = TableSource(sine_table(), "sine"), TableSource(sine_table(), "sine")
    for reference in (one, many):
        reference.advance(0.5)
        reference.change_rate(0.0, 0.4)
    one.advance(0.3)
    for _ in range(300):
        many.advance(0.001)
    assert one.path_time == pytest.approx(many.path_time, abs=1e-13)
    np.testing.assert_allclose(motion(one), motion(many), atol=1e-12)


def test_a_pause_at_the_very_end_is_the_end() -> None:
    reference = TableSource(sine_table(), "sine")
    reference.advance(DURATION - 0.1)
    reference.change_rate(0.0, 0.4)
    for _ in range(300):
        reference.advance(STEP)
    assert not reference.moving and not reference.paused and reference.path_time == DURATION


def test_a_shorter_stop_overtakes_a_longer_one_and_not_the_other_way_round() -> None:
    reference = TableSource(sine_table(), "sine")
    reference.change_rate(0.0, 3.2)
    reference.advance(0.5)
    reference.change_rate(0.0, 0.4)
    reference.advance(0.2)
    reference.change_rate(0.0, 3.2)
    reference.advance(0.2)
    assert reference.paused


def test_a_straight_move_keeps_to_its_peaks() -> None:
    end = HOME.copy()
    end[:3] += [0.03, -0.04, 0.0]
    table = straight_move(HOME, end, 0.05, 0.2)
    reference = Reference(HOME)
    reference.follow(table, "move")
    speeds = []
    while reference.moving:
        speeds.append(float(np.linalg.norm(motion(reference)[7:10])))
        reference.advance(1e-3)
        assert len(speeds) < 10_000
    assert max(speeds) == pytest.approx(0.05, rel=1e-4)
    np.testing.assert_allclose(motion(reference)[:7], end, atol=1e-12)
    assert straight_move(HOME, HOME, 0.05, 0.2).duration == pytest.approx(0.1)


def _largest_acceleration(reference: ReferenceSource, duration: float) -> float:
    rows = []
    for _ in range(round(duration / 1e-3)):
        rows.append(motion(reference))
        reference.advance(1e-3)
    return float(np.abs(leg_kinematics(GEOMETRY, np.array(rows)).acceleration).max())


@pytest.mark.parametrize("begin", [0.2, 0.37, 0.5, 0.8])
def test_a_change_of_rate_takes_the_time_the_legs_need(begin: float) -> None:
    """A ramp of 0.4 s alone needs more than the motion itself where the legs are fast but may hardly be accelerated."""
    table = sine_table(frequency=0.25, amplitude=0.05)
    whole = _largest_acceleration(TableSource(table, "sine"), DURATION)
    running = TableSource(table, "sine", RateChange(GEOMETRY.array, np.full(6, whole)))
    running.advance(begin)
    abrupt = copy.copy(running)
    abrupt.change_rate(0.0, 0.05)
    assert _largest_acceleration(abrupt, 1.0) > 1.5 * whole
    paused = copy.copy(running)
    paused.decelerate((0.05, 0.4, 0.8, 1.6, 3.2))
    assert _largest_acceleration(paused, 4.0) <= whole * 1.002
    resumed = copy.copy(paused)
    resumed.resume((0.05, 0.4, 0.8, 1.6, 3.2))
    assert _largest_acceleration(resumed, 8.0) <= whole * 1.002


def test_without_limits_the_shortest_ramp_is_taken_and_the_longest_where_none_will_do() -> None:
    for limit, expected in ((np.inf, 0.4), (1e-9, 1.6)):
        reference = TableSource(sine_table(), "sine", RateChange(GEOMETRY.array, np.full(6, limit)))
        reference.advance(0.4)
        reference.decelerate((0.4, 0.8, 1.6))
        reference.advance(expected - 1e-6)
        assert reference.moving
        reference.advance(2e-6)
        assert reference.paused
