"""The version of this program, as recordings and calibrations name it."""

__version__ = "0.1.0"
