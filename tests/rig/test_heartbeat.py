"""The heartbeat beside a window: it goes on while the window's process computes, and ends where the window hangs."""

import ctypes
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from multiprocessing.connection import Connection

import pytest
from waiting import eventually

from rig.client.heartbeat import WindowHeartbeat
from rig.runtime import ChildProcess, ControlBlock, wait_until

LEASE = 7
_BOUND = 1.5  # s
_STILL = 0.6  # s without a sign, after which none is on its way


@pytest.fixture
def block() -> Iterator[ControlBlock]:
    with closing(ControlBlock.create()) as made:
        made.lease = LEASE
        yield made


def hold_the_interpreter(duration: float) -> None:
    """Let no thread of this process run: as what is computed in C, and holds the interpreter."""
    ctypes.PyDLL(None).usleep(int(1e6 * duration))


def beats(block: ControlBlock) -> bool:
    """Whether a sign of life comes within a few seconds."""
    count = block.heartbeat(LEASE)
    return wait_until(lambda: block.heartbeat(LEASE) != count, 10.0)


def is_silent(block: ControlBlock) -> bool:
    count = block.heartbeat(LEASE)
    time.sleep(_STILL)
    return block.heartbeat(LEASE) == count


def test_it_goes_on_while_the_window_is_busy_and_ends_where_it_hangs(block: ControlBlock) -> None:
    with closing(WindowHeartbeat(block.name, _BOUND)) as heart:
        heart.show(LEASE)
        assert beats(block)
        thread = [0]
        ending = threading.Event()

        def count() -> None:
            while not ending.wait(0.02):
                thread[0] += 1

        counting = threading.Thread(target=count)
        counting.start()
        heart.show(LEASE)
        before, seen = block.heartbeat(LEASE), thread[0]
        hold_the_interpreter(0.8 * _BOUND)
        assert thread[0] - seen <= 1  # a thread of this process would have been missed
        assert block.heartbeat(LEASE) - before >= 5
        ending.set()
        counting.join()
        eventually(lambda: is_silent(block), "the window to count as hanging", 20.0)
        heart.show(LEASE)
        assert beats(block)  # it was busy all the time
        heart.show(0)
        assert is_silent(block) or is_silent(block)  # it holds no lease any more
        heart.show(LEASE)
        assert beats(block)
        block.lease = 9
        assert is_silent(block) or is_silent(block)


def window(name: str, pipe: Connection) -> None:
    """Main function of a process with a window that does nothing else than to show that it goes on."""
    with closing(WindowHeartbeat(name, 60.0)) as heart:
        pipe.send(heart.process)
        while not pipe.poll(0.03):
            heart.show(LEASE)


def test_it_stops_and_dies_with_the_windows_process(block: ControlBlock) -> None:
    process = ChildProcess("the window", window, block.name, daemon=False)
    try:
        assert process.pid is not None
        heart = process.receive(60.0)
        eventually(lambda: beats(block), "the first sign of life")
        os.kill(process.pid, signal.SIGSTOP)
        eventually(lambda: is_silent(block), "a stopped window to be noticed", 10.0)
        os.kill(process.pid, signal.SIGCONT)
        assert beats(block)
        os.kill(process.pid, signal.SIGKILL)
        process.join(10.0)
        eventually(lambda: not _lives(heart), "the process beside the window to end", 10.0)
        assert is_silent(block)
    finally:
        process.end(0.0)


def test_one_that_stands_still_itself_holds_the_window_up_in_nothing(block: ControlBlock) -> None:
    with closing(WindowHeartbeat(block.name)) as heart:
        heart.show(LEASE)
        assert beats(block)
        os.kill(heart.process, signal.SIGSTOP)
        try:
            for _ in range(20_000):  # more than a pipe takes
                heart.show(LEASE)
        finally:
            os.kill(heart.process, signal.SIGCONT)
        assert beats(block)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
