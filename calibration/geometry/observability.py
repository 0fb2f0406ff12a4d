"""What the measured poses say of the geometry: covariance, singular values, and in words what they do not tell."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibration.errors import CalibrationError
from calibration.geometry.frames import Gauge, allowed_changes, rigid_tangents
from calibration.geometry.model import LEG, Readings, length_derivatives
from kinematics import Array, quaternion_to_matrix

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
_NAMED = 0.3  # of a direction's greatest part: what is named of it
_SEEN_AS = 0.9  # part of a motion that lies in the untold directions
_NEW = 0.1  # part of a motion that is not made of those told before
_MOST_LINES = 20
_MOST_NAMES = 8
_LITTLE_TURN = 3.0  # degrees
_LITTLE_WAY = 0.02  # of the legs' length


@dataclass(frozen=True, slots=True, eq=False)
class Observability:
    """Directions of the geometry, best told first, once the frames are agreed on.

    singular_values (m,), 1/m: of the residuals' derivatives, residuals over their noise. sigma (m,), m: of the
    geometry along each direction, their inverses. directions (42, m): orthonormal, in the order of PARAMETERS.
    """

    singular_values: Array
    sigma: Array
    directions: Array

    @property
    def covariance(self) -> Array:
        """(42, 42), m²: of all parameters, of rank m; infinite along what is not told, so not to be used then."""
        return np.asarray((self.directions * self.sigma**2) @ self.directions.T)

    @property
    def worst(self) -> str:
        """The direction told worst, by the parameters that move together along it."""
        return _by_parameters(self.directions[:, -1:])[0]

    def weak(self, bound: float) -> Array:
        """Directions (42, k) of a sigma above the bound, m."""
        return self.directions[:, ~(self.sigma <= bound)]


class UnobservableError(CalibrationError):
    """Poses that leave directions of the geometry open. `seen`: what they tell; `bound`: of each sigma, m."""

    def __init__(self, faults: Sequence[str], seen: Observability, bound: float) -> None:
        self.seen, self.bound = seen, bound
        super().__init__(faults)


def observability(information: Array, x: Array, nominal: Array, gauge: Gauge) -> Observability:
    """What is told of the geometry, the frames that are agreed on being unknown as well.

    information: (42, 42), 1/m², in the mechanism's frames. x, nominal: (6, 7), estimated and nominal unknowns there.
    """
    inside, frames = allowed_changes(nominal, gauge), rigid_tangents(x, gauge)
    about = inside.T @ information @ inside
    if frames.shape[1]:
        cross = inside.T @ information @ frames
        about = (
            about - cross @ np.linalg.pinv(frames.T @ information @ frames, rcond=_ROUNDING, hermitian=True) @ cross.T
        )
    values, vectors = np.linalg.eigh(about)
    least = _ROUNDING * float(np.abs(information).max())
    singular = np.sqrt(np.where(values > least, values, 0.0))[::-1]
    sigma = np.divide(1.0, singular, out=np.full_like(singular, np.inf), where=singular > 0.0)
    return Observability(singular, sigma, inside @ vectors[:, ::-1])


def untold(weak: Array, x: Array, poses: Array, nominal: Array, gauge: Gauge) -> list[str]:
    """A line for each of the weak directions (42, k), in words where it is a motion that has some.

    Directions of one bound may be mixed at will. Motions of a leg's joints that lie in their span come first, as long
    as one is not made of those before it; what is left is told by the parameters that move together.
    x, poses: unknowns (6, 7) and poses (n, 7) in the mechanism's frames.
    """
    inside = allowed_changes(nominal, gauge)
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
    """Motions (42,) of a leg's joints and offset that have words, in the mechanism's frames."""
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
    """The directions (42, k) mixed so that each has a parameter of its own, told by their greatest parts."""
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
    """What the poses (n, 7), in the mechanism's frames, lack, in words, with figures."""
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
    """(3,): greatest differences, rad, of the rotations (n, 3, 3) about the axes of the first."""
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
