"""How well homing finds the same lengths again."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibration.errors import CalibrationError
from kinematics import Array

LEAST_HOMINGS = 5

_NORMAL = 1.4826  # standard deviation over median absolute deviation, of a normal distribution
_FAR = 4.5  # standard deviations, from the median: once in some 150 000 readings
_MEAN = 1.2533  # and over the mean absolute deviation, where more than half of the readings are one number


@dataclass(frozen=True, slots=True, eq=False)
class HomingRepeatability:
    """Lengths after repeated homings, by leg; outliers are not in the figures.

    mean, standard_deviation, standard_error (6,): m; the last one is of the mean. count (6,): homings that counted.
    outliers: (homing, leg, m from the median), counted from 1.
    """

    mean: Array
    standard_deviation: Array
    standard_error: Array
    count: tuple[int, ...]
    outliers: tuple[tuple[int, int, float], ...]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "mean_m": self.mean.tolist(),
            "standard_deviation_m": self.standard_deviation.tolist(),
            "standard_error_m": self.standard_error.tolist(),
            "count": list(self.count),
            "outliers": [{"homing": row, "leg": leg, "off_m": off} for row, leg, off in self.outliers],
        }


def homing_repeatability(lengths: ArrayLike) -> HomingRepeatability:
    """Repeatability from lengths (m, 6), m, measured at one pose after each of m homings.

    A reading beyond 4.5 robust standard deviations (from the median absolute deviation) of its leg's median is an
    outlier, and told.
    Raises CalibrationError for a wrong shape, fewer than five homings, numbers that are not finite.
    """
    values = np.asarray(lengths, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != 6:
        raise CalibrationError(f"homings: shape {values.shape}, must be (m, 6)")
    faults = [
        f"homing {row + 1}, leg {leg + 1}: {values[row, leg]}, must be finite"
        for row, leg in np.argwhere(~np.isfinite(values))
    ]
    if len(values) < LEAST_HOMINGS:
        faults.append(f"{len(values)} homings, at least {LEAST_HOMINGS} are needed")
    if faults:
        raise CalibrationError(faults)
    off = values - np.median(values, axis=0)
    middle = np.median(np.abs(off), axis=0)
    spread = np.where(middle > 0.0, _NORMAL * middle, _MEAN * np.abs(off).mean(axis=0))
    spread = np.maximum(spread, np.median(spread))  # of a few homings one leg's own may come out small by chance
    good = np.abs(off) <= _FAR * spread
    columns = [values[good[:, leg], leg] for leg in range(6)]
    deviation = np.array([column.std(ddof=1) for column in columns])
    count = tuple(len(column) for column in columns)
    return HomingRepeatability(
        mean=np.array([column.mean() for column in columns]),
        standard_deviation=deviation,
        standard_error=deviation / np.sqrt(count),
        count=count,
        outliers=tuple((int(row) + 1, int(leg) + 1, float(off[row, leg])) for row, leg in np.argwhere(~good)),
    )
