"""The motion panel: compose a motion, see what it would do, run it."""

from gui.motion.document import MotionDocument
from gui.motion.panel import MotionPanel
from gui.motion.sight import MotionSight

__all__ = ["MotionDocument", "MotionPanel", "MotionSight"]
