"""What a Jrk G2 is set to: read, and held against what it is used for. Nothing of it can be written over serial."""

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
class Told:
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
        number = self._word(self._read(Setting.SERIAL_TIMEOUT, timeout), Setting.DEVICE_NUMBER - Setting.SERIAL_TIMEOUT)
        return Identity("Pololu", f"Jrk G2, device number {number}", "", "")

    def read(self, timeout: float) -> Told:
        """Read them; raises ConfigurationError for what does not fit, ConnectError, ProtocolError."""
        parts = {first: self._read(first, timeout) for first in _READ}
        options_1, options_2, input_mode = parts[Setting.OPTIONS_1][:3]
        feedback, times = parts[Setting.FEEDBACK_MODE], parts[Setting.SERIAL_TIMEOUT]
        low = self._word(feedback, Setting.FEEDBACK_MINIMUM - Setting.FEEDBACK_MODE)
        high = self._word(feedback, Setting.FEEDBACK_MAXIMUM - Setting.FEEDBACK_MODE)
        timeout_units = self._word(times, 0)
        enabled = self._word(times, Setting.ERROR_ENABLE - Setting.SERIAL_TIMEOUT)
        for wrong, text in (
            (input_mode != INPUT_SERIAL, "its input mode is not serial"),
            (feedback[0] not in (FEEDBACK_ANALOG, FEEDBACK_FREQUENCY), "it has no feedback mode"),
            (high <= low, f"its feedback has no range: {low} to {high}"),
            (bool(options_1 & CRC_ENABLED) != self._options.crc, "its setting for checksums of commands is not `crc`"),
            (timeout_units == 0 or not enabled & Error.SERIAL_TIMEOUT, "its serial time-out is off"),
            (
                timeout_units != self._units,
                f"its serial time-out is {timeout_units * TIMEOUT_UNIT:g} s, the watchdog {self._options.watchdog:g} s",
            ),
        ):
            if wrong:
                raise ConfigurationError(f"{self._station.label}: {text}; set it with Pololu's configuration utility")
        period = self._word(parts[Setting.PID_PERIOD], 0) * 1e-3
        return Told(low, high, bool(options_2 & FEEDBACK_INVERTED), max(period, 1e-3))

    def _read(self, first: int, timeout: float) -> bytes:
        count = MOST_READ
        message = bytes((self._options.unit,)) + settings_command(first, count)
        data = self._station.request(message, count, timeout, f"read of settings {first:02X}h")
        if data != self._station.request(message, count, timeout, f"read of settings {first:02X}h"):
            raise ProtocolError(f"{self._station.label} says different settings when it is asked twice: a bad line?")
        return data

    @staticmethod
    def _word(data: bytes, at: int) -> int:
        return int.from_bytes(data[at : at + 2], "little")
