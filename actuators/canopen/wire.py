"""A CAN interface of python-can as a wire, whose bytes are lines of SLCAN."""

import time
from collections.abc import Sequence
from typing import Any

from actuators.canopen.frames import CanEndpoint, frame_of, line_of, parsed
from actuators.errors import ConnectError
from actuators.wire import Wire, arrived

_MOST = 256  # frames at once
_TRANSMIT = 1e-3  # s, for a place in the interface's queue


class CanWire:
    """A bus opened by python-can, for this process alone as far as the interface knows that."""

    def __init__(self, endpoint: CanEndpoint, timeout: float) -> None:
        """Open the bus. Raises ConnectError: python-can is not installed, or with its reason."""
        del timeout  # python-can has none
        interface, channel = parsed(endpoint.device)
        try:
            import can  # an extra of this distribution
        except ImportError as error:
            text = f"{endpoint} needs python-can, which is not installed: pip install 'stewart-rig[canopen]'"
            raise ConnectError(text) from error
        self._can: Any = can
        try:
            self._bus: Any = can.Bus(interface=interface, channel=channel, bitrate=endpoint.baud)
        except (can.CanError, OSError, ValueError, NotImplementedError, ImportError) as error:
            raise ConnectError(f"cannot open {endpoint} at {endpoint.settings}: {error}") from error
        self.connected = True

    @property
    def descriptor(self) -> int:
        """See `Wire.descriptor`; the interface waits by itself where it has none."""
        try:
            return int(self._bus.fileno()) if self.connected else -1
        except (NotImplementedError, self._can.CanError):
            return -1

    def now(self) -> float:
        """See `Wire.now`: the machine's monotonic clock."""
        return time.monotonic()

    def send(self, data: bytes) -> bool:
        """See `Wire.send`."""
        if not self.connected:
            return False
        for line in data.split(b"\r")[:-1]:
            found = frame_of(line)
            assert found is not None  # made by `line_of`
            message = self._can.Message(arbitration_id=found[0], data=found[1], is_extended_id=False)
            try:
                self._bus.send(message, timeout=_TRANSMIT)
            except self._can.CanError:  # its queue is full, as without another node that acknowledges
                return False
            except OSError:
                self.close()
                return False
        return True

    def receive(self, deadline: float) -> bytes:
        """See `Wire.receive`."""
        lines = b""
        try:
            for count in range(_MOST):
                if not self.connected:
                    break
                message = self._bus.recv(0.0)
                if message is None and not count:
                    remaining = deadline - time.monotonic()
                    message = self._bus.recv(remaining) if remaining > 0.0 else None
                if message is None:
                    break
                if not (message.is_extended_id or message.is_remote_frame or message.is_error_frame):
                    lines += line_of(message.arbitration_id, bytes(message.data))
        except (self._can.CanError, OSError):
            self.close()
        return lines

    def wait(self, until: float, others: Sequence[Wire]) -> Sequence[Wire]:
        """See `Wire.wait`."""
        return arrived((self, *others), until - time.monotonic())

    def close(self) -> None:
        """See `Wire.close`."""
        if self.connected:
            self.connected = False
            self._bus.shutdown()


def open_can(endpoint: CanEndpoint, timeout: float) -> Wire:
    """The wire to a CAN bus, opened within `timeout` s. Raises ConnectError."""
    return CanWire(endpoint, timeout)
