import math
import time
from typing import cast

import numpy as np
import pytest
from drive_support import PROFILE, Scripted
from hypothesis import given
from hypothesis import strategies as st
from servo_profiles import profile as changed

from actuators import (
    COMMAND_CLEAR,
    COMMAND_OFF,
    COMMAND_STOP,
    Command,
    CommandError,
    LinkClosedError,
    MemoryWire,
    Mode,
    ServoProfile,
    Status,
    create_drive,
    exchange_all,
)
from actuators.codec import ExchangeCodec
from actuators.framing import MBAP
from actuators.modbus_servo import ModbusServo

CODEC = ExchangeCodec(PROFILE, 1)


def reply(transaction: int, position: int = 1_000_000, echo: int | None = None) -> bytes:
    """To a request that was the drive's n-th command, if nothing else was asked of it."""
    echo = transaction if echo is None else echo
    return MBAP.pack(transaction, 0, 25) + CODEC.encode_reply((3, 0, echo, position, -5, 7000, 351, 4800))


EXCEPTION = bytes.fromhex("0001 0000 0003 01 97 06")


def test_feedback_is_scaled_once():
    bench = Scripted(position_offset=0.5)
    bench.replies = [reply(1)]
    feedback = bench.drive.exchange(COMMAND_OFF, 0.0, 0.0)
    assert feedback.position == pytest.approx(0.6, abs=1e-15)
    assert feedback.velocity == pytest.approx(-5e-6)
    assert feedback.force == pytest.approx(7.0)
    assert feedback.status == Status.READY | Status.ENABLED
    assert (feedback.error, feedback.fresh, feedback.age, feedback.sequence) == (0, True, 0, 1)
    assert bench.drive.auxiliary == {"temperature": pytest.approx(35.1), "supply": pytest.approx(48.0)}


def test_command_is_rounded_to_the_nearest_count():
    bench = Scripted(position_offset=0.5)
    bench.drive.begin(Command(Mode.FORCE, -12.3456, 0.60000004, 0.0100004, enable=True, clear=True), 0.0)
    assert CODEC.decode_request(bench.requests[0][6:]) == (0b101, 1, 1, -12346, 1_000_000, 10_000)
    bench.drive.begin(Command(Mode.POSITION, quick_stop=True, position=0.5), 0.0)
    assert CODEC.decode_request(bench.requests[1][6:]) == (0b010, 2, 2, 0, 0, 0)
    assert bench.drive.sequence == 2


def test_invalid_value_reads_as_nan():
    bench = Scripted()
    bench.replies = [reply(1, position=-(2**31))]
    feedback = bench.drive.exchange(COMMAND_OFF, 0.0, 0.0)
    assert math.isnan(feedback.position)
    assert feedback.fresh


def test_before_anything_is_received_values_are_nan_and_stale():
    bench = Scripted()
    feedback = bench.drive.exchange(COMMAND_OFF, 0.0, 0.0)
    assert math.isnan(feedback.position)
    assert math.isnan(feedback.force)
    assert (feedback.fresh, feedback.age, feedback.sequence) == (False, 0.0, -1)
    assert bench.drive.exchange(COMMAND_OFF, 0.25, 0.0).age == 0.25  # since it was asked for


def test_stale_feedback_keeps_the_last_good_values_and_grows_old():
    bench = Scripted()
    bench.replies = [reply(1)]
    good = bench.drive.exchange(COMMAND_OFF, 0.0, 0.0)
    ages = [bench.drive.exchange(COMMAND_OFF, now, 0.0) for now in (0.002, 0.004, 0.5)]
    assert [feedback.age for feedback in ages] == [0.002, 0.004, 0.5]
    assert {feedback.position for feedback in ages} == {good.position}
    assert bench.drive.counters.late == 3
    bench.replies = [reply(5)]
    assert bench.drive.exchange(COMMAND_OFF, 0.502, 0.0).age == 0.0


def test_a_drive_that_is_slower_than_the_cycle_is_asked_at_its_own_pace():
    """50 Hz under cycles of 2 ms that begin up to 0.3 ms early or late."""
    random = np.random.default_rng(5)
    bench = Scripted(sample_period=0.02)
    feedback, grid = [], 0.002 * np.arange(100)
    for now in (grid + random.uniform(-3e-4, 3e-4, 100)).tolist():
        bench.replies = [reply(len(bench.requests) + 1)]
        feedback.append(bench.drive.exchange(COMMAND_OFF, now, 0.0))
    fresh = [cycle for cycle, one in enumerate(feedback) if one.fresh]
    assert fresh == list(range(0, 100, 10)) and len(bench.requests) == 10
    assert all(one.age == 0.0 for one in feedback if one.fresh)
    assert max(one.age for one in feedback) == pytest.approx(0.018, abs=7e-4)
    assert bench.drive.counters.late == 0


def test_a_slow_drive_is_told_at_once_to_stop():
    bench = Scripted(sample_period=0.02)
    hold, push = (Command(Mode.FORCE, force, enable=True) for force in (1.0, 2.0))
    for now, command, asked in (
        (0.0, hold, 1),
        (0.002, push, 1),  # another set-point has its time
        (0.004, COMMAND_STOP, 2),
        (0.006, COMMAND_STOP, 2),
        (0.02, COMMAND_STOP, 3),  # in step with the others, who were not told in between
        (0.026, COMMAND_CLEAR, 4),
    ):
        bench.replies = [reply(len(bench.requests) + 1)]
        bench.drive.exchange(command, now, 0.0)
        assert len(bench.requests) == asked


def test_a_slow_drive_is_told_again_in_the_next_cycle_what_it_has_not_answered():
    bench = Scripted(sample_period=0.02)
    for now, command, arriving, asked, overdue in (
        (0.0, COMMAND_OFF, [reply(1)], 1, False),
        (0.002, COMMAND_OFF, [], 1, False),
        (0.004, COMMAND_CLEAR, [], 2, True),  # the telegram or its answer is lost
        (0.006, COMMAND_CLEAR, [reply(3)], 3, False),
        (0.008, COMMAND_CLEAR, [], 3, False),
        (0.02, COMMAND_CLEAR, [], 4, True),  # what it knows already has its time
        (0.022, COMMAND_CLEAR, [], 4, True),
        (0.04, COMMAND_CLEAR, [reply(5)], 5, False),
    ):
        bench.replies = arriving
        bench.drive.exchange(command, now, 0.0)
        assert (len(bench.requests), bench.drive.overdue) == (asked, overdue), now


def test_a_slow_drive_is_asked_again_at_once_after_a_pause():
    bench = Scripted(sample_period=0.02)
    for now, asked in ((0.0, 1), (0.5, 2), (0.502, 2), (0.52, 3)):
        bench.replies = [reply(len(bench.requests) + 1)]
        bench.drive.exchange(COMMAND_OFF, now, 0.0)
        assert len(bench.requests) == asked


def test_finish_without_begin_is_stale():
    bench = Scripted()
    assert not bench.drive.finish(0.0).fresh
    bench.replies = [reply(1) + reply(1)]
    assert bench.drive.exchange(COMMAND_OFF, 0.0, 0.0).fresh
    assert not bench.drive.finish(0.0).fresh


@pytest.mark.parametrize(
    ("arriving", "fresh", "rejected"),
    [
        ([reply(1), reply(1)], [True, False], 1),  # the reply of the cycle before
        ([b"", reply(1) + reply(2)], [False, True], 1),  # late, then merged with the next
        ([reply(1)[:13], reply(1)[13:] + reply(2)], [False, True], 1),  # cut, its rest in the next cycle
        ([reply(1)[:5], reply(1)[5:] + reply(2)], [False, True], 1),  # cut inside the header
        ([reply(1) + reply(2)], [True, False], 1),  # ahead of its time
        ([reply(1) + reply(2), reply(2)], [True, True], 1),
        ([reply(1) + reply(2)[:5], reply(2)[5:]], [True, False], 2),  # its beginning came before it was asked for
        ([b"\x17garbage" + reply(1)], [True], 1),
        ([b"\xff" * 40, reply(2)], [False, True], 1),
        ([reply(7), reply(8) + reply(2)], [False, True], 2),
        ([reply(1)[:4] + b"\x00\x2b" + reply(1)[6:], reply(2)], [False, True], 1),  # wrong length field
        ([reply(1)[:4] + b"\x00\x10" + reply(1)[6:], reply(2)], [False, True], 1),
        ([reply(1)[:2] + b"\x01" + reply(1)[3:], reply(2)], [False, True], 1),  # wrong protocol
        ([reply(1)[:6] + b"\x02" + reply(1)[7:], reply(2)], [False, True], 1),  # wrong unit
        ([reply(1)[:7] + b"\x03" + reply(1)[8:], reply(2)], [False, True], 1),  # wrong function
        ([reply(1)[:8] + b"\x15" + reply(1)[9:], reply(2)], [False, True], 1),  # wrong byte count
    ],
)
def test_a_reply_never_satisfies_another_request(arriving, fresh, rejected):
    bench = Scripted()
    bench.replies = list(arriving)
    assert [bench.drive.exchange(COMMAND_OFF, 0.0, 0.0).fresh for _ in fresh] == fresh
    assert bench.drive.counters.rejected == rejected
    bench.replies = [reply(len(fresh) + 1)]
    assert bench.drive.exchange(COMMAND_OFF, 0.0, 0.0).fresh


def test_exception_reply_is_stale_and_counted():
    bench = Scripted()
    bench.replies = [EXCEPTION]
    assert not bench.drive.exchange(COMMAND_OFF, 0.0, 0.0).fresh
    counters = bench.drive.counters
    assert (counters.exceptions, counters.exception_code, counters.rejected, counters.late) == (1, 6, 0, 0)


def test_reply_split_within_the_cycle():
    bench = Scripted()
    pieces = [reply(1)[:3], reply(1)[3:20], reply(1)[20:]]

    class Slow(MemoryWire):
        def now(self):
            return 0.0

        def receive(self, deadline):
            return pieces.pop(0) if pieces else b""

    drive = create_drive("servo", {"host": "x", "open_wire": lambda timeout: Slow(lambda adu: b"")})
    drive.connect(1.0)
    assert drive.exchange(COMMAND_OFF, 0.0, math.inf).fresh
    assert bench.drive.counters.rejected == 0


def test_a_peer_that_never_stops_talking_does_not_hold_the_cycle():
    class Chatter(MemoryWire):
        def now(self):
            return time.monotonic()

        def receive(self, deadline):
            return b"\0" * 4096

    drive = create_drive("servo", {"host": "x", "open_wire": lambda timeout: Chatter(lambda adu: b"")})
    drive.connect(1.0)
    assert not drive.exchange(COMMAND_OFF, 0.0, 0.01).fresh


def test_the_rest_of_a_connection_is_forgotten_with_it():
    bench = Scripted()
    bench.replies = [reply(1)[:13], reply(2)]
    assert not bench.drive.exchange(COMMAND_OFF, 0.0, 0.0).fresh
    bench.drive.connect(1.0)
    assert bench.drive.exchange(COMMAND_OFF, 0.0, 0.0).fresh
    assert bench.drive.counters.rejected == 0


def test_lost_connection_is_stale_and_never_raises():
    def gone(adu: bytes) -> bytes:
        raise LinkClosedError

    drive = create_drive("servo", {"host": "x", "open_wire": lambda timeout: MemoryWire(gone)})
    assert not drive.connected
    assert not drive.exchange(COMMAND_OFF, 0.0, 0.0).fresh
    drive.connect(1.0)
    assert drive.connected
    assert not drive.exchange(COMMAND_OFF, 0.0, 0.0).fresh
    assert not drive.connected
    assert not drive.exchange(COMMAND_OFF, 0.0, 0.0).fresh
    assert drive.counters.sent == 0
    drive.close()
    drive.close()


def test_reconnecting_does_not_take_up_old_transactions():
    bench = Scripted()
    bench.drive.begin(COMMAND_OFF, 0.0)
    bench.drive.connect(1.0)
    bench.replies = [reply(1)]
    assert not bench.drive.exchange(COMMAND_OFF, 0.0, 0.0).fresh
    assert bench.drive.counters.rejected == 1


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (Command(Mode.FORCE, force=math.nan), "drive 3: commanded force nan N is not a finite number"),
        (Command(Mode.FORCE, position=-math.inf), "commanded position -inf m is not a finite number"),
        (Command(Mode.FORCE, velocity=math.inf), "commanded velocity inf m/s is not a finite number"),
        (Command(Mode.FORCE, force=3e6), r"commanded force 3e\+06 N exceeds ±2.14748e\+06 N"),
        (Command(Mode.POSITION, position=-300.0), "commanded position -300 m exceeds"),
        (Command(cast(Mode, 9)), "mode 9 is not one of the drive's modes"),
    ],
)
def test_bad_commands_are_refused_and_send_nothing(command, message):
    first, second = Scripted(), Scripted()
    with pytest.raises(CommandError, match=message):
        second.drive.begin(command, 0.0)
    with pytest.raises(CommandError, match=message):
        exchange_all([first.drive, second.drive], [COMMAND_OFF, command], 0.0, 0.0)
    assert first.requests == second.requests == []


def test_largest_commands_fit_the_wire():
    bench = Scripted(position_offset=-0.7)
    can = bench.drive.capabilities
    for sign in (1.0, -1.0):
        position = can.position_centre + sign * math.nextafter(can.position_limit, 0.0)
        bench.drive.begin(Command(Mode.POSITION, sign * can.force_limit, position, sign * can.velocity_limit), 0.0)
        decoded = CODEC.decode_request(bench.requests[-1][6:])
        assert decoded is not None and decoded[4] == sign * (2**31 - 1)
    assert len(bench.requests) == 2


def test_positions_of_sixteen_bits_count_from_the_offset():
    """A leg's length need not fit the register, its distance from the offset has to."""
    position, velocity = {"address": 105, "type": "i16", "scale": -5e-6}, {"address": 106, "type": "i32", "scale": 1e-6}
    bench = Scripted(profile=changed(command={"position": position, "velocity": velocity}), position_offset=0.5)
    drive = bench.drive
    assert isinstance(drive, ModbusServo)
    codec = drive.plain_codec
    assert codec is not None
    drive.begin(COMMAND_OFF, 0.0)
    bench.drive.begin(Command(Mode.POSITION, position=0.6, enable=True), 0.0)
    decoded = [codec.decode_request(request[6:]) for request in bench.requests]
    assert [one and one[4] for one in decoded] == [0, -20_000]  # none is a set-point of 0
    assert bench.drive.capabilities.reach == pytest.approx((0.5 - 0.163835, 0.5 + 0.163835))
    for beyond in (0.3, 0.7, 0.0):
        with pytest.raises(CommandError, match=rf"commanded position {beyond:g} m exceeds 0.5 ± 0.163835 m"):
            bench.drive.begin(Command(Mode.POSITION, position=beyond), 0.0)


def test_mode_the_drive_lacks():
    content = PROFILE.model_dump()
    content["modes"]["position"] = None
    bench = Scripted(profile=ServoProfile.model_validate(content))
    with pytest.raises(CommandError, match=r"drive 3: mode <Mode.POSITION: 2> is not one"):
        bench.drive.begin(Command(Mode.POSITION), 0.0)


def test_no_mangled_reply_with_a_wrong_echo_is_taken_for_good():
    """20,000 replies with one bit inverted, a byte replaced or two exchanged: what is believed has the right echo."""
    random = np.random.default_rng(18)
    bench = Scripted()
    believed = 0
    for _ in range(20_000):
        command = bench.drive.sequence + 1 & 0xFFFF
        frame = bytearray(reply(command % 0xFFFF or 0xFFFF, echo=command))
        place, other = random.integers(0, len(frame), 2)
        match random.integers(0, 3):
            case 0:
                frame[place] ^= 1 << int(random.integers(0, 8))
            case 1:
                frame[place] = int(random.integers(0, 256))
            case _:
                frame[place], frame[other] = frame[other], frame[place]
        bench.replies = [bytes(frame)]
        feedback = bench.drive.exchange(COMMAND_OFF, 0.0, 0.0)
        if feedback.fresh:
            believed += 1
            assert feedback.sequence == bench.drive.sequence == command and feedback.lag == 0
    assert believed > 5_000  # most hit a value, which has no checksum of its own
    assert bench.drive.counters.mismatched > 500


@given(st.lists(st.one_of(st.binary(max_size=64), st.integers(1, 12).map(reply)), max_size=8))
def test_any_bytes_give_feedback_and_never_cross_match(arriving):
    bench = Scripted()
    bench.replies = list(arriving)
    stream, fresh = b"", 0
    for cycle in range(1, 9):
        stream += arriving[cycle - 1] if cycle <= len(arriving) else b""
        feedback = bench.drive.exchange(COMMAND_OFF, 0.0, 0.0)
        if feedback.fresh:
            fresh += 1
            assert cycle.to_bytes(2, "big") + reply(1)[2:9] in stream
    assert (bench.drive.counters.sent, bench.drive.counters.received) == (8, fresh)
