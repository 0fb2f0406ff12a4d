"""Checks of what the drives and load cells report, every cycle, before anything is computed from it."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from actuators import Status
from dynamics import Mechanism
from kinematics import Array, kernel
from rig.engine.machine import Cause
from rig.schema import Safety
from rig.states import FaultCode, StopCategory

_LEGS = 6
_ABSURD = 0.05  # m beyond the length limits: no leg gets there
_RUNAWAY = 3.0  # following errors
_RESIDUAL_CYCLES = 2
_MOVING = 1e-3  # m/s of reference above which an honest encoder never repeats itself

# plain integers: the flags' own operators cost more than the rest of the checks
_WATCHDOG, _FAULT, _HOMED = Status.WATCHDOG.value, Status.FAULT.value, Status.HOMED.value

_OK, _NOT_FINITE, _ABSURD_LENGTH, _JUMP, _FROZEN, _RUNAWAY_ERROR, _FOLLOWING = range(7)


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
    previous: Array,
    frozen: Array,
    bounds: Array,
    homed: bool,
    controlled: bool,
) -> tuple[int, int, float]:
    """Check the fresh legs; returns (what, leg index, value) of the first fault, in the order of their severity.

    previous (3, 6): length and velocity of each leg's last fresh sample and s since then, updated here; frozen (6,): cycles without any
    change while the reference moved, updated; bounds: [least length, greatest length, greatest jump, cycles a moving
    encoder may repeat itself, greatest following error, s since the cycle before] beside the module's constants.
    """
    what, leg, value = _OK, -1, 0.0
    for i in range(_LEGS):
        previous[2, i] += bounds[5]
        if fresh[i] == 0.0:
            continue
        if not (math.isfinite(length[i]) and math.isfinite(velocity[i])):
            return _NOT_FINITE, i, length[i]
    for i in range(_LEGS):
        if fresh[i] == 0.0:
            continue
        jump = abs(length[i] - previous[0, i] - 0.5 * previous[2, i] * (velocity[i] + previous[1, i]))
        error = abs(length[i] - length_reference[i])
        still = length[i] == previous[0, i]
        moved = controlled and abs(velocity_reference[i]) > _MOVING
        frozen[i] = frozen[i] + 1.0 if still and moved else 0.0
        found = _OK
        amount = 0.0
        if homed and not (bounds[0] - _ABSURD <= length[i] <= bounds[1] + _ABSURD):
            found, amount = _ABSURD_LENGTH, length[i]
        elif homed and jump > bounds[2]:
            found, amount = _JUMP, jump
        elif frozen[i] >= bounds[3]:
            found, amount = _FROZEN, frozen[i]
        elif controlled and error > _RUNAWAY * bounds[4]:
            found, amount = _RUNAWAY_ERROR, error
        elif controlled and error > bounds[4]:
            found, amount = _FOLLOWING, error
        if found != _OK and (what == _OK or found < what):
            what, leg, value = found, i, amount
        previous[0, i] = length[i]
        previous[1, i] = velocity[i]
        previous[2, i] = 0.0
    return what, leg, value


@kernel
def _count_kernel(force: Array, residual: Array, bound: float, missing: Array, beyond: Array) -> tuple[int, int]:
    """Count, by leg, the cycles in a row in which the cell gave no value and in which |residual| was beyond `bound`.

    Returns the legs (index) with the largest counts, -1 where all are zero.
    """
    silent, worst = -1, -1
    for i in range(_LEGS):
        missing[i] = 0.0 if math.isfinite(force[i]) else missing[i] + 1.0
        beyond[i] = beyond[i] + 1.0 if abs(residual[i]) > bound else 0.0
        if missing[i] > 0.0 and (silent < 0 or missing[i] > missing[silent]):
            silent = i
        if beyond[i] > 0.0 and (worst < 0 or beyond[i] > beyond[worst]):
            worst = i
    return silent, worst


class FeedbackMonitor:
    """Judges the feedback of six legs; keeps what it needs of the cycles before.

    Args:
        mechanism: gives the legs' length limits.
        safety: bounds of the configuration.
    """

    def __init__(self, mechanism: Mechanism, safety: Safety) -> None:
        ranges = [leg.limits.length for leg in mechanism.legs if leg.limits and leg.limits.length]
        low, high = (min(low for low, _ in ranges), max(high for _, high in ranges)) if ranges else (0.0, math.inf)
        self._safety = safety
        self._bounds = np.array([low, high, safety.position_jump, safety.frozen_cycles, safety.following_error, 0.0])
        self._previous = np.full((3, _LEGS), np.nan)
        self._frozen = np.zeros(_LEGS)
        self._residual = np.zeros(_LEGS)
        self._missing = np.zeros(_LEGS)

    def forget(self) -> None:
        """Begin anew: the next sample is compared with none before it."""
        self._previous[:] = np.nan
        self._frozen[:] = 0.0
        self._residual[:] = 0
        self._missing[:] = 0

    def check_drives(
        self,
        t: float,
        age: list[int],
        status: list[int],
        error: list[int],
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
            elapsed: s since the cycle before.
            fresh: (6,) 1 where the sample is fresh, 0 where it is stale.
            length, velocity: (6,) measured.
            length_reference, velocity_reference: (6,) of the reference at `t`.
            homed: lengths are absolute.
            controlled: the host closes the loop, so that a following error means something.
        """
        self._bounds[5] = elapsed
        what, leg, value = _check_kernel(
            fresh,
            length,
            velocity,
            length_reference,
            velocity_reference,
            self._previous,
            self._frozen,
            self._bounds,
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
            age: consecutive cycles without a fresh reading.
            controlled: the host closes the loop, so that a residual means something.
        """
        if age >= self._safety.stale_cycles:
            text = f"load cells: no fresh reading for {age} cycles (bound {self._safety.stale_cycles})"
            return Finding(Cause(FaultCode.LOAD_CELL, text, t), StopCategory.CATEGORY_2)
        missing, beyond = _count_kernel(
            force, residual, self._safety.force_residual if controlled else math.inf, self._missing, self._residual
        )
        if missing >= 0 and self._missing[missing] >= self._safety.stale_cycles:
            text = f"leg {missing + 1}: the load cell reads {force[missing]} N"
            return Finding(Cause(FaultCode.LOAD_CELL, text, t, missing + 1), StopCategory.CATEGORY_2)
        if beyond < 0 or self._residual[beyond] < _RESIDUAL_CYCLES:
            return None
        text = (
            f"leg {beyond + 1}: measured force is {residual[beyond]:+.1f} N off the model's "
            f"(bound {self._safety.force_residual:g} N)"
        )
        return Finding(Cause(FaultCode.FORCE_RESIDUAL, text, t, beyond + 1), StopCategory.CATEGORY_1)

    def _finding(self, what: int, leg: int, value: float, t: float) -> Finding:
        safety, name = self._safety, f"leg {leg + 1}"
        if what == _NOT_FINITE:
            cause = Cause(FaultCode.FEEDBACK_INVALID, f"{name}: the drive reports a length of {value} m", t, leg + 1)
            return Finding(cause, StopCategory.QUICK_STOP)
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
        text = (
            f"{name}: following error {value * 1e3:.2f} mm (bound {safety.following_error * 1e3:g} mm"
            f"{', three times of which counts as a runaway' if what == _RUNAWAY_ERROR else ''})"
        )
        if what == _RUNAWAY_ERROR:
            return Finding(Cause(FaultCode.RUNAWAY, text, t, leg + 1), StopCategory.CATEGORY_0)
        return Finding(Cause(FaultCode.FOLLOWING_ERROR, text, t, leg + 1), StopCategory.CATEGORY_1)

    def _range(self) -> str:
        return f"limits {self._bounds[0]:g} to {self._bounds[1]:g} m"
