"""The motions of an acceptance test: what each is for, and the largest size of it that passes the check."""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from kinematics import COORDINATES, Trajectory, TrajectorySpec, build_trajectory
from rig.acceptance.numbers import SOURCES, AcceptanceTest, Basis, Condition, Quantity, Verdict
from rig.analysis import multisine
from rig.config import RigConfig
from rig.engine import motion_verdict


class Kind(StrEnum):
    """The kinds of motion."""

    WIDE = "wide sine"
    SLOW = "slow sine"
    FAST = "fast sine"
    HARD = "hard sine"
    SINE = "sine"
    MULTISINE = "multisine"
    STEPS = "steps"
    POSES = "poses"
    CIRCLE = "circle"


SERVES: dict[Kind, tuple[AcceptanceTest, ...]] = {
    Kind.WIDE: (AcceptanceTest.EXCURSION,),
    Kind.SLOW: (AcceptanceTest.HYSTERESIS, AcceptanceTest.TURN_AROUND, AcceptanceTest.SMOOTHNESS),
    Kind.FAST: (AcceptanceTest.SPEED,),
    Kind.HARD: (AcceptanceTest.ACCELERATION, AcceptanceTest.REPEATABILITY),
    Kind.MULTISINE: (AcceptanceTest.RESPONSE, AcceptanceTest.LINEARITY, AcceptanceTest.RESIDUAL),
    Kind.SINE: (AcceptanceTest.LINEARITY, AcceptanceTest.NOISE, AcceptanceTest.CROSSTALK, AcceptanceTest.LEG_BALANCE),
    Kind.STEPS: (AcceptanceTest.THRESHOLD,),
    Kind.POSES: (AcceptanceTest.POSE, AcceptanceTest.SETTLING),
    Kind.CIRCLE: (AcceptanceTest.PATH,),
}
"""Tests that each kind of motion is for."""
MODERATE = {Kind.SLOW: 0.5, Kind.SINE: 0.5, Kind.POSES: 0.5, Kind.CIRCLE: 0.5}
"""Fractions of the size of kinds of motion that are not about what the rig can reach."""
OF_PLATFORM = (Kind.POSES, Kind.CIRCLE)
"""Kinds of motion without an axis."""
HEAVE = "z"
"""The axis of the test of the legs' balance."""

_WIDE, _WIDE_CYCLES, _WIDE_FADE = 0.2, 2, 2.5  # Hz, …, s
_SLOW, _SLOW_CYCLES, _SLOW_FADE = 0.1, 2, 5.0
_SINE, _SINE_CYCLES, _SINE_FADE = 0.5, 8, 1.0
_FAST_CYCLES = 6
_ABOVE = 1.25  # of the frequency at which two limits of a leg are reached together
_SPEED, _PUSH = 1.0, 4.0  # Hz, without such limits
_STEPS, _STEP_CYCLES, _STEP_FADE = 1.0, 8, 1.0
_PERIOD, _PERIODS, _REALIZATIONS, _LOWEST = 4.0, 2, 2, 0.25  # s, …, Hz
_LINES = 24
_MOVE, _REST = 0.6, 0.6  # s
_TURN = 2.5  # s, of a round of the circle
_CORNERS = ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), (-1.0, 1.0, 1.0), (-1.0, -1.0, -1.0), (1.0, -1.0, -1.0))
"""The poses: the centre of a cube and the corners of a diagonal plane of it."""
_UNLIMITED = 0.1  # m, half of a stroke that nothing limits
_FIRST_TRIED = 2.0  # times half a stroke
_WIDENINGS = 4  # of it, until it does not pass
_STEEPEST = 1.0  # rad
_COARSE = 100.0  # Hz, of the search for the size, or
_SAMPLES = 10.0  # a period of the highest frequency
_SMALLEST = 1e-5  # m, rad
_SETTLING_REST = 0.5  # s, before a periodic stretch is used: the fade's transient


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """One motion of the test.

    name: unique, of the motion in recordings. axis: coordinate, or empty. part: of the size, below 1 for a second,
    smaller motion. size: m or rad, amplitude; 0 where no size passes. largest: the largest that passes. period, cycles,
    begin: s, number, s: whole cycles from `begin` on. spec: as a trajectory file. points (n, 3): offsets of the poses,
    m. duration: s.
    """

    name: str
    kind: Kind
    axis: str
    part: float
    size: float
    largest: float
    period: float
    cycles: int
    begin: float
    spec: dict[str, Any]
    duration: float

    @property
    def title(self) -> str:
        """What it is called on pages: the kind, the axis, and the part of the size if it is not the whole."""
        return self.name.removeprefix("accept ")

    @property
    def unit(self) -> str:
        """Unit of its size."""
        return "rad" if self.axis.startswith("r") else "m"

    @property
    def tests(self) -> tuple[AcceptanceTest, ...]:
        """The tests that it is for."""
        return served(self.kind, self.axis, self.part)

    def as_dict(self) -> dict[str, Any]:
        """Return it as a JSON object, SI."""
        return {
            "name": self.title,
            "axis": self.axis,
            "size": self.size,
            "largest": self.largest,
            "unit": self.unit,
            "period_s": self.period,
            "duration_s": self.duration,
        }

    def trajectory(self, config: RigConfig) -> Trajectory:
        """The motion."""
        return build_trajectory(TrajectorySpec.model_validate(self.spec), config.machine.geometry.home_pose)


def served(kind: Kind, axis: str, part: float) -> tuple[AcceptanceTest, ...]:
    """The tests that a motion of a kind on an axis, of a part of its size, is for."""
    left_out = set()
    if axis != HEAVE:
        left_out.add(AcceptanceTest.LEG_BALANCE)
    if part < 1.0:
        left_out.add(AcceptanceTest.RESIDUAL)  # which is judged at the larger size
    return tuple(test for test in SERVES[kind] if test not in left_out)


def acceptance_texts() -> list[str]:
    """Return all texts of motions and numbers for translation catalogues; reasons are texts of findings."""
    words = [*Kind, *Verdict, *Basis, *Quantity, *(word for word in Condition if word is not Condition.AXIS)]
    return [*(source.title for source in SOURCES.values()), *(word.value for word in words)]


def planned(
    config: RigConfig,
    axes: Sequence[str] = COORDINATES,
    tests: Collection[AcceptanceTest] = tuple(AcceptanceTest),
    report: Callable[[float], None] = lambda _part: None,
) -> list[Trial]:
    """Plan the motions of these tests on these axes, each in its size.

    The size is `acceptance.share` of the largest that passes the check of motions, or the part `MODERATE` of that; of
    the steps the given one, or this where it is smaller.

    Args:
        config: the rig.
        axes: coordinates; the tests of poses and path have none.
        tests: those wanted.
        report: receives the fraction that is planned.
    """
    wanted = [
        (kind, axis, part)
        for kind in Kind
        for axis in ([""] if kind in OF_PLATFORM else axes)
        for part in ((1.0, config.acceptance.small_part) if kind is Kind.MULTISINE else (1.0,))
        if set(served(kind, axis, part)) & set(tests)
    ]
    trials: list[Trial] = []
    for place, (kind, axis, part) in enumerate(wanted):
        trials.append(_sized(config, kind, axis, part))
        report((place + 1) / len(wanted))
    return trials


def _sized(config: RigConfig, kind: Kind, axis: str, part: float) -> Trial:
    make, period, cycles, begin, highest = _motion(config, kind, axis)
    largest = _largest(config, _one_visit if kind is Kind.POSES else make, axis, highest)
    size = config.acceptance.share * largest * part * MODERATE.get(kind, 1.0)
    if kind is Kind.STEPS:
        size = min(size, _step_size(config, axis, period))
    if size < _SMALLEST * (0.01 if kind is Kind.STEPS else 1.0):
        size = 0.0
    spec = make(size) if size else {}
    duration = sum(float(one["duration"]) for one in spec["parts"]) if size else 0.0
    name = " ".join(["accept", kind.value, axis, "" if part == 1.0 else f"{part:g}"]).replace("  ", " ").strip()
    return Trial(name, kind, axis, part, size, largest, period, cycles, begin, spec, duration)


def _largest(config: RigConfig, make: Callable[[float], dict[str, Any]], axis: str, highest: float) -> float:
    """The largest size, m or rad, of a motion that passes the check, in thousandths of a size that does not."""
    home = config.machine.geometry.home_pose
    rate = min(config.rate, max(_COARSE, _SAMPLES * highest))
    widest = _widest(config, axis)
    for _ in range(_WIDENINGS):
        motion = build_trajectory(TrajectorySpec.model_validate(make(widest)), home)
        scale = motion_verdict(config, motion, rate).scale
        if scale < 1.0 or (axis.startswith("r") and widest >= _STEEPEST):
            break
        widest *= 2.0
    return widest * scale


def _widest(config: RigConfig, axis: str) -> float:
    limits = [one.length for one in config.machine.limits if one is not None and one.length is not None]
    reach = _FIRST_TRIED * min((0.5 * (high - low) for low, high in limits), default=_UNLIMITED)
    if not axis.startswith("r"):
        return reach
    points = config.machine.geometry.platform_points
    radius = float(np.linalg.norm(points - points.mean(axis=0), axis=1).mean())
    return min(reach / max(radius, 1e-3), _STEEPEST)


def _motion(
    config: RigConfig, kind: Kind, axis: str
) -> tuple[Callable[[float], dict[str, Any]], float, int, float, float]:
    """A motion as a function of its size, its period, whole cycles, their begin, and its highest frequency."""
    settings, rate = config.acceptance, config.rate
    match kind:
        case Kind.WIDE | Kind.SLOW | Kind.FAST | Kind.HARD | Kind.SINE:
            frequency, cycles, fade = {
                Kind.WIDE: (_WIDE, _WIDE_CYCLES, _WIDE_FADE),
                Kind.SLOW: (_SLOW, _SLOW_CYCLES, _SLOW_FADE),
                Kind.SINE: (_SINE, _SINE_CYCLES, _SINE_FADE),
                Kind.FAST: (_corner(config, kind), _FAST_CYCLES, _SINE_FADE),
                Kind.HARD: (_corner(config, kind), _FAST_CYCLES, _SINE_FADE),
            }[kind]
            period = round(rate / frequency) / rate
            before = math.ceil(_SETTLING_REST / period)  # whole cycles, for the fade's transient to decay
            duration = (cycles + before) * period + 2.0 * fade

            def sine(size: float) -> dict[str, Any]:
                return _harmonic([(axis, size, 1.0 / period, 0.0)], duration, fade)

            return sine, period, cycles, fade + before * period, frequency
        case Kind.STEPS:
            numbers = range(1, max(2, int(settings.acceleration_bandwidth / _STEPS) + 1), 2)
            period = round(rate / _STEPS) / rate
            duration = (_STEP_CYCLES + 1) * period + 2.0 * _STEP_FADE

            def steps(size: float) -> dict[str, Any]:
                # a square wave of the acceleration; its position has lines as 1/k³
                waves = [(axis, -size / k**3, k / period, 0.0) for k in numbers]
                return _harmonic(waves, duration, _STEP_FADE)

            return steps, period, _STEP_CYCLES, _STEP_FADE + period, float(numbers[-1]) / period
        case Kind.MULTISINE:
            period = round(rate * _PERIOD) / rate
            high = min(settings.highest_frequency, rate / 4.0)

            def multi(size: float) -> dict[str, Any]:
                return multisine(
                    axis,
                    _LOWEST,
                    high,
                    size,
                    period,
                    _PERIODS,
                    most_lines=_LINES,
                    realizations=_REALIZATIONS,
                    odd=True,
                )

            return multi, period, _PERIODS, 0.0, high
        case Kind.POSES:
            return (
                lambda size: _visits(size, settings.pose_cycles),
                _MOVE + _REST,
                settings.pose_cycles,
                0.0,
                1.0 / _MOVE,
            )
        case Kind.CIRCLE:
            period = round(rate * _TURN) / rate
            duration = (settings.path_cycles + 1) * period + 2.0 * period

            def circle(size: float) -> dict[str, Any]:
                waves = [("x", size, 1.0 / period, 0.5 * math.pi), ("y", size, 1.0 / period, 0.0)]
                return _harmonic(waves, duration, period)

            return circle, period, settings.path_cycles, 2.0 * period, 1.0 / period


def _harmonic(waves: Sequence[tuple[str, float, float, float]], duration: float, fade: float) -> dict[str, Any]:
    terms = [
        {"dof": axis, "amplitude": size, "frequency": frequency, "phase": phase}
        for axis, size, frequency, phase in waves
    ]
    return {"frame": "home", "parts": [{"type": "harmonic", "duration": duration, "fade": fade, "terms": terms}]}


def pose_offsets(size: float) -> list[tuple[float, float, float]]:
    """Offsets (m) of the poses from home, in the order of a visit: the centre last, as P5 to P1."""
    return [(size * x, size * y, size * z) for x, y, z in reversed(_CORNERS)]


def _visits(size: float, cycles: int) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    here = [0.0] * 6
    for _ in range(cycles):
        for offset in pose_offsets(size):
            there = [*offset, 0.0, 0.0, 0.0]
            parts.append({"type": "minimum-jerk", "start": here, "end": there, "duration": _MOVE})
            parts.append({"type": "hold", "position": there, "duration": _REST})
            here = there
    return {"frame": "home", "parts": parts}


def _one_visit(size: float) -> dict[str, Any]:
    """The poses once, and again: each is come to from the same one as later on."""
    return _visits(size, 2)


def rest_of_visit() -> tuple[float, float]:
    """Duration of the move to a pose, and of the rest there, s."""
    return _MOVE, _REST


def _corner(config: RigConfig, kind: Kind) -> float:
    """Frequency, Hz, just above that at which a sine reaches two limits of a leg together: the sine tests the second.

    FAST: half the stroke and the speed; HARD: the speed and the acceleration.
    """
    limits = [one for one in config.machine.limits if one is not None]
    strokes = [0.5 * (one.length[1] - one.length[0]) for one in limits if one.length is not None]
    speeds = [one.velocity for one in limits if one.velocity is not None]
    pushes = [one.acceleration for one in limits if one.acceleration is not None]
    if kind is Kind.FAST:
        found = min(speeds) / (2.0 * math.pi * min(strokes)) if speeds and strokes else _SPEED
    else:
        found = min(pushes) / (2.0 * math.pi * min(speeds)) if pushes and speeds else _PUSH
    return min(_ABOVE * found, config.acceptance.acceleration_bandwidth, config.rate / 20.0)


def _step_size(config: RigConfig, axis: str, period: float) -> float:
    """Amplitude, m or rad, of the steps' first line for `acceptance.step` to either side."""
    push = config.acceptance.step
    if axis.startswith("r"):
        push /= config.safety.characteristic_length
    return 4.0 / math.pi * push / (2.0 * math.pi / period) ** 2
