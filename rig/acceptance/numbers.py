"""Numbers of an acceptance test: value with uncertainty, bound, source of the method and of the bound, verdict."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist
from typing import Any


class AcceptanceTest(StrEnum):
    """The tests, in the order of the report."""

    EXCURSION = "excursion"
    SPEED = "speed"
    ACCELERATION = "acceleration"
    RESPONSE = "describing-function"
    LINEARITY = "linearity"
    NOISE = "acceleration-noise"
    HYSTERESIS = "hysteresis"
    THRESHOLD = "dynamic-threshold"
    CROSSTALK = "crosstalk"
    TURN_AROUND = "turn-around"
    LEG_BALANCE = "leg-balance"
    SMOOTHNESS = "smoothness"
    REPEATABILITY = "repeatability"
    POSE = "pose"
    SETTLING = "settling"
    PATH = "path"
    RESIDUAL = "force-residual"


class Verdict(StrEnum):
    """Verdict on a number, or on all."""

    PASS = "pass"
    FAIL = "fail"
    UNDECIDED = "undecided"
    """the bound is within the number's uncertainty"""
    STATED = "stated"
    """there is no bound"""
    NOT_MEASURED = "not measured"


class Basis(StrEnum):
    """What a number was measured with."""

    ENCODERS = "encoders"
    """poses by forward kinematics of the legs' lengths, accelerations as their second derivative"""
    ACCELEROMETER = "accelerometer"
    TRACKER = "tracker"
    CELLS = "load cells"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a test comes from: the title of its section, its method, and where the default of its bound comes from."""

    title: str
    method: str
    bound: str


_OWN = "bound: this project's"
_AGARD = "AGARD-AR-144 (1979)"
_PART_60 = "14 CFR Part 60, App. A, Table A2A"
_ISO = "ISO 9283:1998"

SOURCES: dict[AcceptanceTest, Source] = {
    AcceptanceTest.EXCURSION: Source("Excursion", f"{_AGARD}, excursion limits; a slow sine", _OWN),
    AcceptanceTest.SPEED: Source("Speed", f"{_AGARD}, excursion limits (velocity)", _OWN),
    AcceptanceTest.ACCELERATION: Source("Acceleration", f"{_AGARD}, excursion limits (acceleration)", _OWN),
    AcceptanceTest.RESPONSE: Source(
        "Describing function", f"{_AGARD}, describing function; {_PART_60}, 3.a; a multisine for the sines", _OWN
    ),
    AcceptanceTest.LINEARITY: Source("Linearity", f"{_AGARD}, linearity: second and third harmonic of a sine", _OWN),
    AcceptanceTest.NOISE: Source("Acceleration noise", f"{_AGARD}, acceleration noise: what a sine leaves", _OWN),
    AcceptanceTest.HYSTERESIS: Source("Hysteresis", f"{_AGARD}, hysteresis; a slow sine", _OWN),
    AcceptanceTest.THRESHOLD: Source(
        "Dynamic threshold", f"{_AGARD}, dynamic threshold: a step of the acceleration", _OWN
    ),
    AcceptanceTest.CROSSTALK: Source("Crosstalk", "this project's, from the sine of the linearity", _OWN),
    AcceptanceTest.TURN_AROUND: Source("Turn-around bump", f"{_PART_60}, 3.c", _OWN),
    AcceptanceTest.LEG_BALANCE: Source("Leg balance", f"{_PART_60}, 3.b: the legs' gains and phases in heave", _OWN),
    AcceptanceTest.SMOOTHNESS: Source("Smoothness", "this project's, from the slow sine", _OWN),
    AcceptanceTest.REPEATABILITY: Source(
        "Repeatability of the acceleration",
        f"{_PART_60}, 3.d: the same input again",
        "bound: 0.05 g, of the same entry",
    ),
    AcceptanceTest.POSE: Source("Pose", f"{_ISO}, 7.2: five poses", _OWN),
    AcceptanceTest.SETTLING: Source("Settling and overshoot", f"{_ISO}, 7.4 and 7.5", _OWN),
    AcceptanceTest.PATH: Source("Path", f"{_ISO}, 8.2 and 8.3: a circle", _OWN),
    AcceptanceTest.RESIDUAL: Source(
        "Force residual", "this project's: load cells from the exact model, by octave", _OWN
    ),
}
"""Sources of the tests. Entries and clauses are named where the project has seen them; AGARD's by their subject."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a test.

    name: what it is. axis: coordinate, leg, or empty. value, sigma: with its standard uncertainty, `unit` in SI; None
    where not measured. bound: maximum, or minimum if `at_least`; None: there is none. required: whether the bound is
    a requirement of the configuration instead of a default. basis: what it was measured with. reason: why it was not
    measured. ended: whether that is because the rig did not complete the motion, which is a fail. at: Hz or other place
    of the number, in words.
    """

    test: AcceptanceTest
    name: str
    axis: str
    value: float | None
    sigma: float | None
    unit: str
    bound: float | None = None
    at_least: bool = False
    basis: Basis | None = Basis.ENCODERS
    reason: str = ""
    ended: bool = False
    at: str = ""

    def verdict(self, confidence: float) -> Verdict:
        """Return the verdict: a pass or fail of at least this one-sided confidence."""
        if self.value is None:
            return Verdict.FAIL if self.ended else Verdict.NOT_MEASURED
        if self.bound is None:
            return Verdict.STATED
        if self.sigma is None or not (math.isfinite(self.value) and math.isfinite(self.sigma)):
            return Verdict.UNDECIDED
        margin = NormalDist().inv_cdf(confidence) * self.sigma
        inside = self.value - self.bound if self.at_least else self.bound - self.value
        if inside >= margin:
            return Verdict.PASS
        return Verdict.FAIL if inside < -margin else Verdict.UNDECIDED

    def as_dict(self, confidence: float) -> dict[str, Any]:
        """Return the number as a JSON object, SI."""
        source = SOURCES[self.test]
        return {
            "test": self.test.value,
            "name": self.name,
            "axis": self.axis,
            "value": _finite(self.value),
            "sigma": _finite(self.sigma),
            "unit": self.unit,
            "bound": self.bound,
            "bound_is": None if self.bound is None else "minimum" if self.at_least else "maximum",
            "at": self.at,
            "basis": None if self.value is None or self.basis is None else self.basis.value,
            "method": source.method,
            "bound_source": source.bound,
            "verdict": self.verdict(confidence).value,
            "reason": self.reason,
        }


def _finite(value: float | None) -> float | None:
    """The value as JSON has it: None where it is not finite, such as a time that never came."""
    return None if value is None or not math.isfinite(value) else float(value)


def not_measured(test: AcceptanceTest, axis: str, reason: str, *, ended: bool = False) -> Number:
    """A test's number that was not measured, with the reason."""
    return Number(test, SOURCES[test].title.lower(), axis, None, None, "", basis=None, reason=reason, ended=ended)


def overall(numbers: Iterable[Number], confidence: float) -> Verdict:
    """The verdict on all numbers: a fail counts first, then what is undecided, then what was not measured."""
    found = {number.verdict(confidence) for number in numbers}
    for verdict in (Verdict.FAIL, Verdict.UNDECIDED, Verdict.NOT_MEASURED, Verdict.PASS):
        if verdict in found:
            return verdict
    return Verdict.NOT_MEASURED
