"""The menu that sends telemetry: what it says, and how it brings the tools up; nothing is sent here."""

from pathlib import Path
from typing import Any

import pytest
from pyqtgraph.Qt import QtCore, QtGui
from shell_support import FakeSession, make_status

from gui.shell import menus
from gui.shell.main_window import MainWindow
from rig.errors import HardwareError
from rig.services import Progress, StreamRequest, stream_telemetry
from rig.states import State

_FOXGLOVE = "to Foxglove at ws://127.0.0.1:8765"
_LINK = "https://app.foxglove.dev/~/view?ds=foxglove-websocket&ds.url=ws://127.0.0.1:8765&openIn=desktop"


class _Job:
    """What would be the service in a process of its own."""

    started: list[tuple[object, object]]

    def __init__(self, _parent: Any) -> None:
        self.reported, self.ended = _Signal(), _Signal()

    def start(self, service: object, request: object) -> None:
        self.started.append((service, request))

    def close(self) -> None:
        pass

    def deleteLater(self) -> None:
        pass


class _Signal:
    def connect(self, slot: Any) -> None:
        self.emit = slot


@pytest.fixture
def opened(window: MainWindow, session: FakeSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Pages that were opened; an engine is there, and no tool is installed."""
    pages: list[str] = []
    _Job.started = []
    monkeypatch.setattr(menus, "JobRunner", _Job)

    def open_url(url: QtCore.QUrl) -> bool:
        pages.append(url.toString())
        return True

    monkeypatch.setattr(QtGui.QDesktopServices, "openUrl", open_url)
    monkeypatch.setattr(FakeSession, "engine_pid", 77)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    session.take(make_status(State.PARKED))
    return pages


def _told(window: MainWindow, key: str, place: str) -> None:
    values = {"place": place, "address": place.rpartition(" ")[2], "steps": ""}
    window.menus.telemetry._jobs[key].reported.emit(Progress("streaming", values=values))


def test_the_address_is_said_as_long_as_it_is_sent_to(window: MainWindow, opened: list[str]) -> None:
    entry = window.menus.telemetry.entries["foxglove"]
    entry.trigger()
    assert _Job.started == [(stream_telemetry, StreamRequest("foxglove", engine=77))]
    _told(window, "foxglove", _FOXGLOVE)
    assert window.banner.notice.text().startswith(f"Telemetry goes {_FOXGLOVE}. In Foxglove") and opened == []
    window.banner.notice.clear()
    assert _FOXGLOVE in entry.toolTip() and entry.isChecked()
    entry.trigger()
    assert _FOXGLOVE not in entry.toolTip() and not entry.isChecked()


def test_foxglove_is_opened_by_a_link_once_it_is_sent_to(window: MainWindow, opened: list[str]) -> None:
    opener = window.menus.telemetry.openers["foxglove"]
    opener.trigger()
    assert len(_Job.started) == 1 and opened == []
    _told(window, "foxglove", _FOXGLOVE)
    assert opened == [_LINK] and _LINK in window.banner.notice.text()
    opener.trigger()  # again: it is sent to already
    assert opened == [_LINK] * 2 and len(_Job.started) == 1


def test_what_fails_opens_nothing(window: MainWindow, opened: list[str]) -> None:
    window.menus.telemetry.openers["foxglove"].trigger()
    failure = HardwareError("cannot serve Foxglove at 127.0.0.1:8765: taken")
    window.menus.telemetry._jobs["foxglove"].ended.emit(None, failure)
    assert opened == [] and "cannot serve Foxglove" in window.banner.notice.text()
    window.menus.telemetry.entries["foxglove"].trigger()
    _told(window, "foxglove", _FOXGLOVE)
    assert opened == []  # this time it was only to be sent to


def test_without_plotjuggler_its_page_is_opened_and_said(
    window: MainWindow, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    window.menus.telemetry.openers["plotjuggler"].trigger()
    _told(window, "plotjuggler", "to PlotJuggler at 127.0.0.1:9870")
    assert opened == ["https://plotjuggler.io"]
    told = window.banner.notice.text()
    assert "127.0.0.1:9870" in told and "PlotJuggler is not installed here" in told and "UDP Server" in told
    monkeypatch.setattr(QtGui.QDesktopServices, "openUrl", lambda _url: False)
    window.menus.telemetry.openers["plotjuggler"].trigger()
    assert "No browser opened; the page is https://plotjuggler.io" in window.banner.notice.text()


def test_plotjuggler_is_started_where_it_is_installed(
    window: MainWindow, opened: list[str], qtbot: Any, tmp_path: Path
) -> None:
    program, trace = tmp_path / "bin" / "plotjuggler", tmp_path / "started"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n: > {trace}\n")
    program.chmod(0o755)
    window.menus.telemetry.openers["plotjuggler"].trigger()
    _told(window, "plotjuggler", "to PlotJuggler at 127.0.0.1:9870")
    qtbot.waitUntil(trace.exists, timeout=60_000)
    assert opened == []


def test_without_an_engine_nothing_is_opened_and_why(window: MainWindow) -> None:
    for action in (*window.menus.telemetry.entries.values(), *window.menus.telemetry.openers.values()):
        assert not action.isEnabled() and action.toolTip().startswith("connect first")
