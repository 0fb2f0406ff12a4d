"""Whether this screen can show OpenGL."""

from pyqtgraph.Qt import QtGui

_NO_CONTEXT = ("offscreen", "minimal", "vnc", "linuxfb")
"""Qt platforms that have no OpenGL; asking them for a context is an error already"""


def gl_problem() -> str:
    """Why there can be no 3-D view, in words; empty when there can."""
    platform = QtGui.QGuiApplication.platformName()
    if platform in _NO_CONTEXT:
        return f"Qt's platform {platform!r} has no OpenGL"
    try:
        import pyqtgraph.opengl  # noqa: F401  (PyOpenGL fails here where the system has no GL library)
    except (ImportError, AttributeError, OSError) as error:
        return f"PyOpenGL cannot be used: {error}"
    context, surface = QtGui.QOpenGLContext(), QtGui.QOffscreenSurface()
    surface.create()
    if not (context.create() and surface.isValid() and context.makeCurrent(surface)):
        return "the screen gives no OpenGL context"
    context.doneCurrent()
    return ""
