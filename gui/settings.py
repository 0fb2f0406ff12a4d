"""Where the app keeps layout and look."""

from pyqtgraph.Qt import QtCore

NAME = "stewart-rig"


def app_settings() -> QtCore.QSettings:
    """The settings of the person who runs the app, a file of its own."""
    return QtCore.QSettings(QtCore.QSettings.Format.IniFormat, QtCore.QSettings.Scope.UserScope, NAME, "gui")
