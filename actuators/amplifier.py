"""Load-cell amplifier: a Modbus TCP device of its own that reads six cells in one exchange."""

import math
import time
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
from actuators.station import Station
from actuators.wire import TcpWire, Wire


@dataclass(frozen=True, slots=True)
class AmplifierReading:
    """Six forces of one cycle.

    forces: N, raw cell signals of legs 1 to 6, compression positive; NaN where a channel has no valid value, by its
    register or by the status word, or nothing has been received yet. fresh: False = stale, the other values are those
    of the last good reply: there was none, or nothing was converted since. age: consecutive stale cycles. status: the
    device's status word, bit n - 1 = channel n invalid. sample: the device's conversion counter, which tells a new
    value from one read twice; -1 = none yet.
    """

    forces: tuple[float, ...]
    fresh: bool
    age: int
    status: int
    sample: int


class AmplifierOptions(TcpAddress):
    """What an amplifier needs to know."""

    name: str = "amplifier"
    port: Port = 502
    profile: str | Path | AmplifierProfile = "generic-amplifier"
    request_timeout: Annotated[float, Field(gt=0.0)] = 2.0
    """s, for each access that is not cyclic."""
    open_wire: Callable[[float], Wire] | None = None
    """Called with the connection's timeout (s) in place of opening a TCP connection to host:port."""


class Amplifier:
    """Six-channel load-cell amplifier, read like a drive: `begin` sends, `finish` collects, neither raises."""

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
        self._last = AmplifierReading((math.nan,) * 6, False, 0, 0, -1)
        self._sample = -1
        self._age = 0
        self.standing = False
        """whether the device answered last without having converted anything since"""

    @property
    def connected(self) -> bool:
        """False before `connect`, after `close`, and once the peer has gone."""
        return self._station.connected

    def connect(self, timeout: float) -> None:
        """Open the connection within `timeout` s, closing one that is open. Raises ConnectError."""
        self.close()
        self._age, self._sample = 0, -1
        try:
            self._station.open(timeout)
        except ConnectError as error:
            raise ConnectError(f"{self.name}: {error}") from error

    def identify(self) -> Identity:
        """Ask the device who it is. Raises ConnectError, ProtocolError."""
        return Identity(**self._station.read_texts(self.profile.identity, self._options.request_timeout))

    def begin(self) -> None:
        """Send this cycle's request without waiting."""
        self._station.begin(self._codec, self._codec.request)

    def finish(self, deadline: float) -> AmplifierReading:
        """Collect the reply to `begin` by `deadline` (`time.monotonic()`, s).

        Without one, or with one whose conversion counter stands where it stood, the last values, stale.
        """
        reading = self._finish(deadline)
        self.standing = reading is not None and reading.sample == self._sample
        if reading is not None and not self.standing:
            self._sample = reading.sample
            self.counters.received += 1
            self._age = 0
            self._last = reading
            return reading
        self._age += 1
        last = self._last
        return AmplifierReading(last.forces, False, self._age, last.status, last.sample)

    def exchange(self, timeout: float) -> AmplifierReading:
        """Do one `begin` and `finish`, waiting at most `timeout` s."""
        self.begin()
        return self.finish(time.monotonic() + timeout)

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
        return AmplifierReading(forces, True, 0, status, int(raw[1]))


def create_amplifier(options: Mapping[str, Any]) -> Amplifier:
    """Make an amplifier from the options of `AmplifierOptions`. Raises ConfigurationError listing all faults."""
    try:
        return Amplifier(AmplifierOptions.model_validate(dict(options)))
    except ValidationError as error:
        name = options.get("name", "amplifier")
        raise ConfigurationError(f"{name}: options of the amplifier:\n{describe(error)}") from None
