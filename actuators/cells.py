"""One interface to the six load cells, read by the drives or by separate devices."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from actuators.bus import HalfDuplexBus
from actuators.cell_device import CellDevice
from actuators.drive import Drive
from actuators.errors import ActuatorError, ConfigurationError
from actuators.exchange import CycleExchange

CELLS = 6


class CellReading(NamedTuple):
    """Six forces of one cycle; the arrays are valid until the next one.

    forces: (6,) N, raw cell signals of legs 1 to 6, compression positive; NaN where there is no valid value. fresh:
    False if any is not of this cycle. age: s since the oldest was received, 0 when all are of this cycle.
    offsets: (6,) s from the time of the cycle to when each was measured, as far as the bus tells; negative: before it.
    Of cells in drives as `Feedback.offset`, of the cycle in which they were received.
    """

    forces: NDArray[np.float64]
    fresh: bool
    age: float
    offsets: NDArray[np.float64]


class CellSource(ABC):
    """Six load cells, read along with the drives: `begin` sends, `finish` collects, neither raises nor waits longer."""

    @property
    def connected(self) -> bool:
        """Whether every device of its own is connected."""
        return True

    @property
    def silence(self) -> str:
        """Known reason why the last reading was not fresh; empty if it was, or without a reading."""
        return ""

    lines: Sequence[HalfDuplexBus] = ()
    """Shared lines of its devices."""
    members: Sequence[CellDevice] = ()
    """Separate devices."""

    @property
    @abstractmethod
    def overdue(self) -> bool:
        """Whether some device had no new value at its last request; see `Drive.overdue`."""

    @property
    @abstractmethod
    def silent(self) -> list[str]:
        """Names of the devices without a new value for the last reading."""

    @abstractmethod
    def connect(self, timeout: float) -> None:
        """Connect the separate devices, each within `timeout` s. Raises ActuatorError."""

    @abstractmethod
    def close(self) -> None:
        """Close the separate devices; idempotent."""

    @abstractmethod
    def begin(self, now: float) -> None:
        """Send the cycle's requests; now: s, the cycle's time."""

    @abstractmethod
    def finish(self, drives: CycleExchange, deadline: float) -> CellReading:
        """The reading of the cycle by `deadline` (s); drives: after the cycle's exchange with them."""


class DriveCells(CellSource):
    """Cells wired to their legs' drives."""

    def __init__(self, drives: Sequence[Drive]) -> None:
        """drives: of legs 1 to 6."""
        self._drives = tuple(drives)
        self._silent: list[str] = []
        self._prompt: CellReading | None = None
        """a reading whose values are all of this cycle: the same arrays each time"""

    @property
    def overdue(self) -> bool:
        """See `CellSource.overdue`."""
        return any([drive.overdue for drive in self._drives])

    @property
    def silent(self) -> list[str]:
        """See `CellSource.silent`."""
        return self._silent

    def connect(self, timeout: float) -> None:
        """See `CellSource.connect`: the engine connects the drives."""

    def close(self) -> None:
        """See `CellSource.close`."""

    def begin(self, now: float) -> None:
        """See `CellSource.begin`: the drives' own requests ask for the forces."""

    def finish(self, drives: CycleExchange, deadline: float) -> CellReading:
        """See `CellSource.finish`."""
        if drives.prompt:
            self._silent = []
            if self._prompt is None or self._prompt.forces is not drives.force:
                self._prompt = CellReading(drives.force, True, 0.0, drives.offset)
            return self._prompt
        fresh = drives.fresh.tolist()
        self._silent = [drive.name for drive, one in zip(self._drives, fresh, strict=True) if not one]
        return CellReading(drives.force, not self._silent, max(drives.age.tolist()), drives.offset)


class DeviceCells(CellSource):
    """Cells of one or several devices, whose channels are legs 1 to 6 in order."""

    def __init__(self, devices: Sequence[CellDevice]) -> None:
        """Raises ConfigurationError unless the devices have six channels in total."""
        self._devices = tuple(devices)
        channels = sum(device.channels for device in devices)
        if channels != CELLS:
            names = ", ".join(device.name for device in devices)
            raise ConfigurationError(f"{names}: {channels} channels in all, {CELLS} legs have a cell each")
        self._silent: list[str] = []
        self._forces, self._offsets = np.zeros(CELLS), np.zeros(CELLS)
        self.lines = [device.line for device in self._devices if device.line is not None]
        self.members = self._devices

    @property
    def connected(self) -> bool:
        """See `CellSource.connected`."""
        return all(device.connected for device in self._devices)

    @property
    def silence(self) -> str:
        """See `CellSource.silence`."""
        standing = [device.name for device in self._devices if device.standing]
        if not standing:
            return ""
        names = ", ".join(f"the {name}" if name == "amplifier" else name for name in standing)
        one = len(standing) == 1
        return f"{names} {'answers, but its conversion counter stands' if one else 'answer, but no counter moves'}"

    @property
    def overdue(self) -> bool:
        """See `CellSource.overdue`."""
        return any([device.overdue for device in self._devices])

    @property
    def silent(self) -> list[str]:
        """See `CellSource.silent`."""
        return self._silent

    def connect(self, timeout: float) -> None:
        """See `CellSource.connect`."""
        faults = []
        for device in self._devices:
            try:
                device.connect(timeout)
            except ActuatorError as error:
                faults.append(error)
        if faults:
            raise faults[0] if len(faults) == 1 else ActuatorError("; ".join(map(str, faults)))

    def close(self) -> None:
        """See `CellSource.close`."""
        for device in self._devices:
            device.close()

    def begin(self, now: float) -> None:
        """See `CellSource.begin`."""
        for device in self._devices:
            device.begin(now)

    def finish(self, drives: CycleExchange, deadline: float) -> CellReading:
        """See `CellSource.finish`."""
        readings = [device.finish(deadline) for device in self._devices]
        self._silent = [one.name for one, read in zip(self._devices, readings, strict=True) if not read.fresh]
        self._forces[:] = [force for reading in readings for force in reading.forces]
        self._offsets[:] = [reading.offset - reading.age for reading in readings for _force in reading.forces]
        age = max([reading.age for reading in readings])
        return CellReading(self._forces, not self._silent, age, self._offsets)
