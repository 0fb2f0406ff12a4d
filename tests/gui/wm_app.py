"""The app under a window manager of its own, for real clicks and keys: says where things are and what they show.

A line on stdin is a request, a list of its name and what it is about as JSON; each is answered by one of a failure, or
"", and the answer. The app is `gui.application.run`, begun anew when it has ended, on sessions without processes, or
with `live`, and the heartbeat that their clients owe in s, as last arguments on real ones.
"""

import json
import sys
import threading
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

from happenings import StandingStill
from live_app import with_patience
from live_views import out_of_picture
from pyqtgraph.Qt import QtCore, QtWidgets
from shell_support import BusyEngine, FakeSession, make_status

from gui import application
from gui.models.rules import Action, Phase
from gui.session.rig_session import RigSession
from gui.session.stop_everywhere import StopButton
from gui.shell.guide import GuideWindow
from gui.shell.main_window import MainWindow
from rig.client import LiveRig
from rig.client import live as live_rig
from rig.client.heartbeat import WindowHeartbeat
from rig.config.rig_config import RigConfig
from rig.engine import Compiling
from rig.findings import Code
from rig.states import FaultCode, State, StopSeverity

_HOLD = 300.0  # s that an engine without its app waits for the next, which starts on a busy machine
_HANGS = 30.0  # s after which a window counts as hanging, on a machine where all that it paints may take long


class Keys(QtCore.QObject):
    """Counts the presses of Shift, which nothing in the app answers, and the clicks and turns of the wheel."""

    shifts = 0
    clicks = 0

    def eventFilter(self, receiver: QtCore.QObject, event: QtCore.QEvent) -> bool:
        """Look, and let go on."""
        if receiver.isWindowType():
            if event.type() == QtCore.QEvent.Type.KeyPress:
                self.shifts += event.key() == QtCore.Qt.Key.Key_Shift
            elif event.type() in (QtCore.QEvent.Type.MouseButtonRelease, QtCore.QEvent.Type.Wheel):
                self.clicks += 1
        return False


class Windows:
    """The windows that the app makes, one after the other.

    Args:
        block: name of the control block that a session's engine has.
        folder: for recordings.
        live: whether sessions are real ones.
    """

    def __init__(self, block: str, folder: Path, live: bool) -> None:
        self._block, self._folder, self._live = block, folder, live
        self.made = 0
        self.present: MainWindow | None = None

    def make(self, config: RigConfig, settings: QtCore.QSettings) -> MainWindow:
        """In place of `gui.application.make_window`."""
        real = self._live
        session = RigSession(config, self._folder) if real else _Session(config, self._folder, self._block)
        self.present = MainWindow(session, settings)
        self.present.views.building.stop()  # dozens of plots: whoever looks at them has them made
        self.made += 1
        return self.present

    @property
    def visible(self) -> list[MainWindow]:
        """Those that can be seen."""
        top = QtWidgets.QApplication.topLevelWidgets()
        return [each for each in top if isinstance(each, MainWindow) and each.isVisible()]


class _Session(FakeSession):
    """A session whose engine answers nothing, but for what a test says for it."""

    def __init__(self, config: RigConfig, folder: Path, block: str) -> None:
        super().__init__(config, folder)
        self.engine = BusyEngine(block)
        self._engine = cast(LiveRig, self.engine)  # as far as the app asks it

    @property
    def engine_pid(self) -> None:
        """It is no process."""

    def end(self) -> None:
        """Without waiting for that engine."""
        self.engine.let_go()
        super().end()

    def close(self) -> None:
        """The same."""
        self.engine.let_go()
        super().close()


class Eye:
    """Answers what is asked of the app.

    Args:
        windows: whose present one is looked at.
        keys: that were counted.
        folder: of the test.
    """

    def __init__(self, windows: Windows, keys: Keys, folder: Path) -> None:
        self._windows = windows
        self._folder = folder
        self.ending = False
        self._still: StandingStill | None = None
        self._names: dict[str, Any] = {
            "keys": keys,
            "windows": windows,
            "QtWidgets": QtWidgets,
            "threading": threading,
            "places": lambda: [_place(each, each.rect().center()) for each in _buttons(self._window)],
            "pages": lambda: self._window.tabs.parentWidget().parentWidget(),
            "keyboard": lambda: _name(QtWidgets.QApplication.focusWidget()),
            "file_name": lambda: dialogs()[-1].findChild(QtWidgets.QLineEdit, "fileNameEdit"),
            **{
                each.__name__: each
                for each in (make_status, out_of_picture, button, tab, entry, item, part, dialogs, Path)
            },
            **{each.__name__: each for each in (Action, Compiling, FaultCode, Phase, State, StopSeverity)},
        }

    def answer(self, request: str, what: str) -> Any:
        """The answer to one request."""
        if request == "value":
            return self._evaluate(what)
        if request == "where":
            return _where(self._evaluate(what))
        if request == "do":
            QtCore.QTimer.singleShot(0, lambda: self._evaluate(what))
        elif request == "open":
            self._open(what)
        elif request == "close":
            self._close()
        elif request == "quit":
            self.ending = True
            self._close()
            self._window.close_now()
            QtWidgets.QApplication.instance().quit()
        return self._look()

    @property
    def _window(self) -> MainWindow:
        assert self._windows.present is not None
        return self._windows.present

    def _evaluate(self, expression: str) -> Any:
        window = self._window
        if isinstance(window.session, FakeSession) and (self._still is None or self._still.window is not window):
            self._still = StandingStill(window, window.session)
        names = self._names | {"window": window, "session": window.session, "fresh": lambda: _begin_anew(window)}
        names["standing_still"] = self._still
        return eval(expression, names)

    def _look(self) -> dict[str, Any]:
        """Where every STOP is that lies under nothing, and what else is up."""
        popup = QtWidgets.QApplication.activePopupWidget()
        others = [*dialogs(), *guides()]
        covers = [*others, *([popup] if popup else [])]
        stops = []
        for window in (*self._windows.visible, *others):
            for stop in window.findChildren(StopButton):
                middle = stop.mapToGlobal(stop.rect().center())
                above = [each for each in covers if each is not window and each.frameGeometry().contains(middle)]
                if stop.isVisible() and stop.window() is window and not above:
                    stops.append(_place(stop, stop.rect().center()))
        return {
            "dialogs": len(dialogs()),
            "popup": popup is not None,
            "active": QtWidgets.QApplication.activeWindow() is not None,
            "stops": stops,
        }

    def _open(self, name: str) -> None:
        session = self._window.session
        # the wizard is possible only while no engine is there; the flag is raised all the same
        if name.endswith("wizard"):
            session.enter(Phase.DOWN)
        else:
            session.take(make_status(State.RUNNING))
        QtCore.QTimer.singleShot(0, _things(self._window, self._folder)[name])

    def _close(self) -> None:
        window = self._window
        for each in (QtWidgets.QApplication.activePopupWidget(), *reversed(dialogs())):
            if each is not None:
                ways = [each.close]
                if isinstance(each, QtWidgets.QWizard):
                    ways = [window.menus.setup.close, window.menus.calibrate.close_wizards]
                for close in ways:
                    QtCore.QTimer.singleShot(0, close)


def _begin_anew(window: MainWindow) -> None:
    """As it was at first, but for what is kept from one start to the next."""
    session = window.session
    window.motion.mover._end(Code.STOP_REQUESTED)
    session.refuse, session.hold_answers, session.recording = "", False, None
    session.sent.clear()
    session.enter(Phase.DOWN)
    window.banner.notice.clear()
    if window.motion.document.unsaved or window.motion.title != "Motion: demo":  # its form takes a while to fill
        window.motion.load_shipped("demo")
    window.motion.templates.leave()
    window.motion.repeats.setValue(1)
    window.tabs.setCurrentIndex(0)
    if window.menus.help.guide is not None:
        window.menus.help.guide.close()
    window.resize(1280, 800)
    window.operate.buttons[Action.CONNECT].setFocus()


# -- what a test can name ----------------------------------------------------------------------------------------------


def button(name: str) -> QtWidgets.QAbstractButton:
    """The button in view of this text or accessible name; of a dialog before that of the window."""
    top = [each for each in QtWidgets.QApplication.topLevelWidgets() if each.isVisible()]
    for window in sorted(top, key=lambda each: isinstance(each, MainWindow)):
        for each in _buttons(window):
            if name in (each.text(), each.accessibleName()):
                return each
    raise LookupError(f"no button {name!r} in view")


def tab(tabs: QtWidgets.QTabWidget, name: str) -> Any:
    """The place of a tab by its text."""
    bar = tabs.tabBar()
    (index,) = [index for index in range(bar.count()) if bar.tabText(index) == name]
    return bar, bar.tabRect(index)


def entry(menu: Any, name: str) -> Any:
    """The place of an entry of a menu or menu bar by its text without marks."""
    (action,) = [each for each in menu.actions() if each.text().replace("&", "").split("\t")[0] == name]
    return menu, menu.actionGeometry(action)


def item(view: Any, found: Any) -> Any:
    """The place of an item of a table, or of a tree's item in its first column."""
    if isinstance(view, QtWidgets.QTreeWidget):
        return view.viewport(), view.visualRect(view.indexFromItem(found))
    return view.viewport(), view.visualItemRect(found)


def part(widget: QtWidgets.QWidget, x: float, y: float) -> Any:
    """The place in a widget so far across and down it, 0…1."""
    return widget, QtCore.QPoint(round(x * (widget.width() - 1)), round(y * (widget.height() - 1)))


def dialogs() -> list[QtWidgets.QDialog]:
    """Those that are up."""
    top = QtWidgets.QApplication.topLevelWidgets()
    return [each for each in top if isinstance(each, QtWidgets.QDialog) and each.isVisible()]


def guides() -> list[GuideWindow]:
    """The guide, where it is up."""
    top = QtWidgets.QApplication.topLevelWidgets()
    return [each for each in top if isinstance(each, GuideWindow) and each.isVisible()]


def _buttons(window: QtWidgets.QWidget) -> list[QtWidgets.QAbstractButton]:
    return [each for each in window.findChildren(QtWidgets.QAbstractButton) if each.isVisible()]


def _name(widget: Any) -> str:
    return str(widget.accessibleName() or (widget.text() if hasattr(widget, "text") else type(widget).__name__))


def _where(found: Any) -> dict[str, Any]:
    widget, place = found if isinstance(found, tuple) else (found, found.rect())
    point = place.center() if isinstance(place, QtCore.QRect) else place
    at = QtWidgets.QApplication.widgetAt(widget.mapToGlobal(point)) if widget.isVisible() else None
    text = getattr(widget, "text", None)
    return {
        "place": _place(widget, point),
        "visible": bool(widget.isVisible()),
        "enabled": bool(widget.isEnabled()),
        "clear": at is not None and (at is widget or bool(widget.isAncestorOf(at))),
        "focus": bool(widget.hasFocus()),
        "text": str(text()) if callable(text) else "",
    }


def _place(widget: QtWidgets.QWidget, point: QtCore.QPoint) -> list[int]:
    ratio = widget.devicePixelRatioF()
    place = widget.mapToGlobal(point)
    return [round(place.x() * ratio), round(place.y() * ratio)]


def _things(window: MainWindow, folder: Path) -> dict[str, Callable[[], Any]]:
    """What comes up over the window, by name."""
    taken = folder / "taken.toml"
    taken.touch()

    def ask_to_replace() -> None:
        QtCore.QTimer.singleShot(300, lambda: _type(window, taken))
        window.motion.document.save_as()

    def ask_about_changes() -> None:
        window.motion.amplitude.setValue(40.0)
        window.motion.confirm_discard(lambda: None)

    def ask_to_discard_a_rig() -> None:
        window.menus.setup.start()
        wizard = window.menus.setup.wizard
        assert wizard is not None
        wizard.start["name"].setText("mine")
        wizard.reject()

    return {
        "file dialog": window.motion.open,
        "folder dialog": lambda: QtWidgets.QFileDialog.getExistingDirectory(window, "Folder"),
        "save dialog": window.motion.document.save_as,
        "question of a file dialog": ask_to_replace,
        "question": ask_about_changes,
        "about": window.menus.help.show_about,
        "guide": lambda: window.menus.help.show_page("first-run.md"),
        "wizard": window.menus.setup.start,
        "identify wizard": window.menus.calibrate.identify.start,
        "geometry wizard": window.menus.calibrate.geometry.start,
        "bench wizard": window.menus.calibrate.bench.start,
        "question of the wizard": ask_to_discard_a_rig,
        "menu": lambda: window.menuBar().actions()[0].menu().popup(window.mapToGlobal(QtCore.QPoint(30, 60))),
        "combo box": lambda: (window.tabs.setCurrentWidget(window.jog), window.jog.steps.frame.showPopup()),
    }


def _type(window: MainWindow, path: Path) -> None:
    dialog = window.guards.stop.dialog
    assert isinstance(dialog, QtWidgets.QFileDialog)
    dialog.findChild(QtWidgets.QLineEdit, "fileNameEdit").setText(str(path))
    dialog.accept()


def main() -> None:
    block, folder, live = sys.argv[1], Path(sys.argv[2]), "live" in sys.argv[3:]
    app, keys, windows = QtWidgets.QApplication([sys.argv[0]]), Keys(), Windows(block, folder, live)
    eye = Eye(windows, keys, folder)
    app.installEventFilter(keys)
    plain = application.app_config
    application.make_window = windows.make
    if live:
        bounds = {"unattended_hold": _HOLD, "heartbeat": float(sys.argv[4])}
        vars(live_rig)["WindowHeartbeat"] = partial(WindowHeartbeat, bound=_HANGS)
        application.app_config = lambda *which: with_patience(plain(*which), **bounds)

    def read() -> None:
        request, what = json.loads(sys.stdin.readline() or '["quit", ""]')
        try:
            reply = json.dumps(["", eye.answer(request, what)])
        except Exception:
            reply = json.dumps([traceback.format_exc(), None])
        print(reply, flush=True)

    notifier = QtCore.QSocketNotifier(sys.stdin.fileno(), QtCore.QSocketNotifier.Type.Read)
    notifier.activated.connect(lambda *_: read())
    while not eye.ending:
        application.run("virtual")


if __name__ == "__main__":
    main()
