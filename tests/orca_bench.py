"""An ORCA motor's driver over memory to its twin."""

from typing import Any

from drive_support import Leg

from actuators import MemoryWire, create_drive, create_twin
from actuators.orca import Orca, VirtualOrca


class OrcaBench:
    """As `drive_support.Bench`, of an ORCA motor; what passes over its line is kept."""

    step = 1e-6
    lacks = frozenset(("velocity", "quick stop", "brake", "one set-point"))
    takes = 4
    arrives = 1

    def __init__(self, **options: Any) -> None:
        self.leg = Leg()
        self.options = {"name": "drive 1", "device": "memory", "baud": 1_000_000, "turnaround": 1e-4, **options}
        self.faults = create_twin("orca", self.options, self.leg)
        self.now = 0.0
        self.sent: list[bytes] = []
        self.received: list[bytes] = []
        drive = create_drive("orca", {**self.options, "open_wire": lambda _timeout: MemoryWire(self.respond)})
        assert isinstance(drive, Orca)
        self.drive = drive
        self.drive.connect(1.0)

    @property
    def motor(self) -> VirtualOrca:
        """The twin."""
        motor = self.faults.device
        assert isinstance(motor, VirtualOrca)
        return motor

    def respond(self, frame: bytes) -> bytes:
        self.sent.append(frame)
        self.received.append(self.faults.respond(frame))
        return self.received[-1]

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.faults.tick(self.now)

    def do(self, command):
        """One cycle of 2 ms."""
        self.pass_time(0.002)
        return self.drive.exchange(command, self.now, 0.0)
