"""The wizard's place in the app: a menu entry, possible only while nothing else holds the drives."""

from pathlib import Path

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.session import Phase, RigSession
from gui.setup.wizard import SetupWizard

_TEXT = "&Set up a new rig …"


class SetupEntry(QtCore.QObject):
    """Adds the entry to a menu and holds the wizard while it is open.

    Signals: `finished(path)` when nothing is left of the wizard and the rig that was saved is to be opened.

    Args:
        session: the rig that the app operates.
        menu: where the entry goes.
        window: the main window.
    """

    finished = QtCore.Signal(object)

    def __init__(self, session: RigSession, menu: QtWidgets.QMenu, window: QtWidgets.QMainWindow) -> None:
        super().__init__(window)
        self._session = session
        self._window = window
        self.wizard: SetupWizard | None = None
        self._following: Path | None = None
        menu.setToolTipsVisible(True)
        self.action = menu.addAction(_TEXT)
        self.action.triggered.connect(lambda: self.start())
        session.changed.connect(self.refresh)
        self.refresh()

    @property
    def obstacle(self) -> str:
        """Why a rig cannot be set up now; empty when it can."""
        if self.wizard is not None:
            return "the set-up is open"
        if self._session.phase in (Phase.DOWN, Phase.DIED):
            return ""
        return "the app holds its drives: park, then disconnect first"

    def refresh(self) -> None:
        """Enable the entry, or say why it is not."""
        reason = self.obstacle
        self.action.setEnabled(not reason)
        self.action.setToolTip(
            reason or "Drives, addresses, test of each leg, zero of the cells: a valid configuration"
        )
        self.action.setStatusTip(reason)

    def start(self) -> None:
        """Open the wizard."""
        if self.obstacle:
            return
        wizard = SetupWizard(self._session, self._window)
        wizard.opening.connect(self._open)
        wizard.bench.ended.connect(self._ended)
        self.wizard = wizard
        self.refresh()
        wizard.show()

    def close(self) -> None:
        """End what the wizard does and wait for it. May be called again."""
        wizard, self.wizard = self.wizard, None
        if wizard is not None:
            wizard.bench.close()
            wizard.hide()
            wizard.deleteLater()

    def _ended(self) -> None:
        self.close()
        self.refresh()
        path, self._following = self._following, None
        if path is not None:
            self.finished.emit(path)

    def _open(self, path: Path) -> None:
        assert self.wizard is not None
        self._following = path
        self.wizard.accept()
