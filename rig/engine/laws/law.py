"""What a control law is to the engine: the mode in which it has the drives, and six commands a cycle."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from actuators import Command, Mode
from rig.engine.frame import Frame


class ControlLaw(ABC):
    """Gives six commands a cycle while the rig's state lets it; what stops the rig is told by others.

    `name` is what the configuration calls it; `mode` the one in which it has the drives. `host_loop`: the loop is
    closed here, over the wire, so that its stability is a matter of this rig's gains and rate; else the drives close
    their own, and what is measured is the only guard of their forces.
    """

    name: ClassVar[str]
    mode: ClassVar[Mode]
    host_loop: ClassVar[bool]

    @classmethod
    def needed_modes(cls) -> tuple[Mode, ...]:
        """Modes without which a drive cannot be used."""
        return (Mode.OFF, cls.mode, Mode.HOMING)

    @abstractmethod
    def compute(self, frame: Frame) -> None:
        """Fill `force_feedforward`, `force_command` and what else the mode takes of the frame's fields.

        Raises:
            DynamicsError: the model has no solution at the reference (singular pose).
        """

    @abstractmethod
    def commands(self, frame: Frame) -> Sequence[Command]:
        """The six commands of the fields as they stand, once they were judged."""
