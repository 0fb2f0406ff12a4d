"""Load cells read for calibration: of a real rig loaded by the user, or of the virtual one."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

import numpy as np

from actuators import COMMAND_OFF, CycleExchange, Wire
from calibration import CELLS, CellBench, CellMeasurements, Load, check_masses, record_measurements
from kinematics import Array
from rig.config import RigConfig, load_config
from rig.engine import claim_drives, make_cells, make_drive
from rig.errors import HardwareError
from rig.runtime import Cadence
from rig.services.job import OnEvent, Progress

if TYPE_CHECKING:
    from rig.virtual import VirtualRig

SILENCE = 1.0
"""s without a new reading of every cell before giving up."""


class CellReader:
    """Raw readings of a rig's six cells, from its drives (which stay off) or from separate devices.

    Args:
        config: the rig.
        wires: see `make_drive_group`.
        clock: s, time of the exchanges.

    Raises:
        ConfigurationError: a driver or profile does not accept the configuration.
    """

    def __init__(
        self,
        config: RigConfig,
        wires: Callable[[], Sequence[Wire]] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._timeout = config.drives.connect_timeout
        self._reply_time = config.drives.reply_deadline * config.period
        self._clock = clock
        own = bool(config.load_cells.places)  # then no drive is used
        self._drives = [] if own else [make_drive(config, leg, wires) for leg in range(CELLS)]
        self._exchange = CycleExchange(self._drives)
        self._cells = make_cells(config, self._drives, wires)

    def connect(self) -> None:
        """Connect and verify that the devices are those of the configuration.

        Raises:
            HardwareError: a drive has no force feedback.
            ActuatorError: a device does not answer, or is not the expected one.
        """
        blind = [drive.name for drive in self._drives if not drive.capabilities.force_feedback]
        if blind:
            raise HardwareError(f"{', '.join(blind)}: no force feedback; name the cells' devices in [load_cells]")
        for drive in self._drives:
            drive.connect(self._timeout)
            drive.identify()
        self._cells.connect(self._timeout)

    def reconnect(self) -> None:
        """Reconnect after a device closed an idle connection. Raises ActuatorError."""
        deadline = time.monotonic() + min(self._timeout, SILENCE)
        while self.exchange()[1] and self._connected:
            if time.monotonic() > deadline:  # a disconnection may show later than the reply timeout
                break
        for drive in self._drives:
            if not drive.connected:
                drive.connect(self._timeout)
        if not self._cells.connected:
            self._cells.connect(self._timeout)

    def exchange(self) -> tuple[Array, list[str]]:
        """Return raw readings (6,) N and the names of the devices without a new one."""
        now = self._clock()
        self._cells.begin(now)
        drives = self._exchange
        drives.exchange([COMMAND_OFF] * len(self._drives), now, self._reply_time)
        reading = self._cells.finish(drives, now + self._reply_time)
        return np.array(reading.forces), self._cells.silent

    def close(self) -> None:
        """Close all connections."""
        for drive in self._drives:
            drive.close()
        self._cells.close()

    @property
    def _connected(self) -> bool:
        return self._cells.connected and all(drive.connected for drive in self._drives)


class AttendedCells:
    """Cells of a real rig, loaded by the user: a `calibration.CellBench`.

    Args:
        reader: of the cells, connected.
        period: s between two samples.
        load: how the masses load the cells.
        progress: receives each instruction as an event with `waits`; returns when it is done.
    """

    def __init__(self, reader: CellReader, period: float, load: Load, progress: OnEvent) -> None:
        self._progress = progress
        self._reader = reader
        self._period = period
        self._placed = "put-on" if load == "compression" else "hang-from"

    def load(self, cell: int, mass: float) -> None:
        """Prompt for the mass."""
        if mass:
            self._progress(Progress(self._placed, values={"cell": cell, "mass": mass}, waits=True))
        else:
            self._progress(Progress("take-off", values={"cell": cell}, waits=True))

    def unload(self) -> None:
        """Prompt for unloaded cells."""
        self._progress(Progress("take-off-all", waits=True))

    def read(self, samples: int) -> Array:
        """Read one sample per period. Raises HardwareError after `SILENCE` without a new one."""
        self._reader.reconnect()
        return _read(self._reader, samples, self._period, Cadence(self._period).wait)


class VirtualCells:
    """Cells of the virtual rig with simulated masses: a `calibration.CellBench`.

    Only the masses load the cells, not the platform's weight, as on a bench.
    """

    def __init__(self, rig: "VirtualRig", reader: CellReader, period: float, load: Load, gravity: float) -> None:
        self._rig = rig
        self._reader = reader
        self._period = period
        self._pull = gravity if load == "compression" else -gravity
        self._now = 0.0

    def load(self, cell: int, mass: float) -> None:
        """Load one cell only."""
        self.unload()
        self._put(cell, mass * self._pull)

    def unload(self) -> None:
        """Load no cell."""
        for cell in range(1, CELLS + 1):
            self._put(cell, 0.0)

    def read(self, samples: int) -> Array:
        """Read one sample per period of simulated time, as fast as possible."""
        return _read(self._reader, samples, self._period, self._step)

    def _put(self, cell: int, force: float) -> None:
        self._rig.faults.inject("test_load", cell, force - self._rig.plant.cells[cell - 1])

    def _step(self) -> None:
        self._now += self._period
        self._rig.advance(self._now)


class PromptedCells:
    """Cells that report every step before it is read: a `calibration.CellBench`.

    Args:
        cells: the cells to read.
        steps: number of loading and unloading steps.
        progress: receives each step.
    """

    def __init__(self, cells: CellBench, steps: int, progress: OnEvent) -> None:
        self._progress = progress
        self._cells = cells
        self._steps = steps
        self._done = 0

    def load(self, cell: int, mass: float) -> None:
        """See `CellBench`."""
        self._cells.load(cell, mass)
        self._report("reading-cell", {"cell": cell, "mass": mass})

    def unload(self) -> None:
        """See `CellBench`."""
        self._cells.unload()
        self._report("reading-cells", {})

    def read(self, samples: int) -> Array:
        """See `CellBench`."""
        return self._cells.read(samples)

    def _report(self, stage: str, values: dict[str, float]) -> None:
        self._progress(Progress(stage, self._done, self._steps, values))
        self._done += 1


def describe(name: str, masses: Sequence[float]) -> str:
    """Describe the calibration of a rig's cells, without connecting.

    Raises:
        ConfigError: an invalid configuration. CalibrationError: masses that cannot be fitted.
    """
    config = load_config(name)
    check_masses(np.asarray(masses, dtype=np.float64), "masses")
    if config.virtual is not None:
        return f"six cells of the virtual rig {config.name}, {len(masses)} masses on each, which hang themselves"
    where = "in devices of their own" if config.load_cells.places else "in its drives, which stay off"
    return f"six cells of the rig {config.name} {where}: {CELLS * len(masses)} times a mass is to be changed by hand"


def record(
    name: str, masses: Sequence[float], samples: int, load: Load, gravity: float | None, progress: OnEvent
) -> tuple[CellMeasurements, str, float]:
    """Return measurements of a rig's cells, their origin as text, and the acting gravity (m/s²).

    Args:
        name: configuration, as for `load_config`.
        masses: kg, in order.
        samples: samples of a reading.
        load: how the masses load the cells.
        gravity: m/s²; None: the mechanism's.
        progress: receives each step and each instruction.

    Raises:
        ConfigError, ActuatorError, HardwareError, CalibrationError: as its parts.
    """
    config = load_config(name)
    own = float(np.linalg.norm(config.machine.gravity)) if gravity is None else gravity

    def recorded(cells: CellBench) -> CellMeasurements:
        steps = CELLS * len(masses) + 2
        return record_measurements(PromptedCells(cells, steps, progress), masses, samples)

    with ExitStack() as stack:
        if config.virtual is None:
            if not config.load_cells.places:  # separate cell devices need no drive
                stack.enter_context(claim_drives(config))
            reader = stack.enter_context(closing(CellReader(config)))
            reader.connect()
            cells = AttendedCells(reader, config.period, load, progress)
            return recorded(cells), f"rig {config.name}", own
        from rig.virtual import VirtualRig, payload_of

        payload = payload_of(config)
        if payload is not None:
            stack.enter_context(payload)
        rig = VirtualRig(config, payload=payload)
        reader = stack.enter_context(closing(CellReader(config, rig.wires, lambda: rig.time)))
        reader.connect()
        bench = VirtualCells(rig, reader, config.period, load, own)
        return recorded(bench), f"virtual rig {config.name}", own


def _read(reader: CellReader, samples: int, period: float, wait: Callable[[], None]) -> Array:
    readings = np.empty((samples, CELLS))
    count = waited = 0
    mute: set[str] = set()  # devices without any reply since the last sample
    while count < samples:
        wait()
        raw, silent = reader.exchange()
        if not silent:
            readings[count] = raw
            count, waited = count + 1, 0
            continue
        mute = mute.intersection(silent) if waited else set(silent)
        waited += 1
        if waited * period >= SILENCE:
            names = ", ".join(sorted(mute) or silent)
            raise HardwareError(f"{names}: no fresh load-cell reading for {SILENCE:g} s")
    return readings
