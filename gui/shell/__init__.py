"""The main window: what is always in view, the log, what happens when it is closed, and a pilot who operates it."""

from gui.shell.main_window import MainWindow
from gui.shell.pilot import REST, START, Pilot

__all__ = [
    "REST",
    "START",
    "MainWindow",
    "Pilot",
]
