"""A Python function, an iterable or a ring as the stream of poses that a rig follows."""

import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import ArrayLike

from rig.client import motion_runner
from rig.client.rig import Rig
from rig.engine import FollowStream, Snapshot
from rig.errors import InputError, RigError
from rig.streaming import ACCELERATION, END, VELOCITY, SampleRing, new_samples

Streamed = ArrayLike | Sequence[ArrayLike] | None
"""A pose (7,), or (pose, velocity) or (pose, velocity, acceleration), (6,) each; None ends the stream."""
Stream = Callable[[float], Streamed] | Iterable[Streamed] | SampleRing

_LOOK = 0.02  # s between two looks at whether the stream is followed
_MOST = 2000.0  # Hz
_NAMES = ("pose", "velocity", "acceleration")


class StreamFeed:
    """Puts what a function gives into a ring, at times a period apart.

    Until the platform follows the stream, the function's first value is repeated.

    Args:
        ring: receives the samples.
        source: gives the value at a time, s since the stream is followed.
        period: s between samples.
        duration: s of the stream; None: until the function gives None.
        status: gives the rig's status.
    """

    def __init__(
        self,
        ring: SampleRing,
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

    @staticmethod
    def _sample(value: Streamed, t: float) -> "np.ndarray[tuple[int, ...], np.dtype[np.void]]":
        sample = new_samples(1)
        parts = [np.asarray(part, dtype=np.float64) for part in _parts(value)]
        for name, part in zip(_NAMES, parts, strict=False):
            wanted = sample[name][0].shape
            if part.shape != wanted:
                raise InputError(f"{name} of the stream at {t:g} s: shape {part.shape}, must be {wanted}")
            sample[name][0] = part
        sample["given"] = (0, VELOCITY, VELOCITY | ACCELERATION)[len(parts) - 1]
        return sample


def _parts(value: Streamed) -> list[ArrayLike]:
    if value is None:
        raise InputError("stream: it has no first pose")
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
            f"source: {type(stream).__name__} is neither a reference nor a stream: a name or a ReferenceSource, or a "
            "function, an iterable or a ring of poses"
        )
    values: Iterator[Streamed] = itertools.chain(iter(stream), itertools.repeat(None))
    return lambda _t: next(values)


def follow_stream(rig: Rig, stream: Stream, name: str, rate: float, duration: float | None) -> None:
    """See `rig.client.RigClient.follow`."""
    if isinstance(stream, SampleRing):
        rig.request(FollowStream(name, stream.name))
        motion_runner.finish(rig)
        return
    if not 0.0 < rate <= _MOST:
        raise InputError(f"rate: {rate:g} Hz, must be above 0 and at most {_MOST:g} Hz")
    if duration is not None and not duration > 0.0:
        raise InputError(f"duration: {duration:g} s, must be greater than 0")
    with SampleRing.create() as ring:
        feed = StreamFeed(ring, _function(stream), 1.0 / rate, duration, rig.status)
        with rig.feeding(feed, 1.0 / rate):
            rig.request(FollowStream(name, ring.name))
            try:
                motion_runner.finish(rig)
            except RigError:
                if feed.error is None:
                    raise
        if feed.error is not None:
            raise feed.error


@contextmanager
def fed_by_a_thread(feed: Callable[[float], None], period: float) -> Iterator[None]:
    """Within the block a thread calls `feed` with the monotonic time, s, every `period` s."""
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
        thread.join()
