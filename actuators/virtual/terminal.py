"""A pseudo-terminal as a serial port whose other end a virtual device has."""

import contextlib
import fcntl
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
        """link: made here, in place of one that nobody serves any more. Raises ActuatorError."""
        self._link = link
        self._lock_file = link.with_name(f"{link.name}.lock")
        with contextlib.ExitStack() as opened:
            try:
                self._lock = _locked(self._lock_file)
                opened.callback(self._unlock)
                self._master, self._slave = os.openpty()
                opened.callback(self._close_both)
                tty.setraw(self._slave)
                os.set_blocking(self._master, False)
                self._name = os.ttyname(self._slave)
                if link.is_symlink():
                    link.unlink()
                link.symlink_to(self._name)
            except BlockingIOError as error:
                raise ActuatorError(f"cannot serve {link}: another virtual rig serves it") from error
            except OSError as error:
                raise ActuatorError(f"cannot serve {link}: {error.strerror or error}") from error
            opened.pop_all()

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
        self._unlock()

    def _unlock(self) -> None:
        self._lock_file.unlink(missing_ok=True)
        os.close(self._lock)

    def _close_both(self) -> None:
        os.close(self._master)
        os.close(self._slave)
        self._master = self._slave = -1


def _locked(path: Path) -> int:
    """The descriptor of a file that we alone have locked, until it is closed. Raises BlockingIOError: others have."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.exists() and os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # it was taken away by who had it, as we opened it


def terminal_number(descriptor: int) -> int:
    """Number of the pseudo-terminal whose client's end is open at a descriptor."""
    return os.minor(os.fstat(descriptor).st_rdev)
