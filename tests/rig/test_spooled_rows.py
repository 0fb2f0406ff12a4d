"""Rows on the disk: what is read is what was written, and it takes memory only while it is read."""

import os
from pathlib import Path

import numpy as np
import pytest

from rig.recording import RecordingError, SpooledRows
from rig.telemetry import ROW

_MB = 1 << 20


def _rows(count: int, first: int = 0) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    rows = np.zeros(count, ROW)
    rows["cycle"] = np.arange(first, first + count)
    rows["force_measured"] = np.random.default_rng(first).normal(size=(count, 6))
    return rows


def _resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_the_rows_are_those_that_were_written_in_parts_and_with_steps() -> None:
    first, second = _rows(1000), _rows(1001, 1000)
    with SpooledRows() as spooled:
        spooled.append(first)
        spooled.append(second[1::2])
        rows = spooled.rows()
    assert rows.dtype == ROW and not rows.flags.writeable
    np.testing.assert_array_equal(rows, np.concatenate([first, second[1::2]]))


def test_without_rows_there_are_none() -> None:
    with SpooledRows() as spooled:
        spooled.append(_rows(0))
        assert len(spooled.rows()) == 0
    spooled.release()


def test_what_was_read_is_given_back_and_can_be_read_again() -> None:
    count = 64 * _MB // ROW.itemsize
    with SpooledRows() as spooled:
        for _ in range(4):
            spooled.append(_rows(count // 4))
        rows = spooled.rows()
    before = _resident()
    total = rows["force_measured"].sum()
    assert _resident() - before > 32 * _MB
    spooled.release()
    assert _resident() - before < 8 * _MB
    assert rows["force_measured"].sum() == total


def test_nothing_is_left_in_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("rig.recording.spooled._FOLDER", str(tmp_path))
    with SpooledRows() as spooled:
        spooled.append(_rows(10))
        rows = spooled.rows()
        assert list(tmp_path.iterdir()) == []
    assert rows["cycle"].tolist() == list(range(10))


@pytest.mark.parametrize("count", [1, 10_000])  # fewer wait in the file's buffer until all of them are asked for
def test_a_full_disk_is_an_error_that_names_its_folder(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    full = open("/dev/full", "r+b")  # noqa: SIM115  closed by the rows
    monkeypatch.setattr("tempfile.TemporaryFile", lambda **_options: full)
    with (
        pytest.raises(RecordingError, match=r"^/var/tmp: the rows .* No space left on device"),
        SpooledRows() as spooled,
    ):
        spooled.append(_rows(count))
        spooled.rows()
    assert full.closed


def test_without_any_folder_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rig.recording.spooled._FOLDER", "/nowhere")
    monkeypatch.setattr("tempfile._candidate_tempdir_list", lambda: ["/nowhere"])
    monkeypatch.setattr("tempfile.tempdir", None)
    with pytest.raises(
        RecordingError, match=r"the folder of temporary files: the rows .* No usable temporary directory"
    ):
        SpooledRows()
