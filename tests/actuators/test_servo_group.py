"""Six servos exchanged with as one: the same bytes, feedback and counts as with each by itself, whatever fails."""

import random
from collections.abc import Sequence

import numpy as np
import pytest
from exploration import either, seeds
from servo_profiles import BARE, PROFILE, SEPARATE, SWAPPED
from servo_profiles import profile as changed

from actuators import (
    COMMAND_HOME,
    COMMAND_OFF,
    COMMAND_STOP,
    Buses,
    Command,
    CommandError,
    CycleExchange,
    Drive,
    MemoryWire,
    Mode,
    ServoProfile,
    create_drive,
    create_twin,
    cycle_exchange,
)
from actuators.bus import HalfDuplexBus
from actuators.servo_group import ServoGroup
from actuators.virtual.drive import SENSOR_FAULTS, WIRE_FAULTS
from rig.testing import BenchLeg as Leg

CYCLES = either(600, 100_000)
PERIOD = 2e-3
FAULTS = (*WIRE_FAULTS, *SENSOR_FAULTS, "reboot", "safe_torque_off", "temperature")


class Six:
    """Six servos over memory to their twins, with what passes over their wires."""

    def __init__(self, profile: ServoProfile, *, grouped: bool) -> None:
        self.legs = [Leg(0.6 + 0.01 * leg) for leg in range(6)]
        options = [
            {
                "name": f"drive {leg + 1}",
                "host": "memory",
                "profile": profile,
                "position_offset": 0.1 * leg,
                "echo_lag": 2,
            }
            for leg in range(6)
        ]
        self.twins = [create_twin("servo", each, leg) for each, leg in zip(options, self.legs, strict=True)]
        for twin in self.twins:
            twin.peers = self.twins
        self.damage: tuple[int, int, int] | None = None
        """leg, byte of its reply, and bits of that to invert"""
        self.traffic: list[list[bytes]] = [[] for _ in range(6)]
        self.drives: list[Drive] = []
        for leg, each in enumerate(options):
            opened = {
                "open_wire": lambda _timeout, leg=leg: MemoryWire(lambda data: self.respond(leg, data), self.due(leg))
            }
            drive = create_drive("servo", each | opened)
            drive.connect(1.0)
            drive.configure()
            self.drives.append(drive)
        self.exchange = cycle_exchange(self.drives) if grouped else CycleExchange(self.drives)
        self.now = 0.0

    def due(self, leg: int):
        return self.twins[leg].due

    def respond(self, leg: int, data: bytes) -> bytes:
        self.traffic[leg].append(data)
        reply = self.twins[leg].respond(data)
        if self.damage is not None and self.damage[0] == leg and len(reply) > self.damage[1]:
            _, place, bits = self.damage
            reply = reply[:place] + bytes((reply[place] ^ bits,)) + reply[place + 1 :]
        return reply

    def cycle(self, commands: Sequence[Command], period: float = PERIOD) -> None:
        self.now += period
        for twin in self.twins:
            twin.tick(self.now)
        self.exchange.exchange(commands, self.now, 0.0)

    def known(self) -> list[object]:
        """All that can be asked of the drives."""
        found: list[object] = []
        for leg, drive in enumerate(self.drives):
            self.exchange.sync(leg)
            found += [drive.counters, drive.overdue, drive.silence, drive.auxiliary, drive.sequence, drive.connected]
        return found


def commands_of(draw: random.Random) -> list[Command]:
    kind = draw.choice(("off", "home", "stop", "move", "move", "move"))
    if kind != "move":
        return [{"off": COMMAND_OFF, "home": COMMAND_HOME, "stop": COMMAND_STOP}[kind]] * 6
    return [
        Command(
            draw.choice((Mode.FORCE, Mode.POSITION)), draw.uniform(-900.0, 900.0), draw.uniform(0.2, 0.9),
            draw.uniform(-0.5, 0.5), draw.random() < 0.9, draw.random() < 0.05, draw.random() < 0.1,
        )
        for _ in range(6)
    ]  # fmt: skip


@pytest.mark.parametrize("seed", seeds(2))
@pytest.mark.parametrize("profile", [PROFILE, SWAPPED], ids=["plain", "swapped"])
def test_a_group_says_and_understands_what_each_drive_by_itself_does(profile: ServoProfile, seed: int) -> None:
    draw = random.Random(seed)
    alone, together = Six(profile, grouped=False), Six(profile, grouped=True)
    assert isinstance(together.exchange, ServoGroup)
    commands, plain = [COMMAND_OFF] * 6, 0
    for cycle in range(CYCLES):
        if draw.random() < 0.1:
            commands = commands_of(draw)
        failing, fault = draw.randrange(6), draw.choice(FAULTS)
        begins, clears, watches = draw.random() < 0.05, draw.random() < 0.1, draw.random() < 0.05
        damage = (draw.randrange(6), draw.randrange(16), draw.randrange(1, 256)) if draw.random() < 0.2 else None
        lengths, cells = [draw.uniform(0.2, 0.9) for _ in range(6)], [draw.gauss(0.0, 200.0) for _ in range(6)]
        for rig in (alone, together):
            if clears:
                for twin in rig.twins:
                    twin.clear_all()
            if begins:
                rig.twins[failing].inject(fault)
            for port, length, cell in zip(rig.legs, lengths, cells, strict=True):
                port.length, port.velocity, port.cell = length, length - 0.5, cell
            for leg, drive in enumerate(rig.drives):
                if not drive.connected:
                    rig.exchange.interrupt(leg)
                    drive.connect(1.0)
            if watches:
                rig.exchange.interrupt(failing)
                rig.drives[failing].request_watchdog()
            rig.damage = damage
            rig.cycle(commands)
        assert together.traffic == alone.traffic, cycle
        np.testing.assert_array_equal(together.exchange.values, alone.exchange.values, str(cycle))
        assert (together.exchange.status, together.exchange.error) == (alone.exchange.status, alone.exchange.error)
        plain += together.exchange._plain == 0b111111
        if draw.random() < 0.2:
            assert together.known() == alone.known(), cycle
        for rig in (alone, together):
            for sent in rig.traffic:
                sent.clear()
    assert plain > CYCLES // 10 and sum(drive.counters.mismatched for drive in alone.drives) > 0


def test_drives_with_load_cells_on_a_line_remain_a_group() -> None:
    six, line = Six(PROFILE, grouped=True), HalfDuplexBus(lambda _timeout: MemoryWire(bytes), 0.0, 0.01)
    for _ in range(3):
        six.now += PERIOD
        six.exchange.exchange([COMMAND_OFF] * 6, six.now, 0.0, [line])
    assert isinstance(six.exchange, ServoGroup) and six.exchange._plain == 0b111111 and six.exchange.fresh.all()


def test_a_drive_that_was_asked_for_its_watchdog_remains_one_of_the_group(monkeypatch: pytest.MonkeyPatch) -> None:
    six = Six(PROFILE, grouped=True)
    for _ in range(3):
        six.cycle([COMMAND_OFF] * 6)
    monkeypatch.setattr(six.drives[2], "start", lambda *_arguments: pytest.fail("an exchange by itself"))
    for _ in range(3):
        six.exchange.interrupt(2)
        six.drives[2].request_watchdog()
        six.cycle([COMMAND_OFF] * 6)
        assert six.exchange.fresh.all() and not six.exchange.lag.any()
    for leg in (2, 3):
        six.exchange.sync(leg)
    assert six.drives[2].counters == six.drives[3].counters


def test_what_no_register_takes_is_refused_before_anything_is_sent() -> None:
    six = Six(PROFILE, grouped=True)
    for _ in range(3):
        six.cycle([COMMAND_OFF] * 6)
    for wrong in (
        Command(Mode.FORCE, np.nan),
        Command(Mode.POSITION, position=1e6),
        Command(Mode.FORCE, velocity=-1e9),
    ):
        for sent in six.traffic:
            sent.clear()
        with pytest.raises(CommandError, match="drive 4: "):
            six.cycle([COMMAND_OFF] * 3 + [wrong] + [COMMAND_OFF] * 2)
        assert not any(six.traffic)
    six.cycle([COMMAND_OFF] * 6)
    assert six.exchange.fresh.all()


def test_positions_of_sixteen_bits_count_from_the_offset_as_those_of_each_drive() -> None:
    position, velocity = {"address": 105, "type": "i16", "scale": 2e-6}, {"address": 106, "type": "i32", "scale": 1e-6}
    narrow = changed(command={"position": position, "velocity": velocity})
    six, single = Six(narrow, grouped=True), Six(narrow, grouped=False)
    for pair in (six, single):
        for _ in range(3):
            pair.cycle([COMMAND_OFF] * 6)
            pair.cycle([Command(Mode.POSITION, position=0.1 * leg - 0.06) for leg in range(6)])
            pair.cycle([Command(Mode.FORCE, 1.0)] * 6)
        with pytest.raises(CommandError, match=r"drive 3: commanded position 0\.1 m exceeds 0\.2 ± 0\.065534 m"):
            pair.cycle([Command(Mode.POSITION, position=0.1 * min(leg, 1)) for leg in range(6)])
    assert isinstance(six.exchange, ServoGroup) and six.traffic == single.traffic


def test_drives_that_are_not_alike_are_exchanged_with_one_by_one() -> None:
    for profile in (SEPARATE, BARE):
        assert type(Six(profile, grouped=True).exchange) is CycleExchange
    six, swapped = Six(PROFILE, grouped=True), Six(SWAPPED, grouped=True)
    assert type(cycle_exchange([*six.drives[:5], swapped.drives[0]])) is CycleExchange
    assert type(cycle_exchange(six.drives[:5])) is CycleExchange
    buses, wire = Buses(), MemoryWire(bytes)
    shared = [
        create_drive(
            "servo",
            {"host": "gateway", "unit": unit, "buses": buses, "shared_connection": True}
            | {"open_wire": lambda _t: wire},
        )
        for unit in range(1, 7)
    ]
    assert type(cycle_exchange(shared)) is CycleExchange
