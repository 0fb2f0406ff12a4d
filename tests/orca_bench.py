"""An ORCA motor's driver over memory to its twin."""

from typing import Any

from actuators.orca import Orca, VirtualOrca
from rig.testing import DriveBench


class OrcaBench(DriveBench):
    """An ORCA motor."""

    lacks = frozenset(("velocity", "quick stop", "brake", "one set-point"))
    takes = 4
    drive: Orca

    def __init__(self, **options: Any) -> None:
        super().__init__("orca", {"device": "memory", "baud": 1_000_000, "turnaround": 1e-4, **options})

    @property
    def motor(self) -> VirtualOrca:
        """The twin."""
        motor = self.faults.device
        assert isinstance(motor, VirtualOrca)
        return motor
