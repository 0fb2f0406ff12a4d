"""From every state that the check ahead accepts, the braking path keeps to the limits, integrated independently."""

import copy
import math
from dataclasses import replace

import numpy as np
import pytest
from exploration import either, seeds
from random_mechanisms import random_mechanism
from streamed import CONFIG, HOME

from dynamics import Drive, Dynamics, Friction, LegLimits, Mechanism
from dynamics.closed_form import closed_form_equations, leg_matrices, platform_motion
from kinematics import Array, coordinates_to_motion_kernel, inverse_kinematics_kernel, pose_to_coordinates
from rig.config import RigConfig
from rig.engine.braking_ahead import (
    BEYOND,
    DURATIONS,
    ELSEWHERE,
    FORCE,
    HERE,
    LOADED,
    NO_PATH,
    OPEN,
    SURE,
    WITHIN,
    accepted_kernel,
    braking_verdict_kernel,
    braking_within_kernel,
    calm_of,
    evaluate_kernel,
    forces_within_kernel,
    judged_kernel,
    make_ahead,
    near_verdict_kernel,
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


def accepted(rng: np.random.Generator, count: int, config: RigConfig = CONFIG) -> tuple[Array, Array]:
    """So many states that are accepted, and the durations of their braking paths."""
    ahead = make_ahead(config)
    states: list[Array] = []
    durations: list[float] = []
    while len(states) < count:
        for state in random_states(rng, 1000) + np.append(shift_from_home(config), np.zeros(12)):
            duration = accepted_kernel(ahead, state, 0.0, False)
            if duration > 0.0:
                states.append(state)
                durations.append(duration)
    return np.array(states[:count]), np.array(durations[:count])


def shift_from_home(config: RigConfig) -> Array:
    """Coordinates (6,) of another machine's home from those of the shipped one's."""
    return pose_to_coordinates(config.machine.geometry.home_pose) - pose_to_coordinates(HOME)


def limited(mechanism: Mechanism, force: float) -> RigConfig:
    """The configuration with another machine, whose legs have limits: `force` times the greatest at home, N."""
    geometry, motion = mechanism.geometry, np.zeros(19)
    motion[:7] = geometry.home_pose
    most = force * float(np.abs(Dynamics(mechanism).inverse(motion).forces).max())
    legs = tuple(
        replace(leg, limits=LegLimits((0.75 * length, 1.25 * length), 0.8, 12.0, most, 0.6, 0.5))
        for leg, length in zip(mechanism.legs, geometry.home_lengths, strict=True)
    )
    config = copy.copy(CONFIG)
    config.__pydantic_private__ = dict(CONFIG.__pydantic_private__ or {}, _machine=replace(mechanism, legs=legs))
    return config


def loaded_machines() -> list[RigConfig]:
    """Machines whose legs are loaded up to their limits on the braking path, each by something else."""
    shipped = CONFIG.machine

    def with_legs(**changed: object) -> Mechanism:
        return replace(shipped, legs=tuple(replace(leg, **changed) for leg in shipped.legs))  # type: ignore[arg-type]

    return [
        limited(random_mechanism(3), 1.3),
        limited(with_legs(friction=Friction(3.0, 800.0, 3.0, 20.0)), 1.7),
        limited(random_mechanism(0, coulomb=True), 1.6),
        limited(random_mechanism(1), 2.5),
        limited(replace(shipped, mass=30.0, center_of_mass=np.array([0.3, -0.2, 0.8])), 1.5),
        limited(replace(shipped, gravity=np.array([6.0, -5.0, 5.0])), 1.6),
        limited(with_legs(drive=Drive(reflected_mass=60.0)), 1.6),
        CONFIG,
    ]


def forces_of(config: RigConfig, states: Array) -> Array:
    """Leg forces (n, 6) of states (n, 18) by the closed form, which shares no code with the compiled equations."""
    motions = np.empty((len(states), 19))
    for state, motion in zip(states, motions, strict=True):
        coordinates_to_motion_kernel(state, motion)
    M, h = closed_form_equations(config.machine, motions[:, :13], config.control.coulomb_speed)
    H = leg_matrices(platform_motion(config.machine.geometry, motions))
    needed = (M @ motions[:, 13:, None])[..., 0] + h
    return np.asarray(np.linalg.solve(H, needed[..., None])[..., 0], np.float64)


@pytest.mark.parametrize("machine", range(either(1, 8)))
def test_the_leg_forces_on_the_braking_path_stay_within_their_limits_on_any_machine(machine):
    config = loaded_machines()[machine]
    limits = np.array([leg.limits.force for leg in config.machine.legs if leg.limits])
    ahead, rng = make_ahead(config), np.random.default_rng(4)
    states, durations = accepted(rng, either(120, 12_500), config)
    worst = 0.0
    for state, duration in zip(states, durations, strict=True):
        calm, path = calm_of(duration), np.empty((either(31, 200), 18))
        row = int(np.argmin(np.abs(ahead[0]["durations"] - duration)))
        ahead["shortest"] = 0.0  # no anchor: every place is evaluated
        assert braking_within_kernel(ahead, state, row, False)
        half = len(path) // 2
        times = np.concatenate([np.linspace(0.0, calm, half), np.linspace(0.0, duration, len(path) - half)])
        for elapsed, there in zip(times, path, strict=True):
            rest_state_kernel(state, duration, calm, elapsed, there)
        worst = max(worst, float((np.abs(forces_of(config, path)) / limits).max()))
    assert 0.9 < worst <= 1.0


def test_a_leg_that_turns_back_at_once_has_its_friction_against_it():
    """Within 5 ms, before the first place of a braking path that is looked at."""
    config = loaded_machines()[2]
    limits = np.array([leg.limits.force for leg in config.machine.legs if leg.limits])
    ahead, rng, path, worst = make_ahead(config), np.random.default_rng(8), np.empty((11, 18)), 0.0
    states = random_states(rng, either(100, 5_000)) + np.append(shift_from_home(config), np.zeros(12))
    for state in states:
        low, high = np.zeros(18), state.copy()
        high[12:] *= 30.0 / np.linalg.norm(high[12:])
        high[6:12] = -rng.uniform(0.2e-3, 1.2e-3) * high[12:]
        low[:6] = state[:6]
        for _ in range(20):  # as much as is accepted
            middle = 0.5 * (low + high)
            low, high = (middle, high) if accepted_kernel(ahead, middle, 0.0, False) > 0.0 else (low, middle)
        duration = accepted_kernel(ahead, low, 0.0, False)
        if duration > 0.0:
            for elapsed, there in zip(np.linspace(0.0, 5e-3, len(path)), path, strict=True):
                rest_state_kernel(low, duration, calm_of(duration), elapsed, there)
            worst = max(worst, float((np.abs(forces_of(config, path)) / limits).max()))
    assert 0.98 < worst <= 1.0


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
    """Times (n, m) and coordinates (n, m, 6) of the braking paths, from their accelerations.

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
        rise, moved = np.zeros_like(v), np.zeros_like(q)
        for node, weight in zip(nodes, weights, strict=True):
            at = t[:, k] + 0.5 * (1.0 + node) * h
            a = change(at[:, None])[:, 0]
            rise += 0.5 * weight * h[:, None] * a
            moved += 0.5 * weight * h[:, None] * (t[:, k + 1] - at)[:, None] * a
        q, v = q + h[:, None] * v + moved, v + rise
        path.append(q)
    assert np.abs(v).max() < 1e-6  # at rest
    return t, np.stack(path, 1)


def test_the_braking_path_from_every_accepted_state_stays_within_every_limit():
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
    """Excess over the limits of paths t (n, m), q (n, m, 6): stroke, speed, acceleration, joint angles, condition."""
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


class Bounded:
    """The check with other limits, beside one that bounds nothing and evaluates every place of a braking path."""

    def __init__(self, force: float, condition: float) -> None:
        self.bounded, self.evaluated = make_ahead(CONFIG), make_ahead(CONFIG)
        for ahead in (self.bounded, self.evaluated):
            ahead["force"], ahead["condition"] = force, condition

    def within(self, state: Array) -> bool:
        """Whether both say that the state is within, one of them without an anchor."""
        self.evaluated["shortest"] = 0.0
        full = state_within_kernel(self.evaluated, state, True, 1.0, HERE) and forces_within_kernel(self.evaluated)
        assert judged_kernel(self.bounded, state) == full
        return bool(full)

    def path(self, state: Array, row: int) -> tuple[int, bool]:
        """What the bound says of a braking path, and whether it is within."""
        self.evaluated["shortest"] = 0.0
        within = braking_within_kernel(self.evaluated, state, row, False)
        return braking_verdict_kernel(self.bounded, state, row), within


@pytest.mark.parametrize(("force", "condition"), [(396.0, 99.0), (120.0, 99.0), (80.0, 6.0), (65.0, 4.0)])
def test_what_a_bound_is_certain_of_is_so_where_every_place_is_evaluated(force, condition):
    counts = {(verdict, within): 0 for verdict in (LOADED, SURE, OPEN, BEYOND) for within in (False, True)}
    for seed in seeds(1):
        check, rng = Bounded(force, condition), np.random.default_rng(seed)
        states = random_states(rng, either(400, 100_000) // 4)
        home = pose_to_coordinates(HOME)
        states[::2, :6] = home + 0.3 * (states[::2, :6] - home)
        for state in filter(check.within, states):
            for row in range(len(DURATIONS)):
                verdict, within = check.path(state, row)
                counts[verdict, within] += 1
                assert within if verdict == LOADED else not (within and verdict == BEYOND), (state, row)
                assert within or verdict != SURE or check.evaluated["what"][0] == FORCE, (state, row)
    assert counts[BEYOND, False] and counts[OPEN, True] and counts[SURE, True], counts  # each of them occurs
    if force > 300.0:
        decided = counts[LOADED, True] + counts[SURE, True]
        assert decided > 2 * counts[OPEN, True] and counts[LOADED, True] > 0.3 * decided, counts


def test_a_bound_is_certain_of_no_path_just_beyond_or_just_within_what_its_evaluation_accepts():
    """Where rates grow until a leg reaches a limit on the braking path, mostly that of its acceleration."""
    check, rng, edges = Bounded(math.inf, math.inf), np.random.default_rng(11), 0
    for _ in range(either(15, 4_000)):
        state = np.zeros(18)
        state[:6] = pose_to_coordinates(HOME)
        rates = rng.normal(size=6) * [1.0, 1.0, 1.0, 3.0, 3.0, 3.0]
        for row in range(len(DURATIONS)):
            low, high = 0.0, 1.0
            for _ in range(30):
                state[6:12] = 0.5 * (low + high) * rates
                low, high = (0.5 * (low + high), high) if check.path(state, row)[1] else (low, 0.5 * (low + high))
            if high == 1.0:
                continue  # the limits of the state itself come first
            for part, forbidden in ((1.0 - 1e-6, (BEYOND,)), (1.0 + 1e-6, (SURE, LOADED))):
                state[6:12] = part * low * rates
                if check.within(state):
                    verdict, within = check.path(state, row)
                    assert within == (part < 1.0) and verdict not in forbidden, (state, row)
                    edges += 1
    assert edges > 60


def test_what_a_bound_is_certain_of_near_a_state_is_so():
    rng, check, found = np.random.default_rng(7), Bounded(math.inf, math.inf), np.zeros(2, int)
    for state in filter(check.within, random_states(rng, either(300, 30_000))):
        near = state + rng.normal(size=18) * 10.0 ** rng.uniform(-4, -1) * np.repeat([0.3, 3.0, 30.0], 6)
        verdict = near_verdict_kernel(check.bounded, state, near)
        within = state_within_kernel(check.evaluated, near, False, 1.0, ELSEWHERE)
        assert verdict == OPEN or within == (verdict == SURE)
        found += verdict != OPEN, within
    assert found.min() > 20


def test_the_evaluated_legs_are_those_of_the_inverse_kinematics():
    rng, ahead = np.random.default_rng(5), make_ahead(CONFIG)
    legs, motion, small = np.zeros((6, 13)), np.zeros(19), 1e-6
    for state in random_states(rng, 20):
        evaluate_kernel(ahead, state, HERE)
        coordinates_to_motion_kernel(state, motion)
        inverse_kinematics_kernel(CONFIG.machine.geometry.array, motion, legs)
        np.testing.assert_allclose(ahead[0]["legs"][HERE, :, :3], legs[:, :3], rtol=1e-11, atol=1e-11)
        for k in range(6):
            shift = small * np.eye(6)[k]
            slope = (lengths_at(state[:6] + shift) - lengths_at(state[:6] - shift)) / (2.0 * small)
            np.testing.assert_allclose(ahead[0]["jacobian"][HERE, :, k], slope, atol=1e-8)
        J = ahead[0]["jacobian"][HERE]
        np.testing.assert_allclose(ahead[0]["legs"][HERE, :, 3], J @ state[12:], rtol=1e-11, atol=1e-11)


def lengths_at(coordinates: Array) -> Array:
    """Lengths (6,) of the legs at coordinates (6,)."""
    lengths: Array = np.linalg.norm(legs_at(coordinates)[0], axis=-1)
    return lengths


def test_the_states_on_the_path_are_the_integrals_of_its_acceleration():
    rng = np.random.default_rng(3)
    states, durations = random_states(rng, 20), np.repeat(np.array(DURATIONS)[:5], 4)
    t, q = integrated(states, durations)
    out = np.zeros(18)
    for n, (state, duration) in enumerate(zip(states, durations, strict=True)):
        for k in (0, 7, 60, 133, 240):
            rest_state_kernel(state, duration, calm_of(duration), t[n, k], out)
            np.testing.assert_allclose(out[:6], q[n, k], atol=1e-7)


def test_a_state_from_which_no_path_stays_within_the_stroke_is_refused():
    ahead = make_ahead(CONFIG)
    state = np.zeros(18)
    state[:6] = pose_to_coordinates(HOME)
    assert accepted_kernel(ahead, state, 0.0, False) > 0.0
    state[2] += 0.131  # 4 mm from the end of the stroke
    assert accepted_kernel(ahead, state, 0.0, False) > 0.0
    state[8] = 0.3
    assert state_within_kernel(ahead, state, True, 1.0, HERE)
    assert accepted_kernel(ahead, state, 0.0, False) == 0.0
    assert ahead[0]["what"] == NO_PATH
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
