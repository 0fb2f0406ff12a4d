"""Random motions of a vehicle, gentle and violent, and what a platform's motion may be, by numpy alone."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from kinematics import Geometry, MotionBounds, Tuning

Array = npt.NDArray[np.float64]

KINDS = ("rest", "step", "ramp", "burst", "noise", "sine", "bang-bang", "sweep", "spikes", "extreme", "largest")
LEVEL = np.array([0.0, 0.0, 9.80665, 0.0, 0.0, 0.0])
_SIZES = np.array([3.0, 3.0, 3.0, 0.5, 0.5, 0.5])


def random_vehicle(rng: np.random.Generator, kind: str, steps: int, rate: float) -> Array:
    """A motion (steps, 6) of a vehicle of one of KINDS: specific force and angular rate."""
    t = np.arange(steps)[:, None] / rate
    size = _SIZES * rng.lognormal(0.0, 0.8, 6) * rng.choice([-1.0, 0.0, 1.0], 6, p=[0.4, 0.2, 0.4])
    if kind == "rest":
        size = 0.0 * size
        shape = np.ones_like(t)
    elif kind == "step":
        shape = np.ones_like(t)
    elif kind == "ramp":
        shape = np.linspace(0.0, 1.0, steps)[:, None]
    elif kind == "burst":
        begin = rng.integers(0, steps)
        shape = np.zeros_like(t)
        shape[begin : begin + 1 + steps // 4] = 3.0
    elif kind == "noise":
        shape = rng.standard_normal((steps, 6))
    elif kind == "sine":
        shape = np.sin(2.0 * np.pi * 10.0 ** rng.uniform(-1.5, 1.5) * t + rng.uniform(0.0, 2.0 * np.pi, 6))
    elif kind == "bang-bang":
        shape = 3.0 * np.sign(np.sin(2.0 * np.pi * 10.0 ** rng.uniform(-1.0, 1.0) * t + rng.uniform(0.0, 6.0, 6)))
    elif kind == "sweep":
        shape = 2.0 * np.sin(2.0 * np.pi * 5.0 * t**2 + rng.uniform(0.0, 6.0, 6))
    elif kind == "spikes":
        shape = np.where(rng.random((steps, 6)) < 0.05, 30.0, 0.0)
    elif kind == "extreme":
        shape = 10.0 ** rng.uniform(1.0, 6.0) * rng.standard_normal((steps, 6))
    else:
        shape = rng.choice([-1.7e308, 1.7e308, 0.0], (steps, 6))
        size = np.ones(6)
    with np.errstate(over="ignore"):
        found: Array = np.clip(LEVEL + size * shape, -1.7e308, 1.7e308)
    return found


def random_tuning(rng: np.random.Generator) -> Tuning:
    """A tuning anywhere within its bounds, mostly far too bold for the machine."""

    def some(least: float, greatest: float, count: int) -> list[float]:
        found: list[float] = np.exp(rng.uniform(np.log(least), np.log(greatest), count)).tolist()
        return found

    def one(least: float, greatest: float) -> float:
        return some(least, greatest, 1)[0]

    return Tuning.model_validate(
        {
            "name": "random",
            "algorithm": str(rng.choice(["classical", "constrained"])),
            "input": {
                "force_scale": some(0.1, 2.0, 3),
                "force_limit": some(0.5, 50.0, 3),
                "rate_scale": some(0.1, 2.0, 3),
                "rate_limit": some(0.05, 10.0, 3),
            },
            "translation": {
                "order": int(rng.integers(2, 4)),
                "frequency": some(0.05, 30.0, 3),
                "damping": some(0.3, 3.0, 3),
                "return_frequency": some(0.05, 3.0, 3),
            },
            "tilt": {
                "frequency": some(0.5, 30.0, 2),
                "damping": some(0.3, 3.0, 2),
                "rate": one(0.005, 1.0),
                "acceleration": one(0.05, 50.0),
                "angle": one(0.05, 0.6),
            },
            "rotation": {"order": int(rng.integers(1, 3)), "frequency": some(0.05, 30.0, 3)},
            "limiter": {
                "speed_share": rng.uniform(0.05, 0.98),
                "acceleration_share": rng.uniform(0.05, 0.9),
                "jerk": one(10.0, 1e6),
                "approach": one(0.5, 50.0),
                "recovery": one(0.2, 20.0),
                "weights": some(1e-3, 1e3, 6),
            },
        }
    )


def rotations(quaternions: Array) -> Array:
    """Matrices (n, 3, 3) of unit quaternions (n, 4)."""
    w, x, y, z = quaternions.T
    return np.stack(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    ).transpose(2, 0, 1)


def leg_motions(geometry: Geometry, motions: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Lengths, speeds and accelerations (n, 6), directions (n, 6, 3), arms (n, 6, 3) of motions (n, 19)."""
    R = rotations(motions[:, 3:7])
    q = np.einsum("nij,kj->nki", R, geometry.platform_points)
    v, w, a, alpha = (motions[:, None, k : k + 3] for k in (7, 10, 13, 16))
    S = q + motions[:, None, :3] - geometry.base_points
    dS = v + np.cross(w, q)
    ddS = a + np.cross(alpha, q) + np.cross(w, np.cross(w, q))
    L = np.linalg.norm(S, axis=2)
    s = S / L[..., None]
    speed = np.einsum("nki,nki->nk", s, dS)
    acceleration = np.einsum("nki,nki->nk", s, ddS) + (np.einsum("nki,nki->nk", dS, dS) - speed**2) / L
    return L, speed, acceleration, s, q


def use_of_bounds(geometry: Geometry, bounds: MotionBounds, motions: Array) -> dict[str, float]:
    """The largest use of each bound by motions (n, 19): 1 is the bound itself."""
    L, speed, acceleration, s, q = leg_motions(geometry, motions)
    limit = bounds.array
    middle, half = 0.5 * (limit[:, 0] + limit[:, 1]), 0.5 * (limit[:, 1] - limit[:, 0])
    home = leg_motions(geometry, np.concatenate([geometry.home_pose, np.zeros(12)])[None])[3][0]
    R = rotations(motions[:, 3:7])
    seen = np.einsum("nji,nkj->nki", R, s)
    at_home = home @ rotations(geometry.home_pose[None, 3:])[0]

    def angle(one: Array, other: Array) -> Array:
        found: Array = np.arccos(np.clip(np.einsum("nki,ki->nk", one, other), -1.0, 1.0))
        return found

    return {
        "length": float((np.abs(L - middle) / half).max()),
        "speed": float((np.abs(speed) / limit[:, 2]).max()),
        "acceleration": float((np.abs(acceleration) / limit[:, 3]).max()),
        "universal": float((angle(s, home) / limit[:, 4]).max()),
        "spherical": float((angle(seen, at_home) / limit[:, 5]).max()),
        "condition": largest_condition(s, q, bounds) / bounds.condition,
    }


_TURNS = np.array(
    [[[0, 0, 0], [0, 0, -1], [0, 1, 0]], [[0, 0, 1], [0, 0, 0], [-1, 0, 0]], [[0, -1, 0], [1, 0, 0], [0, 0, 0]]]
)
"""Derivative of a turn about x, y and z with its angle, at zero."""


def head_motions(geometry: Geometry, head: Array, q: Array, rates: Array, accelerations: Array) -> Array:
    """Motions (n, 19) of coordinates of a head, rates and accelerations (n, 6) each: Rz Ry Rx by the product rule."""
    turns, first, second = [], [], []
    for axis, K in enumerate(_TURNS):
        angle, rate, change = (each[:, 3 + axis, None, None] for each in (q, rates, accelerations))
        R = np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K)
        turns.append(R)
        first.append(rate * (R @ K))
        second.append(change * (R @ K) + rate**2 * (R @ K @ K))
    (X, Y, Z), (X1, Y1, Z1), (X2, Y2, Z2) = turns, first, second
    R = Z @ Y @ X
    R1 = Z1 @ Y @ X + Z @ Y1 @ X + Z @ Y @ X1
    R2 = Z2 @ Y @ X + Z @ Y2 @ X + Z @ Y @ X2 + 2.0 * (Z1 @ Y1 @ X + Z1 @ Y @ X1 + Z @ Y1 @ X1)
    back = np.swapaxes(R, 1, 2)
    omega = R1 @ back  # skew
    alpha = R2 @ back + R1 @ np.swapaxes(R1, 1, 2)
    home = rotations(geometry.home_pose[None, 3:])[0]

    def vector(skew: Array) -> Array:
        found: Array = np.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], axis=1) @ home.T
        return found

    place = geometry.home_pose[:3] + (q[:, :3] + head - R @ head) @ home.T
    speed, acceleration = (rates[:, :3] - R1 @ head) @ home.T, (accelerations[:, :3] - R2 @ head) @ home.T
    quaternion = Rotation.from_matrix(home @ R).as_quat(scalar_first=True)
    return np.hstack([place, quaternion, speed, vector(omega), acceleration, vector(alpha)])


def between(states: Array, period: float, points: int) -> tuple[Array, Array, Array]:
    """Coordinates, rates and accelerations at `points` times from each state (n, 18) to the next: quintics."""
    (q0, v0, a0), (q1, v1, a1) = (np.split(each, 3, axis=1) for each in (states[:-1], states[1:]))
    v0, v1, a0, a1 = period * v0, period * v1, period**2 * a0, period**2 * a1
    d, v, a = q1 - q0 - v0 - 0.5 * a0, v1 - v0 - a0, a1 - a0
    c3, c4, c5 = 10.0 * d - 4.0 * v + 0.5 * a, -15.0 * d + 7.0 * v - a, 6.0 * d - 3.0 * v + 0.5 * a
    u = (np.arange(points) / points)[:, None, None]
    place = q0 + u * (v0 + u * (0.5 * a0 + u * (c3 + u * (c4 + u * c5))))
    speed = v0 + u * (a0 + u * (3.0 * c3 + u * (4.0 * c4 + u * 5.0 * c5)))
    change = a0 + u * (6.0 * c3 + u * (12.0 * c4 + u * 20.0 * c5))
    return place.reshape(-1, 6), speed.reshape(-1, 6) / period, change.reshape(-1, 6) / period**2


def largest_condition(s: Array, q: Array, bounds: MotionBounds) -> float:
    """Largest condition number, of directions and arms (n, 6, 3) of the legs; singular values only where they matter.

    Where 2/|det H| (‖H‖²/6)³ is within the bound, the condition number is as well, and this is taken in its place.
    """
    H = np.concatenate([s, np.cross(q, s) / bounds.characteristic_length], axis=2)
    bound = 2.0 * (np.einsum("nij,nij->n", H, H) / 6.0) ** 3 / np.abs(np.linalg.det(H))
    doubtful = bound > bounds.condition
    exact = np.linalg.cond(H[doubtful]) if doubtful.any() else np.zeros(1)
    return float(max(bound[~doubtful].max(initial=0.0), exact.max()))


def signals(rng: np.random.Generator, count: int, rate: float, longest: int) -> Iterator[Array]:
    """Many motions of a vehicle, one after the other, of random kinds, mostly short, of at most `longest` steps."""
    for steps in np.exp(rng.uniform(0.0, np.log(longest + 1), count)):
        yield random_vehicle(rng, KINDS[rng.integers(len(KINDS))], int(steps), rate)
