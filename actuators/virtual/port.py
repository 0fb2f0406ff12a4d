"""Where a virtual drive meets the simulated plant: one `PlantPort` per leg, injected into the leg's twin."""

from typing import Protocol

from actuators.interface import Mode


class Cell(Protocol):
    """A load cell; a `PlantPort` or a virtual drive is one."""

    @property
    def cell(self) -> float:
        """Signal in N, compression positive; not finite when there is none."""


class PlantPort(Protocol):
    """One leg of the plant as its drive sees it: three sensors, a homing switch and one output.

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
