"""The arm file: its tables, keys and units; reading it into an `Arm`, with all faults, and writing it."""

import reprlib
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, StrictBool, StrictInt, ValidationError

from dynamics.errors import ArmError
from dynamics.mechanism_file import BodyMass, Position, Table, Tensor, Three, fault_text
from dynamics.serial.arm import Arm, ArmJoint, JointKind, JointLimits, about_x, physical_faults, rotation_of_angles
from kinematics import (
    MOST_BYTES,
    Acceleration,
    Angle,
    AngularAcceleration,
    AngularDamping,
    AngularSpeed,
    Array,
    Damping,
    Force,
    Inertia,
    InputFileError,
    Length,
    Mass,
    MissingFileError,
    Number,
    Speed,
    Torque,
    parse_toml,
    read_text,
    within,
)

FrameConvention = Literal["standard", "modified", "placements"]

MOST_JOINTS = 64
_MOST_URDF = 10_000_000  # bytes

Turn = Annotated[Angle, within(-100.0, 100.0, "rad")]
_Placing = Annotated[Angle, within(-6.3, 6.3, "rad")]  # one turn: so that 90 without a unit is not taken as 90 rad
Reach = Annotated[Length, within(-100.0, 100.0, "m")]
Angles = Annotated[list[_Placing], Three]
_Ratio = Annotated[Number, within(-1e6, 1e6)]
_RotorInertia = Annotated[Inertia, within(0.0, 1e4, "kg m²")]
_MotorViscous = Annotated[AngularDamping, within(0.0, 1e4, "N m s/rad")]
_MotorCoulomb = Annotated[Torque, within(0.0, 1e5, "N m")]


class RevoluteLimits(Table):
    """Limits of a revolute joint; omitted quantities are unlimited."""

    position: Annotated[list[Turn], Field(min_length=2, max_length=2)] | None = None
    """Least and greatest angle, rad."""
    velocity: Annotated[AngularSpeed, within(1e-6, 1e4, "rad/s")] | None = None
    """Greatest speed, rad/s."""
    acceleration: Annotated[AngularAcceleration, within(1e-6, 1e6, "rad/s²")] | None = None
    """Greatest acceleration, rad/s²."""
    force: Annotated[Torque, within(1e-6, 1e7, "N m")] | None = None
    """Greatest torque at the joint, N m."""


class PrismaticLimits(Table):
    """Limits of a prismatic joint; omitted quantities are unlimited."""

    position: Annotated[list[Reach], Field(min_length=2, max_length=2)] | None = None
    """Least and greatest travel, m."""
    velocity: Annotated[Speed, within(1e-6, 1e3, "m/s")] | None = None
    """Greatest speed, m/s."""
    acceleration: Annotated[Acceleration, within(1e-6, 1e5, "m/s²")] | None = None
    """Greatest acceleration, m/s²."""
    force: Annotated[Force, within(1e-6, 1e7, "N")] | None = None
    """Greatest force at the joint, N."""


class MotorTable(Table):
    """The motor of a joint, behind its gear."""

    gear_ratio: _Ratio = 1.0
    """Motor angle per joint position: rad per rad of a revolute joint, rad per m of a prismatic one; not 0."""
    rotor_inertia: _RotorInertia = 0.0
    """Inertia of the rotor and what turns with it, at the motor, kg m²."""
    viscous: _MotorViscous = 0.0
    """Viscous friction at the motor, N m s/rad."""
    coulomb: _MotorCoulomb = 0.0
    """Coulomb friction at the motor, N m."""


class JointTable(Table):
    """One joint with its body. Which keys place its frame depends on the file's `frames`."""

    name: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    """Name; default "joint 1" and so on."""
    kind: JointKind
    """Kind of the joint."""
    a: Reach | None = None
    """Denavit–Hartenberg length a, m; of the link behind the joint (standard) or before it (modified)."""
    alpha: _Placing | None = None
    """Denavit–Hartenberg twist α, rad; as a."""
    d: Reach | None = None
    """Denavit–Hartenberg offset d along the joint's axis, m; a prismatic joint's position adds to it."""
    theta: _Placing | None = None
    """Denavit–Hartenberg angle θ about the joint's axis, rad; a revolute joint's position adds to it."""
    position: Position | None = None
    """Origin of the joint's frame in the frame before, m (`frames = "placements"`)."""
    angles: Angles | None = None
    """Angles rx, ry, rz of the joint's frame in the frame before, R = Rz(rz) Ry(ry) Rx(rx), rad (`"placements"`)."""
    mass: BodyMass = 0.0
    """Mass of the body, kg."""
    center_of_mass: Position = Field(default_factory=lambda: [0.0, 0.0, 0.0])
    """Centre of mass in the axes of the body's frame, from its origin, m."""
    inertia: Tensor = Field(default_factory=lambda: [[0.0] * 3 for _ in range(3)])
    """Inertia about the centre of mass in the axes of the body's frame, symmetric, kg m²."""
    motor: MotorTable | None = None
    """The motor."""


class RevoluteJointTable(JointTable):
    """A joint that turns about its z axis."""

    kind: Literal["revolute"]
    """Kind of the joint."""
    motor_inertia: Annotated[Inertia, within(0.0, 1e6, "kg m²")] = 0.0
    """Inertia of the motor as seen at the joint, kg m²; instead of a motor's rotor_inertia, or on top of it."""
    viscous: Annotated[AngularDamping, within(0.0, 1e6, "N m s/rad")] = 0.0
    """Viscous friction at the joint, N m s/rad."""
    coulomb: Annotated[Torque, within(0.0, 1e6, "N m")] = 0.0
    """Coulomb friction at the joint, N m."""
    offset: Annotated[Torque, within(-1e6, 1e6, "N m")] = 0.0
    """Constant torque that the drive needs besides, N m, as of friction that differs by direction."""
    limits: RevoluteLimits = RevoluteLimits()
    """Limits."""


class PrismaticJointTable(JointTable):
    """A joint that slides along its z axis."""

    kind: Literal["prismatic"]
    """Kind of the joint."""
    motor_inertia: Annotated[Mass, within(0.0, 1e6, "kg")] = 0.0
    """Inertia of the motor as seen at the joint, kg; instead of a motor's rotor_inertia, or on top of it."""
    viscous: Annotated[Damping, within(0.0, 1e7, "N s/m")] = 0.0
    """Viscous friction at the joint, N s/m."""
    coulomb: Annotated[Force, within(0.0, 1e7, "N")] = 0.0
    """Coulomb friction at the joint, N."""
    offset: Annotated[Force, within(-1e7, 1e7, "N")] = 0.0
    """Constant force that the drive needs besides, N."""
    limits: PrismaticLimits = PrismaticLimits()
    """Limits."""


class CouplingTable(Table):
    """A motor that another joint turns too."""

    motor: StrictInt
    """Number of the motor, 1 to n: that of the joint which has it."""
    joint: StrictInt
    """Number of the other joint."""
    ratio: _Ratio
    """Motor angle per position of that joint, rad per rad or m."""


class TipTable(Table):
    """The tip in the last frame (standard Denavit–Hartenberg: the frame behind the last link)."""

    position: Position = Field(default_factory=lambda: [0.0, 0.0, 0.0])
    """Origin of the tip's frame, m."""
    angles: Angles = Field(default_factory=lambda: [0.0, 0.0, 0.0])
    """Angles rx, ry, rz of the tip's frame, R = Rz(rz) Ry(ry) Rx(rx), rad."""


class ArmTable(Table):
    """A whole arm file."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    """Name of the arm."""
    frames: FrameConvention
    """How joints are placed: by standard or modified Denavit–Hartenberg parameters, or by position and angles."""
    allow_unphysical: StrictBool = False
    """Accept masses and inertias that no real body can have."""
    gravity: Annotated[list[Annotated[Acceleration, within(-100.0, 100.0, "m/s²")]], Three]
    """Gravity in the base frame, m/s²."""
    joints: Annotated[
        list[Annotated[RevoluteJointTable | PrismaticJointTable, Field(discriminator="kind")]],
        Field(min_length=1, max_length=MOST_JOINTS),
    ]
    """The joints in order from the base, a table each."""
    coupling: list[CouplingTable] = Field(default_factory=list)
    """Motors that more than one joint turns."""
    tip: TipTable = TipTable()
    """The tip."""


_DENAVIT_HARTENBERG = ("a", "alpha", "d", "theta")
_PLACEMENT = ("position", "angles")


def arm_names() -> tuple[str, ...]:
    """Names of the shipped arms, sorted."""
    folder = resources.files("dynamics") / "arms"
    return tuple(sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml")))


def load_arm(path_or_name: str | Path, *, evaluate_only: bool = False) -> Arm:
    """Read an arm from a TOML or a URDF file, or a shipped one by its bare name ("puma-560").

    A URDF may have the link of the tip behind its name, "arm.urdf#flange"; see `dynamics.serial.urdf`.
    A body that cannot exist is rejected unless the file says `allow_unphysical = true` or the arm is only evaluated
    (`evaluate_only`); the arm's `warnings` then name it. Raises ArmError with all faults of the file, or why it cannot
    be read.
    """
    name = str(path_or_name)
    if isinstance(path_or_name, str) and name in arm_names():
        text = (resources.files("dynamics") / "arms" / f"{name}.toml").read_text(encoding="utf-8")
        return parse_arm(text, source=name, evaluate_only=evaluate_only)
    file, _mark, tip = name.partition("#")
    urdf = Path(file).suffix.lower() == ".urdf"
    try:
        text = read_text(Path(file) if urdf else Path(path_or_name), _MOST_URDF if urdf else MOST_BYTES)
    except MissingFileError:
        raise ArmError(name, [f"no such file; shipped arms are {', '.join(arm_names())}"]) from None
    except InputFileError as error:
        raise ArmError(name, [str(error)]) from None
    if urdf:
        from dynamics.serial.urdf import parse_urdf  # needs an extra

        return parse_urdf(text, source=name, tip=tip or None, evaluate_only=evaluate_only)
    return parse_arm(text, source=name, evaluate_only=evaluate_only)


def parse_arm(text: str, *, source: str = "arm", evaluate_only: bool = False) -> Arm:
    """Make an arm from the text of its file; `source` names it in messages. See `load_arm`."""
    try:
        data = parse_toml(text)
    except InputFileError as error:
        raise ArmError(source, [str(error)]) from None
    try:
        table = ArmTable.model_validate(data)
    except ValidationError as error:
        raise ArmError(source, [_message(fault) for fault in error.errors(include_url=False)]) from None
    faults = [*_frame_faults(table), *_motor_faults(table), *_limit_order_faults(table)]
    if faults:
        raise ArmError(source, faults)
    joints, tip_rotation, tip_position = _placed(table)
    unreal = physical_faults(joints)
    if unreal and not (evaluate_only or table.allow_unphysical):
        raise ArmError(source, unreal)
    return Arm(
        name=table.name,
        joints=tuple(joints),
        gravity=np.array(table.gravity),
        tip_rotation=tip_rotation,
        tip_position=tip_position,
        **_drives(table),
        warnings=tuple(unreal),
        source=text,
    )


def _message(fault: Any) -> str:
    """Format a fault as one line: its path in the file, the joint of a list index, and the fault."""
    path = ""
    place = [part for part in fault["loc"] if part not in ("revolute", "prismatic")]
    for index, part in enumerate(place):
        if isinstance(part, int):
            path += f"[{part}]" + (f" (joint {part + 1})" if place[index - 1] == "joints" else "")
        else:
            path += f".{part}" if path else str(part)
    if fault["type"] == "union_tag_not_found":
        return f"{path}.kind: missing"
    if fault["type"] == "union_tag_invalid":
        return f"{path}.kind: {reprlib.repr(fault['ctx']['tag'])} must be 'revolute' or 'prismatic'"
    return f"{path}: {fault_text(fault)}"


def _frame_faults(table: ArmTable) -> list[str]:
    """Return keys that place a joint in another convention than the file's."""
    wrong = _DENAVIT_HARTENBERG if table.frames == "placements" else _PLACEMENT
    right = _PLACEMENT if table.frames == "placements" else _DENAVIT_HARTENBERG
    return [
        f'joints[{index}] (joint {index + 1}).{key}: not with frames = "{table.frames}", which has {", ".join(right)}'
        for index, joint in enumerate(table.joints)
        for key in wrong
        if getattr(joint, key) is not None
    ]


def _motor_faults(table: ArmTable) -> list[str]:
    faults = []
    n = len(table.joints)
    for index, joint in enumerate(table.joints):
        if joint.motor is not None and joint.motor.gear_ratio == 0.0:
            faults.append(f"joints[{index}] (joint {index + 1}).motor.gear_ratio: 0, must not be 0")
    seen: set[tuple[int, int]] = set()
    for index, each in enumerate(table.coupling):
        for key in ("motor", "joint"):
            value = getattr(each, key)
            if not 1 <= value <= n:
                faults.append(f"coupling[{index}].{key}: {value}, must be 1 to {n}")
        if each.motor == each.joint:
            faults.append(f"coupling[{index}]: motor and joint {each.motor}: that is the joint's motor.gear_ratio")
        if (each.motor, each.joint) in seen:
            faults.append(f"coupling[{index}]: motor {each.motor} and joint {each.joint} occur twice")
        seen.add((each.motor, each.joint))
    names = [_name(table, index) for index in range(n)]
    faults += [
        f"joints[{index}] (joint {index + 1}).name: {name!r} is the name of joint {names.index(name) + 1} too"
        for index, name in enumerate(names)
        if names.index(name) < index
    ]
    return faults


def _limit_order_faults(table: ArmTable) -> list[str]:
    return [
        f"joints[{index}] (joint {index + 1}).limits.position: {joint.limits.position} "
        f"{'rad' if joint.kind == 'revolute' else 'm'}, must be [least, greatest]"
        for index, joint in enumerate(table.joints)
        if joint.limits.position is not None and not joint.limits.position[0] < joint.limits.position[1]
    ]


def _name(table: ArmTable, index: int) -> str:
    return table.joints[index].name or f"joint {index + 1}"


def _placed(table: ArmTable) -> tuple[list[ArmJoint], Array, Array]:
    """Return the joints, and rotation and position of the tip in the last joint's frame."""
    joints = []
    rotation, position = np.eye(3), np.zeros(3)  # of what precedes the joint's own screw
    for index, joint in enumerate(table.joints):
        center, inertia = np.array(joint.center_of_mass), np.array(joint.inertia)
        a, alpha, d, theta = (getattr(joint, key) or 0.0 for key in _DENAVIT_HARTENBERG)
        if table.frames == "placements":
            rotation, position = rotation_of_angles(joint.angles or [0.0] * 3), np.array(joint.position or [0.0] * 3)
            behind, beyond = np.eye(3), np.zeros(3)
        else:
            if table.frames == "modified":
                rotation, position = about_x(alpha), np.array([a, 0.0, 0.0])
            position = position + rotation @ [0.0, 0.0, d]
            rotation = rotation @ rotation_of_angles([0.0, 0.0, theta])
            # the standard form's frame i, in which the file gives the body, stands behind the link
            standard = table.frames == "standard"
            behind, beyond = (about_x(alpha), np.array([a, 0.0, 0.0])) if standard else (np.eye(3), np.zeros(3))
        moved = behind @ inertia @ behind.T
        joints.append(
            ArmJoint(
                _name(table, index), joint.kind, rotation, position, joint.mass, beyond + behind @ center,
                0.5 * (moved + moved.T), joint.motor_inertia, joint.viscous, joint.coulomb, joint.offset,
                _limits(joint),
            )
        )  # fmt: skip
        rotation, position = behind, beyond
    tip = rotation_of_angles(table.tip.angles)
    if table.frames != "standard":
        return joints, tip, np.array(table.tip.position)
    return joints, rotation @ tip, position + rotation @ np.array(table.tip.position)


def _limits(joint: RevoluteJointTable | PrismaticJointTable) -> JointLimits:
    limits = joint.limits
    position = None if limits.position is None else (limits.position[0], limits.position[1])
    return JointLimits(position, limits.velocity, limits.acceleration, limits.force)


def _drives(table: ArmTable) -> dict[str, Any]:
    """Return the transmission and what is at the motors, as the arguments of `Arm`."""
    motors = [joint.motor for joint in table.joints]
    if not any(motors) and not table.coupling:
        return {}
    motors = [MotorTable() if motor is None else motor for motor in motors]
    G = np.diag([motor.gear_ratio for motor in motors if motor])
    for each in table.coupling:
        G[each.motor - 1, each.joint - 1] = each.ratio
    columns = {
        "rotor_inertia": np.array([motor.rotor_inertia for motor in motors if motor]),
        "motor_viscous": np.array([motor.viscous for motor in motors if motor]),
        "motor_coulomb": np.array([motor.coulomb for motor in motors if motor]),
    }
    return {"transmission": G} | {name: values if values.any() else None for name, values in columns.items()}
