"""The motion panel: compose a motion, see what it would do, run it."""

from gui.motion.panel import MotionPanel

__all__ = ["MotionPanel"]
