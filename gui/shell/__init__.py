"""The main window: banner, log, closing, and automation for pictures and measurements."""

from gui.shell.main_window import MainWindow
from gui.shell.pilot import REST, START, Pilot

__all__ = [
    "REST",
    "START",
    "MainWindow",
    "Pilot",
]
