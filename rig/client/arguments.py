"""Arguments of a script: numbers in SI or text with a unit, poses, motions. Invalid ones raise InputError."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from pydantic import ValidationError
from typing_extensions import TypeIs

from kinematics import (
    Array,
    JogFrame,
    Quantity,
    Trajectory,
    TrajectorySpec,
    build_trajectory,
    leg_stepped_pose,
    stepped_pose,
)
from rig.client.positions import Positions, positions_path
from rig.config import RigConfig, config_faults
from rig.engine import ReferenceSource, move_speeds
from rig.errors import InputError
from rig.motions import read_trajectory

AXES = ("x", "y", "z", "rx", "ry", "rz")
LEGS = {f"leg{leg}": leg for leg in range(1, 7)}
LENGTH, ANGLE, TIME = Quantity("length", "m"), Quantity("angle", "rad"), Quantity("time", "s")
SPEED, ANGULAR_SPEED = Quantity("speed", "m/s"), Quantity("angular speed", "rad/s")
_UNIT_NORM = 1e-6

Amount = float | str
"""A number in SI, or text with its unit such as "5 mm"."""
Motion = str | Path | Trajectory | Mapping[str, Any]
"""A trajectory file (TOML, or CSV of poses), the name of a shipped one, its content as a dict, or a made one."""


def amount(what: str, value: Amount, quantity: Quantity) -> float:
    """Convert to a number in SI; `what` names it in messages."""
    try:
        return quantity.parse(value)
    except ValueError as error:
        raise InputError(f"{what}: {error}") from None


def positive(what: str, value: Amount, quantity: Quantity) -> float:
    """Convert to a number greater than 0; see `amount`."""
    number = amount(what, value, quantity)
    if number <= 0.0:
        raise InputError(f"{what}: {number:g} {quantity.unit} must be greater than 0")
    return number


def count(what: str, value: int) -> int:
    """Check a number of repetitions, at least 1; `what` names it in messages."""
    if not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"{what}: {value!r} is not a whole number of at least 1")
    return int(value)


def scale(what: str, value: float) -> float:
    """Check a factor greater than 0; `what` names it in messages."""
    if not isinstance(value, int | float | np.number) or not 0.0 < value < math.inf:
        raise InputError(f"{what}: {value!r} is not a number greater than 0")
    return float(value)


def given_speeds(speed: Amount | None, rotation_speed: Amount | None) -> tuple[float | None, float | None]:
    """Peak speeds of a move that were given, m/s and rad/s; None for those that were not."""
    return (
        None if speed is None else positive("speed", speed, SPEED),
        None if rotation_speed is None else positive("rotation_speed", rotation_speed, ANGULAR_SPEED),
    )


def speeds(config: RigConfig, speed: Amount | None, rotation_speed: Amount | None) -> tuple[float, float]:
    """Peak speeds of a motion, m/s and rad/s; those that are not given by `move_speeds`."""
    given, usual = given_speeds(speed, rotation_speed), move_speeds(config)
    return (usual[0] if given[0] is None else given[0], usual[1] if given[1] is None else given[1])


def target_pose(config: RigConfig, pose: ArrayLike | str) -> Array:
    """A pose (7,): m and unit quaternion, scalar first, base frame; text: "home", or the name of a saved one."""
    if isinstance(pose, str):
        if pose != "home":
            saved = Positions(positions_path(config)).all()
            if pose not in saved:
                known = ", ".join(map(repr, saved)) or "there is none"
                raise InputError(f'pose: {pose!r} is neither "home" nor a saved position ({known}), nor seven numbers')
            return saved[pose]
        return config.machine.geometry.home_pose.copy()
    try:
        values = np.array(pose, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"pose: {pose!r} is not seven numbers x, y, z, qw, qx, qy, qz") from None
    if values.shape != (7,) or not np.isfinite(values).all():
        raise InputError(f"pose: {values.tolist()} is not seven finite numbers x, y, z, qw, qx, qy, qz")
    norm = float(np.linalg.norm(values[3:]))
    if abs(norm - 1.0) > _UNIT_NORM:
        raise InputError(f"pose: the quaternion's norm is {norm:.9g}, must be 1 within {_UNIT_NORM:g}")
    values[3:] /= norm
    return values


def jogged(config: RigConfig, here: Array, axis: str, step: Amount, frame: JogFrame, pivot: Sequence[Amount]) -> Array:
    """Target of a step along or about an axis, or of one leg, from the pose `here` (7,)."""
    if frame not in ("base", "platform"):
        raise InputError(f"frame: {frame!r} is neither 'base' nor 'platform'")
    point = pivot_of(pivot)
    if axis in AXES:
        index = AXES.index(axis)
        change = np.zeros(6)
        change[index] = amount("step", step, LENGTH if index < 3 else ANGLE)
        return stepped_pose(here, change, frame, np.array(point))
    if axis not in LEGS:
        raise InputError(f"axis: {axis!r} must be one of {', '.join(AXES)}, leg1 to leg6")
    if frame != "base" or any(point):
        raise InputError("axis: a leg's length has neither frame nor pivot")
    return leg_stepped_pose(config.machine.geometry, here, LEGS[axis], amount("step", step, LENGTH))


def pivot_of(pivot: Sequence[Amount]) -> tuple[float, float, float]:
    """A pivot (3,), m."""
    if len(pivot) != 3:
        raise InputError(f"pivot: {len(pivot)} numbers, not the three x, y, z")
    x, y, z = (amount("pivot", each, LENGTH) for each in pivot)
    return x, y, z


def is_source(value: object) -> TypeIs[ReferenceSource]:
    """Whether an argument is meant as a `ReferenceSource`; the engine judges whether it is one."""
    return callable(getattr(value, "evaluate", None)) and callable(getattr(value, "decelerate", None))


def motion_of(config: RigConfig, motion: Motion | ReferenceSource) -> tuple[str, Trajectory]:
    """The motion with its name. Also raises TrajectoryError for an invalid file."""
    home = config.machine.geometry.home_pose
    if isinstance(motion, str | Path):
        return Path(motion).stem, read_trajectory(motion, config.machine.geometry)
    if isinstance(motion, Mapping):
        try:
            return "motion", build_trajectory(TrajectorySpec.model_validate({"frame": "home"} | dict(motion)), home)
        except ValidationError as error:
            faults = [fault.text for fault in config_faults(error)]
            raise InputError("motion:", faults) from None
    if isinstance(motion, Trajectory):
        return "motion", motion
    raise InputError(
        f"motion: got {type(motion).__name__}, must be a trajectory file, the name of a shipped trajectory, a dict of "
        "what such a file holds, or a kinematics.Trajectory"
    )
