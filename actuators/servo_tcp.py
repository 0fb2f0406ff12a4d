"""Driver `servo-tcp`: a servo described by a register-map profile, on Modbus TCP."""

from actuators.bus import Bus, PipelinedBus
from actuators.driver import Driver, Port, TcpAddress
from actuators.servo import Servo, ServoOptions, ServoSettings, servo_twin
from actuators.wire import TcpWire, Wire


class ServoTcpSettings(ServoSettings):
    """What all drives of a rig have in common."""

    shared_connection: bool = False
    """Whether units at one host and port, as behind a gateway, share one connection; else each has its own."""


class ServoTcpOptions(ServoOptions, TcpAddress):
    """What a `servo-tcp` drive needs to know."""

    port: Port = 502
    shared_connection: bool = False
    """Whether it shares a connection with others at the same place that were given the same `buses`."""


class ServoTcp(Servo):
    """A servo on a connection of its own, or on one that is shared."""

    def __init__(self, options: ServoTcpOptions) -> None:
        """See `Servo`."""
        self._address = options
        buses = options.buses if options.shared_connection else None
        bus = self._bus() if buses is None else buses.at(options.place, self._bus)
        super().__init__(options, bus, options.place, options.unit)

    def _bus(self) -> Bus:
        return PipelinedBus(self._open_wire)

    def _open_wire(self, timeout: float) -> Wire:
        address = self._address
        return address.open_wire(timeout) if address.open_wire else TcpWire(address.host, address.port, timeout)


DRIVER = Driver(
    TcpAddress, ServoTcpSettings, ServoTcpOptions, ServoTcp, lambda options, leg: servo_twin(options, options.unit, leg)
)
"""What is registered as `servo-tcp`."""
