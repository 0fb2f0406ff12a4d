"""What parameters leave of forces that they were not fitted to."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibration.inertia.design import at_once
from calibration.inertia.estimate import Identification
from calibration.inertia.samples import ForceRecord, fast_part, measured_motion
from dynamics import Dynamics, Mechanism
from kinematics import Array

_EDGE = 0.5  # s at either end that the filter has not settled in
_CUTOFFS = (0.05, 0.1, 0.2)  # of the rate: slower hides what the machine does, faster shows what the encoders do not


@dataclass(frozen=True, slots=True)
class ForceHoldOut:
    """Residuals (RMS over the six cells, every sample) before and after, and the noise of the same readings, N.

    legs_before, legs_after, legs_noise: (6,) of each cell. cutoff: Hz, of the motion's low-pass.
    """

    before: float
    after: float
    noise: float
    legs_before: Array
    legs_after: Array
    legs_noise: Array
    cutoff: float


def hold_out(
    result: Identification, fitted: Sequence[ForceRecord], judged: Sequence[ForceRecord], coulomb_speed: float
) -> ForceHoldOut:
    """Judge an identification by stretches that it has not seen: nothing is fitted to them.

    Before is the nominal model; after is the identified one with the cells' lags and zeros that were found with it,
    these with their drift where a stretch of the same recording was fitted. The low-pass on the motion is the one that
    leaves least of what was `fitted`. Noise is what of the residual is too fast for a machine.
    """
    cutoffs = [part * judged[0].rate for part in _CUTOFFS]
    left = [
        np.mean([np.mean(_after(result, record, cutoff, coulomb_speed) ** 2) for record in fitted])
        for cutoff in cutoffs
    ]
    cutoff = cutoffs[int(np.argmin(left))]
    sums = np.zeros((3, 6))
    count = 0
    for record in judged:
        before = _left(result.nominal, record, cutoff, np.zeros(6), coulomb_speed)
        after = _after(result, record, cutoff, coulomb_speed)
        sums[0] += np.sum(before**2, axis=0)
        sums[1] += np.sum(after**2, axis=0)
        sums[2] += len(after) * fast_part(after, record.rate) ** 2
        count += len(after)
    legs = np.sqrt(sums / count)
    whole = [float(np.sqrt(np.mean(values**2))) for values in legs]
    return ForceHoldOut(whole[0], whole[1], whole[2], legs[0], legs[1], legs[2], cutoff)


def _after(result: Identification, record: ForceRecord, cutoff: float, coulomb_speed: float) -> Array:
    left = _left(result.mechanism, record, cutoff, result.lags, coulomb_speed)
    t = record.begin + (int(_EDGE * record.rate) + np.arange(len(left))) / record.rate
    return left - result.zeros(record.source, t)


def _left(mechanism: Mechanism, record: ForceRecord, cutoff: float, lags: Array, coulomb_speed: float) -> Array:
    """What the cells of a stretch read beyond a mechanism's, each its lag later, (n', 6) N."""
    motion = measured_motion(record, cutoff)
    edge = int(_EDGE * record.rate)
    inner = slice(edge, len(motion) - edge)
    excess = None if record.excess is None else record.excess[inner]
    dynamics = Dynamics(mechanism, coulomb_speed)
    slopes = np.gradient(dynamics.cells(motion[inner]), 1.0 / record.rate, axis=0)
    cells = dynamics.cells(at_once(mechanism, motion[inner], excess))
    left: Array = record.cells[inner] - cells + lags * slopes
    return left
