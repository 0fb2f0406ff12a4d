"""Location of the app's settings."""

from pyqtgraph.Qt import QtCore

NAME = "stewart-rig"


def app_settings() -> QtCore.QSettings:
    """Return the user's settings of the app, in their own file."""
    return QtCore.QSettings(QtCore.QSettings.Format.IniFormat, QtCore.QSettings.Scope.UserScope, NAME, "gui")
