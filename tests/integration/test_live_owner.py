"""An owner that hangs, and one that is killed with every process of its group: real processes."""

import io
import multiprocessing
import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from live_bench import live_config
from waiting import PATIENCE, eventually

from rig.cli import main
from rig.client.interruption import Interruption
from rig.client.lifecycle import connect_and_home, engage, leave
from rig.client.live import LiveRig
from rig.config.rig_config import RigConfig
from rig.engine import find_engine
from rig.errors import ExitCode
from rig.recording import open_recording
from rig.runtime.runtime_folder import RuntimeFolder, folders
from rig.states import FaultCode, State

HOLD = 3.0  # s


def hold_the_platform(config: RigConfig, path: Path, pipe: Connection) -> None:
    """An owner that holds the platform, and ends its engine in the end."""
    os.setsid()
    with LiveRig(config, path, "owner", Interruption()) as rig:
        connect_and_home(rig, lambda _progress: None)
        engage(rig)
        pipe.send("engaged")
        if pipe.recv() == "hang":
            assert rig.virtual is not None
            rig.virtual.inject("owner_hangs", value=2.5 * HOLD)
        leave(rig)
        pipe.send("left")


Owner = tuple[RigConfig, multiprocessing.process.BaseProcess, Connection]


@pytest.fixture
def runtime_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A place for engines of its own: others that start elsewhere would remove what the killed ones leave."""
    with tempfile.TemporaryDirectory(prefix="rig-") as folder:
        monkeypatch.setenv("TMPDIR", folder)
        monkeypatch.setattr(tempfile, "tempdir", None)
        yield


@pytest.fixture
def owner(tmp_path: Path, runtime_folder: None) -> Iterator[Owner]:
    config = live_config(speed=1.0).changed({"safety": {"unattended_hold": HOLD + 2.0}})
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=hold_the_platform, args=(config, tmp_path / "run.mcap", theirs))
    process.start()
    theirs.close()
    try:
        assert ours.poll(2.0 * PATIENCE), "the platform was not engaged"
        assert ours.recv() == "engaged"
        yield config, process, ours
    finally:
        pid = process.pid or 0
        if process.is_alive():
            os.kill(pid, signal.SIGCONT)
            os.killpg(pid, signal.SIGKILL)
        process.join()
        ours.close()
        with ExitStack() as holds:
            RuntimeFolder.create(holds).remove()  # and what was killed


def _stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def test_the_engine_of_an_owner_that_hangs_sets_the_platform_down_and_waits(owner: Owner, tmp_path: Path) -> None:
    config, process, pipe = owner
    engine = find_engine(config)
    assert engine is not None and engine.owner == process.pid and engine.status().lease == "owner"
    pipe.send("hang")
    with closing(engine.client()) as looking:  # all along
        eventually(lambda: not looking.status().lease, "the hung owner's lease to be taken back")
        eventually(lambda: looking.status().state is State.PARKED, "the torque to be taken off")
    assert engine.alive and engine.owner_alive and _stopped(process.pid or 0)
    assert pipe.poll(PATIENCE) and pipe.recv() == "left"
    assert engine.join(PATIENCE)
    recording = open_recording(tmp_path / "run.mcap")
    assert recording.complete
    texts = [event.text for event in recording.events if event.code == FaultCode.CLIENT_LOST]
    assert len(texts) == 2 and "no sign of life" in texts[0]
    assert texts[1] == f"no client has commanded the engine for {HOLD + 2.0:g} s"


def test_the_engine_of_an_owner_that_was_killed_is_taken_over(
    owner: Owner, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config, process, _pipe = owner
    engine = find_engine(config)
    assert engine is not None
    monkeypatch.setattr("rig.config.load_config", lambda _name: config)
    monkeypatch.setattr("sys.stdin", io.StringIO("status\njog z 2mm\npark\n"))
    process.kill()
    process.join()
    with closing(engine.client()) as looking:
        eventually(lambda: not looking.status().lease, "the dead owner's lease to be taken back")
    assert main(["operate", "--attach"]) == ExitCode.OK
    assert "state      ENGAGED" in capsys.readouterr().out
    assert not engine.alive and find_engine(config) is None
    recording = open_recording(engine.recording)
    assert recording.complete and recording.rows["state"][-1] == State.PARKED
    assert engine.recording.with_suffix(".html").is_file()


def test_what_a_killed_group_leaves_is_removed_at_the_next_start(owner: Owner) -> None:
    config, process, _pipe = owner
    engine = find_engine(config)
    assert engine is not None
    address = engine.address
    left = [Path("/dev/shm") / name for name in (address.block, address.ring, address.recorder)]
    left.append(Path(address.socket.removeprefix("ipc://")).parent)
    os.killpg(process.pid or 0, signal.SIGKILL)
    process.join()
    eventually(lambda: not engine.alive, "the engine to be gone")
    assert all(path.exists() for path in left) and not all(folder.in_use for folder in folders())
    with ExitStack() as holds:
        RuntimeFolder.create(holds).remove()
    assert not [path for path in left if path.exists()]
    assert all(folder.in_use for folder in folders())
