"""A game pad as SDL reads it, what is wished by it, and a platform that moves by it."""

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from engine_support import Bench
from virtual_pad import VirtualPad

from rig.client import (
    DEAD_ZONE,
    GamePad,
    GamepadMapping,
    JogRequest,
    PadReading,
    follow_hold_to_run,
    greatest_speed,
    hold_to_run_motion,
    jogged,
)
from rig.states import MotionKind, State

AT_REST = PadReading(pad=7, name="a pad")
UP = replace(AT_REST, right=(0.0, 1.0))
HELD = replace(UP, dead_man=True)


@contextmanager
def reader() -> Iterator[GamePad]:
    pad = GamePad()
    try:
        yield pad
    finally:
        pad.close()
        pad.close()  # again, for nothing


def ready(reading: PadReading = AT_REST) -> GamepadMapping:
    """Of a pad whose dead-man's button was up for long enough."""
    wishes = GamepadMapping()
    while not wishes.ready:
        assert wishes.take(reading) is None
    return wishes


def settle(pad: GamePad, wishes: GamepadMapping) -> None:
    for _ in range(20):
        assert wishes.take(pad.read()) is None
    assert wishes.ready


# -- what is read ----------------------------------------------------------------------------------------------------


def test_sticks_and_buttons_are_read_as_they_stand() -> None:
    with reader() as pad, VirtualPad() as hand:
        at_rest = pad.read()
        assert at_rest == PadReading(pad=at_rest.pad, name="Virtual Controller") and at_rest.pad is not None
        hand.move("left x", 1.0)
        hand.move("left y", -0.5)
        hand.move("right y", 0.25)
        hand.press("dead-man")
        hand.press("turning")
        read = pad.read()
        assert read.left == pytest.approx((1.0, -0.5), abs=1e-3) and read.right == pytest.approx((0.0, 0.25), abs=1e-3)
        assert read.dead_man and read.turning and not read.stop and not read.dead_man_came_up
        hand.release("dead-man")
        read = pad.read()
        assert read.dead_man_came_up and not read.dead_man and read.turning


def test_what_is_pressed_and_let_go_between_two_looks_is_not_missed() -> None:
    with reader() as pad, VirtualPad() as hand:
        hand.press("dead-man")
        pad.read()
        hand.tap("stop")
        assert pad.read().stop and not pad.read().stop  # once for each press
        hand.tap("dead-man")
        assert pad.read().dead_man_came_up
        hand.tap("start")
        assert not pad.read().stop  # no other button does anything


def test_a_pad_that_is_unplugged_is_gone_and_the_next_is_another() -> None:
    with reader() as pad:
        assert pad.read() == PadReading()
        with VirtualPad() as hand:
            first = pad.read()
            hand.press("dead-man")
            hand.move("right y", 1.0)
            assert pad.read().dead_man
            hand.unplug()
            lost = pad.read()
            assert (lost.pad, lost.name, lost.dead_man, lost.right) == (None, "", False, (0.0, 0.0))
        with VirtualPad():
            assert pad.read().pad not in (None, first.pad)


def test_the_first_pad_stays_the_one_while_it_is_there_and_any_other_stops_too() -> None:
    with reader() as pad, VirtualPad() as hand:
        first = pad.read().pad
        with VirtualPad() as other:
            assert pad.read().pad == first
            other.press("dead-man")
            other.move("right y", 1.0)
            other.press("stop")
            read = pad.read()
            assert (read.pad, read.dead_man, read.right, read.stop) == (first, False, (0.0, 0.0), True)
            other.release("stop")
            assert not pad.read().stop
            hand.unplug()
            read = pad.read()
            assert read.pad not in (None, first) and read.dead_man and not read.dead_man_came_up


def test_a_device_without_a_map_of_its_buttons_is_named_and_not_read() -> None:
    with reader() as pad, VirtualPad(known=False) as hand:
        hand.press("stop")
        read = pad.read()
        assert read.pad is None and read.name == "Virtual Wheel" and not read.stop


def test_signals_stay_whose_they_are() -> None:
    def handled() -> str:
        match = re.search(r"^SigCgt:\s*(\w+)", Path("/proc/self/status").read_text(encoding="ascii"), re.MULTILINE)
        assert match is not None
        return match[1]

    python, kernel = signal.getsignal(signal.SIGTERM), handled()
    with reader() as pad:
        pad.read()
        assert (signal.getsignal(signal.SIGTERM), handled()) == (python, kernel)


# -- what is wished --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right", "way"),
    [
        ((1.0, 0.3), (0.0, 0.0), "+x"),
        ((-0.9, 0.5), (0.0, 0.4), "-x"),
        ((0.5, 1.0), (0.0, 0.9), "+y"),
        ((0.0, -1.0), (1.0, 0.0), "-y"),
        ((0.7, 0.7), (0.0, -1.0), "-z"),
    ],
)
@pytest.mark.parametrize("turning", [False, True])
def test_the_axis_that_is_farthest_out_is_wished(
    left: tuple[float, float], right: tuple[float, float], way: str, turning: bool
) -> None:
    wish = ready().take(replace(AT_REST, left=left, right=right, dead_man=True, turning=turning))
    assert wish is not None and wish.way == (f"{way[0]}r{way[1]}" if turning else way)


def test_nothing_is_wished_without_the_dead_mans_button() -> None:
    wishes = ready()
    assert wishes.take(UP) is None
    assert wishes.take(HELD) == JogRequest("+z", 1.0)
    assert wishes.take(replace(HELD, dead_man_came_up=True)) is None  # if only for a moment
    assert wishes.take(HELD) == JogRequest("+z", 1.0)
    assert wishes.take(UP) is None


def test_a_stick_near_its_middle_wishes_nothing() -> None:
    wishes = ready()
    for part in (0.0, 0.1, DEAD_ZONE - 0.01):
        assert wishes.take(replace(HELD, right=(1.0, part))) is None  # whatever the axis without a meaning does
    wish = wishes.take(replace(HELD, right=(1.0, DEAD_ZONE + 0.01)))
    assert wish == JogRequest("+z", 0.25)
    assert wishes.take(replace(HELD, right=(1.0, DEAD_ZONE - 0.01))) == wish  # a hand that trembles
    assert wishes.take(replace(HELD, right=(1.0, DEAD_ZONE - 0.1))) is None


def test_speed_is_in_steps_of_the_way_and_a_trembling_hand_changes_none() -> None:
    wishes = ready()
    parts = [*np.linspace(DEAD_ZONE, 1.0, 200), *np.linspace(1.0, 0.0, 200)]
    shares = [wish.share if (wish := wishes.take(replace(HELD, right=(0.0, part)))) else 0.0 for part in parts]
    assert sorted(set(shares)) == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert (np.diff(shares[:200]) >= 0.0).all() and (np.diff(shares[200:]) <= 0.0).all()
    border = DEAD_ZONE + 0.5 * (1.0 - DEAD_ZONE)
    trembling = [wishes.take(replace(HELD, right=(0.0, border + shake))) for shake in (0.03, -0.03, 0.04, -0.04)]
    assert len(set(trembling)) == 1
    leaning = replace(HELD, left=(0.8, 0.0), right=(0.0, 0.0))
    assert wishes.take(leaning) == JogRequest("+x", 0.75)
    assert wishes.take(replace(leaning, left=(0.8, 0.84))) == JogRequest("+x", 0.75)  # nor another axis
    assert wishes.take(replace(leaning, left=(0.8, 0.9))) == JogRequest("+y", 1.0)


def test_a_button_that_is_down_when_a_pad_appears_does_nothing_until_it_was_up() -> None:
    with VirtualPad() as hand:
        hand.press("dead-man")
        hand.move("right y", 1.0)
        with reader() as pad:
            wishes = GamepadMapping()
            readings = [pad.read() for _ in range(30)]
            assert all(reading.dead_man for reading in readings)
            assert not any(wishes.take(reading) for reading in readings) and not wishes.ready
            hand.release("dead-man")
            settle(pad, wishes)
            hand.press("dead-man")
            assert wishes.take(pad.read()) == JogRequest("+z", 1.0)


def test_a_pad_that_says_late_that_its_button_is_down_does_nothing_either() -> None:
    wishes = GamepadMapping()
    wishes.take(AT_REST)
    assert wishes.take(HELD) is None and not wishes.ready
    assert ready().take(replace(HELD, pad=8)) is None  # nor does another pad than the one that was ready


# -- what moves ------------------------------------------------------------------------------------------------------


def test_a_platform_comes_to_rest_when_its_pad_is_lost(rig: Bench) -> None:
    rig.engage()
    start = np.array(rig.status().reference)
    point = (0.0, 0.0, 0.0)
    with reader() as pad, VirtualPad() as hand:
        wishes = GamepadMapping()
        settle(pad, wishes)
        hand.press("dead-man")
        hand.move("right y", 1.0)
        wish = wishes.take(pad.read())
        assert wish == JogRequest("+z", 1.0)

        def held() -> bool:
            if rig.status().path_time > 1.0:
                hand.unplug()
            return wishes.take(pad.read()) == wish

        motion = hold_to_run_motion(
            rig.config,
            lambda far: jogged(rig.config, start, wish.way[1:], far, "base", point),
            wish.share * 0.1 * greatest_speed(rig.config, "z", point),
            greatest_speed(rig.config, "z", point),
            turning=False,
        )
        follow_hold_to_run(rig, motion, "by a pad", MotionKind.JOG, held)
    status = rig.status()
    assert status.state is State.ENGAGED and not status.paused
    assert 0.04 < status.reference[2] - start[2] < 0.8 * motion.extent
    rig.tap.take()
    rig.run(0.05)
    assert np.abs(rig.tap.take()["velocity_reference"]).max() < 1e-9
