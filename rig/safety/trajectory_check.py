"""The check of a whole motion before it begins, and that it may come to a stand wherever it is."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynamics import Dynamics, LegLimits, Mechanism
from kinematics import (
    MotionTable,
    SingularityError,
    Trajectory,
    TrajectoryError,
    condition_numbers,
    joint_angles,
    leg_kinematics,
    scaled,
    tabulate,
)
from rig.config import DriveRamps, Safety
from rig.findings import Code, Finding, Value

_LOOK = 0.05  # s between two places looked at
_PEAK = 1.5  # of the change of the rate by its duration, where a cubic smooth step is steepest
_RATES = (1.0, 0.5)  # with which that is looked at: where it begins, and where it is


def check_slowing(mechanism: Mechanism, table: MotionTable, duration: float) -> Finding | None:
    """What stands against slowing `table` down within `duration` s wherever it is; None where nothing does.

    The path's rate goes from 1 to 0 by a cubic smooth step: s̈ is at most 1.5/duration, at half of the rate. Each place
    is looked at with both, and with that and the full rate at once, which is more than ever comes together where the
    motion slows down by itself as well. The table itself is one that passed its check: a path at a lower rate is
    slower, and elsewhere nowhere.

    Args:
        mechanism: gives the legs' limits of acceleration and force; what is not limited is not checked.
        table: the motion.
        duration: s.
    """
    times = np.linspace(0.0, table.duration, max(2, math.ceil(table.duration / _LOOK) + 1))
    motion = np.concatenate([table.motion(times, rate, -_PEAK / duration) for rate in _RATES])
    limits = [leg.limits or LegLimits() for leg in mechanism.legs]
    for name, unit, values, bounds in (
        (
            "acceleration",
            "m/s^2",
            leg_kinematics(mechanism.geometry, motion).acceleration,
            [one.acceleration for one in limits],
        ),
        ("force", "N", Dynamics(mechanism).inverse(motion).forces, [one.force for one in limits]),
    ):
        most = np.array([math.inf if bound is None else bound for bound in bounds])
        excess = np.abs(values) - most
        row, leg = np.unravel_index(int(np.argmax(excess)), excess.shape)
        if not excess[row, leg] <= 0.0:
            return Finding(
                Code.SLOWING_ABOVE,
                int(leg) + 1,
                float(abs(values[row, leg])),
                float(most[leg]),
                {"quantity": name, "unit": unit, "duration": duration, "time": float(times[row % len(times)])},
            )
    return None


Array = npt.NDArray[np.float64]

_PARTS = 3  # of the time between two samples: a step in between shows in speed and acceleration at a third of it
AT_ENDS = "speed at start or end"
"""Name of the check that a motion begins and ends at rest."""
_REST = 1e-6  # m/s, of a leg at the ends of a motion
_BLOCK = 2048  # samples looked at together: a long motion takes no more memory than a short one
_LEAST_STEP = 1e-6  # s
_STANDSTILL = 0.01  # s between two poses looked at as if the platform stood there: its forces vary with the pose alone
_MOST = 10_000_000  # samples; looking at them takes half a minute
_SCALES = 1000  # the largest scale that passes is given in thousandths


@dataclass(frozen=True, slots=True)
class LimitCheck:
    """One quantity over a whole trajectory: its worst sample against its bound, in `unit`.

    `leg` is 1 to 6, or None for the platform as a whole; `time` that of the worst sample, `since` that of the first one
    beyond the bound, s, None if there is none.
    """

    name: str
    unit: str
    value: float
    bound: float
    is_minimum: bool
    leg: int | None
    time: float
    since: float | None

    @property
    def passed(self) -> bool:
        """Whether every sample keeps to the bound."""
        return self.since is None

    @property
    def excess(self) -> float:
        """How far the worst sample is beyond the bound, as a fraction of the bound; negative is inside."""
        return (self.bound - self.value if self.is_minimum else self.value - self.bound) / abs(self.bound)

    def with_later(self, later: "LimitCheck") -> "LimitCheck":
        """The same quantity over this part of a trajectory and a later one."""
        worst = later if later.excess > self.excess else self
        return replace(worst, since=later.since if self.since is None else self.since)

    @property
    def finding(self) -> Finding:
        """The worst sample, its time, and the bound."""
        details: dict[str, Value] = {"time": self.time}
        if self.since is not None:
            details["since"] = self.since
        return self._found(details)

    @property
    def at_rest(self) -> Finding:
        """The same of a pose held, which has no time."""
        return self._found({})

    def __str__(self) -> str:
        """The finding in English."""
        return self.finding.text

    def _found(self, details: dict[str, Value]) -> Finding:
        code = Code.MOTION_BELOW if self.is_minimum else Code.MOTION_ABOVE
        if self.name == AT_ENDS:
            code = Code.MOTION_NOT_AT_REST
        named: dict[str, Value] = {"quantity": self.name, "unit": self.unit}
        return Finding(code, self.leg or 0, self.value, self.bound, named | details)


@dataclass(frozen=True, slots=True)
class TrajectoryVerdict:
    """Whether a trajectory keeps to the limits, and by how much.

    `scale`: the largest amplitude about the start pose, as a fraction of the trajectory's and at most 1, that passes;
    0 if none does, not a number where it was not looked for. `obstacle`: why the motion cannot be evaluated to its end
    (a singularity), or None.
    """

    duration: float
    samples: int
    checks: tuple[LimitCheck, ...]
    scale: float
    obstacle: Finding | None = None

    @property
    def passed(self) -> bool:
        """Whether the trajectory may be run."""
        return not self.obstacle and all(check.passed for check in self.checks)

    @property
    def faults(self) -> tuple[Finding, ...]:
        """Everything that is wrong."""
        failed = (check.finding for check in self.checks if not check.passed)
        return (*([self.obstacle] if self.obstacle else []), *failed)

    @property
    def finding(self) -> Finding | None:
        """What is wrong, and what would pass; None if the trajectory passes."""
        if self.passed:
            return None
        remedies = [] if math.isnan(self.scale) else [Finding(Code.NO_SMALLER_PASSES)]
        if self.scale > 0.0:
            remedies = [Finding(Code.SMALLER_PASSES, value=self.scale)]
        return Finding(Code.TRAJECTORY_OUTSIDE, within=(*self.faults, *remedies))

    @property
    def message(self) -> str:
        """The finding in English, one fault a line; empty if the trajectory passes."""
        return "" if (found := self.finding) is None else found.text

    def as_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return {
            "passed": self.passed,
            "duration_s": self.duration,
            "samples": self.samples,
            "scale": self.scale,
            "obstacle": "" if self.obstacle is None else self.obstacle.text,
            "faults": [fault.as_dict() for fault in self.faults],
            "checks": [asdict(check) | {"passed": check.passed} for check in self.checks],
        }


def check_trajectory(
    mechanism: Mechanism,
    safety: Safety,
    trajectory: Trajectory | MotionTable,
    rate: float,
    *,
    at_rest: bool = True,
    remedy: bool = True,
    waits: npt.ArrayLike | None = None,
    ramps: DriveRamps | None = None,
) -> TrajectoryVerdict:
    """Check every sample of a trajectory, `rate` samples a second, against all limits.

    A table is sampled between its own samples as well: these may say one thing and their speeds another.

    The mechanism's own limits (leg length, speed, acceleration, joint angles, and force without external wrench, which
    is looked at standing still on the way as well: there a pause may end), those of `safety` (condition number), and
    that the motion starts and ends at rest, which a part of a longer one need not (`at_rest`). What the mechanism does
    not limit is not checked. `remedy`: whether to look for the largest scale that passes, where this one does not.
    `waits` (6,): s for which each leg's drive waits at a commanded length for the next one; the leg then departs from
    its reference by what that travels meanwhile, at most the bound of a following error. `ramps`: of the drives; one
    that brakes for each set-point trails by v²/2a, and by half of what the leg travels while it waits.

    Raises:
        TrajectoryError: a number of the trajectory or its step is not finite, or there are too many samples to look at.
        KinematicsError: joint angles are limited, but the mechanism has no home to measure them from.
    """
    table = trajectory if isinstance(trajectory, MotionTable) else tabulate(trajectory, 1.0 / rate)
    if not _LEAST_STEP <= table.step < math.inf:
        raise TrajectoryError(f"step of the table: {table.step:g} s, must be finite and at least {_LEAST_STEP:g} s")
    if not np.isfinite(table.samples).all():
        row = int(np.argwhere(~np.isfinite(table.samples))[0, 0])
        raise TrajectoryError(f"the trajectory is not finite at {row * table.step:g} s")
    step = min(table.step, 1.0 / rate) / _PARTS if isinstance(trajectory, MotionTable) else table.step
    own_waits = np.zeros(6) if waits is None else np.asarray(waits)
    own_ramps = DriveRamps(*np.full((3, 6), np.inf)) if ramps is None else ramps
    checker = _Checker(mechanism, safety, table, step, at_rest, own_waits, own_ramps)
    checks: dict[str, LimitCheck] = {}
    obstacle = None
    try:
        for series in checker.series(1.0):
            check = series.worst()
            checks[series.name] = checks[series.name].with_later(check) if series.name in checks else check
    except SingularityError as error:
        details: dict[str, Value] = {"time": checker.singular_time(), "text": error.statement}
        obstacle = Finding(Code.MOTION_SINGULAR, details=details)
    passed = not obstacle and all(check.passed for check in checks.values())
    scale = 1.0 if passed else checker.largest_scale() if remedy else math.nan
    return TrajectoryVerdict(table.duration, checker.count, tuple(checks.values()), scale, obstacle)


@dataclass(frozen=True, slots=True, eq=False)
class _Series:
    """A quantity at some samples (n, 1 or 6) with the bounds of its columns; a bound may be infinite."""

    name: str
    unit: str
    times: Array
    """(n,), s."""
    values: Array
    bounds: Array
    is_minimum: bool = False

    def excess(self) -> Array:
        """How far each value is beyond its bound, as a fraction of the bound; positive is outside."""
        sense = -1.0 if self.is_minimum else 1.0
        with np.errstate(invalid="ignore"):
            excess = sense * (self.values - self.bounds) / np.abs(self.bounds)
        return np.where(np.isinf(self.bounds), -np.inf, excess)

    def passed(self) -> bool:
        return bool((self.excess() <= 0.0).all())

    def worst(self) -> LimitCheck:
        excess = self.excess()
        # Of equally bad samples (all, where nothing is limited or moves) the largest value is worth showing.
        row, column = np.unravel_index(np.argmax(excess), excess.shape)
        outside = np.flatnonzero(~(excess <= 0.0).all(axis=1))
        return LimitCheck(
            name=self.name,
            unit=self.unit,
            value=float(self.values[row, column]),
            bound=float(self.bounds[column]),
            is_minimum=self.is_minimum,
            leg=int(column) + 1 if excess.shape[1] > 1 else None,
            time=float(self.times[row]),
            since=float(self.times[outside[0]]) if outside.size else None,
        )


class _Checker:
    """Evaluates one trajectory at any amplitude."""

    def __init__(
        self,
        mechanism: Mechanism,
        safety: Safety,
        table: MotionTable,
        step: float,
        at_rest: bool,
        waits: Array,
        ramps: DriveRamps,
    ) -> None:
        self._mechanism = mechanism
        self._dynamics = Dynamics(mechanism)
        self._safety = safety
        self._table = table
        self._at_rest = at_rest
        self._waits = waits
        self._ramps = ramps
        apart = safety.bound("following_error")
        self._apart = np.where(waits > 0.0, apart, np.inf)
        self._trailing = np.where(np.isfinite(ramps.trailing), apart, np.inf)
        intervals = max(1, math.ceil(table.duration / step * (1.0 - 1e-9)))
        if intervals >= _MOST:
            raise TrajectoryError(
                f"{table.duration:g} s are {intervals + 1} samples of {step:g} s to be checked, at most {_MOST}"
            )
        self.count = intervals + 1
        """samples looked at, evenly spaced and at most `step` s apart"""
        self._step = table.duration / intervals
        limits = [leg.limits or LegLimits() for leg in mechanism.legs]
        self._shortest = np.array([-np.inf if limit.length is None else limit.length[0] for limit in limits])
        self._longest = np.array([np.inf if limit.length is None else limit.length[1] for limit in limits])
        self._speed = _bounds([limit.velocity for limit in limits])
        self._acceleration = _bounds([limit.acceleration for limit in limits])
        self._force = _bounds([limit.force for limit in limits])
        self._universal = _bounds([limit.universal_angle for limit in limits])
        self._spherical = _bounds([limit.spherical_angle for limit in limits])

    def largest_scale(self) -> float:
        """Largest amplitude in thousandths that passes, by bisection; 0 if not even the start pose does."""
        passing, failing = 0, _SCALES
        while failing - passing > 1:
            middle = (passing + failing) // 2
            if self._passes(middle / _SCALES):
                passing = middle
            else:
                failing = middle
        return passing / _SCALES

    def _passes(self, scale: float) -> bool:
        try:
            return all(series.passed() for series in self.series(scale))
        except SingularityError:
            return False

    def series(self, scale: float) -> Iterator[_Series]:
        """All limited quantities at an amplitude, block by block, those that cost least first."""
        for rows in self._blocks():
            yield from self._block(scale, rows)
        if not self._at_rest:
            return
        ends = np.array([0, self.count - 1])
        motion = np.concatenate([self._motion(scale, ends[:1]), self._motion(scale, ends[1:])])
        speed = leg_kinematics(self._mechanism.geometry, motion).velocity
        yield _Series(AT_ENDS, "m/s", self._times(ends), np.abs(speed), np.full(6, _REST))

    def singular_time(self) -> float:
        """Time of the first sample, s, at which the motion cannot be evaluated; it must have one."""
        rows = next(rows for rows in self._blocks() if self._singular(rows))
        fine, singular = 0, len(rows)  # that many first samples can be evaluated, that many cannot
        while singular - fine > 1:
            middle = (fine + singular) // 2
            fine, singular = (fine, middle) if self._singular(rows[:middle]) else (middle, singular)
        return float(self._times(rows)[fine])

    def _singular(self, rows: npt.NDArray[np.intp]) -> bool:
        try:
            for _series in self._block(1.0, rows):
                pass
        except SingularityError:
            return True
        return False

    def _blocks(self) -> Iterator[npt.NDArray[np.intp]]:
        return (np.arange(first, min(first + _BLOCK, self.count)) for first in range(0, self.count, _BLOCK))

    def _times(self, rows: npt.NDArray[np.intp]) -> Array:
        return rows.astype(np.float64) * self._step

    def _block(self, scale: float, rows: npt.NDArray[np.intp]) -> Iterator[_Series]:
        geometry, times = self._mechanism.geometry, self._times(rows)
        motion = self._motion(scale, rows)
        legs = leg_kinematics(geometry, motion)
        speed, acceleration = np.abs(legs.velocity), np.abs(legs.acceleration)
        limited = (
            _Series("least length", "m", times, legs.length, self._shortest, is_minimum=True),
            _Series("greatest length", "m", times, legs.length, self._longest),
            _Series("speed", "m/s", times, speed, self._speed),
            _Series("acceleration", "m/s^2", times, acceleration, self._acceleration),
            _Series("speed by the drive's ramp", "m/s", times, speed, self._ramps.speed),
            _Series("acceleration by the drive's ramp", "m/s^2", times, acceleration, self._ramps.acceleration),
            _Series(
                "lag by the drive's ramp",
                "m",
                times,
                0.5 * speed**2 / self._ramps.trailing + 0.5 * self._waits * speed,
                self._trailing,
            ),
            _Series("travel between two commands", "m", times, self._waits * speed, self._apart),
        )
        yield from (series for series in limited if not np.isinf(series.bounds).all())
        if not (np.isinf(self._universal).all() and np.isinf(self._spherical).all()):
            angles = joint_angles(geometry, motion[:, :7])
            yield _Series("angle of the universal joint", "rad", times, angles.universal, self._universal)
            yield _Series("angle of the spherical joint", "rad", times, angles.spherical, self._spherical)
        condition = condition_numbers(geometry, motion[:, :7], self._safety.characteristic_length)
        yield _Series("condition number", "", times, condition[:, np.newaxis], np.array([self._safety.condition]))
        if not np.isinf(self._force).all():
            yield _Series("force", "N", times, np.abs(self._dynamics.inverse(motion).forces), self._force)
            # A pause holds the platform anywhere: where inertia takes load off a leg, standing there puts it back.
            if not motion[:, 7:].any():
                return
            few = slice(None, None, max(1, int(_STANDSTILL / self._step)))
            stands = motion[few].copy()
            stands[:, 7:] = 0.0
            held = np.abs(self._dynamics.inverse(stands).forces)
            yield _Series("force at a standstill", "N", times[few], held, self._force)

    def _motion(self, scale: float, rows: npt.NDArray[np.intp]) -> Array:
        """Motion (n, 19) at consecutive rows; no more of the table is scaled than that takes."""
        table, times = self._table, np.minimum(self._times(rows), self._table.duration)
        if scale == 1.0:
            return table.motion(times)
        first = min(int(times[0] / table.step), len(table.samples) - 2)
        samples = table.samples[first : int(times[-1] / table.step) + 3]
        part = MotionTable(table.step, scaled(samples, table.samples[0, :6], scale))
        return part.motion(np.clip(times - first * table.step, 0.0, part.duration))


def _bounds(values: list[float | None]) -> Array:
    return np.array([np.inf if value is None else value for value in values])
