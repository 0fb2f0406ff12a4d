"""Where a Modbus device is found, and what is refused."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from actuators import Buses, MemoryWire, ModbusAddress, ModbusServo, SerialEndpoint, TcpEndpoint, create_drive
from actuators.bus import HalfDuplexBus, PipelinedBus
from actuators.framing import silence
from actuators.virtual.device import MBAP_FRAMING, RTU_FRAMING


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "host .* or device .*: one of the two, not neither"),
        ({"host": "a", "device": "/dev/ttyS0"}, "one of the two, not both"),
        ({"device": "/dev/ttyS0", "framing": "tcp"}, "a serial line has frames of"),
        ({"device": "/dev/ttyS0", "unit": 0}, r"unit: 0 is outside 1\.\.247"),
        ({"device": "/dev/ttyS0", "unit": 248}, r"unit: 248 is outside 1\.\.247"),
        ({"host": "a", "framing": "rtu", "unit": 248}, r"unit: 248 is outside 1\.\.247"),
        ({"device": "/dev/ttyS0", "baud": 299}, "baud"),
        ({"device": "/dev/ttyS0", "baud": 5_000_000}, "baud"),
        ({"device": "/dev/ttyS0", "baud": 19200.5}, "baud"),
        ({"device": "/dev/ttyS0", "parity": "mark"}, "parity"),
        ({"device": "/dev/ttyS0", "stop_bits": 3}, "stop_bits"),
        ({"device": ""}, "device"),
        ({"host": "a", "port": 0}, "port"),
    ],
)
def test_what_is_no_place_is_refused(given, text):
    with pytest.raises(ValidationError, match=text):
        ModbusAddress.model_validate(given)


def test_places_and_what_tells_their_devices_apart(tmp_path: Path):
    tcp = ModbusAddress(host="a", unit=7)
    assert (tcp.place, tcp.endpoint, tcp.identity) == ("a:502", TcpEndpoint("a", 502), ("a", "502 unit 7"))
    assert not tcp.rtu and tcp.server_framing is MBAP_FRAMING
    gateway = ModbusAddress(host="a", port=4001, framing="rtu")
    assert gateway.rtu and gateway.server_framing is RTU_FRAMING and gateway.endpoint == TcpEndpoint("a", 4001)
    line = ModbusAddress(device="line-a", unit=7, baud=9600, parity="none", stop_bits=2)
    assert line.endpoint == SerialEndpoint("line-a", 9600, "none", 2)
    assert (line.place, line.identity) == ("line-a", ("", "line-a unit 7"))
    link = tmp_path / "by-id"
    link.symlink_to("/dev/null")
    assert ModbusAddress(device=str(link)).identity == ModbusAddress(device="/dev/null").identity


def test_bytes_take_what_their_line_gives_them():
    assert SerialEndpoint("x", 9600, "none", 2).byte_time == SerialEndpoint("x", 9600).byte_time == 11 / 9600
    assert SerialEndpoint("x", 9600, "none").byte_time == 10 / 9600
    assert SerialEndpoint("x", 19200, "odd", 2).settings == "19200 baud 8O2"


def drive(buses: Buses, **given) -> ModbusServo:
    made = create_drive(
        "servo", {"name": "d", "buses": buses, "open_wire": lambda _: MemoryWire(lambda _: b""), **given}
    )
    assert isinstance(made, ModbusServo)
    return made


def test_a_line_is_shared_and_a_connection_only_where_that_is_asked_for():
    buses = Buses()
    one, two = (drive(buses, device="line-a", unit=unit) for unit in (1, 2))
    other = drive(buses, device="line-b", unit=1)
    assert one.line is two.line is not None and other.line not in (None, one.line)
    behind = [drive(buses, host="g", port=4001, framing="rtu", unit=unit) for unit in (1, 2)]
    assert behind[0].line is behind[1].line is not None
    alone = [drive(buses, host="g", unit=unit) for unit in (1, 2)]
    assert alone[0]._station.bus is not alone[1]._station.bus and alone[0].line is None
    shared = [drive(buses, host="h", unit=unit, shared_connection=True) for unit in (1, 2)]
    assert shared[0]._station.bus is shared[1]._station.bus
    assert isinstance(shared[0]._station.bus, PipelinedBus)


def test_a_line_keeps_the_silence_of_its_baud_unless_told_otherwise():
    assert isinstance(line := drive(Buses(), device="a", baud=9600).line, HalfDuplexBus)
    assert line.turnaround == silence(9600)
    assert isinstance(line := drive(Buses(), device="a", turnaround=1e-4).line, HalfDuplexBus)
    assert line.turnaround == 1e-4
