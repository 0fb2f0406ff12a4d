"""Computed torque of an arm, 000 eqs. 4.1 and 4.4: sampled control of a simulated arm, as printed and as mended."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from dynamics.errors import DynamicsError
from dynamics.kernels.arm import arm_simulation_kernel, work_size
from dynamics.serial.arm import Arm, standard_arm_chain
from dynamics.serial.arm_dynamics import ArmDynamics, packed_arm
from dynamics.serial.as_printed import lagrange_control_as_printed
from dynamics.serial.formulations import drive_forces
from dynamics.serial.torque_control import ControlStudy, Gain, check_gains, computed_torque_lagrange, gain_matrix
from kinematics import Array

ControlLaw = Literal["mended", "lagrange", "as-printed"]
"""mended: 4.4, the recursion with the bracket of 4.1 in place of q̈. lagrange: 4.1 with D, H and G, the sign of gravity
as in eq. 3.6. as-printed: 4.1 with the sign of gravity as eq. 3.10 prints it."""


@dataclass(frozen=True, slots=True)
class ControlSettings:
    """How an arm is controlled.

    kp 1/s² and kv 1/s: see `Gain`, matrices as rows. law: see `ControlLaw`. substeps: of Runge and Kutta's
    formula in a sample; None: 4, or more where friction needs it. preview: q̈ᵈ is the mean over the coming sample, which
    a constant force can achieve, in place of that at the sampling instant as in 4.4. coulomb_speed: smooths friction of
    plant and model, see `ArmDynamics`.
    """

    kp: Gain
    kv: Gain
    law: ControlLaw = "mended"
    substeps: int | None = None
    preview: bool = False
    coulomb_speed: float = 0.0


def control_arm(
    model: Arm, plant: Arm, times: npt.ArrayLike, desired: tuple[Array, Array, Array], settings: ControlSettings
) -> ControlStudy:
    """Let `plant` follow a motion under computed torque of `model`; it begins on the motion, at its speed.

    times (m,) s, evenly spaced: the sampling instants. desired: q, q̇, q̈ (m, n) there. Forces are held for a sample.

    Raises DynamicsError for gains under which the error may not vanish (`check_gains`), arms with other numbers of
    joints, times that are not even, or a plant that diverges, with the time.
    """
    n = len(model)
    if len(plant) != n:
        raise DynamicsError(f"plant: {len(plant)} joints, must be {n} as the model")
    check_gains(settings.kp, settings.kv, n)
    stiffness, damping = gain_matrix("K_p", settings.kp, n), gain_matrix("K_v", settings.kv, n)
    instants = np.asarray(times, dtype=np.float64)
    if instants.ndim != 1 or len(instants) < 2:
        raise DynamicsError(f"times: shape {instants.shape}, must be (m,) with at least 2")
    period = float(instants[1] - instants[0])
    if not np.allclose(np.diff(instants), period, rtol=1e-6, atol=0.0) or not period > 0.0:
        raise DynamicsError("times: must be evenly spaced, one sampling period apart")
    q_d, qd_d, qdd_d = (np.ascontiguousarray(x, dtype=np.float64) for x in desired)
    if settings.preview:
        qdd_d = np.vstack([np.diff(qd_d, axis=0) / period, qdd_d[-1:]])
    coulomb_speed = settings.coulomb_speed
    ours = ArmDynamics(model, coulomb_speed)
    chain = standard_arm_chain(model.without_drives())
    substeps = settings.substeps or max(4, ArmDynamics(plant, coulomb_speed).stable_substeps(q_d[0], period))
    packed, work, wrench = packed_arm(plant, coulomb_speed), np.zeros(work_size(n)), np.zeros(6)
    actual, rates, torques = np.empty((3, len(instants), n))
    q, qd = np.empty((2, n)), np.empty((2, n))
    q[0], qd[0] = q_d[0], qd_d[0]
    for k in range(len(instants)):
        bracket = qdd_d[k] + damping @ (qd_d[k] - qd[0]) + stiffness @ (q_d[k] - q[0])
        if settings.law == "mended":
            tau = ours.inverse(q[0], qd[0], bracket)
        else:
            aim = q_d[k], qd_d[k], qdd_d[k]
            gains = stiffness.tolist(), damping.tolist()
            if settings.law == "as-printed":
                bodies = lagrange_control_as_printed(chain, aim, q[0], qd[0], *gains)
            else:
                bodies = computed_torque_lagrange(chain, aim, q[0], qd[0], *gains)
            tau = np.array(bodies, dtype=np.float64) + drive_forces(model, qd[0], bracket, coulomb_speed)
        actual[k], rates[k], torques[k] = q[0], qd[0], tau
        if k + 1 < len(instants):
            if arm_simulation_kernel(packed, tau[np.newaxis], wrench, period, substeps, work, q, qd) < 1:
                raise DynamicsError(f"the arm under control diverges at t = {instants[k]:g} s")
            q[0], qd[0] = q[1], qd[1]
    return ControlStudy(instants, q_d, actual, rates, torques)
