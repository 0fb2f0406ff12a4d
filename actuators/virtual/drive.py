"""What faults of a virtual drive's sensors and power stage work on, whatever it speaks."""

import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from actuators.virtual.device import VirtualDevice
from actuators.virtual.fault_kinds import SERVO_FAULTS, FaultKind
from actuators.virtual.port import PlantPort


class VirtualDrive(VirtualDevice):
    """A virtual drive over one leg of the plant; one on Modbus is a `ModbusDevice` beside."""

    fault_kinds: ClassVar[Mapping[str, FaultKind]] = SERVO_FAULTS
    """Faults that it can have, by name."""

    plant: PlantPort
    """The leg; one that lies takes its place while a sensor fails."""

    longest_step = math.inf
    """s for which the plant may go on between two ticks: a drive that moves its set-point by itself bears little."""

    torque_stuck = False
    """The power stage is on whatever is commanded, against the brake, which does as it is told."""

    @property
    def cell(self) -> float:
        """Load-cell signal as the drive's input sees it, N."""
        return self.plant.cell

    @abstractmethod
    def show(self, name: str, value: float | None) -> None:
        """Let an auxiliary quantity show `value`, None = its usual one; nothing where the drive does not say it."""

    @abstractmethod
    def bar_torque(self, barred: bool) -> None:
        """Open the circuit of safe torque off, or close it again."""

    @abstractmethod
    def reboot(self) -> None:
        """Power-cycle the drive: power off, not homed, every register at its power-up value, the watchdog off."""
