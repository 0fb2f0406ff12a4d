"""The grid of poses that the options of `rig workspace` ask for."""

import math
from dataclasses import dataclass

import numpy as np
import typer

from dynamics import Mechanism, pose_limits
from kinematics import Array, LimitError, PoseGrid, PoseLimits, Quantity, pose_to_coordinates, reach_box
from rig.cli.options import parse_quantity

_DEFAULT_CELLS = 60
_DEFAULT_TURN = math.pi / 3.0  # rad, either way

_LENGTH, _ANGLE = Quantity("length", "m"), Quantity("angle", "rad")


def joint_radius(machine: Mechanism) -> float:
    """Root mean square distance of the platform's joints from their centre, m."""
    points = machine.geometry.platform_points
    return float(((points - points.mean(axis=0)) ** 2).sum(axis=1).mean() ** 0.5)


def chosen_limits(
    machine: Mechanism,
    *,
    clearance: float | None,
    leg_radius: float,
    characteristic_length: float | None,
    condition: float | None = None,
    any_side: bool = False,
) -> PoseLimits:
    """The mechanism's limits with those of the options; typer.BadParameter, naming the option, for what cannot be."""
    try:
        return pose_limits(
            machine,
            clearance=-math.inf if clearance is None else clearance,
            leg_radius=leg_radius,
            condition=math.inf if condition is None else condition,
            characteristic_length=joint_radius(machine) if characteristic_length is None else characteristic_length,
            **({"same_side": False} if any_side else {}),
        )
    except LimitError as error:
        raise typer.BadParameter(error.fault, param_hint=f"'--{error.name.replace('_', '-')}'") from None


@dataclass(frozen=True, slots=True)
class GridOptions:
    """What was typed; None for what was left out."""

    constant_orientation: str | None
    orientation: str | None
    cells: int | None
    poses: int | None
    plane: str | None
    ranges: tuple[str, ...]

    def grid(self, machine: Mechanism) -> PoseGrid:
        """The grid; typer.BadParameter for options that do not say one."""
        if self.cells is not None and self.poses is not None:
            raise typer.BadParameter("give --grid or --poses, not both", param_hint="'--poses'")
        if self.constant_orientation is not None and self.orientation is not None:
            raise typer.BadParameter(
                "give --constant-orientation or --orientation, not both", param_hint="'--orientation'"
            )
        turning = self.orientation is not None
        names, unit = (("rx", "ry", "rz"), _ANGLE) if turning else (("x", "y", "z"), _LENGTH)
        fixed = self._fixed(machine)
        given = {}
        for text in self.ranges:
            name, value = _assignment(text, names, "--range")
            given[name] = _range(value, unit)
        flat = None
        if self.plane is not None:
            flat, value = _assignment(self.plane, names, "--slice")
            given[flat] = (parse_quantity(value, unit, "--slice"),) * 2
        if turning or len(given) == 3:
            lower, upper = np.full(3, -_DEFAULT_TURN), np.full(3, _DEFAULT_TURN)
        else:
            longest = [math.inf if leg is None or leg.length is None else leg.length[1] for leg in machine.limits]
            lower, upper = reach_box(machine.geometry, fixed, longest)
        for name, bounds in given.items():
            lower[names.index(name)], upper[names.index(name)] = bounds
        cells = self._cells(3 if flat is None else 2)
        x, y, z = (1 if name == flat else cells for name in names)
        return PoseGrid("orientation" if turning else "position", fixed, lower, upper, (x, y, z))

    def _fixed(self, machine: Mechanism) -> Array:
        """The three coordinates that all poses share."""
        home = machine.geometry.home
        place = np.zeros(6) if home is None else pose_to_coordinates(home)
        if self.orientation is None:
            if self.constant_orientation is None:
                return place[3:]
            return _three(self.constant_orientation, _ANGLE, "--constant-orientation")
        if self.orientation != "home":
            return _three(self.orientation, _LENGTH, "--orientation")
        if home is None:
            raise typer.BadParameter("the mechanism has no home", param_hint="'--orientation'")
        return place[:3]

    def _cells(self, dimensions: int) -> int:
        if self.poses is not None:
            return max(round(math.exp(math.log(self.poses) / dimensions)), 2)
        return _DEFAULT_CELLS if self.cells is None else self.cells


def _assignment(text: str, names: tuple[str, ...], option: str) -> tuple[str, str]:
    """Name and value of NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not equals or name.strip() not in names:
        raise typer.BadParameter(
            f"{text!r} does not begin with one of {', '.join(names)}, and =", param_hint=f"'{option}'"
        )
    return name.strip(), value


def _range(text: str, unit: Quantity) -> tuple[float, float]:
    low, _, high = text.partition(":")
    bounds = parse_quantity(low, unit, "--range"), parse_quantity(high, unit, "--range")
    if not bounds[0] < bounds[1]:
        raise typer.BadParameter(f"{text!r} is no range from low to high", param_hint="'--range'")
    return bounds


def _three(text: str, unit: Quantity, option: str) -> Array:
    parts = text.split(",")
    if len(parts) != 3:
        raise typer.BadParameter(f"{text!r} is not three values with commas between", param_hint=f"'{option}'")
    return np.array([parse_quantity(part, unit, option) for part in parts])
