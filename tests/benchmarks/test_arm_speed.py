"""Speed of an arm's dynamics beside Pinocchio, in one run: `make bench`.

Both sides loop over the samples in compiled code: Pinocchio by its own `rneaInParallel` and `abaInParallel` with one
thread, which copies each sample as the loop here does, so that no call from Python is in either figure.
"""

from functools import partial

import numpy as np
import pinocchio as pin
import pytest
from pinocchio_arm import PinocchioArm
from test_dynamics_speed import interleaved, report

from dynamics.kernels.arm import arm_forward_kernel, arm_inverse_batch_kernel, work_size
from dynamics.serial import Arm, ArmDynamics, ArmJoint, load_arm
from kinematics import Array, kernel

SAMPLES = 1000


@kernel
def forward_loop(
    parameters: Array, q: Array, qd: Array, tau: Array, wrench: Array, work: Array, qdd: Array
) -> None:  # fmt: skip
    for k in range(q.shape[0]):
        arm_forward_kernel(parameters, q[k], qd[k], tau[k], wrench, work, qdd[k])


def puma_without_friction() -> Arm:
    """The PUMA with its rotors: what Pinocchio computes too."""
    arm = load_arm("puma-560")
    inertia = np.diag(arm.drive_inertia)
    joints = [
        ArmJoint(x.name, x.kind, x.rotation, x.position, x.mass, x.center, x.inertia, motor_inertia=rotor)
        for x, rotor in zip(arm.joints, inertia, strict=True)
    ]
    return Arm("puma", tuple(joints), arm.gravity)


def test_six_joints_are_no_slower_than_pinocchio() -> None:
    arm = puma_without_friction()
    ours, theirs = ArmDynamics(arm), PinocchioArm(arm)
    rng = np.random.default_rng(1)
    q, qd, qdd = rng.normal(size=(3, SAMPLES, 6))
    tau, out = np.empty((SAMPLES, 6)), np.empty((6, SAMPLES))
    work, wrench = np.zeros(work_size(6)), np.zeros(6)
    columns = [np.asfortranarray(x.T) for x in (q, qd, qdd)]
    pool = pin.ModelPool(theirs.model, 1)
    times = interleaved(
        {
            "inverse, here": lambda: arm_inverse_batch_kernel(ours.parameters, q, qd, qdd, wrench, work, tau),
            "inverse, Pinocchio's rnea": lambda: pin.rneaInParallel(1, pool, *columns, out),
            "inverse, here, through ArmDynamics": lambda: ours.inverse(q, qd, qdd),
        },
        SAMPLES,
    )
    np.testing.assert_allclose(out.T, tau, rtol=1e-11, atol=1e-10)
    change, found = np.empty((SAMPLES, 6)), np.empty((6, SAMPLES))
    forces = np.asfortranarray(tau.T)
    times |= interleaved(
        {
            "forward, here": lambda: forward_loop(ours.parameters, q, qd, tau, wrench, work, change),
            "forward, Pinocchio's aba": lambda: pin.abaInParallel(1, pool, columns[0], columns[1], forces, found),
        },
        SAMPLES,
    )
    np.testing.assert_allclose(found.T, change, rtol=1e-9, atol=1e-9)
    report("six joints, a sample of a batch", times)
    assert times["inverse, here"] <= times["inverse, Pinocchio's rnea"]


@pytest.mark.parametrize("name", ["puma-560", "tx40"])
def test_simulation_is_hundreds_of_times_faster_than_time(name: str) -> None:
    """RK4 at 1 kHz, with friction, and with the coupled wrist of the TX40; and with the steps that friction needs."""
    ours = ArmDynamics(load_arm(name), coulomb_speed=0.01)
    torques = ours.bias(np.zeros((500, 6)), np.zeros((500, 6)))
    needed = ours.stable_substeps(np.zeros(6), 1e-3)
    times = interleaved(
        {f"{count} steps": partial(ours.simulate, np.zeros(6), np.zeros(6), torques, 1e-3, count)
         for count in sorted({1, needed})},
        1,
    )  # fmt: skip
    print(f"\nsimulation of {name} at 1 kHz, times real time, by steps of Runge and Kutta in a millisecond")
    for steps, seconds in times.items():
        print(f"  {steps:48}{0.5 / seconds:9.0f}")
    assert 0.5 / times["1 steps"] >= 100.0
