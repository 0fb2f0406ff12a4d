"""What a control law is to the engine: the mode in which it has the drives, and six commands a cycle."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Self

from actuators import Command
from dynamics import Dynamics
from kinematics import Array
from rig.config import RigConfig
from rig.engine.cycle_data import CycleData
from rig.findings import Finding
from rig.states import StopSeverity


class LawFault(Exception):  # noqa: N818  not an error of the program
    """What a law finds wrong, and how the rig must stop for it."""

    def __init__(self, finding: Finding, severity: StopSeverity) -> None:
        super().__init__(finding)
        self.finding, self.severity = finding, severity


class ControlLaw(ABC):
    """Gives six commands a cycle while the rig's state lets it; what stops the rig is told by others.

    `name` is what the configuration calls it. `own_loops` tells by leg whether the drive closes its own loop, on its
    length, so that what is measured is the only guard of its force; else the loop is closed here, over the wire, and
    its stability is a matter of this rig's gains and rate. `platform`: all six legs move the platform along
    the reference, which is homed, and the model holds; else only the legs that are not `held` by their brakes move.
    `following_error_stop`: how the rig must stop where a leg is off its reference by a following error. Of a law that
    moves single legs, `commanded` (6,) is 1 where a leg is to be at its reference, `homed` (6,) where its length is
    absolute: only there does feedback mean what is judged of it.
    """

    name: str
    kernels: ClassVar[tuple[str, ...]] = ()
    """Compiled functions that it calls, with their modules: how many of them are compiled is shown at the start."""
    own_loops: tuple[bool, ...]
    platform: ClassVar[bool] = True
    following_error_stop: ClassVar[StopSeverity] = StopSeverity.CATEGORY_1
    held: tuple[bool, ...] = (False,) * 6
    commanded: Array
    homed: Array

    @classmethod
    def of(cls, config: RigConfig, dynamics: Dynamics) -> Self:
        """The law of a configuration, on the exact model `dynamics`."""
        raise NotImplementedError

    def refer(self, cycle: CycleData) -> None:  # noqa: B027  most have nothing to say
        """Say where the legs should be now, where that is not the platform's reference."""

    @abstractmethod
    def compute(self, cycle: CycleData) -> None:
        """Fill `cycle.set_points`: `feedforward`, `force`, and `position` where a drive follows lengths.

        Raises:
            DynamicsError: the model has no solution at the reference (singular pose).
            LawFault: the law finds something wrong itself.
        """

    @abstractmethod
    def commands(self, cycle: CycleData) -> Sequence[Command]:
        """The six commands of the set-points, once they were judged."""
