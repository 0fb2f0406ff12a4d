"""Interface of a control law: the modes of the drives, and six commands a cycle."""

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
    """A fault found by a law, with the required stop."""

    def __init__(self, finding: Finding, severity: StopSeverity) -> None:
        super().__init__(finding)
        self.finding, self.severity = finding, severity


class ControlLaw(ABC):
    """Gives six commands a cycle while the rig's state permits it; other parts stop the rig.

    `name`: in the configuration. `own_loops`: by leg, whether the drive closes its own length loop, so that only the
    measured force guards it; else this rig closes the loop over the wire, and its gains and rate decide on stability.
    `platform`: all six legs move the homed platform along the reference, and the model is valid; else only the legs
    that are not `held` by their brakes move. `following_error_stop`: the stop for a following error. For a law that
    moves single legs, `commanded` (6,) is 1 where a leg follows its reference, `homed` (6,) where its length is
    absolute; feedback is judged only there.
    """

    name: str
    kernels: ClassVar[tuple[str, ...]] = ()
    """Compiled functions that it calls, with their modules, for the progress at the start."""
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
        """Set the present reference of the legs, if it is not the platform's."""

    @abstractmethod
    def compute(self, cycle: CycleData) -> None:
        """Fill `cycle.set_points`: `feedforward`, `force`, and `position` for drives that follow lengths.

        Raises:
            DynamicsError: the model has no solution at the reference (singular pose).
            LawFault: a fault found by the law itself.
        """

    @abstractmethod
    def commands(self, cycle: CycleData) -> Sequence[Command]:
        """The six commands of the checked set-points."""
