"""Six virtual servos asked as one: the same replies and commands to the plant as from each by itself."""

import contextlib
import random
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from drive_support import servo_of
from exploration import either, seeds
from servo_profiles import PROFILE, SWAPPED

from actuators import Mode, ServoProfile, VirtualServoGroup, create_twin
from actuators.framing import MBAP
from actuators.virtual.drive import SERVO_FAULTS
from actuators.wire import LinkClosedError
from rig.testing import BenchLeg as Leg

CYCLES = either(1500, 200_000)
PERIOD = 2e-3


class NotedLeg(Leg):
    """A leg that notes what it is commanded."""

    def __init__(self, length: float) -> None:
        super().__init__(length)
        self.commands: list[tuple[object, ...]] = []

    def command(self, *command: Any) -> None:
        super().command(*command)
        self.commands.append(command)


class Legs:
    """Six legs as one."""

    def __init__(self, legs: Sequence[Leg]) -> None:
        self.legs = legs

    def sense(self, out: npt.NDArray[np.float64], legs: int) -> None:
        for number, leg in enumerate(self.legs):
            if legs >> number & 1:
                out[:, number] = leg.length, leg.velocity, leg.cell

    def command(self, commands: npt.NDArray[np.float64], legs: int) -> None:
        for number, leg in enumerate(self.legs):
            if legs >> number & 1:
                mode, force, position, velocity, *flags = commands[number].tolist()
                enabled, quick_stop, brake = map(bool, flags)
                leg.command(Mode(int(mode)), force, position, velocity, enabled, quick_stop, brake)


class Six:
    """Six twins, and what they are asked."""

    def __init__(self, profile: ServoProfile, *, grouped: bool) -> None:
        self.legs = [NotedLeg(0.6 + 0.01 * leg) for leg in range(6)]
        options = [{"host": "memory", "profile": profile, "position_offset": 0.1 * leg} for leg in range(6)]
        self.twins = [create_twin("servo", each, leg) for each, leg in zip(options, self.legs, strict=True)]
        for twin in self.twins:
            twin.peers = self.twins
        self.group = VirtualServoGroup.of(self.twins, Legs(self.legs)) if grouped else None
        self.together = 0
        self.now = 0.0

    def tick(self) -> None:
        self.now += PERIOD
        if self.group is not None:
            self.group.tick(self.now)
            return
        for twin in self.twins:
            twin.tick(self.now)

    def ask(self, frames: list[bytes], places: int) -> list[bytes]:
        answered = 0
        if self.group is not None and {len(frame) for frame in frames} == {self.group.length}:
            requests = np.array([np.frombuffer(frame, np.uint8) for frame in frames])
            answered = self.group.respond(requests, places)
            self.together += answered.bit_count()
        replies = []
        for number, (twin, frame) in enumerate(zip(self.twins, frames, strict=True)):
            if self.group is not None and answered >> number & 1:
                replies.append(self.group.replies[number].tobytes())
                continue
            try:
                replies.append(twin.respond(frame) + twin.due())
            except LinkClosedError:
                replies.append(b"closed")
        return replies


def watchdog_frame(profile: ServoProfile, period: float) -> bytes:
    """A request that sets the watchdog, s."""
    register = profile.parameters.watchdog
    assert register is not None
    data = round(period / register.scale).to_bytes(2 * register.words, "big")
    message = struct.pack(">BBHHB", 1, 16, register.address, register.words, len(data)) + data
    return MBAP.pack(7, 0, len(message)) + message


def commands_of(draw: random.Random, twin: Six) -> list[list[float]]:
    """Raw commands: control, mode, sequence, set-points; now and then none that a servo takes."""
    servo = servo_of(twin.twins[0])
    enable, quick_stop, clear = servo.control_masks
    codes = {mode: code for code, mode in servo.modes.items()}
    kinds = (0, enable, enable, enable, enable, enable | clear, enable | quick_stop, clear)
    mode = draw.choice((Mode.FORCE, Mode.FORCE, Mode.POSITION, Mode.HOMING, Mode.OFF))
    control = draw.choice(kinds)
    commands: list[list[float]] = []
    each = draw.random() < 0.3  # of its own
    for _leg in range(6):
        odd = each or draw.random() < 0.03
        code = 99 if odd and draw.random() < 0.3 else codes[draw.choice(list(codes)) if odd else mode]
        one = draw.choice(kinds) if odd else control
        commands.append([one, code, 0, draw.randrange(-900, 900), draw.randrange(-30000, 30000), draw.randrange(-9, 9)])
    return commands


@pytest.mark.parametrize("seed", seeds(2))
@pytest.mark.parametrize("profile", [PROFILE, SWAPPED], ids=["plain", "swapped"])
def test_a_group_answers_and_commands_as_each_servo_by_itself(profile: ServoProfile, seed: int) -> None:
    draw = random.Random(seed)
    alone, together = Six(profile, grouped=False), Six(profile, grouped=True)
    assert together.group is not None
    codec = servo_of(alone.twins[0]).codec
    commands = commands_of(draw, alone)
    for cycle in range(CYCLES):
        if draw.random() < 0.08:
            commands = commands_of(draw, alone)
        failing, fault = draw.randrange(6), draw.choice([*SERVO_FAULTS, *["swap_unit"] * 12])
        peer = draw.randrange(1, 7)
        begins, clears, silent = draw.random() < 0.05, draw.random() < 0.3, draw.random() < 0.02
        watches, homes = draw.random() < 0.02, draw.random() < 0.3
        places = 63 if draw.random() < 0.7 else draw.randrange(64)  # of those that are asked together
        frames = []
        for leg in range(6):
            message = codec.encode((*commands[leg][:2], cycle % 65536, *commands[leg][3:]))[0]
            damaged = bytearray(MBAP.pack((cycle + leg) % 65536, 0, len(message)) + message)
            if draw.random() < 0.003:
                damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
            frames.append(bytes(damaged))
        lengths, cells = [draw.uniform(0.4, 0.9) for _ in range(6)], [draw.gauss(0.0, 200.0) for _ in range(6)]
        if draw.random() < 0.02:
            lengths[failing] = 1e9
        if draw.random() < 0.02:
            cells[failing] = float("nan")
        answers = []
        for rig in (alone, together):
            for number, (port, length, cell) in enumerate(zip(rig.legs, lengths, cells, strict=True)):
                port.length, port.velocity, port.cell = length, 0.1 * (length - 0.65), cell
                port.homing_done = homes and number != failing
            if clears:
                for twin in rig.twins:
                    twin.clear_all()
            if begins:
                rig.twins[failing].inject(fault, float(peer) if fault == "swap_unit" else None)
            if watches:
                with contextlib.suppress(LinkClosedError):
                    rig.twins[failing].respond(watchdog_frame(profile, 0.003))
            rig.tick()
            answers.append([] if silent else rig.ask(frames, places))
        assert answers[0] == answers[1], cycle
        assert [leg.commands for leg in alone.legs] == [leg.commands for leg in together.legs], cycle
    assert together.together > 2.4 * CYCLES


def test_a_fault_that_begins_while_the_state_is_read_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    six = Six(PROFILE, grouped=True)
    assert six.group is not None
    twin, codec = six.twins[2], servo_of(six.twins[2]).codec
    servo, publish = servo_of(twin), servo_of(twin).publish
    message = codec.encode((0, 0, 1, 0, 0, 0))[0]
    requests = np.tile(np.frombuffer(MBAP.pack(1, 0, len(message)) + message, np.uint8), (6, 1))

    def published() -> None:
        publish()
        twin.inject("drop_all")  # by another thread

    monkeypatch.setattr(servo, "publish", published)
    six.group.respond(requests, 63)
    monkeypatch.undo()
    assert six.group.respond(requests, 63) == 63 - 4
