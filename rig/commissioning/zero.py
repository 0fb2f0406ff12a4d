"""Zeroing of the load cells on a rig: homed and parked, six locked legs carry the modelled forces only.

With the brakes on, the platform's weight determines the six forces; a cell's remaining reading is its zero.
"""

import math
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from calibration import CalibrationError, LoadCellCalibration, Provenance, shift_offsets
from dynamics import machine_size
from rig.client import (
    Interruption,
    LiveRig,
    Progress,
    Rig,
    bring_to_rest,
    compiling_progress,
    connect_and_home,
    leave,
    stop_finding,
)
from rig.config import RigConfig
from rig.engine import Snapshot, cell_calibration, exchanged_cells, reads_reversed
from rig.errors import InputError, RefusedError, RigError, RunFaultError
from rig.findings import Code, Finding, Value
from rig.runtime import RuntimeFolder
from rig.states import State
from rig.telemetry import CycleFlag

SHIFT_PART = 0.1
"""Maximum zero shift accepted by default, as a fraction of the cells' range."""
REST_SPEED = 2e-3
"""m/s, maximum speed of a leg at rest."""
REST_MOVE = 0.1e-3
"""m, maximum movement of a leg at rest during the measurement."""
NOISE_FACTOR = 5.0
"""Maximum noise as a multiple of the expected noise."""
_DRIFT = 0.5
"""N, drift of a zero that is always accepted, scaled by the machine's size."""
DURATION = 3.0
"""s at rest."""
_LEAST_TIME, _MOST_TIME = 0.5, 60.0  # s
_TIMEOUT_MARGIN = 10.0  # s, in addition to the time at rest
_FRESH = CycleFlag.FRESH | CycleFlag.HOMED | CycleFlag.POSE

Rows = npt.NDArray[np.void]


@dataclass(frozen=True, slots=True)
class ZeroOptions:
    """Options of zeroing: `duration` s at rest, `largest_shift` N (None: `SHIFT_PART` of the cells' range)."""

    duration: float = DURATION
    largest_shift: float | None = None
    operator: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Zero:
    """Result of zeroing; lists by leg, N. `faults`: why the calibration must not be used; empty if it may."""

    calibration: LoadCellCalibration
    shift: tuple[float, ...]
    """change of the zero"""
    noise: tuple[float, ...]
    """standard deviation of the readings"""
    drift: tuple[float, ...]
    """change of the zero from the first to the second half"""
    bound: float
    """maximum permitted shift"""
    faults: tuple[Finding, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able data."""
        cells = [
            {"leg": leg + 1, "shift_n": self.shift[leg], "noise_n": self.noise[leg], "drift_n": self.drift[leg]}
            | {"offset": float(self.calibration.offset[leg]), "gain": float(self.calibration.gain[leg])}
            for leg in range(6)
        ]
        verdict = "refused" if self.faults else "ok"
        return {
            "verdict": verdict,
            "bound_n": self.bound,
            "cells": cells,
            "faults": [fault.text for fault in self.faults],
        }


def check_zero(config: RigConfig, options: ZeroOptions) -> float:
    """Return the maximum permitted shift, N.

    Raises:
        InputError: a duration or bound that is not finite or outside its range.
    """
    if not _LEAST_TIME <= options.duration <= _MOST_TIME:
        raise InputError(f"time at rest {options.duration:g} s is outside {_LEAST_TIME:g} to {_MOST_TIME:g} s")
    bound = SHIFT_PART * config.load_cells.range if options.largest_shift is None else options.largest_shift
    if not 0.0 < bound <= config.load_cells.range:
        raise InputError(f"largest shift {bound:g} N is outside 0 to {config.load_cells.range:g} N, the cells' range")
    return bound


def zero_rig(
    config: RigConfig,
    options: ZeroOptions,
    interruption: Interruption,
    report: Callable[[Progress], None],
    *,
    serve: bool = True,
    unproven: bool = False,
) -> Zero:
    """Connect, home, park, and evaluate the cells' readings; the rig is off again when this returns or raises.

    Args:
        config: the rig.
        options: see `ZeroOptions`.
        interruption: polled while waiting; the caller installs it if Ctrl-C is to count.
        report: receives the progress.
        serve: start a virtual rig too; else it must be served already.
        unproven: see `Home`.

    Raises:
        InputError: bad options.
        RefusedError, RunFaultError, HardwareError: the rig does not come to rest.
        InterruptedRunError: it was stopped.
    """
    check_zero(config, options)
    with ExitStack() as stack:
        folder = RuntimeFolder.create(stack)
        stack.callback(folder.remove)
        report(Progress("starting the engine", 0.0))
        live = LiveRig(
            config,
            folder.path / "zero.mcap",
            "zero the cells",
            interruption,
            serve=serve,
            report_compiling=lambda now: report(compiling_progress(now)),
        )
        rig = stack.enter_context(live)
        try:
            connect_and_home(rig, report, unproven=unproven)
            zero = measure_zero(rig, lambda: rig.read_rows()[0], options, report)
            leave(rig)
        except (RigError, KeyboardInterrupt):
            with suppress(RigError):
                bring_to_rest(rig)
            raise
        return zero


def measure_zero(
    rig: Rig, read_rows: Callable[[], Rows], options: ZeroOptions, report: Callable[[Progress], None]
) -> Zero:
    """Zero the cells of a PARKED rig.

    Args:
        rig: parked.
        read_rows: telemetry rows since its last call.
        options: see `ZeroOptions`.
        report: receives the progress.

    Raises:
        InputError: bad options.
        RunFaultError: the rig left PARKED meanwhile.
        RefusedError: a cell has no valid reading.
    """
    bound = check_zero(rig.config, options)
    wanted = max(4, round(options.duration * rig.config.rate))
    found: list[Rows] = []
    read_rows()  # discard earlier rows

    def enough(status: Snapshot) -> bool:
        if status.state is not State.PARKED:
            raise RunFaultError(Finding(Code.LEFT_PARKED, within=(stop_finding(status),)))
        rows = read_rows()
        found.append(rows[rows["state"] == State.PARKED])
        count = sum(map(len, found))
        report(Progress("at rest", min(1.0, count / wanted)))
        return count >= wanted

    rig.wait(enough, options.duration + _TIMEOUT_MARGIN, "the cells to be read")
    return _judged(rig.config, np.concatenate(found)[:wanted], options, bound)


def _judged(config: RigConfig, rows: Rows, options: ZeroOptions, bound: float) -> Zero:
    before = cell_calibration(config)
    kind = "virtual rig" if config.virtual is not None else "rig"
    gain = "" if config.load_cells.calibration else "; gain taken as 1, no masses were used"
    source = f"{kind} {config.name} at rest, {len(rows)} samples: zero from the model's static forces{gain}"
    provenance = Provenance(options.operator, before.provenance.place, before.provenance.masses, source, options.note)
    measured, model = rows["force_measured"], rows["force_model"]
    try:
        shifted = shift_offsets(
            before,
            measured,
            model,
            date.today(),
            drift_limit=_DRIFT * machine_size(config.nominal).force,
            steps=config.cell_steps,
            provenance=provenance,
        )
    except CalibrationError as error:
        raise RefusedError(Finding(Code.CELLS_NOT_ZEROED, within=tuple(map(Finding.of_text, error.faults)))) from None
    drift = shifted.drift
    assert drift is not None
    shift = (shifted.offset - before.offset) * before.gain
    noise = (measured - model).std(axis=0, ddof=1)
    reading, load = measured.mean(axis=0), model.mean(axis=0)
    loaded = np.abs(load) > NOISE_FACTOR * config.cell_noise
    opposite = reads_reversed(load, reading - load) & loaded
    faults = _rest_faults(rows)
    pair = exchanged_cells(load, reading - load, config.safety.bound("tare_shift"))
    if pair is not None:
        names: dict[str, Value] = {"one": pair[0] + 1, "other": pair[1] + 1}
        for name, leg in zip(("one", "other"), pair, strict=True):
            names |= {f"read_{name}": float(reading[leg]), f"model_{name}": float(load[leg])}
        faults.append(Finding(Code.ZERO_CELLS_EXCHANGED, details=names))
    for leg in range(6):
        fault = partial(Finding, leg=leg + 1)
        # a working cell always has some noise, unless its resolution hides it
        if np.ptp(measured[:, leg]) == 0.0 and config.cell_steps[leg] < config.load_cells.noise:
            faults.append(fault(Code.LEG_CELL_FROZEN, value=float(measured[0, leg])))
        if opposite[leg]:
            faults.append(
                fault(Code.ZERO_CELL_REVERSED, value=float(reading[leg]), details={"model": float(load[leg])})
            )
        elif not abs(shift[leg]) <= bound:
            faults.append(fault(Code.ZERO_SHIFT, value=float(shift[leg]), bound=bound))
        if not noise[leg] <= NOISE_FACTOR * config.cell_noise:
            most = NOISE_FACTOR * config.cell_noise
            faults.append(fault(Code.ZERO_NOISE, value=float(noise[leg]), bound=most, details={"factor": NOISE_FACTOR}))
        if not drift.within[leg]:
            faults.append(fault(Code.ZERO_DRIFT, value=float(drift.force[leg]), bound=float(drift.bound[leg])))
    return Zero(
        shifted, tuple(shift.tolist()), tuple(noise.tolist()), tuple(drift.force.tolist()), bound, tuple(faults)
    )


def _rest_faults(rows: Rows) -> list[Finding]:
    """Return why the rig does not count as at rest."""
    faults = []
    stale, most = int(((rows["flags"] & _FRESH) != _FRESH).sum()), len(rows) // 10
    if stale > most:
        faults.append(Finding(Code.ZERO_WITHOUT_FEEDBACK, value=stale, bound=most, details={"count": len(rows)}))
    speed, move = np.abs(rows["velocity"]).max(axis=0).tolist(), np.ptp(rows["length"], axis=0).tolist()
    for leg in range(6):
        if not speed[leg] <= REST_SPEED or math.isnan(move[leg]):
            faults.append(Finding(Code.ZERO_IN_MOTION, leg + 1, speed[leg], REST_SPEED))
        elif move[leg] > REST_MOVE:
            faults.append(Finding(Code.ZERO_LEG_MOVED, leg + 1, move[leg], REST_MOVE))
    return faults
