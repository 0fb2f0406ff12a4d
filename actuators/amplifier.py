"""Driver `amplifier-tcp`: a Modbus TCP device of its own that reads one load cell or several in one exchange."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from actuators.bus import PipelinedBus
from actuators.cell_device import CellDevice, CellDriver, CellOptions, DeviceReading
from actuators.codec import ReadingCodec
from actuators.driver import Line, Port, TcpAddress
from actuators.errors import ConnectError
from actuators.interface import Identity
from actuators.profile import AmplifierProfile, load_profile
from actuators.sampling import Sampling
from actuators.station import Station
from actuators.virtual.amplifier import VirtualAmplifier
from actuators.virtual.faults import FaultyAmplifier
from actuators.virtual.port import Cell
from actuators.wire import TcpWire, Wire


@dataclass(frozen=True, slots=True)
class AmplifierReading(DeviceReading):
    """See `DeviceReading`; a channel has no valid value by its register, or by the status word.

    status: the device's status word, bit n - 1 = channel n invalid. sample: the device's conversion counter, which
    tells a new value from one read twice; -1 = none yet.
    """

    status: int
    sample: int


class AmplifierAddress(TcpAddress):
    """An amplifier that reads all six cells."""

    profile: Line = "generic-amplifier"
    """Name of a shipped register profile, or a TOML file relative to the configuration's folder."""


class CellAddress(AmplifierAddress):
    """The device of one cell."""

    profile: Line = "generic-cell"


class AmplifierOptions(CellOptions, TcpAddress):
    """What an amplifier needs to know."""

    name: str = "amplifier"
    port: Port = 502
    profile: str | Path | AmplifierProfile = "generic-amplifier"
    """A shipped profile's name, a TOML file's path, or a loaded profile."""


class Amplifier(CellDevice):
    """Load-cell amplifier on a connection of its own."""

    def __init__(self, options: AmplifierOptions) -> None:
        """Make the amplifier without connecting. Raises ConfigurationError for a bad profile."""
        self.profile = _profile(options)
        super().__init__(options.name, len(self.profile.reading.forces))
        self._options = options
        label = f"{options.name} at {options.place}"
        self._station = Station(PipelinedBus(self._open_wire), label, options.unit, self.counters)
        self._codec = ReadingCodec(self.profile, options.unit)
        self._scales = [(register.scale, register.invalid) for register in self.profile.reading.forces]
        self._last = AmplifierReading((math.nan,) * self.channels, False, 0.0, 0, -1)
        self._sample = -1
        self.sample_period = options.sample_period
        """s between two exchanges, 0 for one in every cycle"""
        self._sampling = Sampling(options.sample_period)

    @property
    def connected(self) -> bool:
        """See `CellDevice.connected`."""
        return self._station.connected

    def connect(self, timeout: float) -> None:
        """See `CellDevice.connect`."""
        self.close()
        self._sample = -1
        self._sampling.forget()
        try:
            self._station.open(timeout)
        except ConnectError as error:
            raise ConnectError(f"{self.name}: {error}") from error

    def identify(self) -> Identity:
        """See `CellDevice.identify`."""
        return Identity(**self._station.read_texts(self.profile.identity, self._options.request_timeout))

    @property
    def overdue(self) -> bool:
        """See `CellDevice.overdue`."""
        return self._sampling.overdue

    def begin(self, now: float) -> None:
        """See `CellDevice.begin`."""
        if self._sampling.due(now):
            self._station.begin(self._codec, self._codec.request)

    def finish(self, deadline: float) -> AmplifierReading:
        """See `CellDevice.finish`; a reply whose conversion counter stands where it stood brings nothing new."""
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
        """See `CellDevice.close`."""
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


def _profile(options: AmplifierOptions) -> AmplifierProfile:
    profile = options.profile
    return profile if isinstance(profile, AmplifierProfile) else load_profile(profile, AmplifierProfile)


def _twin(options: AmplifierOptions, cells: Sequence[Cell]) -> FaultyAmplifier:
    return FaultyAmplifier(VirtualAmplifier(_profile(options), cells, unit=options.unit))


DRIVER = CellDriver(AmplifierAddress, CellAddress, AmplifierOptions, Amplifier, _twin, files=("profile",))
"""What is registered as `amplifier-tcp`."""
