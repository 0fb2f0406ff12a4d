"""The scalars of a cycle's telemetry row: times, counts, states and flags."""

from collections.abc import Sequence

from actuators import Command
from rig.engine.cycle_data import CycleData
from rig.engine.drive_group import DriveGroup
from rig.engine.reference import Reference
from rig.runtime import Tick
from rig.safety import StateMachine
from rig.telemetry import CycleFlag, RowWriter

_FRESH, _HOMED, _POSE, _PAUSED, _LATCHED = (flag.value for flag in CycleFlag)


class CycleRow:
    """Completes the row that `frame` holds.

    Args:
        frame: its row is written.
        machine, bank, reference: what is reported.
    """

    def __init__(self, frame: CycleData, machine: StateMachine, bank: DriveGroup, reference: Reference) -> None:
        self._frame = frame
        self._machine = machine
        self._bank = bank
        self._reference = reference
        self._row = RowWriter(frame.row)

    def complete(
        self,
        tick: Tick,
        cycles: int,
        motion: int,
        commands: Sequence[Command],
        exchange_time: float,
        compute_time: float,
    ) -> None:
        """Write the scalars of the cycle at `tick`.

        Args:
            tick: the cycle's time.
            cycles: done before it.
            motion: id of the motion under way, 0 for none.
            commands: the six decided in it.
            exchange_time, compute_time: s.
        """
        machine, bank, reference, frame = self._machine, self._bank, self._reference, self._frame
        cause = machine.cause
        flags = (
            (0 if any(bank.stale) else _FRESH)
            | (_HOMED if machine.homed else 0)
            | (_POSE if frame.pose_valid else 0)
            | (_PAUSED if reference.paused else 0)
            | (_LATCHED if machine.latched else 0)
        )
        self._row.times(
            (
                tick.t,
                tick.lateness,
                tick.period,
                exchange_time,
                compute_time,
                reference.path_time,
                reference.path_rate,
                frame.condition,
            )
        )
        self._row.state(
            cycles + tick.overruns,
            tick.overruns,
            flags,
            motion,
            *bank.error,
            *bank.stale,
            *bank.status,
            0 if cause is None else cause.code.value,
            machine.state.value,
            machine.stop.value,
            0 if cause is None else cause.leg,
            *[command.mode for command in commands],
        )
