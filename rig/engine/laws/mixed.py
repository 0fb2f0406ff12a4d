"""Drives of both kinds on one platform: lengths for those that close their own loops, forces for the others."""

from collections.abc import Sequence

import numpy as np

from actuators import Command
from rig.engine.cycle_data import CycleData
from rig.engine.laws.force import ForceLaw
from rig.engine.laws.law import ControlLaw
from rig.engine.laws.position import PositionLaw


class MixedLaw(ControlLaw):
    """Some legs follow lengths by their drives' own loops; forces act on the others as `ForceLaw` has it.

    Computed torque is not used: it couples the errors of all legs, and with the drives' own loops it became unstable at
    half the gains that are stable without (lab-hexapod, ROBO Cylinders).

    Args:
        forces, lengths: the two laws.
        own_loops: by leg, whether its drive closes its own loop.
    """

    def __init__(self, forces: ForceLaw, lengths: PositionLaw, own_loops: Sequence[bool]) -> None:
        self.name = forces.name
        self.own_loops = tuple(own_loops)
        self._forces, self._lengths = forces, lengths
        self._own = np.array(own_loops)

    def refer(self, cycle: CycleData) -> None:
        """See `ControlLaw.refer`."""
        self._forces.refer(cycle)

    def compute(self, cycle: CycleData) -> None:
        """See `ControlLaw.compute`."""
        self._lengths.compute(cycle)
        cycle.set_points.position[~self._own] = np.nan
        self._forces.close_loop(cycle)
        cycle.set_points.force[self._own] = cycle.set_points.feedforward[self._own]

    def commands(self, cycle: CycleData) -> list[Command]:
        """For each leg the command of its drive's mode."""
        both = zip(self.own_loops, self._lengths.commands(cycle), self._forces.commands(cycle), strict=True)
        return [length if own else force for own, length, force in both]
