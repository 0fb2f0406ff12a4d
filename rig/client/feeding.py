"""A Python function, an iterable or a ring as the stream of poses that a rig follows."""

import itertools
import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from kinematics import Array, LimitError, Tuning, tuning_values
from rig.client import motion_runner
from rig.client.rig import Rig
from rig.config import CueOptions, RigConfig
from rig.engine import FollowStream, Snapshot, least_delay
from rig.errors import InputError, RigError
from rig.streaming import (
    ACCELERATION,
    END,
    LEAST_MARGIN,
    VELOCITY,
    CueSetup,
    CueStage,
    CueStatus,
    SampleRing,
    Samples,
    TuningFile,
    new_samples,
)

Streamed = ArrayLike | Sequence[ArrayLike] | None
"""A pose (7,), or (pose, velocity) or (pose, velocity, acceleration), (6,) each; None ends the stream. Of a vehicle:
specific force and angular rate, (6,) or (3,) each."""
Stream = Callable[[float], Streamed] | Iterable[Streamed] | SampleRing

_LOOK = 0.02  # s between two looks at whether the stream is followed
_LEAVING = 1.0  # s, for which a function that does not return is waited for once its stream is left
_UNIT = 1e-3  # largest departure of a quaternion's norm from 1, as of any sample
_MOST = 2000.0  # Hz
_NAMES = ("pose", "velocity", "acceleration")
_VEHICLE_NAMES = ("specific force", "angular rate")
_READ = 0.25  # s between two looks at a tuning's file
_LINE = 380  # characters of a note on a change of the tuning


class StreamFeed:
    """Puts what a function gives into a ring, at times a period apart.

    Until the platform follows the stream, the function's first value is repeated.

    Args:
        ring: receives the samples; or a washout's stage before it, and the values are a vehicle's.
        source: gives the value at a time, s since the stream is followed.
        period: s between samples.
        duration: s of the stream; None: until the function gives None.
        status: gives the rig's status.
    """

    def __init__(
        self,
        ring: SampleRing | CueStage,
        source: Callable[[float], Streamed],
        period: float,
        duration: float | None,
        status: Callable[[], Snapshot],
    ) -> None:
        self._ring, self._source, self._period, self._status = ring, source, period, status
        self._last = np.inf if duration is None else max(1, round(duration / period))
        self._origin: float | None = None
        self._count = 0
        self._begun: int | None = None
        """number of the first sample after which time passes"""
        self._looked = -np.inf
        self._first = self._sample(source(0.0), 0.0)
        self.given = int(self._first["given"][0])
        """bits of what the function gives beside the pose"""
        if not isinstance(ring, CueStage):
            _check_first(self._first)
        self.error: Exception | None = None
        """why the stream was not continued"""
        self.ended = False

    def __call__(self, now: float) -> None:
        """Push the samples whose time has come, `now` s of the streams' clock."""
        if self._origin is None:
            self._origin = now
        try:
            self._look(now)
            while not self.ended and self._origin + self._count * self._period <= now:
                self._push(self._origin + self._count * self._period, now)
        except Exception as error:  # of the user's function: whoever waits for the stream's end raises it
            self.error, self.ended = error, True

    def _look(self, now: float) -> None:
        if self._begun is None and now - self._looked >= _LOOK:
            self._looked = now
            stream = self._status().stream
            if stream is not None and stream.phase == "following":
                self._begun = self._count

    def _push(self, meant: float, now: float) -> None:
        place = 0 if self._begun is None else self._count - self._begun
        if place > 0:
            value = self._source(place * self._period)
            if value is None:
                self.ended = True
            else:
                self._first = self._sample(value, place * self._period)
        sample = self._first
        if place >= self._last:
            self.ended = True
        if self.ended:
            sample["given"] |= END
        sample["sequence"], sample["time"], sample["sent"], sample["received"] = self._count, meant, meant, now
        self._ring.push(sample)
        self._count += 1

    def _sample(self, value: Streamed, t: float) -> Samples:
        sample = new_samples(1)
        if isinstance(self._ring, CueStage):
            sample["acceleration"][0, :3], sample["velocity"][0, 3:] = _vehicle(value, t)
            return sample
        try:
            parts = [np.asarray(part, dtype=np.float64) for part in _parts(value)]
        except (TypeError, ValueError) as error:
            raise InputError(f"stream at {t:g} s: {value!r} is not made of numbers") from error
        for name, part in zip(_NAMES, parts, strict=False):
            wanted = sample[name][0].shape
            if part.shape != wanted:
                raise InputError(f"{name} of the stream at {t:g} s: shape {part.shape}, must be {wanted}")
            sample[name][0] = part
        sample["given"] = (0, VELOCITY, VELOCITY | ACCELERATION)[len(parts) - 1]
        return sample


def _vehicle(value: Streamed, t: float) -> Array:
    """Specific force and angular rate (2, 3) of a vehicle. Raises InputError."""
    if value is None:
        raise InputError("stream: it ends before its first sample")
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape not in ((6,), (2, 3)):
        raise InputError(
            f"vehicle's sample at {t:g} s: {value!r}, must be {' and '.join(_VEHICLE_NAMES)}, six numbers or three each"
        )
    if not np.isfinite(found).all():
        raise InputError(f"vehicle's sample at {t:g} s: {found.ravel().tolist()}, must be finite")
    return found.reshape(2, 3)


def _check_first(sample: Samples) -> None:
    """Raise InputError for a first sample that no platform can go to: it would be waited for without end."""
    pose = sample["pose"][0]
    if not all(np.isfinite(sample[name]).all() for name in _NAMES):
        raise InputError(f"stream: its first value has a number that is not finite: pose {pose.tolist()}")
    norm = float(np.linalg.norm(pose[3:]))
    if not abs(norm - 1.0) <= _UNIT:
        raise InputError(f"stream: the quaternion of its first pose has the norm {norm:.6g}, must be 1")


def _check_delay(rig: Rig, rate: float, given: int) -> None:
    """Raise InputError if samples at this rate, Hz, come too seldom for the stream's delay."""
    settings, period = rig.config.stream, 1.0 / rate
    if period > settings.watchdog:
        raise InputError(
            f"rate: {rate:g} Hz, must be at least {1.0 / settings.watchdog:g} Hz: a longer gap than stream.watchdog = "
            f"{1e3 * settings.watchdog:g} ms is not interpolated"
        )
    predicting = settings.resampling == "predict"
    periods = 1 if predicting or given == VELOCITY | ACCELERATION else 2
    least = least_delay(rig.config) + periods * period - (settings.predict if predicting else 0.0)
    if settings.delay < least:
        raise InputError(
            f"rate: {rate:g} Hz needs a stream.delay of at least {1e3 * least:.1f} ms, it is "
            f"{1e3 * settings.delay:g} ms"
        )


def _parts(value: Streamed) -> list[ArrayLike]:
    if value is None:
        raise InputError("stream: it ends before its first pose")
    if isinstance(value, (tuple, list)) and value and np.ndim(value[0]) == 1:
        if len(value) > len(_NAMES):
            raise InputError(f"stream: {len(value)} parts, at most pose, velocity and acceleration")
        return list(value)
    return [value]  # type: ignore[list-item]


def _function(stream: Callable[[float], Streamed] | Iterable[Streamed]) -> Callable[[float], Streamed]:
    """The stream as a function of time; an iterable's next value is that of the next sample."""
    if callable(stream):
        return stream
    if not isinstance(stream, Iterable):
        raise InputError(
            f"source: {type(stream).__name__} must be a reference (a name or a ReferenceSource) or a stream (a "
            "function, an iterable or a ring of poses)"
        )
    values: Iterator[Streamed] = itertools.chain(iter(stream), itertools.repeat(None))
    return lambda _t: next(values)


def follow_stream(
    rig: Rig,
    stream: Stream,
    name: str,
    rate: float,
    duration: float | None,
    cue: CueOptions | None = None,
    report: Callable[[str], None] = lambda _text: None,
) -> CueStatus | None:
    """See `rig.client.RigClient.follow`; report: receives changes of the tuning, as texts."""
    if isinstance(stream, SampleRing):
        if not stream.name:
            raise InputError("stream: a ring of this process alone cannot be followed: make it with SampleRing.create")
        if cue is None:
            rig.request(FollowStream(name, stream.name))
            motion_runner.finish(rig)
            return None
    else:
        if not 0.0 < rate <= _MOST:
            raise InputError(f"rate: {rate:g} Hz, must be above 0 and at most {_MOST:g} Hz")
        if duration is not None and not 0.0 < duration < math.inf:
            raise InputError(f"duration: {duration:g} s, must be finite and greater than 0")
    with SampleRing.create() as ring:
        cueing = None if cue is None else LiveCueing(rig, cue, ring, report)
        if cueing is not None and not isinstance(stream, SampleRing) and 1.0 / rate > cueing.patience:
            least = rig.config.stream.delay - cueing.patience + 1.0 / rate
            raise InputError(
                f"rate: {rate:g} Hz of a vehicle needs a stream.delay of at least {1e3 * least:.1f} ms, it is "
                f"{1e3 * rig.config.stream.delay:g} ms"
            )
        into = ring if cueing is None else cueing.stage
        feed: _Feed
        if isinstance(stream, SampleRing):
            feed, period = _RingFeed(stream, into), rig.config.period
        else:
            period = 1.0 / rate
            feed = StreamFeed(into, _function(stream), period, duration, rig.status)
            if cueing is None:
                _check_delay(rig, rate, feed.given)
        if cueing is not None:
            feed, period = cueing.feeding(feed), min(period, cueing.stage.period)
        with rig.feeding(feed, period):
            rig.request(FollowStream(name, ring.name))
            try:
                motion_runner.finish(rig, None if cueing is None else cueing.look)
            except RigError:
                if feed.error is None:
                    raise
        if feed.error is not None:
            raise feed.error
        return None if cueing is None else cueing.stage.status


class _Feed(Protocol):
    """What is called for samples."""

    @property
    def error(self) -> Exception | None:
        """Why it is over; None while it is not."""

    def __call__(self, now: float, /) -> None:
        """Push what is due at `now`, s of the streams' clock."""


class _RingFeed:
    """Passes on what another process writes into a ring."""

    error: Exception | None = None

    def __init__(self, source: SampleRing, into: SampleRing | CueStage) -> None:
        self._source, self._into = source, into

    def __call__(self, _now: float) -> None:
        self._into.push(self._source.take())


class LiveCueing:
    """A washout's stage of this process, and its tuning's file, which is read again when it changes.

    Args:
        rig: that follows; the changes go into its recording.
        options: `[stream.cue]`.
        ring: receives the platform's motion.
        report: receives changes of the tuning, as texts.

    Raises:
        InputError, KinematicsError, LimitError: see `rig.streaming.washout_of`.
    """

    def __init__(self, rig: Rig, options: CueOptions, ring: SampleRing, report: Callable[[str], None]) -> None:
        config = rig.config
        file = TuningFile(options.tuning, config.folder)
        self._watch = TuningWatch(file, self._tune, rig.note_tuning, report)
        setup = cue_setup(config, options, file.tuning)
        self.patience = setup.patience
        """s, longest period of the vehicle's samples"""
        self.stage = setup.stage(ring)
        self._one_at_a_time = threading.Lock()
        self._now = 0.0

    def feeding(self, feed: _Feed) -> _Feed:
        """The feed, after which the washout goes on where a sample is overdue."""
        return _CuedFeed(feed, self)

    def turn(self, feed: _Feed, now: float) -> None:
        """One call of the feed, and of the stage."""
        with self._one_at_a_time:
            self._now = now
            feed(now)
            self.stage.turn(now)

    def look(self, _progress: object = None) -> None:
        """Read the tuning again if its file has changed, and use it; called by whoever waits for the stream's end."""
        self._watch.look(self._now)

    def _tune(self, tuning: Tuning) -> list[str]:
        with self._one_at_a_time:
            return self.stage.tune(tuning)


class _CuedFeed:
    """A feed behind which a washout's stage is turned."""

    def __init__(self, feed: _Feed, cueing: LiveCueing) -> None:
        self._feed, self._cueing = feed, cueing
        self.error: Exception | None = None

    def __call__(self, now: float) -> None:
        if self.error is not None:
            return
        try:
            self._cueing.turn(self._feed, now)
            self.error = self._feed.error
        except Exception as error:  # whoever waits for the stream's end raises it
            self.error = error


def cue_setup(config: RigConfig, options: CueOptions, tuning: Tuning) -> CueSetup:
    """What a washout before the stream of this rig is made of.

    Raises:
        RefusedError: `stream.delay` leaves no time for the washout's steps.
        InputError: the stream's frame is another one than the washout's; a margin that the stream's check would refuse.
    """
    if config.stream.frame != "base":
        raise InputError(f"stream.frame: {config.stream.frame!r}, must be 'base' for a vehicle's motion, or left out")
    if tuning.limiter.stroke_margin < LEAST_MARGIN:
        raise InputError(
            f"tuning {tuning.name!r}: limiter.stroke_margin is {tuning.limiter.stroke_margin:g} m, must be at least "
            f"{LEAST_MARGIN:g} m for a stream"
        )
    least = least_delay(config) + 3.0 / options.rate
    if config.stream.delay < least:
        raise InputError(
            f"stream.delay: {config.stream.delay:g} s, must be at least {least:.4g} s with a washout of "
            f"{options.rate:g} Hz: the look ahead of a cycle and three steps of the washout"
        )
    patience = config.stream.delay - least_delay(config) - 2.0 / options.rate
    return CueSetup(config.machine, config.safety, tuning, options, patience)


class TuningWatch:
    """Reads a washout's tuning again when its file has changed, and uses it; changes are reported and recorded.

    Args:
        file: with the tuning in effect.
        tune: uses another tuning, and returns what changes.
        note: records a line, at a time, s, monotonic.
        report: receives changes as text.
    """

    def __init__(
        self,
        file: TuningFile,
        tune: Callable[[Tuning], list[str]],
        note: Callable[[str, float], None],
        report: Callable[[str], None],
    ) -> None:
        self._file, self._tune, self._note, self._report = file, tune, note, report
        self._looked = -math.inf

    def look(self, now: float) -> None:
        """Look at the file, a few times a second at most; what is refused leaves the old tuning. now: s, monotonic."""
        if not now - self._looked >= _READ:
            return
        if self._looked == -math.inf:
            for text in initial_tuning_lines(self._file.tuning):
                self._note(text, now)
        self._looked = now
        try:
            tuning = self._file.changed()
            changes = [] if tuning is None else self._tune(tuning)
        except (InputError, LimitError) as error:
            changes = [f"refused, the one before stays: {error}"]
        if changes:
            self._report("; ".join(changes))
            for text in tuning_lines(changes):
                self._note(text, now)


def initial_tuning_lines(tuning: Tuning) -> Iterator[str]:
    """A tuning that a washout begins with, as lines of a recording."""
    return tuning_lines(["begins with", *tuning_values(tuning)])


def tuning_lines(changes: Sequence[str]) -> Iterator[str]:
    """Changes as lines of a recording, several in one while there is room."""
    line = ""
    for change in (change[:_LINE] for change in changes):
        if line and len(line) + len(change) + 2 > _LINE:
            yield line
            line = ""
        line = f"{line}; {change}" if line else change
    if line:
        yield line


@contextmanager
def fed_by_a_thread(feed: Callable[[float], None], period: float) -> Iterator[None]:
    """Within the block a thread calls `feed` with the monotonic time, s, every `period` s.

    If `feed` does not return for a second once the block is left, the thread is left to itself.
    """
    over = threading.Event()

    def run() -> None:
        due = time.monotonic()
        while not over.wait(max(0.0, due - time.monotonic())):
            feed(time.monotonic())
            due = max(due + period, time.monotonic())

    thread = threading.Thread(target=run, name="stream", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(_LEAVING)
