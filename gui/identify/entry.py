"""The wizard's place in the app: a menu entry, possible only while the engine does not need the processor."""

from collections.abc import Callable
from pathlib import Path

from pyqtgraph.Qt import QtWidgets

from gui.identify.wizard import IdentifyWizard
from gui.session import RigSession, heavy_work_obstacle
from gui.steps import StepEntry
from gui.widgets import Theme


class IdentifyEntry(StepEntry):
    """Adds the entry to a menu and holds the wizard while it is open.

    Args:
        session: the rig that the app operates.
        menu: where the entry goes.
        window: the main window.
        theme: gives the colours.
    """

    wizard: IdentifyWizard | None

    def __init__(
        self,
        session: RigSession,
        menu: QtWidgets.QMenu,
        window: QtWidgets.QMainWindow,
        theme: Callable[[], Theme],
    ) -> None:
        hint = "Masses, inertias and frictions from recorded motions and forces: a parameter file"
        super().__init__(session, menu, window, "&Identify parameters …", hint)
        self._theme = theme

    @property
    def obstacle(self) -> str:
        """Why nothing can be identified now; empty when it can."""
        return "the identification is open" if self.wizard is not None else heavy_work_obstacle(self.session.situation)

    def start(self, recording: Path | None = None) -> None:
        """Open the wizard on a recording, or on the newest of the session's folder."""
        if self.obstacle:
            return
        folder = self.session.folder if recording is None else recording.parent
        wizard = IdentifyWizard(self.session, self._theme(), folder, recording, self.window)
        wizard.finished.connect(lambda _result: self._let_go())
        self.wizard = wizard
        self.refresh()
        wizard.show()

    def close(self) -> None:
        """End what the wizard does and wait for it. May be called again."""
        if self.wizard is not None:
            self.wizard.close_worker()
            self._let_go()

    def _let_go(self) -> None:
        wizard, self.wizard = self.wizard, None
        if wizard is not None:
            wizard.retire()
            wizard.hide()
            wizard.deleteLater()
            self.refresh()
