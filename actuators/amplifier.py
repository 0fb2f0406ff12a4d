"""Driver `modbus`: a Modbus device, on TCP or a serial line, that reads one load cell or several in one exchange."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from actuators.addresses import LineTimes, ModbusAddress, ModbusOptions
from actuators.amplifier_profile import AmplifierProfile
from actuators.cell_device import CellDriver, CellOptions, DeviceReading, StationCells
from actuators.codec import ReadingCodec
from actuators.driver import Line
from actuators.framing import CRC_LENGTH
from actuators.interface import Identity
from actuators.profile import load_profile
from actuators.virtual.amplifier import VirtualAmplifier
from actuators.virtual.drive import Cell
from actuators.virtual.faults import FaultyAmplifier


@dataclass(frozen=True, slots=True)
class AmplifierReading(DeviceReading):
    """See `DeviceReading`; a channel has no valid value by its register, or by the status word.

    status: the device's status word, 0 where it has none. sample: the device's conversion counter, which distinguishes
    a new value from one read twice; -1 = none yet, or the device has none.
    """

    status: int
    sample: int


class AmplifierAddress(ModbusAddress, LineTimes):
    """An amplifier that reads all six cells; on a line shared with drives, their settings apply to its timing."""

    profile: Line = "generic-amplifier"
    """Name of a shipped register profile, or a TOML file relative to the configuration's folder."""


class CellAddress(AmplifierAddress):
    """The device of one cell."""

    profile: Line = "generic-cell"


class AmplifierOptions(CellOptions, ModbusOptions):
    """What an amplifier needs to know."""

    name: str = "amplifier"
    profile: str | Path | AmplifierProfile = "generic-amplifier"
    """A shipped profile's name, a TOML file's path, or a loaded profile."""


class Amplifier(StationCells):
    """Load-cell amplifier on a connection of its own, or a unit on a serial line."""

    def __init__(self, options: AmplifierOptions) -> None:
        """Make the amplifier without connecting. Raises ConfigurationError for a bad profile."""
        self.profile = _profile(options)
        super().__init__(options, len(self.profile.reading.forces), options.bus(), options.place, options.unit)
        self._options = options
        self._codec = ReadingCodec(self.profile, options.unit)
        reading = self.profile.reading
        values = [(register.scale, register.invalid) for register in reading.forces]
        self._channels = list(zip(values, reading.invalid_masks(), reading.negative_masks(), strict=True))
        self._last = AmplifierReading((math.nan,) * self.channels, False, 0.0, 0, -1)
        self._sample = -1

    @property
    def exchanges(self) -> Sequence[tuple[int, int]]:
        """See `CellDevice.exchanges`."""
        return [(len(self._codec.request) + CRC_LENGTH, self._codec.reply_length + CRC_LENGTH)]

    def connect(self, timeout: float) -> None:
        """See `CellDevice.connect`."""
        self._sample = -1
        super().connect(timeout)

    def identify(self) -> Identity:
        """See `CellDevice.identify`."""
        timeout = self._options.request_timeout
        if self.profile.identity is None:  # it only has to answer
            block = self._codec.read_block
            self._station.read(block.address, block.count, timeout)
            return Identity("", self.profile.name, "", "")
        found = self._station.read_identity(self.profile.identity, self.profile.word_order, timeout)
        return Identity(**found.texts)

    def begin(self, now: float) -> None:
        """See `CellDevice.begin`."""
        self._now = now
        if self._sampling.due(now):
            self._station.begin(self._codec, self._codec.request)

    def finish(self, deadline: float) -> AmplifierReading:
        """See `CellDevice.finish`; a reply with an unchanged conversion counter has no new value."""
        reading = self._finish(deadline) if self._sampling.asked else None
        self.standing = reading is not None and reading.sample == self._sample >= 0
        if reading is not None and not self.standing:
            self._sample = reading.sample
            self.counters.received += 1
            self._sampling.received()
            self._last = reading
            return reading
        last = self._last
        return replace(last, fresh=False, age=self._sampling.age)

    def exchange(self, now: float, timeout: float) -> AmplifierReading:
        """Do one `begin` at `now` (s) and `finish`, waiting at most `timeout` s."""
        self.begin(now)
        return self.finish(now + timeout)

    def _finish(self, deadline: float) -> AmplifierReading | None:
        raw = self._station.finish(self._codec, deadline)
        if raw is None:
            return None
        status = int(raw[0])
        forces = tuple(
            math.nan if value == none or status & invalid else value * (-scale if status & negative else scale)
            for value, ((scale, none), invalid, negative) in zip(raw[2:], self._channels, strict=True)
        )
        offset = self._station.carried_after(self._now)
        return AmplifierReading(forces, True, 0.0, status, int(raw[1]), offset=offset)


def _profile(options: AmplifierOptions) -> AmplifierProfile:
    profile = options.profile
    return profile if isinstance(profile, AmplifierProfile) else load_profile(profile, AmplifierProfile)


def amplifier_twin(options: AmplifierOptions, cells: Sequence[Cell]) -> FaultyAmplifier:
    """The virtual amplifier of as many cells as it has channels. Raises ConfigurationError."""
    framing = options.server_framing
    return FaultyAmplifier(VirtualAmplifier(_profile(options), cells, unit=options.unit, framing=framing))


def _step(options: AmplifierOptions) -> float:
    return max(register.step for register in _profile(options).reading.forces)


DRIVER = CellDriver(
    AmplifierAddress, CellAddress, AmplifierOptions, Amplifier, amplifier_twin, files=("profile",), step=_step
)
"""The driver registered as `modbus`."""
