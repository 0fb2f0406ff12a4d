"""External sensors: their readings on the wire, and the process that takes them into rig time."""

from rig.sensing.buffer import ReadingBuffer
from rig.sensing.intake import MachineTime, ManualTime, RigTime, SensorIntake, SensorReport
from rig.sensing.mounting import platform_poses, specific_forces
from rig.sensing.packets import Measurement, decode, decode_line, encode_packet
from rig.sensing.reader import PacedTime, ReadingLoop, SensorReader, make_intakes, twin_names
from rig.sensing.sources import SensorSource, key_of, open_source

__all__ = [
    "MachineTime",
    "ManualTime",
    "Measurement",
    "PacedTime",
    "ReadingBuffer",
    "ReadingLoop",
    "RigTime",
    "SensorIntake",
    "SensorReader",
    "SensorReport",
    "SensorSource",
    "decode",
    "decode_line",
    "encode_packet",
    "key_of",
    "make_intakes",
    "open_source",
    "platform_poses",
    "specific_forces",
    "twin_names",
]
