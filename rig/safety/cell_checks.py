"""Checks of the load cells' readings, by themselves and against the model."""

import math
from functools import partial

import numpy as np

from kinematics import Array, kernel
from rig.config import RigConfig
from rig.findings import Code, Finding
from rig.safety.machine import Cause
from rig.safety.trip import CellSamples, Trip, no_recheck, not_fresh
from rig.states import StopSeverity

_LEGS = 6
_RESIDUAL_CYCLES = 2

_CHANCE = 1e-11
"""false-alarm probability of a frozen cell, by reading: once in about 2000 hours of six cells at 500 Hz"""
_MODEL_SHARE = 1.5
"""factor by which the model's force may change more than the true one, for errors of the model"""

# What is kept of each load cell from cycle to cycle, rows of (7, 6): the last reading, the least and the greatest force
# that the model had since it came, for how many readings in a row it has repeated itself, meant nothing, and been off
# the model, and the least change that was seen of it.
_READING, _LOW, _HIGH, _SILENT, _MISSING, _BEYOND, _LEAST = range(7)


@kernel
def frozen_kernel(noise: float, step: float, repeats: float) -> float:
    """Least change, N, of the model's force after which a reading that repeats itself proves a frozen cell.

    A working cell repeats itself while its force stays within a step q, N, of its readings, and by chance: with
    white noise σ, N, n readings are alike with a probability of pⁿ at most, p = erf(q/(2√2 σ)), and m σ beyond the step
    by noise at both ends with Φ(−m/2)² ≤ exp(−m²/4)/4 besides. The change is `_MODEL_SHARE` q + m σ, where both
    together are `_CHANCE`, and σ at least. A cell with less noise than stated stays within its step for less change.
    """
    alike = math.erf(step / (2.0 * math.sqrt(2.0) * noise))
    left = -math.log(_CHANCE) - 2.0 * math.log(2.0)
    left = left + repeats * math.log(alike) if alike > 0.0 else 0.0
    return max(noise, _MODEL_SHARE * step + 2.0 * math.sqrt(max(0.0, left)) * noise)


@kernel
def _count_kernel(
    force: Array, residual: Array, bounds: Array, steps: Array, controlled: bool, suspicion: Array, cells: Array
) -> tuple[int, int, int]:
    """Count, by leg, successive readings that repeat the one before, are invalid, or deviate from the model.

    cells (7, 6) is state from cycle to cycle; suspicion as `MotionChecks` has it. bounds: [expected noise,
    end of scale, greatest residual], N, and the readings a cell may repeat itself. steps (6,) N: known resolution of
    the readings; a coarser one shows in their changes. A reading counts as repeated only after a change of the model's
    force by `frozen_kernel`. A residual is judged while the host closes the loop, and of readings and encoders that are
    not suspect themselves. Returns the legs (index) with the largest counts, -1 where all are zero.
    """
    silent, missing, beyond = -1, -1, -1
    suspect = False
    for i in range(_LEGS):
        suspect = suspect or suspicion[0, i] > 0.0 or suspicion[1, i] > 0.0
    for i in range(_LEGS):
        model = force[i] - residual[i]
        valid = abs(force[i]) < bounds[1]  # False for not a number
        repeated = force[i] == cells[_READING, i] and bounds[3] < math.inf
        if not repeated:
            change = abs(force[i] - cells[_READING, i])
            if 0.0 < change < cells[_LEAST, i]:
                cells[_LEAST, i] = change
            cells[_READING, i] = force[i]
        if not (repeated and controlled):
            cells[_LOW, i], cells[_HIGH, i] = model, model
        cells[_LOW, i], cells[_HIGH, i] = min(cells[_LOW, i], model), max(cells[_HIGH, i], model)
        cells[_SILENT, i] = cells[_SILENT, i] + 1.0 if repeated and valid else 0.0
        cells[_MISSING, i] = 0.0 if valid else cells[_MISSING, i] + 1.0
        if controlled and valid and not (repeated or suspect):
            cells[_BEYOND, i] = cells[_BEYOND, i] + 1.0 if abs(residual[i]) > bounds[2] else 0.0
        elif not controlled:
            cells[_BEYOND, i] = 0.0
        stuck = controlled and cells[_SILENT, i] > 0.0
        if stuck:
            step = max(steps[i], cells[_LEAST, i]) if cells[_LEAST, i] < math.inf else steps[i]
            stuck = cells[_HIGH, i] - cells[_LOW, i] > frozen_kernel(bounds[0], step, cells[_SILENT, i])
        if stuck and (silent < 0 or cells[_SILENT, i] > cells[_SILENT, silent]):
            silent = i
        if cells[_MISSING, i] > 0.0 and (missing < 0 or cells[_MISSING, i] > cells[_MISSING, missing]):
            missing = i
        if cells[_BEYOND, i] > 0.0 and (beyond < 0 or cells[_BEYOND, i] > cells[_BEYOND, beyond]):
            beyond = i
    return silent, missing, beyond


class CellChecks:
    """Judges the readings of six load cells; stores the state of earlier cycles.

    Args:
        config: gives the bounds and the properties of the load cells.
        suspicion: of the encoders, as `MotionChecks.suspicion`.
    """

    def __init__(self, config: RigConfig, suspicion: Array) -> None:
        safety, cells, period, stale_time = config.safety, config.load_cells, config.period, config.cells_stale_time
        self._safety = safety
        self._stale_time, self._period = stale_time, period
        self._old = stale_time - 0.5 * period
        self._fewest = 1 if stale_time < 1.5 * period else 2
        self._most_missing = max(1, round(stale_time / config.reading_period))
        self._suspicion = suspicion
        residual, frozen = safety.bound("force_residual"), safety.bound("frozen_cycles")
        self._bounds = np.array([cells.noise, cells.range, residual, frozen])
        self._steps = np.array(config.cell_steps)
        self._counts = np.zeros((7, _LEGS))
        self.forget()

    def forget(self) -> None:
        """Restart: the next reading is compared with none before it."""
        self._counts[:] = 0.0
        self._counts[_READING] = np.nan
        self._counts[_LEAST] = np.inf

    def check(
        self, t: float, cells: CellSamples, residual: Array, *, controlled: bool, alive: bool = True
    ) -> Trip | None:
        """Judge the load cells.

        Args:
            t: s, rig time.
            cells: their readings.
            residual: (6,) N, measured less modelled.
            controlled: the platform follows its reference, so that the residual is valid.
            alive: whether an invalid reading stops the rig.
        """
        stale, age, force = cells.cells_stale, cells.cells_age, cells.force
        if stale >= self._fewest and age >= self._old:
            found = not_fresh(Code.NO_READING, 0, age, self._stale_time, self._period, cells.cells_silence())
            return Trip(Cause(found, t), StopSeverity.CATEGORY_2, no_recheck)
        if stale:
            return None
        counts = self._counts
        silent, missing, beyond = _count_kernel(
            force, residual, self._bounds, self._steps, controlled, self._suspicion, counts
        )
        if alive and missing >= 0 and counts[_MISSING, missing] >= self._most_missing:
            dead = self._no_force(missing, force)
            if dead is not None:
                return Trip(Cause(dead, t), StopSeverity.CATEGORY_2, partial(self._no_force, missing, force))
        if silent >= 0 and counts[_SILENT, silent] >= self._bounds[3]:
            moved = counts[_HIGH, silent] - counts[_LOW, silent]
            found = Finding(
                Code.CELL_FROZEN, silent + 1, float(moved), details={"cycles": float(counts[_SILENT, silent])}
            )
            recheck = partial(_no_news, silent, force, float(force[silent]))
            return Trip(Cause(found, t), StopSeverity.CATEGORY_2, recheck)
        if beyond < 0 or counts[_BEYOND, beyond] < _RESIDUAL_CYCLES:
            return None
        cause = Cause(self._off_the_model(beyond, residual), t)
        return Trip(cause, StopSeverity.CATEGORY_1, partial(self._still_off, beyond, residual))

    def _no_force(self, leg: int, force: Array) -> Finding | None:
        return no_force(leg, float(force[leg]), float(self._bounds[1]))

    def _off_the_model(self, leg: int, residual: Array) -> Finding:
        return Finding(Code.FORCE_RESIDUAL, leg + 1, float(residual[leg]), self._safety.force_residual)

    def _still_off(self, leg: int, residual: Array) -> Finding | None:
        return self._off_the_model(leg, residual) if abs(residual[leg]) > self._bounds[2] else None


def no_force(leg: int, reading: float, end: float) -> Finding | None:
    """Finding of a leg's (index) cell whose reading, N, is no valid force; end: N, of its scale."""
    if abs(reading) < end:
        return None
    if math.isfinite(reading):
        return Finding(Code.CELL_SATURATED, leg + 1, reading, end)
    return Finding(Code.CELL_NOT_FINITE, leg + 1, reading)


def _no_news(leg: int, force: Array, before: float) -> Finding | None:
    """Whether the reading of a leg's (index) cell is still the one `before`, N."""
    return Finding(Code.CELL_STILL_FROZEN, leg + 1, before) if force[leg] == before else None
