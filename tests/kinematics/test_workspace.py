"""Poses assessed in blocks, against one-at-a-time functions; volumes against formulas and Monte Carlo."""

import math
import pickle

import numpy as np
import pytest
from hexapods import DASGUPTA_1998, lab_hexapod, random_hexapod, random_poses
from scipy.optimize import lsq_linear

from kinematics import (
    BLOCK,
    ROTATION_GROUP,
    SYSTEM_ROWS,
    Array,
    Geometry,
    KinematicsError,
    PoseFault,
    PoseGrid,
    PoseLimits,
    assess_poses,
    condition_numbers,
    joint_angles,
    leg_lengths,
    leg_matrix,
    quaternion_to_matrix,
    reach_box,
    solve_block_kernel,
    strokes_beyond,
)

STROKE, UNIVERSAL, SPHERICAL = (0.40, 0.62), 0.87, 0.70


def legs_distance(geometry: Geometry, pose: Array) -> float:
    """Least distance of two legs' axes, m, by bounded least squares."""
    tops = pose[:3] + geometry.platform_points @ quaternion_to_matrix(pose[3:]).T
    legs = tops - geometry.base_points
    least = math.inf
    for i in range(6):
        for k in range(i + 1, 6):
            apart = geometry.base_points[k] - geometry.base_points[i]
            least = min(least, 2.0 * lsq_linear(np.column_stack([legs[i], -legs[k]]), apart, (0, 1), tol=1e-14).cost)
    return math.sqrt(least)


def ball() -> Geometry:
    """All legs alike: at level orientation every leg is as long as the platform is far from the origin."""
    points = np.array([[0.3, 0, 0], [0, 0.3, 0], [0, 0, 0.3], [-0.3, 0, 0], [0, -0.3, 0], [0, 0, -0.3]])
    return Geometry(points, np.ones((6, 3)), points, home=[0.0, 0.0, 0.5])


def size(geometry: Geometry, grid: PoseGrid, limits: PoseLimits) -> float:
    reachable = assess_poses(geometry, grid.poses(), limits).reachable.reshape(grid.shape)
    return float(grid.weights()[reachable].sum())


def box(kind: str, half: Array, cells: int, fixed: Array | None = None) -> PoseGrid:
    center = np.zeros(3) if fixed is None else fixed
    return PoseGrid("position" if kind == "position" else "orientation", center, -half, half, (cells, cells, cells))


@pytest.mark.parametrize("seed", range(3))
def test_everything_as_one_pose_at_a_time(seed: int) -> None:
    geometry = random_hexapod(seed)
    poses = random_poses(np.random.default_rng(seed), geometry.home_pose, 333, 0.3, 1.0)
    limits = PoseLimits(
        STROKE, UNIVERSAL, SPHERICAL, condition=12.0, characteristic_length=0.3, clearance=0.02, leg_radius=0.03
    )
    found = assess_poses(geometry, poses, limits)
    lengths, angles = leg_lengths(geometry, poses), joint_angles(geometry, poses)
    conditions = condition_numbers(geometry, poses, 0.3)
    sides = np.array([np.sign(np.linalg.det(leg_matrix(geometry, pose))) for pose in poses])
    home_side = np.sign(np.linalg.det(leg_matrix(geometry, geometry.home_pose)))
    np.testing.assert_allclose(found.condition, conditions, rtol=1e-11)
    np.testing.assert_array_equal(found.side, sides)
    margins = np.minimum(lengths - STROKE[0], STROKE[1] - lengths).min(axis=1)
    np.testing.assert_allclose(found.stroke_margin, margins, atol=1e-15)
    np.testing.assert_allclose(found.universal_angle, angles.universal.max(axis=1), atol=1e-13)
    np.testing.assert_allclose(found.spherical_angle, angles.spherical.max(axis=1), atol=1e-13)
    expected = {
        PoseFault.STROKE: margins < 0.0,
        PoseFault.UNIVERSAL: (angles.universal > UNIVERSAL).any(axis=1),
        PoseFault.SPHERICAL: (angles.spherical > SPHERICAL).any(axis=1),
        PoseFault.CLEARANCE: found.clearance < 0.02,
        PoseFault.CONDITION: conditions > 12.0,
        PoseFault.SIDE: sides != home_side,
        PoseFault.INVALID: np.zeros(len(poses), dtype=bool),
    }
    for fault, wanted in expected.items():
        np.testing.assert_array_equal((found.faults & fault) > 0, wanted, err_msg=str(fault.name))
    np.testing.assert_array_equal(found.reachable, ~np.any(list(expected.values()), axis=0))


def test_clearance_of_the_legs_against_least_squares() -> None:
    geometry = random_hexapod(7)
    poses = random_poses(np.random.default_rng(7), geometry.home_pose, 60, 0.5, 2.5)
    found = assess_poses(geometry, poses, PoseLimits(leg_radius=0.01)).clearance
    expected = [legs_distance(geometry, pose) - 0.02 for pose in poses]
    assert min(expected) < 0.02  # some nearly touch
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_limits_of_each_leg_alone() -> None:
    geometry = lab_hexapod()
    strokes = np.tile([0.1, 2.0], (6, 1))
    strokes[4] = [0.1, leg_lengths(geometry, geometry.home_pose)[4] - 1e-6]
    assert assess_poses(geometry, geometry.home_pose, PoseLimits(strokes)).faults.tolist() == [PoseFault.STROKE]
    angles = np.full(6, math.pi)
    assert assess_poses(geometry, geometry.home_pose, PoseLimits(None, angles, angles)).reachable.all()


def test_volume_of_a_ball_and_of_a_cone_of_it() -> None:
    grid = box("position", np.full(3, 0.55), 90)
    shell = 4.0 / 3.0 * math.pi * (0.5**3 - 0.2**3)
    limits = PoseLimits((0.2, 0.5), same_side=False)
    assert size(ball(), grid, limits) == pytest.approx(shell, rel=2e-3)
    cone = PoseLimits((0.2, 0.5), 0.6, same_side=False)
    assert size(ball(), grid, cone) == pytest.approx(shell * 0.5 * (1.0 - math.cos(0.6)), rel=1e-2)


def test_volume_of_orientations_tilted_up_to_an_angle() -> None:
    """Legs from so far below that they stay upright: the spherical angle is the platform's tilt."""
    points = ball().platform_points
    geometry = Geometry(points - [0, 0, 1e6], np.tile([1.0, 0, 0], (6, 1)), points, home=[0.0, 0.0, 0.0])
    half = np.array([0.8, 0.8, math.pi])
    grid = PoseGrid("orientation", np.zeros(3), -half, half, (120, 120, 3))
    limits = PoseLimits(None, None, 0.7, same_side=False)
    expected = ROTATION_GROUP * 0.5 * (1.0 - math.cos(0.7))
    assert size(geometry, grid, limits) == pytest.approx(expected, rel=3e-3)


def test_all_orientations_measure_the_rotation_group() -> None:
    weights = box("orientation", np.array([math.pi, math.pi / 2, math.pi]), 40).weights()
    assert weights.sum() == pytest.approx(ROTATION_GROUP, rel=1e-3)


def test_volume_of_the_lab_hexapod_against_monte_carlo() -> None:
    geometry = lab_hexapod()
    lower, upper = np.array([-0.35, -0.35, 0.3]), np.array([0.35, 0.35, 0.65])
    grid = PoseGrid("position", np.zeros(3), lower, upper, (64, 64, 32))
    ours = size(geometry, grid, PoseLimits(STROKE, UNIVERSAL, SPHERICAL))
    count = 60_000
    poses = np.tile([0.0, 0, 0, 1, 0, 0, 0], (count, 1))
    poses[:, :3] = np.random.default_rng(5).uniform(lower, upper, (count, 3))
    lengths, angles = leg_lengths(geometry, poses), joint_angles(geometry, poses)
    inside = (lengths >= STROKE[0]) & (lengths <= STROKE[1])
    inside &= (angles.universal <= UNIVERSAL) & (angles.spherical <= SPHERICAL)
    share = inside.all(axis=1).mean()
    spread = math.sqrt(share * (1.0 - share) / count)
    volume = float(np.prod(upper - lower))
    assert abs(ours - volume * share) < 4.0 * volume * spread + 0.005 * ours


def test_a_grid_and_its_slices() -> None:
    grid = PoseGrid(
        "position", np.array([0.1, -0.2, 0.3]), np.array([0.0, 0.0, 1.0]), np.array([1.0, 2.0, 1.0]), (4, 5, 1)
    )
    assert grid.count == 20
    assert grid.weights().sum() == pytest.approx(2.0)  # an area
    poses = grid.poses()
    assert set(poses[:, 2]) == {1.0}
    np.testing.assert_allclose(poses[:, 1].reshape(4, 5)[0], [0.2, 0.6, 1.0, 1.4, 1.8])
    np.testing.assert_array_equal(grid.poses(7, 9), poses[7:9])
    turned = PoseGrid("orientation", np.array([1.0, 2.0, 3.0]), -np.ones(3), np.ones(3), (2, 2, 2))
    assert (turned.poses()[:, :3] == [1.0, 2.0, 3.0]).all()
    mask = np.zeros((2, 2, 2), dtype=bool)
    assert not turned.touches_boundary(mask)
    mask[0, 0, 0] = True
    assert turned.touches_boundary(mask)


def test_only_what_hangs_together_with_home_is_connected() -> None:
    grid = PoseGrid("position", np.zeros(3), np.zeros(3), np.ones(3), (10, 10, 10))
    mask = np.zeros(grid.shape, dtype=bool)
    mask[:4] = mask[6:] = True
    home = np.array([0.05, 0.5, 0.5, 1.0, 0, 0, 0])
    assert grid.connected(mask, home)[:4].all()
    assert not grid.connected(mask, home)[4:].any()
    assert not grid.connected(mask, np.array([0.5, 0.5, 0.5, 1.0, 0, 0, 0])).any()


def test_the_reach_box_holds_every_reachable_position() -> None:
    geometry = lab_hexapod()
    angles = np.array([0.1, -0.2, 0.3])
    lower, upper = reach_box(geometry, angles, 0.62)
    wide = PoseGrid("position", angles, lower - 0.1, upper + 0.1, (40, 40, 40))
    reachable = assess_poses(geometry, wide.poses(), PoseLimits((0.0, 0.62), same_side=False)).reachable
    positions = wide.coordinates()[reachable]
    assert len(positions) > 1000
    assert (positions > lower).all()
    assert (positions < upper).all()
    with pytest.raises(KinematicsError, match="give it a box"):
        reach_box(geometry, angles, math.inf)
    with pytest.raises(KinematicsError, match="no position"):
        reach_box(geometry, angles, 0.01)


def test_the_same_on_any_number_of_threads_and_after_pickling() -> None:
    geometry = lab_hexapod()
    poses = random_poses(np.random.default_rng(1), geometry.home_pose, 30_000, 0.2, 0.5)
    limits = PoseLimits(STROKE, UNIVERSAL, SPHERICAL, condition=20.0)
    one = assess_poses(geometry, poses, limits, threads=1)
    two = assess_poses(geometry, poses, pickle.loads(pickle.dumps(limits)), threads=3)
    np.testing.assert_array_equal(one.condition, two.condition)
    np.testing.assert_array_equal(one.faults, two.faults)


def test_a_singular_pose_and_a_leg_without_length() -> None:
    geometry = lab_hexapod()
    flat = np.array([0.0, 0, 0, 1, 0, 0, 0])
    assessed = assess_poses(geometry, flat, PoseLimits(condition=1e6))
    assert assessed.condition[0] > 1e14
    assert assessed.faults[0] & PoseFault.CONDITION
    none = np.concatenate([geometry.base_points[0] - geometry.platform_points[0], flat[3:]])
    assert assess_poses(geometry, none, PoseLimits()).faults[0] & PoseFault.INVALID


def test_limits_that_cannot_be() -> None:
    for keywords in (
        {"lengths": (0.5, 0.4)},
        {"universal_angles": 4.0},
        {"spherical_angles": [0.1, 0.1, -0.1, 0.1, 0.1, 0.1]},
        {"condition": 0.5},
        {"leg_radius": -0.1},
        {"characteristic_length": math.nan},
        {"clearance": math.nan},
    ):
        with pytest.raises(KinematicsError):
            PoseLimits(**keywords)
    with pytest.raises(KinematicsError, match="home"):
        assess_poses(DASGUPTA_1998, np.array([0.1, 0, 0.4, 1, 0, 0, 0]), PoseLimits())
    free = assess_poses(DASGUPTA_1998, np.array([0.1, 0, 0.4, 1, 0, 0, 0]), PoseLimits(same_side=False))
    assert np.isnan(free.universal_angle).all()
    with pytest.raises(KinematicsError, match="none"):
        PoseGrid("position", np.zeros(3), np.ones(3), np.zeros(3), (2, 2, 2))
    with pytest.raises(KinematicsError, match="ry"):
        PoseGrid("orientation", np.zeros(3), -np.full(3, 2.0), np.full(3, 2.0), (2, 2, 2))


def test_a_block_of_systems_against_lapack() -> None:
    random = np.random.default_rng(3)
    systems = random.normal(size=(6, 7, BLOCK)) * 10.0 ** random.uniform(-6, 6, (6, 1, BLOCK))
    systems[0, 0, :8] = 0.0  # needs pivoting
    flat = systems.reshape(SYSTEM_ROWS * BLOCK).copy()
    solve_block_kernel(flat)
    block = flat.reshape(6, 7, BLOCK)
    for j in range(BLOCK):
        matrix = systems[:, :6, j]
        np.testing.assert_allclose(block[:, 6, j], np.linalg.solve(matrix, systems[:, 6, j]), rtol=1e-9)
        scaled = matrix / np.abs(matrix).max(axis=1, keepdims=True)
        assert block[0, 0, j] == pytest.approx(np.linalg.det(scaled), rel=1e-9)


def test_which_end_of_which_stroke() -> None:
    geometry = lab_hexapod()
    home = np.array([0.0, 0.0, 0.45, 1.0, 0.0, 0.0, 0.0])
    poses = np.tile(home, (5, 1))
    poses[1, :3] = 0.2, 0.0, 0.5
    poses[2, 2], poses[3, 2] = 0.2, 0.9
    poses[4, :3] = -0.3, 0.05, 0.45
    limits = PoseLimits((0.40, 0.62))
    ends = strokes_beyond(geometry, poses, limits)
    lengths = leg_lengths(geometry, poses)
    assert ends[0] == 0
    for pose in range(1, 5):
        leg = abs(int(ends[pose])) - 1
        excess = np.maximum(lengths[pose] - 0.62, 0.40 - lengths[pose])
        assert excess[leg] == excess.max() > 0.0
        assert (lengths[pose, leg] > 0.62) == (ends[pose] > 0)
    assert ends[2] < 0 < ends[3]
    assert (assess_poses(geometry, poses, limits).faults > 0).tolist() == (ends != 0).tolist()
