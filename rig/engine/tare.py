"""By how much the load cells' zero is off: the mean residual at rest with the brakes closed."""

import numpy as np
import numpy.typing as npt

from kinematics import Array, figure_and_bound

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


def reads_reversed(model: Array, residual: Array) -> npt.NDArray[np.bool_]:
    """Whether each cell reads minus the model's force rather than that force, by a clear margin.

    Args:
        model: (6,) N, the force that the cells should read.
        residual: (6,) N, what they read beyond it.
    """
    opposite: npt.NDArray[np.bool_] = np.abs(residual + 2.0 * model) < 0.5 * np.abs(residual)
    return opposite


def describe_shift(model: Array, shift: Array, bound: float) -> str:
    """Why the zero of some cell is too far off to engage, and what to do, in words; empty where none is.

    Args:
        model: (6,) N, as of `reads_reversed`.
        shift: (6,) N, mean residual at rest.
        bound: N.
    """
    leg = int(np.argmax(np.abs(shift)))
    if abs(shift[leg]) <= bound:
        return ""
    opposite = reads_reversed(model, shift) & (np.abs(shift) > bound)
    legs = ", ".join(str(number + 1) for number in np.flatnonzero(opposite))
    advice = (
        f"the polarity (gain) of the load cell is reversed at leg {legs}: rig calibrate cells"
        if opposite[leg]
        else "tare the cells, or correct the mechanism's masses"
    )
    off, most = figure_and_bound(shift[leg], bound, "+.1f")
    return f"the load cell of leg {leg + 1} is {off} N off the model at rest (bound {most} N): {advice}"
