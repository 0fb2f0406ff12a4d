"""What a server of virtual devices knows of its wires and of those who talk over them."""

import contextlib
import errno
import math
import socket

from actuators.endpoint import TcpEndpoint
from actuators.errors import ActuatorError
from actuators.virtual.device import Responder
from actuators.virtual.terminal import Terminal


class ServedWire:
    """A wire's end and its device."""

    def __init__(self, listener: socket.socket | None, device: Responder) -> None:
        self.listener = listener
        """None for a pseudo-terminal"""
        self.device = device
        self.closed_until = -math.inf
        """until when (s) nobody is let in"""
        self.last: Client | None = None
        """Client whose request was answered last; bytes held back go to it."""


class Client:
    """A connection; `replies` wait for more of their kind, `unsent` for the client to read."""

    def __init__(self, socket: socket.socket | Terminal, name: tuple[int, int], port: ServedWire) -> None:
        self.socket = socket
        self.name = name
        """port of the device, port of the client"""
        self.taken = self.given = 0
        """bytes in all that it has sent, and has been sent"""
        self.port = port
        self.asked = False
        """whether something was asked since something was last sent that had been held back"""
        self.received = b""
        self.heard = -math.inf
        """when it sent something last, s of the machine's clock"""
        self.replies = b""
        self.unsent = b""

    def forget(self) -> None:
        """Begin anew: what was under way is nothing to whoever talks now."""
        self.taken = self.given = 0
        self.received = self.replies = self.unsent = b""


def listen_at(endpoint: TcpEndpoint) -> socket.socket:
    """A listening socket that does not block. Raises ActuatorError naming the endpoint that cannot be listened at."""
    listener: socket.socket | None = None
    try:
        first, *_others = socket.getaddrinfo(endpoint.host, endpoint.port, type=socket.SOCK_STREAM)
        family, kind, protocol, _name, address = first
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()
        listener.setblocking(False)
    except OSError as error:
        if listener is not None:
            with contextlib.suppress(OSError):
                listener.close()
        taken = error.errno == errno.EADDRINUSE
        way_out = ": end the program that listens there, or give another port" if taken else ""
        raise ActuatorError(f"cannot listen on {endpoint}: {error.strerror or error}{way_out}") from error
    return listener
