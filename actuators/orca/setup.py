"""What an ORCA motor is asked, and told, before it is given power."""

from actuators.codec import WRITE_MULTIPLE, WRITE_SINGLE
from actuators.errors import ConfigurationError, IdentityError
from actuators.interface import Identity
from actuators.orca.options import OrcaOptions
from actuators.orca.protocol import APPLY_GAINS, LARGEST_SERIAL, SETUP, WIDE, MotorMode, Register, low_first, wide_value
from actuators.station import Station

_MOST_WATCHDOG = 0xFFFF  # ms


class Setup:
    """Identity, watchdog and the registers that the options name."""

    def __init__(self, options: OrcaOptions, station: Station) -> None:
        """station: the motor's. Raises ConfigurationError for a watchdog that the motor cannot have."""
        milliseconds = round(options.watchdog * 1e3)
        if not 1 <= milliseconds <= _MOST_WATCHDOG:
            raise ConfigurationError(
                f"{options.name}: watchdog {options.watchdog:g} s is outside 0.001..{_MOST_WATCHDOG * 1e-3:g} s"
            )
        serial = options.serial
        if serial is not None and not (serial.isdecimal() and int(serial) <= LARGEST_SERIAL):
            raise ConfigurationError(
                f"{options.name}: serial number {serial!r}: an ORCA motor's is a number of at most {LARGEST_SERIAL}"
            )
        self._options = options
        self._station = station
        self._values: dict[str, tuple[int, tuple[int, ...]]] = {
            "USER_COMMS_TIMEOUT": (int(Register.COMMS_TIMEOUT), (milliseconds,))
        }
        for name, value in options.registers.items():
            self._values[name] = SETUP[name], low_first(value) if name in WIDE else (value,)

    def identity(self, timeout: float) -> Identity:
        """Ask who the motor is. Raises ConnectError, ProtocolError, IdentityError."""
        identity, expected = read_identity(self._station, timeout), self._options.serial
        if expected is not None and identity.serial != expected:
            raise IdentityError(f"{self._station.label} has serial number {identity.serial!r}, expected {expected!r}")
        return identity

    def write(self, timeout: float) -> None:
        """Write them all. Raises ConnectError, ProtocolError."""
        for address, words in self._values.values():
            function = WRITE_SINGLE if len(words) == 1 else WRITE_MULTIPLE
            self._station.write(address, list(words), timeout, function)
        if any(name.startswith("PC_") for name in self._values):
            self._station.write(Register.CONTROL_1, [APPLY_GAINS], timeout, WRITE_SINGLE)

    def confirm(self, timeout: float, otherwise: str) -> None:
        """Read them all back. Raises ConfigurationError, which says `otherwise`, where one has another value."""
        for name, (address, words) in self._values.items():
            found = self._station.read(address, len(words), timeout)
            if tuple(found) == words:
                continue
            if name == "USER_COMMS_TIMEOUT" and not any(found):
                raise ConfigurationError(f"{self._station.label} has no watchdog: {name} reads back zero")
            raise ConfigurationError(
                f"{self._station.label} {otherwise} {name}: register {address} reads back {found}, not {list(words)}"
            )


def read_identity(station: Station, timeout: float) -> Identity:
    """Who a motor is, with `timeout` s an access. Raises ConnectError, ProtocolError."""
    low, high, major, release, revision = station.read(Register.SERIAL, 5, timeout)
    (stator,) = station.read(Register.STATOR, 1, timeout)
    serial = str(wide_value(low, high) & 0xFFFFFFFF)
    return Identity("Iris Dynamics", f"ORCA, stator {stator}", serial, f"{major}.{release}.{revision}")


def recognise(station: Station, timeout: float) -> Identity | None:
    """See `Driver.recognise`: it is in a mode of these motors, and has a version."""
    (mode,) = station.read(Register.MODE, 1, timeout)
    identity = read_identity(station, timeout)
    return identity if mode in set(MotorMode) and identity.firmware != "0.0.0" else None
