"""Devices with digital inputs and outputs: their interface to the engine, and their drivers."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Protocol

from pydantic import Field

from actuators.drive import Member
from actuators.driver import DeviceOptions, DriveAddress
from actuators.interface import Identity
from actuators.virtual.faults import FaultyDevice

Channel = Annotated[int, Field(ge=0, le=0xFFFF, strict=True)]
"""Number of an input or an output at its device."""


class IoReading(NamedTuple):
    """The inputs of one cycle.

    inputs: in the order of the device's channels, as wired; empty before the first reply that has them. fresh: False =
    stale, the inputs are those of the last good reply. age: s since a good reply, by the time of the cycles.
    """

    inputs: tuple[bool, ...]
    fresh: bool
    age: float


class IoDevice(Member):
    """A device with inputs and outputs, like a drive: `begin` sends, `finish` collects, neither raises.

    `inputs`, `outputs`: the channels that are used, in the order of their states.
    """

    def __init__(self, name: str, inputs: Sequence[int], outputs: Sequence[int], sample_period: float = 0.0) -> None:
        super().__init__(name, sample_period)
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)

    @property
    @abstractmethod
    def watchdog(self) -> bool:
        """Whether the device itself switches its outputs off if it is not written to."""

    @property
    def overdue(self) -> bool:
        """Whether the last request has no good reply; a slower device is not asked in every cycle."""
        return self._sampling.overdue

    @abstractmethod
    def connect(self, timeout: float) -> None:
        """Open the connection within `timeout` s, closing one that is open; writes nothing. Raises ConnectError."""

    @abstractmethod
    def identify(self) -> Identity:
        """Ask the device for its inputs, and for its identity if it has one. Raises ConnectError, ProtocolError."""

    @abstractmethod
    def configure(self) -> None:
        """Switch all outputs off, set the watchdog and read it back.

        Raises ConnectError, ProtocolError; ConfigurationError if the device does not have the watchdog's time then.
        """

    @abstractmethod
    def begin(self, outputs: Sequence[bool], now: float) -> None:
        """Send this cycle's request without waiting; now: s, the cycle's time.

        An output that changes is sent at once, and again until the device confirms it.
        """

    @abstractmethod
    def finish(self, deadline: float) -> IoReading:
        """Collect the reply to `begin` by `deadline` (s, on the clock of its wire); without one the last, stale."""

    @abstractmethod
    def switch_off(self) -> None:
        """Switch all outputs off, outside the cycle. Raises ConnectError, ProtocolError."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection; idempotent. Leaves the outputs as they are."""


class IoOptions(DeviceOptions):
    """What every driver of such devices is given besides its own address."""

    name: str = "I/O block"
    """How messages call the device."""
    inputs: tuple[Channel, ...] = ()
    """Channels of the inputs that are read."""
    outputs: tuple[Channel, ...] = ()
    """Channels of the outputs that are written, and no others."""


class Terminals(Protocol):
    """What is wired to a virtual device."""

    def read(self, channel: int) -> bool:
        """Whether the input has a signal."""

    def write(self, channel: int, on: bool) -> None:
        """Switch the output."""


@dataclass(frozen=True, slots=True)
class IoDriver:
    """One kind of device with inputs and outputs, as the registry has it.

    address: what a configuration says of the device. options: an address and `IoOptions` in one, as `create` and `twin`
    take it. create: a device, not yet connected; may raise ConfigurationError. twin: the virtual device over what is
    wired to it, behind a wire that can fail; may raise ConfigurationError; None where there is none.
    """

    address: type[DriveAddress]
    options: type[IoOptions]
    create: Callable[[Any], IoDevice]
    twin: Callable[[Any, Terminals], FaultyDevice] | None = None
