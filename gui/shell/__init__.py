"""The main window: what is always in view, the log, and what happens when it is closed; `Pilot` operates it."""

from gui.shell.main_window import MainWindow
from gui.shell.pilot import START, STEP, Pilot

__all__ = [
    "START",
    "STEP",
    "MainWindow",
    "Pilot",
]
