"""CANopen drives of the profile CiA 402: their frames, bus, driver and twin."""

from actuators.canopen.bus import CanBus
from actuators.canopen.drive import Canopen, CanopenAddress, CanopenOptions, CanopenSettings
from actuators.canopen.frames import CAN_SCHEME, CanEndpoint
from actuators.canopen.twin import VirtualCanopenDrive, canopen_twin
from actuators.driver import Driver

__all__ = [
    "CAN_SCHEME",
    "DRIVER",
    "CanBus",
    "CanEndpoint",
    "Canopen",
    "CanopenAddress",
    "CanopenOptions",
    "CanopenSettings",
    "VirtualCanopenDrive",
    "canopen_twin",
]

DRIVER = Driver(CanopenAddress, CanopenSettings, CanopenOptions, Canopen, canopen_twin)
