"""CANopen drives of the profile CiA 402: their frames, bus, driver and twin."""

from actuators.canopen.bus import CanBus, CanExchange
from actuators.canopen.drive import Canopen, CanopenAddress, CanopenOptions, CanopenSettings
from actuators.canopen.frames import CAN_FRAMING, CAN_SCHEME, MAPPED, CanEndpoint, Object, frame_of, line_of
from actuators.canopen.twin import FaultyCanopenDrive, VirtualCanopenDrive, canopen_twin
from actuators.canopen.wire import open_can
from actuators.driver import Driver

__all__ = [
    "CAN_FRAMING",
    "CAN_SCHEME",
    "DRIVER",
    "MAPPED",
    "CanBus",
    "CanEndpoint",
    "CanExchange",
    "Canopen",
    "CanopenAddress",
    "CanopenOptions",
    "CanopenSettings",
    "FaultyCanopenDrive",
    "Object",
    "VirtualCanopenDrive",
    "canopen_twin",
    "frame_of",
    "line_of",
    "open_can",
]

DRIVER = Driver(CanopenAddress, CanopenSettings, CanopenOptions, Canopen, canopen_twin)
