"""A sender of streamed set-points on a manual clock, for tests of the receiving side."""

import math

from rig.streaming import Drop, SetPoint, StreamStatus

AT_REST = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, *(0.0,) * 12)
KEY = bytes(range(32))


def point(
    sequence: int, sent: float, *, session: int = 1, challenge: int = 0, given: int = 0, x: float = 0.0
) -> SetPoint:
    """A set-point at rest, moved by `x` m."""
    return SetPoint(session, challenge, sequence, sent, sent, given, (x, *AT_REST[1:]))


def check_accounts(status: StreamStatus, first: int = 0) -> None:
    """Every packet received is taken or dropped by kind, and so is every sequence number of a single session."""
    inside = sum(count for drop, count in status.dropped.items() if drop != Drop.SYSTEM)
    assert status.received == status.taken + inside
    passed = sum(status.dropped[drop] for drop in (Drop.INVALID, Drop.TIME))
    assert status.sequence - first + 1 == status.taken + status.missing + passed


def circle(t: float) -> tuple[float, ...]:
    """Motion row on a circle of 10 mm, once in two seconds."""
    w, r = math.pi, 0.01
    pose = (r * math.cos(w * t) - r, r * math.sin(w * t), 0.0, 1.0, 0.0, 0.0, 0.0)
    velocity = (-r * w * math.sin(w * t), r * w * math.cos(w * t), 0.0, 0.0, 0.0, 0.0)
    acceleration = (-r * w * w * math.cos(w * t), -r * w * w * math.sin(w * t), 0.0, 0.0, 0.0, 0.0)
    return (*pose, *velocity, *acceleration)
