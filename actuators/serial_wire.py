"""A serial port as a wire."""

import select
import termios
import time
from typing import Literal

import serial

from actuators.errors import ConnectError
from actuators.wire import MAX_DESCRIPTOR

_CHUNK = 4096

Parity = Literal["none", "even", "odd"]
_PARITIES = {"none": serial.PARITY_NONE, "even": serial.PARITY_EVEN, "odd": serial.PARITY_ODD}


def byte_time(baud: int, parity: Parity, stop_bits: int) -> float:
    """How long a byte takes on the wire, s: a start bit, eight of data, parity and stop bits."""
    return (9 + (parity != "none") + stop_bits) / baud


class SerialWire:
    """A port of this machine, ours alone. Losing the adapter is not an error here: `connected` turns False.

    A pseudo-terminal has no parity: the system ignores it, or refuses it.
    """

    __slots__ = ("_serial", "connected")

    def __init__(self, device: str, baud: int, parity: Parity = "even", stop_bits: int = 1) -> None:
        """Open the port with eight data bits. Raises ConnectError naming it and the system's reason."""
        try:
            self._serial = serial.Serial(
                device,
                baud,
                parity=_PARITIES[parity],
                stopbits=stop_bits,
                timeout=0.0,
                write_timeout=0.0,
                exclusive=True,
            )
        except (serial.SerialException, ValueError, OSError, termios.error) as error:
            raise ConnectError(f"cannot open {device} at {baud} baud: {error}") from error
        self.connected = True
        if self._serial.fileno() >= MAX_DESCRIPTOR:
            self.close()
            raise ConnectError(f"cannot open {device}: more than {MAX_DESCRIPTOR} files are open")

    @property
    def descriptor(self) -> int:
        """See `Wire.descriptor`."""
        return int(self._serial.fileno()) if self.connected else -1

    def now(self) -> float:
        """See `Wire.now`: the machine's monotonic clock."""
        return time.monotonic()

    def send(self, data: bytes) -> bool:
        """See `Wire.send`."""
        if not self.connected:
            return False
        try:
            if self._serial.write(data) == len(data):
                return True
        except (serial.SerialException, OSError):
            pass
        self.close()
        return False

    def receive(self, deadline: float) -> bytes:
        """See `Wire.receive`."""
        if not self.connected:
            return b""
        try:
            data = self._serial.read(_CHUNK)
            remaining = deadline - time.monotonic()
            if not data and remaining > 0.0 and select.select((self._serial.fileno(),), (), (), remaining)[0]:
                data = self._serial.read(_CHUNK)
        except (serial.SerialException, OSError, TypeError):  # pyserial's own where the port was closed meanwhile
            self.close()
            return b""
        return bytes(data)

    def close(self) -> None:
        """See `Wire.close`."""
        self.connected = False
        self._serial.close()
