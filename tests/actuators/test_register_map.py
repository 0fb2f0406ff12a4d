"""Servos whose profile is not plain: groups of registers, wrong profiles, steps to torque, signals, handovers."""

import itertools
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drive_support import Bench, ask, serving
from pymodbus.client import ModbusTcpClient
from servo_profiles import COILS, SHIPPED, SINGLE, UGLY, changed, profile

from actuators import (
    COMMAND_CLEAR,
    COMMAND_HOME,
    COMMAND_OFF,
    COMMAND_STOP,
    Command,
    ConfigurationError,
    IdentityError,
    Mode,
    ServoProfile,
    Status,
    load_profile,
)
from actuators.profile import Register, spans
from actuators.register_map import MappedCodec, Signals, flags_value
from actuators.servo_profile import PowerMap
from actuators.virtual.mapped_servo import VirtualMappedServo
from rig.testing.drivers import power


def registers(*addresses: int) -> list[Register]:
    return [Register(address=address) for address in addresses]


@pytest.mark.parametrize(
    ("gap", "ranges"),
    [
        (None, [(1, 40)]),
        (0, [(1, 3), (5, 6), (9, 10), (39, 40)]),
        (1, [(1, 3), (5, 6), (9, 10), (39, 40)]),
        (2, [(1, 6), (9, 10), (39, 40)]),
        (3, [(1, 10), (39, 40)]),
    ],
)
def test_neighbours_within_the_gap_are_one_exchange(gap: int | None, ranges: list[tuple[int, int]]) -> None:
    assert spans(registers(5, 1, 2, 9, 39), gap, 125) == ranges


def test_a_range_is_as_long_as_one_exchange_takes() -> None:
    assert spans(registers(*range(300)), 0, 125) == [(0, 125), (125, 250), (250, 300)]


def test_a_cycle_is_written_before_it_is_read_and_the_control_word_last() -> None:
    codec = MappedCodec(UGLY, 1)
    sent = codec.encode((0x1234, 8, 7, 1.0, -2, 3))
    assert [message[1] for message in sent] == [16, 16, 16, 3, 3, 3, 3, 4, 4, 1, 2]
    assert sent[2].hex(" ") == "01 10 00 64 00 06 0c 12 34 be ef 00 08 00 00 00 00 3f 80", (
        "control, reserved, mode, force"
    )
    assert (codec.reads[0].address, codec.reads[0].count) == (0x1002, 4)
    assert not codec.together


def test_one_range_each_way_is_one_message_of_function_23() -> None:
    one = profile(functions={"gap": 0}, status={"brake": {"bit": 7, "active": "low"}})
    codec = MappedCodec(one, 1)
    assert codec.together and codec.encode((0, 0, 0, 0, 0, 0))[0][1] == 23


def test_word_after_word_the_control_word_is_the_last() -> None:
    single = ServoProfile.model_validate(
        changed(
            SHIPPED["delta-asda-a2"],
            {"functions.write": 6, "command.position.type": "i16", "functions.exchange": "separate"},
        )
    )
    sent = MappedCodec(single, 1).encode((5, 0, 0, 0, -2, 0))
    assert [message[:6].hex(" ") for message in sent[:3]] == [
        "01 06 04 0f 00 00",
        "01 06 06 06 ff fe",
        "01 06 04 0e 00 05",
    ]


def test_what_is_read_is_what_a_device_packed() -> None:
    for one in (UGLY, COILS, *SHIPPED.values()):
        codec = MappedCodec(one, 1)
        told = [0, 3, 9, -12345678, 4, 5, *range(len(one.feedback.auxiliary))]
        for place in range(16 * (1 + len(one.feedback.words)) + len(codec.signals.inputs)):
            raw = (1 << place, *told[1:])
            parts = []
            for read in codec.reads:
                data = read.pack(codec.spread(raw))
                if read.block is None:
                    data = sum(bit << n for n, bit in enumerate(data)).to_bytes(read.size, "little")
                parts.append(data)
            seen = codec.decode(parts)
            if place >= 16 or one.feedback.status is not None:
                assert seen[0] == 1 << place
            assert seen[3] == -12345678


@pytest.mark.parametrize("base", [UGLY, COILS, *SHIPPED.values()], ids=lambda one: one.name)
def test_every_signal_is_distinguished_from_its_opposite(base: ServoProfile) -> None:
    signals = Signals(base)
    places = {int(Status[name.upper()]): place for name, place in signals.status.items() if name != "acknowledge"}
    for flags in [0, *places]:
        word = flags_value(flags, places)
        for flag, (mask, value) in places.items():
            other = any(one != flag and at[0] == mask for one, at in places.items())
            assert other or (word & mask == value) == bool(flags & flag)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"feedback.position.type": "i24"}, "feedback.position.type"),
        (
            {"feedback.position.scale": 1e-16},
            "feedback.position.scale\n  Value error, must be at least 1e-15 in magnitude, not 1e-16",
        ),
        ({"feedback.position.address": 65534}, "an i64 at address 65534 ends beyond register 65535"),
        (
            {"feedback.error.address": 0x3000},
            "feedback.status and feedback.error: the registers at 12288 and 12288 overlap",
        ),
        ({"functions.gap": 126}, "functions.gap"),
        ({"functions.write": 6}, "functions.write: function 6 writes 16-bit registers, [command] has a f32"),
        ({"command.constants": [{"address": 101, "value": 70000}]}, "value = 70000 is not a value of a u16: 0..65535"),
        ({"command.constants": [{"address": 101, "value": 1.5}]}, "value = 1.5 is not a value of a u16"),
        (
            {"command.constants": [{"address": 102, "value": 1}]},
            "command.mode and command.constants[1]: the registers at 102 and 102 overlap",
        ),
        ({"command.position.table": "input"}, "position: register 200: table is of feedback"),
        ({"command.control": None}, "command.control: missing, but there are bits of it"),
        (
            {"command.handover": {"toggle": 9, "rising": 8}},
            "has toggle and rising: give one of toggle, rising, trigger",
        ),
        (
            {"command.handover": {"toggle": 3}},
            "power: bits 0x0008 of the control word are those of command.handover, too",
        ),
        ({"command.handover": {"toggle": 9, "acknowledge": 10}}, "acknowledge: answers rising, which is not given"),
        ({"power": None}, "control, power: neither is given, give one of these tables"),
        ({"power.reset": None}, "reset: missing, without a standard"),
        ({"power.standard": "cia402"}, "standard = 'cia402' has states and words"),
        ({"power.states.odd": {"mask": 8, "value": 8}}, "states.reaction and states.odd match the same status word"),
        ({"power.states.odd": {"mask": 8, "value": 16}}, "states.odd: value 0x0010 has bits outside of mask 0x0008"),
        ({"power.enable": [{"word": 6, "state": "gone"}]}, "enable[1]: no state 'gone' in states: idle, ready, on"),
        ({"power.enable": [{"word": 6, "state": "on"}]}, "the last step ends in on, which has no torque"),
        ({"power.enable": [{"word": 6, "state": "on", "timeout": 0}]}, "power.enable.0.timeout"),
        ({"status.enabled": 2}, "status.enabled: is given by the flags of power.states; remove it here"),
        ({"status.homed": {"bit": 3, "coil": 4}}, "has bit and coil: give one of bit, mask, coil, discrete"),
        ({"status.homed": {"mask": 3}}, "mask and value go together"),
        ({"status.homed": {"mask": 3, "value": 4}}, "value 0x0004 has bits outside of mask 0x0003"),
        ({"status.homed": {"coil": 3, "word": "io"}}, "word: a coil is in none"),
        ({"status.homed": {"bit": 3, "word": "oi"}}, "status.homed: no word 'oi' in feedback.words: io"),
        (
            {"status.homed": {"bit": 8, "word": "io"}},
            "status.homing: bits 0x0100 of its word are those of status.homed, too",
        ),
        ({"status.homed": 5}, "status.homed: bits 0x0020 of its word are those of power.states."),
        ({"status.homed": 16}, "status.homed.bit"),
        ({"feedback.status": None}, "feedback.status: missing, but [power] has states of it"),
        ({"modes.position": -40000}, "modes.position.value"),
        ({"modes.position": 0x9000}, "modes.position: value 36864 is not one of an i16: -32768..32767"),
        (
            {"modes.homing": {"value": 6, "control": 8}},
            "modes.homing: bits 0x0008 of the control word are those of power, too",
        ),
        ({"modes.off": None}, "modes.off: missing"),
        ({"command.mode": None}, "modes.force: value -3 of a mode register, which [command] lacks"),
        ({"parameters.startup.ramp.address": 400}, "watchdog and startup.ramp: the registers at 400 and 400 overlap"),
        ({"parameters.startup.ramp.type": "u16"}, "value = 2.5 is not a value of a u16"),
        (
            {"parameters.startup.ramp.address": 103},
            "parameters.startup.ramp: register 103 is written every cycle, by command.constants[2]",
        ),
        ({"parameters.watchdog.scale": -1e-3}, "watchdog: scale -0.001 of a time cannot be negative"),
        ({"identity.product.expect": 0x4201}, "expect 0x4201 has bits outside of mask 0xFF00"),
        ({"identity.product.mask": 0x10000}, "mask = 65536 is not a value of a u16"),
        ({"stop_keeps_torque": True}, "stop_keeps_torque: [power] is given; it is of a drive with [control]"),
        ({"simulator.ready": 3}, "simulator.ready: bits 0x0008 of its word are those of power.states.idle, too"),
        ({"identity.serial": "4711"}, "serial: must be read, it cannot be the same for all devices"),
        ({"identity.serial.type": "i32"}, "must be a u16, u32 or u64 without scale and invalid"),
    ],
)
def test_a_wrong_profile_is_named(changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValueError) as caught:
        ServoProfile.model_validate(changed(UGLY, changes))
    assert fault in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        (
            {"simulator.ready": 5},
            "simulator.startable: bits 0x0020 of its word are those of simulator.ready, too",
        ),
        (
            {"feedback.auxiliary": {}},
            "simulator.rated_force: of a register torque or load, which [feedback.auxiliary] lacks",
        ),
    ],
)
def test_what_a_simulator_cannot_show_is_named(changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValueError) as caught:
        ServoProfile.model_validate(changed(SHIPPED["oriental-az"], changes))
    assert fault in str(caught.value)


def test_a_simulators_bits_are_not_of_a_plain_drive() -> None:
    with pytest.raises(
        ValueError, match=r"simulator.ready: is not of a plain profile: give functions.gap, which is missing"
    ):
        profile(simulator={"ready": 14})


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"control.enable": {"discrete": 3}}, "enable: is written: a bit of the control word, or a coil"),
        ({"control.enable": {"coil": 7}}, "control: enable and clear have the same value"),
        ({"status.fault": None}, "status.fault: missing"),
        ({"status.homed": 3}, "status.homed: a bit of feedback.status, which is missing"),
    ],
)
def test_wrong_coils_are_named(changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValueError) as caught:
        ServoProfile.model_validate(changed(COILS, changes))
    assert fault in str(caught.value)


def words(bench: Bench) -> list[int]:
    """Control words of a Lexium that were sent, in order: the second register of those that are written."""
    head = (6914).to_bytes(2, "big")
    return [int.from_bytes(frame[15:17], "big") for frame in bench.sent if frame[7] == 16 and frame[8:10] == head]


def powered(bench: Bench, command: Command) -> None:
    bench.drive.configure()
    bench.do(COMMAND_OFF)
    for _ in range(bench.takes):
        bench.do(COMMAND_HOME)
    bench.leg.settle()
    bench.do(COMMAND_HOME)
    for _ in range(bench.takes + 1):
        feedback = bench.do(command)
    assert feedback.status & Status.ENABLED


def test_torque_comes_by_one_step_an_exchange() -> None:
    bench = Bench(SHIPPED["lexium-32"])
    bench.do(COMMAND_OFF)
    states = [bench.do(COMMAND_HOME).status & (Status.ENABLED | Status.HOMING) for _ in range(5)]
    assert [bool(one & Status.ENABLED) for one in states] == [False, False, True, True, True]
    assert words(bench) == [0x00, 0x06, 0x07, 0x0F, 0x1F, 0x1F], "the start of homing has an edge of its own"


def test_a_set_point_is_handed_over_by_an_edge_that_is_acknowledged() -> None:
    bench = Bench(ServoProfile.model_validate(changed(SHIPPED["lexium-32"], {"ramp": None})))
    powered(bench, Command(Mode.POSITION, position=0.65, enable=True))
    bench.sent.clear()
    reached = []
    for turn in range(4):
        bench.do(Command(Mode.POSITION, position=0.6 + 0.01 * turn, enable=True))
        reached.append(round(bench.leg.position, 4))
    told = words(bench)
    assert sorted(set(told)) == [0x2F, 0x3F]
    assert all(one != other for one, other in itertools.pairwise(told))
    assert reached[1:] == [0.61, 0.61, 0.63] or reached[1:] == [0.6, 0.62, 0.62]


def test_a_drive_that_does_not_acknowledge_is_given_no_next_set_point() -> None:
    bench = Bench(SHIPPED["lexium-32"])
    powered(bench, Command(Mode.POSITION, position=0.65, enable=True))
    if words(bench)[-1] != 0x2F:
        bench.do(Command(Mode.POSITION, position=0.65, enable=True))
    assert words(bench)[-1] == 0x2F
    servo = bench.servo
    assert isinstance(servo, VirtualMappedServo)
    places, servo._places = servo._places, {flag: at for flag, at in servo._places.items() if flag <= Status.STANDSTILL}
    bench.sent.clear()
    for _ in range(4):
        bench.do(Command(Mode.POSITION, position=0.61, enable=True))
    assert words(bench) == [0x3F] * 4
    servo._places = places
    for _ in range(3):
        bench.do(Command(Mode.POSITION, position=0.62, enable=True))
    assert words(bench)[4:] == [0x3F, 0x2F, 0x3F]


def test_a_trigger_is_idle_but_where_a_set_point_is_followed() -> None:
    bench = Bench(SHIPPED["oriental-az"])

    def trigger() -> int:
        frame = next(frame for frame in reversed(bench.sent) if frame[8:10] == b"\0\x58" and frame[7] == 16)
        return int.from_bytes(frame[-4:], "big")

    bench.do(COMMAND_OFF)
    seen = []
    for _ in range(4):
        bench.do(COMMAND_HOME)
        seen.append(trigger())
    bench.leg.settle()
    bench.do(COMMAND_HOME)
    for _ in range(2):
        bench.do(Command(Mode.POSITION, position=0.63, enable=True))
        seen.append(trigger())
    bench.do(COMMAND_STOP)
    seen.append(trigger())
    assert seen == [0, 0, 0, 0, 0, 1, 0]


def test_a_drive_that_keeps_its_torque_is_switched_off_when_it_has_stopped() -> None:
    bench = Bench(SHIPPED["oriental-az"])
    powered(bench, Command(Mode.POSITION, position=0.63, enable=True))
    bench.leg.velocity = 0.2
    assert all(bench.do(COMMAND_STOP).status & Status.ENABLED for _ in range(3))
    bench.leg.settle()
    bench.do(COMMAND_STOP)
    servo = bench.servo
    assert isinstance(servo, VirtualMappedServo) and bench.leg.enabled
    assert not bench.do(COMMAND_STOP).status & Status.ENABLED
    assert not bench.do(Command(Mode.POSITION, position=0.63, enable=True)).status & Status.ENABLED
    bench.do(COMMAND_OFF)
    assert bench.do(Command(Mode.POSITION, position=0.63, enable=True)).status & Status.ENABLED


APART = ServoProfile.model_validate(
    changed(
        SHIPPED["delta-asda-a2"],
        {
            "command.handover": None,
            "command.mode": {"address": 0x500},
            "command.constants": [{"address": 0x40F, "value": 0}, {"address": 0x501, "value": 0}],
            "modes": {"off": 0, "position": {"value": 1}, "homing": {"value": 6, "control": 0x10}},
        },
    )
)
"""One that takes set-points as they are written, and has its mode in a range of its own."""


@pytest.mark.parametrize("command", [COMMAND_STOP, COMMAND_OFF], ids=["quick stop", "off"])
@pytest.mark.parametrize("kind", [SHIPPED["lexium-32"], APART, SINGLE], ids=["lexium-32", "apart", "single"])
def test_a_stop_is_the_first_that_a_moving_drive_hears(
    kind: ServoProfile, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(kind)
    bench.takes = max(bench.takes, 4)
    moving, leg, mode = power(bench)._replace(mode=Mode.POSITION), bench.leg, kind.command.mode
    assert mode is not None and kind.modes.off is not None
    moving = moving._replace(position=leg.length + 0.03)
    for _ in range(50):
        bench.do(moving)
    reached, take, heard = leg.position, leg.command, list[Any]()

    def command_of_the_leg(*given: Any) -> None:
        heard.append(given)
        take(*given)

    monkeypatch.setattr(leg, "command", command_of_the_leg)
    leg.velocity = 0.2
    bench.do(command)
    leg.settle()
    (stop, *_), before = heard[-1:], heard[:-1]
    assert all(one[0] is Mode.POSITION and one[2] == pytest.approx(reached, abs=1e-3) for one in before)
    assert (stop[0], stop[4], stop[5]) == (Mode.OFF, command.quick_stop, command.quick_stop)
    for _ in range(3):
        assert bench.do(command).fresh
    assert not leg.enabled
    words = bytes.fromhex(ask(bench.servo, f"03 {mode.address & ~1:04x} 0002"))[2:]
    start = 2 * (mode.address & 1)
    assert int.from_bytes(words[start : start + 2], "big") == kind.modes.off.value


def test_a_mode_is_left_as_soon_as_there_is_no_torque() -> None:
    bench = Bench(SHIPPED["lexium-32"])
    bench.do(power(bench))
    bench.sent.clear()
    bench.leg.velocity = 0.2
    for _ in range(3):
        bench.do(COMMAND_STOP)
    bench.leg.settle()
    for _ in range(3):
        bench.do(COMMAND_STOP)
    modes = [frame[-1] for frame in bench.sent if frame[7:10] == b"\x10\x1b\x06"]
    assert modes == [1, 1, 1, 1, 0, 0]


def test_a_step_without_its_state_is_a_fault_with_words() -> None:
    bench = Bench(UGLY, watchdog=1.0)
    bench.drive.configure()
    bench.do(COMMAND_OFF)
    bench.faults.inject("safe_torque_off")
    for _ in range(260):
        feedback = bench.do(COMMAND_HOME)
    assert feedback.status & Status.FAULT and not feedback.status & Status.READY
    assert feedback.error == 0x1_0003
    assert bench.drive.error_text(feedback.error) == (
        "step 3 of its enabling, word 0x000F, did not lead to state running within 0.5 s: the status word is 0x0040"
    )
    bench.faults.clear("safe_torque_off")
    for _ in range(5):
        assert not bench.do(COMMAND_HOME).status & Status.ENABLED
    bench.do(COMMAND_OFF)
    assert bench.do(COMMAND_HOME).status & Status.FAULT, "it is latched until it is cleared"
    bench.do(COMMAND_OFF)
    assert bench.do(COMMAND_CLEAR).status & Status.READY
    bench.do(COMMAND_OFF)
    assert [bool(bench.do(COMMAND_HOME).status & Status.ENABLED) for _ in range(3)] == [False, False, True]


def test_torque_that_was_lost_comes_back_only_when_it_is_asked_for_anew() -> None:
    bench = Bench(UGLY, watchdog=1.0)
    command = Command(Mode.FORCE, 10.0, enable=True)
    powered(bench, command)
    bench.faults.inject("safe_torque_off")
    bench.do(command)
    bench.faults.clear("safe_torque_off")
    assert not any(bench.do(command).status & Status.ENABLED for _ in range(6))
    bench.do(COMMAND_OFF)
    assert any(bench.do(command).status & Status.ENABLED for _ in range(4))


def test_a_new_connection_begins_without_torque() -> None:
    bench = Bench(UGLY, watchdog=1.0)
    command = Command(Mode.FORCE, 10.0, enable=True)
    powered(bench, command)
    bench.drive.connect(1.0)
    assert not any(bench.do(command).status & Status.ENABLED for _ in range(5))


@pytest.mark.parametrize("homed", [True, False])
def test_a_drive_without_a_signal_of_homing_reports_its_search(homed: bool) -> None:
    bench = Bench(SHIPPED["lexium-32"])
    bench.do(COMMAND_OFF)
    servo = bench.servo
    servo._homed = homed
    seen = [bench.do(COMMAND_HOME).status for _ in range(4)]
    assert seen[2] & Status.HOMING and seen[3] & Status.HOMING, "an old reference does not count"
    bench.leg.settle()
    assert bench.do(COMMAND_HOME).status & (Status.HOMING | Status.HOMED) == Status.HOMED


def test_a_direction_that_counts_down_is_one_of_the_leg() -> None:
    bench = Bench(UGLY, watchdog=1.0)
    powered(bench, Command(Mode.FORCE, 10.0, enable=True))
    bench.leg.length, bench.leg.cell = 0.7, -12.5
    feedback = bench.do(Command(Mode.FORCE, 10.0, enable=True))
    assert (feedback.position, feedback.force) == (pytest.approx(0.7), pytest.approx(-12.5))
    raw = bench.servo._feedback()
    assert raw[3] == -700_000_000 and raw[5] == 12_500
    assert bench.drive.capabilities.resolution == 1e-9


def test_parameters_are_written_read_back_and_verified() -> None:
    bench = Bench(UGLY)
    bench.drive.configure()
    assert bench.drive.verify(1.0).serial == "1"
    servo = bench.servo
    assert isinstance(servo, VirtualMappedServo)
    assert [servo._words[address] for address in (500, 502, 503)] == [2, 0, 0x4020]
    servo._words[500] = 6
    with pytest.raises(
        ConfigurationError,
        match=r"does not have parameter quick_stop_option: register 500 reads back 6, 2 was written",
    ):
        bench.drive.verify(1.0)
    servo._words[500], servo._words[510] = 2, 0
    with pytest.raises(
        ConfigurationError, match=r"parameter firmware_mode: register 510 reads back .* is needed: set it"
    ):
        bench.drive.configure()


HALVES = {
    "parameters.startup.acceleration": {"address": 1557, "value": 24000},
    "parameters.watchdog": {"address": 1601, "scale": 1e-3},
    "ramp.acceleration": 2.0,
    "identity": {"vendor": "Somebody", "product": {"address": 801, "expect": 7}, "serial": {"address": 803}},
}
"""Words in the second one of two registers."""


def test_parameters_and_identity_go_by_whole_pairs() -> None:
    bench = Bench(ServoProfile.model_validate(changed(SHIPPED["lexium-32"], HALVES)), serial="1", watchdog=0.05)
    bench.sent.clear()
    bench.drive.configure()
    assert bench.drive.identify().product == bench.drive.verify(1.0).product == "7"
    sent = [frame[7:].hex() for frame in bench.sent]
    assert "100614000204" + "00005dc0" in sent and "100640000204" + "00000032" in sent
    assert all(not (frame[9] | frame[11]) & 1 for frame in bench.sent)
    servo = bench.servo
    assert isinstance(servo, VirtualMappedServo)
    servo._words[1557] = 5
    with pytest.raises(ConfigurationError, match="acceleration: register 1557 reads back 5, 24000 was written"):
        bench.drive.verify(1.0)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"functions.write": 6}, "functions.pairs: function 6 writes no whole pair"),
        ({"functions.pairs": "half"}, "functions.pairs"),
        (
            {"command.constants": [{"address": 6942, "type": "u32", "value": 3000}, {"address": 6914, "value": 0}]},
            "functions.pairs: [command] has a half of a pair among registers 6919..6919; write the other",
        ),
        (
            {"parameters.startup.acceleration.address": 1555, "ramp.acceleration": 1.0},
            "parameters.startup.acceleration: a u32 at address 1555, with functions.pairs it must be even",
        ),
        (
            {
                "parameters.startup.other": {"address": 6920, "value": 0},
                "command.force": {"address": 6921, "type": "i16"},
            },
            "parameters.startup.other: register 6921 is written every cycle, by command.force",
        ),
    ],
)
def test_halves_of_pairs_are_named(changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValueError) as caught:
        ServoProfile.model_validate(changed(SHIPPED["lexium-32"], changes))
    assert fault in str(caught.value)


def test_parameters_that_are_neighbours_are_read_together() -> None:
    assert SHIPPED["delta-asda-a2"].startup_ranges == [(0x22, 4), (0x102, 2), (0x23C, 2), (0x30C, 2)]
    assert UGLY.startup_ranges == [(500, 4), (510, 2)]  # across the gap that `functions` tolerates
    one, two = {"address": 500, "value": 1}, {"address": 502, "value": 2}
    assert profile(parameters={"startup": {"one": one, "two": two}}).startup_ranges == [(500, 1), (502, 1)]
    paired = changed(SHIPPED["oriental-az"], {"parameters.startup": {"one": one, "two": two}})
    assert ServoProfile.model_validate(paired).startup_ranges == [(500, 4)]


def test_another_model_is_refused_by_register_and_number() -> None:
    bench = Bench(UGLY, serial="815")
    assert bench.drive.identify().described == "Nobody & Sons 4200, serial 815, firmware 1.0"
    servo = bench.servo
    place = next(n for n, (address, _, _) in enumerate(servo._readable) if address == 600)
    servo._readable[place] = (600, 1, lambda: b"\x43\x07")
    with pytest.raises(
        IdentityError, match=r"is not what profile ugly describes: product, register 600, is 0x4300, expected 0x4200"
    ):
        bench.drive.identify()
    other = Bench(UGLY, serial="815")
    other.drive._options = other.drive._options.model_copy(update={"serial": "816"})  # type: ignore[attr-defined]
    with pytest.raises(IdentityError, match="has serial number '815', expected '816'"):
        other.drive.identify()
    with pytest.raises(ConfigurationError, match=r"has no register identity\.serial"):
        Bench(SHIPPED["delta-asda-a2"], serial="815")


def test_coils_say_what_bits_say() -> None:
    bench = Bench(COILS)
    bench.do(COMMAND_OFF)
    assert [frame[7] for frame in bench.sent] == [16, 5, 5, 5, 3, 4, 2, 2, 2]
    coils = {int.from_bytes(frame[8:10], "big"): frame[10] for frame in bench.sent if frame[7] == 5}
    assert coils == {0: 0, 1: 0xFF, 7: 0}, "the quick stop is active low"
    bench.sent.clear()
    bench.do(Command(Mode.OFF, enable=True, quick_stop=True))
    coils = {int.from_bytes(frame[8:10], "big"): frame[10] for frame in bench.sent if frame[7] == 5}
    assert coils == {0: 0xFF, 1: 0, 7: 0}


def test_a_mode_register_may_be_unknown_at_power_up_until_it_is_written() -> None:
    bench = Bench(ServoProfile.model_validate(changed(UGLY, {"modes.off": 400})))
    assert bench.do(COMMAND_OFF).fresh


def test_one_lost_reply_of_several_is_one_late_exchange() -> None:
    bench = Bench(UGLY)
    bench.do(COMMAND_OFF)
    bench.faults.inject("drop_write", 1.0)
    before = bench.drive.counters.received
    assert not bench.do(COMMAND_OFF).fresh
    assert (bench.drive.counters.late, bench.drive.counters.received) == (1, before)
    assert bench.do(COMMAND_OFF).fresh


def test_somebody_elses_client_finds_the_drive_that_the_profile_describes() -> None:
    """The sequence in order, a step too early without effect, and what is refused with which exception."""
    bench = Bench(UGLY)
    twin = VirtualMappedServo(UGLY, bench.leg)
    with serving([twin]) as [(host, port)], ModbusTcpClient(host, port=port, timeout=5.0, retries=0) as client:

        def state() -> int:
            return int(client.read_holding_registers(0x3000, count=1).registers[0]) & 0x6F

        assert state() == 0x40
        client.write_register(100, 0x0F)
        client.write_register(100, 0x07)
        assert state() == 0x40
        for word, expected in ((0x06, 0x21), (0x0F, 0x21), (0x07, 0x23), (0x0F, 0x27)):
            client.write_register(100, word)
            assert state() == expected
        assert client.write_register(500, 2).exception_code == 4, "a started drive takes no parameter"
        assert client.write_registers(400, [200, 0]).exception_code == 4
        client.write_register(100, 0x07)
        assert state() == 0x23
        client.write_register(100, 0x00)
        assert not client.write_register(500, 2).isError()
        assert client.read_holding_registers(500, count=1).registers == [2]
        assert client.read_holding_registers(0x2FFF, count=1).exception_code == 2
        assert client.read_holding_registers(0x3000, count=3).registers[1] == 0, "the gap that the profile goes across"
        assert client.read_holding_registers(7, count=1).exception_code == 2, "an input register is none of the others"
        assert client.read_input_registers(7, count=1).registers == [0]
        assert client.read_input_registers(100, count=1).exception_code == 2
        assert client.write_register(0x3000, 1).exception_code == 2
        assert client.write_registers(104, [0, 0, 0]).exception_code == 2, "a register without a name behind them"
        assert client.write_register(102, 77).exception_code == 3, "no such mode"
        assert client.read_coils(40, count=1).bits[0] is True
        assert client.read_discrete_inputs(12, count=3).bits[:3] == [True, False, True]
        assert client.read_discrete_inputs(11, count=1).exception_code == 2
        assert client.write_coil(40, True).exception_code == 1
        assert (
            client.readwrite_registers(read_address=0x3000, read_count=1, write_address=100, values=[0]).exception_code
            == 1
        )


def test_somebody_elses_client_switches_coils() -> None:
    twin = VirtualMappedServo(COILS, Bench(COILS).leg)
    with serving([twin]) as [(host, port)], ModbusTcpClient(host, port=port, timeout=5.0, retries=0) as client:
        assert client.read_coils(0, count=2).bits[:2] == [False, False]
        client.write_coil(1, True)
        client.write_coil(0, False)
        client.write_register(52, 2)
        client.write_coil(0, True)
        assert client.read_discrete_inputs(3, count=2).bits[:2] == [True, False]
        assert client.read_discrete_inputs(200, count=1).bits[0] is True
        assert client.write_coil(3, True).exception_code == 2
        assert client.write_coils(0, [True, True]).exception_code == 1, "one after the other"
        client.write_coil(0, False)
        assert client.read_discrete_inputs(3, count=1).bits[0] is False


def test_the_guides_own_sequence_is_a_table() -> None:
    page = (Path(__file__).parents[2] / "docs/your-own-rig.md").read_text(encoding="utf-8")
    (block,) = (one for one in re.findall(r"```toml\n(.*?)```", page, re.DOTALL) if one.startswith("[power]"))
    power = PowerMap.model_validate(tomllib.loads(block)["power"])
    assert [step.word.value for step in power.table.steps] == [1, 3]


@pytest.mark.parametrize(
    ("base", "changes", "fault"),
    [
        ("lexium-32", {"ramp.speed.address": 6943}, "ramp.speed: register 6943 is no constant or start-up parameter"),
        ("lexium-32", {"ramp.acceleration.address": 1557}, "ramp.acceleration: register 1557 is no constant or"),
        ("delta-asda-a2", {"ramp.speed": 0.0}, "must be at least 1e-06 m/s, not 0.0 m/s"),
        (
            "oriental-az",
            {"ramp.speed": {"address": 0x5E, "scale": 1e308}},
            "register 94 gives inf m/s, must be",
        ),
        ("oriental-az", {"ramp.speed.scale": 0.1}, "ramp.speed: register 94 gives 2000 m/s, must be 1e-06 to 100 m/s"),
        ("oriental-az", {"ramp.acceleration": 1e-300}, "must be at least 0.0001 m/s², not 1e-300 m/s²"),
        ("oriental-az", {"ramp.acceleration": 1e5}, "must be at most 10000 m/s², not 100000.0 m/s²"),
        ("generic-servo", {"ramp": {"speed": 0.1, "acceleration": 1.0}}, "ramp: is not of a plain profile"),
        (
            "generic-servo",
            {"ramp": {"speed": 0.1, "acceleration": 1.0}, "functions.gap": 0},
            "ramp: command.velocity is given; a drive with a ramp of its own takes no speed",
        ),
        (
            "delta-asda-a2",
            {"command.position": None, "command.handover": None, "modes.position": None},
            "ramp: needs command.position, which is missing",
        ),
    ],
)
def test_a_wrong_ramp_is_named(base: str, changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValueError) as caught:
        ServoProfile.model_validate(changed(load_profile(base, ServoProfile), changes))
    assert fault in str(caught.value)


def test_a_drive_moves_by_its_own_ramp_at_the_speed_that_is_set() -> None:
    constants = [
        one.model_copy(update={"value": 60 if one.address == 6942 else one.value})  # 60 1/min: 5 mm/s
        for one in load_profile("lexium-32", ServoProfile).command.constants
    ]
    shipped = load_profile("lexium-32", ServoProfile)
    slow = ServoProfile.model_validate(changed(shipped, {"command.constants": [one.model_dump() for one in constants]}))
    bench = Bench(slow)
    assert bench.drive.capabilities.speed_limit == pytest.approx(5e-3)
    command = power(bench)
    start, seen = bench.leg.position, []
    for _ in range(600):
        bench.do(command._replace(position=start - 2e-3))
        seen.append(bench.leg.position)
    speeds = np.diff(seen) / 2e-3
    assert -5.1e-3 < speeds.min() < -4.9e-3 and speeds.max() < 1e-9
    assert seen[-1] == pytest.approx(start - 2e-3, abs=1e-6)
    assert abs(np.diff(speeds)).max() / 2e-3 < 1.1 * shipped.ramp_limits[1]
