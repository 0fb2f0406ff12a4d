"""The ORCA driver over its twin: power, stops, the auto-zero, and what it says of a motor that goes its own way."""

import itertools
import math
import struct

import pytest
from orca_bench import OrcaBench

from actuators import (
    COMMAND_CLEAR,
    COMMAND_HOME,
    COMMAND_OFF,
    COMMAND_STOP,
    Command,
    ConfigurationError,
    Feedback,
    IdentityError,
    Mode,
    ProtocolError,
    Status,
    create_drive,
)
from actuators.orca.protocol import MotorMode, Register, wide_value

FORCE = Command(Mode.FORCE, 12.5, 0.6, enable=True)
POSITION = Command(Mode.POSITION, 12.5, 0.6, enable=True)
READ, WRITE, WRITES, STREAM = 3, 6, 16, 100


@pytest.fixture
def bench() -> OrcaBench:
    made = OrcaBench(name="drive 4", watchdog=0.05)
    made.drive.configure()
    made.do(COMMAND_OFF)
    made.do(COMMAND_OFF)
    return made


def asked(bench: OrcaBench, command: Command) -> list[int]:
    """Function codes of a cycle's requests."""
    bench.sent.clear()
    bench.do(command)
    return [frame[1] for frame in bench.sent]


def until(bench: OrcaBench, command: Command, status: Status) -> Feedback:
    for _ in range(5):
        feedback: Feedback = bench.do(command)
        if feedback.status & status:
            return feedback
    raise AssertionError(f"not {status!r} after five cycles: {feedback}")


@pytest.mark.parametrize(("command", "mode"), [(FORCE, MotorMode.FORCE), (POSITION, MotorMode.POSITION)])
def test_set_points_are_there_before_there_is_power(bench, command, mode):
    """A motor may still have a set-point from before, to which it would go at once."""
    bench.motor.answer(b"\x01\x10\x00\x1c\x00\x04\x08\x7f\xff\x00\x00\x7f\xff\x00\x00")
    assert asked(bench, command) == [WRITES, STREAM] and not bench.leg.enabled
    assert bench.sent[1][2] == 0
    assert asked(bench, command) == [WRITE, STREAM]
    assert bench.sent[0][2:6] == bytes((0, 3, 0, mode)) and bench.leg.enabled
    assert bench.drive.exchange(command, bench.now, 0.0).status & Status.ENABLED  # the mode was read
    from_power_up = bench.leg.length + 0.6  # it is not zeroed: it counts from where it was switched on
    assert bench.leg.force == pytest.approx(12.5) and bench.leg.position == pytest.approx(from_power_up)
    assert asked(bench, command) == [STREAM]


def test_a_mode_that_is_not_taken_is_commanded_again_and_is_not_said_to_be_there(bench):
    asked(bench, FORCE)
    bench.faults.inject("drop_write", 2)
    seen = [(asked(bench, FORCE), bool(bench.do(FORCE).status & Status.ENABLED)) for _ in range(2)]
    assert seen[0][1] is False and not any(WRITE in codes for codes, _ in seen[1:])
    assert until(bench, FORCE, Status.ENABLED) and bench.leg.enabled


def test_a_motor_that_does_not_change_its_mode_has_no_torque(bench, monkeypatch):
    monkeypatch.setattr(bench.motor, "_enter", lambda _mode: None)
    codes = [code for _ in range(8) for code in asked(bench, FORCE)]
    assert not bench.do(FORCE).status & Status.ENABLED and codes.count(WRITE) >= 3


def test_the_mode_is_looked_at_again_and_again(bench):
    until(bench, FORCE, Status.ENABLED)
    assert sum(READ in asked(bench, FORCE) for _ in range(100)) == pytest.approx(4, abs=1)
    bench.faults.inject("reboot")
    lost = [bench.do(FORCE).status & Status.ENABLED for _ in range(30)]
    assert lost[0] and not lost[-1] and not bench.leg.enabled


def test_nobody_believes_in_a_mode_that_cannot_be_read_any_more(bench, monkeypatch):
    until(bench, FORCE, Status.ENABLED)
    serve = bench.motor._serve
    monkeypatch.setattr(bench.motor, "_serve", lambda code, data: b"\x99" if code == READ else serve(code, data))
    fresh = [bench.do(FORCE).fresh for _ in range(200)]
    assert fresh[0] and not any(fresh[130:])


def test_it_sleeps_at_once_when_it_is_stopped(bench):
    until(bench, FORCE, Status.ENABLED)
    for stop in (COMMAND_STOP, COMMAND_OFF):
        assert asked(bench, stop)[0] == STREAM and bench.sent[0][2] == 0
        assert not bench.leg.enabled
        assert not bench.do(stop).status & Status.ENABLED
        bench.do(COMMAND_OFF)
        until(bench, FORCE, Status.ENABLED)


def test_from_one_mode_to_the_other_it_keeps_its_torque(bench):
    until(bench, FORCE, Status.ENABLED)
    bench.do(COMMAND_HOME)
    until(bench, POSITION, Status.ENABLED)
    powered = []
    for _ in range(5):
        bench.do(FORCE)
        powered.append(bench.leg.enabled)
    assert all(powered) and bench.leg.mode is Mode.FORCE


def test_what_the_watchdog_found_is_seen_before_the_motor_forgets_it(bench):
    until(bench, FORCE, Status.ENABLED)
    bench.leg.velocity = 0.1
    bench.pass_time(0.06)
    assert bench.leg.quick_stop
    codes = asked(bench, COMMAND_OFF)
    assert codes[0] == READ and codes[1] == STREAM
    feedback = bench.do(COMMAND_OFF)
    assert feedback.error == 0x0800 and feedback.status & Status.WATCHDOG and feedback.status & Status.FAULT
    assert bench.drive.error_text(feedback.error) == "no command within the watchdog's time"
    assert not bench.motor._errors  # asleep it has forgotten
    assert not bench.do(FORCE).status & Status.ENABLED
    bench.do(COMMAND_OFF)
    assert not bench.do(COMMAND_CLEAR).status & Status.FAULT
    bench.do(COMMAND_OFF)
    until(bench, FORCE, Status.ENABLED)


def test_an_error_under_power_is_kept_until_it_is_cleared(bench):
    until(bench, FORCE, Status.ENABLED)
    bench.motor._fail(0x0040)
    feedback = bench.do(FORCE)
    assert feedback.status & Status.FAULT and feedback.status & Status.QUICK_STOP and feedback.error == 0x0040
    assert (
        bench.drive.error_text(0x4041) == "configuration invalid, too hot, error bits 0x4000, which are not explained"
    )
    later = [bench.do(FORCE).status for _ in range(5)][-1]
    assert later & Status.FAULT and not later & Status.ENABLED


def test_while_it_zeroes_itself_no_stream_frame_ends_that(bench):
    bench.leg.length = 0.62
    assert until(bench, COMMAND_HOME, Status.HOMING).position == pytest.approx(bench.leg.length - 0.6, abs=1e-6)
    assert asked(bench, COMMAND_HOME) == [READ, READ]
    bench.leg.settle()
    homed = until(bench, COMMAND_HOME, Status.HOMED)
    assert homed.position == pytest.approx(bench.leg.home, abs=1e-6)
    assert not bench.leg.enabled and bench.leg.brake  # an auto-zero ends in sleep
    assert WRITE not in [code for _ in range(5) for code in asked(bench, COMMAND_HOME)]  # and is not begun again


def test_the_zero_does_not_move_before_that_is_said(bench, monkeypatch):
    """The auto-zero ends after the status was read, and before the position is."""
    until(bench, COMMAND_HOME, Status.HOMING)
    respond = bench.faults.respond

    def ending(frame: bytes) -> bytes:
        reply: bytes = respond(frame)
        if frame[1:4] == bytes((READ, *divmod(Register.MODE, 256))):
            bench.leg.settle()
            bench.motor.tick(bench.now)
        return reply

    seen = [bench.do(COMMAND_HOME)]
    monkeypatch.setattr(bench.faults, "respond", ending)
    seen += [bench.do(COMMAND_HOME) for _ in range(4)]
    assert all(feedback.fresh for feedback in seen) and seen[-1].status & Status.HOMED
    for before, after in itertools.pairwise(seen):
        assert abs(after.position - before.position) < 1e-6 or (before.status ^ after.status) & Status.HOMED
    assert seen[-1].position == pytest.approx(bench.leg.home, abs=1e-6)


def test_an_auto_zero_that_fails_is_a_fault(bench):
    until(bench, COMMAND_HOME, Status.HOMING)
    bench.motor._enter(MotorMode.SLEEP)
    bench.motor._fail(0x2000)
    feedback = until(bench, COMMAND_HOME, Status.FAULT)
    assert not feedback.status & (Status.HOMED | Status.ENABLED)
    assert bench.drive.error_text(feedback.error) == "auto-zero failed"


def test_what_it_says_beside(bench):
    assert bench.drive.auxiliary == {"temperature": 35.0, "supply": 48.0, "power": 12.0, "motor force": 0.0}
    bench.faults.inject("temperature", 81.0)
    bench.do(COMMAND_OFF)
    assert bench.drive.auxiliary["temperature"] == 81.0
    for value, said in ((1e6, (255.0, 65.535)), (-1e6, (0.0, 0.0))):  # what its registers do not hold
        bench.faults.inject("temperature", value)
        bench.faults.inject("supply", value)
        assert bench.do(COMMAND_OFF).fresh and bench.drive.observe(1.0).fresh
        assert (bench.drive.auxiliary["temperature"], bench.drive.auxiliary["supply"]) == said
    assert all(math.isnan(value) for value in OrcaBench().drive.auxiliary.values())


def test_its_force_is_that_of_the_motors_current_and_none_in_sleep(bench):
    """By the leg's cell and by the motor's current; a load cell it has none."""
    bench.leg.cell, bench.leg.motor = 812.5, -37.25
    told = bytes.fromhex("0103 015c 0002")

    def forces(command: Command) -> tuple[float, int]:
        feedback = bench.do(command)
        assert math.isnan(feedback.force) and math.isnan(bench.drive.observe(1.0).force)
        low, high = struct.unpack(">HH", bench.motor.answer(told)[3:])
        return bench.drive.auxiliary["motor force"], wide_value(low, high)

    assert forces(COMMAND_OFF) == (0.0, 0)
    until(bench, FORCE, Status.ENABLED)
    assert forces(FORCE) == (pytest.approx(-37.25), -37250)
    bench.motor._fail(0x0040)
    assert forces(FORCE) == (pytest.approx(-37.25), -37250)  # it damps the leg
    assert forces(COMMAND_OFF)[1] == 0
    assert not bench.drive.capabilities.force_feedback


def test_the_speed_is_that_between_positions(bench):
    until(bench, FORCE, Status.ENABLED)
    for _ in range(3):
        bench.leg.length += 0.25 * 0.002
        feedback = bench.do(FORCE)
    assert feedback.velocity == pytest.approx(0.25, rel=1e-3)


def test_who_it_is_and_how_it_is_set_up():
    options = {"registers": {"USER_MAX_FORCE": 300_000, "PC_PGAIN": 200}, "serial": "77", "name": "drive 4"}
    bench = OrcaBench(**options)
    identity = bench.drive.identify()
    assert (identity.vendor, identity.product, identity.serial, identity.firmware) == (
        "Iris Dynamics",
        "ORCA, stator 6",
        "77",
        "6.3.0",
    )
    bench.sent.clear()
    bench.drive.configure()
    assert [frame[:-2].hex(" ") for frame in bench.sent[:4]] == [
        "01 06 00 a3 00 32",
        "01 10 00 8c 00 02 04 93 e0 00 04",
        "01 06 00 85 00 c8",
        "01 06 00 01 04 00",
    ]
    assert bench.drive.verify(1.0) == identity
    bench.motor.answer(bytes.fromhex("0106 00a3 0064"))
    with pytest.raises(ConfigurationError, match=r"drive 4 .*USER_COMMS_TIMEOUT: register 163 reads back \[100\]"):
        bench.drive.verify(1.0)
    bench.motor.answer(bytes.fromhex("0106 00a3 0000"))
    with pytest.raises(ConfigurationError, match=r"drive 4 .* has no watchdog"):
        bench.drive.verify(1.0)
    other = OrcaBench(name="drive 4")
    other.drive._setup._options = other.drive._setup._options.model_copy(update={"serial": "78"})
    with pytest.raises(IdentityError, match=r"has serial number '1', expected '78'"):
        other.drive.identify()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"parity": "none"}, "an ORCA motor has even parity"),
        ({"stop_bits": 2}, "an ORCA motor has even parity and 1"),
        ({"device": None, "host": "gateway", "framing": "tcp"}, "frames of"),
        ({"registers": {"NO_SUCH": 1}}, "registers: no 'NO_SUCH'"),
        ({"registers": {"PC_PGAIN": 70_000}}, "registers.PC_PGAIN: 70000, must be 0 to 65535"),
        ({"registers": {"PC_PGAIN": -1}}, "registers.PC_PGAIN: must be at least 0, not -1"),
        ({"watchdog": 70.0}, r"watchdog 70 s is outside 0.001..65.535 s"),
        ({"serial": "A7"}, "serial number 'A7'"),
        ({"serial": "4294967296"}, "a number of at most 4294967295"),
        ({"unit": 248}, "outside 1..247"),
    ],
)
def test_options_that_no_motor_has_are_refused(options, said):
    with pytest.raises(ConfigurationError, match=said):
        create_drive("orca", {"device": "/dev/none", "name": "drive 4", **options})


def test_a_gateway_passes_the_bytes_of_a_line_on():
    drive = create_drive("orca", {"host": "gateway", "port": 4001})
    assert drive.line is not None and drive.line.place == "gateway:4001"


def test_registers_that_nobody_writes_are_refused_by_the_twin(bench):
    for request in ("0106 0140 0001", "0106 00b4 0001", "0106 0003 0063", "0110 00b2 0003 06 0000 0000 0000"):
        message = bytes.fromhex(request)
        assert bench.motor.answer(message)[1] == message[1] | 0x80
    with pytest.raises(ProtocolError, match="illegal data address"):
        bench.drive._station.write(Register.SERIAL, [1], 1.0)


def test_a_set_point_for_another_mode_changes_nothing_and_feeds_no_watchdog(bench):
    """What a motor does with one its maker does not say: the twin shows a driver that relies on it."""
    until(bench, POSITION, Status.ENABLED)
    bench.leg.velocity = 0.1
    for _ in range(30):
        bench.pass_time(0.002)
        reply = bench.motor.answer(bytes.fromhex("01641c 00002710"))
        assert reply[1] == STREAM and bench.leg.mode is not Mode.FORCE
    assert bench.motor._errors == 0x0800 and bench.leg.quick_stop
