"""A driver of a drive with an ASCII protocol: its frames, the drive, its twin, the declaration.

The protocol is made up; change it to your drive's. Requests and replies are lines: `>03C…*5A` asks unit 3, `<03C…*7F`
answers; the two digits behind `*` are the sum of all characters before it. C carries a command and is answered with the
drive's state, R asks for the state alone, W sets the watchdog in ms, I asks who it is, E is a refusal.
"""

import math
import re
from collections.abc import Sequence

from actuators import (
    Capabilities,
    Command,
    ConfigurationError,
    DriveOptions,
    Driver,
    DriveSettings,
    FaultyServo,
    Feedback,
    Framing,
    Identity,
    IdentityError,
    LineAddress,
    LineFraming,
    LineOptions,
    LineTimes,
    Mode,
    PlantPort,
    ProtocolError,
    ReplyScan,
    StationDrive,
    Status,
    VirtualDrive,
)

MICRO = 1e-6
MILLI = 1e-3
LARGEST = 9_999_999
STATE = re.compile(rb"([0-9A-F]{3})([0-9A-F]{2})(.{8})(.{8})(.{8})([0-9A-F]{4})")
COMMAND = re.compile(rb"([0-7])([0-3])([+-]\d{7})([+-]\d{7})([+-]\d{7})([0-9A-F]{4})")
STATE_LENGTH, IDENTITY_LENGTH, WATCHDOG_LENGTH = 35, 42, 6  # of messages, with unit and letter
ERRORS = {0: "no error", 1: "no command within the watchdog's time"}


def line(head: bytes, message: bytes) -> bytes:
    """The line with a message, whose first byte is the unit's number."""
    text = b"%c%02d" % (head, message[0]) + message[1:]
    return text + b"*%02X\r" % (sum(text) % 256)


def message_of(head: bytes, text: bytes) -> bytes:
    """The message in a line, b"" where it is none."""
    found = re.fullmatch(rb"(.(\d\d)([A-Z].*))\*([0-9A-F]{2})\r", text)
    if found is None or text[:1] != head or int(found[4], 16) != sum(found[1]) % 256:
        return b""
    return bytes((int(found[2]),)) + found[3]


def number(value: float, step: float) -> bytes:
    """A value in steps, question marks where it is none or does not fit."""
    return b"%+08d" % round(value / step) if abs(value / step) <= LARGEST else b"?" * 8  # False for NaN


class AsciiFraming(Framing, LineFraming):
    """The lines, as a bus sends requests and scans for replies (`LineFraming`), and as a twin does (`Framing`)."""

    description = "ASCII lines with a sum"
    overhead = 6  # characters of a line besides its message
    names_sender = True
    names_request = False

    def frame(self, message: bytes) -> bytes:
        """The line of a request."""
        return line(b">", message)

    def scan(self, data: bytes, message: bytes, length: int) -> ReplyScan | None:
        """The reply to `message` in what has arrived."""
        start, end = data.find(b"<"), data.find(b"\r")
        if end < 0 and len(data) <= 2 * length + 40:
            return None
        reply = message_of(b"<", data[max(start, 0) : end + 1])
        ours = reply[:1] == message[:1] and reply[1:2] in (message[1:2], b"E")
        return ReplyScan(reply if ours else b"", more=start > 0 or end + 1 < len(data), damaged=not reply)

    def length(self, received: bytes) -> int:
        """Length of the first request in what a twin has received."""
        return received.find(b"\r") + 1 or (0 if len(received) < 80 else -1)

    def message(self, frame: bytes) -> bytes:
        """The message of a request."""
        return message_of(b">", frame)

    def reply(self, message: bytes, request: bytes) -> bytes:
        """The line of a reply."""
        return line(b"<", message)


FRAMING = AsciiFraming()


class AsciiAddress(LineAddress):
    """A drive on a serial line, or behind a host's port that passes its bytes on."""


class AsciiSettings(DriveSettings, LineTimes):
    """What all drives of a rig share."""


class AsciiOptions(DriveOptions, AsciiSettings, AsciiAddress, LineOptions):
    """What the driver needs to know of one drive."""


class AsciiDrive(StationDrive):
    """A drive for positions and forces, with an echo of each command's number and a watchdog of its own."""

    def __init__(self, options: AsciiOptions) -> None:
        """Make the drive without connecting."""
        can = Capabilities(
            modes=tuple(Mode),
            force_feedback=True,
            homing=True,
            watchdog=True,
            force_limit=LARGEST * MILLI,
            position_limit=LARGEST * MICRO - abs(options.position_offset),
            velocity_limit=LARGEST * MICRO,
            resolution=MICRO,
        )
        super().__init__(options, can, options.line(FRAMING), options.place, options.unit, 1)
        self._options = options
        self._head = bytes((options.unit,))
        self._sent = False

    @property
    def exchanges(self) -> Sequence[tuple[int, int]]:
        """Bytes of a cycle's request and reply, by which a rate that the line cannot carry is refused."""
        return [(len(FRAMING.frame(self._request(Command(Mode.OFF)))), STATE_LENGTH + FRAMING.overhead)]

    def identify(self) -> Identity:
        """Ask the drive who it is, and compare its serial number."""
        text = self._ask(b"I", IDENTITY_LENGTH, self._options.request_timeout, "identity").decode("ascii", "replace")
        identity = Identity(*(text[start : start + 10].strip() for start in (0, 10, 20, 30)))
        if self._options.serial not in (None, identity.serial):
            raise IdentityError(f"{self.name}: serial number {identity.serial!r}, must be {self._options.serial!r}")
        return identity

    def configure(self) -> None:
        """Set the watchdog, and read it back."""
        self._watchdog(b"W%04d" % round(self._options.watchdog / MILLI), self._options.request_timeout)

    def verify(self, timeout: float) -> Identity:
        """Check the watchdog without setting it."""
        self._watchdog(b"W????", timeout)
        return self.identify()

    def observe(self, timeout: float) -> Feedback:
        """Read the state, which does not feed the watchdog."""
        feedback = self._feedback(self._ask(b"R", STATE_LENGTH, timeout, "state"))
        if feedback is None:
            raise ProtocolError(f"{self.name}: its state is not one")
        return feedback

    def error_text(self, code: int) -> str:
        """Text of an error code."""
        return ERRORS.get(code, f"error {code}")

    def _watchdog(self, request: bytes, timeout: float) -> None:
        found = self._ask(request, WATCHDOG_LENGTH, timeout, "watchdog")
        if found != b"%04d" % round(self._options.watchdog / MILLI):
            raise ConfigurationError(f"{self.name}: its watchdog is {found!r} ms, must be {self._options.watchdog} s")

    def _ask(self, request: bytes, length: int, timeout: float, what: str) -> bytes:
        """What answers a request outside of the cycle, behind its letter."""
        answer = self._station.request(self._head + request, length, timeout, what)
        if answer[1:2] != request[:1]:
            raise ProtocolError(f"{self.name}: refuses {what}: {answer[2:]!r}")
        return answer[2:]

    def _request(self, command: Command) -> bytes:
        control = command.enable + 2 * command.quick_stop + 4 * command.clear
        position = number(command.position - self._options.position_offset, MICRO)
        values = position + number(command.velocity, MICRO) + number(command.force, MILLI)
        return self._head + b"C%d%d" % (control, command.mode) + values + b"%04X" % self._sequence

    def _begin(self, command: Command) -> None:
        """Send the command; nothing is waited for here."""
        self._sequence = (self._sequence + 1) % 65536
        stops = command.quick_stop or not command.enable
        self._sent = self._station.ask(0, self._request(command), STATE_LENGTH, urgent=stops)
        self.counters.sent += self._sent

    def _finish(self, deadline: float) -> Feedback | None:
        """Take the reply, if it is there by the deadline."""
        if not self._sent:
            return None
        reply = self._station.answer(0, deadline)
        if reply is None:
            self.counters.late += 1
            return None
        feedback = self._feedback(reply[2:]) if reply[1:2] == b"C" else None
        if feedback is None:
            self._station.refuse(reply)
        return feedback

    def _feedback(self, text: bytes) -> Feedback | None:
        found = STATE.fullmatch(text)
        if found is None:
            return None
        status, error, sequence = (int(found[group], 16) for group in (1, 2, 6))
        values = [math.nan if b"?" in found[group] else float(found[group]) for group in (3, 4, 5)]
        position = values[0] * MICRO + self._options.position_offset
        return Feedback(position, values[1] * MICRO, values[2] * MILLI, Status(status), error, True, 0.0, sequence)


class VirtualAsciiDrive(VirtualDrive):
    """The twin: a leg of the plant, and what the drive makes of its commands."""

    def __init__(self, leg: PlantPort, options: AsciiOptions) -> None:
        """leg: which it moves. options: its unit, and where its position is zero."""
        super().__init__(options.unit, FRAMING)
        self.plant = leg
        self._offset = options.position_offset
        self._serial = options.serial or "VIRTUAL"
        self._hung: bytes | None = None
        self._barred = False
        self.reboot()

    def reboot(self) -> None:
        """Everything is as after power-up."""
        self._on = self._armed = self._stopping = self._homed = self._clear = False
        self._error, self._sequence, self._watchdog, self._fed = 0, 0, 0.0, self.now
        self._wanted = (Mode.OFF, 0.0, 0.0, 0.0)
        self._drive()

    @property
    def hung(self) -> bool:
        """Whether its application hangs."""
        return self._hung is not None

    @hung.setter
    def hung(self, hung: bool) -> None:
        self._hung = self._state() if hung else None

    def show(self, name: str, value: float | None) -> None:
        """It says nothing but its state."""

    def bar_torque(self, barred: bool) -> None:
        """Safe torque off: the torque goes, and comes back by the next command."""
        self._barred = barred
        self._on = self._on and not barred
        self._drive()

    def tick(self, now: float) -> None:
        """Let time pass: the watchdog, the end of a stop, the end of homing."""
        super().tick(now)
        if self.hung:
            return
        if self._on and self._watchdog and now - self._fed > self._watchdog and not self._error:
            self._error, self._stopping = 1, True
            self._drive()
        if self._stopping and abs(self.plant.velocity) < 1e-3:
            self._on = self._stopping = self._armed = False
            self._drive()
        self._homed |= self._on and self._wanted[0] is Mode.HOMING and self.plant.homing_done

    def answer(self, message: bytes) -> bytes:
        """Answer a request: unit, letter, and what belongs to it."""
        unit, letter, rest = message[:1], message[1:2], message[2:]
        if message[0] != self.unit:
            return b""
        if letter == b"I":
            texts = (b"Example", b"AC-1", self._serial.encode("ascii", "replace"), b"1.0")
            return unit + b"I" + b"".join(text[:10].ljust(10) for text in texts)
        if letter == b"W" and re.fullmatch(rb"\d{4}|\?{4}", rest):
            if rest != b"????":
                self._watchdog, self._fed = int(rest) * MILLI, self.now
            return unit + b"W%04d" % round(self._watchdog / MILLI)
        command = COMMAND.fullmatch(rest) if letter == b"C" else None
        if command is None and letter != b"R":
            return unit + b"E"
        if command is not None and not self.hung:
            position, velocity = int(command[3]) * MICRO + self._offset, int(command[4]) * MICRO
            self._sequence, self._fed = int(command[6], 16), self.now
            self._command(int(command[1]), (Mode(int(command[2])), int(command[5]) * MILLI, position, velocity))
        return unit + letter + (self._hung or self._state())

    def refusal(self, message: bytes) -> bytes:
        """What it answers while it is busy."""
        return message[:1] + b"E"

    def _command(self, control: int, wanted: tuple[Mode, float, float, float]) -> None:
        enable, stop, clear = (bool(control & bit) for bit in (1, 2, 4))
        self._error = 0 if clear and not self._clear else self._error
        self._clear = clear
        if not enable:
            self._on = self._stopping = False
            self._armed = not self._error
        elif stop:
            self._stopping = self._on
            self._armed = False
        elif self._armed and not (self._error or self._barred or self._stopping):
            self._on = wanted[0] is not Mode.OFF
        self._homed = self._homed and not (self._on and wanted[0] is Mode.HOMING is not self._wanted[0])
        self._wanted = wanted
        self._drive()

    def _drive(self) -> None:
        """Command the leg."""
        on = self._on or self.torque_stuck
        self.plant.command(*self._wanted, on, on and self._stopping, not self._on)

    def _state(self) -> bytes:
        homing = self._on and self._wanted[0] is Mode.HOMING and not self.plant.homing_done
        status = Status(0)
        for bit, there in (
            (Status.READY, not self._error),
            (Status.ENABLED, self._on or self.torque_stuck),
            (Status.FAULT, self._error),
            (Status.HOMED, self._homed or (self._on and self._wanted[0] is Mode.HOMING and self.plant.homing_done)),
            (Status.HOMING, homing),
            (Status.QUICK_STOP, self._stopping),
            (Status.WATCHDOG, self._error == 1),
            (Status.BRAKE, not self._on),
            (Status.STANDSTILL, abs(self.plant.velocity) < 1e-3),
        ):
            status |= bit if there else Status(0)
        values = number(self.plant.length - self._offset, MICRO) + number(self.plant.velocity, MICRO)
        return b"%03X%02X" % (status, self._error) + values + number(self.cell, MILLI) + b"%04X" % self._sequence


def ascii_twin(options: AsciiOptions, leg: PlantPort) -> FaultyServo:
    """The twin of a leg's drive, behind a wire that can fail."""
    return FaultyServo(VirtualAsciiDrive(leg, options))


DRIVER = Driver(AsciiAddress, AsciiSettings, AsciiOptions, AsciiDrive, ascii_twin)
