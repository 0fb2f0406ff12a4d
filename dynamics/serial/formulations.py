"""The formulations of the papers for any arm: its bodies by each of them, its drives added; and M and q̈ by strobing."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dynamics.errors import ArmError
from dynamics.serial.arm import Arm, arm_chain, standard_arm_chain
from dynamics.serial.arm_dynamics import ArmDynamics
from dynamics.serial.as_printed import modified_newton_euler_as_printed, newton_euler_as_printed
from dynamics.serial.chain import SerialChain
from dynamics.serial.iterative import ModifiedChain, iterative_newton_euler, iterative_newton_euler_as_printed
from dynamics.serial.lagrangian import lagrange_euler
from dynamics.serial.recursions import modified_newton_euler, newton_euler, newton_euler_in_base_axes
from dynamics.serial.torque_control import Recursion, strobed_mass_matrix
from kinematics import Array


@dataclass(frozen=True, slots=True)
class Formulation:
    """One way to compute joint forces of the bodies.

    `recursion` takes the chain, q, qd and qdd. `modified`: whether the chain is in modified Denavit–Hartenberg form.
    `revolute`: whether all joints must be. `printed`: whether it has the errors of the print.
    """

    name: str
    title: str
    recursion: Recursion
    modified: bool = False
    revolute: bool = False
    printed: bool = False

    def chain(self, arm: Arm) -> SerialChain | ModifiedChain:
        """Return the bodies of an arm as the chain that it takes.

        Raises ArmError for a prismatic joint where all must be revolute.
        """
        if self.revolute:
            sliding = [joint.name for joint in arm.joints if not joint.revolute]
            if sliding:
                raise ArmError(arm.name, [f"joint {sliding[0]}: prismatic, but {self.name} has revolute joints alone"])
        bare = arm.without_drives()
        return arm_chain(bare) if self.modified else standard_arm_chain(bare)


COMPILED = "compiled"
"""Name of the compiled Newton–Euler recursion, which `ArmDynamics` computes."""
FORMULATIONS = {
    each.name: each
    for each in (
        Formulation("newton-euler", "Newton–Euler, link axes, standard frames (001 eqs. 3.15–3.21)", newton_euler),
        Formulation(
            "base-axes", "Newton–Euler, base axes (001 eqs. 3.3–3.13)", newton_euler_in_base_axes, revolute=True
        ),
        Formulation("modified-newton-euler", "modified Newton–Euler (001 eqs. 5.1, 5.2)", modified_newton_euler),
        Formulation(
            "iterative", "iterative Newton–Euler, modified frames (003 §2)", iterative_newton_euler, modified=True
        ),
        Formulation(
            "newton-euler-as-printed",
            "001 eqs. 3.15–3.21 with the misprints of 3.16 and 3.18",
            newton_euler_as_printed,
            revolute=True,
            printed=True,
        ),
        Formulation(
            "modified-as-printed",
            "001 eqs. 5.1, 5.2 with the misprints of A and of Tr{A K σᵀ}",
            modified_newton_euler_as_printed,
            revolute=True,
            printed=True,
        ),
        Formulation(
            "iterative-as-printed",
            "003 §2.3, where prismatic joints pass no moment on",
            iterative_newton_euler_as_printed,
            modified=True,
            printed=True,
        ),
        Formulation("lagrange", "Lagrange–Euler (001 eqs. 2.1–2.20)", lagrange_euler),
    )
}
"""By name. The iteration of 003 in standard frames is "newton-euler", with the rows of 003 for prismatic joints."""


def formulation_names(arm: Arm, *, printed: bool = False) -> tuple[str, ...]:
    """Names of all formulations that an arm can have, the compiled one first; `printed`: those as printed too."""
    turning = all(joint.revolute for joint in arm.joints)
    fitting = (each for each in FORMULATIONS.values() if turning or not each.revolute)
    return (COMPILED, *(each.name for each in fitting if printed or not each.printed))


def drive_forces(arm: Arm, qd: npt.ArrayLike, qdd: npt.ArrayLike, coulomb_speed: float = 0.0) -> Array:
    """What motors and friction add to the forces of the bodies, N m or N; qd and qdd are (n,) or (m, n).

    `coulomb_speed` smooths Coulomb friction as in `ArmDynamics`.
    """
    rate, change = np.asarray(qd, dtype=np.float64), np.asarray(qdd, dtype=np.float64)
    G = arm.motor_ratios
    coulomb, offset = (np.array([getattr(joint, name) for joint in arm.joints]) for name in ("coulomb", "offset"))
    signs, motor_signs = np.sign(rate), np.sign(rate @ G.T)
    if coulomb_speed > 0.0:
        motor_speeds = coulomb_speed * np.abs(G).max(axis=1)
        signs, motor_signs = np.tanh(rate / coulomb_speed), np.tanh(rate @ G.T / motor_speeds)
    added = change @ arm.drive_inertia + rate @ arm.viscous_matrix + coulomb * signs + offset
    if arm.motor_coulomb is not None:
        added = added + (arm.motor_coulomb * motor_signs) @ G
    return np.asarray(added)


def arm_forces(
    arm: Arm,
    formulation: str,
    q: npt.ArrayLike,
    qd: npt.ArrayLike,
    qdd: npt.ArrayLike,
    coulomb_speed: float = 0.0,
) -> Array:
    """Compute joint forces τ, N m or N, by a formulation's name, in the shape of q: (n,) or (m, n).

    `coulomb_speed` smooths Coulomb friction as in `ArmDynamics`.
    Raises ArmError for an unknown name, or an arm that the formulation does not have; DynamicsError as `ArmDynamics`.
    """
    if formulation == COMPILED:
        return ArmDynamics(arm, coulomb_speed).inverse(q, qd, qdd)
    if formulation not in FORMULATIONS:
        known = ", ".join((COMPILED, *FORMULATIONS))
        raise ArmError(arm.name, [f"formulation: {formulation!r}, must be one of {known}"])
    chosen = FORMULATIONS[formulation]
    chain = chosen.chain(arm)
    rows = [np.atleast_2d(np.asarray(x, dtype=np.float64)) for x in (q, qd, qdd)]
    bodies = np.array([chosen.recursion(chain, *sample) for sample in zip(*rows, strict=True)])
    return np.asarray(drive_forces(arm, qd, qdd, coulomb_speed) + bodies.reshape(np.shape(q)))


def strobed_arm_mass_matrix(arm: Arm, q: npt.ArrayLike, recursion: Recursion = modified_newton_euler) -> Array:
    """M(q) (n, n) by strobing, 001 §6: each column by one call of a recursion in standard frames; drives included."""
    chain = standard_arm_chain(arm.without_drives())
    bodies: Array = np.array(strobed_mass_matrix(chain, np.asarray(q, dtype=np.float64), recursion), dtype=np.float64)
    return bodies + arm.drive_inertia


def strobed_arm_acceleration(
    arm: Arm,
    q: npt.ArrayLike,
    qd: npt.ArrayLike,
    tau: npt.ArrayLike,
    coulomb_speed: float = 0.0,
    recursion: Recursion = modified_newton_euler,
) -> Array:
    """q̈ (n,) of joint forces tau (n,) with M and the bias by strobing: 001 §§6, 7; coulomb_speed as in `ArmDynamics`.

    Raises ArmError if the mass matrix is singular.
    """
    chain = standard_arm_chain(arm.without_drives())
    still = np.zeros(len(arm))
    bodies = np.array(recursion(chain, q, qd, still), dtype=np.float64)
    net = np.asarray(tau, dtype=np.float64) - bodies - drive_forces(arm, qd, still, coulomb_speed)
    try:
        return np.asarray(np.linalg.solve(strobed_arm_mass_matrix(arm, q, recursion), net))
    except np.linalg.LinAlgError:
        raise ArmError(arm.name, ["the mass matrix is singular; a body or a motor has too little inertia"]) from None
