"""By how much the load cells' zero is off: the mean residual at rest with the brakes closed."""

import numpy as np

from kinematics import Array

_WEIGHT = 0.02  # of the newest sample, once there are enough of them


class Tare:
    """Keeps the mean; `residual` (6,) is it, N, not a number before the first sample."""

    def __init__(self) -> None:
        self.residual = np.zeros(6)
        self._samples = 0

    def begin(self) -> None:
        """Begin anew."""
        self._samples = 0
        self.residual[:] = np.nan

    def add(self, residual: Array) -> None:
        """Take the residual (6,) N of a cycle at rest; one that is not finite is left out."""
        if np.isfinite(residual).all():
            self._samples += 1
            mean = residual if self._samples == 1 else self.residual
            self.residual[:] = mean + max(_WEIGHT, 1.0 / self._samples) * (residual - mean)
