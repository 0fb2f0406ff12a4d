"""Jrk G2: what the driver tells its twin, and when, and what it believes of it."""

import itertools
import math

import pytest
from jrk_bench import JrkBench

from actuators import (
    COMMAND_CLEAR,
    COMMAND_HOME,
    COMMAND_OFF,
    Command,
    ConfigurationError,
    Feedback,
    Mode,
    ProtocolError,
    Status,
    create_drive,
)
from actuators.jrk.protocol import (
    LIFE_LENGTH,
    READ_HALTING,
    READ_LIFE,
    READ_VARIABLES,
    VARIABLES_LENGTH,
    Error,
    PololuFraming,
    Setting,
    scaled_of,
    target_command,
)

METRE = 0.3 / 4095
OFFSET = 0.5


@pytest.fixture
def bench() -> JrkBench:
    return started()


def started(**options) -> JrkBench:
    made = JrkBench(name="drive 4", **options)
    made.drive.configure()
    made.do(COMMAND_OFF)
    return made


def at(counts: float, velocity: float = 0.0) -> Command:
    return Command(Mode.POSITION, 0.0, OFFSET + counts * METRE, velocity, enable=True)


def told(bench: JrkBench, command: Command) -> str:
    """What a cycle tells between what it asks, in the compact form."""
    bench.sent.clear()
    bench.do(command)
    *looks, frame = (PololuFraming().message(frame) for frame in bench.sent)
    if looks:  # asked before it is told anything that lets its motor run
        assert [look[1:] for look in looks] == [READ_LIFE] and frame.endswith(READ_VARIABLES)
        return frame[1 : -len(READ_VARIABLES)].hex(" ")
    assert frame[1:].startswith(READ_HALTING) and frame.endswith(READ_VARIABLES)
    return frame[1 + len(READ_HALTING) : -len(READ_VARIABLES)].hex(" ")


def until(bench: JrkBench, command: Command, status: Status, cycles: int = 400) -> Feedback:
    for _ in range(cycles):
        feedback: Feedback = bench.do(command)
        bench.leg.settle()
        if feedback.status & status:
            return feedback
    raise AssertionError(f"not {status!r} after {cycles} cycles: {feedback}")


# -- what it is told ---------------------------------------------------------------------------------------------------


def test_it_is_stopped_until_it_is_to_run_and_then_gets_targets(bench: JrkBench) -> None:
    assert told(bench, COMMAND_OFF) == "ff"
    assert told(bench, at(3000)) == "d8 5d"
    assert told(bench, COMMAND_OFF) == "ff"
    assert not bench.leg.enabled and bench.leg.brake


def test_targets_are_ahead_by_the_lead_and_no_farther_than_the_stroke(bench: JrkBench) -> None:
    led = started(lead=0.1)
    led.do(at(1000))
    assert led.controller.goal == pytest.approx(OFFSET + 1000 * METRE)
    led.do(at(1000, 100 * METRE))
    assert led.controller.goal == pytest.approx(OFFSET + 1010 * METRE)
    led.do(at(4095, 100 * METRE))
    assert led.controller.goal == pytest.approx(OFFSET + 4095 * METRE)
    bench.do(at(1000, 100 * METRE))
    assert bench.controller.goal == pytest.approx(OFFSET + 1000 * METRE)


@pytest.mark.parametrize("counts", [-1.0, -500.0, 4096.0, 5000.0])
def test_a_length_beyond_the_stroke_is_a_fault_and_a_stop(bench: JrkBench, counts: float) -> None:
    bench.do(at(2000))
    assert bench.leg.enabled
    assert told(bench, at(counts)) == "ff"
    feedback = bench.do(COMMAND_OFF)
    assert feedback.status & Status.FAULT and not bench.leg.enabled
    assert bench.drive.error_text(feedback.error) == "a length beyond its stroke was commanded"
    assert told(bench, at(2000)) == "ff"
    bench.do(COMMAND_CLEAR)
    bench.do(COMMAND_OFF)
    assert bench.do(at(2000)).status & Status.ENABLED


def test_home_is_gone_to_from_where_it_stands_no_faster_than_is_said(bench: JrkBench) -> None:
    bench.leg.length = OFFSET + 1000 * METRE
    bench.do(COMMAND_OFF)
    targets = []
    for _ in range(200):
        feedback = bench.do(COMMAND_HOME)
        bench.leg.settle()
        targets.append(round((bench.controller.goal - OFFSET) / METRE))
    steps = [after - before for before, after in itertools.pairwise(targets)]
    assert targets[0] == 1000 and targets[-1] == 2048
    assert min(steps) >= 0 and max(steps) <= math.ceil(0.5 * 0.002 / METRE)
    assert feedback.status & Status.HOMED and not feedback.status & Status.HOMING
    assert feedback.position == pytest.approx(OFFSET + 2048 * METRE)


def test_home_is_found_anew_and_not_before_the_leg_is_there(bench: JrkBench) -> None:
    until(bench, COMMAND_HOME, Status.HOMED)
    bench.do(COMMAND_OFF)
    bench.leg.length = OFFSET + 1000 * METRE
    bench.do(COMMAND_OFF)
    for _ in range(300):  # its target is home by then, and the leg is stuck
        feedback = bench.do(COMMAND_HOME)
    assert bench.controller.goal == pytest.approx(OFFSET + 2048 * METRE)
    assert feedback.status & Status.HOMING and not feedback.status & Status.HOMED


# -- what keeps it from running ----------------------------------------------------------------------------------------


def test_a_time_out_at_rest_is_none_and_is_cleared_before_it_is_to_run(bench: JrkBench) -> None:
    bench.pass_time(0.2)
    feedback = bench.do(COMMAND_OFF)
    assert feedback.error == 0 and not feedback.status & Status.FAULT
    assert told(bench, at(1400)) == f"{target_command(1400).hex(' ')} b3"
    assert bench.do(at(1400)).status & Status.ENABLED
    assert told(bench, at(1400)) == target_command(1400).hex(" ")


def test_a_time_out_while_it_ran_is_a_fault_however_late_it_is_heard_of(bench: JrkBench) -> None:
    bench.do(at(1400))
    bench.faults.inject("drop_all")
    for _ in range(40):
        bench.do(COMMAND_OFF)
    bench.faults.clear("drop_all")
    feedback = bench.do(COMMAND_OFF)
    assert feedback.status & Status.FAULT and feedback.status & Status.WATCHDOG
    assert bench.drive.error_text(feedback.error) == "no target within the serial time-out"
    assert told(bench, at(1400)) == "ff"
    assert not bench.do(COMMAND_CLEAR).status & Status.FAULT


def test_without_power_it_is_off_without_a_fault_and_does_not_go_on_by_itself(bench: JrkBench) -> None:
    bench.do(at(1400))
    bench.faults.inject("safe_torque_off")
    feedback = bench.do(at(1400))
    assert not feedback.status & (Status.ENABLED | Status.FAULT)
    bench.faults.clear("safe_torque_off")
    for _ in range(5):
        assert not bench.do(at(1400)).status & Status.ENABLED
    bench.do(COMMAND_OFF)
    assert bench.do(at(1400)).status & Status.ENABLED


@pytest.mark.parametrize("after", [0.0, 1.0])
def test_one_that_restarts_is_stopped_before_its_motor_runs(bench: JrkBench, after: float) -> None:
    """Its counter tells, and where that is by chance where it should be, that it awaits a command."""
    bench.pass_time(after)
    bench.do(COMMAND_OFF)
    bench.do(at(1400))
    assert bench.do(at(1400)).status & Status.ENABLED
    bench.faults.inject("reboot")
    for _ in range(5):
        bench.do(at(1400))
        assert not bench.controller._running
    assert told(bench, at(1400)) == "ff"
    assert not bench.do(at(1400)).status & Status.ENABLED


def test_one_that_restarted_just_before_it_is_to_run_is_not_told_to(bench: JrkBench) -> None:
    """It awaits a command, as one at rest does: its counter alone tells."""
    bench.pass_time(1.0)
    bench.do(COMMAND_OFF)
    bench.faults.inject("reboot")
    for _ in range(3):
        bench.do(at(1400))
        assert not bench.controller._running


@pytest.mark.parametrize("lost", [1.0, 2.0, 3.0])
def test_one_that_restarts_is_noticed_however_its_replies_are_lost(bench: JrkBench, lost: float) -> None:
    until(bench, COMMAND_HOME, Status.HOMED)
    bench.do(COMMAND_OFF)
    bench.pass_time(1.0)
    bench.do(COMMAND_OFF)
    bench.do(at(1400))
    assert bench.do(at(1400)).status & Status.ENABLED
    bench.faults.inject("reboot")
    bench.faults.inject("drop_write", lost)
    seen = []
    for _ in range(6):
        seen.append(bench.do(at(1400)))
        assert not bench.controller._running
    assert not seen[0].fresh and not any(one.fresh and one.status & Status.ENABLED for one in seen)
    assert seen[-1].fresh and not seen[-1].status & Status.HOMED
    assert told(bench, at(1400)) == "ff"


def test_one_that_restarts_at_rest_is_not_homed_any_more(bench: JrkBench) -> None:
    until(bench, COMMAND_HOME, Status.HOMED)
    bench.do(COMMAND_OFF)
    bench.pass_time(1.0)
    assert bench.do(COMMAND_OFF).status & Status.HOMED
    bench.faults.inject("reboot")
    assert not [bench.do(COMMAND_OFF) for _ in range(3)][-1].status & Status.HOMED


def test_a_counter_that_is_damaged_once_is_no_restart(bench: JrkBench) -> None:
    bench.pass_time(1.0)
    bench.do(at(1400))
    bench.do(at(1400))
    bench.faults.inject("bit_flip", 8.0 * 20)  # the high byte of the counter
    assert not bench.do(at(1400)).fresh
    bench.faults.clear("bit_flip")
    assert bench.do(at(1400)).status & Status.ENABLED


def test_power_that_was_gone_between_two_replies_does_not_come_back_by_itself(bench: JrkBench) -> None:
    for _ in range(3):
        bench.do(at(1400))
    bench.faults.inject("safe_torque_off")
    bench.pass_time(0.002)
    bench.faults.clear("safe_torque_off")
    bench.do(at(1400))
    assert not [bench.do(at(1400)) for _ in range(3)][-1].status & Status.ENABLED


def test_a_fault_at_rest_is_one_and_stays_while_its_cause_does(bench: JrkBench) -> None:
    bench.faults.inject("encoder_nan")
    bench.pass_time(0.002)
    for command in (COMMAND_OFF, COMMAND_CLEAR, COMMAND_OFF, at(1400)):
        feedback = bench.do(command)
        assert feedback.status & Status.FAULT and math.isnan(feedback.position)
    bench.drive.close()
    bench.drive.connect(1.0)
    assert bench.do(COMMAND_OFF).status & Status.FAULT
    bench.faults.clear("encoder_nan")
    assert bench.do(COMMAND_OFF).status & Status.FAULT  # until it is reset
    bench.do(COMMAND_CLEAR)
    feedback = bench.do(COMMAND_OFF)
    assert not feedback.status & Status.FAULT and feedback.position == pytest.approx(0.6, abs=METRE)


def test_a_feedback_that_is_disconnected_is_a_fault_that_stays(bench: JrkBench) -> None:
    bench.do(at(1400))
    bench.faults.inject("encoder_nan")
    bench.pass_time(0.002)
    feedback = bench.do(at(1400))
    assert bench.drive.error_text(feedback.error) == "the feedback is disconnected"
    bench.faults.clear("encoder_nan")
    assert bench.do(COMMAND_OFF).status & Status.FAULT
    bench.do(COMMAND_CLEAR)
    assert not bench.do(COMMAND_OFF).error


def test_errors_in_words(bench: JrkBench) -> None:
    text = bench.drive.error_text(int(Error.NO_POWER | Error.SERIAL_CRC) | 1 << 14)
    assert (
        text
        == "no power for the motor, a serial command had a wrong checksum, error bits 0x4000, which are not explained"
    )


# -- what is believed --------------------------------------------------------------------------------------------------


LOOK, TELL = LIFE_LENGTH, VARIABLES_LENGTH


def flip(bench: JrkBench, reply: int, bit: int) -> None:
    """Damage one bit, counted from the first, of every reply of so many bytes."""
    controller = bench.controller
    answer = type(controller).answer

    def damaged(message: bytes) -> bytes:
        out = bytearray(answer(controller, message))
        if len(out) == 1 + reply:
            out[1 + bit // 8] ^= 0x80 >> bit % 8
        return bytes(out)

    controller.answer = damaged  # type: ignore[method-assign]


@pytest.mark.parametrize(
    ("reply", "byte", "counts"),
    [
        pytest.param(LOOK, 0, True, id="periods"),
        pytest.param(LOOK, 2, True, id="halting"),
        pytest.param(LOOK, 4, True, id="periods once more"),
        pytest.param(LOOK, 6, True, id="halting again"),
        pytest.param(TELL, 0, True, id="input"),
        pytest.param(TELL, 2, True, id="target"),
        pytest.param(TELL, 4, True, id="feedback"),
        pytest.param(TELL, 6, True, id="scaled"),
        pytest.param(TELL, 15, True, id="periods again"),
        pytest.param(TELL, 17, True, id="halting after it"),
        pytest.param(TELL, 8, False, id="integral"),
        pytest.param(TELL, 22, False, id="supply"),
    ],
)
def test_a_reply_that_contradicts_itself_is_none(bench: JrkBench, reply: int, byte: int, counts: bool) -> None:
    """Replies have no checksum; what a cycle lives on is there twice."""
    bench.do(at(1400))
    flip(bench, reply, 8 * byte + 2)  # a bit that is worth 32 in the low byte
    before = bench.drive.counters.rejected
    assert bench.do(at(1400)).fresh is not counts
    assert bench.drive.counters.rejected == before + counts


@pytest.mark.parametrize("reply", [LOOK, TELL])
def test_every_bit_that_counts_is_judged(bench: JrkBench, reply: int) -> None:
    told_by = at(1400)
    good = bench.do(told_by)
    for bit in range(8 * reply):
        flip(bench, reply, bit)
        feedback = bench.do(told_by)
        if feedback.fresh:
            assert feedback.position == pytest.approx(good.position, abs=1e-9)
            assert (feedback.status, feedback.error) == (good.status, 0)
        del bench.controller.answer
        bench.do(told_by)  # or its time-out would come
    assert bench.do(told_by).fresh


def test_a_counter_that_stands_is_a_controller_that_hangs(bench: JrkBench) -> None:
    bench.do(COMMAND_OFF)
    bench.faults.inject("hang")
    fresh = [bench.do(COMMAND_OFF).fresh for _ in range(60)]
    assert fresh[0] and not fresh[-1]
    assert fresh.index(False) <= 0.05 / 0.002 + 2
    bench.faults.clear("hang")
    assert bench.do(COMMAND_OFF).fresh


def test_the_supply_is_that_of_most_replies(bench: JrkBench) -> None:
    for _ in range(3):
        bench.do(COMMAND_OFF)
    assert bench.drive.auxiliary == {"supply": 24.0, "current": 0.0}
    bench.faults.inject("bit_flip", 8.0 * 27)  # 32 V more, once
    bench.do(COMMAND_OFF)
    bench.faults.clear("bit_flip")
    assert bench.drive.auxiliary["supply"] == 24.0


def test_scaling() -> None:
    assert [scaled_of(value, 400, 3600, inverted=False) for value in (0, 400, 2000, 3600, 4095)] == [
        0,
        0,
        2048,
        4095,
        4095,
    ]
    assert [scaled_of(value, 400, 3600, inverted=True) for value in (400, 3600)] == [4095, 0]


# -- what it is set to -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        (Setting.INPUT_MODE, 1, "its input mode is not serial"),
        (Setting.FEEDBACK_MODE, 0, "it has no feedback mode"),
        (Setting.OPTIONS_1, 2, "its setting for checksums of commands is not `crc`"),
        (Setting.SERIAL_TIMEOUT, 0, "its serial time-out is off"),
        (Setting.SERIAL_TIMEOUT, 20, "its serial time-out is 0.2 s, the watchdog 0.05 s"),
        (Setting.ERROR_ENABLE + 1, 0, "its serial time-out is off"),
    ],
)
def test_one_that_is_set_otherwise_is_refused(setting: int, value: int, said: str) -> None:
    bench = JrkBench(name="drive 4")
    bench.controller._settings[setting] = value
    with pytest.raises(ConfigurationError, match=rf"drive 4 at memory: {said}; set it with Pololu's"):
        bench.drive.configure()


def test_a_feedback_without_a_range_is_refused() -> None:
    bench = JrkBench(name="drive 4")
    bench.controller._settings[Setting.FEEDBACK_MAXIMUM : Setting.FEEDBACK_MAXIMUM + 2] = bytes(2)
    with pytest.raises(ConfigurationError, match="its feedback has no range: 0 to 0"):
        bench.drive.configure()


def test_settings_that_differ_when_they_are_read_twice_are_a_bad_line() -> None:
    bench = JrkBench(name="drive 4")
    flips = iter((0, 1))
    respond = bench.faults.device.respond

    def damaged(frame: bytes) -> bytes:
        reply = bytearray(respond(frame))
        if reply and next(flips, 0):
            reply[0] ^= 1
        return bytes(reply)

    bench.faults.device.respond = damaged  # type: ignore[method-assign]
    with pytest.raises(ProtocolError, match="says different settings when it is asked twice"):
        bench.drive.configure()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"parity": "even"}, "a Jrk G2 has no parity, and 1"),
        ({"baud": 230_400}, "baud: 230400, must be at most 115385"),
        ({"unit": 128}, "unit"),
        ({"watchdog": 0.055}, "watchdog 0.055 s: a Jrk G2 has 0.01 to 655.35 s, in hundredths"),
        ({"serial": "7"}, "serial number '7' cannot be compared"),
        ({"stroke": 0.0}, "stroke"),
    ],
)
def test_options_that_it_cannot_have_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        create_drive("jrk-g2", {"name": "drive 4", "device": "memory"} | options)
