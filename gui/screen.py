"""The screen check and the display scale, before the rest of the app is loaded.

The scale is selected in the menu, saved, and applied here: Qt only supports that before the application exists.
"""

import os
import sys

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.settings import app_settings
from gui.texts import LANGUAGE, tr
from rig.errors import ExitCode

SCALES = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0)
LEAST = QtCore.QSize(1024, 700)
"""px of the app's own: minimum size of a window that shows everything, STOP first of all."""
_KEY, _FACTOR = "scale", "QT_SCALE_FACTOR"
_OURS = "STEWART_RIG_SCALE"
"""Environment variable, set next to the scale factor if the app set it, not the user."""


def make_application() -> QtWidgets.QApplication:
    """Return the QApplication, existing or new; without a screen, exit with code 2 and the reason.

    Qt would abort the process; only its last message tells why.
    """
    present = QtWidgets.QApplication.instance()
    if present is not None:
        return present
    messages: list[str] = []

    def hear(kind: int, _context: object, text: str) -> None:
        if kind == QtCore.QtMsgType.QtFatalMsg:
            from rig.runtime import NEEDED, missing_packages  # deferred: not needed by the window

            reason = (messages or text.splitlines())[0].strip()
            missing = " ".join(missing_packages(*NEEDED))
            no_screen = (
                tr("error: the desktop app cannot show a window: {reason}; type: sudo apt-get install {missing}\n")
                if missing
                else tr("error: the desktop app has no screen: {reason}; without one: `rig operate`\n")
            )
            sys.stderr.write(no_screen.format(reason=reason, missing=missing))
            sys.stderr.flush()
            os._exit(ExitCode.INPUT)
        messages.append(text)

    _apply_scale()
    before = QtCore.qInstallMessageHandler(hear)
    try:
        application = QtWidgets.QApplication([sys.argv[0]])
    finally:
        QtCore.qInstallMessageHandler(before)
    _begin_smaller(application)
    _translate_own(application)
    for text in messages:
        sys.stderr.write(text + "\n")
    return application


def saved_scale() -> float:
    """Return the saved scale; 1 without one, or if it is not in `SCALES`."""
    try:
        kept = float(str(app_settings().value(_KEY, 1.0)))
    except ValueError:
        return 1.0
    return kept if kept in SCALES else 1.0


def keep_scale(scale: float) -> None:
    """Save this scale for the next start."""
    app_settings().setValue(_KEY, scale)


def obstacle(scale: float, screen: QtCore.QSize) -> str:
    """Why a scale cannot be used; empty if it can.

    screen: its size in px of the app's own, at the current scale.
    """
    if _FACTOR in os.environ and _OURS not in os.environ:
        return tr("{variable} of the environment says the size").format(variable=_FACTOR)
    plain = screen * float(os.environ.get(_OURS, "1"))  # its size at a scale of 1
    fits = min(plain.width() / LEAST.width(), plain.height() / LEAST.height())
    if scale > max(fits, 1.0):
        return tr(
            "the screen has {width} × {height} px: at {scale:.0f} % less than {least_width} × {least_height} would be "
            "left, and STOP might be out of view"
        ).format(
            width=plain.width(),
            height=plain.height(),
            scale=100 * scale,
            least_width=LEAST.width(),
            least_height=LEAST.height(),
        )
    return ""


def _apply_scale() -> None:
    """Set Qt's scale factor from the saved scale, unless the environment has one. Call before QApplication."""
    if _FACTOR not in os.environ and saved_scale() != 1.0:
        os.environ[_FACTOR] = os.environ[_OURS] = f"{saved_scale():g}"


def _translate_own(application: QtWidgets.QApplication) -> None:
    """Load Qt's translations, such as those of dialog buttons, in the app's language, if available."""
    if LANGUAGE:
        own = QtCore.QTranslator(application)
        folder = QtCore.QLibraryInfo.location(QtCore.QLibraryInfo.LibraryLocation.TranslationsPath)
        if own.load(QtCore.QLocale(LANGUAGE), "qtbase", "_", folder):
            application.installTranslator(own)


def _begin_smaller(application: QtWidgets.QApplication) -> None:
    """Restart the program without the scale if the screen is too small for it."""
    room = application.primaryScreen().size()
    small = room.width() < LEAST.width() or room.height() < LEAST.height()
    if small and os.environ.get(_OURS, "1") != "1":  # a screen too small even at scale 1 is accepted
        os.environ[_FACTOR] = os.environ[_OURS] = "1"
        os.execv(sys.executable, sys.orig_argv)
