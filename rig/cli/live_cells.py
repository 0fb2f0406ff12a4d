"""Load cells read from a rig for their calibration: a real one with a person who loads them, or the virtual one."""

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from actuators import COMMAND_OFF, Wire, create_amplifier, create_drive, exchange_all
from calibration import CELLS, CellMeasurements, Load, record_measurements
from kinematics import Array
from rig.config import RigConfig, load_config
from rig.errors import HardwareError, InputError

if TYPE_CHECKING:
    from rig.virtual import VirtualRig

SILENCE = 1.0
"""s without a fresh reading of every cell before giving up."""

WireFactory = Callable[[float], Wire]


class CellReader:
    """Raw readings of a rig's six cells, from its drives (which stay off) or from its amplifier.

    Args:
        config: the rig.
        open_wires: in place of TCP connections: to the six drives, then to the amplifier if there is one.
    """

    def __init__(self, config: RigConfig, open_wires: Sequence[WireFactory] | None = None) -> None:
        self._timeout = config.drives.connect_timeout
        self._reply_time = config.drives.reply_deadline * config.period
        address = config.load_cells.amplifier
        shared: dict[str, Any] = {"request_timeout": self._timeout}
        self._conversion = -1
        self._amplifier = None
        self._drives = []
        if address is not None:
            options = address.model_dump() | shared | {"name": "load-cell amplifier"}
            self._amplifier = create_amplifier(options | _wire(open_wires, CELLS))
            return
        drives = config.drives
        for index, leg in enumerate(drives.legs):
            options = leg.model_dump() | shared | {"name": f"drive {index + 1}"}
            options |= {"profile": drives.profile, "watchdog": drives.watchdog} | _wire(open_wires, index)
            self._drives.append(create_drive(drives.driver, options))

    def connect(self) -> None:
        """Connect and make sure that the devices are those of the configuration.

        Raises:
            HardwareError: a drive has no force feedback.
            ActuatorError: a device is silent, or another one than expected.
        """
        blind = [drive.name for drive in self._drives if not drive.capabilities.force_feedback]
        if blind:
            raise HardwareError(f"{', '.join(blind)}: no force feedback; name the cells' amplifier in [load_cells]")
        for device in self._devices:
            device.connect(self._timeout)
            device.identify()

    def reconnect(self) -> None:
        """Connect again to what closed the connection while nothing was asked of it. Raises ActuatorError."""
        self.exchange()
        for device in self._devices:
            if not device.connected:
                device.connect(self._timeout)

    def exchange(self) -> tuple[Array, list[str]]:
        """Raw readings (6,) N and the names of the devices that have nothing new."""
        deadline = time.monotonic() + self._reply_time
        if self._amplifier is None:
            feedback = exchange_all(self._drives, [COMMAND_OFF] * CELLS, deadline)
            stale = [drive.name for drive, sample in zip(self._drives, feedback, strict=True) if not sample.fresh]
            return np.array([sample.force for sample in feedback]), stale
        self._amplifier.begin()
        reading = self._amplifier.finish(deadline)
        new = reading.fresh and reading.sample != self._conversion
        self._conversion = reading.sample
        return np.array(reading.forces), [] if new else [self._amplifier.name]

    def close(self) -> None:
        """Close all connections."""
        for device in self._devices:
            device.close()

    @property
    def _devices(self) -> list[Any]:
        return self._drives if self._amplifier is None else [self._amplifier]


class AttendedCells:
    """Cells of a real rig, loaded by the person at the keyboard: a `calibration.CellSource`."""

    def __init__(self, reader: CellReader, period: float, load: Load) -> None:
        self._reader = reader
        self._period = period
        self._verb = "Put" if load == "compression" else "Hang"

    def load(self, cell: int, mass: float) -> None:
        """Ask for the mass and wait for Enter."""
        _ask(f"Cell {cell}: {self._verb} {mass:g} kg on it, in all." if mass else f"Cell {cell}: take everything off.")

    def unload(self) -> None:
        """Ask for empty cells and wait for Enter."""
        _ask("Take everything off all six cells; none may carry its leg or the platform.")

    def read(self, samples: int) -> Array:
        """One sample a period. Raises HardwareError after `SILENCE` without a fresh one."""
        self._reader.reconnect()
        clock = _Cadence(self._period)
        return _read(self._reader, samples, self._period, clock.wait)


class VirtualCells:
    """Cells of the virtual rig, which hang the masses on themselves: a `calibration.CellSource`.

    The masses are on the cells alone, and the platform's weight is off them: cells on a bench.
    """

    def __init__(self, rig: "VirtualRig", reader: CellReader, period: float, load: Load, gravity: float) -> None:
        self._rig = rig
        self._reader = reader
        self._period = period
        self._pull = gravity if load == "compression" else -gravity
        self._now = 0.0

    def load(self, cell: int, mass: float) -> None:
        """Load one cell and no other."""
        self.unload()
        self._put(cell, mass * self._pull)

    def unload(self) -> None:
        """Load no cell."""
        for cell in range(1, CELLS + 1):
            self._put(cell, 0.0)

    def read(self, samples: int) -> Array:
        """One sample a period of the rig's own time, as fast as it goes."""
        return _read(self._reader, samples, self._period, self._step)

    def _put(self, cell: int, force: float) -> None:
        self._rig.faults.inject("test_load", cell, force - self._rig.plant.cells[cell - 1])

    def _step(self) -> None:
        self._now += self._period
        self._rig.advance(self._now)


def record(
    name: str, masses: Sequence[float], samples: int, load: Load, gravity: float | None
) -> tuple[CellMeasurements, str, float]:
    """Measurements of a rig's cells, where they come from in words, and the gravity (m/s²) that acted.

    Args:
        name: configuration, as `load_config` takes it.
        masses: kg, in order.
        samples: samples of a reading.
        load: how the masses load the cells.
        gravity: m/s²; None: the mechanism's.

    Raises:
        ConfigError, ActuatorError, HardwareError, CalibrationError: as its parts.
    """
    config = load_config(name)
    own = float(np.linalg.norm(config.machine.gravity)) if gravity is None else gravity
    with ExitStack() as stack:
        if config.virtual is None:
            reader = stack.enter_context(closing(CellReader(config)))
            reader.connect()
            cells = AttendedCells(reader, config.period, load)
            return record_measurements(cells, masses, samples), f"rig {config.name}", own
        from rig.virtual import VirtualRig

        rig = VirtualRig(config)
        wires = [partial(_new_wire, rig, index) for index in range(len(rig.wires()))]
        reader = stack.enter_context(closing(CellReader(config, wires)))
        reader.connect()
        bench = VirtualCells(rig, reader, config.period, load, own)
        return record_measurements(bench, masses, samples), f"virtual rig {config.name}", own


class _Cadence:
    """Absolute deadlines one period apart; those missed are skipped."""

    def __init__(self, period: float) -> None:
        self._period = period
        self._next = time.monotonic()

    def wait(self) -> None:
        now = time.monotonic()
        self._next = max(self._next + self._period, now)
        time.sleep(self._next - now)


def _read(reader: CellReader, samples: int, period: float, wait: Callable[[], None]) -> Array:
    readings = np.empty((samples, CELLS))
    count = waited = 0
    while count < samples:
        wait()
        raw, silent = reader.exchange()
        if not silent:
            readings[count] = raw
            count, waited = count + 1, 0
            continue
        waited += 1
        if waited * period >= SILENCE:
            raise HardwareError(f"{', '.join(silent)}: no fresh load-cell reading for {SILENCE:g} s")
    return readings


def _new_wire(rig: "VirtualRig", index: int, timeout: float) -> Wire:
    return rig.wires()[index]


def _wire(open_wires: Sequence[WireFactory] | None, index: int) -> dict[str, WireFactory]:
    return {} if open_wires is None else {"open_wire": open_wires[index]}


def _ask(text: str) -> None:
    typer.echo(f"{text} Press Enter when all is still … ", nl=False, err=True)
    if not sys.stdin.readline():
        raise InputError("standard input ended before the calibration did; nothing written")
