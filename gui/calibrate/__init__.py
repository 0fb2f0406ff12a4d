"""Calibrations, identification and designed motions as wizards over services, and the menu that has all of them."""

from gui.calibrate.menu import CalibrateMenu

__all__ = ["CalibrateMenu"]
