"""The screen that the app needs, looked for before all that the app needs besides has loaded.

How large everything is drawn is chosen in the menu, kept, and applied here: Qt can only when the application is made.
"""

import os
import sys

from pyqtgraph.Qt import QtCore, QtWidgets

from gui.settings import app_settings
from gui.texts import LANGUAGE, tr
from rig.errors import ExitCode

SCALES = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0)
LEAST = QtCore.QSize(1024, 700)
"""px of the app's own that a window needs so that everything is in view, STOP first of all."""
_KEY, _FACTOR = "scale", "QT_SCALE_FACTOR"
_OURS = "STEWART_RIG_SCALE"
"""set beside the factor where it is ours, and not of the person's environment"""


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
            from rig.runtime import NEEDED, missing_packages  # for which no window waits

            reason = (said or text.splitlines())[0].strip()
            missing = " ".join(missing_packages(*NEEDED))
            no_screen = (
                tr("error: the desktop app cannot show a window: {reason}; type: sudo apt-get install {missing}\n")
                if missing
                else tr("error: the desktop app has no screen: {reason}; without one: `rig operate`\n")
            )
            sys.stderr.write(no_screen.format(reason=reason, missing=missing))
            sys.stderr.flush()
            os._exit(ExitCode.INPUT)
        said.append(text)

    _apply_scale()
    before = QtCore.qInstallMessageHandler(hear)
    try:
        application = QtWidgets.QApplication([sys.argv[0]])
    finally:
        QtCore.qInstallMessageHandler(before)
    _begin_smaller(application)
    _translate_own(application)
    for text in said:
        sys.stderr.write(text + "\n")
    return application


def saved_scale() -> float:
    """The scale that was chosen last; 1 without one, or with one that is none of `SCALES`."""
    try:
        kept = float(str(app_settings().value(_KEY, 1.0)))
    except ValueError:
        return 1.0
    return kept if kept in SCALES else 1.0


def keep_scale(scale: float) -> None:
    """Use this scale from the next start on."""
    app_settings().setValue(_KEY, scale)


def obstacle(scale: float, screen: QtCore.QSize) -> str:
    """Why a scale cannot be used; empty when it can.

    screen: its size in px of the app's own, as they are now.
    """
    if _FACTOR in os.environ and _OURS not in os.environ:
        return tr("{variable} of the environment says the size").format(variable=_FACTOR)
    plain = screen * float(os.environ.get(_OURS, "1"))  # what there is at a scale of 1
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
    """Before there is an application: have Qt draw at the scale that is kept, unless the environment says another."""
    if _FACTOR not in os.environ and saved_scale() != 1.0:
        os.environ[_FACTOR] = os.environ[_OURS] = f"{saved_scale():g}"


def _translate_own(application: QtWidgets.QApplication) -> None:
    """What Qt itself writes, on its dialogs' buttons say, in the language of the texts, as far as it has that one."""
    if LANGUAGE:
        own = QtCore.QTranslator(application)
        folder = QtCore.QLibraryInfo.location(QtCore.QLibraryInfo.LibraryLocation.TranslationsPath)
        if own.load(QtCore.QLocale(LANGUAGE), "qtbase", "_", folder):
            application.installTranslator(own)


def _begin_smaller(application: QtWidgets.QApplication) -> None:
    """Begin the program anew without a scale that this screen is too small for; nothing where it is not."""
    room = application.primaryScreen().size()
    small = room.width() < LEAST.width() or room.height() < LEAST.height()
    if small and os.environ.get(_OURS, "1") != "1":  # a screen may be too small for 1 as well: that is borne
        os.environ[_FACTOR] = os.environ[_OURS] = "1"
        os.execv(sys.executable, sys.orig_argv)
