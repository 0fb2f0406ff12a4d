"""Where a device is found: on TCP, on a serial line of this machine, or on one behind a gateway."""

import os
from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, model_validator

from actuators.bus import Bus, HalfDuplexBus, PipelinedBus
from actuators.driver import DeviceOptions, DriveAddress, InUnit, Line, Port
from actuators.framing import RTU_LINE, LineFraming, MbapLine, silence
from actuators.virtual.device import MBAP_FRAMING, RTU_FRAMING, Framing
from actuators.wire import Endpoint, Parity, SerialEndpoint, TcpEndpoint, expected_latency, open_wire

Baud = Annotated[int, Field(strict=True, ge=300, le=4_000_000)]
Turnaround = Annotated[float, Field(ge=0.0, le=1.0), InUnit("s")]
ReplyTimeout = Annotated[float, Field(ge=1e-3, le=10.0), InUnit("s")]
ReplyDelay = Annotated[float, Field(ge=0.0, le=1.0), InUnit("s")]


class LineAddress(DriveAddress):
    """A unit on a serial line of this machine, or behind a host and port."""

    host: Line | None = None
    """Host name or address; give either this or `device`."""
    port: Port = 502
    """TCP port at the host."""
    device: Line | None = None
    """Serial port: /dev/serial/by-id/… is stable across restarts, /dev/ttyUSB0 is not."""
    baud: Baud = 19200
    """Bits per second of the serial line."""
    parity: Parity = "even"
    """Parity of the serial line."""
    stop_bits: Literal[1, 2] = 1
    """Stop bits of the serial line."""
    reply_delay: ReplyDelay | None = None
    """Time from the last byte of a request to the first byte of the reply, s, for the plan of the line; not given: the
    line's `turnaround` and the latency of its USB adapter. `rig scan` and `rig setup new --ask` measure it."""

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
    """Timeout for the reply of a unit, in addition to the transmission time, s; must exceed the reply time of every
    unit."""


class LineOptions(DeviceOptions, LineAddress, LineTimes):
    """What a device on a serial line needs to know."""

    @property
    def silence(self) -> float:
        """Silence between two frames, s."""
        return silence(self.baud) if self.turnaround is None else self.turnaround

    @property
    def reply_wait(self) -> float | None:
        """See `DeviceOptions.reply_wait`."""
        return self.reply_delay

    @property
    def twin_delay(self) -> float:
        """See `DeviceOptions.twin_delay`: the given delay, else the silence that ends a frame."""
        return self.silence if self.reply_delay is None else self.reply_delay

    def line(self, framing: LineFraming = RTU_LINE) -> Bus:
        """The line on which the unit is, shared by those with the same `buses`; framing: of all that is there."""
        endpoint = self.endpoint
        opening = self.open_wire or (lambda timeout: open_wire(endpoint, timeout))

        def make() -> Bus:
            if not isinstance(endpoint, SerialEndpoint):
                return HalfDuplexBus(opening, self.silence, self.reply_timeout, 0.0, self.place, framing)
            latency = expected_latency(endpoint.device) if self.open_wire is None else 0.0
            byte_time = endpoint.byte_time
            return HalfDuplexBus(opening, self.silence, self.reply_timeout, byte_time, self.place, framing, latency)

        return self.shared_bus(self.place, make)


LAST_RTU_UNIT = 247
_PATIENCE = 60.0
"""s, for a reply on TCP, where nobody is kept waiting: what is given up is passed over when it comes."""


class ModbusAddress(LineAddress):
    """A unit at a host and port (Modbus TCP, or RTU with `framing`), or on a serial line of this machine (RTU)."""

    framing: Literal["tcp", "rtu"] | None = None
    """Framing of messages; not given: "tcp" at a host, "rtu" on a serial line."""

    @model_validator(mode="after")
    def _framed(self) -> Self:
        if self.device is not None and self.framing == "tcp":
            raise ValueError('framing: a serial line has frames of "rtu", not of "tcp"')
        if self.rtu and not 1 <= self.unit <= LAST_RTU_UNIT:
            raise ValueError(f"unit: {self.unit} is outside 1..{LAST_RTU_UNIT}, the units of a serial line")
        return self

    @property
    def rtu(self) -> bool:
        """Whether messages are framed as on a serial line."""
        return self.device is not None or self.framing == "rtu"

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


class ModbusOptions(LineOptions, ModbusAddress):
    """What a device at a Modbus address needs to know."""

    def bus(self, *, shared: bool = False, in_turn: bool = False) -> Bus:
        """The bus on which the unit is; a serial line is shared by those who were given the same `buses`.

        shared: a connection to Modbus TCP as well. in_turn: on that, too, nothing is asked before the reply to what was
        asked before has come.
        """
        if self.rtu:
            return self.line()
        endpoint = self.endpoint
        opening = self.open_wire or (lambda timeout: open_wire(endpoint, timeout))

        def make() -> Bus:
            if in_turn:
                return HalfDuplexBus(opening, 0.0, _PATIENCE, place=self.place, framing=MbapLine())
            return PipelinedBus(opening)

        return self.shared_bus(self.place, make) if shared else make()
