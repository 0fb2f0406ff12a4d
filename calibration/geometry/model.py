"""Leg lengths against measured poses: residuals, their exact derivatives, and the equations with the poses eliminated.

The pose of every row is unknown too (errors in variables): it is measured by the lengths and, with an own error, by the
tracker. With `f` the six lengths' residuals, `e` those of the pose, σ the lengths' noise and Λ the
pose's information, a row costs ‖f‖²/σ² + eᵀΛe. Its linearisation in the pose's change δ is eliminated in closed form,

    N = GᵀG/σ² + Λ        δ = −N⁻¹ (Gᵀ(f + J dx)/σ² + Λe)        P = 1/σ² − G N⁻¹ Gᵀ/σ⁴

which leaves JᵀPJ dx = −Jᵀy, 42 equations whatever the number of rows. P is the inverse covariance of a residual with
the noise of the lengths and of the pose. A component of a pose that was not measured has Λ = 0; without any measured
component P is zero, since six lengths determine just the six freedoms of the pose.

A tracker's scale is a 43rd unknown k: a place m that it measures is (1 − k) m in the encoders' metres, and e contains
k m. With several targets m is their middle. The elimination gives column and row of k like the others.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kinematics import (
    Array,
    quaternion_conjugate,
    quaternion_from_rotation_vector,
    quaternion_multiply,
    quaternion_to_matrix,
    rotation_vector_from_quaternion,
)

LEG = 7
"""Unknowns of a leg: base joint x y z, platform joint x y z, length offset; m."""
UNKNOWNS = 6 * LEG
SCALE = UNKNOWNS
"""Index of the tracker's scale, after the geometry's unknowns."""

_VERTICAL = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, slots=True, eq=False)
class Readings:
    """Measurements by row, in the frames of the instrument that measured the poses.

    poses (n, 7): [x y z qw qx qy qz], m; a component without information has any value.
    information (n, 6, 6): inverse covariance of [position; rotation vector], 1/m² and 1/rad², axes of the tracker.
    lengths (n, 6): by the legs' encoders, m. length_sigma: their standard deviation, m.
    arms (n, 3): from the tracker to every measured place, m; zero where none is measured.
    tilt: whether only the direction of the vertical, tracker's z, is known of the orientation.
    measured: components of a pose that are measured.
    """

    poses: Array
    information: Array
    lengths: Array
    length_sigma: float
    arms: Array
    measured: int = 6
    tilt: bool = False

    def __len__(self) -> int:
        return len(self.lengths)

    def rows(self, chosen: npt.NDArray[np.bool_]) -> "Readings":
        """The readings of the chosen rows (n,)."""
        return replace(
            self,
            poses=self.poses[chosen],
            information=self.information[chosen],
            lengths=self.lengths[chosen],
            arms=self.arms[chosen],
        )

    def noisier(self, factor: float) -> "Readings":
        """The same with every standard deviation times `factor`."""
        return replace(self, information=self.information / factor**2, length_sigma=self.length_sigma * factor)

    def in_metres(self, scale: float) -> Array:
        """Measured poses (n, 7) with their places corrected for the tracker's scale."""
        return np.concatenate([self.poses[:, :3] - scale * self.arms, self.poses[:, 3:]], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Equations:
    """The linearised equations at the unknowns `x` (6, 7), a scale and poses (n, 7).

    slopes (n, 6, 7): J of each leg's length in its own seven unknowns. weight (n, 6, 6): P. right (n, 6): y.
    cross (n, 6), own (n,) and pull (n,): the scale's row of the normal matrix by leg's length, its diagonal, and its
    right side. cost (n,): each row's, least over its pose; χ² of as many degrees of freedom as components are measured.
    shift (n, 6), gain (n, 6, 6), drift (n, 6): the pose's best change is shift − gain·(J dx) − drift·dk.
    """

    slopes: Array
    weight: Array
    right: Array
    cross: Array
    own: Array
    pull: Array
    cost: Array
    shift: Array
    gain: Array
    drift: Array

    def normal(self, weights: Array) -> tuple[Array, Array]:
        """Matrix (43, 43) and right side (43,) of the rows with the weights (n,)."""
        matrix, right = np.empty((UNKNOWNS + 1, UNKNOWNS + 1)), np.empty(UNKNOWNS + 1)
        weighted = self.weight * weights[:, None, None]
        joints = np.einsum("kij,kia,kjb->iajb", weighted, self.slopes, self.slopes, optimize=True)
        matrix[:SCALE, :SCALE] = joints.reshape(UNKNOWNS, UNKNOWNS)
        matrix[SCALE, :SCALE] = np.einsum("k,kia,ki->ia", weights, self.slopes, self.cross, optimize=True).ravel()
        matrix[:SCALE, SCALE] = matrix[SCALE, :SCALE]
        matrix[SCALE, SCALE] = weights @ self.own
        right[:SCALE] = np.einsum("k,kia,ki->ia", weights, self.slopes, self.right, optimize=True).ravel()
        right[SCALE] = weights @ self.pull
        return matrix, right

    def pose_change(self, step: Array) -> Array:
        """Change (n, 6) of the poses with a `step` (43,) of unknowns and scale."""
        joints = step[:SCALE].reshape(6, LEG)
        moved = np.einsum("kab,kbc,bc->ka", self.gain, self.slopes, joints, optimize=True)
        return np.asarray(self.shift - moved - self.drift * step[SCALE])


def length_derivatives(x: Array, poses: Array) -> tuple[Array, Array, Array]:
    """Encoder lengths (n, 6), m, at poses (n, 7), with J (n, 6, 7) and G (n, 6, 6).

    l = ‖t + R p − b‖ + o. J = [−s, Rᵀs, 1] in [b p o]; G = [s, q×s] in the pose's [translation; rotation vector], axes
    of the base, q = R p.
    """
    rotation = quaternion_to_matrix(poses[:, 3:])
    arm = np.einsum("kab,ib->kia", rotation, x[:, 3:6])
    leg = poses[:, None, :3] + arm - x[:, :3]
    distance = np.linalg.norm(leg, axis=2)
    s = leg / distance[:, :, None]
    slopes = np.concatenate([-s, np.einsum("kba,kib->kia", rotation, s), np.ones((*distance.shape, 1))], axis=2)
    return distance + x[:, 6], slopes, np.concatenate([s, np.cross(arm, s)], axis=2)


def pose_error(readings: Readings, poses: Array, scale: float = 0.0) -> Array:
    """Difference (n, 6) of poses (n, 7) from the measured ones: translation and rotation vector, tracker's axes.

    scale: of the tracker, taken off the measured places.
    """
    if readings.tilt:
        up = np.einsum("kba,b->ka", quaternion_to_matrix(readings.poses[:, 3:]), _VERTICAL)  # in platform axes
        lean = np.einsum("kab,kb->ka", quaternion_to_matrix(poses[:, 3:]), up)
        rotation = np.cross(_VERTICAL, lean)
    else:
        turn = quaternion_multiply(poses[:, 3:], quaternion_conjugate(readings.poses[:, 3:]))
        rotation = rotation_vector_from_quaternion(turn / np.linalg.norm(turn, axis=1, keepdims=True))
    return np.concatenate([poses[:, :3] - readings.poses[:, :3] + scale * readings.arms, rotation], axis=1)


def linearise(readings: Readings, x: Array, poses: Array, scale: float = 0.0) -> Equations:
    """The equations at unknowns (6, 7), a tracker's scale and poses (n, 7)."""
    predicted, slopes, g = length_derivatives(x, poses)
    f = predicted - readings.lengths
    e = pose_error(readings, poses, scale)
    per = readings.length_sigma**-2
    gradient = np.einsum("kab,kb->ka", readings.information, e)
    a = per * np.einsum("kia,ki->ka", g, f) + gradient
    n = per * np.einsum("kia,kib->kab", g, g) + readings.information
    by_scale = np.einsum("kab,kb->ka", readings.information[:, :, :3], readings.arms)
    sides = [per * np.swapaxes(g, 1, 2), a[:, :, None], by_scale[:, :, None]]
    eliminated = np.linalg.solve(n, np.concatenate(sides, axis=2))
    gain, shift, drift = eliminated[:, :, :6], -eliminated[:, :, 6], eliminated[:, :, 7]
    weight = per * (np.eye(6) - g @ gain)
    weight = 0.5 * (weight + np.swapaxes(weight, 1, 2))
    right = per * (f + np.einsum("kia,ka->ki", g, shift))
    cost = per * np.einsum("ki,ki->k", f, f) + np.einsum("ka,ka->k", e, gradient) + np.einsum("ka,ka->k", a, shift)
    return Equations(
        slopes,
        weight,
        right,
        cross=-per * np.einsum("kia,ka->ki", g, drift),
        own=np.einsum("ka,ka->k", readings.arms - drift[:, :3], by_scale[:, :3])
        - np.einsum("ka,ka->k", drift[:, 3:], by_scale[:, 3:]),
        pull=np.einsum("ka,ka->k", by_scale, e + shift),
        cost=np.maximum(cost, 0.0),
        shift=shift,
        gain=gain,
        drift=drift,
    )


def pose_slopes(x: Array, poses: Array) -> Array:
    """Derivatives (n, 6, 42) of the poses of given lengths by the unknowns: translation, rotation vector; base's axes.

    At given lengths G δ + J dx = 0. Raises LinAlgError at a singular pose.
    """
    _, slopes, g = length_derivatives(x, poses)
    spread = np.zeros((len(poses), 6, 6, LEG))
    spread[:, range(6), range(6)] = slopes
    return np.asarray(-np.linalg.solve(g, spread.reshape(len(poses), 6, UNKNOWNS)))


def moved(poses: Array, change: Array) -> Array:
    """Poses (n, 7) after changes (n, 6), translation and rotation vector in tracker's axes."""
    turned = quaternion_multiply(quaternion_from_rotation_vector(change[:, 3:]), poses[:, 3:])
    turned /= np.linalg.norm(turned, axis=1, keepdims=True)
    return np.concatenate([poses[:, :3] + change[:, :3], turned], axis=1)
