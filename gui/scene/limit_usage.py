"""How much of its limits each leg uses."""

from dataclasses import dataclass

import numpy as np

from dynamics import Mechanism
from gui.session import Floats
from gui.texts import tr
from kinematics import joint_angles

LIMITS = (tr("stroke"), tr("base joint"), tr("platform joint"), tr("force"))
"""What the second axis of the uses counts."""
NEAR, AT = 0.9, 1.0
"""parts of a limit from which on a leg is near it, and at it"""


@dataclass(frozen=True, slots=True)
class Tightest:
    """The limit that a leg uses most of: its name, and the part used, 1 at the limit."""

    name: str
    used: float

    @property
    def near(self) -> bool:
        """Whether somebody should look."""
        return self.used >= NEAR

    @property
    def words(self) -> str:
        """For a mark beside the leg."""
        return f"{self.name} {100 * self.used:.0f} %"


def limit_uses(mechanism: Mechanism, row: np.void, forces: Floats) -> Floats:
    """Parts (6, 4) used of the limits `LIMITS`, of a telemetry row with a measured pose; not a number without a limit.

    A stroke counts from its middle: 1 at either end. The angles are those of the measured pose; forces (6,) N.
    """
    uses = np.full((6, len(LIMITS)), np.nan)
    angles = None
    for leg, limits in enumerate(mechanism.limits):
        if limits is None:
            continue
        if limits.length is not None:
            low, high = limits.length
            uses[leg, 0] = abs(2.0 * float(row["length"][leg]) - low - high) / (high - low)
        if limits.universal_angle is not None or limits.spherical_angle is not None:
            if angles is None and mechanism.geometry.home is not None:
                angles = joint_angles(mechanism.geometry, row["pose"])
            if angles is not None:
                uses[leg, 1] = _part(float(angles.universal[leg]), limits.universal_angle)
                uses[leg, 2] = _part(float(angles.spherical[leg]), limits.spherical_angle)
        uses[leg, 3] = _part(abs(float(forces[leg])), limits.force)
    return uses


def tightest(uses: Floats) -> list[Tightest | None]:
    """The limit of which each of six legs uses most, None where none is known."""
    found: list[Tightest | None] = []
    for parts in uses:
        known = np.where(np.isfinite(parts), parts, -np.inf)
        index = int(known.argmax())
        found.append(Tightest(LIMITS[index], float(known[index])) if np.isfinite(known[index]) else None)
    return found


def _part(value: float, limit: float | None) -> float:
    return np.nan if limit is None else value / limit
