"""The motion panel: compose a motion, preview it, run it."""

from gui.motion.document import DocumentControl
from gui.motion.follow_panel import FollowPanel
from gui.motion.panel import MotionPanel
from gui.motion.preview_views import MotionPlayer

__all__ = ["DocumentControl", "FollowPanel", "MotionPanel", "MotionPlayer"]
