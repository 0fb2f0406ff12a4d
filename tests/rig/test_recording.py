"""Recordings: decoded by an independent library bit for bit, the same bytes twice, readable when cut anywhere."""

import dataclasses
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcap.reader import make_reader
from mcap.records import Chunk
from mcap.stream_reader import StreamReader
from mcap.writer import CompressionType, Writer
from mcap_ros2.decoder import DecoderFactory
from synthetic_rows import make_header, make_rows, packed

from rig.recording import EventLevel, RecordedEvent, Recording, RecordingError, RecordingWriter, open_recording, recover
from rig.recording.schema import cycle_definition, layout
from rig.states import FaultCode, State
from rig.telemetry import ROW

RATE = 200.0
ROWS = make_rows(duration=3.0, rate=RATE)
EVENTS = (
    RecordedEvent(0.0, EventLevel.INFO, 0, "recording"),
    RecordedEvent(0.5, EventLevel.WARNING, 0, "Gleichlauf: 0.2 µm daneben — kein Fehler"),
    RecordedEvent(2.9, EventLevel.ERROR, FaultCode.FOLLOWING_ERROR, ""),
)


def random_rows(count: int) -> Any:
    """Rows of random bits, the times and the states excepted."""
    random = np.random.default_rng(3)
    rows = np.frombuffer(random.bytes(count * ROW.itemsize), ROW).copy()
    rows["t"] = np.arange(count) / 1000
    return rows


def write(path: Path, rows: Any = ROWS, *, closed: bool = True) -> Path:
    writer = RecordingWriter(path, make_header(RATE))
    done = 0
    for event in EVENTS:
        upto = int(np.searchsorted(rows["t"], event.t))
        writer.write_rows(rows[done:upto])
        writer.event(event.t, event.level, event.code, event.text)
        done = upto
    writer.write_rows(rows[done:])
    if closed:
        writer.close({"verdict": "finished"}, dropped=7)
    else:
        writer.abandon()
    return path


def decode(path: Path, topic: str) -> list[tuple[int, Any]]:
    """Log time and message of every message of a topic, as the public MCAP and ROS 2 libraries read them."""
    with open(path, "rb") as file:
        reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
        return [(item.message.log_time, item.decoded_message) for item in reader.iter_decoded_messages([topic])]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("whole") / "whole.mcap")


def test_everything_comes_back(whole: Path) -> None:
    recording = open_recording(whole)
    assert recording.path == whole
    assert recording.header == make_header(RATE)
    assert recording.rows.dtype == ROW
    assert packed(recording.rows) == packed(ROWS)
    assert recording.events == EVENTS
    assert recording.dropped == 7
    assert recording.complete
    assert recording.closing == {"verdict": "finished"}


def test_an_independent_decoder_reads_the_same_bits(tmp_path: Path) -> None:
    rows = random_rows(40)
    path = write(tmp_path / "bits.mcap", rows)
    messages = [message for _, message in decode(path, "/rig/cycle")]
    assert len(messages) == len(rows)
    for row, message in zip(rows, messages, strict=True):
        for name in ROW.names or ():
            expected = row[name]
            value = getattr(message, name)
            listed = list(value) if isinstance(value, bytes) else value  # as bytes come back
            decoded = np.asarray(listed, dtype=expected.dtype)
            assert decoded.tobytes() == expected.tobytes(), name


def test_an_independent_decoder_reads_the_events(whole: Path) -> None:
    items = decode(whole, "/rig/events")
    decoded = [RecordedEvent(message.t, message.level, message.code, message.text) for _, message in items]
    assert tuple(decoded) == EVENTS
    epoch = make_header()["clock"]["wall_ns"]
    assert [log_time for log_time, _ in items] == [epoch + round(event.t * 1e9) for event in EVENTS]


def test_the_message_names_the_states(whole: Path) -> None:
    with open(whole, "rb") as file:
        summary = make_reader(file).get_summary()
    assert summary is not None
    schemas = {schema.name: schema.data.decode() for schema in summary.schemas.values()}
    assert f"uint8 STATE_RUNNING={State.RUNNING.value}\n" in schemas["stewart_rig/msg/Cycle"]
    assert "float64[30] terms" in layout(cycle_definition())
    assert summary.statistics is not None
    assert summary.statistics.message_count == len(ROWS) + len(EVENTS)


def test_the_same_input_gives_the_same_bytes(whole: Path, tmp_path: Path) -> None:
    assert write(tmp_path / "again.mcap").read_bytes() == whole.read_bytes()


def test_the_bytes_do_not_depend_on_batches(tmp_path: Path) -> None:
    contents = []
    for size in (1, 7, 600):
        path = tmp_path / f"{size}.mcap"
        with RecordingWriter(path, make_header(RATE)) as writer:
            for start in range(0, len(ROWS), size):
                writer.write_rows(ROWS[start : start + size])
                writer.sync()
        contents.append(path.read_bytes())
    assert contents[0] == contents[1] == contents[2]


def test_a_file_cut_anywhere_gives_its_whole_records(whole: Path, tmp_path: Path) -> None:
    content = whole.read_bytes()
    cut = tmp_path / "cut.mcap"
    offsets = {*range(0, 400), *range(400, len(content), 1511), *range(len(content) - 60, len(content))}
    rows_seen = 0
    for offset in sorted(offsets):
        cut.write_bytes(content[:offset])
        recording = open_recording(cut)
        assert not recording.complete
        assert len(recording.rows) >= rows_seen
        rows_seen = len(recording.rows)
        assert packed(recording.rows) == packed(ROWS[:rows_seen])
        assert recording.events == EVENTS[: len(recording.events)]
        assert recording.header in ({}, make_header(RATE))
    assert rows_seen == len(ROWS)


def test_half_a_second_at_most_waits_for_its_chunk(tmp_path: Path) -> None:
    path = write(tmp_path / "open.mcap", closed=False)
    recording = open_recording(path)
    assert not recording.complete
    assert recording.rows["t"][-1] >= ROWS["t"][-1] - 0.5 - 2 / RATE
    assert recording.closing == {}


def test_the_index_names_every_chunk(tmp_path: Path) -> None:
    path = write(tmp_path / "whole.mcap", random_rows(3000))
    with open(path, "rb") as file:
        summary = make_reader(file, validate_crcs=True).get_summary()
        file.seek(0)
        chunks = []
        for record in StreamReader(file, emit_chunks=True).records:
            if isinstance(record, Chunk):
                chunks.append((record.message_start_time, record.message_end_time, record.uncompressed_size))
    assert summary is not None and summary.statistics is not None
    found = [(i.message_start_time, i.message_end_time, i.uncompressed_size) for i in summary.chunk_indexes]
    assert found == chunks
    assert len(chunks) == summary.statistics.chunk_count > 50
    assert list(tmp_path.iterdir()) == [path]


def test_a_long_recording_takes_no_more_memory_than_a_short_one(tmp_path: Path) -> None:
    rows = random_rows(30_000)
    with RecordingWriter(tmp_path / "long.mcap", {}) as writer:
        writer.write_rows(rows[:5_000])
        tracemalloc.start()
        try:
            for first in range(5_000, len(rows), 500):
                writer.write_rows(rows[first : first + 500])
            grown, _peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert grown < 150_000  # the chunk being filled; an index of 500 chunks would be 300 kB more


def test_the_cause_of_a_fault_does_not_wait_for_its_chunk(tmp_path: Path) -> None:
    path = tmp_path / "fault.mcap"
    writer = RecordingWriter(path, {})
    writer.write_rows(ROWS[:5])
    writer.event(0.025, EventLevel.ERROR, FaultCode.RUNAWAY, "leg 2 runs away")
    writer.write_rows(ROWS[5:7])
    writer.sync()
    recording = open_recording(path)
    assert [event.text for event in recording.events] == ["leg 2 runs away"]
    assert len(recording.rows) == 5
    writer.close()
    assert len(open_recording(path).rows) == 7


def test_a_cut_recording_counts_the_cycles_without_a_row(tmp_path: Path) -> None:
    rows = make_rows(duration=3.0, rate=RATE, skipped=(100, 101, 200))
    lost = np.delete(rows, [20, 21, 22, 250])
    path = write(tmp_path / "lost.mcap", lost, closed=False)
    recording = open_recording(path)
    assert recording.dropped == 4


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damage_is_left_out_or_refused(whole: Path, tmp_path: Path, data: st.DataObject) -> None:
    content = bytearray(whole.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    path = tmp_path / "damaged.mcap"
    path.write_bytes(content)
    try:
        recording = open_recording(path)
    except RecordingError:
        return
    known = {packed(ROWS[i : i + 1]) for i in range(len(ROWS))}
    assert all(packed(recording.rows[i : i + 1]) in known for i in range(len(recording.rows)))


@given(content=st.binary(max_size=300))
def test_anything_else_is_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("other") / "other.mcap"
    path.write_bytes(b"x" + content)
    with pytest.raises(RecordingError, match="not an MCAP recording"):
        open_recording(path)


@pytest.mark.parametrize("compression", [CompressionType.NONE, CompressionType.ZSTD])
def test_a_whole_file_of_another_program_is_refused_and_left_alone(
    tmp_path: Path, compression: CompressionType
) -> None:
    path = tmp_path / "camera.mcap"
    with path.open("wb") as file:
        writer = Writer(file, compression=compression)
        writer.start(profile="ros2", library="camera")
        writer.add_metadata("lens", {"f": "8 mm"})
        channel = writer.register_channel("/camera", "cdr", writer.register_schema("Image", "ros2msg", b"uint8 x\n"))
        writer.add_message(channel, 0, b"\0\1\0\0\7", 0)
        writer.finish()
    content = path.read_bytes()
    for read in (open_recording, recover):
        with pytest.raises(RecordingError, match=r"camera\.mcap: an MCAP file of another program"):
            read(path)
    assert path.read_bytes() == content and list(tmp_path.iterdir()) == [path]


def test_rows_come_back_where_the_header_is_damaged(whole: Path, tmp_path: Path) -> None:
    content = whole.read_bytes()
    for name in (b"\3\0\0\0rig", b"\x0b\0\0\0rig.closing"):
        assert name in content
        content = content.replace(name, name[:-1] + b"_")
    path = tmp_path / "damaged.mcap"
    path.write_bytes(content)
    recording = open_recording(path)
    assert packed(recording.rows) == packed(ROWS) and not recording.complete and recording.header == {}


def test_a_huge_length_does_not_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "huge.mcap"
    path.write_bytes(b"\x89MCAP0\r\n" + struct.pack("<BQ", 6, 1 << 60) + bytes(100))
    assert len(open_recording(path).rows) == 0


def test_another_layout_is_refused(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rig.recording.writer.cycle_definition", lambda: "float64 t\nuint8 other\n")
    path = tmp_path / "old.mcap"
    with RecordingWriter(path, {}) as writer:
        writer.write_rows(ROWS[:3])
    with pytest.raises(RecordingError, match="another layout"):
        open_recording(path)


def test_comments_and_constants_are_no_layout() -> None:
    text = "float64 t  # s\nuint8 STATE_OFF=0\nuint8 state # what = is\n"
    assert layout(text) == ["float64 t", "uint8 state"]


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"none\.mcap: No such file"):
        open_recording(tmp_path / "none.mcap")


def test_a_recording_is_never_overwritten(whole: Path) -> None:
    before = whole.read_bytes()
    with pytest.raises(RecordingError, match="exists already"):
        RecordingWriter(whole, {})
    assert whole.read_bytes() == before


@pytest.mark.parametrize(
    "header", [{"x": float("nan")}, {"x": object()}, {"clock": {"wall_ns": -1}}, {"clock": {"wall_ns": "now"}}]
)
def test_a_bad_header_leaves_no_file(tmp_path: Path, header: dict[str, Any]) -> None:
    with pytest.raises(RecordingError, match="header"):
        RecordingWriter(tmp_path / "bad.mcap", header)
    assert list(tmp_path.iterdir()) == []


def test_bad_rows_and_events_are_refused(tmp_path: Path) -> None:
    rows = ROWS[:2].copy()
    rows["t"] = [0.0, np.nan]
    with RecordingWriter(tmp_path / "bad.mcap", {}) as writer:
        with pytest.raises(RecordingError, match="nan s"):
            writer.write_rows(rows)
        with pytest.raises(RecordingError, match="not a sequence of telemetry rows"):
            writer.write_rows(np.zeros(3))  # type: ignore[arg-type]
        refused: list[Callable[[], None]] = [
            lambda: writer.event(-1.0, 20, 0, ""),
            lambda: writer.event(float("inf"), 20, 0, ""),
            lambda: writer.event(0.0, 256, 0, ""),
            lambda: writer.event(0.0, 20, 1 << 16, ""),
        ]
        for call in refused:
            with pytest.raises(ValueError, match="event"):
                call()
    recording = open_recording(tmp_path / "bad.mcap")
    assert (len(recording.rows), recording.events, recording.complete) == (0, (), True)


def test_a_closing_summary_that_is_no_json_is_refused_and_the_file_can_still_be_closed(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "a.mcap", {})
    with pytest.raises(RecordingError, match="closing summary"):
        writer.close({"x": float("inf")})
    writer.close({"x": 1})
    writer.close({"x": 2})
    assert open_recording(tmp_path / "a.mcap").closing == {"x": 1}


def test_a_recording_is_frozen(whole: Path) -> None:
    recording = open_recording(whole)
    with pytest.raises(dataclasses.FrozenInstanceError):
        recording.dropped = 0  # type: ignore[misc]


def test_recovery_makes_a_cut_file_whole(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "cut.mcap"
    content = whole.read_bytes()
    path.write_bytes(content[: len(content) * 2 // 3])
    before = open_recording(path)
    assert 0 < len(before.rows) < len(ROWS)
    recovered = recover(path)
    assert recovered.complete
    assert recovered.closing == {"recovered": True}
    same: list[Callable[[Recording], Any]] = [
        lambda r: packed(r.rows), lambda r: r.events, lambda r: r.header, lambda r: r.dropped
    ]  # fmt: skip
    after = open_recording(path)
    assert recovered.count == len(after.rows) and recovered.closing == after.closing
    for part in same:
        assert part(after) == part(before)
    assert len(decode(path, "/rig/cycle")) == len(after.rows)
    assert [item.name for item in tmp_path.iterdir()] == ["cut.mcap"]


def test_recovery_leaves_whole_files_and_open_files_alone(whole: Path, tmp_path: Path) -> None:
    content = whole.read_bytes()
    assert recover(whole).complete
    assert whole.read_bytes() == content
    with RecordingWriter(tmp_path / "open.mcap", {}), pytest.raises(RecordingError, match="is being written"):
        recover(tmp_path / "open.mcap")
