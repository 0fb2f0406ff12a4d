"""Processes that are started while somebody presses Ctrl-C, or ends their owner."""

import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from rig.errors import HardwareError
from rig.runtime.spawning import start_shielded

_PATIENCE = 20.0  # s


class Interrupts:
    """A signal comes while this is made ready for another process, where it is the number 7."""

    def __init__(self, number: int, arrived: socket.socket) -> None:
        self._number, self._arrived = number, arrived

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        os.kill(os.getpid(), self._number)
        assert self._arrived.recv(1)  # from here on Python calls the handler when it likes
        return int, (7,)


@pytest.fixture
def arrived() -> Iterator[socket.socket]:
    """Receives a byte for every signal that has come."""
    told, tells = socket.socketpair()
    told.settimeout(_PATIENCE)
    tells.setblocking(False)
    before = signal.set_wakeup_fd(tells.fileno())
    yield told
    signal.set_wakeup_fd(before)
    told.close()
    tells.close()


@pytest.fixture
def another_thread() -> Iterator[None]:
    """One that takes the signals which the main thread blocks, as those of a numerical library do."""
    ended = threading.Event()
    thread = threading.Thread(target=ended.wait, args=(_PATIENCE,))
    thread.start()
    yield
    ended.set()
    thread.join()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.usefixtures("another_thread")
def test_what_ends_its_owner_waits_until_a_process_is_started(arrived: socket.socket, number: int) -> None:
    process = multiprocessing.get_context("spawn").Process(target=abs, args=(Interrupts(number, arrived),), daemon=True)
    before = signal.signal(number, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            start_shielded(process)
    finally:
        signal.signal(number, before)
    process.join(_PATIENCE)
    assert process.exitcode == 0


@pytest.mark.parametrize("fault", [EOFError("unexpected EOF"), OSError(11, "Resource temporarily unavailable")])
def test_a_process_that_cannot_be_started_is_named(fault: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    process = multiprocessing.get_context("spawn").Process(name="the abacus")

    def refuse() -> None:
        raise fault  # as of a server that has died meanwhile

    monkeypatch.setattr(process, "start", refuse)
    with pytest.raises(HardwareError, match=rf"the abacus could not be started: .*{fault.args[-1]}"):
        start_shielded(process)


@pytest.mark.parametrize("way", ["forkserver", "spawn"])
def test_what_the_terminal_sends_does_not_reach_the_process(way: str) -> None:
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context(way).Process(target=theirs.recv, daemon=True)  # type: ignore[attr-defined]
    start_shielded(process)
    try:
        with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
            (blocked,) = (int(line.split()[1], 16) for line in status if line.startswith("SigBlk"))
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTSTP):
            assert blocked >> (number - 1) & 1
        assert not blocked >> (signal.SIGTERM - 1) & 1
    finally:
        ours.send("end")
        process.join(_PATIENCE)
        ours.close()
        theirs.close()
    assert process.exitcode == 0


def test_linear_algebra_has_no_threads_of_its_own() -> None:
    """They wait spinning: small matrices take many times as long where another process has a processor."""
    code = "import os, rig, scipy.linalg; print(len(os.listdir('/proc/self/task')))"
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    ended = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert ended.stdout == "1\n"
