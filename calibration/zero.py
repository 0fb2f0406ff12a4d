"""A new zero for load cells that carry a known load: offsets shift, gain and polarity stay."""

from dataclasses import replace
from datetime import date

import numpy as np
from numpy.typing import ArrayLike

from calibration.cells import LoadCellCalibration, Provenance
from calibration.errors import CalibrationError
from calibration.rounding import rounding_of_mean
from calibration.taring import CELLS, Array, drift, tare

_HALVES = 2


def shift_offsets(
    calibration: LoadCellCalibration,
    forces: ArrayLike,
    known: ArrayLike,
    day: date,
    *,
    drift_limit: float = 0.5,
    steps: ArrayLike = 0.0,
    provenance: Provenance,
) -> LoadCellCalibration:
    """The calibration with the offsets at which the cells read the load that is known to be on them.

    The first half of the samples is the tare before, the second half the tare after: `drift` of the result tells how
    far the zero moved in between. A cell that was never loaded with masses (`identity`) keeps its gain of 1 and has
    the one known load as its range.

    Args:
        calibration: the present one, by which `forces` were computed.
        forces: (n, 6) N, readings at rest, compression positive; at least four.
        known: (n, 6) N, the load on each cell at the same times.
        day: date of the result.
        drift_limit: N, drift between the halves that is always accepted.
        steps: (6,) N, in which the cells' readings come: what rounding leaves in a mean is in the standard errors.
        provenance: who, where, from what.

    Raises:
        CalibrationError: wrong shapes, too few samples, or numbers that are not finite.
    """
    measured, load = np.asarray(forces, np.float64), np.asarray(known, np.float64)
    if measured.shape != load.shape or measured.ndim != 2 or measured.shape[1] != CELLS:
        raise CalibrationError(f"zero: {measured.shape} forces but {load.shape} known loads, must be (n, 6) both")
    if len(measured) < 2 * _HALVES:
        raise CalibrationError(f"zero: {len(measured)} samples, at least {2 * _HALVES} are needed to see a drift")
    unloaded: Array = calibration.offset + (measured - load) / calibration.gain
    whole = tare(unloaded)
    before, after = (tare(half) for half in np.array_split(unloaded, _HALVES))
    carried = np.abs(load).mean(axis=0)
    step = np.broadcast_to(np.asarray(steps, np.float64), CELLS) / np.abs(calibration.gain)
    beside = np.sqrt(np.maximum(whole.noise**2 - step**2 / 12.0, 0.0))  # of the cell, before it was rounded
    error = np.hypot(whole.standard_error, rounding_of_mean(beside, step))
    cells = []
    for leg, cell in enumerate(calibration.cells):
        if not cell.n:
            cell = replace(cell, range=float(carried[leg]), n=whole.n)
        cells.append(replace(cell, offset=float(whole.offset[leg]), offset_standard_error=float(error[leg])))
    covariance = None
    if calibration.covariance is not None:
        covariance = np.diag(np.append(np.zeros(CELLS), error**2))
        covariance[:CELLS, :CELLS] = calibration.covariance[:CELLS, :CELLS]
    return replace(
        calibration,
        cells=tuple(cells),
        covariance=covariance,
        date=day,
        tare_before=before,
        tare_after=after,
        drift=drift(before, after, calibration.gain, limit=drift_limit),
        provenance=provenance,
    )
