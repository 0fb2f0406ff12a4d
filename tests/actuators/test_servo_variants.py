"""Servos of other makes: function after function, other orders of bytes, and what is not there."""

import math

import pytest
from drive_support import Bench, ask
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from servo_profiles import BARE, PROFILE, SEPARATE, SINGLE, SWAPPED, profile
from virtual_line import LineBench

from actuators import COMMAND_HOME, COMMAND_OFF, Command, ConfigurationError, Mode, Status, VirtualServo, create_drive
from actuators.codec import Block, ExchangeCodec
from actuators.profile import Register
from rig.testing import BenchLeg as Leg

VALUE = 0x01020304
KINDS = {"together": PROFILE, "separate": SEPARATE, "single": SINGLE, "swapped": SWAPPED, "bare": BARE}


@pytest.mark.parametrize(
    ("order", "wire"),
    [
        ("big", "01 02 03 04"),
        ("little", "03 04 01 02"),
        ("big-swapped", "02 01 04 03"),
        ("little-swapped", "04 03 02 01"),
    ],
)
def test_bytes_of_a_number_are_where_their_order_says(order, wire):
    block = Block([Register(address=7, type="i32", word_order=order)], "big")
    assert block.pack([VALUE]).hex(" ") == wire and block.unpack(bytes.fromhex(wire)) == (VALUE,)
    assert Block([Register(address=7, type="i32")], order).pack([VALUE]).hex(" ") == wire


COMMANDS = st.tuples(*[st.integers(0, 3)] * 2, st.integers(0, 0xFFFF), *[st.integers(-30000, 30000)] * 3)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@given(command=COMMANDS)
def test_messages_of_a_cycle_are_as_long_as_they_are_said_to_be_and_say_what_they_should(kind, command):
    codec = ExchangeCodec(kind, 3)
    messages = codec.encode(command)
    assert tuple(map(len, messages)) == codec.requests and len(codec.replies) == len(messages)
    device = VirtualServo(kind, Leg(), unit=3)
    replies = [device.answer(message) for message in messages]
    lengths = [3 if reply[1] & 0x80 else length for reply, length in zip(replies, codec.replies, strict=True)]
    assert [len(reply) for reply in replies] == lengths  # a mode that it lacks is refused
    registers = kind.command.registers
    sent = tuple(value if register else 0 for value, register in zip(command, registers, strict=True))
    if all(not reply[1] & 0x80 for reply in replies):
        block = codec.write_block
        data = device.answer(bytes((3, 3)) + block.address.to_bytes(2, "big") + block.count.to_bytes(2, "big"))[3:]
        assert codec.decode_command(data) == sent


def test_a_device_without_function_23_refuses_it_and_is_not_asked_for_it():
    for kind in (SEPARATE, SINGLE, BARE):
        bench = Bench(kind)
        bench.do(COMMAND_OFF)
        assert {frame[7] for frame in bench.sent} == {kind.functions.write, kind.functions.read}
        assert ask(bench.servo, "17 0000 0001 0064 0001 02 0000") == "9701"


def test_parameters_and_feedback_go_by_the_functions_that_a_device_has():
    for kind, write, read in ((SEPARATE, 16, 4), (SINGLE, 6, 3), (PROFILE, 16, 3)):
        bench = Bench(kind)
        bench.drive.configure()
        assert [frame[7] for frame in bench.sent] == [write, 3]  # it is read back
        bench.sent.clear()
        bench.drive.observe(1.0)
        assert [frame[7] for frame in bench.sent] == [read]
    assert ask(Bench(SINGLE).servo, "10 00c8 0001 02 0028") == "9001"


def test_what_is_written_word_by_word_arrives_in_an_order_that_does_no_harm():
    bench = Bench(SINGLE)
    bench.do(Command(Mode.FORCE, 10.0, 0.6, enable=True))
    written = [int.from_bytes(frame[8:10], "big") for frame in bench.sent if frame[7] == 6]
    assert written == [103, 104, 105, 100, 101, 102]  # set-points, control, mode, and the number of the command


@pytest.mark.parametrize("kind", [SEPARATE, SINGLE, BARE], ids=["separate", "single", "bare"])
@pytest.mark.parametrize("make", [Bench, LineBench])
def test_feedback_counts_only_where_the_command_was_taken(make, kind):
    bench = make(kind)
    assert bench.do(COMMAND_OFF).fresh
    received = bench.drive.counters.received
    bench.faults.inject("drop_write", 1)  # one of the messages of a cycle is lost
    assert not bench.do(COMMAND_OFF).fresh
    assert bench.do(COMMAND_OFF).fresh
    refused = bench.drive.counters.exceptions
    bench.faults.inject("busy")
    assert not bench.do(COMMAND_OFF).fresh
    counters = bench.drive.counters
    assert (counters.exceptions, counters.exception_code) == (refused + 1, 6)
    assert counters.received == received + 1


def test_a_speed_that_is_not_said_is_that_between_two_positions():
    bench = Bench(BARE)
    assert bench.do(COMMAND_OFF).velocity == 0.0
    bench.leg.length += 1e-4
    assert bench.do(COMMAND_OFF).velocity == pytest.approx(0.05, rel=1e-3)
    assert bench.do(COMMAND_OFF).velocity == 0.0
    bench.faults.inject("drop_all")
    assert bench.do(COMMAND_OFF).velocity == 0.0  # the last good one
    bench.leg.length += 1e-4
    bench.faults.clear("drop_all")
    assert bench.do(COMMAND_OFF).velocity == pytest.approx(0.025, rel=1e-3)
    bench.pass_time(10.0)
    bench.leg.length += 1e-4
    assert bench.do(COMMAND_OFF).velocity == 0.0


def test_a_position_that_has_become_absolute_is_no_speed():
    bench = Bench(BARE)
    bench.do(COMMAND_OFF)
    bench.do(COMMAND_HOME)
    bench.leg.settle()
    bench.do(COMMAND_HOME)
    found = bench.do(COMMAND_HOME)
    assert found.status & Status.HOMED and found.position == pytest.approx(bench.leg.home)
    assert found.velocity == 0.0


def test_a_bare_drive_says_what_it_can():
    bench = Bench(BARE)
    can = bench.drive.capabilities
    assert can.modes == (Mode.OFF, Mode.POSITION, Mode.HOMING)
    assert (can.watchdog, can.force_feedback) == (False, False)
    bench.drive.configure()
    assert bench.drive.verify(1.0) == bench.drive.identify()
    feedback = bench.do(COMMAND_OFF)
    assert (feedback.error, feedback.sequence, feedback.lag) == (0, -1, 0) and math.isnan(feedback.force)
    assert feedback.status & Status.READY
    with pytest.raises(ConfigurationError, match=r"drive 3: serial number 'A1' cannot be compared: profile .* \[ident"):
        create_drive("servo", {"name": "drive 3", "host": "x", "profile": BARE, "serial": "A1"})


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"command": {"sequence": None}, "feedback": {"sequence": None}}, "would be written blindly"),
        ({"feedback": {"sequence": None}}, "feedback.sequence: missing, but there is command.sequence"),
        ({"functions": {"exchange": "separate", "write": 6}}, "function 6 writes 16-bit registers, .* has an i32"),
        ({"functions": {"write": 5}}, "write"),
        ({"functions": {"exchange": "never"}}, "exchange"),
        ({"word_order": "middle"}, "word_order"),
    ],
)
def test_profiles_that_contradict_themselves_are_refused(changes, text):
    with pytest.raises(ValidationError, match=text):
        profile(**changes)
