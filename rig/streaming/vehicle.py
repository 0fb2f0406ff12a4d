"""Wire format of a vehicle's streamed motion: UDP packets and TCP lines of specific force, rates and attitude.

A vehicle's sample has the header and the tag of a set-point (`rig.streaming.packets`), and comes by the same receiver.
In the ring it is a `SAMPLE` too: attitude, angular velocity and specific force are the last four numbers of its pose,
the last three of its velocity and the first three of its acceleration, all along the vehicle's own axes.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from kinematics import Array, quaternion_to_matrix
from rig.streaming.packets import Drop, PacketError, SampleFormat, SetPoint, vector_of

ATTITUDE: Final = 8
"""bit of `given`: the vehicle's attitude is given"""
KINEMATIC: Final = 16
"""bit of `given`: what is given is the acceleration, without gravity, not the specific force; needs the attitude"""
_LEVEL: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0)


class VehicleSample(NamedTuple):
    """A vehicle's motion at one time, as it is sent.

    sent, time: s of the sender's clock, when it was sent and at which it is meant. given: bits END, ATTITUDE,
    KINEMATIC. force: (3,) m/s², specific force, which is what an accelerometer reads, or with KINEMATIC the
    acceleration of the same point against the ground. rate: (3,) rad/s, angular velocity. Both along the vehicle's
    axes, which the tuning names. attitude: unit quaternion w, x, y, z that turns the vehicle's axes into those of the
    ground, whose z is vertical: up with `z-up` (ENU, ISO 8855), down with `z-down` (NED); level where not given.
    """

    session: int
    challenge: int
    sequence: int
    sent: float
    time: float
    given: int
    force: tuple[float, ...]
    rate: tuple[float, ...]
    attitude: tuple[float, ...] = _LEVEL

    @property
    def set_point(self) -> SetPoint:
        """The sample as it goes through the intake: see the module."""
        motion = (0.0, 0.0, 0.0, *self.attitude, 0.0, 0.0, 0.0, *self.rate, *self.force, 0.0, 0.0, 0.0)
        return SetPoint(*self[:6], motion)


def encode_vehicle(sample: VehicleSample, key: bytes | None = None) -> bytes:
    """The packet (144 bytes) of a sample."""
    return _FORMAT.encode(SetPoint(*sample[:6], (*sample.force, *sample.rate, *sample.attitude)), key)


def decode_vehicle(packet: bytes, key: bytes | None = None) -> SetPoint:
    """The sample of a packet, as it goes through the intake.

    Raises:
        PacketError: `MALFORMED` or `KEY`; `INVALID` for an acceleration without the attitude.
    """
    return _whole(_FORMAT.decode(packet, key))


def decode_vehicle_line(line: bytes, key: bytes | None = None) -> SetPoint:
    """The sample of a line, as `SampleFormat.decode_line` reads it; for the rest see `decode_vehicle`."""
    return _whole(_FORMAT.decode_line(line, key))


def specific_force(acceleration: Array, attitude: Array, gravity: float, *, z_down: bool = False) -> Array:
    """Specific force (3,) of a point with `acceleration` (3,) against the ground, m/s², along the vehicle's axes.

    f = a − Rᵀ g. attitude: (4,) unit quaternion that turns the vehicle's axes into those of the ground. gravity: m/s².
    z_down: whether z of the axes points down (NED), not up (ENU).
    """
    up = np.array([0.0, 0.0, -gravity if z_down else gravity])
    found: Array = acceleration + quaternion_to_matrix(np.asarray(attitude, dtype=np.float64)).T @ up
    return found


def _whole(point: SetPoint) -> SetPoint:
    """The sample for the intake. Raises PacketError if it has an acceleration without the attitude."""
    sample = VehicleSample(*point[:6], point.motion[:3], point.motion[3:6], point.motion[6:])
    if not sample.given & ATTITUDE:
        if sample.given & KINEMATIC:
            raise PacketError(Drop.INVALID, "an acceleration needs the attitude, which says where gravity points")
        sample = sample._replace(attitude=_LEVEL)
    return sample.set_point


def _of_json(fields: dict[str, Any]) -> tuple[int, tuple[float, ...]]:
    given, force, attitude = 0, "force", _LEVEL
    if "acceleration" in fields:
        if "force" in fields:
            raise ValueError("both force and acceleration")
        given, force = KINEMATIC, "acceleration"
    if "attitude" in fields:
        given |= ATTITUDE
        attitude = vector_of(fields, "attitude", 4)
    return given, vector_of(fields, force, 3) + vector_of(fields, "rate", 3) + attitude


def _of_csv(_given: int, cells: list[str]) -> tuple[float, ...]:
    attitude = cells[6:] if any(cells[6:]) else _LEVEL
    return tuple(map(float, (*cells[:6], *attitude)))


_FORMAT = SampleFormat(
    "vehicle's sample", b"SRVS", 10, ATTITUDE | KINEMATIC, {"force", "acceleration", "rate", "attitude"}, _of_json,
    _of_csv,
)  # fmt: skip
VEHICLE_SIZE: Final = _FORMAT.size
"""bytes of a packet"""
