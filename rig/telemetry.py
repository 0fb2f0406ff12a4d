"""One row of telemetry: what the engine did, commanded and measured in one cycle.

The row is a C struct with natural alignment and no variable-length field, so the same bytes serve the shared-memory
ring and, behind the four-byte header, the CDR encoding of the recording's ROS 2 message.
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntFlag
from typing import Final

import numpy as np
import numpy.typing as npt


class CycleFlag(IntFlag):
    """Further status flags of a cycle."""

    FRESH = 1
    """every drive's feedback is fresh"""
    HOMED = 2
    POSE = 4
    """the measured pose is valid"""
    PAUSED = 8
    """the reference is paused before its end"""
    LATCHED = 16
    """a fault is latched"""
    EMERGENCY_STOP_CLOSED = 32
    """the input of the emergency stop's chain; 0 also without one"""
    SAFE_TORQUE_OFF_CLOSED = 64
    """the feedback of safe torque off; 0 also without one"""
    ENABLE = 128
    """output"""
    BRAKE_RELEASED = 256
    """some output that releases a brake is on"""
    LAMP = 512
    """output"""


POINT_FLAGS = {
    "emergency_stop": CycleFlag.EMERGENCY_STOP_CLOSED,
    "safe_torque_off": CycleFlag.SAFE_TORQUE_OFF_CLOSED,
    "enable": CycleFlag.ENABLE,
    "brake": CycleFlag.BRAKE_RELEASED,
    "lamp": CycleFlag.LAMP,
}
"""Digital input or output, by its key in [io.inputs] or [io.outputs], `brake` of one or six → its flag."""


_FIELDS: list[tuple[str, type[np.generic], tuple[int, ...], str]] = [
    # name, type, shape, meaning; larger types first so that the struct has no inner padding
    ("t", np.float64, (), "s, rig time of the cycle's deadline since the engine's clock started"),
    ("lateness", np.float64, (), "s, lateness of the cycle's start"),
    ("period", np.float64, (), "s, since the start of the previous cycle"),
    ("exchange_time", np.float64, (), "s, from the first byte sent to the last reply collected"),
    ("compute_time", np.float64, (), "s, from the last reply to the next command ready"),
    ("path_time", np.float64, (), "s, time along the trajectory"),
    ("path_rate", np.float64, (), "trajectory seconds per second, 1 at full speed"),
    ("condition", np.float64, (), "condition number of H at the reference pose, characteristic length of the config"),
    ("reference", np.float64, (19,), "motion row: pose, twist, acceleration of the reference at t, base frame"),
    ("pose", np.float64, (7,), "m and quaternion, measured pose by forward kinematics"),
    ("twist", np.float64, (6,), "m/s, rad/s, measured"),
    ("length_reference", np.float64, (6,), "m, leg lengths of the reference"),
    ("length", np.float64, (6,), "m, measured"),
    ("velocity_reference", np.float64, (6,), "m/s, leg speeds of the reference"),
    ("velocity", np.float64, (6,), "m/s, measured"),
    ("force_command", np.float64, (6,), "N, actuator force computed in this cycle, sent with the next exchange"),
    ("force_feedforward", np.float64, (6,), "N, feedforward part of force_command"),
    (
        "position_command",
        np.float64,
        (6,),
        "m, leg length commanded in this cycle, sent with the next exchange; NaN where none was",
    ),
    ("force_measured", np.float64, (6,), "N, load cells, calibrated and tared, compression positive"),
    ("force_model", np.float64, (6,), "N, model force at the cells, at the reference, including force_held"),
    ("force_residual", np.float64, (6,), "N, force_measured - force_model"),
    (
        "force_held",
        np.float64,
        (6,),
        "N, part of force_model: force added because the drives hold each command until the next",
    ),
    (
        "velocity_held",
        np.float64,
        (6,),
        "m/s, correction of the leg speeds by the planned approach to the reference",
    ),
    (
        "terms",
        np.float64,
        (5, 6),
        "N, actuator force split by term, in the order of `TERMS`",
    ),
    ("stream_delay", np.float64, (), "s, from the instant a streamed pose is meant for to t; NaN without a stream"),
    (
        "stream_asked",
        np.float64,
        (7,),
        "m and quaternion, pose that the stream asks for at t; NaN where it asks for none",
    ),
    (
        "stream_counts",
        np.uint64,
        (4,),
        "samples of the stream so far: used, lost, late or unusable; cycles in which it was limited",
    ),
    ("cycle", np.uint64, (), "cycle counter; a gap is a skipped cycle"),
    ("overruns", np.uint32, (), "cycles skipped so far"),
    ("flags", np.uint32, (), "bits of CycleFlag"),
    ("motion", np.uint32, (), "id of the motion followed, or paused on; 0 for none"),
    ("drive_error", np.uint32, (6,), "error code of each drive"),
    ("stale", np.uint32, (6,), "consecutive cycles without fresh feedback"),
    ("drive_status", np.uint16, (6,), "bits of actuators.Status"),
    ("fault", np.uint16, (), "rig.states.FaultCode of the latched or stopping cause"),
    ("state", np.uint8, (), "rig.states.State"),
    ("stop", np.uint8, (), "rig.states.StopSeverity"),
    ("fault_leg", np.uint8, (), "leg 1..6 of the cause, 0 for the whole rig"),
    ("mode", np.uint8, (6,), "actuators.Mode commanded in this cycle, by leg"),
]

ROW = np.dtype([(name, kind, shape) for name, kind, shape, _ in _FIELDS], align=True)
"""numpy dtype of one telemetry row."""

MEANING: dict[str, str] = {name: meaning for name, _, _, meaning in _FIELDS}
"""Unit and meaning of every field of `ROW`."""

ABSENT: dict[str, float] = {
    "position_command": np.nan, "force_held": 0.0, "velocity_held": 0.0, "motion": 0.0,
    "stream_delay": np.nan, "stream_asked": np.nan, "stream_counts": 0,
}  # fmt: skip
"""Default of fields that are missing in older recordings."""

TERMS = ("platform inertia", "gravity", "leg inertia", "friction", "external")
"""Names of the entries along the first axis of `terms`."""

_FIRST_ARRAY = next(name for name, _, shape, _ in _FIELDS if shape)
_TIMES = struct.Struct(f"={[name for name, _, _, _ in _FIELDS].index(_FIRST_ARRAY)}d")
_CYCLE = struct.Struct("=Q")
_STATE_AT = ROW.fields["cycle"][1]  # type: ignore[index]
_CODES = {np.uint64: "Q", np.uint32: "I", np.uint16: "H", np.uint8: "B"}
_NAMES = [name for name, _, _, _ in _FIELDS]
_STATE = struct.Struct(
    "=" + "".join(f"{int(np.prod(shape))}{_CODES[kind]}" for _, kind, shape, _ in _FIELDS[_NAMES.index("cycle") + 1 :])
)


class RowWriter:
    """Writes the scalar fields of a row (1,) in few operations; separate writes would dominate the cycle.

    Args:
        row: (1,) of dtype ROW, written in place.
    """

    def __init__(self, row: npt.NDArray[np.void]) -> None:
        self._bytes = memoryview(row.view(np.uint8))  # type: ignore[arg-type]

    def times(self, values: Sequence[float]) -> None:
        """Fill the leading float fields, `t` to `condition`."""
        _TIMES.pack_into(self._bytes, 0, *values)

    def cycle(self, number: int) -> None:
        """Fill the field `cycle`."""
        _CYCLE.pack_into(self._bytes, _STATE_AT, number)

    def state(self, *values: int) -> None:
        """Fill the integer fields after `cycle`, arrays flattened."""
        _STATE.pack_into(self._bytes, _STATE_AT + _CYCLE.size, *values)


# -- external sensors, whose readings are not in the rows --------------------------------------------------------------

MOST_CHANNELS: Final = 16
"""channels that a sensor may have"""
CHANNELS: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "imu": (("ax", "m/s²"), ("ay", "m/s²"), ("az", "m/s²"), ("wx", "rad/s"), ("wy", "rad/s"), ("wz", "rad/s")),
    "pose": (("x", "m"), ("y", "m"), ("z", "m"), ("qw", ""), ("qx", ""), ("qy", ""), ("qz", "")),
}
"""Channels with their units of the kinds of sensor that have fixed ones.

imu: specific force (acceleration minus gravity; at rest, level, az is +9.8) and angular rate, both in the sensor's
axes. pose: of the tracker's target in the tracker's frame, a unit quaternion with the scalar first.
"""
QUATERNION: Final = slice(3, 7)
"""channels of a pose that are its quaternion"""


@dataclass(frozen=True, slots=True)
class SensorChannels:
    """What a sensor's readings mean: its name, kind, and names and units of its channels."""

    name: str
    kind: str
    names: tuple[str, ...]
    units: tuple[str, ...]
