"""What a configuration says of ORCA motors: where each one is, and how all of them are set up."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from actuators.driver import DriveOptions, DriveSettings
from actuators.line_address import LineTimes, Turnaround
from actuators.modbus_address import ModbusOptions, RtuAddress
from actuators.orca.protocol import SETUP, WIDE


class OrcaAddress(RtuAddress):
    """A motor on a serial port of its own (RS-422), or behind a TCP port that passes the bytes of its line on.

    The frame of a byte cannot be chosen: 8 bits, even parity, 1 stop bit. `baud` is what the motor was set to, 19200 as
    it is delivered.
    """

    @model_validator(mode="after")
    def _as_the_motor_has_it(self) -> Self:
        if self.parity != "even" or self.stop_bits != 1:
            raise ValueError(f"parity {self.parity!r}, stop_bits {self.stop_bits}: an ORCA motor has even parity and 1")
        return self

    @property
    def alone(self) -> bool:
        """See `DriveAddress.alone`: one motor a port."""
        return True


class OrcaSettings(DriveSettings, LineTimes):
    """What all motors of a rig have in common."""

    turnaround: Turnaround | None = 2e-3
    """Silence between two frames, s: the motor's interframe delay, 2 ms as it is delivered."""
    registers: dict[str, Annotated[int, Field(strict=True, ge=0)]] = Field(default_factory=dict)
    """Registers that are written, and read back, before the motor is given power, by the maker's names and in its
    units: position gains, limits of force, temperature and power, the damping after a watchdog, the auto-zero."""

    @model_validator(mode="after")
    def _known_registers(self) -> Self:
        for name, value in self.registers.items():
            if name not in SETUP:
                raise ValueError(f"registers: no {name!r}; those that can be set: {', '.join(SETUP)}")
            most = 0x7FFFFFFF if name in WIDE else 0xFFFF
            if value > most:
                raise ValueError(f"registers.{name}: {value}, must be 0 to {most}")
        return self


class OrcaOptions(DriveOptions, OrcaSettings, OrcaAddress, ModbusOptions):
    """What one motor's driver needs to know."""
