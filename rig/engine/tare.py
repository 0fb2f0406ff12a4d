"""Zero error of the load cells: the mean residual at rest with the brakes closed."""

import numpy as np
import numpy.typing as npt

from kinematics import Array
from rig.findings import Code, Finding

_WEIGHT = 0.02  # of the newest sample, once there are enough of them


class Tare:
    """The running mean; `residual` (6,), N, NaN before the first sample."""

    def __init__(self) -> None:
        self.residual = np.zeros(6)
        self._samples = 0

    def begin(self) -> None:
        """Restart."""
        self._samples = 0
        self.residual[:] = np.nan

    def add(self, residual: Array) -> None:
        """Add the residual (6,) N of a cycle at rest; non-finite ones are left out."""
        if np.isfinite(residual).all():
            self._samples += 1
            mean = residual if self._samples == 1 else self.residual
            self.residual[:] = mean + max(_WEIGHT, 1.0 / self._samples) * (residual - mean)


def reads_reversed(model: Array, residual: Array) -> npt.NDArray[np.bool_]:
    """Whether each cell reads minus the model's force rather than that force, by a clear margin.

    Args:
        model: (6,) N, the expected force.
        residual: (6,) N, reading less expected force.
    """
    opposite: npt.NDArray[np.bool_] = np.abs(residual + 2.0 * model) < 0.5 * np.abs(residual)
    return opposite


def exchanged_cells(model: Array, residual: Array, bound: float) -> tuple[int, int] | None:
    """Two cells, as indices, that read each other's force, if they alone are off by more than the bound; else None.

    Args:
        model: (6,) N, the expected force.
        residual: (6,) N, reading less expected force.
        bound: N, also on what each is off the other's force.
    """
    off = np.flatnonzero(np.abs(residual) > bound).tolist()
    if len(off) != 2:
        return None
    one, other = off
    reading = model + residual
    alike = abs(reading[one] - model[other]) <= bound and abs(reading[other] - model[one]) <= bound
    return (one, other) if alike else None


def zero_shift(model: Array, shift: Array, bound: float) -> Finding | None:
    """Finding of a cell whose zero error is too large to engage, or None.

    Args:
        model: (6,) N, see `reads_reversed`.
        shift: (6,) N, mean residual at rest.
        bound: N.
    """
    leg = int(np.argmax(np.abs(shift)))
    if abs(shift[leg]) <= bound:
        return None
    off = float(shift[leg])
    pair = exchanged_cells(model, shift, bound)
    if pair is not None:
        return Finding(Code.CELLS_READ_EACH_OTHER, pair[0] + 1, off, bound, {"other": pair[1] + 1})
    opposite = reads_reversed(model, shift) & (np.abs(shift) > bound)
    if not opposite[leg]:
        return Finding(Code.ZERO_OFF, leg + 1, off, bound)
    legs = ", ".join(str(number + 1) for number in np.flatnonzero(opposite))
    return Finding(Code.CELL_REVERSED, leg + 1, off, bound, {"legs_listed": legs})
