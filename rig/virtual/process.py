"""The virtual rig as a process of its own: what runs in it, and the handle its owner holds."""

import contextlib
import math
import multiprocessing
import os
import signal
import threading
from collections import deque
from contextlib import closing
from dataclasses import dataclass
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Self

from actuators import ActuatorError, Endpoint, TwinServer
from rig.config import RigConfig
from rig.engine import ProgressCallback, pace_path, receive_answer, send_compile_progress
from rig.errors import HardwareError, InputError, RigError
from rig.runtime import ChildDiedError, ChildProcess, prepare_process
from rig.virtual.fault_notifier import FaultNotifier
from rig.virtual.faults import ActiveFault
from rig.virtual.plant_clock import PlantClock
from rig.virtual.virtual_rig import VirtualRig

LONGEST_GAP = 0.5
"""Of a longer time in which the process did not run only this much is integrated, s."""
TICK = 2e-3
"""Longest time between two looks at plant and watchdogs without a request, s."""
READY_TIMEOUT = 120.0
"""Time to become ready, s; compiling the kernels for the first time takes most of it."""
SAMPLING = 1e-4
"""Sampling time of the drives' own loops, s: requests nearer than this to each other see the same instant."""
LINGER = 2.0
"""Without an owner, a client and torque at any leg for this long, s, the process ends."""
_REPLY_TIMEOUT = 2.0
_KERNELS = (
    "dynamics.kernels.forward.equations_kernel",
    "dynamics.kernels.inverse.forces_kernel",
    "kinematics.assembly.forward.forward_kinematics_kernel",
    "kinematics.leg.determinant_kernel",
    "kinematics.leg.leg_matrix_kernel",
    "rig.virtual.plant_kernel.advance_kernel",
)
_OF_MUJOCO = (
    "kinematics.leg._lengths_batch",
    "rig.virtual.mujoco_kernel.apply_kernel",
    "rig.virtual.mujoco_kernel.drives_kernel",
    "rig.virtual.mujoco_kernel.motors_kernel",
    "rig.virtual.mujoco_kernel.settle_kernel",
)


@dataclass(frozen=True, slots=True)
class Inject:
    """Begin a fault; see `Faults.inject`."""

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
    """From now on tell the engine with this control link what is injected, and what is on already."""

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
    """What the virtual rig says of itself.

    time: s, the plant's clock. plant_fault: why the plant stands still for good, "" if it does not.
    """

    time: float
    plant_fault: str
    faults: tuple[ActiveFault, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that could not be met, or the reason the process ends."""

    text: str
    kind: type[RigError]


def serve_virtual_rig(config: RigConfig, connection: Connection) -> None:
    """Serve the virtual rig over its wires until its owner says so, or has gone like every client and torque.

    The engine outlives an app that is killed, and so does its plant, also where the engine is parked on it: it ends
    when the engine has.
    Sends `Compiling` as long as it compiles, one `RigView` when every port listens, or a `Refusal` and returns. Then
    answers each `Request` but End with one of the two. The time is that of `PlantClock`. Ctrl-C is ignored: it is the
    owner who ends this process.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stop, orphaned = threading.Event(), threading.Event()
    herald, owner = FaultNotifier(), _Owner()
    requests: deque[Request] = deque()
    resources = contextlib.ExitStack()
    try:
        with send_compile_progress("the virtual rig", kernels_of(config), connection):
            rig = VirtualRig(config)
            rig.advance(10 * rig.plant.step)  # compiles the kernels before anybody can connect
        clock = resources.enter_context(closing(PlantClock()))
        rig = VirtualRig(config, clock.now(), LONGEST_GAP, owner.hang)
        needed = math.inf

        def advance(now: float) -> None:
            nonlocal needed
            if orphaned.is_set():
                used = server.clients or clock.engaged or not all(rig.plant.braked(leg) for leg in range(6))
                if math.isinf(needed) or used:
                    needed = now
                elif now - needed > LINGER:
                    stop.set()
            if now - rig.time >= SAMPLING or rig.next_event <= now:
                rig.advance(now)
            while requests:
                _send(connection, _answer(rig, requests.popleft(), herald))
            if rig.faults.news:
                herald.tell(rig.faults.news)
                rig.faults.news.clear()

        def ready(_served: list[Endpoint]) -> None:
            if config.virtual is not None and not config.virtual.real_time:
                clock.listen(pace_path(config, make=True))
            threading.Thread(target=_listen, args=(connection, requests, stop, orphaned), daemon=True).start()
            prepare_process(None, config.realtime.priority)  # a pin is the engine's
            _send(connection, _view(rig))

        server = TwinServer(rig.endpoints, advance=advance, tick=TICK, timekeeper=clock)
        server.serve(stop, ready)
    except ActuatorError as error:
        _send(connection, Refusal(str(error), HardwareError))
    except RigError as error:
        _send(connection, Refusal(str(error), type(error)))
    finally:
        resources.close()
        herald.close()
        owner.hang(False)


def kernels_of(config: RigConfig) -> list[str]:
    """What the virtual rig calls of kernels, with their modules; all that they call is not among it."""
    of_mujoco = config.virtual is not None and config.virtual.plant.engine == "mujoco"
    return [*_KERNELS, *(_OF_MUJOCO if of_mujoco else ())]


class _Owner:
    """The process that started this one, as far as it can be made to stand still."""

    def __init__(self) -> None:
        self._stopped = False

    def hang(self, stop: bool) -> None:
        """Have it stand still, or go on where it was made to."""
        owner = multiprocessing.parent_process()
        if stop == self._stopped or owner is None or owner.pid is None or not owner.is_alive():
            return
        self._stopped = stop
        with contextlib.suppress(ProcessLookupError):
            os.kill(owner.pid, signal.SIGSTOP if stop else signal.SIGCONT)


def _listen(connection: Connection, requests: deque[Request], stop: threading.Event, orphaned: threading.Event) -> None:
    """Collect the owner's requests; runs in a thread of its own, so that waiting for them costs the server nothing."""
    try:
        while not isinstance(request := connection.recv(), End):
            requests.append(request)
    except (EOFError, OSError):
        orphaned.set()
    else:
        stop.set()


def _answer(rig: VirtualRig, request: Request, herald: FaultNotifier) -> RigView | Refusal:
    try:
        match request:
            case Inject(name, leg, value, duration):
                rig.faults.inject(name, leg, value, duration)
            case Clear(name, leg):
                rig.faults.clear(name, leg)
            case NotifyEngine(address):
                herald.address(address)
                herald.tell(rig.faults.recall())
    except InputError as error:
        return Refusal(str(error), InputError)
    return _view(rig)


def _view(rig: VirtualRig) -> RigView:
    return RigView(rig.time, rig.plant.fault, tuple(rig.faults.active))


def _send(connection: Connection, answer: RigView | Refusal) -> None:
    with contextlib.suppress(OSError):  # the owner is gone
        connection.send(answer)


class VirtualRigProcess:
    """The owner's handle on a virtual rig in a process of its own.

    As a context manager it starts the process and ends it on the way out. One thread uses it at a time.
    """

    def __init__(self, config: RigConfig) -> None:
        """Nothing is started yet."""
        self._config = config
        self._process: ChildProcess | None = None

    @property
    def pid(self) -> int | None:
        """Process id, None while there is none."""
        return None if self._process is None else self._process.pid

    @property
    def alive(self) -> bool:
        """True while the process runs."""
        return self._process is not None and self._process.alive

    def start(self, timeout: float = READY_TIMEOUT, told: ProgressCallback | None = None) -> None:
        """Start the process and wait up to `timeout` s until every drive can be connected to.

        told: see `wait_ready`.
        Raises HardwareError when a port is taken (naming host:port), the process dies or is not ready in time;
        ConfigError when the configuration cannot be served. Nothing is left running then.
        """
        self.begin()
        self.wait_ready(timeout, told)

    def begin(self) -> None:
        """The first half of `start`, which does not wait; `wait_ready` is the other."""
        if self._process is not None:
            raise HardwareError("the virtual rig has been started already")
        self._process = ChildProcess("the virtual rig", serve_virtual_rig, self._config)

    def wait_ready(self, timeout: float = READY_TIMEOUT, told: ProgressCallback | None = None) -> None:
        """Wait, after `begin`, until every drive can be connected to; see `start`.

        told: told how far it is where it has to compile the plant first.
        """
        try:
            self._receive(self._process, timeout, "become ready", told)
        except BaseException:
            self.stop()
            raise

    def inject(
        self, name: str, leg: int | None = None, value: float | None = None, duration: float | None = None
    ) -> RigView:
        """Begin a fault: see `Faults.inject` and `FAULTS`. Raises InputError, or HardwareError if the rig is gone."""
        return self._ask(Inject(name, leg, value, duration))

    def clear(self, name: str | None = None, leg: int | None = None) -> RigView:
        """End faults: see `Faults.clear`. Raises HardwareError if the rig is gone."""
        return self._ask(Clear(name, leg))

    def tell(self, address: str) -> RigView:
        """Have the engine with this control link record what is injected. Raises HardwareError if the rig is gone."""
        return self._ask(NotifyEngine(address))

    def look(self) -> RigView:
        """What the rig says of itself. Raises HardwareError if the rig is gone."""
        return self._ask(GetView())

    @property
    def active(self) -> list[ActiveFault]:
        """The faults that are on. Raises HardwareError if the rig is gone."""
        return list(self.look().faults)

    def stop(self, timeout: float = 2.0) -> None:
        """End the process: by asking, after `timeout` s by a signal, at last by killing it; idempotent."""
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
                process.pipe.recv()  # the answer to a request that was given up
        except (EOFError, OSError) as error:
            raise process.died() from error
        process.send(request)
        return self._receive(process, _REPLY_TIMEOUT)

    def _receive(
        self, process: ChildProcess | None, timeout: float, doing: str = "answer", told: ProgressCallback | None = None
    ) -> RigView:
        if process is None:
            raise HardwareError("the virtual rig is not running")
        reply = receive_answer(process, timeout, doing, told)
        if isinstance(reply, RigView):
            return reply
        raise reply.kind(reply.text)
