"""What people said of a run after it was made, and by what they judge it, is in its report."""

import json
from pathlib import Path

import pytest
from recorded_runs import make_runs

from rig.cli import main
from rig.errors import ExitCode
from rig.runs import BOOK, Catalogue

pytestmark = pytest.mark.usefixtures("undrawn_reports")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("runs")
    make_runs(made / "a.mcap", (0.0, 0.0))
    return made


def test_a_name_and_a_note_are_in_the_report_of_the_run_and_of_all(folder: Path) -> None:
    Catalogue(folder).change("a.mcap#1", {"name": "belt <2>", "note": "quieter & warmer"})
    assert main(["report", f"{folder}/a.mcap#1", "-o", f"{folder}/one.html", "--no-models"]) == ExitCode.OK
    one = (folder / "one.html").read_text(encoding="utf-8")
    assert "<h1>belt &lt;2&gt; · synthetic</h1>" in one and "· a.mcap#1 ·" in one
    assert "quieter &amp; warmer" in one and "first try" not in one.split("Provenance")[1].split("Configuration")[0]
    assert main(["report", f"{folder}/a.mcap", "-o", f"{folder}/all.html", "--no-models"]) == ExitCode.OK
    whole = (folder / "all.html").read_text(encoding="utf-8")
    assert "<h1>synthetic</h1>" in whole and "belt &lt;2&gt; (sway 1)" in whole and "quieter &amp; warmer" in whole


def test_what_was_said_and_cannot_be_read_is_no_reason_for_no_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_runs(tmp_path / "a.mcap", (0.0,))
    (tmp_path / BOOK).write_text("{", encoding="utf-8")
    assert main(["report", f"{tmp_path}/a.mcap", "--no-models"]) == ExitCode.OK
    assert f"{BOOK}: cannot be used" in capsys.readouterr().err


def test_given_thresholds_judge_the_report_as_they_judge_the_list(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--threshold", "position_max=0.1 mm", "--threshold", "residual_rms=0.1"]
    report = ["report", f"{folder}/a.mcap#2", "-o", f"{folder}/by.html", "--no-models", "--json"]
    assert main([*report, *given]) == ExitCode.OK
    found = json.loads(capsys.readouterr().out)["validation"]
    assert main(["runs", str(folder), "--run", "a.mcap#2", "--judge", "--json", *given]) == ExitCode.OK
    listed = json.loads(capsys.readouterr().out)["runs"][0]["numbers"]
    assert found["criteria"] == listed["criteria"] and found["verdict"] == listed["verdict"] == "fail"
    assert [(one["name"], one["whose"], one["verdict"]) for one in found["criteria"]] == [
        ("residual_rms", "given", "fail"),
        ("position_max", "given", "pass"),
    ]
    page = (folder / "by.html").read_text(encoding="utf-8")
    assert "100 µm" in page and "Model fail: residual rms of leg" in page
    assert main([*report, *given, "--thresholds", "virtual"]) == ExitCode.INPUT
    assert "give either" in capsys.readouterr().err
