"""Optimal choice of the next poses to measure."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calibration.errors import CalibrationError
from calibration.geometry.frames import Gauge, nominal_unknowns, rigid_tangents
from calibration.geometry.measurements import GeometryNoise
from calibration.geometry.model import LEG, SCALE, UNKNOWNS, Readings, length_derivatives, linearise
from calibration.geometry.observability import GeometryPrior, UnknownsPrior, pose_sigmas, posterior
from kinematics import (
    Array,
    Geometry,
    KinematicsError,
    PoseLimits,
    assess_poses,
    leg_lengths,
    quaternion_from_rotation_vector,
    quaternion_multiply,
    reach_box,
)

_BATCH = 4000
_BATCHES = 50
_ELSEWHERE = 1.0  # m: what is known of the frames before anything is measured


@dataclass(frozen=True, slots=True, eq=False)
class PosePlan:
    """Poses (count, 7) to be measured, best first, with their leg lengths (count, 6), m, by the given geometry.

    sigma_before, sigma_after: standard deviation, m, of the position along its worst axis, as `PoseSigmas` of
    poses all over the workspace: expected with the measured poses only, and with these too.
    """

    poses: Array
    lengths: Array
    sigma_before: float
    sigma_after: float


def next_poses(
    geometry: Geometry,
    limits: PoseLimits,
    count: int,
    *,
    measured: ArrayLike = (),
    noise: GeometryNoise | None = None,
    prior: GeometryPrior | None = None,
    gauge: Gauge | None = None,
    margin: float = 5e-3,
    turn: float = np.pi / 4,
    candidates: int = 2000,
    seed: int = 0,
    progress: Callable[[float], None] = lambda _part: None,
) -> PosePlan:
    """Choose, one by one, the random poses within the limits that improve the covariance most.

    D-optimal: each is the candidate that lowers the volume of the geometry's covariance most, with the frames unknown
    that the gauge fixes.

    Args:
        geometry: nominal or calibrated, with a home.
        limits: of the poses; strokes must be bounded.
        count: how many, at least 1.
        measured: (n, 7) poses measured already, base's and platform's frame; need not be exact.
        noise: of the readings.
        prior: of the geometry before any measurement.
        gauge: which frames are unknown; both if left out.
        margin: m that every leg stays within its stroke.
        turn: rad, greatest rotation from home.
        candidates: number of random poses to choose from.
        seed: of the random poses; the same gives the same.
        progress: called with the part done, 0 to 1; an exception of it ends the planning.

    Raises:
        CalibrationError: no home, strokes without bounds, or no such poses.
    """
    noise, prior, gauge = noise or GeometryNoise(), prior or GeometryPrior(), gauge or Gauge()
    faults = [*noise.faults(), *prior.faults()]
    if count < 1:
        faults.append(f"{count} poses, must be at least 1")
    if geometry.home is None:
        faults.append("the geometry has no home pose about which to look for others")
    if faults:
        raise CalibrationError(faults)
    there = np.asarray(measured, dtype=np.float64).reshape(-1, 7)
    drawn = _candidates(geometry, limits, max(candidates, count), margin, turn, np.random.default_rng(seed))
    x = nominal_unknowns(geometry)
    known, frames = UnknownsPrior(prior, x, gauge), np.pad(rigid_tangents(x, gauge), ((0, 1), (0, 0)))
    both = _rows(geometry, np.concatenate([there, drawn]), noise)
    rows = both[len(there) :]
    before = np.einsum("kia,kib->ab", both[: len(there)], both[: len(there)])
    information = before + known.terms(x, 0.0)[1] + frames @ frames.T / _ELSEWHERE**2
    free = np.ones(len(drawn), dtype=bool)
    chosen: list[int] = []
    for step in range(count):
        gain = _gain(rows, information)
        if frames.shape[1]:
            gain = gain - _gain(rows @ frames, frames.T @ information @ frames)
        best = int(np.argmax(np.where(free, gain, -np.inf)))
        free[best] = False
        chosen.append(best)
        information = information + rows[best].T @ rows[best]
        progress((step + 1) / count)
    after = before + np.einsum("kia,kib->ab", rows[chosen], rows[chosen])
    poses = drawn[chosen]
    sigmas = (pose_sigmas(x, drawn, posterior(each, x, 0.0, known).covariance, gauge) for each in (before, after))
    return PosePlan(poses, leg_lengths(geometry, poses), *(each.worst_position for each in sigmas))


def workspace_poses(geometry: Geometry, limits: PoseLimits, *, count: int = 500, turn: float = np.pi / 4) -> Array:
    """Poses (count, 7) all over the reachable workspace, turned by at most `turn`, rad; always the same ones.

    Raises CalibrationError: no home, strokes without bounds, or no such poses.
    """
    if geometry.home is None:
        raise CalibrationError("the geometry has no home pose about which to look for others")
    return _candidates(geometry, limits, count, 0.0, turn, np.random.default_rng(0))


def _candidates(
    geometry: Geometry, limits: PoseLimits, count: int, margin: float, turn: float, random: np.random.Generator
) -> Array:
    """Reachable poses (count, 7), or fewer if not enough were found."""
    try:
        low, high = reach_box(geometry, (0.0, 0.0, 0.0), limits.lengths[:, 1])
    except KinematicsError as error:
        raise CalibrationError(f"no poses to choose from: {error}") from None
    found = np.zeros((0, 7))
    for _ in range(_BATCHES):
        vectors = random.normal(size=(_BATCH, 3))
        vectors *= turn * np.cbrt(random.uniform(size=(_BATCH, 1))) / np.linalg.norm(vectors, axis=1, keepdims=True)
        turned = quaternion_multiply(
            quaternion_from_rotation_vector(vectors), np.tile(geometry.home_pose[3:], (_BATCH, 1))
        )
        poses = np.hstack([random.uniform(low, high, (_BATCH, 3)), turned])
        assessed = assess_poses(geometry, poses, limits)
        found = np.concatenate([found, poses[assessed.reachable & (assessed.stroke_margin >= margin)]])
        if len(found) >= count:
            return found[:count]
    if not len(found):
        raise CalibrationError(f"no pose keeps to the limits with {1e3 * margin:g} mm of stroke left")
    return found


def _rows(geometry: Geometry, poses: Array, noise: GeometryNoise) -> Array:
    """Derivatives (n, 6, 43) of six residuals of unit variance at every pose, by unknowns and scale."""
    x, information = nominal_unknowns(geometry), np.diag([noise.position**-2] * 3 + [noise.rotation**-2] * 3)
    lengths, slopes, by_pose = length_derivatives(x, poses)
    readings = Readings(poses, np.broadcast_to(information, (len(poses), 6, 6)), lengths, noise.length, poses[:, :3])
    whitening = np.swapaxes(np.linalg.cholesky(linearise(readings, x, poses).weight), 1, 2)
    spread = np.zeros((len(poses), 6, UNKNOWNS + 1))
    spread[:, :, :SCALE].reshape(len(poses), 6, 6, LEG)[:, range(6), range(6)] = slopes
    spread[:, :, SCALE] = -np.einsum("kia,ka->ki", by_pose[:, :, :3], poses[:, :3])
    return np.asarray(whitening @ spread)


def _gain(rows: Array, information: Array) -> Array:
    """Increase (n,) of the log-determinant of the information by each candidate's rows (n, 6, m)."""
    covariance = np.linalg.inv(information)
    return np.asarray(np.linalg.slogdet(np.eye(6) + rows @ covariance @ np.swapaxes(rows, 1, 2))[1])
