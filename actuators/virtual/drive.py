"""What virtual drives have in common: where each meets the plant, and the faults of its sensors and power stage."""

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from actuators.interface import Mode
from actuators.virtual.device import VirtualDevice


class Cell(Protocol):
    """A load cell; a `PlantPort` or a virtual drive is one."""

    @property
    def cell(self) -> float:
        """Signal in N, compression positive; not finite when there is none."""


class PlantPort(Protocol):
    """One leg of the plant as its drive sees it: four sensors, a homing switch and one output.

    The owner of the plant integrates it to the present instant before a twin answers; a twin only reads these
    attributes (plain attributes will do) and calls `command` when what it commands may have changed.
    """

    @property
    def length(self) -> float:
        """Leg length, m: what a homed encoder of unlimited resolution would read."""

    @property
    def velocity(self) -> float:
        """Rate of the leg length, m/s."""

    @property
    def cell(self) -> float:
        """Signal of the leg's load cell in N, compression positive; not finite when the cell gives no value."""

    @property
    def motor(self) -> float:
        """Force of the leg's motor by its current, N, pushing positive: with the drive's friction and inertia."""

    @property
    def homing_done(self) -> bool:
        """True once a homing run commanded by mode HOMING has reached the reference; False again in another mode."""

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
        """Set what the drive does from this instant on, until the next call.

        mode: FORCE applies `force`; POSITION closes the drive's own loop on `position` (leg length) with `velocity`
        as feedforward; HOMING moves to the reference and holds there; OFF applies nothing.
        force: N, pushing positive. position: m. velocity: m/s.
        enabled: the power stage is on; when False the mode and set-points mean nothing.
        quick_stop: the drive brings the leg to rest by itself, whatever the mode and set-points say.
        brake: the holding brake is closed.
        """


class PlantPorts(Protocol):
    """The six legs of the plant as one: what their `PlantPort`s do one by one, in one call."""

    def sense(self, out: NDArray[np.float64], legs: int) -> None:
        """Write length m, velocity m/s and cell N (3, 6) of the legs in `legs`, bit 0 for the first."""

    def command(self, commands: NDArray[np.float64], legs: int) -> None:
        """Command the legs in `legs`, by the arguments of `PlantPort.command` (6, 7), all finite."""


@dataclass(frozen=True, slots=True)
class FaultKind:
    """What a fault does, and what its value means. default: None = it takes no value."""

    text: str
    unit: str = ""
    default: float | None = None


WIRE_FAULTS = {
    "drop_write": FaultKind("the next requests are lost", "requests", 1.0),
    "drop_all": FaultKind("every request is lost"),
    "delay": FaultKind("every reply is delayed", "s", 0.02),
    "bit_flip": FaultKind("one bit of every reply, counted from its first, is inverted", "bit", 57.0),
    "noise": FaultKind("invalid bytes precede every reply", "bytes", 3.0),
    "busy": FaultKind("every request is refused, on Modbus with exception 06"),
    "replay": FaultKind("every request is answered with the reply before"),
    "lag": FaultKind("every reply has the content of an earlier one, as from a polling gateway", "cycles", 1.0),
    "hang": FaultKind("the application hangs: the network still answers, with frozen registers"),
    "rechunk": FaultKind("the second half of a reply arrives with the next one", "replies", 1.0),
    "close": FaultKind("the connection is closed at every request"),
    "swap_unit": FaultKind("another device answers in place of this one", "device 1..n", 1.0),
}
"""Faults of any device: of its wire, or of what answers there."""

SENSOR_FAULTS = {
    "encoder_frozen": FaultKind("the position sensor is frozen"),
    "encoder_jump": FaultKind("the position sensor jumps by an offset", "m", 0.005),
    "encoder_creep": FaultKind("the position sensor drifts away from the true length", "m/s", 0.1),
    "encoder_scale": FaultKind("the position sensor's reading is scaled by a factor", "", 1.01),
    "encoder_nan": FaultKind("the position sensor has no valid value"),
    "encoder_reversed": FaultKind("the position sensor counts backwards from the present length"),
    "force_reversed": FaultKind("the drive pushes instead of pulling"),
    "cell_nan": FaultKind("the load cell has no valid value"),
    "cell_silent": FaultKind("the load cell is frozen"),
    "cell_saturated": FaultKind("the load cell is saturated", "N", 1000.0),
    "cell_offset": FaultKind("the load cell has a constant offset", "N", 20.0),
    "cell_scale": FaultKind("the load cell's reading is scaled by a factor", "", 1.1),
}
"""Faults of a drive's sensors and power stage."""

AUXILIARY_FAULTS = {
    "temperature": FaultKind("the drive reports this temperature", "°C", 95.0),
    "supply": FaultKind("the drive reports this supply voltage", "V", 20.0),
}
"""What a drive can be made to say in the auxiliary registers of these names, where its profile has them."""

POWER_FAULTS = {
    "safe_torque_off": FaultKind("the power stage has no supply, which is not a fault; torque returns with the supply"),
    "torque_stuck": FaultKind("the power stage stays on or switches on regardless of the command"),
}
"""Faults of a drive's power stage, its brake excepted."""

SERVO_FAULTS = {
    **WIRE_FAULTS,
    **SENSOR_FAULTS,
    **AUXILIARY_FAULTS,
    **POWER_FAULTS,
    "reboot": FaultKind("the drive is power-cycled, once"),
}
"""All faults of a virtual drive."""

INVALID_CHANNEL = "invalid_"
"""Before the channel's number, a fault of an amplifier."""
AMPLIFIER_FAULTS = {
    **{name: kind for name, kind in WIRE_FAULTS.items() if name != "swap_unit"},
    "standing": FaultKind("the amplifier has stopped converting: its counter and values are frozen"),
    **{
        f"{INVALID_CHANNEL}{channel}": FaultKind(
            "the amplifier flags the leg's channel as invalid but delivers a value"
        )
        for channel in range(1, 7)
    },
}
"""All faults of a virtual load-cell amplifier."""


class VirtualDrive(VirtualDevice):
    """A virtual drive over one leg of the plant; one on Modbus is a `ModbusDevice` beside."""

    fault_kinds: ClassVar[Mapping[str, FaultKind]] = SERVO_FAULTS
    """Faults that it can have, by name."""

    plant: PlantPort
    """The leg; one that lies takes its place while a sensor fails."""

    inputs: Mapping[str, bool] = {}
    """signals at its digital inputs, by name; a drive that has some has a dict of its own"""
    outputs: Mapping[str, bool] = {}
    """its digital outputs"""

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
