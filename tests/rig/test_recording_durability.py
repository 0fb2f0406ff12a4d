"""How much of a recording a crash may cost: what waits for its chunk, and what was never asked onto the disk."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mcap.records import Chunk
from mcap.stream_reader import StreamReader
from synthetic_rows import make_header, make_rows

from rig.recording import RecordingWriter, StatusBlock, open_recording
from rig.recording.recorder import _Session
from rig.runtime.ring import TelemetryRing
from rig.telemetry import ROW

CHUNK = 64 * 1024  # bytes
WAITS = 0.5  # s, of telemetry for its chunk


def chunks(path: Path) -> list[Chunk]:
    with open(path, "rb") as file:
        return [record for record in StreamReader(file, emit_chunks=True).records if isinstance(record, Chunk)]


@pytest.mark.parametrize("rate", [20.0, 200.0, 2000.0])
def test_a_chunk_is_no_longer_than_half_a_second_and_64_kibibytes(tmp_path: Path, rate: float) -> None:
    path = tmp_path / "run.mcap"
    with RecordingWriter(path, make_header(rate)) as writer:
        writer.write_rows(make_rows(duration=3.0, rate=rate))
    found = chunks(path)
    assert len(found) >= 5
    for chunk in found:
        assert chunk.message_end_time - chunk.message_start_time <= WAITS * 1e9
        assert chunk.uncompressed_size <= CHUNK + 2 * ROW.itemsize


def test_at_any_time_all_but_the_last_half_second_is_out_of_the_writer(tmp_path: Path) -> None:
    rate, path = 50.0, tmp_path / "run.mcap"
    rows = make_rows(duration=2.0, rate=rate)
    writer = RecordingWriter(path, make_header(rate))
    try:
        for count in range(1, len(rows) + 1):
            writer.write_rows(rows[count - 1 : count])
            if count % 10 == 7:
                writer.sync()
                there = open_recording(path).rows["t"]
                assert rows["t"][count - 1] - (there[-1] if len(there) else 0.0) <= WAITS + 1.0 / rate
    finally:
        writer.abandon()


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Size of the file, bytes, as the system had it at each fdatasync."""
    sizes: list[int] = []
    fdatasync = os.fdatasync

    def listen(number: int) -> None:
        sizes.append(os.fstat(number).st_size)
        fdatasync(number)

    monkeypatch.setattr(os, "fdatasync", listen)
    before = signal.getsignal(signal.SIGTERM)
    yield sizes
    signal.signal(signal.SIGTERM, before)


def test_a_sync_asks_the_disk_for_all_that_was_written(tmp_path: Path, synced: list[int]) -> None:
    with RecordingWriter(tmp_path / "run.mcap", make_header(200.0)) as writer:
        writer.write_rows(make_rows(duration=2.0, rate=200.0))
        assert synced == []
        writer.sync()
        assert synced == [writer.size]
    assert len(synced) == 2 and synced[1] == (tmp_path / "run.mcap").stat().st_size


class _Control:
    """The recorder's end of its pipe: time passes while it waits for the next of `rounds` messages to be none."""

    def __init__(self, times: Any, rounds: int) -> None:
        self._times = times
        self._left = rounds

    def poll(self, timeout: float) -> bool:
        self._times.now += timeout
        self._left -= timeout > 0.0
        return self._left < 0

    def recv(self) -> tuple[str, dict[str, str]]:
        return "close", {}


def test_the_recorder_asks_the_disk_once_a_second_at_least(
    tmp_path: Path, synced: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    times = SimpleNamespace(now=100.0)
    times.monotonic = lambda: times.now
    monkeypatch.setattr("rig.recording.recorder.time", times)
    block = StatusBlock.create()
    try:
        with TelemetryRing.create(64) as ring, RecordingWriter(tmp_path / "run.mcap", make_header(200.0)) as writer:
            _Session(ring, 0, writer, _Control(times, 500), block).run()  # type: ignore[arg-type]
    finally:
        block.close()
    assert times.now - 100.0 > 5.0
    assert len(synced) - 1 >= int(times.now - 100.0)  # the last one closes the file
