"""A fit's place in the app: a menu entry, possible only while the engine does not need the processor."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.session import RigSession, heavy_work_obstacle
from gui.steps import StepEntry
from gui.texts import tr
from gui.widgets import Theme

if TYPE_CHECKING:
    from gui.fitting import FitWizard  # loaded when the first one is opened

MakeWizard = Callable[[RigSession, Theme, Path | None, QtWidgets.QWidget], "FitWizard"]
"""Of a session, colours, a file to begin with or None, and the main window."""


class FitEntry(StepEntry):
    """Adds the entry to a menu and holds the wizard while it is open. Signals: `motion_wanted(path)` of the wizard.

    Args:
        session: the rig that the app operates.
        menu: where the entry goes.
        window: the main window.
        theme: gives the colours.
        text: of the entry. hint: what the wizard is for.
        make: makes the wizard.
    """

    motion_wanted = QtCore.Signal(object)
    wizard: "FitWizard | None"

    def __init__(
        self,
        session: RigSession,
        menu: QtWidgets.QMenu,
        window: QtWidgets.QMainWindow,
        theme: Callable[[], Theme],
        text: str,
        hint: str,
        make: MakeWizard,
    ) -> None:
        super().__init__(session, menu, window, text, hint)
        self._theme, self._make = theme, make

    @property
    def obstacle(self) -> str:
        """Why nothing can be computed now; empty when it can."""
        return tr("it is open") if self.wizard is not None else heavy_work_obstacle(self.session.situation)

    def start(self, source: Path | None = None) -> None:
        """Open the wizard on a file, or on what it takes by itself."""
        if self.obstacle:
            return
        wizard = self._make(self.session, self._theme(), source, self.window)
        wizard.finished.connect(lambda _result: self._let_go())
        wizard.motion_wanted.connect(self.motion_wanted)
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
