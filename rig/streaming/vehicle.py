"""Wire format of a vehicle's streamed motion: UDP packets and TCP lines of specific force, rates and attitude.

A vehicle's sample has the header and the tag of a set-point (`rig.streaming.packets`), and comes by the same receiver.
In the ring it is a `SAMPLE` too: attitude, angular velocity and specific force are the last four numbers of its pose,
the last three of its velocity and the first three of its acceleration, all along the vehicle's own axes.
"""

import struct
from typing import Any, Final, NamedTuple

import numpy as np
import orjson

from kinematics import Array, quaternion_to_matrix
from rig.streaming.packets import (
    TAG_SIZE,
    VERSION,
    Drop,
    PacketError,
    SetPoint,
    bare_line,
    check_tag,
    checked,
    number_of,
    tag_of,
    vector_of,
)
from rig.streaming.samples import END

ATTITUDE: Final = 8
"""bit of `given`: the vehicle's attitude is given"""
KINEMATIC: Final = 16
"""bit of `given`: what is given is the acceleration, without gravity, not the specific force; needs the attitude"""
_KNOWN = END | ATTITUDE | KINEMATIC
_MAGIC = b"SRVS"
_VEHICLE = struct.Struct("<4sBBH3Q2d3d3d4d")
VEHICLE_SIZE: Final = _VEHICLE.size + TAG_SIZE
"""bytes of a packet"""
_NO_TAG = bytes(TAG_SIZE)
_COLUMNS = 17
_FIELDS = {
    "session", "challenge", "sequence", "sent", "time", "force", "acceleration", "rate", "attitude", "end", "tag"
}  # fmt: skip
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
    data = _packed(sample)
    return data + tag_of(data, key)


def decode_vehicle(packet: bytes, key: bytes | None = None) -> SetPoint:
    """The sample of a packet, as it goes through the intake.

    Raises:
        PacketError: `MANGLED` or `KEY`; `INVALID` for an acceleration without the attitude.
    """
    if len(packet) != VEHICLE_SIZE:
        raise PacketError(Drop.MANGLED, f"{len(packet)} bytes, must be {VEHICLE_SIZE}")
    magic, version, reserved, given, session, challenge, sequence, sent, time, *numbers = _VEHICLE.unpack_from(packet)
    if magic != _MAGIC or version != VERSION or reserved or given & ~_KNOWN:
        raise PacketError(Drop.MANGLED, f"magic {magic!r}, version {version}, flags {given}: not a vehicle's sample")
    check_tag(packet[:-TAG_SIZE], packet[-TAG_SIZE:], key)
    force, rate, attitude = tuple(numbers[:3]), tuple(numbers[3:6]), tuple(numbers[6:])
    return _whole(VehicleSample(session, challenge, sequence, sent, time, given, force, rate, attitude))


def decode_vehicle_line(line: bytes, key: bytes | None = None) -> SetPoint:
    """The sample of a line, JSON (it begins with a brace) or CSV, see `decode_line`, as it goes through the intake.

    Raises:
        PacketError: `MANGLED` or `KEY`; `INVALID` for an acceleration without the attitude.
    """
    try:
        line = bare_line(line)
        sample, tag = _of_json(line) if line.startswith(b"{") else _of_csv(line)
        data = _packed(sample)
        given_tag = bytes.fromhex(tag) if tag else _NO_TAG
    except (KeyError, TypeError, ValueError, OverflowError, struct.error) as error:
        raise PacketError(Drop.MANGLED, f"line cannot be read: {error}") from None
    if sample.given & ~_KNOWN:
        raise PacketError(Drop.MANGLED, f"flags {sample.given}: unknown")
    check_tag(data, given_tag, key)
    return _whole(sample)


def specific_force(acceleration: Array, attitude: Array, gravity: float, *, z_down: bool = False) -> Array:
    """Specific force (3,) of a point with `acceleration` (3,) against the ground, m/s², along the vehicle's axes.

    f = a − Rᵀ g. attitude: (4,) unit quaternion that turns the vehicle's axes into those of the ground. gravity: m/s².
    z_down: whether z of the axes points down (NED), not up (ENU).
    """
    up = np.array([0.0, 0.0, -gravity if z_down else gravity])
    found: Array = acceleration + quaternion_to_matrix(np.asarray(attitude, dtype=np.float64)).T @ up
    return found


def _whole(sample: VehicleSample) -> SetPoint:
    """The sample for the intake. Raises PacketError if it has an acceleration without the attitude."""
    if not sample.given & ATTITUDE:
        if sample.given & KINEMATIC:
            raise PacketError(Drop.INVALID, "an acceleration needs the attitude, which says where gravity points")
        sample = sample._replace(attitude=_LEVEL)
    return sample.set_point


def _packed(sample: VehicleSample) -> bytes:
    session, challenge, sequence, sent, time, given, force, rate, attitude = sample
    return _VEHICLE.pack(
        _MAGIC, VERSION, 0, given, session, challenge, sequence, sent, time, *force, *rate, *attitude
    )  # fmt: skip


def _of_json(line: bytes) -> tuple[VehicleSample, str]:
    fields: dict[str, Any] = orjson.loads(line)
    if unknown := fields.keys() - _FIELDS:
        raise ValueError(f"unknown field {min(unknown)!r}")
    given = END if checked(fields.get("end", False), bool) else 0
    if "acceleration" in fields:
        if "force" in fields:
            raise ValueError("both force and acceleration")
        given |= KINEMATIC
    force = vector_of(fields, "acceleration" if given & KINEMATIC else "force", 3)
    attitude = _LEVEL
    if "attitude" in fields:
        given |= ATTITUDE
        attitude = vector_of(fields, "attitude", 4)
    sent = number_of(fields["sent"])
    session, challenge = (checked(fields.get(name, 0), int) for name in ("session", "challenge"))
    sample = VehicleSample(
        session, challenge, checked(fields["sequence"], int), sent, number_of(fields.get("time", sent)), given, force,
        vector_of(fields, "rate", 3), attitude,
    )  # fmt: skip
    return sample, checked(fields.get("tag", ""), str)


def _of_csv(line: bytes) -> tuple[VehicleSample, str]:
    cells = line.decode("ascii").split(",")
    if len(cells) != _COLUMNS:
        raise ValueError(f"{len(cells)} columns, must be {_COLUMNS}")
    session, challenge, sequence, sent, time, given, *numbers, tag = (cell.strip() for cell in cells)
    force, rate = (tuple(float(cell) for cell in numbers[place : place + 3]) for place in (0, 3))
    attitude = tuple(map(float, numbers[6:])) if any(numbers[6:]) else _LEVEL
    stamp = float(sent)
    sample = VehicleSample(
        int(session or 0), int(challenge or 0), int(sequence), stamp, float(time or stamp), int(given or 0), force,
        rate, attitude,
    )  # fmt: skip
    return sample, tag
