"""A serial arm: joints with their bodies, drives, friction and limits; and the same arm in Denavit–Hartenberg form."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from dynamics.errors import ArmError
from dynamics.mechanism_file import unphysical
from dynamics.serial.chain import Link, SerialChain
from dynamics.serial.iterative import ModifiedChain, standard_chain
from kinematics import Array

JointKind = Literal["revolute", "prismatic"]

_ROUNDING = 1e-9  # of a rotation's orthogonality and an inertia's symmetry, for the file's rounding
_PARALLEL = 1e-9  # rad, between two axes that count as parallel


def joint_units(kind: JointKind) -> tuple[str, str, str]:
    """Return the units of a joint's position, of its force, and of its inertia: rad, N m, kg m² or m, N, kg."""
    return ("rad", "N m", "kg m²") if kind == "revolute" else ("m", "N", "kg")


@dataclass(frozen=True, slots=True)
class JointLimits:
    """Limits of a joint; None is no limit. position (low, high) rad or m; the others are sizes.

    velocity rad/s or m/s, acceleration rad/s² or m/s², force N m or N.
    """

    position: tuple[float, float] | None = None
    velocity: float | None = None
    acceleration: float | None = None
    force: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ArmJoint:
    """Joint i and the body that it moves. SI units: m, rad, kg, kg m².

    `rotation` (3, 3) and `position` (3,) place frame i in frame i − 1 at q = 0; frame 0 is the base. The joint turns
    about or slides along the z axis of frame i. `mass`; `center` (3,) is the centre of mass from the origin of frame i
    and `inertia` (3, 3) is about the centre of mass, both in axes of frame i. At the joint, as functions of its own
    speed: `motor_inertia` kg m² or kg, `viscous` N m s/rad or N s/m, `coulomb` and `offset` N m or N. The joint's force
    is that of the bodies + motor_inertia q̈ + viscous q̇ + coulomb sign(q̇) + offset.

    Raises ArmError for wrong shapes, numbers that are not finite, a rotation that is none, an inertia that is not
    symmetric, a negative mass, inertia or friction, or limits without room.
    """

    name: str
    kind: JointKind = "revolute"
    rotation: Array = field(default_factory=lambda: np.eye(3))
    position: Array = field(default_factory=lambda: np.zeros(3))
    mass: float = 0.0
    center: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))
    motor_inertia: float = 0.0
    viscous: float = 0.0
    coulomb: float = 0.0
    offset: float = 0.0
    limits: JointLimits = JointLimits()

    def __post_init__(self) -> None:
        """Check the numbers and freeze the arrays."""
        if self.kind not in ("revolute", "prismatic"):
            raise ArmError(self.name, [f"kind: {self.kind!r}, must be 'revolute' or 'prismatic'"])
        length, force, inertia = joint_units(self.kind)
        units = {
            "rotation": "", "position": "m", "mass": "kg", "center": "m", "inertia": "kg m²", "motor_inertia": inertia,
            "viscous": f"{force} s/{length}", "coulomb": force, "offset": force,
        }  # fmt: skip
        shapes: dict[str, tuple[int, ...]] = {
            "rotation": (3, 3), "position": (3,), "center": (3,), "inertia": (3, 3),
        }  # fmt: skip
        faults = []
        for name, unit in units.items():
            shape = shapes.get(name, ())
            value = np.array(getattr(self, name), dtype=np.float64)
            if value.shape != shape:
                faults.append(f"{name}: shape {value.shape}, must be {shape}")
            elif not np.isfinite(value).all():
                faults.append(f"{name}: {value.tolist()} {unit}".rstrip() + ", must be finite")
            elif not shape and name != "offset" and value < 0.0:
                faults.append(f"{name}: {value:g} {unit}, must not be negative")
            elif name == "rotation" and not _is_rotation(value):
                faults.append(f"rotation: {value.tolist()} is not orthonormal and right-handed")
            elif name == "inertia" and np.abs(value - value.T).max() > _ROUNDING * np.abs(value).max():
                faults.append(f"inertia: {value.tolist()} kg m² is not symmetric")
            else:
                object.__setattr__(self, name, _frozen(value) if shape else float(value))
        faults += _limit_faults(self.limits, length, force)
        if faults:
            raise ArmError(f"joint {self.name}", faults)
        object.__setattr__(self, "inertia", _frozen(0.5 * (self.inertia + self.inertia.T)))

    @property
    def revolute(self) -> bool:
        """Whether the joint turns; otherwise it slides."""
        return self.kind == "revolute"

    @property
    def inertia_at_origin(self) -> Array:
        """Inertia about the origin of frame i (3, 3), kg m²: I + m (c·c 1 − c cᵀ)."""
        c = self.center
        moved: Array = self.inertia + self.mass * (float(c @ c) * np.eye(3) - np.outer(c, c))
        return moved


@dataclass(frozen=True, slots=True, eq=False)
class Arm:
    """An open chain of n joints from a fixed base, with its drives. SI units.

    `gravity` (3,) m/s², base axes. `tip_rotation` (3, 3) and `tip_position` (3,) m place the tip in frame n.
    `transmission` (n, n) is G of the motors' positions p = G q, rad per rad or m of the joint: gear ratios on the
    diagonal, coupled joints off it; joint forces are τ = Gᵀ c of motor torques c. None is no transmission: the motors
    are the joints. `rotor_inertia` (n,) kg m², `motor_viscous` (n,) N m s/rad and `motor_coulomb` (n,) N m are at the
    motors; at the joints they are Gᵀ diag(J) G q̈ + Gᵀ (f_v ṗ + f_c sign ṗ). None is zero. Gyroscopic moments of the
    rotors are neglected. `warnings` names bodies that cannot exist, `notes` what of its file the arm leaves out;
    `source` is the file's text.

    q, qd and qdd are always the n joint positions and their rates (rad or m, per s).

    Raises ArmError for an arm without joints, two joints of one name, wrong shapes, numbers that are not finite,
    negative inertias or friction, or a transmission that cannot be inverted.
    """

    name: str
    joints: tuple[ArmJoint, ...]
    gravity: Array = field(default_factory=lambda: np.array([0.0, 0.0, -9.80665]))
    tip_rotation: Array = field(default_factory=lambda: np.eye(3))
    tip_position: Array = field(default_factory=lambda: np.zeros(3))
    transmission: Array | None = None
    rotor_inertia: Array | None = None
    motor_viscous: Array | None = None
    motor_coulomb: Array | None = None
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    source: str = ""

    def __post_init__(self) -> None:
        """Check the numbers and freeze the arrays."""
        joints = tuple(self.joints)
        n = len(joints)
        if not joints:
            raise ArmError(self.name, ["joints: none, must be at least 1"])
        names = [joint.name for joint in joints]
        twice = sorted({name for name in names if names.count(name) > 1})
        faults = [f"joints: the name {name!r} occurs twice" for name in twice]
        shapes: dict[str, tuple[tuple[int, ...], str]] = {
            "gravity": ((3,), "m/s²"), "tip_rotation": ((3, 3), ""), "tip_position": ((3,), "m"),
            "transmission": ((n, n), ""), "rotor_inertia": ((n,), "kg m²"), "motor_viscous": ((n,), "N m s/rad"),
            "motor_coulomb": ((n,), "N m"),
        }  # fmt: skip
        for name, (shape, unit) in shapes.items():
            given = getattr(self, name)
            if given is None:
                continue
            value = np.array(given, dtype=np.float64)
            if value.shape != shape:
                faults.append(f"{name}: shape {value.shape}, must be {shape}")
            elif not np.isfinite(value).all():
                faults.append(f"{name}: {value.tolist()} {unit}".rstrip() + ", must be finite")
            elif name in ("rotor_inertia", "motor_viscous", "motor_coulomb") and value.min() < 0.0:
                faults.append(f"{name}: {value.tolist()} {unit}, none may be negative")
            elif name == "tip_rotation" and not _is_rotation(value):
                faults.append(f"tip_rotation: {value.tolist()} is not orthonormal and right-handed")
            elif name == "transmission" and np.linalg.cond(value) > 1e12:
                faults.append(f"transmission: {value.tolist()} cannot be inverted")
            else:
                object.__setattr__(self, name, _frozen(value))
        if faults:
            raise ArmError(self.name, faults)
        object.__setattr__(self, "joints", joints)

    def __len__(self) -> int:
        """Number n of joints."""
        return len(self.joints)

    @property
    def motor_ratios(self) -> Array:
        """G (n, n), the unit matrix if the arm has no transmission."""
        return np.eye(len(self)) if self.transmission is None else self.transmission

    @property
    def drive_inertia(self) -> Array:
        """What motors and joints add to the mass matrix (n, n): diag(motor_inertia) + Gᵀ diag(J) G."""
        added = np.diag([joint.motor_inertia for joint in self.joints])
        if self.rotor_inertia is not None:
            G = self.motor_ratios
            added = added + G.T @ (self.rotor_inertia[:, np.newaxis] * G)
        return added

    @property
    def viscous_matrix(self) -> Array:
        """Viscous friction at the joints (n, n): diag(viscous) + Gᵀ diag(f_v) G."""
        added = np.diag([joint.viscous for joint in self.joints])
        if self.motor_viscous is not None:
            G = self.motor_ratios
            added = added + G.T @ (self.motor_viscous[:, np.newaxis] * G)
        return added

    def link_poses(self, q: npt.ArrayLike) -> Array:
        """Poses (n + 1, 4, 4) of frames 1 … n and of the tip in the base frame at q (n,); m."""
        poses, pose = [], np.eye(4)
        for joint, x in zip(self.joints, joint_values(self, "q", q), strict=True):
            turn = _about_z(x) if joint.revolute else np.eye(3)
            slide = np.zeros(3) if joint.revolute else joint.rotation[:, 2] * x
            pose = pose @ _pose(joint.rotation @ turn, joint.position + slide)
            poses.append(pose)
        poses.append(pose @ _pose(self.tip_rotation, self.tip_position))
        return np.array(poses)

    @property
    def unphysical(self) -> tuple[str, ...]:
        """Names of the joints whose bodies cannot exist: no distribution of mass has their inertia."""
        return tuple(joint.name for joint in self.joints if unphysical(joint.mass, joint.inertia))

    def without_friction(self) -> "Arm":
        """Return the arm without Coulomb and viscous friction and offsets."""
        joints = tuple(replace(joint, viscous=0.0, coulomb=0.0, offset=0.0) for joint in self.joints)
        return replace(self, joints=joints, motor_viscous=None, motor_coulomb=None)

    def without_drives(self) -> "Arm":
        """Return the bodies alone: without friction, offsets and inertias of motors."""
        bare = self.without_friction()
        return replace(bare, joints=tuple(replace(x, motor_inertia=0.0) for x in bare.joints), rotor_inertia=None)


def joint_values(arm: Arm, name: str, value: npt.ArrayLike) -> Array:
    """Return one number for each joint as an array (n,). Raises ArmError with `name` and the joint at fault."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ArmError(arm.name, [f"{name}: not numbers ({error})"]) from None
    if array.shape != (len(arm),):
        raise ArmError(arm.name, [f"{name}: shape {array.shape}, must be ({len(arm)},)"])
    finite = np.isfinite(array)
    if not finite.all():
        index = int(np.argmin(finite))
        raise ArmError(arm.name, [f"{name}: {array[index]} of joint {arm.joints[index].name}, must be finite"])
    return array


@dataclass(frozen=True, slots=True)
class LimitExcess:
    """The sample at which a joint is farthest beyond one of its limits.

    `quantity`: position, velocity, acceleration or force. `value`, `bound`: SI, in `unit`; time s.
    """

    joint: str
    quantity: str
    value: float
    bound: float
    unit: str
    time: float


def limit_excesses(
    arm: Arm, times: Array, q: Array, qd: Array, qdd: Array, tau: Array | None = None
) -> list[LimitExcess]:
    """Return where a motion (m, n) at `times` (m,) s exceeds the limits of the joints, the worst of each quantity."""
    found = []
    for index, joint in enumerate(arm.joints):
        length, force, _inertia = joint_units(joint.kind)
        limits = joint.limits
        low, high = limits.position or (-math.inf, math.inf)
        bounds = [
            ("position", q, low, high, length),
            ("velocity", qd, None, limits.velocity, f"{length}/s"),
            ("acceleration", qdd, None, limits.acceleration, f"{length}/s²"),
            ("force", tau, None, limits.force, force),
        ]
        for quantity, values, least, most, unit in bounds:
            if most is None or values is None:
                continue
            bottom = -most if least is None else least
            beyond = np.maximum(values[:, index] - most, bottom - values[:, index])
            worst = int(np.argmax(beyond))
            if beyond[worst] > 1e-9 * max(1.0, abs(most) if math.isfinite(most) else 0.0):
                value = float(values[worst, index])
                bound = most if value > most else bottom
                found.append(LimitExcess(joint.name, quantity, value, bound, unit, float(times[worst])))
    return found


def physical_faults(joints: Sequence[ArmJoint]) -> list[str]:
    """Return which bodies cannot exist, and why: "joints[0] (joint 1): no real body has this inertia: …"."""
    return [
        f"joints[{index}] (joint {index + 1}): {problem}"
        for index, joint in enumerate(joints)
        for problem in unphysical(joint.mass, joint.inertia)
    ]


def arm_chain(arm: Arm) -> ModifiedChain:
    """Return the bodies of an arm as a chain in modified Denavit–Hartenberg form, for the formulations of the papers.

    Joint positions and forces are the arm's. Frame i keeps the z axis of joint i; its x axis is along the common normal
    to the next joint's axis. Frame 0 is that of joint 1 at q = 0, and gravity is in its axes. The tip is frame n.
    Its links have no motors and no friction; `drive_forces` computes what these add.
    """
    axes = _axes_at_zero(arm)
    frames, moves = _modified_frames(axes, [joint.revolute for joint in arm.joints])
    poses = arm.link_poses(np.zeros(len(arm)))
    links = []
    for joint, pose, frame, (a, alpha, theta, d) in zip(arm.joints, poses[:-1], frames, moves, strict=True):
        turn = frame[:3, :3].T @ pose[:3, :3]
        center = frame[:3, :3].T @ (pose[:3, :3] @ joint.center + pose[:3, 3] - frame[:3, 3])
        inertia = turn @ joint.inertia @ turn.T
        links.append(
            Link(
                joint.kind, a=a, alpha=alpha, d=d, theta=theta, mass=joint.mass, center=_neat(center).tolist(),
                inertia=_neat(0.5 * (inertia + inertia.T)).tolist(),
            )
        )  # fmt: skip
    gravity = frames[0][:3, :3].T @ arm.gravity
    return ModifiedChain(tuple(links), _neat(gravity).tolist())


def standard_arm_chain(arm: Arm) -> SerialChain:
    """Return `arm_chain` in standard Denavit–Hartenberg form."""
    return standard_chain(arm_chain(arm))


def about_x(angle: float) -> Array:
    """Rotation (3, 3) about x by an angle, rad; multiples of a right angle are exact."""
    c, s = _cosine_and_sine(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def rotation_of_angles(angles: list[float]) -> Array:
    """R = Rz(rz) Ry(ry) Rx(rx) of three angles, rad; multiples of a right angle are exact."""
    (cx, sx), (cy, sy), (cz, sz) = map(_cosine_and_sine, angles)
    return np.array(
        [
            [cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx],
            [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx],
            [-sy, cy * sx, cy * cx],
        ]
    )


def _cosine_and_sine(angle: float) -> tuple[float, float]:
    c, s = math.cos(angle), math.sin(angle)
    return (0.0 if abs(c) < 1e-15 else c), (0.0 if abs(s) < 1e-15 else s)


def _axes_at_zero(arm: Arm) -> list[tuple[Array, Array]]:
    poses = arm.link_poses(np.zeros(len(arm)))
    return [(pose[:3, 2], pose[:3, 3]) for pose in poses[:-1]]


def _modified_frames(
    axes: list[tuple[Array, Array]], revolute: list[bool]
) -> tuple[list[Array], list[tuple[float, float, float, float]]]:
    """Return frames (4, 4) in the base and a, alpha, theta, d of each, from the joints' directions and points.

    The first has a = alpha = theta = d = 0.
    """
    frames: list[Array] = []
    origin = axes[0][1]
    for i, (z, point) in enumerate(axes):
        # a prismatic joint moves parallel to its axis, wherever that lies: through the origin of the frame before
        foot = point if revolute[i] or i == 0 else origin
        place = foot + z * float((origin - foot) @ z)  # nearest to the frame before: d = 0
        x = None
        if i + 1 < len(axes):
            z_next = axes[i + 1][0]
            between = (axes[i + 1][1] if revolute[i + 1] else place) - place
            parallel = float(z @ z_next)
            across = np.cross(z, z_next)
            if np.linalg.norm(across) > _PARALLEL:
                x = across / np.linalg.norm(across)
                along = float(between @ z) - parallel * float(between @ z_next)
                place = place + z * (along / (1.0 - parallel * parallel))
            else:
                between = between - z * float(between @ z)
                x = between / np.linalg.norm(between) if np.linalg.norm(between) > 1e-12 else None
        if x is None:
            x = frames[-1][:3, 0] if frames else _any_normal(z)
            x = x - z * float(x @ z)
            x = x / np.linalg.norm(x) if np.linalg.norm(x) > 1e-6 else _any_normal(z)
        elif frames and float(x @ frames[-1][:3, 0]) < 0.0:
            x = -x  # θ nearest to 0
        frames.append(_pose(np.column_stack([x, np.cross(z, x), z]), place))
        origin = place
    moves = [(0.0, 0.0, 0.0, 0.0)]
    for before, after in pairwise(frames):
        step = np.linalg.inv(before) @ after
        R, p = step[:3, :3], step[:3, 3]
        alpha = math.atan2(-R[1, 2], R[2, 2])
        theta = math.atan2(-R[0, 1], R[0, 0])
        d = float(p[1] * R[1, 2] + p[2] * R[2, 2])
        moves.append((_tidy(float(p[0])), _tidy(alpha), _tidy(theta), _tidy(d)))
    return frames, moves


def _any_normal(z: Array) -> Array:
    other = np.eye(3)[int(np.argmin(np.abs(z)))]
    x = other - z * float(other @ z)
    unit: Array = x / np.linalg.norm(x)
    return unit


def _tidy(value: float) -> float:
    """Return 0 for what is only rounding."""
    return 0.0 if abs(value) < 1e-15 else value


def _neat(values: Array) -> Array:
    return np.where(np.abs(values) < 1e-15 * max(1.0, float(np.abs(values).max())), 0.0, values)


def _pose(rotation: Array, position: Array) -> Array:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, position
    return pose


def _about_z(angle: float) -> Array:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _is_rotation(value: Array) -> bool:
    return bool(np.abs(value @ value.T - np.eye(3)).max() < _ROUNDING and np.linalg.det(value) > 0.0)


def _frozen(value: Array) -> Array:
    copy = np.ascontiguousarray(value, dtype=np.float64).copy()
    copy.flags.writeable = False
    return copy


def _limit_faults(limits: JointLimits, length: str, force: str) -> list[str]:
    faults = []
    if limits.position is not None:
        low, high = limits.position
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            faults.append(f"limits.position: [{low}, {high}] {length}, must be finite and [least, greatest]")
    units = {"velocity": f"{length}/s", "acceleration": f"{length}/s²", "force": force}
    for name, unit in units.items():
        value = getattr(limits, name)
        if value is not None and not (math.isfinite(value) and value > 0.0):
            faults.append(f"limits.{name}: {value} {unit}, must be finite and above 0 {unit}")
    return faults
