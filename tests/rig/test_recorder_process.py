"""The recorder process: what it is given is in the file, however it or its owner ends."""

import math
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from synthetic_rows import make_header, make_rows, packed

from rig.recording import (
    EventLevel,
    MotionRecord,
    RecordedEvent,
    Recorder,
    RecorderPhase,
    RecordingError,
    RecordingWriter,
    StatusBlock,
    open_recording,
)
from rig.recording.recorder import RingSink
from rig.runtime.ring import TelemetryRing
from rig.runtime.shared_memory import SharedMemoryError
from rig.states import MotionKind, MotionOutcome

ROWS = make_rows(duration=4.0, rate=500.0)


@pytest.fixture
def ring() -> Iterator[TelemetryRing]:
    with TelemetryRing.create(4096) as ring:
        yield ring


def push(ring: TelemetryRing, start: int, stop: int) -> None:
    for row in ROWS[start:stop]:
        ring.push(row)


def wait_until(condition: Callable[[], bool], timeout: float = 20.0) -> None:
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.005)


def test_rows_and_events_are_in_the_file(ring: TelemetryRing, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    push(ring, 0, 10)  # before the recording: not part of it
    recorder = Recorder(ring, path, make_header())
    push(ring, 10, 500)  # while the process starts: part of it
    recorder.wait_ready()
    assert recorder.healthy
    assert recorder.event(0.5, EventLevel.INFO, 0, "trajectory started")
    push(ring, 500, 1500)
    wait_until(lambda: recorder.status().rows == 1490)
    push(ring, 1500, 2000)
    assert recorder.event(3.9, EventLevel.ERROR, 9, "x" * 5000)
    status = recorder.close({"verdict": "finished"})

    recording = open_recording(path)
    assert recording.complete
    assert packed(recording.rows) == packed(ROWS[10:])
    assert recording.events == (
        RecordedEvent(0.5, EventLevel.INFO, 0, "trajectory started"),
        RecordedEvent(3.9, EventLevel.ERROR, 9, "x" * 900),
    )
    assert recording.header == make_header()
    assert recording.closing == {"verdict": "finished", "events_lost": 0}
    assert (status.phase, status.error) == (RecorderPhase.CLOSED, "")
    assert (status.rows, status.dropped, status.bytes) == (1990, 0, path.stat().st_size)
    assert recorder.close() is status
    assert not recorder.healthy
    assert not recorder.event(4.0, EventLevel.INFO, 0, "too late")


def test_rows_lost_in_the_ring_are_counted(tmp_path: Path) -> None:
    with TelemetryRing.create(64) as ring:
        recorder = Recorder(ring, tmp_path / "lost.mcap", {})
        push(ring, 0, 1000)
        recorder.wait_ready()
        status = recorder.close()
    recording = open_recording(tmp_path / "lost.mcap")
    assert recording.dropped == status.dropped == 1000 - 64
    assert recording.rows["cycle"].tolist() == list(range(936, 1000))
    assert [event.text for event in recording.events] == ["recorder: 936 rows were lost before this moment"]


def test_a_motion_is_recorded_with_the_wall_clock_of_its_beginning(ring: TelemetryRing, tmp_path: Path) -> None:
    """Rig time goes by cycles, which a busy machine begins later than they are due."""
    recorder = Recorder(ring, tmp_path / "run.mcap", {"clock": {"wall_ns": 1}})
    recorder.wait_ready()
    sink = RingSink(ring, recorder)
    begun = MotionRecord(1, MotionKind.RUN, MotionOutcome.UNDERWAY, 2.0, math.nan, 0.0, 3.0, "up")
    before = time.time_ns()
    sink.motion(begun)
    after = time.time_ns()
    sink.motion(replace(begun, outcome=MotionOutcome.FINISHED, end=5.0, reached=3.0))
    recorder.close()
    (motion,) = open_recording(tmp_path / "run.mcap").motions
    assert motion.outcome is MotionOutcome.FINISHED and before <= motion.begun_ns <= after


@pytest.mark.parametrize("waits", [False, True])
def test_rows_that_come_faster_than_they_are_written_are_waited_for_or_a_fault(tmp_path: Path, waits: bool) -> None:
    with TelemetryRing.create(512) as ring:
        recorder = Recorder(ring, tmp_path / "run.mcap", {}, excused=waits)
        recorder.wait_ready()
        sink = RingSink(ring, recorder, waits=waits)
        faults = set()
        for _ in range(5):
            for row in ROWS:
                sink.push(row.reshape(1))
                faults.add(sink.fault)
        wait_until(lambda: sum(getattr(recorder.status(), name) for name in ("rows", "dropped")) == 5 * len(ROWS))
        dropped = recorder.close().dropped
    if waits:
        assert dropped == 0 and faults == {""}
    else:
        assert dropped and any(
            re.fullmatch(r"\d+ rows are lost: the recorder does not keep up", text) for text in faults
        )


def test_the_owner_dies(ring: TelemetryRing, tmp_path: Path) -> None:
    path = tmp_path / "orphan.mcap"
    code = (
        "import os, signal, sys\n"
        "from rig.recording import Recorder\n"
        "from rig.runtime import TelemetryRing\n"
        f"recorder = Recorder(TelemetryRing.attach({ring.name!r}), {str(path)!r}, {{}})\n"
        "recorder.wait_ready()\n"
        "print(recorder.pid, flush=True)\n"
        "sys.stdin.read(1)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as owner:
        assert owner.stdin is not None and owner.stdout is not None
        assert int(owner.stdout.readline()) > 0
        push(ring, 0, 700)
        owner.stdin.write(b"x")
        owner.stdin.close()
        owner.wait()
    wait_until(lambda: open_recording(path).complete)
    recording = open_recording(path)
    assert packed(recording.rows) == packed(ROWS[:700])
    assert recording.closing == {"ended": "owner gone"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals(ring: TelemetryRing, tmp_path: Path, number: signal.Signals) -> None:
    path = tmp_path / "signal.mcap"
    recorder = Recorder(ring, path, {})
    recorder.wait_ready()
    assert recorder.pid is not None
    push(ring, 0, 100)
    os.kill(recorder.pid, number)
    if number == signal.SIGTERM:
        wait_until(lambda: recorder.status().phase is RecorderPhase.CLOSED)
        ended = "terminated"
    else:
        wait_until(lambda: recorder.status().rows == 100)
        push(ring, 100, 200)
        ended = "closed"
    recorder.close({"ended": "closed"})
    recording = open_recording(path)
    assert recording.complete
    assert recording.closing["ended"] == ended
    assert len(recording.rows) == (100 if number == signal.SIGTERM else 200)


def test_the_recorder_is_killed(ring: TelemetryRing, tmp_path: Path) -> None:
    path = tmp_path / "killed.mcap"
    recorder = Recorder(ring, path, {})
    recorder.wait_ready()
    assert recorder.pid is not None
    push(ring, 0, 2000)
    wait_until(lambda: recorder.status().rows == 2000)
    os.kill(recorder.pid, signal.SIGKILL)
    wait_until(lambda: not recorder.healthy)
    assert recorder.status().error == "recorder process ended with exit code -9"
    push(ring, 0, 2000)  # the ring goes on
    recorder.event(1.0, EventLevel.INFO, 0, "nobody listens")
    status = recorder.close()
    assert status.phase is RecorderPhase.FAILED
    recording = open_recording(path)
    assert not recording.complete
    assert packed(recording.rows) == packed(ROWS[: len(recording.rows)])


def test_the_disk_is_full(ring: TelemetryRing, tmp_path: Path) -> None:
    path = tmp_path / "full.mcap"
    recorder = Recorder(ring, path, {})
    recorder.wait_ready()
    assert recorder.pid is not None
    resource.prlimit(recorder.pid, resource.RLIMIT_FSIZE, (300_000, 300_000))
    push(ring, 0, 2000)
    wait_until(lambda: not recorder.healthy)
    status = recorder.close()
    assert status.phase is RecorderPhase.FAILED
    assert "File too large" in status.error
    recording = open_recording(path)
    assert not recording.complete
    assert len(recording.rows) > 300
    assert packed(recording.rows) == packed(ROWS[: len(recording.rows)])


def delete(path: Path) -> str:
    path.unlink()
    return "the recording was deleted"


def delete_folder(path: Path) -> str:
    shutil.rmtree(path.parent)
    return "the recording was deleted"


def rename(path: Path) -> str:
    path.rename(path.with_name("mine.mcap"))
    return f"the recording was moved to {path.with_name('mine.mcap')}"


def rename_folder(path: Path) -> str:
    path.parent.rename(path.parent.with_name("mine"))
    return f"the recording was moved to {path.parent.with_name('mine') / path.name}"


def replace_folder(path: Path) -> str:
    path.parent.rename(path.parent.with_name("mine"))
    path.parent.with_name("other").mkdir()
    path.parent.symlink_to(path.parent.with_name("other"))
    return "the recording was moved to"


def put_another(path: Path) -> str:
    other = path.with_name("other.mcap")
    shutil.copy(path, other)
    other.replace(path)
    return "the recording was deleted"


def truncate(path: Path) -> str:
    os.truncate(path, 1000)
    return "the recording was truncated"


def append(path: Path) -> str:
    with path.open("ab") as file:
        file.write(b"more")
    return "the recording was written to by another program"


@pytest.mark.parametrize(
    "harm", [delete, delete_folder, rename, rename_folder, replace_folder, put_another, truncate, append]
)
def test_a_file_that_is_lost_while_it_is_written_is_a_fault_that_says_how(
    ring: TelemetryRing, tmp_path: Path, harm: Callable[[Path], str]
) -> None:
    path = tmp_path / "out" / "run.mcap"
    path.parent.mkdir()
    recorder = Recorder(ring, path, {})
    recorder.wait_ready()
    sink = RingSink(ring, recorder)
    push(ring, 0, 1000)
    wait_until(lambda: recorder.status().rows == 1000)
    said = harm(path)
    wait_until(lambda: not recorder.healthy)
    for row in ROWS[:25]:
        sink.push(row.reshape(1))
    assert said in sink.fault and str(path) in sink.fault
    assert recorder.close().phase is RecorderPhase.FAILED
    if harm in (rename, rename_folder, replace_folder):
        (kept,) = tmp_path.rglob("*.mcap")
        assert len(open_recording(kept).rows) > 500


def test_a_file_that_is_lost_at_the_end_is_not_closed_in_silence(ring: TelemetryRing, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    recorder = Recorder(ring, path, {})
    recorder.wait_ready()
    path.unlink()
    status = recorder.close()
    assert status.phase is RecorderPhase.FAILED and "deleted" in status.error


def test_a_file_system_mounted_over_the_folder_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    code = (
        "import subprocess\n"
        "from rig.recording import RecordingWriter\n"
        "writer = RecordingWriter('out/run.mcap', {})\n"
        "writer.sync(); writer.verify()\n"
        "subprocess.run(['mount', '-t', 'tmpfs', 'none', 'out'], check=True)\n"
        "writer.verify()\n"
    )
    command = ["unshare", "-rm", sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    if "unshare failed" in done.stderr:
        pytest.skip("needs mounts of its own")
    assert "another file system was mounted over it" in done.stderr and "out/run.mcap" in done.stderr


def test_a_file_system_that_has_become_read_only_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # the kernel does this to a broken disk alone: nobody may ask for it while a file is open for writing
    plain = os.fstatvfs

    def read_only(descriptor: int) -> os.statvfs_result:
        found = list(plain(descriptor))
        found[8] |= os.ST_RDONLY
        return os.statvfs_result(found)

    with RecordingWriter(tmp_path / "run.mcap", {}) as writer:
        writer.sync()
        writer.verify()
        with monkeypatch.context() as broken:
            broken.setattr(os, "fstatvfs", read_only)
            with pytest.raises(RecordingError, match="has become read-only"):
                writer.verify()


def test_how_long_there_is_room_for_is_measured_by_the_growth(ring: TelemetryRing, tmp_path: Path) -> None:
    recorder = Recorder(ring, tmp_path / "run.mcap", {})
    recorder.wait_ready()
    assert recorder.pid is not None
    assert recorder.status().room == math.inf  # nothing grows yet
    resource.prlimit(recorder.pid, resource.RLIMIT_FSIZE, (10_000_000, 10_000_000))
    begun = time.monotonic()
    pushed = 0
    while not math.isfinite(recorder.status().room):
        assert time.monotonic() < begun + 20.0
        due = min(len(ROWS), int(500.0 * (time.monotonic() - begun)))
        push(ring, pushed, due)
        pushed = due
        time.sleep(0.01)
    status = recorder.status()
    rate = status.bytes / (time.monotonic() - begun)
    assert status.room == pytest.approx((10_000_000 - status.bytes) / rate, rel=0.5)
    recorder.close()


def test_a_hanging_recorder_is_noticed_and_killed(
    ring: TelemetryRing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    recorder = Recorder(ring, tmp_path / "hangs.mcap", {})
    request.addfinalizer(lambda: recorder.close(timeout=0.1))  # one that is stopped would be waited for
    recorder.wait_ready()
    assert recorder.pid is not None
    os.kill(recorder.pid, signal.SIGSTOP)
    wait_until(lambda: not recorder.event(0.0, EventLevel.INFO, 0, "y" * 900))  # the pipe is full; never waits
    assert recorder.events_lost == 1
    monkeypatch.setattr("rig.recording.recorder._STALL", 0.1)
    wait_until(lambda: not recorder.healthy)
    assert recorder.status().phase is RecorderPhase.RECORDING
    assert recorder.close(timeout=0.1).error == "recorder process ended with exit code -9"


def test_an_existing_file_is_refused(ring: TelemetryRing, tmp_path: Path) -> None:
    path = tmp_path / "old.mcap"
    path.write_bytes(b"precious")
    recorder = Recorder(ring, path, {})
    with pytest.raises(RecordingError, match=r"cannot record.*exists already"):
        recorder.wait_ready()
    assert recorder.close().phase is RecorderPhase.FAILED
    assert path.read_bytes() == b"precious"


def test_messages_that_cannot_be_sent_are_refused(ring: TelemetryRing, tmp_path: Path) -> None:
    recorder = Recorder(ring, tmp_path / "a.mcap", {})
    with pytest.raises(ValueError, match="time nan"):
        recorder.event(float("nan"), EventLevel.INFO, 0, "")
    with pytest.raises(ValueError, match="at most 4000"):
        recorder.close({"long": "z" * 5000})
    recorder.wait_ready()
    assert recorder.healthy
    assert recorder.close().phase is RecorderPhase.CLOSED


def test_anybody_may_look_at_the_status(ring: TelemetryRing, tmp_path: Path) -> None:
    recorder = Recorder(ring, tmp_path / "a.mcap", {})
    recorder.wait_ready()
    other = StatusBlock.attach(recorder.status_name)
    assert other.read().healthy
    recorder.close()
    assert other.read().phase is RecorderPhase.CLOSED
    other.close()
    with pytest.raises(SharedMemoryError, match="no such shared memory"):
        StatusBlock.attach(recorder.status_name)


def test_the_process_imports_nothing_heavy() -> None:
    code = "import sys, rig.recording; print({'numba', 'matplotlib', 'scipy', 'pydantic'} & set(sys.modules))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "set()\n"
