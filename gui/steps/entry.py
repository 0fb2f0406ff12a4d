"""A menu entry for a wizard, which shows why it is unavailable."""

from typing import Any

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.session import RigSession


class StepEntry(QtCore.QObject):
    """Adds the entry to a menu and owns the `wizard` while it is open.

    Args:
        session: the app's rig.
        menu: gets the entry.
        window: the main window.
        text: of the entry. hint: its tooltip.
    """

    def __init__(
        self, session: RigSession, menu: QtWidgets.QMenu, window: QtWidgets.QMainWindow, text: str, hint: str
    ) -> None:
        super().__init__(window)
        self.session = session
        self.window = window
        self.wizard: Any = None
        self._hint = hint
        menu.setToolTipsVisible(True)
        self.action = menu.addAction(text)
        self.action.triggered.connect(lambda: self.start())
        session.changed.connect(self.refresh)
        self.refresh()

    @property
    def obstacle(self) -> str:
        """Why the wizard cannot be opened now; empty if it can."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Enable the entry, or show why not."""
        reason = self.obstacle
        self.action.setEnabled(not reason)
        self.action.setToolTip(reason or self._hint)
        self.action.setStatusTip(reason)

    def start(self) -> None:
        """Open the wizard, unless there is an obstacle."""
        raise NotImplementedError
