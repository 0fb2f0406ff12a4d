"""The app under a window manager of its own, for real clicks: says where its buttons are, opens what it is told to.

A line on stdin is a request, each answered by a line of JSON on stdout. The engine is a control block of the test's.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtCore, QtWidgets
from shell_support import BusyEngine, FakeSession, make_settings, make_status

from gui.main_window import MainWindow
from gui.stop_everywhere import StopButton
from rig.config import load_config
from rig.states import State


def _open(window: MainWindow, folder: Path) -> dict[str, Callable[[], Any]]:
    """What comes up over the window, by name."""
    taken = folder / "taken.toml"
    taken.touch()

    def ask_to_replace() -> None:
        QtCore.QTimer.singleShot(300, lambda: _type(window, taken))
        window.motion._save()

    def ask_about_changes() -> None:
        window.motion.amplitude.setValue(40.0)
        window.motion.let_go(lambda: None)

    def ask_to_discard_a_rig() -> None:
        window.setup.start()
        wizard = window.setup.wizard
        assert wizard is not None
        wizard.start.name.setText("mine")
        wizard.reject()

    return {
        "file dialog": window.motion.open,
        "folder dialog": lambda: QtWidgets.QFileDialog.getExistingDirectory(window, "Folder"),
        "save dialog": window.motion._save,
        "question of a file dialog": ask_to_replace,
        "question": ask_about_changes,
        "about": window.help.show_about,
        "wizard": window.setup.start,
        "question of the wizard": ask_to_discard_a_rig,
        "menu": lambda: window.menuBar().actions()[0].menu().popup(window.mapToGlobal(QtCore.QPoint(30, 60))),
        "combo box": lambda: (window.tabs.setCurrentWidget(window.jog), window.jog.frame.showPopup()),
    }


def _type(window: MainWindow, path: Path) -> None:
    dialog = window.stop_everywhere.dialog
    assert isinstance(dialog, QtWidgets.QFileDialog)
    dialog.findChild(QtWidgets.QLineEdit, "fileNameEdit").setText(str(path))
    dialog.accept()


def _dialogs() -> list[QtWidgets.QDialog]:
    top = QtWidgets.QApplication.topLevelWidgets()
    return [each for each in top if isinstance(each, QtWidgets.QDialog) and each.isVisible()]


def _place(widget: QtWidgets.QWidget) -> list[int]:
    ratio = widget.devicePixelRatioF()
    middle = widget.mapToGlobal(widget.rect().center())
    return [round(middle.x() * ratio), round(middle.y() * ratio)]


def _look(window: MainWindow) -> dict[str, Any]:
    """Where every STOP is that lies under nothing, and what else is up."""
    popup = QtWidgets.QApplication.activePopupWidget()
    covers = [each for each in (*_dialogs(), popup) if each is not None]
    stops = []
    for window_ in (window, *_dialogs()):
        for button in window_.findChildren(StopButton):
            middle = button.mapToGlobal(button.rect().center())
            above = [each for each in covers if each is not window_ and each.frameGeometry().contains(middle)]
            if button.isVisible() and button.window() is window_ and not above:
                stops.append(_place(button))
    return {
        "dialogs": len(_dialogs()),
        "popup": popup is not None,
        "active": QtWidgets.QApplication.activeWindow() is not None,
        "stops": stops,
        "stopped": len(window.session.stops),
    }


def main() -> None:
    block, folder = sys.argv[1], Path(sys.argv[2])
    application = QtWidgets.QApplication([sys.argv[0]])
    session = FakeSession(load_config("virtual"), folder)
    window = MainWindow(session, make_settings(folder))
    window._building.stop()
    window.resize(1280, 800)
    window.show()
    window.clock.stop()
    engine = BusyEngine(block)
    session._engine = engine
    things = _open(window, folder)

    def answer(request: str) -> Any:
        what, _, name = request.partition(" ")
        if what == "open":
            # the wizard is possible only while no engine is there; the flag is raised all the same
            if name.endswith("wizard"):
                session.enter(session.phase.__class__.DOWN)
            else:
                session.take(make_status(State.RUNNING))
            QtCore.QTimer.singleShot(0, things[name])
        elif what == "close":
            for each in (QtWidgets.QApplication.activePopupWidget(), *reversed(_dialogs())):
                if each is not None:
                    QtCore.QTimer.singleShot(
                        0, each.close if not isinstance(each, QtWidgets.QWizard) else window.setup.close
                    )
        elif what == "quit":
            engine.let_go()
            window.close_now()
            application.quit()
        return _look(window)

    def read() -> None:
        print(json.dumps(answer(sys.stdin.readline().strip() or "quit")), flush=True)

    notifier = QtCore.QSocketNotifier(sys.stdin.fileno(), QtCore.QSocketNotifier.Type.Read)
    notifier.activated.connect(lambda *_: read())
    print(json.dumps(_look(window)), flush=True)
    application.exec()
    engine.close()
    window.deleteLater()
    application.sendPostedEvents(None, QtCore.QEvent.Type.DeferredDelete)


if __name__ == "__main__":
    main()
