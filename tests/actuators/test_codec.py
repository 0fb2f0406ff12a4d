import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymodbus.framer import FramerSocket
from pymodbus.pdu import DecodePDU
from pymodbus.pdu.register_message import (
    ReadHoldingRegistersRequest,
    ReadHoldingRegistersResponse,
    ReadWriteMultipleRegistersRequest,
    ReadWriteMultipleRegistersResponse,
)

from actuators.amplifier_profile import AmplifierProfile
from actuators.codec import Block, ExchangeCodec, ReadingCodec
from actuators.framing import MBAP
from actuators.profile import Register, load_profile
from actuators.servo_profile import ServoProfile

SERVO = load_profile("generic-servo", ServoProfile)
LITTLE = SERVO.model_copy(update={"word_order": "little"})
AMPLIFIER = load_profile("generic-amplifier", AmplifierProfile)
FRAMER = FramerSocket(DecodePDU(is_server=False))

words = st.integers(0, 0xFFFF)
longs = st.integers(-(2**31), 2**31 - 1)
commands = st.tuples(words, words, words, longs, longs, longs)
feedbacks = st.tuples(words, words, words, longs, longs, longs, st.integers(-(2**15), 2**15 - 1), words)
transactions = st.integers(1, 0xFFFF)
units = st.integers(0, 255)


def framed(transaction: int, message: bytes) -> bytes:
    return MBAP.pack(transaction, 0, len(message)) + message


def split(value: int, order: str) -> list[int]:
    high, low = struct.unpack(">HH", struct.pack(">i", value))
    return [high, low] if order == "big" else [low, high]


@pytest.mark.parametrize("profile", [SERVO, LITTLE], ids=["big", "little"])
@given(transactions, units, commands)
def test_exchange_request_is_pymodbus_request(profile, transaction, unit, command):
    control, mode, sequence, *quantities = command
    registers = [control, mode, sequence, *(word for q in quantities for word in split(q, profile.word_order))]
    theirs = FRAMER.buildFrame(
        ReadWriteMultipleRegistersRequest(0, 11, 100, registers, dev_id=unit, transaction_id=transaction)
    )
    codec = ExchangeCodec(profile, unit)
    assert framed(transaction, *codec.encode(command)) == theirs
    assert codec.decode_request(theirs[6:]) == command
    assert codec.requests == (len(theirs) - 6,)


@pytest.mark.parametrize("profile", [SERVO, LITTLE], ids=["big", "little"])
@given(transactions, units, feedbacks)
def test_exchange_reply_is_pymodbus_reply(profile, transaction, unit, feedback):
    status, error, sequence, position, velocity, force, temperature, supply = feedback
    registers = [status, error, sequence]
    registers += [word for q in (position, velocity, force) for word in split(q, profile.word_order)]
    registers += [temperature & 0xFFFF, supply]
    theirs = FRAMER.buildFrame(
        ReadWriteMultipleRegistersResponse(registers=registers, dev_id=unit, transaction_id=transaction)
    )
    codec = ExchangeCodec(profile, unit)
    assert codec.decode(theirs[6:]) == feedback
    assert framed(transaction, codec.encode_reply(feedback)) == theirs
    assert len(theirs) == codec.reply_length + 6


@given(transactions, units, words, words, st.lists(longs, min_size=6, max_size=6))
def test_amplifier_frames_are_pymodbus_frames(transaction, unit, status, sample, forces):
    codec = ReadingCodec(AMPLIFIER, unit)
    request = ReadHoldingRegistersRequest(address=0, count=14, dev_id=unit, transaction_id=transaction)
    assert framed(transaction, codec.request) == FRAMER.buildFrame(request)
    registers = [status, sample, *(word for force in forces for word in split(force, "big"))]
    reply = ReadHoldingRegistersResponse(registers=registers, dev_id=unit, transaction_id=transaction)
    assert codec.decode(FRAMER.buildFrame(reply)[6:]) == (status, sample, *forces)


@given(st.binary(max_size=80))
def test_arbitrary_bytes_decode_to_nothing_or_values(data):
    codec = ExchangeCodec(SERVO, 1)
    assert codec.decode(data) is None or len(data) == 25
    assert codec.decode_request(data) is None or len(data) == 29
    assert codec.exception_code(data) is None or len(data) == 3


def test_a_message_of_another_unit_function_or_length_is_no_reply():
    codec = ExchangeCodec(SERVO, 1)
    reply = codec.encode_reply((0,) * 8)
    assert codec.decode(reply) == (0,) * 8
    for byte in range(3):
        assert codec.decode(reply[:byte] + bytes((reply[byte] ^ 1,)) + reply[byte + 1 :]) is None
    assert codec.decode(reply[:-1]) is None
    assert codec.decode(reply + b"\0") is None


def test_block_places_values_by_address_whatever_the_order_given():
    block = Block(
        [
            Register(address=7, type="f32", word_order="little"),
            Register(address=2, type="i16"),
            Register(address=4, type="u32"),
        ],
        "big",
    )
    assert (block.address, block.count) == (2, 7)
    data = block.pack([1.23, -2, 0x01020304])
    # 1.23 = 3F9D 70A4, lower word first, as Mantracourt's modules send it
    assert data.hex(" ") == "ff fe 00 00 01 02 03 04 00 00 70 a4 3f 9d"
    assert block.unpack(data) == (pytest.approx(1.23), -2, 0x01020304)


def test_drive_without_force_register():
    content = SERVO.model_dump()
    content["feedback"]["force"] = None
    codec = ExchangeCodec(ServoProfile.model_validate(content), 1)
    found = codec.decode(codec.encode_reply((1, 2, 3, 4, 5, 0, 6, 7)))
    assert found is not None and math.isnan(found[5])
    assert (*found[:5], *found[6:]) == (1, 2, 3, 4, 5, 6, 7)
