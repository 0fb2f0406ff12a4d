"""Gains of mode `computed-torque`: what the file may say, the matrices that follow, and the paper's conditions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import GetCoreSchemaHandler
from pydantic_core import core_schema

from dynamics import serial
from kinematics import Array, Range
from rig.errors import ConfigFault
from rig.findings import Code, Finding, Value

if TYPE_CHECKING:
    from rig.config.rig_config import RigConfig

_AXES = 6
USUAL_BANDWIDTH = 10.0
"""Hz, of the error if no gains are given and the loop's delay permits it."""
USUAL_MARGIN = 2.5
"""Gain margin of the usual bandwidth with the model's masses: 2.0 where they are 20 % smaller."""

GainValue = float | tuple[float, ...] | tuple[tuple[float, ...], ...]
"""A gain as in the file: a number, six numbers of a diagonal, or six rows of six numbers."""


@dataclass(frozen=True, slots=True)
class GainRange:
    """Pydantic marker of a gain: its shape, and the range of each entry in its SI `unit`; no text, no bool.

    The reference of all keys finds it in a model field's `metadata`.
    """

    greatest: float
    unit: str

    @property
    def bounds(self) -> Range:
        """Return the range of an entry, ends included."""
        return Range(-self.greatest, self.greatest, self.unit)

    def read(self, value: Any) -> GainValue:
        """Return the checked gain. Raises ValueError with the entry, its value and what it must be."""
        if not isinstance(value, (list, tuple)):
            return self._entry(value, "")
        if len(value) == _AXES and not any(isinstance(row, (list, tuple)) for row in value):
            return tuple(self._entry(one, f"number {k}: ") for k, one in enumerate(value, start=1))
        if len(value) != _AXES or any(not isinstance(row, (list, tuple)) or len(row) != _AXES for row in value):
            raise ValueError(f"must be a number, six numbers or six rows of six numbers, not {_shape(value)}")
        return tuple(
            tuple(self._entry(one, f"row {i}, column {j}: ") for j, one in enumerate(row, start=1))
            for i, row in enumerate(value, start=1)
        )

    def _entry(self, value: Any, place: str) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ValueError(f"{place}must be a number, not {value!r}")
        try:
            number = float(value)
        except OverflowError:  # a whole number of more than 308 digits
            number = math.inf if value > 0 else -math.inf
        if not math.isfinite(number):
            raise ValueError(f"{place}{number} {self.unit}, must be finite")
        try:
            return self.bounds.check(number)
        except ValueError as error:
            if not place:
                raise
            raise ValueError(f"{place}{error}") from None

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)


def _shape(value: list[Any] | tuple[Any, ...]) -> str:
    rows = {len(row) if isinstance(row, (list, tuple)) else 1 for row in value}
    if rows <= {1}:
        return f"{len(value)} numbers"
    lengths = f"{min(rows)}" if len(rows) == 1 else f"{min(rows)} to {max(rows)}"
    return f"{len(value)} rows of {lengths} numbers"


@dataclass(frozen=True, slots=True, eq=False)
class TaskGains:
    """K_p, 1/s², and K_v, 1/s, (6, 6) of the platform's error: position, then rotation vector, base axes, m and rad."""

    stiffness: Array
    damping: Array

    @property
    def numbers(self) -> tuple[float, float] | None:
        """Return K_p and K_v if both are numbers, the same in all directions without coupling; else None."""
        k, d = float(self.stiffness[0, 0]), float(self.damping[0, 0])
        alike = (self.stiffness == k * np.eye(_AXES)).all() and (self.damping == d * np.eye(_AXES)).all()
        return (k, d) if alike else None


def task_gains(config: RigConfig) -> TaskGains:
    """Return the gains of a configuration: those that it gives, or those of its bandwidth."""
    control = config.control
    if control.task_stiffness is not None and control.task_damping is not None:
        return _task_gains(control.task_stiffness, control.task_damping)
    ratio = 1.0 if control.task_damping_ratio is None else control.task_damping_ratio
    bandwidth = usual_bandwidth(config, ratio) if control.task_bandwidth is None else control.task_bandwidth
    rate = 2.0 * math.pi * bandwidth
    return _task_gains(rate * rate, 2.0 * ratio * rate)


def _task_gains(stiffness: GainValue, damping: GainValue) -> TaskGains:
    pairs = ("task_stiffness", stiffness), ("task_damping", damping)
    return TaskGains(*(serial.gain_matrix(name, gain, _AXES) for name, gain in pairs))


def usual_bandwidth(config: RigConfig, ratio: float) -> float:
    """Return the bandwidth, Hz, if none is given: `USUAL_BANDWIDTH`, or that with the margin `USUAL_MARGIN` if less.

    The loop is taken as e'' = −K_v ė − K_p e, the right side late by τ: half of the exchange period for which a force
    is held, the period from measurement to command, the drives' dead time, and the time constant of their force
    loops. With K_p = ω² and K_v = 2ζω, the phase of the open loop is −π at the frequency x/τ where
    tan x = 2ζx/(ωτ), and its gain there is one over m = sin² x/(4ζ² cos x). Solved for ω with m given.
    """
    drives, period = config.drives, config.exchange_period
    late = 1.5 * period + drives.delay + 1.0 / (2.0 * math.pi * drives.force_bandwidth)
    half = 2.0 * ratio * ratio * USUAL_MARGIN
    cosine = 1.0 / (half + math.hypot(half, 1.0))
    x = math.acos(cosine)
    return min(USUAL_BANDWIDTH, ratio * x * cosine / (math.pi * late * math.sin(x)))


_OF_BANDWIDTH = ("task_bandwidth", "task_damping_ratio")
_MATRICES = ("task_stiffness", "task_damping")
_KEYS = {"K_p": "task_stiffness", "K_v": "task_damping", "K_p and K_v": "task_damping"}


def gain_faults(config: RigConfig) -> Iterator[ConfigFault]:
    """Yield what is wrong with the task-space gains of a configuration, whatever its mode.

    They are given in one way, by bandwidth or as two matrices; and matrices meet the conditions (a) to (c) of Lee,
    Chung, Mudge & Turney (1982) under which the error vanishes.
    """
    control = config.control
    given = [key for key in _MATRICES if getattr(control, key) is not None]
    others = [key for key in _OF_BANDWIDTH if getattr(control, key) is not None]
    if given and others:
        found = Finding(Code.TASK_GAINS_TWICE, details={"other": f"control.{given[0]}"})
        yield ConfigFault(("control", others[0]), found)
    if len(given) == 1:
        missing = next(key for key in _MATRICES if key not in given)
        yield ConfigFault(("control", given[0]), Finding(Code.TASK_GAIN_ALONE, details={"other": f"control.{missing}"}))
        return
    if not given:
        return
    gains = task_gains(config)
    for gain, found in gain_findings(gains.stiffness, gains.damping):
        yield ConfigFault(("control", _KEYS[gain]), found)


def gain_findings(
    stiffness: Array, damping: Array, names: Mapping[str, str] | None = None
) -> list[tuple[str, Finding]]:
    """Return what is wrong with K_p, 1/s², and K_v, 1/s, (n, n): the gain at fault, as in `serial`, and the finding.

    These are the conditions (a) to (c) of Lee, Chung, Mudge & Turney (1982) under which the error vanishes. names: of
    the gains in the findings' texts, none without.
    """
    found = []
    for broken in serial.broken_conditions(stiffness, damping):
        details: dict[str, Value] = {"unit": broken.unit}
        if names is not None:
            details["gain"] = names[broken.gain]
        if broken.place is not None:
            row, column = broken.place
            matrix = stiffness if broken.gain == "K_p" else damping
            details |= {"condition": broken.condition, "row": row + 1, "column": column + 1}
            entry, mirrored = float(matrix[row, column]), float(matrix[column, row])
            found.append((broken.gain, Finding(Code.GAIN_ASYMMETRIC, 0, entry, mirrored, details)))
        else:
            code = {"a": Code.DAMPING_NEGATIVE, "b": Code.STIFFNESS_NOT_POSITIVE, "c": Code.UNDAMPED}[broken.condition]
            found.append((broken.gain, Finding(code, 0, broken.value, broken.bound, details)))
    return found
