"""A foreign FMU that gives a motion: its outputs as set-points of a stream."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kinematics import Array, coordinates_to_motion
from rig.config import PAYLOAD_MOTION, REFERENCE_FEEDBACK, REFERENCE_MOTION, Connection, ReferenceFmu, complete_motion
from rig.errors import InputError
from rig.fmu.foreign import FmuError, ForeignUnit, fit, same_names
from rig.streaming import ACCELERATION, VELOCITY, Samples, new_samples

_COORDINATES = tuple(f"{what}.{name}" for what in ("pose", "velocity", "acceleration") for name in
                     ("x", "y", "z", "rx", "ry", "rz"))  # fmt: skip
"""Names of coordinates, rates and accelerations, (18,)."""
_UNIT_TOLERANCE = 1e-6  # of a quaternion's norm


class MotionUnit(ForeignUnit):
    """An FMU whose outputs are a motion, see `rig.config.ReferenceFmu`.

    `connections` of the settings say which outputs are which quantity; without them, those of the same names are.

    Args:
        path: the FMU.
        settings: of it.

    Raises:
        InputError: as `ForeignUnit`, or no output is a quantity of a motion.
        FmuError: as `ForeignUnit`.
    """

    def __init__(self, path: Path, settings: ReferenceFmu) -> None:
        inputs, outputs = _connections(path, settings)
        self._quantities = [REFERENCE_FEEDBACK.index(each.quantity) for each in inputs]
        self._assign([each.quantity for each in outputs])
        super().__init__(path, inputs, outputs, settings.start, settings.step)

    def _assign(self, quantities: Sequence[str]) -> None:
        self._direct = [k for k, name in enumerate(quantities) if name in PAYLOAD_MOTION]
        self._places = [PAYLOAD_MOTION.index(quantities[k]) for k in self._direct]
        self._turned = any(name.startswith("pose.r") for name in quantities)
        self._of_coordinates = [k for k, name in enumerate(quantities) if name in _COORDINATES]
        self._coordinates = [_COORDINATES.index(quantities[k]) for k in self._of_coordinates]
        self._quaternion = "pose.qw" in quantities
        self.given = 0
        """bits of what it gives beside the pose: velocity, acceleration"""
        if any(name.startswith(("velocity.", "angular_velocity.")) for name in quantities):
            self.given |= VELOCITY
        if any(name.startswith(("acceleration.", "angular_acceleration.")) for name in quantities):
            self.given |= ACCELERATION

    def inputs_of(self, platform: Array) -> Array:
        """Of the platform's state, (19,) in the order of `REFERENCE_FEEDBACK`, what the FMU gets."""
        return platform[self._quantities]

    def sample_of(self, values: Array) -> Samples:
        """The set-point (1,) of what `begin` or `step` returned, neither numbered nor with a time. Raises FmuError."""
        sample = new_samples(1)
        motion = np.zeros(len(PAYLOAD_MOTION))
        motion[3] = 1.0
        if self._turned:
            state = np.zeros(len(_COORDINATES))
            state[self._coordinates] = values[self._of_coordinates]
            motion = coordinates_to_motion(state[:6], state[6:12], state[12:])
        motion[self._places] = values[self._direct]
        if self._quaternion:
            norm = float(np.linalg.norm(motion[3:7]))
            if not abs(norm - 1.0) <= _UNIT_TOLERANCE:
                raise FmuError(
                    f"{self.path}: at {self.time:g} s of its time the quaternion's norm is {norm:.9g}, must be 1 "
                    f"within {_UNIT_TOLERANCE:g}"
                )
        sample["pose"], sample["velocity"], sample["acceleration"] = motion[:7], motion[7:13], motion[13:]
        sample["given"], sample["sent"] = self.given, self.time
        return sample


def check_motion_unit(path: Path, settings: ReferenceFmu) -> None:
    """Refuse what can be refused without loading an FMU. Raises InputError as `MotionUnit`."""
    fit(path, *_connections(path, settings), settings.start, settings.step)


def _connections(path: Path, settings: ReferenceFmu) -> tuple[list[Connection], list[Connection]]:
    """Of its inputs and outputs, as the settings say, or those of the same names."""
    if settings.connections:
        return settings.connected
    inputs, there = same_names(path, REFERENCE_FEEDBACK, REFERENCE_MOTION)
    outputs = [Connection(name, name) for name in complete_motion([each.quantity for each in there])]
    if not outputs:
        raise InputError(
            f"{path}: no output has the name of a quantity of the pose (pose.x, pose.rx, pose.qw, …): say in "
            "connections which of its variables it is"
        )
    return inputs, outputs
