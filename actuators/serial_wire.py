"""A serial port as a wire."""

import os
import termios
from pathlib import Path

import serial
from serial.tools import list_ports

from actuators.endpoint import SerialEndpoint
from actuators.errors import ConnectError
from actuators.wire import DescriptorWire

_PARITIES = {"none": serial.PARITY_NONE, "even": serial.PARITY_EVEN, "odd": serial.PARITY_ODD}


class SerialWire(DescriptorWire):
    """A port of this machine, ours alone. An adapter that is pulled out is a lost peer."""

    __slots__ = ("_port",)

    def __init__(self, endpoint: SerialEndpoint) -> None:
        """Open the port. Raises ConnectError naming it and the system's reason."""
        refused = f"cannot open {endpoint} at {endpoint.baud} baud"
        # A pseudo-terminal has no parity: the system ignores it, or refuses it.
        parity = "none" if os.path.realpath(endpoint.device).startswith("/dev/pts/") else endpoint.parity
        try:
            port = serial.Serial(
                endpoint.device, endpoint.baud, parity=_PARITIES[parity], stopbits=endpoint.stop_bits, exclusive=True
            )
            _end_tells_itself(port.fileno())
        except (serial.SerialException, ValueError, OSError, termios.error) as error:
            number = getattr(error, "errno", None)
            reason = _owner(endpoint.device) or (os.strerror(number) if number else str(error))
            raise ConnectError(f"{refused}: {reason}") from error
        self._port = port
        super().__init__(port, refused)

    def forget(self) -> None:
        """Drop what has arrived and was not received yet."""
        self._port.reset_input_buffer()


def serial_ports() -> list[str]:
    """Serial ports of this machine, by the names that stay the same after a restart where they have one."""
    lasting = sorted(str(path) for path in Path("/dev/serial/by-id").glob("*"))
    known = {os.path.realpath(path) for path in lasting}
    return lasting + sorted(port.device for port in list_ports.comports() if os.path.realpath(port.device) not in known)


def _owner(device: str) -> str:
    """Which process has locked the port, in words, as far as the system tells; empty if none has."""
    try:
        found = os.stat(device)
        place = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
        with open("/proc/locks", encoding="ascii") as locks:
            owners = [fields[4] for fields in map(str.split, locks) if fields[1] == "FLOCK" and fields[5] == place]
        for owner in owners:
            with open(f"/proc/{owner}/comm", encoding="utf-8", errors="replace") as name:
                return f"process {owner} ({name.read().strip()}) has it"
    except OSError:  # another system, or a process that has gone
        pass
    return ""


def _end_tells_itself(descriptor: int) -> None:
    """Have a port without bytes say that it would block, as a socket does; else it reads as one whose end has come."""
    attributes = termios.tcgetattr(descriptor)
    attributes[6][termios.VMIN] = 1
    termios.tcsetattr(descriptor, termios.TCSANOW, attributes)
