"""Measured poses and leg lengths as they come, checked whole, and made into what the fit takes."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from calibration.errors import CalibrationError
from calibration.geometry.frames import Gauge
from calibration.geometry.model import Readings
from calibration.geometry.targets import TargetPoses, poses_of_targets
from kinematics import Array, Geometry, angles_to_quaternion

KnownFrames = Literal["none", "base", "platform", "both"]

LEAST_ROWS = 12
"""Poses below which nothing is fitted: 42 unknowns and some redundancy, a fifth left out."""

_UNIT = 1e-6  # of a quaternion's norm
_UNIT_RATIO = 50.0  # between millimetres and metres, 1000, and what one mechanism's measures may differ by
_FEW_TARGETS = 3
_LISTED = 5


@dataclass(frozen=True, slots=True)
class GeometryNoise:
    """Standard deviations of one reading: position of a target, m, by axis; orientation, rad, by axis; leg length, m.

    position and rotation are those of a whole pose; of points on the platform only `position` counts, each point's; of
    a level only `rotation`.
    """

    position: float = 20e-6
    rotation: float = 1e-4
    length: float = 5e-6

    def faults(self) -> list[str]:
        """What cannot be."""
        return [
            f"{name} sigma: {value:g} {unit}, must be finite and above 0"
            for name, value, unit in (
                ("position", self.position, "m"),
                ("rotation", self.rotation, "rad"),
                ("length", self.length, "m"),
            )
            if not 0.0 < value < np.inf
        ]


@dataclass(frozen=True, slots=True, eq=False)
class GeometryMeasurements:
    """What was measured at n poses: the legs' lengths, and one of poses, points, positions and tilts.

    lengths (n, 6): as the encoders tell them after homing, m, legs 1 to 6.
    poses (n, 7): [x y z qw qx qy qz] of a target on the platform in the tracker's frame.
    points (n, k, 3): k ≥ 3 targets fixed to the platform, tracker's frame, m; target_points (k, 3): their places in
        the platform's frame if they are known.
    positions (n, 3): of a single target on the platform, tracker's frame, m.
    tilts (n, 2): θx, θy of R = Rz Ry Rx as a level on the platform tells them, rad.
    known: which of the tracker's and the target's frames are the base's and the platform's own.
    rows (n,): what each row is called in messages; counted from 1 if left out.
    """

    lengths: Array
    poses: Array | None = None
    points: Array | None = None
    target_points: Array | None = None
    positions: Array | None = None
    tilts: Array | None = None
    known: KnownFrames = "none"
    rows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """Readings for the fit, their gauge, names of rows (n,), and rows (n,) left out beforehand with the reason.

    cost and degrees of freedom that the targets' distances from each other have told already.
    """

    readings: Readings
    gauge: Gauge
    rows: tuple[str, ...]
    targets: TargetPoses | None = None
    left_out: dict[int, str] = field(default_factory=dict)


def prepare_geometry(
    geometry: Geometry, measurements: GeometryMeasurements, noise: GeometryNoise, offsets: Array
) -> Prepared:
    """Check all of the measurements and make them into readings, the lengths less the nominal offsets (6,), m.

    Raises:
        CalibrationError: shapes, numbers that are not finite, quaternions, units, too few rows: every reason at once.
    """
    faults = noise.faults()
    lengths = _array("leg lengths", measurements.lengths, (None, 6), faults)
    kinds = {
        name: _array(name, value, shape, faults)
        for name, value, shape in (
            ("poses", measurements.poses, (None, 7)),
            ("points", measurements.points, (None, None, 3)),
            ("positions", measurements.positions, (None, 3)),
            ("tilts", measurements.tilts, (None, 2)),
        )
        if value is not None
    }
    if not kinds:
        faults.append(
            "leg lengths alone: six lengths tell the six freedoms of the pose and nothing of the geometry; measure "
            "poses, targets' points, one target's positions or a level's tilts beside them"
        )
    if len(kinds) > 1:
        faults.append(f"poses, points, positions, tilts: {len(kinds)} of them are given, must be one")
    if measurements.known not in ("none", "base", "platform", "both"):
        faults.append(f"known frames: {measurements.known!r}, must be none, base, platform or both")
    if faults:
        raise CalibrationError(faults)
    assert lengths is not None
    ((kind, values),) = kinds.items()
    assert values is not None
    if len(values) != len(lengths):
        faults.append(f"{len(values)} {kind} but {len(lengths)} rows of leg lengths")
    if len(lengths) < LEAST_ROWS:
        faults.append(f"{len(lengths)} rows, at least {LEAST_ROWS} are needed for the 42 parameters, and 40 are good")
    if measurements.rows and len(measurements.rows) != len(lengths):
        faults.append(f"{len(measurements.rows)} names of rows for {len(lengths)} rows")
    faults += _unit_faults(geometry, lengths, kind, values)
    if kind == "poses":
        norms = np.linalg.norm(values[:, 3:], axis=1)
        wrong = np.flatnonzero(np.abs(norms - 1.0) > _UNIT)
        faults += [f"row {row + 1}: the quaternion's norm is {norms[row]:.9g}, must be 1" for row in wrong[:_LISTED]]
    if kind == "points" and values.shape[1] < _FEW_TARGETS:
        faults.append(f"points: {values.shape[1]} targets on the platform, at least {_FEW_TARGETS} give a pose")
    target_points = None
    if measurements.target_points is not None:
        count = values.shape[1] if kind == "points" else 0
        target_points = _array("target points", measurements.target_points, (count, 3), faults)
    if faults:
        raise CalibrationError(faults)
    rows = measurements.rows or tuple(f"row {row + 1}" for row in range(len(lengths)))
    return _prepared(measurements, noise, kind, values, lengths - offsets, target_points, rows)


def _prepared(
    measurements: GeometryMeasurements,
    noise: GeometryNoise,
    kind: str,
    values: Array,
    lengths: Array,
    target_points: Array | None,
    rows: tuple[str, ...],
) -> Prepared:
    n = len(lengths)
    arms = np.zeros((n, 3))
    poses = np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], (n, 1))
    place, turn = [noise.position**-2] * 3, [noise.rotation**-2] * 3
    gauge = Gauge(measurements.known not in ("base", "both"), measurements.known not in ("platform", "both"))
    if kind == "points":
        found = poses_of_targets(values, noise.position, target_points)
        if target_points is not None:
            gauge = Gauge(gauge.base, False)
        left = {int(row): found.reason(int(row)) for row in np.flatnonzero(~found.rigid)}
        readings = Readings(found.poses, found.information, lengths, noise.length, found.middles)
        return Prepared(readings, gauge, rows, found, left)
    measured, tilt = 6, False
    if kind == "poses":
        poses = values.copy()
        poses[:, 3:] /= np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
    elif kind == "positions":
        poses[:, :3], turn, measured = values, [0.0] * 3, 3
    else:
        poses[:, 3:] = angles_to_quaternion(np.column_stack([values, np.zeros(n)]))
        place, turn, measured, tilt = [0.0] * 3, [*turn[:2], 0.0], 2, True
    if kind != "tilts":
        arms = poses[:, :3]
    information = np.broadcast_to(np.diag([*place, *turn]), (n, 6, 6))
    return Prepared(Readings(poses, information, lengths, noise.length, arms, measured, tilt), gauge, rows)


def _array(name: str, value: ArrayLike, shape: tuple[int | None, ...], faults: list[str]) -> Array | None:
    """Finite float64 copy of that shape; None after adding a fault."""
    wanted = "(" + ", ".join("nk"[index] if size is None else str(size) for index, size in enumerate(shape)) + ")"
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        faults.append(f"{name}: not an array of numbers ({error})")
        return None
    if array.ndim != len(shape) or any(size not in (None, got) for size, got in zip(shape, array.shape, strict=True)):
        faults.append(f"{name}: shape {array.shape}, must be {wanted}")
        return None
    bad = np.argwhere(~np.isfinite(array))
    faults += [f"{name}: row {place[0] + 1} has {array[tuple(place)]}, must be finite" for place in bad[:_LISTED]]
    if len(bad) > _LISTED:
        faults.append(f"{name}: and {len(bad) - _LISTED} more numbers that are not finite")
    return None if len(bad) else array


def _unit_faults(geometry: Geometry, lengths: Array, kind: str, values: Array) -> list[str]:
    """Lengths and positions that are of another unit than m, by the mechanism's size."""
    size = max(np.ptp(geometry.base_points, axis=0).max(), np.ptp(geometry.platform_points, axis=0).max())
    median = float(np.median(lengths))
    faults = []
    if lengths.min() <= 0.0:
        row, leg = np.unravel_index(int(lengths.argmin()), lengths.shape)
        faults.append(f"leg lengths: row {row + 1}, leg {leg + 1} is {lengths.min():g} m, must be above 0 m")
    if median > _UNIT_RATIO * size:
        faults.append(f"leg lengths: {median:g} m for a mechanism of {size:g} m; are they in millimetres?")
    if kind == "tilts" and np.abs(values).max() > 0.5 * np.pi:
        faults.append(f"tilts: up to {np.abs(values).max():g} rad; are they in degrees?")
    if kind in ("poses", "positions", "points"):
        way = float(np.median(np.abs(np.diff(values.reshape(len(values), -1)[:, :3], axis=0))))
        if way > _UNIT_RATIO * size:
            faults.append(f"{kind}: {way:g} m from one row to the next, for a mechanism of {size:g} m; millimetres?")
        elif kind == "points":
            apart = float(np.linalg.norm(values[:, 0] - values[:, 1], axis=1).max())
            if apart > _UNIT_RATIO * size:
                faults.append(f"points: targets {apart:g} m apart on a mechanism of {size:g} m; millimetres?")
    return faults
