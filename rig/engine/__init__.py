"""The engine: the cyclic part of the rig, its states, its safety checks and the link by which clients command it."""

from rig.engine.control_block import ControlBlock
from rig.engine.link import LinkClient
from rig.engine.machine import TORQUE_STATES
from rig.engine.messages import (
    Abandon,
    Acquire,
    Command,
    Connect,
    Disconnect,
    Engage,
    Event,
    Follow,
    Home,
    Park,
    Pause,
    Release,
    Reset,
    Resume,
    Shutdown,
    Status,
    Stop,
)
from rig.engine.process import EngineProcess
from rig.engine.reference import straight_move
from rig.engine.running import EngineAddress, RunningEngine, find_engine

__all__ = [
    "TORQUE_STATES",
    "Abandon",
    "Acquire",
    "Command",
    "Connect",
    "ControlBlock",
    "Disconnect",
    "Engage",
    "EngineAddress",
    "EngineProcess",
    "Event",
    "Follow",
    "Home",
    "LinkClient",
    "Park",
    "Pause",
    "Release",
    "Reset",
    "Resume",
    "RunningEngine",
    "Shutdown",
    "Status",
    "Stop",
    "find_engine",
    "straight_move",
]
