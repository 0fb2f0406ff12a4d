"""Wizards for calibration, identification and designed motions, and their menu."""

from gui.calibrate.menu import CalibrateMenu

__all__ = ["CalibrateMenu"]
