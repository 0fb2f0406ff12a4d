"""The report on several runs side by side: curves over the same time, numbers and what differs, as page and as PDF."""

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pypdf import PdfReader
from recorded_runs import LENGTH, make_runs
from validated import RATE

from rig.cli import main
from rig.errors import ExitCode
from rig.recording import MAX_COMPARED, RecordingFile, comparison_path, open_part
from rig.report import summarize
from rig.report.comparison.overlay import Overlay
from rig.report.comparison.page import COLORS
from rig.runs import Catalogue


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("runs")
    make_runs(made / "a.mcap", (0.0, 3.0))
    make_runs(made / "b.mcap", (0.1,), operator="C. Maier", note="<new> belt")
    Catalogue(made).change("a.mcap#2", {"name": "offset & all"})
    return made


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the plots as they are printed, which take a second each."""
    monkeypatch.setattr("rig.report.comparison.page._figures", lambda _overlay: iter(()))


@pytest.mark.usefixtures("undrawn")
def test_the_page_has_every_run_and_what_differs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [f"{folder}/a.mcap#1", f"{folder}/a.mcap#2", f"{folder}/b.mcap#1"]
    target = folder / "beside.html"
    assert main(["report", *runs, "-o", str(target), "--json"]) == ExitCode.OK
    told = json.loads(capsys.readouterr().out)
    assert told["paths"] == {"report": str(target)} and "report" not in told["recordings"][0]["paths"]
    assert not list(folder.glob("a-motion-*.html"))
    page = target.read_text(encoding="utf-8")
    for said in (
        "sway 1 (a.mcap#1)",
        "sway 1 (b.mcap#1)",
        "offset &amp; all",
        "&lt;new&gt; belt",
        "Signature",
    ):
        assert said in page
    assert "C. Maier" in page
    (row,) = re.findall(r"<tr><td class=\"text\">Residual, RMS of all legs, N</td>(.*?)</tr>", page)
    first, offset, last = re.findall(r"<td(?: class=\"[^\"]*\")?>(.*?)</td>", row)
    rms = [one["validation"]["together"]["rms_n"] for one in told["recordings"]]
    assert first.startswith(f"{rms[0]:.3f} ±") and "(" not in first
    assert offset.endswith(f"({rms[1] - rms[0]:+.3f}*)") and last.endswith(f"({rms[2] - rms[0]:+.3f})")
    assert "fail: residual rms of leg" in page and page.count("pass: residual rms of leg") == 2
    assert not re.search(r">-0\.0*[ <]", page)  # no minus before a zero


def test_curves_hold_what_each_run_recorded_since_it_began(folder: Path) -> None:
    recordings = [open_part(f"{folder}/a.mcap#{number}") for number in (1, 2)]
    overlay = Overlay(recordings, [summarize(one) for one in recordings], ["one", "two"], COLORS[:2])
    assert overlay.times[0] == 0.0 and overlay.times[-1] < LENGTH
    whole = RecordingFile(folder / "a.mcap")
    rows = np.concatenate([block.copy() for block in whole.blocks()])
    for place, number in enumerate((1, 2)):
        own = rows[rows["motion"] == number]
        t, values = overlay.of(place, "measured", 3)
        stretch = np.searchsorted(t[::2], own["t"] - own["t"][0] + 1e-9, "right") - 1
        measured = own["force_measured"][:, 3]
        assert (measured >= values[::2][stretch]).all() and (measured <= values[1::2][stretch]).all()
        assert np.nanmax(values) == measured.max() and np.nanmin(values) == measured.min()
    data = json.loads(overlay.json or "")
    assert list(data["plots"]) == ["forces", "residuals", "tracking"] and data["window"] is None
    (panel, *_others) = data["plots"]["residuals"]["panels"]
    assert [one["name"] for one in panel["curves"]] == ["one", "two"] and panel["curves"][0]["per"] == 2
    assert len(base64.b64decode(panel["curves"][0]["values"])) == 2 * 2 * len(data["times"]["since"])


def test_a_shorter_run_ends_where_it_ends(tmp_path: Path) -> None:
    make_runs(tmp_path / "long.mcap", (0.0,))
    whole = RecordingFile(tmp_path / "long.mcap")
    make_runs(tmp_path / "cut.mcap", (0.0,), close=False)
    recordings = [open_part(f"{tmp_path}/long.mcap#1"), open_part(f"{tmp_path}/cut.mcap#1")]
    summaries = [summarize(one) for one in recordings]
    window = summaries[1]["window"]
    window |= {"span": [0, 500], "end_s": window["begin_s"] + 499 / RATE, "rows": 500}
    overlay = Overlay(recordings, summaries, ["long", "cut"], COLORS[:2])
    _t, values = overlay.of(1, "residual")
    there = np.isfinite(values[::2])
    assert there[overlay.times < 0.99].all() and not there[overlay.times > 1.0].any()
    assert np.isfinite(overlay.of(0, "residual")[1]).all() and whole.count


def test_the_sheets_say_the_same(folder: Path) -> None:
    runs = [f"{folder}/a.mcap#1", f"{folder}/a.mcap#2"]
    target = folder / "beside.pdf"
    assert main(["report", *runs, "--pdf", str(target)]) == ExitCode.OK
    text = "".join(page.extract_text() for page in PdfReader(target).pages)
    for said in (
        "2 runs side by side",
        "offset & all",
        "Force residuals",
        "Leg 6",
        "Leg length error, worst leg",
        "Checked by",
    ):
        assert said in text


def test_what_cannot_be_set_side_by_side_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(COLORS) == MAX_COMPARED
    runs: list[Any] = [f"{folder}/a.mcap#1"] * (MAX_COMPARED + 1)
    assert main(["report", *runs, "-o", f"{folder}/x.html"]) == ExitCode.INPUT
    assert f"9 recordings: at most {MAX_COMPARED}" in capsys.readouterr().err
    for option in ("--models", "--identify"):
        assert main(["report", *runs[:2], "-o", f"{folder}/x.html", option]) == ExitCode.INPUT
        assert "of one recording each" in capsys.readouterr().err
    assert main(["report", *runs[:2], "-o", f"{folder}/a.mcap"]) == ExitCode.INPUT
    assert main(["report", *runs[:2], "--pdf", f"{folder}/a.mcap"]) == ExitCode.INPUT
    assert RecordingFile(folder / "a.mcap").complete


def test_each_choice_of_runs_has_a_report_of_its_own() -> None:
    one, other = comparison_path(["x/a.mcap#1", "x/b.mcap#2"]), comparison_path(["x/a.mcap#1", "x/b.mcap#3"])
    assert one.parent == Path("x") and one.name.startswith("a-motion-1-beside-") and one != other
    assert comparison_path(["x/a.mcap#1", "x/b.mcap#2"]) == one


def test_any_name_has_its_place_on_page_and_sheets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rig.report.comparison.page.PLOTS", ("tracking",))  # a legend of names is in each of them
    make_runs(tmp_path / "a.mcap", (0.0, 0.1))
    catalogue = Catalogue(tmp_path)
    catalogue.change("a.mcap#1", {"name": "_first $x$ " + "very long " * 90})
    catalogue.change("a.mcap#2", {"name": "<b>second</b> " + "w" * 900})
    runs = [f"{tmp_path}/a.mcap#1", f"{tmp_path}/a.mcap#2"] * 2
    pdf, page = tmp_path / "x.pdf", tmp_path / "x.html"
    assert main(["report", *runs, "--pdf", str(pdf), "-o", str(page)]) == ExitCode.OK
    text = "".join(sheet.extract_text() for sheet in PdfReader(pdf).pages)
    before = pdf.read_bytes()
    assert main(["report", *runs, "--pdf", str(pdf)]) == ExitCode.OK
    assert pdf.read_bytes() == before
    assert "_first $x$ very long" in text and "<b>second</b>" not in page.read_text(encoding="utf-8")
    assert main(["report", *runs[:2], "--pdf", f"{tmp_path}/{'n' * 250}.pdf"]) == ExitCode.INPUT
