"""The wizard's place in the app: a menu entry, possible only while nothing else holds the drives."""

from pathlib import Path
from typing import TYPE_CHECKING

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.session import Phase, RigSession
from gui.steps import StepEntry
from gui.texts import finding_text, tr
from gui.widgets import give
from rig.findings import Code, Finding

if TYPE_CHECKING:
    from gui.setup.wizard import SetupWizard


class SetupEntry(StepEntry):
    """Adds the entry to a menu and holds the wizard while it is open.

    Signals: `finished(path)` when nothing is left of the wizard and the rig that was saved is to be opened.

    Args:
        session: the rig that the app operates.
        menu: where the entry goes.
        window: the main window.
    """

    finished = QtCore.Signal(object)
    wizard: "SetupWizard | None"

    def __init__(self, session: RigSession, menu: QtWidgets.QMenu, window: QtWidgets.QMainWindow) -> None:
        hint = tr("Drives, addresses, test of each leg, zero of the cells: a valid configuration")
        super().__init__(session, menu, window, tr("&Set up a new rig …"), hint)
        give(self.action, "new rig")
        self._following: Path | None = None

    @property
    def obstacle(self) -> str:
        """Why a rig cannot be set up now; empty when it can."""
        return "" if self.against is None else finding_text(self.against)

    @property
    def against(self) -> Finding | None:
        """Likewise, as a finding; None when it can."""
        if self.wizard is not None:
            return Finding(Code.SETUP_OPEN)
        return None if self.session.phase in (Phase.DOWN, Phase.DIED) else Finding(Code.DRIVES_HELD)

    def start(self) -> None:
        """Open the wizard."""
        if self.obstacle:
            return
        from gui.setup.wizard import SetupWizard  # brings its pages, for which no window waits

        wizard = SetupWizard(self.session, self.window)
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
