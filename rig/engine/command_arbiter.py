"""What the six drives are told with the next exchange."""

import math
from collections.abc import Sequence

import numpy as np

from actuators import COMMAND_CLEAR, COMMAND_HOME, COMMAND_OFF, COMMAND_STOP, Command
from kinematics import Array
from rig.engine.cycle_data import CycleData
from rig.engine.homing import Homing
from rig.engine.laws import ControlLaw, LawFault
from rig.engine.reference import Reference
from rig.engine.supervision import Stops, Supervision
from rig.findings import Code, Finding
from rig.safety import Cause, StateMachine
from rig.states import State, StopSeverity


class CommandArbiter:
    """Decides the six commands: those of the control law where it commands, elsewhere what the state asks for.

    Args:
        law: the one in command, where the state lets it.
        machine, frame, reference, homing: what the commands follow from.
        force_bound: (6,) N, largest force of each leg.
        supervision: says whether the law commands, and guards the model.
        stops: told of forces that cannot be sent.

    `commands` are those of the next exchange.
    """

    def __init__(
        self,
        law: ControlLaw,
        machine: StateMachine,
        frame: CycleData,
        reference: Reference,
        homing: Homing,
        force_bound: Array,
        supervision: Supervision,
        stops: Stops,
    ) -> None:
        self.commands: Sequence[Command] = (COMMAND_OFF,) * 6
        self.law = law
        self._machine = machine
        self._frame = frame
        self._reference = reference
        self._homing = homing
        self._force_bound = force_bound
        self._supervision = supervision
        self._stops = stops

    def off(self) -> None:
        """Torque off."""
        self.commands = (COMMAND_OFF,) * 6

    def passive(self, *, clear: bool = False) -> None:
        """Command what every drive is told while no law does; clear: the edge that clears their faults."""
        machine = self._machine
        if machine.state is State.STOPPING and machine.stop is StopSeverity.QUICK_STOP:
            # which enables: it is for those who were told to have torque alone
            self.commands = [COMMAND_STOP if before.enable else COMMAND_OFF for before in self.commands]
            return
        if machine.state is State.HOMING:
            self.commands = [COMMAND_HOME if searching else COMMAND_OFF for searching in self._homing.searching]
            return
        command = COMMAND_CLEAR if clear else COMMAND_OFF
        self.commands = [COMMAND_OFF if held else command for held in self.law.held]

    def decide(self, t: float, *, clear: bool) -> None:
        """Decide the commands of the cycle at rig time `t` (s); clear: see `passive`."""
        frame = self._frame
        frame.no_command()
        if self._supervision.controlled:
            force = frame.fields["force_command"]
            if self._computed(t) and self._within_limits(t, force):
                self.commands = self.law.commands(frame)
                if self.law.platform:
                    frame.note_command(t)
                return
            frame.no_command()
        frame.held.forget()
        self.passive(clear=clear)

    def _computed(self, t: float) -> bool:
        """Compute the set-points; the reference is judged before, and left where the model itself asks for too much."""
        law, frame, supervision, reference = self.law, self._frame, self._supervision, self._reference

        def compute() -> None:
            if not law.platform:
                law.compute(frame)
                return
            supervision.foresee(t, reference)
            law.compute(frame)
            feedforward = frame.fields["force_feedforward"]
            if self._beyond(feedforward):
                self._trip_on_force(t, feedforward)
                supervision.come_to_rest(t, reference)
                law.compute(frame)

        try:
            return supervision.guarded(t, compute)
        except LawFault as fault:
            self._stops.trip(Cause(fault.finding, t), fault.severity)
            return False

    def _within_limits(self, t: float, force: Array) -> bool:
        """Hold forces to the legs' limits and stop the rig where they ask for more; False: send nothing."""
        if not all(map(math.isfinite, force.tolist())):
            asked = Finding(Code.LAW_NOT_FINITE, details={"text": str(force)})
            self._stops.trip(Cause(asked, t), StopSeverity.QUICK_STOP)
            return False
        if any(self.law.own_loops) and not self._supervision.lengths(t, self._frame.fields["position_command"]):
            return False
        if self._beyond(force):
            self._trip_on_force(t, force)
            np.clip(force, -self._force_bound, self._force_bound, out=force)
        return True

    def _beyond(self, force: Array) -> bool:
        return any([abs(one) > bound for one, bound in zip(force.tolist(), self._force_bound.tolist(), strict=True)])

    def _trip_on_force(self, t: float, force: Array) -> None:
        bound = self._force_bound
        leg = int(np.argmax(np.abs(force) - bound))
        found = Finding(Code.COMMANDED_FORCE, leg + 1, float(force[leg]), float(bound[leg]))
        self._stops.trip(Cause(found, t), StopSeverity.CATEGORY_1)
