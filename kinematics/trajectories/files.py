"""Trajectory files, in TOML or as a CSV of poses, and the trajectory of each part."""

import csv
import math
import time
from collections import abc
from collections.abc import Callable, Mapping
from importlib import resources
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
import tomlkit
from numpy.typing import ArrayLike
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from tomlkit.items import Table

from kinematics.arrays import MOTION_FIELDS, POSE, Array, checked_poses
from kinematics.errors import InputFileError, KinematicsError, TrajectoryError
from kinematics.inputs import (
    Angle,
    AngularSpeed,
    Factor,
    Frequency,
    Length,
    Speed,
    Time,
    add_toml_entry,
    fault_reason,
    is_pipe,
    open_table,
    parse_toml,
    read_number,
    read_numbers,
    read_text,
    within,
)
from kinematics.rotations import pose_to_coordinates
from kinematics.trajectories.base import (
    COORDINATES,
    PLATFORM,
    SHORTEST,
    Axes,
    Placement,
    Sequence,
    Thresholds,
    Trajectory,
    TrajectoryFrame,
    bounded,
)
from kinematics.trajectories.generators import (
    Blend,
    Chirp,
    ChirpTerm,
    Harmonic,
    HarmonicTerm,
    Hold,
    MinimumJerk,
    RandomMotion,
    RandomTerm,
    Transition,
)
from kinematics.trajectories.records import (
    SYNTHETIC,
    Corrected,
    Record,
    RecordAxis,
    RecordUnit,
    corrected,
    joined,
    read_record,
    synthetic_record,
)

_COLUMNS = ("t", *MOTION_FIELDS[POSE])
_IGNORED = {*MOTION_FIELDS[POSE.stop :], "fx", "fy", "fz", "mx", "my", "mz"}
_UNIT = 1e-6
_LONGEST_QUOTED = 60  # characters
_MOST_FAULTS = 20  # faults listed at most
_BLOCK = 250  # rows read before yielding to other threads: some 1 ms of work
_LEAST_ROWS = {True: 2, False: 6}  # by rest_ends: a quintic without end conditions needs six points


class QuinticSpline(Trajectory):
    """Quintic spline through `values` (n, axes) at `times` (n,) s, unevenly spaced or not; time restarts at 0.

    `rest_ends`: zero speed and acceleration at start and end (at least two points); otherwise not-a-knot ends (at
    least six).
    Raises TrajectoryError for times less than 1 µs apart.
    """

    def __init__(
        self, times: Array, values: Array, *, rest_ends: bool, placement: Placement | None = None, axes: Axes = PLATFORM
    ) -> None:
        late = np.diff(times) >= SHORTEST
        if not late.all():
            row = int(np.argmin(late)) + 1
            raise TrajectoryError(
                f"times: {times[row]:g} s follows {times[row - 1]:g} s, must be at least {SHORTEST:g} s later"
            )
        super().__init__(float(times[-1] - times[0]), placement, axes=axes)
        from scipy.interpolate import make_interp_spline  # slow to import, rarely needed

        rest = [(1, np.zeros(len(axes))), (2, np.zeros(len(axes)))]
        # In units of the mean interval, so that the end conditions are scaled like the values.
        self._scale = (len(times) - 1) / self.duration
        self._spline = make_interp_spline(
            (times - times[0]) * self._scale,
            values,
            k=5,
            bc_type=(rest, rest) if rest_ends else None,  # type: ignore[arg-type]  # the stubs allow cubics only
        )

    def _evaluate(self, t: Array) -> tuple[Array, Array, Array]:
        u = t * self._scale
        return self._spline(u), self._spline(u, nu=1) * self._scale, self._spline(u, nu=2) * self._scale**2


class Poses(QuinticSpline):
    """Smooth motion through `poses` (n,7) at `times` (n,) s, unevenly spaced or not; time restarts at 0.

    A quintic spline of the coordinates [x y z θx θy θz], angles unwrapped: four continuous derivatives, exact
    interpolation.  `rest_ends`: zero speed and acceleration at start and end (at least two poses); otherwise
    not-a-knot ends (at least six poses).
    Raises TrajectoryError for too few poses, times less than 1 µs apart, non-finite values, quaternions that are not
    unit to 1e-6, and θy within 0.06° of ±90°.
    """

    def __init__(
        self, times: ArrayLike, poses: ArrayLike, *, rest_ends: bool = True, placement: Placement | None = None
    ) -> None:
        t = np.asarray(times, dtype=np.float64)
        if t.ndim != 1 or not np.isfinite(t).all():
            raise TrajectoryError("times: must be (n,) finite numbers, s")
        if len(t) < _LEAST_ROWS[rest_ends]:
            raise TrajectoryError(f"{len(t)} poses, must be at least {_LEAST_ROWS[rest_ends]}")
        try:
            checked = checked_poses("poses", poses)
            if checked.shape != (len(t), 7):
                raise TrajectoryError(f"poses: shape {checked.shape}, must be ({len(t)}, 7) as there are times")
            coordinates = pose_to_coordinates(checked)
        except TrajectoryError:
            raise
        except KinematicsError as error:
            raise TrajectoryError(str(error)) from None
        bounded("poses", float(np.abs(coordinates[:, :3]).max()), "m")
        coordinates[:, 3:] = np.unwrap(coordinates[:, 3:], axis=0)
        super().__init__(t, coordinates, rest_ends=rest_ends, placement=placement)


def read_poses(path: Path) -> tuple[Array, Array]:
    """Read times (n,) s and poses (n,7) of a CSV file with the columns t, x, y, z, qw, qx, qy, qz, in any order.

    Other columns of a motion file (velocities, accelerations, wrench) are ignored.
    Raises TrajectoryError listing the faults with their line numbers.
    """
    blocks = [np.empty((0, len(_COLUMNS)))]
    try:
        with open_table(path) as file:
            reader = csv.reader(file)
            lines = ((reader.line_num, row) for row in reader if any(map(str.strip, row)))
            header = [cell.strip() for cell in next(lines, (0, []))[1]]
            faults = _header_faults(header)
            listed, count = faults[:_MOST_FAULTS], len(faults)
            usable, last = not faults, -math.inf
            while block := list(islice(lines, _BLOCK)):
                if usable:  # otherwise only check that the rest is CSV
                    table, faults = _block(block, header, last)
                    listed += faults[: _MOST_FAULTS - len(listed)]
                    count += len(faults)
                    last = float(table[-1, 0]) if len(table) else last
                    blocks.append(table)
                time.sleep(0)  # yield the GIL: otherwise the GUI thread would wait 5 ms for it each time
    except InputFileError as error:
        raise TrajectoryError(f"{path}: {error}") from None
    except csv.Error as error:
        raise TrajectoryError(f"{path}: cannot be read as CSV: {error}") from None
    if not header:
        raise TrajectoryError(f"{path}: is empty, must start with the header {','.join(_COLUMNS)}")
    if count:
        if count > len(listed):
            listed.append(f"and {count - len(listed)} more")
        raise TrajectoryError(f"{path}: not a usable file of poses:\n" + "\n".join(f"  {fault}" for fault in listed))
    whole = np.concatenate(blocks)
    return whole[:, 0], whole[:, 1:]


def _header_faults(header: list[str]) -> list[str]:
    if len(header) == 1 and ";" in header[0]:
        return ["line 1: columns are separated by semicolons, must be by commas; decimals have a point then"]
    faults = [f"line 1: column {name} is missing" for name in _COLUMNS if name not in header]
    faults += [
        f"line 1: column {_quoted(name)} is unknown" for name in header if name not in _COLUMNS and name not in _IGNORED
    ]
    faults += [f"line 1: column {name} occurs twice" for name in sorted({n for n in header if header.count(n) > 1})]
    return faults


def _block(block: list[tuple[int, list[str]]], header: list[str], last: float) -> tuple[Array, list[str]]:
    """Parse numbered rows to numbers (n,8), where possible, and faults; `last` s is the time before.

    Vectorised if there is no fault, otherwise row by row.
    """
    places = [header.index(name) for name in _COLUMNS]
    table = _numbers([row for _line, row in block], len(header), itemgetter(*places))
    if table is not None and _plausible(table, last):
        return table, []
    values: list[list[float]] = []
    faults: list[str] = []
    for line, row in block:
        found = _row_faults(row, len(header), places, values, last)
        faults += [f"line {line}: {fault}" for fault in found]
    return np.array(values, dtype=np.float64).reshape(-1, len(_COLUMNS)), faults


def _numbers(rows: list[list[str]], width: int, pick: Callable[[list[str]], tuple[str, ...]]) -> Array | None:
    """Parse the cells that `pick` selects of each row, (n,8); None for a non-number or a row not `width` long."""
    if any(len(row) != width for row in rows):
        return None
    try:
        numbers = np.array(read_numbers(list(chain.from_iterable(map(pick, rows)))), dtype=np.float64)
    except ValueError:
        return None
    return numbers.reshape(-1, len(_COLUMNS))


def _plausible(table: Array, last: float) -> bool:
    """Return whether no row has a fault. A norm near its bound is left to `_row_faults`, for rounding."""
    if not np.isfinite(table).all():
        return False
    with np.errstate(over="ignore"):
        norms = np.linalg.norm(table[:, 4:8], axis=1)
        steps = np.diff(table[:, 0], prepend=last)
    return bool((np.abs(norms - 1.0) < 0.999 * _UNIT).all() and (steps >= SHORTEST).all())


def _quoted(text: str) -> str:
    """Shorten a cell for a message: in a wrong file one cell may have a hundred kilobytes."""
    return repr(text if len(text) <= _LONGEST_QUOTED else f"{text[:_LONGEST_QUOTED]}…")


def _row_faults(row: list[str], width: int, places: list[int], values: list[list[float]], last: float) -> list[str]:
    """Return the faults of one row; append a valid row to `values`, which follow the time `last` s."""
    if len(row) != width:
        hint = "; commas separate columns, decimals have a point" if len(row) > width else ""
        return [f"{len(row)} values, must be {width}{hint}"]
    numbers, faults = [], []
    for name, place in zip(_COLUMNS, places, strict=True):
        try:
            number = read_number(row[place])
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            faults.append(f"{name} is {_quoted(row[place].strip())}, must be a finite number")
        numbers.append(number)
    if faults:
        return faults
    before = values[-1][0] if values else last
    if numbers[0] - before < SHORTEST:
        faults.append(f"t is {numbers[0]:g} s after {before:g} s, must be at least {SHORTEST:g} s later")
    norm = math.hypot(*numbers[4:8])
    if abs(norm - 1.0) > _UNIT:
        faults.append(f"quaternion norm is {norm:.9g}, must be 1 within {_UNIT:g}")
    values.append(numbers)
    return faults


LONGEST_FILE = 3600.0
"""s, of what a trajectory file describes; a longer run repeats a shorter motion."""

Coordinates: TypeAlias = tuple[Length, Length, Length, Angle, Angle, Angle]


Duration: TypeAlias = Annotated[Time, Field(gt=0.0), within(-math.inf, LONGEST_FILE, "s")]
NonNegativeFrequency: TypeAlias = Annotated[Frequency, Field(ge=0.0)]

_Terms = Field(min_length=1, max_length=100)
_Noises = Field(min_length=1, max_length=12)  # each is many sines

_AT_REST: tuple[float, float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class FileModel(BaseModel):
    """Base of a trajectory file's tables: no unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class BlendPart(FileModel):
    """Straight line with parabolic blends (`Blend`)."""

    type: Literal["blend"]
    """Kind of the part."""
    start: Coordinates
    """Coordinates at the start, m and rad."""
    end: Coordinates
    """Coordinates at the end, m and rad."""
    duration: Duration
    """Duration, s."""
    speed: Annotated[Speed, Field(gt=0.0)] | None = None
    """Speed between the two blends, m/s: 1 to 2 times distance over duration; required if the position changes."""
    angular_speed: Annotated[AngularSpeed, Field(gt=0.0)] | None = None
    """The same for the vector of angles, rad/s; required if an angle changes."""

    def build(self, folder: Path) -> Trajectory:
        """The part as a trajectory; a relative path starts in `folder`."""
        return Blend(self.start, self.end, self.duration, self.speed, self.angular_speed)


class MinimumJerkPart(FileModel):
    """Straight line of minimum jerk (`MinimumJerk`)."""

    type: Literal["minimum-jerk"]
    """Kind of the part."""
    start: Coordinates
    """Coordinates at the start, m and rad."""
    end: Coordinates
    """Coordinates at the end, m and rad."""
    duration: Duration
    """Duration, s."""

    def build(self, folder: Path) -> Trajectory:
        """The part as a trajectory; a relative path starts in `folder`."""
        return MinimumJerk(self.start, self.end, self.duration)


class HoldPart(FileModel):
    """Standing still (`Hold`)."""

    type: Literal["hold"]
    """Kind of the part."""
    position: Coordinates = _AT_REST
    """Coordinates of the platform, m and rad."""
    duration: Duration
    """Duration, s."""

    def build(self, folder: Path) -> Trajectory:
        """The part as a trajectory; a relative path starts in `folder`."""
        return Hold(self.position, self.duration)


class _Linear(FileModel):
    dof: Literal["x", "y", "z"]
    """Coordinate that moves."""


class _Angular(FileModel):
    dof: Literal["rx", "ry", "rz"]
    """Coordinate that moves."""


class _LinearDof(_Linear):
    amplitude: Length
    """Amplitude, m."""
    phase: Angle = 0.0
    """Phase at the start, rad."""


class _AngularDof(_Angular):
    amplitude: Angle
    """Amplitude, rad."""
    phase: Angle = 0.0
    """Phase at the start, rad."""


class LinearSine(_LinearDof):
    """One sine on a position."""

    frequency: NonNegativeFrequency
    """Frequency, Hz."""


class AngularSine(_AngularDof):
    """One sine on an angle."""

    frequency: NonNegativeFrequency
    """Frequency, Hz."""


class LinearSweep(_LinearDof):
    """One frequency sweep on a position."""

    start_frequency: NonNegativeFrequency
    """Frequency at the start, Hz."""
    end_frequency: NonNegativeFrequency
    """Frequency at the end, Hz."""


class AngularSweep(_AngularDof):
    """One frequency sweep on an angle."""

    start_frequency: NonNegativeFrequency
    """Frequency at the start, Hz."""
    end_frequency: NonNegativeFrequency
    """Frequency at the end, Hz."""


class LinearNoise(_Linear):
    """Band-limited noise on a position."""

    rms: Annotated[Length, Field(ge=0.0)]
    """Root mean square, m."""
    low_frequency: NonNegativeFrequency
    """Lower end of the band, Hz."""
    high_frequency: NonNegativeFrequency
    """Upper end of the band, Hz."""


class AngularNoise(_Angular):
    """Band-limited noise on an angle."""

    rms: Annotated[Angle, Field(ge=0.0)]
    """Root mean square, rad."""
    low_frequency: NonNegativeFrequency
    """Lower end of the band, Hz."""
    high_frequency: NonNegativeFrequency
    """Upper end of the band, Hz."""


class HarmonicPart(FileModel):
    """Faded sines about an offset (`Harmonic`)."""

    type: Literal["harmonic"]
    """Kind of the part."""
    terms: Annotated[
        list[Annotated[LinearSine | AngularSine, Field(discriminator="dof")]],
        _Terms,
    ]
    """Sines, added up."""
    duration: Duration
    """Duration, s."""
    fade: Duration
    """Duration of the fade-in and of the fade-out, s."""
    offset: Coordinates = _AT_REST
    """Coordinates of the centre of the motion, m and rad."""

    def build(self, folder: Path) -> Trajectory:
        """The part as a trajectory; a relative path starts in `folder`."""
        terms = [HarmonicTerm(term.dof, term.amplitude, term.frequency, term.phase) for term in self.terms]
        return Harmonic(terms, self.duration, self.fade, offset=self.offset)


class ChirpPart(FileModel):
    """Faded frequency sweeps about an offset (`Chirp`)."""

    type: Literal["chirp"]
    """Kind of the part."""
    terms: Annotated[
        list[Annotated[LinearSweep | AngularSweep, Field(discriminator="dof")]],
        _Terms,
    ]
    """Frequency sweeps, added up."""
    duration: Duration
    """Duration, s."""
    fade: Duration
    """Duration of the fade-in and of the fade-out, s."""
    offset: Coordinates = _AT_REST
    """Coordinates of the centre of the motion, m and rad."""

    def build(self, folder: Path) -> Trajectory:
        """The part as a trajectory; a relative path starts in `folder`."""
        terms = [
            ChirpTerm(term.dof, term.amplitude, term.start_frequency, term.end_frequency, term.phase)
            for term in self.terms
        ]
        return Chirp(terms, self.duration, self.fade, offset=self.offset)


class PosesPart(FileModel):
    """Poses of a CSV file (`Poses`), its path relative to the trajectory file."""

    type: Literal["poses"]
    """Kind of the part."""
    file: Annotated[str, Field(min_length=1)]
    """CSV file of poses, relative to the trajectory file."""
    rest_ends: bool = True
    """Whether the platform is at rest at both ends; otherwise the speed at the ends follows from the poses."""

    def build(self, folder: Path) -> Trajectory:
        """The part as a trajectory; a relative path starts in `folder`."""
        return Poses(*read_poses(folder / self.file), rest_ends=self.rest_ends)


class RandomPart(FileModel):
    """Faded noise about an offset, the same for the same seed (`RandomMotion`)."""

    type: Literal["random"]
    """Kind of the part."""
    terms: Annotated[
        list[Annotated[LinearNoise | AngularNoise, Field(discriminator="dof")]],
        _Noises,
    ]
    """Noise signals, added up."""
    duration: Duration
    """Duration, s."""
    fade: Duration
    """Duration of the fade-in and of the fade-out, s."""
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    """Seed of the noise: the same seed gives the same motion."""
    offset: Coordinates = _AT_REST
    """Coordinates of the centre of the motion, m and rad."""

    def build(self, folder: Path) -> Trajectory:
        """The part as a trajectory; a relative path starts in `folder`."""
        terms = [RandomTerm(term.dof, term.rms, term.low_frequency, term.high_frequency) for term in self.terms]
        return RandomMotion(terms, self.duration, self.fade, self.seed, offset=self.offset)


class AccelerationsPart(FileModel):
    """Recorded accelerations, such as a seismic record, integrated without a drift (`Accelerations`)."""

    type: Literal["accelerations"]
    """Kind of the part."""
    file: Annotated[str, Field(min_length=1, examples=["CSV: t,ax,ay,az; AT2"])]
    """CSV file of t and one to three of ax, ay, az; a PEER .AT2 file or a column of numbers, of the component along
    `axis`; relative to the trajectory file. "synthetic": filtered noise like an earthquake."""
    file_y: Annotated[str, Field(examples=["AT2"])] = ""
    """File of the component along y, where each has one of its own."""
    file_z: Annotated[str, Field(examples=["AT2"])] = ""
    """File of the component along z, where each has one of its own."""
    axis: RecordAxis = "x"
    """Axis of the component in a file of one."""
    unit: RecordUnit = "file"
    """Unit of the accelerations; "file": g of an .AT2 file, m/s² otherwise."""
    step: Annotated[Time, Field(gt=0.0)] | None = None
    """Time between two samples of a column of numbers, s."""
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 1
    """Seed of the synthetic record."""
    high_pass: Annotated[Frequency, Field(gt=0.0)] = 0.5
    """Corner of the high-pass, Hz: slower motion, which needs the longest strokes, is taken out."""
    low_pass: Annotated[Frequency, Field(gt=0.0)] | None = None
    """Corner of the low-pass, Hz: faster motion is taken out."""
    fade: Duration = 1.0
    """Duration of the fade-in and of the fade-out of the record, s."""
    scale: Annotated[Factor, Field(gt=0.0, le=100.0)] = 1.0
    """Factor of the accelerations."""
    offset: Coordinates = _AT_REST
    """Coordinates of the centre of the motion, m and rad."""

    def record(self, folder: Path) -> Record:
        """The record as its files have it; a relative path starts in `folder`."""
        if self.file == SYNTHETIC:
            found = [synthetic_record(self.seed)]
        else:
            found = [read_record(folder / self.file, self.axis, self.unit, self.step)]
        others: tuple[tuple[str, RecordAxis], ...] = (self.file_y, "y"), (self.file_z, "z")
        return joined(found + [read_record(folder / name, axis, self.unit, self.step) for name, axis in others if name])

    def build(self, folder: Path) -> Trajectory:
        """The part as a trajectory; a relative path starts in `folder`."""
        made = corrected(self.record(folder), self.high_pass, self.low_pass, self.fade)
        return Accelerations(made, self.scale, np.array(self.offset))


class Accelerations(QuinticSpline):
    """The motion of a corrected record, `scale` times, about `offset` (6,): at rest at both ends.

    A quintic spline through its displacements, of which speed and acceleration are exact derivatives.
    """

    def __init__(self, made: Corrected, scale: float = 1.0, offset: ArrayLike | None = None) -> None:
        centre = np.zeros(len(PLATFORM)) if offset is None else PLATFORM.values("offset", offset)
        values = centre + scale * made.displacement
        bounded("displacement", float(np.abs(values).max()), "m")
        super().__init__(made.times, values, rest_ends=True)


class TransitionPart(FileModel):
    """From the part before to the part after without a jump: a quintic polynomial."""

    type: Literal["transition"]
    """Kind of the part."""
    duration: Duration
    """Duration, s."""

    def between(self, before: Trajectory, after: Trajectory) -> Transition:
        """The part as a trajectory, from where one trajectory ends to where another begins."""
        return join(before, after, self.duration)


def join(before: Trajectory, after: Trajectory, duration: float) -> Transition:
    """Return the transition from the end of one trajectory to the beginning of another in `duration` s."""
    x0, v0, a0 = (each[0] for each in before.coordinates(before.duration))
    x1, v1, a1 = (each[0] for each in after.coordinates(0.0))
    return Transition((x0, v0, a0), (x1, v1, a1), duration, axes=before.axes)


Part: TypeAlias = Annotated[
    BlendPart
    | MinimumJerkPart
    | HoldPart
    | HarmonicPart
    | ChirpPart
    | RandomPart
    | PosesPart
    | AccelerationsPart
    | TransitionPart,
    Field(discriminator="type"),
]


MOST_PARTS = 1000
_LISTED_FAULTS = 30


class TrajectorySpec(FileModel):
    """A trajectory file: frame and pivot of all coordinates, parts in order, size of the whole, and its thresholds."""

    frame: TrajectoryFrame
    """Frame of all coordinates; "home": relative to the platform's home pose."""
    pivot: tuple[Length, Length, Length] = (0.0, 0.0, 0.0)
    """Point about which the platform turns, platform axes from the platform's origin, m."""
    amplitude: Annotated[float, Field(gt=0.0, le=1.0)] = 1.0
    """Size of the whole about its start pose."""
    validation: Thresholds = Thresholds()
    """Thresholds of its runs' verdicts, which take precedence over the configuration's."""
    parts: Annotated[list[Part], Field(min_length=1, max_length=MOST_PARTS)]
    """The parts, run one after the other."""


def build_trajectory(spec: TrajectorySpec, home: ArrayLike | None, folder: Path | None = None) -> Trajectory:
    """Build the trajectory of `spec`; `home` (7,) is the platform's home pose in the base frame, None if it has none.

    Paths of CSV files are relative to `folder` (None: the working folder).  Raises TrajectoryError listing the faults.
    """
    faults: list[str] = []
    placement = None
    try:
        placement = Placement(spec.frame, np.array(spec.pivot), None if home is None else np.asarray(home, dtype=float))
    except TrajectoryError as error:
        faults.append(str(error))
    parts, faults_of_parts = built_parts(spec.parts, lambda part: part.build(folder or Path()))
    if faults or faults_of_parts:
        raise TrajectoryError("\n".join([*faults, *faults_of_parts]))
    trajectory = Sequence(parts, placement=placement)
    trajectory.amplitude = spec.amplitude
    trajectory.thresholds = spec.validation
    return trajectory


def built_parts(parts: abc.Sequence[Any], build: Callable[[Any], Trajectory]) -> tuple[list[Trajectory], list[str]]:
    """Return the parts of a file as trajectories, in order, and what is wrong with them, by their numbers from 1.

    `build` makes one that is not a `TransitionPart`, or raises TrajectoryError; a transition leads from the part before
    to the part after.
    """
    faults: list[str] = []
    built: dict[int, Trajectory] = {}
    transitions: dict[int, Trajectory] = {}
    for number, part in enumerate(parts, start=1):
        if not isinstance(part, TransitionPart):
            try:
                built[number] = build(part)
            except TrajectoryError as error:
                faults.append(f"part {number}, {error}")
    for number, part in enumerate(parts, start=1):
        if isinstance(part, TransitionPart):
            neighbours = [*parts[max(number - 2, 0) : number - 1], *parts[number : number + 1]]
            if len(neighbours) < 2 or any(isinstance(other, TransitionPart) for other in neighbours):
                faults.append(f"part {number}, transition: must stand between two parts of other types")
            elif number - 1 in built and number + 1 in built:
                transitions[number] = part.between(built[number - 1], built[number + 1])
    trajectories = [each for _number, each in sorted((built | transitions).items())]
    duration = sum(part.duration for part in trajectories)
    if duration > LONGEST_FILE:
        faults.append(
            f"parts: {duration:g} s in all, must be at most {LONGEST_FILE:g} s; run a shorter motion repeatedly"
        )
    return trajectories, faults


def parse_specification(text: str) -> TrajectorySpec:
    """Parse a file's TOML `text`.  TrajectoryError listing all faults, each with its place in the file."""
    try:
        return TrajectorySpec.model_validate(parse_toml(text))
    except InputFileError as error:
        raise TrajectoryError(str(error)) from None
    except ValidationError as error:
        faults = [f"{_place(fault['loc'])}: {fault_reason(fault)}" for fault in error.errors(include_url=False)]
        raise TrajectoryError("\n".join(faults)) from None


def parse_trajectory(text: str, home: ArrayLike | None, folder: Path | None = None) -> Trajectory:
    """The trajectory of TOML `text`.  Arguments as `build_trajectory`; TrajectoryError listing the faults."""
    return build_trajectory(parse_specification(text), home, folder)


def trajectory_text(motion: Mapping[str, Any]) -> str:
    """Format the file of a motion from its data, SI; None stands for a missing value."""
    document, parts = tomlkit.document(), tomlkit.aot()
    for key in ("frame", "pivot", "amplitude"):
        if key in motion:
            add_toml_entry(document, key, motion[key])
    if thresholds := motion.get("validation"):
        document.add("validation", _table(thresholds))
    for part in motion["parts"]:
        parts.append(_table(part))
    document.add("parts", parts)
    return tomlkit.dumps(document)


def _table(data: Mapping[str, Any]) -> Table:
    table = tomlkit.table()
    for key, value in data.items():
        if value is not None:
            add_toml_entry(table, key, value)
    return table


def trajectory_names() -> list[str]:
    """Names of the shipped trajectories."""
    entries = resources.files(__package__).iterdir()
    return sorted(entry.name.removesuffix(".toml") for entry in entries if entry.name.endswith(".toml"))


def load_trajectory(source: str | Path, home: ArrayLike | None) -> Trajectory:
    """Read a trajectory: a .toml file, a .csv of poses, also from a pipe, or the bare name of a shipped trajectory.

    Poses are of the platform's origin in the base frame, at rest at both ends.
    home: (7,) pose of the platform in the base frame for files in the frame "home", or None.
    Raises TrajectoryError naming the file and listing all its faults.
    """
    path = Path(source)
    shipped = path.suffix == "" and path.name == str(source)
    try:
        if path.suffix.lower() == ".csv" or (path.suffix.lower() != ".toml" and is_pipe(path)):
            return Poses(*read_poses(path))
        if path.suffix.lower() == ".toml":
            text = read_text(path)
        elif shipped and path.name in trajectory_names():
            text = resources.files(__package__).joinpath(f"{path.name}.toml").read_text(encoding="utf-8")
        else:
            known = ", ".join(trajectory_names())
            raise TrajectoryError(f"must be a .toml or .csv file, or a shipped trajectory ({known})")
        return parse_trajectory(text, home, path.parent)
    except InputFileError as error:
        raise TrajectoryError(f"{source}: {error}") from None
    except TrajectoryError as error:
        faults = listed_faults(str(error).removeprefix(f"{source}: "))
        if "\n" in faults and not faults.startswith("not a usable"):
            faults = "faults in the trajectory file:\n" + "\n".join(f"  {line}" for line in faults.splitlines())
        raise TrajectoryError(f"{source}: {faults}") from None


def listed_faults(faults: str) -> str:
    """Return the first of faults, one a line, and how many more there are."""
    lines = faults.splitlines()
    more = [f"and {len(lines) - _LISTED_FAULTS} more"] if len(lines) > _LISTED_FAULTS else []
    return "\n".join([*lines[:_LISTED_FAULTS], *more])


def _place(location: tuple[int | str, ...]) -> str:
    """Format the place of a fault in the file: parts, terms counted from 1, coordinates by name."""
    words: list[str] = []
    parent = ""
    tagged = False  # pydantic inserts the union's tag after the list index
    for item in location:
        if isinstance(item, int):
            if parent in ("parts", "terms"):
                words[-1] = f"{parent.removesuffix('s')} {item + 1}"
                tagged = True
            else:
                words.append(COORDINATES[item] if item < len(COORDINATES) else f"value {item + 1}")
        elif tagged:
            tagged = False
        else:
            words.append(item)
            parent = item
    return ", ".join(words) or "file"
