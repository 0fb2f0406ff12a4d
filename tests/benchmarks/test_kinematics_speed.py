"""Speed of the forward kinematics beside a general root finder on the same equations: `make bench`."""

import time
from functools import partial

import numpy as np
from scipy.optimize import root

from dynamics import load_mechanism
from kinematics import (
    CONVERGED,
    FORWARD_WORK,
    Array,
    coordinates_to_pose,
    forward_kinematics_kernel,
    kernel,
    leg_lengths,
    pose_to_coordinates,
)

POSES, PEER_POSES = 2000, 50


@kernel
def solve_all(geometry: Array, lengths: Array, guesses: Array, work: Array, pose: Array) -> int:
    found = 0
    for sample in range(lengths.shape[0]):
        pose[:] = guesses[sample]
        status, _, _, _ = forward_kinematics_kernel(geometry, lengths[sample], pose, 1e-13, 100, work)
        if status == CONVERGED:
            found += 1
    return found


def test_forward_kinematics_beside_a_general_root_finder() -> None:
    geometry = load_mechanism("lab-hexapod").geometry
    random = np.random.default_rng(1)
    home = pose_to_coordinates(geometry.home_pose)
    poses = coordinates_to_pose(home + random.uniform(-1, 1, (POSES, 6)) * ([0.05] * 3 + [0.2] * 3))
    offsets = random.normal(size=(POSES, 6))
    offsets[:, :3] *= 0.05 / np.linalg.norm(offsets[:, :3], axis=1, keepdims=True)
    offsets[:, 3:] *= 0.1 / np.linalg.norm(offsets[:, 3:], axis=1, keepdims=True)
    guesses = coordinates_to_pose(pose_to_coordinates(poses) + offsets)
    lengths = leg_lengths(geometry, poses)
    work, pose = np.empty(FORWARD_WORK), np.empty(7)
    solve_all(geometry.array, lengths[:1], guesses[:1], work, pose)

    ours = np.inf
    for _ in range(10):
        start = time.perf_counter()
        assert solve_all(geometry.array, lengths, guesses, work, pose) == POSES
        ours = min(ours, (time.perf_counter() - start) / POSES)

    def too_long(index: int, q: Array) -> Array:
        return np.asarray(leg_lengths(geometry, coordinates_to_pose(q)) - lengths[index], np.float64)

    start = time.perf_counter()
    for index in range(PEER_POSES):
        result = root(partial(too_long, index), pose_to_coordinates(guesses[index]), tol=1e-12)
        assert np.abs(result.fun).max() < 1e-9
    peer = (time.perf_counter() - start) / PEER_POSES
    print(f"\nforward kinematics, guess 5 cm and 0.1 rad off\n  ours, compiled {ours * 1e6:10.2f} µs")
    print(f"  scipy.optimize.root {peer * 1e6:5.0f} µs, ratio {peer / ours:.0f}")
    assert ours < 5e-6
