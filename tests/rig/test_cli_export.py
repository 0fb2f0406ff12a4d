"""`rig export`, and CSV as it is written."""

import csv
from pathlib import Path

import numpy as np
import pytest
from synthetic_rows import make_header, make_rows

from rig.cli import main
from rig.csvio import whole_file, write_columns, write_table
from rig.errors import ExitCode
from rig.recording import RecordingWriter


def _record(path: Path, seconds: float) -> Path:
    writer = RecordingWriter(path, make_header())
    if seconds:
        writer.write_rows(make_rows(seconds))
    writer.close({})
    return path


def test_every_cycle_is_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, rows = _record(tmp_path / "run.mcap", 1.0), make_rows(1.0)
    assert main(["export", str(path)]) == 0
    assert capsys.readouterr().out == f"{len(rows)} rows: {tmp_path / 'run.csv'}\n"
    with (tmp_path / "run.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    for name, values in (
        ("t", rows["t"]),
        ("state", rows["state"]),
        ("force_measured_6", rows["force_measured"][:, 5]),
        ("terms_2_3", rows["terms"][:, 1, 2]),
    ):
        np.testing.assert_array_equal(np.array([float(line[name]) for line in table]), values)
    assert main(["export", str(path), "-o", str(tmp_path / "other.csv")]) == 0
    assert (tmp_path / "other.csv").read_bytes() == (tmp_path / "run.csv").read_bytes()


def test_what_cannot_be_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = _record(tmp_path / "empty.mcap", 0.0)
    assert main(["export", str(empty)]) == ExitCode.RECORDING
    assert "nothing to export" in capsys.readouterr().err
    assert main(["export", str(tmp_path / "none.mcap")]) == ExitCode.RECORDING
    assert main(["export", str(empty), "-o", str(tmp_path / "gone" / "x.csv")]) == ExitCode.INPUT
    assert "there is no folder" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [empty]


@pytest.mark.parametrize("command", ["export", "report"])
def test_a_recording_is_not_replaced_by_what_is_made_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    path = _record(tmp_path / "run.mcap", 0.2)
    before = path.read_bytes()
    (tmp_path / "link.csv").symlink_to(path)
    for target in (path, tmp_path / "link.csv"):
        assert main([command, str(path), "-o", str(target)]) == ExitCode.INPUT
        assert "it is the recording itself" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_a_recording_that_is_cut_off_is_exported_with_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _record(tmp_path / "run.mcap", 2.0)
    path.write_bytes(path.read_bytes()[:-2000])
    assert main(["export", str(path)]) == 0
    assert "warning: " in (err := capsys.readouterr().err) and "cut off: it covers" in err


def test_numbers_read_back_the_same(tmp_path: Path) -> None:
    values = np.array([0.1 + 0.2, -1e-300, np.nan, np.inf])
    write_columns(tmp_path / "table.csv", ["plain", "with, comma"], [values, np.arange(4, dtype=np.uint64)])
    names, *lines = csv.reader((tmp_path / "table.csv").read_text(encoding="utf-8").splitlines())
    assert names == ["plain", "with, comma"] and [line[1] for line in lines] == ["0", "1", "2", "3"]
    np.testing.assert_array_equal([float(line[0]) for line in lines], values)
    with pytest.raises(TypeError, match="floats or of integers"):
        write_columns(tmp_path / "words.csv", ["a"], [np.array(["x", "y"])])
    many = np.random.default_rng(5).normal(size=(1001, 3))
    write_table(tmp_path / "table.csv", ["a", "b", "c"], many)
    back = np.loadtxt(tmp_path / "table.csv", delimiter=",", skiprows=1)
    np.testing.assert_array_equal(back, many)


def test_a_table_that_fails_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    target = tmp_path / "shown.csv"
    target.write_text("of last week")
    with pytest.raises(ValueError, match="different lengths"):
        write_columns(target, ["a", "b"], [np.arange(3000.0), np.arange(2000.0)])
    assert target.read_text() == "of last week" and list(tmp_path.iterdir()) == [target]


def test_two_writers_of_one_name_do_not_disturb_each_other(tmp_path: Path) -> None:
    target = tmp_path / "table.csv"
    with whole_file(target) as first:
        first.write("first")
        with whole_file(target) as second:
            second.write("second")
        assert target.read_text() == "second"
    assert target.read_text() == "first" and list(tmp_path.iterdir()) == [target]
