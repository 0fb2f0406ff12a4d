"""Pages beside the tabs inside the main window: by menu, key and mouse, kept, and refused where there is no room."""

from pathlib import Path
from typing import Any

import pytest
from pyqtgraph.Qt import QtCore, QtGui, QtTest, QtWidgets
from shell_support import LEFT, FakeSession, focus, make_settings, press

from gui.shell.main_window import MainWindow

_NONE = QtCore.Qt.KeyboardModifier.NoModifier
_WIDE, _LEAST = (1640, 800), (1024, 700)


def _settle(window: MainWindow, size: tuple[int, int] = _WIDE) -> None:
    window.resize(*size)
    QtWidgets.QApplication.processEvents()


def _drag(window: MainWindow, name: str, to: QtCore.QPoint) -> bool:
    """Drag a tab to a point of the screen; whether its place was framed there."""
    bar = window.tabs.tabBar()
    index = next(each for each in range(window.tabs.count()) if window.tabs.tabText(each) == name)
    QtTest.QTest.mousePress(bar, LEFT, _NONE, bar.tabRect(index).center())
    event = QtCore.QEvent.Type.MouseMove
    at = bar.mapFromGlobal(to)
    move = QtGui.QMouseEvent(event, QtCore.QPointF(at), QtCore.QPointF(to), LEFT, LEFT, _NONE)
    QtWidgets.QApplication.sendEvent(bar, move)
    framed = window.docking.side._band.isVisible()
    QtTest.QTest.mouseRelease(bar, LEFT, _NONE, at)
    return bool(framed)


def _edge(window: MainWindow) -> QtCore.QPoint:
    side = window.docking.side
    return QtCore.QPoint(side.mapToGlobal(QtCore.QPoint(side.width() - 10, side.height() // 2)))


def test_a_page_stands_beside_another_with_stop_and_banner_in_view(window: MainWindow, session: FakeSession) -> None:
    _settle(window)
    window.tabs.setCurrentWidget(window.jog)
    window.docking.show_in_split("Live")
    QtWidgets.QApplication.processEvents()
    live = window.views.live_page
    assert live.isVisible() and window.jog.isVisible() and live.window() is window
    right = live.mapTo(window, QtCore.QPoint()).x()
    assert right >= window.tabs.mapTo(window, QtCore.QPoint(window.tabs.width(), 0)).x()
    for shown in (window.stop_button, window.banner, live):
        place = QtCore.QRect(shown.mapTo(window, QtCore.QPoint()), shown.size())
        assert window.rect().contains(place), shown
    place = [window.tabs.tabText(index) for index in range(window.tabs.count())].index("Live")
    assert not window.tabs.tabIcon(place).isNull()
    bar = window.tabs.tabBar()
    assert window.tabs.width() >= bar.sizeHint().width()  # no name of a tab is out of view
    press(window.docking.side.panes["Live"].back)
    assert window.docking.side.panes == {} and window.tabs.currentWidget() is live
    assert window.tabs.tabIcon(place).isNull()


def test_while_a_page_goes_from_place_to_place_nothing_is_drawn_and_then_all_is(window: MainWindow, qtbot: Any) -> None:
    _settle(window)
    for move in (window.docking.show_in_split, window.docking.dock, window.docking.tear_off, window.docking.dock):
        move("Live")
        assert not window.docking.side.updatesEnabled()
        qtbot.waitUntil(window.docking.side.updatesEnabled)
        assert window.views.live_page.updatesEnabled()
    with pytest.raises(KeyError), window.docking._drawn_once():
        assert not window.docking.side.updatesEnabled()
        raise KeyError
    qtbot.waitUntil(window.docking.side.updatesEnabled)


def test_the_key_puts_the_page_in_front_beside_and_the_one_that_has_the_keyboard_back(
    window: MainWindow, qtbot: Any
) -> None:
    _settle(window)
    window.tabs.setCurrentWidget(window.views.log)
    window.menus.view.front_split.trigger()
    assert list(window.docking.side.panes) == ["Event log"] and window.tabs.currentWidget() is window.motion
    assert window.menus.view.split_actions["Event log"].isChecked()
    focus(qtbot, window.views.log.search)
    window.menus.view.front_split.trigger()
    assert window.docking.side.panes == {} and window.tabs.currentWidget() is window.views.log
    assert not window.menus.view.split_actions["Event log"].isChecked()
    window.tabs.setCurrentWidget(window.jog)
    window.menus.view.front_split.trigger()
    assert window.docking.side.panes == {} and "commands the machine" in window.banner.notice.text()


def test_a_tab_is_dragged_to_the_right_edge_and_its_head_back(window: MainWindow) -> None:
    _settle(window)
    window.tabs.setCurrentWidget(window.jog)
    assert _drag(window, "Event log", _edge(window))
    assert list(window.docking.side.panes) == ["Event log"] and window.docking.windows == {}
    head = window.docking.side.panes["Event log"].head
    bar = window.tabs.tabBar()
    QtTest.QTest.mousePress(head, LEFT)
    QtTest.QTest.mouseRelease(head, LEFT, _NONE, head.mapFromGlobal(bar.mapToGlobal(bar.rect().center())))
    assert window.docking.side.panes == {} and window.tabs.currentWidget() is window.views.log
    assert not _drag(window, "Motion", _edge(window)) and window.docking.side.panes == {}


def test_without_room_it_is_refused_with_the_reason(whole_window: MainWindow) -> None:
    window = whole_window
    _settle(window, _LEAST)
    window.tabs.setCurrentWidget(window.motion)
    window.docking.show_in_split("Live")
    assert window.docking.side.panes == {} and window.views.live_page.isVisibleTo(window.tabs) is False
    told = window.banner.notice.text()
    assert "are available" in told and "Ctrl+T" in told
    action = window.menus.view.split_actions["Live"]
    for menu in action.associatedWidgets():
        if isinstance(menu, QtWidgets.QMenu):
            menu.aboutToShow.emit()
    assert not action.isEnabled() and action.toolTip() in told
    (beside,) = [each for each in window.docking.menu_of("Live").actions() if "Beside" in each.text()]
    assert not beside.isEnabled() and beside.toolTip() == action.toolTip()
    assert not _drag(window, "Live", _edge(window)) and window.docking.side.panes == {} and window.docking.windows == {}


def test_from_a_window_to_the_side_and_back_to_a_window(window: MainWindow) -> None:
    _settle(window)
    window.tabs.setCurrentWidget(window.jog)
    window.docking.tear_off("Event log")
    (docked, beside) = [each.text() for each in window.docking.menu_of("Event log").actions()]
    assert (docked, beside) == ("&Dock back", "&Beside")
    window.docking.show_in_split("Event log")
    assert list(window.docking.side.panes) == ["Event log"] and window.docking.windows == {}
    assert window.tabs.currentWidget() is window.jog
    window.docking.tear_off("Event log")
    assert window.docking.side.panes == {} and list(window.docking.windows) == ["Event log"]


@pytest.mark.parametrize(("size", "there"), [(_WIDE, True), (_LEAST, False)])
def test_what_stood_beside_comes_back_where_there_is_room(
    session: FakeSession, qtbot: Any, tmp_path: Path, size: tuple[int, int], there: bool
) -> None:
    settings = make_settings(tmp_path)
    settings.setValue("windows/Live/beside", "yes")
    settings.setValue("tab", "Jog")
    settings.setValue("windows/beside", "hello")
    window = MainWindow(session, settings)
    try:
        window.show()
        _settle(window, size)
        qtbot.waitUntil(lambda: window.complete, timeout=60_000)
        assert ("Live" in window.docking.side.panes) is there
    finally:
        window.close_now()
    assert settings.value("windows/Live/beside") == "yes"  # on a larger screen it is wanted there again


def test_what_is_put_elsewhere_stands_beside_no_more(session: FakeSession, qtbot: Any, tmp_path: Path) -> None:
    settings = make_settings(tmp_path)
    settings.setValue("windows/Live/beside", "yes")
    window = MainWindow(session, settings)
    try:
        window.show()
        _settle(window, _LEAST)
        qtbot.waitUntil(lambda: window.complete, timeout=60_000)
        window.docking.tear_off("Live")
        window.docking.dock("Live")
    finally:
        window.close_now()
    assert settings.value("windows/Live/beside") == "no"
