"""The whole app on a real engine and virtual rig, for the benchmarks."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.application import app_config, make_window
from gui.shell import Pilot


@contextmanager
def app(folder: Path, changes: dict[str, Any], size: tuple[int, int]) -> Iterator[Pilot]:
    """The app in view, of this size, px, everything of it built; `changes` to the virtual rig's configuration."""
    config = app_config("virtual").changed({"recording": {"directory": str(folder / "recordings")}} | changes)
    window = make_window(config, QtCore.QSettings(str(folder / "gui.ini"), QtCore.QSettings.Format.IniFormat))
    window.resize(*size)
    window.show()
    pilot = Pilot(window)
    try:
        pilot.wait(lambda: window.complete, "the window to be complete")
        yield pilot
    finally:
        window.close_now()
        window.deleteLater()
        QtWidgets.QApplication.sendPostedEvents(None, QtCore.QEvent.Type.DeferredDelete)
