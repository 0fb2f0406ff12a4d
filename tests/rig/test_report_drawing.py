"""Who draws a report: two processes side by side, the same whoever does, and one alone where the other fails."""

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from processes import offspring
from synthetic_rows import make_header, make_rows
from waiting import PATIENCE, eventually

from rig.client.reporting import ReportProcess, make_report
from rig.errors import InputError
from rig.recording import RecordingFile, RecordingWriter
from rig.report import figures, summarize
from rig.report.figures import Curves
from rig.report.validation import validate

RATE = 250.0
TEST = os.getpid()


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> RecordingFile:
    path = tmp_path_factory.mktemp("recorded") / "run.mcap"
    writer = RecordingWriter(path, make_header(RATE))
    writer.write_rows(make_rows(4.0, RATE))
    writer.close({})
    return RecordingFile(path)


@pytest.fixture(scope="module")
def summary(recording: RecordingFile) -> dict[str, Any]:
    made = summarize(recording)
    return made | {"validation": validate(recording, made)}


@pytest.fixture(scope="module")
def drawn(recording: RecordingFile, summary: dict[str, Any]) -> dict[str, str]:
    return figures.figures(Curves(recording, summary), summary)


@pytest.fixture
def reporting() -> Iterator[ReportProcess]:
    made = ReportProcess()
    made.begin()
    yield made
    made.close()
    assert not [name for name in offspring(TEST).values() if "report" in name or "drawing" in name]


def children(name: str) -> list[int]:
    return [pid for pid, command in offspring(TEST).items() if command.startswith(f"rig: {name}")]


def test_two_processes_draw_what_one_does(
    recording: RecordingFile, summary: dict[str, Any], drawn: dict[str, str]
) -> None:
    both = (*figures._HELPER_FIGURES, "timeline")  # what the other one draws, and a figure of its own
    assert {name: drawn[name] for name in both} == figures.draw(Curves(recording, summary), summary, both)
    assert tuple(drawn) == (*figures.FIGURES, "spectrum")  # nothing moves in it


def test_each_draws_a_part(recording: RecordingFile, summary: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "svg_text", lambda _figure: f"drawn by {os.getpid()}")
    monkeypatch.setattr(
        "rig.runtime.spawning.begin_server", lambda: pytest.fail("a server that nothing is forked from")
    )
    by = figures.figures(Curves(recording, summary), summary)
    assert len(set(by.values())) == 2 and list(by.values()).count(f"drawn by {TEST}") == 4


def test_a_process_with_threads_is_not_forked(
    recording: RecordingFile, summary: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "svg_text", lambda _figure: f"drawn by {os.getpid()}")
    over = threading.Event()
    thread = threading.Thread(target=over.wait, args=(PATIENCE,))
    thread.start()
    try:
        assert set(figures.figures(Curves(recording, summary), summary).values()) == {f"drawn by {TEST}"}
    finally:
        over.set()
        thread.join()


def test_one_draws_all_where_the_other_dies(
    recording: RecordingFile, summary: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def text(_figure: object) -> str:
        if os.getpid() != TEST:
            os._exit(1)
        return "drawn"

    monkeypatch.setattr(figures, "svg_text", text)
    assert figures.figures(Curves(recording, summary), summary) == dict.fromkeys(figures.figure_names(summary), "drawn")


def test_a_report_made_beside_is_that_made_here(
    recording: RecordingFile,
    drawn: dict[str, str],
    reporting: ReportProcess,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rig.report.html.figures", lambda *_: drawn)  # here; the process draws
    made, error = make_report(recording, tmp_path / "here.html")
    assert error is None and made["paths"] == {"recording": str(recording.path), "report": str(tmp_path / "here.html")}
    monkeypatch.setattr("rig.client.reporting.make_report", lambda *_: pytest.fail("made here"))
    beside, error = reporting.make(recording, tmp_path / "beside.html")
    assert error is None and beside | {"paths": None} == made | {"paths": None}
    assert (tmp_path / "beside.html").read_bytes() == (tmp_path / "here.html").read_bytes()


@pytest.mark.usefixtures("undrawn_reports")
def test_it_is_made_here_where_the_process_has_died(
    recording: RecordingFile, reporting: ReportProcess, tmp_path: Path
) -> None:
    eventually(lambda: len(children("report")) == 1, "the process that makes reports")
    os.kill(children("report")[0], 9)
    made, error = reporting.make(recording, tmp_path / "report.html")
    assert error is None and made["recording"]["rows"] == recording.count
    assert (tmp_path / "report.html").is_file()


def test_a_report_that_cannot_be_written_is_said(
    recording: RecordingFile, reporting: ReportProcess, tmp_path: Path
) -> None:
    made, error = reporting.make(recording, tmp_path / "nowhere" / "report.html")
    assert made["recording"]["rows"] == recording.count
    assert isinstance(error, InputError) and "nowhere" in str(error)


def test_ended_while_it_draws_it_leaves_nothing(
    recording: RecordingFile, reporting: ReportProcess, tmp_path: Path
) -> None:
    assert reporting._process is not None
    reporting._process.send((recording.path, tmp_path / "report.html", False))
    caught: list[int] = []

    def catch() -> bool:
        """Ask it to end in the midst of drawing: held meanwhile, it cannot come to write what was drawn."""
        for owner in children("report"):  # for an instant the one that draws has its owner's name
            os.kill(owner, signal.SIGSTOP)
            caught.extend(pid for pid in children("drawing") if pid != owner)
            if caught:
                os.kill(owner, signal.SIGTERM)
            os.kill(owner, signal.SIGCONT)
            if caught:
                return True
        return False

    eventually(catch, "the process that draws")
    (drawing,) = caught
    reporting.close()
    assert not Path(f"/proc/{drawing}").exists() and not children("report")
    assert not list(tmp_path.iterdir())
