"""The engine's cycle: read, check, decide, compute, command, report. It does not wait and knows no process.

`Engine.step` is called once a cycle by whoever keeps the time: the real-time loop, or the lockstep rig on its manual
clock.
"""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Literal

import numpy as np
import numpy.typing as npt

from actuators import COMMAND_CLEAR, COMMAND_HOME, COMMAND_OFF, COMMAND_STOP, Command, Status
from dynamics import DynamicsError
from kinematics import leg_lengths
from rig.clock import Clock
from rig.config import RigConfig
from rig.engine.bank import DriveBank, force_commands
from rig.engine.control_block import StopRequest
from rig.engine.feedback import FeedbackMonitor, Finding
from rig.engine.frame import Frame
from rig.engine.homing import Homing, disagreement
from rig.engine.limits import ReferenceCheck
from rig.engine.machine import FORCE_STATES, Cause, Conditions, Deadlines, StateMachine
from rig.engine.messages import Event, Reply
from rig.engine.pace import Pace
from rig.engine.ports import Sink, Tick
from rig.engine.reference import Reference
from rig.states import FaultCode, State, StopCategory
from rig.telemetry import CycleFlag, RowWriter

_RAMPS = (0.4, 0.8, 1.6, 3.2)  # s, of the path rate, to pause and to go on; the first that the legs bear
_STOP_RAMP = 0.4  # s, in a controlled stop, if there is twice that time for it
_TARE_WEIGHT = 0.02  # of the newest sample in the mean residual at rest
_CLEAR_CYCLES = 4  # of the clearing edge, and of torque off before and after it
_HISTORY = 200
_STANDSTILL = 2e-3  # m/s
_FRESH, _HOMED, _POSE, _PAUSED, _LATCHED = (flag.value for flag in CycleFlag)


class Engine:
    """The cycle, its states and its memory; one thread calls `step`.

    Args:
        config: the rig.
        bank: its drives and cells.
        sink: takes telemetry and events.
        clock: for deadlines and durations within a cycle.
    """

    def __init__(self, config: RigConfig, bank: DriveBank, sink: Sink, clock: Clock) -> None:
        safety, mechanism = config.safety, config.machine
        self.config = config
        self.bank = bank
        self.sink = sink
        self.machine = StateMachine(Deadlines(homing=safety.homing_timeout, stop=safety.stop_time))
        self.reference = Reference(mechanism.geometry.home_pose)
        self.frame = Frame(config)
        self._row = RowWriter(self.frame.row)
        self.events: deque[Event] = deque(maxlen=_HISTORY)
        self.tick = Tick(0.0)
        self.cycles = 0
        self.tare_residual = np.zeros(6)
        """(6,) N, mean residual at rest with the brakes closed: by how much the cells' zero is off"""
        self._clock = clock
        self._reply_time = config.drives.reply_deadline * config.period
        self._monitor = FeedbackMonitor(mechanism, safety, config.load_cells)
        self._limits = ReferenceCheck(mechanism, safety)
        self._force_bound = np.minimum(self._limits.force, bank.force_limit)
        self._pace = Pace(mechanism.geometry.array, self._limits.acceleration)
        self._stop_ramps = (min(_STOP_RAMP, 0.5 * safety.stop_time), 0.8 * safety.stop_time)
        self._homing = Homing()
        self._tare_samples = 0
        self._commands: list[Command] = [COMMAND_OFF] * 6
        self._clearing = 0
        self._cleared: Future[Reply] | None = None
        self._overruns = self._overruns_in_a_row = 0
        self._unrecorded = False

    # -- what the outside does ---------------------------------------------------------------------------------------

    def record(self, level: Literal["info", "warning", "error"], text: str, code: FaultCode = FaultCode.NONE) -> None:
        """Report an event at the present rig time."""
        event = Event(self.tick.t, level, code, text)
        self.events.append(event)
        self.sink.event(event)

    def stop(self, category: StopRequest, text: str) -> None:
        """An operator's stop: decelerate and hold (2), decelerate and torque off (1), torque off at once (0)."""
        wanted = (StopCategory.CATEGORY_0, StopCategory.CATEGORY_1, StopCategory.CATEGORY_2)[category]
        self.trip(Cause(FaultCode.OPERATOR_STOP, text, self.tick.t), wanted, latch=False)

    def trip(self, cause: Cause, category: StopCategory, *, latch: bool = True, unhome: bool = False) -> None:
        """Stop the rig for `cause`; see `StateMachine.trip`."""
        before = self.machine.state
        changed = self.machine.trip(cause, category, latch=latch)
        if unhome:
            self.machine.homed = False
        if not changed:
            return
        self.record("error" if latch else "warning", cause.text, cause.code)
        if self.machine.state is not before:
            self._entered(before)
        if self.machine.state is State.STOPPING and self.machine.stop <= StopCategory.CATEGORY_1:
            self._pace.change(self.reference, 0.0, self._stop_ramps)
        if self.machine.stop >= StopCategory.QUICK_STOP:
            self._commands = [self._passive_command()] * 6  # no force is sent any more, not even the one computed

    def pause(self) -> None:
        """Slow the path down to a stand."""
        self._pace.change(self.reference, 0.0, _RAMPS)

    def resume(self) -> None:
        """Take the path up again."""
        self._pace.change(self.reference, 1.0, _RAMPS)

    @property
    def clearing(self) -> bool:
        """Whether a reset is under way."""
        return self._clearing > 0

    def clear_faults(self, reply: Future[Reply]) -> None:
        """Send the drives the clearing edge; `reply` then tells whether the rig is reset."""
        self._clearing = 3 * _CLEAR_CYCLES
        self._cleared = reply

    def enter(self, state: State) -> None:
        """Go to `state`, as an operator asked; the guards have passed."""
        before = self.machine.state
        self.machine.enter(state, self.tick.t)
        if state is State.HOMING:
            self.machine.homed = False
            self._homing.begin()
        self._entered(before)

    def connected(self) -> None:
        """The bank was opened: OFF → IDLE."""
        self.machine.homed = False
        self._monitor.forget()
        self._commands = [COMMAND_OFF] * 6
        if self.config.safety.off:
            self.record("warning", self.config.safety.said_off)
        self.enter(State.IDLE)

    def settled_for(self) -> float:
        """How long the state has lasted, s."""
        return self.machine.dwell(self.tick.t)

    def rehearse(self) -> None:
        """Do a cycle's computations at home with made-up feedback, so that kernels are compiled; nothing is sent."""
        bank, frame = self.bank, self.frame
        home = self.config.machine.geometry.home_pose
        bank.length[:] = leg_lengths(self.config.machine.geometry, home)
        bank.velocity[:] = bank.force[:] = 0.0
        bank.fresh[:] = 1.0
        self.reference.hold(home)
        frame.measure(bank, homed=True)
        frame.refer(self.reference)
        frame.model(known=True)
        frame.command(self.reference)
        self._limits.judge(0.0, frame.legs, frame.condition)
        self._monitor.check_motion(
            0.0, 1.0, bank.fresh, bank.length, bank.velocity, bank.length, bank.velocity, homed=True, controlled=True
        )
        self._monitor.check_forces(0.0, bank.force, frame.fields["force_residual"], 0, controlled=False)
        self._pace.change(self.reference, 0.0, _RAMPS)
        self._monitor.forget()
        frame.forget()

    # -- the cycle ---------------------------------------------------------------------------------------------------

    def step(self, tick: Tick) -> None:
        """Do one cycle at `tick`."""
        elapsed = tick.t - self.tick.t
        between_samples = elapsed + tick.lateness - self.tick.lateness
        missed = tick.overruns - self._overruns
        self.tick, self._overruns = tick, tick.overruns
        machine, frame = self.machine, self.frame
        if machine.state is State.OFF:
            return
        self._check_timing(missed)  # first: a gap explains what the feedback is going to show
        severity = machine.stop
        begun = self._clock.now()
        self.bank.exchange(self._commands, begun + self._reply_time)
        collected = self._clock.now()
        self.reference.advance(elapsed)
        frame.measure(self.bank, homed=machine.homed)
        frame.refer(self.reference if machine.state in FORCE_STATES else None)
        self._guarded(lambda: frame.model(known=machine.homed))
        self._check_feedback(between_samples)
        self._advance_state()
        self._command()
        if machine.stop > severity and machine.stop >= StopCategory.QUICK_STOP:
            # a stop reaches every leg in the cycle that finds its cause
            self.bank.exchange(self._commands, self._clock.now() + self._reply_time)
        self._report(collected - begun, self._clock.now() - collected)
        self.cycles += 1

    def _guarded(self, compute: Callable[[], object]) -> bool:
        """Do a computation of the model; False where it has no answer, and the rig is stopped for it."""
        try:
            compute()
        except DynamicsError as error:
            self.trip(Cause(FaultCode.CONDITIONING, str(error), self.tick.t), StopCategory.QUICK_STOP)
            return False
        return True

    @property
    def _controlled(self) -> bool:
        """Whether the host closes the loop: what the feedback says of the control means something."""
        return self.machine.state in FORCE_STATES and self.machine.stop < StopCategory.QUICK_STOP

    def _check_feedback(self, elapsed: float) -> None:
        bank, machine, monitor, frame, t = self.bank, self.machine, self._monitor, self.frame, self.tick.t
        found = monitor.check_drives(
            t, bank.age, bank.status, bank.error, bank.length, bank.error_text, homed=machine.homed
        )
        self._trip(found)
        if machine.homed and not bank.all(Status.HOMED):
            machine.homed = False  # even where something worse was found first
        self._trip(
            monitor.check_motion(
                t,
                elapsed,
                bank.fresh,
                bank.length,
                bank.velocity,
                frame.fields["length_reference"],
                frame.fields["velocity_reference"],
                homed=machine.homed,
                controlled=self._controlled,
            )
        )
        if machine.homed and not frame.pose_valid and bank.fresh.all():
            text = "the six measured lengths belong to no pose near the one before"
            self.trip(Cause(FaultCode.FEEDBACK_INVALID, text, t), StopCategory.QUICK_STOP)
        if machine.state is not State.FAULT:
            residual = frame.fields["force_residual"]
            self._trip(monitor.check_forces(t, bank.force, residual, bank.cells_age, controlled=self._controlled))
        if self._controlled:
            cause = self._limits.judge(t, frame.legs, frame.condition)
            if cause is not None:
                self.trip(cause, StopCategory.CATEGORY_2)
        fault = self.sink.fault
        if fault and machine.state is State.RUNNING:
            self.trip(Cause(FaultCode.RECORDING, fault, t), StopCategory.CATEGORY_2, latch=False)
        elif fault and not self._unrecorded:
            self.record("warning", f"nothing is being recorded: {fault}", FaultCode.RECORDING)
        self._unrecorded = bool(fault)

    def _trip(self, finding: Finding | None) -> None:
        if finding is not None:
            self.trip(finding.cause, finding.category, unhome=finding.unhome)

    def _check_timing(self, missed: int) -> None:
        bound, watchdog = self.config.safety.overruns_in_a_row, self.config.drives.watchdog
        self._overruns_in_a_row = self._overruns_in_a_row + 1 if missed else 0
        if missed * self.config.period > watchdog:
            text = f"the host stood still for {missed * self.config.period:.3f} s (the drives bear {watchdog:g} s)"
            self.trip(Cause(FaultCode.HOST_SUSPENDED, text, self.tick.t), StopCategory.QUICK_STOP)
        elif self._overruns_in_a_row >= bound:
            text = f"{self._overruns_in_a_row} overrun cycles in a row (bound {bound})"
            self.trip(Cause(FaultCode.OVERRUN, text, self.tick.t), StopCategory.CATEGORY_1, latch=False)

    def _advance_state(self) -> None:
        machine, bank = self.machine, self.bank
        if machine.state is State.PARKED and machine.homed:
            self._judge_tare(self.frame.fields["force_residual"])
        still = bool((np.abs(bank.velocity) <= _STANDSTILL).all())  # False where a speed is not a number
        conditions = Conditions(
            t=self.tick.t,
            enabled=bank.all(Status.ENABLED),
            disabled=not bank.any(Status.ENABLED),
            standstill=still,
            moving=self.reference.moving,
        )
        before = machine.state
        if before is State.HOMING and self._homing.done(bank.status) and still:
            self._finish_homing()
        overdue = machine.update(conditions)
        if machine.state is not before and before is not State.HOMING:
            self._entered(before)
        if overdue is not None:
            late = machine.stop >= StopCategory.CATEGORY_1
            self.trip(overdue, StopCategory.CATEGORY_0 if late else StopCategory.CATEGORY_1)
        if self._clearing:
            self._continue_clearing()

    def _entered(self, before: State) -> None:
        self.record("info", f"{before.name} → {self.machine.state.name}")
        if self.machine.state is State.PARKED:
            self._tare_samples = 0
            self.tare_residual[:] = np.nan

    def _judge_tare(self, residual: npt.NDArray[np.float64]) -> None:
        if np.isfinite(residual).all():
            self._tare_samples += 1
            mean = residual if self._tare_samples == 1 else self.tare_residual
            self.tare_residual[:] = mean + max(_TARE_WEIGHT, 1.0 / self._tare_samples) * (residual - mean)

    def _finish_homing(self) -> None:
        """The six references must agree with the forward kinematics at home."""
        found = self.frame.home_error(self.bank)
        cause = disagreement(found, self.config.safety.homing_tolerance, self.tick.t)
        if cause is not None:
            self.trip(cause, StopCategory.QUICK_STOP)
            return
        self._monitor.forget()
        self.machine.homed = True
        self.enter(State.PARKED)

    def _continue_clearing(self) -> None:
        self._clearing -= 1
        if self._clearing:
            return
        remaining = self.bank.troubles()
        if not remaining:
            self._monitor.forget()
            self.frame.forget()
            self.machine.reset(self.tick.t)
            self._entered(State.FAULT)
        if self._cleared is not None:
            reason = f"reset: the cause is still there: {'; '.join(remaining)}" if remaining else ""
            self._cleared.set_result(Reply(not remaining, reason))
            self._cleared = None

    def _command(self) -> None:
        """Decide what the drives are told with the next exchange."""
        frame = self.frame
        frame.no_command()
        if self._controlled:
            force = frame.fields["force_command"]
            if self._guarded(lambda: frame.command(self.reference)) and self._within_limits(force):
                self._commands = force_commands(force)
                return
            frame.no_command()
        self._commands = [self._passive_command()] * 6

    def _within_limits(self, force: npt.NDArray[np.float64]) -> bool:
        """Hold forces to the legs' limits and stop the rig where they ask for more; False where they mean nothing."""
        if not np.isfinite(force).all():
            text = f"the control law asks for {force} N"
            self.trip(Cause(FaultCode.INTERNAL_ERROR, text, self.tick.t), StopCategory.QUICK_STOP)
            return False
        bound = self._force_bound
        beyond = np.abs(force) > bound
        if beyond.any():
            leg = int(np.argmax(np.abs(force) - bound))
            text = f"leg {leg + 1}: needs {force[leg]:.0f} N (limit {bound[leg]:g} N)"
            self.trip(Cause(FaultCode.FORCE_LIMIT, text, self.tick.t, leg + 1), StopCategory.CATEGORY_1)
            force[beyond] = np.copysign(bound, force)[beyond]
        return True

    def _passive_command(self) -> Command:
        """What every drive is told while the host closes no loop."""
        machine = self.machine
        if machine.state is State.STOPPING and machine.stop is StopCategory.QUICK_STOP:
            return COMMAND_STOP
        if machine.state is State.HOMING:
            return COMMAND_HOME
        if _CLEAR_CYCLES < self._clearing <= 2 * _CLEAR_CYCLES:
            return COMMAND_CLEAR
        return COMMAND_OFF

    def _report(self, exchange_time: float, compute_time: float) -> None:
        tick, machine, bank, reference, frame = self.tick, self.machine, self.bank, self.reference, self.frame
        cause = machine.cause
        flags = (
            (_FRESH if bank.fresh.all() else 0)
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
            self.cycles + tick.overruns,
            tick.overruns,
            flags,
            *bank.error,
            *bank.age,
            *bank.status,
            0 if cause is None else cause.code.value,
            machine.state.value,
            machine.stop.value,
            0 if cause is None else cause.leg,
            self._commands[0].mode.value,
        )
        self.sink.push(self.frame.row)
