"""Calibrations, payload and frequency response as wizards over their services, and the menu that has all of them."""

from gui.calibrate.menu import CalibrateMenu

__all__ = ["CalibrateMenu"]
