"""What the drives did once nobody commands them: told in words, drives that do not answer included."""

import math
import time

import numpy as np
import pytest

from actuators import Drive, Feedback, Status
from rig.client import on_free_ports
from rig.client.post_mortem import LegPostMortem, ask_drives, describe_post_mortem, when_silent
from rig.config.rig_config import load_config

CONFIG = load_config("virtual")
STOPPED = Status.FAULT | Status.WATCHDOG | Status.BRAKE | Status.STANDSTILL | Status.HOMED


def leg(
    status: Status, velocity: float = 0.0, moved: float = 4e-4, rest: float = 0.12, error: str = ""
) -> LegPostMortem:
    return LegPostMortem(Feedback(0.6, velocity, 0.0, status, 0, True, 0, 1), error, moved, rest)


def words_of(one: LegPostMortem) -> str:
    return ", ".join(found.text for found in one.findings)


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("virtual", "the drives stop by their own watchdog within 50 ms"),
        (
            "virtual-iai",
            "every drive: no watchdog: the drive continues its last command when this computer is silent",
        ),
        (
            "virtual-mixed",
            "legs 5, 6: no watchdog: the drive continues its last command when this computer is silent; ",
        ),
    ],
)
def test_no_watchdog_is_promised_where_there_is_none(kind: str, told: str) -> None:
    config = load_config(kind)
    said = when_silent(config).text
    assert said.startswith(told) and said.endswith(
        "" if kind == "virtual-iai" else f"by their own watchdog within {config.drives.watchdog * 1e3:g} ms"
    )


def test_drives_that_did_alike_are_told_together() -> None:
    legs = [leg(STOPPED)] * 5 + [leg(STOPPED, moved=-6e-4, rest=0.2)]
    assert all(one.safe for one in legs)
    assert describe_post_mortem(legs).text == (
        "every drive: stopped by its own watchdog, brake on, standstill; "
        "at rest 0.20 s after the last cycle, moved 0.6 mm at most"
    )


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (leg(STOPPED & ~Status.BRAKE), "stopped by its own watchdog, no brake reported on, standstill"),
        (leg(Status.FAULT, error="overcurrent"), "stopped for a fault of its own (overcurrent), no brake"),
        (leg(Status.READY | Status.ENABLED, 0.1, rest=math.inf), "no fault, TORQUE ON, no brake reported on, MOVING"),
        (leg(STOPPED, math.nan, rest=math.inf), "stopped by its own watchdog, brake on, MOVING"),
        (leg(Status.FAULT, rest=math.inf, error="restarted"), "stopped for a fault of its own (restarted), no brake"),
    ],
)
def test_what_is_not_as_it_should_be_is_told(one: LegPostMortem, words: str) -> None:
    assert not one.safe and words_of(one).startswith(words)
    told = describe_post_mortem([leg(STOPPED)] * 2 + [one] + [leg(STOPPED)] * 3).text
    assert told.startswith("legs 1, 2, 4, 5, 6: stopped by its own watchdog") and f"leg 3: {words}" in told
    assert (" after the last cycle" in told) == math.isfinite(one.rest)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[Status]:
    """What every drive says of itself, look by look; the last of it for good. All stand still, at 0.6 m."""
    script: list[Status] = []
    looks = dict.fromkeys((f"drive {leg}" for leg in range(1, 7)), 0)

    def look(drive: Drive, _timeout: float) -> Feedback:
        looks[drive.name] += 1
        status = script[min(looks[drive.name], len(script)) - 1]
        return Feedback(0.6, 0.0, 0.0, status, 0, True, 0, 1)

    monkeypatch.setattr("rig.client.post_mortem._look", look)
    return script


def test_a_brake_that_closes_after_the_torque_is_off_is_waited_for(answers: list[Status]) -> None:
    off = STOPPED & ~Status.BRAKE
    answers += [off | Status.ENABLED, off, off, off, STOPPED]
    for one in ask_drives(CONFIG, time.monotonic(), np.full(6, 0.599), patience=30.0):
        assert one.safe and one.moved == pytest.approx(1e-3)


def test_a_brake_that_never_closes_is_waited_for_until_the_time_is_over(answers: list[Status]) -> None:
    answers.append(STOPPED & ~Status.BRAKE)
    since = time.monotonic()
    for one in ask_drives(CONFIG, since, patience=0.05):
        assert not one.safe and math.isfinite(one.rest) and "no brake reported on, standstill" in words_of(one)
    assert time.monotonic() - since >= 0.05


def test_a_drive_that_is_not_homed_any_more_does_not_say_how_far_it_moved(answers: list[Status]) -> None:
    answers.append(STOPPED & ~Status.HOMED)
    legs = ask_drives(CONFIG, time.monotonic(), np.full(6, 0.3), patience=0.05)
    assert all(one.safe and math.isnan(one.moved) for one in legs)
    told = describe_post_mortem(legs).text
    assert told.endswith("standstill, not homed (move unknown)") and "mm" not in told


def test_drives_that_do_not_answer_are_told_within_the_time_given() -> None:
    config = on_free_ports(CONFIG)
    legs = ask_drives(config, time.monotonic(), patience=0.05)
    assert not any(one.safe or one.seen.fresh for one in legs)
    for number, one in enumerate(legs, start=1):
        assert words_of(one).startswith(f"does not answer: drive {number}: ") and "refused" in words_of(one)
