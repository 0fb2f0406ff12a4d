"""A report that no browser opens: said, with the place where it is."""

import os
from pathlib import Path
from typing import Any

import pytest
from shell_support import FakeSession

from gui.shell.main_window import MainWindow


@pytest.fixture
def opener(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The system's opener, to be written by a test."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    return folder / "xdg-open"


def _write(opener: Path, body: str) -> None:
    opener.write_text(f"#!/bin/sh\n{body}\n")
    opener.chmod(0o755)


def test_no_browser_came_up(window: MainWindow, session: FakeSession, qtbot: Any, opener: Path, tmp_path: Path) -> None:
    _write(opener, "exit 3")
    report = tmp_path / "run.html"
    window.runs.reporting._made(str(report), "")
    qtbot.waitUntil(lambda: "no program opened to show it" in window.banner.notice.text(), timeout=60_000)
    assert str(report) in window.banner.notice.text() and "ended with 3" in window.banner.notice.text()
    assert any("no program opened to show it" in entry.text for entry in window.views.log.model.entries)


def test_a_report_that_opens_is_said_with_its_place(
    window: MainWindow, session: FakeSession, qtbot: Any, opener: Path, tmp_path: Path
) -> None:
    _write(opener, f'echo "$1" > {tmp_path}/opened')
    report = tmp_path / "run.html"
    window.runs.reporting._made(str(report), "")
    qtbot.waitUntil(lambda: not window.runs.reporting.browser._started, timeout=60_000)
    assert (tmp_path / "opened").read_text().strip() == str(report)
    assert window.banner.notice.text() == f"The report: {report}"


def test_a_system_that_knows_no_opener_at_all(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    window.runs.reporting._made(str(tmp_path / "run.html"), "")
    assert (
        "no program is installed" in window.banner.notice.text()
        and str(tmp_path / "run.html") in window.banner.notice.text()
    )


def test_a_browser_that_stays_is_left_alone(window: MainWindow, opener: Path, tmp_path: Path) -> None:
    _write(opener, f"echo $$ > {tmp_path}/pid; exec sleep 0.2")
    window.runs.reporting._made(str(tmp_path / "run.html"), "")
    ((_path, process, _since),) = window.runs.reporting.browser._started
    window.runs.reporting.browser.close()
    os.waitpid(process.pid, 0)  # it came to its own end
