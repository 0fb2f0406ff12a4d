"""A leg whose sensors lie to its drive."""

import math
from collections.abc import Callable

from actuators.interface import Mode
from actuators.virtual.device import VirtualDevice
from actuators.virtual.port import PlantPort


class FaultyPort:
    """A leg whose sensors lie. What they showed when a fault began is kept for as long as the fault lasts."""

    def __init__(
        self, port: PlantPort, faults: dict[str, float], device: VirtualDevice, before: "FaultyPort | None"
    ) -> None:
        """port: the leg. faults: active ones of its sensors, with their values. before: what it was until now."""
        self._port = port
        self._device = device
        self._faults = faults
        self._kept: dict[str, float] = {}
        read: dict[str, Callable[[], float]] = {
            "encoder_frozen": lambda: port.length,
            "encoder_reversed": lambda: port.length,
            "encoder_creep": lambda: device.now,
            "cell_silent": lambda: port.cell,
        }
        for name, now in read.items():
            if name in faults:
                kept = before._kept if before is not None else {}
                self._kept[name] = kept[name] if name in kept else now()

    @property
    def length(self) -> float:
        """See `PlantPort.length`."""
        faults = self._faults
        if "encoder_nan" in faults:
            return math.nan
        length = self._kept.get("encoder_frozen", self._port.length)
        if "encoder_reversed" in faults:
            length = 2.0 * self._kept["encoder_reversed"] - length
        if "encoder_creep" in faults:
            length += faults["encoder_creep"] * (self._device.now - self._kept["encoder_creep"])
        return length * faults.get("encoder_scale", 1.0) + faults.get("encoder_jump", 0.0)

    @property
    def velocity(self) -> float:
        """See `PlantPort.velocity`."""
        faults = self._faults
        if "encoder_nan" in faults:
            return math.nan
        if "encoder_frozen" in faults:
            return 0.0
        velocity = -self._port.velocity if "encoder_reversed" in faults else self._port.velocity
        return velocity * faults.get("encoder_scale", 1.0)

    @property
    def cell(self) -> float:
        """See `PlantPort.cell`."""
        faults = self._faults
        if "cell_nan" in faults:
            return math.nan
        if "cell_saturated" in faults:
            return faults["cell_saturated"]
        cell = self._kept.get("cell_silent", self._port.cell)
        return cell * faults.get("cell_scale", 1.0) + faults.get("cell_offset", 0.0)

    @property
    def homing_done(self) -> bool:
        """See `PlantPort.homing_done`."""
        return self._port.homing_done

    def command(
        self,
        mode: Mode,
        force: float,
        position: float,
        velocity: float,
        enabled: bool,
        quick_stop: bool,
        brake: bool,
    ) -> None:
        """See `PlantPort.command`."""
        sign = -1.0 if "force_reversed" in self._faults else 1.0
        self._port.command(mode, sign * force, position, velocity, enabled, quick_stop, brake)
