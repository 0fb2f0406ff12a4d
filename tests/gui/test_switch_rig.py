"""One window with a rig at a time: opening another rig, and the guide and its menu."""

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets
from shell_support import FakeSession, key, make_settings, make_status

from gui import application
from gui.models.rules import Phase
from gui.shell.guide import CONTENTS, FIRST_STEPS, GuideWindow
from gui.shell.main_window import MainWindow
from rig.config.rig_config import RigConfig
from rig.states import State

VIRTUAL = (files("rig.config.shipped") / "virtual.toml").read_text()


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A configuration beside the one that is open."""
    path = tmp_path / "other.toml"
    path.write_text(VIRTUAL.replace('name = "virtual"', 'name = "the other one"'))
    return path


def test_another_rig_follows_in_a_window_of_its_own_once_this_one_has_closed(
    monkeypatch: pytest.MonkeyPatch, qapp: QtWidgets.QApplication, tmp_path: Path, other: Path
) -> None:
    seen: list[tuple[str, int]] = []
    plain = application.make_window

    def visible() -> int:
        return sum(isinstance(widget, MainWindow) and widget.isVisible() for widget in qapp.topLevelWidgets())

    def make(config: RigConfig, _settings: QtCore.QSettings) -> MainWindow:
        window = plain(config, make_settings(tmp_path))

        def act() -> None:
            seen.append((config.name, visible()))
            if len(seen) == 1:
                window.menus.other.open(other)
            else:
                window.close()

        QtCore.QTimer.singleShot(50, act)
        return window

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(application, "make_window", make)
    assert application.run("virtual") == 0
    assert seen == [("virtual", 1), ("the other one", 1)] and visible() == 0


def test_a_configuration_that_cannot_be_used_is_refused_whole_and_the_window_stays(
    window: MainWindow, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(VIRTUAL.replace("rate = ", "rat = "))
    window.menus.other.open(wrong)
    assert window.isVisible() and window.menus.other.following is None
    assert (
        window.banner.notice.text().startswith("open wrong.toml: ")
        and "rat: unknown key" in window.banner.notice.text()
    )


def test_another_rig_is_opened_only_while_this_one_is_left_alone(
    window: MainWindow, session: FakeSession, other: Path
) -> None:
    assert window.menus.other.action.isEnabled()
    session.enter(Phase.UP)
    session.take(make_status(State.ENGAGED))
    assert not window.menus.other.action.isEnabled() and "disconnect first" in window.menus.other.action.toolTip()
    window.menus.other.open(other)
    assert window.isVisible() and "disconnect first" in window.banner.notice.text()
    assert not session.ended_by_window


def test_f1_shows_the_first_steps_and_links_are_followed(window: MainWindow, qtbot: Any) -> None:
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow, timeout=60_000)
    key(QtCore.Qt.Key.Key_F1, window)
    guide = window.menus.help.guide
    assert guide is not None and guide.isVisible() and not guide.isModal()
    assert guide.text.source().fileName() == FIRST_STEPS and "Connect, Home, Arm, Engage" in guide.text.toPlainText()
    guide.text.setSource(guide.text.source().resolved(QtCore.QUrl("operator.md")))
    assert "Operating a rig" in guide.text.toPlainText()
    qtbot.mouseClick(guide.buttons["Back"], QtCore.Qt.MouseButton.LeftButton)
    assert guide.text.source().fileName() == FIRST_STEPS
    qtbot.mouseClick(guide.buttons["Contents"], QtCore.Qt.MouseButton.LeftButton)
    assert guide.text.source().fileName() == CONTENTS


def test_pictures_of_the_guide_fit_its_window(qtbot: Any) -> None:
    guide = GuideWindow()
    qtbot.addWidget(guide)
    guide.show_page(FIRST_STEPS)
    kind = QtGui.QTextDocument.ResourceType.ImageResource
    picture = guide.text.loadResource(kind, QtCore.QUrl("images/start.png"))
    assert isinstance(picture, QtGui.QImage) and 300 < picture.width() <= guide.text.viewport().width()


def test_where_the_guide_is_not_installed_its_place_is_said(qtbot: Any, tmp_path: Path) -> None:
    guide = GuideWindow(pages=tmp_path)
    qtbot.addWidget(guide)
    guide.show_page(FIRST_STEPS)
    assert str(tmp_path / FIRST_STEPS) in guide.text.toPlainText()


def test_about_says_version_and_what_stops_are_not(window: MainWindow) -> None:
    window.menus.help.show_about()
    (box,) = window.findChildren(QtWidgets.QMessageBox)
    assert "stewart-rig" in box.text() and "not safety functions" in box.text()
    box.close()


def test_a_reason_that_goes_moves_nothing(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    window.tabs.setCurrentWidget(window.jog)
    session.enter(Phase.UP)

    def places() -> list[tuple[int, int]]:
        qtbot.wait(0)
        buttons = window.jog.findChildren(QtWidgets.QPushButton)
        return [(p.x(), p.y()) for p in (button.mapTo(window, QtCore.QPoint(0, 0)) for button in buttons)]

    session.take(make_status(State.PARKED))
    before = places()
    session.take(make_status(State.ENGAGED))
    assert places() == before


def test_how_a_motion_ended_is_not_said_beside_another_one(whole_window: MainWindow) -> None:
    motion, mover = whole_window.motion, whole_window.motion.mover
    mover.progressed.emit("demo: 20.0 of 20.0 s", 1.0)
    mover.finished.emit(None)
    assert motion.phase.text() == "done" and motion.progress.value() == 1000
    motion.begin_new()
    assert motion.phase.text() == "" and motion.progress.value() == 0
