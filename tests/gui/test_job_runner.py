"""A service beside the app: its events and its end come as signals, and nothing is left of one that is closed."""

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gui.session import JobRunner, error_text
from rig.errors import HardwareError, InputError, RunFaultError
from rig.findings import Code, Finding
from rig.runtime import ChildDiedError, ChildProcess
from rig.services import OnEvent, Progress, no_progress

_PATIENCE = 30_000  # ms


def test_a_failure_names_the_buttons_of_the_app_and_no_command() -> None:
    stopped = Finding(Code.OPERATOR_STOP, details={"category": 1})
    text = error_text(RunFaultError(Finding(Code.FAULT_BEFORE_CONNECTION, within=(stopped,))))
    assert text.endswith("then reset them: press Connect, then Reset") and "rig run" not in text


@dataclass(frozen=True)
class Counted:
    """How far to count, and what becomes of it."""

    count: int
    fails: bool = False
    sleeps: float = 0.0


def count(request: Counted, progress: OnEvent = no_progress) -> int:
    """Tells each number; asks a moment later."""
    for number in range(request.count):
        progress(Progress("counting", number, request.count))
    time.sleep(0.05)
    progress(Progress("last", waits=True))
    if request.fails:
        raise InputError("counted: wrong", ["too far"])
    time.sleep(request.sleeps)
    return os.getpid()


@pytest.fixture
def runner(qtbot: Any) -> Iterator[JobRunner]:
    made = JobRunner()
    yield made
    made.close()


def test_every_event_comes_before_the_end(runner: JobRunner, qtbot: Any) -> None:
    told: list[Progress] = []

    def tell(event: Progress) -> None:
        told.append(event)
        if event.waits:
            runner.proceed()
        elif event.done == 19:
            time.sleep(0.3)  # the question comes while this is told

    runner.reported.connect(tell)
    with qtbot.waitSignal(runner.ended, timeout=_PATIENCE) as ended:
        runner.start(count, Counted(20))
        assert runner.busy
        runner.start(count, Counted(1))  # one at a time
    pid, error = ended.args
    assert error is None and pid != os.getpid() and not runner.busy
    assert [event.done for event in told[:-1]] == list(range(20)) and told[-1].waits


def test_an_error_comes_as_an_object(runner: JobRunner, qtbot: Any) -> None:
    runner.reported.connect(lambda event: runner.proceed() if event.waits else None)
    with qtbot.waitSignal(runner.ended, timeout=_PATIENCE) as ended:
        runner.start(count, Counted(1, fails=True))
    result, error = ended.args
    assert result is None and isinstance(error, InputError) and error.faults == ("too far",)


def test_one_that_is_closed_leaves_and_reports_nothing(runner: JobRunner, qtbot: Any) -> None:
    told: list[object] = []
    runner.ended.connect(lambda *what: told.append(what))
    with qtbot.waitSignal(runner.reported, timeout=_PATIENCE):
        runner.start(count, Counted(1, sleeps=100.0))
    job: Any = runner._job
    runner.close()
    runner.close()
    runner.proceed()
    assert not runner.busy and not told and not Path(f"/proc/{job.pid}").exists()


def test_a_process_that_is_killed_is_an_error(runner: JobRunner, qtbot: Any) -> None:
    def kill(event: Progress) -> None:
        if event.waits:
            assert runner._job is not None and runner._job.pid is not None
            os.kill(runner._job.pid, signal.SIGKILL)

    runner.reported.connect(kill)
    with qtbot.waitSignal(runner.ended, timeout=_PATIENCE) as ended:
        runner.start(count, Counted(1))
    result, error = ended.args
    assert result is None and isinstance(error, ChildDiedError) and not runner.busy


def test_what_cannot_be_started_is_told_and_leaves_nothing(
    runner: JobRunner, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: ChildProcess, *_: object, **__: object) -> None:
        raise HardwareError("no process can be started")

    monkeypatch.setattr(ChildProcess, "__init__", refuse)
    before = len(os.listdir("/proc/self/fd"))
    with qtbot.waitSignal(runner.ended, timeout=_PATIENCE) as ended:
        runner.start(count, Counted(1))
    assert ended.args[0] is None and str(ended.args[1]) == "no process can be started"
    assert not runner.busy and len(os.listdir("/proc/self/fd")) == before
