"""Runs: one motion's part of a recording is a recording; those of a folder are listed, judged, named and compared."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from configured import VIRTUAL
from recorded_runs import LENGTH, PAUSE, make_runs
from validated import RATE

from rig.cli import main
from rig.client import demo_trajectory, on_free_ports, prepare_motion
from rig.config import RigConfig, Validation
from rig.engine import ClockPair, recording_header
from rig.errors import ExitCode, InputError
from rig.recording import MotionPart, RecordingError, RecordingFile, open_part, open_recording, report_path
from rig.report import machine_sha256, summarize, validate
from rig.runs import BOOK, Catalogue, compare_runs, judge_again, matches
from rig.runs.catalogue import CACHE_FILE, read_annotations


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_runs(tmp_path / "a.mcap", (0.0, 3.0))
    return tmp_path


@pytest.fixture
def catalogue(folder: Path) -> Catalogue:
    return Catalogue(folder)


# -- a part of a recording -------------------------------------------------------------------------------------------


def test_a_part_has_the_rows_and_events_of_its_motion(folder: Path) -> None:
    whole = open_recording(folder / "a.mcap")
    part = MotionPart(RecordingFile(folder / "a.mcap"), 2)
    of_it = whole.rows[whole.rows["motion"] == 2]
    rows = np.concatenate([block.copy() for block in part.blocks()])
    # with the cycle in which it ended, whose state says how
    assert part.count == len(rows) == len(of_it) + 1
    np.testing.assert_array_equal(rows[:-1]["t"], of_it["t"])
    np.testing.assert_array_equal(part.take([0, 7])["t"], of_it["t"][[0, 7]])
    np.testing.assert_array_equal(next(part.blocks(5, 9))["t"], of_it["t"][5:9])
    assert [event.text for event in part.events] == ["virtual rig: injected: leg 3 jammed, 300 N"]
    assert part.complete and part.dropped == 0 and part.motions == (whole.motions[1],)
    assert MotionPart(whole, 2).count == part.count


def test_a_part_that_is_over_is_whole_although_the_recording_goes_on(tmp_path: Path) -> None:
    path = make_runs(tmp_path / "a.mcap", (0.0, 0.0), close=False)
    assert not RecordingFile(path).complete
    assert MotionPart(RecordingFile(path), 1).complete
    assert not MotionPart(RecordingFile(path), 2).complete


def test_what_is_no_part(folder: Path) -> None:
    with pytest.raises(RecordingError, match="has no motion 3; those there: 1, 2"):
        open_part(folder / "a.mcap#3")
    assert open_part(folder / "a.mcap").count == round(2 * (LENGTH + PAUSE) * RATE)
    (folder / "b#1").write_bytes((folder / "a.mcap").read_bytes())
    assert len(open_part(folder / "b#1").motions) == 2
    assert report_path("x/a.mcap#2") == Path("x/a-motion-2.html") and report_path("a.mcap") == Path("a.html")


def test_blocks_of_a_file_are_those_of_its_rows(folder: Path) -> None:
    file, whole = RecordingFile(folder / "a.mcap"), open_recording(folder / "a.mcap")
    for first, last in ((0, None), (0, 0), (3, 4), (900, 2100), (3000, 10_000), (5, 5)):
        found = [block.copy() for block in file.blocks(first, last)]
        times = np.concatenate([block["t"] for block in found]) if found else np.empty(0)
        np.testing.assert_array_equal(times, whole.rows["t"][first:last])


# -- the catalogue ---------------------------------------------------------------------------------------------------


def test_runs_are_listed_newest_first_with_what_the_recording_says(catalogue: Catalogue) -> None:
    last, first = catalogue.runs()
    assert (last.run.id, first.run.id) == ("a.mcap#2", "a.mcap#1")
    assert (first.name, first.run.operator, first.note, first.run.outcome) == (
        "sway 1", "A. Weber", "first try", "finished"
    )  # fmt: skip
    assert (first.run.amplitude, last.run.amplitude) == (0.5, 1.0)
    assert first.run.injected == () and last.run.injected == ("leg 3 jammed, 300 N",)
    assert last.run.begun == "2023-11-14T22:13:24+00:00"
    assert last.numbers is None and last.verdict is None


def test_a_run_begins_by_the_wall_clock_of_its_first_cycle(tmp_path: Path) -> None:
    """Not by the rig time that has passed: on a busy machine that is less, and before it kernels are compiled."""
    late = 1_700_000_000_000_000_000 + 45 * 1_000_000_000
    make_runs(tmp_path / "a.mcap", (0.0, 0.0), begun_ns=late)
    assert {listed.run.begun for listed in Catalogue(tmp_path).runs()} == {"2023-11-14T22:14:05+00:00"}


def test_a_fault_that_was_over_before_is_not_of_a_run(tmp_path: Path) -> None:
    make_runs(tmp_path / "a.mcap", (0.0, 0.0, 0.0))
    assert [listed.run.injected for listed in Catalogue(tmp_path).runs()] == [(), ("leg 3 jammed, 300 N",), ()]


def test_numbers_are_those_of_the_report_and_kept(catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    catalogue.count(catalogue.runs())
    part = MotionPart(RecordingFile(catalogue.folder / "a.mcap"), 2)
    summary = summarize(part)
    found = validate(part, summary)
    last, first = catalogue.runs()
    assert last.numbers is not None and first.verdict == "pass" and last.verdict == "fail" == found["verdict"]
    assert last.numbers["headline"]["residual_n"] == found["together"]["rms_n"] == pytest.approx(3.0, rel=0.05)
    assert last.numbers["headline"]["position_m"] == summary["tracking"]["position_rms_m"]
    assert last.numbers["cycle"]["overruns"] == summary["cycle"]["overruns"] == 0
    assert last.numbers["criteria"] == found["criteria"]

    def never(_path: Path) -> Any:
        raise AssertionError("read again")

    monkeypatch.setattr("rig.runs.catalogue.RecordingFile", never)
    catalogue.count(catalogue.runs())
    assert [listed.verdict for listed in Catalogue(catalogue.folder).runs()] == ["fail", "pass"]


def test_what_is_kept_goes_with_what_it_is_of(catalogue: Catalogue) -> None:
    catalogue.count(catalogue.runs())
    make_runs(catalogue.folder / "b.mcap", (0.0,))
    (catalogue.folder / "a.mcap").unlink()
    make_runs(catalogue.folder / "a.mcap", (0.0, 0.0), operator="another")
    assert [listed.numbers for listed in catalogue.runs()] == [None] * 3
    catalogue.count([listed for listed in catalogue.runs() if listed.run.recording == "b.mcap"])
    (catalogue.folder / "a.mcap").unlink()
    assert [listed.verdict for listed in catalogue.runs()] == ["pass"]
    assert "a.mcap" not in (catalogue.folder / CACHE_FILE).read_text(encoding="utf-8")


def test_numbers_of_a_run_that_is_over_stay_while_its_recording_grows(tmp_path: Path) -> None:
    path = make_runs(tmp_path / "a.mcap", (0.0, 0.0), close=False)
    catalogue = Catalogue(tmp_path)
    catalogue.count(catalogue.runs())
    assert [listed.verdict for listed in catalogue.runs()] == ["undecided", "pass"]
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert [listed.verdict for listed in catalogue.runs()] == ["undecided", "pass"]


@pytest.mark.parametrize("content", ["", "[]", '{"layout": 1, "version": "0", "files": {}}', "\xff"])
def test_what_was_kept_and_cannot_be_used_is_found_out_again(catalogue: Catalogue, content: str) -> None:
    (catalogue.folder / CACHE_FILE).write_text(content, encoding="latin-1")
    assert len(catalogue.runs()) == 2


def test_other_thresholds_judge_the_same_numbers(catalogue: Catalogue) -> None:
    catalogue.count(catalogue.runs())
    last, _first = catalogue.runs()
    assert last.numbers is not None
    again = judge_again(last.numbers, Validation(residual_rms=4.0))
    assert (again["verdict"], again["headline"]) == ("pass", last.numbers["headline"])
    part = MotionPart(RecordingFile(catalogue.folder / "a.mcap"), 2)
    wanted = Validation(residual_rms=2.9, bias=3.5, confidence=0.99)
    direct = validate(part, summarize(part), thresholds=wanted)
    assert judge_again(last.numbers, wanted)["criteria"] == direct["criteria"]


def test_runs_are_set_side_by_side_as_the_report_does_it(catalogue: Catalogue) -> None:
    with pytest.raises(InputError, match="not counted yet"):
        compare_runs(catalogue.runs())
    catalogue.count(catalogue.runs())
    first, last = compare_runs(list(reversed(catalogue.runs())))
    assert first["recording"] == "a.mcap#1" and last["rms_n"]["differs"] and not first["rms_n"]["differs"]
    assert last["rms_n"]["difference"] == pytest.approx(2.5, rel=0.05) and last["same_config"]


def test_what_cannot_be_read_is_said_and_left_out(catalogue: Catalogue) -> None:
    (catalogue.folder / "b.mcap").write_bytes(b"no recording")
    assert len(catalogue.runs()) == 2
    (reason,) = catalogue.unreadable
    assert "b.mcap: not an MCAP recording" in reason


# -- what is said of runs --------------------------------------------------------------------------------------------


def test_names_notes_and_stars_are_kept_beside_the_recordings(catalogue: Catalogue) -> None:
    before = (catalogue.folder / "a.mcap").read_bytes()
    assert catalogue.change("a.mcap#2", {"name": "reference", "starred": True}).name == "reference"
    listed = catalogue.change("a.mcap#2", {"note": "the jam is wanted"})
    assert (listed.name, listed.note, listed.entry.starred) == ("reference", "the jam is wanted", True)
    assert (catalogue.folder / "a.mcap").read_bytes() == before
    assert json.loads((catalogue.folder / BOOK).read_text(encoding="utf-8")) == {
        "version": 1,
        "runs": {"a.mcap#2": {"name": "reference", "note": "the jam is wanted", "starred": True}},
    }
    catalogue.change("a.mcap#2", {"name": None, "note": None, "starred": False})
    assert catalogue.runs()[0].name == "sway 2"
    assert not json.loads((catalogue.folder / BOOK).read_text(encoding="utf-8")).get("runs")


def test_what_nobody_can_say_of_a_run_changes_nothing(catalogue: Catalogue) -> None:
    catalogue.change("a.mcap#1", {"name": "one"})
    before = (catalogue.folder / BOOK).read_bytes()
    with pytest.raises(InputError, match=r"has no run 'a.mcap#9'"):
        catalogue.change("a.mcap#9", {"name": "nine"})
    with pytest.raises(InputError, match=r"run a.mcap#1:\n  name: must be one line"):
        catalogue.change("a.mcap#1", {"name": "two\nlines"})
    with pytest.raises(InputError, match="1000 characters"):
        catalogue.change("a.mcap#1", {"note": "x" * 1001})
    assert (catalogue.folder / BOOK).read_bytes() == before


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", '{"version": 2}', '{"runs": {"a": {"stars": 5}}}', '{"runs": {"a": {"name": 5}}}', "\xff"],
)
def test_a_book_that_cannot_be_used_is_refused_and_stays(catalogue: Catalogue, content: str) -> None:
    book = catalogue.folder / BOOK
    book.write_bytes(content.encode("latin-1"))
    with pytest.raises(InputError, match=rf"{BOOK}: cannot be"):
        catalogue.runs()
    with pytest.raises(InputError, match=rf"{BOOK}: cannot be"):
        catalogue.change("a.mcap#1", {"starred": True})
    assert book.read_bytes() == content.encode("latin-1")


def test_search(catalogue: Catalogue) -> None:
    last, first = catalogue.runs()
    assert matches(last, "JAM weber") and not matches(first, "jam") and matches(first, "") and matches(first, "sway 1")


# -- the command line, and the header --------------------------------------------------------------------------------


def test_the_command_lists_what_the_catalogue_has(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", str(folder), "--run", "a.mcap#1", "--star", "--name", "reference"]) == 0
    assert "★ reference" in capsys.readouterr().out
    assert main(["runs", str(folder), "--judge", "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err.splitlines() == ["… a.mcap#2", "… a.mcap#1"]
    told = json.loads(captured.out)["runs"]
    assert [(one["run"], one["verdict"], one["starred"]) for one in told] == [
        ("a.mcap#2", "fail", False), ("a.mcap#1", "pass", True)
    ]  # fmt: skip
    assert main(["runs", str(folder), "--starred"]) == 0
    out = capsys.readouterr().out
    assert " 50 %" in out and "pass" in out and "fail" not in out
    assert main(["runs", str(folder / "a.mcap"), "--compare"]) == 0
    assert "a.mcap#2" in capsys.readouterr().out.splitlines()[2]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--name", "x"], "name it by --run"),
        (["--run", "a.mcap#7"], "has no run a.mcap#7"),
        (["--search", "nothing like it", "--compare"], "two or more are needed"),
    ],
)
def test_what_the_command_refuses(
    folder: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["runs", str(folder), *arguments]) == ExitCode.INPUT
    assert said in capsys.readouterr().err


def test_a_folder_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", str(tmp_path / "none")]) == ExitCode.INPUT
    assert "neither a folder nor a recording" in capsys.readouterr().err


@pytest.mark.usefixtures("undrawn_reports")
def test_the_report_of_one_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"{folder / 'a.mcap'}#{number}" for number in (1, 2)]
    assert main(["report", *names, "--no-models", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["validation"]["verdict"] for one in told["recordings"]] == ["pass", "fail"]
    assert [one["recording"]["caveats"] for one in told["recordings"]] == [[], []]
    page = (folder / "a-motion-2.html").read_text(encoding="utf-8")
    for place in ("validation", "motions", "legs", "timing-numbers"):
        assert f'id="{place}"' in page
    assert "sway 2" in page and "sway 1" not in page


def test_the_places_of_a_virtual_rig_are_no_difference_between_runs() -> None:
    def header(config: RigConfig) -> dict[str, Any]:
        read: dict[str, Any] = json.loads(json.dumps(recording_header(config, None, ClockPair(0, 0))))
        return read

    first, other = header(on_free_ports(VIRTUAL)), header(on_free_ports(VIRTUAL))
    assert first["config_sha256"] != other["config_sha256"]
    assert machine_sha256(first) == machine_sha256(other)
    assert machine_sha256(header(VIRTUAL.changed({"control": {"damping": 300.0}}))) != machine_sha256(first)
    real = [header(on_free_ports(VIRTUAL).changed({"virtual": None})) for _ in range(2)]
    assert machine_sha256(real[0]) != machine_sha256(real[1])  # other drives
    assert machine_sha256({}) is None


def test_operator_and_note_stand_in_the_header_and_leave_the_configuration_as_it_is() -> None:
    plain = recording_header(VIRTUAL, None, ClockPair(0, 0))
    said = VIRTUAL.changed({"recording": {"operator": "A. Weber", "note": "with the new belt"}})
    header = recording_header(said, None, ClockPair(0, 0))
    assert (header["operator"], header["note"]) == ("A. Weber", "with the new belt")
    assert (plain["operator"], plain["note"]) == (None, None)
    assert header["config_sha256"] == plain["config_sha256"]


def test_a_table_knows_its_amplitude() -> None:
    motion = demo_trajectory(VIRTUAL.machine.geometry.home_pose, 4.0)
    assert prepare_motion(VIRTUAL, motion, 0.5).amplitude == 0.5
    motion.amplitude = 0.4
    assert prepare_motion(VIRTUAL, motion, 0.5).amplitude == pytest.approx(0.2)


def test_annotations_that_are_too_large_are_refused_with_their_bound(tmp_path: Path) -> None:
    with (tmp_path / BOOK).open("wb") as book:
        book.truncate(20_000_001)
    with pytest.raises(InputError, match="20000001 bytes, at most 20000000"):
        read_annotations(tmp_path)
