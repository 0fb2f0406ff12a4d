"""The engine's cycle: read, check, decide, compute, command, report. It never waits and is independent of processes.

The real-time loop, or the lockstep rig on its manual clock, calls `Engine.step` once a cycle.
"""

import math
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, Literal

import numpy as np

from actuators import Command, Status
from dynamics import DynamicsError
from kinematics import Array, kernel, leg_lengths, rotate, rotation_matrix
from rig.config import RigConfig
from rig.engine.command_arbiter import CommandArbiter, law_failed, no_model
from rig.engine.cycle_data import CycleData, TelemetryRow
from rig.engine.drive_group import DriveGroup, ExchangeTimes
from rig.engine.fault_reset import FaultReset
from rig.engine.homing import Homing, disagreement
from rig.engine.host_load import HostLateness
from rig.engine.laws import ControlLaw, SingleLegLaw, make_law
from rig.engine.leg_move import LegMove
from rig.engine.messages import Reply, refusal
from rig.engine.motion_log import MotionLog
from rig.engine.reference import RAMPS, RateChange, Reference, ReferenceSource
from rig.engine.sink import Sink
from rig.engine.snapshot import (
    CellsReport,
    DriveReport,
    Event,
    IoReport,
    RuntimeInfo,
    Snapshot,
    Unproven,
    make_snapshot,
)
from rig.engine.sources import GuardedSource, guarded
from rig.engine.stream import StreamSource
from rig.engine.supervision import Supervision
from rig.engine.tare import Tare
from rig.engine.wiring import RecordStrikes, proven_by_construction
from rig.errors import RefusedError
from rig.findings import Code, Finding, Value
from rig.runtime import Clock, StopRequest, Tick
from rig.safety import (
    LAW_STATES,
    LONG_PERIOD,
    TORQUE_STATES,
    Cause,
    CellModel,
    Conditions,
    Deadlines,
    ExchangeCheck,
    ExchangeSearch,
    Report,
    StateMachine,
    Trip,
    exchanges_found,
    no_force,
)
from rig.states import FaultCode, MotionKind, State, StopSeverity
from rig.streaming import SampleRing

_STOP_RAMP = 0.4  # s, in a controlled stop, if there is twice that time for it
_ON_THE_WAY = 3  # long cycles, from the request of a stop to the first sample that shows it
_HISTORY = 50
_NONE = (0.0,) * 6
_FRESH = 0.02  # s, largest age of a published snapshot
_REPORT_PERIOD = 0.5  # s in which all drives and devices of load cells are reported on, one after the other
# Looked up once: a member that is looked up in its class takes 50 ns.
_OFF, _IDLE, _HOMING, _PARKED, _SINGLE_LEG = State.OFF, State.IDLE, State.HOMING, State.PARKED, State.SINGLE_LEG
_QUICK_STOP = StopSeverity.QUICK_STOP


@kernel
def _farthest_joint_kernel(geometry: Array, pose: Array, joints: Array) -> float:
    """Largest distance, m, of a platform joint at a pose (7,) from its place among `joints` (6, 3), base frame."""
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = rotation_matrix(pose[3], pose[4], pose[5], pose[6])
    farthest = 0.0
    for i in range(6):
        x, y, z = rotate(
            r00, r01, r02, r10, r11, r12, r20, r21, r22, geometry[i, 6], geometry[i, 7], geometry[i, 8]
        )  # fmt: skip
        x, y, z = x + pose[0] - joints[i, 0], y + pose[1] - joints[i, 1], z + pose[2] - joints[i, 2]
        farthest = max(farthest, math.sqrt(x * x + y * y + z * z))
    return farthest


class Engine:
    """The cycle, its states and its memory; one thread calls `step`.

    Args:
        config: the rig.
        drives: its drives and cells.
        sink: receives telemetry and events.
        clock: for deadlines within a cycle. stopwatch: for durations, if the clock does not run by itself.

    Other threads read `published` alone. The owner of the loop fills in `runtime_info`.
    """

    def __init__(
        self, config: RigConfig, drives: DriveGroup, sink: Sink, clock: Clock, stopwatch: Clock | None = None
    ) -> None:
        safety, mechanism = config.safety, config.machine
        self.config = config
        self.drives = drives
        self.sink = sink
        self.machine = StateMachine(
            Deadlines(
                homing=safety.homing_timeout,
                stop=safety.stop_time + (_ON_THE_WAY * config.period if config.period > LONG_PERIOD else 0.0),
                enable=config.enable_time,
                torque_off=config.torque_off_time,
                brake=0.0 if config.io is None else config.io.closing_time,
            )
        )
        self.cycle_data = CycleData(config, drives.force_feedforward, drives.velocity_feedforward)
        self.law: ControlLaw = make_law(config, self.cycle_data.model.dynamics)
        self._usual_law = self.law
        self.leg_test: SingleLegLaw | None = None
        """the present or last test of one leg"""
        self.events: tuple[Event, ...] = ()
        """the most recent ones, oldest first"""
        self.tick, self.cycles, self._overruns = Tick(0.0), 0, 0
        self._tare = Tare()
        self.tare_residual = self._tare.residual
        """(6,) N, mean residual at rest with the brakes closed: error of the cells' zero"""
        self.clock = clock
        self._stopwatch = clock if stopwatch is None else stopwatch
        self._exchanges = ExchangeTimes(drives, clock, config.drives.reply_deadline * config.period)
        limits = self.cycle_data.reference.limits
        rate_change = RateChange(mechanism.geometry.array, limits.acceleration)
        self.reference = Reference(mechanism.geometry.home_pose, rate_change, config.period)
        self._supervision = Supervision(config, self.law, drives, self.machine, self.cycle_data, self._act)
        force_bound = np.minimum(limits.force, drives.force_limit)
        self._homing = Homing(safety, drives.homing_ends_off)
        cells = CellModel(config)
        self._exchange = ExchangeCheck(config, cells)
        self._search = ExchangeSearch(config, cells, max(drives.resolution))
        self._proven_by_construction = proven_by_construction(config)
        self.strikes = RecordStrikes(config, lambda finding: self.record("warning", finding))
        """takes tests of legs that forces name off the record"""
        self._commander = CommandArbiter(
            self.law, self.machine, self.cycle_data, self.reference, self._homing, force_bound, self._supervision,
            self._act,
        )  # fmt: skip
        self.motions = MotionLog(self.machine, self.reference, lambda motion: self.sink.motion(motion))
        self._row = TelemetryRow(self.cycle_data, self.machine, drives, self.reference)
        self._fault_reset = FaultReset()
        self._stop_ramps = (min(_STOP_RAMP, 0.5 * safety.stop_time), 0.8 * safety.stop_time)
        self._lateness = HostLateness(config.period)
        self._answers: list[tuple[Future[Reply], Reply]] = []
        self.runtime_info = RuntimeInfo()
        self._geometry = mechanism.geometry.array
        self._home_joints = mechanism.geometry.platform_joints(mechanism.geometry.home_pose)
        self._virtual = config.virtual is not None
        self._tare_bound, self._cell_range = safety.bound("tare_shift"), config.load_cells.range
        self._powered_within = max(config.drives.watchdog, 2.0 * config.exchange_period)
        self._drive_reports: tuple[DriveReport, ...] = ()
        self._cells_reports: tuple[CellsReport, ...] = ()
        self._reported = -math.inf
        """s, rig time of the latest"""
        self._next_report = 0
        """leg (index) of the next one"""
        self._stopped_for: Cause | None = None
        """the first cause of the last stop, while its motion is paused"""
        self._in_cycle = self._published = False
        self._happened: object = None
        """states, causes, events and motions in the last published snapshot"""
        self.publish()

    # -- what the outside does ---------------------------------------------------------------------------------------

    def record(self, level: Literal["info", "warning", "error"], finding: Finding) -> None:
        """Report an event at the present rig time."""
        event = Event(self.tick.t, level, finding)
        self.events = (*self.events[1 - _HISTORY :], event)
        self.sink.event(event)

    def stop(self, category: StopRequest, code: Code = Code.OPERATOR_STOP) -> None:
        """An operator's stop: decelerate and hold (2), decelerate and torque off (1), torque off at once (0)."""
        wanted = (StopSeverity.CATEGORY_0, StopSeverity.CATEGORY_1, StopSeverity.CATEGORY_2)[category]
        self.trip(Trip(Cause(Finding(code, details={"category": category}), self.tick.t), wanted, latch=False))

    def trip(self, trip: Trip) -> None:
        """Stop the rig, see `StateMachine.trip`.

        The text of a fault begins with the computer's lateness where that may be the cause.
        """
        before, cause, latch = self.machine.state, trip.cause, trip.latch
        if latch and before is not State.OFF:
            self._fault_reset.remember(cause, trip.recheck)
        if (latch or cause.code is FaultCode.OVERRUN) and not self.machine.latched and not self._was_there(cause):
            cause = self._lateness.explained(cause)
        changed = self.machine.trip(cause, trip.category, latch=latch)
        if trip.unhome:
            self.machine.homed = False
        if not changed:
            return
        self._stopped_for = self.machine.cause  # which the machine forgets within this cycle if the platform rests
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
            self._switch_outputs()

    def _switch_outputs(self) -> None:
        """Let the outputs follow the state, with the next exchange."""
        if self.drives.io is not None:
            self.drives.io.follow(self.tick.t, self.machine, self.drives.asked, self.drives.status)

    def _was_there(self, cause: Cause) -> bool:
        """Whether the cause is a drive's fault from before any drive was commanded torque."""
        return cause.code in (FaultCode.DRIVE_FAULT, FaultCode.DRIVE_WATCHDOG) and not any(self.drives.asked)

    def pause(self, least: float = 0.0) -> None:
        """Decelerate along the path to rest, in `least` s or more."""
        self.reference.decelerate([ramp for ramp in RAMPS if ramp >= least] or [least])

    def guarded(self, source: ReferenceSource, name: str = "") -> GuardedSource:
        """A source of somebody else's, guarded, for `follow`; may be made in any thread. See `sources.guarded`."""
        return guarded(source, self._stopwatch.now, self.config.period, np.array(self.published.reference), name)

    def follow(self, source: ReferenceSource) -> None:
        """Follow a source of references from this cycle on, as a run; a failed check stops the platform.

        It must be of this program, or `guarded`.

        Raises:
            RefusedError: the platform is not engaged.
        """
        if self.machine.state is not State.ENGAGED:
            details: dict[str, Value] = {"source": source.name, "state": self.machine.state.name}
            raise RefusedError(Finding(Code.SOURCE_NOT_ENGAGED, details=details))
        self.motions.begin(self.tick.t, source.name, MotionKind.RUN, source.path_duration)
        self.reference.take(source)
        self.enter(State.RUNNING)

    def stream(self, samples: SampleRing, name: str, frame: str | None = None) -> StreamSource:
        """A source that follows a stream of samples, for `follow`; may be made in any thread.

        frame: of the poses; None: that of the configuration.

        Raises:
            RefusedError: the stream's delay is shorter than the cycle's look ahead.
        """

        def act(found: Trip | Report) -> None:
            if self.machine.state in LAW_STATES:  # elsewhere nothing is followed any more
                self._act(found)

        config = self.config
        if frame is not None:
            config = config.model_copy(update={"stream": config.stream.model_copy(update={"frame": frame})})
        return StreamSource(config, samples, name, self._stopwatch, act, lambda: self.tick.t, self.cycle_data.row)

    def resume(self) -> None:
        """Continue the path."""
        self.reference.resume(RAMPS)

    def answer(self, reply: Future[Reply], answer: Reply) -> None:
        """Give `reply` after publishing the snapshot that shows the command's effect."""
        self._answers.append((reply, answer))

    @property
    def snapshot(self) -> Snapshot:
        """The present state, during a cycle that of an earlier one; only for the thread that calls `step`."""
        if not (self._published or self._in_cycle):
            self._snapshot, self._published = self.take_snapshot(), True
        return self._snapshot

    @property
    def published(self) -> Snapshot:
        """The state at the end of a cycle, at most `_FRESH` s old, for any thread at any time.

        A change of state, cause, homing or motion, a stop and an event are in it at once.
        """
        return self._snapshot

    def publish(self) -> None:
        """Publish a snapshot of the finished cycle, then give the pending answers."""
        self._snapshot, self._published = self.take_snapshot(), True
        answers, self._answers = self._answers, []
        for reply, answer in answers:
            reply.set_result(answer)

    def _end_cycle(self) -> None:
        """Publish a snapshot if an answer is pending, something has happened, or the last one is old."""
        self._in_cycle = self._published = False
        machine, motions, paused = self.machine, self.motions, self.reference.paused
        if machine.cause is not None:
            self._stopped_for = machine.cause
        elif not paused:
            self._stopped_for = None
        happened = (
            machine.state, machine.stop, machine.cause, machine.latched, machine.homed, machine.stops,
            paused, self.clearing, self.events, motions.name, motions.latest,
        )  # fmt: skip
        if self._answers or happened != self._happened or self.tick.t >= self._snapshot.t + _FRESH:
            self._happened = happened
            self.publish()

    @property
    def commands(self) -> Sequence[Command]:
        """The six commands of the next exchange."""
        return self._commander.commands

    @property
    def clearing(self) -> bool:
        """Whether a reset is in progress."""
        return self._fault_reset.active

    def clear_faults(self, reply: Future[Reply]) -> None:
        """Send the drives the clearing edge; `reply` receives whether the rig is reset."""
        self._fault_reset.begin(reply)

    def enter(self, state: State) -> None:
        """Enter `state` for an operator; the guards have passed."""
        before = self.machine.state
        self.machine.enter(state, self.tick.t)
        if state in (State.HOMING, State.SINGLE_LEG):  # a leg that was moved alone stands where it was left
            self.machine.homed = False
        if state is State.HOMING:
            self._homing.begin()
            self._exchange.begin(self.drives.status, self.drives.length)
            self._search.forget()
        self._entered(before)

    def begin_leg_test(self, move: LegMove) -> None:
        """Move one leg alone and watch it: IDLE → SINGLE_LEG → IDLE; `leg_test` has its progress."""
        self.leg_test = SingleLegLaw(self.config, move, self.drives)
        self._give_command_to(self.leg_test)
        self.enter(State.SINGLE_LEG)

    def _end_leg_test(self) -> None:
        """Record the result of the test of a leg, and return to the usual law."""
        assert self.leg_test is not None
        result = self.leg_test.finish()
        self.record("info" if result.passed or result.stopped else "warning", result.finding)
        self._give_command_to(self._usual_law)

    def _give_command_to(self, law: ControlLaw) -> None:
        self.law = self._commander.law = self._supervision.law = law

    def connected(self) -> None:
        """The drives were connected: OFF → IDLE."""
        self.machine.homed = False
        self._supervision.forget()
        self._exchange.connected()
        self._search.forget()
        self._commander.off()
        if self.config.safety.disabled_text:
            self.record("warning", Finding(Code.CHECKS_OFF, details={"text": self.config.safety.disabled_text}))
        if self.drives.unwatched is not None:
            self.record("warning", self.drives.unwatched)
        if self.drives.io is not None and self.drives.io.unwatched is not None:
            self.record("warning", self.drives.io.unwatched)
        if self.config.gains_unused:
            self.record("info", Finding(Code.GAINS_UNUSED, details={"text": self.config.gains_unused}))
        self.enter(State.IDLE)

    def settled_for(self) -> float:
        """Duration of the present state, s."""
        return self.machine.dwell(self.tick.t)

    def rehearse(self) -> None:
        """Do a cycle's computations at home with synthetic feedback to compile the kernels; nothing is sent."""
        drives, cycle = self.drives, self.cycle_data
        home = self.config.machine.geometry.home_pose
        drives.rehearse()
        drives.length[:] = leg_lengths(self.config.machine.geometry, home)
        drives.velocity[:] = drives.force[:] = 0.0
        drives.fresh[:] = 1.0
        self.reference.hold(home)
        cycle.measurement.located(drives)
        for apart in (1e-3, 0.0):  # s, of cells that are read after the cycle's time, and before it
            drives.cells_offset[:2] = apart, -apart
            cycle.measurement.take(drives, homed=True)
            cycle.reference.evaluate(self.reference, cycle.measurement)
            cycle.model.evaluate(0.0, cycle.reference, cycle.measurement, known=True)
        self._supervision.rehearse()
        self.law.compute(cycle)
        self.law.commands(cycle)
        cycle.note_command(0.0)
        self._commander.rehearse()
        self._exchange.rehearse()
        self._search.rehearse()
        self.reference.decelerate(RAMPS)
        self._from_home()
        self.publish()
        cycle.forget()

    # -- the cycle ---------------------------------------------------------------------------------------------------

    def step(self, tick: Tick) -> None:
        """Do one cycle at `tick`."""
        cycle, machine, t = self.cycle_data, self.machine, tick.t
        self._in_cycle = True
        elapsed = cycle.elapsed = t - self.tick.t
        between_samples = elapsed + tick.lateness - self.tick.lateness
        missed = tick.overruns - self._overruns
        self.tick, self._overruns = tick, tick.overruns
        self._lateness.note(tick, missed)
        supervision, commander, exchanges = self._supervision, self._commander, self._exchanges
        if machine.state is _OFF:
            exchanges.forget()
            self._end_cycle()
            return
        supervision.timing(t, missed)  # first: a gap explains what the feedback is going to show
        severity = machine.stop
        if missed and severity < _QUICK_STOP:
            commander.extrapolate(t, missed * self.config.period, self.drives.extrapolates)
        begun = self._stopwatch.now()
        exchanges.make(commander.commands, between_samples)
        collected = self._stopwatch.now()
        supervision.host_suspended(t, exchanges.held)
        self.reference.advance(elapsed)
        cycle.measurement.take(self.drives, homed=machine.homed)
        followed = self.reference if machine.state in LAW_STATES and self.law.platform else None
        cycle.reference.evaluate(followed, cycle.measurement)
        try:
            self.law.refer(cycle)
        except Exception as error:  # of whatever kind, where the law is somebody else's
            self.trip(law_failed(t, self.law.name, error))
        supervision.reference(t, self.reference)  # before anything follows from it
        try:
            cycle.model.evaluate(t, cycle.reference, cycle.measurement, known=machine.homed)
        except DynamicsError as error:
            self.trip(no_model(t, error))
        if self.drives.io is not None:
            supervision.inputs(t)  # first: an open chain explains the torque that it takes
        supervision.feedback(t, exchanges.between)
        supervision.measured(t, exchanges.between)
        supervision.recording(t, self.sink.fault, self.sink.room)
        self._advance_state()
        commander.decide(t, clear=self._fault_reset.edge)
        self._switch_outputs()
        if machine.stop > severity and machine.stop >= _QUICK_STOP:
            # a stop reaches every leg in the cycle that finds its cause
            exchanges.repeat(commander.commands)
            supervision.references()
        self.motions.follow(t)
        self.reference.end_cycle()
        spent = self._stopwatch.now() - collected
        self._row.complete(tick, self.cycles, self.motions.id, commander.commands, collected - begun, spent)
        self.sink.push(cycle.row)
        self.cycles += 1
        self._end_cycle()

    def _act(self, found: Trip | Report) -> None:
        """Stop the rig, or record an event."""
        if isinstance(found, Trip):
            self.trip(found)
        else:
            self.record(found.level, found.finding)

    def _advance_state(self) -> None:
        machine, drives = self.machine, self.drives
        if machine.state is _PARKED and machine.homed:
            self._tare.add(self.cycle_data.model.residual)
        standstill = drives.standstill
        if standstill and machine.state in (_IDLE, _PARKED):
            self._exchange.rest(drives.fresh, drives.force, cells_fresh=drives.cells_fresh)
        if machine.state is _PARKED and self._exchange.pending:
            self._compare_forces()
        if machine.state not in LAW_STATES:
            if self._search.active:  # which may take longer than a cycle has
                self._explain_forces()
        elif drives.cells_fresh and self._exchange.at_home is not None and self.law.platform:
            self._search.note(self.tick.t, drives.measured)
        conditions = Conditions(
            t=self.tick.t,
            torque=drives.legs(Status.ENABLED),
            standstill=standstill,
            moving=self.reference.moving,
            missing=self._homing.missing(drives.status) if machine.state is _HOMING else (),
            unsought=self._homing.unsought(drives.status) if machine.state is _HOMING else (),
        )
        before = machine.state
        if before is _HOMING:
            self._continue_homing(standstill)
        elif before is _SINGLE_LEG and self.leg_test is not None and self.leg_test.ended:
            machine.enter(_IDLE, self.tick.t)
        overdue = machine.update(conditions)
        if machine.state is not before and before is not _HOMING:
            self._entered(before)
        if overdue is not None:
            late = machine.stop >= StopSeverity.CATEGORY_1
            self.trip(Trip(overdue, StopSeverity.CATEGORY_0 if late else StopSeverity.CATEGORY_1))
        self._advance_reset()

    def _entered(self, before: State) -> None:
        states: dict[str, Value] = {"before": before.name, "after": self.machine.state.name}
        self.record("info", Finding(Code.STATE_CHANGED, details=states))
        if not self.law.platform and self.machine.state not in TORQUE_STATES:
            self._end_leg_test()
        if self.machine.state is State.PARKED:
            self._tare.begin()
            if before in LAW_STATES and not self._proven_by_construction:
                self._look_for_exchange()
        elif self.machine.state is State.IDLE:
            self._exchange.forget()

    def _look_for_exchange(self) -> None:
        if not self._search.active and self._exchange.at_home is not None:
            self._search.begin(self._exchange.at_home)

    def _compare_forces(self) -> None:
        """While homing, check that the forces at rest changed as expected for the configured wiring."""
        verdict = self._exchange.judge(self.tick.t, self.settled_for())
        if verdict is None:
            return
        if verdict.trip is not None:
            self.trip(verdict.trip)
        elif verdict.unclear is not None and self.config.drives.unidentified:
            self.record("info", Finding(Code.EXCHANGE_UNCLEAR, within=(verdict.unclear,)))

    def _explain_forces(self) -> None:
        """After a fault, or when parked: name legs whose exchange explains the forces; their wiring is unproven.

        Their tests are taken off the record. Without a fault this raises one.
        """
        found = self._search.proceed()
        if not found:
            return
        exchanged = exchanges_found(found)
        legs = sorted({leg for exchange in found for leg in exchange.legs})
        self.runtime_info.unproven = Unproven(tuple(legs), exchanged)
        self.strikes.strike(*legs)
        if self.machine.latched:
            self.record("error", exchanged)
        else:
            self.trip(Trip(Cause(exchanged, self.tick.t), StopSeverity.CATEGORY_0, unhome=True))

    def _continue_homing(self, standstill: bool) -> None:
        drives, homing = self.drives, self._homing
        self._exchange.follow(drives.fresh, drives.status, drives.length)
        if homing.unsought(drives.status):
            at_home = np.abs(drives.length - self.config.marks) <= self.config.safety.homing_tolerance
            for leg in homing.admit(self.tick.t, drives.status, at_home.tolist()):
                self.record("info", Finding(Code.SEARCH_UNSEEN, leg))
        trip = homing.follow(self.tick.t, drives.status, self._exchange.moved)
        if trip is not None:
            self.trip(trip)
        elif homing.done(drives.status) and standstill and not homing.waiting(self.tick.t):
            self._finish_homing()

    def _finish_homing(self) -> None:
        """Check that the six references agree with the forward kinematics at home."""
        posed, bound = self.cycle_data.measurement.located(self.drives), self.config.safety.homing_tolerance
        cause = disagreement(self.drives.length, self.config.marks, bound, self.tick.t, posed=posed)
        if cause is not None:
            self.trip(Trip(cause, StopSeverity.QUICK_STOP))
            return
        self._supervision.forget()
        self.machine.homed = True
        self._exchange.homed(self.drives.length)
        self.enter(State.PARKED)

    def _advance_reset(self) -> None:
        """Continue a reset; once no cause remains: FAULT → IDLE."""
        outcome = self._fault_reset.advance(self.drives)
        if outcome is None:
            return
        remaining = outcome.remaining
        if not remaining:
            self._supervision.forget()
            self.cycle_data.forget()
            self.machine.reset(self.tick.t)
            self._entered(State.FAULT)
        refused = refusal("reset", Finding(Code.CAUSE_REMAINS, within=remaining)) if remaining else None
        self.answer(outcome.reply, Reply(refused is None, refused))

    # -- what is seen from outside -----------------------------------------------------------------------------------

    def take_snapshot(self) -> Snapshot:
        """A snapshot of the present state; only in the engine's thread."""
        cycle, runtime = self.cycle_data, self.runtime_info
        machine, reference, drives, tick, sink = self.machine, self.reference, self.drives, self.tick, self.sink
        self._report_on_devices()
        stopped_for = self._stopped_for if reference.paused else None
        state, cause, pose_known = machine.state, machine.cause, machine.homed and cycle.measurement.pose_valid
        braked = state is State.PARKED
        force = drives.force.tolist()
        return make_snapshot(
            state=state,
            stop=machine.stop,
            t=tick.t,
            finding=None if cause is None else cause.finding,
            cause_t=0.0 if cause is None else cause.t,
            latched=machine.latched,
            homed=machine.homed,
            paused=reference.paused,
            lease=runtime.lease,
            paused_for=None if stopped_for is None else stopped_for.finding,
            begun_by="" if (lease := runtime.begun_under) is None or lease.active else lease.client,
            motion=self.motions.name,
            last_motion=self.motions.latest,
            path_time=reference.path_time,
            path_duration=reference.path_duration,
            pace=reference.rate,
            reference=tuple(cycle.reference.now[:7].tolist()),
            cycles=self.cycles,
            overruns=tick.overruns,
            rate=self.config.rate,
            virtual=self._virtual,
            realtime=runtime.realtime,
            recording=runtime.recording,
            rows=sink.recorded,
            dropped=sink.dropped,
            recording_fault=sink.fault,
            recording_room=sink.room,
            ring=runtime.ring,
            from_home=self._from_home() if pose_known else math.nan,
            events=self.events,
            echo_lag=tuple(map(int, drives.lag.tolist())),
            hold_left=runtime.hold_left,
            slowing=reference.slowing,
            settled=self.settled_for(),
            stops=machine.stops,
            clearing=self.clearing,
            pose_known=pose_known,
            silent=tuple([leg + 1 for leg in range(6) if drives.overdue(leg)]) if 0.0 in drives.fresh.tolist() else (),
            torque=(torque := tuple(drives.legs(Status.ENABLED))),
            powered=drives.powered(self._powered_within) if torque and state is not State.OFF else (),
            cells_silence=drives.cells_silence() if drives.cells_overdue else None,
            dead_cells=tuple(filter(None, [no_force(leg, force[leg], self._cell_range) for leg in range(6)])),
            force_model=tuple(cycle.model.force.tolist()) if braked else _NONE,
            tare_residual=tuple(self.tare_residual.tolist()) if braked else _NONE,
            tare_bound=self._tare_bound,
            leg_test=None if self.leg_test is None else self.leg_test.status,
            loop=runtime.loop,
            lines=runtime.lines,
            unproven=runtime.unproven,
            comparing=self._search.active,
            slower=tick.slower,
            drives=self._drive_reports,
            cells=self._cells_reports,
            sensors=runtime.sensors,
            stream=reference.source.report if isinstance(reference.source, StreamSource) else None,
            io=None if state is State.OFF else self._io_report(),
        )

    def _report_on_devices(self) -> None:
        """Renew the report of the next drive or device of load cells when due; of all once, after connecting."""
        place, devices = self._next_report, 6 + self.drives.cell_devices
        if self.machine.state is _OFF:
            self._drive_reports, self._cells_reports = (), ()
        elif not self._drive_reports:
            self._drive_reports = tuple(map(self._drive_report, range(6)))
            self._cells_reports = tuple(map(self._cells_report, range(6, devices)))
        elif self.tick.t >= self._reported + _REPORT_PERIOD / devices:
            if place < 6:
                reports = self._drive_reports
                self._drive_reports = (*reports[:place], self._drive_report(place), *reports[place + 1 :])
            else:
                others, one = self._cells_reports, place - 6
                self._cells_reports = (*others[:one], self._cells_report(place), *others[one + 1 :])
            self._reported, self._next_report = self.tick.t, (place + 1) % devices

    def _drive_report(self, leg: int) -> DriveReport:
        return self.drives.report(leg, self._supervision.traffic_lately(leg))

    def _cells_report(self, device: int) -> CellsReport:
        return self.drives.cells_report(device, self._supervision.traffic_lately(device))

    def _io_report(self) -> IoReport | None:
        io = self.drives.io
        if io is None:
            return None
        block = self.drives.devices - 1
        return self.drives.io_report((0, 0.0) if io.device is None else self._supervision.traffic_lately(block))

    def _from_home(self) -> float:
        """Largest distance, m, of a platform joint from its place at home."""
        return float(_farthest_joint_kernel(self._geometry, self.cycle_data.measurement.pose, self._home_joints))

    def closing_counts(self) -> dict[str, Any]:
        """Counters for the end of a recording, after the last cycle.

        Keys: `cycles`, `overruns`; by leg, (6,): `lagging` (good replies to an earlier cycle's command), `mismatched`
        (replies with a wrong echo) and `rejected` (all replies that are not good, mismatched ones included);
        `cells_rejected`, the same for devices that only read load cells; `io_rejected`, for the block of inputs and
        outputs; `replies`: by device, what was not taken by
        `REPLY_KINDS`, without devices that have none.
        """
        return {
            "cycles": self.cycles,
            "overruns": self.tick.overruns,
            "lagging": self.drives.lagging,
            "rejected": self.drives.rejected,
            "cells_rejected": self.drives.cells_rejected,
            "io_rejected": self.drives.io_rejected,
            "mismatched": self.drives.mismatched,
            "replies": {name: counts.kinds for name, counts in self.drives.replies.items() if counts.kinds},
        }
