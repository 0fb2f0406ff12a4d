"""Motions wherever they are written: trajectory files, tables of other commands, exports and recordings."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from kinematics import (
    ACCELERATION,
    COORDINATES,
    TWIST,
    Array,
    Geometry,
    InputFileError,
    KinematicsError,
    Poses,
    Trajectory,
    TrajectoryError,
    coordinates_to_motion,
    coordinates_to_pose,
    forward_acceleration,
    forward_kinematics,
    forward_twist,
    is_pipe,
    load_trajectory,
    motion_to_coordinates,
    open_table,
)
from rig.csvio import MOTION, POSE, WRENCH, Table, optional_groups, per_leg, read_table
from rig.errors import InputError
from rig.recording import RecordingError, open_part, split_part
from rig.states import State
from rig.telemetry import CycleFlag

SourceKind = Literal["trajectory", "motion", "poses", "coordinates", "lengths", "recording"]
"""What a motion was read from: a trajectory file; a table of motions, poses, coordinates or leg lengths; a recording
or its export."""

_EXPORTED = tuple(f"reference_{place}" for place in range(1, 20))
_LONGEST_STEP, _STEPS, _MOST_STEPS = 0.01, 600, 20_000
"""Default sampling of a trajectory: s at most, intervals at least, and intervals at most."""
MOST_SAMPLES = 200_000
"""Limit of the samples of a trajectory in steps of the user's."""


@dataclass(frozen=True, eq=False)
class SampledMotion:
    """A motion at times.

    source: the file.  kind: what it was read from.  times (n,) s.  motions (n, 19), base frame.
    wrenches (n, 6): external wrench of the file, N and N m at the platform origin in platform axes; None without.
    trajectory: what the motion was sampled from; None for a table or a recording that has speeds and accelerations.
    begin: s, time of the trajectory's start.
    """

    source: str
    kind: SourceKind
    times: Array
    motions: Array
    wrenches: Array | None = None
    trajectory: Trajectory | None = None
    begin: float = 0.0

    def check_times(self) -> None:
        """Refuse less than two times, or times that do not increase. Raises InputError with the first such row."""
        if len(self.times) < 2:
            raise InputError(f"{self.source}: {len(self.times)} rows, must be at least 2")
        _check_increase(self.source, self.times)

    @cached_property
    def _coordinates(self) -> tuple[Array, Array, Array]:
        self.check_times()
        q, first, second = motion_to_coordinates(self.motions)
        q[:, 3:] = np.unwrap(q[:, 3:], axis=0)
        return q, first, second

    def at(self, times: Array) -> Array:
        """Return motions (n, 19) at times (n,) s, the file's first to its last.

        Those of the trajectory; between rows with speeds and accelerations a quintic polynomial of the coordinates.

        Raises:
            InputError: times outside of the motion, or times of the file that do not increase.
            KinematicsError: θy within 0.06° of ±90° between two rows.
        """
        if self.trajectory is not None:
            self._check_within(times, self.begin, self.begin + self.trajectory.duration)
            return self.trajectory.motion(np.clip(times - self.begin, 0.0, self.trajectory.duration))  # rounding alone
        q, first, second = self._coordinates
        self._check_within(times, float(self.times[0]), float(self.times[-1]))
        row = np.searchsorted(self.times[1:-1], times, "right")
        step = np.diff(self.times)[row][:, None]
        u = (times - self.times[row])[:, None] / step
        v_0, v_1 = step * first[row], step * first[row + 1]
        a_0, a_1 = step**2 * second[row], step**2 * second[row + 1]
        d, v, a = q[row + 1] - q[row] - v_0 - 0.5 * a_0, v_1 - v_0 - a_0, a_1 - a_0
        c_3, c_4, c_5 = 10.0 * d - 4.0 * v + 0.5 * a, -15.0 * d + 7.0 * v - a, 6.0 * d - 3.0 * v + 0.5 * a
        place = q[row] + u * (v_0 + u * (0.5 * a_0 + u * (c_3 + u * (c_4 + u * c_5))))
        speed = (v_0 + u * (a_0 + u * (3.0 * c_3 + u * (4.0 * c_4 + u * 5.0 * c_5)))) / step
        rate = (a_0 + u * (6.0 * c_3 + u * (12.0 * c_4 + u * 20.0 * c_5))) / step**2
        return coordinates_to_motion(place, speed, rate)

    def _check_within(self, times: Array, begin: float, end: float) -> None:
        rounding = 1e-9 + 4.0 * np.spacing(max(abs(begin), abs(end)))
        outside = times[~((times >= begin - rounding) & (times <= end + rounding))]
        if len(outside):
            raise InputError(f"{self.source}: t = {outside[0]:.9g} s, must be from {begin:.9g} to {end:.9g} s")

    def sampled(self, step: float) -> "SampledMotion":
        """Return the same motion in even steps of at most `step` s, from the first to the last of its times.

        Raises:
            InputError: a step that is not above 0 s, or makes more than 200,000 samples; see also `at`.
        """
        if not step > 0.0:
            raise InputError(f"step: {step:g} s must be above 0 s")
        begin, end = float(self.times[0]), float(self.times[-1])
        if not (end - begin) / step < MOST_SAMPLES:
            raise InputError(
                f"step: {step:g} s is too short for {end - begin:g} s, at most {MOST_SAMPLES} samples: at least "
                f"{(end - begin) / (MOST_SAMPLES - 1):.3g} s"
            )
        times = begin + even_times(end - begin, step)
        wrenches = self.wrenches
        if wrenches is not None:
            wrenches = np.column_stack([np.interp(times, self.times, column) for column in wrenches.T])
        return replace(self, times=times, motions=self.at(times), wrenches=wrenches)

    def thinned(self, most: int) -> "SampledMotion":
        """Return every k-th of its samples, with the least k that leaves at most `most` and the last one."""
        stride = -(-len(self.times) // most)
        if stride <= 1:
            return self
        return self.subset(np.unique(np.append(np.arange(0, len(self.times), stride), len(self.times) - 1)))

    def subset(self, rows: npt.NDArray[np.intp]) -> "SampledMotion":
        """Return its samples of these rows (k,)."""
        wrenches = None if self.wrenches is None else self.wrenches[rows]
        return replace(self, times=self.times[rows], motions=self.motions[rows], wrenches=wrenches)


def _check_increase(name: str, times: Array) -> None:
    late = np.flatnonzero(np.diff(times) <= 0.0)
    if len(late):
        before, now = times[late[0] : late[0] + 2]
        raise InputError(f"{name}: row {late[0] + 2}: t = {now:.9g} s does not increase from {before:.9g} s")


def even_times(duration: float, step: float) -> Array:
    """Return times (n,) s from 0 to `duration`, evenly spaced by at most `step` s."""
    count = max(1, int(np.ceil(duration / step * (1.0 - 1e-9))))
    times = duration / count * np.arange(float(count + 1))
    times[-1] = duration
    return times


def usual_step(duration: float) -> float:
    """Return the default step of a trajectory, s: 10 ms or a 600th of it, and at least a 20,000th."""
    return max(min(_LONGEST_STEP, duration / _STEPS), duration / _MOST_STEPS)


def read_motion(source: str | Path, geometry: Geometry, *, guess: Array | None = None) -> SampledMotion:
    """Read a motion of a platform of this geometry.

    source: a trajectory (.toml, or the name of a shipped one), sampled in `usual_step`; a recording (.mcap, or one
        motion of it, FILE#ID) or its export, the commanded motion from the first to the last motion; else a CSV file
        of t and columns that another command writes: a motion; poses, with or without twists; coordinates x y z rx ry
        rz in the base frame; lengths l1…l6, with or without speeds and accelerations. An external wrench may follow.
    guess: a pose (7,) near the first row of lengths; None for home.

    A table without accelerations becomes a smooth motion through its rows (`Poses`): at rest at both ends, unless the
    twists are given too.

    Raises:
        InputError, TrajectoryError, RecordingError: a file that cannot be used, with the reason.
    """
    name = str(source)
    if _is_recording(source):
        return _recorded(name)
    path = Path(source)
    if path.suffix.lower() == ".toml" or (not path.exists() and path.name == name and not path.suffix):
        trajectory = load_trajectory(source, geometry.home)
        times = even_times(trajectory.duration, usual_step(trajectory.duration))
        return SampledMotion(name, "trajectory", times, trajectory.motion(times), trajectory=trajectory)
    if set(_EXPORTED) <= set(_header(path)):
        return _exported(path)
    return _tabulated(path, geometry, guess)


def read_trajectory(source: str | Path, geometry: Geometry) -> Trajectory:
    """Read a motion as a trajectory that a rig may run: as `load_trajectory`, and what `read_motion` reads besides.

    A table or a recording becomes the smooth motion through its poses, at rest at both ends.

    Raises:
        InputError, TrajectoryError, RecordingError: a file that cannot be used, with the reason.
    """
    path = Path(source)
    if not _is_recording(source):
        names = set(_header(path)) if path.suffix.lower() == ".csv" else set()
        if "t" not in names or names <= {"t", *MOTION, *WRENCH}:
            return load_trajectory(source, geometry.home)
    motion = read_motion(source, geometry)
    return motion.trajectory or _through(motion.source, motion.times, motion.motions[:, :7])


def read_lengths(source: str | Path) -> Table:
    """Read leg lengths: t, increasing, and l1…l6, m; v1…v6, m/s, and then a1…a6, m/s², may follow.

    source: a CSV file, of which columns of a motion and others that commands write are left out; or a recording (.mcap,
        FILE#ID) or its export: lengths and speeds as measured while the rig is homed.

    Raises:
        InputError, RecordingError: a file that cannot be used, with the reason.
    """
    name, path = str(source), Path(source)
    if _is_recording(source):
        blocks = open_part(name).blocks()
        rows = [np.column_stack([one["t"], one["flags"], one["length"], one["velocity"]]) for one in blocks]
        return _measured(path, np.concatenate(rows) if rows else np.empty((0, 14)))
    measured = tuple(f"{kind}_{leg}" for kind in ("length", "velocity") for leg in range(1, 7))
    if set(measured) <= set(_header(path)):
        return _measured(path, _export_rows(path, ("t", "flags", *measured)))
    return read_table(path, per_leg("l"), optional_groups(per_leg("l")), increasing=True)


def _measured(path: Path, rows: Array) -> Table:
    """Return the table of rows (n, 14): t, flags, lengths, speeds, where the rig is homed."""
    homed = np.isfinite(rows).all(axis=1) & (rows[:, 1].astype(np.int64) & CycleFlag.HOMED != 0)
    chosen = rows[homed][:, [0, *range(2, 14)]]
    if not len(chosen):
        raise RecordingError(f"{path}: holds no leg lengths of a homed rig")
    return Table(path, ("t", *per_leg("l"), *per_leg("v")), _increasing(chosen))


def follow_lengths(geometry: Geometry, table: Table, guess: Array) -> Array:
    """Solve the rows of a table of leg lengths l1…l6, starting from a pose (7,) near the first.

    Returns poses (n, 7); with speeds v1…v6 also twists (n, 13), with accelerations a1…a6 motions (n, 19).

    Raises:
        InputError: a row leads to no pose, or to a singular one where more than the pose is needed.
    """
    lengths = table.columns(per_leg("l"))
    speeds, accelerations = (table.columns(per_leg(x)) if table.has(per_leg(x)) else None for x in "va")
    if speeds is None and accelerations is not None:
        raise InputError(f"{table.path}: a1…a6 without v1…v6: leg accelerations need the leg speeds")
    reach = len(POSE) if speeds is None else TWIST.stop if accelerations is None else ACCELERATION.stop
    motions = np.empty((len(lengths), reach))
    pose = guess
    for row, time in enumerate(table.times):
        wanted = "pose"
        try:
            motions[row, : len(POSE)] = pose = forward_kinematics(geometry, lengths[row], pose)
            if speeds is not None:
                wanted = "twist"
                motions[row, TWIST] = forward_twist(geometry, pose, speeds[row])
            if accelerations is not None:
                wanted = "acceleration"
                motions[row, ACCELERATION] = forward_acceleration(
                    geometry, pose, motions[row, TWIST], accelerations[row]
                )
        except KinematicsError as error:
            raise InputError(f"{table.path}: no {wanted} for row {row + 1} (t = {time:g} s): {error}") from error
    return motions


def _is_recording(source: str | Path) -> bool:
    return split_part(source)[0].suffix.lower() == ".mcap"


def _increasing(rows: Array) -> Array:
    """Return the rows (n, m) whose time, the first column, is after those of all rows before."""
    return np.asarray(rows[np.append(True, np.diff(np.maximum.accumulate(rows[:, 0])) > 0.0)])


def _header(path: Path) -> tuple[str, ...]:
    """Return the names in the first line of a CSV file; none for a pipe, or a file that cannot be read as text."""
    if is_pipe(path):
        return ()
    try:
        with open_table(path) as file:
            return tuple(cell.strip() for cell in next(csv.reader(file), []))
    except (InputFileError, csv.Error):
        return ()


def _tabulated(path: Path, geometry: Geometry, guess: Array | None) -> SampledMotion:
    table = read_table(path, partial(_required, path), optional_groups(POSE))
    times, name = table.times, str(path)
    wrenches = table.columns(WRENCH) if table.has(WRENCH) else None
    if table.has(MOTION):
        return SampledMotion(name, "motion", times, table.columns(MOTION), wrenches)
    _check_increase(name, times)
    kind: SourceKind
    if table.has(POSE):
        kind, known = "poses", table.columns(MOTION[:13] if table.has(MOTION[7:13]) else POSE)
    elif table.has(COORDINATES):
        kind, known = "coordinates", coordinates_to_pose(table.columns(COORDINATES))
    else:
        if guess is None and geometry.home is None:
            raise InputError(f"{path}: leg lengths need a pose near the first row, the mechanism has no home")
        kind, known = "lengths", follow_lengths(geometry, table, geometry.home_pose if guess is None else guess)
    if known.shape[1] == ACCELERATION.stop:
        return SampledMotion(name, kind, times, known, wrenches)
    if known.shape[1] == TWIST.stop:
        return SampledMotion(name, kind, times, _accelerated(name, times, known), wrenches)
    trajectory = _through(name, times, known)
    motions = trajectory.motion(np.minimum(times - times[0], trajectory.duration))
    return SampledMotion(name, kind, times, motions, wrenches, trajectory, float(times[0]))


def _required(path: Path, names: tuple[str, ...]) -> Sequence[str]:
    """Return the columns of the kind of table that has these names."""
    if {"mode", "residual"} <= set(names):
        raise InputError(f"{path}: has every pose of each row (`rig fk --all`), not one motion")
    for kind in (POSE, COORDINATES, per_leg("l")):
        if set(kind) <= set(names):
            return kind
    for kind in (COORDINATES[3:], per_leg("l")):
        if set(kind) & set(names):
            return COORDINATES if kind[0] == "rx" else kind
    return POSE


def _through(name: str, times: Array, poses: Array) -> Poses:
    try:
        return Poses(times, poses)
    except TrajectoryError as error:
        raise TrajectoryError(f"{name}: {error}") from None


def _accelerated(name: str, times: Array, known: Array) -> Array:
    """Return motions (n, 19) of poses and twists (n, 13): accelerations are the slopes of a spline of the twists."""
    if len(times) < 4:
        raise InputError(f"{name}: {len(times)} rows, must be at least 4 for accelerations from the twists")
    from scipy.interpolate import CubicSpline  # slow to import, rarely needed

    return np.hstack([known, CubicSpline(times, known[:, TWIST])(times, nu=1)])


def _recorded(name: str) -> SampledMotion:
    """Return the commanded motion of a recording, or of one motion of it."""
    recording = open_part(name)
    parts = [
        np.column_stack([rows["t"], rows["motion"], rows["state"], rows["reference"]]) for rows in recording.blocks()
    ]
    if not parts:
        raise RecordingError(f"{name}: holds no telemetry")
    return _commanded(name, np.concatenate(parts))


def _exported(path: Path) -> SampledMotion:
    """Return the commanded motion of an export; its other columns may hold anything."""
    return _commanded(str(path), _export_rows(path, ("t", "motion", "state", *_EXPORTED)))


def _export_rows(path: Path, wanted: Sequence[str]) -> Array:
    """Return the wanted columns of an export (n, len(wanted)); not a number where it has none."""
    try:
        with open_table(path) as file:
            reader = csv.reader(file)
            names = [cell.strip() for cell in next(reader)]
            if missing := [name for name in wanted if name not in names]:
                raise InputError(f"{path}: an export of a recording without the columns: {', '.join(missing)}")
            places = [names.index(name) for name in wanted]
            rows = [[float(row[place]) for place in places] for row in reader if row]
    except InputFileError as error:
        raise InputError(f"cannot read {path}: {error}") from None
    except (ValueError, IndexError, csv.Error) as error:
        raise InputError(f"{path}: line {reader.line_num}: not a row of an export: {error}") from None
    return np.array(rows).reshape(-1, len(wanted))


def _commanded(name: str, rows: Array) -> SampledMotion:
    """Return the commanded motion of rows (n, 22): t, motion, state, reference; from the first to the last motion.

    Without any motion: while the platform is engaged.
    """
    known = np.isfinite(rows).all(axis=1) & (np.abs(np.linalg.norm(rows[:, 6:10], axis=1) - 1.0) < 1e-6)
    moving = np.flatnonzero(known & (rows[:, 1] > 0))
    if not len(moving):
        moving = np.flatnonzero(known & np.isin(rows[:, 2], (State.ENGAGED, State.RUNNING)))
    if len(moving) < 2:
        raise RecordingError(f"{name}: holds no commanded motion")
    chosen = _increasing(rows[moving[0] : moving[-1] + 1][known[moving[0] : moving[-1] + 1]])
    motions = np.ascontiguousarray(chosen[:, 3:])
    motions[:, 3:7] /= np.linalg.norm(motions[:, 3:7], axis=1, keepdims=True)
    return SampledMotion(name, "recording", np.ascontiguousarray(chosen[:, 0]), motions)
