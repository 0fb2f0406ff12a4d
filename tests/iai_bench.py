"""A ROBO Cylinder's driver over memory to its twin."""

from typing import Any

from actuators.iai import VirtualRoboCylinder
from rig.testing import DriveBench


class IaiBench(DriveBench):
    """A ROBO Cylinder."""

    step = 1e-5
    lacks = frozenset(("identity", "feedforward"))
    takes = 4
    arrives = 3000

    def __init__(self, **options: Any) -> None:
        super().__init__("iai", {"device": "memory", "baud": 230_400, "turnaround": 1e-4, **options})

    @property
    def controller(self) -> VirtualRoboCylinder:
        """The twin."""
        controller = self.faults.device
        assert isinstance(controller, VirtualRoboCylinder)
        return controller
