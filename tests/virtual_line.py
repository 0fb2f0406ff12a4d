"""A shared line of Modbus RTU with virtual devices on it, over memory or a pseudo-terminal, and a servo on it."""

import os
import threading
import tty
from collections.abc import Mapping

from drive_support import PROFILE, lacks, step, takes

from actuators import Responder, VirtualServo
from actuators.framing import crc16
from actuators.virtual.device import RTU_FRAMING
from actuators.virtual.mapped_servo import VirtualMappedServo
from rig.testing import BenchLeg as Leg
from rig.testing import DriveBench

LINE = {"baud": 1_000_000, "turnaround": 1e-4, "reply_timeout": 0.2}


class VirtualLine:
    """Devices by unit on one line that takes no time; `damage` is done to every frame that a device sends."""

    def __init__(self, devices: Mapping[int, Responder]) -> None:
        self.devices = devices
        self.damage = lambda frame: frame
        self.requests: list[bytes] = []
        self._input = b""

    def respond(self, data: bytes) -> bytes:
        self._input += data
        answers = b""
        while size := RTU_FRAMING.length(self._input):
            if size < 0:
                self._input = b""
                break
            frame, self._input = self._input[:size], self._input[size:]
            self.requests.append(frame)
            answers += self.answer(frame[:-2])
        return answers

    def answer(self, message: bytes) -> bytes:
        device = self.devices.get(message[0])
        reply = b"" if device is None else device.respond(message + crc16(message))
        return self.damage(reply) if reply else b""


def line_servo(leg: Leg, unit: int, profile=PROFILE, **options) -> VirtualServo:
    """A virtual servo for a line."""
    return (VirtualServo if profile.plain else VirtualMappedServo)(
        profile, leg, unit=unit, framing=RTU_FRAMING, **options
    )


class LineBench(DriveBench):
    """A servo on a line over memory with another unit beside it."""

    def __init__(self, profile=PROFILE, **options) -> None:
        self.line = VirtualLine({4: line_servo(Leg(), 4, profile)})
        super().__init__("servo", {"device": "memory", "unit": 3, "profile": profile, **LINE, **options})
        self.line.devices = {3: self.faults, **self.line.devices}
        self.step, self.lacks = step(profile), lacks(profile)
        self.takes, self.arrives = takes(profile)

    def respond(self, frame: bytes) -> bytes:
        return self.line.respond(frame)


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
