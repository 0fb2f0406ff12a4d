"""A motion that is streamed in, as a source of references."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from kinematics import Array, pose_to_coordinates
from rig.config import RigConfig
from rig.engine import braking_ahead as check
from rig.engine.braking_ahead import make_ahead
from rig.engine.stream_kernels import (
    BAD,
    ELSEWHERE,
    ENDED,
    FOLLOWS,
    KNOTS,
    LIMITED,
    LOST,
    MOVING,
    PAUSED,
    REFUSED,
    SILENT,
    SLIPPED,
    SLOWING,
    STALE,
    STARVED,
    STREAM,
    TRIES,
    advance_kernel,
    planned_kernel,
    status_kernel,
)
from rig.errors import RefusedError
from rig.findings import Code, Finding, Severity, Value
from rig.runtime import Clock
from rig.safety import Act, Cause, Report, Trip
from rig.states import StopSeverity
from rig.streaming import SampleRing

_QUIET = 1.0  # s between two reports of one kind
_SPARE = 2  # periods beyond the farthest look ahead

Phase = Literal["waiting", "approaching", "fading in", "following", "fading out"]
_PHASES: tuple[Phase, ...] = ("waiting", "approaching", "fading in", "following", "fading out")


@dataclass(frozen=True, slots=True)
class StreamReport:
    """What has become of a stream."""

    phase: Phase
    delay: float
    """s, from the instant that the present reference is meant for to now"""
    used: int
    """samples used"""
    lost: int
    """samples that never came, by their sequence numbers, or were overwritten"""
    late: int
    """samples that came too late, twice, or too many"""
    unusable: int
    """samples that were not finite, or had no unit quaternion"""
    limited: int
    """cycles in which the platform was not where the stream asked"""
    limit: Finding | None = None
    """the last limit, or bound on the braking path, that kept it from there; None: none did"""


def least_delay(config: RigConfig) -> float:
    """The least delay, s, of a stream: the time that a cycle looks ahead, and a period."""
    return _horizon(config) + config.period


def _horizon(config: RigConfig) -> float:
    """How far the plan goes ahead of a cycle's time, s."""
    farthest = config.period + max(config.command_lead, config.force_lead)
    return min(farthest + _SPARE * config.period, (KNOTS - 4) * config.period)


class StreamSource:
    """Follows a stream of samples; a `ReferenceSource`.

    What is emitted has been accepted by the check ahead (`rig.engine.braking_ahead`), whatever the samples say. The
    reference of now is what the stream meant `stream.delay` s ago. The platform goes to the stream's first pose
    slowly, then fades in. It comes to rest when the stream ends, is lost, lags, or is stopped.

    Args:
        config: the rig; `config.stream` rules the stream.
        samples: gives them.
        name: of the stream.
        clock: that of the samples' times.
        act: receives findings; a trip stops the rig.
        rig_time: gives the rig time of the present cycle, s.
        row: (1,) telemetry row, whose fields of the stream are written.

    Raises:
        RefusedError: the stream's delay is shorter than the cycle's look ahead.
    """

    path_duration = math.inf

    def __init__(
        self,
        config: RigConfig,
        samples: SampleRing,
        name: str,
        clock: Clock,
        act: Act,
        rig_time: Callable[[], float],
        row: npt.NDArray[np.void] | None = None,
    ) -> None:
        least = least_delay(config)
        if config.stream.delay < least:
            raise RefusedError(Finding(Code.STREAM_DELAY, value=config.stream.delay, bound=least))
        self.name = name
        self._settings, self._samples, self._clock = config.stream, samples, clock
        self._act, self._rig_time = act, rig_time
        self._ahead = make_ahead(config)
        self._stream = stream = np.zeros(1, STREAM)
        self._data = data = stream[0]
        settings, motion = config.stream, config.motion
        data["period"], data["delay"], data["horizon"] = config.period, settings.delay, _horizon(config)
        data["watchdog"], data["fade_in"], data["fade_out"] = settings.watchdog, settings.fade_in, settings.fade_out
        data["stop_after"], data["braking_duration"] = settings.stop_after, config.period
        data["taken"] = samples.pushed
        data["origin"] = data["silent_since"] = data["slipped_since"] = math.nan
        data["rate"] = data["wanted_rate"] = 1.0
        data["lag"], data["lag_until"] = math.inf, -math.inf
        data["predict"] = settings.predict if settings.resampling == "predict" else 0.0
        data["speed"], data["rotation_speed"] = motion.approach_speed, motion.approach_rotation
        data["limit"] = settings.mode == "limit"
        data["frame"] = ("base", "home", "platform").index(settings.frame)
        home = config.machine.geometry.home_pose
        data["home"], data["home_coordinates"] = home, pose_to_coordinates(home)
        self._period, self._place = config.period, 0.0
        fields = np.zeros(1, [("stream_delay", "f8"), ("stream_asked", "f8", 7), ("stream_counts", "u8", 4)])
        written = fields if row is None else row
        self._row = written["stream_delay"], written["stream_asked"][0], written["stream_counts"][0]
        self._reported: dict[Code, float] = {}
        self._limited = False
        self._status = MOVING
        self.moving, self.slowing, self.paused = True, False, False
        self._rest(home)

    def begin(self, pose: Array) -> None:
        """Begin at rest at `pose` (7,), base frame; called in the engine's thread, once."""
        self._rest(pose)

    def rehearse(self) -> None:
        """Do a cycle's computations once, so that kernels are compiled."""
        self.advance(self._period)
        self.evaluate(0.0, np.zeros(19))
        self.leave()

    def _rest(self, pose: Array) -> None:
        data = self._data
        data["braking"] = 0.0
        data["braking"][:6] = pose_to_coordinates(pose)
        data["plan"][0] = data["braking"]
        data["asked"][:] = math.nan

    # -- as a source -------------------------------------------------------------------------------------------------

    @property
    def path_time(self) -> float:
        """Time for which the stream has been followed, s."""
        return self._place

    @property
    def path_rate(self) -> float:
        """Seconds of the stream per second."""
        return 1.0 if self.moving else 0.0

    def advance(self, duration: float) -> None:
        """Let `duration` s pass: take what has come, plan on, and report."""
        now = self._clock.now()
        self._place += duration
        happened = advance_kernel(self._stream, self._ahead, *self._samples.arrays, now, self._place, *self._row)
        if happened != self._status or self._limited:
            self._set_status(happened)
            self._report_events(happened, now)

    def evaluate(self, ahead: float, motion: Array) -> bool:
        """Fill `motion` (19,) with the reference `ahead` s from now, base frame; False when it is not defined there."""
        known: bool = planned_kernel(self._stream, self._place + ahead, motion)
        return known

    def decelerate(self, durations: Sequence[float]) -> None:
        """Come to rest in the first of `durations` (s) within the limits, or on the known braking path."""
        data, tries = self._data, durations[:TRIES]
        data["stopped"], data["tries"][: len(tries)], data["leave"] = 1, tries, len(tries)
        self._set_status(status_kernel(self._stream))

    def resume(self, durations: Sequence[float]) -> None:
        """Follow the stream again, as from the beginning; a stream that has ended does not go on."""
        data = self._data
        if not data["ended"]:
            data["stopped"], data["silent_since"] = 0, math.nan
            self._set_status(status_kernel(self._stream))

    def leave(self) -> None:
        """Another source is followed: what is recorded of this one ends."""
        delay, asked, counts = self._row
        delay[0] = asked[:] = math.nan
        counts[:] = 0
        self._samples.close()

    # -- what is seen of it ------------------------------------------------------------------------------------------

    @property
    def report(self) -> StreamReport:
        """Phase, delay, counts, and what limits."""
        data = self._data
        counts = [int(data[name]) for name in ("used", "lost", "late", "bad", "limited")]
        limit = self._refusal() if data["limited"] else None
        used, lost, late, bad, limited = counts
        delay = float(data["delay"] + data["slip"])
        return StreamReport(_PHASES[data["phase"]], delay, used, lost, late, bad, limited, limit)

    def _set_status(self, status: int) -> None:
        """Set `moving`, `slowing` and `paused`: attributes, as they are read several times a cycle."""
        self._status = status & (MOVING | SLOWING | PAUSED)
        self.moving, self.slowing, self.paused = (status & bit != 0 for bit in (MOVING, SLOWING, PAUSED))

    # -- what is reported --------------------------------------------------------------------------------------------

    def _report_events(self, events: int, now: float) -> None:
        """Report the events of a cycle."""
        settings, data = self._settings, self._data
        if events & SILENT:
            silence = now - float(data["fresh"])
            self._report(Code.STREAM_SILENT, now, value=silence, bound=settings.watchdog, at_once=True)
        if events & LOST:
            self._trip(Finding(Code.STREAM_LOST, 0, now - float(data["fresh"]), settings.stop_after, self._named()))
        if events & SLIPPED:
            self._report(Code.STREAM_SLIPPED, now, value=float(data["least_slip"]))
        if events & BAD:
            self._report(Code.STREAM_UNUSABLE, now)
        if events & STALE:
            self._report(Code.STREAM_STALE, now)
        if events & STARVED and math.isnan(data["silent_since"]) and not data["ended"]:
            self._report(Code.STREAM_STARVED, now, bound=settings.delay)
        if events & LIMITED and not self._limited:
            self._report(Code.STREAM_LIMITED, now, within=(self._refusal(),))
        self._limited = bool(events & LIMITED)
        if events & FOLLOWS:
            self._report(Code.STREAM_FOLLOWED, now, bound=settings.delay)
        if events & ENDED:
            self._report(Code.STREAM_ENDED, now, at_once=True)
        if events & REFUSED:
            first = events & ELSEWHERE
            details = self._named() | ({"frame": settings.frame} if first else {})
            code = Code.STREAM_ELSEWHERE if first else Code.STREAM_REFUSED
            self._trip(Finding(code, details=details, within=(self._refusal(),)))

    def _refusal(self) -> Finding:
        """Why the last state that was refused or limited was not accepted."""
        why, data = self._data, self._ahead[0]
        what, leg, value = int(why["what"]), int(why["leg"]), float(why["value"])
        bounds = data["bounds"][leg].tolist()
        if what == check.LENGTH:
            limits: dict[str, Value] = {"low": bounds[0], "high": bounds[1]}
            return Finding(Code.REFERENCE_LENGTH, leg + 1, value, details=limits)
        if what == check.SPEED:
            return Finding(Code.REFERENCE_SPEED, leg + 1, value, bounds[2])
        if what == check.ACCELERATION:
            return Finding(Code.REFERENCE_ACCELERATION, leg + 1, value, bounds[3])
        if what == check.CONDITION:
            return Finding(Code.CONDITION_NUMBER, 0, value, float(data["condition"]))
        if what in (check.UNIVERSAL, check.SPHERICAL):
            return Finding(Code.STREAM_JOINT, leg + 1, value)
        if what == check.FORCE:
            return Finding(Code.STREAM_FORCE, leg + 1, value, float(data["force"][leg]))
        if what == check.NOT_FINITE:
            return Finding(Code.REFERENCE_NOT_FINITE, leg + 1, value)
        return Finding(Code.STREAM_NO_BRAKING_PATH)

    def _named(self) -> dict[str, Value]:
        return {"stream": self.name}

    def _report(
        self,
        code: Code,
        now: float,
        *,
        value: float = math.nan,
        bound: float = math.nan,
        at_once: bool = False,
        within: tuple[Finding, ...] = (),
    ) -> None:
        """Report an event, of each kind not more than one a second."""
        if at_once or now - self._reported.get(code, -math.inf) >= _QUIET:
            self._reported[code] = now
            level: Literal["info", "warning"] = "info" if code.severity is Severity.INFO else "warning"
            self._act(Report(level, Finding(code, 0, value, bound, self._named(), within)))

    def _trip(self, found: Finding) -> None:
        """Stop under power; the motion may be resumed."""
        self._act(Trip(Cause(found, self._rig_time()), StopSeverity.CATEGORY_2, latch=False))
