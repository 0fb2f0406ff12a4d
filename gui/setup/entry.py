"""The wizard's menu entry, enabled only while nothing else uses the drives."""

from pathlib import Path
from typing import TYPE_CHECKING

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.session import Phase, RigSession
from gui.steps import StepEntry
from gui.texts import finding_text, tr
from gui.widgets import set_icon
from rig.findings import Code, Finding

if TYPE_CHECKING:
    from gui.setup.wizard import SetupWizard


class SetupEntry(StepEntry):
    """Adds the entry to a menu and owns the wizard while it is open.

    Signals: `finished(path)`: the wizard has ended, and the saved rig is to be opened.

    Args:
        session: the app's rig.
        menu: gets the entry.
        window: the main window.
    """

    finished = QtCore.Signal(object)
    wizard: "SetupWizard | None"

    def __init__(self, session: RigSession, menu: QtWidgets.QMenu, window: QtWidgets.QMainWindow) -> None:
        hint = tr("Drives, addresses, test of each leg, zero of the cells: a valid configuration")
        super().__init__(session, menu, window, tr("&Set up a new rig …"), hint)
        set_icon(self.action, "new rig")
        self._following: Path | None = None

    @property
    def obstacle(self) -> str:
        """Why a rig cannot be set up now; empty if it can."""
        return "" if self.against is None else finding_text(self.against)

    @property
    def against(self) -> Finding | None:
        """Same as a finding; None if it can."""
        if self.wizard is not None:
            return Finding(Code.SETUP_OPEN)
        return None if self.session.phase in (Phase.DOWN, Phase.DIED) else Finding(Code.DRIVES_HELD)

    def start(self) -> None:
        """Open the wizard."""
        if self.obstacle:
            return
        from gui.setup.wizard import SetupWizard  # deferred: its pages are not needed by the window

        wizard = SetupWizard(self.session, self.window)
        wizard.opening.connect(self._open)
        wizard.bench.ended.connect(self._ended)
        self.wizard = wizard
        self.refresh()
        wizard.show()

    def close(self) -> None:
        """End the wizard's jobs and wait for them. May be called again."""
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
