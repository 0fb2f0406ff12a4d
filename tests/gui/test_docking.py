"""Pages in windows of their own: torn off, docked back, kept; and STOP in each of them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyqtgraph.Qt import QtCore, QtGui, QtTest, QtWidgets
from shell_support import KEY, LEFT, FakeSession, focus, key, make_settings, make_status, press

from gui.session import StopButton, StopEverywhere
from gui.shell.docking import DetachedWindow, Docking, SideBySide, in_view
from gui.shell.main_window import MainWindow
from gui.shell.views import Tabs
from rig.states import State

_NONE = QtCore.Qt.KeyboardModifier.NoModifier
_CTRL = QtCore.Qt.KeyboardModifier.ControlModifier
_NAMES = ["Motion", "Live", "Log"]


class Host(QtWidgets.QMainWindow):  # type: ignore[misc]  # no types
    """A window with three pages, the last two of which may be torn off; it writes down its stops."""

    def __init__(self, settings: QtCore.QSettings) -> None:
        super().__init__()
        self.stops: list[str] = []
        self.setWindowTitle("Parked – rig")
        self.tabs = Tabs("Panels")
        self.pages = [QtWidgets.QLineEdit() for _ in _NAMES]
        for name, page in zip(_NAMES, self.pages, strict=True):
            self.tabs.addTab(page, name)
        stop = StopButton(lambda: self.stops.append("main"))
        content = QtWidgets.QWidget()
        layout = QtWidgets.QVBoxLayout(content)
        layout.addWidget(stop)
        self.side = SideBySide(self.tabs)
        layout.addWidget(self.side)
        self.setCentralWidget(content)
        self.everywhere = StopEverywhere(stop, self.stops.append)
        self.docking = Docking(self.side, self.tabs, self.pages[1:], lambda: self.stops.append("button"), settings)
        self.resize(500, 400)

    def be_gone(self) -> None:
        """End it."""
        self.docking.close()
        self.everywhere.remove()
        self.close()
        self.deleteLater()
        QtWidgets.QApplication.sendPostedEvents(None, QtCore.QEvent.Type.DeferredDelete)


@pytest.fixture
def host(qapp: QtWidgets.QApplication, tmp_path: Path) -> Iterator[Host]:
    made = Host(make_settings(tmp_path))
    made.show()
    assert QtTest.QTest.qWaitForWindowExposed(made)
    yield made
    made.be_gone()


def _torn(host: Host, name: str) -> DetachedWindow:
    window = host.docking.windows[name]
    assert QtTest.QTest.qWaitForWindowExposed(window)
    return window


def _titles(host: Host) -> list[str]:
    return [host.tabs.tabText(index) for index in range(host.tabs.count())]


def test_a_page_is_torn_off_and_docked_back_where_it_was(host: Host) -> None:
    host.docking.tear_off("Live")
    window = _torn(host, "Live")
    page = host.pages[1]
    assert page.window() is window and page.isVisible() and _titles(host) == _NAMES
    assert host.tabs.currentWidget() is host.pages[0] and host.tabs.indexOf(page) == -1
    assert window.windowTitle() == "Live – Parked – rig"
    host.setWindowTitle("Engaged – rig")
    assert window.situation.text() == "Engaged – rig"
    press(window.back)
    assert host.docking.windows == {} and host.tabs.widget(1) is page and _titles(host) == _NAMES
    assert page.isVisible() and page.window() is host and host.tabs.currentWidget() is page


def test_closing_its_window_docks_a_page_back(host: Host) -> None:
    host.docking.tear_off("Log")
    _torn(host, "Log").close()
    assert host.pages[2].window() is host and host.docking.windows == {}
    host.docking.tear_off("Log")  # and again
    assert host.pages[2].window() is _torn(host, "Log")


def test_stop_and_esc_act_in_a_window_of_its_own(host: Host, qtbot: Any) -> None:
    host.docking.tear_off("Live")
    window = _torn(host, "Live")
    assert window.findChildren(StopButton) == [window.stop_button]  # one, that of its head
    stop = window.stop_button
    assert stop.isVisible() and stop.height() >= 48 and window.rect().contains(stop.geometry())
    QtTest.QTest.mousePress(stop, LEFT)
    QtTest.QTest.mouseRelease(stop, LEFT)
    focus(qtbot, host.pages[1])
    key(KEY.Key_Escape)
    assert host.stops == ["button", "Esc"]
    menu = QtWidgets.QMenu(host.pages[1])
    menu.addAction("one")
    menu.popup(window.mapToGlobal(QtCore.QPoint(20, window.height() - 40)))
    qtbot.waitUntil(menu.isVisible, timeout=60_000)
    place = stop.mapToGlobal(stop.rect().center())
    QtTest.QTest.mousePress(menu.windowHandle(), LEFT, _NONE, menu.mapFromGlobal(place))  # a popup takes every click
    assert host.stops == ["button", "Esc", "button"]
    menu.close()


def test_a_small_window_keeps_stop_whole(host: Host) -> None:
    host.pages[1].setMinimumSize(1200, 1500)
    host.docking.tear_off("Live")
    window = _torn(host, "Live")
    window.resize(400, 300)
    QtWidgets.QApplication.processEvents()
    assert window.height() == 300 and window.stop_button.height() >= 48
    assert window.rect().contains(window.stop_button.geometry())


def test_by_keyboard_and_full_screen(host: Host, qtbot: Any) -> None:
    host.docking.toggle_front()
    assert host.docking.windows == {}  # what commands the machine stays
    host.tabs.setCurrentIndex(1)
    host.docking.toggle_front()
    window = _torn(host, "Live")
    focus(qtbot, host.pages[1])
    for filled in (True, False):
        key(KEY.Key_F11)
        qtbot.waitUntil(lambda filled=filled: window.isFullScreen() is filled, timeout=60_000)
        assert window.whole.isChecked() is filled and window.stop_button.isVisible()
    QtTest.QTest.keyClick(window.windowHandle(), KEY.Key_T, _CTRL)
    assert host.docking.windows == {} and host.pages[1].window() is host


def test_space_on_a_head_does_nothing(host: Host, qtbot: Any) -> None:
    host.docking.tear_off("Live")
    window = _torn(host, "Live")
    for button in (window.back, window.whole):
        focus(qtbot, button)
        key(KEY.Key_Space)
    assert list(host.docking.windows) == ["Live"] and not window.isFullScreen() and host.stops == []


def test_a_tab_is_dragged_off_or_clicked_twice(host: Host) -> None:
    bar = host.tabs.tabBar()
    at = bar.tabRect(1).center()
    QtTest.QTest.mousePress(bar, LEFT, _NONE, at)
    QtTest.QTest.mouseRelease(bar, LEFT, _NONE, at + QtCore.QPoint(5, 20))  # a hand that was not steady
    assert host.docking.windows == {}
    QtTest.QTest.mousePress(bar, LEFT, _NONE, at)
    QtTest.QTest.mouseRelease(bar, LEFT, _NONE, at + QtCore.QPoint(30, 150))
    assert list(host.docking.windows) == ["Live"]
    QtTest.QTest.mouseDClick(bar, LEFT, _NONE, bar.tabRect(2).center())
    QtTest.QTest.mouseDClick(bar, LEFT, _NONE, bar.tabRect(0).center())
    assert list(host.docking.windows) == ["Live", "Log"]


def test_what_stands_in_the_place_of_a_page_leads_to_it(host: Host) -> None:
    host.docking.tear_off("Live")
    window = _torn(host, "Live")
    window.hide()
    host.tabs.setCurrentIndex(1)
    buttons = {each.text(): each for each in host.tabs.currentWidget().findChildren(QtWidgets.QPushButton)}
    press(buttons["Show it"])
    assert window.isVisible()
    press(buttons["Dock it back"])
    assert host.pages[1].window() is host


def test_windows_are_kept_where_they_were(host: Host, tmp_path: Path) -> None:
    host.docking.tear_off("Live")
    window = _torn(host, "Live")
    window.setGeometry(140, 90, 620, 410)
    host.docking.tear_off("Log")
    host.docking.dock("Log")
    host.docking.close()
    assert not window.isVisible()
    again = Host(make_settings(tmp_path))
    again.show()
    try:
        again.docking.restore()
        assert list(again.docking.windows) == ["Live"]
        assert _torn(again, "Live").size() == QtCore.QSize(620, 410)
    finally:
        again.be_gone()


def test_settings_of_windows_that_make_no_sense_are_left_out(host: Host, tmp_path: Path) -> None:
    settings = host.docking._settings
    settings.setValue("windows/Live/torn", "yes")
    settings.setValue("windows/Live/geometry", QtCore.QByteArray(b"hello"))
    settings.setValue("windows/Log/torn", QtCore.QPoint(1, 2))
    settings.setValue("windows/Motion/torn", "yes")
    host.docking.restore()
    assert list(host.docking.windows) == ["Live"]


def test_a_window_of_a_monitor_that_is_gone_comes_back(host: Host) -> None:
    host.docking.tear_off("Live")
    window = _torn(host, "Live")
    window.move(20_000, 300)
    screen = QtGui.QGuiApplication.primaryScreen()
    assert not in_view(window.frameGeometry(), [screen.availableGeometry()])
    host.docking._move_onto_screens()
    assert in_view(window.frameGeometry(), [screen.availableGeometry()])
    there = window.pos()
    host.docking._move_onto_screens()
    assert window.pos() == there  # whoever is in view stays


@pytest.mark.parametrize(
    ("frame", "seen"),
    [
        ((0, 0, 400, 300), True),
        ((-300, 10, 400, 300), False),
        ((-250, 10, 400, 300), True),
        ((10, 790, 400, 300), False),
        ((10, -20, 400, 300), False),
        ((1900, 100, 400, 300), True),
        ((3000, 100, 400, 300), False),
        ((10, 10, 60, 20), True),
    ],
)
def test_enough_of_a_head_is_in_view(frame: tuple[int, int, int, int], seen: bool) -> None:
    screens = [QtCore.QRect(0, 0, 1280, 800), QtCore.QRect(1280, 0, 1280, 1024)]
    assert in_view(QtCore.QRect(*frame), screens) is seen


def test_windows_of_a_monitor_that_goes_come_into_view(host: Host, qtbot: Any) -> None:
    host.docking.tear_off("Live")
    window = _torn(host, "Live")
    window.move(-5000, -5000)
    application = QtGui.QGuiApplication.instance()
    application.screenRemoved.emit(application.primaryScreen())
    left = [application.primaryScreen().availableGeometry()]
    qtbot.waitUntil(lambda: in_view(window.frameGeometry(), left), timeout=60_000)


def test_the_apps_own_windows(window: MainWindow, session: FakeSession, qtbot: Any, tmp_path: Path) -> None:
    """The panels that may be torn off, by the menu, with the app's own STOP; closing the app keeps where they are."""
    assert list(window.menus.view.torn) == window.docking.names
    assert window.docking.names == ["Live", "Dashboards", "3-D view", "Recordings", "Event log"]
    window.tabs.setCurrentWidget(window.jog)
    assert not window.menus.view.tear.isEnabled() and "stays in the main window" in window.menus.view.tear.toolTip()
    window.tabs.setCurrentWidget(window.views.log)
    window.menus.view.tear.trigger()
    torn = window.docking.windows["Event log"]
    assert QtTest.QTest.qWaitForWindowExposed(torn) and window.menus.view.torn["Event log"].isChecked()
    session.take(make_status(State.ENGAGED))
    assert torn.situation.text() == window.windowTitle() and "Engaged" in torn.situation.text()
    QtTest.QTest.mousePress(torn.stop_button, LEFT)
    focus(qtbot, window.views.log.search)
    key(KEY.Key_Escape)
    assert session.stops == [(1, "button"), (1, "Esc")]
    window.menus.view.torn["Live"].trigger()
    window.docking.show_page("Motion")
    assert window.tabs.currentWidget() is window.motion and set(window.docking.windows) == {"Event log", "Live"}
    window.close()  # with torque: it asks first, and nothing is closed yet
    assert torn.isVisible() and window.closing.question is not None
    window.close_now()
    settings = make_settings(tmp_path)
    kept = {name: settings.value(f"windows/{name}/torn") for name in window.docking.names}
    assert kept == dict.fromkeys(kept) | {"Event log": "yes", "Live": "yes"}  # what was never restored is as it was


def test_a_window_closed_before_every_view_is_there_forgets_nothing(session: FakeSession, tmp_path: Path) -> None:
    settings = make_settings(tmp_path)
    kept = {"windows/Dashboards/torn": "yes", "windows/Live/beside": "yes"}
    for name, value in kept.items():
        settings.setValue(name, value)
    window = MainWindow(session, settings)
    assert not window.complete
    window.close_now()
    assert {name: settings.value(name) for name in kept} == kept


def test_windows_of_the_last_time_come_once_every_view_is_there(
    session: FakeSession, qtbot: Any, tmp_path: Path
) -> None:
    settings = make_settings(tmp_path)
    settings.setValue("windows/Dashboards/torn", "yes")
    window = MainWindow(session, settings)
    try:
        qtbot.waitUntil(lambda: window.complete, timeout=60_000)
        torn = window.docking.windows["Dashboards"]
        assert window.views.dashboards.page.window() is torn and torn.isVisible()
        assert window.tabs.indexOf(window.views.dashboards_page) == -1
    finally:
        window.close_now()
    assert not torn.isVisible()
