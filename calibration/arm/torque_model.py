"""The torques of a serial arm as a regressor: linear in bodies, rotor inertias, friction and offsets."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynamics import BODY_NAMES, BODY_UNITS, INERTIA_ELEMENTS, serial
from kinematics import Array

BODY = len(BODY_NAMES)
"""Numbers of a body: m, h = m r (3), and the inertia J (xx, yy, zz, xy, xz, yz) about the origin of its frame."""

FRICTION_TERMS = ("asymmetry", "power", "stribeck", "load")
"""Terms of friction beside Coulomb and viscous friction, see `TorqueModel`."""
_STRIBECK = 0.1
"""speed of the Stribeck term, of the RMS speed"""
_CHUNK = 4096  # samples at a time, which bounds the memory


def body_regressor(arm: serial.Arm, q: Array, qd: Array, qdd: Array) -> Array:
    """Y (N, n, 10 n) with which the bodies' part of the joint forces, N m or N, is Y π at N states (N, n).

    π lists the ten numbers of each body in its joint's frame, see `BODY`. By the Newton–Euler recursion over all states
    at once: velocities and accelerations outward, then the force and moment of each body on the axes before it.
    """
    count, n = q.shape
    result = np.empty((count, n, BODY * n))
    for first in range(0, count, _CHUNK):
        part = slice(first, first + _CHUNK)
        result[part] = _body_rows(arm, q[part], qd[part], qdd[part])
    return result


def _body_rows(arm: serial.Arm, q: Array, qd: Array, qdd: Array) -> Array:
    count, n = q.shape
    result = np.zeros((count, n, BODY * n))
    spin, turn = np.zeros((count, 3)), np.zeros((count, 3))  # angular velocity and acceleration, axes of the frame
    pull = np.tile(-np.asarray(arm.gravity), (count, 1))  # acceleration of the origin, less gravity
    axes: list[tuple[Array, Array]] = []  # angular and linear velocity of the origin by a unit speed of each joint
    for i, joint in enumerate(arm.joints):
        rotation, position = _placed(joint.rotation, joint.position, joint.revolute, q[:, i])
        pull = pull + np.cross(turn, position) + np.cross(spin, np.cross(spin, position))
        axes = [
            (_into(rotation, angular), _into(rotation, linear + np.cross(angular, position)))
            for angular, linear in axes
        ]
        spin, turn, pull = _into(rotation, spin), _into(rotation, turn), _into(rotation, pull)
        along = np.broadcast_to([0.0, 0.0, 1.0], (count, 3))
        speed = along * qd[:, i, np.newaxis]
        if joint.revolute:
            turn = turn + along * qdd[:, i, np.newaxis] + np.cross(spin, speed)
            spin = spin + speed
            axes.append((along, np.zeros((count, 3))))
        else:
            pull = pull + along * qdd[:, i, np.newaxis] + 2.0 * np.cross(spin, speed)
            axes.append((np.zeros((count, 3)), along))
        force, moment = _body_wrench(spin, turn, pull)
        for j, (angular, linear) in enumerate(axes):
            result[:, j, BODY * i : BODY * (i + 1)] = np.einsum("nk,nkc->nc", linear, force)
            result[:, j, BODY * i : BODY * (i + 1)] += np.einsum("nk,nkc->nc", angular, moment)
    return result


def _placed(rotation: Array, position: Array, revolute: bool, q: Array) -> tuple[Array, Array]:
    """Rotation (N, 3, 3) and place (N, 3) of a frame in the one before at joint positions q (N,)."""
    turned = np.empty((len(q), 3, 3))
    if not revolute:
        turned[:] = rotation
        return turned, position + q[:, np.newaxis] * rotation[:, 2]
    c, s = np.cos(q)[:, np.newaxis], np.sin(q)[:, np.newaxis]
    turned[:, :, 0] = c * rotation[:, 0] + s * rotation[:, 1]
    turned[:, :, 1] = c * rotation[:, 1] - s * rotation[:, 0]
    turned[:, :, 2] = rotation[:, 2]
    return turned, np.broadcast_to(position, (len(q), 3))


def _into(rotation: Array, vectors: Array) -> Array:
    """Vectors (N, 3) in the axes of a frame, from those of the one before."""
    turned: Array = np.einsum("nji,nj->ni", rotation, vectors)
    return turned


def _body_wrench(spin: Array, turn: Array, pull: Array) -> tuple[Array, Array]:
    """Force and moment about the origin (N, 3, 10) that move a body, as regressors of its ten numbers."""
    count = len(spin)
    force, moment = np.zeros((count, 3, BODY)), np.zeros((count, 3, BODY))
    wheel, gain = _skew(spin), _skew(turn)
    force[:, :, 0] = pull
    force[:, :, 1:4] = gain + wheel @ wheel
    moment[:, :, 1:4] = -_skew(pull)
    moment[:, :, 4:] = _inertia_times(turn) + wheel @ _inertia_times(spin)
    return force, moment


def _skew(vectors: Array) -> Array:
    """Matrices (N, 3, 3) of the cross product with vectors (N, 3)."""
    result = np.zeros((len(vectors), 3, 3))
    x, y, z = vectors.T
    result[:, 0, 1], result[:, 0, 2], result[:, 1, 2] = -z, y, -x
    result[:, 1, 0], result[:, 2, 0], result[:, 2, 1] = z, -y, x
    return result


def _inertia_times(vectors: Array) -> Array:
    """K (N, 3, 6) with J v = K (Jxx, Jyy, Jzz, Jxy, Jxz, Jyz) for vectors v (N, 3)."""
    result = np.zeros((len(vectors), 3, len(INERTIA_ELEMENTS)))
    for column, (i, j) in enumerate(INERTIA_ELEMENTS):
        result[:, i, column] = vectors[:, j]
        result[:, j, column] = vectors[:, i]
    return result


@dataclass(frozen=True, slots=True)
class Side:
    """Where friction acts: a motor, or a joint beside its motor. row (n,): its speed is row · q̇.

    motor: whether it is a motor, which has a rotor. index: of the motor or joint, from 0.
    """

    row: tuple[float, ...]
    motor: bool
    index: int


@dataclass(frozen=True, slots=True, eq=False)
class Parameters:
    """Names and units of the unknowns of a torque model, and where bodies and numbers that are not negative are."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    bodies: tuple[slice, ...]
    positive: tuple[slice, ...]


class TorqueModel:
    """Joint forces τ = W x of an arm, linear in its unknowns x.

    x lists the ten numbers of each body; for each motor its rotor's inertia, viscous and Coulomb friction, which act
    on the joints through the transmission, τ = Gᵀ (J p̈ + f_v ṗ + f_c s(ṗ)), p = G q; the friction of each joint that
    no motor follows alone; the offset of each joint; then the further terms of friction.

    s(v) = tanh(v / v₀) is a smoothed sign. The terms, for each motor and joint with friction: "asymmetry" |v| and
    s²(v), friction that differs by direction; "power" s(v) √|v|, viscous friction that grows less than the speed;
    "stribeck" s(v) exp(−|v| / v_S); "load" s(v) |τ_b|, with the force τ_b of the bodies on that joint.

    Args:
        arm: placements, axes, gravity and transmission; its bodies and friction are not used.
        smoothing: (number of `sides`,) v₀ of each, rad/s or m/s; above zero.
        scales: (number of `sides`,) RMS speed of each, by which v_S and √|v| are scaled.
        terms: of `FRICTION_TERMS`. rotors: with rotor inertias. friction: with any friction.
        coupling: whether the transmission's couplings act; otherwise each motor moves its own joint alone.
    """

    def __init__(
        self,
        arm: serial.Arm,
        smoothing: Array,
        scales: Array,
        *,
        terms: Sequence[str] = (),
        rotors: bool = True,
        friction: bool = True,
        coupling: bool = True,
    ) -> None:
        self.arm, self.smoothing, self.scales = arm, smoothing, scales
        self.terms = tuple(each for each in FRICTION_TERMS if each in terms) if friction else ()
        self.rotors, self.friction, self.coupling = rotors, friction, coupling
        self.sides = sides(arm, coupling=coupling)
        self.motors = tuple(each for each in self.sides if each.motor)
        self.parameters = self._parameters()

    def __len__(self) -> int:
        """Number of unknowns."""
        return len(self.parameters.names)

    def _parameters(self) -> Parameters:
        n = len(self.arm.joints)
        names = [f"joints[{i}].{name}" for i in range(n) for name in BODY_NAMES]
        units = list(BODY_UNITS) * n
        bodies = tuple(slice(BODY * i, BODY * (i + 1)) for i in range(n))
        positive = []
        if self.rotors:
            positive.append(slice(len(names), len(names) + len(self.motors)))
            for side in self.motors:
                names.append(self._named(side, "rotor_inertia" if self._geared else "motor_inertia"))
                units.append(self._unit(side, 2))
        if self.friction:
            positive.append(slice(len(names), len(names) + 2 * len(self.sides)))
            for name, order in (("viscous", 1), ("coulomb", 0)):
                for side in self.sides:
                    names.append(self._named(side, f"motor_{name}" if self._geared and side.motor else name))
                    units.append(self._unit(side, order))
        names += [f"joints[{i}].offset" for i in range(n)]
        units += ["N m" if joint.revolute else "N" for joint in self.arm.joints]
        for term in self.terms:
            for label in ("viscous_asymmetry", "coulomb_asymmetry") if term == "asymmetry" else (term,):
                for side in self.sides:
                    names.append(self._named(side, label))
                    units.append(
                        {"viscous_asymmetry": self._unit(side, 1), "load": "1"}.get(label, self._unit(side, 0))
                    )
        return Parameters(tuple(names), tuple(units), bodies, tuple(positive))

    @property
    def _geared(self) -> bool:
        return self.arm.transmission is not None

    def _named(self, side: Side, name: str) -> str:
        if self._geared and side.motor:
            return f"{name}[{side.index}]"
        return f"joints[{side.index}].{name}"

    def _unit(self, side: Side, order: int) -> str:
        """Unit of what times the speed's derivative of an order, 0 to 2 (0: sign of the speed), is a force."""
        revolute = (self._geared and side.motor) or self.arm.joints[side.index].revolute
        return (("N m", "N m s/rad", "kg m²") if revolute else ("N", "N s/m", "kg"))[order]

    def speeds(self, qd: Array) -> Array:
        """Speeds (N, number of `sides`) of joint speeds (N, n)."""
        rows = np.array([side.row for side in self.sides])
        speeds: Array = qd @ rows.T
        return speeds

    def smoothed_sign(self, qd: Array) -> Array:
        """s(v) (N, number of `sides`) of joint speeds (N, n)."""
        signs: Array = np.tanh(self.speeds(qd) / self.smoothing)
        return signs

    def drive_values(self, qd: Array, qdd: Array) -> Array:
        """Force (N, m) of a unit of each unknown behind the bodies', but those of the term "load", at its own place.

        On the joints they act by `drive_rows`.
        """
        count, n = qd.shape
        speeds = self.speeds(qd)
        signs = np.tanh(speeds / self.smoothing)
        parts: list[Array] = []
        if self.rotors:
            parts.append(qdd @ np.array([side.row for side in self.motors]).T)
        if self.friction:
            parts += [speeds, signs]
        parts.append(np.ones((count, n)))
        for term in self.terms:
            if term == "asymmetry":
                parts += [np.abs(speeds), signs**2]
            elif term == "power":
                parts.append(signs * np.sqrt(np.abs(speeds) / self.scales))
            elif term == "stribeck":
                parts.append(signs * np.exp(-np.abs(speeds) / (_STRIBECK * self.scales)))
        return np.concatenate(parts, axis=1)

    @property
    def drive_rows(self) -> Array:
        """Joint forces (m, n) of a unit force of each of `drive_values`."""
        acting = np.array([side.row for side in self.sides])
        parts = [np.array([side.row for side in self.motors])] if self.rotors else []
        parts += [acting, acting] if self.friction else []
        parts.append(np.eye(len(self.arm.joints)))
        for term in self.terms:
            parts += {"asymmetry": [acting, acting], "load": []}.get(term, [acting])
        return np.concatenate(parts)

    def load_columns(self, signs: Array, body_forces: Array) -> Array:
        """Joint forces (N, n, number of `sides`) of a unit of each unknown of the term "load".

        signs (N, number of `sides`), as of `smoothed_sign`; body_forces (N, n), of the bodies at each joint.
        """
        acting = np.array([side.row for side in self.sides])
        at_motors = body_forces @ np.linalg.inv(np.array([side.row for side in self.motors]))
        carried = np.stack([(at_motors if side.motor else body_forces)[:, side.index] for side in self.sides], axis=1)
        forces: Array = (signs * np.abs(carried))[:, np.newaxis, :] * acting.T
        return forces

    def places(self, name: str) -> NDArray[np.intp]:
        """Places in x of the unknowns with a name behind their last point or before their index, such as "offset"."""
        last = [each.rpartition(".")[2].partition("[")[0] for each in self.parameters.names]
        return np.array([k for k, each in enumerate(last) if each == name], dtype=np.intp)


def sides(arm: serial.Arm, *, coupling: bool = True) -> tuple[Side, ...]:
    """Where friction of an arm acts: all motors, then each joint that no motor follows alone."""
    ratios = arm.motor_ratios if coupling else np.diag(np.diag(arm.motor_ratios))
    n = len(ratios)
    motors = [Side(tuple(ratios[k].tolist()), True, k) for k in range(n)]
    alone = {int(np.flatnonzero(row)[0]) for row in ratios if np.count_nonzero(row) == 1}
    joints = [Side(tuple(np.eye(n)[j].tolist()), False, j) for j in range(n) if j not in alone]
    return (*motors, *joints)
