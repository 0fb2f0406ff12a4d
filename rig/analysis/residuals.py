"""Residuals between load cells and model from telemetry rows: smoothed, and at the measured motion."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from actuators import Mode
from dynamics import Dynamics, Mechanism
from rig.analysis.smoothing import Floats, Smoothing
from rig.analysis.zero_order_hold import LEAD, TRAIL, net_hold_force, twists
from rig.states import State
from rig.telemetry import CycleFlag

Rows = npt.NDArray[np.void]

STANDING = (State.ENGAGED, State.RUNNING, State.PARKING)
"""States in which only the drives hold the platform, so that the model is valid."""

_SAME_PERIOD = 0.5  # of a period, tolerance of the time between two rows
_UNIT = 1e-6
_PIECE = 16_384  # rows per block
_FIELDS = (
    "t", "force_residual", "force_held", "velocity_held", "force_measured", "terms", "reference", "pose", "twist",
    "state", "motion", "force_command", "velocity", "velocity_reference", "mode",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Residuals:
    """Consecutive samples, oldest first: times t (n,), s; residual (n, 6) N, cells − model; motion (n, 19) measured.

    Both are smoothed, see `residuals_of`, as are forces (n, 6) N, the cells' readings. slopes (n, 6, 2) N/s: of
    the smoothed readings, and of the drive forces derived from them. state (n,): `rig.states.State`.
    """

    t: Floats
    residual: Floats
    motion: Floats
    forces: Floats
    slopes: Floats
    state: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.t)


def residuals_of(
    blocks: Iterable[Rows],
    mechanism: Mechanism,
    smoothing: Smoothing,
    coulomb_speed: float = 0.0,
    drives: Mapping[str, Any] | None = None,
) -> Iterator[Residuals]:
    """Yield the residuals of telemetry rows in pieces without a gap, with bounded memory.

    Only rows with the platform under power (`STANDING`) and a known pose are used. Telemetry has the model at the
    reference; a pushed platform leaves the reference, and its inertia would hide the push. So the model is evaluated
    at the measured pose and twist. The acceleration is that of the reference, plus the effect of held commands at the
    instant of a reading (`net_hold_force`, or the model's `force_held`), plus the smoothed derivative of the remaining
    deviation of the twist, which is 0 without smoothing.

    coulomb_speed: m/s, over which the control smooths Coulomb friction. drives: of the configuration, or None if their
    `delay` and `force_bandwidth`, and so the held forces, are unknown.
    Raises DynamicsError if a motion has no leg forces; RecordingError for drives without the two.
    """
    model = Dynamics(mechanism, coulomb_speed)
    for rows, wanted in _pieces(blocks, smoothing):
        yield _residuals(rows, wanted, model, smoothing, drives)


def _residuals(
    rows: Rows, wanted: slice, model: Dynamics, smoothing: Smoothing, drives: Mapping[str, Any] | None
) -> Residuals:
    period = 1.0 / smoothing.rate
    # the forces of drives that close their own loops are known only as predicted, and are in the model
    foreseen = (rows["velocity_held"].any(axis=1) & np.any(rows["mode"] != Mode.FORCE, axis=1))[:, np.newaxis]
    net, mean = np.zeros((2, len(rows), 6))
    if drives is not None:
        net, mean = (np.where(foreseen, 0.0, part) for part in net_hold_force(rows, model, period, drives))
    if not smoothing.half:  # ignore drift: only the deviation from the mean about the instant
        net = net - 0.5 * (mean + np.vstack([mean[:1], mean[:-1]]))
    net, mean, rows, foreseen = net[wanted], mean[wanted], rows[wanted], foreseen[wanted]
    residual = rows["force_residual"] + np.where(foreseen, 0.0, rows["force_held"])
    reference = np.ascontiguousarray(rows["reference"])
    here = reference.copy()
    here[:, :7], here[:, 7:13] = rows["pose"], rows["twist"]
    drift = here[:, 7:13] - reference[:, 7:13]
    explained = twists(model.mechanism.geometry, here[:, :7], np.where(foreseen, rows["velocity_held"], 0.0))
    expected = reference.copy()
    expected[:, 7:13] += explained
    explained[1:] += period * np.cumsum(model.response(here[:, :13], mean)[:-1], axis=0)
    here[:, 13:] += model.response(here[:, :13], net)
    at_reference, at_here = model.cells(expected), model.cells(here)
    residual = smoothing(residual - (at_here - at_reference))
    inner = slice(smoothing.half, len(rows) - smoothing.half)
    motion = reference[inner].copy()
    if smoothing.half:
        here[inner, 13:] += smoothing.derivative(drift - explained)
        residual -= model.cells(here[inner]) - at_here[inner]
    motion[:, 7:13] += smoothing(drift)
    motion[:, :7], motion[:, 13:] = here[inner, :7], here[inner, 13:]
    driven = rows["force_residual"] + rows["force_held"] + rows["terms"].sum(axis=1)
    slopes = smoothing.derivative(np.stack([rows["force_measured"], driven], axis=2))
    forces = smoothing(rows["force_measured"])
    return Residuals(rows["t"][inner].copy(), residual.copy(), motion, forces, slopes, rows["state"][inner].copy())


def _pieces(blocks: Iterable[Rows], smoothing: Smoothing) -> Iterator[tuple[Rows, slice]]:
    """Pieces of rows without a gap, long enough for the smoothing; each begins with the unused rows of the last.

    Each has a slice of its result rows: without `LEAD` at the beginning if it continues another piece, and without
    `TRAIL` at the end if another piece follows.
    """
    pending: Rows | None = None
    lead = 0
    for block in blocks:
        fit = _usable(block)
        for rows in np.split(block[list(_FIELDS)][fit], _breaks(block, fit, smoothing)):
            follows = pending is not None and len(rows) and _follows(pending[-1], rows[0], smoothing)
            if pending is not None and not follows:
                yield from _long_enough(pending, lead, smoothing)
                pending, lead = None, 0
            if len(rows):
                pending = rows.copy() if pending is None else np.concatenate([pending, rows])
            if pending is not None and len(pending) >= _PIECE:
                yield pending, slice(lead, len(pending) - TRAIL)
                pending, lead = pending[len(pending) - TRAIL - 2 * smoothing.half - LEAD :], LEAD
    if pending is not None:
        yield from _long_enough(pending, lead, smoothing)


def _long_enough(rows: Rows, lead: int, smoothing: Smoothing) -> Iterator[tuple[Rows, slice]]:
    if len(rows) - lead > 2 * smoothing.half:
        yield rows, slice(lead, None)


def _usable(rows: Rows) -> npt.NDArray[np.bool_]:
    fit = np.isin(rows["state"], STANDING) & ((rows["flags"] & CycleFlag.POSE) != 0)
    for name in ("force_residual", "force_measured", "terms", "reference", "pose", "twist"):
        fit &= np.isfinite(rows[name]).all(axis=tuple(range(1, rows[name].ndim)))
    known: npt.NDArray[np.bool_] = fit & (np.abs(np.linalg.norm(rows["pose"][:, 3:], axis=1) - 1.0) < _UNIT)
    return known


def _breaks(rows: Rows, fit: npt.NDArray[np.bool_], smoothing: Smoothing) -> npt.NDArray[np.intp]:
    steps = np.diff(rows["t"][fit]) * smoothing.rate
    return np.flatnonzero(np.abs(steps - 1.0) > _SAME_PERIOD) + 1


def _follows(before: np.void, after: np.void, smoothing: Smoothing) -> bool:
    return bool(abs((after["t"] - before["t"]) * smoothing.rate - 1.0) <= _SAME_PERIOD)
