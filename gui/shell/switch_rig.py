"""Going on with another rig: its configuration is read, this window closes, and one for that rig follows."""

from collections.abc import Callable
from pathlib import Path

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.texts import finding_text, tr
from gui.widgets import give
from rig.config import RigConfig, load_config
from rig.errors import RigError
from rig.findings import Finding

_TEXT = tr("Open another ri&g …")
_HINT = tr("Close this window, and operate the rig of another configuration")


class OtherRig(QtCore.QObject):
    """Adds the entry to a menu; there is never more than one window with a rig.

    Args:
        menu: where the entry goes.
        against: why the rig of this window cannot be left now, None when it can.
        refused: told what was refused, and why.
        window: the main window.
    """

    def __init__(
        self,
        menu: QtWidgets.QMenu,
        against: Callable[[], Finding | None],
        refused: Callable[[str, Finding | str], None],
        window: QtWidgets.QMainWindow,
    ) -> None:
        super().__init__(window)
        self._against = against
        self._refused = refused
        self._window = window
        self._wanted: RigConfig | None = None
        self.following: RigConfig | None = None
        """the rig to be operated now that the window has closed"""
        self.action = give(menu.addAction(_TEXT), "open")
        self.action.setShortcut("Ctrl+Shift+O")
        self.action.triggered.connect(lambda: self._ask())
        self.refresh()

    def refresh(self) -> None:
        """Enable the entry, or say why it is not."""
        against = self._against()
        reason = "" if against is None else finding_text(against)
        self.action.setEnabled(not reason)
        self.action.setToolTip(reason or _HINT)
        self.action.setStatusTip(reason)

    def open(self, path: Path) -> None:
        """Operate the rig of this configuration in place of the window's; a refusal changes nothing."""
        against = self._against()
        if against is None:
            try:
                self._wanted = load_config(str(path))
            except RigError as error:
                against = error.finding
        if against is not None:
            self._refused(tr("open {name}").format(name=path.name), against)
        else:
            self._window.close()

    def window_closes(self) -> None:
        """The window is closing for good."""
        self.following = self._wanted

    def window_stays(self) -> None:
        """Somebody would rather have the window stay open."""
        self._wanted = None

    def _ask(self) -> None:
        name, _kind = QtWidgets.QFileDialog.getOpenFileName(
            self._window, tr("Open another rig"), "", tr("Configurations (*.toml)")
        )
        if name:
            self.open(Path(name))
