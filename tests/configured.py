"""The virtual rig of the tests, and what a rig's configuration may leave out and the shipped one has."""

from pathlib import Path
from typing import Any

from actuators import TcpEndpoint
from dynamics import Leg, LegLimits
from rig.config import RigConfig, load_config

SHIPPED = load_config("virtual")
RATE = 200.0  # Hz, which costs less than the shipped one
GAINS = {"stiffness": 8e3, "damping": 360.0}
"""With which the loop has the same margin at this rate."""
SLOWER: dict[str, Any] = {"rate": RATE, "control": GAINS, "virtual": {"step": 1e-3}}
"""With the longest whole step, s, at which the shipped brakes can be integrated: the plant costs half."""
VIRTUAL = SHIPPED.changed(SLOWER)
"""The virtual rig at that rate: for whatever is not about the rate, or about bounds as tight as it is shipped with."""


def slower_file(path: Path) -> str:
    """Write the file of `VIRTUAL`; the path as a command takes it."""
    text = SHIPPED.path.read_text(encoding="utf-8")
    for shipped, slower in (
        ("500 Hz", "200 Hz"),
        ("stiffness = 20.0e3 ", "stiffness = 8.0e3 "),
        ("= 900.0  ", "= 360.0  "),
        ('\nstep = "0.5 ms"', '\nstep = "1 ms"'),
    ):
        text = text.replace(shipped, slower, 1)
    path.write_text(text, encoding="utf-8")
    assert load_config(path).resolved() == VIRTUAL.resolved()
    return str(path)


def endpoints(config: RigConfig) -> list[tuple[str, int]]:
    """Host and port at which the drives of legs 1 to 6 are served."""
    found: list[tuple[str, int]] = [leg.endpoint for leg in config.drives.legs if isinstance(leg.endpoint, TcpEndpoint)]
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
