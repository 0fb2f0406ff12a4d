"""A CiA 402 drive on CANopen over memory to its twin."""

from typing import Any

from actuators.canopen import VirtualCanopenDrive
from rig.testing import DriveBench


class CanopenBench(DriveBench):
    """A drive on CANopen."""

    lacks = frozenset(("feedforward", "brake", "one set-point", "transaction"))
    takes = 6
    arrives = 2
    force_step = 0.5

    def __init__(self, **options: Any) -> None:
        super().__init__("canopen", {"device": "can://memory/0", "unit": 3, **options})

    @property
    def node(self) -> VirtualCanopenDrive:
        """The twin."""
        node = self.faults.device
        assert isinstance(node, VirtualCanopenDrive)
        return node
