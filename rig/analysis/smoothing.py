"""Zero-phase Gaussian low-pass of given bandwidth, and its derivative, for samples at a constant rate."""

import math

import numpy as np
import numpy.typing as npt

from rig.errors import InputError

Floats = npt.NDArray[np.float64]

_WIDTH = math.sqrt(math.log(2.0)) / (2.0 * math.pi)
"""standard deviation of the Gaussian, s, for a bandwidth of 1 Hz: |H(f)|² = exp(−(2π f σ)²) is one half there"""
_REACH = 5.0
"""half width in standard deviations, beyond which the weight is negligible"""
NARROWEST = 5.0
"""minimum ratio of rate to bandwidth for a valid sampled Gaussian"""


class Smoothing:
    """Gaussian low-pass with a bandwidth, Hz, at a rate, Hz; a `bandwidth` of None is the identity.

    A symmetric filter has no delay. Its response falls to −3 dB at the bandwidth without overshoot, so that a step
    never appears as a second contact. `half` is the number of samples without result at either end: results are that
    many cycles late. weights (2 half + 1,): of the samples about each.

    Raises InputError for a bandwidth that is not above 0 Hz or above a fifth of the rate.
    """

    def __init__(self, bandwidth: float | None, rate: float) -> None:
        self.bandwidth = bandwidth
        self.rate = rate
        if bandwidth is None:
            self.half = 0
            self.weights = np.ones(1)
            self._slopes = np.zeros(1)
            return
        if not (math.isfinite(bandwidth) and 0.0 < bandwidth <= rate / NARROWEST):
            raise InputError(
                f"bandwidth: {bandwidth:g} Hz, must be above 0 and at most {rate / NARROWEST:g} Hz, a fifth of the "
                f"{rate:g} cycles a second"
            )
        sigma = _WIDTH / bandwidth * rate  # samples
        self.half = math.ceil(_REACH * sigma)
        offsets = np.arange(-self.half, self.half + 1.0)
        self.weights = np.exp(-0.5 * (offsets / sigma) ** 2)
        self.weights /= self.weights.sum()
        slopes = -offsets * self.weights  # convolution reverses it
        self._slopes = slopes * (rate / (slopes @ -offsets))

    @property
    def settled(self) -> int:
        """Samples between two results with nearly independent noise: the correlation of white noise is below 0.05."""
        return max(1, math.ceil(3.5 * self.half / _REACH))

    @property
    def apart(self) -> float:
        """Largest time, s, between two results that may show the same event."""
        return (2 * self.half + 1.5) / self.rate

    def __call__(self, values: Floats) -> Floats:
        """Smooth values (n, …) to (n − 2 half, …): samples `half` to `n − half`."""
        return self._convolved(values, self.weights)

    def derivative(self, values: Floats) -> Floats:
        """Smoothed time derivative of values, per s; zero without smoothing."""
        return self._convolved(values, self._slopes)

    @property
    def noise_gain(self) -> float:
        """Variance of smoothed white noise relative to that of the noise."""
        return float(self.weights @ self.weights)

    @property
    def noise_correlation(self) -> float:
        """Correlation of smoothed white noise at a lag of one sample."""
        return float(self.weights[1:] @ self.weights[:-1]) / self.noise_gain

    def _convolved(self, values: Floats, kernel: Floats) -> Floats:
        if not self.half:
            unchanged: Floats = values * kernel[0]
            return unchanged
        if len(values) <= 2 * self.half:
            return np.empty((0, *values.shape[1:]))
        from scipy.signal import oaconvolve  # slow to import, rarely needed

        shape = (-1,) + (1,) * (values.ndim - 1)
        level = values.mean(axis=0)  # preserves digits with a large offset
        smoothed: Floats = oaconvolve(values - level, kernel.reshape(shape), mode="valid", axes=0)
        smoothed += level * kernel.sum()
        return smoothed
