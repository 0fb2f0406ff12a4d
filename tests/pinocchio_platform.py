"""The platform in Pinocchio: six legs (two revolutes and a prismatic each) and a free platform, cut at the spherical
joints. It shares the mechanism's numbers with `dynamics` and nothing else."""

import numpy as np
import pinocchio as pin

from dynamics import Body, Mechanism
from kinematics import Array


def skew(v: Array) -> Array:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def spatial_inertia(body: Body, offset: Array | None = None) -> pin.Inertia:
    center = body.center_of_mass if offset is None else body.center_of_mass + offset
    return pin.Inertia(body.mass, np.asarray(center), np.asarray(body.inertia))


class PinocchioPlatform:
    """Forces and accelerations by one dense linear system over the tree's 24 velocities and 18 cut forces.

    drives: what the drives' inertia is, "armature" of the prismatic joints, or "rotors": further bodies that turn about
    the legs' axes on their lower parts, whose inertia includes theirs, at 2π/lead times the legs' speed."""

    def __init__(self, mechanism: Mechanism, drives: str = "armature") -> None:
        self.mechanism = mechanism
        self.model = pin.Model()
        self.model.gravity = pin.Motion(np.asarray(mechanism.gravity), np.zeros(3))
        self.frames: list[Array] = []  # of each leg with its universal joint at zero: [s v u], s ⟂ u
        self.tops: list[int] = []
        self.lowers: list[int] = []
        self.prismatic: list[int] = []
        for index, leg in enumerate(mechanism.legs):
            u = mechanism.geometry.universal_axes[index]
            up = np.array([0.0, 0.0, 1.0])
            s = up - u * (u @ up)
            s /= np.linalg.norm(s)
            rotation = np.column_stack([s, np.cross(u, s), u])
            self.frames.append(rotation)
            placement = pin.SE3(rotation, mechanism.geometry.base_points[index])
            first = self.model.addJoint(0, pin.JointModelRZ(), placement, f"u{index}")
            second = self.model.addJoint(first, pin.JointModelRY(), pin.SE3.Identity(), f"v{index}")
            third = self.model.addJoint(second, pin.JointModelPX(), pin.SE3.Identity(), f"p{index}")
            own = np.diag([leg.drive.inertia or 0.0, 0.0, 0.0]) * (drives == "rotors")
            lower = Body(leg.lower.mass, leg.lower.center_of_mass, leg.lower.inertia - own)
            self.model.appendBodyToJoint(second, spatial_inertia(lower), pin.SE3.Identity())
            self.model.appendBodyToJoint(third, spatial_inertia(leg.upper), pin.SE3.Identity())
            self.lowers.append(second)
            self.tops.append(third)
            self.prismatic.append(self.model.joints[third].idx_v)
        self.platform = self.model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "platform")
        body = Body(mechanism.mass, mechanism.center_of_mass, mechanism.inertia)
        self.model.appendBodyToJoint(self.platform, spatial_inertia(body), pin.SE3.Identity())
        self.nv = self.model.nv
        self.turning = np.zeros((6, self.nv))  # speeds of the rotors by those of the rest
        for index, leg in enumerate(mechanism.legs if drives == "rotors" else ()):
            rotor = self.model.addJoint(self.lowers[index], pin.JointModelRX(), pin.SE3.Identity(), f"r{index}")
            own = np.diag([leg.drive.inertia or 0.0, 0.0, 0.0])
            self.model.appendBodyToJoint(rotor, pin.Inertia(0.0, np.zeros(3), own), pin.SE3.Identity())
            self.turning[index, self.prismatic[index]] = 2.0 * np.pi / (leg.drive.lead or np.inf)
        self.rotors = self.model.nv - self.nv
        if drives == "armature":
            armature = np.zeros(self.nv)
            armature[self.prismatic] = [leg.drive.mass for leg in mechanism.legs]
            self.model.armature = armature
        self.data = self.model.createData()

    def _all(self, speeds: Array) -> Array:
        return np.concatenate([speeds, (self.turning @ speeds)[: self.rotors]])

    def _rnea(self, v: Array, a: Array) -> Array:
        """Generalised force (24,): a rotor's torque acts on the leg's length through its screw."""
        force = pin.rnea(self.model, self.data, self.q, self._all(v), self._all(a))
        return np.asarray(force[: self.nv] + self.turning[: self.rotors].T @ force[self.nv :])

    def configuration(self, pose: Array) -> Array:
        """Configuration of the tree at a pose (7,): each leg's two angles and length, then the platform."""
        rotation = pin.Quaternion(*pose[3:7]).matrix()
        parts = []
        for frame, b, p in zip(
            self.frames, self.mechanism.geometry.base_points, self.mechanism.geometry.platform_points, strict=True
        ):
            x, y, z = frame.T @ (pose[:3] + rotation @ p - b)
            across = np.hypot(x, y)
            parts.append([np.arctan2(y, x), np.arctan2(-z, across), np.sqrt(x * x + y * y + z * z)])
        w, x, y, z = pose[3:7]
        return np.concatenate([*parts, pose[:3], [x, y, z, w], np.zeros(self.rotors)])

    def _jacobian(self, joint: int, rotation_only: bool = False) -> Array:
        jacobian = pin.getJointJacobian(self.model, self.data, joint, pin.LOCAL_WORLD_ALIGNED)
        return np.array(jacobian[3:] if rotation_only else jacobian)[:, : self.nv]

    def _classical_acceleration(self, joint: int) -> Array:
        return np.array(pin.getClassicalAcceleration(self.model, self.data, joint, pin.LOCAL_WORLD_ALIGNED).linear)

    def set_state(self, state: Array) -> None:
        """Prepare positions, velocities, Jacobians, and the cut's drift for a state (13,)."""
        model, data = self.model, self.data
        rotation = pin.Quaternion(*state[3:7]).matrix()
        self.rotation = rotation
        self.q = self.configuration(state[:7])
        pin.computeJointJacobians(model, data, self.q)
        twist, omega = state[7:13], state[10:13]
        self.v = np.zeros(self.nv)
        self.top_jacobians = []
        point_jacobians = []
        for index, joint in enumerate(self.tops):
            lever = rotation @ self.mechanism.geometry.platform_points[index]
            jacobian = self._jacobian(joint)[:3]
            self.top_jacobians.append(jacobian)
            point = np.hstack([np.eye(3), -skew(lever)])
            point_jacobians.append(point)
            columns = slice(3 * index, 3 * index + 3)
            self.v[columns] = np.linalg.solve(jacobian[:, columns], point @ twist)
        # the free joint's velocity and acceleration are in its own axes
        self.to_local = np.kron(np.eye(2), rotation.T)
        self.v[18:] = self.to_local @ twist
        pin.forwardKinematics(model, data, self.q, self._all(self.v), np.zeros(model.nv))
        constraint, drift = np.zeros((18, self.nv)), np.zeros(18)
        for index, joint in enumerate(self.tops):
            lever = rotation @ self.mechanism.geometry.platform_points[index]
            rows = slice(3 * index, 3 * index + 3)
            constraint[rows] = self.top_jacobians[index]
            constraint[rows, 18:] -= point_jacobians[index] @ self.to_local.T
            # with local accelerations of zero the free joint's origin still accelerates by ω×v
            origin = np.cross(omega, state[7:10])
            drift[rows] = self._classical_acceleration(joint) - origin - np.cross(omega, np.cross(omega, lever))
        self.constraint, self.drift, self.omega, self.twist = constraint, drift, omega, twist

    def friction(self) -> Array:
        """Generalised force (24,) of all joint friction, by virtual power of each moment on the bodies it acts on."""
        total = np.zeros(self.nv)
        platform = np.zeros((3, self.nv))
        platform[:, 21:] = self.rotation
        for index, leg in enumerate(self.mechanism.legs):
            spin_jacobian = self._jacobian(self.lowers[index], rotation_only=True)
            spin = spin_jacobian @ self.v
            total -= spin_jacobian.T @ (leg.friction.universal * spin)
            relative = leg.friction.spherical * (spin - self.omega)
            total -= (spin_jacobian - platform).T @ relative
            speed = self.v[self.prismatic[index]]
            total[self.prismatic[index]] -= leg.friction.prismatic * speed + leg.friction.coulomb * np.sign(speed)
            total[self.prismatic[index]] -= leg.drive.viscous * speed + leg.drive.coulomb * np.sign(speed)
        return total

    def external(self, wrench: Array) -> Array:
        """Generalised force (24,) of a wrench (6,) at the platform origin in platform axes."""
        total = np.zeros(self.nv)
        total[18:] = wrench
        return total

    def inverse(self, motion: Array, wrench: Array) -> tuple[Array, Array]:
        """Actuator forces (6,) and forces on the legs' tops (6, 3), base axes, of a motion (19,)."""
        self.set_state(motion[:13])
        acceleration = np.zeros(self.nv)
        spatial = motion[13:19].copy()
        spatial[:3] -= np.cross(motion[10:13], motion[7:10])
        acceleration[18:] = self.to_local @ spatial
        for index in range(6):
            columns, rows = slice(3 * index, 3 * index + 3), slice(3 * index, 3 * index + 3)
            wanted = -self.drift[rows] - self.constraint[rows, 18:] @ acceleration[18:]
            acceleration[columns] = np.linalg.solve(self.constraint[rows, columns], wanted)
        needed = self._rnea(self.v, acceleration) - self.friction() - self.external(wrench)
        drives = np.zeros((self.nv, 6))
        drives[self.prismatic, range(6)] = 1.0
        solution = np.linalg.solve(np.hstack([self.constraint.T, drives]), needed)
        pin.forwardKinematics(self.model, self.data, self.q, self._all(self.v), self._all(acceleration))
        return solution[18:], solution[:18].reshape(6, 3)

    def acceleration(self, state: Array, forces: Array, wrench: Array) -> Array:
        """Acceleration [a, α] (6,) of the platform, base axes, under leg forces (6,)."""
        self.set_state(state)
        bias = self._rnea(self.v, np.zeros(self.nv))
        mass = np.column_stack([self._rnea(self.v, column) - bias for column in np.eye(self.nv)])
        load = self.friction() + self.external(wrench) - bias
        load[self.prismatic] += forces
        n = self.nv
        system = np.zeros((n + 18, n + 18))
        system[:n, :n] = mass
        system[:n, n:] = -self.constraint.T
        system[n:, :n] = self.constraint
        solution = np.linalg.solve(system, np.concatenate([load, -self.drift]))
        result = self.to_local.T @ solution[18:n]
        result[:3] += np.cross(state[10:13], state[7:10])
        return np.asarray(result)

    def energy(self, state: Array) -> float:
        """Kinetic plus potential energy, J."""
        self.set_state(state)
        return float(
            pin.computeKineticEnergy(self.model, self.data, self.q, self._all(self.v))
            + pin.computePotentialEnergy(self.model, self.data, self.q)
        )
