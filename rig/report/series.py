"""Series for plots: decimated so that no peak is lost, and angles a person can read."""

import numpy as np
import numpy.typing as npt

from rig.angles import shown_angle
from rig.states import State

Floats = npt.NDArray[np.float64]

_BINS = 450
"""Stretches a plotted curve is divided into; about as many as the pixels a panel is wide."""

_POWERED = (State.ENGAGING, State.ENGAGED, State.RUNNING, State.PARKING, State.STOPPING)


def decimate(t: Floats, values: Floats, bins: int = _BINS) -> tuple[Floats, Floats]:
    """Lowest and highest value of every stretch, (2·bins,), as a curve with the outline of the whole one.

    Values that are not finite are left out; curves of at most 2·bins points come back as they are.
    """
    values = np.where(np.isfinite(values), values, np.nan)
    if len(values) <= 2 * bins:
        return t, values
    edges = np.linspace(0, len(values), bins + 1).astype(np.intp)[:-1]
    reduced = np.empty(2 * bins)
    reduced[0::2] = np.fmin.reduceat(values, edges)
    reduced[1::2] = np.fmax.reduceat(values, edges)
    return np.repeat(t[edges], 2), reduced


def powered_span(rows: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    """Rows from the first to the last with the legs under power; all rows when they never were."""
    powered = np.flatnonzero(np.isin(rows["state"], _POWERED))
    return rows[powered[0] : powered[-1] + 1] if len(powered) else rows


def angles(quaternion: Floats) -> Floats:
    """Angles [θx θy θz], rad, continuous in time, of R = Rz(θz)·Ry(θy)·Rx(θx) for unit quaternions (n,4), w first."""
    return np.unwrap(np.stack([shown_angle(quaternion, axis) for axis in range(3)], axis=1), axis=0)


def rotation_vector(reference: Floats, measured: Floats) -> Floats:
    """Rotation from reference to measured, rad, small, in the platform's axes, of quaternions (n,4), w first."""
    scalar = np.sum(reference * measured, axis=1, keepdims=True)
    vector = (
        reference[:, :1] * measured[:, 1:]
        - measured[:, :1] * reference[:, 1:]
        - np.cross(reference[:, 1:], measured[:, 1:])
    )
    sine = np.linalg.norm(vector, axis=1, keepdims=True)
    angle = 2 * np.arctan2(sine, np.abs(scalar))
    rotation: Floats = np.sign(scalar) * vector * np.divide(angle, sine, out=np.full_like(sine, 2.0), where=sine > 0)
    return rotation
