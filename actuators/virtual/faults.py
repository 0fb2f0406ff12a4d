"""Faults of virtual devices by name: of the wire, and of a drive's sensors, in a port that lies to its drive."""

import math
from collections import deque
from collections.abc import Callable, Sequence

from actuators.errors import ConfigurationError
from actuators.interface import Mode
from actuators.virtual.amplifier import VirtualAmplifier
from actuators.virtual.device import Framing, VirtualDevice
from actuators.virtual.drive import (
    AMPLIFIER_FAULTS,
    AUXILIARY_FAULTS,
    INVALID_CHANNEL,
    SENSOR_FAULTS,
    WIRE_FAULTS,
    FaultKind,
    PlantPort,
    VirtualDrive,
)
from actuators.wire import LinkClosedError


class FaultyPort:
    """A leg whose sensors lie. What they showed when a fault began is kept for as long as the fault lasts."""

    def __init__(
        self, port: PlantPort, faults: dict[str, float], device: VirtualDevice, before: "FaultyPort | None"
    ) -> None:
        """port: the leg. faults: active ones of its sensors, with their values. before: what it was until now."""
        self._port = port
        self._device = device
        self._faults = faults
        self._at_fault: dict[str, float] = {}
        read: dict[str, Callable[[], float]] = {
            "encoder_frozen": lambda: port.length,
            "encoder_reversed": lambda: port.length,
            "encoder_creep": lambda: device.now,
            "cell_silent": lambda: port.cell,
        }
        for name, now in read.items():
            if name in faults:
                previous = before._at_fault if before is not None else {}
                self._at_fault[name] = previous[name] if name in previous else now()

    @property
    def length(self) -> float:
        """See `PlantPort.length`."""
        faults = self._faults
        if "encoder_nan" in faults:
            return math.nan
        length = self._at_fault.get("encoder_frozen", self._port.length)
        if "encoder_reversed" in faults:
            length = 2.0 * self._at_fault["encoder_reversed"] - length
        if "encoder_creep" in faults:
            length += faults["encoder_creep"] * (self._device.now - self._at_fault["encoder_creep"])
        return length * faults.get("encoder_scale", 1.0) + faults.get("encoder_jump", 0.0)

    @property
    def velocity(self) -> float:
        """See `PlantPort.velocity`."""
        faults = self._faults
        if "encoder_nan" in faults:
            return math.nan
        if "encoder_frozen" in faults:
            return 0.0
        velocity = -self._port.velocity if "encoder_reversed" in faults else self._port.velocity
        return velocity * faults.get("encoder_scale", 1.0)

    @property
    def cell(self) -> float:
        """See `PlantPort.cell`."""
        faults = self._faults
        if "cell_nan" in faults:
            return math.nan
        if "cell_saturated" in faults:
            return faults["cell_saturated"]
        cell = self._at_fault.get("cell_silent", self._port.cell)
        return cell * faults.get("cell_scale", 1.0) + faults.get("cell_offset", 0.0)

    @property
    def motor(self) -> float:
        """See `PlantPort.motor`: a drive that is wired the wrong way round does not know that."""
        return -self._port.motor if "force_reversed" in self._faults else self._port.motor

    @property
    def homing_done(self) -> bool:
        """See `PlantPort.homing_done`."""
        return self._port.homing_done

    def command(
        self,
        mode: Mode,
        force: float,
        position: float,
        velocity: float,
        enabled: bool,
        quick_stop: bool,
        brake: bool,
    ) -> None:
        """See `PlantPort.command`."""
        sign = -1.0 if "force_reversed" in self._faults else 1.0
        self._port.command(mode, sign * force, position, velocity, enabled, quick_stop, brake)


class FaultyDevice:
    """A device behind a wire that can fail; without a fault it is the device."""

    def __init__(self, device: VirtualDevice) -> None:
        """device: what to put behind the wire."""
        self.device = device
        self.kinds = dict(WIRE_FAULTS)
        """Faults this device can have, by name."""
        self.reply_delay = 0.0
        """For how long it waits before it answers on a line whose bytes take their time, s."""
        self.peers: Sequence[FaultyDevice] = ()
        """Devices that "swap_unit" can choose from, its value counting from 1."""
        self._active: dict[str, float] = {}
        self._wire: dict[str, float] = {}
        self._delayed: list[tuple[float, bytes]] = []
        self._second_half = b""
        self.previous: bytes | memoryview = b""
        """The last reply."""
        self.changed: set[FaultyDevice] = set()
        """Where each request and each change of a servo's faults puts it; its group takes it out to read its state."""
        self._past: dict[bytes, deque[bytes]] = {}
        self._silent = False

    @property
    def active(self) -> dict[str, float]:
        """Active faults by name with their value (NaN for one that takes none)."""
        return dict(self._active)

    def inject(self, name: str, value: float | None = None) -> None:
        """Make a fault active, replacing an earlier one of that name; value: None = the kind's default.

        Raises ConfigurationError for an unknown name, a value that is not finite or negative where it counts or
        delays, or a peer that does not exist; nothing is changed then.
        """
        kind = self._kind(name)
        if value is not None and not math.isfinite(value):
            raise ConfigurationError(f"fault {name}: value {value} is not a finite number")
        if value is not None and kind.default is None:
            raise ConfigurationError(f"fault {name} takes no value")
        number = kind.default if value is None else value
        if name in WIRE_FAULTS and number is not None and number < 0.0:
            raise ConfigurationError(f"fault {name}: value {number:g} {kind.unit} is negative")
        if name == "swap_unit" and number not in range(1, len(self.peers) + 1):
            raise ConfigurationError(f"fault swap_unit: device {number:g} is outside 1..{len(self.peers)}")
        self.clear(name)
        self._active[name] = math.nan if number is None else number
        self._apply(name)

    def clear(self, name: str) -> None:
        """End a fault; nothing if it is not active. Raises ConfigurationError for an unknown name."""
        self._kind(name)
        self._active.pop(name, None)
        self._apply(name)

    def clear_all(self) -> None:
        """End all faults."""
        for name in list(self._active):
            self.clear(name)

    def fall_silent(self) -> None:
        """Answer nothing any more, for good: no machine is left behind this device."""
        self._silent = True
        self.changed.add(self)

    def tick(self, now: float) -> None:
        """See `Responder.tick`."""
        self.device.tick(now)

    def passes(self, now: float) -> bool:
        """See `Responder.passes`."""
        return self.device.passes(now)

    def due(self) -> bytes:
        """See `Responder.due`: replies whose delay is over, and what the device says by itself.

        Raises LinkClosedError as `respond`.
        """
        sent = self.device.due()
        if self._silent:
            return b""
        if sent and "close" in self._wire:
            raise LinkClosedError
        if sent:
            sent = b"" if {"drop_all", "busy"} & self._wire.keys() else self._carried(sent)
        if not self._delayed or self._delayed[0][0] > self.device.now:
            return sent
        ready = [data for at, data in self._delayed if at <= self.device.now]
        del self._delayed[: len(ready)]
        return b"".join(ready) + sent

    @property
    def next_event(self) -> float:
        """See `Responder.next_event`: the end of a reply's delay, or when the device says something by itself."""
        if self._silent:
            return math.inf
        own = self.device.next_event
        return min(own, self._delayed[0][0]) if self._delayed else own

    @property
    def unit(self) -> int:
        """Unit id by which it is asked."""
        return self.device.unit

    @property
    def framing(self) -> Framing:
        """See `Responder.framing`."""
        return self.device.framing

    def respond(self, frame: bytes) -> bytes:
        """See `Responder.respond`."""
        self.changed.add(self)
        if self._silent:
            return b""
        if not (self._wire or self._delayed or self._second_half):
            self.previous = reply = self.device.respond(frame)
            return reply
        return self.due() + self._respond(frame)

    def _respond(self, frame: bytes) -> bytes:
        wire = self._wire
        if "close" in wire:
            raise LinkClosedError
        if "drop_all" in wire or self._count_down("drop_write"):
            return b""
        reply = self._answer(frame)
        if "busy" in wire:
            return reply
        if "replay" in wire:
            reply, self.previous = bytes(self.previous), reply
        else:
            self.previous = reply
        return self._carried(reply)

    def _carried(self, reply: bytes) -> bytes:
        """What becomes at once of that which the device says on its wire."""
        wire = self._wire
        if "bit_flip" in wire and reply:
            byte, bit = divmod(int(wire["bit_flip"]) % (8 * len(reply)), 8)
            reply = reply[:byte] + bytes((reply[byte] ^ 0x80 >> bit,)) + reply[byte + 1 :]
        if "noise" in wire and reply:
            reply = b"\xff" * int(wire["noise"]) + reply
        first, self._second_half = self._second_half, b""
        if self._count_down("rechunk"):
            reply, self._second_half = reply[: len(reply) // 2], reply[len(reply) // 2 :]
        reply = first + reply
        if "delay" in wire:
            self._delayed.append((self.device.now + wire["delay"], reply))
            return b""
        return reply

    def _answer(self, frame: bytes) -> bytes:
        """The frame of the reply, by whichever device gives it, as old as it is to be."""
        wire, framing = self._wire, self.device.framing
        request = framing.message(frame)
        if not request:
            return b""
        ours = request[0] == self.device.unit
        if "busy" in wire and (ours or request[0] == framing.everyone):
            refusal = self.device.refusal(request)
            return framing.reply(refusal, frame) if refusal else b""
        asked = self.peers[int(wire["swap_unit"]) - 1] if "swap_unit" in wire and ours else self
        asked.changed.add(asked)
        reply = asked.device.answer(bytes((asked.device.unit,)) + request[1:] if ours else request)
        if not reply:
            return b""
        if "lag" in wire:
            reply = self._older(request, reply, int(wire["lag"]))
        return framing.reply(request[:1] + reply[1:], frame)

    def _older(self, request: bytes, reply: bytes, lag: int) -> bytes:
        """The reply of `lag` requests of the same kind ago, or of the first."""
        past = self._past.setdefault(request[1:6], deque())
        past.append(reply)
        while len(past) > lag + 1:
            past.popleft()
        return past[0]

    def _count_down(self, name: str) -> bool:
        """True if the fault is active; it ends after as many requests as its value says."""
        if name not in self._wire:
            return False
        left = self._wire[name] - 1.0
        self._active[name] = self._wire[name] = left
        if left <= 0.0:
            self.clear(name)
        return left >= 0.0

    @property
    def exchanged(self) -> bool:
        """Whether another device answers in its place, so that the order of their requests counts."""
        return "swap_unit" in self._wire

    @property
    def disturbed(self) -> bool:
        """Whether a fault is active or has left something behind."""
        return bool(self._active or self._delayed or self._second_half or self._silent)

    def _apply(self, name: str) -> None:
        if name in WIRE_FAULTS:
            self._wire = {key: value for key, value in self._active.items() if key in WIRE_FAULTS}
            self.device.hung = "hang" in self._wire
            if "lag" not in self._wire:
                self._past.clear()

    def _kind(self, name: str) -> FaultKind:
        if name not in self.kinds:
            raise ConfigurationError(f"no fault {name!r}; known faults: {', '.join(self.kinds)}")
        return self.kinds[name]


class FaultyDrive(FaultyDevice):
    """A virtual drive that can fail, whatever it speaks."""

    @property
    def cell(self) -> float:
        """Signal of the leg's load cell as its wiring gives it, N, whoever reads it; not finite when there is none."""
        raise NotImplementedError

    @property
    def longest_step(self) -> float:
        """See `VirtualDrive.longest_step`."""
        return math.inf


class FaultyServo(FaultyDrive):
    """A virtual servo that can fail: its wire, its sensors, its power stage."""

    def __init__(self, servo: VirtualDrive) -> None:
        """servo: the drive; while a sensor fault is active its `plant` is replaced by one that lies."""
        super().__init__(servo)
        self.servo = servo
        self.kinds = dict(servo.fault_kinds)
        self._port = servo.plant

    @property
    def cell(self) -> float:
        """See `FaultyDrive.cell`."""
        return self.servo.cell

    @property
    def longest_step(self) -> float:
        """See `FaultyDrive.longest_step`."""
        return self.servo.longest_step

    def _apply(self, name: str) -> None:
        super()._apply(name)
        if name == "reboot" and self._active.pop(name, None) is not None:
            self.servo.reboot()
        elif name == "safe_torque_off":
            self.servo.bar_torque(name in self._active)
        elif name == "torque_stuck":
            self.servo.torque_stuck = name in self._active
        elif name in AUXILIARY_FAULTS:
            self.servo.show(name, self._active.get(name))
        elif name in SENSOR_FAULTS:
            faults = {key: value for key, value in self._active.items() if key in SENSOR_FAULTS}
            before = self.servo.plant if isinstance(self.servo.plant, FaultyPort) else None
            self.servo.plant = FaultyPort(self._port, faults, self.servo, before) if faults else self._port
        self.changed.add(self)  # last: another thread may have read the state before the fault


class FaultyAmplifier(FaultyDevice):
    """A virtual amplifier that can fail: its wire, its conversion, its channels."""

    def __init__(self, amplifier: VirtualAmplifier) -> None:
        """amplifier: the device."""
        super().__init__(amplifier)
        self.amplifier = amplifier
        has_status = amplifier.profile.reading.status is not None
        self.kinds = {
            name: kind for name, kind in AMPLIFIER_FAULTS.items() if has_status or not name.startswith(INVALID_CHANNEL)
        }

    def _apply(self, name: str) -> None:
        super()._apply(name)
        self.amplifier.converting = "standing" not in self._active
        channels = [
            int(name.removeprefix(INVALID_CHANNEL)) for name in self._active if name.startswith(INVALID_CHANNEL)
        ]
        self.amplifier.invalid = sum(1 << (channel - 1) for channel in channels)
