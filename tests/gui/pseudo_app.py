"""The app in the language that the environment says, with every page made: prints what its widgets say, as JSON.

A program of its own, since texts are taken when modules are loaded.
"""

import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from pyqtgraph.Qt import QtCore, QtWidgets
from shell_support import VIRTUAL, FakeSession, make_settings, make_status

from gui.models import Phase
from gui.screen import make_application
from gui.shell import START, MainWindow, Pilot
from rig.findings import Code, Finding
from rig.states import State, StopSeverity
from rig.telemetry import ROW
from rig.virtual import ActiveFault

_TORN = {"finding": Finding(Code.OPERATOR_STOP, details={"category": 1}), "cause_t": 9.0}
_RECORDING = Path(__file__).parent.parent / "rig" / "data" / "before_motion_records.mcap"
_SITUATIONS = (
    make_status(State.IDLE),
    make_status(State.PARKED),
    make_status(State.ENGAGED),
    make_status(State.ENGAGED, paused=True, motion="demo", path_duration=20.0),
    make_status(State.RUNNING, motion="demo", path_duration=20.0),
    make_status(State.FAULT, stop=StopSeverity.CATEGORY_1, **_TORN),
)


def texts_of(widget: QtWidgets.QWidget) -> Iterator[tuple[str, str]]:
    """Everything that a widget says, each with what it is."""
    yield "tooltip", widget.toolTip()
    yield "accessible name", widget.accessibleName()
    yield "accessible description", widget.accessibleDescription()
    yield "window title", widget.windowTitle()
    if isinstance(widget, (QtWidgets.QLabel, QtWidgets.QAbstractButton)):
        yield "text", widget.text()
    if isinstance(widget, QtWidgets.QLineEdit):
        yield "placeholder", widget.placeholderText()
    if isinstance(widget, QtWidgets.QPlainTextEdit):
        yield "placeholder", widget.placeholderText()
    if isinstance(widget, QtWidgets.QTabWidget):
        yield from (("tab", widget.tabText(index)) for index in range(widget.count()))
    if isinstance(widget, QtWidgets.QComboBox):
        yield from (("choice", widget.itemText(index)) for index in range(widget.count()))
    if isinstance(widget, QtWidgets.QMenu):
        yield "menu", widget.title()
    if isinstance(widget, QtWidgets.QWizardPage):
        yield from (("title", widget.title()), ("title", widget.subTitle()))
    if isinstance(widget, QtWidgets.QAbstractItemView) and widget.model() is not None:
        yield from _items(widget.model())
    for action in widget.actions():
        yield from (("action", action.text()), ("action's tooltip", action.toolTip()))


def _items(model: QtCore.QAbstractItemModel, parent: QtCore.QModelIndex | None = None) -> Iterator[tuple[str, str]]:
    above = QtCore.QModelIndex() if parent is None else parent
    columns = 1 if isinstance(model, QtCore.QAbstractListModel) else model.columnCount(above)
    if parent is None:
        horizontal = QtCore.Qt.Orientation.Horizontal
        yield from (("header", str(model.headerData(column, horizontal))) for column in range(columns))
    for row in range(model.rowCount(above)):
        for column in range(columns):
            index = model.index(row, column, above)
            yield "item", str(index.data() or "")
            yield "item's tooltip", str(index.data(QtCore.Qt.ItemDataRole.ToolTipRole) or "")
        yield from _items(model, model.index(row, 0, above))


class Walk(Pilot):
    """Makes every page, and notes what is said on the way."""

    def __init__(self, window: MainWindow, session: FakeSession) -> None:
        super().__init__(window)
        self._session = session
        self.said: dict[str, str] = {}
        """where it was said first, by what was said"""

    def note(self) -> None:
        """Note what all widgets say now, be they in view or not."""
        events = self.window.views.recordings.events if self.window.complete else None  # the engine's words
        for widget in QtWidgets.QApplication.allWidgets():
            if events is not None and (widget is events or events.isAncestorOf(widget)):
                continue
            for what, text in texts_of(widget):
                self.said.setdefault(text, f"{type(widget).__name__}, {what}")

    def walk(self) -> None:
        """All of it."""
        window, session = self.window, self._session
        self.wait(lambda: window.complete, "the window to be complete", START)
        self.wait(lambda: window.motion.preview.verdict is not None, "the check of the motion", START)
        self.note()
        for status in _SITUATIONS:
            session.take(status)
            window.operate.show_row(self._row(status.state), status)
            self.note()
        session.show_faults(ActiveFault("drop_all", 3, None, math.inf))
        session.refused.emit("connect", Finding.of_text(""))
        session.log("warning", "engine", "")
        session.enter(Phase.DIED)
        self.note()
        session.enter(Phase.DOWN)
        self._motion()
        self._dashboard()
        self._recording()
        for entry in (*window.menus.calibrate.entries, window.menus.setup):
            entry.start()
            self.note()
            entry.close()
        window.menus.help.show_page("README.md")
        window.menus.help.show_about()
        window.docking.tear_off("Live")
        self.note()
        assert window.menus.help.guide is not None
        window.menus.help.guide.close()
        window.docking.dock("Live")

    def _recording(self) -> None:
        view = self.window.views.recordings
        view.open(_RECORDING)
        self.wait(lambda: view.replay is not None, "the recording to open", START)
        for index in range(view.tabs.count()):
            view.tabs.setCurrentIndex(index)
            self.note()
        self.window.jog.folds[0].set_open(False)

    def _row(self, state: State) -> Any:
        row = np.zeros(1, ROW)[0]
        row["state"], row["pose"][3] = state, 1.0
        return row

    def _motion(self) -> None:
        motion = self.window.motion
        for index in range(motion.editor.kinds.count()):
            motion.editor.kinds.setCurrentIndex(index)
            motion.editor.buttons["Add"].click()
        motion.begin_template()
        for index in range(motion.templates.list.count()):
            motion.templates.list.setCurrentRow(index)
            self.note()
        motion.templates.leave()

    def _dashboard(self) -> None:
        page = self.window.views.dashboards.page
        self.window.tabs.setCurrentWidget(self.window.views.dashboards_page)
        self.wait(page.isVisible, "the dashboards", START)
        page.add(["force_measured.1", "force_model.1"], own=True)
        page.add(["cycle"], own=True)
        self.wait(lambda: len(page.board.plots) > 1, "the plots", START)
        menus = [plot.menu() for plot in page.board.plots]
        self.note()
        for menu in menus:
            menu.deleteLater()


def main(folder: Path) -> None:
    """Walk through the app, its files in a folder of its own, and print what was said, and what was kept at its end."""
    application = make_application()
    session = FakeSession(VIRTUAL, folder)
    settings = make_settings(folder)
    window = MainWindow(session, settings)
    window.show()
    walk = Walk(window, session)
    walk.walk()
    window.close_now()
    session.close()
    json.dump({"said": walk.said, "kept": {key: str(settings.value(key)) for key in settings.allKeys()}}, sys.stdout)
    sys.stdout.flush()
    application.processEvents()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
