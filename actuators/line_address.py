"""Where a device on a serial line is found: on a port of this machine, or behind a TCP port that passes bytes on."""

import os
from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, model_validator

from actuators.bus import Bus
from actuators.driver import DeviceOptions, DriveAddress, InUnit, Line, Port
from actuators.endpoint import Endpoint, Parity, SerialEndpoint, TcpEndpoint
from actuators.framing import silence
from actuators.half_duplex import HalfDuplexBus
from actuators.line_framing import RTU_LINE, LineFraming
from actuators.opening import open_wire

Baud = Annotated[int, Field(strict=True, ge=300, le=4_000_000)]
Turnaround = Annotated[float, Field(ge=0.0, le=1.0), InUnit("s")]
ReplyTimeout = Annotated[float, Field(ge=1e-3, le=10.0), InUnit("s")]


class LineAddress(DriveAddress):
    """A unit on a serial line of this machine, or behind a host and port."""

    host: Line | None = None
    """Host name or address; give either this or `device`."""
    port: Port = 502
    """TCP port at the host."""
    device: Line | None = None
    """Serial port: /dev/serial/by-id/… stays the same after a restart, /dev/ttyUSB0 need not."""
    baud: Baud = 19200
    """Bits per second of the serial line."""
    parity: Parity = "even"
    """Parity of the serial line."""
    stop_bits: Literal[1, 2] = 1
    """Stop bits of the serial line."""

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.host is None) == (self.device is None):
            given = "neither" if self.host is None else "both"
            raise ValueError(f"host (of a TCP port) or device (a serial port): one of the two, not {given}")
        return self

    @property
    def identity(self) -> tuple[str, str]:
        """See `DriveAddress.identity`; a serial port is known by what its path leads to."""
        if self.host is not None:
            return self.host, f"{self.port} unit {self.unit}"
        device = self.device or ""
        return "", f"{os.path.realpath(device) if device.startswith('/') else device} unit {self.unit}"

    @property
    def place(self) -> str:
        """See `DriveAddress.place`."""
        return str(self.endpoint)

    @property
    def endpoint(self) -> Endpoint:
        """See `DriveAddress.endpoint`."""
        if self.host is not None:
            return TcpEndpoint(self.host, self.port)
        return SerialEndpoint(self.device or "", self.baud, self.parity, self.stop_bits)


class LineTimes(BaseModel):
    """How long a serial line is waited for."""

    turnaround: Turnaround | None = None
    """Silence between two frames, s; not given: 3.5 characters, 1.75 ms above 19200 baud."""
    reply_timeout: ReplyTimeout = 0.01
    """Time after which the line goes on without a unit, beyond the time of the bytes, s; must be longer than any unit
    takes to answer."""


class LineOptions(DeviceOptions, LineAddress, LineTimes):
    """What a device on a serial line needs to know."""

    def line(self, framing: LineFraming = RTU_LINE) -> Bus:
        """The line on which the unit is, shared by those with the same `buses`; framing: of all that is there."""
        endpoint = self.endpoint
        opening = self.open_wire or (lambda timeout: open_wire(endpoint, timeout))

        def make() -> Bus:
            byte_time = endpoint.byte_time if isinstance(endpoint, SerialEndpoint) else 0.0
            quiet = silence(self.baud) if self.turnaround is None else self.turnaround
            return HalfDuplexBus(opening, quiet, self.reply_timeout, byte_time, self.place, framing)

        return self.buses.at(self.place, make) if self.buses is not None else make()
