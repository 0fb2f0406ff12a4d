"""The motion panel: compose a motion, see what it would do, run it."""

from gui.motion.document import DocumentControl
from gui.motion.panel import MotionPanel
from gui.motion.preview_views import MotionPlayer

__all__ = ["DocumentControl", "MotionPanel", "MotionPlayer"]
