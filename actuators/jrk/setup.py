"""What a Jrk G2 is set to: read, and held against what it is used for. Nothing of it can be written over serial."""

from collections.abc import Iterable
from dataclasses import dataclass

from actuators.errors import ConfigurationError, ProtocolError
from actuators.interface import Identity
from actuators.jrk.options import JrkOptions
from actuators.jrk.protocol import (
    COUNTS,
    CRC_ENABLED,
    FEEDBACK_ANALOG,
    FEEDBACK_FREQUENCY,
    FEEDBACK_INVERTED,
    INPUT_SERIAL,
    MOST_READ,
    TIMEOUT_UNIT,
    Error,
    Setting,
    scaled_of,
    settings_command,
)
from actuators.station import Station

_ROUNDING = 1  # count, of the controller's own scaling
_READ = (Setting.OPTIONS_1, Setting.FEEDBACK_MODE, Setting.SERIAL_TIMEOUT, Setting.PID_PERIOD)
"""Where the settings that are looked at begin, MOST_READ bytes from each."""


@dataclass(frozen=True, slots=True)
class CycleSettings:
    """What of its settings the cycle needs. low, high, inverted: how the feedback is scaled. period: s."""

    low: int
    high: int
    inverted: bool
    period: float

    def scales(self, feedback: int, scaled: int) -> bool:
        """Whether that is what a feedback is scaled to."""
        rounded = 0 if self.high - self.low == COUNTS else _ROUNDING
        return abs(scaled_of(feedback, self.low, self.high, inverted=self.inverted) - scaled) <= rounded


class Setup:
    """Looks at the settings."""

    def __init__(self, options: JrkOptions, station: Station) -> None:
        """station: the controller's. Raises ConfigurationError for what it cannot have."""
        units = round(options.watchdog / TIMEOUT_UNIT)
        if not 1 <= units <= 0xFFFF or abs(units * TIMEOUT_UNIT - options.watchdog) > 1e-9:
            raise ConfigurationError(
                f"{options.name}: watchdog {options.watchdog:g} s: a Jrk G2 has 0.01 to {0xFFFF * TIMEOUT_UNIT:g} s, "
                "in hundredths"
            )
        if options.serial is not None:
            raise ConfigurationError(
                f"{options.name}: serial number {options.serial!r} cannot be compared: a Jrk G2 does not say one on "
                "its serial port"
            )
        self._options = options
        self._station = station
        self._units = units

    def identity(self, timeout: float) -> Identity:
        """Who it is, as far as it says. Raises ConnectError, ProtocolError."""
        return self._identity(self._read(Setting.SERIAL_TIMEOUT, timeout))

    def verify(self, timeout: float) -> Identity:
        """Who it is, and whether its time-out is still as it was, by one access. Raises as `read`."""
        times = self._once(Setting.SERIAL_TIMEOUT, timeout)
        self._refuse(self._time_faults(times))
        return self._identity(times)

    def _identity(self, times: bytes) -> Identity:
        number = self._word(times, Setting.DEVICE_NUMBER - Setting.SERIAL_TIMEOUT)
        return Identity("Pololu", f"Jrk G2, device number {number}", "", "")

    def read(self, timeout: float) -> CycleSettings:
        """Read them; raises ConfigurationError for what does not fit, ConnectError, ProtocolError."""
        parts = {first: self._read(first, timeout) for first in _READ}
        options_1, options_2, input_mode = parts[Setting.OPTIONS_1][:3]
        feedback, times = parts[Setting.FEEDBACK_MODE], parts[Setting.SERIAL_TIMEOUT]
        low = self._word(feedback, Setting.FEEDBACK_MINIMUM - Setting.FEEDBACK_MODE)
        high = self._word(feedback, Setting.FEEDBACK_MAXIMUM - Setting.FEEDBACK_MODE)
        self._refuse(
            [
                (input_mode != INPUT_SERIAL, "its input mode is not serial"),
                (feedback[0] not in (FEEDBACK_ANALOG, FEEDBACK_FREQUENCY), "it has no feedback mode"),
                (high <= low, f"its feedback has no range: {low} to {high}"),
                (
                    bool(options_1 & CRC_ENABLED) != self._options.crc,
                    "its setting for checksums of commands is not `crc`",
                ),
                *self._time_faults(times),
            ]
        )
        period = self._word(parts[Setting.PID_PERIOD], 0) * 1e-3
        return CycleSettings(low, high, bool(options_2 & FEEDBACK_INVERTED), max(period, 1e-3))

    def _time_faults(self, times: bytes) -> list[tuple[bool, str]]:
        """What may be wrong with the time-out, and whether it is."""
        units = self._word(times, 0)
        enabled = self._word(times, Setting.ERROR_ENABLE - Setting.SERIAL_TIMEOUT)
        said = f"its serial time-out is {units * TIMEOUT_UNIT:g} s, the watchdog {self._options.watchdog:g} s"
        off = units == 0 or not enabled & Error.SERIAL_TIMEOUT
        return [(off, "its serial time-out is off"), (units != self._units, said)]

    def _refuse(self, faults: Iterable[tuple[bool, str]]) -> None:
        for wrong, text in faults:
            if wrong:
                raise ConfigurationError(f"{self._station.label}: {text}; set it with Pololu's configuration utility")

    def _once(self, first: int, timeout: float) -> bytes:
        message = bytes((self._options.unit,)) + settings_command(first, MOST_READ)
        return self._station.request(message, MOST_READ, timeout, f"read of settings {first:02X}h")

    def _read(self, first: int, timeout: float) -> bytes:
        """Settings, which have no checksum, read twice."""
        data = self._once(first, timeout)
        if data != self._once(first, timeout):
            raise ProtocolError(f"{self._station.label} says different settings when it is asked twice: a bad line?")
        return data

    @staticmethod
    def _word(data: bytes, at: int) -> int:
        return int.from_bytes(data[at : at + 2], "little")
