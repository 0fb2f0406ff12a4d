"""The stories of clients that die, hang, wake, knock and take over, with real processes and signals."""

import contextlib
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from configured import VIRTUAL
from exploration import LONG
from explored_motions import wave
from lease_stories import (
    EVERY,
    STORIES,
    World,
    a_motion_of_the_dead_goes_on_only_in_so_many_words,
    the_holder_is_killed_while_another_knocks,
    who_wakes_beats_for_nobody_else,
)
from live_bench import live_config

from actuators import Status
from rig.client import lifecycle
from rig.client.live import LiveRig
from rig.config.rig_config import RigConfig
from rig.engine import RAMPS, Abandon, EngineProcess, Follow, Release, RigCommand, Stop, find_engine
from rig.errors import RefusedError
from rig.runtime import ChildProcess, TelemetryRing
from rig.states import State
from rig.telemetry import ROW
from rig.virtual import VirtualRigProcess

SHORT = (
    the_holder_is_killed_while_another_knocks,
    who_wakes_beats_for_nobody_else,
    a_motion_of_the_dead_goes_on_only_in_so_many_words,
)
WAVE = wave(VIRTUAL, 12.0, 8e-3)
PATIENCE = 60.0  # s, for the other side to do its part
MARGIN = 0.5
"""s: a sign of life was up to 0.05 s old, a look at the unattended 0.1 s; the way to a stand, the brakes' time"""
_POLL = 0.01  # s


def config() -> RigConfig:
    """On the wall clock, which signs of life come by."""
    bounds = {"heartbeat": 0.5, "unattended_hold": 2.0}
    return live_config(1.0).changed({"safety": bounds})


# -- in the client's process -----------------------------------------------------------------------------------------


class _Client:
    """Does what it is told over a pipe; a script that opens the rig again and again would do the same."""

    def __init__(self, settings: RigConfig, name: str) -> None:
        self._config, self._name = settings, name
        self._rig: LiveRig | None = None
        self._holding = threading.Event()

    def takes(self) -> bool:
        if self._rig is not None and self._rig.holds_lease:
            return True
        if self._rig is not None:
            self._rig.close()
            self._rig = None
        engine = find_engine(self._config)
        assert engine is not None
        with contextlib.suppress(RefusedError):
            self._rig = LiveRig(self._config, engine, self._name)
        return self._rig is not None

    def holds_lease(self) -> bool:
        return self._rig is not None and self._rig.holds_lease

    def runs(self, held: bool) -> bool:
        assert self.takes() and self._rig is not None
        rig = self._rig
        if rig.status().state is State.OFF:
            lifecycle.connect(rig)
            lifecycle.home(rig)
        if rig.status().state is State.PARKED:
            lifecycle.settle(rig)
            lifecycle.engage(rig)
        rig.wait(lambda status: status.state is State.ENGAGED, PATIENCE, "the platform to be held")
        if rig.status().paused:
            rig.request(Abandon())
        if held:
            self._holding.set()
            rig.hold()
            threading.Thread(target=self._hold, args=(rig,), daemon=True).start()
        rig.request(Follow("long", WAVE.step, slowing=RAMPS[0] if held else None), WAVE.samples)
        rig.wait(lambda status: status.state is State.RUNNING, PATIENCE, "the motion to begin")
        return True

    def _hold(self, rig: LiveRig) -> None:
        while self._holding.is_set():
            rig.hold()
            time.sleep(0.04)

    def lets_go(self) -> bool:
        self._holding.clear()
        if self._rig is not None:
            self._rig.let_go()
        return True

    def asks(self, command: RigCommand) -> bool:
        if isinstance(command, Stop):
            engine = find_engine(self._config)
            assert engine is not None
            with contextlib.closing(engine.client()) as link:
                link.request(command)
            return True
        if not self.takes():
            return False
        assert self._rig is not None
        try:
            self._rig.request(command)
        except RefusedError:
            return False
        return True

    def gives_up(self) -> bool:
        assert self._rig is not None
        self._rig._commands.client.request(Release())
        return True


def play(settings: RigConfig, name: str, pipe: Connection) -> None:
    """Main function of a client's process."""
    client, knocking = _Client(settings, name), False
    while True:
        if not pipe.poll(EVERY if knocking else None):
            knocking = not client.takes()
            continue
        try:
            what, *arguments = pipe.recv()
        except EOFError:
            return
        if what == "knocks":
            knocking = True
            pipe.send(True)
        else:
            pipe.send(getattr(client, what)(*arguments))


# -- in the test's ---------------------------------------------------------------------------------------------------


class Process:
    """See `Player`: the handle of one."""

    def __init__(self, world: "Real", name: str) -> None:
        self._world = world
        self._process = ChildProcess(f"client {name}", play, world.config, name)

    def _ask(self, *message: object) -> Any:
        self._process.send(message)
        return self._process.receive(PATIENCE)

    @property
    def holds_lease(self) -> bool:
        return bool(self._ask("holds_lease"))

    def takes(self) -> bool:
        return bool(self._ask("takes"))

    def knocks(self) -> None:
        self._ask("knocks")

    def runs(self, *, held: bool = False) -> None:
        self._ask("runs", held)

    def asks(self, command: RigCommand) -> bool:
        return bool(self._ask("asks", command))

    def gives_up(self) -> None:
        self._ask("gives_up")

    def lets_go(self) -> None:
        self._ask("lets_go")

    def dies(self) -> None:
        self._send(signal.SIGKILL)
        assert self._process.join(PATIENCE)

    def hangs(self) -> None:
        self._send(signal.SIGSTOP)

    def wakes(self) -> None:
        self._send(signal.SIGCONT)

    def _send(self, number: signal.Signals) -> None:
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

    def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.wakes()
        self._process.end(0.0)


class Real:
    """See `World`: an engine and a virtual rig in processes of their own, of which no client is the owner."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.config = config()
        safety = self.config.safety
        self.heartbeat, self.hold, self.renewal = safety.heartbeat, safety.unattended_hold, safety.hold_renewal
        virtual = VirtualRigProcess(self.config)
        stack.callback(virtual.stop)
        virtual.begin()
        engine = stack.enter_context(EngineProcess(self.config, folder / "run.mcap"))
        virtual.wait_ready()
        self._link = engine.client(PATIENCE)
        stack.callback(self._link.close)
        ring = TelemetryRing.attach(engine.address.ring)
        stack.callback(ring.close)
        self._rows = ring.reader(0)
        self._row: npt.NDArray[np.void] = np.zeros((), ROW)
        self._ahead: deque[npt.NDArray[np.void]] = deque()
        self._stack = stack

    def player(self, name: str) -> Process:
        made = Process(self, name)
        self._stack.callback(made.end)
        return made

    @property
    def now(self) -> float:
        self._look(lambda: False)
        return float(self._row["t"])

    @property
    def state(self) -> State:
        return State(int(self._row["state"]))

    @property
    def holder(self) -> str:
        return self._link.status().lease

    @property
    def torque(self) -> bool:
        return bool((self._row["drive_status"] & Status.ENABLED).any())

    def passes(self, duration: float) -> None:
        end = self.now + duration
        self.until(lambda: float(self._row["t"]) >= end, within=duration)

    def until(self, wanted: Callable[[], bool], within: float, since: float | None = None) -> None:
        """Every row is looked at: what is so for a cycle is not missed, however late this process is."""
        end = (self.now if since is None else since) + within + MARGIN
        deadline = time.monotonic() + PATIENCE
        while not (wanted() or self._look(wanted)):
            assert self._row["t"] < end, f"in vain; {self.state.name}, held by {self.holder!r}"
            assert time.monotonic() < deadline, "the rig's time stands"
            time.sleep(_POLL)
        assert self._row["t"] < end, f"late, at {self._row['t']:.2f} of {end:.2f} s"

    def _look(self, wanted: Callable[[], bool]) -> bool:
        self._ahead.extend(self._rows.read_new()[0])
        while self._ahead:
            self._row = self._ahead.popleft()
            if wanted():
                return True
        return False


@contextmanager
def real(folder: Path) -> Iterator[Real]:
    with ExitStack() as stack:
        yield Real(folder, stack)


@pytest.mark.parametrize("story", STORIES if LONG else SHORT, ids=lambda story: story.__name__)
def test_as_processes(story: Callable[[World], None], tmp_path: Path) -> None:
    with real(tmp_path) as world:
        story(world)
