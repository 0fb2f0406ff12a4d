"""Speed of the dynamics beside Pinocchio and MuJoCo, in one run: `make bench`."""

import time
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from dynamics import WORK_SIZE, Dynamics, Mechanism, inverse_kernel, load_mechanism, rk4_kernel
from kinematics import Array, kernel

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


def text(values: Any) -> str:
    return " ".join(repr(float(value)) for value in np.ravel(values))


def quaternion(rotation: Array) -> str:
    q = np.empty(4)
    mujoco.mju_mat2Quat(q, rotation.ravel())
    return text(q)


def inertial(body: Any) -> str:
    full = np.asarray(body.inertia)[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    return f'<inertial pos="{text(body.center_of_mass)}" mass="{body.mass!r}" fullinertia="{text(full)}"/>'


def mujoco_platform(mechanism: Mechanism) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """The whole mechanism, its tops held to the platform by connect constraints, Runge–Kutta of fourth order."""
    geometry = mechanism.geometry
    home = geometry.home_pose[:3]
    bodies, connects, motors = [], [], []
    for index, leg in enumerate(mechanism.legs):
        u = geometry.universal_axes[index]
        S = home + geometry.platform_points[index] - geometry.base_points[index]
        length = float(np.linalg.norm(S))
        s = S / length
        v = np.cross(u, s)
        v /= np.linalg.norm(v)
        rotation = np.column_stack([s, v, np.cross(s, v)])
        bodies.append(
            f'<body pos="{text(geometry.base_points[index])}" quat="{quaternion(rotation)}">'
            f'<joint type="hinge" axis="{text(rotation.T @ u)}"/><joint type="hinge" axis="0 1 0"/>'
            f"{inertial(leg.lower)}"
            f'<body name="rod{index}" pos="{length!r} 0 0"><joint name="slide{index}" type="slide" axis="1 0 0" '
            f'damping="{leg.friction.prismatic!r}"/>{inertial(leg.upper)}</body></body>'
        )
        connects.append(
            f'<connect body1="rod{index}" body2="platform" anchor="0 0 0" '
            'solimp="0.9999 0.9999 0.001" solref="0.002 1"/>'
        )
        motors.append(f'<motor joint="slide{index}"/>')
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option integrator="RK4" timestep="0.0005" gravity="{text(mechanism.gravity)}"/>'
        f'<worldbody>{"".join(bodies)}<body name="platform" pos="{text(home)}"><freejoint/>{inertial(mechanism)}'
        f"</body></worldbody><equality>{''.join(connects)}</equality><actuator>{''.join(motors)}</actuator></mujoco>"
    )
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
def test_step_beside_mujoco(mechanism: Mechanism) -> None:
    """One RK4 step ≤ 10 µs; MuJoCo's of the same mechanism for comparison (its joints are stiff springs)."""
    dynamics = Dynamics(mechanism, coulomb_speed=1e-3)
    model, data = mujoco_platform(mechanism)
    state = np.zeros(13)
    state[:7] = mechanism.geometry.home_pose
    motion = np.concatenate([state, np.zeros(6)])
    forces = dynamics.forces(motion)
    wrench, work = np.zeros(6), np.zeros(WORK_SIZE)
    data.ctrl[:] = forces
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
