"""The main window: what is always in view, the log, and what happens when it is closed."""

from gui.shell.main_window import MainWindow

__all__ = [
    "MainWindow",
]
