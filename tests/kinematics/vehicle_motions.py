"""Random motions of a vehicle, gentle and violent, and what a platform's motion may be, by numpy alone."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

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
