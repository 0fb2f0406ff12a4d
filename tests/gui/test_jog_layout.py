"""The Jog page's looks: the machine has half of it, groups fold, and what somebody has arranged is kept."""

from pathlib import Path

import pytest
from pyqtgraph.Qt import QtCore, QtGui, QtWidgets
from shell_support import LEFT, FakeSession, make_settings, make_status, press

from gui.operate.jog_panel import JogPanel
from gui.session.mover import Mover
from gui.shell.main_window import MainWindow
from gui.widgets import Columns
from rig.states import State


@pytest.mark.parametrize(("width", "columns"), [(990, 1), (1620, 2)])
def test_the_machine_has_half_of_the_page(window: MainWindow, width: int, columns: int) -> None:
    jog, picture = window.jog, QtWidgets.QWidget()
    window.tabs.setCurrentWidget(jog)
    jog.add_picture(picture)
    window.resize(width + 290, 800)
    QtWidgets.QApplication.processEvents()
    assert picture.width() == pytest.approx(jog.width() / 2, abs=jog.splitter.handleWidth())
    assert jog.controls.findChild(Columns).count == columns
    right = [button.mapTo(jog.controls, button.rect().topRight()).x() for button in jog.buttons.values()]
    assert max(right) < jog.controls.viewport().width()  # nothing is cut off


def test_a_border_that_was_moved_and_groups_that_were_folded_stay_so(
    window: MainWindow, session: FakeSession, tmp_path: Path
) -> None:
    jog = window.jog
    window.tabs.setCurrentWidget(jog)
    jog.add_picture(QtWidgets.QWidget())
    window.resize(1600, 800)
    handle = jog.splitter.handle(1)
    here = handle.rect().center()
    _drag(handle, here, QtCore.QPoint(here.x() + 120, here.y()))
    moved = jog.splitter.sizes()
    assert moved[0] - moved[1] > 200
    press(jog.folds[2].head)
    assert not jog.folds[2].is_open and not jog.legs.isVisible()
    settings = make_settings(tmp_path)
    jog.save(settings)
    mover = Mover(session, window)
    other = JogPanel(session, mover)
    other.restore(settings)
    other.resize(jog.size())
    other.add_picture(QtWidgets.QWidget())
    assert [fold.is_open for fold in other.folds] == [fold.is_open for fold in jog.folds]
    other.show()
    assert other.splitter.sizes() == moved
    other.deleteLater()
    mover.close()


def test_a_group_folded_away_keeps_the_page_in_step(window: MainWindow, session: FakeSession) -> None:
    window.tabs.setCurrentWidget(window.jog)
    for fold in window.jog.folds:
        fold.set_open(False)
    session.take(make_status(State.ENGAGED))
    assert not any(button.isVisible() for button in window.jog.buttons.values())
    window.jog.folds[0].set_open(True)
    assert window.jog.buttons["+x"].isVisible() and window.jog.buttons["+x"].isEnabled()


def _drag(widget: QtWidgets.QWidget, start: QtCore.QPoint, end: QtCore.QPoint) -> None:
    """A border that is dragged: the mouse goes with the button down."""
    for kind, place, buttons in (
        (QtCore.QEvent.Type.MouseButtonPress, start, LEFT),
        (QtCore.QEvent.Type.MouseMove, end, LEFT),
        (QtCore.QEvent.Type.MouseButtonRelease, end, QtCore.Qt.MouseButton.NoButton),
    ):
        QtWidgets.QApplication.sendEvent(widget, _mouse(widget, kind, place, buttons))


def _mouse(
    widget: QtWidgets.QWidget, kind: QtCore.QEvent.Type, place: QtCore.QPoint, buttons: QtCore.Qt.MouseButton
) -> QtCore.QEvent:
    there = QtCore.QPointF(place)
    where = QtCore.QPointF(widget.mapToGlobal(place))
    return QtGui.QMouseEvent(kind, there, where, LEFT, buttons, QtCore.Qt.KeyboardModifier.NoModifier)


def test_a_small_window_shows_the_whole_page_whatever_another_needs(window: MainWindow) -> None:
    jog, picture, wide = window.jog, QtWidgets.QWidget(), QtWidgets.QWidget()
    picture.setMinimumWidth(180)  # as the machine's
    wide.setMinimumWidth(1500)
    window.tabs.addTab(wide, "wide")
    jog.add_picture(picture)
    window.resize(1024, 700)
    pages = window.docking.side.parentWidget()
    for page, fits in ((jog, True), (wide, False), (jog, True)):
        window.tabs.setCurrentWidget(page)
        QtWidgets.QApplication.processEvents()
        assert (window.tabs.width() <= pages.width()) is fits
    assert picture.mapTo(pages, picture.rect().topRight()).x() < pages.width() and picture.width() >= 300
