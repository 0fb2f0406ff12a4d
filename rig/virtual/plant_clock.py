"""The plant's clock: the machine's, or an engine's that gives it the time; see `rig.runtime.pace_messages`.

Silence of the engine that paces is one of two things. Its process waits for a processor, however long: the plant waits
with it. Or the process is gone, stopped or hangs (`rig.runtime.ProcessWatch`): then the plant goes on by the wall
clock, counted from the last sign of life, so that the drives' watchdogs trip; an engine that comes back finds it ahead.
"""

import contextlib
import select
import socket
import time
from pathlib import Path

from rig.runtime import ProcessWatch, pace_messages

LOOK = 0.05
"""s of the wall clock without a sign of the engine, after which its process is looked at."""
HANGING = 2.0
"""s that a process may have slept or computed without a sign before it counts as hanging."""
_SLICE = 0.25
"""s at most that the plant makes up at once of the time for which it waited in vain"""


class PlantClock:
    """A `actuators.Timekeeper` that an engine may pace.

    Without one it is the machine's monotonic clock, or as far behind it as the engine that paced last left it.
    """

    def __init__(self) -> None:
        self.request: pace_messages.Settle | None = None
        """see `actuators.Timekeeper`"""
        self._path: Path | None = None
        self._time = self._last = self._wall = time.monotonic()
        self._free = True
        """whether the time goes by itself: on from `_last`, where it stood at `_wall` of the machine's clock"""
        self._behind = False
        """whether there may be more to be made up for than one slice"""
        self._engine: socket.socket | None = None
        self._looked = 0.0
        self._poll = select.epoll()
        self._listener: socket.socket | None = None

    @property
    def engaged(self) -> bool:
        """Whether there is an engine that may give the time."""
        return self._engine is not None

    @property
    def given(self) -> bool:
        """See `actuators.Timekeeper`."""
        return not self._free

    def listen(self, path: Path) -> None:
        """Let an engine take the time over at `path`; what stands there is replaced. Raises OSError where it cannot."""
        path.unlink(missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.bind(str(path))
        self._path = path
        self._listener.listen()
        self._listener.setblocking(False)
        self._poll.register(self._listener, select.EPOLLIN)

    def fileno(self) -> int:
        """See `actuators.Timekeeper`."""
        return self._poll.fileno()

    def attend(self) -> None:
        """See `actuators.Timekeeper`."""
        if self._listener is not None:
            with contextlib.suppress(OSError):
                engine, _ = self._listener.accept()
                if self._engine is None:
                    self._engine, self._process = engine, ProcessWatch(pace_messages.peer(engine))
                    self._poll.register(engine, select.EPOLLIN)
                else:
                    engine.close()  # two cannot give the time
        self._listen()

    def now(self) -> float:
        """See `actuators.Timekeeper`: the plant's clock, s."""
        if self._engine is not None:
            self._listen()
        if self._free:
            self._go_on()
        return self._time

    def reach(self, t: float) -> None:
        """See `actuators.Timekeeper`."""
        self._time = max(self._time, t)

    def settled(self, counts: dict[tuple[int, int], int]) -> None:
        """See `actuators.Timekeeper`."""
        self.request = None
        self._send(pace_messages.Settled(self._time, counts))

    def close(self) -> None:
        """Close every socket. May be called again."""
        self._part()
        self._poll.close()
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        if self._path is not None:
            self._path.unlink(missing_ok=True)
            self._path = None

    def _listen(self) -> None:
        heard = False
        try:
            while self._engine is not None and (message := pace_messages.receive(self._engine)) is not None:
                heard = True
                self._take(message)
        except (EOFError, ValueError):
            self._part()
            return
        if self._free or self._engine is None:
            return
        now = time.monotonic()
        if heard:
            self._wall = self._looked = now
        elif now - self._looked >= LOOK:
            if self._looked == self._wall:
                self._process.sign()  # the first look since the engine was heard
            self._looked = now
            if self._process.silence() > HANGING:
                self._set_free()
                self._send(pace_messages.Ahead())

    def _take(self, message: pace_messages.Message) -> None:
        match message:
            case pace_messages.Time(t):
                if not self._free:
                    self._time = max(self._time, t)
            case pace_messages.Settle():
                self.request = message
            case pace_messages.Resume():
                if self._free:
                    self._go_on()
                self._free = False
                self._send(pace_messages.PlantTime(self._time))

    def _set_free(self) -> None:
        """Let the time go by itself from when the engine was heard last."""
        self._free = self._behind = True
        self._last = self._time

    def _go_on(self) -> None:
        now = self._last + time.monotonic() - self._wall
        if self._behind and now > self._time + _SLICE:
            now = self._time + _SLICE
        else:
            self._behind = False
        self._time = max(self._time, now)

    def _send(self, message: pace_messages.Message) -> None:
        if self._engine is not None:
            try:
                self._engine.send(pace_messages.encode(message), socket.MSG_DONTWAIT)
            except OSError:
                self._part()

    def _part(self) -> None:
        """The engine has gone, or cannot be talked to."""
        if self._engine is not None:
            self._poll.unregister(self._engine)
            self._engine.close()
            self._engine = None
            self.request = None
            if not self._free:
                self._set_free()
