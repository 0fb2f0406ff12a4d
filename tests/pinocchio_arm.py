"""An arm in Pinocchio."""

import numpy as np
import pinocchio as pin

from dynamics.serial import Arm
from kinematics import Array


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
