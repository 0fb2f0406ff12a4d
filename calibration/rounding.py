"""What rounding to steps adds to the noise of a reading: uniform within a step, of variance q²/12."""

import numpy as np

from kinematics import Array


def rounded_noise(noise: float | Array, step: float | Array) -> float | Array:
    """Standard deviation of a reading with white `noise` once it is rounded to a `step` q, of the same unit.

    √(σ² + q²/12) (Widrow and Kollár, Quantization Noise, 2008): in motion over many steps, or of noise of half a step.
    """
    return np.sqrt(np.square(noise) + np.square(step) / 12.0)


def rounding_of_mean(noise: float | Array, step: float | Array) -> Array:
    """Standard deviation of what rounding leaves in the mean of however many readings of one value.

    q/√12 without noise, which averages it out: q/√12 exp(−2π²σ²/q²) (Gray and Stockham, IEEE Trans. Inf. Theory 39,
    1993, for Gaussian dither). No step leaves nothing.
    """
    steps = np.asarray(step, np.float64)
    ratio = np.divide(noise, steps, out=np.full(np.broadcast(noise, steps).shape, np.inf), where=steps > 0.0)
    left: Array = steps / np.sqrt(12.0) * np.exp(-2.0 * (np.pi * ratio) ** 2)
    return left
