"""Jrk G2: frames as their maker prints them, and what is said over a line."""

import pytest

from actuators import COMMAND_OFF, Command, DeviceLine, MemoryWire, Mode, create_drive, create_twin
from actuators.bus import Buses
from actuators.jrk import VirtualJrk
from actuators.jrk.protocol import EVERYONE, STOP, PololuFraming, PololuLine, crc7, target_command
from rig.testing import BenchLeg as Leg

METRE = 0.3 / 4095
OFFSET = 0.5


def controller() -> VirtualJrk:
    return VirtualJrk(Leg(), stroke=0.3, position_offset=OFFSET)


@pytest.mark.parametrize(
    ("commands", "compact", "crc", "printed"),
    [
        (target_command(3000), True, False, "d8 5d"),
        (target_command(3000), True, True, "d8 5d 19"),
        (target_command(3000), False, False, "aa 0b 58 5d"),
        (target_command(3000), False, True, "aa 0b 58 5d 79"),
        (bytes.fromhex("e5 02 04"), True, False, "e5 02 04"),
        (bytes.fromhex("e5 02 04"), True, True, "e5 02 04 5b"),
        (bytes.fromhex("f2 54 7d"), True, False, "f2 54 7d"),
        (bytes((STOP,)), False, False, "aa 0b 7f"),
        (bytes((STOP,)) + target_command(3000), False, True, "aa 0b 7f 1e aa 0b 58 5d 79"),
    ],
)
def test_commands_are_framed_as_they_are_printed(commands: bytes, compact: bool, crc: bool, printed: str) -> None:
    if "7f 1e" in printed:
        printed = printed.replace("1e", f"{crc7(bytes.fromhex('aa 0b 7f')):02x}")
    frame = PololuLine(compact=compact, crc=crc).frame(b"\x0b" + commands)
    assert frame.hex(" ") == printed
    framing = PololuFraming(crc)
    assert framing.message(frame) == bytes((EVERYONE if compact else 11,)) + commands
    first = framing.length(frame)
    assert [framing.length(frame[:size]) for size in range(first)] == [0] * first


def test_the_checksum_of_the_makers_example() -> None:
    assert crc7(bytes.fromhex("83 01")) == 0x17


def test_what_is_no_command_is_none() -> None:
    framing = PololuFraming(crc=True)
    good = PololuLine(crc=True).frame(b"\x0b" + target_command(3000))
    for place in range(len(good)):
        for bit in range(8):
            bad = good[:place] + bytes((good[place] ^ 1 << bit,)) + good[place + 1 :]
            assert framing.message(bad) != b"\x0b" + target_command(3000)
    assert framing.length(b"\x41\x42") == -1
    both = good + PololuLine(crc=True).frame(b"\x0c" + target_command(3000))
    assert framing.message(both) == b""  # commands for two are no message


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("a7", "55 05"),  # scaled feedback: 1365 at 0.6 m
        ("a3", "00 08"),  # target, 2048 at power-up
        ("e5 02 04", "00 08 55 05"),
        ("e5 10 02", "00 00"),
        ("ab", "00 00"),
        ("8f", "00"),
        ("b3", "01 00"),
        ("e3 28 02", "0b 00"),
        ("ea 5a 02", "0a 00"),  # settings in RAM have the offsets that they have in the EEPROM
        ("ea 1f 02", "ff 0f"),
        ("ea 68 02", "58 02"),
        ("e5 28 05", "ff ff 50 55 00"),  # no reading of SDA; the feedback's voltage, left-justified
        ("e5 17 02", "c0 5d"),
    ],
)
def test_the_twin_says_its_variables_and_settings(question: str, answer: str) -> None:
    assert controller().respond(bytes.fromhex(question)).hex(" ") == answer


def test_the_twin_says_for_how_long_it_has_had_power() -> None:
    """Not the time of the clock that it is given."""
    made = controller()
    made.tick(5000.0)
    assert made.respond(b"\xb3") == b"\1\0", "its time-out has just begun"
    for now, said in ((5000.0, 0), (5001.5, 1500)):
        made.tick(now)
        assert made.respond(bytes.fromhex("e5 20 04")) == said.to_bytes(4, "little")
    made.hung = True
    made.tick(5009.0)
    assert made.respond(bytes.fromhex("e5 20 04")) == (1500).to_bytes(4, "little")


@pytest.mark.parametrize(
    ("command", "target"), [("e1 00", 2048), ("e1 7f", 4080), ("e0 01", 2032), ("e0 7f", 16), ("e0 00", 0)]
)
def test_coarse_targets_are_distances_from_the_middle(command: str, target: int) -> None:
    """As the maker's guide has them, with no distance below the middle for a stop."""
    made = controller()
    assert made.respond(target_command(3000) + bytes.fromhex(command)) == b""
    assert made.respond(b"\xa3") == (target or 3000).to_bytes(2, "little")
    assert made.respond(b"\xb3") == bytes((target == 0, 0))


def test_errors_that_occurred_are_cleared_by_the_command_that_reads_them_alone() -> None:
    made = controller()
    made.respond(b"\xf8")
    occurred = (1 << 11).to_bytes(2, "little")
    assert [made.respond(bytes.fromhex(one)) for one in ("e5 14 02", "b5", "b5", "ec")] == [
        occurred, occurred, b"\0\0", b"\0",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("command", "question", "answer"),
    [
        ("e6 5a 02 14 00 00", "ea 5a 02", "14 00"),
        ("e6 5a 01 48 01", "ea 5a 02", "c8 00"),
        ("e6 75 02 01 02 00", "ea 75 02", "01 00"),
    ],
)
def test_settings_are_overridden_until_power_up(command: str, question: str, answer: str) -> None:
    """As the maker's library writes them, the highest bits in a byte of their own."""
    made = controller()
    frame, before = bytes.fromhex(command), made.respond(bytes.fromhex(question))
    assert [made.framing.length(frame[:size]) for size in range(len(frame) + 1)] == [0] * len(frame) + [len(frame)]
    assert made.respond(frame) == b""
    assert made.respond(bytes.fromhex(question)).hex(" ") == answer
    assert made.respond(bytes.fromhex(question.replace("ea", "e3"))) == before, "not in the EEPROM"
    made.reboot()
    assert made.respond(bytes.fromhex(question)) == before
    assert made.framing.length(bytes.fromhex("e6 5a 08")) == -1, "at most seven at once"


@pytest.mark.parametrize(("command", "mode"), [("f2 54 7d", 1), ("f4 54 7d", 2)])
@pytest.mark.parametrize("ending", [target_command(1365), bytes((STOP,))])
def test_a_forced_duty_turns_the_motor_until_it_is_given_a_target_or_stopped(
    command: str, mode: int, ending: bytes
) -> None:
    made = controller()
    leg = made.plant
    assert isinstance(leg, Leg)
    made.tick(0.0)
    made.respond(bytes.fromhex(command))
    made.tick(0.01)
    assert leg.enabled and leg.feedforward == pytest.approx(-0.15)
    assert made.respond(b"\x97") + made.respond(b"\xad") == bytes((mode, 0xD4, 0xFE)), "-300"
    made.tick(0.04)
    assert leg.feedforward == 0.0, "it stalls where the leg does not follow"
    made.respond(ending)
    assert made.respond(b"\x97") == b"\0"
    assert made.respond(bytes.fromhex("e5 12 02")) == bytes((ending[0] == STOP, 0))


@pytest.mark.parametrize("command", [bytes.fromhex("f2 58 04"), bytes.fromhex("f4 58 04"), target_command(4000)])
def test_the_motor_is_no_faster_than_the_greatest_duty_in_ram(command: bytes) -> None:
    made = controller()
    made.respond(bytes.fromhex("e6 68 02 2c 01 00"))
    made.tick(0.0)
    made.respond(command)
    made.tick(0.004)
    assert made.respond(b"\xad") == (300).to_bytes(2, "little")
    assert isinstance(made.plant, Leg) and made.plant.feedforward == pytest.approx(0.15)


def test_the_motor_is_no_faster_than_at_full_duty_whatever_is_in_ram() -> None:
    made = VirtualJrk(Leg(0.4), stroke=1.0, position_offset=0.4)
    made.tick(0.0)
    made.respond(bytes.fromhex("e6 68 02 7f 7f 03"))
    assert made.respond(bytes.fromhex("ea 68 02")) == b"\xff\xff", "what was written is read back"
    made.respond(target_command(4095))
    made.tick(0.004)
    assert isinstance(made.plant, Leg) and made.plant.feedforward == pytest.approx(0.3)
    assert made.respond(b"\xad") == (600).to_bytes(2, "little")


def test_a_forced_duty_is_to_be_repeated_within_the_time_out() -> None:
    made = controller()
    made.tick(0.0)
    made.respond(bytes.fromhex("f2 54 7d"))
    made.tick(0.06)
    assert made.respond(b"\xb3") == (1 << 12).to_bytes(2, "little")


def test_several_on_one_line_are_told_by_their_numbers() -> None:
    """By the longer form, which begins with the device's number."""
    legs = [Leg(length) for length in (0.55, 0.6)]
    options = [
        {"name": f"drive {unit}", "device": "memory", "unit": unit, "position_offset": OFFSET} for unit in (11, 12)
    ]
    line = DeviceLine([create_twin("jrk-g2", one, leg) for one, leg in zip(options, legs, strict=True)])
    buses = Buses()
    drives = [
        create_drive("jrk-g2", one | {"buses": buses, "open_wire": lambda _: MemoryWire(line.respond)})
        for one in options
    ]
    for drive, leg in zip(drives, legs, strict=True):
        drive.connect(1.0)
        drive.configure()
        assert drive.exchange(COMMAND_OFF, 0.0, 0.0).position == pytest.approx(leg.length, abs=METRE)
    drives[1].exchange(Command(Mode.POSITION, position=OFFSET + 2000 * METRE, enable=True), 0.002, 0.0)
    assert [leg.enabled for leg in legs] == [False, True]
    assert drives[1].identify().product == "Jrk G2, device number 12"


def line(crc: bool = False) -> tuple[list[Leg], DeviceLine]:
    """Three controllers with a target at half of their stroke."""
    legs = [Leg(OFFSET + counts * METRE) for counts in (0x555, 0x733, 0x3F5)]
    made = [
        create_twin("jrk-g2", {"device": "memory", "unit": unit, "crc": crc, "position_offset": OFFSET}, leg)
        for unit, leg in zip((11, 12, 13), legs, strict=True)
    ]
    return legs, DeviceLine(made)


def test_a_command_in_the_short_form_is_every_devices() -> None:
    legs, wire = line()
    assert wire.respond(target_command(3000)) == b""
    assert [leg.enabled for leg in legs] == [True] * 3
    assert wire.respond(bytes.fromhex("aa 0c 7f")) == b""
    assert [leg.enabled for leg in legs] == [True, False, True]


@pytest.mark.parametrize("crc", [False, True])
def test_replies_that_are_sent_at_once_are_joined_as_by_an_and_gate(crc: bool) -> None:
    _, wire = line(crc)
    asked = PololuLine(crc=crc, compact=True).frame(b"\x0b\xa7")
    together = 0x555 & 0x733 & 0x3F5
    assert wire.respond(asked) == together.to_bytes(2, "little")
    wire.devices[1].inject("drop_all")
    assert wire.respond(asked) == (0x555 & 0x3F5).to_bytes(2, "little")
    wire.devices[0].inject("busy")
    assert wire.respond(asked) == (0x3F5).to_bytes(2, "little")


def test_of_more_bytes_than_a_reply_has_none_is_taken() -> None:
    reply, line = b"\x01\x02\x03", PololuLine()
    assert line.scan(reply[:2], b"\x0b\xe5", 3) is None
    whole, before, after = (line.scan(data, b"\x0b\xe5", 3) for data in (reply, b"\x00" + reply, reply + b"\x00"))
    assert whole is not None and whole.reply == reply
    assert before is not None and after is not None and before.reply == after.reply == b"", "nobody knows which are it"
