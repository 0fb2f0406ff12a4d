"""The program's version, as stored in recordings and calibrations."""

__version__ = "0.1.0"
