"""Runs whose end nobody recorded: the engine died, the file was cut, or they are still underway."""

import fcntl
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_runs import LENGTH, PAUSE, make_runs
from validated import RATE, forces, header_with, make_running

from rig.cli import main
from rig.config import Validation
from rig.recording import MotionPart, MotionRecord, RecordingFile, RecordingWriter, caveats
from rig.runs import Catalogue, Listed, numbers_of
from rig.runs.catalogue import CACHE_FILE
from rig.runs.run import runs_of
from rig.states import MotionKind, MotionOutcome


def test_a_run_whose_end_nobody_recorded_is_judged_as_far_as_it_goes(tmp_path: Path) -> None:
    """The engine died, or the file was cut: no end of the motion, and no recorder that holds the file."""
    path = make_runs(tmp_path / "a.mcap", (0.0, 0.0), close=False)
    catalogue = Catalogue(tmp_path)
    assert catalogue.count(catalogue.runs()) == []
    cut, whole = catalogue.runs()
    assert (whole.run.outcome, whole.verdict) == ("finished", "pass")
    begin = LENGTH + PAUSE
    assert (cut.run.outcome, cut.run.begin, cut.run.end) == ("cut off", begin, begin + LENGTH - 1 / RATE)
    assert cut.run.reached == pytest.approx(LENGTH - 1 / RATE)
    assert cut.verdict == cut.described()["verdict"] == "undecided" and cut.numbers is not None
    assert "the recording ends at" in cut.numbers["reasons"][0]
    assert cut.judged_by(Validation(residual_rms=0.1)).verdict == "fail"
    os.truncate(path, path.stat().st_size // 2)  # not even its first row is there
    assert catalogue.count(catalogue.runs()) == []


def test_a_run_that_is_being_recorded_is_underway_and_not_judged(tmp_path: Path) -> None:
    path = make_runs(tmp_path / "a.mcap", (0.0, 0.0), close=False)
    catalogue = Catalogue(tmp_path)
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # as its recorder does
        catalogue.count(catalogue.runs())
        last = catalogue.runs()[0]
        assert (last.run.outcome, last.run.end, last.verdict) == ("underway", None, None)
        read = RecordingFile(path)
    assert catalogue.runs()[0].run.outcome == "cut off"  # though the file has not changed since
    assert runs_of(read)[-1].outcome == "underway"  # it was, when it was read, whatever has come of it since


@pytest.mark.usefixtures("undrawn_reports")
def test_a_recording_that_goes_on_is_not_cut_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = make_runs(tmp_path / "a.mcap", (0.0, 0.0), close=False)
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert main(["report", str(path), "--no-models"]) == 0
        assert "cut off" not in path.with_suffix(".html").read_text(encoding="utf-8")
        assert "still being recorded" in capsys.readouterr().err
        under_way = MotionPart(RecordingFile(path), 2)
        assert under_way.underway and not MotionPart(RecordingFile(path), 1).underway
        assert "still being recorded" in caveats(under_way)[0]
    assert main(["report", str(path), "--no-models"]) == 0
    assert "cut off" in capsys.readouterr().err and "cut off" in path.with_suffix(".html").read_text(encoding="utf-8")


def test_who_looks_whether_a_recording_is_written_keeps_no_recorder_from_it(tmp_path: Path) -> None:
    """A recorder makes its file, and locks it: between the two somebody may look."""
    path = tmp_path / "a.mcap"
    looks: list[int] = []
    real = fcntl.flock

    def flock(file: Any, how: int) -> None:
        if how & fcntl.LOCK_EX and not looks:
            looks.append(os.open(path, os.O_RDONLY))
            real(looks[0], fcntl.LOCK_SH)
        try:
            real(file, how)
        finally:
            if how & fcntl.LOCK_EX and looks:
                real(looks[0], fcntl.LOCK_UN)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fcntl, "flock", flock)
        with RecordingWriter(path, {}):
            pass
    os.close(looks[0])
    assert RecordingFile(path).complete


def test_a_run_that_comes_to_its_end_while_others_are_counted_is_judged_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = make_runs(tmp_path / "a.mcap", (0.0, 0.0), close=False)

    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # as its recorder does

        def counted(part: MotionPart) -> dict[str, Any]:
            fcntl.flock(file, fcntl.LOCK_UN)  # and then it is gone
            return numbers_of(part)

        monkeypatch.setattr("rig.runs.catalogue.numbers_of", counted)
        assert main(["runs", str(tmp_path), "--judge", "--json"]) == 0
    told = capsys.readouterr()
    cut, whole = json.loads(told.out)["runs"]
    assert (cut["outcome"], cut["verdict"], whole["verdict"]) == ("cut off", "undecided", "pass")
    assert told.err.splitlines() == [f"… {whole['run']}", f"… {cut['run']}"]


def test_a_run_that_changes_whenever_it_is_counted_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = make_runs(tmp_path / "a.mcap", (0.0,))
    kept = tmp_path / CACHE_FILE
    assert main(["runs", str(tmp_path)]) == 0
    assert capsys.readouterr().err == ""  # nothing was to be counted

    def counted(part: MotionPart) -> dict[str, Any]:
        os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))
        return numbers_of(part)

    real = Catalogue.runs

    def looked(catalogue: Catalogue) -> list[Listed]:
        kept.unlink(missing_ok=True)  # as another that looks through the folder may write it
        return real(catalogue)

    monkeypatch.setattr("rig.runs.catalogue.numbers_of", counted)
    monkeypatch.setattr(Catalogue, "runs", looked)
    assert main(["runs", str(tmp_path), "--judge", "--json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["runs"][0]["numbers"] is None
    assert "a.mcap#1: its recording changed while it was counted" in told.err


def test_a_run_without_a_row_is_said_and_the_others_are_judged(tmp_path: Path) -> None:
    path = tmp_path / "a.mcap"
    with RecordingWriter(path, header_with(residual_rms=1.0)) as writer:
        rows = make_running(forces(np.arange(900) / RATE), forces(np.arange(900) / RATE))
        writer.write_rows(rows)
        writer.motion(MotionRecord(1, MotionKind.RUN, MotionOutcome.FINISHED, 0.0, 1.8, 1.8, 1.8, "one", 1.0))
        writer.motion(MotionRecord(2, MotionKind.RUN, MotionOutcome.UNDERWAY, 9.0, np.nan, 0.0, 2.0, "two", 1.0))
        writer.close({})
    catalogue = Catalogue(tmp_path)
    (fault,) = catalogue.count(catalogue.runs())
    assert "no telemetry of motion 2" in fault
    two, one = catalogue.runs()
    assert one.numbers is not None and (two.numbers, two.run.outcome, two.run.reached) == (None, "cut off", 0.0)
