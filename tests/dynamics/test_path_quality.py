"""Quality of the 1998 paper's paths, their singularity, and paths that avoid it."""

import numpy as np
import pytest

from dynamics import (
    BentPath,
    Dynamics,
    DynamicsError,
    Mechanism,
    SingularityError,
    best_path,
    find_singularities,
    load_mechanism,
    massless_legs,
    opposite_sides,
    path_quality,
    pose_limits,
)
from kinematics import (
    Array,
    Blend,
    Geometry,
    MinimumJerk,
    PoseLimits,
    assess_poses,
    coordinates_to_pose,
    leg_matrix,
)

PATH_I = Blend([0.1, 0, 0.4, 0, 0, -0.2], [0.3, 0, 0.6, 0, 0, 0.2], 6.0, 0.08, 0.08)
START, END = np.array([0.4, 1.4, 1.2, 0.1, 0.2, 0.0]), np.array([0.8, 1.8, 1.8, 0.3, 0.4, 0.0])
PATH_III = Blend(START, END, 6.0, 0.2, 0.08)
TIMES = np.linspace(0.0, 6.0, 61)


@pytest.fixture(scope="module")
def dasgupta() -> Mechanism:
    return load_mechanism("dasgupta-1998", evaluate_only=True)


def test_path_one_is_well_conditioned_and_legs_carry_a_good_part(dasgupta: Mechanism) -> None:
    quality = path_quality(dasgupta, PATH_I.motion(TIMES))
    assert 34.0 < quality.condition.min() < quality.condition.max() < 48.0
    assert quality.sign_changes.tolist() == [False] * 4 + [True] * 2
    median = quality.median_dynamic_fraction
    assert round(100 * median.min()) == 14
    assert round(100 * median.max()) == 29


def test_forces_are_split_as_the_exact_model_splits_them(dasgupta: Mechanism) -> None:
    motions = PATH_I.motion(TIMES)
    quality = path_quality(dasgupta, motions)
    np.testing.assert_allclose(quality.forces, Dynamics(dasgupta).inverse(motions).forces, rtol=1e-10, atol=1e-8)
    bare = Dynamics(massless_legs(dasgupta)).inverse(motions).forces
    np.testing.assert_allclose(quality.forces - quality.dynamic, bare, rtol=1e-10, atol=1e-8)


def test_path_three_passes_a_singularity(dasgupta: Mechanism) -> None:
    quality = path_quality(dasgupta, PATH_III.motion(TIMES))
    assert TIMES[quality.condition.argmax()] == pytest.approx(3.7)
    assert quality.condition.max() == pytest.approx(2.1e4, rel=0.01)
    assert quality.condition[0] == pytest.approx(2.9e2, rel=0.01)
    assert np.abs(quality.forces).max() > 1e5


@pytest.mark.parametrize("step", [0.1, 0.05, 0.3, 1.0])
def test_the_singularity_of_path_three_is_located_between_samples(dasgupta: Mechanism, step: float) -> None:
    times = np.linspace(0.0, 6.0, round(6.0 / step) + 1)
    (found,) = find_singularities(dasgupta.geometry, PATH_III.motion, times)
    fine = np.linspace(3.6, 3.75, 3001)
    matrices = [leg_matrix(dasgupta.geometry, motion[:7]) for motion in PATH_III.motion(fine)]
    signs = np.sign(np.linalg.det(np.array(matrices)))
    true = fine[np.flatnonzero(signs[:-1] != signs[1:])[0]]
    assert found.crossed
    assert found.condition > 1e7
    assert found.time == pytest.approx(true, abs=1e-3)


def test_a_singularity_passed_by_and_one_crossed_there_and_back(dasgupta: Mechanism) -> None:
    (crossing,) = find_singularities(dasgupta.geometry, PATH_III.motion, TIMES)

    def bounce(turn: float) -> tuple[bool, ...]:
        """To the time `turn` of path III, and back."""

        def poses(times: Array) -> Array:
            return PATH_III.motion(np.clip(turn - np.abs(times - 3.0), 0.0, 6.0))

        found = find_singularities(dasgupta.geometry, poses, np.linspace(0.5, 5.6, 52), least_condition=1e4)
        for singularity in found:
            there = turn - abs(singularity.time - 3.0)
            assert there == pytest.approx(crossing.time if singularity.crossed else turn, abs=1e-4)
        return tuple(singularity.crossed for singularity in found)

    assert bounce(crossing.time - 0.005) == (False,)
    assert bounce(crossing.time + 0.02) == (True, True)
    assert bounce(crossing.time - 1.0) == ()


def test_no_path_joins_the_two_sides_of_a_singularity(dasgupta: Mechanism) -> None:
    assert opposite_sides(dasgupta, START, END)
    with pytest.raises(SingularityError, match="opposite sides"):
        best_path(dasgupta, START, END, 6.0)


@pytest.mark.parametrize("objective", ["condition", "force"])
def test_path_three_with_its_last_orientation_free_avoids_the_singularity(dasgupta: Mechanism, objective: str) -> None:
    best = best_path(
        dasgupta,
        START,
        END,
        6.0,
        objective="force" if objective == "force" else "condition",
        end_freedom=[0.0, 0.0, 0.0, 0.3, 0.3, 0.3],
    )
    times = np.linspace(0.0, 6.0, 1201)
    quality = path_quality(dasgupta, best.path.motion(times))
    straight = path_quality(dasgupta, PATH_III.motion(TIMES))
    assert quality.condition.max() < straight.condition.max() / 10.0
    assert np.abs(quality.forces).max() < np.abs(straight.forces).max() / 10.0
    assert len(set(quality.side)) == 1
    assert best.peak < best.straight_peak / 10.0
    peak = quality.condition.max() if objective == "condition" else np.abs(quality.forces).max()
    assert peak == pytest.approx(best.peak, rel=0.02)
    assert (best.end_moved[:3] == 0.0).all()
    assert (np.abs(best.end_moved[3:]) <= 0.3).all()
    np.testing.assert_array_equal(best.path.coordinates([0.0])[0][0], START)


def test_the_same_search_finds_the_same_path(dasgupta: Mechanism) -> None:
    end = END + np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.4])
    one = best_path(dasgupta, START, end, 6.0, terms=1, samples=31, threads=1)
    two = best_path(dasgupta, START, end, 6.0, terms=1, samples=31, threads=2)
    np.testing.assert_array_equal(one.path.coefficients, two.path.coefficients)
    assert (one.end_moved == 0.0).all()
    assert one.peak <= one.straight_peak


def test_limits_are_kept_on_the_way() -> None:
    machine = load_mechanism("lab-hexapod")
    limits = pose_limits(machine, characteristic_length=0.2)
    # the workspace has a dent from below between these two, through which the straight line would go
    start, end = np.array([0.0, 0, 0.36, 0, 0, 0]), np.array([0.28, 0, 0.4, 0, 0, 0])
    times = np.linspace(0.0, 2.0, 401)

    def margins(path: BentPath) -> Array:
        return assess_poses(machine.geometry, path.motion(times)[:, :7], limits).stroke_margin

    best = best_path(machine, start, end, 2.0, limits=limits, reach=[0.1] * 3 + [0.2] * 3)
    assert margins(BentPath(start, end, 2.0)).min() < -2e-3
    assert margins(best.path).min() > -1e-4
    with pytest.raises(DynamicsError, match="no path"):
        best_path(machine, start, end, 2.0, limits=limits, greatest_force=1.0, samples=11, terms=1)


def test_a_straight_line_of_the_family_is_minimum_jerk_and_bends_have_true_derivatives() -> None:
    straight, known = BentPath(START, END, 6.0), MinimumJerk(START, END, 6.0)
    for ours, theirs in zip(straight.coordinates(TIMES), known.coordinates(TIMES), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-14)
    bent = BentPath(START, END, 6.0, np.random.default_rng(2).normal(size=(3, 6)))
    q, qd, qdd = bent.coordinates(TIMES)
    step = 1e-5
    inner = TIMES[1:-1]
    ahead, behind = bent.coordinates(inner + step), bent.coordinates(inner - step)
    np.testing.assert_allclose((ahead[0] - behind[0]) / (2 * step), qd[1:-1], atol=1e-7)
    np.testing.assert_allclose((ahead[1] - behind[1]) / (2 * step), qdd[1:-1], atol=1e-7)
    np.testing.assert_allclose(q[[0, -1]], [START, END], atol=1e-14)
    np.testing.assert_allclose(qd[[0, -1]], 0.0, atol=1e-14)


def test_arguments_that_cannot_be(dasgupta: Mechanism) -> None:
    geometry: Geometry = dasgupta.geometry
    with pytest.raises(DynamicsError, match="times"):
        find_singularities(geometry, PATH_I.motion, [0.0, 0.0, 1.0])
    with pytest.raises(DynamicsError, match="reach"):
        best_path(dasgupta, START, START, 6.0, reach=[0.0] * 6)
    assert assess_poses(geometry, coordinates_to_pose(START[None]), PoseLimits(same_side=False)).side.tolist() == [-1]
