"""The parts of a trajectory file: what each kind states, and the trajectory that it is."""

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from kinematics.inputs import Angle, AngularSpeed, Frequency, Length, Speed, Time
from kinematics.trajectories.base import Trajectory
from kinematics.trajectories.generators import Blend, Hold, MinimumJerk, Transition
from kinematics.trajectories.poses import Poses, read_poses
from kinematics.trajectories.waves import Chirp, ChirpTerm, Harmonic, HarmonicTerm, RandomMotion, RandomTerm

LONGEST_FILE = 3600.0
"""s, of what a trajectory file describes; a longer run repeats a shorter motion."""

Coordinates: TypeAlias = tuple[Length, Length, Length, Angle, Angle, Angle]


def _not_too_long(value: float) -> float:
    if value > LONGEST_FILE:
        raise ValueError(f"{value:g} s, must be at most {LONGEST_FILE:g} s")
    return value


Duration: TypeAlias = Annotated[Time, Field(gt=0.0), AfterValidator(_not_too_long)]
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
    start: Coordinates
    end: Coordinates
    duration: Duration
    speed: Annotated[Speed, Field(gt=0.0)] | None = None
    angular_speed: Annotated[AngularSpeed, Field(gt=0.0)] | None = None

    def build(self, folder: Path) -> Trajectory:
        """The part as a trajectory; a relative path starts in `folder`."""
        return Blend(self.start, self.end, self.duration, self.speed, self.angular_speed)


class MinimumJerkPart(FileModel):
    """Straight line of minimum jerk (`MinimumJerk`)."""

    type: Literal["minimum-jerk"]
    start: Coordinates
    end: Coordinates
    duration: Duration

    def build(self, folder: Path) -> Trajectory:
        """The part as a trajectory; a relative path starts in `folder`."""
        return MinimumJerk(self.start, self.end, self.duration)


class HoldPart(FileModel):
    """Standing still (`Hold`)."""

    type: Literal["hold"]
    position: Coordinates = _AT_REST
    duration: Duration

    def build(self, folder: Path) -> Trajectory:
        """The part as a trajectory; a relative path starts in `folder`."""
        return Hold(self.position, self.duration)


class _Linear(FileModel):
    dof: Literal["x", "y", "z"]


class _Angular(FileModel):
    dof: Literal["rx", "ry", "rz"]


class _LinearDof(_Linear):
    amplitude: Length
    phase: Angle = 0.0


class _AngularDof(_Angular):
    amplitude: Angle
    phase: Angle = 0.0


class LinearSine(_LinearDof):
    """One sine on a position."""

    frequency: NonNegativeFrequency


class AngularSine(_AngularDof):
    """One sine on an angle."""

    frequency: NonNegativeFrequency


class LinearSweep(_LinearDof):
    """One frequency sweep on a position."""

    start_frequency: NonNegativeFrequency
    end_frequency: NonNegativeFrequency


class AngularSweep(_AngularDof):
    """One frequency sweep on an angle."""

    start_frequency: NonNegativeFrequency
    end_frequency: NonNegativeFrequency


class LinearNoise(_Linear):
    """Band-limited noise on a position."""

    rms: Annotated[Length, Field(ge=0.0)]
    low_frequency: NonNegativeFrequency
    high_frequency: NonNegativeFrequency


class AngularNoise(_Angular):
    """Band-limited noise on an angle."""

    rms: Annotated[Angle, Field(ge=0.0)]
    low_frequency: NonNegativeFrequency
    high_frequency: NonNegativeFrequency


class HarmonicPart(FileModel):
    """Faded sines about an offset (`Harmonic`)."""

    type: Literal["harmonic"]
    terms: Annotated[
        list[Annotated[LinearSine | AngularSine, Field(discriminator="dof")]],
        _Terms,
    ]
    duration: Duration
    fade: Duration
    offset: Coordinates = _AT_REST

    def build(self, folder: Path) -> Trajectory:
        """The part as a trajectory; a relative path starts in `folder`."""
        terms = [HarmonicTerm(term.dof, term.amplitude, term.frequency, term.phase) for term in self.terms]
        return Harmonic(terms, self.duration, self.fade, offset=self.offset)


class ChirpPart(FileModel):
    """Faded frequency sweeps about an offset (`Chirp`)."""

    type: Literal["chirp"]
    terms: Annotated[
        list[Annotated[LinearSweep | AngularSweep, Field(discriminator="dof")]],
        _Terms,
    ]
    duration: Duration
    fade: Duration
    offset: Coordinates = _AT_REST

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
    file: Annotated[str, Field(min_length=1)]
    rest_ends: bool = True

    def build(self, folder: Path) -> Trajectory:
        """The part as a trajectory; a relative path starts in `folder`."""
        return Poses(*read_poses(folder / self.file), rest_ends=self.rest_ends)


class RandomPart(FileModel):
    """Faded noise about an offset, the same for the same seed (`RandomMotion`)."""

    type: Literal["random"]
    terms: Annotated[
        list[Annotated[LinearNoise | AngularNoise, Field(discriminator="dof")]],
        _Noises,
    ]
    duration: Duration
    fade: Duration
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    offset: Coordinates = _AT_REST

    def build(self, folder: Path) -> Trajectory:
        """The part as a trajectory; a relative path starts in `folder`."""
        terms = [RandomTerm(term.dof, term.rms, term.low_frequency, term.high_frequency) for term in self.terms]
        return RandomMotion(terms, self.duration, self.fade, self.seed, offset=self.offset)


class TransitionPart(FileModel):
    """From the part before to the part after without a jump (`Transition`)."""

    type: Literal["transition"]
    duration: Duration

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
