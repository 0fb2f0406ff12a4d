"""From set-points on the wire to samples of a ring: whose, in which order, when they are meant, and what is dropped."""

import math
import secrets
import struct
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import numpy as np

from rig.streaming.packets import Drop, PacketError, SetPoint
from rig.streaming.samples import END, SAMPLE, Samples
from rig.streaming.sender_clock import ClockEstimate, SenderClock

WINDOW: Final = 1024
"""sequence numbers back to which an overtaken set-point is distinguished from a duplicate"""
QUATERNION: Final = 1e-6
"""deviation of a quaternion's norm from 1 that a set-point may have"""
AHEAD: Final = 10.0
"""s between the times at which a set-point is sent and meant, at most"""
_CHALLENGE_BITS = 53  # which a double has too, so that every language reads them from JSON
_HALF = 1 << 63
_RATE = 200  # receptions of which the rate is stated
_RECORD = struct.Struct("@QdddI4x19d")
"""a record of `SAMPLE`, ten times as fast as its fields one by one"""

Address = tuple[Any, ...]
"""of a socket"""
Decode = Callable[[bytes, bytes | None], SetPoint]


@dataclass(frozen=True, slots=True)
class StreamStatus:
    """What came in so far.

    Each sequence number of a session, from its first to its newest, is taken, missing, or dropped as invalid or of an
    impossible time. All that was received is taken, or dropped, or still waits.
    """

    received: int = 0
    """packets or lines, without those that the system's buffer had no room for"""
    taken: int = 0
    """set-points passed on to the ring"""
    missing: int = 0
    """sequence numbers passed over"""
    reordered: int = 0
    """set-points taken that newer ones had overtaken"""
    dropped: dict[str, int] = field(default_factory=dict)
    """by `Drop`"""
    sessions: int = 0
    """senders, or runs of one, that were followed one after the other"""
    active: bool = False
    """whether a session is going on: neither ended nor silent"""
    ended: bool = False
    """whether the last session was ended by its sender"""
    session: int = 0
    """the sender's number of it"""
    sequence: int = 0
    """of the newest set-point"""
    origin: str = ""
    """address of its sender"""
    silence: float = math.inf
    """s since the last set-point was taken"""
    rate: float = math.nan
    """set-points per second, of the last 200"""
    clock: ClockEstimate = field(default_factory=ClockEstimate)

    @property
    def text(self) -> str:
        """One line: what was taken, what was lost, the sender's clock."""
        losses = {"missing": self.missing, "reordered": self.reordered, **self.dropped}
        lost = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in losses.items() if count) or "none lost"
        text = f"{self.taken} set-points taken, {lost}"
        if math.isfinite(self.clock.drift):
            drift, sigma = 1e6 * self.clock.drift, 1e6 * self.clock.drift_sigma
            text += f"; clock drift {drift:+.1f} ± {2.0 * sigma:.1f} ppm, jitter {1e3 * self.clock.jitter:.2f} ms (p99)"
        return text


class SampleTarget(Protocol):
    """What samples are pushed to: a ring, or a stage before it."""

    def push(self, samples: Samples) -> None:
        """Take samples (n,); never waits."""


class Intake:
    """Passes the set-points of one sender at a time to a ring.

    What comes in waits in a queue of bounded length, from which the oldest are dropped. Not thread-safe.

    Args:
        ring: written by this alone.
        decode: `decode_set_point` or `decode_line`, or of a vehicle's samples.
        key: of the stream, or None.
        queue: length of the queue.
        silence: s without a set-point after which another sender, or the same one started anew, is followed.
        now: the local monotonic clock, s.
    """

    def __init__(
        self,
        ring: SampleTarget,
        decode: Decode,
        key: bytes | None = None,
        *,
        queue: int = 256,
        silence: float = 0.25,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ring = ring
        self.now = now
        """the local clock, s"""
        self._decode = decode
        self._key = key
        self._silence = silence
        self._queue: deque[tuple[bytes, float, Address]] = deque(maxlen=queue)
        self.dropped: Counter[Drop] = Counter()
        """by reason"""
        self.received = self.taken = self.missing = self.reordered = self.sessions = 0
        self.origin: Address = ()
        """address that the newest set-point came from"""
        self.newest: SetPoint | None = None
        """of the session"""
        self.newest_received = -math.inf
        """s, monotonic, when it came in"""
        self.asked: dict[Address, int] = {}
        """challenges for authentic senders without a session, by their address; to be sent, and cleared"""
        self._ended = False
        self._challenge = 0 if key is None else _drawn()
        self._opened = 0
        self._identity: tuple[int, int, Address] | None = None
        self._first = self._newest = 0
        self._seen: set[int] = set()
        self._times: deque[float] = deque(maxlen=_RATE)
        self.clock = SenderClock()
        """of the session's sender"""

    @property
    def challenge(self) -> int:
        """Number that the session was opened with; 0 without a key."""
        return self._opened

    @property
    def next_challenge(self) -> int:
        """Number that opens the next session; 0 without a key."""
        return self._challenge

    def put(self, data: bytes, origin: Address) -> None:
        """Put a packet or line that has come in now, from the sender at `origin`, into the queue."""
        received = self.now()
        self.received += 1
        if origin != self.origin and self._active(received):  # a flood of others must not fill the queue
            self.dropped[Drop.OTHER_SESSION] += 1
            return
        if len(self._queue) == self._queue.maxlen:
            self.dropped[Drop.OVERFLOW] += 1
        self._queue.append((data, received, origin))

    def lost(self, count: int) -> None:
        """Count what the system had no room for, `count` so far."""
        self.dropped[Drop.SYSTEM] = count

    def work(self) -> int:
        """Check all that waits, push what is good to the ring, and return how many these were."""
        good = []
        while self._queue:
            data, received, origin = self._queue.popleft()
            try:
                good.append(self._accepted(data, received, origin))
            except PacketError as error:
                self.dropped[error.drop] += 1
        if good:
            self._ring.push(np.frombuffer(b"".join(good), SAMPLE))
            self.taken += len(good)
        return len(good)

    @property
    def active(self) -> bool:
        """Whether a session goes on."""
        return self._active(self.now())

    def _active(self, now: float) -> bool:
        return self.newest is not None and not self._ended and now - self.newest_received <= self._silence

    def status(self) -> StreamStatus:
        """What came in so far."""
        now, newest = self.now(), self.newest
        times = self._times
        rate = (len(times) - 1) / (times[-1] - times[0]) if len(times) > 1 and times[-1] > times[0] else math.nan
        return StreamStatus(
            self.received,
            self.taken,
            self.missing,
            self.reordered,
            {drop.value: self.dropped[drop] for drop in Drop},
            self.sessions,
            self._active(now),
            self._ended,
            0 if newest is None else newest.session,
            0 if newest is None else newest.sequence,
            ":".join(map(str, self.origin[:2])),
            now - self.newest_received,
            rate,
            self.clock.estimate(),
        )

    def _accepted(self, data: bytes, received: float, origin: Address) -> bytes:
        """The sample, as its record's bytes. Raises PacketError."""
        point = self._decode(data, self._key)
        identity = (point.session, point.challenge, origin)
        if identity != self._identity:
            self._open(point, received, origin)
            self._identity = identity
        elif self._ended:
            raise PacketError(Drop.ENDED, f"session {point.session} has ended")
        self._count_in(point.sequence)
        _check(point)
        if not self.clock.take(point.sent, received):
            raise PacketError(Drop.TIME, f"sent at {point.sent:g} s of a clock that is elsewhere")
        if self.newest is None or point.sequence == self._newest:
            self.newest, self.newest_received = point, received
        self._ended = bool(point.given & END)
        self._times.append(received)
        meant = self.clock.local(point.time)
        return _RECORD.pack(point.sequence, meant, point.sent, received, point.given, *point.motion)

    def _open(self, point: SetPoint, received: float, origin: Address) -> None:
        """Begin a session with this set-point. Raises PacketError where it may not."""
        if self._active(received):
            raise PacketError(Drop.OTHER_SESSION, f"session {point.session} while another one is active")
        if self._key is not None and point.challenge != self._challenge:
            if len(self.asked) < WINDOW:
                self.asked[origin] = self._challenge
            raise PacketError(Drop.CHALLENGE, "the session was not opened with the receiver's number")
        _check(point)
        self._opened = point.challenge
        self._challenge = 0 if self._key is None else _drawn()
        self.sessions += 1
        self.clock = SenderClock()
        self._times.clear()
        self._seen.clear()
        self._ended = False
        self._first, self._newest = point.sequence, point.sequence - 1
        self.origin = origin

    def _count_in(self, sequence: int) -> None:
        """Note a sequence number. Raises PacketError for one that was there, or lies too far back."""
        gap = _ahead(sequence, self._newest)
        if gap > 0:
            self.missing += gap - 1
            self._newest = sequence
            self._seen.add(sequence)
            if len(self._seen) > 2 * WINDOW:
                self._seen = {seen for seen in self._seen if _ahead(seen, sequence) > -WINDOW}
            return
        if gap <= -WINDOW or _ahead(sequence, self._first) < 0:
            raise PacketError(Drop.OLD, f"sequence {sequence}, newest {self._newest}")
        if sequence in self._seen:
            raise PacketError(Drop.DUPLICATE, f"sequence {sequence} was received before")
        self._seen.add(sequence)
        self.missing -= 1
        self.reordered += 1


def _ahead(sequence: int, other: int) -> int:
    """By how much a sequence number is ahead of another one, as they begin again at 0 after 2⁶⁴ - 1 (RFC 1982)."""
    return (sequence - other + _HALF) % (2 * _HALF) - _HALF


def _check(point: SetPoint) -> None:
    """Raise PacketError for a number that is not finite, a time far from the packet's, or no unit quaternion."""
    if not all(map(math.isfinite, (point.sent, point.time, *point.motion))):
        raise PacketError(Drop.INVALID, "a number is not finite")
    if not abs(point.time - point.sent) <= AHEAD:
        raise PacketError(Drop.INVALID, f"meant {point.time - point.sent:g} s after it was sent")
    if not abs(math.hypot(*point.motion[3:7]) - 1.0) <= QUATERNION:
        raise PacketError(Drop.INVALID, "the quaternion is not of unit norm")


def _drawn() -> int:
    """A new number that opens a session, not 0."""
    return secrets.randbits(_CHALLENGE_BITS) or 1
