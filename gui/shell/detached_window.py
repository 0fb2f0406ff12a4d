"""A page of the window in one of its own, for another monitor: with STOP, full screen, and a way back."""

from collections.abc import Callable

from pyqtgraph.Qt import QtCore, QtGui, QtWidgets

from gui.session import StopButton
from gui.texts import tr
from gui.widgets import ElidedLabel, GuardedButton, give

_IN_VIEW = QtCore.QSize(120, 32)
"""px of a window's head that must be on a screen, for somebody to take hold of it"""


class TornWindow(QtWidgets.QWidget):
    """Shows a page while there is one. Signal `closed`: somebody has closed it, and wants the page back where it was.

    Args:
        title: the page's name.
        stop: for its own STOP, as it may lie over that of the main window.
        window: the main window, which it belongs to.
    """

    closed = QtCore.Signal()

    def __init__(self, title: str, stop: Callable[[], None], window: QtWidgets.QWidget) -> None:
        super().__init__(window, QtCore.Qt.WindowType.Window)
        self._title = title
        self.setAccessibleName(title)
        self.stop_button = StopButton(stop)
        self.back = GuardedButton(
            tr("Dock back"), tr("Put this page back into the main window (Ctrl+T, or close the window)")
        )
        self.whole = GuardedButton(tr("Full screen"), tr("Fill the screen (F11)"))
        self.whole.setCheckable(True)
        give(self.back, "dock")
        give(self.whole, "full screen")
        self.situation = ElidedLabel()
        self.situation.setAccessibleName(tr("State of the rig"))
        row = QtWidgets.QHBoxLayout()
        row.setContentsMargins(9, 6, 9, 2)
        row.addWidget(self.back)
        row.addWidget(self.whole)
        row.addWidget(self.situation, 1)
        row.addWidget(self.stop_button)
        layout = QtWidgets.QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(row)
        self._area = QtWidgets.QScrollArea()  # a page that is larger than its window scrolls, and STOP stays whole
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        layout.addWidget(self._area, 1)
        self.back.clicked.connect(self.close)
        self.whole.clicked.connect(self._fill_screen)
        for keys, act in (("Ctrl+T", self.close), ("F11", self.whole.click)):
            QtWidgets.QShortcut(QtGui.QKeySequence(keys), self, activated=act)
        window.windowTitleChanged.connect(self.say)
        self.say(window.windowTitle())

    def say(self, situation: str) -> None:
        """Say what the main window says in its title."""
        self.situation.setText(situation)
        self.setWindowTitle(f"{self._title} – {situation}")

    def take(self, page: QtWidgets.QWidget) -> None:
        """Take a page in."""
        self._area.setWidget(page)
        page.show()

    @property
    def page(self) -> QtWidgets.QWidget:
        """The page that is in it."""
        return self._area.widget()

    def give_back(self) -> QtWidgets.QWidget:
        """The page, for another place."""
        page: QtWidgets.QWidget = self._area.takeWidget()
        return page

    def come_into_view(self) -> None:
        """Come to the main window's screen where the one that it was on is no longer there."""
        screens = [screen.availableGeometry() for screen in QtGui.QGuiApplication.screens()]
        if not in_view(self.frameGeometry(), screens):
            room = self.parentWidget().screen().availableGeometry()
            self.resize(self.size().boundedTo(room.size()))
            self.move(room.center() - self.rect().center())

    def changeEvent(self, event: QtCore.QEvent) -> None:
        """Follow a window manager that leaves the full screen."""
        super().changeEvent(event)
        if event.type() == QtCore.QEvent.Type.WindowStateChange:
            self.whole.setChecked(self.isFullScreen())

    def closeEvent(self, event: QtGui.QCloseEvent) -> None:
        """Give the page back."""
        event.accept()
        self.closed.emit()

    def _fill_screen(self) -> None:
        state = QtCore.Qt.WindowState.WindowFullScreen
        now = self.windowState()
        self.setWindowState(now & ~state if now & state else now | state)


def in_view(frame: QtCore.QRect, screens: list[QtCore.QRect]) -> bool:
    """Whether enough of a window's head is on one of the screens, px, for somebody to take hold of it."""
    head = QtCore.QRect(frame.topLeft(), QtCore.QSize(frame.width(), min(frame.height(), _IN_VIEW.height())))
    needed = QtCore.QSize(min(_IN_VIEW.width(), head.width()), head.height())
    parts = [head.intersected(screen).size() for screen in screens]
    return any(part.width() >= needed.width() and part.height() >= needed.height() for part in parts)
