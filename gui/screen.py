"""The screen that the app needs, looked for before all that the app needs besides has loaded."""

import os
import sys

from pyqtgraph.Qt import QtCore, QtWidgets

from rig.errors import ExitCode


def make_application() -> QtWidgets.QApplication:
    """The QApplication, also one that is there; where it has no screen the process ends: exit code 2, and why.

    Qt would abort the process there and cannot be asked beforehand; it leaves nothing but its last message to act on.
    """
    present = QtWidgets.QApplication.instance()
    if present is not None:
        return present
    said: list[str] = []

    def hear(kind: int, _context: object, text: str) -> None:
        if kind == QtCore.QtMsgType.QtFatalMsg:
            reason = (said or text.splitlines())[0].strip()
            sys.stderr.write(f"error: the desktop app has no screen: {reason}; without one: `rig operate`\n")
            sys.stderr.flush()
            os._exit(ExitCode.INPUT)
        said.append(text)

    before = QtCore.qInstallMessageHandler(hear)
    try:
        application = QtWidgets.QApplication([sys.argv[0]])
    finally:
        QtCore.qInstallMessageHandler(before)
    for text in said:
        sys.stderr.write(text + "\n")
    return application
