"""Several virtual devices on one wire, and the time that their bytes take on it."""

import contextlib
import math
from collections import deque
from collections.abc import Sequence

from actuators.virtual.faults import FaultyDevice
from actuators.virtual.framing import Framing
from actuators.wire import LinkClosedError


class DeviceLine:
    """Devices of one framing behind one wire, told from each other by their unit ids.

    A request is carried out when its last byte has come, and its reply is there when that one's last byte has: on a
    wire of `byte_time` s a byte one after the other, without one at once. What nobody of them is called by is answered
    by the first, which may be a gateway.
    """

    def __init__(self, devices: Sequence[FaultyDevice], byte_time: float = 0.0) -> None:
        """devices: at least one, of different unit ids. byte_time: s."""
        self.devices = tuple(devices)
        self._byte_time = byte_time
        self._now = -math.inf
        self._free = -math.inf
        """when the last byte that is under way will have passed, s"""
        self._requests: deque[tuple[float, bytes]] = deque()
        self._replies: deque[tuple[float, bytes]] = deque()

    @property
    def framing(self) -> Framing:
        """See `Responder.framing`."""
        return self.devices[0].framing

    @property
    def next_event(self) -> float:
        """See `Responder.next_event`."""
        soonest = self._requests[0][0] if self._requests else math.inf
        if self._replies and self._replies[0][0] < soonest:
            soonest = self._replies[0][0]
        for device in self.devices:
            event = device.next_event
            if event < soonest:
                soonest = event
        return soonest

    def tick(self, now: float) -> None:
        """See `Responder.tick`: a request whose last byte has come is carried out."""
        self._now = now
        for device in self.devices:
            device.tick(now)
        while self._requests and self._requests[0][0] <= now:
            at, frame = self._requests.popleft()
            with contextlib.suppress(LinkClosedError):  # there is no connection that could be closed
                if reply := self._device(frame).respond(frame):
                    self._send(at, reply)

    def respond(self, frame: bytes) -> bytes:
        """See `Responder.respond`: on a wire that takes its time nothing is answered at once."""
        if not self._byte_time:
            return self._device(frame).respond(frame)
        self._free = max(self._free, self._now) + len(frame) * self._byte_time
        self._requests.append((self._free, frame))
        return b""

    def due(self) -> bytes:
        """See `Responder.due`."""
        for device in self.devices:
            if held := device.due():
                self._send(self._now, held)
        ready = b""
        while self._replies and self._replies[0][0] <= self._now:
            ready += self._replies.popleft()[1]
        return ready

    def _send(self, at: float, data: bytes) -> None:
        self._free = max(self._free, at) + len(data) * self._byte_time
        self._replies.append((self._free, data))

    def _device(self, frame: bytes) -> FaultyDevice:
        if len(self.devices) == 1:
            return self.devices[0]
        unit = self.framing.message(frame)[:1]
        return next((one for one in self.devices if bytes((one.unit,)) == unit), self.devices[0])
