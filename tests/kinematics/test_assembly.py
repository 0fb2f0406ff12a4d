"""All assembly modes: a platform with forty real ones, stability over seeds, singular and special platforms."""

import numpy as np
import pytest
from exploration import either
from hexapods import (
    DASGUPTA_1998,
    LEVEL,
    directions,
    lab_hexapod,
    pose_error,
    random_hexapod,
    random_poses,
    reachable_poses,
)
from scipy.optimize import brentq

from kinematics import (
    Array,
    AssemblyModes,
    Geometry,
    KinematicsError,
    assembly_modes,
    determinant_kernel,
    leg_lengths,
    leg_matrix,
    quaternion_from_rotation_vector,
    quaternion_multiply,
)
from kinematics.assembly.continuation import Complex, End, Endpoints, Start, follow_paths

AXES = np.tile([1.0, 0.0, 0.0], (6, 1))

DIETMAIER_1998 = Geometry(
    base_points=[
        [0.0, 0.0, 0.0], [1.107915, 0, 0], [0.549094, 0.756063, 0], [0.735077, -0.223935, 0.525991],
        [0.514188, -0.526063, -0.368418], [0.590473, 0.094733, -0.205018],
    ],
    universal_axes=AXES,
    platform_points=[
        [0.0, 0.0, 0.0], [0.542805, 0, 0], [0.956919, -0.528915, 0], [0.665885, -0.353482, 1.402538],
        [0.478359, 1.158742, 0.107672], [-0.137087, -0.235121, 0.353913],
    ],
)  # fmt: skip
DIETMAIER_LENGTHS = np.array([1.0, 0.645275, 1.086284, 1.503439, 1.281933, 0.771071])
"""The platform with forty real postures of Dietmaier, The Stewart–Gough platform of general geometry can have 40 real
postures, in Advances in Robot Kinematics: Analysis and Control (1998), as the documentation of CUIK lists it."""


def check(geometry: Geometry, lengths: Array, modes: AssemblyModes) -> None:
    """What holds for any result: every pose fits, is there once and in its place, and the count is consistent."""
    assert modes.poses.shape == (len(modes), 7)
    assert modes.residuals.shape == modes.multiplicities.shape == (len(modes),)
    assert modes.real + modes.complex + modes.infinite + modes.continuum + modes.failed == 40
    assert modes.multiplicities.sum() == modes.real
    if len(modes):
        errors = np.abs(leg_lengths(geometry, modes.poses) - lengths).max(axis=1)
        assert errors.max() < 1e-12
        np.testing.assert_allclose(errors, modes.residuals, rtol=0.0, atol=1e-15)
        assert np.all(np.diff(modes.poses[:, 2]) < 1e-7)
        assert np.all(modes.poses[:, 3] > -1e-9)
    for first in range(len(modes)):
        for second in range(first):
            assert pose_error(modes.poses[first], modes.poses[second]) > 1e-9


def contains(modes: AssemblyModes, pose: Array, tolerance: float = 1e-11) -> bool:
    return any(pose_error(found, np.asarray(pose)) < tolerance for found in modes.poses)


def newton(geometry: Geometry, lengths: Array, pose: Array) -> Array | None:
    """A pose with the leg lengths by undamped Newton steps, None if they do not settle."""
    for _ in range(60):
        errors = lengths - leg_lengths(geometry, pose)
        if np.abs(errors).max() < 1e-13:
            return pose
        try:
            step = np.linalg.solve(leg_matrix(geometry, pose).T, errors)
        except np.linalg.LinAlgError:
            return None
        size = max(1.0, float(np.linalg.norm(step[3:])), float(np.linalg.norm(step[:3])))
        turned = quaternion_multiply(quaternion_from_rotation_vector(step[3:] / size), pose[3:])
        pose = np.concatenate([pose[:3] + step[:3] / size, turned / np.linalg.norm(turned)])
    return None


@pytest.mark.parametrize("seed", range(5))
def test_forty_real_poses(seed: int) -> None:
    modes = assembly_modes(DIETMAIER_1998, DIETMAIER_LENGTHS, seed=seed)
    assert len(modes) == 40
    assert modes.complete
    assert modes.statement.startswith("complete: all 40 solutions")
    check(DIETMAIER_1998, DIETMAIER_LENGTHS, modes)


def test_lab_hexapod_over_several_seeds() -> None:
    geometry = lab_hexapod()
    for pose in reachable_poses(np.random.default_rng(3), geometry, 4):
        lengths = leg_lengths(geometry, pose)
        first = assembly_modes(geometry, lengths)
        check(geometry, lengths, first)
        assert first.complete
        assert contains(first, pose)
        for seed in range(1, either(4, 40)):
            modes = assembly_modes(geometry, lengths, seed=seed)
            assert (modes.complete, modes.infinite) == (True, first.infinite)
            np.testing.assert_allclose(modes.poses, first.poses, rtol=0.0, atol=1e-10)


def test_plane_base_and_platform_have_mirror_images() -> None:
    geometry = lab_hexapod()
    for pose in reachable_poses(np.random.default_rng(4), geometry, 3):
        modes = assembly_modes(geometry, leg_lengths(geometry, pose))
        for x, y, z, qw, qx, qy, qz in modes.poses:
            image = np.array([x, y, -z, qw, -qx, -qy, qz])
            assert contains(modes, image)


@pytest.mark.parametrize("seed", range(25))
def test_the_true_pose_is_among_them(seed: int) -> None:
    geometry = random_hexapod(seed)
    pose = random_poses(np.random.default_rng(seed), geometry.home_pose, 1, 0.1, 0.6)[0]
    lengths = leg_lengths(geometry, pose)
    modes = assembly_modes(geometry, lengths, seed=seed % 4)
    check(geometry, lengths, modes)
    assert modes.complete
    assert len(modes) % 2 == 0
    assert contains(modes, pose)


@pytest.mark.parametrize("geometry", [lab_hexapod(), random_hexapod(1), DASGUPTA_1998])
def test_newton_from_anywhere_finds_the_same(geometry: Geometry) -> None:
    random = np.random.default_rng(7)
    home = np.array([0.1, 0.05, 0.5, *LEVEL])
    pose = random_poses(random, home, 1, 0.05, 0.3)[0]
    lengths = leg_lengths(geometry, pose)
    modes = assembly_modes(geometry, lengths)
    met = set()
    for _ in range(120):
        turn = quaternion_from_rotation_vector(directions(random, 1)[0] * random.uniform(0.0, np.pi))
        found = newton(geometry, lengths, np.concatenate([random.uniform(-0.6, 0.6, 3), turn]))
        if found is not None:
            errors = [pose_error(mode, found) for mode in modes.poses]
            assert min(errors) < 1e-8
            met.add(int(np.argmin(errors)))
    assert len(met) >= len(modes) // 2


def test_shifted_frames_and_units() -> None:
    """Only shape counts: not where the frames are, nor in what unit lengths are."""
    shift, scale = np.array([3.0, -2.0, 1.0]), 1000.0
    plain = random_hexapod(2)
    moved = Geometry(scale * (plain.base_points + shift), AXES, scale * (plain.platform_points - shift))
    pose = random_poses(np.random.default_rng(2), plain.home_pose, 1, 0.1, 0.5)[0]
    lengths = leg_lengths(plain, pose)
    modes, others = assembly_modes(plain, lengths), assembly_modes(moved, scale * lengths)
    assert len(modes) == len(others)
    assert others.complete
    np.testing.assert_allclose(leg_lengths(moved, others.poses), np.tile(scale * lengths, (len(others), 1)), rtol=1e-14)


@pytest.mark.parametrize("lengths", [np.full(6, 0.05), np.array([0.1, 2.0, 0.5, 0.5, 0.5, 0.5])])
def test_lengths_no_pose_has(lengths: Array) -> None:
    modes = assembly_modes(lab_hexapod(), lengths)
    assert len(modes) == modes.real == 0
    assert modes.poses.shape == (0, 7)
    assert modes.complete
    assert "0 end in real poses" in modes.statement


def singular_pose(geometry: Geometry) -> Array:
    """A pose with det H = 0, found by turning the platform about an oblique axis."""
    axis = np.array([0.3, 0.5, 0.8]) / np.linalg.norm([0.3, 0.5, 0.8])

    def pose(angle: float) -> Array:
        return np.array([0.02, 0.03, 0.4, np.cos(angle / 2), *np.sin(angle / 2) * axis])

    def determinant(angle: float) -> float:
        return determinant_kernel(geometry.array, pose(angle), np.empty((6, 7)))

    angles = np.linspace(0.0, 3.0, 200)
    signs = np.sign([determinant(angle) for angle in angles])
    place = int(np.flatnonzero(np.diff(signs))[0])
    return pose(brentq(determinant, angles[place], angles[place + 1], xtol=1e-15))


@pytest.mark.parametrize("seed", [3, 4])
def test_two_modes_that_meet(seed: int) -> None:
    geometry = random_hexapod(seed)
    pose = singular_pose(geometry)
    lengths = leg_lengths(geometry, pose)
    modes = assembly_modes(geometry, lengths)
    check(geometry, lengths, modes)
    assert modes.complete
    assert sorted(modes.multiplicities)[-2:] == [1, 2]
    double = modes.poses[np.argmax(modes.multiplicities)]
    assert pose_error(double, pose) < 1e-7
    # one leg a micrometre longer or shorter: two poses, or none
    change = np.array([1e-6, 0.0, 0.0, 0.0, 0.0, 0.0])
    counts = {len(assembly_modes(geometry, lengths + sign * change)) for sign in (-1.0, 1.0)}
    assert counts == {len(modes) - 1, len(modes) + 1}


def test_a_platform_that_moves_with_its_legs_held() -> None:
    """Griffis and Duffy's: two triangles, joints at the corners and mid-sides, each corner on the other's mid-side."""
    angles = np.radians([90.0, 210.0, 330.0])
    corners = np.stack([np.cos(angles), np.sin(angles), np.zeros(3)], axis=1)
    middles = (corners + np.roll(corners, -1, axis=0)) / 2
    base, platform = np.empty((6, 3)), np.empty((6, 3))
    base[::2], base[1::2] = corners, middles
    platform[::2], platform[1::2] = middles, np.roll(corners, -1, axis=0)
    geometry = Geometry(base, AXES, 1.3 * platform)
    lengths = leg_lengths(geometry, [0.1, 0.2, 1.1, *(np.array([1.0, 0.1, 0.2, 0.3]) / np.sqrt(1.14))])
    modes = assembly_modes(geometry, lengths)
    check(geometry, lengths, modes)
    assert not modes.complete
    assert modes.continuum > 20
    assert modes.statement.startswith(f"incomplete: {modes.continuum} paths end in solutions that are not isolated")
    assert modes.multiplicities.max() == 0


def lose_paths(monkeypatch: pytest.MonkeyPatch, attempts: int) -> list[float]:
    """Lose the first three paths of the first attempts; returns the list of the tolerances of all."""
    tolerances: list[float] = []

    def lossy(start: Start, platform: Complex, tolerance: float) -> Endpoints:
        tolerances.append(tolerance)
        endpoints = follow_paths(start, platform, tolerance)
        lost = 3 if len(tolerances) <= attempts else 0
        return Endpoints(endpoints.points, (End.FAILED,) * lost + endpoints.ends[lost:])

    monkeypatch.setattr("kinematics.assembly.modes.follow_paths", lossy)
    return tolerances


def test_lost_paths_are_followed_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    tolerances = lose_paths(monkeypatch, 1)
    modes = assembly_modes(DIETMAIER_1998, DIETMAIER_LENGTHS)
    assert tolerances == [1e-6, 1e-8]
    assert (len(modes), modes.failed, modes.complete) == (40, 0, True)


def test_lost_paths_are_owned_up_to(monkeypatch: pytest.MonkeyPatch) -> None:
    tolerances = lose_paths(monkeypatch, 9)
    modes = assembly_modes(DIETMAIER_1998, DIETMAIER_LENGTHS, attempts=1)
    assert (len(modes), modes.failed, modes.complete) == (37, 3, False)
    assert modes.statement.startswith("perhaps incomplete: 3 paths were lost")
    modes = assembly_modes(DIETMAIER_1998, DIETMAIER_LENGTHS, attempts=4)
    assert tolerances[1:] == [1e-6, 1e-8, 1e-9, 1e-9]
    assert len(modes) == 40  # the attempts start from different platforms and lose different poses
    assert not modes.complete
    assert modes.multiplicities.max() == 1


def test_a_path_that_lost_its_way_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def jumping(start: Start, platform: Complex, tolerance: float) -> Endpoints:
        endpoints = follow_paths(start, platform, tolerance)
        endpoints.points[0] = 1j * endpoints.points[1]
        return endpoints

    monkeypatch.setattr("kinematics.assembly.modes.follow_paths", jumping)
    geometry = random_hexapod(0)
    modes = assembly_modes(geometry, leg_lengths(geometry, geometry.home_pose), attempts=1)
    assert not modes.complete
    assert "1 paths ended in a solution that another had found" in modes.statement


def test_long_legs() -> None:
    geometry = lab_hexapod()
    pose = np.array([0.1, 0.05, 30.0, *LEVEL])
    lengths = leg_lengths(geometry, pose)
    modes = assembly_modes(geometry, lengths)
    assert modes.complete
    assert contains(modes, pose, 1e-9)


@pytest.mark.parametrize(
    ("lengths", "options", "words"),
    [
        ([0.5, 0.5, 0.5, 0.5, 0.5], {}, "shape"),
        ([[0.5] * 6], {}, "shape"),
        ([0.5, 0.5, np.nan, 0.5, 0.5, 0.5], {}, "leg 3 is nan"),
        ([0.5, 0.5, 0.5, -0.5, 0.5, 0.5], {}, "leg 4 is -0.5 m, must be above 0 m"),
        ([0.5] * 6, {"seed": -1}, "seed: -1"),
        ([0.5] * 6, {"attempts": 0}, "attempts: 0"),
    ],
)
def test_refused(lengths: list[float], options: dict[str, int], words: str) -> None:
    with pytest.raises(KinematicsError, match=words):
        assembly_modes(lab_hexapod(), lengths, **options)
