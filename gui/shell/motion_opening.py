"""Motions that come into the tab Motion from elsewhere in the window."""

from pathlib import Path

from pyqtgraph.Qt import QtWidgets

from gui.motion import MotionPanel


class MotionOpening:
    """Brings the tab to the front, and a motion into it.

    Args:
        tabs: of the window.
        panel: the tab's.
    """

    def __init__(self, tabs: QtWidgets.QTabWidget, panel: MotionPanel) -> None:
        self._tabs, self._panel = tabs, panel

    def ask(self) -> None:
        """Ask a person for a file."""
        self._tabs.setCurrentWidget(self._panel)
        self._panel.open()

    def take(self, path: Path) -> None:
        """Take a file, after a question where the motion shown is not saved."""
        self._tabs.setCurrentWidget(self._panel)
        self._panel.let_go(lambda: self._panel.load_file(path))
