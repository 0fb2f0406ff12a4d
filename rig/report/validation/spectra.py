"""Spectra by Welch's method (IEEE Trans. Audio Electroacoust. 15, 1967), from samples in successive pieces.

Also the residual by octaves of frequency against the cells' noise, by the Haar wavelet's variance. A detail of level k
is (sum of 2^(k-1) samples less the sum of the next 2^(k-1)) / sqrt(2^k). For white noise all details are independent
with its variance, so their sums of squares are chi-squared with one degree of freedom each (Percival, Biometrika
82, 1995, of the Haar wavelet without overlap). A constant contributes to none of them.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from rig.report.streaming import Floats

Complexes = npt.NDArray[np.complex128]

_MAX_WINDOW = 4.0
"""s, longest window: its resolution of half a hertz suffices for a platform's motions"""
_MIN_WINDOWS = 6
"""Minimum number of non-overlapping windows in the samples."""
_MIN_WINDOW = 32
"""Minimum samples of a window."""
_OVERLAP = 2
_AT_ONCE = 16
"""windows per batch"""
_INDEPENDENT = 0.53
"""Fraction of half-overlapping Hann windows that count as independent (Welch 1967, as tabulated by Harris 1978)."""


def window_length(count: int, rate: float, least: int = _MIN_WINDOW) -> int:
    """Return the samples of a window for `count` samples at `rate` (Hz): a power of two, 0 for less than `least`."""
    most = min(count / _MIN_WINDOWS, _MAX_WINDOW * rate)
    return 0 if most < least else 1 << int(np.log2(most))


class Welch:
    """Mean of the spectra and cross-spectra of k columns with half-overlapping Hann windows.

    Args:
        columns: k.
        length: samples of a window, even; see `window_length`.
    """

    def __init__(self, columns: int, length: int) -> None:
        self.length = length
        self.windows = 0
        """number of averaged windows"""
        self._taper = np.sin(np.pi * np.arange(length) / length) ** 2
        self._sum = np.zeros((length // 2 + 1, columns, columns), np.complex128)
        self._rest = np.zeros((0, columns))

    def add(self, values: Floats, *, continues: bool) -> None:
        """Add samples (m, k). continues: they follow the previous ones without a gap."""
        if continues:
            values = np.concatenate([self._rest, values])
        hop = self.length // _OVERLAP
        count = max(0, (len(values) - self.length) // hop + 1)
        for start in range(0, count, _AT_ONCE):
            part = values[start * hop :]
            shown = np.lib.stride_tricks.sliding_window_view(part, self.length, axis=0)[::hop][: count - start]
            spectra = np.fft.rfft(shown[:_AT_ONCE] * self._taper, axis=2).transpose(2, 1, 0)
            self._sum += spectra @ spectra.conj().transpose(0, 2, 1)
        self.windows += count
        self._rest = values[count * hop :].copy()

    @property
    def independent(self) -> float:
        """Return the equivalent number of independent windows."""
        return max(1.0, _INDEPENDENT * self.windows) if self.windows else 0.0

    def density(self) -> Complexes:
        """Return the two-sided density (length/2+1, k, k) over cycles per sample; its circle mean is the power."""
        scale = float(np.sum(self._taper**2)) * max(1, self.windows)
        density: Complexes = self._sum / scale
        return density


def circle_mean(density: npt.NDArray[np.generic]) -> Floats:
    """Return the mean (...,) over all frequencies of an even function, given on its half (n, ...)."""
    values = np.real(density)
    mean: Floats = (values[0] + values[-1] + 2.0 * values[1:-1].sum(axis=0)) / (2 * (len(values) - 1))
    return mean


def bands(length: int, rate: float, each_octave: int = 6) -> list[tuple[int, int]]:
    """Return the first line and the one after the last of each logarithmic band; without line 0."""
    lines = length // 2
    edges = [1]
    while edges[-1] <= lines:
        edges.append(max(edges[-1] + 1, round(edges[-1] * 2 ** (1 / each_octave))))
    edges[-1] = lines + 1
    return [(first, last) for first, last in pairwise(edges) if first < last]


_LEGS = 6
_LEVELS = 40
_MIN_FREEDOM = 24
"""Minimum degrees of freedom of a band: slower octaves with fewer are merged."""


class Octaves:
    """Sums of squared details of six columns, from samples in successive pieces."""

    def __init__(self) -> None:
        self._squares = np.zeros((_LEVELS, _LEGS))
        self._counts = np.zeros(_LEVELS, dtype=np.int64)
        self._rest = [np.zeros((0, _LEGS))] * _LEVELS

    def add(self, values: Floats, *, continues: bool) -> None:
        """Add samples (m, 6). continues: they follow the previous ones without a gap."""
        if not continues:
            self._rest = [np.zeros((0, _LEGS))] * _LEVELS
        for level in range(_LEVELS):
            if not len(values):
                return
            values = np.concatenate([self._rest[level], values])
            whole = len(values) // 2 * 2
            self._rest[level] = values[whole:].copy()
            first, second = values[:whole:2], values[1:whole:2]
            self._squares[level] += ((first - second) ** 2).sum(axis=0) / 2.0
            self._counts[level] += whole // 2
            values = (first + second) / np.sqrt(2.0)

    def bands(self, rate: float) -> list[dict[str, Any]]:
        """Return bands from slow to fast: `low_hz`, `high_hz`, `freedom` and `rms_n` (6) of equivalent white noise.

        Args:
            rate: Hz, of the samples.
        """
        found: list[dict[str, Any]] = []
        squares, count = np.zeros(_LEGS), 0
        for level in reversed(range(_LEVELS)):
            squares, count = squares + self._squares[level], count + int(self._counts[level])
            if count >= _MIN_FREEDOM:
                low_hz = 0.0 if not found else found[-1]["high_hz"]
                high = rate / 2.0 ** (level + 1)
                rms = np.sqrt(squares / count).tolist()
                found.append({"low_hz": low_hz, "high_hz": high, "freedom": count, "rms_n": rms})
                squares, count = np.zeros(_LEGS), 0
        return found
