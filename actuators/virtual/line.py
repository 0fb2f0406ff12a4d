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
        self._said: deque[tuple[float, bytes, bool]] = deque()
        """when the last byte has passed, s, what a device says, and whether that is there as a whole or byte by byte"""

    @property
    def framing(self) -> Framing:
        """See `Responder.framing`."""
        return self.devices[0].framing

    @property
    def next_event(self) -> float:
        """See `Responder.next_event`."""
        action = self._next_action
        return self._said[0][0] if self._said and self._said[0][0] < action else action

    @property
    def _next_action(self) -> float:
        """When a device has something to do or to say, s; what is said already goes its way without it."""
        soonest = self._requests[0][0] if self._requests else math.inf
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
                    self._say(at, reply, whole=True)

    def passes(self, now: float) -> bool:
        """See `Responder.passes`: on a wire that takes its time, while bytes are on their way."""
        if not self._byte_time or now >= self._next_action:
            return False
        self._now = max(self._now, now)
        return True

    def respond(self, frame: bytes) -> bytes:
        """See `Responder.respond`: on a wire that takes its time nothing is answered at once."""
        if not self._byte_time:
            return self._device(frame).respond(frame)
        self._free = max(self._free, self._now) + len(frame) * self._byte_time
        self._requests.append((self._free, frame))
        return b""

    def due(self) -> bytes:
        """See `Responder.due`: of what a device says by itself each byte as it has passed, of a reply all at once."""
        for device in self.devices:
            if held := device.due():
                self._say(self._now, held, whole=False)
        ready = b""
        while self._said:
            end, data, whole = self._said[0]
            if end > self._now:
                passed = 0 if whole else len(data) - math.ceil((end - self._now) / self._byte_time - 1e-9)
                if passed > 0:
                    ready += data[:passed]
                    self._said[0] = end, data[passed:], whole
                break
            ready += data
            self._said.popleft()
        return ready

    def _say(self, at: float, data: bytes, *, whole: bool) -> None:
        self._free = max(self._free, at) + len(data) * self._byte_time
        self._said.append((self._free, data, whole))

    def _device(self, frame: bytes) -> FaultyDevice:
        if len(self.devices) == 1:
            return self.devices[0]
        unit = self.framing.message(frame)[:1]
        return next((one for one in self.devices if bytes((one.unit,)) == unit), self.devices[0])
