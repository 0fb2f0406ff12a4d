"""The report as a PDF file says what its page says, with every figure on a sheet, whatever is in the recording."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader
from recorded_runs import make_runs
from synthetic_rows import make_header, make_rows

from rig.cli import main
from rig.errors import ExitCode
from rig.recording import RecordingWriter
from rig.report.html import report_page

CALIBRATION = "not one that can be read, but kept"


class Words(HTMLParser):
    """What a reader of the page sees, piece by piece: not its styles and scripts, nor what only a screen can do."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in ("head", "script") or (tag == "details" and ("class", "still") in attrs)
        self._in_still = (tag == "details" and ("class", "still") in attrs) or getattr(self, "_in_still", False)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("head", "script") or (tag == "details" and self._in_still):
            self._hidden -= 1
            self._in_still = False

    def handle_data(self, data: str) -> None:
        if not self._hidden and data.strip():
            self.pieces.append(_plain(data))


def _plain(text: str) -> str:
    """Without what a line break may change."""
    return re.sub(r"\s", "", text)


def _words(page: str) -> list[str]:
    parser = Words()
    parser.feed(page)
    return parser.pieces


def _text(path: Path) -> str:
    """Everything written on the sheets; what stands below each is no part of it."""
    pages = [page.extract_text() for page in PdfReader(path).pages]
    return _plain("\n".join(re.sub(r"\n?.*sha256 [0-9a-f]{16}….*\n?page \d+|page \d+", "", text) for text in pages))


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The HTML of what is made into a PDF file."""
    made: list[str] = []

    def kept(*given: Any) -> str:
        made.append(report_page(*given))
        return made[-1]

    monkeypatch.setattr("rig.report.pdf.report_page", kept)
    return made


@pytest.fixture(autouse=True)
def one_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each takes a second."""
    monkeypatch.setattr("rig.report.figures.FIGURES", ("timeline",))


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A run with everything that a page can have: operator, note, faults, events, a calibration, a verdict."""
    path = tmp_path / "a.mcap"
    make_runs(path, (0.0, 3.0), calibration=CALIBRATION, note="belt $5 <new> & ½ µm", parameters={"p.toml": "no file"})
    return path


@pytest.mark.usefixtures("undrawn_reports")
@pytest.mark.parametrize("part", ["", "#2"])
def test_what_the_page_says_is_on_the_sheets(recorded: Path, pages: list[str], part: str) -> None:
    target = recorded.with_suffix(".pdf")
    assert main(["report", f"{recorded}{part}", "--pdf", str(target), "--no-models"]) == ExitCode.OK
    text, words = _text(target), _words(pages[-1])
    assert len(words) > 150
    assert [piece for piece in words if piece not in text] == []
    for piece in ("A. Weber", "belt $5 <new> & ½ µm", "Checked by", "Signature", "calibration", "leg 3 jammed, 300 N"):
        assert _plain(piece) in text


def test_every_figure_has_its_place_and_it_is_the_same_every_time(
    recorded: Path, pages: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rig.report.html.figures", lambda *_: {})
    monkeypatch.setattr("rig.report.figures.FIGURES", ("timeline", "forces"))
    first, second = recorded.with_name("1.pdf"), recorded.with_name("2.pdf")
    for target in (first, second):
        assert main(["report", str(recorded), "--pdf", str(target), "--no-models"]) == ExitCode.OK
    assert first.read_bytes() == second.read_bytes()
    text = [_plain(page.extract_text()) for page in PdfReader(first).pages]
    (forces,) = [one for one in text if "Legforces:measuredandmodel" in one]
    assert all(f"Leg{leg}" in forces for leg in range(1, 7)) and "rigtime,s" in forces
    assert all(abs(float(page.mediabox.width) - 841.9) < 0.1 for page in PdfReader(first).pages)
    assert not list(recorded.parent.glob(".*.part"))


@pytest.mark.usefixtures("undrawn_reports")
def test_what_is_longer_than_a_sheet_goes_on_on_the_next(tmp_path: Path) -> None:
    path = tmp_path / "long.mcap"
    header = make_header() | {"operator": "W" * 3000, "note": "one\ttwo\n" * 900, "extra": {"k": "v" * 5000}}
    with RecordingWriter(path, header) as writer:
        writer.write_rows(make_rows(2.0, 250.0))
        writer.event(1.0, 20, 0, "a word " * 4000)
        for number in range(400):
            writer.event(1.5, 20, 0, f"event number {number} \ud800 \x01 漢")
        writer.close({"list": list(range(2000))})
    assert main(["report", str(path), "--pdf", f"{tmp_path}/long.pdf", "--no-models"]) == ExitCode.OK
    text = _text(tmp_path / "long.pdf")
    assert "eventnumber0" in text and "eventnumber399" in text and text.count("aword") == 4000


@pytest.mark.usefixtures("undrawn_reports")
def test_a_recording_of_one_row_has_a_page_without_figures(tmp_path: Path) -> None:
    with RecordingWriter(tmp_path / "one.mcap", make_header()) as writer:
        writer.write_rows(make_rows(2.0, 250.0)[:1])
        writer.close({})
    assert main(["report", f"{tmp_path}/one.mcap", "--pdf", f"{tmp_path}/one.pdf"]) == ExitCode.OK
    assert "Provenance" in _text(tmp_path / "one.pdf")


@pytest.mark.usefixtures("undrawn_reports")
def test_a_place_that_cannot_be_written_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_runs(tmp_path / "a.mcap", (0.0,))
    (tmp_path / "there").mkdir()
    assert main(["report", f"{tmp_path}/a.mcap", "--pdf", f"{tmp_path}/there"]) == ExitCode.INPUT
    assert "there" in capsys.readouterr().err
    assert main(["report", f"{tmp_path}/a.mcap", "--pdf", f"{tmp_path}/none/a.pdf"]) == ExitCode.INPUT
