"""The residual by octaves of frequency against the cells' noise, by the Haar wavelet's variance.

A detail of level k is (sum of 2^(k-1) samples less the sum of the next 2^(k-1)) / sqrt(2^k). Of white noise all details
are independent and have its variance, so their sums of squares are chi-squared with one degree of freedom each
(Percival, Biometrika 82, 1995, of the Haar wavelet without overlap). A constant is in none of them.
"""

from typing import Any

import numpy as np

from rig.report.series import Floats

_LEGS = 6
_LEVELS = 40
_FEWEST = 24
"""Degrees of freedom of a band: slower octaves that have fewer are taken together."""


class Octaves:
    """Sums of squared details of six columns, from samples that come piece by piece."""

    def __init__(self) -> None:
        self._squares = np.zeros((_LEVELS, _LEGS))
        self._counts = np.zeros(_LEVELS, dtype=np.int64)
        self._rest = [np.zeros((0, _LEGS))] * _LEVELS

    def add(self, values: Floats, *, continues: bool) -> None:
        """Take in samples (m, 6); do they follow on the last ones without a gap?"""
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
        """Bands from slow to fast: `low_hz`, `high_hz`, `freedom` and `rms_n`, what white noise of that level has (6).

        Args:
            rate: Hz, of the samples.
        """
        found: list[dict[str, Any]] = []
        squares, count = np.zeros(_LEGS), 0
        for level in reversed(range(_LEVELS)):
            squares, count = squares + self._squares[level], count + int(self._counts[level])
            if count >= _FEWEST:
                low_hz = 0.0 if not found else found[-1]["high_hz"]
                high = rate / 2.0 ** (level + 1)
                rms = np.sqrt(squares / count).tolist()
                found.append({"low_hz": low_hz, "high_hz": high, "freedom": count, "rms_n": rms})
                squares, count = np.zeros(_LEGS), 0
        return found
