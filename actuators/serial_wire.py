"""A serial port as a wire."""

import termios
from typing import Literal

import serial

from actuators.errors import ConnectError
from actuators.wire import DescriptorWire

Parity = Literal["none", "even", "odd"]
_PARITIES = {"none": serial.PARITY_NONE, "even": serial.PARITY_EVEN, "odd": serial.PARITY_ODD}


def byte_time(baud: int, parity: Parity, stop_bits: int) -> float:
    """How long a byte takes on the wire, s: a start bit, eight of data, parity and stop bits."""
    return (9 + (parity != "none") + stop_bits) / baud


class SerialWire(DescriptorWire):
    """A port of this machine, ours alone. An adapter that is pulled out is a lost peer.

    A pseudo-terminal has no parity: the system ignores it, or refuses it.
    """

    __slots__ = ()

    def __init__(self, device: str, baud: int, parity: Parity = "even", stop_bits: int = 1) -> None:
        """Open the port with eight data bits. Raises ConnectError naming it and the system's reason."""
        refused = f"cannot open {device} at {baud} baud"
        try:
            port = serial.Serial(device, baud, parity=_PARITIES[parity], stopbits=stop_bits, exclusive=True)
            _end_tells_itself(port.fileno())
        except (serial.SerialException, ValueError, OSError, termios.error) as error:
            raise ConnectError(f"{refused}: {error}") from error
        super().__init__(port, refused)


def _end_tells_itself(descriptor: int) -> None:
    """Have a port without bytes say that it would block, as a socket does; else it reads as one whose end has come."""
    attributes = termios.tcgetattr(descriptor)
    attributes[6][termios.VMIN] = 1
    termios.tcsetattr(descriptor, termios.TCSANOW, attributes)
