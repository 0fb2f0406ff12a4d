"""Speed of the dynamics beside Pinocchio and MuJoCo, in one run: `make bench`."""

import time
from collections.abc import Callable
from dataclasses import replace

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from dynamics import WORK_SIZE, Drive, Dynamics, Mechanism, inverse_batch, inverse_kernel, load_mechanism, rk4_kernel
from kinematics import Array, kernel
from rig.virtual.mujoco_plant import mjcf

CALLS, ROUNDS = 2000, 25
AXES = ("x", "y", "z")


@kernel
def inverse_loop(
    count: int, parameters: Array, motion: Array, wrench: Array, work: Array, out: Array, sums: Array
) -> None:
    for _ in range(count):
        motion[0] += 1e-12  # so that no evaluation can be left out
        inverse_kernel(parameters, motion, wrench, work, out)
        sums[0] += out[0]


@kernel
def step_loop(count: int, parameters: Array, state: Array, forces: Array, wrench: Array, work: Array) -> None:
    for _ in range(count):
        rk4_kernel(parameters, state, forces, forces, wrench, 1e-7, work)


def interleaved(candidates: dict[str, Callable[[], object]], calls: int = CALLS) -> dict[str, float]:
    """Seconds per call of each candidate, the best of many short rounds taken in turn.

    A candidate loops `calls` times itself.
    """
    best = dict.fromkeys(candidates, np.inf)
    for run in candidates.values():
        run()
    for _ in range(ROUNDS):
        for name, run in candidates.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], (time.perf_counter() - start) / calls)
    return best


def report(title: str, times: dict[str, float]) -> None:
    print(f"\n{title}")
    for name, value in times.items():
        print(f"  {name:48s}{value * 1e6:9.2f} µs")


def frame_of(mechanism: Mechanism, index: int) -> Array:
    """Axes [s v u] of a leg with its universal joint at zero, s ⟂ u and upwards."""
    u = mechanism.geometry.universal_axes[index]
    s = np.array([0.0, 0.0, 1.0]) - u * u[2]
    s /= np.linalg.norm(s)
    return np.column_stack([s, np.cross(u, s), u])


def pinocchio_tree(mechanism: Mechanism) -> tuple[pin.Model, pin.Data]:
    """Six legs (two revolutes and a prismatic each) and a free platform, not connected."""
    model = pin.Model()
    for index, leg in enumerate(mechanism.legs):
        placement = pin.SE3(frame_of(mechanism, index), mechanism.geometry.base_points[index])
        first = model.addJoint(0, pin.JointModelRZ(), placement, f"u{index}")
        second = model.addJoint(first, pin.JointModelRY(), pin.SE3.Identity(), f"v{index}")
        third = model.addJoint(second, pin.JointModelPX(), pin.SE3.Identity(), f"p{index}")
        for joint, body in ((second, leg.lower), (third, leg.upper)):
            inertia = pin.Inertia(body.mass, np.asarray(body.center_of_mass), np.asarray(body.inertia))
            model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    platform = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "platform")
    inertia = pin.Inertia(mechanism.mass, np.asarray(mechanism.center_of_mass), np.asarray(mechanism.inertia))
    model.appendBodyToJoint(platform, inertia, pin.SE3.Identity())
    return model, model.createData()


def mujoco_platform(mechanism: Mechanism) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """The whole mechanism as the virtual rig has it for MuJoCo, but Runge–Kutta of fourth order."""
    model = mujoco.MjModel.from_xml_string(mjcf(mechanism, 5e-4))
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    return model, mujoco.MjData(model)


@pytest.fixture(scope="module")
def mechanism() -> Mechanism:
    return load_mechanism("lab-hexapod")


@pytest.fixture(scope="module")
def motion(mechanism: Mechanism) -> Array:
    return np.concatenate([mechanism.geometry.home_pose, np.random.default_rng(0).uniform(-0.5, 0.5, 12)])


@pytest.mark.benchmark(group="dynamics")
def test_inverse_dynamics_beside_pinocchio(mechanism: Mechanism, motion: Array) -> None:
    """Compiled ≤ 1 µs; from Python ≤ 3 µs; ≥ 3 times as fast as Pinocchio's recursion over the open tree."""
    dynamics = Dynamics(mechanism)
    model, data = pinocchio_tree(mechanism)
    rng = np.random.default_rng(1)
    q = pin.neutral(model)
    q[:18] = rng.uniform(-0.3, 0.3, 18)
    v, a = rng.normal(size=model.nv), rng.normal(size=model.nv)
    wrench, out, work, sums = np.zeros(6), np.empty(6), np.zeros(WORK_SIZE), np.zeros(1)

    def ours() -> None:
        for _ in range(CALLS):
            dynamics.forces(motion, wrench, out)

    def cycle() -> None:
        for _ in range(CALLS):
            dynamics.cell_and_terms(motion, wrench)

    def theirs() -> None:
        for _ in range(CALLS):
            pin.rnea(model, data, q, v, a)

    def compiled() -> None:
        inverse_loop(CALLS, dynamics.parameters, motion, wrench, work, out, sums)

    times = interleaved(
        {
            "inverse dynamics, compiled": compiled,
            "inverse dynamics, from Python": ours,
            "forces, cells and terms, from Python": cycle,
            "Pinocchio's recursion over the tree alone": theirs,
        }
    )
    report("Inverse dynamics of the lab hexapod", times)
    compiled_time, python_time, cycle_time, peer = times.values()
    print(f"  ratio to Pinocchio: compiled {peer / compiled_time:.1f}, from Python {peer / python_time:.1f}")
    assert compiled_time <= 1e-6
    assert python_time <= 3e-6
    assert cycle_time <= 10e-6
    assert peer / compiled_time >= 3.0


@pytest.mark.benchmark(group="dynamics")
def test_drives_cost_next_to_nothing(mechanism: Mechanism, motion: Array) -> None:
    """Inertia and friction of drives: at most a tenth of the inverse dynamics, of a cycle's forces and of a batch."""
    legs = tuple(replace(leg, drive=Drive(5e-5, 5e-3, viscous=5.0, coulomb=2.0)) for leg in mechanism.legs)
    candidates: dict[str, Callable[[], object]] = {}
    motions = np.tile(motion, (CALLS, 1))
    for name, machine in (("without", mechanism), ("with", replace(mechanism, legs=legs))):
        dynamics, forces, sums = Dynamics(machine, coulomb_speed=1e-3), np.empty(6), np.zeros(1)

        def compiled(own: Dynamics = dynamics, out: Array = forces, total: Array = sums) -> None:
            inverse_loop(CALLS, own.parameters, motion, np.zeros(6), np.zeros(WORK_SIZE), out, total)

        def cycle(own: Dynamics = dynamics) -> None:
            for _ in range(CALLS):
                own.cell_and_terms(motion)

        def batch(own: Mechanism = machine) -> None:
            inverse_batch(own, motions, coulomb_speed=1e-3, threads=1)

        candidates |= {f"inverse {name} drives": compiled, f"cycle {name} drives": cycle}
        candidates[f"batch {name} drives"] = batch
    times = interleaved(candidates)
    report("Inverse dynamics with and without drives", times)
    for name in ("inverse", "cycle", "batch"):
        ratio = times[f"{name} with drives"] / times[f"{name} without drives"]
        print(f"  {name}: {ratio:.3f}")
        assert ratio < 1.1


@pytest.mark.benchmark(group="dynamics")
def test_step_beside_mujoco(mechanism: Mechanism) -> None:
    """One RK4 step ≤ 10 µs; MuJoCo's of the same mechanism for comparison (its joints are stiff springs)."""
    dynamics = Dynamics(mechanism, coulomb_speed=1e-3)
    model, data = mujoco_platform(mechanism)
    state = np.zeros(13)
    state[:7] = mechanism.geometry.home_pose
    motion = np.concatenate([state, np.zeros(6)])
    forces = dynamics.forces(motion)
    wrench, work = np.zeros(6), np.zeros(WORK_SIZE)
    data.qfrc_applied[2:18:3] = forces
    mujoco.mj_forward(model, data)
    # the same mechanism indeed: the forces that hold ours hold theirs
    assert np.abs(data.qacc[-6:]).max() < 0.05

    def compiled() -> None:
        step_loop(CALLS, dynamics.parameters, state, forces, wrench, work)

    def ours() -> None:
        for _ in range(CALLS):
            dynamics.step(state, forces, 1e-7)

    def theirs() -> None:
        mujoco.mj_step(model, data, nstep=CALLS // 10)

    times = interleaved({"RK4 step, compiled": compiled, "RK4 step, from Python": ours}, CALLS)
    times |= interleaved({"MuJoCo's RK4 step, from its own loop": theirs}, CALLS // 10)
    report("One step of the lab hexapod's plant", times)
    compiled_time, _, peer = times.values()
    print(f"  ratio to MuJoCo: {peer / compiled_time:.1f}")
    assert compiled_time <= 10e-6
