"""Zero readings of the load cells, and how far they moved during a calibration."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.errors import CalibrationError

Array = NDArray[np.float64]

CELLS = 6
"""Load cells of the rig, one per leg."""


def read_only(values: ArrayLike) -> Array:
    """Copy as float64 that cannot be written to."""
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


@dataclass(frozen=True, slots=True, eq=False)
class Tare:
    """Readings of the six unloaded cells: `offset` (6,) mean and `noise` (6,) sample standard deviation, raw units.

    `n` samples of each cell went into it.
    """

    offset: Array
    noise: Array
    n: int

    @property
    def standard_error(self) -> Array:
        """Standard error (6,) of the mean, raw units, for independent samples."""
        error: Array = self.noise / np.sqrt(self.n)
        return error


@dataclass(frozen=True, slots=True, eq=False)
class Drift:
    """Move of the zero from the tare before to the tare after, (6,) N, and the bound (6,) N it was judged by."""

    force: Array
    bound: Array

    @property
    def within(self) -> NDArray[np.bool_]:
        """Whether each cell's drift (6,) is within its bound."""
        return np.abs(self.force) <= self.bound


def tare(samples: ArrayLike) -> Tare:
    """Mean and noise of the unloaded cells.

    Args:
        samples: (n, 6) raw readings, at least two of each cell.

    Raises:
        CalibrationError: wrong shape, too few samples, or a non-finite one (every faulty leg is named).
    """
    array = np.asarray(samples, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != CELLS:
        raise CalibrationError(f"tare: samples must have shape (n, 6), got {array.shape}")
    if len(array) < 2:
        raise CalibrationError(f"tare: {len(array)} samples, at least 2 are needed to know the noise")
    finite = np.isfinite(array)
    if not finite.all():
        raise CalibrationError(
            [
                f"tare: cell {leg + 1}: {np.count_nonzero(~finite[:, leg])} of {len(array)} samples are not finite"
                for leg in range(CELLS)
                if not finite[:, leg].all()
            ]
        )
    return Tare(read_only(array.mean(axis=0)), read_only(array.std(axis=0, ddof=1)), len(array))


def drift(before: Tare, after: Tare, gain: ArrayLike, *, limit: float = 0.5, sigmas: float = 5.0) -> Drift:
    """Drift of the zero, judged by max(`limit`, `sigmas` x its standard error).

    The second bound keeps a short, noisy tare from failing by chance; it matters only when it is the larger one.

    Args:
        before: tare taken first.
        after: tare taken last.
        gain: (6,) N per raw unit, signed (polarity included).
        limit: N, drift that is always accepted.
        sigmas: multiples of the standard error of the difference of the two means.

    Raises:
        CalibrationError: a bound or gain that is negative or not finite.
    """
    scale = np.asarray(gain, dtype=np.float64)
    if scale.shape != (CELLS,) or not np.isfinite(scale).all():
        raise CalibrationError(f"drift: gain must be six finite numbers, N per raw unit, got {scale.tolist()}")
    for name, value in (("limit (N)", limit), ("sigmas", sigmas)):
        if not (np.isfinite(value) and value >= 0.0):
            raise CalibrationError(f"drift: {name} must be finite and not negative, got {value}")
    error = np.abs(scale) * np.hypot(before.standard_error, after.standard_error)
    return Drift(read_only((after.offset - before.offset) * scale), read_only(np.maximum(limit, sigmas * error)))
