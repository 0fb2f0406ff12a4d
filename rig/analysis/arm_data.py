"""Measured positions and forces of an arm from CSV files, of joints or motors, in one file or two."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from calibration import ArmRecord, drive_matrix
from dynamics import Body, linear_body, serial
from kinematics import Array
from rig.csvio import Table, read_table
from rig.errors import InputError

Place = Literal["joints", "motors"]

_POSITIONS: dict[str, Place] = {"q": "joints", "p": "motors"}
_FORCES: dict[str, Place] = {"tau": "joints", "c": "motors", "i": "motors"}
_UNEVEN = 0.01  # of a period, from which rows are interpolated to even times
_GAP = 1.9  # periods
_LARGEST_ANGLE = 20.0  # rad of a joint, above which it is none


@dataclass(frozen=True, slots=True)
class ArmColumns:
    """How files name what they hold.

    positions, forces: names of n columns, or one with a "*" for what differs; empty: by their usual names, q1…qn of
    joints and p1…pn of motors, tau1…taun of joints, c1…cn of motors and currents i1…in; or a file's only n columns.
    time: the column of time, s. at: whether columns of other names are of joints or motors; None: the file must say.
    rate: Hz, of files without time. zero (n,): joint positions at which motors read 0, rad or m; empty: 0.
    degrees: whether positions of revolute joints and motors are in degrees.
    """

    positions: tuple[str, ...] = ()
    forces: tuple[str, ...] = ()
    time: str = "t"
    at: Place | None = None
    rate: float | None = None
    zero: tuple[float, ...] = ()
    degrees: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ArmLoad:
    """A known body on the tip. mass kg; center (3,) m and inertia (3, 3) kg m² about it, both in the tip's axes."""

    mass: float
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)
    inertia: Array | None = None

    def numbers(self, arm: serial.Arm) -> Array:
        """m, h, J (10,) in the frame of the arm's last joint, about its origin."""
        turn = np.asarray(arm.tip_rotation)
        center = np.asarray(arm.tip_position) + turn @ np.array(self.center)
        inertia = np.zeros((3, 3)) if self.inertia is None else turn @ self.inertia @ turn.T
        return linear_body(Body(self.mass, center, 0.5 * (inertia + inertia.T)))


def read_arm_record(
    arm: serial.Arm,
    files: Sequence[Path],
    columns: ArmColumns,
    gains: Sequence[float] = (),
    load: ArmLoad | None = None,
) -> ArmRecord:
    """One motion from a file, or from one of positions and one of forces, row by row.

    gains: force of a joint or torque of a motor per unit of the columns, N m or N; one for all drives, n, or none: 1,
    but not of columns i1…in or with "current" in their names.

    Raises:
        InputError: missing or ambiguous columns, currents without gains, files of unequal length, times that have a
            gap or do not increase, no rate, or angles that are none in rad; with the file's name.
    """
    n = len(arm.joints)
    tables = [read_table(path, lambda names: names, timed=False) for path in files]
    names = " and ".join(str(path) for path in files)
    if len({len(table.values) for table in tables}) > 1:
        counts = ", ".join(f"{table.path} has {len(table.values)}" for table in tables)
        raise InputError(f"{names}: files of one motion must have as many rows: {counts}")
    alone = len(tables) > 1
    positions, moved, _ = _found(tables[0], columns.positions, _POSITIONS, columns, n, "positions", alone=alone)
    forces, pushed, force_names = _found(tables[-1], columns.forces, _FORCES, columns, n, "forces", alone=alone)
    currents = [name for name in force_names if "current" in name.lower() or re.fullmatch(r"i\d+", name)]
    if currents and not gains:
        raise InputError(f"{names}: {', '.join(currents)} are currents, A: state their gains, N m/A or N/A")
    rate, rows = _even(tables[0], columns, np.hstack([positions, forces]))
    positions, forces = rows[:, :n], rows[:, n:]
    q = _joint_positions(arm, positions, moved, columns)
    for joint, farthest in zip(arm.joints, np.abs(q).max(axis=0), strict=True):
        if joint.revolute and farthest > _LARGEST_ANGLE:
            raise InputError(
                f"{names}: {joint.name} reaches {farthest:.4g} rad, at most {_LARGEST_ANGLE:g} rad: are the positions "
                "in degrees, or of motors?"
            )
    return ArmRecord(
        rate=rate,
        positions=q,
        drives=_drive_forces(arm, forces, pushed, gains),
        load=None if load is None else load.numbers(arm),
        source=names,
    )


def _found(
    table: Table,
    given: Sequence[str],
    usual: dict[str, Place],
    columns: ArmColumns,
    n: int,
    what: str,
    *,
    alone: bool,
) -> tuple[Array, Place, list[str]]:
    """The n columns of positions or forces (N, n), where they were measured, and their names."""
    others = [name for name in table.names if name != columns.time]
    option = f"{what[:-1]} columns"
    if given:
        named = _expanded(given, table.names)
        if missing := [name for name in named if name not in table.names]:
            raise InputError(f"{table.path}: no columns {', '.join(missing)}, it has {', '.join(table.names)}")
        if len(named) != n:
            raise InputError(f"{table.path}: {option} are {len(named)} ({', '.join(named)}), the arm has {n}")
    else:
        for prefix, place in usual.items():
            named = [f"{prefix}{k}" for k in range(1, n + 1)]
            if table.has(named):
                return table.columns(named), columns.at or place, named
        if not alone or len(others) != n:
            wanted = " or ".join(f"{prefix}1…{prefix}{n}" for prefix in usual)
            raise InputError(
                f"{table.path}: no {what}: neither {wanted}, nor {n} columns alone; it has "
                f"{', '.join(table.names)}: name the {option}"
            )
        named = others
    if columns.at is None:
        raise InputError(f"{table.path}: {what} {', '.join(named)}: state whether of joints or of motors")
    return table.columns(named), columns.at, named


def _expanded(given: Sequence[str], names: Sequence[str]) -> list[str]:
    """Names, where one with a "*" stands for all that fit it, by the number in its place."""
    found: list[str] = []
    for name in given:
        if "*" not in name:
            found.append(name)
            continue
        pattern = re.compile(re.escape(name).replace(r"\*", r"(\d+)"))
        fitting = [(int(match[1]), each) for each in names if (match := pattern.fullmatch(each))]
        found += [each for _, each in sorted(fitting)] or [name]
    return found


def _even(table: Table, columns: ArmColumns, values: Array) -> tuple[float, Array]:
    """The rate, Hz, and values at even times, interpolated where the rows are not."""
    if not table.has((columns.time,)):
        if columns.rate is None:
            raise InputError(f"{table.path}: no column {columns.time!r} of the time in s: state the rate, Hz")
        return columns.rate, values
    t = table.columns((columns.time,))[:, 0]
    steps = np.diff(t)
    if len(steps) < 2:
        raise InputError(f"{table.path}: {len(t)} rows, too few for a motion")
    if (steps <= 0.0).any():
        row = int(np.argmax(steps <= 0.0))
        raise InputError(f"{table.path}: {columns.time} = {t[row + 1]:.9g} s does not increase after {t[row]:.9g} s")
    period = float(np.median(steps))
    if columns.rate is not None and abs(columns.rate * period - 1.0) > _UNEVEN:
        raise InputError(f"{table.path}: rows come at {1.0 / period:.6g} Hz, the stated rate is {columns.rate:g} Hz")
    if (steps > _GAP * period).any():
        row = int(np.argmax(steps > _GAP * period))
        raise InputError(
            f"{table.path}: a gap of {steps[row]:.4g} s after t = {t[row]:.9g} s, rows come every {period:.4g} s: "
            "cut the file there"
        )
    period = float((t[-1] - t[0]) / len(steps))
    even = t[0] + period * np.arange(len(t))
    if np.abs(t - even).max() <= _UNEVEN * period:
        return 1.0 / period, values
    return 1.0 / period, np.column_stack([np.interp(even, t, column) for column in values.T])


def _joint_positions(arm: serial.Arm, positions: Array, place: Place, columns: ArmColumns) -> Array:
    n = len(arm.joints)
    zero = np.array(columns.zero) if columns.zero else np.zeros(n)
    if zero.shape != (n,):
        raise InputError(f"zero: {len(zero)} numbers, the arm has {n} joints")
    turning = np.array([place == "motors" or joint.revolute for joint in arm.joints])
    if columns.degrees:
        positions = np.where(turning, np.radians(positions), positions)
    if place == "motors":
        positions = positions @ np.linalg.inv(np.asarray(arm.motor_ratios)).T
    return positions + zero


def _drive_forces(arm: serial.Arm, forces: Array, place: Place, gains: Sequence[float]) -> Array:
    n = len(arm.joints)
    if len(gains) not in (0, 1, n):
        raise InputError(f"gains: {len(gains)} numbers, must be 1 or {n}")
    scaled = forces * np.array(gains or [1.0])
    if place == "motors":
        return np.asarray(scaled * np.diag(np.asarray(arm.motor_ratios)))
    moved: Array = scaled @ drive_matrix(arm).T
    return moved
