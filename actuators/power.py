"""Power state machine of a drive that is enabled by a sequence of command words, each confirmed by a state.

`PowerTable` is the data: states as mask and value of the status word, the words, and what confirms each step.
`PowerSequence` commands a drive by it, one word an exchange; it never waits. `actuators.virtual.power` is the device's
side of the same table.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from actuators.interface import Status

POWER_FLAGS = Status.READY | Status.ENABLED | Status.FAULT | Status.QUICK_STOP
"""Flags of `Status` that a power state decides."""
_NO_FLAGS = Status(0)


@dataclass(frozen=True, slots=True)
class PowerState:
    """A state of the drive: the status word, masked, has `value`. flags: what it means, out of `POWER_FLAGS`."""

    name: str
    mask: int
    value: int
    flags: Status = _NO_FLAGS

    def matches(self, word: int) -> bool:
        """Whether the status word `word` is that of this state."""
        return word & self.mask == self.value


@dataclass(frozen=True, slots=True)
class PowerWord:
    """A command of the control word. mask: bits by which the device recognises it."""

    value: int
    mask: int

    def matches(self, word: int) -> bool:
        """Whether the control word `word` is this command."""
        return word & self.mask == self.value & self.mask


@dataclass(frozen=True, slots=True)
class PowerStep:
    """A step of the way to torque: `word` is sent until the drive is in `state`, for at most `timeout` s."""

    word: PowerWord
    state: PowerState
    timeout: float


@dataclass(frozen=True, slots=True)
class PowerTable:
    """States and commands of a kind of drive.

    states: no two of them match the same status word. steps: to torque, the last one's state has it. reset: bits whose
    rising edge, with the word `disable`, clears a fault.
    """

    states: Sequence[PowerState]
    steps: Sequence[PowerStep]
    disable: PowerWord
    quick_stop: PowerWord
    reset: int

    def faults(self) -> list[str]:
        """What is wrong with the table, in words; empty if nothing is."""
        found = []
        for place, one in enumerate(self.states):
            if one.value & ~one.mask:
                found.append(f"states.{one.name}: value 0x{one.value:04X} has bits outside of mask 0x{one.mask:04X}")
            if one.flags & ~POWER_FLAGS:
                found.append(f"states.{one.name}: a power state cannot have {one.flags & ~POWER_FLAGS!r}")
            for other in self.states[place + 1 :]:
                if not (one.value ^ other.value) & one.mask & other.mask:
                    found.append(f"states.{one.name} and states.{other.name} match the same status word")
        if not any(one.flags & Status.FAULT and not one.flags & Status.ENABLED for one in self.states):
            found.append("states: none has a fault without torque")
        if not any(
            one.flags == Status.READY and all(one is not step.state for step in self.steps) for one in self.states
        ):
            found.append("states: none is ready before the first step")
        if not self.steps:
            found.append("enable: no step")
        elif not self.steps[-1].state.flags & Status.ENABLED:
            found.append(f"enable: the last step ends in {self.steps[-1].state.name}, which has no torque")
        for place, step in enumerate(self.steps, start=1):
            if not (math.isfinite(step.timeout) and step.timeout > 0.0):
                found.append(f"enable[{place}]: time-out {step.timeout:g} s is not a positive number")
            if place < len(self.steps) and step.state.flags & Status.ENABLED:
                found.append(f"enable[{place}]: ends in {step.state.name}, which has torque before the last step")
            if step.word.value & self.reset:
                found.append(f"enable[{place}]: word 0x{step.word.value:04X} has bits of reset 0x{self.reset:04X}")
        if self.disable.value & self.reset:
            found.append(f"disable: word 0x{self.disable.value:04X} has bits of reset 0x{self.reset:04X}")
        return found

    def state(self, word: int) -> PowerState | None:
        """The state by the status word; None for none of the table."""
        return next((one for one in self.states if one.matches(word)), None)

    @property
    def bits(self) -> int:
        """Bits of the control word that this machine decides; the others are free for modes."""
        found = self.disable.value | self.quick_stop.value | self.reset
        for step in self.steps:
            found |= step.word.value
        return found


@dataclass(frozen=True, slots=True)
class PowerFailure:
    """A step that was not confirmed in time. step: from 1 on. status: last status word, -1 before any."""

    step: int
    word: int
    state: str
    timeout: float
    status: int

    @property
    def text(self) -> str:
        """In words."""
        seen = "no status word" if self.status < 0 else f"the status word is 0x{self.status:04X}"
        return (
            f"step {self.step} of its enabling, word 0x{self.word:04X}, did not lead to state {self.state} "
            f"within {self.timeout:g} s: {seen}"
        )


class PowerSequence:
    """Commands one drive by its table: `control` before each exchange, `observe` after one with a good reply.

    Torque is taken once for each time that it is asked for: after a fault, a quick stop, a failed step, or torque that
    the drive took off by itself, `enable` has to be False before it takes effect again.
    """

    def __init__(self, table: PowerTable) -> None:
        """table: one without `faults`."""
        self.table = table
        self.failure: PowerFailure | None = None
        """the step that failed, until `clear` is commanded"""
        self.state: PowerState | None = None
        """the drive's state by the last status word; None before any, or for one that is not in the table"""
        self._status = -1
        self.forget()

    def forget(self) -> None:
        """Begin anew, as after a connection: `enable` has to be seen False."""
        self._armed = False
        self._step = -1
        """step whose word was sent last, -1 for none"""
        self._since = 0.0

    @property
    def enabled(self) -> bool:
        """Whether the last step is confirmed and the drive still has torque."""
        return self._step == len(self.table.steps)

    @property
    def flags(self) -> Status:
        """Power flags of `Status`: those of the state, and a failed step as a fault."""
        flags = Status(0) if self.state is None else self.state.flags
        return flags if self.failure is None else flags & ~Status.READY | Status.FAULT

    def observe(self, status: int) -> None:
        """Take the status word of the reply to the last control word."""
        self._status = status
        if self.state is None or not self.state.matches(status):
            self.state = self.table.state(status)
        if self._step < 0:
            return
        steps, state = self.table.steps, self.state
        if state is not None and state.flags & (Status.FAULT | Status.QUICK_STOP):
            self.forget()
        elif self._step == len(steps):
            if state is not steps[-1].state:  # torque that the drive took off by itself
                self.forget()
        elif state is not None and state is steps[self._step].state:
            self._step += 1
            self._since = math.nan  # from when the next word is sent

    def control(self, now: float, *, enable: bool, quick_stop: bool = False, clear: bool = False) -> int:
        """The control word for what is wanted at `now`, s, in the bits of the table."""
        table, steps = self.table, self.table.steps
        if clear:
            self.failure = None
        if not enable:
            self._armed, self._step = True, -1
            return table.disable.value | table.reset if clear else table.disable.value
        if quick_stop:
            self.forget()
            return table.quick_stop.value
        if not self._armed or self.failure is not None:
            return table.disable.value
        if self._step == len(steps):
            return steps[-1].word.value
        if self._step < 0:
            self._step, self._since = 0, now
        elif not self._since <= now:  # a new step, or another clock
            self._since = now
        step = steps[self._step]
        if now - self._since > step.timeout:
            self.failure = PowerFailure(self._step + 1, step.word.value, step.state.name, step.timeout, self._status)
            self.forget()
            return table.disable.value
        return step.word.value
