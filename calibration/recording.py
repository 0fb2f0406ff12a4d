"""The steps of a load-cell calibration at a rig: tare, one mass after the other on each cell, tare."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from calibration.cells import CellLoads, CellMeasurements
from calibration.errors import CalibrationError
from calibration.fit import check_masses
from calibration.taring import CELLS, Array, read_only
from kinematics import figure_and_bound

SETTLED_SIGMAS = 5.0
"""Standard errors by which two means may differ and still count as the same."""


class CellBench(Protocol):
    """Six load cells that can be read, and somebody who loads them."""

    def read(self, samples: int) -> Array:
        """The next `samples` fresh raw readings of all cells, (samples, 6)."""
        ...

    def load(self, cell: int, mass: float) -> None:
        """Return when `mass` kg and nothing else loads cell 1..6."""
        ...

    def unload(self) -> None:
        """Return when no cell carries anything."""
        ...


def record_measurements(
    source: CellBench, masses: Sequence[float], samples: int, *, settle: float = 0.2, attempts: int = 20
) -> CellMeasurements:
    """Tare, load each cell with each mass in turn, tare again.

    A reading is the mean of `samples` samples, taken once it has settled: once it differs from the mean of as many
    samples just before by no more than max(`settle`, `SETTLED_SIGMAS` standard errors).

    Args:
        source: the cells.
        masses: kg, in the order in which each cell gets them; rising and then falling shows the hysteresis.
        samples: samples of a reading and of a tare, at least 2.
        settle: raw units.
        attempts: readings tried before giving up on one that does not settle.

    Raises:
        CalibrationError: masses nothing can be fitted to, or a reading that is not finite or does not settle.
    """
    check_masses(np.asarray(masses, dtype=np.float64), "masses")
    if samples < 2:
        raise CalibrationError(f"samples of a reading: must be at least 2, got {samples}")
    source.unload()
    before = _settled(source, samples, settle, attempts, range(CELLS), "without load")
    loads = []
    for leg in range(CELLS):
        readings = []
        for mass in masses:
            source.load(leg + 1, mass)
            readings.append(
                float(_settled(source, samples, settle, attempts, [leg], f"under {mass:g} kg")[:, leg].mean())
            )
        loads.append(CellLoads(read_only(masses), read_only(readings), read_only(np.full(len(readings), samples))))
    source.unload()
    return CellMeasurements(
        before, _settled(source, samples, settle, attempts, range(CELLS), "without load"), tuple(loads)
    )


def _settled(source: CellBench, samples: int, settle: float, attempts: int, legs: Sequence[int], when: str) -> Array:
    """Samples (n, 6) in which the cells of `legs` (0..5) have come to rest."""
    previous = source.read(samples)
    faults: list[str] = []
    for _ in range(attempts):
        current = source.read(samples)
        bad = [leg for leg in legs if not np.isfinite(current[:, leg]).all()]
        if bad:
            raise CalibrationError([f"cell {leg + 1}: reading not finite {when}" for leg in bad])
        moved = np.abs(current.mean(axis=0) - previous.mean(axis=0))
        variance = current.var(axis=0, ddof=1) + previous.var(axis=0, ddof=1)
        allowed = np.maximum(settle, SETTLED_SIGMAS * np.sqrt(variance / samples))
        faults = [
            f"cell {leg + 1}: the reading does not settle {when}: two means of {samples} samples differ by "
            f"{figure} raw units, allowed {most}"
            for leg in legs
            if not moved[leg] <= allowed[leg]
            for figure, most in [figure_and_bound(moved[leg], allowed[leg], ".3g", 3)]
        ]
        if not faults:
            return current
        previous = current
    raise CalibrationError(faults)
