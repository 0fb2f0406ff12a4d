"""Jrk G2 controllers of Pololu: plain serial, targets of a position loop of their own."""

from actuators.driver import Driver
from actuators.jrk.drive import Jrk, JrkAddress, JrkOptions, JrkSettings
from actuators.jrk.twin import VirtualJrk, jrk_twin

__all__ = ["DRIVER", "Jrk", "JrkAddress", "JrkOptions", "JrkSettings", "VirtualJrk", "jrk_twin"]

DRIVER = Driver(JrkAddress, JrkSettings, JrkOptions, Jrk, jrk_twin, supply=(6.5, 30.0), homing_tolerance=1e-3)
"""What is registered as `jrk-g2`."""
