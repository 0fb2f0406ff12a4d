"""The banner: the button that leads out of a trouble, and what is seen while the engine starts."""

import math
from pathlib import Path

import pytest
from pyqtgraph.Qt import QtCore, QtWidgets
from shell_support import FakeSession, make_status, press

from gui.models import Phase
from gui.shell.main_window import MainWindow
from rig.engine import Compiling
from rig.states import State


def test_a_fault_has_its_reset_in_the_banner(window: MainWindow, session: FakeSession) -> None:
    mend = window.banner.remedy_button
    session.take(make_status(State.RUNNING))
    assert mend.isHidden()
    session.take(make_status(State.STOPPING, latched=True, cause="leg 1: drive fault 4711"))
    assert mend.isHidden()
    session.take(make_status(State.FAULT, latched=True, cause="leg 1: drive fault 4711"))
    assert mend.isVisible() and mend.text() == "Reset fault" and mend.isEnabled()
    press(mend)
    assert session.commands == ["reset"]
    session.busy = "reset"
    session.changed.emit()
    assert not mend.isEnabled() and mend.toolTip() == "reset is under way"
    session.busy = ""
    session.take(make_status(State.IDLE))
    assert mend.isHidden()


def test_an_engine_that_died_is_restarted_from_the_banner(window: MainWindow, session: FakeSession) -> None:
    session.take(make_status(State.ENGAGED))
    session.enter(Phase.DIED)
    assert window.banner.remedy_button.isVisible() and window.banner.remedy_button.text() == "Restart engine"
    QtWidgets.QApplication.processEvents()
    assert window.banner.minimumSizeHint().width() <= 1024
    press(window.banner.remedy_button)
    assert [what for what, *_rest in session.sent] == ["connect"]


def test_the_button_of_the_banner_takes_no_keyboard(window: MainWindow, session: FakeSession) -> None:
    session.take(make_status(State.FAULT, latched=True, cause="leg 1: drive fault 4711"))
    press(window.banner.remedy_button)
    assert (
        not window.banner.remedy_button.hasFocus()
        and window.banner.remedy_button.focusPolicy() == QtCore.Qt.FocusPolicy.NoFocus
    )


def test_a_start_that_compiles_says_how_far_it_is(window: MainWindow, session: FakeSession) -> None:
    banner = window.banner
    session.enter(Phase.STARTING)
    assert banner.waiting.maximum() == 0
    session.compilingProgressed.emit(Compiling("the model", 23, 61))
    QtWidgets.QApplication.processEvents()
    assert banner.detail == "Compiling: 23 of 61 kernels. Only the first start on this machine does so."
    assert (banner.waiting.value(), banner.waiting.maximum()) == (23, 61)
    banner._second.timeout.emit()
    assert banner.detail.endswith("1 s so far.")
    session.compilingProgressed.emit(Compiling("the model", 61, 61))  # and others compile on
    QtWidgets.QApplication.processEvents()
    assert banner.waiting.maximum() == 0 and "Compiled (61 kernels)" in banner.detail
    session.take(make_status(State.IDLE))
    session.compilingProgressed.emit(Compiling("the virtual rig", 5, 50))  # late: there is nothing to wait for any more
    QtWidgets.QApplication.processEvents()
    session.enter(Phase.STARTING)
    assert banner.waiting.maximum() == 0 and "kernels" not in banner.detail
    session.enter(Phase.DOWN)


def test_while_the_engine_starts_the_time_is_told(window: MainWindow, session: FakeSession) -> None:
    banner = window.banner
    assert banner.waiting.isHidden() and not banner._second.isActive()
    session.enter(Phase.STARTING)
    said = banner.detail
    assert banner.waiting.isVisible() and "the first time takes a minute" in said
    for _ in range(3):
        banner._second.timeout.emit()
    session.changed.emit()
    assert banner.detail == f"{said} 3 s so far."
    session.take(make_status(State.IDLE))
    assert banner.waiting.isHidden() and not banner._second.isActive() and "so far" not in banner.detail
    session.enter(Phase.STARTING)
    banner._second.timeout.emit()
    assert banner.detail == f"{said} 1 s so far."
    session.enter(Phase.DOWN)


@pytest.mark.parametrize("width", [1024, 1280])
def test_nothing_of_the_banner_is_cut(window: MainWindow, session: FakeSession, width: int) -> None:
    window.resize(width, 700)
    cause = "communication lost: leg 3: no fresh feedback for 24 ms (bound 24 ms)"
    for change in (
        lambda: session.take(make_status(State.FAULT, latched=True, cause=cause)),
        lambda: session.enter(Phase.STARTING),
    ):
        change()
        banner = window.banner
        banner._second.timeout.emit()
        for label in (banner._text, banner._detail, banner.remedy_button, banner.waiting):
            if label.isVisible():
                assert banner._state.rect().contains(label.geometry())
        assert banner._detail.height() >= banner._detail.heightForWidth(banner._detail.width())
        figures = banner._figures
        assert all(figures.rect().contains(label.geometry()) for label in figures.findChildren(QtWidgets.QLabel))
    session.enter(Phase.DOWN)


def test_the_banner_says_for_how_long_the_disk_has_room_and_does_not_move_for_it(
    window: MainWindow, session: FakeSession, tmp_path: Path
) -> None:
    session.recording = tmp_path / "run.mcap"
    session.recording.write_bytes(bytes(12_300_000))
    places = []
    for room, said in ((math.inf, "12 MB"), (1800.0, "30 min left"), (90.0, "1.5 min left"), (4e5, "12 MB")):
        session.take(make_status(State.ENGAGED, recording_room=room))
        window.views.clock.slow.emit(None)
        QtWidgets.QApplication.processEvents()
        assert window.banner.figure("Size, left") == said
        places.append(window.stop_button.geometry())
    assert len(set(map(repr, places))) == 1
    session.recording.unlink()
    window.views.clock.slow.emit(None)
    assert window.banner.figure("Size, left") == "–"
