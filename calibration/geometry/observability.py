"""Prior of the geometry, and the information of measured poses on it: covariance, singular values."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibration.errors import CalibrationError
from calibration.geometry.frames import Gauge, allowed_changes, into_mechanism, placed, rigid_tangents
from calibration.geometry.model import LEG, SCALE, UNKNOWNS, Readings, length_derivatives, pose_slopes
from kinematics import Array, quaternion_to_matrix


@dataclass(frozen=True, slots=True)
class GeometryPrior:
    """Prior standard deviations.

    joints: m, of each coordinate of a joint's place about the drawing; 2 mm is what welded and bolted frames of a metre
        keep to by ISO 2768-1, class c. offsets: m, of each length offset about the nominal one.
    scale: of the tracker's scale about the encoders' metre. Laser trackers keep to 15 µm + 6 µm/m (Leica AT500,
        greatest permissible error by ISO 10360-10); steel that is 1.5 K off is 18e-6 longer.
    """

    joints: float = 2e-3
    offsets: float = 2e-3
    scale: float = 20e-6

    def faults(self) -> list[str]:
        """Invalid values, one text each."""
        return [
            f"{name}: {value:g}{unit}, must be finite and above 0"
            for name, value, unit in (
                ("tolerance of joints", self.joints, " m"),
                ("tolerance of length offsets", self.offsets, " m"),
                ("tracker's scale sigma", self.scale, ""),
            )
            if not 0.0 < value < np.inf
        ]

    def wider(self, tolerances: float, scale: float) -> "GeometryPrior":
        """The same with the tolerances and the scale's sigma times these."""
        return replace(
            self, joints=self.joints * tolerances, offsets=self.offsets * tolerances, scale=self.scale * scale
        )

    @property
    def variances(self) -> Array:
        """Variances (42,), m², of all parameters."""
        return np.tile(np.repeat([self.joints**2, self.offsets**2], [LEG - 1, 1]), 6)


@dataclass(frozen=True, slots=True, eq=False)
class UnknownsPrior:
    """Prior on the unknowns (6, 7) about the nominal ones, with a gauge.

    targets_scale: the tracker's scale by known targets, and its standard deviation.
    """

    prior: GeometryPrior
    nominal: Array
    gauge: Gauge
    targets_scale: tuple[float, float] | None = None

    @property
    def targets_precision(self) -> float:
        """Precision of the scale by known targets; 0 without any."""
        return 0.0 if self.targets_scale is None else self.targets_scale[1] ** -2

    @property
    def scale_precision(self) -> float:
        """Precision of the scale without the poses."""
        return float(self.prior.scale**-2 + self.targets_precision)

    def terms(self, x: Array, scale: float) -> tuple[float, Array, Array]:
        """Cost, matrix (43, 43) and right side (43,) at unknowns (6, 7) in measured frames and a scale."""
        base, platform = into_mechanism(x, self.nominal, self.gauge)
        drawn = placed(self.nominal, base.inverse, platform.inverse)
        per = 1.0 / self.prior.variances
        departure = (x - drawn).ravel()
        matrix, right = np.zeros((UNKNOWNS + 1, UNKNOWNS + 1)), np.zeros(UNKNOWNS + 1)
        rigid = rigid_tangents(drawn, self.gauge)
        matrix[:SCALE, :SCALE] = np.diag(per) - (rigid * per[:, None]) @ rigid.T
        matrix[SCALE, SCALE] = self.prior.scale**-2
        right[:SCALE], right[SCALE] = per * departure, scale * self.prior.scale**-2
        cost = float(departure @ (per * departure) + scale * right[SCALE])
        if self.targets_scale is not None:
            value, precision = self.targets_scale[0], self.targets_precision
            matrix[SCALE, SCALE] += precision
            right[SCALE] += precision * (scale - value)
            cost += precision * (scale - value) ** 2
        return cost, matrix, right


PARAMETERS = tuple(
    name
    for leg in range(6)
    for name in (
        *(f"base.points[{leg}][{axis}]" for axis in range(3)),
        *(f"platform.points[{leg}][{axis}]" for axis in range(3)),
        f"legs[{leg}].length_offset",
    )
)
"""Names of the 42 parameters, leg by leg."""

_ROUNDING = 1e-13
_MOST_POSES = 0.95
_NOTHING = 1e-4  # of what the prior tells of the scale
_NAMED = 0.3  # of a direction's greatest part: what is named of it
_SEEN_AS = 0.9  # part of a motion that lies in the untold directions
_NEW = 0.1  # part of a motion that is not made of those told before
_MOST_LINES = 20
_MOST_NAMES = 8
_LITTLE_TURN = 3.0  # degrees
_LITTLE_WAY = 0.02  # of the legs' length


@dataclass(frozen=True, slots=True, eq=False)
class Observability:
    """Observability by the data alone: directions of the geometry within the gauge, best observed first.

    singular_values (m,), 1/m: of the residuals' derivatives, residuals over their noise. sigma (m,), m: of the
    geometry along each direction, their inverses; infinite where it is unobservable. tolerance (m,), m: the same by
    the drawing alone. directions (42, m): orthonormal, in the order of PARAMETERS.
    """

    singular_values: Array
    sigma: Array
    tolerance: Array
    directions: Array

    @property
    def worst(self) -> str:
        """The direction observed worst, as text of the parameters that move together."""
        return _by_parameters(self.directions[:, -1:])[0]

    @property
    def weak(self) -> Array:
        """Directions (42, k) that the drawing determines better."""
        return self.directions[:, ~(self.sigma <= self.tolerance)]


@dataclass(frozen=True, slots=True, eq=False)
class PoseSigmas:
    """Standard deviations of the poses computed from lengths, due to the geometry's uncertainty.

    The place of the frames that a gauge fixes is no error of a pose: for each possible geometry they are where its
    poses are nearest to the estimated one's. So the sigmas do not depend on the gauge.
    poses (n, 7). position (n, 3), m, and rotation (n, 3), rad, axes of the base. `worst_…`: bound of 95 % of the poses
    along every axis: near singular poses, at the border of a workspace, the uncertainty has no bound.
    """

    poses: Array
    position: Array
    rotation: Array

    @property
    def worst_position(self) -> float:
        """m."""
        return float(np.quantile(self.position.max(axis=1), _MOST_POSES))

    @property
    def worst_rotation(self) -> float:
        """rad."""
        return float(np.quantile(self.rotation.max(axis=1), _MOST_POSES))


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """Posterior of data and prior.

    covariance (42, 42), m²: of all parameters, in their order. scale_sigma: of the tracker's scale.
    departure, data_directions: χ² of the departures from the drawing, and its degrees of freedom: directions that the
    data determine better than the tolerances do. scale_alone: the scale by the data alone, and its standard deviation,
    infinite where they do not determine it.
    """

    covariance: Array
    scale_sigma: float
    departure: float
    data_directions: int
    scale_alone: tuple[float, float]

    @property
    def improbable(self) -> float:
        """Probability of such departures, or greater ones, by chance."""
        from scipy.special import chdtrc  # takes long to import, and few need it

        return float(chdtrc(self.data_directions, self.departure)) if self.data_directions else 1.0


class UnobservableError(CalibrationError):
    """Measured poses that leave the pose too uncertain.

    seen: their observability. sigmas: of the poses that were judged. bounds: of position, m, and rotation.
    """

    def __init__(
        self, faults: Sequence[str], seen: Observability, sigmas: PoseSigmas, bounds: tuple[float, float]
    ) -> None:
        self.seen, self.sigmas, self.bounds = seen, sigmas, bounds
        super().__init__(faults)


def inverse(information: Array) -> Array:
    """Covariance of an information matrix; zero along directions without information."""
    return np.asarray(np.linalg.pinv(information, rcond=_ROUNDING, hermitian=True))


def observability(information: Array, x: Array, known: UnknownsPrior) -> Observability:
    """Observability of the geometry by the data, with the frames of the gauge unknown.

    information: (43, 43), of the data, in the mechanism's frames. x: (6, 7), estimated unknowns there.
    """
    inside, about = _data_information(information, x, known)
    values, vectors = np.linalg.eigh(about)
    least = _ROUNDING * float(np.abs(information).max())
    singular = np.sqrt(np.where(values > least, values, 0.0))[::-1]
    sigma = np.divide(1.0, singular, out=np.full_like(singular, np.inf), where=singular > 0.0)
    directions = inside @ vectors[:, ::-1]
    return Observability(singular, sigma, np.sqrt(known.prior.variances @ directions**2), directions)


def _data_information(information: Array, x: Array, known: UnknownsPrior) -> tuple[Array, Array]:
    """Changes (42, m) that the gauge allows, and the data's information on them, frames and scale eliminated."""
    inside, frames = allowed_changes(known.nominal, known.gauge), rigid_tangents(x, known.gauge)
    nuisances = np.zeros((UNKNOWNS + 1, frames.shape[1] + 1))
    nuisances[:SCALE, :-1], nuisances[SCALE, -1] = frames, 1.0
    both = nuisances.T @ information @ nuisances
    both[-1, -1] += known.scale_precision
    cross = inside.T @ information[:SCALE] @ nuisances
    return inside, inside.T @ information[:SCALE, :SCALE] @ inside - cross @ inverse(both) @ cross.T


def posterior(information: Array, x: Array, scale: float, known: UnknownsPrior) -> Posterior:
    """Posterior at estimated unknowns (6, 7) and scale; information as in `observability`."""
    inside, about = _data_information(information, x, known)
    before = inside.T @ (inside / known.prior.variances[:, None])
    covariance = inside @ np.linalg.inv(about + before) @ inside.T
    # by directions v of prior variance 1, told by the data with λ: the estimate's own variance is λ/(1 + λ)
    root = np.linalg.inv(np.linalg.cholesky(before))
    information_ratio, vectors = np.linalg.eigh(root @ about @ root.T)
    departure = vectors.T @ np.linalg.solve(root.T, inside.T @ (x - known.nominal).ravel())
    observed = information_ratio > 1.0
    frames = rigid_tangents(x, known.gauge)
    rest = np.hstack([inside, frames])
    joints = rest.T @ information[:SCALE, :SCALE] @ rest
    joints[: inside.shape[1], : inside.shape[1]] += before
    cross = rest.T @ information[:SCALE, SCALE]
    by_data = information[SCALE, SCALE] - cross @ inverse(joints) @ cross + known.targets_precision
    variance = 1.0 / (max(by_data, 0.0) + known.prior.scale**-2)
    scale_observed = by_data * known.prior.scale**2 > _NOTHING
    return Posterior(
        covariance=0.5 * (covariance + covariance.T),
        scale_sigma=float(np.sqrt(variance)),
        departure=float(
            (departure[observed] ** 2 * (1.0 + information_ratio[observed]) / information_ratio[observed]).sum()
        ),
        data_directions=int(observed.sum()),
        scale_alone=(float(scale / (variance * by_data)), float(by_data**-0.5)) if scale_observed else (0.0, np.inf),
    )


def pose_changes(x: Array, poses: Array, gauge: Gauge) -> Array:
    """Derivatives (n, 6, 42) of poses (n, 7), position and rotation, by the unknowns (6, 7); see `PoseSigmas`.

    The frames minimise the sum of squares, with rotations at the radius of the platform's joints.
    """
    slopes = pose_slopes(x, poses)
    joints = x[:, 3:6] - x[:, 3:6].mean(axis=0)
    weights = np.repeat([1.0, np.sqrt((joints**2).sum(axis=1).mean())], 3)[:, None]
    frames = slopes @ rigid_tangents(x, gauge)
    if not frames.shape[2]:
        return slopes
    count = 6 * len(poses)
    a, b = (weights * frames).reshape(count, -1), (weights * slopes).reshape(count, -1)
    return np.asarray(slopes - frames @ np.linalg.lstsq(a, b, rcond=_ROUNDING)[0])


def pose_sigmas(x: Array, poses: Array, covariance: Array, gauge: Gauge) -> PoseSigmas:
    """Sigmas of poses (n, 7) by a geometry (6, 7) of covariance (42, 42), m², in the mechanism's frames."""
    slopes = pose_changes(x, poses, gauge)
    variance = np.einsum("kai,ij,kaj->ka", slopes, covariance, slopes, optimize=True)
    sigma = np.sqrt(np.maximum(variance, 0.0))
    return PoseSigmas(poses, sigma[:, :3], sigma[:, 3:])


def unobservable_directions(weak: Array, x: Array, poses: Array, known: UnknownsPrior) -> list[str]:
    """A line of text for each weak direction (42, k); a motion of a leg has a text of its own.

    Any basis of their span would do. Motions of a leg's joints that lie in it come first, if independent of those
    before; the others are given by the parameters that move together.
    x, poses: unknowns (6, 7) and poses (n, 7) in the mechanism's frames.
    """
    inside = allowed_changes(known.nominal, known.gauge)
    named = []
    for words, motion in _motions(x, poses):
        agreed = inside.T @ motion
        along = weak.T @ (inside @ agreed) / np.linalg.norm(agreed)
        if np.linalg.norm(along) > _SEEN_AS:
            named.append((words, weak @ along))
    rest, chosen = weak, set()
    while rest.shape[1] and named:
        new = [float(np.linalg.norm(rest.T @ motion)) for _, motion in named]
        best = int(np.argmax(new))
        if new[best] < _NEW:
            break
        chosen.add(best)
        rest = rest @ np.linalg.svd((rest.T @ named[best][1])[None])[2][1:].T
    lines = [named[index][0] for index in sorted(chosen)]
    lines += _by_parameters(rest)
    return lines if len(lines) <= _MOST_LINES else [*lines[:_MOST_LINES], f"and {len(lines) - _MOST_LINES} more"]


def _motions(x: Array, poses: Array) -> list[tuple[str, Array]]:
    """Motions (42,) of a leg's joints and offset with their texts, in the mechanism's frames."""
    _, slopes, _ = length_derivatives(x, poses)
    s, rs = -slopes[:, :, :3].mean(axis=0), slopes[:, :, 3:6].mean(axis=0)
    rotation = quaternion_to_matrix(poses[:, 3:]).mean(axis=0)
    found = []
    for leg in range(6):
        axes = [(f"along {name}", axis) for name, axis in zip("xyz", np.eye(3), strict=True)]
        offset = f"leg {leg + 1}: its length offset with "
        named = [
            *(
                (f"leg {leg + 1}: base and platform joint together {name}", [*d, *(rotation.T @ d), 0])
                for name, d in axes
            ),
            (offset + "its base joint along the leg", [*s[leg], 0, 0, 0, 1]),
            (offset + "its platform joint along the leg", [0, 0, 0, *-rs[leg], 1]),
            *((f"leg {leg + 1}: base joint {name}", [*d, 0, 0, 0, 0]) for name, d in axes),
            *((f"leg {leg + 1}: platform joint {name}", [0, 0, 0, *d, 0]) for name, d in axes),
        ]
        for words, values in named:
            motion = np.zeros((6, LEG))
            motion[leg] = values
            found.append((words, motion.ravel()))
    return found


def _by_parameters(weak: Array) -> list[str]:
    """A basis of the directions (42, k) in which each has a parameter of its own, as text of the greatest parts."""
    if not weak.shape[1]:
        return []
    rest, chosen = weak.copy(), []
    for _ in range(weak.shape[1]):
        row = int(np.argmax(np.linalg.norm(rest, axis=1)))
        chosen.append(row)
        along = rest[row] / np.linalg.norm(rest[row])
        rest = rest - np.outer(rest @ along, along)
    lines = []
    for column in (weak @ np.linalg.inv(weak[chosen])).T:
        size = np.abs(column) / np.abs(column).max()
        order = [index for index in np.argsort(-size, kind="stable") if size[index] > _NAMED]
        names = [f"{'-' if column[index] * column[order[0]] < 0 else '+'}{PARAMETERS[index]}" for index in order]
        more = [f"and {len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
        lines.append(" ".join([*names[:_MOST_NAMES], *more]).removeprefix("+"))
    return lines


def shortcomings(readings: Readings, poses: Array) -> list[str]:
    """Texts of what the poses (n, 7), in the mechanism's frames, lack, with figures."""
    rotation = quaternion_to_matrix(poses[:, 3:])
    reach = float(readings.lengths.mean())
    lacking = []
    if readings.measured < 6:
        lacking.append(
            f"{readings.measured} of a pose's six components are measured, so that a row tells {readings.measured} "
            "numbers of the geometry"
        )
    turns = np.degrees(_angles_about_axes(rotation))
    if turns.max() < _LITTLE_TURN:
        lacking.append(
            f"all poses have one orientation, within {turns.max():.2g} degrees: a joint of the base and its joint of "
            "the platform, moved alike, change no length; tilt and turn the platform, about all three axes"
        )
    else:
        for axis, angle in zip("xyz", turns, strict=True):
            if angle < _LITTLE_TURN:
                lacking.append(f"the platform turns by no more than {angle:.2g} degrees about {axis}")
    way = np.ptp(poses[:, :3], axis=0)
    for axis, length in zip("xyz", way, strict=True):
        if length < _LITTLE_WAY * reach:
            lacking.append(f"the platform moves by no more than {1e3 * length:.2g} mm along {axis}")
    return lacking


def _angles_about_axes(rotations: Array) -> Array:
    """Greatest differences (3,), rad, of the rotations (n, 3, 3) about the axes of the first."""
    relative = np.einsum("ba,kbc->kac", rotations[0], rotations)
    vee = 0.5 * np.stack(
        [
            relative[:, 2, 1] - relative[:, 1, 2],
            relative[:, 0, 2] - relative[:, 2, 0],
            relative[:, 1, 0] - relative[:, 0, 1],
        ],
        axis=1,
    )
    return np.asarray(np.ptp(vee, axis=0))
