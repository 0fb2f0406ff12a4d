"""A pseudo-terminal as a serial port whose other end a virtual device has."""

import contextlib
import os
import tty
from pathlib import Path

from actuators.errors import ActuatorError

NO_PORT = 0
"""In place of a TCP port in the name of a connection over a pseudo-terminal."""


class Terminal:
    """The device's end of a pseudo-terminal, which a client opens by `link`; the client's end is held open as well.

    So nothing that a client wrote is lost when it goes, and none that comes is told from the one before: it drops what
    it finds. The system ignores baud and parity.
    """

    def __init__(self, link: Path) -> None:
        """link: made here, in place of a link that stands there. Raises ActuatorError."""
        self._link = link
        try:
            self._master, self._slave = os.openpty()
        except OSError as error:
            raise ActuatorError(f"no pseudo-terminal for {link}: {error.strerror or error}") from error
        try:
            tty.setraw(self._slave)
            os.set_blocking(self._master, False)
            self._name = os.ttyname(self._slave)
            if link.is_symlink():
                link.unlink()
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(self._name)
        except OSError as error:
            self._close_both()
            raise ActuatorError(f"cannot serve {link}: {error.strerror or error}") from error

    @property
    def number(self) -> int:
        """What tells its connection from others: see `terminal_number`."""
        return terminal_number(self._slave)

    def fileno(self) -> int:
        """Readable when a client has sent something; -1 once it is closed."""
        return self._master

    def recv(self, size: int) -> bytes:
        """As of a socket that does not block."""
        return os.read(self._master, size)

    def send(self, data: bytes) -> int:
        """As of a socket that does not block."""
        return os.write(self._master, data)

    def close(self) -> None:
        """Close both ends, and take the link back; idempotent."""
        if self._master < 0:
            return
        with contextlib.suppress(OSError):
            if os.readlink(self._link) == self._name:
                self._link.unlink()
        self._close_both()

    def _close_both(self) -> None:
        os.close(self._master)
        os.close(self._slave)
        self._master = self._slave = -1


def terminal_number(descriptor: int) -> int:
    """Number of the pseudo-terminal whose client's end is open at a descriptor."""
    return os.minor(os.fstat(descriptor).st_rdev)
