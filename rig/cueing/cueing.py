"""A vehicle's motion, the platform's motion that gives its cues, and what is sensed on the platform."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dynamics import Mechanism
from kinematics import (
    VEHICLE,
    Array,
    LegMotion,
    Poses,
    Tuning,
    leg_kinematics,
    pose_to_coordinates,
    quaternion_to_matrix,
)
from rig.config import Safety
from rig.csvio import read_table
from rig.cueing.manoeuvres import MANOEUVRES
from rig.errors import InputError
from rig.safety import TrajectoryVerdict, check_trajectory
from rig.streaming import motion_bounds, washout_of

_LONGEST = 3600.0
"""s, of a vehicle's motion"""
_SETTLED = 1e-4
"""m, rad, m/s and rad/s: the platform is home"""
_SETTLING = 40.0
"""s, at most, in which the platform returns home after the vehicle's motion"""
_REST = 0.5
"""s at rest before and after"""
_WEIGHTLESS = 3.0
"""m/s², below which the first specific force looks as if gravity were missing"""


@dataclass(frozen=True, slots=True, eq=False)
class Vehicle:
    """A vehicle's motion at evenly spaced times (n,) s: samples (n, 6) as `VEHICLE`, along the vehicle's axes."""

    source: str
    times: Array
    samples: Array

    @property
    def looks_weightless(self) -> bool:
        """Whether the first sample has too little specific force for a vehicle under gravity."""
        return bool(np.linalg.norm(self.samples[0, :3]) < _WEIGHTLESS)


def read_vehicle(path: Path, rate: float) -> Vehicle:
    """Read a vehicle's motion, and interpolate it linearly at `rate` Hz.

    path: CSV with t, increasing, s; ax, ay, az: specific force, m/s²; p, q, r: angular rate, rad/s.

    Raises:
        InputError: the file cannot be used; it has fewer than two rows, or is longer than an hour.
    """
    table = read_table(path, VEHICLE, increasing=True)
    times = table.times
    if len(times) < 2:
        raise InputError(f"{path}: {len(times)} rows, must be at least 2")
    duration = float(times[-1] - times[0])
    if duration > _LONGEST:
        raise InputError(f"{path}: {duration:g} s, must be at most {_LONGEST:g} s")
    even = np.arange(int(duration * rate * (1.0 + 1e-12)) + 1) / rate
    values = table.columns(VEHICLE)
    samples = np.column_stack([np.interp(even, times - times[0], column) for column in values.T])
    return Vehicle(str(path), even, samples)


def named_vehicle(name: str, rate: float, axes: str = "z-up") -> Vehicle:
    """Return the manoeuvre of a name of MANOEUVRES at `rate` Hz, along axes of a tuning.

    Raises:
        InputError: no such manoeuvre.
    """
    if name not in MANOEUVRES:
        raise InputError(f"{name}: must be one of {', '.join(MANOEUVRES)}")
    samples = MANOEUVRES[name](rate)
    if axes == "z-down":
        samples = samples * [1.0, -1.0, -1.0, 1.0, -1.0, -1.0]
    return Vehicle(name, np.arange(len(samples)) / rate, samples)


@dataclass(frozen=True, eq=False)
class Cueing:
    """A vehicle's motion on a machine.

    times (n,) s from the start of the vehicle's motion, negative before it. vehicle (n, 6): the input in axes with z
    up, level where there is none. motions (n, 19): of the platform, base frame. flags (n,): see `kinematics.FLAGS`.
    """

    mechanism: Mechanism
    safety: Safety
    tuning: Tuning
    rate: float
    source: str
    times: Array
    vehicle: Array
    motions: Array
    flags: npt.NDArray[np.int64]
    vehicle_end: float

    @cached_property
    def sensed(self) -> Array:
        """Specific force, m/s², and angular rate, rad/s, at the head (n, 6), platform axes."""
        return sensed_at(self.motions, np.array(self.tuning.head), np.asarray(self.mechanism.gravity))

    @cached_property
    def sensed_by_tilt(self) -> Array:
        """The part of the specific force at the head that gravity gives (n, 3), m/s², platform axes: −Rᵀ g."""
        R = quaternion_to_matrix(self.motions[:, 3:7])
        given: Array = -np.einsum("nji,j->ni", R, np.asarray(self.mechanism.gravity, dtype=np.float64))
        return given

    @cached_property
    def coordinates(self) -> Array:
        """Position of the platform's origin from home and its angles (n, 6), m and rad."""
        found = pose_to_coordinates(self.motions[:, :7])
        found[:, :3] -= self.mechanism.geometry.home_pose[:3]
        return found

    @cached_property
    def legs(self) -> LegMotion:
        """Motion of the legs."""
        return leg_kinematics(self.mechanism.geometry, self.motions)

    @cached_property
    def use(self) -> dict[str, Array]:
        """Use of the legs' bounds (n, 6): of a stroke from its middle, of speed and acceleration; 1 is the bound."""
        bounds = motion_bounds(self.mechanism, self.safety).array
        middle, half = 0.5 * (bounds[:, 0] + bounds[:, 1]), 0.5 * (bounds[:, 1] - bounds[:, 0])
        return {
            "stroke": (self.legs.length - middle) / half,
            "speed": self.legs.velocity / bounds[:, 2],
            "acceleration": self.legs.acceleration / bounds[:, 3],
        }

    @cached_property
    def verdict(self) -> TrajectoryVerdict:
        """Verdict of the rig's check on the motion, read back as a table of poses."""
        return check_trajectory(
            self.mechanism, self.safety, Poses(self.times - self.times[0], self.motions[:, :7]), self.rate, remedy=False
        )


def sensed_at(motions: Array, head: Array, gravity: Array) -> Array:
    """Return specific force and angular rate (n, 6) at a point of the platform, in platform axes.

    f = Rᵀ (a + α×R c + ω×(ω×R c) − g). motions (n, 19); head (3,) m, platform axes; gravity (3,) m/s², base frame.
    """
    R = quaternion_to_matrix(motions[:, 3:7])
    arm = R @ head
    omega = motions[:, 10:13]
    acceleration = motions[:, 13:16] + np.cross(motions[:, 16:19], arm) + np.cross(omega, np.cross(omega, arm))
    force = np.einsum("nji,nj->ni", R, acceleration - gravity)
    return np.hstack([force, np.einsum("nji,nj->ni", R, omega)])


def cue(mechanism: Mechanism, safety: Safety, tuning: Tuning, rate: float, vehicle: Vehicle) -> Cueing:
    """Run a vehicle's motion through the washout, from rest at home to rest.

    Before it the platform stands for half a second; after it the vehicle stands on level ground until the platform is
    home, for at most 40 s, then the platform brakes and stands.

    Raises:
        InputError, KinematicsError, LimitError: see `washout_of`.
    """
    washout = washout_of(mechanism, safety, tuning, rate)
    before = round(_REST * rate)
    level = washout.level
    led, flags = washout.run(np.vstack([np.tile(level, (before, 1)), vehicle.samples]))
    motions, found = [led], [flags]
    for _ in range(int(_SETTLING)):
        if np.abs(washout.state[:12]).max() <= _SETTLED:
            break
        led, flags = washout.run(np.tile(level, (round(rate), 1)))
        motions.append(led)
        found.append(flags)
    stop = [washout.brake().copy() for _ in range(round((washout.braking_time + _REST) * rate) + 1)]
    motions.append(np.array(stop))
    found.append(np.zeros(len(stop), dtype=np.int64))
    whole = np.vstack(motions)
    samples = np.tile(level, (len(whole), 1))
    samples[before : before + len(vehicle.samples)] = vehicle.samples
    if tuning.axes == "z-down":
        samples = samples * [1.0, -1.0, -1.0, 1.0, -1.0, -1.0]
    return Cueing(
        mechanism,
        safety,
        tuning,
        rate,
        vehicle.source,
        (np.arange(len(whole)) - before) / rate,
        samples,
        whole,
        np.concatenate(found),
        float(vehicle.times[-1]),
    )
