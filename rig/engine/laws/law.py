"""Interface of a control law: the modes of the drives, and six commands a cycle; and the guard of somebody else's."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Literal, Self

import numpy as np

from actuators import Command, Commands, Mode
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
    following_error_stop: StopSeverity = StopSeverity.CATEGORY_1
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


class GuardedLaw(ControlLaw):
    """A law of somebody else. What is sent are the checked set-points, in the mode that the drives were set up for.

    Where the law has other commands it raises, which stops the rig as any error of a law does.

    Args:
        law: the law.
        name: that it is declared by.
        drives: what it declares to command.

    Raises:
        ValueError: its own word on the drives is another than the declared one, or it moves single legs.
    """

    def __init__(self, law: ControlLaw, name: str, drives: Literal["force", "position"]) -> None:
        own = drives == "position"
        if tuple(law.own_loops) != (own,) * 6:
            raise ValueError(f"own_loops is {law.own_loops!r}, drives = {drives!r} is declared")
        if not law.platform:
            raise ValueError("platform is False: a law of a configuration moves the whole platform")
        self.name, self.own_loops = name, (own,) * 6
        self.held, self.following_error_stop = law.held, law.following_error_stop
        self.law = law
        self._mode = Mode.POSITION if own else Mode.FORCE
        self._now = np.zeros(19)

    def refer(self, cycle: CycleData) -> None:
        """See `ControlLaw.refer`."""
        self.law.refer(cycle)

    def compute(self, cycle: CycleData) -> None:
        """See `ControlLaw.compute`. Raises ValueError where it changed the reference, or arrays of the set-points."""
        points, now = cycle.set_points, cycle.reference.now
        force, feedforward, position = points.force, points.feedforward, points.position
        self._now[:] = now
        self.law.compute(cycle)
        if not np.array_equal(now, self._now):
            now[:] = self._now
            raise ValueError("it changed the reference, which is to be read")
        if points.force is not force or points.feedforward is not feedforward or points.position is not position:
            points.force, points.feedforward, points.position = force, feedforward, position
            raise ValueError("it replaced an array of set_points, which are filled in place")

    def commands(self, cycle: CycleData) -> Sequence[Command]:
        """See `ControlLaw.commands`. Raises ValueError where these are not those of the set-points."""
        commands, points, mode = self.law.commands(cycle), cycle.set_points, self._mode
        if isinstance(commands, Commands) and commands.values.shape == (6, 7):
            values = commands.values
        else:
            values = np.array(list(commands), np.float64)
            if values.shape != (6, 7):
                raise ValueError(f"it gives {len(values)} commands, must be six")
        if not (values[:, 0] == mode).all() or not values[:, 4].all() or values[:, 5:].any():
            raise ValueError(f"its commands are not all in mode {mode.name} with torque on")
        if not np.array_equal(values[:, 1], points.force):
            raise ValueError(f"it commands the forces {values[:, 1]} N, its checked set-points are {points.force} N")
        if mode is Mode.POSITION and not np.array_equal(values[:, 2], points.position):
            raise ValueError(f"it commands the lengths {values[:, 2]} m, its set-points are {points.position} m")
        if not np.isfinite(values[:, 3]).all():
            raise ValueError(f"it commands the speeds {values[:, 3]} m/s, must be finite")
        return commands
