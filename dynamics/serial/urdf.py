"""Reading an arm from a URDF: the chain of its moving joints, with all that is fixed to a body merged into it."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dynamics.errors import ArmError
from dynamics.serial.arm import Arm, ArmJoint, JointKind, JointLimits, physical_faults, rotation_of_angles
from kinematics import Array

_MOVING = ("revolute", "continuous", "prismatic")
_PREFIXED = re.compile(r"(?:<|\s)([A-Za-z_][\w.-]*):[A-Za-z_][\w.-]*(?=[\s=/>])")
_reading = threading.Lock()
"""the parser reports what it does not know to a function of its module"""


@dataclass
class _Body:
    """What moves with a joint so far: mass, first moment and inertia about the origin, axes of the joint's frame."""

    mass: float = 0.0
    moment: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))

    def add(self, mass: float, center: Array, inertia: Array) -> None:
        """Add a body: centre of mass (3,) and inertia (3, 3) about it, both in this frame's axes."""
        self.mass += mass
        self.moment = self.moment + mass * center
        self.inertia = self.inertia + inertia + mass * (float(center @ center) * np.eye(3) - np.outer(center, center))

    @property
    def center(self) -> Array:
        """Centre of mass (3,), m; the origin for a body without mass."""
        return self.moment / self.mass if self.mass > 0.0 else np.zeros(3)

    @property
    def about_center(self) -> Array:
        """Inertia (3, 3) about the centre of mass, kg m²."""
        c = self.center
        return self.inertia - self.mass * (float(c @ c) * np.eye(3) - np.outer(c, c))


def parse_urdf(text: str, *, source: str = "urdf", tip: str | None = None, evaluate_only: bool = False) -> Arm:
    """Make an arm from the text of a URDF; `source` names it in messages.

    The base frame is that of the root link; gravity is along its −z. Revolute, continuous and prismatic joints from the
    root to the link `tip` become the arm's; without `tip` no body may have two of them. Fixed joints are merged into
    the body before, and so are the joints that branch off the path to `tip`, fixed at 0: `notes` names these. A frame's
    z axis is its joint's axis. `damping` and `friction` are viscous and Coulomb friction; a limit of effort or speed of
    0 is none, which `notes` says.

    Raises ArmError with every fault: a file that is no URDF, no tree, a chain that branches, a joint that floats, moves
    in a plane or mimics another, numbers that are not finite, and bodies that cannot exist unless `evaluate_only`; or
    if the parser is not installed.
    """
    robot, notes = _parsed(text, source)
    faults: list[str] = []
    children: dict[str, list[Any]] = {}
    parents: dict[str, Any] = {}
    for joint in robot.joints:
        for end in (joint.parent, joint.child):
            if end not in robot.link_map:
                faults.append(f"joint {joint.name}: its link {end!r} is not there")
        if joint.child in parents:
            faults.append(f"link {joint.child}: two joints lead to it, {parents[joint.child].name} and {joint.name}")
        children.setdefault(joint.parent, []).append(joint)
        parents[joint.child] = joint
    names = [link.name for link in robot.links]
    faults += [f"links: the name {name!r} occurs twice" for name in dict.fromkeys(names) if names.count(name) > 1]
    roots = [name for name in dict.fromkeys(names) if name not in parents]
    if len(roots) != 1:
        faults.append(f"{len(roots)} links without a joint before them, must be 1: {', '.join(roots) or 'a loop'}")
    if tip is not None and tip not in robot.link_map:
        faults.append(f"tip: no link {tip!r}")
    if faults:
        raise ArmError(source, faults)
    reader = _Reader(robot, children, _path(parents, tip), notes)
    reader.walk(roots[0], np.eye(3), np.zeros(3), None)
    if reader.faults:
        raise ArmError(source, reader.faults)
    if not reader.joints:
        raise ArmError(source, ["no joint moves; must be at least 1"])
    joints = [
        replace(joint, mass=body.mass, center=body.center, inertia=_symmetric(body.about_center))
        for joint, body in zip(reader.joints, reader.bodies, strict=True)
    ]
    unreal = physical_faults(joints)
    if unreal and not evaluate_only:
        raise ArmError(source, unreal)
    return Arm(
        name=robot.name or source,
        joints=tuple(joints),
        tip_rotation=reader.tip[0],
        tip_position=reader.tip[1],
        warnings=tuple(unreal),
        notes=tuple(reader.notes),
        source=text,
    )


def _parsed(text: str, source: str) -> tuple[Any, list[str]]:
    try:
        from urdf_parser_py import urdf  # an extra
        from urdf_parser_py.xml_reflection import core
    except ModuleNotFoundError:
        raise ArmError(source, ["reading a URDF needs urdf-parser-py: pip install 'stewart-rig[urdf]'"]) from None
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ArmError(source, ["has a document type or entities, which no URDF needs"])
    with _reports(core) as unknown:
        try:
            robot = urdf.URDF.from_xml_string(_with_prefixes(text).encode())
        except core.ParseError as error:
            raise ArmError(source, [f"no URDF: {error.path}: {error.e}"]) from None
        except Exception as error:  # assertions, and errors of lxml
            raise ArmError(source, [f"no URDF: {error!r}"]) from None
    kinds = [one.partition(" in ")[0] for one in unknown if "/link" in one or "/joint" in one]
    return robot, [f"{kind}, {kinds.count(kind)} times: left out" for kind in dict.fromkeys(kinds)]


def _with_prefixes(text: str) -> str:
    """Declare prefixes that the file uses without declaring them, as of tools that add tags of their own."""
    used = dict.fromkeys(_PREFIXED.findall(text))
    missing = [prefix for prefix in used if prefix not in ("xmlns", "xml") and f"xmlns:{prefix}=" not in text]
    return text.replace("<robot", "<robot" + "".join(f' xmlns:{prefix}="{prefix}"' for prefix in missing), 1)


@contextmanager
def _reports(core: Any) -> Iterator[list[str]]:
    """Collect what the parser does not know, in place of printing it."""
    found: list[str] = []
    with _reading:
        before, core.on_error = core.on_error, found.append
        try:
            yield found
        finally:
            core.on_error = before


def _path(parents: dict[str, Any], tip: str | None) -> set[str] | None:
    """Return the names of the joints that lead to the tip; None without one."""
    if tip is None:
        return None
    path: set[str] = set()
    while tip in parents and parents[tip].name not in path:
        path.add(parents[tip].name)
        tip = parents[tip].parent
    return path


class _Reader:
    """Walks the links from the root and collects the arm's joints, their bodies, and faults."""

    def __init__(self, robot: Any, children: dict[str, list[Any]], path: set[str] | None, notes: list[str]) -> None:
        self._robot, self._children, self._path = robot, children, path
        self.joints: list[ArmJoint] = []
        self.bodies: list[_Body] = []
        self.tip = np.eye(3), np.zeros(3)
        self.notes, self.faults = notes, list[str]()

    def walk(self, link: str, R: Array, p: Array, body: int | None) -> None:
        """Add a link whose frame has the pose R, p in the frame of the arm's joint `body`, None for the base."""
        self._add(link, R, p, body)
        after = self._children.get(link, [])
        if not after and self._path is None and body == len(self.joints) - 1:
            self.tip = R, p
        moving = [joint for joint in after if self._moves(joint)]
        if len(moving) > 1:
            branches = " and ".join(joint.name for joint in moving)
            self.faults.append(
                f"link {link}: the chain branches there, into joints {branches}; name the tip's link: FILE.urdf#LINK"
            )
            return
        names = {joint.name for joint in moving}
        for joint in sorted(after, key=lambda each: each.name in names):
            origin = _origin(joint.origin)
            if not (np.isfinite(origin[0]).all() and np.isfinite(origin[1]).all()):
                self.faults.append(f"joint {joint.name}: origin is not finite")
                continue
            turned, placed = R @ origin[0], p + R @ origin[1]
            if joint.name in names:
                self._join(joint, turned, placed, body)
            else:
                if joint.type != "fixed":
                    self.notes.append(f"joint {joint.name}, {joint.type}, is not on the path to the tip: fixed at 0")
                if self._path is not None and joint.name in self._path:
                    self.tip = turned, placed
                self.walk(joint.child, turned, placed, body)

    def _moves(self, joint: Any) -> bool:
        return joint.type != "fixed" and (self._path is None or joint.name in self._path)

    def _join(self, joint: Any, R: Array, p: Array, body: int | None) -> None:
        if joint.type not in _MOVING:
            self.faults.append(f"joint {joint.name}: type {joint.type}, must be {', '.join(_MOVING)} or fixed")
            return
        if joint.mimic is not None:
            self.faults.append(
                f"joint {joint.name}: mimics {joint.mimic.joint}, but the joints of an arm move independently"
            )
            return
        if (-1 if body is None else body) != len(self.joints) - 1:
            self.faults.append(
                f"joint {joint.name}: the chain has branched before it, into joint "
                f"{self.joints[0 if body is None else body + 1].name} too; name the tip's link: FILE.urdf#LINK"
            )
            return
        axis = np.array([1.0, 0.0, 0.0] if joint.axis is None else joint.axis, dtype=np.float64)
        size = float(np.linalg.norm(axis))
        if not (np.isfinite(axis).all() and size > 1e-9):
            self.faults.append(f"joint {joint.name}: axis {axis.tolist()} has no direction")
            return
        align = _z_along(axis / size)
        try:
            made = self._joint(joint, R @ align, p)
        except ArmError as error:
            self.faults += [f"joint {joint.name}: {fault}" for fault in error.faults]
            return
        self.joints.append(made)
        self.bodies.append(_Body())
        self.tip = align.T, np.zeros(3)
        self.walk(joint.child, align.T, np.zeros(3), len(self.joints) - 1)

    def _joint(self, joint: Any, rotation: Array, position: Array) -> ArmJoint:
        kind: JointKind = "prismatic" if joint.type == "prismatic" else "revolute"
        limits, dynamics = joint.limit, joint.dynamics
        bounds: dict[str, Any] = {}
        if limits is not None:
            for name, value in (("velocity", limits.velocity), ("force", limits.effort)):
                if value == 0.0:
                    self.notes.append(f"joint {joint.name}: limit of {name} is 0, taken as none")
                elif value is not None:
                    bounds[name] = float(value)
            low, high = float(limits.lower or 0.0), float(limits.upper or 0.0)
            if joint.type != "continuous":
                if low == high == 0.0:
                    self.notes.append(f"joint {joint.name}: limits of position are both 0, taken as none")
                else:
                    bounds["position"] = (low, high)
        return ArmJoint(
            joint.name,
            kind,
            rotation,
            position,
            viscous=float(dynamics.damping or 0.0) if dynamics is not None else 0.0,
            coulomb=float(dynamics.friction or 0.0) if dynamics is not None else 0.0,
            limits=JointLimits(**bounds),
        )

    def _add(self, link: str, R: Array, p: Array, body: int | None) -> None:
        inertial = self._robot.link_map[link].inertial
        if inertial is None or body is None:
            return
        turn, center = _origin(inertial.origin)
        i = inertial.inertia
        numbers = [0.0] * 6 if i is None else [i.ixx, i.iyy, i.izz, i.ixy, i.ixz, i.iyz]
        xx, yy, zz, xy, xz, yz = (float(x) for x in numbers)
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        mass = float(inertial.mass or 0.0)
        faults = []
        if not (np.isfinite(mass) and mass >= 0.0):
            faults.append(f"link {link}: mass {mass:g} kg, must be finite and at least 0 kg")
        if not (np.isfinite(tensor).all() and np.isfinite(center).all() and np.isfinite(turn).all()):
            faults.append(f"link {link}: its inertial has numbers that are not finite")
        if faults:
            self.faults += faults
            return
        turned = R @ turn
        self.bodies[body].add(mass, p + R @ center, turned @ tensor @ turned.T)


def _origin(pose: Any) -> tuple[Array, Array]:
    """Return rotation and position of an origin; the identity if it is left out."""
    if pose is None:
        return np.eye(3), np.zeros(3)
    angles = [float(x) for x in (pose.rpy or [0.0] * 3)]
    position = np.array([float(x) for x in (pose.xyz or [0.0] * 3)])
    if not np.isfinite(angles).all():
        return np.full((3, 3), np.nan), position
    return rotation_of_angles(angles), position


def _z_along(axis: Array) -> Array:
    """Return a rotation (3, 3) whose third column is `axis`: the identity for z, else by the nearest axes."""
    if axis[2] == 1.0:
        return np.eye(3)
    other = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(other, axis)
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])


def _symmetric(inertia: Array) -> Array:
    return np.asarray(0.5 * (inertia + inertia.T))
