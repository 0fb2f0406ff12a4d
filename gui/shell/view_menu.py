"""The menu of views: the colours of the whole app, and the panels by their numbers."""

from collections.abc import Callable
from functools import partial

from pyqtgraph.Qt import QtGui, QtWidgets

from gui.widgets import THEMES

_OBSTACLE = "not while the drives have torque, as the window stands still meanwhile: park or stop first"


class ViewMenu(QtWidgets.QMenu):
    """Colours and panels.

    Args:
        theme: name of the colours now.
        choose: takes the name of others.
        tabs: the panels.
    """

    def __init__(self, theme: str, choose: Callable[[str], None], tabs: QtWidgets.QTabWidget) -> None:
        super().__init__("&View")
        self.setToolTipsVisible(True)
        self._choose, self._tabs = choose, tabs
        self.schemes = QtGui.QActionGroup(self)
        for name in THEMES:
            action = self.addAction(f"{name.capitalize()} &colours")
            action.triggered.connect(partial(self._chosen, name))
            action.setCheckable(True)
            action.setChecked(name == theme)
            self.schemes.addAction(action)
        self.addSeparator()
        for index in range(tabs.count()):
            action = self.addAction(tabs.tabText(index))
            action.triggered.connect(partial(self._show_tab, index))
            action.setShortcut(QtGui.QKeySequence(f"Ctrl+{index + 1}"))

    def guard(self, torque: bool) -> None:
        """No other colours under torque: restyling takes longer than STOP may take."""
        if self.schemes.isEnabled() == torque:
            self.schemes.setEnabled(not torque)
            for action in self.schemes.actions():
                action.setToolTip(_OBSTACLE if torque else "")
                action.setStatusTip(_OBSTACLE if torque else "")

    def _chosen(self, name: str, _checked: bool = False) -> None:
        self._choose(name)

    def _show_tab(self, index: int, _checked: bool = False) -> None:
        self._tabs.setCurrentIndex(index)
