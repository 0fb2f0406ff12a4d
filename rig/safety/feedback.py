"""Checks of the legs' lengths and speeds against each other and the reference; and all checks of feedback."""

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from dynamics import Mechanism
from kinematics import Array, kernel
from rig.config import RigConfig, Safety
from rig.findings import Code, Finding, Value
from rig.safety.cell_checks import CellChecks
from rig.safety.drive_checks import DriveChecks
from rig.safety.machine import Cause
from rig.safety.trip import DriveSamples, LegReference, Trip, no_length, no_recheck
from rig.states import StopSeverity

_LEGS = 6
_ABSURD = 0.05  # m beyond the length limits: no leg gets there
_RUNAWAY = 3.0  # following errors
_REVERSED_CYCLES = 3
_MOVING = 1e-3  # m/s of reference above which an honest encoder never repeats itself
_OPPOSED = 0.02  # m/s of both reference and feedback above which their signs must agree
_WINDOW = 1.0  # s over which the way of a leg that is to stand is held against its speed
_MOVING_WINDOW = 10  # cycles of that where it is to move, at most as long: what is slower shows in the forces
_SPEED_DELAY = 0.01  # s by which a drive's estimate of its speed may be late
_FALL = 20.0  # m/s², larger than the acceleration of a leg that falls or is driven
LONG_PERIOD = 0.0201
"""s; in cycles that are longer, at rates below 50 Hz, the speeds of two samples do not explain the way between them.

What changes while a command is on its way is made up for there: a motion begins, and changes its rate, when the next
command acts, and a leg's mean speed in a cycle is that between two evaluations of the reference."""
_CREPT = 0.5  # of a following error, beyond which its speed does not explain it: the encoder went, and not the leg
_COARSE = 20.0  # steps of an encoder that its leg may be behind
_STUCK = (
    0.5  # of a following error that a leg may be behind: friction holds it as it begins to move, whatever the steps
)
_MIRRORED = 0.25  # of its amount that a speed may lose or gain when its sign turns round: a push would change it more

_LONGEST_LAG = 1.0  # s; a leg that is farther behind than it goes in this time is held, and does not only lag

_TURN_TIME = 0.2  # s in which a turn of a leg's speed is forgotten
_TURNS = 2.0  # of them, above which a leg swings, and does not run the wrong way

_OK, _NOT_FINITE, _ABSURD_LENGTH, _JUMP, _FROZEN, _AGAINST, _SWINGING, _RUNAWAY_ERROR, _FOLLOWING = range(9)

# What is kept of each leg from cycle to cycle, rows of (10, 6): length and velocity of the last fresh sample, s since
# then, cycles by which it was old, by how much the length has departed from what the speed explains, the reference as
# the length was last another, how often the speed has turned round lately, the following error then where the leg
# followed its reference, and for how many samples in a row the encoder has repeated itself or run against it.
_LENGTH, _VELOCITY, _SINCE, _LAG, _DEPARTURE, _WANTED, _TURNED, _ERROR, _REPEATS, _REVERSALS = range(10)
_ROWS = 10
_ALL, _NONE = np.ones(_LEGS), np.zeros(_LEGS)
_EXACT, _MEASURED = (0.0,) * _LEGS, (True,) * _LEGS
_RESOLUTION, _DIFFERENTIATED = range(2)  # rows of the drives
_LOW, _HIGH, _JUMPED, _REPEATED, _FOLLOWED, _RAN, _PERIOD, _GAP, _ACCELERATION, _BEHIND = range(10)  # of the bounds


@kernel
def _departure_kernel(
    i: int, length: float, velocity: float, lag: float, window: float, error: float, legs: Array, bounds: Array,
    drives: Array,
) -> tuple[float, float]:  # fmt: skip
    """Deviation of leg i's length from its integrated speed, m: since the last sample, and accumulated.

    The allowed change is the mean speed over the gap between the samples, widened by changes of speed early or late in
    the gap and by the delay of its estimate; beyond the longest gap under the host's control also by the leg's
    acceleration limit. The rest is accumulated, and decays with the window, s.

    In a cycle beyond `LONG_PERIOD` a leg in motion may change its speed more than once. Where it followed its
    reference at both ends, with a following `error`, m, NaN elsewhere, the rest is then at most what that error is
    beyond its bound: a leg that is where it was told to be has not jumped.

    A speed that is differentiated from lengths would agree with any jump. There the change of length since the last
    sample must also lie between 0 and that sample's speed times the gap (the leg may have been stopped), each widened
    by the acceleration of a fall.
    """
    before = legs[_VELOCITY, i]
    gap = legs[_SINCE, i] - (lag - legs[_LAG, i]) * bounds[_PERIOD]
    beyond = length - legs[_LENGTH, i] - 0.5 * gap * (velocity + before)
    slack = (0.5 * gap + _SPEED_DELAY) * abs(velocity - before)
    if gap > bounds[_GAP]:
        slack += 0.25 * bounds[_ACCELERATION] * gap * gap
    step = 0.0
    if abs(beyond) > slack:  # False where there is no sample before this one
        step = beyond - math.copysign(slack, beyond)
        if bounds[_PERIOD] > LONG_PERIOD and not math.isnan(error - legs[_ERROR, i]):
            off = max(0.0, abs(error) - bounds[_FOLLOWED]) if bounds[_FOLLOWED] < math.inf else math.inf
            step = math.copysign(min(abs(step), off), step)
    jump = abs(step)
    if drives[_DIFFERENTIATED, i] != 0.0:
        change, expected = length - legs[_LENGTH, i], gap * before
        excess = max(change - max(expected, 0.0), min(expected, 0.0) - change) - 0.5 * _FALL * gap * gap
        if excess > jump:  # False where there is no sample before this one
            jump = excess
    return jump, legs[_DEPARTURE, i] * math.exp(-gap / window) + step


@kernel
def _check_kernel(
    fresh: Array,
    length: Array,
    velocity: Array,
    lag: Array,
    length_reference: Array,
    velocity_reference: Array,
    legs: Array,
    bounds: Array,
    drives: Array,
    elapsed: float,
    homed: Array,
    controlled: Array,
) -> tuple[int, int, float]:
    """Check the fresh legs; returns (what, leg index, value) of the first fault, in the order of their severity.

    homed and controlled (6,) are 0 or 1 by leg.
    legs (10, 6) is state from cycle to cycle. elapsed: s since the samples of the cycle before. bounds (10,):
    least length, greatest length, greatest departure from the integrated speed, samples a moving encoder may repeat
    itself, greatest following error, that of a runaway, s of a cycle, s of the longest gap under control, greatest
    acceleration, distance up to which friction may hold a leg back; an infinite one is not checked. drives (2, 6): m of
    a step of each encoder, and 1 where the drive's speed is differentiated from its lengths.

    The following error is not judged while a leg's reading repeats itself, or the leg runs the wrong way. The wrong
    way: its speed has changed its sign, but not its amount, from one sample to the next, which no force could do, and
    has opposed the reference since. A speed that has changed its sign several times recently is an oscillation.
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
        repeated = controlled[i] != 0.0 and abs(wanted) > _MOVING and length[i] == legs[_LENGTH, i]
        repeated = repeated and bounds[_REPEATED] < math.inf
        opposed = controlled[i] != 0.0 and speed * wanted < 0.0 and min(abs(speed), abs(wanted)) > _OPPOSED
        opposed = opposed and (legs[_REVERSALS, i] > 0.0 or abs(speed + before) < _MIRRORED * abs(before))
        turned = speed * before < 0.0 and min(abs(speed), abs(before)) > _OPPOSED
        legs[_TURNED, i] = legs[_TURNED, i] * math.exp(-legs[_SINCE, i] / _TURN_TIME) + (1.0 if turned else 0.0)
        moves = controlled[i] != 0.0 and abs(wanted) > _MOVING
        window = min(_MOVING_WINDOW * bounds[_PERIOD], _WINDOW) if moves else _WINDOW
        followed = length[i] - length_reference[i] if controlled[i] != 0.0 else math.nan
        jump, departure = _departure_kernel(i, length[i], speed, lag[i], window, followed, legs, bounds, drives)
        jump = max(jump, abs(departure))
        error = abs(length[i] - length_reference[i])
        legs[_REPEATS, i] = legs[_REPEATS, i] + 1.0 if repeated else 0.0
        if not repeated:
            legs[_WANTED, i] = length_reference[i]
        far = abs(length_reference[i] - legs[_WANTED, i]) >= _COARSE * drives[_RESOLUTION, i]
        legs[_REVERSALS, i] = legs[_REVERSALS, i] + 1.0 if opposed else 0.0
        found = _OK
        amount = 0.0
        if homed[i] != 0.0 and not (bounds[_LOW] - _ABSURD <= length[i] <= bounds[_HIGH] + _ABSURD):
            found, amount = _ABSURD_LENGTH, length[i]
        elif homed[i] != 0.0 and jump > bounds[_JUMPED]:
            found, amount = _JUMP, jump
        elif legs[_REPEATS, i] >= bounds[_REPEATED] and far and error >= bounds[_BEHIND]:
            found, amount = _FROZEN, legs[_REPEATS, i]
        elif legs[_REVERSALS, i] >= _REVERSED_CYCLES:
            found = _SWINGING if legs[_TURNED, i] > _TURNS else _AGAINST
            amount = legs[_REVERSALS, i] if found == _AGAINST else legs[_TURNED, i]
        elif controlled[i] != 0.0 and error > bounds[_RAN]:
            found, amount = _RUNAWAY_ERROR, error
        elif controlled[i] != 0.0 and error > bounds[_FOLLOWED] and not (repeated or opposed):
            crept = homed[i] != 0.0 and bounds[_JUMPED] < math.inf and abs(departure) > _CREPT * error
            found, amount = (_JUMP, abs(departure)) if crept else (_FOLLOWING, error)
        if found != _OK and (what == _OK or found < what):
            what, leg, value = found, i, amount
        legs[_LENGTH, i] = length[i]
        legs[_VELOCITY, i] = speed
        legs[_SINCE, i] = 0.0
        legs[_LAG, i] = lag[i]
        legs[_ERROR, i] = followed
        legs[_DEPARTURE, i] = departure if homed[i] != 0.0 else 0.0
    return what, leg, value


class MotionChecks:
    """Judges lengths and speeds of six legs; stores the state of earlier cycles.

    Args:
        mechanism: gives the legs' limits.
        safety: bounds of the configuration.
        period: s, of a cycle.
        tolerated: s, longest silence of a drive during which this rig or its watchdog still controls its leg.
        resolution: m, of each drive's position; an encoder repeats itself as long as its leg has moved by less.
        velocity_feedback: whether each drive reports a measured speed; else it is differentiated from its positions.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        safety: Safety,
        period: float,
        tolerated: float,
        resolution: Sequence[float] = _EXACT,
        velocity_feedback: Sequence[bool] = _MEASURED,
    ) -> None:
        ranges = [leg.limits.length for leg in mechanism.legs if leg.limits and leg.limits.length]
        low, high = (min(low for low, _ in ranges), max(high for _, high in ranges)) if ranges else (0.0, math.inf)
        self._safety = safety
        jump, frozen = safety.bound("position_jump"), safety.bound("frozen_cycles")
        following, runaway = safety.bound("following_error"), _RUNAWAY * safety.following_error
        acceleration = _largest_acceleration(mechanism)
        behind = _STUCK * safety.following_error
        self._bounds = np.array([low, high, jump, frozen, following, runaway, period, tolerated, acceleration, behind])
        self._drives = np.array([resolution, [not measured for measured in velocity_feedback]], dtype=np.float64)
        self._legs = np.zeros((_ROWS, _LEGS))
        self.suspicion = self._legs[_REPEATS:]
        """(2, 6) successive suspect samples, by kind and leg; forces are invalid while there are any"""
        self.departure = self._legs[_DEPARTURE]
        """(6,) m, accumulated deviation of each leg's length from its integrated speed; 0 before homing"""
        self._homed = _NONE
        self.forget()

    def forget(self) -> None:
        """Restart: the next sample is compared with none before it."""
        self._legs[:] = 0.0
        self._legs[_LENGTH] = np.nan

    def check(
        self,
        t: float,
        elapsed: float,
        drives: DriveSamples,
        reference: LegReference,
        *,
        homed: bool | Array,
        controlled: bool | Array,
        following_error_stop: StopSeverity = StopSeverity.CATEGORY_1,
    ) -> Trip | None:
        """Judge lengths and velocities against each other, the cycle before and the reference.

        Args:
            t: s, rig time.
            elapsed: s since the cycle before took its samples.
            drives: their feedback.
            reference: of the legs at `t`.
            homed: lengths are absolute; of all legs, or (6,) by leg.
            controlled: whether the leg follows its reference, so that its following error is valid; likewise.
            following_error_stop: the stop for a following error.
        """
        homed, controlled = _by_leg(homed), _by_leg(controlled)
        what, leg, value = _check_kernel(
            drives.fresh,
            drives.length,
            drives.velocity,
            drives.lag,
            reference.length,
            reference.velocity,
            self._legs,
            self._bounds,
            self._drives,
            elapsed,
            homed,
            controlled,
        )
        self._homed = homed
        if what == _OK:
            return None
        behind = float(reference.length[leg] - drives.length[leg])
        return self._trip(what, leg, value, t, following_error_stop, _lag(behind, float(reference.velocity[leg])))

    def _trip(
        self, what: int, leg: int, value: float, t: float, following_error_stop: StopSeverity, lag: dict[str, Value]
    ) -> Trip:
        safety, number = self._safety, leg + 1

        def stop(found: Finding, category: StopSeverity, *, unhome: bool = False) -> Trip:
            return Trip(Cause(found, t), category, no_recheck, unhome=unhome)

        if what == _NOT_FINITE:
            return no_length(leg, value, t)
        if what == _ABSURD_LENGTH:
            # a jump, too; and of a drive that restarts this may be the first that is seen
            recheck = partial(self._absurd, leg)
            return Trip(Cause(self._out_of_reach(leg), t), StopSeverity.QUICK_STOP, recheck, unhome=True)
        if what == _JUMP:
            code = Code.LENGTH_JUMP if value > safety.position_jump else Code.LENGTH_CREEP
            found = Finding(code, number, value, safety.position_jump)
            return stop(found, StopSeverity.QUICK_STOP, unhome=True)
        if what == _FROZEN:
            found = Finding(Code.ENCODER_FROZEN, number, bound=float(self._bounds[_BEHIND]), details={"cycles": value})
            return stop(found, StopSeverity.QUICK_STOP)
        if what == _AGAINST:
            return stop(Finding(Code.RUNS_AGAINST, number, details={"cycles": value}), StopSeverity.CATEGORY_0)
        if what == _SWINGING:
            return stop(Finding(Code.SWINGS, number, details={"times": value}), StopSeverity.CATEGORY_0)
        if what == _RUNAWAY_ERROR:
            return stop(Finding(Code.RUNAWAY, number, value, safety.following_error), StopSeverity.CATEGORY_0)
        found = Finding(Code.FOLLOWING_ERROR, number, value, safety.following_error, details=lag)
        return stop(found, following_error_stop)

    def _out_of_reach(self, leg: int) -> Finding:
        low, high, length = map(float, (self._bounds[_LOW], self._bounds[_HIGH], self._legs[_LENGTH, leg]))
        return Finding(Code.LENGTH_ABSURD, leg + 1, length, details={"low": low, "high": high})

    def _absurd(self, leg: int) -> Finding | None:
        """Where the last sample of a leg (index) says that it is, if no leg gets there."""
        low, high, length = self._bounds[_LOW], self._bounds[_HIGH], self._legs[_LENGTH, leg]
        reached = self._homed[leg] == 0.0 or low - _ABSURD <= length <= high + _ABSURD
        return None if reached else self._out_of_reach(leg)


def _lag(behind: float, speed: float) -> dict[str, Value]:
    """Details of a leg that is `behind` (m) its reference, which moves at `speed` (m/s); none if it does not lag."""
    if not 0.0 < behind * math.copysign(1.0, speed) < _LONGEST_LAG * abs(speed):
        return {}
    return {"lag": abs(behind / speed), "speed": abs(speed)}


def _by_leg(flag: bool | Array) -> Array:
    if isinstance(flag, np.ndarray):
        return flag
    return _ALL if flag else _NONE


def _largest_acceleration(mechanism: Mechanism) -> float:
    """Largest acceleration limit of any leg, m/s²; infinite if a leg has none."""
    limits = [None if leg.limits is None else leg.limits.acceleration for leg in mechanism.legs]
    return max(math.inf if limit is None else limit for limit in limits)


class FeedbackMonitor:
    """The checks of one rig: `check_drives`, then `check_motion`, then `check_forces`, which uses the motion's results.

    Args:
        config: gives the bounds.
        resolution: m, of each drive's position.
        velocity_feedback: whether each drive reports a measured speed.
    """

    def __init__(self, config: RigConfig, resolution: Sequence[float], velocity_feedback: Sequence[bool]) -> None:
        tolerated = max(config.stale_time, config.drives.watchdog)
        self._motion = MotionChecks(
            config.machine, config.safety, config.period, tolerated, resolution, velocity_feedback
        )
        self._cells = CellChecks(config, self._motion.suspicion)
        self.departure = self._motion.departure
        self.check_drives = DriveChecks(config.period, config.stale_time, config.drives.sample_period).check
        self.check_motion = self._motion.check
        self.check_forces = self._cells.check

    def forget(self) -> None:
        """Restart: the next samples are compared with none before them."""
        self._motion.forget()
        self._cells.forget()
