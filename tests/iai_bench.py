"""A ROBO Cylinder's driver over memory to its twin."""

from typing import Any

from drive_support import Leg

from actuators import MemoryWire, create_drive, create_twin
from actuators.iai import Iai, VirtualRoboCylinder


class IaiBench:
    """As `drive_support.Bench`, of a ROBO Cylinder; what passes over its line is kept."""

    step = 1e-5
    lacks = frozenset(("identity", "feedforward"))
    takes = 4
    arrives = 3000

    def __init__(self, **options: Any) -> None:
        self.leg = Leg()
        self.options = {"name": "drive 1", "device": "memory", "baud": 230_400, "turnaround": 1e-4, **options}
        self.faults = create_twin("iai", self.options, self.leg)
        self.now = 0.0
        self.sent: list[bytes] = []
        drive = create_drive("iai", {**self.options, "open_wire": lambda _timeout: MemoryWire(self.respond)})
        assert isinstance(drive, Iai)
        self.drive = drive
        self.drive.connect(1.0)

    @property
    def controller(self) -> VirtualRoboCylinder:
        """The twin."""
        controller = self.faults.device
        assert isinstance(controller, VirtualRoboCylinder)
        return controller

    def respond(self, frame: bytes) -> bytes:
        self.sent.append(frame)
        return self.faults.respond(frame)

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.faults.tick(self.now)

    def do(self, command):
        """One cycle of 2 ms."""
        self.pass_time(0.002)
        return self.drive.exchange(command, self.now, 0.0)
