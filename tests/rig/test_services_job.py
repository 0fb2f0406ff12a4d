"""A service in a process of its own: what comes back of it, how it is cancelled, and that nothing is left."""

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from waiting import PATIENCE, eventually

import rig.services
from calibration import CalibrationError
from rig.errors import ExitCode, InputError, exit_code_of
from rig.runtime import ChildDiedError, ChildLateError, ChildProcess
from rig.services import CancelledError, Job, Notice, OnEvent, Progress, no_progress, start

_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Sums:
    """Numbers to add up, and what becomes of it."""

    numbers: tuple[float, ...] = ()
    fails: str = ""
    sleeps: float = 0.0


@dataclass(frozen=True)
class Summed:
    """What came of it, and where."""

    total: float
    folder: str
    pid: int


class OddError(CalibrationError):
    """One that cannot be made again of its arguments."""

    def __init__(self, cell: int, unit: str) -> None:
        super().__init__([f"cell {cell} reads {unit}"])
        self.cell, self.unit = cell, unit


def add_up(request: Sums, progress: OnEvent = no_progress) -> Summed:
    """Tells each number as it is added; sleeps, where it is to, without an event."""
    total = 0.0
    progress(Notice("rounded", "the numbers are rounded", "table.csv"))
    for done, number in enumerate(request.numbers, start=1):
        total += number
        progress(Progress("adding", done, len(request.numbers), {"number": number}))
    if request.fails == "input":
        raise InputError("table.csv: cannot be used", ["row 3: nan", "row 4: inf"])
    if request.fails == "odd":
        raise OddError(4, "V")
    if request.fails == "defect":
        raise ZeroDivisionError("a defect")
    if request.fails == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(request.sleeps)
    return Summed(total, os.getcwd(), os.getpid())


def weigh_in(request: Sums, progress: OnEvent = no_progress) -> int:
    """Asks for each number to be put on a scale."""
    for number in request.numbers:
        progress(Progress("put-on", values={"mass": number}, waits=True))
    return len(request.numbers)


def count_for_ever(_request: Sums, progress: OnEvent = no_progress) -> None:
    """Counts until it is cancelled."""
    count = 0
    while True:
        count += 1
        progress(Progress("counting", count))
        time.sleep(0.001)


def returns_what_cannot_be_sent(_request: Sums, progress: OnEvent = no_progress) -> Callable[[], int]:
    """Its result has no pickle."""
    progress(Progress("making"))
    return lambda: 1


def gone(pid: int | None) -> bool:
    """Whether no process has this number any more, or only what is left of one until its parent asks."""
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_result_and_events_come_back_as_objects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    job = start(add_up, Sums((1.0, 2.5)))
    found = job.result(PATIENCE)
    assert (found.total, found.folder) == (3.5, str(tmp_path)) and found.pid != os.getpid()
    assert job.events() == [
        Notice("rounded", "the numbers are rounded", "table.csv"),
        Progress("adding", 1, 2, {"number": 1.0}),
        Progress("adding", 2, 2, {"number": 2.5}),
    ]
    assert Progress("adding", 1, 2).fraction == 0.5 and Progress("adding").fraction is None
    assert job.events() == [] and job.poll() and job.result(0.0) == found
    assert gone(job.pid)


def test_the_same_call_without_a_process_gives_the_same() -> None:
    told: list[object] = []
    assert add_up(Sums((1.0, 2.5)), told.append).total == 3.5
    assert len(told) == 3


def test_an_error_is_raised_again_with_its_type_fields_and_exit_code() -> None:
    with pytest.raises(InputError, match=r"row 4: inf") as caught:
        start(add_up, Sums(fails="input")).result(PATIENCE)
    assert caught.value.faults == ("row 3: nan", "row 4: inf") and caught.value.exit_code == ExitCode.INPUT
    with pytest.raises(OddError, match="cell 4 reads V") as odd:
        start(add_up, Sums(fails="odd")).result(PATIENCE)
    assert (odd.value.cell, odd.value.unit) == (4, "V") and exit_code_of(odd.value) == ExitCode.INPUT


def test_a_defect_says_where_it_is() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        start(add_up, Sums(fails="defect")).result(PATIENCE)
    assert "in add_up" in "".join(caught.value.__notes__) and exit_code_of(caught.value) == ExitCode.INTERNAL
    with pytest.raises(Exception, match="pickle"):
        start(returns_what_cannot_be_sent, Sums()).result(PATIENCE)


def test_a_process_that_dies_and_one_that_is_late_are_told() -> None:
    with pytest.raises(ChildDiedError, match="the job add_up has died"):
        start(add_up, Sums(fails="killed")).result(PATIENCE)
    job = start(add_up, Sums(sleeps=100.0))
    with pytest.raises(ChildLateError, match=r"the job add_up did not end within 0\.05 s"):
        job.result(0.05)
    assert gone(job.pid)


def test_it_ends_between_two_events_when_it_is_cancelled() -> None:
    job = start(count_for_ever, Sums())
    eventually(lambda: bool(job.events()), "the first event")
    job.cancel(patience=PATIENCE)
    with pytest.raises(CancelledError) as caught:
        job.result(PATIENCE / 2)
    assert caught.value.exit_code == ExitCode.INTERRUPTED and gone(job.pid)
    job.cancel()
    job.close()


def test_one_that_tells_nothing_is_ended_when_it_is_cancelled() -> None:
    job = start(add_up, Sums((1.0,), sleeps=100.0))
    eventually(lambda: len(job.events()) == 2, "all events")
    job.cancel(patience=0.05)
    with pytest.raises((CancelledError, ChildDiedError)):
        job.result(PATIENCE)
    assert gone(job.pid)


def test_leaving_its_block_ends_it_at_once() -> None:
    start(add_up, Sums()).result(PATIENCE)  # which begins the server
    gc.collect()
    open_before = set(os.listdir("/proc/self/fd"))
    with start(add_up, Sums(sleeps=100.0)) as job:
        assert not job.poll() and min(job.descriptors) > 2
    assert gone(job.pid) and job.poll()
    with pytest.raises(CancelledError):
        job.result(0.0)
    del job
    gc.collect()
    assert set(os.listdir("/proc/self/fd")) == open_before


def test_what_waits_goes_on_once_it_is_done() -> None:
    job = start(weigh_in, Sums((5.0, 10.0)))
    asked: list[float] = []

    def told() -> bool:
        for event in job.events():
            assert isinstance(event, Progress) and event.waits
            asked.append(event.values["mass"])
        return bool(asked)

    eventually(told, "the first question")
    time.sleep(0.1)
    assert not job.poll() and asked == [5.0]
    job.proceed()
    eventually(lambda: told() and len(asked) == 2, "the second question")
    job.proceed()
    assert job.result(PATIENCE) == 2
    job.proceed()


def own_a_job(pipe: Connection) -> None:
    """Starts a job that tells nothing, says its number, and waits."""
    job = Job(add_up, Sums((1.0,), sleeps=100.0))
    eventually(lambda: len(job.events()) == 2, "all events")
    pipe.send(job.pid)
    pipe.recv()


def test_the_end_of_its_owner_ends_it() -> None:
    owner = ChildProcess("the owner", own_a_job, daemon=False)
    pid = owner.receive(PATIENCE, "start it")
    assert not gone(pid)
    os.kill(owner.pid or 0, signal.SIGKILL)
    eventually(lambda: gone(pid), "the job to end with its owner")
    owner.end(0.0)


def test_the_face_loads_nothing_before_it_is_asked() -> None:
    program = (
        "import sys, rig.services; print(sorted(n for n in sys.modules if n.startswith(('rig.services.', 'numpy'))));"
        "rig.services.start; print('rig.services.job' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=_ROOT)
    assert ended.stdout.split("\n")[:2] == ["[]", "True"]


def test_the_face_hands_out_what_its_modules_have() -> None:
    names = dir(rig.services)
    assert names and all(getattr(rig.services, name) is not None for name in names)
    modules = {path.stem for path in Path(rig.services.__file__).parent.glob("*.py")}
    assert set(names) & modules == set()
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = rig.services.nothing  # type: ignore[attr-defined]
