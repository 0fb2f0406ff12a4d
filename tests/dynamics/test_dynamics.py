"""What callers of `Dynamics` and of its kernels rely on."""

import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numba.core.runtime import _nrt_python
from random_mechanisms import random_mechanism, random_motions

import kinematics
from dynamics import (
    NOT_FINITE,
    OK,
    SINGULAR,
    TERMS,
    WORK_SIZE,
    Dynamics,
    DynamicsError,
    Friction,
    Mechanism,
    SingularityError,
    acceleration_kernel,
    cells_kernel,
    inverse_kernel,
    load_mechanism,
    rk4_kernel,
)
from kinematics import Array, Geometry, kernel


@pytest.fixture
def mechanism() -> Mechanism:
    return random_mechanism(11, coulomb=True)


@pytest.fixture
def motion() -> Array:
    first: Array = random_motions(11, 1)[0]
    return first


def without(mechanism: Mechanism, **changes: Any) -> Mechanism:
    return replace(mechanism, **changes)


def test_fast_and_batch_calls_agree(mechanism: Mechanism) -> None:
    dynamics = Dynamics(mechanism)
    motions = random_motions(1, 5)
    wrench = np.arange(6.0)
    batch = dynamics.inverse(motions, wrench)
    readings = dynamics.cells(motions, wrench)
    for sample, motion in enumerate(motions):
        np.testing.assert_array_equal(dynamics.forces(motion, wrench), batch.forces[sample])
        cycle = dynamics.cell_and_terms(motion, wrench)
        np.testing.assert_allclose(cycle.forces, batch.forces[sample], rtol=1e-12, atol=1e-11)
        np.testing.assert_allclose(cycle.cells, readings[sample], rtol=1e-12, atol=1e-11)


def test_out_is_filled_and_otherwise_a_new_array_comes_back(mechanism: Mechanism, motion: Array) -> None:
    dynamics = Dynamics(mechanism)
    out = np.empty(6)
    assert dynamics.forces(motion, out=out) is out
    first = dynamics.forces(motion)
    motion[13] += 1.0
    assert not np.array_equal(dynamics.forces(motion), first)
    np.testing.assert_array_equal(first, out)


def test_terms_are_the_forces_of_their_causes_alone(mechanism: Mechanism, motion: Array) -> None:
    wrench = np.array([10.0, -20.0, 30.0, 4.0, 5.0, -6.0])
    terms = dict(zip(TERMS, Dynamics(mechanism).cell_and_terms(motion, wrench).terms, strict=True))
    still = motion.copy()
    still[7:] = 0.0
    weightless = without(mechanism, gravity=np.zeros(3))
    frictionless = [replace(leg, friction=Friction()) for leg in mechanism.legs]
    massless = [
        replace(leg, lower=replace(leg.lower, mass=0.0, inertia=0.0 * leg.lower.inertia),
                upper=replace(leg.upper, mass=0.0, inertia=0.0 * leg.upper.inertia))
        for leg in frictionless
    ]  # fmt: skip
    empty = {"mass": 0.0, "inertia": np.zeros((3, 3))}
    expected = {
        "platform inertia": Dynamics(without(weightless, legs=tuple(massless))).forces(motion),
        "gravity": Dynamics(mechanism).forces(still),
        "leg inertia": Dynamics(without(weightless, legs=tuple(frictionless), **empty)).forces(motion),
        "external": Dynamics(weightless).forces(still, wrench),
    }
    expected["friction"] = Dynamics(mechanism).forces(motion, wrench) - sum(expected.values())
    for name, value in expected.items():
        np.testing.assert_allclose(terms[name], value, rtol=1e-10, atol=1e-10, err_msg=name)


def test_terms_sum_to_the_forces_to_rounding(mechanism: Mechanism) -> None:
    dynamics = Dynamics(mechanism)
    for motion in random_motions(2, 20):
        cycle = dynamics.cell_and_terms(motion, np.full(6, 5.0))
        np.testing.assert_allclose(cycle.terms.sum(axis=0), cycle.forces, rtol=1e-14, atol=1e-12)


def test_coulomb_friction_is_smoothed_on_request(motion: Array) -> None:
    mechanism = random_mechanism(11, coulomb=True)
    speeds = kinematics.leg_kinematics(mechanism.geometry, motion).velocity
    coulomb = np.array([leg.friction.coulomb for leg in mechanism.legs])
    sharp = Dynamics(mechanism).forces(motion)
    smooth = Dynamics(mechanism, coulomb_speed=0.1).forces(motion)
    np.testing.assert_allclose(smooth - sharp, coulomb * (np.tanh(speeds / 0.1) - np.sign(speeds)), atol=1e-10)
    at_rest = motion.copy()
    at_rest[7:13] = 0.0
    np.testing.assert_array_equal(Dynamics(mechanism).forces(at_rest), Dynamics(mechanism, 0.1).forces(at_rest))
    with pytest.raises(DynamicsError, match=r"coulomb_speed: nan m/s"):
        Dynamics(mechanism, float("nan"))


def test_a_singular_platform_is_refused() -> None:
    """Equal base and platform are singular in every pose; with parallel legs the platform drifts sideways."""
    lab = load_mechanism("lab-hexapod")
    geometry = Geometry(lab.geometry.base_points, lab.geometry.universal_axes, lab.geometry.base_points)
    dynamics = Dynamics(replace(lab, geometry=geometry))
    motion = np.zeros(19)
    motion[[2, 3]] = 0.5, 1.0
    with pytest.raises(SingularityError, match="singular"):
        dynamics.forces(motion)
    with pytest.raises(kinematics.SingularityError):
        dynamics.cell_and_terms(motion)
    with pytest.raises(DynamicsError, match=r"sample 0: .*singular"):
        dynamics.inverse([motion, motion])
    # the legs' forces are undetermined there, the platform's motion is not
    assert np.isfinite(dynamics.acceleration(motion[:13], np.zeros(6))).all()


def test_what_is_not_finite_is_refused_and_nothing_is_written(mechanism: Mechanism, motion: Array) -> None:
    dynamics = Dynamics(mechanism)
    out = np.full(6, 7.0)
    for place in range(19):
        for value in (np.nan, np.inf):
            bad = motion.copy()
            bad[place] = value
            with pytest.raises(DynamicsError, match="finite"):
                dynamics.forces(bad, out=out)
            with pytest.raises(DynamicsError, match="finite"):
                dynamics.cell_and_terms(bad)
    for place in range(6):
        wrench = np.zeros(6)
        wrench[place] = np.nan
        with pytest.raises(DynamicsError, match="finite"):
            dynamics.forces(motion, wrench, out)
    np.testing.assert_array_equal(out, 7.0)
    with pytest.raises(DynamicsError):
        dynamics.forces(np.zeros(19))
    with pytest.raises(DynamicsError, match="sample 1, qy is nan"):
        motions = np.tile(motion, (2, 1))
        motions[1, 5] = np.nan
        dynamics.inverse(motions)
    with pytest.raises(DynamicsError, match="f3"):
        dynamics.acceleration(motion[:13], [1.0, 2.0, np.inf, 0.0, 0.0, 0.0])
    with pytest.raises(DynamicsError, match="dt"):
        dynamics.step(motion[:13], np.zeros(6), float("nan"))


@pytest.mark.parametrize("place", range(19))
def test_huge_numbers_give_finite_forces_or_an_error(mechanism: Mechanism, motion: Array, place: int) -> None:
    motion[place] = 1e300
    try:
        forces = Dynamics(mechanism).forces(motion)
    except DynamicsError:
        return
    assert np.isfinite(forces).all()


def test_shapes_and_quaternions_are_checked(mechanism: Mechanism, motion: Array) -> None:
    dynamics = Dynamics(mechanism)
    for arrays in (
        (motion[:18],),
        (motion, np.zeros(5)),
        (motion, np.zeros(6), np.zeros(7)),
        (motion.reshape(1, 19),),
        ("motion",),
    ):
        with pytest.raises(DynamicsError, match=r"must be contiguous arrays of float64, shapes \(19,\), \(6,\)"):
            dynamics.forces(*arrays)
    for arrays in ((motion[:18],), (motion, np.zeros(5)), (motion.reshape(1, 19),)):
        with pytest.raises(DynamicsError, match="must be contiguous arrays"):
            dynamics.cell_and_terms(*arrays)
    with pytest.raises(DynamicsError, match=r"\(2, 18\)"):
        dynamics.inverse(np.zeros((2, 18)))
    with pytest.raises(DynamicsError, match="3 samples, must be as many as motions, 2"):
        dynamics.cells(np.tile(motion, (2, 1)), np.zeros((3, 6)))
    with pytest.raises(DynamicsError, match="shape"):
        dynamics.acceleration(motion, np.zeros(6))
    motion[3:7] *= 1.01
    with pytest.raises(DynamicsError, match="quaternion norm"):
        dynamics.cells(motion)


@kernel
def repeat(
    count: int, parameters: Array, motion: Array, state: Array, wrench: Array, work: Array, out: Array, cells: Array
) -> int:
    """Every kernel the package hands out, called as the plant calls them."""
    status = OK
    for _ in range(count):
        status |= inverse_kernel(parameters, motion, wrench, work, out)
        status |= cells_kernel(parameters, motion, wrench, work, out, cells)
        status |= acceleration_kernel(parameters, state, out, wrench, work, cells)
        status |= rk4_kernel(parameters, state, out, out, wrench, 1e-6, work)
    return status


def test_kernels_serve_other_kernels_and_allocate_nothing(mechanism: Mechanism, motion: Array) -> None:
    dynamics = Dynamics(mechanism)
    arrays = (motion, motion[:13].copy(), np.zeros(6), np.zeros(WORK_SIZE), np.zeros(6), np.zeros(6))

    def allocations(count: int) -> int:
        before = _nrt_python.memsys_get_stats_alloc()
        assert repeat(count, dynamics.parameters, *arrays) == OK
        return int(_nrt_python.memsys_get_stats_alloc() - before)

    enabled = _nrt_python.memsys_stats_enabled()
    _nrt_python.memsys_enable_stats()
    try:
        allocations(1)
        # the arrays handed over cost the call from Python some, each time the same
        assert allocations(500) == allocations(1) < 20
    finally:
        if not enabled:
            _nrt_python.memsys_disable_stats()


def test_forces_leave_no_memory_behind(mechanism: Mechanism, motion: Array) -> None:
    dynamics = Dynamics(mechanism)
    wrench, out = np.zeros(6), np.empty(6)
    dynamics.forces(motion, wrench, out)
    tracemalloc.start()
    try:
        start, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        for _ in range(1000):
            dynamics.forces(motion, wrench, out)
        end, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert end - start < 1000
    assert peak - start < 2000


def test_statuses_of_kernels(mechanism: Mechanism, motion: Array) -> None:
    dynamics = Dynamics(mechanism)
    work, out = np.zeros(WORK_SIZE), np.zeros(6)
    assert (OK, SINGULAR, NOT_FINITE) == (0, 7, 8)
    assert inverse_kernel(dynamics.parameters, motion, np.zeros(6), work, out) == OK
    assert inverse_kernel(dynamics.parameters, np.full(19, np.nan), np.zeros(6), work, out) == NOT_FINITE
    state = motion[:13].copy()
    forces = np.full(6, np.nan)
    assert rk4_kernel(dynamics.parameters, state, forces, forces, np.zeros(6), 1e-3, work) == NOT_FINITE
    np.testing.assert_array_equal(state, motion[:13])
