"""Forces of six legs as functions of time, measured late and under noise, for tests of what a report says of them."""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from synthetic_rows import make_header

from rig.recording import MotionRecord
from rig.report.validation.lag import find_lag
from rig.report.validation.spool import Spool
from rig.states import MotionKind, MotionOutcome, State
from rig.telemetry import ROW

Floats = npt.NDArray[np.float64]
RATE = 500.0
NOISE = 0.5


def forces(t: Floats) -> Floats:
    """Modelled forces (n, 6), N, at any times (n,), s: slow waves and friction that turns round quickly."""
    frequency = 2 * np.pi * np.array([0.5, 0.7, 0.9, 0.6, 0.8, 1.1])
    mixing = np.cos(np.outer(np.arange(6) + 1, np.arange(6) * 1.3 + 0.4))
    speed = np.cos(t[:, np.newaxis] * frequency) @ mixing.T
    forces: Floats = 45 + 20 * np.sin(t[:, np.newaxis] * frequency) @ mixing.T + 3 * np.tanh(speed / 0.02)
    return forces


def noise(seed: int, count: int, remembered: float = 0.0) -> Floats:
    """Noise (n, 6), N, of standard deviation NOISE, each value remembering that part of the one before."""
    random = np.random.default_rng(seed)
    fresh = random.normal(0.0, NOISE, (count, 6))
    for place in range(1, count if remembered else 0):
        fresh[place] = remembered * fresh[place - 1] + np.sqrt(1 - remembered**2) * fresh[place]
    return fresh


def lag_of(measured: Floats, model: Floats, gaps: tuple[int, ...] = (), rate: float = RATE) -> dict[str, Any]:
    """What is found of the lag between both, given in blocks, as a recording does; at a gap nothing follows on."""
    spool = Spool(12)
    both = np.concatenate([measured, model], axis=1)
    edges = sorted({*range(0, len(both), 4096), *gaps, len(both)})
    try:
        for first, last in pairwise(edges):
            spool.add(both[first:last], continues=first > 0 and first not in gaps)
        return find_lag(spool, rate)
    finally:
        spool.close()


def make_running(measured: Floats, model: Floats) -> npt.NDArray[np.void]:
    """Rows of motion 1 with these forces (n, 6), N."""
    rows = np.zeros(len(model), ROW)
    rows["motion"] = 1
    rows["t"] = np.arange(len(model)) / RATE
    rows["cycle"] = np.arange(len(model))
    rows["period"] = 1 / RATE
    rows["state"] = State.RUNNING
    rows["path_time"] = rows["t"]
    rows["path_rate"] = 1.0
    rows["reference"][:, 2], rows["reference"][:, 3] = 0.45, 1.0
    rows["pose"] = rows["reference"][:, :7]
    rows["length"] = rows["length_reference"] = 0.5
    rows["terms"][:, 1] = model
    rows["force_model"], rows["force_measured"] = model, measured
    rows["force_residual"] = measured - model
    return rows


def ran(count: int, outcome: MotionOutcome = MotionOutcome.FINISHED, thresholds: str = "") -> MotionRecord:
    """What is recorded of motion 1 over so many rows."""
    length = count / RATE
    return MotionRecord(1, MotionKind.RUN, outcome, 0.0, length, length, length, "sway", 1.0, thresholds)


def header_with(**validation: float) -> dict[str, Any]:
    """A recording's header with these thresholds."""
    header = make_header(RATE)
    return header | {"config": header["config"] | {"validation": validation}}
