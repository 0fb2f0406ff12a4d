"""The engine's cycle: read, check, decide, compute, command, report. It does not wait and knows no process.

`Engine.step` is called once a cycle by whoever keeps the time: the real-time loop, or the lockstep rig on its manual
clock.
"""

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Literal

import numpy as np

from actuators import Command, Status
from kinematics import leg_lengths
from rig.config import RigConfig
from rig.engine.command_arbiter import CommandArbiter
from rig.engine.cycle_data import CycleData, CycleRow
from rig.engine.drive_group import DriveGroup, ExchangeTimes
from rig.engine.fault_reset import Clearing
from rig.engine.homing import Homing, disagreement
from rig.engine.host_load import HostLateness
from rig.engine.laws import ControlLaw, SingleLegLaw, make_law
from rig.engine.leg_testing import end_leg_test
from rig.engine.messages import Reply
from rig.engine.motion_log import MotionLog
from rig.engine.publishing import Publisher
from rig.engine.reference import RAMPS, RateChange, Reference, ReferenceSource
from rig.engine.sink import Sink
from rig.engine.snapshot import Event, Snapshot
from rig.engine.supervision import Supervision
from rig.engine.tare import Tare
from rig.engine.wiring import compare_forces, explain_forces
from rig.errors import RefusedError
from rig.findings import Code, Finding, Value
from rig.runtime import Clock, StopRequest, Tick
from rig.safety import (
    LAW_STATES,
    TORQUE_STATES,
    Cause,
    CellModel,
    Conditions,
    Deadlines,
    ExchangeCheck,
    ExchangeSearch,
    Recheck,
    ReferenceCheck,
    StateMachine,
    no_recheck,
)
from rig.states import FaultCode, MotionKind, State, StopSeverity

_STOP_RAMP = 0.4  # s, in a controlled stop, if there is twice that time for it
_HISTORY = 50
_STANDSTILL = 2e-3  # m/s


class Engine:
    """The cycle, its states and its memory; one thread calls `step`.

    Args:
        config: the rig.
        bank: its drives and cells.
        sink: takes telemetry and events.
        clock: for deadlines within a cycle. stopwatch: for durations, where the clock does not go on by itself.
    """

    def __init__(
        self, config: RigConfig, bank: DriveGroup, sink: Sink, clock: Clock, stopwatch: Clock | None = None
    ) -> None:
        safety, mechanism = config.safety, config.machine
        self.config = config
        self.bank = bank
        self.sink = sink
        self.machine = StateMachine(
            Deadlines(homing=safety.homing_timeout, stop=safety.stop_time, enable=config.enable_time)
        )
        self.frame = CycleData(config, bank.force_feedforward)
        self.law: ControlLaw = make_law(config, self.frame.dynamics)
        self.usual_law = self.law
        self.leg_test: SingleLegLaw | None = None
        """the test of one leg that is under way, or was the last"""
        self.events: tuple[Event, ...] = ()
        """the most recent ones, oldest first"""
        self.tick, self.cycles, self._overruns = Tick(0.0), 0, 0
        self._tare = Tare()
        self.tare_residual = self._tare.residual
        """(6,) N, mean residual at rest with the brakes closed: by how much the cells' zero is off"""
        self.clock = clock
        self._stopwatch = clock if stopwatch is None else stopwatch
        self._exchanges = ExchangeTimes(bank, clock, config.drives.reply_deadline * config.period)
        limits = ReferenceCheck(mechanism, safety)
        rate_change = RateChange(mechanism.geometry.array, limits.acceleration)
        self.reference = Reference(mechanism.geometry.home_pose, rate_change)
        self._supervision = Supervision(config, self.law, bank, self.machine, self.frame, limits, self)
        force_bound = np.minimum(limits.force, bank.force_limit)
        self._homing = Homing(safety, bank.homing_ends_off)
        cells = CellModel(config)
        self._exchange, self._search = ExchangeCheck(config, cells), ExchangeSearch(config, cells)
        self._commander = CommandArbiter(
            self.law, self.machine, self.frame, self.reference, self._homing, force_bound, self._supervision, self
        )
        self.motions = MotionLog(self.machine, self.reference, lambda motion: self.sink.motion(motion))
        self._row = CycleRow(self.frame, self.machine, bank, self.reference)
        self._clearing = Clearing(bank.troubles, self._reset, self.answer)
        self._stop_ramps = (min(_STOP_RAMP, 0.5 * safety.stop_time), 0.8 * safety.stop_time)
        self._lateness = HostLateness(config.period)
        self._answers: list[tuple[Future[Reply], Reply]] = []
        self.publisher = Publisher(self)

    # -- what the outside does ---------------------------------------------------------------------------------------

    def record(self, level: Literal["info", "warning", "error"], finding: Finding) -> None:
        """Report an event at the present rig time."""
        event = Event(self.tick.t, level, finding)
        self.events = (*self.events[1 - _HISTORY :], event)
        self.sink.event(event)

    def stop(self, category: StopRequest, code: Code = Code.OPERATOR_STOP) -> None:
        """An operator's stop: decelerate and hold (2), decelerate and torque off (1), torque off at once (0)."""
        wanted = (StopSeverity.CATEGORY_0, StopSeverity.CATEGORY_1, StopSeverity.CATEGORY_2)[category]
        self.trip(Cause(Finding(code, details={"category": category}), self.tick.t), wanted, latch=False)

    def trip(
        self,
        cause: Cause,
        category: StopSeverity,
        *,
        latch: bool = True,
        unhome: bool = False,
        recheck: Recheck = no_recheck,
    ) -> None:
        """Stop the rig for `cause`; see `StateMachine.trip`, and `Trip` for what `recheck` tells at a reset.

        A fault says first how busy the computer was, but for one that it cannot have to do with.
        """
        before = self.machine.state
        if latch and before is not State.OFF:
            self._clearing.remember(cause, recheck)
        if (latch or cause.code is FaultCode.OVERRUN) and not self.machine.latched and not self._was_there(cause):
            cause = self._lateness.explained(cause)
        changed = self.machine.trip(cause, category, latch=latch)
        if unhome:
            self.machine.homed = False
        if not changed:
            return
        self.motions.stopped(self.machine.cause)
        self.record("error" if latch else "warning", cause.finding)
        if latch and before in LAW_STATES:
            self._look_for_exchange()
        if before is State.SINGLE_LEG and self.leg_test is not None:
            self.leg_test.halt(cause.finding, asked=not latch)
        if self.machine.state is not before:
            self._entered(before)
        if self.machine.state is State.STOPPING and self.machine.stop <= StopSeverity.CATEGORY_1:
            self.reference.decelerate(self._stop_ramps)
        if self.machine.stop >= StopSeverity.QUICK_STOP:
            self._commander.passive()  # no force is sent any more, not even the one computed

    def _was_there(self, cause: Cause) -> bool:
        """Whether it is a drive's own fault that was there before any drive had torque from here."""
        return cause.code in (FaultCode.DRIVE_FAULT, FaultCode.DRIVE_WATCHDOG) and not any(self.bank.asked)

    def pause(self, least: float = 0.0) -> None:
        """Slow the path down to a stand, in `least` s or more."""
        self.reference.decelerate([ramp for ramp in RAMPS if ramp >= least] or [least])

    def follow(self, source: ReferenceSource) -> None:
        """Follow a source of references from this cycle on, as a run; where it fails a check, the platform is stopped.

        Raises:
            RefusedError: the platform is not engaged, so that nothing may move.
        """
        if self.machine.state is not State.ENGAGED:
            details: dict[str, Value] = {"source": source.name, "state": self.machine.state.name}
            raise RefusedError(Finding(Code.SOURCE_NOT_ENGAGED, details=details))
        self.motions.begin(self.tick.t, source.name, MotionKind.RUN, source.path_duration)
        self.reference.take(source)
        self.enter(State.RUNNING)

    def resume(self) -> None:
        """Take the path up again."""
        self.reference.resume(RAMPS)

    @property
    def snapshot(self) -> Snapshot:
        """The engine as it was at the end of the last cycle; for any thread."""
        return self.publisher.latest

    def answer(self, reply: Future[Reply], answer: Reply) -> None:
        """Have `reply` given once the snapshot that shows what has come of the command is published."""
        self._answers.append((reply, answer))

    def publish(self) -> None:
        """Publish the snapshot of the cycle that is done, then give the answers that waited for it."""
        self.publisher.publish()
        answers, self._answers = self._answers, []
        for reply, answer in answers:
            reply.set_result(answer)

    @property
    def commands(self) -> Sequence[Command]:
        """The six commands of the next exchange."""
        return self._commander.commands

    @property
    def clearing(self) -> bool:
        """Whether a reset is under way."""
        return self._clearing.active

    def clear_faults(self, reply: Future[Reply]) -> None:
        """Send the drives the clearing edge; `reply` then tells whether the rig is reset."""
        self._clearing.begin(reply)

    def enter(self, state: State) -> None:
        """Go to `state`, as an operator asked; the guards have passed."""
        before = self.machine.state
        self.machine.enter(state, self.tick.t)
        if state in (State.HOMING, State.SINGLE_LEG):  # a leg that was moved alone stands where it was left
            self.machine.homed = False
        if state is State.HOMING:
            self._homing.begin()
            self._exchange.begin(self.bank.status, self.bank.length)
            self._search.forget()
        self._entered(before)

    def have_command(self, law: ControlLaw) -> None:
        """Let a law give the commands from now on."""
        self.law = self._commander.law = self._supervision.law = law

    def connected(self) -> None:
        """The bank was opened: OFF → IDLE."""
        self.machine.homed = False
        self._supervision.forget()
        self._exchange.connected()
        self._search.forget()
        self._commander.off()
        if self.config.safety.said_off:
            self.record("warning", Finding(Code.CHECKS_OFF, details={"text": self.config.safety.said_off}))
        if self.bank.unwatched is not None:
            self.record("warning", self.bank.unwatched)
        if self.config.gains_unused:
            self.record("info", Finding(Code.GAINS_UNUSED, details={"text": self.config.gains_unused}))
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
        frame.model(0.0, known=True)
        frame.foresee(self.reference)
        self.law.compute(frame)
        self.law.commands(frame)
        frame.note_command(0.0)
        self._supervision.rehearse()
        self._exchange.rehearse()
        self._search.rehearse()
        self.reference.decelerate(RAMPS)
        self.publisher.rehearse()
        frame.forget()

    # -- the cycle ---------------------------------------------------------------------------------------------------

    def step(self, tick: Tick) -> None:
        """Do one cycle at `tick`."""
        elapsed = self.frame.elapsed = tick.t - self.tick.t
        between_samples = elapsed + tick.lateness - self.tick.lateness
        missed = tick.overruns - self._overruns
        self.tick, self._overruns = tick, tick.overruns
        self._lateness.note(tick, missed)
        machine, frame, supervision, commander, t = self.machine, self.frame, self._supervision, self._commander, tick.t
        if machine.state is State.OFF:
            self._exchanges.forget()
            self.publish()
            return
        supervision.timing(t, missed)  # first: a gap explains what the feedback is going to show
        severity = machine.stop
        begun = self._stopwatch.now()
        self._exchanges.make(commander.commands, between_samples)
        collected = self._stopwatch.now()
        supervision.stood_still(t, self._exchanges.held)
        self.reference.advance(elapsed)
        frame.measure(self.bank, homed=machine.homed)
        frame.refer(self.reference if machine.state in LAW_STATES and self.law.platform else None)
        self.law.refer(frame)
        supervision.reference(t, self.reference)  # before anything follows from it
        supervision.guarded(t, lambda: frame.model(t, known=machine.homed))
        supervision.feedback(t, self._exchanges.between)
        supervision.measured(t, self._exchanges.between)
        supervision.recording(t, self.sink.fault, self.sink.room)
        self._advance_state()
        commander.decide(t, clear=self._clearing.edge)
        if machine.stop > severity and machine.stop >= StopSeverity.QUICK_STOP:
            # a stop reaches every leg in the cycle that finds its cause
            self._exchanges.repeat(commander.commands)
            supervision.references()
        self.motions.follow(t)
        spent = self._stopwatch.now() - collected
        self._row.complete(tick, self.cycles, self.motions.id, commander.commands, collected - begun, spent)
        self.sink.push(frame.row)
        self.cycles += 1
        self.publish()

    def _advance_state(self) -> None:
        machine, bank = self.machine, self.bank
        if machine.state is State.PARKED and machine.homed:
            self._tare.add(self.frame.fields["force_residual"])
        still = all([-_STANDSTILL <= speed <= _STANDSTILL for speed in bank.velocity.tolist()])  # NaN is not
        if still and machine.state in (State.IDLE, State.PARKED):
            self._exchange.rest(bank.fresh, bank.force, cells_fresh=bank.cells_fresh)
        if machine.state is State.PARKED and self._exchange.pending:
            compare_forces(self, self._exchange)
        if machine.state not in LAW_STATES:
            if self._search.active:  # which may take longer than a cycle has
                explain_forces(self, self._search)
        elif self.law.platform and bank.cells_fresh:
            self._search.note(self.tick.t, bank.length, bank.force)
        conditions = Conditions(
            t=self.tick.t,
            torque=bank.legs(Status.ENABLED),
            standstill=still,
            moving=self.reference.moving,
            missing=self._homing.missing(bank.status) if machine.state is State.HOMING else (),
        )
        before = machine.state
        if before is State.HOMING:
            self._continue_homing(still)
        elif before is State.SINGLE_LEG and self.leg_test is not None and self.leg_test.over:
            machine.enter(State.IDLE, self.tick.t)
        overdue = machine.update(conditions)
        if machine.state is not before and before is not State.HOMING:
            self._entered(before)
        if overdue is not None:
            late = machine.stop >= StopSeverity.CATEGORY_1
            self.trip(overdue, StopSeverity.CATEGORY_0 if late else StopSeverity.CATEGORY_1)
        self._clearing.advance()

    def _entered(self, before: State) -> None:
        states: dict[str, Value] = {"before": before.name, "after": self.machine.state.name}
        self.record("info", Finding(Code.STATE_CHANGED, details=states))
        if not self.law.platform and self.machine.state not in TORQUE_STATES:
            end_leg_test(self)
        if self.machine.state is State.PARKED:
            self._tare.begin()
            if before in LAW_STATES and self.publisher.surroundings.unproven is not None:
                self._look_for_exchange()
        elif self.machine.state is State.IDLE:
            self._exchange.forget()

    def _look_for_exchange(self) -> None:
        if not self._search.active and self._exchange.at_home is not None:
            self._search.begin(self._exchange.at_home)

    def _continue_homing(self, still: bool) -> None:
        bank, homing = self.bank, self._homing
        self._exchange.follow(bank.fresh, bank.status, bank.length)
        trip = homing.follow(self.tick.t, bank.status, bank.fresh, bank.length)
        if trip is not None:
            self.trip(trip.cause, trip.category)
        elif homing.done(bank.status) and still:
            self._finish_homing()

    def _finish_homing(self) -> None:
        """The six references must agree with the forward kinematics at home."""
        found = self.frame.home_error(self.bank)
        cause = disagreement(found, self.config.safety.homing_tolerance, self.tick.t)
        if cause is not None:
            self.trip(cause, StopSeverity.QUICK_STOP)
            return
        self._supervision.forget()
        self.machine.homed = True
        self._exchange.homed(self.bank.length)
        self.enter(State.PARKED)

    def _reset(self) -> None:
        """Nothing is wrong any more: FAULT → IDLE."""
        self._supervision.forget()
        self.frame.forget()
        self.machine.reset(self.tick.t)
        self._entered(State.FAULT)
