"""References of other distributions: what each declares, how one is made, and the guard that trusts it with nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from actuators import Declarations
from kinematics import Array, MotionTable, motion_to_coordinates, pose_difference
from rig.config import ExtensionSettings, read_settings
from rig.engine.reference import ReferenceSource
from rig.errors import ConfigError, RefusedError
from rig.findings import Code, Finding, Value
from rig.names import check_name
from rig.safety import START_DISTANCE

SOURCE_GROUP = "stewart_rig.references"
"""Entry-point group: name of a reference → its `SourceDeclaration`."""
LATE_PART = 0.5
"""part of a cycle that a source may take on average over `_AVERAGED` cycles"""
_AVERAGED = 50
_REST_MARGIN = 0.1  # of the time that a source is given to come to rest, by which it may be late
_UNIT_NORM = 1e-6
_AHEAD = (0.0, 1e-3, 1e-2)  # s, evaluated before a source is followed


@dataclass(frozen=True, slots=True)
class SourceDeclaration:
    """What a reference declares.

    name: by which it is followed. caption: its name for a person. make: of its settings and the platform's pose (7,),
    from which it must begin, a `ReferenceSource`. settings: the model of its settings.
    """

    name: str
    caption: str
    make: Callable[[Any, Array], ReferenceSource]
    settings: type[ExtensionSettings] = ExtensionSettings


_SOURCES = Declarations("reference", SourceDeclaration, SOURCE_GROUP, error=ConfigError)


def source_names() -> tuple[str, ...]:
    """Names of all declared references, sorted. Raises ConfigError if two share one."""
    return _SOURCES.names()


def find_source(name: str) -> SourceDeclaration:
    """The declaration of the reference called `name`.

    Raises:
        ConfigError: no such reference, with the known names; its declaration cannot be loaded, or is none.
    """
    return _SOURCES.find(name)


def make_source(name: str, settings: Mapping[str, Any], pose: Array) -> ReferenceSource:
    """Make a declared reference with its settings, at the pose (7,) from which it begins.

    Raises:
        RefusedError: it cannot be made, with its name and why.
    """
    try:
        declared = find_source(name)
        return declared.make(read_settings(declared.settings, settings), pose.copy())
    except Exception as error:  # of whatever kind, where it is somebody else's
        text = str(error) if isinstance(error, ConfigError) else f"{type(error).__name__}: {error}"
        raise RefusedError(Finding(Code.SOURCE_REFUSED, details={"source": name, "text": text})) from error


class GuardedSource:
    """A reference of somebody else, of which nothing is trusted; a `ReferenceSource`.

    What it raises, numbers that are not finite, a quaternion that is none, a value that takes too long, and rest that
    does not come in time are its `fault`. From then on there is no reference any more, so that the engine brakes from
    the last good one. Steps, speeds and accelerations are the engine's to check, as of any reference. Where the source
    says that it does not move it is not asked again: the pose is held.

    Args:
        source: the reference.
        name: of the motion.
        clock: s, for the time that the source takes; standing where time stands, as in lockstep.
        period: s, of the cycle.
    """

    def __init__(self, source: ReferenceSource, name: str, clock: Callable[[], float], period: float) -> None:
        self.name = name
        self.source = source
        self.fault: Finding | None = None
        self.moving, self.slowing, self.paused = True, False, False
        self.path_time, self.path_duration, self.path_rate = 0.0, math.inf, 1.0
        self._clock, self._bound = clock, LATE_PART * period
        self._spent = self._average = 0.0
        self._rest_within, self._slowed = math.inf, 0.0
        self._motion, self._rest = np.zeros(19), np.zeros(19)
        self._asked("members", self._look)

    def check_start(self, pose: Array) -> None:
        """Ask it as a cycle does, which may compile; it must begin at `pose` (7,).

        Raises:
            RefusedError: it does not, takes too long, or fails.
        """
        if self.fault is None and not self.moving:
            self._fail("it does not move from the beginning")
        motion, spent = np.zeros(19), []
        for ahead in (*reversed(_AHEAD), *reversed(_AHEAD)):  # now comes last
            self._spent = 0.0
            self._asked("advance", self.source.advance, 0.0)
            self.evaluate(ahead, motion)
            spent.append(2.0 * self._spent)
        if self.fault is not None:
            raise RefusedError(self.fault)
        self._spent = 0.0
        away = np.abs(pose_difference(motion[:7], pose))
        if not away.max() <= START_DISTANCE:
            details: dict[str, Value] = {"away": float(away[:3].max()), "turned": float(away[3:].max())}
            raise RefusedError(Finding(Code.ELSEWHERE, details=details))
        if min(spent) > self._bound:
            raise RefusedError(Finding(Code.SOURCE_LATE, 0, min(spent), self._bound, {"source": self.name}))

    def advance(self, duration: float) -> None:
        """See `ReferenceSource.advance`."""
        if self.fault is not None or not self.moving:
            return
        self._average += (self._spent - self._average) / _AVERAGED
        self._spent = 0.0
        if self._average > self._bound:
            self.fault = Finding(Code.SOURCE_LATE, 0, self._average, self._bound, {"source": self.name})
            return
        self._asked("advance", self.source.advance, duration)
        self._asked("members", self._look)
        self._judge_rest(duration)

    def _judge_rest(self, duration: float) -> None:
        """Keep the pose where it says that it rests; judge after another `duration` s whether it was to rest by now."""
        if not self.moving:
            self.evaluate(0.0, self._rest, still=True)
            self._rest[7:] = 0.0
        if self._rest_within < math.inf:
            self._slowed += duration
            if self.moving and self._slowed > self._rest_within * (1.0 + _REST_MARGIN):
                self.fault = Finding(Code.SOURCE_NOT_AT_REST, 0, bound=self._rest_within, details={"source": self.name})

    foresees = False
    """it is asked for the next command alone"""

    def evaluate(self, ahead: float, motion: Array, *, still: bool = False) -> bool:
        """See `ReferenceSource.evaluate`; NaN after a fault. still: ask it although it says that it does not move."""
        if self.fault is None and not (self.moving or still):
            motion[:] = self._rest
            return True
        if self.fault is None:
            own = self._motion  # an array that it may keep is none of the engine's
            own[:] = math.nan
            defined = self._asked("evaluate", self.source.evaluate, ahead, own)
            if self.fault is None:
                self._judge(ahead, own, defined=bool(defined))
        if self.fault is not None:
            motion[:] = math.nan
            return False
        motion[:] = self._motion
        return True

    def decelerate(self, durations: Sequence[float]) -> None:
        """See `ReferenceSource.decelerate`. It has to be at rest within the last of the durations."""
        if self.fault is None and self.moving and not self._rest_within < math.inf:
            self._rest_within, self._slowed = float(durations[-1]), 0.0
            self._asked("decelerate", self.source.decelerate, tuple(durations))
            self._asked("members", self._look)

    def resume(self, durations: Sequence[float]) -> None:
        """See `ReferenceSource.resume`."""
        if self.fault is None and (self.paused or self.slowing):
            self._rest_within = math.inf
            self._asked("resume", self.source.resume, tuple(durations))
            self._asked("members", self._look)

    def _asked(self, name: str, method: Callable[..., Any], *arguments: object) -> Any:
        """What a method gives, with its time counted; None where it raises, which is the source's fault."""
        begun = self._clock()
        try:
            return method(*arguments)
        except Exception as error:  # of whatever kind
            self._fail(f"{name}: {type(error).__name__}: {error}")
            return None
        finally:
            self._spent += self._clock() - begun

    def _look(self) -> None:
        """Read what the source says of itself, once a cycle: others read it many times."""
        source = self.source
        moving, slowing, paused = bool(source.moving), bool(source.slowing), bool(source.paused)
        time, duration, rate = float(source.path_time), float(source.path_duration), float(source.path_rate)
        if not (math.isfinite(time) and math.isfinite(rate)) or math.isnan(duration):
            self._fail(f"its path_time {time:g} s, path_duration {duration:g} s or path_rate {rate:g} is no number")
        elif moving and paused:
            self._fail("it is moving and paused")
        elif slowing and not moving:
            self._fail("it is slowing without moving")
        else:
            self.moving, self.slowing, self.paused = moving, slowing, paused
            self.path_time, self.path_duration, self.path_rate = time, duration, rate

    def _judge(self, ahead: float, motion: Array, *, defined: bool) -> None:
        if not defined:
            self._fail(f"it is not defined {ahead:g} s ahead")
        elif not np.isfinite(motion).all():
            place = int(np.flatnonzero(~np.isfinite(motion))[0])
            self._fail(f"number {place + 1} of its 19 is {motion[place]:g}, {ahead:g} s ahead")
        elif abs(float(np.linalg.norm(motion[3:7])) - 1.0) > _UNIT_NORM:
            self._fail(f"the norm of its quaternion is {np.linalg.norm(motion[3:7]):.9g}, must be 1")

    def _fail(self, text: str) -> None:
        if self.fault is None:
            self.fault = Finding(Code.SOURCE_FAILED, details={"source": self.name, "text": text})


def guarded(
    source: ReferenceSource, clock: Callable[[], float], period: float, pose: Array, name: str = ""
) -> GuardedSource:
    """Guard `source`, which must begin at `pose` (7,); see `GuardedSource`. name: of the motion; "": the source's.

    Raises:
        RefusedError: it is no `ReferenceSource`, begins elsewhere, or fails.
    """
    methods = ("advance", "evaluate", "decelerate", "resume")
    lacking = [each for each in methods if not callable(getattr(source, each, None))]
    called = name or getattr(source, "name", "")
    if lacking or not isinstance(called, str) or not called:
        kind = type(source).__name__
        text = f"{kind} is no ReferenceSource: it has no {', '.join(lacking) or 'name'}"
        raise RefusedError(Finding(Code.SOURCE_REFUSED, details={"source": kind, "text": text}))
    guard = GuardedSource(source, check_name("name of the motion", called), clock, period)
    guard.check_start(pose)
    return guard


def sample_source(source: ReferenceSource, step: float, duration: float, ramp: float = 1.6) -> MotionTable:
    """A source as a table, for what is offline: it is told to come to rest so that it rests at `duration` s.

    Args:
        source: at its beginning, which it leaves.
        step: s between two rows.
        duration: s. ramp: s of it in which it comes to rest.

    Raises:
        RefusedError: it fails, or does not come to rest.
    """
    guard = GuardedSource(source, source.name, lambda: 0.0, step)
    rows = []
    count = round(duration / step)
    slow = count - round(ramp * (1.0 + _REST_MARGIN) / step)
    for index in range(count + 1):
        if index == slow:
            guard.decelerate([ramp])
        motion = np.zeros(19)
        guard.evaluate(0.0, motion)
        if guard.fault is not None:
            raise RefusedError(guard.fault)
        rows.append(motion)
        guard.advance(step)
    if guard.moving:
        raise RefusedError(Finding(Code.SOURCE_NOT_AT_REST, 0, bound=ramp, details={"source": guard.name}))
    samples = np.concatenate(motion_to_coordinates(np.array(rows)), axis=1)
    samples[:, 3:6] = np.unwrap(samples[:, 3:6], axis=0)
    return MotionTable(step, samples)
