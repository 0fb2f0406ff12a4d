"""The device's side of a power table: what a control word does in a state."""

from collections.abc import Sequence

from actuators.interface import Status
from actuators.power import PowerState, PowerTable


class VirtualPower:
    """Power state of a virtual drive.

    A step's word leads on from the state of the step before; one that comes too early is ignored, one of an earlier
    step leads back. Without torque a quick stop disables, as in CiA 402. `stop` and `fail` are what the drive does by
    itself; `rest` ends either.
    """

    def __init__(self, table: PowerTable) -> None:
        """Power up. Raises ValueError for a table without a state to stop, to be idle or to fail in."""
        self.table = table
        steps = [step.state for step in table.steps]
        torque, fault = Status.ENABLED, Status.FAULT
        self._idle = _state(table, Status.READY, torque | fault, but=steps)
        self._fault = _state(table, fault, torque)
        self._stopping = _state(table, Status.QUICK_STOP, fault, self._idle)
        self._reaction = _state(table, fault | torque, Status(0), self._fault)
        self._step = -1
        self._word = 0
        self.state = self._idle

    @property
    def enabled(self) -> bool:
        """Whether it follows set-points."""
        return self._step == len(self.table.steps) - 1

    @property
    def stopping(self) -> bool:
        """Whether it comes to rest by itself, with torque."""
        return self.state is not self._idle and self.state in (self._stopping, self._reaction)

    @property
    def failed(self) -> bool:
        """Whether a fault is latched."""
        return bool(self.state.flags & Status.FAULT)

    def write(self, word: int) -> None:
        """Take a control word."""
        table, before, self._word = self.table, self._word, word
        if self.failed:
            if self.state is self._fault and word & table.reset and not before & table.reset:
                self._enter(self._idle)
        elif table.disable.matches(word):
            self._enter(self._idle)
        elif table.quick_stop.matches(word):
            if self.enabled:
                self._enter(self._stopping)
            elif not self.stopping:
                self._enter(self._idle)
        elif not self.stopping:
            for place, step in enumerate(table.steps):
                if step.word.matches(word) and place <= self._step + 1:
                    self._enter(step.state, place)

    def stop(self) -> None:
        """Begin a quick stop by itself, where it has torque."""
        if self.enabled:
            self._enter(self._stopping)

    def fail(self) -> None:
        """Latch a fault, after coming to rest where it has torque."""
        if not self.failed:
            self._enter(self._reaction if self.enabled or self.stopping else self._fault)

    def rest(self) -> None:
        """Be at rest after `stop` or `fail`: torque goes off."""
        if self.stopping:
            self._enter(self._fault if self.failed else self._idle)

    def lose(self) -> None:
        """Lose torque without a fault, as by safe torque off."""
        if not self.failed:
            self._enter(self._idle)
        elif self.stopping:
            self._enter(self._fault)

    def reboot(self) -> None:
        """Power up again."""
        self._word = 0
        self._enter(self._idle)

    def _enter(self, state: PowerState, step: int = -1) -> None:
        self.state, self._step = state, step


def _state(
    table: PowerTable,
    flags: Status,
    without: Status,
    otherwise: PowerState | None = None,
    but: Sequence[PowerState] = (),
) -> PowerState:
    """First state with all of `flags`, none of `without`, and none of `but`; `otherwise` if there is none."""
    for one in table.states:
        if one.flags & flags == flags and not one.flags & without and one not in but:
            return one
    if otherwise is None:
        raise ValueError(f"no state has {flags!r} without {without!r}")
    return otherwise
