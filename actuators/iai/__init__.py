"""ROBO Cylinders of IAI: Modbus RTU, positions only."""

from actuators.driver import Driver
from actuators.iai.drive import Iai, IaiAddress, IaiOptions, IaiSettings, recognise
from actuators.iai.twin import VirtualRoboCylinder, iai_twin

__all__ = ["DRIVER", "Iai", "IaiAddress", "IaiOptions", "IaiSettings", "VirtualRoboCylinder", "iai_twin"]

DRIVER = Driver(IaiAddress, IaiSettings, IaiOptions, Iai, iai_twin, recognise)
"""What is registered as `iai`."""
