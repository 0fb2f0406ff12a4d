"""Loadstar's sensors that are asked: what is said at a port, and what is taken for a force."""

import math

import pytest
from drive_support import ScriptedCell

from actuators import ConfigurationError, ConnectError, create_cell_device
from actuators.loadstar import VirtualLoadstar
from rig.testing import BenchLeg as Leg


def made() -> ScriptedCell:
    sensor = ScriptedCell("loadstar", name="cell 2", stream=False)
    sensor.answer = b"A\r\n"
    return sensor


@pytest.fixture
def sensor() -> ScriptedCell:
    device = made()
    device.device.connect(1.0)
    return device


def test_the_makers_example(sensor: ScriptedCell) -> None:
    """2.345 lb."""
    assert sensor.read(b"2345\r\n").forces == pytest.approx((10.431,), abs=1e-3)
    assert sensor.requests == [b"\r", b"W\r"]  # a stream is ended first
    leg = Leg()
    leg.cell = 10.431
    assert VirtualLoadstar(leg).respond(b"W\r") == b"2345\r\n"
    assert VirtualLoadstar(leg).respond(b"O0W1\r") == b"2345\r\n"
    assert VirtualLoadstar(leg).respond(b"\r") == b"A\r\n"


@pytest.mark.parametrize(
    "answer", [b"", b"2345\r", b"\r\n", b"A\r\n", b"+2345\r\n", b"23.45\r\n", b"23q5\r\n", b"nan\r\n", b"x" * 40]
)
def test_what_is_no_number_is_no_reading(sensor: ScriptedCell, answer: bytes) -> None:
    good = sensor.read(b"-1000\r\n")
    assert good.forces == pytest.approx((-4.448,), abs=1e-3)
    reading = sensor.read(answer)
    assert not reading.fresh and reading.forces == good.forces


def test_what_is_left_of_a_stream_is_no_reading(sensor: ScriptedCell) -> None:
    """Of lines that nobody asked for nobody knows which is the answer."""
    assert not sensor.read(b"5\r\n2345\r\n").fresh and sensor.device.counters.rejected == 1


def test_one_that_says_nothing_cannot_be_connected() -> None:
    silent = made()
    silent.answer = b""
    with pytest.raises(
        ConnectError, match=r"cell 2 at memory did not answer within 0.05 s \(no reply to end of a stream"
    ):
        silent.device.connect(0.05)
    silent.device.close()


def test_without_a_value_it_says_nothing() -> None:
    leg = Leg()
    leg.cell = math.nan
    assert VirtualLoadstar(leg).respond(b"W\r") == b""


def test_polarity_is_one_or_the_other() -> None:
    with pytest.raises(ConfigurationError, match="polarity"):
        create_cell_device("loadstar", {"device": "memory", "polarity": 0})
