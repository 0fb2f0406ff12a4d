"""A zero-phase low-pass: a Gaussian of given bandwidth, and its derivative, for samples at a constant rate."""

import math

import numpy as np
import numpy.typing as npt

from rig.errors import InputError

Floats = npt.NDArray[np.float64]

_WIDTH = math.sqrt(math.log(2.0)) / (2.0 * math.pi)
"""standard deviation of the Gaussian, s, of a bandwidth of 1 Hz: |H(f)|² = exp(−(2π f σ)²) is a half there"""
_REACH = 5.0
"""standard deviations to either side, beyond which its weight is negligible"""
NARROWEST = 5.0
"""least cycles a period of the bandwidth for a valid sampled Gaussian"""


class Smoothing:
    """The Gaussian low-pass of a bandwidth, Hz, at a rate, Hz; a `bandwidth` of None leaves everything as it is.

    A symmetric filter has no delay. Its response falls to −3 dB at the bandwidth without overshoot, so that a step
    never appears as a second contact. `half` is the number of samples at either end for which there is no result: an
    answer is that many cycles late. weights (2 half + 1,): of the samples about each.

    Raises InputError for a bandwidth that is not above 0 Hz or beyond a fifth of the rate.
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
        slopes = -offsets * self.weights  # convolution turns it round
        self._slopes = slopes * (rate / (slopes @ -offsets))

    @property
    def settled(self) -> int:
        """Samples between two results with almost independent noise: the correlation of white noise is below 0.05."""
        return max(1, math.ceil(3.5 * self.half / _REACH))

    @property
    def apart(self) -> float:
        """Time, s, between two results up to which they may show one event."""
        return (2 * self.half + 1.5) / self.rate

    def __call__(self, values: Floats) -> Floats:
        """Smoothed values (n − 2 half, …) of values (n, …): of the samples `half` to `n − half`."""
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
        """Correlation of smoothed white noise with itself a sample later."""
        return float(self.weights[1:] @ self.weights[:-1]) / self.noise_gain

    def _convolved(self, values: Floats, kernel: Floats) -> Floats:
        if not self.half:
            unchanged: Floats = values * kernel[0]
            return unchanged
        if len(values) <= 2 * self.half:
            return np.empty((0, *values.shape[1:]))
        from scipy.signal import oaconvolve  # takes long to import, and few need it

        shape = (-1,) + (1,) * (values.ndim - 1)
        level = values.mean(axis=0)  # so that a large constant costs no digits
        smoothed: Floats = oaconvolve(values - level, kernel.reshape(shape), mode="valid", axes=0)
        smoothed += level * kernel.sum()
        return smoothed
