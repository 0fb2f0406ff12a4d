"""Checks of the digital inputs: the emergency stop's chain, safe torque off against the drives' torque, silence."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Protocol

from actuators import Status
from rig.findings import Code, Finding
from rig.safety.machine import TORQUE_STATES, Cause, StateMachine, at_legs
from rig.safety.trip import DriveSamples, Report, Trip, not_fresh
from rig.states import StopSeverity

_ENABLED = Status.ENABLED.value
OPEN = {"emergency_stop": Code.EMERGENCY_STOP_OPEN, "safe_torque_off": Code.SAFE_TORQUE_OFF_OPEN}
"""Finding of each input that is open."""
_CLOSED = {"emergency_stop": Code.EMERGENCY_STOP_CLOSED, "safe_torque_off": Code.SAFE_TORQUE_OFF_CLOSED}
_CHAIN, _SAFE_TORQUE_OFF = "emergency_stop", "safe_torque_off"
_LOST = (Code.TORQUE_LOST, Code.TORQUE_LOST_EVERYWHERE)


class InputSamples(Protocol):
    """Digital inputs of a cycle."""

    stale: int
    """consecutive exchanges without a good reply of the block"""
    age: float
    """s since its last good one"""

    @property
    def inputs(self) -> Mapping[str, bool | None]:
        """By name, whether the circuit is closed; None before it is known."""


class InputChecks:
    """Judges the inputs in every cycle.

    The chain of emergency stops and the drives' safe torque off act by their wires; this explains what they did, makes
    it a fault, and finds feedback that contradicts the drives.

    Args:
        period: s, of a cycle.
        stale_time: s without a good reply that are tolerated.
        settling: s for which drives and feedback of safe torque off may differ.
        machine: gives the state.
    """

    def __init__(self, period: float, stale_time: float, settling: float, machine: StateMachine) -> None:
        self._period, self._stale_time, self._settling = period, stale_time, settling
        self._old = stale_time - 0.5 * period
        self._fewest = 1 if stale_time < 1.5 * period else 2
        self._machine = machine
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self._before: dict[str, bool] = {}
        self._silent = False
        self._torque_since: float | None = None
        self._told: Sequence[int] = ()
        """legs of the last contradiction that was found"""
        self._lost: tuple[float, Sequence[int]] | None = None
        """when torque was lost while the feedback said closed, s, and the legs"""

    def check(self, t: float, io: InputSamples, drives: DriveSamples) -> Iterator[Trip | Report]:
        """Judge the inputs at rig time `t` (s); each finding is to be acted upon before the next is asked for."""
        silent, before_silent = io.stale >= self._fewest and io.age >= self._old, self._silent
        self._silent = silent
        if silent and not before_silent:
            found = not_fresh(Code.IO_SILENT, 0, io.age, self._stale_time, self._period)
            yield Trip(Cause(found, t), StopSeverity.CATEGORY_1, partial(_still_silent, io))
        for name, closed in io.inputs.items():
            before = self._before.get(name)
            if closed is None or closed is before:
                continue
            self._before[name] = closed
            if not closed:
                yield self._opened(t, name, io, known=before is not None)
            elif before is not None:
                yield Report("info", Finding(_CLOSED[name]))
        if _SAFE_TORQUE_OFF in io.inputs:
            yield from self._contradictions(t, io.inputs[_SAFE_TORQUE_OFF], drives)

    def _opened(self, t: float, name: str, io: InputSamples, *, known: bool) -> Trip | Report:
        """An open chain is a fault when it opens; open safe torque off where a drive may have torque."""
        found = Finding(OPEN[name])
        if self._machine.state in TORQUE_STATES or (name == _CHAIN and known):
            return Trip(Cause(found, t), StopSeverity.CATEGORY_0, partial(_still_open, io, name))
        return Report("warning", found)

    def torque_lost(self, t: float, trip: Trip) -> None:
        """Take note of a finding on the drives' torque at rig time `t` (s)."""
        found = trip.cause.finding
        if found.code in _LOST and self._before.get(_SAFE_TORQUE_OFF):
            legs = found.details["legs"]
            assert isinstance(legs, list)
            self._lost = t, [int(leg) for leg in legs]

    def _contradictions(self, t: float, closed: bool | None, drives: DriveSamples) -> Iterator[Trip | Report]:
        if closed is False:
            self._lost = None
        elif self._lost is not None and t - self._lost[0] >= self._settling:
            legs, self._lost = self._lost[1], None
            yield Report("error", at_legs(Code.NO_TORQUE_DESPITE_FEEDBACK, legs))
        if closed is not False or not drives.status_any & _ENABLED:
            self._torque_since, self._told = None, ()
            return
        if self._torque_since is None:
            self._torque_since = t
        if t - self._torque_since < self._settling:
            return
        powered = self._powered(drives)
        new = [leg for leg in powered if leg not in self._told]
        self._told = powered
        if new:
            yield Trip(Cause(at_legs(Code.TORQUE_DESPITE_SAFE_TORQUE_OFF, new), t), StopSeverity.CATEGORY_0)

    @staticmethod
    def _powered(drives: DriveSamples) -> list[int]:
        pairs = enumerate(zip(drives.status, drives.stale, strict=True), start=1)
        return [leg for leg, (bits, stale) in pairs if bits & _ENABLED and not stale]


def _still_open(io: InputSamples, name: str) -> Finding | None:
    return None if io.inputs[name] else Finding(OPEN[name])


def _still_silent(io: InputSamples) -> Finding | None:
    return Finding(Code.IO_UNKNOWN) if io.stale else None
