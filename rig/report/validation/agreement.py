"""Agreement of model and measurement over the covered rows, per leg and for all legs."""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from rig.report.streaming import Floats, finite
from rig.report.validation.blocks import BlockSums, Estimate, block_numbers
from rig.report.validation.spectra import Octaves, Welch, bands, window_length
from rig.report.validation.spool import Spool
from rig.telemetry import TERMS

_LEGS = 6
_DYNAMIC = [TERMS.index(name) for name in ("platform inertia", "leg inertia")]
_Y, _M, _R, _YY, _MM, _RR = (slice(6 * place, 6 * place + 6) for place in range(6))
"""Columns of the sums: measured, model, residual and their squares."""
_CHANCE_LEVEL = 0.05
"""Probability that the coherence of unrelated signals exceeds the stated level."""


class Agreement:
    """Accumulates the covered rows block by block. Call `close` at the end.

    Args:
        whole: total number of rows.
        rate: Hz.
        full_scale: full scale of the cells, N; infinite if unknown.
    """

    def __init__(self, whole: int, rate: float, full_scale: float) -> None:
        self.rate = rate
        self.spool = Spool(2 * _LEGS)
        """measured, then modelled forces, N, in stretches without a gap"""
        self.sums = BlockSums(6 * _LEGS)
        self.octaves = Octaves()
        """octave bands of the residuals, N"""
        self.saturated = 0
        """readings at or beyond full scale"""
        self._force_held, self._velocity_held = np.zeros(_LEGS, np.bool_), np.zeros(_LEGS, np.bool_)
        self._whole, self._full_scale = whole, full_scale
        self._low, self._high = np.full(_LEGS, np.inf), np.full(_LEGS, -np.inf)
        self._peak = np.zeros(_LEGS)
        self._terms = np.zeros((len(TERMS), _LEGS))
        self._dynamic, self._force = np.zeros(_LEGS), np.zeros(_LEGS)
        length = window_length(whole, rate)
        self._welch = [Welch(3, length) for _ in range(_LEGS)] if length else []
        self._seen = 0
        self._cycle: int | None = None

    def add(self, rows: npt.NDArray[np.void]) -> npt.NDArray[np.intp]:
        """Add the following rows; return the indices of the usable ones, which have six forces and a model."""
        y, m = rows["force_measured"], rows["force_model"]
        known = np.flatnonzero((finite(y) & finite(m)).all(axis=1))
        numbers = block_numbers(self._seen, len(rows), self._whole, self.rate)
        self._seen += len(rows)
        if not len(known):
            return known
        rows, numbers = rows[known], numbers[known]
        y, m = rows["force_measured"], rows["force_model"]
        r = y - m
        self.sums.add(np.concatenate([y, m, r, y * y, m * m, r * r], axis=1), numbers)
        self.saturated += int(np.count_nonzero(np.abs(y) >= self._full_scale))
        self._force_held |= (rows["force_held"] != 0.0).any(axis=0)
        self._velocity_held |= (rows["velocity_held"] != 0.0).any(axis=0)
        self._low, self._high = np.minimum(self._low, y.min(axis=0)), np.maximum(self._high, y.max(axis=0))
        self._peak = np.maximum(self._peak, np.abs(r).max(axis=0))
        terms = np.nan_to_num(rows["terms"])
        self._terms += np.abs(terms).sum(axis=0)
        self._dynamic += (terms[:, _DYNAMIC].sum(axis=1) ** 2).sum(axis=0)
        self._force += (terms.sum(axis=1) ** 2).sum(axis=0)
        self._add_stretches(rows["cycle"].astype(np.int64), y, m)
        return known

    def _add_stretches(self, cycles: npt.NDArray[np.int64], y: Floats, m: Floats) -> None:
        """Split at missing cycles, since samples must be evenly spaced."""
        breaks = np.flatnonzero(np.diff(cycles) != 1) + 1
        follows = self._cycle is not None and int(cycles[0]) == self._cycle + 1
        self._cycle = int(cycles[-1])
        for first, last in pairwise([0, *breaks.tolist(), len(cycles)]):
            continues = first == 0 and follows
            here = np.concatenate([y[first:last], m[first:last]], axis=1)
            self.spool.add(here, continues=continues)
            self.octaves.add(here[:, :_LEGS] - here[:, _LEGS:], continues=continues)
            for leg, welch in enumerate(self._welch):
                columns = np.stack([here[:, leg], here[:, _LEGS + leg], here[:, leg] - here[:, _LEGS + leg]], axis=1)
                welch.add(columns, continues=continues)

    def close(self) -> None:
        """Close the files on disk."""
        self.spool.close()

    def legs(self) -> list[dict[str, Any]]:
        """Return the numbers of each leg; null without data, sigmas also with too few blocks."""
        parts = [self._numbers(slice(leg, leg + 1)) for leg in range(_LEGS)]
        sums = np.abs(self._terms).sum(axis=0)
        for leg, part in enumerate(parts):
            part["leg"] = leg + 1
            part["terms"] = {
                name: float(self._terms[place, leg] / sums[leg]) if sums[leg] else None
                for place, name in enumerate(TERMS)
            }
        return parts

    def together(self) -> dict[str, Any]:
        """Return the numbers over all legs: RMS and R² over all readings, bias and peak of the worst leg."""
        numbers = self._numbers(slice(0, _LEGS))
        sums = self._terms.sum(axis=1)
        numbers["terms"] = {
            name: float(part / sums.sum()) if sums.sum() else None for name, part in zip(TERMS, sums, strict=True)
        }
        return numbers

    def _numbers(self, legs: slice) -> dict[str, Any]:
        rms, r_squared, *bias = self._estimates(legs)
        count = self.sums.counts.sum()
        means = self.sums.sums.sum(axis=0) / count if count else np.full(self.sums.sums.shape[1], np.nan)
        worst = int(np.argmax(np.abs(means[_R][legs]))) if count else 0
        spans = (self._high - self._low)[legs]
        span = float(spans.max()) if count else 0.0
        square, spread = means[_RR][legs].mean(), (means[_YY] - means[_Y] ** 2)[legs].mean()
        force = self._force[legs].sum()
        value = float(np.sqrt(square)) if count else None
        return {
            "rms_n": value,
            "rms_sigma_n": rms.sigma if rms else None,
            "peak_n": float(self._peak[legs].max()) if count else None,
            "bias_n": float(means[_R][legs][worst]) if count else None,
            "bias_sigma_n": bias[worst].sigma if bias[worst] else None,
            "range_n": span if count else None,
            "nrmse": value / span if value is not None and span > 0.0 else None,
            "r_squared": float(1.0 - square / spread) if count and spread > 0.0 else None,
            "r_squared_sigma": r_squared.sigma if r_squared else None,
            "dynamic_fraction": float(np.sqrt(self._dynamic[legs].sum() / force)) if force > 0.0 else None,
            "freedom": rms.freedom if rms else None,
        }

    def _estimates(self, legs: slice) -> list[Any]:
        def statistic(means: Floats) -> Floats:
            square = means[..., _RR][..., legs].mean(axis=-1)
            spread = (means[..., _YY] - means[..., _Y] ** 2)[..., legs].mean(axis=-1)
            bias = means[..., _R][..., legs]
            return np.concatenate([np.stack([np.sqrt(square), 1.0 - square / spread], axis=-1), bias], axis=-1)

        found: list[Estimate | None] = self.sums.estimates(statistic)
        return found

    @property
    def zoh_modelled(self) -> npt.NDArray[np.bool_]:
        """Legs (6,) whose model includes their drive's zero-order hold.

        `force_held` alone may be what the other legs' drives do to a cell. Only a leg whose drive is known has
        `velocity_held`, which the oldest recordings lack.
        """
        return self._force_held & self._velocity_held if self._velocity_held.any() else self._force_held

    def dynamic(self) -> Floats:
        """Return the RMS inertial part of each leg's modelled force (6,), N."""
        return np.asarray(np.sqrt(self._dynamic / max(1.0, float(self.sums.counts.sum()))))

    def spread(self) -> Floats:
        """Return the standard deviation of each leg's modelled force (6,), N."""
        means = self.sums.sums.sum(axis=0) / max(1.0, float(self.sums.counts.sum()))
        spread: Floats = np.sqrt(np.maximum(0.0, means[_MM] - means[_M] ** 2))
        return spread

    def spectrum(self) -> dict[str, Any] | None:
        """Return the residual's one-sided spectral density, N²/Hz, and coherence of model and measurement, by bands.

        The coherence of unrelated signals exceeds `coherence_level` in one band of twenty. None where the stretches
        without a gap are too short.
        """
        if not self._welch or not self._welch[0].windows:
            return None
        length = self._welch[0].length
        lines = bands(length, self.rate)
        legs = []
        for leg, welch in enumerate(self._welch):
            density = [welch.density()[first:last].mean(axis=0) for first, last in lines]
            legs.append(
                {
                    "leg": leg + 1,
                    "residual_n2_per_hz": [2.0 / self.rate * float(band[2, 2].real) for band in density],
                    "coherence": [_coherence(band) for band in density],
                }
            )
        return {
            "windows": self._welch[0].windows,
            "window_s": length / self.rate,
            "frequency_hz": [0.5 * (first + last - 1) * self.rate / length for first, last in lines],
            "coherence_level": [
                1.0
                - _CHANCE_LEVEL ** (1.0 / max(1e-9, self._welch[0].independent * max(1.0, (last - first) / 1.5) - 1.0))
                for first, last in lines
            ],
            "legs": legs,
        }


def _coherence(band: npt.NDArray[np.complex128]) -> float | None:
    power = float(band[0, 0].real * band[1, 1].real)
    return min(1.0, float(np.abs(band[0, 1]) ** 2) / power) if power > 0.0 else None
