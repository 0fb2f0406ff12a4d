"""A motion that is streamed in, as a source of references."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from kinematics import Array, pose_to_coordinates
from rig.config import RigConfig
from rig.engine import braking_ahead as check
from rig.engine.braking_ahead import make_ahead
from rig.engine.stream_kernels import (
    APPROACHING,
    BAD,
    ENDED,
    FOLLOWS,
    KNOTS,
    LIMITED,
    OUT,
    REFUSED,
    RESTING,
    STALE,
    STARVED,
    STREAM,
    TRIES,
    advance_kernel,
    planned_kernel,
)
from rig.errors import RefusedError
from rig.findings import Code, Finding, Severity, Value
from rig.runtime import Clock
from rig.safety import Act, Cause, Report, Trip
from rig.states import StopSeverity
from rig.streaming import Samples

_SLIP = 0.02  # s, by which the rig's clock may lag behind that of the stream
_SLIPPED_FOR = 0.1  # s, after which a lag is one that stays, not a cycle that came late
_QUIET = 1.0  # s between two reports of one kind
_SPARE = 2  # periods beyond the farthest look ahead

Phase = Literal["waiting", "approaching", "fading in", "following", "fading out"]
_PHASES: tuple[Phase, ...] = ("waiting", "approaching", "fading in", "following", "fading out")


class SampleSource(Protocol):
    """Where samples come from; `rig.streaming.SampleRing` is one."""

    def take(self) -> Samples:
        """The samples since the last call, (n,), valid until the next."""

    @property
    def overwritten(self) -> int:
        """Samples lost so far because they were not taken in time."""

    def close(self) -> None:
        """Let go of what they come by; called when the stream is left."""


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
        act: is told of findings; a trip stops the rig.
        rig_time: gives the rig time of the present cycle, s.
        row: (1,) telemetry row, whose fields of the stream are written.

    Raises:
        RefusedError: the stream's delay is shorter than the cycle's look ahead.
    """

    path_duration = math.inf

    def __init__(
        self,
        config: RigConfig,
        samples: SampleSource,
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
        data["predict"] = settings.predict if settings.resampling == "predict" else 0.0
        data["speed"], data["rotation_speed"] = motion.approach_speed, motion.approach_rotation
        data["limit"] = settings.mode == "limit"
        data["frame"] = ("base", "home", "platform").index(settings.frame)
        home = config.machine.geometry.home_pose
        data["home"], data["home_coordinates"] = home, pose_to_coordinates(home)
        self._plan, self._way = data["plan"], data["way"]
        self._period = config.period
        fields = np.zeros(1, [("stream_delay", "f8"), ("stream_asked", "f8", 7), ("stream_counts", "u8", 4)])
        written = fields if row is None else row
        self._row = written["stream_delay"], written["stream_asked"][0], written["stream_counts"][0]
        self._out = np.zeros(len(OUT))
        self._fresh = 0.0
        self._counts = (0, 0, 0, 0, 0)
        """of samples used, lost, late and unusable, and of cycles limited"""
        self._stopped = self._ended = False
        self._place = 0.0
        self._origin: float | None = None
        self._front, self._phase = 0, RESTING
        self._way_duration = self._way_elapsed = 0.0
        self._rest_at = 0.0
        """s, place at which the platform is at rest, while the plan is"""
        self._delay = settings.delay
        self._silent_since: float | None = None
        self._slipped_since: float | None = None
        self._least_slip = 0.0
        self._reported: dict[Code, float] = {}
        self._limited = False
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
        data["way"] = 0.0
        data["way"][:6] = pose_to_coordinates(pose)
        data["plan"][0] = data["way"]
        data["asked"][:] = math.nan
        data["way_duration"] = self._period
        self._way_duration = self._period

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
        if self._origin is None or (not self._counts[0] and now - self._place < self._origin):
            self._origin = now - self._place  # the least late of the first cycles
        slip = now - self._place - self._origin
        before = self._phase
        delay, asked, counts = self._row
        advance_kernel(
            self._stream, self._ahead, self._samples.take(), now, self._place, self._origin, self._out, asked
        )  # fmt: skip
        (
            events, front, phase, self._way_duration, self._way_elapsed, stopped, ended, self._fresh, used, lost, late,
            bad, limited,
        ) = self._out.tolist()  # fmt: skip
        self._front, self._phase, self._stopped, self._ended = int(front), int(phase), stopped != 0.0, ended != 0.0
        lost += self._samples.overwritten
        self._counts = (int(used), int(lost), int(late), int(bad), int(limited))
        delay[0] = self._delay = self._settings.delay + slip
        counts[:] = used, lost, late + bad, limited
        self._watch(now, slip)
        if events or self._limited:
            self._tell(int(events), now, first=before == APPROACHING)
        self._set_phase()

    def evaluate(self, ahead: float, motion: Array) -> bool:
        """Fill `motion` (19,) with the reference `ahead` s from now, base frame; False when it is not defined there."""
        known: bool = planned_kernel(
            self._plan, self._way, self._period, self._front, self._place + ahead, self._way_duration,
            self._way_elapsed, motion,
        )  # fmt: skip
        return known

    def decelerate(self, durations: Sequence[float]) -> None:
        """Come to rest in the first of `durations` (s) within the limits, or on the way that is known to be."""
        data = self._data
        data["stopped"], self._stopped = 1, True
        self._come_to_rest(durations)
        self._set_phase()

    def _come_to_rest(self, durations: Sequence[float]) -> None:
        """From the next cycle on come to rest, in the first of these times (s) that keeps to the limits."""
        tries = durations[:TRIES]
        self._data["tries"][: len(tries)], self._data["leave"] = tries, len(tries)

    def resume(self, durations: Sequence[float]) -> None:
        """Follow the stream again, as from the beginning; a stream that has ended does not go on."""
        data = self._data
        if not data["ended"]:
            data["stopped"], self._stopped = 0, False
            self._silent_since = None
            self._set_phase()

    def leave(self) -> None:
        """Another source is followed: what is recorded of this one ends."""
        delay, asked, counts = self._row
        delay[0] = asked[:] = math.nan
        counts[:] = 0
        self._samples.close()

    # -- what is seen of it ------------------------------------------------------------------------------------------

    @property
    def report(self) -> StreamReport:
        """Phase, delay and counts."""
        return StreamReport(_PHASES[self._phase], self._delay, *self._counts)

    def _set_phase(self) -> None:
        """Set `moving`, `slowing` and `paused`: attributes, as they are read several times a cycle."""
        stopped, ended = self._stopped, self._ended
        if self._phase != RESTING:
            self._rest_at = (self._front + 1) * self._period
        self.moving = not stopped or self._phase != RESTING or self._place < self._rest_at
        self.slowing = self.moving and stopped and not ended
        self.paused = stopped and not ended and not self.moving

    # -- what is told ------------------------------------------------------------------------------------------------

    def _watch(self, now: float, slip: float) -> None:
        """Judge silence and the clock's slip."""
        settings = self._settings
        if self._stopped or not self._counts[0]:
            return
        silence = now - self._fresh
        if silence <= settings.watchdog:
            self._silent_since = None
        elif self._silent_since is None:
            self._silent_since = now
            self._report(Code.STREAM_SILENT, now, value=silence, bound=settings.watchdog, at_once=True)
        if self._silent_since is not None and now - self._silent_since >= settings.stop_after:
            self._trip(Finding(Code.STREAM_LOST, 0, silence, settings.stop_after, self._named()))
        if slip <= _SLIP or self._origin is None:
            self._slipped_since = None
            return
        if self._slipped_since is None:
            self._slipped_since, self._least_slip = now, slip
        self._least_slip = min(self._least_slip, slip)
        if now - self._slipped_since >= _SLIPPED_FOR:
            self._report(Code.STREAM_SLIPPED, now, value=self._least_slip)
            self._origin += self._least_slip
            self._slipped_since = None
            self._come_to_rest([settings.fade_out])

    def _tell(self, events: int, now: float, *, first: bool) -> None:
        """Report the events of a cycle; first: the platform was on its way to the stream's first pose."""
        settings = self._settings
        if events & BAD:
            self._report(Code.STREAM_UNUSABLE, now)
        if events & STALE:
            self._report(Code.STREAM_STALE, now)
        if events & STARVED and self._silent_since is None and not self._ended:
            self._report(Code.STREAM_STARVED, now, bound=settings.delay)
        if events & LIMITED and not self._limited:
            self._report(Code.STREAM_LIMITED, now)
        self._limited = bool(events & LIMITED)
        if events & FOLLOWS:
            self._report(Code.STREAM_FOLLOWED, now, bound=settings.delay)
        if events & ENDED:
            self._report(Code.STREAM_ENDED, now, at_once=True)
        if events & REFUSED:
            details = self._named() | ({"frame": settings.frame} if first else {})
            code = Code.STREAM_ELSEWHERE if first else Code.STREAM_REFUSED
            self._trip(Finding(code, details=details, within=(self._refusal(),)))

    def _refusal(self) -> Finding:
        """Why the last state was not accepted."""
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
        return Finding(Code.STREAM_NO_WAY)

    def _named(self) -> dict[str, Value]:
        return {"stream": self.name}

    def _report(
        self, code: Code, now: float, *, value: float = math.nan, bound: float = math.nan, at_once: bool = False
    ) -> None:
        """Report an event, of each kind not more than one a second."""
        if at_once or now - self._reported.get(code, -math.inf) >= _QUIET:
            self._reported[code] = now
            level: Literal["info", "warning"] = "info" if code.severity is Severity.INFO else "warning"
            self._act(Report(level, Finding(code, 0, value, bound, self._named())))

    def _trip(self, found: Finding) -> None:
        """Stop under power; the motion may be resumed."""
        self._act(Trip(Cause(found, self._rig_time()), StopSeverity.CATEGORY_2, latch=False))
