"""Selection of the six commands of the next exchange: from the control law or by the state."""

from collections.abc import Sequence

import numpy as np

from actuators import COMMAND_CLEAR, COMMAND_HOME, COMMAND_OFF, COMMAND_STOP, Command, Mode
from dynamics import DynamicsError
from kinematics import Array, kernel
from rig.engine.cycle_data import CycleData
from rig.engine.homing import Homing
from rig.engine.laws import ControlLaw, LawFault
from rig.engine.reference import Reference
from rig.engine.supervision import Supervision
from rig.findings import Code, Finding, Value
from rig.safety import Act, Cause, StateMachine, Trip
from rig.states import State, StopSeverity

_BEYOND, _NOT_FINITE, _FEEDFORWARD_BEYOND = 1, 2, 4


@kernel
def judge_force_kernel(force: Array, feedforward: Array, bound: Array) -> int:
    """Bits: a force (6,) is beyond its bound (6,), N, a force is not finite, a feedforward (6,) is beyond."""
    found = 0
    for i in range(6):
        if not np.isfinite(force[i]):
            found |= _NOT_FINITE
        if abs(force[i]) > bound[i]:
            found |= _BEYOND
        if abs(feedforward[i]) > bound[i]:
            found |= _FEEDFORWARD_BEYOND
    return found


class CommandArbiter:
    """Selects the six commands: from the control law where it is active, else by the state.

    Args:
        law: the active one, if the state permits it.
        machine, cycle, reference, homing: inputs of the commands.
        force_bound: (6,) N, largest force of each leg.
        supervision: decides whether the law is active, and checks its commands.
        act: is told of each cause to stop, and stops before it returns.

    `commands` are those of the next exchange.
    """

    def __init__(
        self,
        law: ControlLaw,
        machine: StateMachine,
        cycle: CycleData,
        reference: Reference,
        homing: Homing,
        force_bound: Array,
        supervision: Supervision,
        act: Act,
    ) -> None:
        self.commands: Sequence[Command] = (COMMAND_OFF,) * 6
        self.law = law
        self._machine = machine
        self._cycle = cycle
        self._reference = reference
        self._homing = homing
        self._force_bound = force_bound
        self._supervision = supervision
        self._act = act

    def off(self) -> None:
        """Torque off."""
        self.commands = (COMMAND_OFF,) * 6

    def passive(self, *, clear: bool = False) -> None:
        """Set the commands without an active law; clear: with the edge that clears the drives' faults."""
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

    def extrapolate(self, t: float, skipped: float, extrapolates: Sequence[bool]) -> None:
        """Extrapolate the commanded lengths at their speeds, where cycles were skipped before that at rig time `t` (s).

        If one would be beyond its leg's limits, all are left as they are.

        Args:
            t: s.
            skipped: time of those cycles, s, by which the commands are too old.
            extrapolates: by leg, whether its drive does so meanwhile; one that waits is sent the next length.
        """
        speeds = [
            command.velocity if on and command.mode is Mode.POSITION else 0.0
            for command, on in zip(self.commands, extrapolates, strict=True)
        ]
        lengthened = skipped * np.array(speeds)
        lengths = [command.position if command.mode is Mode.POSITION else np.nan for command in self.commands]
        if self._supervision.lengths(t, lengths + lengthened) is None:
            self.commands = [
                command._replace(position=command.position + more) if more else command
                for command, more in zip(self.commands, lengthened.tolist(), strict=True)
            ]
        else:
            lengthened[:] = 0.0
        self._cycle.model.zero_order_hold.skip(skipped, lengthened)

    def rehearse(self) -> None:
        """Call the kernels once, so that they are compiled."""
        self._judge()
        self._cycle.model.zero_order_hold.skip(0.0, np.zeros(6))

    def _judge(self) -> int:
        """Judge the forces of the set-points, see `judge_force_kernel`."""
        set_points = self._cycle.set_points
        found: int = judge_force_kernel(set_points.force, set_points.feedforward, self._force_bound)
        return found

    def decide(self, t: float, *, clear: bool) -> None:
        """Decide the commands of the cycle at rig time `t` (s); clear: see `passive`."""
        cycle = self._cycle
        cycle.set_points.clear()
        if self._supervision.controlled:
            judged = self._compute(t)
            if judged is not None and self._within_limits(t, judged) and self._command(t):
                return
            cycle.set_points.clear()
        cycle.model.zero_order_hold.forget()
        self.passive(clear=clear)

    def _command(self, t: float) -> bool:
        """Take the commands of the checked set-points from the law; False where it has none."""
        try:
            self.commands = self.law.commands(self._cycle)
        except Exception as error:
            self._act(law_failed(t, self.law.name, error))
            return False
        if self.law.platform:
            self._cycle.note_command(t)
        return True

    def _compute(self, t: float) -> int | None:
        """Compute the set-points and judge their forces, see `_judge`; None where there are none.

        The reference is checked before. If the model's forces exceed the limits, it is braked to rest.
        """
        law, cycle = self.law, self._cycle
        try:
            if not law.platform:
                law.compute(cycle)
                return self._judge()
            self._supervision.foresee(t, self._reference)
            law.compute(cycle)
            judged = self._judge()
            if judged & _FEEDFORWARD_BEYOND:
                self._act(self._too_much(t, cycle.set_points.feedforward))
                self._supervision.come_to_rest(t, self._reference)
                law.compute(cycle)
                judged = self._judge()
        except DynamicsError as error:
            self._act(no_model(t, error))
            return None
        except LawFault as fault:
            self._act(Trip(Cause(fault.finding, t), fault.severity))
            return None
        except Exception as error:
            self._act(law_failed(t, law.name, error))
            return None
        return judged

    def _within_limits(self, t: float, judged: int) -> bool:
        """Limit the forces to the legs' bounds, and stop the rig where they exceed them; False: send nothing.

        judged: what `_judge` found of them.
        """
        force = self._cycle.set_points.force
        if judged & _NOT_FINITE:
            asked = Finding(Code.LAW_NOT_FINITE, details={"law": self.law.name, "text": str(force)})
            self._act(Trip(Cause(asked, t), StopSeverity.QUICK_STOP))
            return False
        if any(self.law.own_loops):
            beyond = self._supervision.lengths(t, self._cycle.set_points.position)
            if beyond is not None:
                self._act(beyond)
                return False
        if judged & _BEYOND:
            self._act(self._too_much(t, force))
            np.clip(force, -self._force_bound, self._force_bound, out=force)
        return True

    def _too_much(self, t: float, force: Array) -> Trip:
        bound = self._force_bound
        leg = int(np.argmax(np.abs(force) - bound))
        found = Finding(Code.COMMANDED_FORCE, leg + 1, float(force[leg]), float(bound[leg]))
        return Trip(Cause(found, t), StopSeverity.CATEGORY_1)


def no_model(t: float, error: DynamicsError) -> Trip:
    """Cause: the model has no solution at rig time `t` (s)."""
    return Trip(Cause(Finding(Code.NO_MODEL, details={"text": str(error)}), t), StopSeverity.QUICK_STOP)


def law_failed(t: float, law: str, error: Exception) -> Trip:
    """Cause: at rig time `t` (s) the law of this name raised what no law should; it may be somebody else's."""
    details: dict[str, Value] = {"law": law, "text": f"{type(error).__name__}: {error}"}
    return Trip(Cause(Finding(Code.LAW_FAILED, details=details), t), StopSeverity.QUICK_STOP)
