"""A vehicle's streamed motion through the washout: a stage between the intake of samples and the ring of the engine.

The washout steps on a grid of times of its own, as far as the vehicle's motion is known: between two of its samples
that is linear, which is what the filters are exact for. So the platform's motion at a time is that of the vehicle's at
the same time. The stage shifts no times; a step waits for the vehicle's next sample, which the stream's delay covers.

A washout has a state, and a sample that is missing must not stop it. If one has not come when the engine is about to
need it, the last one is held for a short time, then falls off to a vehicle at rest on level ground; the platform washes
out towards home, and is brought to rest after a stated time. A sample that comes after its time was stepped over is the
vehicle's motion from then on.
"""

import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dynamics import LegLimits, Mechanism
from kinematics import (
    Array,
    InputFileError,
    MotionBounds,
    Tuning,
    Washout,
    blended,
    load_tuning,
    quaternion_to_matrix,
    tuning_changes,
)
from rig.config import CueOptions, Safety
from rig.errors import InputError
from rig.streaming.samples import ACCELERATION, END, VELOCITY, SampleRing, Samples, new_samples
from rig.streaming.vehicle import KINEMATIC, specific_force

BLENDING = 1.0
"""s in which one tuning becomes another"""
LEAST_MARGIN = 4e-4
"""m, of a tuning's strokes; the check ahead of a stream keeps 0.3 mm itself"""
_BLEND_STEP = 0.02  # s between two tunings on the way
_LEVEL = 1e-3
"""greatest relative deviation of gravity from −z of the axes at home"""
_AHEAD = 1.0
"""s, of a sample's time before the one before: beyond it the vehicle's motion begins anew"""
_ELSEWHERE = 10.0
"""s between a sample's time and now, at most"""
_MOST_STEPS = 8192
"""of the washout for one sample or turn"""
_REHEARSED = 8
"""steps of the washout while a vehicle is silent, in a rehearsal"""
_LARGEST = 1e6
"""m/s² or rad/s, of a vehicle's sample; more is no number of a vehicle"""


@dataclass(frozen=True, slots=True, eq=False)
class CueSetup:
    """What the stage needs to be made, in whichever process.

    mechanism, safety: of the rig. tuning: to begin with. options: `[stream.cue]`. patience: s from the time that a
    vehicle's sample is meant for to when the stage goes on without it.
    """

    mechanism: Mechanism
    safety: Safety
    tuning: Tuning
    options: CueOptions
    patience: float

    def stage(self, ring: SampleRing) -> "CueStage":
        """The stage that writes into `ring`. Raises InputError, KinematicsError, LimitError, see `washout_of`.

        All that it computes was done once before, in another one: whatever has to be compiled is.
        """
        _rehearse(self._made(SampleRing.local(1 << 10)))
        return self._made(ring)

    def _made(self, ring: SampleRing) -> "CueStage":
        washout = washout_of(self.mechanism, self.safety, self.tuning, self.options.rate)
        return CueStage(ring, washout, self.options, self.patience)


@dataclass(frozen=True, slots=True)
class CueStatus:
    """What the washout did so far.

    steps: of the washout. held: steps without a sample of the vehicle. late: samples that came after their time was
    stepped over. unusable: not finite, beyond a million, or of a time 10 s away. rests: how often the vehicle was so
    long silent that the platform was brought to rest. tunings: changes of the tuning. flags: steps with each of
    `kinematics.FLAGS`. tuning: in effect, or aimed at.
    """

    steps: int
    held: int
    late: int
    unusable: int
    rests: int
    tunings: int
    flags: dict[str, int]
    tuning: Tuning

    @property
    def text(self) -> str:
        """One line."""
        counts = {"held": self.held, "late": self.late, "unusable": self.unusable, "brought to rest": self.rests}
        counts |= {name: count for name, count in self.flags.items() if count}
        listed = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        return f"{self.steps} steps of the washout, tuning {self.tuning.name}" + (f"; {listed}" if listed else "")


class CueStage:
    """Takes a vehicle's samples as a ring takes a platform's, and pushes the platform's motion into the ring behind it.

    Args:
        ring: receives the platform's motion, base frame, with velocity and acceleration.
        washout: at rest at home; stepped by this alone.
        options: how long a sample is held, and what then.
        patience: see `CueSetup`.
    """

    def __init__(self, ring: SampleRing, washout: Washout, options: CueOptions, patience: float) -> None:
        self._ring, self._washout, self._options, self._patience = ring, washout, options, patience
        self._period = 1.0 / washout.rate
        self._level = np.array([0.0, 0.0, washout.gravity, 0.0, 0.0, 0.0])
        if washout.tuning.axes == "z-down":
            self._level[2] *= -1.0
        self._origin, self._count = math.nan, 0
        """time of the grid's first step, s, and steps since"""
        self._known, self._input = math.nan, self._level.copy()
        """time to which the vehicle's motion is known or was assumed, and its sample there (6,)"""
        self._newest, self._newest_input = -math.inf, self._level.copy()
        """time of the newest sample used, and that"""
        self._sent = 0.0
        self._resting = True
        """no sample since the platform was brought to rest, or none yet"""
        self._out: list[Samples] = []
        self._now = 0.0
        self._vehicle = np.zeros(6)
        self._sequence = self._held = self._late = self._unusable = self._rests = self._tunings = 0
        self._before, self._aim = washout.tuning, washout.tuning
        self._share, self._blend_every = 1.0, max(1, round(_BLEND_STEP / self._period))

    @property
    def period(self) -> float:
        """Time between two steps, s."""
        return self._period

    @property
    def status(self) -> CueStatus:
        """What was done so far."""
        return CueStatus(
            self._sequence, self._held, self._late, self._unusable, self._rests, self._tunings, self._washout.counts,
            self._aim,
        )  # fmt: skip

    def push(self, samples: Samples) -> None:
        """Take samples (n,) of a vehicle's motion, and pass on the platform's as far as they say it."""
        for sample in samples:
            self._take(sample)
        self._flush()

    def turn(self, now: float) -> None:
        """Go on without the vehicle where its sample is overdue; now: s of the clock of the samples' times."""
        self._now = now
        if self._resting:
            return
        options, due = self._options, now - self._patience
        for _ in range(_MOST_STEPS):
            t = self._next
            if t > due:
                break
            silence = t - self._newest
            self._held += 1
            if silence > options.rest_after:
                self._known = t
                self._emit(self._washout.brake(), t)
                if self._washout.braking_time == 0.0:
                    self._resting, self._rests = True, self._rests + 1
                    break
                continue
            fallen = math.exp(-max(0.0, silence - options.hold) / options.decay)
            self._input = self._level + fallen * (self._newest_input - self._level)
            self._known = t
            self._step(self._input, t)
        self._flush()

    def tune(self, tuning: Tuning) -> list[str]:
        """Change to another tuning within a second, without a jump; return what changes, as texts.

        Numbers go there smoothly; order and algorithm change at once, with the filters' states kept. A change that
        comes while another is under way goes on from where that is.

        Raises:
            LimitError: what cannot be changed while the platform moves; the old tuning stays.
        """
        self._washout.check_tunable(tuning)
        changes = tuning_changes(self._aim, tuning)
        if changes:
            self._before, self._aim, self._share = self._washout.tuning, tuning, 0.0
            self._tunings += 1
        return changes

    def end(self) -> None:
        """End the platform's stream with the next step, whatever the vehicle does; the engine brings it to rest."""
        if math.isfinite(self._origin):
            self._end()
            self._flush()

    @property
    def _next(self) -> float:
        return self._origin + self._count * self._period

    def _take(self, sample: np.void) -> None:
        given, t = int(sample["given"]), float(sample["time"])
        vehicle = self._vehicle
        vehicle[:3], vehicle[3:] = sample["acceleration"][:3], sample["velocity"][3:]
        attitude = sample["pose"][3:]
        if not (math.isfinite(t) and np.isfinite(vehicle).all() and np.abs(vehicle).max() <= _LARGEST):
            self._unusable += 1
            return
        if self._now > 0.0 and abs(t - self._now) > _ELSEWHERE:  # the intake has looked at those of the network
            self._unusable += 1
            return
        if given & KINEMATIC:
            if not abs(float(attitude @ attitude) - 1.0) <= 1e-5:
                self._unusable += 1
                return
            z_down = self._washout.tuning.axes == "z-down"
            vehicle[:3] = specific_force(vehicle[:3], attitude, self._washout.gravity, z_down=z_down)
        self._sent = float(sample["sent"])
        if self._resting or t - self._known > self._options.rest_after or self._known - t > _AHEAD:
            self._begin(t)
        elif t <= self._known:
            self._late += 1
            if t > self._newest:  # the vehicle's motion from now on, in place of what was assumed
                self._newest, self._newest_input[:] = t, vehicle
                self._input = self._newest_input.copy()
            if given & END:
                self._end()
            return
        known, before = self._known, self._input
        self._newest, self._newest_input[:] = t, vehicle
        for _ in range(_MOST_STEPS):
            moment = self._next
            if moment > t + 1e-9:
                break
            share = 1.0 if t <= known else min(1.0, (moment - known) / (t - known))
            self._step(before + share * (self._newest_input - before), moment)
        self._known, self._input = t, self._newest_input.copy()
        if given & END:
            self._end()

    def _begin(self, t: float) -> None:
        """Begin the grid anew at t; the washout goes on from where the platform is."""
        self._origin, self._count, self._resting = t, 0, False
        self._known, self._input = t - self._period, self._input if self._sequence else self._level.copy()

    def _end(self) -> None:
        """The vehicle's stream ends: the engine brings the platform to rest."""
        if not self._out:
            self._step(self._input, self._next)
        self._out[-1]["given"] |= END
        self._resting = True

    def _step(self, vehicle: Array, t: float) -> None:
        if self._share < 1.0 and self._count % self._blend_every == 0:
            self._share = min(1.0, self._share + self._blend_every * self._period / BLENDING)
            self._washout.tune(blended(self._before, self._aim, self._share))
        self._emit(self._washout.step(vehicle), t)

    def _emit(self, motion: Array, t: float) -> None:
        row = new_samples(1)
        row["sequence"], row["time"], row["sent"], row["received"] = self._sequence, t, self._sent, self._now
        row["given"] = VELOCITY | ACCELERATION
        row["pose"], row["velocity"], row["acceleration"] = motion[:7], motion[7:13], motion[13:]
        self._out.append(row)
        self._sequence += 1
        self._count += 1

    def _flush(self) -> None:
        if self._out:
            self._ring.push(np.concatenate(self._out))
            self._out.clear()


def _rehearse(stage: CueStage) -> None:
    """Have a stage take samples of both kinds, silence and an end."""
    samples = new_samples(3)
    samples["time"], samples["pose"][:, 3] = stage.period * np.arange(3), 1.0
    samples["given"][1:] = KINEMATIC, END
    stage.push(samples[:2])
    stage.turn(stage.period * _REHEARSED)
    stage.push(samples[2:])


@dataclass(slots=True)
class TuningFile:
    """A tuning and the file that it is from, which is read again when it has changed.

    source: a .toml file, or the name of a shipped tuning, which never changes.
    """

    source: str
    folder: Path = Path()
    tuning: Tuning = field(init=False)
    _stamp: tuple[int, int, int] = field(init=False)

    def __post_init__(self) -> None:
        self._stamp = self._now()
        self.tuning = self._read()

    @property
    def path(self) -> Path | None:
        """The file; None for a shipped tuning."""
        return self.folder / self.source if is_tuning_file(self.source) else None

    def changed(self) -> Tuning | None:
        """The tuning if its file was written since the last call, else None.

        Raises:
            InputError: it cannot be used as it is now.
        """
        stamp = self._now()
        if stamp == self._stamp:
            return None
        self._stamp = stamp
        self.tuning = self._read()
        return self.tuning

    def _read(self) -> Tuning:
        try:
            return load_tuning(self.source if self.path is None else self.path)
        except InputFileError as error:
            raise InputError(f"tuning {error}") from None

    def _now(self) -> tuple[int, int, int]:
        if self.path is None:
            return (0, 0, 0)
        try:
            found = self.path.stat()
        except OSError:  # while an editor replaces it; reading says what is wrong with one that stays away
            return (-1, 0, 0)
        return (found.st_mtime_ns, found.st_size, found.st_ino)


def is_tuning_file(source: str) -> bool:
    """Whether a tuning's source is a file, not the name of a shipped tuning."""
    return source.lower().endswith(".toml")


def motion_bounds(mechanism: Mechanism, safety: Safety) -> MotionBounds:
    """Return the bounds that a rig's references are checked against, but for forces.

    Raises:
        InputError: a leg's length is not limited.
    """
    limits = [leg.limits or LegLimits() for leg in mechanism.legs]
    lengths = []
    for leg, limit in enumerate(limits, start=1):
        if limit.length is None:
            raise InputError(
                f"mechanism {mechanism.name!r}: leg {leg} has no limits of its length (`legs.limits.length`), which a "
                "washout must keep to"
            )
        lengths.append(limit.length)

    def of(values: list[float | None], unlimited: float) -> list[float]:
        return [unlimited if value is None else value for value in values]

    return MotionBounds(
        lengths,
        of([limit.velocity for limit in limits], math.inf),
        of([limit.acceleration for limit in limits], math.inf),
        of([limit.universal_angle for limit in limits], math.pi),
        of([limit.spherical_angle for limit in limits], math.pi),
        safety.condition,
        safety.characteristic_length,
    )


def washout_of(mechanism: Mechanism, safety: Safety, tuning: Tuning, rate: float) -> Washout:
    """Return the washout of a machine, at rest at home.

    Raises:
        InputError: a leg without limits of its length, or gravity that is not along −z of the axes at home.
        KinematicsError, LimitError: see `Washout`.
    """
    bounds = motion_bounds(mechanism, safety)
    gravity = np.asarray(mechanism.gravity, dtype=np.float64)
    size = float(np.linalg.norm(gravity))
    along = quaternion_to_matrix(mechanism.geometry.home_pose[3:]).T @ gravity
    if not (size > 0.0 and np.linalg.norm(along + np.array([0.0, 0.0, size])) <= _LEVEL * size):
        raise InputError(
            f"mechanism {mechanism.name!r}: gravity is {np.round(along, 4).tolist()} m/s² in the axes at home, must be "
            "along -z there for motion cueing"
        )
    return Washout(mechanism.geometry, bounds, tuning, rate, size)
