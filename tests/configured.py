"""What a rig's configuration may leave out, and the shipped one has."""

from dynamics import Leg, LegLimits
from rig.config import RigConfig


def endpoints(config: RigConfig) -> list[tuple[str, int]]:
    """Host and port at which the drives of legs 1 to 6 are served."""
    found = [leg.endpoint for leg in config.drives.legs if leg.endpoint is not None]
    assert len(found) == len(config.drives.legs)
    return found


def limits(leg: Leg) -> LegLimits:
    """What a leg may do."""
    assert leg.limits is not None
    return leg.limits


def stroke(leg: Leg) -> tuple[float, float]:
    """Least and greatest length, m."""
    length = limits(leg).length
    assert length is not None
    return length
