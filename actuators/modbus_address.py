"""Where a Modbus device is found: on TCP, on a serial line, or on a serial line behind a TCP port."""

import os
from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, model_validator

from actuators.bus import Bus, PipelinedBus
from actuators.driver import DeviceOptions, DriveAddress, Line, Port
from actuators.endpoint import Endpoint, Parity, SerialEndpoint, TcpEndpoint
from actuators.framing import silence
from actuators.half_duplex import HalfDuplexBus
from actuators.opening import open_wire
from actuators.virtual.framing import MBAP_FRAMING, RTU_FRAMING, Framing

Baud = Annotated[int, Field(strict=True, ge=300, le=4_000_000)]


class ModbusAddress(DriveAddress):
    """A unit at a host and port (Modbus TCP, or RTU with `framing`), or on a serial line of this machine (RTU)."""

    host: Line | None = None
    port: Port = 502
    device: Line | None = None
    """Serial port: /dev/serial/by-id/… stays the same after a restart, /dev/ttyUSB0 need not."""
    baud: Baud = 19200
    parity: Parity = "even"
    stop_bits: Literal[1, 2] = 1
    framing: Literal["tcp", "rtu"] | None = None
    """How messages are framed; not given: "tcp" at a host, "rtu" on a serial line."""

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.host is None) == (self.device is None):
            given = "neither" if self.host is None else "both"
            raise ValueError(f"host (of a TCP port) or device (a serial port): one of the two, not {given}")
        if self.device is not None and self.framing == "tcp":
            raise ValueError('framing: a serial line has frames of "rtu", not of "tcp"')
        if self.rtu and not 1 <= self.unit <= 247:
            raise ValueError(f"unit: {self.unit} is outside 1..247, the units of a serial line")
        return self

    @property
    def rtu(self) -> bool:
        """Whether messages are framed as on a serial line."""
        return self.device is not None or self.framing == "rtu"

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

    @property
    def server_framing(self) -> Framing:
        """How a twin there frames what it says."""
        return RTU_FRAMING if self.rtu else MBAP_FRAMING


class RtuAddress(ModbusAddress):
    """A unit on a serial line, or behind a TCP port that passes the bytes of one on."""

    @model_validator(mode="after")
    def _frames_of_a_line(self) -> Self:
        if self.framing == "tcp":
            raise ValueError('framing: it has frames of "rtu", not of "tcp"')
        return self

    @property
    def rtu(self) -> bool:
        """See `ModbusAddress.rtu`: behind a TCP port as well."""
        return True


class LineTimes(BaseModel):
    """How long a serial line is waited for."""

    turnaround: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    """Silence between two frames, s; not given: 3.5 characters, 1.75 ms above 19200 baud."""
    reply_timeout: Annotated[float, Field(ge=1e-3, le=10.0)] = 0.01
    """After which a unit is given up, beyond the time of the bytes, s; longer than any takes."""


class ModbusOptions(DeviceOptions, ModbusAddress, LineTimes):
    """What a device at a Modbus address needs to know."""

    def bus(self, *, shared: bool = False) -> Bus:
        """The bus on which the unit is; a serial line is shared by those who were given the same `buses`.

        shared: a connection to Modbus TCP as well.
        """
        endpoint = self.endpoint
        opening = self.open_wire or (lambda timeout: open_wire(endpoint, timeout))

        def make() -> Bus:
            if not self.rtu:
                return PipelinedBus(opening)
            byte_time = endpoint.byte_time if isinstance(endpoint, SerialEndpoint) else 0.0
            quiet = silence(self.baud) if self.turnaround is None else self.turnaround
            return HalfDuplexBus(opening, quiet, self.reply_timeout, byte_time, self.place)

        return self.buses.at(self.place, make) if self.buses is not None and (shared or self.rtu) else make()
