"""Measurements for a geometry calibration from a recording: a tracker's poses and the drives' lengths at each rest."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinematics import Array
from rig.csvio import POSE, check_output, write_table
from rig.errors import InputError, RefusedError
from rig.services.geometry_tables import LENGTHS
from rig.services.job import Notice, OnEvent, Progress, no_progress
from rig.services.outputs import check_new_file
from rig.services.request import request
from rig.services.sources import Notices

if TYPE_CHECKING:
    from rig.recording import Recorded, SensorSeries

_SETTLING = 0.5  # s of a rest that are left out
_BATCHES = 5  # parts of a rest whose means give the uncertainty, as one reading is not independent of the next
_FEWEST = 4  # readings of a tracker in each part


@request
class GeometryPosesRequest:
    """A recording with a tracker, in which the platform stood at several poses."""

    recording: Path
    sensor: str
    """the tracker's name"""
    output: Path
    """CSV file to write, never overwritten"""


@dataclass(frozen=True, slots=True, eq=False)
class GeometryPosesResult:
    """Measurements at each rest, in their order.

    times (n, 2): s, rig time of the part that was averaged. poses (n, 7): mean of the tracker's readings: its target
    in its own frame. lengths (n, 6): m, mean of the drives' readings, parameters undone. position_sigma, m,
    rotation_sigma, rad, length_sigma, m: standard uncertainty of these means by axis or leg, from what scatters within
    a rest. What is the same throughout a rest, such as a tracker's scale, is not in them.
    """

    times: Array
    poses: Array
    lengths: Array
    position_sigma: float
    rotation_sigma: float
    length_sigma: float
    output: Path | None = None
    notices: tuple[Notice, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a JSON object, SI."""
        return {
            "rests_s": self.times.tolist(),
            "poses": self.poses.tolist(),
            "lengths_m": self.lengths.tolist(),
            "position_sigma_m": self.position_sigma,
            "rotation_sigma_rad": self.rotation_sigma,
            "length_sigma_m": self.length_sigma,
            "output": None if self.output is None else str(self.output),
        }


def geometry_poses(request: GeometryPosesRequest, progress: OnEvent = no_progress) -> GeometryPosesResult:
    """Write the measurements of a recording for `calibrate_geometry`.

    Raises:
        InputError, RecordingError: a recording or file that cannot be used, or without such a sensor.
        RefusedError: no rest at which the tracker saw its target.
    """
    check_output(request.output)
    check_new_file(request.output)
    notices = Notices(progress)
    opened = notices.opened(request.recording)
    progress(Progress("reading-recording"))
    found = poses_at_rest(opened, request.sensor)
    write_table(request.output, (*POSE, *LENGTHS), np.hstack([found.poses, found.lengths]))
    return GeometryPosesResult(
        found.times,
        found.poses,
        found.lengths,
        found.position_sigma,
        found.rotation_sigma,
        found.length_sigma,
        request.output,
        notices.found,
    )


def poses_at_rest(recording: "Recorded", sensor: str) -> GeometryPosesResult:
    """Compute the measurements at each rest. Raises as `geometry_poses`.

    A rest is a second or more in which the reference stands, its first half a second left out. Recorded lengths are the
    drives' readings less the recorded mechanism's length offsets, which are added again, so that no loaded parameter is
    in them.
    """
    from rig.analysis import rig_of

    series = recording.sensors.get(sensor)
    if series is None or series.channels.kind != "pose":
        known = ", ".join(repr(name) for name, each in recording.sensors.items() if each.channels.kind == "pose")
        what = "no sensor" if series is None else f"a sensor of kind {series.channels.kind!r}, not 'pose',"
        raise InputError(f"{recording.path}: has {what} {sensor!r}; trackers in it: {known or 'none'}")
    offsets = rig_of(recording).mechanism.length_offsets
    names = ["t", "state", "reference", "length"]
    rows = np.concatenate([block[names].copy() for block in recording.blocks()])  # each is valid until the next
    times: list[tuple[float, float]] = []
    poses: list[Array] = []
    lengths: list[Array] = []
    spreads: list[Array] = []
    for first, end in _rests(rows):
        here = rows[first:end]
        seen = series.between(float(here["t"][0]), float(here["t"][-1]))
        if len(seen.time) < _BATCHES * _FEWEST:
            continue
        values = _same_side(seen)
        mean = values.mean(axis=0)
        mean[3:] /= np.linalg.norm(mean[3:])
        turned = 2.0 * _vector_parts(values[:, 3:], mean[3:])
        times.append((float(here["t"][0]), float(here["t"][-1])))
        poses.append(mean)
        lengths.append(here["length"].mean(axis=0) + offsets)
        spreads.append(
            np.array(
                [_variance_of_mean(part) for part in (values[:, :3], turned, np.ascontiguousarray(here["length"]))]
            )
        )
    if not poses:
        raise RefusedError(
            f"{recording.path}: no rest of {2.0 * _SETTLING:g} s or more at which {sensor!r} has {_BATCHES * _FEWEST} "
            "readings"
        )
    position, rotation, length = np.sqrt(np.mean(spreads, axis=0)).tolist()
    return GeometryPosesResult(np.array(times), np.array(poses), np.array(lengths), position, rotation, length)


def _rests(rows: Any) -> list[tuple[int, int]]:
    """First row and end of each rest's part that is averaged."""
    from rig.states import State

    reference = rows["reference"]
    stands = np.isin(rows["state"], (State.ENGAGED, State.RUNNING)) & np.isfinite(rows["length"]).all(axis=1)
    stands &= (reference[:, 7:] == 0.0).all(axis=1)
    stands[1:] &= (reference[1:, :7] == reference[:-1, :7]).all(axis=1) | ~stands[:-1]
    edges = np.flatnonzero(np.diff(np.concatenate([[False], stands, [False]]).astype(int)))
    found = []
    for begin, end in edges.reshape(-1, 2).tolist():
        first = int(np.searchsorted(rows["t"][begin:end], rows["t"][begin] + _SETTLING)) + begin
        if rows["t"][end - 1] - rows["t"][begin] >= 2.0 * _SETTLING:
            found.append((first, end))
    return found


def _same_side(series: "SensorSeries") -> Array:
    values = series.values.copy()
    values[values[:, 3:] @ values[0, 3:] < 0.0, 3:] *= -1.0
    return values


def _vector_parts(quaternions: Array, mean: Array) -> Array:
    """Vector parts (n, 3) of the turns from a mean quaternion (4,), scalar first, to others (n, 4)."""
    w, v = quaternions[:, :1], quaternions[:, 1:]
    parts: Array = mean[0] * v - w * mean[1:] - np.cross(mean[1:], v)
    return parts


def _variance_of_mean(values: Array) -> float:
    """Variance of the mean of values (n, k), on average over their columns, by the means of successive parts."""
    means = np.array([part.mean(axis=0) for part in np.array_split(values, _BATCHES)])
    return float(means.var(axis=0, ddof=1).mean() / _BATCHES)
