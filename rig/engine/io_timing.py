"""When a cycle's exchange truly was: a process may be left out by the system between any two instructions."""

from collections.abc import Sequence

from actuators import Command
from rig.engine.drive_group import DriveGroup
from rig.runtime import Clock


class ExchangeTimes:
    """Makes the exchanges of cycles, and tells what passed of which the cycle knew nothing as it began.

    Args:
        bank: drives and cells.
        clock: of the exchanges' deadlines.
        reply_time: s for the replies.
    """

    def __init__(self, bank: DriveGroup, clock: Clock, reply_time: float) -> None:
        self._bank, self._clock, self._reply_time = bank, clock, reply_time
        self._before: float | None = None
        self.between = 0.0
        """s since the exchange before"""
        self.held = 0.0
        """s of them, or within the exchange, for which the process stood still after its cycle had begun"""

    def make(self, commands: Sequence[Command], planned: float) -> None:
        """The exchange of a cycle; planned: s since the one before, by when the two cycles began."""
        begun = self._clock.now()
        self._bank.exchange(commands, begun, self._reply_time)
        longer = self._clock.now() - begun - self._reply_time
        late = 0.0 if self._before is None else max(0.0, begun - self._before - planned)
        self.between, self.held, self._before = planned + late, max(late, longer), begun

    def repeat(self, commands: Sequence[Command]) -> None:
        """A second exchange of the same cycle, for a stop that it has found."""
        self._bank.exchange(commands, self._clock.now(), self._reply_time)

    def forget(self) -> None:
        """The next exchange has none before it."""
        self._before = None
