"""Load-cell amplifier: a Modbus TCP device of its own that reads one cell or several in one exchange."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError

from actuators.bus import PipelinedBus
from actuators.codec import ReadingCodec
from actuators.driver import Port, TcpAddress
from actuators.errors import ConfigurationError, ConnectError
from actuators.interface import Counters, Identity
from actuators.profile import AmplifierProfile, describe, load_profile
from actuators.sampling import Sampling
from actuators.station import Station
from actuators.wire import TcpWire, Wire


@dataclass(frozen=True, slots=True)
class AmplifierReading:
    """The forces of one cycle.

    forces: N, raw cell signals by channel, compression positive; NaN where a channel has no valid value, by its
    register or by the status word, or nothing has been received yet. fresh: False = stale, the other values are those
    of the last good reply: there was none, or nothing was converted since. age: s since they were received, by the time
    that the cycles are given. status: the device's status word, bit n - 1 = channel n invalid. sample: the device's
    conversion counter, which tells a new value from one read twice; -1 = none yet.
    """

    forces: tuple[float, ...]
    fresh: bool
    age: float
    status: int
    sample: int


class AmplifierOptions(TcpAddress):
    """What an amplifier needs to know."""

    name: str = "amplifier"
    port: Port = 502
    profile: str | Path | AmplifierProfile = "generic-amplifier"
    request_timeout: Annotated[float, Field(gt=0.0)] = 2.0
    """s, for each access that is not cyclic."""
    sample_period: Annotated[float, Field(ge=0.0)] = 0.0
    """s between two exchanges of a device that is slower than the cycle; 0 = one in every cycle."""
    open_wire: Callable[[float], Wire] | None = None
    """Called with the connection's timeout (s) in place of opening a TCP connection to host:port."""


class Amplifier:
    """Load-cell amplifier, read like a drive: `begin` sends, `finish` collects, neither raises."""

    def __init__(self, options: AmplifierOptions) -> None:
        """Make the amplifier without connecting. Raises ConfigurationError for a bad profile."""
        profile = options.profile
        self.profile = profile if isinstance(profile, AmplifierProfile) else load_profile(profile, AmplifierProfile)
        self.name = options.name
        self.counters = Counters()
        self._options = options
        label = f"{options.name} at {options.place}"
        self._station = Station(PipelinedBus(self._open_wire), label, options.unit, self.counters)
        self._codec = ReadingCodec(self.profile, options.unit)
        self._scales = [(register.scale, register.invalid) for register in self.profile.reading.forces]
        self.channels = len(self._scales)
        """cells that it reads"""
        self._last = AmplifierReading((math.nan,) * self.channels, False, 0.0, 0, -1)
        self._sample = -1
        self.sample_period = options.sample_period
        """s between two exchanges, 0 for one in every cycle"""
        self._sampling = Sampling(options.sample_period)
        self.standing = False
        """whether the device answered last without having converted anything since"""

    @property
    def connected(self) -> bool:
        """False before `connect`, after `close`, and once the peer has gone."""
        return self._station.connected

    def connect(self, timeout: float) -> None:
        """Open the connection within `timeout` s, closing one that is open. Raises ConnectError."""
        self.close()
        self._sample = -1
        self._sampling.forget()
        try:
            self._station.open(timeout)
        except ConnectError as error:
            raise ConnectError(f"{self.name}: {error}") from error

    def identify(self) -> Identity:
        """Ask the device who it is. Raises ConnectError, ProtocolError."""
        return Identity(**self._station.read_texts(self.profile.identity, self._options.request_timeout))

    @property
    def overdue(self) -> bool:
        """Whether the last request brought nothing new; a slower device is not asked in every cycle."""
        return self._sampling.overdue

    def begin(self, now: float) -> None:
        """Send this cycle's request without waiting; now: s, the cycle's time, from which readings age."""
        if self._sampling.due(now):
            self._station.begin(self._codec, self._codec.request)

    def finish(self, deadline: float) -> AmplifierReading:
        """Collect the reply to `begin` by `deadline` (`time.monotonic()`, s).

        Without one, or with one whose conversion counter stands where it stood, the last values, stale.
        """
        reading = self._finish(deadline) if self._sampling.asked else None
        self.standing = reading is not None and reading.sample == self._sample
        if reading is not None and not self.standing:
            self._sample = reading.sample
            self.counters.received += 1
            self._sampling.received()
            self._last = reading
            return reading
        last = self._last
        return AmplifierReading(last.forces, False, self._sampling.age, last.status, last.sample)

    def exchange(self, now: float, timeout: float) -> AmplifierReading:
        """Do one `begin` at `now` (s) and `finish`, waiting at most `timeout` s."""
        self.begin(now)
        return self.finish(now + timeout)

    def close(self) -> None:
        """Close the connection; idempotent."""
        self._station.close()

    def _open_wire(self, timeout: float) -> Wire:
        options = self._options
        return options.open_wire(timeout) if options.open_wire else TcpWire(options.host, options.port, timeout)

    def _finish(self, deadline: float) -> AmplifierReading | None:
        raw = self._station.finish(self._codec, deadline)
        if raw is None:
            return None
        status = int(raw[0])
        forces = tuple(
            math.nan if value == invalid or status >> channel & 1 else value * scale
            for channel, (value, (scale, invalid)) in enumerate(zip(raw[2:], self._scales, strict=True))
        )
        return AmplifierReading(forces, True, 0.0, status, int(raw[1]))


def create_amplifier(options: Mapping[str, Any]) -> Amplifier:
    """Make an amplifier from the options of `AmplifierOptions`. Raises ConfigurationError listing all faults."""
    try:
        return Amplifier(AmplifierOptions.model_validate(dict(options)))
    except ValidationError as error:
        name = options.get("name", "amplifier")
        raise ConfigurationError(f"{name}: options of the amplifier:\n{describe(error)}") from None
