"""Runtime folders: private, held by the living, removed after the dead."""

import multiprocessing
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from multiprocessing.connection import Connection
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path

import pytest

from rig.errors import HardwareError
from rig.runtime.runtime_folder import RuntimeFolder, folders, runtime_root
from rig.runtime.shared_memory import ControlBlock


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def test_the_folder_is_the_users_alone(tmp_path: Path) -> None:
    assert folders() == [] and not runtime_root().exists()  # looking makes nothing
    root = runtime_root(make=True)
    assert root.parent == tmp_path and root.stat().st_mode & 0o777 == 0o700
    root.chmod(0o755)
    with pytest.raises(HardwareError, match=r"not a folder of this user's alone \(user \d+, mode drwxr-xr-x\)"):
        runtime_root()
    root.rmdir()
    (tmp_path / "another's").mkdir(mode=0o700)
    root.symlink_to(tmp_path / "another's")
    with pytest.raises(HardwareError, match="mode lrwxrwxrwx"):
        runtime_root()


def test_a_folder_of_another_user_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    root = runtime_root(make=True)
    own = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: own + 1)
    root.rename(root.with_name(f"stewart-rig-{own + 1}"))
    with pytest.raises(HardwareError, match=rf"user {own}, mode drwx------"):
        runtime_root()


def test_what_the_dead_left_is_removed_at_the_next_start_and_the_living_keep_theirs() -> None:
    with ExitStack() as living:
        mine = RuntimeFolder.create(living)
        others = RuntimeFolder(mine.path)
        assert others.held("owner") and not others.held("engine")
        with ExitStack() as owner:
            dead = RuntimeFolder.create(owner)
            block = ControlBlock.create(dead.shared("control"))
            SharedMemory(dead.shared("ring"), create=True, size=64).close()
            engine = ExitStack()
            engine.enter_context(dead.hold("engine"))
        assert dead.in_use  # its engine outlives its owner
        RuntimeFolder.create(living)
        assert dead.path.exists()
        engine.close()
        assert not dead.in_use
        left = [Path("/dev/shm", dead.shared(kind)) for kind in ("control", "ring")]
        assert all(path.exists() for path in left)
        third = RuntimeFolder.create(living)
        assert not dead.path.exists() and not any(path.exists() for path in left)
        assert {folder.path for folder in folders()} >= {mine.path, third.path} and mine.in_use
        block.close()  # its name is gone


_KILLED = """
import os, signal
from multiprocessing import util
from rig.runtime import begin_server
if __name__ == "__main__":
    begin_server()
    print(util.get_temp_dir(), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_command_that_was_killed_left_is_removed_by_the_next() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as short:  # a socket's path is bounded
        _killed_twice(Path(short))


def _killed_twice(tmp_path: Path) -> None:
    environment = os.environ | {"TMPDIR": str(tmp_path)}

    def place(text: str) -> Path:
        """Where a process has its sockets, which has ended."""
        with subprocess.Popen([sys.executable, "-c", text], env=environment, stdout=subprocess.PIPE, text=True) as one:
            assert one.stdout is not None
            found = Path(one.stdout.readline().strip())
            one.wait()
        return found

    left = [place(_KILLED) for _ in "ab"]
    assert left[0].is_relative_to(tmp_path) and not left[0].exists() and left[1].exists()
    assert not list(tmp_path.glob("pymp-*"))
    place(_KILLED.replace("os.kill(os.getpid(), signal.SIGKILL)", "pass"))
    assert [path.name for path in left[1].parent.iterdir()] == ["lock"]


def _hold(folder: RuntimeFolder, held: Connection) -> None:
    with folder.hold("engine"):
        held.send("held")
        held.recv()


def test_a_process_that_is_killed_lets_go() -> None:
    context = multiprocessing.get_context("spawn")
    with ExitStack() as holds:
        folder = RuntimeFolder.create(holds)
        ours, theirs = context.Pipe()
        process = context.Process(target=_hold, args=(folder, theirs))
        process.start()
        try:
            assert ours.poll(60.0) and ours.recv() == "held"
            assert folder.held("engine")
        finally:
            process.kill()
            process.join()
        assert not folder.held("engine") and folder.held("owner")


def test_a_planted_link_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("kept")
    root = runtime_root(make=True)
    (root / "lock").symlink_to(target)
    with pytest.raises(HardwareError, match=r"lock .*: Too many levels of symbolic links"):
        RuntimeFolder.create(ExitStack())
    (root / "engine-link").symlink_to(tmp_path)
    assert folders() == [] and target.read_text() == "kept"


def test_a_process_for_cyclic_work_holds_the_memory_that_it_uses_and_no_more() -> None:
    program = """
import mmap
from rig.runtime import prepare_process
unused = mmap.mmap(-1, 1 << 28)
notes = prepare_process(None, None)
later = mmap.mmap(-1, 1 << 28)
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print("memory locked" in notes, status["VmLck"].split()[0], status["VmRSS"].split()[0])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    permitted, locked, resident = done.stdout.split()
    assert int(resident) < 1 << 18  # kB: less than either of the two
    assert permitted == "False" or int(locked) >= 1 << 19
