"""Virtual devices on one wire: who answers, and when the bytes are there."""

import math

import pytest
from drive_support import PROFILE
from hypothesis import given
from hypothesis import strategies as st
from pymodbus.framer import FramerRTU
from pymodbus.pdu import DecodePDU
from pymodbus.pdu.register_message import (
    ReadHoldingRegistersRequest,
    ReadWriteMultipleRegistersRequest,
    WriteMultipleRegistersRequest,
    WriteSingleRegisterRequest,
)
from virtual_line import line_servo

from actuators import DeviceLine, FaultyServo, create_cell_twin
from actuators.framing import crc16
from actuators.virtual.device import MBAP_FRAMING, RTU_FRAMING, RtuFraming
from rig.testing import BenchLeg as Leg

BYTE = 1e-3  # s
THEIRS = FramerRTU(DecodePDU(is_server=False))
REQUESTS = [
    ReadHoldingRegistersRequest(address=300, count=8, dev_id=3),
    WriteSingleRegisterRequest(address=200, registers=[40], dev_id=3),
    WriteMultipleRegistersRequest(address=100, registers=[0, 1, 5], dev_id=3),
    ReadWriteMultipleRegistersRequest(
        read_address=0, read_count=9, write_address=100, write_registers=[0] * 9, dev_id=3
    ),
]
FRAMES = [THEIRS.buildFrame(request) for request in REQUESTS]
READ = FRAMES[0]


def line(units=(3, 4), byte_time: float = BYTE) -> DeviceLine:
    made = DeviceLine([FaultyServo(line_servo(Leg(0.1 * unit), unit, serial=f"U{unit}")) for unit in units], byte_time)
    made.tick(10.0)
    return made


def asked(unit: int, address: int = 0, count: int = 1) -> bytes:
    message = bytes((unit, 3)) + address.to_bytes(2, "big") + count.to_bytes(2, "big")
    return message + crc16(message)


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: f"function {frame[1]}")
def test_a_request_is_whole_when_its_last_byte_is_there_and_not_before(frame):
    assert [RTU_FRAMING.length(frame[:size]) for size in range(len(frame))] == [0] * len(frame)
    assert RTU_FRAMING.length(frame) == RTU_FRAMING.length(frame + READ) == len(frame)
    assert RTU_FRAMING.message(frame) == frame[:-2]


def test_what_is_damaged_is_no_request():
    for place in range(len(READ)):
        damaged = READ[:place] + bytes((READ[place] ^ 0x10,)) + READ[place + 1 :]
        assert RTU_FRAMING.length(damaged) <= 0 and RTU_FRAMING.message(damaged) == b""


@given(st.binary(max_size=40))
def test_bytes_by_chance_are_never_taken_for_a_request_unless_their_checksum_is_right(data):
    for framing in (RTU_FRAMING, MBAP_FRAMING):
        size = framing.length(data)
        assert -1 <= size <= len(data)
        if framing is RTU_FRAMING and size > 0:
            assert crc16(data[: size - 2]) == data[size - 2 : size]


def test_a_function_that_is_not_known_ends_where_its_checksum_is_right_and_an_own_one_by_its_length():
    message = bytes((3, 100, 28, 1, 2, 3, 4))
    frame = message + crc16(message)
    assert RTU_FRAMING.length(frame + b"\0") == RtuFraming({100: 9}).length(frame + b"\0") == 9
    assert RtuFraming({100: 9}).length(frame[:-1] + b"\0") == -1
    assert RTU_FRAMING.length(b"\x03\x64" + b"\1" * 300) == -1


def test_bytes_take_their_time_both_ways():
    wire = line()
    assert wire.next_event == math.inf
    assert wire.respond(asked(3)) == b""
    assert wire.next_event == pytest.approx(10.0 + 8 * BYTE)
    wire.tick(10.0 + 7.9 * BYTE)
    assert wire.due() == b"" and wire.next_event == pytest.approx(10.0 + 8 * BYTE)
    wire.tick(10.0 + 8.1 * BYTE)
    assert wire.due() == b"" and wire.next_event == pytest.approx(10.0 + 15 * BYTE)  # a reply of 7 bytes
    wire.tick(10.0 + 15.1 * BYTE)
    reply = wire.due()
    assert reply[:3] == b"\x03\x03\x02" and crc16(reply[:-2]) == reply[-2:]
    assert wire.next_event == math.inf


def test_bytes_pass_on_the_wire_alone_until_a_device_has_something_to_do():
    wire = line()
    assert wire.passes(10.5)
    assert wire.respond(asked(3)) == b""
    assert wire.next_event == pytest.approx(10.5 + 8 * BYTE)
    assert wire.passes(10.5 + 7.9 * BYTE) and not wire.passes(10.5 + 8.1 * BYTE)
    wire.tick(10.5 + 8.1 * BYTE)
    assert wire.passes(10.5 + 14.9 * BYTE) and wire.due() == b""
    assert wire.passes(10.5 + 15.1 * BYTE) and wire.due()[:3] == b"\x03\x03\x02"
    assert not line(byte_time=0.0).passes(11.0)


def test_a_request_is_carried_out_when_its_last_byte_has_come():
    leg = Leg()
    servo = line_servo(leg, 3)
    wire = DeviceLine([FaultyServo(servo)], BYTE)
    wire.tick(1.0)
    wire.respond(THEIRS.buildFrame(WriteSingleRegisterRequest(address=200, registers=[40], dev_id=3)))
    wire.tick(1.0 + 7.9 * BYTE)
    assert servo._watchdog == 0.0
    wire.tick(1.0 + 8.1 * BYTE)
    assert servo._watchdog == pytest.approx(0.04)


def test_two_requests_in_one_go_are_answered_one_after_the_other_by_whom_they_were_asked_of():
    wire = line()
    wire.respond(asked(4, 300, 2))
    wire.respond(asked(3))
    wire.tick(11.0)
    replies = wire.due()
    assert (replies[0], replies[9]) == (4, 3)
    assert len(replies) == 9 + 7


def test_nobody_answers_for_a_unit_that_is_not_there_but_a_gateway():
    assert line(byte_time=0.0).respond(asked(9)) == b""
    gateway = PROFILE.model_copy(update={"wrong_unit": "gateway"})
    servos = [FaultyServo(line_servo(Leg(), unit, gateway)) for unit in (3, 4)]
    reply = DeviceLine(servos).respond(asked(9))
    assert reply[:3] == b"\x09\x83\x0b"
    assert DeviceLine(servos).respond(asked(4))[:2] == b"\x04\x03"


def test_faults_of_one_unit_are_its_own():
    wire = line()
    one, other = wire.devices
    one.inject("delay", 0.5)
    wire.respond(asked(3))
    wire.respond(asked(4))
    wire.tick(10.1)
    assert wire.due()[0] == 4
    wire.tick(10.4)
    assert wire.due() == b"" and wire.next_event == pytest.approx(10.5 + 8 * BYTE, abs=0.1)
    wire.tick(11.0)
    assert wire.due() == b"" and wire.next_event < 11.1  # its bytes have the way to go yet
    wire.tick(11.1)
    assert wire.due()[0] == 3
    one.clear_all()
    one.inject("close")
    wire.respond(asked(3))
    wire.respond(asked(4))
    wire.tick(12.0)
    assert wire.due()[0] == 4
    other.inject("bit_flip", 20)
    wire.respond(asked(4))
    wire.tick(13.0)
    damaged = wire.due()
    assert damaged and RTU_FRAMING.message(damaged) == b""


def test_what_a_device_says_by_itself_comes_byte_by_byte():
    byte = 10 / 230400  # s
    cell = create_cell_twin("loadstar", {"device": "memory", "baud": 230400}, [Leg()])
    wire = DeviceLine([cell], byte)
    wire.tick(1.0)
    wire.respond(b"O0W0\r")
    wire.tick(1.0 + 5.1 * byte)
    assert wire.due() == b""  # a reply is there when it is whole
    wire.tick(1.0 + 20 * byte)
    line = wire.due()
    at = wire.next_event
    wire.tick(at)
    assert line.endswith(b"\r\n") and wire.due() == b""
    for passed in range(len(line)):
        wire.tick(at + (passed + 0.5) * byte)
        assert wire.due() == line[:passed][-1:]
    wire.tick(at + (len(line) + 0.1) * byte)
    assert wire.due() == line[-1:]
