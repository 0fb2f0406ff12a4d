"""Starting the app: configuration, session, window."""

import sys
from pathlib import Path

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.main_window import MainWindow
from gui.rig_session import RigSession
from rig.config import RigConfig, load_config
from rig.runs import on_free_ports, patient

_NAME = "stewart-rig"


def app_config(name: str) -> RigConfig:
    """The configuration the app runs: the shipped virtual rig on free ports and with a demonstration's patience."""
    config = load_config(name)
    return patient(on_free_ports(config)) if name == "virtual" else config


def make_window(config: RigConfig, settings: QtCore.QSettings) -> MainWindow:
    """The main window with a session of its own; needs a QApplication."""
    return MainWindow(RigSession(config, Path(config.recording.directory)), settings)


def run(config: str) -> int:
    """Run the app until its window is closed; returns the exit code. Raises ConfigError before anything is shown."""
    rig = app_config(config)
    application = QtWidgets.QApplication.instance() or QtWidgets.QApplication([sys.argv[0]])
    application.setApplicationName(_NAME)
    application.setOrganizationName(_NAME)
    settings = QtCore.QSettings(QtCore.QSettings.Format.IniFormat, QtCore.QSettings.Scope.UserScope, _NAME, "gui")
    window = make_window(rig, settings)
    window.show()
    code = int(application.exec())
    window.deleteLater()  # while there is an application: the order at the interpreter's end is anybody's guess
    application.sendPostedEvents(None, QtCore.QEvent.Type.DeferredDelete)
    return code
