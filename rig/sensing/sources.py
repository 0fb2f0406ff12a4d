"""Where readings come from: a UDP port, a serial line, a reader of another distribution."""

import contextlib
import os
import queue
import socket
import threading
import time
from pathlib import Path
from typing import Protocol

from actuators import ActuatorError, SerialEndpoint, Wire, open_wire
from rig.config import PluginSource, SensorOptions, UdpSource, find_sensor
from rig.errors import HardwareError
from rig.sensing.intake import SensorIntake
from rig.sensing.packets import Measurement
from rig.streaming import LONGEST_LINE, bound_socket, lost_packets, read_key

_BURST = 64
"""readings taken in a turn, after which a sensor that floods rests for one: 6400 a second, whatever comes in"""
_BUFFER = 1 << 19  # bytes that the system keeps of packets
_OPENING = 1.0  # s for a serial line, or a device that is not required, to open
_READING = 0.1  # s that a reader of another distribution waits for a reading
_ENDING = 1.0  # s for its thread to end
_OPENING_REQUIRED = 10.0  # s for it to open a sensor without which the rig does not start
_WAITING = 4096  # readings of it that may wait


class SensorSource(Protocol):
    """An open source of one sensor's readings."""

    @property
    def descriptor(self) -> int:
        """What `select` waits at."""

    @property
    def opened(self) -> bool:
        """Whether it is open; a reader of another distribution may still be at it."""

    def read(self, intake: SensorIntake) -> bool:
        """Put what came in, about `_BURST` at most, into the intake; whether more waits. Raises HardwareError."""

    def close(self) -> None:
        """Close it."""


class _UdpSource:
    """Raises HardwareError: the address cannot be listened at."""

    def __init__(self, source: UdpSource) -> None:
        self._place = f"{source.host}:{source.port}"
        self._socket = bound_socket(source.host, source.port, socket.SOCK_DGRAM, "sensor")
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)

    @property
    def descriptor(self) -> int:
        """See `SensorSource.descriptor`."""
        return self._socket.fileno()

    @property
    def opened(self) -> bool:
        """See `SensorSource.opened`."""
        return True

    def read(self, intake: SensorIntake) -> bool:
        """See `SensorSource.read`."""
        for _ in range(_BURST):
            try:
                data, origin = self._socket.recvfrom(LONGEST_LINE + 1)
            except BlockingIOError:
                intake.lost(lost_packets(self._socket))
                return False
            except OSError as error:
                raise HardwareError(f"{self._place}: {error.strerror}") from error
            intake.put(data, origin)
        intake.lost(lost_packets(self._socket))
        return True

    def close(self) -> None:
        """See `SensorSource.close`."""
        self._socket.close()


class _SerialSource:
    """Raises HardwareError: the port cannot be opened."""

    def __init__(self, endpoint: SerialEndpoint) -> None:
        self._device = endpoint.device
        try:
            self._wire: Wire = open_wire(endpoint, _OPENING)
        except ActuatorError as error:
            raise HardwareError(str(error)) from error
        self._rest = b""
        self._begun = False
        """whether the beginning of a line was seen: the first one may have begun before the port was opened"""

    @property
    def descriptor(self) -> int:
        """See `SensorSource.descriptor`."""
        return self._wire.descriptor

    @property
    def opened(self) -> bool:
        """See `SensorSource.opened`."""
        return True

    def read(self, intake: SensorIntake) -> bool:
        """See `SensorSource.read`."""
        data = self._wire.receive(0.0)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            if self._begun and line.strip():
                intake.put(line)
            self._begun = True
        if len(self._rest) > LONGEST_LINE:
            intake.put(b"")  # counted as malformed
            self._rest, self._begun = b"", False
        if not self._wire.connected:
            raise HardwareError(f"serial port {self._device} is gone")
        return len(lines) > _BURST

    def close(self) -> None:
        """See `SensorSource.close`."""
        self._wire.close()


class _PluginSource:
    """A thread opens, asks and closes the device, so that a slow one does not hold up the others.

    wait: s for the device to be opened. Raises HardwareError: the reader cannot open it, or, where it is required, has
    not by then.
    """

    def __init__(self, name: str, options: SensorOptions, wait: float) -> None:
        self._name, self._options = name, options
        self._opened = False
        self._tried = threading.Event()
        self._count = len(options.meaning.names)
        self._readings: queue.SimpleQueue[Measurement] = queue.SimpleQueue()
        self._ended = threading.Event()
        self._error = ""
        self._awake, self._waker = os.pipe()  # one end is closed here, the other by the thread
        os.set_blocking(self._awake, False)
        os.set_blocking(self._waker, False)
        self._thread = threading.Thread(target=self._run, name=f"sensor {options.name}", daemon=True)
        self._thread.start()
        tried = self._tried.wait(wait)
        text = self._error if tried or not options.required else f"it is not open after {wait:g} s"
        if text and wait:
            self.close()
            raise HardwareError(f"reader {name!r}: {text}")

    @property
    def opened(self) -> bool:
        """See `SensorSource.opened`."""
        return self._opened

    @property
    def descriptor(self) -> int:
        """See `SensorSource.descriptor`."""
        return self._awake

    def read(self, intake: SensorIntake) -> bool:
        """See `SensorSource.read`."""
        error = self._error  # before the readings: those until then are taken
        with contextlib.suppress(BlockingIOError):
            os.read(self._awake, _WAITING)
        with contextlib.suppress(queue.Empty):
            for _ in range(_BURST):
                intake.take(self._readings.get_nowait())
            return True
        if error:
            raise HardwareError(f"reader {self._name!r}: {error}")
        return False

    def close(self) -> None:
        """See `SensorSource.close`. Where the device hangs, its thread closes it whenever it returns."""
        self._ended.set()
        self._thread.join(_ENDING)
        os.close(self._awake)

    def _run(self) -> None:
        try:
            self._follow()
        except (Exception, SystemExit) as error:  # of whatever kind, where it is somebody else's
            self._error = f"{type(error).__name__}: {error}"
        self._tried.set()
        os.close(self._waker)  # wakes the loop, as each reading does

    def _follow(self) -> None:
        device = find_sensor(self._name).open(self._options.reader_settings(), self._options.meaning)
        self._opened = True
        self._tried.set()
        try:
            while not self._ended.is_set():
                found = device.read(_READING)
                if self._readings.qsize() > _WAITING:
                    raise ValueError(f"more than {_WAITING} readings wait")
                for stamp, values in found:
                    at = time.monotonic() if stamp is None else float(stamp)
                    self._readings.put(Measurement(0, None, at, at, self._checked(values)))
                if found:
                    with contextlib.suppress(BlockingIOError, BrokenPipeError):
                        os.write(self._waker, b"\0")
        finally:
            with contextlib.suppress(Exception, SystemExit):
                device.close()

    def _checked(self, values: object) -> tuple[float, ...]:
        numbers = tuple(map(float, values))  # type: ignore[call-overload]
        if len(numbers) != self._count:
            raise ValueError(f"it gave {len(numbers)} values, must be {self._count}")
        return numbers


def open_source(options: SensorOptions, *, first: bool = True) -> SensorSource:
    """Open a sensor's source.

    first: whether the rig waits for it; else a reader of another distribution opens its device while others are read.

    Raises:
        HardwareError: it cannot be opened.
    """
    place = options.place
    if isinstance(place, UdpSource):
        return _UdpSource(place)
    if isinstance(place, PluginSource):
        wait = (_OPENING_REQUIRED if options.required else _OPENING) if first else 0.0
        return _PluginSource(place.name, options, wait)
    return _SerialSource(place)


def key_of(options: SensorOptions, folder: Path) -> bytes | None:
    """The key of a sensor's packets. Raises InputError for a file that cannot be used."""
    return None if options.key_file is None else read_key(folder / options.key_file)
