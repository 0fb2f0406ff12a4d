"""Random arms of revolute and prismatic joints, and the same arms in Pinocchio."""

import numpy as np
import pinocchio as pin
from random_mechanisms import random_body

from dynamics.serial import Arm, ArmJoint
from kinematics import Array

SIZES = (2, 2, 3, 4, 5, 6, 6, 7, 8)
"""Numbers of joints of the nine random arms."""


def random_rotation(rng: np.random.Generator) -> Array:
    """A rotation (3, 3), any as likely as any other."""
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return np.asarray(Q * np.sign(np.linalg.det(Q)))


def random_arm(rng: np.random.Generator, joints: int, *, coupled: bool = False, friction: bool = True) -> Arm:
    """An arm whose every number is at random, of both kinds of joint; with `coupled` a full transmission."""
    kinds = ["revolute", "prismatic", *rng.choice(["revolute", "revolute", "prismatic"], joints)][:joints]
    rng.shuffle(kinds)
    made = []
    for index, kind in enumerate(kinds):
        body = random_body(rng, rng.uniform(0.5, 5.0), rng.normal(scale=0.2, size=3), 0.2)
        made.append(
            ArmJoint(
                f"j{index + 1}",
                "revolute" if kind == "revolute" else "prismatic",
                random_rotation(rng),
                rng.normal(scale=0.3, size=3),
                body.mass,
                body.center_of_mass,
                body.inertia,
                motor_inertia=rng.uniform(0.0, 0.5),
                viscous=rng.uniform(0.0, 2.0) * friction,
                coulomb=rng.uniform(0.0, 2.0) * friction,
                offset=rng.normal() * friction,
            )
        )
    drives = {}
    if coupled:
        drives = {
            "transmission": rng.normal(scale=20.0, size=(joints, joints)) + 40.0 * np.eye(joints),
            "rotor_inertia": rng.uniform(1e-4, 1e-3, joints),
            "motor_viscous": rng.uniform(0.0, 1e-3, joints) * friction,
            "motor_coulomb": rng.uniform(0.0, 0.1, joints) * friction,
        }
    return Arm("random", tuple(made), rng.normal(scale=6.0, size=3), random_rotation(rng), rng.normal(size=3), **drives)


class PinocchioArm:
    """The bodies of an arm, and what its joints have of motors, as a pin.Model; friction by joint."""

    def __init__(self, arm: Arm) -> None:
        self.arm = arm
        self.model = pin.Model()
        self.model.gravity.linear = arm.gravity.copy()
        parent = 0
        for joint in arm.joints:
            kind = pin.JointModelRZ() if joint.revolute else pin.JointModelPZ()
            parent = self.model.addJoint(
                parent, kind, pin.SE3(joint.rotation.copy(), joint.position.copy()), joint.name
            )
            body = pin.Inertia(joint.mass, joint.center.copy(), joint.inertia.copy())
            self.model.appendBodyToJoint(parent, body, pin.SE3.Identity())
        self.model.armature = np.array([joint.motor_inertia for joint in arm.joints])
        self.tip = pin.SE3(arm.tip_rotation.copy(), arm.tip_position.copy())
        self.data = self.model.createData()

    def friction(self, qd: Array) -> Array:
        """Friction and offset at the joints (n,)."""
        loads = [x.viscous * v + x.coulomb * np.sign(v) + x.offset for x, v in zip(self.arm.joints, qd, strict=True)]
        return np.array(loads)

    def external(self, wrench: Array) -> list[pin.Force]:
        """A wrench on the tip as Pinocchio's external forces."""
        forces = [pin.Force.Zero() for _ in range(self.model.njoints)]
        forces[-1] = self.tip.act(pin.Force(wrench[:3], wrench[3:]))
        return forces

    def inverse(self, q: Array, qd: Array, qdd: Array, wrench: Array) -> Array:
        """Joint forces (n,)."""
        return np.asarray(pin.rnea(self.model, self.data, q, qd, qdd, self.external(wrench)) + self.friction(qd))

    def mass_matrix(self, q: Array) -> Array:
        """M (n, n)."""
        upper = np.triu(pin.crba(self.model, self.data, q))
        return np.asarray(upper + np.triu(upper, 1).T)

    def forward(self, q: Array, qd: Array, tau: Array, wrench: Array) -> Array:
        """Joint accelerations (n,)."""
        return np.asarray(pin.aba(self.model, self.data, q, qd, tau - self.friction(qd), self.external(wrench)))

    def energy(self, q: Array, qd: Array) -> float:
        """Kinetic energy, with what the joints have of motors, plus potential energy, J."""
        kinetic = 0.5 * qd @ self.mass_matrix(q) @ qd
        return float(kinetic + pin.computePotentialEnergy(self.model, self.data, q))
