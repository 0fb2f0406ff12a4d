"""Calls in another process: their results and errors, and that the process never outlives who needs it."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import eventually

from rig.errors import HardwareError, RefusedError
from rig.findings import Code, Finding
from rig.runtime import CallProcess, ChildDiedError, ChildLateError, ChildProcess

_PATIENCE = 60.0  # s, for a fresh interpreter on a busy machine
_OWNER = """
import sys
from rig.runtime import CallProcess
import test_call_process as calls

process = CallProcess("the abacus")
print(process.call(60.0, calls.where)[0], flush=True)
if sys.argv[1] == "busy":
    process.call(600.0, calls.compute_for, 600.0)
sys.stdin.read()
"""


def add(a: int, b: int) -> int:
    """The sum."""
    return a + b


def refuse() -> None:
    """An error with fields."""
    raise RefusedError(Finding(Code.TABLE_SHAPE, details={"shape": "(1, 2)"}))


def divide() -> float:
    """An unexpected error."""
    return 1.0 / 0.0


def where() -> tuple[int, str]:
    """Process and folder."""
    return os.getpid(), os.getcwd()


def end_itself() -> None:
    """End as after a fault of memory."""
    os.kill(os.getpid(), signal.SIGKILL)


def compute_for(duration: float) -> None:
    """Compute, without a pause, for a time in s."""
    end = time.monotonic() + duration
    while time.monotonic() < end:
        sum(range(1000))


@pytest.fixture
def process() -> Iterator[CallProcess]:
    with CallProcess("the abacus") as made:
        yield made
    assert made.pid is None


def test_calls_are_carried_out_by_one_other_process_in_this_folder(
    process: CallProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert process.pid is None  # none before it is needed
    monkeypatch.chdir(tmp_path)
    assert process.call(_PATIENCE, add, 2, 3) == 5
    pid, folder = process.call(_PATIENCE, where)
    assert pid == process.pid != os.getpid() and folder == str(tmp_path)


def test_errors_come_back_as_they_are_and_do_no_harm(process: CallProcess) -> None:
    with pytest.raises(RefusedError) as refused:
        process.call(_PATIENCE, refuse)
    assert refused.value.finding == Finding(Code.TABLE_SHAPE, details={"shape": "(1, 2)"})
    pid = process.pid
    with pytest.raises(ZeroDivisionError) as unexpected:
        process.call(_PATIENCE, divide)
    assert "in divide" in unexpected.value.__notes__[0]  # where it was
    assert process.call(_PATIENCE, add, 1, 1) == 2 and process.pid == pid


def test_what_cannot_be_sent_is_an_error(process: CallProcess) -> None:
    with pytest.raises((AttributeError, TypeError)):
        process.call(_PATIENCE, lambda: 1)
    assert process.call(_PATIENCE, add, 1, 1) == 2


def test_a_process_that_dies_in_a_call_is_named_and_replaced_by_the_next(process: CallProcess) -> None:
    with pytest.raises(ChildDiedError, match="the abacus has died"):
        process.call(_PATIENCE, end_itself)
    assert process.call(_PATIENCE, add, 1, 1) == 2


def test_a_process_that_died_between_two_calls_is_replaced(process: CallProcess) -> None:
    pid, _folder = process.call(_PATIENCE, where)
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: not _runs(pid), "the process to end")
    assert process.call(_PATIENCE, where)[0] not in (pid, os.getpid())


def test_a_process_whose_end_is_not_known_yet_is_replaced(
    process: CallProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid, _folder = process.call(_PATIENCE, where)
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: not _runs(pid), "the process to end")
    monkeypatch.setattr(ChildProcess, "alive", True)
    assert process.call(_PATIENCE, where)[0] not in (pid, os.getpid())


def test_a_late_answer_is_never_that_of_the_next_call(process: CallProcess) -> None:
    process.call(_PATIENCE, add, 1, 1)
    pid = process.pid
    assert pid is not None
    with pytest.raises(ChildLateError, match=r"the abacus did not carry out a call within 0\.05 s"):
        process.call(0.05, compute_for, 600.0)
    assert process.pid is None and not _runs(pid)
    assert process.call(_PATIENCE, add, 2, 2) == 4


def test_a_signal_of_its_pipe_does_not_end_a_call(process: CallProcess) -> None:
    process.call(_PATIENCE, add, 1, 1)
    assert process._child is not None
    sending = threading.Timer(0.2, process._child.pipe.send, [(add, (1, 1))])
    sending.start()
    process.call(_PATIENCE, compute_for, 0.5)  # the signal of a request may come while it is carried out already
    sending.join()


def test_a_call_that_is_cancelled_ends_at_once_and_none_follows(process: CallProcess) -> None:
    process.call(_PATIENCE, add, 1, 1)
    pid = process.pid
    assert pid is not None
    cancelling = threading.Timer(0.2, process.cancel)
    cancelling.start()
    with pytest.raises(ChildDiedError, match="the abacus has died"):
        process.call(_PATIENCE, compute_for, 600.0)
    cancelling.join()
    assert not _runs(pid)
    with pytest.raises(ChildDiedError, match="the abacus has ended"):
        process.call(_PATIENCE, add, 1, 1)
    assert process.pid is None


def test_without_a_process_the_call_says_so(process: CallProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse_start(*_arguments: object, **_options: object) -> None:
        raise HardwareError("no more processes")

    monkeypatch.setattr(ChildProcess, "__init__", refuse_start)
    with pytest.raises(HardwareError, match="no more processes"):
        process.call(_PATIENCE, add, 1, 1)


@pytest.mark.parametrize("doing", ["idle", "busy"])
def test_it_ends_with_an_owner_that_is_killed(doing: str) -> None:
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    owner = subprocess.Popen(
        [sys.executable, "-c", _OWNER, doing],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
    )
    try:
        assert owner.stdout is not None and owner.stdin is not None
        pid = int(owner.stdout.readline())
        if doing == "busy":
            eventually(lambda: _processor_time(pid) > 0.1, "the call to begin")
        assert _runs(pid)
    finally:
        owner.kill()
        owner.communicate()
    eventually(lambda: not _runs(pid), "the process to end")


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _processor_time(pid: int) -> float:
    """Processor time of a process, s."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
