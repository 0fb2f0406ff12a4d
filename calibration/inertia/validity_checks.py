"""Why data, or what came of them, are not to be used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from calibration.errors import CalibrationError
from calibration.inertia.design import THETA, scale_names
from calibration.inertia.samples import ForceRecord, Samples, fast_part
from calibration.swapped_sensors import cells_in_words, exchanged_pairs
from dynamics import Dynamics, DynamicsError, Mechanism
from kinematics import Array

if TYPE_CHECKING:
    from calibration.inertia.estimate import Identification

_CLIPPED = 8  # samples of one value at an end of what a cell said
_COARSE = 0.5  # of the noise, from which steps of readings make many alike
_TURNED = 0.5  # of the residual that a cell leaves as it is, against that with the other sign
_UNEXPLAINED = 6.0  # times the noise
_FAR = 4.0  # standard deviations, mean square, from what was known before
_FAR_SCALE = 5.0  # standard deviations of a gain or cross-talk from what was known before
_LEAST_TOLD = 0.25  # of the base parameters


def check_data(mechanism: Mechanism, records: Sequence[ForceRecord], samples: Samples, coulomb_speed: float) -> None:
    """Refuse cells at the end of their scale, exchanged or turned round, and motions that the mechanism cannot do."""
    faults: list[str] = []
    model: Array | None = None
    try:
        model = Dynamics(mechanism, coulomb_speed).cells(samples.motions)
    except DynamicsError as error:
        faults.append(f"the motion is none of {mechanism.name}: {error}")
    for number, record in enumerate(records):
        here = samples.record == number
        for leg in range(6):
            values = record.cells[:, leg]
            beyond = int(np.count_nonzero(np.abs(values) >= record.range))
            if model is None or not _coarse(record, leg):
                top = max(int(np.count_nonzero(values == end)) for end in (values.min(), values.max()))
            else:
                begin = samples.t[here][0]  # where the filter's edge ends
                rows = np.round((samples.t[here] - begin) * record.rate).astype(int) + round(begin * record.rate)
                top = _held(values[rows], model[here, leg]) * round(record.rate / samples.rate)
            if beyond or top >= _CLIPPED:
                faults.append(
                    f"stretch {number + 1}: load cell {leg + 1} was at an end of its scale, {values.min():g} to "
                    f"{values.max():g} N, in {max(beyond, top)} of {len(values)} samples"
                )
    if model is None:
        raise CalibrationError(faults[1:] + faults[:1])
    faults += _exchanged(samples.cells, model)
    if faults:
        raise CalibrationError(faults)


def _coarse(record: ForceRecord, leg: int) -> bool:
    """Whether a cell's readings come in steps that make many of them alike, at the ends of its force too."""
    return record.steps is not None and record.steps[leg] > _COARSE * fast_part(record.cells, record.rate)[leg]


def _held(values: Array, model: Array) -> int:
    """How many of the readings (n,) N at an end of what the cell said are there though its force went on.

    By the model's (n,), whose zero is the cell's and which is wrong by what it usually is.
    """
    off = values - model
    usual = float(np.median(off))
    spread = float(np.ptp(np.quantile(off, (0.05, 0.95))))
    beyond = [
        np.count_nonzero((values == end) & (side * (model + usual - end) > spread))
        for side, end in ((-1.0, values.min()), (1.0, values.max()))
    ]
    return int(max(beyond))


def _exchanged(measured: Array, model: Array) -> list[str]:
    """Cells that explain another leg's forces much better than their own, or their own with the other sign."""
    cost = np.empty((6, 6))
    for cell in range(6):
        for leg in range(6):
            cost[cell, leg] = np.mean((measured[:, cell] - model[:, leg]) ** 2)
    if pairs := exchanged_pairs(cost):
        return [f"load cells look exchanged: {cells_in_words(pairs)}"]
    turned = np.mean((measured + model) ** 2, axis=0)
    return [
        f"load cell {leg + 1} looks turned round: its readings have the wrong sign"
        for leg in range(6)
        if np.sqrt(turned[leg] / cost[leg, leg]) < _TURNED
    ]


def check_result(result: Identification, known: Array, gain: float) -> None:
    """Refuse what a motion did not tell, what no noise explains, and parameters far beyond what was known before."""
    faults = []
    told = float(np.mean(result.told))
    if told < _LEAST_TOLD:
        faults.append(
            f"the motion tells {np.count_nonzero(result.told)} of {len(result.told)} combinations of parameters better "
            "than they were known: move all six axes together, faster: `rig excite` designs such a motion"
        )
    change = result.theta - result.before[:THETA]
    distance = float(np.sqrt(change @ np.linalg.solve(known, change) / max(1, np.count_nonzero(result.told))))
    if distance > _FAR:
        faults.append(
            f"the parameters would be {distance:.1f} standard deviations (RMS) from the mechanism's file, at most "
            f"{_FAR:g}: another rig, or something on the platform"
        )
    names = scale_names()
    for each, value in zip(result.others, result.estimate[THETA:], strict=True):
        if each.name in names and abs(value) > _FAR_SCALE * each.sigma:
            faults.append(
                f"{names[each.name]}: {100.0 * value:+.2f} %, {abs(value) / each.sigma:.1f} times the standard "
                f"deviation of {100.0 * each.sigma:g} % that was stated, at most {_FAR_SCALE:g}: another rig, or a "
                "wider standard deviation has to be stated"
            )
    floor = result.noise * np.sqrt(gain)
    for leg in range(6):
        if result.residual[leg] > _UNEXPLAINED * floor[leg]:
            faults.append(
                f"load cell {leg + 1}: the best parameters leave {result.residual[leg]:.2f} N of the low-passed "
                f"readings, noise explains {floor[leg]:.2f} N: not this mechanism, or something touches the platform"
            )
    if faults:
        raise CalibrationError(faults)
