"""Operators' commands, carried out between two cycles; a refused one changes nothing and has the reason."""

import math
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue

import numpy as np
import numpy.typing as npt

from actuators import Status as DriveStatus
from kinematics import MotionTable, coordinates_to_pose, pose_difference
from rig.engine.checking import check_motion, received_table
from rig.engine.core import Engine
from rig.engine.guards import missing_feedback, obstacle
from rig.engine.hold_to_run import HoldToRun
from rig.engine.journal import Journal
from rig.engine.lease import Lease
from rig.engine.leg_check import check_move
from rig.engine.leg_move import LegMove, check_room
from rig.engine.lines import judge_buses
from rig.engine.link import Submission
from rig.engine.messages import (
    CHECKED,
    Abandon,
    Connect,
    Disconnect,
    Engage,
    Follow,
    FollowSource,
    FollowStream,
    Home,
    MoveLeg,
    Pace,
    Park,
    Pause,
    Reply,
    Reset,
    Resume,
    RigCommand,
    Shutdown,
    Stop,
    refusal,
)
from rig.engine.point_to_point import approach_move
from rig.engine.reference import RAMPS, ReferenceSource
from rig.engine.sources import GuardedSource, make_source
from rig.engine.stream import StreamSource
from rig.engine.wiring import unproven
from rig.errors import HardwareError, RefusedError
from rig.findings import Code, Finding, Value
from rig.runtime import SharedMemoryError
from rig.safety import START_DISTANCE, check_loop
from rig.states import MotionKind, State
from rig.streaming import SampleRing

_STANDING = 1e-6  # m and rad between the reference when Park was asked for and when it is carried out
_ACCESS_TIME = 0.25  # of the drives' watchdog time, for one access to one drive between two cycles


@dataclass(slots=True)
class _Job:
    """A pending command, with the machine's count of stops at the request, and the cycles waited."""

    command: RigCommand
    table: MotionTable | None
    source: GuardedSource | None
    reply: Future[Reply]
    stops: int
    lease: Lease | None
    waited: int = 0
    stream: StreamSource | None = None
    verified: int = 0
    """number of drives verified"""
    asked_in: int = -1
    """cycle of the last verification"""

    @property
    def moves(self) -> bool:
        """Whether the command brings torque or motion, so that a stop cancels it."""
        return isinstance(self.command, Home | MoveLeg | Engage | Follow | FollowSource | FollowStream | Resume)

    @property
    def lapsed(self) -> bool:
        """Whether the lease under which it was sent has ended."""
        return self.lease is not None and not self.lease.active


class Operator:
    """Carries out commands between two cycles.

    Args:
        engine: the engine commanded.
        check: gives the finding against a motion, or None, from the motion and, for hold-to-run, its deceleration time,
            s; left out: checked in the caller's thread.
        hold_count: see `HoldToRun`; left out: no hold-to-run.

    `submit` may be called from any thread and checks motions there, so that the cycle does not wait. `ended` becomes
    True at a request to shut down; `reconnected` after one-by-one access to the drives, which takes longer than a
    cycle.
    """

    def __init__(
        self,
        engine: Engine,
        check: Callable[..., Finding | None] | None = None,
        hold_count: Callable[[], int] = lambda: 0,
    ) -> None:
        self._engine = engine
        self._check = check or partial(check_motion, engine.config)
        self._queue: SimpleQueue[_Job] = SimpleQueue()
        self._waiting: list[_Job] = []
        self._hold_to_run = HoldToRun(engine, hold_count)
        self._handlers: dict[type, Callable[[], None]] = {
            Connect: self._connect,
            Disconnect: self._disconnect,
            Engage: self._engage,
            Pause: engine.pause,
            Resume: self._resume,
            Abandon: self._abandon,
            Shutdown: self._shutdown,
        }
        self.ended = False
        self.reconnected = False
        self.lease: Lease | None = None
        """lease of the last command to move"""
        self.journal = Journal(engine)
        """journal of the commands in the recording"""
        engine.strikes.report = self.journal.report
        loop = check_loop(engine.config)  # judged once, as it takes longer than a cycle
        self.loop = loop.message
        """text of the control loop's fault, or empty"""
        engine.runtime_info.lines = judge_buses(engine.config, engine.drives.plans).message
        engine.runtime_info.loop = engine.runtime_info.lines or ("" if loop.passed else self.loop)

    def submit(self, submission: Submission) -> None:
        """Queue a command for the next boundary between cycles; motions, and the way home, are checked here first.

        A stop from now on, also during the check, cancels commands that bring torque or motion; the end of its lease
        cancels any command.
        """
        self.journal.follow(submission)
        table, source, stream, lease, command = None, None, None, submission.lease, submission.command
        stops = self._engine.machine.stops if submission.stops is None else submission.stops
        if isinstance(command, CHECKED) and (lease is None or lease.active):
            try:
                if isinstance(command, MoveLeg):
                    check_move(self._engine.config, _leg_move(command))
                elif isinstance(command, FollowSource):
                    source = self._made(command, submission.source)
                elif isinstance(command, FollowStream):
                    stream = self._stream(command)
                else:
                    samples = submission.samples
                    table = self._way_home() if isinstance(command, Park) else self._checked(command, samples)
            except (RefusedError, HardwareError) as error:
                found = refusal(command.kind, error.finding)
                submission.reply.set_result(Reply(False, found, isinstance(error, HardwareError)))
                return
        self._queue.put(_Job(command, table, source, submission.reply, stops, lease, stream=stream))

    def carry_out(self) -> None:
        """Carry out queued commands; called by the cyclic thread between two cycles.

        A late reply of a leg, which the loop tolerates for `RigConfig.stale_time`, delays homing, engaging and the
        begin or resumption of a motion; a stop meanwhile cancels them.
        """
        self._hold_to_run.look()
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            for job in waiting:
                self._perform(job)
        while not self._queue.empty():  # nobody else takes from it
            self._perform(self._queue.get_nowait())
        self.journal.write()

    def _perform(self, job: _Job) -> None:
        command, engine = job.command, self._engine
        if job.lapsed:
            self._refuse(job, Finding(Code.LEASE_LAPSED))
            return
        snapshot = engine.take_snapshot()
        if job.moves and engine.machine.stops != job.stops:
            lacking = missing_feedback(command, snapshot)  # which is what it was stopped for
            self._refuse(job, Finding(Code.STOPPED_MEANWHILE) if lacking is None else lacking.finding)
            return
        found = obstacle(command, snapshot)
        if found is not None:
            if found.passing and job.waited < self._patience(command):
                job.waited += 1
                self._waiting.append(job)
            else:
                self._refuse(job, found.finding)
            return
        try:
            if isinstance(command, Engage) and not self._verified(job):
                self._waiting.append(job)
                return
            if isinstance(command, Stop):
                engine.stop(command.category)
            elif isinstance(command, Follow) and job.table is not None:
                self._follow(command, job.table)
            elif isinstance(command, FollowSource) and job.source is not None:
                self._follow_source(job.source)
            elif job.stream is not None:
                job.stream.begin(engine.cycle_data.reference.now[:7])
                engine.follow(job.stream)
            elif isinstance(command, Home):
                self._home(command)
            elif isinstance(command, Park):
                self._park(job.table)
            elif isinstance(command, MoveLeg):
                self._move_leg(_leg_move(command))
            elif isinstance(command, Pace):
                engine.reference.pace(command.rate, RAMPS)
            elif isinstance(command, Reset):
                self._reset(job.reply)
                return
            else:
                self._handlers[type(command)]()
        except (RefusedError, HardwareError) as error:
            self._refuse(job, error.finding, hardware=isinstance(error, HardwareError))
        else:
            if job.moves or isinstance(command, Park):
                self.lease = engine.runtime_info.begun_under = job.lease
            engine.answer(job.reply, Reply(True))

    def _refuse(self, job: _Job, found: Finding, *, hardware: bool = False) -> None:
        if job.stream is not None:
            job.stream.leave()
        job.reply.set_result(Reply(False, refusal(job.command.kind, found), hardware))

    def _patience(self, command: RigCommand) -> float:
        """Cycles to wait for obstacles that pass by themselves."""
        if isinstance(command, Disconnect | Shutdown):
            return self._engine.machine.deadlines.torque_off * self._engine.config.rate
        config = self._engine.config
        return max(config.stale_time, config.cells_stale_time) / config.period - 0.5

    # -- commands ----------------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        self.reconnected = True
        for identified in self._engine.drives.connect(self._engine.config.drives.connect_timeout):
            self._engine.record("info", identified)
        self._look_at_wiring()
        self._engine.connected()

    def _look_at_wiring(self) -> None:
        """Check the proof of the wiring of the drives just connected."""
        engine = self._engine
        engine.runtime_info.unproven = unproven(engine.config, engine.drives.serials, engine.strikes.pending)

    def _disconnect(self) -> None:
        self._engine.drives.close()
        self._engine.runtime_info.unproven = None
        self._engine.enter(State.OFF)

    def _home(self, command: Home) -> None:
        self.reconnected = True
        engine = self._engine
        engine.drives.configure()
        engine.enter(State.HOMING)
        lacking = engine.runtime_info.unproven
        if command.unproven and lacking is not None:
            engine.record("warning", Finding(Code.HOMING_UNPROVEN, within=(lacking.finding,)))
        engine.motions.begin(engine.tick.t, "home", MotionKind.HOMING)

    def _move_leg(self, move: LegMove) -> None:
        engine, leg = self._engine, move.leg - 1
        if not engine.drives.status[leg] & DriveStatus.HOMED:
            if not move.home:
                raise RefusedError(Finding(Code.TEST_WITHOUT_REFERENCE, move.leg))
        else:
            check_room(engine.config, move, float(engine.drives.length[leg]))
        self.reconnected = True
        engine.drives.configure()
        engine.begin_leg_test(move)
        engine.motions.begin(engine.tick.t, f"test of leg {move.leg}", MotionKind.LEG_TEST)

    def _verified(self, job: _Job) -> bool:
        """Whether every drive is still as connected and configured; one may have restarted meanwhile.

        One drive is asked a cycle, so that six accesses do not delay the exchanges.
        """
        engine = self._engine
        if job.asked_in != engine.cycles:
            job.asked_in = engine.cycles
            self.reconnected = True
            try:
                engine.drives.verify(job.verified, _ACCESS_TIME * engine.config.drives.watchdog)
            except HardwareError as error:
                raise RefusedError(Finding(Code.DRIVE_CHANGED, within=(error.finding,))) from error
            job.verified += 1
            job.waited = 0  # the drives went without their exchange meanwhile
        return job.verified == len(engine.drives.status)

    def _engage(self) -> None:
        engine = self._engine
        engine.reference.hold(engine.cycle_data.measurement.pose)
        engine.enter(State.ENGAGING)

    def _checked(self, command: Follow, samples: npt.NDArray[np.float64] | None) -> MotionTable:
        """The motion as a checked table."""
        table = received_table(command.step, samples)
        found = self._check(table) if command.slowing is None else self._check(table, command.slowing)
        if found is not None:
            raise RefusedError(found)
        return table

    def _stream(self, command: FollowStream) -> StreamSource:
        """The source that follows a ring of samples."""
        try:
            ring = SampleRing.attach(command.ring)
        except SharedMemoryError as error:
            details: dict[str, Value] = {"stream": command.name, "text": str(error)}
            raise RefusedError(Finding(Code.STREAM_UNREADABLE, details=details)) from error
        try:
            return self._engine.stream(ring, command.name, command.frame)
        except RefusedError:
            ring.close()
            raise

    def _away(self, table: MotionTable) -> npt.NDArray[np.float64]:
        """Difference (6,), m and rad, of a motion's start from the reference."""
        start = coordinates_to_pose(table.samples[0, :6])
        return np.abs(pose_difference(start, self._engine.cycle_data.reference.now[:7]))

    def _follow(self, command: Follow, table: MotionTable) -> None:
        engine = self._engine
        distance = self._away(table)
        if not distance.max() <= START_DISTANCE:
            away: dict[str, Value] = {"away": float(distance[:3].max()), "turned": float(distance[3:].max())}
            raise RefusedError(Finding(Code.ELSEWHERE, details=away))
        duration = table.duration
        if command.slowing is not None:
            self._hold_to_run.begin(command.slowing)
            duration = math.inf  # its end is not its own
        own = command.thresholds.text
        engine.motions.begin(engine.tick.t, command.name, command.purpose, duration, command.amplitude, own)
        engine.reference.follow(table, command.name, paced=command.purpose == MotionKind.RUN)
        engine.enter(State.RUNNING)

    def _made(self, command: FollowSource, given: ReferenceSource | None) -> GuardedSource:
        """The reference, guarded, from where the platform stands; in the caller's thread, as it may take long."""
        pose = np.array(self._engine.published.reference)
        source = make_source(command.source, command.settings, pose) if given is None else given
        return self._engine.guarded(source, command.name)

    def _follow_source(self, source: GuardedSource) -> None:
        source.check_start(self._engine.cycle_data.reference.now[:7])  # where it stands by now
        self._engine.follow(source)

    def _resume(self) -> None:
        self._engine.resume()
        if self._engine.machine.state is State.ENGAGED:
            self._engine.enter(State.RUNNING)

    def _abandon(self) -> None:
        engine, reference = self._engine, self._engine.reference
        place: dict[str, Value] = {"time": reference.path_time}
        code = Code.ENDLESS_MOTION_ABANDONED
        if reference.path_duration < math.inf:
            code, place["duration"] = Code.MOTION_ABANDONED, reference.path_duration
        engine.motions.abandon(engine.tick.t)
        reference.stay()
        engine.record("info", Finding(code, details={"motion": engine.motions.name} | place))

    def _way_home(self) -> MotionTable | None:
        """The move home from where the platform stands, when every sample of it is allowed; None if it does not."""
        config, now = self._engine.config, self._engine.published
        if now.state is not State.ENGAGED:
            return None
        table = approach_move(config, np.array(now.reference), config.machine.geometry.home_pose)
        found = self._check(table)
        if found is not None:
            raise RefusedError(Finding(Code.WAY_HOME_REFUSED, within=(found,)))
        return table

    def _park(self, table: MotionTable | None) -> None:
        engine = self._engine
        if table is None or not self._away(table).max() <= _STANDING:
            raise RefusedError(Finding(Code.MOVING_WHEN_ASKED))
        engine.motions.begin(engine.tick.t, "park", MotionKind.PARK, table.duration)
        engine.reference.follow(table, "move")
        engine.enter(State.PARKING)

    def _reset(self, reply: Future[Reply]) -> None:
        engine = self._engine
        if not engine.drives.connected:
            self.reconnected = True
            engine.drives.connect(engine.config.drives.connect_timeout)
            self._look_at_wiring()
        engine.clear_faults(reply)

    def _shutdown(self) -> None:
        self._engine.drives.close()
        self.ended = True


def _leg_move(command: MoveLeg) -> LegMove:
    return LegMove(command.leg, command.travel, command.speed, command.home, stay=command.stay)
