"""The washout: its filters by theory, what it gives to feel, and that no input leads it out of its bounds."""

import tracemalloc
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from exploration import either, seeds
from random_mechanisms import random_mechanism
from scipy import signal
from scipy.interpolate import CubicHermiteSpline, CubicSpline
from vehicle_motions import (
    KINDS,
    LEVEL,
    between,
    head_motions,
    leg_motions,
    random_tuning,
    random_vehicle,
    rotations,
    signals,
    use_of_bounds,
)

from dynamics import Mechanism, load_mechanism
from kinematics import (
    FLAGS,
    Geometry,
    InputFileError,
    KinematicsError,
    LimitError,
    MotionBounds,
    Placement,
    Tuning,
    Washout,
    angles_to_quaternion,
    load_tuning,
    parse_tuning,
    tuning_names,
)
from kinematics.cueing.limiter import (
    _braking_rates_kernel,
    _cubic_within_kernel,
    _errors_kernel,
    _step_rates_kernel,
    braking_kernel,
    head_motion_kernel,
    pack_frame,
)
from kinematics.cueing.tuning import LimiterTuning
from kinematics.cueing.washout import discretised

G = 9.80665
RATES = (10.0, 50.0, 100.0, 200.0, 500.0, 1000.0)


@cache
def lab() -> Mechanism:
    return load_mechanism("lab-hexapod")


def bounds_of(machine: Mechanism, condition: float = 100.0) -> MotionBounds:
    limits = [leg.limits for leg in machine.legs]
    given: list[Any] = [one for one in limits if one is not None]
    return MotionBounds(
        [one.length for one in given],
        [one.velocity for one in given],
        [one.acceleration for one in given],
        [one.universal_angle for one in given],
        [one.spherical_angle for one in given],
        condition,
        0.2,
    )


def washout(rate: float = 500.0, gravity: float = G, condition: float = 100.0, **changes: object) -> Washout:
    """A washout of the lab-hexapod with the shipped tuning, changed."""
    tuning = load_tuning("lab-hexapod").model_dump()
    for key, value in changes.items():
        section, _, name = key.rpartition("__")
        (tuning[section] if section else tuning)[name] = value
    return Washout(lab().geometry, bounds_of(lab(), condition), Tuning.model_validate(tuning), rate, gravity)


def inputs(seconds: float, rate: float, gravity: float = G, **given: object) -> np.ndarray:
    """A vehicle's motion, level but for the given columns: ax, …, r."""
    samples = np.tile([0.0, 0.0, gravity, 0.0, 0.0, 0.0], (round(seconds * rate), 1))
    for name, values in given.items():
        samples[:, ("ax", "ay", "az", "p", "q", "r").index(name)] += values
    return samples


def sensed(motions: np.ndarray, head: tuple[float, float, float], gravity: float = G) -> np.ndarray:
    """Specific force at the head (n, 3), from the place of the head over time alone: second differences at 500 Hz."""
    R = rotations(motions[:, 3:7])
    place = motions[:, :3] + R @ np.array(head)
    acceleration = np.gradient(np.gradient(place, 1 / 500.0, axis=0), 1 / 500.0, axis=0)
    found: np.ndarray = np.einsum("nji,nj->ni", R, acceleration + np.array([0.0, 0.0, gravity]))
    return found


# -- filters by theory -------------------------------------------------------------------------------------------------


def test_a_filter_is_discretised_exactly_for_inputs_that_are_linear_between_samples() -> None:
    A, B = np.array([[0.0, 1.0], [-6.25, -5.0]]), np.array([0.0, 1.0])
    t = np.linspace(0.0, 4.0, 41)
    u = np.random.default_rng(0).standard_normal(41)
    _, _, expected = signal.lsim((A, B[:, None], np.eye(2), np.zeros((2, 1))), u, t, interp=True)
    step = discretised(A, B, 0.1)
    state, found = np.zeros(2), [np.zeros(2)]
    for before, now in pairwise(u):
        state = step[:, :2] @ state + step[:, 2] * before + step[:, 3] * now
        found.append(state)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("algorithm", ["classical", "constrained"])
@pytest.mark.parametrize("order", [2, 3])
def test_a_step_is_washed_out_as_the_transfer_function_says(algorithm: str, order: int) -> None:
    found = washout(algorithm=algorithm, translation__order=order, tilt__angle=0.0, limiter__jerk=1e6)
    samples = inputs(8.0, 500.0)
    samples[250:, 0] += 0.4
    motions, flags = found.run(samples)
    above = [1.0, 0.0] if order == 3 else [1.0]
    below = np.polymul([1.0, 5.0, 6.25], [1.0, 0.3] if order == 3 else [1.0])
    t = np.arange(len(samples)) / 500.0
    _, expected, _ = signal.lsim((above, below), 0.5 * (samples[:, 0]), t)
    assert not flags.any()
    np.testing.assert_allclose(motions[:, 0], expected, atol=2e-5)
    assert abs(expected).max() > 0.015


@pytest.mark.parametrize("order", [1, 2])
def test_a_turn_is_washed_out_as_the_transfer_function_says(order: int) -> None:
    found = washout(rotation__order=order, head=(0.0, 0.0, 0.0))
    samples = inputs(8.0, 500.0)
    samples[250:, 5] = np.minimum(np.arange(len(samples) - 250) / 100.0, 1.0) * 0.4
    motions, flags = found.run(samples)
    t = np.arange(len(samples)) / 500.0
    form = ([1.0], [1.0, 1.0]) if order == 1 else ([1.0, 0.0], [1.0, 2.0, 1.0])
    _, expected, _ = signal.lsim(form, 0.5 * samples[:, 5], t)
    assert not flags.any()
    np.testing.assert_allclose(2.0 * np.arctan2(motions[:, 6], motions[:, 3]), expected, atol=2e-4)
    assert expected.max() > 0.05


def test_the_motion_does_not_depend_on_the_rate() -> None:
    ends = []
    for rate in (100.0, 1000.0):
        t = np.arange(round(6.0 * rate)) / rate
        ramp = np.interp(t, [0.5, 1.0, 2.0, 2.5], [0.0, 1.0, 1.0, 0.0])
        motions, _ = washout(rate).run(inputs(6.0, rate, ax=ramp, q=0.2 * ramp, r=-0.3 * ramp))
        ends.append(motions[:: round(rate / 100.0), :7])
    coarse, fine = ends[0], ends[1]
    np.testing.assert_allclose(coarse, fine, atol=1e-3)
    assert np.abs(fine[:, :3] - fine[0, :3]).max() > 0.03


# -- what is felt ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gravity", [9.80665, 1.62])
@pytest.mark.parametrize(("column", "axis", "sense"), [("ax", 0, 1.0), ("ay", 1, 1.0), ("ax", 0, -1.0)])
def test_a_sustained_force_is_given_by_gravity_and_slowly(gravity: float, column: str, axis: int, sense: float) -> None:
    found = washout(gravity=gravity, tilt__angle=0.5)
    force = sense * 0.8
    motions, _ = found.run(inputs(40.0, 500.0, gravity, **{column: force}))
    felt = sensed(motions[-500:], found.tuning.head, gravity)[250]
    assert felt[axis] == pytest.approx(0.5 * force, abs=2e-3)
    assert np.linalg.norm(felt) == pytest.approx(gravity, rel=1e-6)
    assert np.abs(motions[:, 10:13]).max() <= np.radians(3.0) * 1.02


@pytest.mark.parametrize(
    ("frequency", "rate", "acceleration"),
    [(2.5, 0.05236, 0.2), (2.5, 1.0, 0.01), (30.0, 1.0, 0.2), (30.0, 0.052, 0.02)],
)
def test_a_tilt_does_not_pass_its_greatest_angle(frequency: float, rate: float, acceleration: float) -> None:
    """Also where the filter is quick for the acceleration that the tilt may have, and where commands change."""
    for force in (3.0, 6.0):
        found = washout(
            100.0, tilt__acceleration=acceleration, tilt__rate=rate, tilt__frequency=(frequency, frequency),
            tilt__angle=0.2, translation__frequency=(30.0, 30.0, 30.0), input__force_limit=(6.0, 6.0, 6.0),
        )  # fmt: skip
        motions, _ = found.run(inputs(40.0, 100.0, ax=force))
        pitch = 2.0 * np.arctan2(motions[:, 5], motions[:, 3])
        wanted = min(np.arcsin(0.5 * force / G), 0.2)
        assert -pitch.min() <= 0.2 + 1e-3
        assert -pitch[-1] == pytest.approx(wanted, abs=5e-3)
        found.reset()
        switched = np.repeat(np.random.default_rng(1).choice([-6.0, 0.0, 6.0], 40), 100)
        motions, _ = found.run(inputs(40.0, 100.0, ax=switched))
        assert np.abs(2.0 * np.arctan2(motions[:, 5], motions[:, 3])).max() <= 0.2 + 1e-3


def test_the_onset_of_a_force_is_felt_at_once_and_with_the_right_sign() -> None:
    for column, axis in (("ax", 0), ("ay", 1), ("az", 2)):
        for sense in (1.0, -1.0):
            found = washout()
            samples = inputs(1.0, 500.0)
            samples[100:, axis] += sense * 1.0
            motions, _ = found.run(samples)
            felt = sensed(motions, found.tuning.head) - [0.0, 0.0, G]
            assert felt[108, axis] == pytest.approx(sense * 0.46, abs=0.04), column


def test_the_head_stays_where_it_is_when_the_vehicle_only_turns() -> None:
    found = washout(head=(0.1, -0.05, 0.3))
    t = np.arange(1500) / 500.0
    motions, flags = found.run(inputs(3.0, 500.0, r=0.5 * np.sin(2.0 * t)))
    place = motions[:, :3] + rotations(motions[:, 3:7]) @ np.array([0.1, -0.05, 0.3])
    assert not flags.any()
    assert np.abs(motions[:, 0] - motions[0, 0]).max() > 5e-3
    np.testing.assert_allclose(place, np.tile(place[0], (1500, 1)), atol=1e-9)


def test_axes_with_z_down_are_those_with_z_up_turned_over() -> None:
    t = np.arange(1000) / 500.0
    up = inputs(2.0, 500.0, ax=np.sin(t), ay=np.sin(2 * t), az=np.sin(3 * t), p=0.1 * np.sin(t), r=0.2 * np.sin(t))
    down = up * [1.0, -1.0, -1.0, 1.0, -1.0, -1.0]
    one, other = washout(), washout(axes="z-down")
    assert np.array_equal(one.run(up)[0], other.run(down)[0])
    assert np.array_equal(other.level, [0.0, 0.0, -G, 0.0, 0.0, 0.0])


def test_both_algorithms_are_one_as_long_as_no_bound_is_met() -> None:
    t = np.arange(2000) / 500.0
    samples = inputs(4.0, 500.0, ax=0.3 * np.sin(3.0 * t), az=0.3 * np.sin(4.0 * t))
    one, other = washout(algorithm="classical"), washout(algorithm="constrained")
    np.testing.assert_allclose(one.run(samples)[0][:, :3], other.run(samples)[0][:, :3], atol=1e-4)


def test_where_the_stroke_ends_the_constrained_washout_does_not_lag_behind() -> None:
    """Pushed against the legs' ends and then pulled back: what is left behind is not caught up with first."""
    samples = inputs(4.0, 500.0, az=np.where(np.arange(2000) < 1000, 30.0, -3.0))
    lowest = {}
    for algorithm in ("classical", "constrained"):
        found = washout(
            algorithm=algorithm, input__force_scale=(1.0, 1.0, 1.0), input__force_limit=(9.0, 9.0, 9.0),
            translation__frequency=(2.0, 2.0, 2.0),
        )  # fmt: skip
        motions, _ = found.run(samples)
        lowest[algorithm] = int(np.argmax(np.diff(motions[1000:, 2]) < 0.0))
        assert found.counts["legs limited"] > 100
    assert lowest["constrained"] <= lowest["classical"]


# -- bounds ------------------------------------------------------------------------------------------------------------


def test_a_state_of_the_head_is_the_motion_of_the_platform() -> None:
    """Also with a home that is turned about z, by the other way to a motion, `Placement`."""
    rng = np.random.default_rng(3)
    home = np.concatenate([[0.02, -0.01, 0.45], angles_to_quaternion([0.0, 0.0, 0.7])])
    machine = lab().geometry
    turned = Geometry(machine.base_points, machine.universal_axes, machine.platform_points, home)
    head = rng.normal(0.0, 0.2, 3)
    placement = Placement("home", pivot=head, home=home)
    for _ in range(20):
        state = rng.normal(0.0, 0.3, 18)
        out = np.zeros(19)
        head_motion_kernel(state, pack_frame(turned, head), out)
        expected = placement.to_motion(state[None, :6], state[None, 6:12], state[None, 12:])[0]
        np.testing.assert_allclose(out, expected, atol=1e-12)


BINDING = 3.5
"""Condition number that binds before the legs' strokes do: that of home is 3.2."""


@pytest.mark.parametrize("seed", seeds(8))
def test_no_motion_of_a_vehicle_leads_the_platform_out_of_its_bounds(seed: int) -> None:
    """Random motions of every kind, one behind the other, with tunings far too bold: 10⁶ of them in the long profile.

    Every motion, and a braking path from every few, is judged by numpy alone.
    """
    rng = np.random.default_rng(seed)
    together = either(60, 250)
    for _ in range(either(4, 500)):
        condition = float(rng.choice([100.0, BINDING]))
        bounds, rate = bounds_of(lab(), condition), float(rng.choice(RATES))
        tuning = random_tuning(rng)
        tuning = tuning.model_copy(update={"head": tuple(rng.uniform(-0.3, 0.3, 3))})
        found = Washout(lab().geometry, bounds, tuning, rate)
        samples = np.concatenate(list(signals(rng, together, rate, 40)))
        before = np.concatenate([lab().geometry.home_pose, np.zeros(12)])
        for part in np.array_split(samples, 10):
            motions, _ = found.run(part)
            judge_motion(bounds, np.vstack([before, motions]), rate)
            judge_braking(bounds, found)
            before = motions[-1]
            if rng.random() < 0.1:
                other = random_tuning(rng).limiter.model_copy(update={"stroke_margin": tuning.limiter.stroke_margin})
                found.tune(random_tuning(rng).model_copy(update={"head": tuning.head, "limiter": other}))


def judge_motion(bounds: MotionBounds, motions: np.ndarray, rate: float) -> None:
    """No bound is passed, and each motion goes on from the one before."""
    use = use_of_bounds(lab().geometry, bounds, motions)
    assert max(use.values()) <= 1.0, use
    lengths, speeds, _, _, _ = leg_motions(lab().geometry, motions)
    acceleration = bounds.array[:, 3]
    departure = np.abs(np.diff(lengths, axis=0) - 0.5 / rate * (speeds[1:] + speeds[:-1]))
    assert (departure <= 0.25 * acceleration / rate**2).all()
    assert (np.abs(np.diff(speeds, axis=0)) <= acceleration / rate).all()


def judge_braking(bounds: MotionBounds, found: Washout) -> None:
    """A braking path goes on from where the platform is, ends at rest, and keeps to the bounds on its way."""
    path = found.braking_path(np.linspace(0.0, found.braking_time, 60))
    np.testing.assert_allclose(path[0], found.motion, atol=1e-9)
    assert not path[-1, 7:].any() or np.abs(path[-1, 7:]).max() < 1e-9
    use = use_of_bounds(lab().geometry, bounds, path)
    assert max(use.values()) <= 1.0, use


@pytest.mark.parametrize("seed", [33, 61, *seeds(400)[: either(0, 400)]])
@pytest.mark.parametrize("name", ["lab-hexapod", "random"])
def test_between_two_samples_no_bound_is_passed_either(name: str, seed: int) -> None:
    """At 10 Hz, where the most happens in between; also for machines of other shapes, with tight margins."""
    rng = np.random.default_rng(seed)
    tuning = random_tuning(rng)
    head = rng.uniform(-0.3, 0.3, 3)
    limiter = tuning.limiter.model_copy(update={"stroke_margin": 1e-5})
    tuning = tuning.model_copy(update={"head": tuple(head), "limiter": limiter})
    bounds, geometry, rate = bounds_of(lab()), lab().geometry, 10.0
    if name == "random":
        geometry, bounds = other_machine(seed)
    found = Washout(geometry, bounds, tuning, rate)
    states = [found.state.copy()]
    for sample in np.concatenate(list(signals(rng, 15, rate, 40))):
        found.step(sample)
        states.append(found.state.copy())
    use = use_of_bounds(geometry, bounds, head_motions(geometry, head, *between(np.array(states), 1.0 / rate, 20)))
    assert max(use.values()) <= 1.0, use
    assert use["length"] > 0.3


def test_a_cubic_is_within_a_range_if_all_of_it_is() -> None:
    rng = np.random.default_rng(6)
    counts = [0, 0]
    u = np.linspace(0.0, 0.2, 4001)
    for _ in range(500):
        (first, last), (slope, last_slope) = rng.uniform(-1.0, 1.0, 2), rng.normal(0.0, 20.0, 2)
        values = CubicHermiteSpline([0.0, 0.2], [first, last], [slope, last_slope])(u)
        for scale in (1.0 - 1e-3, 1.0 + 1e-3):
            least, greatest = scale * min(values.min(), -0.1), scale * max(values.max(), 0.1)
            inside = bool(values.min() >= least and values.max() <= greatest)
            found = _cubic_within_kernel(first, slope, last, last_slope, 0.2, least, greatest)
            back = _cubic_within_kernel(last, last_slope, first, slope, -0.2, least, greatest)
            assert found == back == inside
            counts[inside] += 1
    assert min(counts) > 300


def other_machine(seed: int) -> tuple[Geometry, MotionBounds]:
    """A machine of six different legs, slow or fast, with bounds of its own for each."""
    rng = np.random.default_rng(seed)
    geometry = random_mechanism(seed).geometry
    length = np.linalg.norm(geometry.platform_points + geometry.home_pose[:3] - geometry.base_points, axis=1)
    speed = 10.0 ** rng.uniform(-1.0, 0.7)
    return geometry, MotionBounds(
        np.column_stack([length * rng.uniform(0.7, 0.9, 6), length * rng.uniform(1.05, 1.4, 6)]),
        speed * rng.uniform(0.7, 1.3, 6),
        speed * 10.0 ** rng.uniform(0.1, 1.7) * rng.uniform(0.7, 1.3, 6),
        rng.uniform(0.3, 1.0, 6),
        rng.uniform(0.3, 1.0, 6),
        1000.0,
        0.2,
    )


def test_what_a_leg_does_between_samples_is_within_the_bounds_of_its_interpolation() -> None:
    """Steps and braking paths, evaluated densely: the true departures are below the derived bounds, and not far."""
    rng = np.random.default_rng(8)
    geometry, head = lab().geometry, np.array([0.1, -0.05, 0.2])
    frame, rates, errors = pack_frame(geometry, head), np.zeros((4, 6)), np.zeros((5, 6))
    bounds = np.tile([0.3, 0.8, 1.0, 10.0, np.inf, np.inf], (6, 1))
    share = np.zeros((2, 5))
    for _ in range(25):
        v, a = rng.normal(0.0, 0.3, 6), rng.normal(0.0, 4.0, 6)
        start = np.concatenate([rng.normal(0.0, 0.03, 6), v, a])
        duration = float(rng.uniform(0.05, 0.4))
        end = np.zeros(18)
        for kind in range(2):
            if kind == 0:  # a step with the acceleration linear in between
                step, b = duration / 4.0, a + rng.normal(0.0, 2.0, 6)
                end[:6] = start[:6] + step * (v + step * (2.0 * a + b) / 6.0)
                end[6:12], end[12:] = v + 0.5 * step * (a + b), b
                _step_rates_kernel(start, end, step, rates)
            else:
                step = duration / 12.0
                _braking_rates_kernel(start, duration, rates)
                braking_kernel(start, duration, step, end)
            assert _errors_kernel(rates, step, geometry.array, frame, bounds, errors)
            found = departures(geometry, head, np.array([start, end]), step)
            assert (found <= errors).all()
            share[kind] = np.maximum(share[kind], (found / errors).max(axis=1))
    assert (share[:, [0, 2]] > 0.08).all() and (share > 0.005).all(), share


def departures(geometry: Geometry, head: np.ndarray, states: np.ndarray, step: float) -> np.ndarray:
    """How far lengths, speeds, accelerations and 1 − cos φ of both joints get from their interpolation (5, 6)."""
    count = 100
    path = between(states, step, count)
    motions = head_motions(
        geometry, head, *(np.vstack([each, last]) for each, last in zip(path, np.split(states[1], 3), strict=True))
    )
    L, speed, acceleration, s, _ = leg_motions(geometry, motions)
    home = leg_motions(geometry, np.concatenate([geometry.home_pose, np.zeros(12)])[None])[3][0]
    seen = np.einsum("nji,nkj->nki", rotations(motions[:, 3:7]), s)
    t = np.arange(count + 1) * step / count
    angles = [1.0 - np.einsum("nki,ki->nk", one, home) for one in (s, seen)]  # the platform is level at home
    slopes = [CubicSpline(t, one)(t[[0, -1]], nu=1) for one in angles]
    ends = t[[0, -1]]
    found = [
        L - CubicHermiteSpline(ends, L[[0, -1]], speed[[0, -1]])(t),
        speed - CubicHermiteSpline(ends, speed[[0, -1]], acceleration[[0, -1]])(t),
        acceleration - acceleration[0] - np.outer(t / step, acceleration[-1] - acceleration[0]),
        *(one - CubicHermiteSpline(ends, one[[0, -1]], slope)(t) for one, slope in zip(angles, slopes, strict=True)),
    ]
    return np.array([np.abs(one).max(axis=0) for one in found])


def test_bounds_are_met_by_these_motions() -> None:
    """Otherwise that none is passed would say little: without the limiter the same motions leave them far behind."""
    rng = np.random.default_rng(1)
    counts = dict.fromkeys(FLAGS, 0)
    most = dict.fromkeys(("length", "speed", "acceleration", "spherical", "condition"), 0.0)
    for condition in (100.0, BINDING) * 2:
        bold = {"speed_share": 0.98, "acceleration_share": 0.9, "jerk": 1e4, "approach": 15.0}
        found = washout(
            200.0, condition=condition, limiter=LimiterTuning(**bold).model_dump(),
            input__force_scale=(2.0, 2.0, 2.0), input__force_limit=(20.0, 20.0, 20.0),
            input__rate_scale=(2.0, 2.0, 2.0),
            input__rate_limit=(5.0, 5.0, 5.0), translation__frequency=(0.5, 0.5, 0.5),
        )  # fmt: skip
        motions, _ = found.run(np.concatenate(list(signals(rng, 60, 200.0, 100))))
        use = use_of_bounds(lab().geometry, bounds_of(lab(), condition), motions)
        most = {name: max(value, use[name]) for name, value in most.items()}
        counts = {name: value + found.counts[name] for name, value in counts.items()}
    assert min(counts.values()) > 100, counts
    assert min(most.values()) > 0.85, most


@pytest.mark.parametrize("kind", KINDS)
def test_the_platform_comes_home_again(kind: str) -> None:
    rng = np.random.default_rng(5)
    for name in tuning_names():
        found = Washout(lab().geometry, bounds_of(lab()), load_tuning(name), 100.0)
        found.run(random_vehicle(rng, kind, 300, 100.0))
        motions, flags = found.run(np.tile(LEVEL, (5000, 1)))
        assert not flags[-500:].any()
        assert np.abs(motions[-1, :3] - lab().geometry.home_pose[:3]).max() < 1e-3
        assert np.abs(motions[-1, 4:7]).max() < 1e-3


def test_braking_brings_the_platform_to_rest_from_anywhere() -> None:
    rng = np.random.default_rng(2)
    for kind in KINDS:
        found = washout(200.0, input__force_scale=(2.0, 2.0, 2.0), input__force_limit=(20.0, 20.0, 20.0))
        found.run(random_vehicle(rng, kind, 150, 200.0))
        steps = round(found.braking_time * 200.0) + 2
        path = [found.brake().copy() for _ in range(steps)]
        assert not path[-1][7:].any(), kind
        assert np.array_equal(path[-1], found.brake()), kind


def test_a_number_that_is_not_finite_is_refused_and_moves_nothing() -> None:
    found = washout()
    found.run(inputs(0.5, 500.0, ax=1.0))
    before = found.motion.copy()
    for place, name in enumerate(("ax", "ay", "az", "p", "q", "r")):
        for bad in (np.nan, np.inf, -np.inf):
            sample = found.level
            sample[place] = bad
            with pytest.raises(KinematicsError, match=f"{name} is {bad}, must be finite"):
                found.step(sample)
    assert np.array_equal(found.motion, before)
    with pytest.raises(KinematicsError, match="sample 3, q is nan"):
        found.run(inputs(0.02, 500.0, q=[0.0, 0.0, 0.0, np.nan] + [0.0] * 6))


def test_a_step_allocates_nothing() -> None:
    found, sample = washout(), LEVEL.copy()
    motion = found.step(sample)
    tracemalloc.start()
    for _ in range(50):
        found.step(sample)
    before = tracemalloc.take_snapshot()
    for _ in range(50):
        assert found.step(sample) is motion
    grown = tracemalloc.take_snapshot().compare_to(before, "filename")
    tracemalloc.stop()
    assert sum(one.size_diff for one in grown if "washout" in one.traceback[0].filename) <= 0


def test_steps_and_a_run_are_the_same() -> None:
    rng = np.random.default_rng(4)
    samples = random_vehicle(rng, "noise", 100, 500.0)
    one, other = washout(), washout()
    assert np.array_equal([one.step(sample).copy() for sample in samples], other.run(samples)[0])
    one.reset()
    assert np.array_equal(one.run(samples)[0], washout().run(samples)[0])


# -- what is refused ---------------------------------------------------------------------------------------------------


def test_a_washout_needs_a_machine_that_it_may_move() -> None:
    for changes, says in (
        ({"rate": 5.0}, "rate: 5 Hz, must be 10 to 100000 Hz"),
        ({"gravity": 0.0}, "gravity: 0 m/s²"),
        ({"limiter__stroke_margin": 0.12}, "leaves nothing of leg 1's 0.22 m"),
        ({"condition": 2.0}, "home pose is not within"),
    ):
        with pytest.raises((KinematicsError, LimitError), match=says):
            washout(**changes)
    with pytest.raises(KinematicsError, match=r"length of leg 1: from 0 to inf m, must be a finite range"):
        MotionBounds((0.0, np.inf))
    with pytest.raises(KinematicsError, match=r"speed of leg 1: 0 m/s, must be above 0 m/s"):
        MotionBounds((0.4, 0.6), 0.0)


def test_what_the_bounds_were_made_of_stays_while_the_platform_moves() -> None:
    found = washout()
    for key, value in (("head", (0.0, 0.0, 0.0)), ("axes", "z-down")):
        with pytest.raises(LimitError, match=f"{key}: .*cannot be changed"):
            found.tune(found.tuning.model_copy(update={key: value}))
    assert found.tuning == load_tuning("lab-hexapod")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "name: missing"),
        ('name = "a"\n[tilt]\nrate = "90 deg/s"', "tilt.rate: 1.5708 rad/s, must be 0.001 to 1 rad/s"),
        ('name = "a"\n[tilt]\nrate = "3 mm"', "tilt.rate: .*dimension"),
        ('name = "a"\n[input]\nforce_scale = [1, 3, 1]', "input.force_scale, value 2: 3, must be 0 to 2"),
        ('name = "a"\n[input]\nforce_scale = [nan, 1, 1]', "input.force_scale, value 1"),
        ('name = "a"\nspeed = 3', "speed: unknown key"),
        ('name = "a"\n[translation]\norder = 4', "translation.order: must be 2 or 3"),
        ("name = ", "not valid TOML"),
    ],
)
def test_a_tuning_says_what_is_wrong_with_it(text: str, says: str) -> None:
    with pytest.raises(InputFileError, match=says):
        parse_tuning(text)


def test_shipped_tunings_are_found_by_their_names() -> None:
    assert tuning_names() == ["lab-hexapod", "lab-hexapod-constrained"]
    with pytest.raises(InputFileError, match=r"lab: must be a .toml file, or a shipped tuning \(lab-hexapod, "):
        load_tuning("lab")
    with pytest.raises(InputFileError, match="no such file"):
        load_tuning("there-is-none.toml")
