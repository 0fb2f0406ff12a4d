"""The virtual rig as a process of its own: its clock, its server, notification of faults, and its handle."""

import contextlib
import math
import multiprocessing
import os
import queue
import select
import signal
import socket
import threading
import time
from collections import deque
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Self

from actuators import ActuatorError, Endpoint, TwinServer
from rig.config import RigConfig
from rig.engine import LinkClient, Note, ProgressCallback, Report, pace_path, receive_answer, send_compile_progress
from rig.errors import HardwareError, InputError, RigError
from rig.findings import Finding
from rig.runtime import ChildDiedError, ChildProcess, ProcessWatch, pace_messages, prepare_process
from rig.virtual.faults import ActiveFault, News
from rig.virtual.payload_unit import payload_of
from rig.virtual.sensor_twins import TwinSender
from rig.virtual.virtual_rig import VirtualRig, kernels_of

_TIMEOUT = 1.0  # s for one request to the engine
_ENDING_TIMEOUT = 2.0  # s
_MOST = 1000  # pending notifications


class FaultNotifier:
    """Sends news to the engine in its own thread, so that the virtual rig never waits; `close` ends it.

    News without a known engine is dropped.
    """

    def __init__(self) -> None:
        self._address = ""
        self._queue: queue.Queue[tuple[str, Note | Report] | None] = queue.Queue(_MOST)
        self._thread = threading.Thread(target=self._send, name="news", daemon=True)
        self._thread.start()

    def address(self, address: str) -> None:
        """Set the control link of the engine to notify."""
        self._address = address

    def notify(self, news: Iterable[News]) -> None:
        """Queue news for sending without waiting; drop it if the queue is full."""
        for item in news:
            self._put(Note(item.action, item.text, item.at))

    def report(self, finding: Finding) -> None:
        """Queue why the payload's FMU has failed, likewise."""
        self._put(Report(finding))

    def _put(self, message: Note | Report) -> None:
        if self._address:
            with contextlib.suppress(queue.Full):
                self._queue.put_nowait((self._address, message))

    def close(self) -> None:
        """End the thread."""
        with contextlib.suppress(queue.Full):
            self._queue.put_nowait(None)
        self._thread.join(_ENDING_TIMEOUT)

    def _send(self) -> None:
        client: LinkClient | None = None
        known = ""
        while (item := self._queue.get()) is not None:
            address, message = item
            if client is None or address != known:
                if client is not None:
                    client.close()
                client, known = LinkClient(address, _TIMEOUT), address
            with contextlib.suppress(RigError):  # the engine has gone
                client.request(message)
        if client is not None:
            client.close()


CHECK_PERIOD = 0.05
"""s of the wall clock without a sign of the engine before its process is checked."""
HANGING = 2.0
"""s that a process may sleep or compute without a sign before it counts as hanging."""
_SLICE = 0.25
"""longest part, s, of a missed time that the plant integrates at once"""


class PlantClock:
    """An `actuators.Timekeeper` whose time an engine may set.

    Without an engine it is the machine's monotonic clock, minus the lag at which the last engine left it.
    """

    def __init__(self) -> None:
        self.request: pace_messages.Settle | None = None
        """see `actuators.Timekeeper`"""
        self._path: Path | None = None
        self._time = self._last = self._wall = time.monotonic()
        self._free = True
        """whether the time runs by itself: from `_last` at `_wall` of the machine's clock"""
        self._behind = False
        """whether more than one slice of missed time may remain"""
        self._engine: socket.socket | None = None
        self._checked_at = 0.0
        self._poll = select.epoll()
        self._listener: socket.socket | None = None

    @property
    def engaged(self) -> bool:
        """Whether an engine is connected that may set the time."""
        return self._engine is not None

    @property
    def given(self) -> bool:
        """See `actuators.Timekeeper`."""
        return not self._free

    def listen(self, path: Path) -> None:
        """Let an engine control the time by a socket at `path`, which is replaced. Raises OSError on failure."""
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
                    engine.close()  # only one engine may set the time
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
        self._disconnect()
        self._poll.close()
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        if self._path is not None:
            self._path.unlink(missing_ok=True)
            self._path = None

    def _listen(self) -> None:
        received = False
        try:
            while self._engine is not None and (message := pace_messages.receive(self._engine)) is not None:
                received = True
                self._take(message)
        except (EOFError, ValueError):
            self._disconnect()
            return
        if self._free or self._engine is None:
            return
        now = time.monotonic()
        if received:
            self._wall = self._checked_at = now
        elif now - self._checked_at >= CHECK_PERIOD:
            if self._checked_at == self._wall:
                self._process.sign()  # the first check since the last message
            self._checked_at = now
            if self._process.silence() > HANGING:
                self._run_free()
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

    def _run_free(self) -> None:
        """Let the time run by itself from the engine's last message."""
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
                self._disconnect()

    def _disconnect(self) -> None:
        """Disconnect the engine after its end or an error."""
        if self._engine is not None:
            self._poll.unregister(self._engine)
            self._engine.close()
            self._engine = None
            self.request = None
            if not self._free:
                self._run_free()


LONGEST_GAP = 0.5
"""Longest time integrated at once, s, after the process did not run for longer."""
TICK = 2e-3
"""Longest time between two updates of plant and watchdogs without a request, s."""
LATE_WINDOW = 2.0
"""s, for which it is remembered that the process was late"""
_LATE = 0.5  # of a cycle
READY_TIMEOUT = 120.0
"""Time to become ready, s; mostly for compiling the kernels the first time."""
SAMPLING = 1e-4
"""Sampling time of the drives' own loops, s: requests closer together see the same instant."""
LINGER = 2.0
"""The process ends after this long, s, without owner, client and torque at any leg."""
_REPLY_TIMEOUT = 2.0


@dataclass(frozen=True, slots=True)
class Inject:
    """Start a fault; see `Faults.inject`."""

    name: str
    leg: int | None
    value: float | None
    duration: float | None


@dataclass(frozen=True, slots=True)
class Clear:
    """End faults; see `Faults.clear`."""

    name: str | None
    leg: int | None


@dataclass(frozen=True, slots=True)
class NotifyEngine:
    """Notify the engine with this control link of faults, beginning with the active ones."""

    address: str


@dataclass(frozen=True, slots=True)
class GetView:
    """Ask for the `RigView`."""


@dataclass(frozen=True, slots=True)
class End:
    """End the process."""


Request = Inject | Clear | NotifyEngine | GetView | End


@dataclass(frozen=True, slots=True)
class RigView:
    """State of the virtual rig.

    time: s, the plant's clock. plant_fault: why the plant has stopped permanently, "" if it has not. late, longest: how
    often the process was late in the last `LATE_WINDOW`, and by how much at most, s; see `TwinLateness`.
    """

    time: float
    plant_fault: str
    faults: tuple[ActiveFault, ...]
    late: int = 0
    longest: float = 0.0


class TwinLateness:
    """How often and how much the process came late to its wires, at which it looks once in a `TICK`.

    What counts is more than half a cycle, as it does for the engine's cycles. It is the computer that is slow then, not
    the drives.
    """

    def __init__(self, period: float) -> None:
        """period: of the cycle, s."""
        self._bound = TICK + _LATE * period
        self._last = math.inf
        self._late: deque[tuple[float, float]] = deque()

    def note(self, now: float) -> None:
        """Note a look at the wires at `now`, s of the machine's clock."""
        gap, self._last = now - self._last, now
        if gap > self._bound:
            self._late.append((now, gap - TICK))

    def recent(self, now: float) -> tuple[int, float]:
        """How often it was late in the last `LATE_WINDOW` before `now`, s, and by how much at most, s."""
        while self._late and self._late[0][0] < now - LATE_WINDOW:
            self._late.popleft()
        return len(self._late), max((duration for _, duration in self._late), default=0.0)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that failed, or the reason the process ends."""

    text: str
    kind: type[RigError]


def serve_virtual_rig(config: RigConfig, connection: Connection) -> None:
    """Serve the virtual rig over its wires until the owner ends it, or owner, clients and torque are gone.

    The engine outlives a killed app, and so does its plant, also with a parked engine: it ends when the engine has.
    Sends `Compiling` while it compiles, one `RigView` when every port listens, or a `Refusal` and returns. Then
    answers each `Request` but End with a `RigView` or a `Refusal`. The time is that of `PlantClock`. Ctrl-C is ignored:
    the owner ends this process.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stop, orphaned = threading.Event(), threading.Event()
    notifier, owner = FaultNotifier(), _Owner()
    requests: deque[Request] = deque()
    resources = contextlib.ExitStack()
    try:
        with send_compile_progress("the virtual rig", kernels_of(config), connection):
            rig = VirtualRig(config)
            rig.advance(10 * rig.plant.step)  # compiles the kernels before a client can connect
        clock = resources.enter_context(closing(PlantClock()))
        real_time = config.virtual is not None and config.virtual.real_time
        if config.virtual is not None and config.virtual.plant.payload_fmu is not None:
            os.dup2(2, 1)  # what an FMU prints is no output of this program
        payload = payload_of(config)
        if payload is not None:
            resources.enter_context(payload)
            if real_time:
                payload.check_speed()
        rig = VirtualRig(config, clock.now(), LONGEST_GAP, owner.hang, payload)
        sensors = TwinSender(config, rig.sensors)
        resources.callback(sensors.close)
        needed, failed = math.inf, False
        lateness = TwinLateness(config.exchange_period)

        def advance(now: float) -> None:
            nonlocal needed, failed
            if real_time:
                lateness.note(time.monotonic())
            if orphaned.is_set():
                used = server.clients or clock.engaged or not all(rig.plant.braked(leg) for leg in range(6))
                if math.isinf(needed) or used:
                    needed = now
                elif now - needed > LINGER:
                    stop.set()
            if now - rig.time >= SAMPLING or rig.next_event <= now:
                rig.advance(now)
                sensors.send()
            while requests:
                _send(connection, _answer(rig, requests.popleft(), notifier, lateness))
            if rig.faults.news:
                notifier.notify(rig.faults.news)
                rig.faults.news.clear()
            if rig.failure is not None and not failed:
                failed = True
                notifier.report(rig.failure)

        def ready(_served: list[Endpoint]) -> None:
            if not real_time:
                clock.listen(pace_path(config, make=True))
            threading.Thread(target=_listen, args=(connection, requests, stop, orphaned), daemon=True).start()
            prepare_process(None, config.realtime.priority, lock=False)  # only the engine is pinned and locked
            _send(connection, _view(rig, lateness))

        server = TwinServer(rig.endpoints, advance=advance, tick=TICK, timekeeper=clock)
        server.serve(stop, ready)
    except ActuatorError as error:
        _send(connection, Refusal(str(error), HardwareError))
    except RigError as error:
        _send(connection, Refusal(str(error), type(error)))
    finally:
        resources.close()
        notifier.close()
        owner.hang(False)


class _Owner:
    """The process that started this one, as far as it can be stopped."""

    def __init__(self) -> None:
        self._stopped = False

    def hang(self, stop: bool) -> None:
        """Stop it (True), or resume it if it was stopped (False)."""
        owner = multiprocessing.parent_process()
        if stop == self._stopped or owner is None or owner.pid is None or not owner.is_alive():
            return
        self._stopped = stop
        with contextlib.suppress(ProcessLookupError):
            os.kill(owner.pid, signal.SIGSTOP if stop else signal.SIGCONT)


def _listen(connection: Connection, requests: deque[Request], stop: threading.Event, orphaned: threading.Event) -> None:
    """Collect the owner's requests; in its own thread, so that the server does not wait for them."""
    try:
        while not isinstance(request := connection.recv(), End):
            requests.append(request)
    except (EOFError, OSError):
        orphaned.set()
    else:
        stop.set()


def _answer(rig: VirtualRig, request: Request, notifier: FaultNotifier, lateness: TwinLateness) -> RigView | Refusal:
    try:
        match request:
            case Inject(name, leg, value, duration):
                rig.faults.inject(name, leg, value, duration)
            case Clear(name, leg):
                rig.faults.clear(name, leg)
            case NotifyEngine(address):
                notifier.address(address)
                notifier.notify(rig.faults.recall())
                if rig.failure is not None:
                    notifier.report(rig.failure)
    except InputError as error:
        return Refusal(str(error), InputError)
    return _view(rig, lateness)


def _view(rig: VirtualRig, lateness: TwinLateness) -> RigView:
    late, longest = lateness.recent(time.monotonic())
    return RigView(rig.time, rig.plant.fault, tuple(rig.faults.active), late, longest)


def _send(connection: Connection, answer: RigView | Refusal) -> None:
    with contextlib.suppress(OSError):  # the owner is gone
        connection.send(answer)


class VirtualRigProcess:
    """The owner's handle on a virtual rig in its own process.

    As a context manager it starts and ends the process. Not thread-safe.
    """

    def __init__(self, config: RigConfig) -> None:
        """Does not start the process."""
        self._config = config
        self._process: ChildProcess | None = None

    @property
    def pid(self) -> int | None:
        """Process id, None if there is none."""
        return None if self._process is None else self._process.pid

    @property
    def alive(self) -> bool:
        """True while the process runs."""
        return self._process is not None and self._process.alive

    def start(self, timeout: float = READY_TIMEOUT, report_compiling: ProgressCallback | None = None) -> None:
        """Start the process and wait up to `timeout` s until every drive accepts connections.

        report_compiling: see `wait_ready`.
        Raises HardwareError if a port is taken (naming host:port), the process dies or is not ready in time;
        ConfigError if the configuration cannot be served. No process is left running then.
        """
        self.begin()
        self.wait_ready(timeout, report_compiling)

    def begin(self) -> None:
        """Start the process without waiting, as the first half of `start`; `wait_ready` is the other."""
        if self._process is not None:
            raise HardwareError("the virtual rig has been started already")
        self._process = ChildProcess("the virtual rig", serve_virtual_rig, self._config)

    def wait_ready(self, timeout: float = READY_TIMEOUT, report_compiling: ProgressCallback | None = None) -> None:
        """Wait, after `begin`, until every drive accepts connections; see `start`.

        report_compiling: receives the progress if the plant has to be compiled first.
        """
        try:
            self._receive(self._process, timeout, "become ready", report_compiling)
        except BaseException:
            self.stop()
            raise

    def inject(
        self, name: str, leg: int | None = None, value: float | None = None, duration: float | None = None
    ) -> RigView:
        """Start a fault: see `Faults.inject` and `FAULTS`. Raises InputError, or HardwareError if the rig is gone."""
        return self._ask(Inject(name, leg, value, duration))

    def clear(self, name: str | None = None, leg: int | None = None) -> RigView:
        """End faults: see `Faults.clear`. Raises HardwareError if the rig is gone."""
        return self._ask(Clear(name, leg))

    def notify(self, address: str) -> RigView:
        """Let the engine with this control link record faults. Raises HardwareError if the rig is gone."""
        return self._ask(NotifyEngine(address))

    def look(self) -> RigView:
        """Return the state of the rig. Raises HardwareError if the rig is gone."""
        return self._ask(GetView())

    @property
    def active(self) -> list[ActiveFault]:
        """Return the active faults. Raises HardwareError if the rig is gone."""
        return list(self.look().faults)

    def stop(self, timeout: float = 2.0) -> None:
        """End the process by a request, after `timeout` s by a signal, finally by killing it; idempotent."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ChildDiedError):
                process.send(End())
            process.end(timeout)

    def __enter__(self) -> Self:
        """Start the process; see `start`."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End the process."""
        self.stop()

    def _ask(self, request: Request) -> RigView:
        process = self._process
        if process is None:
            raise HardwareError("the virtual rig is not running")
        try:
            while process.pipe.poll(0):
                process.pipe.recv()  # the answer to an abandoned request
        except (EOFError, OSError) as error:
            raise process.died() from error
        process.send(request)
        return self._receive(process, _REPLY_TIMEOUT)

    def _receive(
        self,
        process: ChildProcess | None,
        timeout: float,
        doing: str = "answer",
        report_compiling: ProgressCallback | None = None,
    ) -> RigView:
        if process is None:
            raise HardwareError("the virtual rig is not running")
        reply = receive_answer(process, timeout, doing, report_compiling)
        if isinstance(reply, RigView):
            return reply
        raise reply.kind(reply.text)
