"""The parts of a trajectory file: what each kind states, and the trajectory that it is."""

import math
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from kinematics.inputs import Angle, AngularSpeed, Frequency, Length, Speed, Time, within
from kinematics.trajectories.base import Trajectory
from kinematics.trajectories.generators import Blend, Hold, MinimumJerk, Transition
from kinematics.trajectories.poses import Poses, read_poses
from kinematics.trajectories.waves import Chirp, ChirpTerm, Harmonic, HarmonicTerm, RandomMotion, RandomTerm

LONGEST_FILE = 3600.0
"""s, of what a trajectory file describes; a longer run repeats a shorter motion."""

Coordinates: TypeAlias = tuple[Length, Length, Length, Angle, Angle, Angle]


Duration: TypeAlias = Annotated[Time, Field(gt=0.0), within(-math.inf, LONGEST_FILE, "s")]
NonNegativeFrequency: TypeAlias = Annotated[Frequency, Field(ge=0.0)]

_Terms = Field(min_length=1, max_length=100)
_Noises = Field(min_length=1, max_length=12)  # each is many sines

_AT_REST: tuple[float, float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class FileModel(BaseModel):
    """What a trajectory file is made of: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class BlendPart(FileModel):
    """Straight line with parabolic blends (`Blend`)."""

    type: Literal["blend"]
    """Kind of the part."""
    start: Coordinates
    """Coordinates at its start, m and rad."""
    end: Coordinates
    """Coordinates at its end, m and rad."""
    duration: Duration
    """Duration, s."""
    speed: Annotated[Speed, Field(gt=0.0)] | None = None
    """Speed between the two blends, m/s: 1 to 2 times distance over duration; needed where the position changes."""
    angular_speed: Annotated[AngularSpeed, Field(gt=0.0)] | None = None
    """The same of the vector of angles, rad/s; needed where an angle changes."""

    def build(self, folder: Path) -> Trajectory:
        """The part as a trajectory; a relative path starts in `folder`."""
        return Blend(self.start, self.end, self.duration, self.speed, self.angular_speed)


class MinimumJerkPart(FileModel):
    """Straight line of minimum jerk (`MinimumJerk`)."""

    type: Literal["minimum-jerk"]
    """Kind of the part."""
    start: Coordinates
    """Coordinates at its start, m and rad."""
    end: Coordinates
    """Coordinates at its end, m and rad."""
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
    """Coordinates at which the platform stands, m and rad."""
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
    """Sines, which are added up."""
    duration: Duration
    """Duration, s."""
    fade: Duration
    """Time for the fade-in and for the fade-out, s."""
    offset: Coordinates = _AT_REST
    """Coordinates about which it moves, m and rad."""

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
    """Frequency sweeps, which are added up."""
    duration: Duration
    """Duration, s."""
    fade: Duration
    """Time for the fade-in and for the fade-out, s."""
    offset: Coordinates = _AT_REST
    """Coordinates about which it moves, m and rad."""

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
    """Noises, which are added up."""
    duration: Duration
    """Duration, s."""
    fade: Duration
    """Time for the fade-in and for the fade-out, s."""
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    """Seed of the noise: the same seed gives the same motion."""
    offset: Coordinates = _AT_REST
    """Coordinates about which it moves, m and rad."""

    def build(self, folder: Path) -> Trajectory:
        """The part as a trajectory; a relative path starts in `folder`."""
        terms = [RandomTerm(term.dof, term.rms, term.low_frequency, term.high_frequency) for term in self.terms]
        return RandomMotion(terms, self.duration, self.fade, self.seed, offset=self.offset)


class TransitionPart(FileModel):
    """From the part before to the part after without a jump (`Transition`)."""

    type: Literal["transition"]
    """Kind of the part."""
    duration: Duration
    """Duration, s."""

    def between(self, before: Trajectory, after: Trajectory) -> Transition:
        """The part as a trajectory, from where one trajectory ends to where another begins."""
        return join(before, after, self.duration)


def join(before: Trajectory, after: Trajectory, duration: float) -> Transition:
    """What leads from the end of one trajectory to the beginning of another in `duration` s, in their coordinates."""
    x0, v0, a0 = (each[0] for each in before.coordinates(before.duration))
    x1, v1, a1 = (each[0] for each in after.coordinates(0.0))
    return Transition((x0, v0, a0), (x1, v1, a1), duration)


Part: TypeAlias = Annotated[
    BlendPart | MinimumJerkPart | HoldPart | HarmonicPart | ChirpPart | RandomPart | PosesPart | TransitionPart,
    Field(discriminator="type"),
]
