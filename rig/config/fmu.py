"""FMUs that a configuration names: what of them is connected with what, and the values that they begin with."""

import math
import re
from typing import Annotated, NamedTuple

from pydantic import Field, model_validator

from kinematics import NumberTextError, Time, read_quantity, within
from rig.config.sections import Section, Text

_POSE = ("pose.x", "pose.y", "pose.z")
_QUATERNION = ("pose.qw", "pose.qx", "pose.qy", "pose.qz")
_ANGLES = ("pose.rx", "pose.ry", "pose.rz")
_ANGULAR = {"velocity": "angular_velocity", "acceleration": "angular_acceleration"}


def _vector(name: str) -> tuple[str, ...]:
    return tuple(f"{name}.{axis}" for axis in "xyz")


PAYLOAD_MOTION = (
    *_POSE, *_QUATERNION, *_vector("velocity"), *_vector("angular_velocity"), *_vector("acceleration"),
    *_vector("angular_acceleration"),
)  # fmt: skip
"""Quantities of the platform's motion that a payload's FMU may take, in the order of a motion (19,)."""

PAYLOAD_WRENCH = tuple(f"wrench.{what}.{axis}" for what in ("force", "moment") for axis in "xyz")
"""Components of the wrench that a payload's FMU may give, at the platform's origin, platform axes."""

REFERENCE_MOTION = PAYLOAD_MOTION + tuple(
    f"{what}.r{axis}" for what in ("pose", "velocity", "acceleration") for axis in "xyz"
)
"""Quantities that an FMU may give as a reference: those of a motion; the coordinates' angles, their rates and
accelerations, in place of quaternion and angular velocity."""

REFERENCE_FEEDBACK = tuple(f"platform.{name}" for name in PAYLOAD_MOTION[:13]) + tuple(
    f"platform.cell[{leg}]" for leg in range(1, 7)
)
"""What an FMU that gives a motion may be told of the platform: measured pose and twist, base frame, and load cells."""

_UNITS = {
    "velocity.r": "rad/s", "acceleration.r": "rad/s^2", "angular_velocity": "rad/s",
    "angular_acceleration": "rad/s^2", "velocity": "m/s", "acceleration": "m/s^2", "pose.q": "", "pose.r": "rad",
    "pose": "m", "wrench.force": "N", "wrench.moment": "N*m", "cell": "N",
}  # fmt: skip
"""SI units by the beginning of a quantity's name, the longer ones first."""

_GIVEN = re.compile(r"(?P<name>.*\S)\s+\[(?P<unit>[^\[\]]*)\]")


def unit_of(quantity: str) -> str:
    """SI unit of a quantity; "" for a number."""
    name = quantity.removeprefix("platform.")
    return next(unit for beginning, unit in _UNITS.items() if name.startswith(beginning))


class Connection(NamedTuple):
    """A variable of an FMU that is connected with a quantity of this program."""

    variable: str
    quantity: str
    factor: float = math.nan
    """SI units in one unit of the variable, as the configuration says; nan: as the FMU says"""

    @property
    def unit(self) -> str:
        """SI unit of the quantity; "" for a number."""
        return unit_of(self.quantity)


class FmuSection(Section):
    """What sections that name an FMU have in common."""

    connections: Annotated[tuple[Text, ...], Field(max_length=100)] = ()
    """What is connected, such as "pose.z -> height" or "force -> wrench.force.z"; not given: what has the same name. A
    unit that the FMU does not state stands behind its variable's name: "lift [kN] -> wrench.force.z"."""
    parameters: Annotated[tuple[Text, ...], Field(max_length=1000)] = ()
    """Values that are set before it begins, in its own units, such as "stiffness = 1000"."""

    @property
    def start(self) -> dict[str, float]:
        """Value by variable of the FMU."""
        return dict(map(_assigned, self.parameters))

    def _connected(self, given: tuple[str, ...], taken: tuple[str, ...]) -> tuple[list[Connection], list[Connection]]:
        """Connections of the FMU's inputs with quantities `given` to it, and of its outputs with those `taken`.

        Raises ValueError.
        """
        inputs: list[Connection] = []
        outputs: list[Connection] = []
        for text in self.connections:
            source, _arrow, target = (part.strip() for part in text.partition("->"))
            if not (source and target) or (source in given) == (target in taken):
                raise ValueError(
                    f"connections: {text!r} must be a quantity -> a variable of the FMU ({', '.join(given)}), or a "
                    f"variable of the FMU -> a quantity ({', '.join(taken)})"
                )
            variable, quantity = (target, source) if source in given else (source, target)
            (inputs if source in given else outputs).append(_read(variable, quantity))
        targets = [each.variable for each in inputs] + [each.quantity for each in outputs]
        for target in targets:
            if targets.count(target) > 1:
                raise ValueError(f"connections: {target} is connected {targets.count(target)} times")
        for text in self.parameters:
            name, value = _assigned(text)
            if not (name and math.isfinite(value)):
                raise ValueError(f"parameters: {text!r} must be a name = a finite number")
        return inputs, outputs


class PayloadFmu(FmuSection):
    """A payload that a foreign FMU computes: its wrench on the platform, from the platform's motion."""

    file: Text
    """The FMU, for co-simulation by FMI 2.0 or 3.0; relative to the configuration's folder."""
    step: Annotated[Time, within(1e-4, 0.1, "s")] = 1e-3
    """Time between two exchanges with the FMU, s; the wrench is constant in between."""

    @property
    def connected(self) -> tuple[list[Connection], list[Connection]]:
        """Of the FMU's inputs with quantities of the motion, and of its outputs with components of the wrench."""
        return self._connected(PAYLOAD_MOTION, PAYLOAD_WRENCH)

    @model_validator(mode="after")
    def _connections_make_sense(self) -> "PayloadFmu":
        _inputs, outputs = self.connected
        if self.connections and not outputs:
            raise ValueError("connections: no component of the wrench is connected")
        return self


class ReferenceFmu(FmuSection):
    """A foreign FMU whose motion the platform follows as a stream, see docs/fmi.md."""

    fmu: Text
    """The FMU, for co-simulation by FMI 2.0 or 3.0; relative to the configuration's folder."""
    step: Annotated[Time, within(5e-4, 0.05, "s")] = 5e-3
    """Duration of its steps, s; each gives a set-point of the stream."""
    lead: Annotated[Time, within(0.0, 0.5, "s")] = 0.02
    """Time by which a step is done before its set-point is meant, s; `stream.delay` may be shorter by as much."""
    wait: bool = True
    """Whether its time stands still until the platform is at its first pose, as for a motion that begins at rest; else
    its time passes from the beginning, and the platform fades into the motion."""

    @property
    def connected(self) -> tuple[list[Connection], list[Connection]]:
        """Of the FMU's inputs with quantities of the platform, and of its outputs with those of the motion."""
        return self._connected(REFERENCE_FEEDBACK, REFERENCE_MOTION)

    @model_validator(mode="after")
    def _connections_make_sense(self) -> "ReferenceFmu":
        _inputs, outputs = self.connected
        if self.connections:
            check_motion([each.quantity for each in outputs])
        return self


def check_motion(quantities: list[str]) -> None:
    """Refuse quantities that do not determine a motion: ValueError says which is missing or too many.

    A coordinate that is not among them is zero. Velocities are all or none, and so are accelerations, which need
    velocities.
    """
    there = set(quantities)
    moved = [name for name in _POSE if name in there]
    quaternion, angles = (there & set(names) for names in (_QUATERNION, _ANGLES))
    if not (moved or quaternion or angles):
        raise ValueError("connections: no quantity of the pose is connected")
    if quaternion and angles:
        raise ValueError("connections: a quaternion and angles are connected, must be one of them")
    if quaternion and len(quaternion) < len(_QUATERNION):
        raise ValueError(f"connections: {_first_missing(_QUATERNION, there)} is missing, a quaternion has four parts")
    allowed = set(_POSE + _QUATERNION + _ANGLES)
    for what, angular in _ANGULAR.items():
        given = [name for name in quantities if name.startswith((f"{what}.", f"{angular}."))]
        if not given:
            break
        by_angles = any(name.startswith(f"{what}.r") for name in given)
        if by_angles:
            turned = [f"{what}.{name.removeprefix('pose.')}" for name in sorted(angles)]
        else:
            turned = list(_vector(angular)) if quaternion or angles else []
        wanted = [f"{what}.{name.removeprefix('pose.')}" for name in moved] + turned
        if missing := _first_missing(wanted, there):
            raise ValueError(f"connections: {missing} is missing: {what} is given for all that moves, or not at all")
        allowed |= set(wanted)
    if extra := _first_missing(quantities, allowed):
        raise ValueError(f"connections: {extra} has no place: its pose or its velocity is not connected")


def complete_motion(names: list[str]) -> list[str]:
    """Of the names of an FMU's outputs those that are a motion's quantities, without those that `check_motion` refuses.

    A quaternion is preferred to angles.
    """
    there = set(names)
    turned = _QUATERNION if set(_QUATERNION) <= there else tuple(name for name in _ANGLES if name in there)
    chosen = [name for name in _POSE if name in there] + list(turned)
    moved = [name.removeprefix("pose.") for name in chosen if name in _POSE]
    for what, angular in _ANGULAR.items():
        ways = [_vector(angular) if turned else ()]
        if turned != _QUATERNION:
            ways.append(tuple(f"{what}.{name.removeprefix('pose.')}" for name in turned))
        group = [[f"{what}.{axis}" for axis in moved] + list(way) for way in ways]
        found = next((each for each in group if set(each) <= there), None)
        if not found:
            break
        chosen += found
    return chosen


def _first_missing(wanted: "list[str] | tuple[str, ...]", there: set[str]) -> str:
    return next((name for name in wanted if name not in there), "")


def _read(variable: str, quantity: str) -> Connection:
    match = _GIVEN.fullmatch(variable)
    if match is None:
        return Connection(variable, quantity)
    unit = unit_of(quantity)
    try:
        return Connection(match["name"], quantity, read_quantity(f"1 {match['unit']}", (unit,)))
    except NumberTextError:
        raise ValueError(
            f"connections: {match['name']} [{match['unit']}]: is no unit of {quantity}, such as {unit or 'none'}"
        ) from None


def _assigned(text: str) -> tuple[str, float]:
    name, _equals, value = text.partition("=")
    try:
        return name.strip(), float(value)
    except ValueError:
        return name.strip(), math.nan
