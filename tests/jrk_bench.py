"""A Jrk G2's driver over memory to its twin."""

from typing import Any

from actuators import Mode
from actuators.jrk import VirtualJrk
from rig.testing import BenchLeg as Leg
from rig.testing import DriveBench


class JrkLeg(Leg):
    """Where it comes to its end is the target of its controller, whose spindle turns until it is there."""

    def __init__(self, bench: "JrkBench") -> None:
        super().__init__()
        self.bench = bench

    def settle(self) -> None:
        super().settle()
        if self.enabled and self.mode is Mode.POSITION:
            self.length = self.position = self.bench.controller.goal


class JrkBench(DriveBench):
    """A Jrk G2."""

    step = 0.3 / 4095
    lacks = frozenset(("identity", "velocity", "feedforward", "quick stop", "brake"))
    takes = 60

    def __init__(self, **options: Any) -> None:
        given = {"device": "memory", "baud": 115_200, "position_offset": 0.5, "homing_speed": 0.5}
        super().__init__("jrk-g2", given | options)

    def make_leg(self) -> Leg:
        return JrkLeg(self)

    @property
    def controller(self) -> VirtualJrk:
        """The twin."""
        controller = self.faults.device
        assert isinstance(controller, VirtualJrk)
        return controller
