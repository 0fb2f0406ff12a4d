"""Recordings that are not as they were written: noticed wherever the damage is, and read in bounded memory."""

import json
import os
import random
import struct
import tracemalloc
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard
from exploration import LONG, either
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import Channel, Chunk, Metadata, Schema
from mcap.writer import MCAP0_MAGIC, Writer
from synthetic_rows import make_header, make_rows, packed

from rig.cli import main
from rig.errors import ExitCode
from rig.recording import (
    EventLevel,
    Recording,
    RecordingError,
    RecordingFile,
    RecordingWriter,
    caveats,
    open_recording,
    recover,
    size_of_rows,
)
from rig.recording.chunks import LARGEST_CHUNK
from rig.recording.schema import CDR_HEADER, PACKED_SIZE, cycle_definition
from rig.report import summarize, write_report
from rig.telemetry import ROW

RATE = 50.0
ROWS = make_rows(duration=0.6, rate=RATE)


def write(path: Path, *, closed: bool = True) -> Path:
    writer = RecordingWriter(path, make_header(RATE))
    writer.write_rows(ROWS[:20])
    writer.event(0.4, EventLevel.ERROR, 0, "leg 2 runs away")
    writer.write_rows(ROWS[20:])
    writer.event(0.6, EventLevel.ERROR, 0, "stopped")
    if closed:
        writer.close({"cycles": 30})
    else:
        writer.abandon()
    return path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("whole") / "whole.mcap")


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("cut") / "cut.mcap", closed=False)


def same(one: Recording, other: Recording) -> bool:
    """Whether a reader of one gets all that a reader of the other gets."""
    return (
        packed(one.rows) == packed(other.rows)
        and (one.events, one.header, one.closing) == (other.events, other.header, other.closing)
        and (one.dropped, one.complete) == (other.dropped, other.complete)
    )


def flips(content: bytes, seed: int) -> list[tuple[int, int]]:
    """Bits to flip, byte and mask: one of every byte where there is time, else of some bytes and all heads."""
    chosen = random.Random(seed)
    if LONG:
        return [(at, 1 << chosen.randrange(8)) for at in range(len(content))]
    step = max(1, len(content) // 400)
    places = {*range(0, len(content), step), *range(len(content) - 60, len(content))}
    position = len(MCAP0_MAGIC)
    while position < len(content) - len(MCAP0_MAGIC):
        places.update(range(position, position + 12))
        position += 9 + struct.unpack_from("<Q", content, position + 1)[0]
    return [(at, 1 << chosen.randrange(8)) for at in sorted(places) if at < len(content)]


def test_every_flipped_bit_of_a_whole_recording_is_noticed(whole: Path, tmp_path: Path) -> None:
    content, path, unnoticed = whole.read_bytes(), tmp_path / "flipped.mcap", []
    for at, mask in flips(content, 1):
        damaged = bytearray(content)
        damaged[at] ^= mask
        path.write_bytes(damaged)
        try:
            recording = RecordingFile(path)
        except RecordingError:
            continue
        if recording.complete or not caveats(recording):
            unnoticed.append(at)
    assert unnoticed == []


def test_a_flipped_bit_of_a_cut_recording_is_noticed_or_changes_nothing(cut: Path, tmp_path: Path) -> None:
    """Without its end there is no checksum over all: what is read is vouched for by itself, the rest is not read."""
    content, path, before = cut.read_bytes(), tmp_path / "flipped.mcap", open_recording(cut)
    assert packed(before.rows) == packed(ROWS) and caveats(before) == ["cut off: it covers what reached the disk"]
    lost = []
    for at, mask in flips(content, 2):
        damaged = bytearray(content)
        damaged[at] ^= mask
        path.write_bytes(damaged)
        try:
            recording = open_recording(path)
        except RecordingError:
            continue
        assert not recording.complete
        if not (recording.doubts or recording.unverified or same(recording, before)):
            lost.append(recording)
    for recording in lost:  # a length that says too much is the end of the file, and that is said of every cut one
        assert packed(ROWS).startswith(packed(recording.rows)) and recording.header in ({}, make_header(RATE))
        assert recording.events == before.events[: len(recording.events)]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b'"dropped": 0', b'"dropped": 1', "closing record is not as it was written"),
        (b'"rows": 30', b'"rows": 31', r"30 rows are there, its closing record says 31"),
        (b'"events": 2', b'"events": 3', r"2 events are there, its closing record says 3"),
        (b'"mode": "computed-torque"', b'"mode": "computed-torqua"', "the config in the header is not as it was"),
        (b"lab-hexapod\\", b"lab-hexapad\\", "the mechanism in the header is not as it was"),
    ],
)
def test_what_is_wrong_is_named(whole: Path, tmp_path: Path, old: bytes, new: bytes, said: str) -> None:
    path = tmp_path / "run.mcap"
    content = whole.read_bytes()
    assert content.count(old) == 1
    path.write_bytes(content.replace(old, new))
    recording = open_recording(path)
    assert any(said in doubt for doubt in recording.doubts), recording.doubts
    assert any("checksum over all" in doubt for doubt in recording.doubts)


def write_before_checksums(path: Path) -> Path:
    """A recording as it was written before there were checksums of the whole and of the metadata."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rig.recording.writer._vouched", lambda text: {"json": text})
        patch.setattr("rig.recording.writer.Writer", lambda *args, enable_data_crcs, **more: Writer(*args, **more))
        return write(path)


def test_recordings_made_before_still_open_and_say_what_nothing_vouches_for(whole: Path, tmp_path: Path) -> None:
    path = write_before_checksums(tmp_path / "old.mcap")
    assert same(open_recording(path), open_recording(whole))
    (said,) = caveats(RecordingFile(path))
    assert said.startswith("not verifiable") and "header but for configuration and mechanism" in said
    content = path.read_bytes()
    position = len(MCAP0_MAGIC)
    while content[position] != Opcode.CHUNK:
        position += 9 + struct.unpack_from("<Q", content, position + 1)[0]
    for opcode in (7, 0x86):  # another known kind of record, and one that readers should leave alone
        path.write_bytes(content[:position] + bytes([opcode]) + content[position + 1 :])
        recording = open_recording(path)
        assert len(recording.rows) < len(ROWS) and not recording.complete
        assert any("rows are there, its closing record says 30" in doubt for doubt in recording.doubts)


def test_what_is_put_together_from_a_damaged_one_says_so(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    content = whole.read_bytes()
    path.write_bytes(content.replace(b'"rows": 30', b'"rows": 90'))
    recording = recover(path)
    assert recording.complete and recording.count == 30
    (said,) = caveats(recording)
    assert "put together from what was left" in said and "its closing record says 90" in said


# -- files of others, hostile ones --------------------------------------------------------------------------------


def test_what_is_no_file_is_refused_by_name(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.mcap")
    for path, kind in ((tmp_path, "a folder"), (tmp_path / "pipe.mcap", "a pipe"), (Path("/dev/zero"), "a device")):
        for read in (open_recording, RecordingFile, size_of_rows, recover):
            with pytest.raises(RecordingError, match=f"{path}: is {kind}, not a recording"):
                read(path)
    with pytest.raises(RecordingError, match="null"):
        open_recording("a\0b")


def bomb(path: Path, chunks: int) -> Path:
    """A small file that unpacks to `chunks` · 16 MB of rows."""
    message = struct.pack("<BQHIQQ", Opcode.MESSAGE, 22 + 4 + PACKED_SIZE, 1, 0, 0, 0)
    message += CDR_HEADER + bytes(PACKED_SIZE)
    head = RecordBuilder()
    Schema(id=1, data=cycle_definition().encode(), encoding="ros2msg", name="stewart_rig/msg/Cycle").write(head)
    Channel(id=1, topic="/rig/cycle", message_encoding="cdr", metadata={}, schema_id=1).write(head)
    beginning = head.end()
    data = beginning + message * ((LARGEST_CHUNK - len(beginning)) // len(message))
    one = RecordBuilder()
    Chunk(
        compression="zstd",
        data=zstandard.compress(data),
        message_start_time=0,
        message_end_time=0,
        uncompressed_crc=zlib.crc32(data),
        uncompressed_size=len(data),
    ).write(one)
    whole = RecordBuilder()
    Metadata(name="rig", metadata={"json": json.dumps({"rate": 500.0})}).write(whole)
    path.write_bytes(MCAP0_MAGIC + whole.end() + one.end() * chunks)
    return path


@pytest.mark.parametrize("length", [1 << 60, LARGEST_CHUNK + 5000])
def test_lengths_that_lie_do_not_fill_the_memory(tmp_path: Path, length: int) -> None:
    path = tmp_path / "huge.mcap"
    path.write_bytes(MCAP0_MAGIC + struct.pack("<BQ", 6, length) + bytes(100))
    assert RecordingFile(path).count == 0
    content = struct.pack("<QQQI", 0, 0, length, 0) + struct.pack("<I", 4) + b"zstd" + struct.pack("<Q", 3) + b"abc"
    path.write_bytes(MCAP0_MAGIC + struct.pack("<BQ", 6, len(content)) + content)
    assert any("damaged at byte 8" in doubt for doubt in RecordingFile(path).doubts)


@pytest.mark.usefixtures("undrawn_reports")
def test_a_damaged_recording_says_so_in_report_and_export(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.mcap"
    path.write_bytes(whole.read_bytes().replace(b'"rows": 30', b'"rows": 90'))
    for command, made in (("report", "run.html"), ("export", "run.csv")):
        assert main([command, str(path)]) == ExitCode.RECORDING
        printed = capsys.readouterr()
        assert made in printed.out and (tmp_path / made).exists()
        assert "error: " in printed.err and "its closing record says 90" in printed.err
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert "The recording is damaged" in page and "its closing record says 90" in page
    assert main(["report", str(path), "--json"]) == ExitCode.RECORDING
    said = json.loads(capsys.readouterr().out)["recording"]
    assert not said["complete"] and any("its closing record says 90" in caveat for caveat in said["caveats"])


def test_a_small_file_that_unpacks_to_gigabytes_is_read_in_bounded_memory(tmp_path: Path) -> None:
    path = bomb(tmp_path / "bomb.mcap", 24)
    assert path.stat().st_size < 200_000 and size_of_rows(path) > 390_000_000
    tracemalloc.start()
    try:
        recording = RecordingFile(path)
        summary = summarize(recording)
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert summary["recording"]["rows"] == recording.count > 250_000
    assert peak < 4 * LARGEST_CHUNK  # one chunk, packed and unpacked, and what is counted; 400 MB of rows before


def test_events_without_end_are_left_out_and_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rig.recording.reader.MOST_EVENTS", 100)
    path = tmp_path / "events.mcap"
    with RecordingWriter(path, make_header(RATE)) as writer:
        for number in range(250):
            writer.event(number / RATE, EventLevel.INFO, 0, f"event {number}")
    recording = RecordingFile(path)
    assert [event.text for event in recording.events] == [f"event {number}" for number in range(100)]
    assert any("150 of 250 events are left out" in doubt for doubt in recording.doubts)


JUNK: list[Any] = [None, True, "x", "9" * 5000, 1e308, -1.0, 1 << 200, [], [[]], {}, {"a": 1}, "\0", "\ud800"]
PLACES = ("config", "config.name", "config.load_cells", "config.load_cells.noise", "config.control", "config.safety",
          "config.safety.off", "config.mode", "config.mechanism", "clock", "clock.wall_ns", "rate", "mechanism",
          "virtual", "config_sha256", "other")  # fmt: skip


@pytest.mark.parametrize("seed", [6, *range(either(0, 60))])
def test_values_of_any_kind_end_in_a_report_or_are_refused(seed: int, tmp_path: Path) -> None:
    """Header, closing record and rows as nobody writes them; the file itself is whole."""
    chosen = random.Random(seed)
    header: dict[str, Any] = json.loads(json.dumps(make_header(RATE)))
    for place in chosen.sample(PLACES, 4):
        *way, name = place.split(".")
        table: Any = header
        for step in way:
            table = table.get(step) if isinstance(table, dict) else None
        if isinstance(table, dict):
            table[name] = chosen.choice(JUNK)
    rows = np.frombuffer(chosen.randbytes(200 * ROW.itemsize), ROW).copy()
    rows["t"] = np.sort(np.abs(np.nan_to_num(rows["t"])) % 10.0)
    rows["state"] = [chosen.randrange(12) for _ in range(200)]
    rows["path_time"] = [chosen.choice([0.0, 1.0, 1e308, -1e308, np.nan]) for _ in range(200)]
    path = tmp_path / "run.mcap"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rig.recording.writer._epoch", lambda _header: 0)
        with RecordingWriter(path, {}) as writer:
            writer.write_rows(rows)
            writer.event(0.0, 255, 65535, "'x' is abandoned at 1.2.3 of 9 s")
    content = path.read_bytes()
    path.write_bytes(with_header(content, json.dumps(header)))
    recording = RecordingFile(path)
    summary = summarize(recording)
    json.dumps(summary, allow_nan=False)
    write_report(recording, tmp_path / "run.html", summary=summary)
    assert (tmp_path / "run.html").stat().st_size < 20_000_000


def with_header(content: bytes, text: str) -> bytes:
    """A recording with another header, and no checksum of the whole."""
    record = RecordBuilder()
    Metadata(name="rig", metadata={"json": text}).write(record)
    position = len(MCAP0_MAGIC)
    position += 9 + struct.unpack_from("<Q", content, position + 1)[0]
    end = position + 9 + struct.unpack_from("<Q", content, position + 1)[0]
    assert content[position] == Opcode.METADATA
    header: bytes = record.end()
    return content[:position] + header + content[end:]


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"a":' * 100_000, "null", '{"rate": NaN}', '{"rate": ' + "9" * 5000 + "}"],
    ids=["lists", "tables", "null", "NaN", "digits"],
)
def test_a_header_that_is_none_is_left_out_and_that_is_said(whole: Path, tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.mcap"
    path.write_bytes(with_header(whole.read_bytes(), text))
    recording = open_recording(path)
    assert recording.header == {} and packed(recording.rows) == packed(ROWS) and recording.doubts
