"""Speed of the batch evaluation on all processors beside Pinocchio's tree recursion on as many: `make bench`."""

import multiprocessing
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from dynamics import inverse_batch, load_mechanism, pose_limits
from kinematics import PoseGrid, coordinates_to_motion, pose_to_coordinates, processor_count
from rig.workspace.sweep import sweep_workspace

STATES, ROUNDS = 400_000, 12
PEER_STATES = 20_000

sys.path.insert(0, str(Path(__file__).parent))

from test_dynamics_speed import pinocchio_tree  # noqa: E402


def tree_worker(pipe: Connection) -> None:
    """Pinocchio's recursion over its own loop in C++, in a process of its own, whenever a message asks."""
    model, _ = pinocchio_tree(load_mechanism("lab-hexapod"))
    random = np.random.default_rng(1)
    configurations = np.asfortranarray(np.array([pin.randomConfiguration(model) for _ in range(PEER_STATES)]).T)
    speeds, accelerations = (np.asfortranarray(random.normal(size=(model.nv, PEER_STATES))) for _ in range(2))
    pool = pin.ModelPool(model, 1)
    while pipe.recv():
        start = time.perf_counter()
        pin.rneaInParallel(1, pool, configurations, speeds, accelerations)
        pipe.send(time.perf_counter() - start)


def motions(count: int) -> Any:
    machine = load_mechanism("lab-hexapod")
    random = np.random.default_rng(1)
    q = pose_to_coordinates(machine.geometry.home_pose) + random.uniform(-1, 1, (count, 6)) * ([0.05] * 3 + [0.2] * 3)
    return coordinates_to_motion(q, random.normal(size=(count, 6)), random.normal(size=(count, 6)))


def test_inverse_batch_beside_pinocchio_on_all_processors() -> None:
    machine = load_mechanism("lab-hexapod")
    samples, out = motions(STATES), np.empty((STATES, 6))
    inverse_batch(machine, samples[:64], out=out[:64])
    processors = processor_count()
    context = multiprocessing.get_context("spawn")
    pipes = []
    workers = []
    for _ in range(processors):
        ours, theirs = context.Pipe()
        worker = context.Process(target=tree_worker, args=(theirs,))
        worker.start()
        pipes.append(ours)
        workers.append(worker)
    best, peer = np.inf, np.inf
    try:
        for _ in range(ROUNDS):
            start = time.perf_counter()
            inverse_batch(machine, samples, out=out)
            best = min(best, (time.perf_counter() - start) / STATES)
            for pipe in pipes:
                pipe.send(True)
            # all at once: as many states as processors in the time of the slowest
            peer = min(peer, max(pipe.recv() for pipe in pipes) / (PEER_STATES * processors))
    finally:
        for pipe, worker in zip(pipes, workers, strict=True):
            pipe.send(False)
            worker.join()
    print(f"\ninverse dynamics of {STATES} states on {processors} processors")
    print(f"  ours {1e-6 / best:10.1f} million states/s, {best * 1e9:.0f} ns a state")
    print(f"  Pinocchio's tree recursion alone {1e-6 / peer:10.2f} million states/s, ratio {peer / best:.1f}")
    assert 1.0 / best >= 4e6
    assert peer / best >= 6.0


def test_workspace_map_of_a_million_poses() -> None:
    machine = load_mechanism("lab-hexapod")
    limits = pose_limits(machine, condition=20.0, clearance=0.01, leg_radius=0.02, characteristic_length=0.22)
    grid = PoseGrid("position", [0, 0, 0], [-0.35, -0.35, 0.3], [0.35, 0.35, 0.65], (100, 100, 100))  # type: ignore[arg-type]
    center = np.array([0.0, 0.0, 0.45])
    one = PoseGrid("position", center, center, center, (1, 1, 1))
    sweep_workspace("", machine.geometry, one, limits)
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        swept = sweep_workspace(machine.name, machine.geometry, grid, limits)
        best = min(best, time.perf_counter() - start)
    print(f"\nworkspace, {grid.count} poses: {best:.2f} s, {best / grid.count * 1e9:.0f} ns a pose")
    assert swept.reachable.any()
    assert best <= 3.0
