"""The calibration file and the table of measurements: what comes back, what is refused and how it is said."""

import re
import tomllib
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration import (
    CalibrationError,
    CalibrationFileError,
    CellLoads,
    CellMeasurements,
    LoadCellCalibration,
    Provenance,
    calibrate_cells,
    calibration_file_name,
    format_cell_calibration,
    identity,
    load_cell_calibration,
    parse_cell_calibration,
    read_cell_measurements,
    save_cell_calibration,
)

MASSES = np.array([0.0, 5.0, 10.0, 20.0, 10.0, 5.0, 0.0])


def make(seed: int = 1, **options: object) -> LoadCellCalibration:
    random = np.random.default_rng(seed)
    slope = random.choice([1.0, -1.0], 6) * random.uniform(0.5, 2.0, 6)
    loads = tuple(
        CellLoads(MASSES, 3.0 + s * 9.8 * MASSES + random.normal(0, 0.05, 7), np.full(7, 100.0)) for s in slope
    )
    tares = [3.0 + random.normal(0, 0.5, (100, 6)) for _ in range(2)]
    return calibrate_cells(CellMeasurements(tares[0], tares[1], loads), date(2026, 11, 21), **options)  # type: ignore[arg-type]


def test_round_trip_is_exact(tmp_path: Path) -> None:
    calibration = make(
        gravity=9.81,
        serials=["A1", "", 'quote "q"', "back\\slash", "ünï", "6"],
        provenance=Provenance("me", "lab", "M1", "x"),
    )
    path = tmp_path / calibration_file_name(calibration.date)
    assert path.name == "cells-2026-11-21.toml"
    save_cell_calibration(path, calibration)
    again = load_cell_calibration(path)
    assert format_cell_calibration(again) == format_cell_calibration(calibration) == path.read_text(encoding="utf-8")
    assert again.cells == calibration.cells
    assert again.serials == calibration.serials
    assert again.provenance == calibration.provenance
    assert np.array_equal(again.gain, calibration.gain)
    assert np.array_equal(again.offset, calibration.offset)
    assert again.date == date(2026, 11, 21)
    assert again.tare_before is not None and calibration.tare_before is not None
    assert np.array_equal(again.tare_before.offset, calibration.tare_before.offset)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@settings(max_examples=60)
@given(note=st.text(max_size=60), serial=st.text(max_size=20))
def test_any_text_comes_back(note: str, serial: str) -> None:
    calibration = replace(make(), provenance=Provenance(note=note), serials=("", "", serial, "", "", ""))
    again = parse_cell_calibration(format_cell_calibration(calibration))
    assert again.provenance.note == note
    assert again.serials[2] == serial


def test_file_reads_like_a_protocol() -> None:
    text = format_cell_calibration(make())
    assert text.startswith("# Load-cell calibration")
    assert "force = polarity * gain * (reading - offset)" in text
    content = tomllib.loads(text)
    assert content["version"] == 1
    assert len(content["cells"]) == 6
    assert content["cells"][0]["hysteresis"] >= 0.0


def test_optional_parts_may_be_left_out_and_cells_come_in_any_order() -> None:
    calibration = make()
    text = format_cell_calibration(calibration)
    text = re.sub(r"(?m)^(serial|hysteresis|repeatability|operator|place|masses|source|note) = .*\n", "", text)
    text = text.replace("[provenance]\n", "")
    head, *cells = text.split("[[cells]]")
    again = parse_cell_calibration("[[cells]]".join([head, *(cell + "\n" for cell in reversed(cells))]))
    assert np.array_equal(again.gain, calibration.gain)
    assert again.cells[0].hysteresis is again.cells[0].repeatability is None


def test_existing_file_is_never_touched(tmp_path: Path) -> None:
    path = tmp_path / "cells-2026-11-21.toml"
    path.write_text("precious")
    with pytest.raises(CalibrationFileError, match=r"exists already .* never overwritten.* cells-2026-11-21-2\.toml"):
        save_cell_calibration(path, make())
    assert path.read_text() == "precious"
    assert len(list(tmp_path.iterdir())) == 1


def test_failing_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(CalibrationFileError, match="cannot be written: No space left"):
        save_cell_calibration(tmp_path / "cells.toml", make())
    assert list(tmp_path.iterdir()) == []


def test_interrupted_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save_cell_calibration(tmp_path / "cells.toml", make())
    assert list(tmp_path.iterdir()) == []


def test_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CalibrationFileError, match="cannot be written: No such file"):
        save_cell_calibration(tmp_path / "none" / "cells.toml", make())


def test_identity_is_not_kept(tmp_path: Path) -> None:
    with pytest.raises(CalibrationError, match="without tare and drift is not kept in a file"):
        save_cell_calibration(tmp_path / "cells.toml", identity())
    assert list(tmp_path.iterdir()) == []


def test_values_no_file_may_hold_are_not_written() -> None:
    calibration = make()
    broken = replace(calibration.cells[2], gain=float("nan"))
    with pytest.raises(CalibrationFileError, match=r"cells\[3\]\.gain"):
        format_cell_calibration(replace(calibration, cells=(*calibration.cells[:2], broken, *calibration.cells[3:])))


def test_all_faults_are_listed_at_once_with_their_place() -> None:
    content = format_cell_calibration(make())
    content = re.sub(r"(?m)^gain = .*$", "gain = nan", content, count=1)
    content = re.sub(r"(?m)^unit = .*$", "unit = 3\ncolour = 'red'", content)
    content = re.sub(r"(?m)^before = .*$", "before = [1, 2, 3, 4, 5]", content)
    content = re.sub(r"(?m)^polarity = .*$", "polarity = 0", content, count=1)
    content = re.sub(r"(?m)^residual_rms = .*\n", "", content, count=1)
    with pytest.raises(CalibrationFileError) as caught:
        parse_cell_calibration(content, "cells-x.toml")
    faults = caught.value.faults
    assert str(caught.value).startswith("cells-x.toml: 6 faults\n  ")
    for place, words in [
        ("unit", "text"),
        ("colour", "unknown key"),
        ("tare.before", "at least 6"),
        ("cells[1].gain", "got nan"),
        ("cells[1].polarity", "got 0"),
        ("cells[1].residual_rms", "missing"),
    ]:
        assert any(fault.startswith(f"{place}: ") and words in fault for fault in faults), (place, faults)


@pytest.mark.parametrize(
    ("pattern", "value", "message"),
    [
        (r"^version = 1", "version = 2", "version 2 of the layout; this software reads 1"),
        (r"^version = 1", "version = true", r"version: .*got True"),
        (r"^kind = .*", 'kind = "homing"', r"kind: .*'load-cells'"),
        (r"^leg = 2", "leg = 1", r"legs must be 1 to 6, each once, got \[1, 1, 3, 4, 5, 6\]"),
        (r"^gain = .*", "gain = -1.0", r"cells\[1\]\.gain: must be at least 1e-07, got -1\.0"),
        (r"^gain = .*", 'gain = "1.0"', r"cells\[1\]\.gain: .*got '1\.0'"),
        (r"^gain = .*", "gain = true", r"cells\[1\]\.gain: .*got True"),
        (r"^offset = .*", "offset = inf", r"cells\[1\]\.offset: .*finite number, got inf"),
        (r"^date = .*", 'date = "2026-11-21"', r"date: .*valid date"),
        (r"^gravity = .*", "gravity = ", "not valid TOML"),
        (r"^gravity = .*", "gravity = 9.8\ngravity = 9.8", "not valid TOML"),
    ],
)
def test_single_faults(pattern: str, value: str, message: str) -> None:
    text = re.sub(f"(?m){pattern}", value, format_cell_calibration(make()), count=1)
    with pytest.raises(CalibrationFileError, match=message):
        parse_cell_calibration(text)


def test_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(CalibrationFileError, match=r"none\.toml: no such calibration file"):
        load_cell_calibration(tmp_path / "none.toml")
    with pytest.raises(CalibrationFileError, match="cannot be read: a folder, must be a regular file"):
        load_cell_calibration(tmp_path)
    (tmp_path / "x.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(CalibrationFileError, match="not UTF-8"):
        load_cell_calibration(tmp_path / "x.toml")


HEADER = "cell,mass,reading,phase\n"


def table() -> str:
    rows = [f"{cell},,{0.1 * n},tare_before" for n in range(3) for cell in range(1, 7)]
    rows += [f"{cell}, {m} ,{cell * m:g},load" for cell in range(1, 7) for m in (0, 5, 10)]
    rows += [f"{cell},0,{0.2 * n},tare_after" for n in range(4) for cell in range(1, 7)]
    return HEADER + "\n".join(rows) + "\n"


def test_measurements_come_from_a_table(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("\ufeff" + table(), encoding="utf-8")
    measurements = read_cell_measurements(path)
    assert measurements.tare_before == pytest.approx(np.outer(0.1 * np.arange(3), np.ones(6)))
    assert measurements.tare_after.shape == (4, 6)
    assert measurements.loads[4].masses.tolist() == [0.0, 5.0, 10.0]
    assert measurements.loads[4].readings.tolist() == [0.0, 25.0, 50.0]
    assert measurements.loads[4].samples.tolist() == [1.0] * 3


def test_faulty_rows_are_listed_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text(HEADER + "7,0,1,load\n1,x,1,load\n2,5,nan,load\n3,5,1,lunch\n4,-1,1,load\n5,3,1,tare_after\n6,1\n")
    with pytest.raises(CalibrationFileError) as caught:
        read_cell_measurements(path)
    assert caught.value.faults == (
        "line 2: cell must be 1 to 6, got '7'",
        "line 3: mass must be a finite number, got 'x'",
        "line 4: reading must be a finite number, got 'nan'",
        "line 5: phase must be one of tare_before, load, tare_after, got 'lunch'",
        "line 6: mass must not be negative, got -1 kg",
        "line 7: mass must be 0 or empty in a tare, got 3 kg",
        "line 8: must have 4 fields; decimals have a point",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "columns must be cell,mass,reading,phase"),
        (
            "cell,mass,reading\n1,2,3\n",
            r"columns must be .*\(phase one of tare_before, load, tare_after\), got cell,mass",
        ),
        (HEADER, "18 faults"),
        (
            table().replace("3,0,0.0,tare_after\n", ""),
            r"tare_after: every cell needs the same number .*\[4, 4, 3, 4, 4, 4\]",
        ),
        ("\n".join(line for line in table().splitlines() if not line.startswith("2, ")), "cell 2: no load rows"),
    ],
)
def test_tables_that_are_not_whole(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "data.csv"
    path.write_text(text)
    with pytest.raises(CalibrationFileError, match=message):
        read_cell_measurements(path)


def test_no_such_table(tmp_path: Path) -> None:
    with pytest.raises(CalibrationFileError, match=r"none\.csv: no such file"):
        read_cell_measurements(tmp_path / "none.csv")
    with pytest.raises(CalibrationFileError, match="cannot be read"):
        read_cell_measurements(tmp_path)
    (tmp_path / "x.csv").write_bytes(b"\xff\xfe")
    with pytest.raises(CalibrationFileError, match="not UTF-8"):
        read_cell_measurements(tmp_path / "x.csv")


@pytest.mark.parametrize("gain", ["1e-9", "1e299"])
def test_a_gain_that_no_cell_has_is_refused_by_name(gain: str) -> None:
    text = format_cell_calibration(make())
    faulty = re.sub(r"(?m)^gain = \S+", f"gain = {gain}", text, count=1)
    with pytest.raises(CalibrationFileError, match=rf"cells\[1\]\.gain: .*got {gain[0]}e[-+]?\d+"):
        parse_cell_calibration(faulty)


def test_a_gain_far_from_the_other_five_is_refused_by_name() -> None:
    text = format_cell_calibration(make())
    gains = [f"gain = {gain}" for gain in (1.0, 1.1, 0.9, 1.0, 5.0, 1.0)]
    faulty = re.sub(r"(?m)^gain = \S+", lambda _match: gains.pop(0), text)
    with pytest.raises(CalibrationFileError, match=r"gain 5 of leg 5 must be 0\.25 to 4 N per reading unit: a quarter"):
        parse_cell_calibration(faulty)
    assert parse_cell_calibration(faulty.replace("gain = 5.0", "gain = 3.9")).cells[4].gain == 3.9
