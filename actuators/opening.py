"""Opening the wire to an endpoint."""

from actuators.endpoint import Endpoint, TcpEndpoint
from actuators.serial_wire import SerialWire
from actuators.wire import TcpWire, Wire


def open_wire(endpoint: Endpoint, timeout: float) -> Wire:
    """The wire to an endpoint, opened within `timeout` s. Raises ConnectError naming it and the system's reason."""
    if isinstance(endpoint, TcpEndpoint):
        return TcpWire(endpoint.host, endpoint.port, timeout)
    return SerialWire(endpoint)
