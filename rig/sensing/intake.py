"""From readings as they come in to records in rig time: whose, when they were measured, and what is dropped."""

import math
import time
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, Protocol

import numpy as np
import numpy.typing as npt

from rig.config import SensorOptions
from rig.findings import Code, Finding, Value
from rig.recording import READING
from rig.runtime import Clock
from rig.sensing.packets import Measurement, decode
from rig.streaming import Drop, PacketError, SenderClock
from rig.telemetry import QUATERNION

WINDOW: Final = 256
"""sequence numbers back to which an overtaken reading is distinguished from a duplicate"""
AHEAD: Final = 10.0
"""s between measurement and sending, or measurement and arrival, at most"""
FUTURE: Final = 0.1
"""s by which a stamp may be ahead of the sending or the arrival, at most: clocks of two kinds agree to less"""
_UNIT_NORM = 1e-3
_RATE = 200  # arrivals of which the rate is stated
_QUIET = 1.0  # s between two reports of unusable readings at first; twice as long after each, while they go on
_LONGEST_QUIET = 60.0  # s

State = Literal["waiting", "live", "stale", "failed"]


class RigTime(Protocol):
    """Rig time beside the clocks that stamps are of."""

    def now(self) -> float:
        """Rig time, s; NaN before it has begun."""

    def of_machine(self, stamp: float) -> float:
        """Rig time at a time of this machine's monotonic clock, s."""

    def of_plant(self, stamp: float) -> float:
        """Rig time at a time of the virtual plant's clock, s; NaN while that is not known."""


class MachineTime:
    """Rig time that runs with the machine's clock.

    origin: s, of the monotonic clock at rig time 0, NaN until it is known.
    """

    def __init__(self, origin: float = math.nan) -> None:
        self.origin = origin

    def now(self) -> float:
        """See `RigTime.now`."""
        return time.monotonic() - self.origin

    def of_machine(self, stamp: float) -> float:
        """See `RigTime.of_machine`."""
        return stamp - self.origin

    def of_plant(self, stamp: float) -> float:
        """See `RigTime.of_plant`: in real time the plant's clock is the machine's."""
        return stamp - self.origin


class ManualTime:
    """Rig time of a lockstep rig, whose clock all stamps are of. Args: clock: begins at rig time 0."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def now(self) -> float:
        """See `RigTime.now`."""
        return self._clock.now()

    def of_machine(self, stamp: float) -> float:
        """See `RigTime.of_machine`."""
        return stamp

    def of_plant(self, stamp: float) -> float:
        """See `RigTime.of_plant`."""
        return stamp


@dataclass(frozen=True, slots=True)
class SensorReport:
    """What came in of a sensor so far."""

    name: str
    state: State
    """"waiting" for a first reading, "live", "stale", or "failed": it could not be opened or read"""
    taken: int = 0
    """readings used"""
    missing: int = 0
    """sequence numbers passed over"""
    dropped: tuple[tuple[str, int], ...] = ()
    """readings that were not used, by `rig.streaming.Drop`; none that are zero"""
    age: float | None = None
    """s since the newest arrived; None without one"""
    rate: float | None = None
    """readings per second, of the last 200"""
    jitter: float | None = None
    """s, 99th percentile of the delay beyond the least; None without a modelled clock"""
    values: tuple[float, ...] = ()
    """of the newest"""
    text: str = ""
    """why it failed"""

    @property
    def line(self) -> str:
        """The report in one line."""
        if self.state == "failed":
            return f"{self.name}: failed: {self.text}"
        lost = [f"{self.missing} missing"] if self.missing else []
        lost += [f"{count} {name.replace('_', ' ')}" for name, count in self.dropped]
        rate = "" if self.rate is None else f", {self.rate:.4g} Hz"
        age = "" if self.age is None or self.state == "live" else f", the last {self.age:.3g} s ago"
        return f"{self.name}: {self.state}{rate}, {self.taken} readings{age}, {', '.join(lost) or 'none lost'}"


class SensorIntake:
    """Takes the readings of one sensor, of one sender at a time. Not thread-safe.

    Args:
        number: place of the sensor in [[sensors]], from 0.
        options: of the sensor.
        key: of its packets, or None.
        rig_time: rig time.
        twin: whether a virtual rig sends its readings, whose clock is the plant's.
    """

    def __init__(
        self, number: int, options: SensorOptions, key: bytes | None, rig_time: RigTime, *, twin: bool = False
    ) -> None:
        self.options = options
        self.failure = ""
        """why it cannot be read; empty while it can"""
        self._number, self._key, self._rig_time = number, key, rig_time
        self._plants = twin
        self._count = len(options.meaning.names)
        self._ready: list[npt.NDArray[np.void]] = []
        self._identity: tuple[int, object] | None = None
        self._clock = SenderClock()
        self._newest = -1
        self._seen: set[int] = set()
        self._values: tuple[float, ...] = ()
        self._taken = self._missing = 0
        self._dropped: Counter[Drop] = Counter()
        self._arrivals: deque[float] = deque(maxlen=_RATE)
        self._begun = math.nan
        """rig time from which on readings are waited for, s"""
        self._stale = False
        self._unreported: Counter[str] = Counter()
        self._reported, self._quiet = -math.inf, _QUIET
        self._failed = ""

    def put(self, data: bytes, origin: object = None) -> None:
        """Take a packet or line that has come in now, from a sender at `origin`."""
        try:
            reading = decode(data, self._count, self._key)
        except PacketError as error:
            if math.isfinite(self._rig_time.now()):
                self._drop(error)
            return
        self.take(reading, origin)

    def take(self, reading: Measurement, origin: object = None) -> None:
        """Take a reading that has come in now."""
        now = self._rig_time.now()
        if not now >= 0.0:  # there is no rig time yet
            return
        if self._plants and math.isnan(self._rig_time.of_plant(0.0)):  # the engine has no plant
            return
        try:
            self._ready.append(self._accepted(reading, origin, now))
        except PacketError as error:
            self._drop(error)
            return
        self._taken += 1
        self._arrivals.append(now)
        self._values = reading.values

    def ready(self) -> npt.NDArray[np.void]:
        """The readings taken since the last call, (n,) of dtype `READING`."""
        ready, self._ready = self._ready, []
        return np.concatenate(ready) if ready else np.zeros(0, READING)

    def lost(self, count: int) -> None:
        """Count what the system had no room for, `count` so far."""
        self._dropped[Drop.SYSTEM] = count

    def watch(self) -> Iterator[Finding]:
        """What is to be reported now: stale, back, failed; unusable readings with their number, ever less often."""
        now = self._rig_time.now()
        if not math.isfinite(now):
            return
        if math.isnan(self._begun):
            self._begun = now
        name = self.options.name
        if self.failure != self._failed:
            self._failed = self.failure
            if self.failure:
                yield Finding(Code.SENSOR_FAILED, details={"sensor": name, "text": self.failure})
        silence = now - (self._arrivals[-1] if self._arrivals else self._begun)
        if not self._stale and silence > self.options.silence:
            self._stale = True
            details: dict[str, Value] = {"sensor": name, "taken": self._taken}
            yield Finding(Code.SENSOR_STALE, 0, silence, self.options.silence, details)
        elif self._stale and silence <= self.options.silence:
            self._stale = False
            yield Finding(Code.SENSOR_BACK, details={"sensor": name})
        if self._unreported and now - self._reported >= self._quiet:
            goes_on = now - self._reported < 2.0 * self._quiet
            self._quiet = min(2.0 * self._quiet, _LONGEST_QUIET) if goes_on else _QUIET
            self._reported = now
            text, _ = self._unreported.most_common(1)[0]
            count = sum(self._unreported.values())
            self._unreported.clear()
            yield Finding(Code.SENSOR_UNUSABLE, details={"sensor": name, "count": count, "text": text})

    def report(self) -> SensorReport:
        """What came in so far."""
        now, arrivals = self._rig_time.now(), self._arrivals
        age = now - arrivals[-1] if arrivals else None
        spread = len(arrivals) > 1 and arrivals[-1] > arrivals[0]
        rate = (len(arrivals) - 1) / (arrivals[-1] - arrivals[0]) if spread else None
        jitter = self._clock.estimate().jitter if self.options.clock == "sender" and arrivals else None
        state: State = "live"
        if self.failure:
            state = "failed"
        elif age is None:
            state = "waiting"
        elif age > self.options.silence:
            state = "stale"
        dropped = tuple((drop.value, self._dropped[drop]) for drop in Drop if self._dropped[drop])
        return SensorReport(
            self.options.name, state, self._taken, self._missing, dropped, age, rate, jitter, self._values, self.failure
        )

    def _drop(self, error: PacketError) -> None:
        self._dropped[error.drop] += 1
        self._unreported[str(error) if error.drop is Drop.INVALID else error.drop.value.replace("_", " ")] += 1

    def _accepted(self, reading: Measurement, origin: object, now: float) -> npt.NDArray[np.void]:
        """The record of a reading. Raises PacketError."""
        identity = (reading.session, origin)
        active = bool(self._arrivals) and now - self._arrivals[-1] <= self.options.silence
        restarted = reading.sequence is not None and (
            reading.sequence <= self._newest or reading.sequence > self._farthest(now)
        )
        if self._identity is None or (not active and (restarted or identity != self._identity)):
            self._identity = identity
            self._clock, self._newest = SenderClock(), -1
            self._seen.clear()
        elif identity != self._identity:
            raise PacketError(Drop.OTHER_SESSION, f"session {reading.session} while another one is active")
        sequence = self._counted(reading.sequence, now)
        self._check(reading)
        t = self._measured(reading, now)
        row = np.zeros(1, READING)
        row["t"], row["sent"], row["received"] = t, reading.sent, now
        row["sequence"], row["sensor"] = sequence, self._number
        row["values"][0, : self._count] = reading.values
        return row

    def _measured(self, reading: Measurement, now: float) -> float:
        """Rig time at which a reading was measured. Raises PacketError."""
        clock = self.options.clock
        if clock == "arrival":
            t = now
        elif clock == "machine":
            t = self._rig_time.of_plant(reading.time) if self._plants else self._rig_time.of_machine(reading.time)
        elif not self._clock.take(reading.sent, now):
            raise PacketError(Drop.TIME, f"sent at {reading.sent:g} s of a clock that is elsewhere")
        else:
            t = self._clock.local(reading.time)
        if t - now > FUTURE:
            raise PacketError(Drop.TIME, f"measured {t - now:g} s after it arrived")
        t -= self.options.delay
        if not abs(now - t) <= AHEAD:
            raise PacketError(Drop.TIME, f"measured {now - t:g} s before it arrived")
        if t < 0.0:
            raise PacketError(Drop.TIME, "measured before rig time began")
        return t

    def _check(self, reading: Measurement) -> None:
        """Raise PacketError for numbers that are not finite, contradictory stamps, or no unit quaternion."""
        for name, value in zip(self.options.meaning.names, reading.values, strict=True):
            if not math.isfinite(value):
                raise PacketError(Drop.INVALID, f"{name} is not finite")
        if self.options.kind == "pose" and not abs(math.hypot(*reading.values[QUATERNION]) - 1.0) <= _UNIT_NORM:
            raise PacketError(Drop.INVALID, "the quaternion is not of unit norm")
        if self.options.clock == "arrival":
            return
        if not (math.isfinite(reading.sent) and math.isfinite(reading.time)):
            raise PacketError(Drop.INVALID, 'without a time: clock = "arrival" is for sensors that have none')
        if reading.time - reading.sent > FUTURE:
            raise PacketError(Drop.INVALID, f"measured {reading.time - reading.sent:g} s after it was sent")
        if not abs(reading.time - reading.sent) <= AHEAD:
            raise PacketError(Drop.INVALID, f"measured {reading.sent - reading.time:g} s before it was sent")

    def _farthest(self, now: float) -> float:
        """The largest sequence number that can have been reached by now, at ten times the sensor's rate."""
        if self._newest < 0 or not self._arrivals:
            return math.inf
        return self._newest + WINDOW + 10.0 * self.options.rate * (now - self._arrivals[-1])

    def _counted(self, sequence: int | None, now: float) -> int:
        """Note a sequence number; where there is none, one is given. Raises PacketError for one that was there."""
        if sequence is None:
            sequence = self._newest + 1
        if not 0 <= sequence < 1 << 64:
            raise PacketError(Drop.INVALID, f"sequence {sequence} is not of 0 to 2⁶⁴ − 1")
        if sequence > self._farthest(now):
            raise PacketError(Drop.INVALID, f"sequence {sequence}, after {self._newest}")
        if sequence > self._newest:
            if self._newest >= 0:
                self._missing += sequence - self._newest - 1
            self._newest = sequence
            self._seen.add(sequence)
            if len(self._seen) > 2 * WINDOW:
                self._seen = {seen for seen in self._seen if seen > sequence - WINDOW}
            return sequence
        if sequence <= self._newest - WINDOW:
            raise PacketError(Drop.OLD, f"sequence {sequence}, newest {self._newest}")
        if sequence in self._seen:
            raise PacketError(Drop.DUPLICATE, f"sequence {sequence} was received before")
        self._seen.add(sequence)
        self._missing = max(0, self._missing - 1)
        return sequence
