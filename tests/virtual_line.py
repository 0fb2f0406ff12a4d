"""A shared line of Modbus RTU with virtual devices on it, over memory or a pseudo-terminal, and a servo on it."""

import os
import threading
import tty
from collections.abc import Mapping

from drive_support import PROFILE, Leg

from actuators import DriveAddress, FaultyServo, Line, MemoryWire, Responder, VirtualServo, Wire
from actuators.driver import Driver
from actuators.framing import MBAP, crc16
from actuators.half_duplex import HalfDuplexBus
from actuators.serial_wire import SerialWire, byte_time
from actuators.servo import Servo, ServoOptions, ServoSettings


def split(data: bytes) -> tuple[bytes, bytes]:
    """The first request of RTU frames, and what follows; nothing where it is not whole."""
    counts = {16: 6, 23: 10}
    if len(data) < 2:
        return b"", data
    place = counts.get(data[1])
    if place is None:
        size = 8
    elif len(data) <= place:
        return b"", data
    else:
        size = place + 3 + data[place]
    return (data[:size], data[size:]) if len(data) >= size else (b"", data)


class VirtualLine:
    """Devices by unit on one line; `damage` is done to every frame that a device sends."""

    def __init__(self, devices: Mapping[int, Responder]) -> None:
        self.devices = devices
        self.damage = lambda frame: frame
        self.requests: list[bytes] = []
        self._input = b""

    def respond(self, data: bytes) -> bytes:
        self._input += data
        answers = b""
        while True:
            frame, self._input = split(self._input)
            if not frame:
                return answers
            self.requests.append(frame)
            if crc16(frame[:-2]) == frame[-2:]:
                answers += self.answer(frame[:-2])

    def answer(self, message: bytes) -> bytes:
        device = self.devices.get(message[0])
        reply = b"" if device is None else device.respond(MBAP.pack(1, 0, len(message)) + message)
        return self.damage(reply[6:] + crc16(reply[6:])) if reply else b""


class LineAddress(DriveAddress):
    """A unit on a serial line."""

    device: Line
    baud: int = 1_000_000

    @property
    def identity(self) -> tuple[str, str]:
        return "", f"{self.device} unit {self.unit}"

    @property
    def place(self) -> str:
        return self.device


class LineOptions(ServoOptions, LineAddress):
    """All of it."""

    turnaround: float = 1e-4
    reply_timeout: float = 0.2


def make(options: LineOptions) -> Servo:
    def open_wire(timeout: float) -> Wire:
        return options.open_wire(timeout) if options.open_wire else SerialWire(options.device, options.baud, "none")

    def bus() -> HalfDuplexBus:
        byte = byte_time(options.baud, "even", 1)
        return HalfDuplexBus(open_wire, options.turnaround, options.reply_timeout, byte)

    return Servo(options, options.buses.at(options.place, bus) if options.buses else bus(), options.place, options.unit)


DRIVER = Driver(LineAddress, ServoSettings, LineOptions, make)


class LineBench:
    """As `drive_support.Bench`, its drive on a line over memory with another unit beside it."""

    def __init__(self, profile=PROFILE, **options) -> None:
        self.leg = Leg()
        self.servo = VirtualServo(profile, self.leg, unit=3, position_offset=options.get("position_offset", 0.0))
        self.faults = FaultyServo(self.servo)
        self.line = VirtualLine({3: self.faults, 4: VirtualServo(profile, Leg(), unit=4)})
        self.now = 0.0
        given = {"name": "drive 1", "device": "memory", "unit": 3, "profile": profile, **options}
        given["open_wire"] = lambda timeout: MemoryWire(self.line.respond)
        self.drive = make(LineOptions.model_validate(given))
        self.drive.connect(1.0)

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.faults.tick(self.now)

    def do(self, command):
        """One cycle of 2 ms."""
        self.pass_time(0.002)
        return self.drive.exchange(command, self.now, 0.0)


class Pseudoterminal:
    """A line served on a pseudo-terminal by a thread; as a context manager it gives the device's name."""

    def __init__(self, line: VirtualLine) -> None:
        self.line = line
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        self._thread = threading.Thread(target=self._serve)

    def _serve(self) -> None:
        while True:
            try:
                data = os.read(self._master, 4096)
            except OSError:
                return
            if data == b"\0":
                return
            answer = self.line.respond(data)
            for start in range(0, len(answer), 7):  # in pieces, as a driver of the system hands them over
                os.write(self._master, answer[start : start + 7])

    def __enter__(self) -> str:
        self._thread.start()
        return os.ttyname(self._slave)

    def __exit__(self, *_: object) -> None:
        os.write(self._slave, b"\0")
        self._thread.join(5.0)
        assert not self._thread.is_alive()
        os.close(self._slave)
        os.close(self._master)
