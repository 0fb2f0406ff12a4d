"""Numbers of an acceptance test: value with uncertainty, bound, source of the method and of the bound, verdict.

Whatever a number says in words is a code with values: `Quantity`, `At`, and a finding where it was not measured. Their
texts are here and in `rig.findings`, for any language.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import NormalDist
from typing import Any

from rig.errors import InputError, RigError
from rig.findings import Finding, render


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


class Quantity(StrEnum):
    """What a number is; the value is its text."""

    REACHED = "amplitude that was reached"
    GAIN = "deviation of the gain from 1"
    PHASE = "phase lag"
    BANDWIDTH = "bandwidth (−3 dB)"
    HARMONICS = "second and third harmonic of the acceleration"
    GAIN_CHANGE = "change of the gain with the amplitude"
    NOISE_RMS = "acceleration noise, RMS"
    NOISE_PEAK = "acceleration noise, peak"
    LOOP = "width of the loop"
    STEP_TIME = "time to 63 % of a step"
    OTHER_AXIS = "acceleration of the worst other axis"
    BUMP = "largest bump"
    LEG_GAINS = "difference of gains"
    LEG_PHASES = "difference of phases"
    ROUGHNESS = "deviation between the turns, RMS"
    OF_CYCLES = "largest deviation from the mean of the cycles"
    POSITION_ACCURACY = "position accuracy"
    POSITION_REPEATABILITY = "position repeatability"
    ATTITUDE_ACCURACY = "attitude accuracy, worst angle"
    ATTITUDE_REPEATABILITY = "attitude repeatability, worst angle"
    STABILIZATION = "stabilization time"
    OVERSHOOT = "overshoot"
    PATH_ACCURACY = "path accuracy"
    PATH_REPEATABILITY = "path repeatability"
    RESIDUAL = "RMS in an octave, of the cells' noise there"


class Condition(StrEnum):
    """Where and how a number was measured; the value is its text, with the fields of `str.format`."""

    FREQUENCY = "{frequency:.3g} Hz"
    COMMANDED = "{frequency:.3g} Hz, {size:.4g} {unit} commanded"
    UP_TO = "up to {frequency:.3g} Hz"
    AXIS = "{axis}"
    AXIS_INPUT = "{axis}, input {size:.3g} m/s²"
    FREQUENCY_AMPLITUDE = "{frequency:.3g} Hz, amplitude {size:.3g} mm"
    AMPLITUDE = "amplitude {size:.3g} mm"
    OCTAVE = "{low:.3g} to {high:.3g} Hz"
    STEP = "step of {size:.3g} m/s²"
    CYCLES = "{cycles} cycles"
    CYCLES_AXIS = "{cycles} cycles, {axis}"
    BAND = "band {size:.3g} mm"
    ROUNDS = "{cycles} rounds, {speed:.3g} m/s"


SHOWN = {
    "m": ("mm", 1e3),
    "rad": ("mrad", 1e3),
    "s": ("ms", 1e3),
    "m/s^2": ("m/s²", 1.0),
    "rad/s^2": ("rad/s²", 1.0),
    "": ("%", 1e2),
    "m/s": ("m/s", 1.0),
    "rad/s": ("rad/s", 1.0),
}
"""Displayed unit of each unit, and its factor."""


@dataclass(frozen=True, slots=True)
class At:
    """A condition with its values."""

    condition: Condition
    values: Mapping[str, float | int | str] = field(default_factory=dict, hash=False)

    def text(self, translate: Callable[[str], str] = str) -> str:
        """Return it as text; `translate` translates the condition, with the same fields."""
        return translate(self.condition.value).format(**self.values)


class NotMeasurableError(InputError):
    """Signals of a motion cannot be measured.

    Args:
        finding: why.
    """

    def __init__(self, finding: Finding) -> None:
        RigError.__init__(self, finding)
        self.what, self.faults = self.finding.text, ()


@dataclass(frozen=True, slots=True)
class Source:
    """Where a test comes from: the title of its section, its method, and where the default of its bound comes from."""

    title: str
    method: str
    bound: str


_OWN = "bound: this project's"
_AGARD = "AGARD-AR-144 (1979)"
_AIRPLANES = "14 CFR Part 60, App. A, Table A2A"
_HELICOPTERS = "14 CFR Part 60, App. C, Table C2A"
_ISO = "ISO 9283:1998"

SOURCES: dict[AcceptanceTest, Source] = {
    AcceptanceTest.EXCURSION: Source("Excursion", f"{_AGARD}, excursion limits; a slow sine", _OWN),
    AcceptanceTest.SPEED: Source("Greatest speed", f"{_AGARD}, excursion limits (velocity)", _OWN),
    AcceptanceTest.ACCELERATION: Source("Acceleration", f"{_AGARD}, excursion limits (acceleration)", _OWN),
    AcceptanceTest.RESPONSE: Source(
        "Describing function", f"{_AGARD}, describing function; {_AIRPLANES}, 3.a; a multisine for the sines", _OWN
    ),
    AcceptanceTest.LINEARITY: Source("Linearity", f"{_AGARD}, linearity: second and third harmonic of a sine", _OWN),
    AcceptanceTest.NOISE: Source("Acceleration noise", f"{_AGARD}, acceleration noise: what a sine leaves", _OWN),
    AcceptanceTest.HYSTERESIS: Source("Hysteresis", f"{_AGARD}, hysteresis; a slow sine", _OWN),
    AcceptanceTest.THRESHOLD: Source(
        "Dynamic threshold", f"{_AGARD}, dynamic threshold: a step of the acceleration", _OWN
    ),
    AcceptanceTest.CROSSTALK: Source("Crosstalk", "this project's, from the sine of the linearity", _OWN),
    AcceptanceTest.TURN_AROUND: Source("Turn-around bump", f"{_AIRPLANES}, 3.b; {_HELICOPTERS}, 3.c", _OWN),
    AcceptanceTest.LEG_BALANCE: Source("Leg balance", f"{_HELICOPTERS}, 3.b: legs' gains and phases in heave", _OWN),
    AcceptanceTest.SMOOTHNESS: Source("Smoothness", "this project's, from the slow sine", _OWN),
    AcceptanceTest.REPEATABILITY: Source(
        "Repeatability of the acceleration",
        f"{_AIRPLANES}, 3.d: the same input again",
        "bound: 0.05 g, of the same entry",
    ),
    AcceptanceTest.POSE: Source("Pose", f"{_ISO}, 7.2: five poses", _OWN),
    AcceptanceTest.SETTLING: Source("Settling and overshoot", f"{_ISO}, 7.4 and 7.5", _OWN),
    AcceptanceTest.PATH: Source("Path", f"{_ISO}, 8.2 and 8.3: a circle", _OWN),
    AcceptanceTest.RESIDUAL: Source(
        "Force residual", "this project's: load cells from the exact model, by octave", _OWN
    ),
}
"""Sources of the tests. Entries of Part 60 are those of the 2019 edition, as far as docs/acceptance.md says."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a test.

    quantity: what it is, None where not measured. axis: coordinate, pose, or empty. value, sigma: with its standard
    uncertainty, `unit` in SI; None where not measured, and infinite where it never came. bound: maximum, or minimum if
    `at_least`; None: there is none. beyond: the value is only known to be at least this. basis: what it was measured
    with. finding: why it was not measured. ended: whether that is because the rig did not complete the motion, which is
    a fail. at: its conditions. legs: the two that are compared.
    """

    test: AcceptanceTest
    quantity: Quantity | None
    axis: str
    value: float | None
    sigma: float | None
    unit: str
    bound: float | None = None
    at_least: bool = False
    beyond: bool = False
    basis: Basis | None = Basis.ENCODERS
    finding: Finding | None = None
    ended: bool = False
    at: At | None = None
    legs: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """Return what it is in words."""
        return SOURCES[self.test].title.lower() if self.quantity is None else self.quantity.value

    @property
    def place(self) -> str:
        """Return the axis, or the legs, in words."""
        return f"legs {', '.join(map(str, self.legs))}" if self.legs else self.axis

    @property
    def reason(self) -> str:
        """Return why it was not measured in words; empty where it was."""
        return "" if self.finding is None else render(self.finding)

    def verdict(self, confidence: float) -> Verdict:
        """Return the verdict: a pass or fail of at least this one-sided confidence."""
        if self.value is None:
            return Verdict.FAIL if self.ended else Verdict.NOT_MEASURED
        if self.bound is None:
            return Verdict.STATED
        if self.value == math.inf and not self.at_least:
            return Verdict.FAIL  # what never comes is later than any bound
        if self.beyond:
            return Verdict.PASS if self.at_least and self.value >= self.bound else Verdict.UNDECIDED
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
            "quantity": None if self.quantity is None else self.quantity.name.lower(),
            "name": self.name,
            "axis": self.place,
            "value": _finite(self.value),
            "sigma": _finite(self.sigma),
            "unit": self.unit,
            "bound": self.bound,
            "bound_is": None if self.bound is None else "minimum" if self.at_least else "maximum",
            "beyond": self.beyond,
            "never": bool(self.value == math.inf),
            "at": "" if self.at is None else self.at.text(),
            "conditions": {} if self.at is None else dict(self.at.values),
            "basis": None if self.value is None or self.basis is None else self.basis.value,
            "method": source.method,
            "bound_source": source.bound,
            "verdict": self.verdict(confidence).value,
            "reason": self.reason,
            "finding": None if self.finding is None else self.finding.as_dict(),
        }


def _finite(value: float | None) -> float | None:
    """The value as JSON has it: None where it is not finite, such as a time that never came."""
    return None if value is None or not math.isfinite(value) else float(value)


def not_measured(test: AcceptanceTest, axis: str, finding: Finding, *, ended: bool = False) -> Number:
    """A test's number that was not measured, with the reason."""
    return Number(test, None, axis, None, None, "", basis=None, finding=finding, ended=ended)


def overall(numbers: Iterable[Number], confidence: float) -> Verdict:
    """The verdict on all numbers: a fail counts first, then what is undecided, then what was not measured."""
    found = {number.verdict(confidence) for number in numbers}
    for verdict in (Verdict.FAIL, Verdict.UNDECIDED, Verdict.NOT_MEASURED, Verdict.PASS):
        if verdict in found:
            return verdict
    return Verdict.NOT_MEASURED
