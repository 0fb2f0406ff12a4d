"""`inverse_batch`: the answers of `Dynamics.inverse`, on any number of threads, in flat memory."""

import pickle
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from pinocchio_platform import PinocchioPlatform
from random_mechanisms import random_mechanism, random_motions

from dynamics import (
    NOT_FINITE,
    NOT_UNIT,
    SINGULAR,
    BatchError,
    Dynamics,
    DynamicsError,
    Mechanism,
    inverse_batch,
    load_mechanism,
)
from kinematics import Array, KinematicsError, run_chunks


def relative_error(ours: Array, theirs: Array) -> float:
    return float((np.abs(ours - theirs).max(axis=1) / np.abs(theirs).max(axis=1)).max())


@pytest.fixture(scope="module")
def mechanism() -> Mechanism:
    return random_mechanism(3, coulomb=True)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("coulomb_speed", [0.0, 0.02])
def test_same_forces_as_one_state_at_a_time(seed: int, coulomb_speed: float) -> None:
    machine = random_mechanism(seed, coulomb=True)
    motions = random_motions(seed + 50, 777)
    wrenches = np.random.default_rng(seed).normal(size=(777, 6)) * 50.0
    expected = Dynamics(machine, coulomb_speed).inverse(motions, wrenches).forces
    found = inverse_batch(machine, motions, wrenches, coulomb_speed=coulomb_speed)
    assert relative_error(found, expected) < 1e-11


def test_forces_of_an_independent_engine() -> None:
    machine = random_mechanism(11)
    motions = random_motions(12, 40)
    wrenches = np.random.default_rng(13).normal(size=(40, 6)) * 30.0
    engine = PinocchioPlatform(machine)
    expected = np.array([engine.inverse(motion, wrench)[0] for motion, wrench in zip(motions, wrenches, strict=True)])
    assert relative_error(inverse_batch(machine, motions, wrenches), expected) < 1e-11


@pytest.mark.parametrize("count", [0, 1, 31, 32, 33])
def test_any_number_of_states(mechanism: Mechanism, count: int) -> None:
    motions = random_motions(4, count)
    found = inverse_batch(mechanism, motions)
    assert found.shape == (count, 6)
    if count:
        assert relative_error(found, Dynamics(mechanism).inverse(motions).forces) < 1e-11


def test_the_same_bits_on_any_number_of_threads(mechanism: Mechanism) -> None:
    motions = random_motions(5, 40_000)
    alone = inverse_batch(mechanism, motions, threads=1)
    np.testing.assert_array_equal(inverse_batch(mechanism, motions, threads=2), alone)
    np.testing.assert_array_equal(inverse_batch(mechanism, motions, threads=5), alone)


def test_one_wrench_for_all_and_a_place_for_the_result(mechanism: Mechanism) -> None:
    motions, wrench = random_motions(6, 100), np.array([1.0, -2.0, 30.0, 0.4, 0.5, -0.6])
    out = np.empty((100, 6))
    assert inverse_batch(mechanism, motions, wrench, out=out) is out
    np.testing.assert_array_equal(out, inverse_batch(mechanism, motions, np.tile(wrench, (100, 1))))


def test_failing_states_are_told_by_index_and_the_others_answered() -> None:
    machine = load_mechanism("dasgupta-1998", evaluate_only=True)
    motions = np.zeros((40_000, 19))
    motions[:, :7] = [0.1, 0.0, 0.4, 1.0, 0.0, 0.0, 0.0]
    good = inverse_batch(machine, motions[:1])[0]
    motions[7, 15] = np.nan
    motions[20_000, 3] = 1.001
    # leg 4 along its universal joint's axis, x: its top beside its base point
    motions[39_999, :3] = machine.geometry.base_points[3] - machine.geometry.platform_points[3] + [0.3, 0.0, 0.0]
    with pytest.raises(BatchError, match="3 of 40000 states") as caught:
        inverse_batch(machine, motions)
    error = caught.value
    assert error.indices.tolist() == [7, 20_000, 39_999]
    assert error.statuses.tolist() == [NOT_FINITE, NOT_UNIT, 4]
    assert "sample 39999: leg 4" in str(error)
    bad = np.zeros(40_000, dtype=bool)
    bad[error.indices] = True
    assert np.isnan(error.forces[bad]).all()
    np.testing.assert_array_equal(error.forces[~bad], np.tile(good, (39_997, 1)))
    copy = pickle.loads(pickle.dumps(error))
    np.testing.assert_array_equal(copy.indices, error.indices)


def test_a_singular_platform_is_told() -> None:
    machine = load_mechanism("lab-hexapod")
    motions = np.zeros((3, 19))
    motions[:, 3] = 1.0
    motions[:, 2] = [0.45, 0.0, 0.5]  # all six legs in one plane
    with pytest.raises(BatchError) as caught:
        inverse_batch(machine, motions)
    assert caught.value.indices.tolist() == [1]
    assert caught.value.statuses.tolist() == [SINGULAR]


@pytest.mark.parametrize(
    ("motions", "keywords", "named"),
    [
        (np.zeros((3, 18)), {}, "motions"),
        (np.zeros(19), {}, "motions"),
        (np.zeros((3, 19)), {"wrenches": np.zeros((2, 6))}, "wrenches"),
        (np.zeros((3, 19)), {"out": np.zeros((3, 5))}, "out"),
        (np.zeros((3, 19)), {"coulomb_speed": -1.0}, "coulomb_speed"),
    ],
)
def test_shapes_that_do_not_fit(mechanism: Mechanism, motions: Array, keywords: dict[str, object], named: str) -> None:
    with pytest.raises(DynamicsError, match=named):
        inverse_batch(mechanism, motions, **keywords)  # type: ignore[arg-type]


def test_no_threads_are_refused(mechanism: Mechanism) -> None:
    with pytest.raises(KinematicsError, match="threads"):
        inverse_batch(mechanism, random_motions(1, 3), threads=0)


def test_memory_does_not_grow_with_the_number_of_states(mechanism: Mechanism) -> None:
    def beyond(count: int, threads: int) -> int:
        """Greatest memory beside input and output, bytes."""
        motions = np.tile(random_motions(8, 1000), (count // 1000, 1))
        out = np.empty((count, 6))
        inverse_batch(mechanism, motions[:1], np.zeros(6), out=out[:1])
        tracemalloc.start()
        inverse_batch(mechanism, motions, np.zeros(6), out=out, threads=threads)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return peak

    few, many = beyond(100_000, 1), beyond(400_000, 1)
    assert many < 1.25 * few
    assert beyond(400_000, 2) < 2.25 * few  # of one thread or of both, as the machine lets them overlap
    assert many < 8e6


def test_input_and_output_in_files(mechanism: Mechanism, tmp_path: Path) -> None:
    motions = random_motions(9, 20_000)
    np.save(tmp_path / "motions.npy", motions)
    source = np.load(tmp_path / "motions.npy", mmap_mode="r")
    target = np.lib.format.open_memmap(tmp_path / "forces.npy", mode="w+", dtype=np.float64, shape=(20_000, 6))
    inverse_batch(mechanism, source, out=target)
    target.flush()
    np.testing.assert_array_equal(np.load(tmp_path / "forces.npy"), inverse_batch(mechanism, motions))


def test_chunks_come_back_once_each_and_errors_come_out() -> None:
    found = sorted(run_chunks(lambda first, end: end - first, 103, 10, threads=3))
    assert [first for first, _, _ in found] == list(range(0, 103, 10))
    assert sum(size for _, _, size in found) == 103

    def fail(first: int, end: int) -> int:
        raise ZeroDivisionError(f"{first} {end}")

    with pytest.raises(ZeroDivisionError):
        list(run_chunks(fail, 100, 10, threads=2))
