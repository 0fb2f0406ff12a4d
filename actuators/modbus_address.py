"""Where a Modbus device is found: on TCP, on a serial line, or on a serial line behind a TCP port."""

from typing import Literal, Self

from pydantic import model_validator

from actuators.bus import Bus, PipelinedBus
from actuators.half_duplex import HalfDuplexBus
from actuators.line_address import LineAddress, LineOptions
from actuators.line_framing import MbapLine
from actuators.opening import open_wire
from actuators.virtual.framing import MBAP_FRAMING, RTU_FRAMING, Framing

LAST_RTU_UNIT = 247
_PATIENCE = 60.0
"""s, for a reply on TCP, where nobody is kept waiting: what is given up is passed over when it comes."""


class ModbusAddress(LineAddress):
    """A unit at a host and port (Modbus TCP, or RTU with `framing`), or on a serial line of this machine (RTU)."""

    framing: Literal["tcp", "rtu"] | None = None
    """How messages are framed; not given: "tcp" at a host, "rtu" on a serial line."""

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

        return self.buses.at(self.place, make) if self.buses is not None and shared else make()
