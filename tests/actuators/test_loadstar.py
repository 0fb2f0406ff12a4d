"""Loadstar's sensors that are asked: what is said at a port, and what is taken for a force."""

import math
from typing import Any

import pytest
from drive_support import ScriptedCell

from actuators import (
    CellDevice,
    ConfigurationError,
    ConnectError,
    IdentityError,
    MemoryWire,
    ProtocolError,
    create_cell_device,
)
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
    assert sensor.requests == [b"\r", b"MODEL\r", b"UNITS\r", b"W\r"]  # a stream is ended first
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


def device_for(answers: dict[str, str], **options: Any) -> CellDevice:
    """A sensor with those answers, E to everything else; not yet connected."""
    said = {"": "A", **answers}

    def respond(data: bytes) -> bytes:
        return f"{said.get(data.decode()[:-1], 'E')}\r\n".encode()

    given = {"device": "memory", "name": "cell 5", "stream": False, "open_wire": lambda _: MemoryWire(respond)}
    return create_cell_device("loadstar", given | options)


INTERFACE = {"MODEL": "FCM DI-1000", "ID": "W1234-5678", "LC": "50.0"}


@pytest.mark.parametrize(
    ("unit", "newton"),
    [("LB", 4.4482216), ("lbf", 4.4482216), ("Kg", 9.80665), ("N", 1.0), ("kN", 1e3), ("oz", 0.27801385)],
)
@pytest.mark.parametrize("polarity", [1, -1])
def test_an_interface_is_read_in_the_unit_that_it_says(unit: str, newton: float, polarity: int) -> None:
    device = device_for(INTERFACE | {"UNITS": unit, "W": "     -3.0400"}, polarity=polarity)
    device.connect(1.0)
    device.begin(0.0)
    assert device.finish(0.0).forces == pytest.approx((-3.04 * polarity * newton,), rel=1e-6)
    identity = device.identify()
    assert (identity.vendor, identity.serial) == ("Loadstar", "W1234-5678")
    assert identity.product == f"FCM DI-1000, 50.0 {unit}"


def test_one_that_answers_unit_alone_is_read_in_it() -> None:
    device = device_for(INTERFACE | {"UNIT": "N", "W": "7.5"})
    device.connect(1.0)
    device.begin(0.0)
    assert device.finish(0.0).forces == (7.5,)


@pytest.mark.parametrize(
    ("answers", "options", "error", "said"),
    [
        (
            INTERFACE | {"UNITS": "psi"},
            {},
            ProtocolError,
            r"cell 5 at memory reads in 'psi', must be one of lb, lbf, kg",
        ),
        (INTERFACE, {}, ProtocolError, "reads in '', must be one of"),
        (
            {"UNITS": "Kg", "SS0": "iLoad"},
            {},
            ProtocolError,
            "cell 5 at memory reads in 'Kg', must be lb, as all of the",
        ),
        (
            INTERFACE | {"UNITS": "N"},
            {"series": "iload"},
            IdentityError,
            "says its model is 'FCM DI-1000': it is of the",
        ),
        ({}, {"series": "di-1000"}, IdentityError, "does not say its model: it is of the series iload, not di-1000"),
        (
            {"SS1": "0042"},
            {"serial": "0043"},
            IdentityError,
            "cell 5 at memory has the identity '0042', expected '0043'",
        ),
        (INTERFACE | {"UNITS": "N"}, {"serial": "W1"}, IdentityError, "has the identity 'W1234-5678', expected 'W1'"),
    ],
)
def test_another_unit_series_or_identity_is_refused(
    answers: dict[str, str], options: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        device_for(answers, **options).connect(1.0)


def test_a_sensor_that_says_pounds_and_who_it_is_is_taken() -> None:
    device = device_for({"UNITS": "LB", "SS0": "iLoad Pro", "SS1": "0042", "SLC": "50.0", "W": "1000"}, serial="0042")
    device.connect(1.0)
    identity = device.identify()
    assert (identity.product, identity.serial) == ("iLoad Pro, 50.0 lb", "0042")
    device.begin(0.0)
    assert device.finish(0.0).forces == pytest.approx((4.4482216,))


def replies_of(twin: VirtualLoadstar, *requests: bytes) -> list[bytes]:
    return [twin.respond(request + b"\r").removesuffix(b"\r\n") for request in requests]


def test_what_the_twin_of_a_sensor_says() -> None:
    leg = Leg()
    leg.cell = 10.431
    twin = VirtualLoadstar(leg, identity="0042")
    assert replies_of(twin, b"", b"SS0", b"SS1", b"SLC", b"O0W1", b"w") == [
        b"A",
        b"iLoad",
        b"0042",
        b"200.0",
        b"2345",
        b"2345",
    ]
    assert replies_of(twin, b"CPS 100", b"CPS 31", b"CPS 1024", b"CPS x") == [b"A", b"E", b"E", b"E"]
    assert float(replies_of(twin, b"O0S2")[0]) == 25.0
    assert replies_of(twin, b"CS1 left 1", b"SS1") == [b"A", b"left 1"]
    assert replies_of(twin, b"MODEL", b"UNITS", b"WC", b"TARE", b"LC", b"nonsense") == [b"E"] * 6
    assert b"CT0" in replies_of(twin, b"?")[0].split()
    twin.tick(2.0)
    assert replies_of(twin, b"O0T1", b"CT0", b"W") == [b"2000 2345", b"A", b"0"]
    leg.cell += 4.4482216
    twin.tick(2.5)
    assert replies_of(twin, b"W", b"O0T1") == [b"1000", b"500 1000"]
    assert twin.respond(b"O0T0\r") == b"500 1000\r\n"
    twin.tick(2.5 + 1.0 / 150)
    assert twin.due() == b"507 1000\r\n" and twin.respond(b"\r") == b"A\r\n" and math.isinf(twin.next_event)


@pytest.mark.parametrize(("unit", "reading", "capacity"), [("LB", b"2.3450", b"200.0"), ("N", b"10.4310", b"889.6")])
def test_what_the_twin_of_an_interface_says(unit: str, reading: bytes, capacity: bytes) -> None:
    leg = Leg()
    leg.cell = 10.431
    twin = VirtualLoadstar(leg, series="di-1000", identity="W1", force_unit=unit)
    assert replies_of(twin, b"model", b"ID", b"unit", b"UNITS") == [b"FCM DI-1000", b"W1", unit.encode(), unit.encode()]
    assert replies_of(twin, b"W", b"lc") == [reading, capacity]
    assert int(replies_of(twin, b"R")[0]) == round(10.431 / (200.0 * 4.4482216152605) * 2**22)
    assert replies_of(twin, b"SS0", b"SS1", b"SLC", b"O0W0", b"O0W1", b"CPS 64") == [b"E"] * 6
    assert replies_of(twin, b"tare", b"W") == [b"Tared", b"0.0000"]
    leg.cell = math.nan
    assert replies_of(twin, b"W", b"R", b"CT0") == [b"", b"", b"Tared"]


def test_a_conversion_takes_its_time() -> None:
    """By series and with the high speed option; a line at 9600 baud takes longer than a sensor's conversion."""
    for series, baud, period in (("iload", 9600, 1 / 150), ("di-1000", 9600, 1 / 70), ("di-1000", 230_400, 1 / 500)):
        twin = VirtualLoadstar(Leg(), series=series, baud=baud)
        twin.respond(b"O0W0\r" if series == "iload" else b"WC\r")
        assert twin.next_event == pytest.approx(period)
