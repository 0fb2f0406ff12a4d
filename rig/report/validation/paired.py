"""Paired test whether one model is worse than another on the same rows, by blocks to respect autocorrelation."""

from typing import Any

import numpy as np

from rig.report.streaming import Floats
from rig.report.validation.blocks import BlockSums, Estimate, Numbers

_LEGS = 6
LEVEL = 0.01
"""Significance level on either side."""


class PairedTest:
    """Compares the squared residuals of a model with those of the exact one, sample by sample.

    Student's t tests whether the mean difference over legs is above or below zero, with the jackknife's uncertainty
    over blocks of the window. The result may be either, or neither. The test is made twice: as measured, and with each
    leg's mean residual removed, since a cell's offset is no model error.
    """

    def __init__(self) -> None:
        self._sums = BlockSums(4 * _LEGS)

    def add(self, exact: Floats, other: Floats, numbers: Numbers) -> None:
        """Add residuals (m, 6), N, of both models, in blocks of these numbers (m,)."""
        self._sums.add(np.concatenate([exact, exact**2, other, other**2], axis=1), numbers)

    def result(self) -> dict[str, Any]:
        """Return `as_measured` and `without_offset`, each as `_entry`; null with too few blocks."""
        plain, centred = self._sums.estimates(_differences)
        return {"as_measured": _entry(plain), "without_offset": _entry(centred)}


def _differences(means: Floats) -> Floats:
    parts = [means[..., 6 * place : 6 * place + 6] for place in range(4)]
    plain = (parts[3] - parts[1]).mean(axis=-1)
    centred = (parts[3] - parts[2] ** 2 - parts[1] + parts[0] ** 2).mean(axis=-1)
    return np.stack([plain, centred], axis=-1)


def _entry(found: Estimate | None) -> dict[str, Any] | None:
    """Return mean difference of squares, N², its sigma, t, p of "no worse" and of "no better", and the conclusion."""
    if found is None:
        return None
    from scipy.special import stdtr

    if found.sigma > 0.0:
        t = found.value / found.sigma
    else:
        t = 0.0 if found.value == 0.0 else float(np.copysign(1e9, found.value))
    no_worse, no_better = float(stdtr(found.freedom, -t)), float(stdtr(found.freedom, t))
    conclusion = "worse" if no_worse < LEVEL else "better" if no_better < LEVEL else "not told apart"
    return {
        "difference_n2": found.value,
        "sigma_n2": found.sigma,
        "t": t,
        "freedom": found.freedom,
        "p_no_worse": no_worse,
        "p_no_better": no_better,
        "verdict": conclusion,
    }
