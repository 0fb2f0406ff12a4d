"""Checks of what the drives and load cells report, every cycle, before anything is computed from it."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from actuators import Status
from dynamics import Mechanism
from kinematics import Array, kernel
from rig.engine.machine import Cause
from rig.schema import LoadCells, Safety
from rig.states import FaultCode, StopCategory

_LEGS = 6
_ABSURD = 0.05  # m beyond the length limits: no leg gets there
_RUNAWAY = 3.0  # following errors
_RESIDUAL_CYCLES = 2
_REVERSED_CYCLES = 3
_MOVING = 1e-3  # m/s of reference above which an honest encoder never repeats itself
_OPPOSED = 0.02  # m/s of both reference and feedback above which their signs must agree
_LONGEST_GAP = 0.025  # s between two samples of a leg, beyond which their speeds do not explain its way any more
_MIRRORED = 0.25  # of its amount that a speed may lose or gain when its sign turns round: a push would change it more

# plain integers: the flags' own operators cost more than the rest of the checks
_WATCHDOG, _FAULT, _HOMED = Status.WATCHDOG.value, Status.FAULT.value, Status.HOMED.value

_OK, _NOT_FINITE, _ABSURD_LENGTH, _JUMP, _FROZEN, _AGAINST, _RUNAWAY_ERROR, _FOLLOWING = range(8)

# What is kept of each leg from cycle to cycle, rows of (5, 6): length and velocity of the last fresh sample, s since
# then, and for how many samples in a row the encoder has repeated itself or run against the reference.
_LENGTH, _VELOCITY, _SINCE, _REPEATS, _REVERSALS = range(5)
# The same of each load cell, rows of (5, 6): the last reading, the model's force when it came, and for how many
# readings in a row it has repeated itself, meant nothing, and been off the model.
_READING, _MODEL, _SILENT, _MISSING, _BEYOND = range(5)


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with the feedback, and how the rig must stop for it."""

    cause: Cause
    category: StopCategory
    unhome: bool = False
    """the lengths mean nothing any more"""


@kernel
def _check_kernel(
    fresh: Array,
    length: Array,
    velocity: Array,
    length_reference: Array,
    velocity_reference: Array,
    legs: Array,
    bounds: Array,
    elapsed: float,
    homed: bool,
    controlled: bool,
) -> tuple[int, int, float]:
    """Check the fresh legs; returns (what, leg index, value) of the first fault, in the order of their severity.

    legs (5, 6) is kept from cycle to cycle and updated. elapsed: s since the samples of the cycle before. bounds:
    [least length, greatest length, greatest jump, samples a moving encoder may repeat itself, greatest
    following error, that of a runaway], beside the module's constants; an infinite one is not checked. While a leg
    repeats itself, where that is looked at, or runs the wrong way its following error means nothing yet. The wrong
    way: its speed has turned round from one sample to the next and kept its amount, as no force could make it do, and
    has been opposed to the reference since.
    """
    what, leg, value = _OK, -1, 0.0
    for i in range(_LEGS):
        legs[_SINCE, i] += elapsed
        if fresh[i] != 0.0 and not (math.isfinite(length[i]) and math.isfinite(velocity[i])):
            return _NOT_FINITE, i, length[i]
    for i in range(_LEGS):
        if fresh[i] == 0.0:
            continue
        speed, before, wanted = velocity[i], legs[_VELOCITY, i], velocity_reference[i]
        repeated = controlled and abs(wanted) > _MOVING and length[i] == legs[_LENGTH, i] and bounds[3] < math.inf
        opposed = controlled and speed * wanted < 0.0 and min(abs(speed), abs(wanted)) > _OPPOSED
        opposed = opposed and (legs[_REVERSALS, i] > 0.0 or abs(speed + before) < _MIRRORED * abs(before))
        jump = abs(length[i] - legs[_LENGTH, i] - 0.5 * legs[_SINCE, i] * (speed + before))
        error = abs(length[i] - length_reference[i])
        legs[_REPEATS, i] = legs[_REPEATS, i] + 1.0 if repeated else 0.0
        legs[_REVERSALS, i] = legs[_REVERSALS, i] + 1.0 if opposed else 0.0
        found = _OK
        amount = 0.0
        if homed and not (bounds[0] - _ABSURD <= length[i] <= bounds[1] + _ABSURD):
            found, amount = _ABSURD_LENGTH, length[i]
        elif homed and jump > bounds[2] and legs[_SINCE, i] <= _LONGEST_GAP:
            found, amount = _JUMP, jump
        elif legs[_REPEATS, i] >= bounds[3]:
            found, amount = _FROZEN, legs[_REPEATS, i]
        elif legs[_REVERSALS, i] >= _REVERSED_CYCLES:
            found, amount = _AGAINST, legs[_REVERSALS, i]
        elif controlled and error > bounds[5]:
            found, amount = _RUNAWAY_ERROR, error
        elif controlled and error > bounds[4] and not (repeated or opposed):
            found, amount = _FOLLOWING, error
        if found != _OK and (what == _OK or found < what):
            what, leg, value = found, i, amount
        legs[_LENGTH, i] = length[i]
        legs[_VELOCITY, i] = velocity[i]
        legs[_SINCE, i] = 0.0
    return what, leg, value


@kernel
def _count_kernel(
    force: Array, residual: Array, bounds: Array, controlled: bool, legs: Array, cells: Array
) -> tuple[int, int, int]:
    """Count, by leg, the readings in a row that repeat the one before, mean nothing, or are off the model.

    cells (5, 6) is kept from cycle to cycle and updated; legs as `_check_kernel` leaves it. bounds: [expected noise,
    end of scale, greatest residual], N, and the readings a cell may repeat itself. A reading counts as repeated only
    once the model has moved on by more than the noise. A residual is judged while the host closes the loop, and of
    readings and encoders that are not suspect themselves. Returns the legs (index) with the largest counts, -1 where
    all are zero.
    """
    silent, missing, beyond = -1, -1, -1
    suspect = False
    for i in range(_LEGS):
        suspect = suspect or legs[_REPEATS, i] > 0.0 or legs[_REVERSALS, i] > 0.0
    for i in range(_LEGS):
        model = force[i] - residual[i]
        valid = abs(force[i]) < bounds[1]  # False for not a number
        repeated = force[i] == cells[_READING, i] and bounds[3] < math.inf
        if not repeated:
            cells[_READING, i], cells[_MODEL, i] = force[i], model
        cells[_SILENT, i] = cells[_SILENT, i] + 1.0 if repeated and valid else 0.0
        cells[_MISSING, i] = 0.0 if valid else cells[_MISSING, i] + 1.0
        if controlled and valid and not (repeated or suspect):
            cells[_BEYOND, i] = cells[_BEYOND, i] + 1.0 if abs(residual[i]) > bounds[2] else 0.0
        elif not controlled:
            cells[_BEYOND, i] = 0.0
        stuck = controlled and cells[_SILENT, i] > 0.0 and abs(model - cells[_MODEL, i]) > bounds[0]
        if stuck and (silent < 0 or cells[_SILENT, i] > cells[_SILENT, silent]):
            silent = i
        if cells[_MISSING, i] > 0.0 and (missing < 0 or cells[_MISSING, i] > cells[_MISSING, missing]):
            missing = i
        if cells[_BEYOND, i] > 0.0 and (beyond < 0 or cells[_BEYOND, i] > cells[_BEYOND, beyond]):
            beyond = i
    return silent, missing, beyond


class FeedbackMonitor:
    """Judges the feedback of six legs; keeps what it needs of the cycles before.

    Args:
        mechanism: gives the legs' length limits.
        safety: bounds of the configuration.
        cells: what is expected of the load cells.
    """

    def __init__(self, mechanism: Mechanism, safety: Safety, cells: LoadCells) -> None:
        ranges = [leg.limits.length for leg in mechanism.legs if leg.limits and leg.limits.length]
        low, high = (min(low for low, _ in ranges), max(high for _, high in ranges)) if ranges else (0.0, math.inf)
        self._safety = safety
        jump, frozen = safety.bound("position_jump"), safety.bound("frozen_cycles")
        following, runaway = safety.bound("following_error"), _RUNAWAY * safety.following_error
        self._bounds = np.array([low, high, jump, frozen, following, runaway])
        self._cell_bounds = np.array([cells.noise, cells.range, safety.bound("force_residual"), frozen])
        self._legs = np.zeros((5, _LEGS))
        self._cells = np.zeros((5, _LEGS))
        self.forget()

    def forget(self) -> None:
        """Begin anew: the next sample is compared with none before it."""
        self._legs[:] = self._cells[:] = 0.0
        self._legs[_LENGTH] = self._cells[_READING] = np.nan

    def check_drives(
        self,
        t: float,
        age: list[int],
        status: list[int],
        error: list[int],
        length: Array,
        explain: Callable[[int], str],
        *,
        homed: bool,
    ) -> Finding | None:
        """Judge what the drives say of themselves.

        Args:
            t: s, rig time.
            age: consecutive cycles without fresh feedback, by leg.
            status: bits of `actuators.Status`, by leg.
            error: the drives' own error codes.
            length: (6,) m, by leg.
            explain: the present error of a leg (index) in words.
            homed: the rig counts as homed.
        """
        for leg in range(_LEGS):
            if age[leg] >= self._safety.stale_cycles:
                text = f"leg {leg + 1}: no fresh feedback for {age[leg]} cycles (bound {self._safety.stale_cycles})"
                return Finding(Cause(FaultCode.COMMUNICATION_LOST, text, t, leg + 1), StopCategory.QUICK_STOP)
        for leg in range(_LEGS):
            if age[leg]:
                continue
            if status[leg] & _WATCHDOG:
                text = f"leg {leg + 1}: the drive's own watchdog stopped it"
                return Finding(Cause(FaultCode.DRIVE_WATCHDOG, text, t, leg + 1), StopCategory.QUICK_STOP)
            if not math.isfinite(length[leg]):
                # before the drive's own fault, which says the same and would take the torque off at once
                return self._finding(_NOT_FINITE, leg, float(length[leg]), t, unhome=not status[leg] & _HOMED)
            if status[leg] & _FAULT:
                text = f"leg {leg + 1}: drive fault {error[leg]}, {explain(leg)}"
                return Finding(Cause(FaultCode.DRIVE_FAULT, text, t, leg + 1), StopCategory.CATEGORY_0)
            if homed and not status[leg] & _HOMED:
                text = f"leg {leg + 1}: the drive lost its reference; it may have restarted"
                cause = Cause(FaultCode.DRIVE_RESTARTED, text, t, leg + 1)
                return Finding(cause, StopCategory.QUICK_STOP, unhome=True)
        return None

    def check_motion(
        self,
        t: float,
        elapsed: float,
        fresh: Array,
        length: Array,
        velocity: Array,
        length_reference: Array,
        velocity_reference: Array,
        *,
        homed: bool,
        controlled: bool,
    ) -> Finding | None:
        """Judge lengths (6,) m and velocities (6,) m/s against each other, the cycle before and the reference.

        Args:
            t: s, rig time.
            elapsed: s since the cycle before took its samples.
            fresh: (6,) 1 where the sample is fresh, 0 where it is stale.
            length, velocity: (6,) measured.
            length_reference, velocity_reference: (6,) of the reference at `t`.
            homed: lengths are absolute.
            controlled: the host closes the loop, so that a following error means something.
        """
        what, leg, value = _check_kernel(
            fresh,
            length,
            velocity,
            length_reference,
            velocity_reference,
            self._legs,
            self._bounds,
            elapsed,
            homed,
            controlled,
        )
        return None if what == _OK else self._finding(what, leg, value, t)

    def check_forces(self, t: float, force: Array, residual: Array, age: int, *, controlled: bool) -> Finding | None:
        """Judge the load cells.

        Args:
            t: s, rig time.
            force: (6,) N, measured.
            residual: (6,) N, measured less modelled.
            age: consecutive cycles without a fresh reading of all cells.
            controlled: the host closes the loop, so that a residual means something.
        """
        if age >= self._safety.stale_cycles:
            text = f"load cells: no fresh reading for {age} cycles (bound {self._safety.stale_cycles})"
            return Finding(Cause(FaultCode.LOAD_CELL, text, t), StopCategory.CATEGORY_2)
        if age:
            return None
        cells = self._cells
        silent, missing, beyond = _count_kernel(force, residual, self._cell_bounds, controlled, self._legs, cells)
        if missing >= 0 and cells[_MISSING, missing] >= self._safety.stale_cycles:
            end = f", at or beyond its end of scale {self._cell_bounds[1]:g} N" if math.isfinite(force[missing]) else ""
            text = f"leg {missing + 1}: the load cell reads {force[missing]:g} N{end}"
            return Finding(Cause(FaultCode.LOAD_CELL, text, t, missing + 1), StopCategory.CATEGORY_2)
        if silent >= 0 and cells[_SILENT, silent] >= self._cell_bounds[3]:
            text = f"leg {silent + 1}: the load cell repeated itself for {cells[_SILENT, silent]:.0f} cycles of motion"
            return Finding(Cause(FaultCode.LOAD_CELL, text, t, silent + 1), StopCategory.CATEGORY_2)
        if beyond < 0 or cells[_BEYOND, beyond] < _RESIDUAL_CYCLES:
            return None
        text = (
            f"leg {beyond + 1}: measured force is {residual[beyond]:+.1f} N off the model's "
            f"(bound {self._safety.force_residual:g} N)"
        )
        return Finding(Cause(FaultCode.FORCE_RESIDUAL, text, t, beyond + 1), StopCategory.CATEGORY_1)

    def _finding(self, what: int, leg: int, value: float, t: float, *, unhome: bool = False) -> Finding:
        safety, name = self._safety, f"leg {leg + 1}"
        if what == _NOT_FINITE:
            cause = Cause(FaultCode.FEEDBACK_INVALID, f"{name}: the drive reports a length of {value} m", t, leg + 1)
            return Finding(cause, StopCategory.QUICK_STOP, unhome=unhome)
        if what == _ABSURD_LENGTH:
            text = f"{name}: length {value:.4f} m is beyond anything the leg can reach ({self._range()})"
            return Finding(Cause(FaultCode.FEEDBACK_INVALID, text, t, leg + 1), StopCategory.QUICK_STOP)
        if what == _JUMP:
            text = (
                f"{name}: length jumped by {value * 1e3:.2f} mm more than its speed explains "
                f"(bound {safety.position_jump * 1e3:g} mm)"
            )
            cause = Cause(FaultCode.POSITION_JUMP, text, t, leg + 1)
            return Finding(cause, StopCategory.QUICK_STOP, unhome=True)
        if what == _FROZEN:
            text = f"{name}: the encoder repeated itself for {value:.0f} cycles while the reference moved"
            return Finding(Cause(FaultCode.FEEDBACK_FROZEN, text, t, leg + 1), StopCategory.QUICK_STOP)
        if what == _AGAINST:
            text = f"{name}: runs against its reference for {value:.0f} cycles, a sign is reversed"
            return Finding(Cause(FaultCode.RUNAWAY, text, t, leg + 1), StopCategory.CATEGORY_0)
        text = (
            f"{name}: following error {value * 1e3:.2f} mm (bound {safety.following_error * 1e3:g} mm"
            f"{', three times of which counts as a runaway' if what == _RUNAWAY_ERROR else ''})"
        )
        if what == _RUNAWAY_ERROR:
            return Finding(Cause(FaultCode.RUNAWAY, text, t, leg + 1), StopCategory.CATEGORY_0)
        return Finding(Cause(FaultCode.FOLLOWING_ERROR, text, t, leg + 1), StopCategory.CATEGORY_1)

    def _range(self) -> str:
        return f"limits {self._bounds[0]:g} to {self._bounds[1]:g} m"
