"""How a CiA 402 drive makes a motion of positions that come with SYNCs, on time and not."""

import random
from collections.abc import Iterable

import pytest

from actuators.canopen.interpolation import Interpolator

T = 5e-3  # s, the interpolation time period
D = 0.8 * T  # s, from a SYNC to the drive's own cycle
V = 0.2  # m/s, of the motion that is commanded


def sync(drive: Interpolator, at: float, target: float, period: float = T) -> None:
    drive.sync(at, period)
    drive.take(at, target)


def running(cycles: int = 20) -> Interpolator:
    """A drive that follows a steady motion by SYNCs on time, the last of them before cycle `cycles`."""
    drive = Interpolator(0.0)
    follow(drive, [0.0] * cycles)
    return drive


def follow(drive: Interpolator, late: Iterable[float], first: int = 0) -> list[float]:
    """Send the positions of a steady motion by SYNCs so much late, s; the speeds seen at each of them and between."""
    speeds = []
    for cycle, lateness in enumerate(late, start=first):
        at = cycle * T + lateness
        speeds.append(drive.position(at)[1])
        sync(drive, at, V * cycle * T)
        speeds.append(drive.position(at + 0.1 * T)[1])
    return speeds


def test_a_set_point_is_taken_in_the_drives_own_cycle_and_reached_when_it_ends() -> None:
    drive = running()
    begin = 19 * T + D
    assert drive.position(begin)[0] == pytest.approx(V * 18 * T)
    assert drive.position(begin + 0.5 * T) == (pytest.approx(V * 18.5 * T), pytest.approx(V))
    assert drive.position(begin + T - 1e-9)[0] == pytest.approx(V * 19 * T)


def test_the_speed_does_not_depend_on_when_a_sync_comes() -> None:
    drive, draw = running(), random.Random(1)
    speeds = follow(drive, [draw.uniform(-1e-4, 1e-4) for _ in range(400)], first=20)
    assert min(speeds) > 0.99 * V and max(speeds) < 1.01 * V
    assert drive.synchronized


def test_a_sync_after_the_cycle_is_made_up_for_by_the_next() -> None:
    drive = running()
    speeds = follow(drive, [0.0, 0.9 * T, 0.0, 0.0, 0.0], first=20)
    assert speeds == pytest.approx([V] * 10, rel=0.01)


def test_without_a_set_point_it_goes_on_for_a_period_and_stands() -> None:
    drive = running()
    end = 20 * T + D  # of the last ramp
    assert drive.position(end + 0.9 * T) == (pytest.approx(V * 19.9 * T), pytest.approx(V))
    assert drive.position(end + 1.5 * T) == (pytest.approx(V * 20.0 * T), 0.0)
    follow(drive, [0.0], first=22)
    speed = 2.0 * V  # it has to catch up
    assert drive.position(22.5 * T + D) == (pytest.approx(V * 21.0 * T), pytest.approx(speed))


@pytest.mark.parametrize("period", [0.001, 0.1, 0.2, 0.255])
def test_it_follows_at_the_longest_period_of_the_object_too(period: float) -> None:
    drive = Interpolator(0.0)
    for cycle in range(20):
        sync(drive, cycle * period, V * cycle * period, period)
    assert drive.synchronized
    assert drive.position(20.3 * period)[0] == pytest.approx(V * 18.5 * period)


@pytest.mark.parametrize("shift", [2e-4, -5e-4])
def test_its_cycles_come_nearer_to_syncs_at_another_time_by_150_ns_in_each_62_5_us(shift: float) -> None:
    drive, step = running(), 0.0024 * T
    follow(drive, [shift] * 10, first=20)
    assert abs(cycle_after_sync(drive, 30) - D) == pytest.approx(10 * step, abs=2 * step)
    follow(drive, [shift] * 100, first=30)
    assert cycle_after_sync(drive, 130) - shift == pytest.approx(D, abs=2 * step)


def cycle_after_sync(drive: Interpolator, number: int) -> float:
    """How long after the time of a SYNC the drive's cycle begins, s."""
    drive.position(number * T)
    return drive.next_cycle - number * T


def test_a_single_late_sync_hardly_moves_its_cycles() -> None:
    drive = running()
    follow(drive, [0.6 * T, 0.0], first=20)
    assert cycle_after_sync(drive, 22) == pytest.approx(D, abs=2.1 * 0.0024 * T)


@pytest.mark.parametrize("period", [0.0, 1e-3, 20e-3])
def test_a_drive_whose_syncs_do_not_come_at_its_period_goes_by_the_time_between_them(period: float) -> None:
    drive = Interpolator(0.0)
    for cycle in range(20):
        sync(drive, cycle * T, V * cycle * T, period)
    assert not drive.synchronized
    assert drive.position(19.5 * T) == (pytest.approx(V * 18.5 * T), pytest.approx(V))


def test_a_rate_that_changes_ends_its_synchronization() -> None:
    drive = running()
    for cycle in range(30):
        sync(drive, 20 * T + 2 * T * cycle, V * T * (20 + 2 * cycle))
    assert not drive.synchronized


def test_after_a_pause_it_begins_anew() -> None:
    drive = running()
    assert drive.position(1.0) == (pytest.approx(V * 20 * T), 0.0)
    assert not drive.synchronized
    sync(drive, 1.0 + 0.4 * T, 0.5)
    sync(drive, 1.0 + 1.4 * T, 0.5)
    assert drive.synchronized and drive.position(1.0 + 1.4 * T) == (0.5, 0.0)
