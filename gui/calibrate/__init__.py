"""The calibrations of a rig as wizards over `rig calibrate`, and the menu that has all of them."""

from gui.calibrate.menu import CalibrateMenu

__all__ = ["CalibrateMenu"]
