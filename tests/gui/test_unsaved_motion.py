"""A motion's size is saved with it, and what was changed is not lost without a question."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from motion_support import HOME, looked, open_motion
from pyqtgraph.Qt import QtCore, QtWidgets
from shell_support import KEY, FakeSession, Panels, asked, choose, focus, key, make_status, press

from gui.shell.main_window import MainWindow
from kinematics import TrajectoryError, load_trajectory, parse_trajectory, scaled
from rig.client.motions import checked_motion
from rig.config.rig_config import load_config
from rig.states import State


def _button(window: MainWindow | Panels, name: str) -> QtWidgets.QPushButton:
    (button,) = [each for each in window.motion.findChildren(QtWidgets.QPushButton) if each.accessibleName() == name]
    return button


def _edit(window: MainWindow | Panels, qtbot: Any) -> None:
    """Another amplitude, by keys."""
    box = window.motion.amplitude
    window.tabs.setCurrentWidget(window.motion)
    focus(qtbot, box)
    box.selectAll()
    key("4")
    key("0")
    key(KEY.Key_Return)
    assert window.motion.amplitude.value() == 40.0


def _answer(window: MainWindow | Panels, qtbot: Any, text: str) -> None:
    question = window.motion.document.question
    assert question is not None and question.isVisible()
    assert question.text() == "The motion 'demo' was changed and is not saved."
    choose(question, text)
    qtbot.waitUntil(lambda: window.motion.document.question is None, timeout=60_000)


def test_a_motion_is_saved_with_its_amplitude(panels: Panels, qtbot: Any, tmp_path: Path) -> None:
    panel, path = panels.motion, tmp_path / "small.toml"
    _edit(panels, qtbot)
    assert panel.title == "Motion: demo (changed)"
    looked(panel, qtbot)
    shown = panel.preview.table
    panel.save_file(path)
    assert panel.title == "Motion: small" and not panel.document.unsaved
    panel.load_shipped("demo")
    assert panel.amplitude.value() == 100.0
    open_motion(panel, qtbot, path)
    assert panel.title == "Motion: small" and panel.amplitude.value() == 40.0 and not panel.document.unsaved

    # and whoever runs the file elsewhere runs what was shown
    config = load_config("virtual")
    table, _verdict = checked_motion(config, load_trajectory(path, HOME))
    whole, _verdict = checked_motion(config, load_trajectory("demo", HOME))
    assert shown is not None and np.array_equal(table.samples, shown.samples)
    assert np.array_equal(table.samples, scaled(whole.samples, whole.samples[0, :6], 0.4))


@pytest.mark.parametrize("size", ["0", "1.5", "nan", "-0.2", '"half"'])
def test_an_amplitude_that_is_none_is_refused_by_name(size: str) -> None:
    with pytest.raises(TrajectoryError, match="amplitude: must be"):
        parse_trajectory(f'frame = "home"\namplitude = {size}\n[[parts]]\ntype = "hold"\nduration = 1.0\n', HOME)


def test_an_amplitude_below_what_the_field_takes_changes_nothing(panels: Panels, qtbot: Any, tmp_path: Path) -> None:
    path = tmp_path / "tiny.toml"
    path.write_text('frame = "home"\namplitude = 1e-5\n[[parts]]\ntype = "hold"\nduration = 1.0\n')
    open_motion(panels.motion, qtbot, path)
    assert panels.motion.title == "Motion: demo" and panels.motion.amplitude.value() == 100.0
    assert "0.001 %, must be at least 0.1 %" in panels.motion.verdict.text()


@pytest.mark.parametrize("name", ["New motion", "Demo motion", "Open motion"])
def test_what_takes_its_place_asks_first(
    panels: Panels, qtbot: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(panels.motion, "_ask_open", lambda: asked.append("which file"))
    _edit(panels, qtbot)
    press(_button(panels, name))
    _answer(panels, qtbot, "Cancel")
    assert panels.motion.document.unsaved and panels.motion.title == "Motion: demo (changed)" and asked == []
    press(_button(panels, name))
    _answer(panels, qtbot, "Discard the changes")
    done = (lambda: asked == ["which file"]) if name == "Open motion" else (lambda: not panels.motion.document.unsaved)
    qtbot.waitUntil(done, timeout=60_000)


def test_what_is_not_changed_is_not_asked_about(panels: Panels) -> None:
    press(_button(panels, "New motion"))
    assert panels.motion.document.question is None and panels.motion.title == "Motion: new motion"


def _type_name(window: MainWindow, path: Path) -> None:
    """Once the file dialog is there."""
    dialog = window.guards.stop.dialog
    if isinstance(dialog, QtWidgets.QFileDialog):
        dialog.findChild(QtWidgets.QLineEdit, "fileNameEdit").setText(str(path))
        dialog.accept()
    else:
        QtCore.QTimer.singleShot(10, lambda: _type_name(window, path))


def test_saved_at_the_question_it_goes_on(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    _edit(window, qtbot)
    press(_button(window, "New motion"))
    _answer(window, qtbot, "Save as …")
    _type_name(window, tmp_path / "kept.toml")
    qtbot.waitUntil(lambda: not window.motion.document.unsaved, timeout=60_000)
    assert window.motion.title == "Motion: new motion" and "amplitude = 0.4" in (tmp_path / "kept.toml").read_text()


def test_a_save_that_fails_is_said_and_nothing_is_lost(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    _edit(window, qtbot)
    press(_button(window, "New motion"))
    (tmp_path / "taken.toml").mkdir()
    monkey = tmp_path / "nowhere" / "kept.toml"
    window.motion.save_file(monkey)
    assert (
        window.motion.document.unsaved
        and "save the motion" in window.banner.notice.text()
        and str(monkey) in window.banner.notice.text()
    )


def test_quitting_asks_and_can_be_called_off(window: MainWindow, session: FakeSession, qtbot: Any) -> None:
    _edit(window, qtbot)
    window.close()
    _answer(window, qtbot, "Cancel")
    QtWidgets.QApplication.processEvents()
    assert window.isVisible() and not session.ended_by_window
    window.close()
    _answer(window, qtbot, "Discard the changes")
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=60_000)
    assert session.ended_by_window


def test_quitting_under_torque_stops_before_it_asks_for_the_motion(
    window: MainWindow, session: FakeSession, qtbot: Any
) -> None:
    _edit(window, qtbot)
    session.take(make_status(State.ENGAGED))
    window.close()
    choose(asked(window, qtbot), "Stop and quit")
    assert session.stops == [(1, "closing the window")] and window.motion.document.question is None
    session.take(make_status(State.PARKED))
    assert not session.ended_by_window
    _answer(window, qtbot, "Discard the changes")
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=60_000)
    assert session.ended_by_window


def test_another_rig_is_forgotten_where_the_window_stays(window: MainWindow, qtbot: Any) -> None:
    _edit(window, qtbot)
    window.menus.other.open(Path("virtual"))
    _answer(window, qtbot, "Cancel")
    qtbot.waitUntil(lambda: window.menus.other._requested is None, timeout=60_000)
