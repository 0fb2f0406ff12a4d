"""The handle of a process of one's own: what it says of one that dies or is late, and that nothing is left."""

import gc
import importlib.util
import os
import signal
import sys
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from waiting import eventually

from rig.runtime import ChildDiedError, ChildLateError, ChildProcess, spawning

_PATIENCE = 60.0  # s, for a fresh interpreter on a busy machine


def answer(greeting: str, pipe: Connection) -> None:
    """Greets, then gives back what it gets until the pipe is closed; "deaf" makes it so, "die" ends it."""
    pipe.send(greeting)
    try:
        while (message := pipe.recv()) != "die":
            if message == "deaf":
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
            if message != "say nothing":
                pipe.send(message)
    except EOFError:
        return
    os._exit(7)


@pytest.fixture
def child() -> Iterator[ChildProcess]:
    made = ChildProcess("the parrot", answer, "hello")
    assert made.receive(_PATIENCE, "become ready") == "hello"
    yield made
    made.end(0.0)
    assert not made.alive and made.pipe.closed


def test_it_answers_until_its_pipe_is_closed(child: ChildProcess) -> None:
    child.send({"a": 1})
    assert child.receive(_PATIENCE) == {"a": 1} and child.alive and child.exitcode is None
    child.end(_PATIENCE)
    assert child.exitcode == 0
    child.end(_PATIENCE)


def test_one_that_has_died_is_told_from_one_that_is_late(child: ChildProcess) -> None:
    child.send("say nothing")
    with pytest.raises(ChildLateError, match=r"the parrot did not look up within 0\.05 s"):
        child.receive(0.05, "look up")
    child.send("die")
    with pytest.raises(ChildDiedError, match="the parrot has died"):
        child.receive(_PATIENCE)
    assert child.exitcode == 7 and child.join(0.0)
    with pytest.raises(ChildDiedError, match="the parrot has died"):
        child.send("anybody?")


def test_one_that_does_not_listen_is_killed(child: ChildProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rig.runtime.spawning._LAST_WAIT", 0.05)
    child.send("deaf")
    assert child.receive(_PATIENCE) == "deaf"
    child.end(0.0)
    assert child.exitcode == -signal.SIGKILL


def test_one_that_cannot_be_started_leaves_nothing() -> None:
    open_before = set(Path("/proc/self/fd").iterdir())
    with pytest.raises((AttributeError, TypeError)):  # what cannot be pickled, as the versions of Python say it
        ChildProcess("the parrot", answer, lambda: None)
    left = {path for path in Path("/proc/self/fd").iterdir() if path not in open_before}
    assert not [path for path in left if path.exists() and "pipe" in os.readlink(path)]


def look_around(pipe: Connection) -> None:
    """Says what it has loaded already, its environment, and its name; then starts another, early, and is killed."""
    loaded = "rig.engine.process" in sys.modules and "rig.virtual.process" in sys.modules
    # where it searches for garbage, and so copies what it has from the server
    searched = len(gc.get_objects()) if gc.isenabled() else None
    grandchild = ChildProcess("the grandchild", answer, "hello", early=True)
    forked = Path(f"/proc/{grandchild.pid}/cmdline").read_bytes() == Path("/proc/self/cmdline").read_bytes()
    pipe.send((loaded, searched, dict(os.environ), Path("/proc/self/comm").read_text().strip(), grandchild.pid, forked))
    pipe.recv()


def test_it_has_all_that_a_rig_needs_and_the_environment_of_its_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEWART_RIG_WORD", "said after the server began")
    child = ChildProcess("the scout", look_around, daemon=False)
    loaded, searched, environment, name, grandchild, forked = child.receive(_PATIENCE)
    os.kill(child.pid or 0, signal.SIGKILL)
    child.end(0.0)
    assert loaded and forked and name == "rig: scout"
    assert searched is not None and searched < 50_000
    assert environment == dict(os.environ)
    eventually(lambda: not Path(f"/proc/{grandchild}").exists(), "the grandchild to notice that its owner has gone")


def test_what_the_server_is_to_load_is_there() -> None:
    for module in spawning._LOADED:
        assert importlib.util.find_spec(module) is not None
