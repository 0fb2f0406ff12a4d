"""What the rounding of encoders adds to a periodic motion: it repeats with it, and is another one at another size.

The scatter between periods does not show it. So it is drawn: the same motion in other sizes, read by the same encoders.
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kinematics import Geometry, angle_rates_to_angular_velocity, coordinates_to_pose, leg_matrices

Floats: TypeAlias = npt.NDArray[np.float64]

_DRAWS = 32
_SIZES = 0.2  # to either side of the size that was run
_SMOOTH = 3  # harmonics of the deviation from the command that belong to the motion, not to the rounding
_HARMONICS = 20  # of the rounding error over the place
_FLOAT = 1e-12  # m: two readings that differ by less are the same one
_PARTS = 50  # steps in the least distance of two readings, at most
_ON_GRID = 0.1  # of a step, off its multiples
_MOST = 0.995  # of the readings


@dataclass(frozen=True, slots=True, eq=False)
class Rounding:
    """Drawn errors by rounding over one period of n samples, for each of m sizes of a motion.

    legs (m, n, 6): of the lengths, m. coordinates (m, n, 6): of the coordinates by forward kinematics, m and rad.
    """

    legs: Floats
    coordinates: Floats


def encoder_steps(lengths: Floats) -> Floats:
    """Steps (6,), m, of readings (n, 6): the largest of which all their distances are multiples; 0 if all are equal.

    Readings without such a step, which are not rounded, have their least distance, whose rounding matters as little.
    """
    return np.array([_step(readings) for readings in lengths.T])


def _step(readings: Floats) -> float:
    places = np.unique(readings)
    apart = np.diff(places)
    apart = apart[apart > _FLOAT]
    if not len(apart):
        return 0.0
    least = float(apart.min())
    for parts in range(1, _PARTS + 1):
        counts = (places - places[0]) * (parts / least)
        if (np.abs(counts - np.rint(counts)) < _ON_GRID).mean() > _MOST:
            return least / parts
    return least


def drawn_rounding(lengths: Floats, coordinates: Floats, steps: Floats, cycles: int, geometry: Geometry) -> Rounding:
    """Draw the errors by rounding of a periodic motion, in sizes about its own.

    Its harmonics of low order are the motion; the readings' grid is that of the encoders, so that legs that move alike
    are rounded alike. Noise that scatters readings from period to period takes from the rounding what repeats.

    Args:
        lengths: (n, 2, 6) m, commanded and measured, over `cycles` periods.
        coordinates: (n, 6) commanded.
        steps: (6,) m, of the encoders.
        cycles: number of periods.
        geometry: of the platform.
    """
    commanded, measured = (lengths[:, which].reshape(cycles, -1, lengths.shape[2]) for which in (0, 1))
    deviation = np.fft.rfft(measured.mean(axis=0) - commanded[0], axis=0)
    deviation[_SMOOTH + 1 :] = 0.0
    motion = commanded[0] + np.fft.irfft(deviation, n=commanded.shape[1], axis=0)
    scatter = np.sqrt(measured.var(axis=0).mean(axis=0) * cycles / max(cycles - 1, 1))
    grid, step = measured[0, 0], np.where(steps > 0.0, steps, 1.0)
    mean = motion.mean(axis=0)
    sizes = 1.0 + _SIZES * np.random.default_rng(0).uniform(-1.0, 1.0, _DRAWS)
    drawn = mean + sizes[:, np.newaxis, np.newaxis] * (motion - mean)
    off = np.rint((drawn - grid) / step) * step - (drawn - grid)
    off *= np.where(steps > 0.0, _kept(scatter, step), 0.0)
    by_pose = _of_coordinates(off, coordinates[: commanded.shape[1]], geometry) if steps.any() else np.zeros_like(off)
    return Rounding(off, by_pose)


def resting_rounding(lengths: Floats, coordinates: Floats, steps: Floats, geometry: Geometry) -> Floats:
    """Standard deviations (6,), m and rad, by rounding of the coordinates at rest; readings (n, 6), one place (6,)."""
    if not steps.any():
        return np.zeros(6)
    step = np.where(steps > 0.0, steps, 1.0)
    each = np.where(steps > 0.0, _kept(lengths.std(axis=0), step) * step / math.sqrt(12.0), 0.0)
    by_leg = _of_coordinates(np.diag(each)[:, np.newaxis], coordinates[np.newaxis], geometry)
    return np.asarray(np.linalg.norm(by_leg[:, 0], axis=0), np.float64)


def _kept(scatter: Floats, step: Floats) -> Floats:
    """Part of the rounding error's RMS that repeats in spite of noise, by the readings' scatter (6,), m.

    The rounding error is a saw-tooth of the place, which normal noise averages: its m-th harmonic, of an amplitude as
    1/m, by exp(-2 (π m σ / step)²). Noise far below a step scatters readings by √(step σ/√π), noise far above it by σ.
    """
    noise = np.minimum(math.sqrt(math.pi) * scatter**2 / step, scatter) / step
    number = np.arange(1.0, _HARMONICS + 1.0)[:, np.newaxis]
    powers = np.exp(-((2.0 * math.pi * number * noise) ** 2)) / number**2
    kept: Floats = np.sqrt(powers.sum(axis=0) / (1.0 / number**2).sum())
    return kept


def _of_coordinates(off: Floats, coordinates: Floats, geometry: Geometry) -> Floats:
    """Errors (m, n, 6) of coordinates by errors (m, n, 6) of lengths, to first order, at coordinates (n, 6)."""
    rates = np.zeros((len(coordinates), 6, 6))  # of lengths by coordinates
    by_twist = leg_matrices(geometry, coordinates_to_pose(coordinates)).transpose(0, 2, 1)
    rates[:, :, :3] = by_twist[:, :, :3]
    for angle, unit in enumerate(np.eye(3)):
        turning = angle_rates_to_angular_velocity(coordinates[:, 3:], np.tile(unit, (len(coordinates), 1)))
        rates[:, :, 3 + angle] = np.einsum("nij,nj->ni", by_twist[:, :, 3:], turning)
    return np.asarray(np.linalg.solve(rates, off.transpose(1, 2, 0)).transpose(2, 0, 1), np.float64)
