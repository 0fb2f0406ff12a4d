"""The check of a reference, which keeps nothing here."""

import numpy as np

from kinematics import Array
from rig.safety import Cause, ReferenceCheck


def judge(
    check: ReferenceCheck,
    legs: Array,
    condition: float,
    before: Array | None = None,
    elapsed: float = -1.0,
    *,
    t: float = 0.0,
    starts: bool = False,
) -> Cause | None:
    """Cause to refuse a reference, see `ReferenceCheck.accept`; `before` stays as it is."""
    kept = legs.copy() if before is None else before.copy()
    return check.accept(t, np.zeros(19), legs, condition, np.zeros(19), kept, elapsed, starts=starts)
