"""Where a wire ends: a TCP port, or a serial port with its line settings."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

Parity = Literal["none", "even", "odd"]


class TcpEndpoint(NamedTuple):
    """A TCP port, by the name or address of its host."""

    host: str
    port: int

    def __str__(self) -> str:
        """As messages say it."""
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class SerialEndpoint:
    """A serial port of this machine, by the path of its device; eight data bits."""

    device: str
    baud: int
    parity: Parity = "even"
    stop_bits: int = 1

    @property
    def byte_time(self) -> float:
        """How long a byte takes on the wire, s: a start bit, eight of data, parity and stop bits."""
        return (9 + (self.parity != "none") + self.stop_bits) / self.baud

    @property
    def settings(self) -> str:
        """Baud and frame in words, for example "19200 baud 8E1"."""
        return f"{self.baud} baud 8{self.parity[0].upper()}{self.stop_bits}"

    def __str__(self) -> str:
        """As messages say it."""
        return self.device


Endpoint = TcpEndpoint | SerialEndpoint
