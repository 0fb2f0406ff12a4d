"""Arms and chains in Pinocchio."""

import numpy as np
import pinocchio as pin

from dynamics.serial import Arm
from kinematics import Array


class PinocchioJoints:
    """Joints with their bodies as a pin.Model: inertia of motors by `model.armature`, friction added to its forces.

    viscous, coulomb, offset (n,): of the joints; tip: frame of the tip in that of the last joint.
    """

    def __init__(self, model: pin.Model, tip: pin.SE3, viscous: Array, coulomb: Array, offset: Array) -> None:
        self.model, self.tip = model, tip
        self._viscous, self._coulomb, self._offset = viscous, coulomb, offset
        self.data = model.createData()

    def friction(self, qd: Array) -> Array:
        """Friction and offset at the joints (n,)."""
        return np.asarray(self._viscous * qd + self._coulomb * np.sign(qd) + self._offset)

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


class PinocchioArm(PinocchioJoints):
    """The joints of an arm with their bodies, without its transmission and what is at the motors."""

    def __init__(self, arm: Arm) -> None:
        model, parent = pin.Model(), 0
        model.gravity.linear = arm.gravity.copy()
        for joint in arm.joints:
            kind = pin.JointModelRZ() if joint.revolute else pin.JointModelPZ()
            parent = model.addJoint(parent, kind, pin.SE3(joint.rotation.copy(), joint.position.copy()), joint.name)
            body = pin.Inertia(joint.mass, joint.center.copy(), joint.inertia.copy())
            model.appendBodyToJoint(parent, body, pin.SE3.Identity())
        model.armature = np.array([joint.motor_inertia for joint in arm.joints])
        friction = np.array([(joint.viscous, joint.coulomb, joint.offset) for joint in arm.joints])
        super().__init__(model, pin.SE3(arm.tip_rotation.copy(), arm.tip_position.copy()), *friction.T)
