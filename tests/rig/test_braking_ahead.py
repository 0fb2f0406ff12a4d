"""From every state that the check ahead accepts, the way to rest stays within the limits, integrated independently."""

import math

import numpy as np
import pytest
from exploration import either, seeds
from streamed import CONFIG, HOME

from kinematics import Array, pose_to_coordinates
from rig.engine.braking_ahead import (
    DURATIONS,
    NO_WAY,
    WITHIN,
    accepted_kernel,
    calm_of,
    make_ahead,
    rest_state_kernel,
    state_within_kernel,
)

STATES = either(300, 100_000)
STEPS = 120
LIMITS = [leg.limits for leg in CONFIG.machine.legs]


def random_states(rng: np.random.Generator, count: int) -> Array:
    """States (n, 18) about home, from at rest to far beyond what the legs can do."""
    states = np.zeros((count, 18))
    states[:, :6] = pose_to_coordinates(HOME) + rng.uniform(-1, 1, (count, 6)) * [0.12, 0.12, 0.1, 0.35, 0.35, 0.4]
    size = 10.0 ** rng.uniform(-2, 0.3, (count, 1))
    states[:, 6:12] = rng.normal(size=(count, 6)) * size * [0.6, 0.6, 0.6, 2.0, 2.0, 2.0]
    size = 10.0 ** rng.uniform(-2, 0.3, (count, 1))
    states[:, 12:] = rng.normal(size=(count, 6)) * size * [10.0, 10.0, 10.0, 30.0, 30.0, 30.0]
    return states


def accepted(rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """So many states that are accepted, and the durations of their ways to rest."""
    ahead = make_ahead(CONFIG)
    states: list[Array] = []
    durations: list[float] = []
    while len(states) < count:
        for state in random_states(rng, 1000):
            duration = accepted_kernel(ahead, state, 0.0, False)
            if duration > 0.0:
                states.append(state)
                durations.append(duration)
    return np.array(states[:count]), np.array(durations[:count])


def rotations(angles: Array) -> Array:
    """R = Rz Ry Rx of angles (…, 3)."""
    (cx, cy, cz), (sx, sy, sz) = np.moveaxis(np.cos(angles), -1, 0), np.moveaxis(np.sin(angles), -1, 0)
    return np.stack(
        [
            np.stack([cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx], -1),
            np.stack([sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx], -1),
            np.stack([-sy, cy * sx, cy * cx], -1),
        ],
        -2,
    )


def legs_at(coordinates: Array) -> tuple[Array, Array, Array]:
    """Legs S (…, 6, 3), platform arms (…, 6, 3) and rotations, of coordinates (…, 6)."""
    geometry = CONFIG.machine.geometry.array
    R = rotations(coordinates[..., 3:])
    arm = np.einsum("...ij,kj->...ki", R, geometry[:, 6:9])
    return coordinates[..., None, :3] + arm - geometry[:, :3], arm, R


def integrated(states: Array, durations: Array) -> tuple[Array, Array]:
    """Times (n, m) and coordinates (n, m, 6) of the ways to rest, from their accelerations.

    The accelerations are a(t) = -6 v x (1 - x)/T + a (1 - 4 y + 3 y²): the definition, of which the module's states
    are the integrals.
    """
    T = durations[:, None]
    calm = np.minimum(T, 0.04)
    half = np.linspace(0.0, 1.0, STEPS + 1)
    t = np.concatenate([half * calm, calm + half[1:] * np.maximum(T - calm, 1e-9)], 1)  # finer where it falls

    def change(t: Array) -> Array:
        x, y = t / T, np.minimum(t / calm, 1.0)
        of_rate = -6.0 * x * (1.0 - x) / T
        of_change = 1.0 - 4.0 * y + 3.0 * y**2
        return of_rate[..., None] * states[:, None, 6:12] + of_change[..., None] * states[:, None, 12:]

    # each step by Gauss's rule with three points, which is exact for these polynomials between their knots
    nodes, weights = np.polynomial.legendre.leggauss(3)
    q, v = states[:, :6].copy(), states[:, 6:12].copy()
    path = [q]
    for k in range(2 * STEPS):
        h = t[:, k + 1] - t[:, k]
        rise, way = np.zeros_like(v), np.zeros_like(q)
        for node, weight in zip(nodes, weights, strict=True):
            at = t[:, k] + 0.5 * (1.0 + node) * h
            a = change(at[:, None])[:, 0]
            rise += 0.5 * weight * h[:, None] * a
            way += 0.5 * weight * h[:, None] * (t[:, k + 1] - at)[:, None] * a
        q, v = q + h[:, None] * v + way, v + rise
        path.append(q)
    assert np.abs(v).max() < 1e-6  # at rest
    return t, np.stack(path, 1)


def test_the_way_to_rest_from_every_accepted_state_stays_within_every_limit():
    worst = np.full(6, -math.inf)
    for seed in seeds(1):
        rng = np.random.default_rng(seed)
        left = STATES
        while left > 0:
            count = min(left, 500)
            states, durations = accepted(rng, count)
            t, q = integrated(states, durations)
            worst = np.maximum(worst, excess(t, q))
            left -= count
    print(f"{STATES} states: stroke {worst[0]:.2e} m, speed {worst[1]:.3f} m/s, acceleration {worst[2]:.3f} m/s², "
          f"joints {worst[3]:.3f} {worst[4]:.3f}, condition {worst[5]:.2f}")  # fmt: skip
    assert (worst <= 0.0).all()


def excess(t: Array, q: Array) -> Array:
    """Excess over the limits of ways t (n, m), q (n, m, 6): stroke, speed, acceleration, joint angles, condition."""
    S, arm, R = legs_at(q)
    L = np.linalg.norm(S, axis=-1)
    t = t[..., None]
    back, on = t[:, 1:-1] - t[:, :-2], t[:, 2:] - t[:, 1:-1]
    slope_back, slope_on = (L[:, 1:-1] - L[:, :-2]) / back, (L[:, 2:] - L[:, 1:-1]) / on
    speed = (slope_back * on + slope_on * back) / (back + on)
    # the second difference is a mean over both steps, so it lags behind where these differ: at most 1.5 % of a limit
    acceleration = 2.0 * (slope_on - slope_back) / (back + on)
    low, high = np.array([limit.length for limit in LIMITS]).T  # type: ignore[union-attr]
    s = S / L[..., None]
    home, _, home_R = legs_at(pose_to_coordinates(HOME))
    home /= np.linalg.norm(home, axis=-1, keepdims=True)
    universal = np.arccos(np.clip((s * home).sum(-1), -1, 1))
    own, home_own = np.einsum("...ji,...kj->...ki", R, s), np.einsum("ji,kj->ki", home_R, home)
    spherical = np.arccos(np.clip((own * home_own).sum(-1), -1, 1))
    some = np.arange(0, q.shape[1], 24)
    moments = np.cross(arm[:, some], s[:, some]) / CONFIG.safety.characteristic_length
    H = np.concatenate([s[:, some], moments], -1)
    return np.array(
        [
            np.maximum(low - L, L - high).max(),
            (np.abs(speed) - [limit.velocity for limit in LIMITS]).max(),  # type: ignore[union-attr]
            (np.abs(acceleration) - [limit.acceleration for limit in LIMITS]).max(),  # type: ignore[union-attr]
            (universal - [limit.universal_angle for limit in LIMITS]).max(),  # type: ignore[union-attr]
            (spherical - [limit.spherical_angle for limit in LIMITS]).max(),  # type: ignore[union-attr]
            np.linalg.cond(H).max() - CONFIG.safety.condition,
        ]
    )


def test_the_states_on_the_way_are_the_integrals_of_its_acceleration():
    rng = np.random.default_rng(3)
    states, durations = random_states(rng, 20), np.repeat(np.array(DURATIONS)[:5], 4)
    t, q = integrated(states, durations)
    out = np.zeros(18)
    for n, (state, duration) in enumerate(zip(states, durations, strict=True)):
        for k in (0, 7, 60, 133, 240):
            rest_state_kernel(state, duration, calm_of(duration), t[n, k], out)
            np.testing.assert_allclose(out[:6], q[n, k], atol=1e-7)


def test_a_state_from_which_no_way_stays_within_the_stroke_is_refused():
    ahead = make_ahead(CONFIG)
    state = np.zeros(18)
    state[:6] = pose_to_coordinates(HOME)
    assert accepted_kernel(ahead, state, 0.0, False) > 0.0
    state[2] += 0.131  # 4 mm from the end of the stroke
    assert accepted_kernel(ahead, state, 0.0, False) > 0.0
    state[8] = 0.3
    assert state_within_kernel(ahead, state, True, 1.0)
    assert accepted_kernel(ahead, state, 0.0, False) == 0.0
    assert ahead[0]["what"] == NO_WAY
    state[8] = -0.3  # away from it
    assert accepted_kernel(ahead, state, 0.0, False) > 0.0


@pytest.mark.parametrize("place", range(18))
def test_a_state_that_is_not_finite_is_refused(place):
    ahead = make_ahead(CONFIG)
    state = np.zeros(18)
    state[:6] = pose_to_coordinates(HOME)
    state[place] = math.nan
    assert accepted_kernel(ahead, state, 0.0, False) == 0.0
    assert ahead[0]["what"] != WITHIN
