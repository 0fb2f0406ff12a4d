"""The OpenGL context shared by all views, and why there may be none."""

from functools import cache
from typing import Any

from pyqtgraph.Qt import QtGui, QtWidgets

from gui.texts import tr

_NO_CONTEXT = ("offscreen", "minimal", "vnc", "linuxfb")
"""Qt platforms without OpenGL; requesting a context there fails hard."""
_VERSION = (3, 3)


def gl_problem() -> str:
    """Why there is no 3-D view, as text; empty if there is one."""
    platform = QtGui.QGuiApplication.platformName()
    if platform in _NO_CONTEXT:
        return tr("Qt's platform {platform!r} has no OpenGL").format(platform=platform)
    try:
        from OpenGL import GL  # noqa: F401  (fails here where the system has no GL library)
    except (ImportError, AttributeError, OSError) as error:
        return tr("PyOpenGL cannot be used: {error}").format(error=error)
    context, surface = _made()
    if not surface.isValid() or not context.makeCurrent(surface):
        return tr("the screen gives no OpenGL context")
    given = context.format().version()
    context.doneCurrent()
    if given < _VERSION:
        return tr("the screen gives OpenGL {given}; {needed} is needed").format(
            given=f"{given[0]}.{given[1]}", needed=f"{_VERSION[0]}.{_VERSION[1]}"
        )
    return ""


@cache
def drawing_board() -> tuple[Any, Any]:
    """Return the shared context and surface, created once, so that views share programs and buffers.

    Raises RuntimeError without a context; see `gl_problem`.
    """
    context, surface = _made(QtWidgets.QApplication.instance())
    if not context.makeCurrent(surface):
        raise RuntimeError("the screen gives no OpenGL context")
    context.doneCurrent()
    return context, surface


def _made(owner: Any = None) -> tuple[Any, Any]:
    form = QtGui.QSurfaceFormat()
    form.setVersion(*_VERSION)
    form.setProfile(QtGui.QSurfaceFormat.OpenGLContextProfile.CoreProfile)
    context, surface = QtGui.QOpenGLContext(owner), QtGui.QOffscreenSurface(None, owner)
    for part in (context, surface):
        part.setFormat(form)
        part.create()
    return context, surface
