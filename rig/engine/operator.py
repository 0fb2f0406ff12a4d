"""What an operator may ask for, and the guards that say when: a refused request changes nothing and says why."""

import contextlib
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue

import numpy as np
import numpy.typing as npt

from actuators import Status as DriveStatus
from kinematics import MotionTable, coordinates_to_pose, in_words, pose_difference
from rig.engine.approach import approach_move
from rig.engine.checking import refusal as checked_here
from rig.engine.core import Engine
from rig.engine.journal import Journal
from rig.engine.link import Lease, Submission
from rig.engine.messages import (
    Abandon,
    Connect,
    Disconnect,
    Engage,
    Follow,
    Home,
    Park,
    Pause,
    Reply,
    Reset,
    Resume,
    RigCommand,
    Shutdown,
    Stop,
)
from rig.engine.tare import describe_shift
from rig.errors import HardwareError, RefusedError
from rig.safety import TORQUE_STATES, check_loop, name_legs
from rig.states import State

_START_DISTANCE = 1e-4  # m and rad between a motion's start and the reference
_STANDING = 1e-6  # m and rad between the reference when Park was asked for and when it is carried out
_ACCESS_TIME = 0.25  # of the drives' watchdog time, for one access to one drive between two cycles
_TARE_TIME = 0.2  # s at rest before the cells' zero can be judged
_FORSAKEN = "the command lease that it came with is held no more"


class _StaleFeedbackError(RefusedError):
    """The last exchange brought no reply of some leg, or none of the load cells."""


@dataclass(slots=True)
class _Job:
    """A command to be carried out, the machine's count of stops when it was asked for, how many cycles it waited."""

    command: RigCommand
    table: MotionTable | None
    reply: Future[Reply]
    stops: int
    lease: Lease | None
    waited: int = 0
    verified: int = 0
    """drives that were asked whether they are as they were"""
    asked_in: int = -1
    """cycle in which the last of them was"""

    @property
    def livens(self) -> bool:
        """Whether torque comes on or the platform moves then, which nobody wants any more after a stop."""
        return isinstance(self.command, Home | Engage | Follow | Resume)

    @property
    def forsaken(self) -> bool:
        """Whether the lease that it came with is held no more."""
        return self.lease is not None and not self.lease.held


class Operator:
    """Carries out commands between two cycles.

    Args:
        engine: the engine commanded.
        refusal: tells why a motion may not be followed, empty when it may; left out: checked in the caller's thread.

    `submit` may be called from any thread; it checks motions there, so that the cycle does not wait for that.
    `ended` turns True when the engine was asked to shut down; `reconnected` when drives were talked to one by one,
    which takes longer than a cycle, whether with success or without.
    """

    def __init__(self, engine: Engine, refusal: Callable[[MotionTable], str] | None = None) -> None:
        self._engine = engine
        self._refusal = refusal or partial(checked_here, engine.config)
        self._queue: SimpleQueue[_Job] = SimpleQueue()
        self._waiting: list[_Job] = []
        self._handlers: dict[type, Callable[[], None]] = {
            Connect: self._connect,
            Disconnect: self._disconnect,
            Home: self._home,
            Engage: self._engage,
            Pause: self._pause,
            Resume: self._resume,
            Abandon: self._abandon,
            Shutdown: self._shutdown,
        }
        self.ended = False
        self.reconnected = False
        self.motion = ""
        self.lease: Lease | None = None
        """the one under which the rig was last told to move"""
        self.journal = Journal(engine)
        """what the recording says of the commands"""
        self.loop = check_loop(engine.config)
        """whether the control loop may be closed; judged once, as it takes longer than a cycle"""

    def submit(self, submission: Submission) -> None:
        """Queue a command for the next boundary between cycles; a motion, or the way home, is checked and refused here.

        A stop from now on, be it during the check, keeps what brings torque or motion from being carried out; the end
        of the lease that it came with keeps any command from it.
        """
        self.journal.follow(submission)
        table, stops, lease = None, self._engine.machine.stops, submission.lease
        command = submission.command
        if isinstance(command, Follow | Park) and (lease is None or lease.held):
            try:
                table = self._way_home() if isinstance(command, Park) else self._checked(command, submission.samples)
            except (RefusedError, HardwareError) as error:
                submission.reply.set_result(Reply(False, f"{command.kind}: {error}", isinstance(error, HardwareError)))
                return
        self._queue.put(_Job(command, table, submission.reply, stops, lease))

    def carry_out(self) -> None:
        """Carry out what was queued; called by the cyclic thread between two cycles.

        A late reply of a leg, which the loop bears for `safety.stale_cycles` cycles, makes homing and engaging wait,
        and a motion that is to begin or to go on; a stop meanwhile ends the waiting.
        """
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            for job in waiting:
                self._perform(job)
        with contextlib.suppress(Empty):
            while True:
                self._perform(self._queue.get_nowait())
        self.journal.write()

    def _perform(self, job: _Job) -> None:
        command, machine = job.command, self._engine.machine
        if job.forsaken:
            job.reply.set_result(Reply(False, f"{command.kind}: {_FORSAKEN}"))
            return
        if isinstance(command, Reset):
            self._reset(job.reply)
            return
        try:
            if job.livens and machine.stops != job.stops:
                self._require_fresh()
                if isinstance(command, Engage):
                    self._require_cells()
                raise RefusedError("the rig was stopped meanwhile")
            if isinstance(command, Disconnect) and self._torque_goes(job):
                job.waited += 1
                self._waiting.append(job)
                return
            if isinstance(command, Engage) and not self._verified(job):
                self._waiting.append(job)
                return
            if isinstance(command, Stop):
                self._engine.stop(command.category, f"operator's stop, category {command.category}")
            elif isinstance(command, Follow) and job.table is not None:
                self._follow(command.name, job.table)
            elif isinstance(command, Park):
                self._park(job.table)
            else:
                self._handlers[type(command)]()
        except (RefusedError, HardwareError) as error:
            if isinstance(error, _StaleFeedbackError) and self._may_wait(job):
                job.waited += 1
                self._waiting.append(job)
                return
            job.reply.set_result(Reply(False, f"{command.kind}: {error}", isinstance(error, HardwareError)))
        else:
            if job.livens or isinstance(command, Park):
                self.lease = job.lease
            job.reply.set_result(Reply(True))

    def _may_wait(self, job: _Job) -> bool:
        unstopped = job.stops == self._engine.machine.stops
        return job.livens and unstopped and job.waited < self._engine.config.safety.stale_cycles

    def _torque_goes(self, job: _Job) -> bool:
        """Whether a drive at rest still reports torque, which it has been, or is yet to be, told to take off."""
        engine = self._engine
        at_rest = engine.machine.state in (State.IDLE, State.PARKED)
        patience = engine.machine.deadlines.torque_off * engine.config.rate
        return at_rest and engine.bank.any(DriveStatus.ENABLED) and job.waited < patience

    # -- guards ------------------------------------------------------------------------------------------------------

    def _require(self, *states: State) -> None:
        state = self._engine.machine.state
        if state not in states:
            raise RefusedError(f"not in state {state.name}, only in {' or '.join(s.name for s in states)}")

    def _require_recording(self) -> None:
        if self._engine.sink.fault:
            raise RefusedError(f"nothing is being recorded: {self._engine.sink.fault}")

    def _require_fresh(self) -> None:
        if not self._engine.bank.fresh.all():
            legs = [str(leg + 1) for leg in range(6) if not self._engine.bank.fresh[leg]]
            raise _StaleFeedbackError(f"no fresh feedback of leg {', '.join(legs)}")

    def _require_no_torque(self) -> None:
        legs = self._engine.bank.legs(DriveStatus.ENABLED)
        if legs:
            raise RefusedError(f"{name_legs(legs)}: the drive still has torque")

    def _require_cells(self) -> None:
        bank = self._engine.bank
        if bank.cells_age:
            raise _StaleFeedbackError(f"no fresh reading of the load cells{bank.cells_silence()}")
        dead = ", ".join(str(number + 1) for number in np.flatnonzero(~np.isfinite(bank.force)))
        if dead:
            raise RefusedError(f"no valid reading of the load cell of leg {dead}")

    def _require_tare(self) -> None:
        engine = self._engine
        if engine.settled_for() < _TARE_TIME:
            raise RefusedError(f"the load cells' zero is not judged yet, {_TARE_TIME:g} s at rest are needed")
        bound = engine.config.safety.bound("tare_shift")
        reason = describe_shift(engine.frame.fields["force_model"], engine.tare_residual, bound)
        if reason:
            raise RefusedError(reason)

    # -- commands ----------------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        self._require(State.OFF)
        self.reconnected = True
        for line in self._engine.bank.connect(self._engine.config.drives.connect_timeout):
            self._engine.record("info", line)
        self._engine.connected()

    def _disconnect(self) -> None:
        self._require(State.IDLE, State.PARKED)
        self._require_no_torque()
        self._engine.bank.close()
        self._engine.enter(State.OFF)

    def _home(self) -> None:
        self._require(State.IDLE)
        self._require_fresh()
        self._require_recording()
        self._require_no_torque()
        self.reconnected = True
        self._engine.bank.configure()
        self._engine.enter(State.HOMING)

    def _verified(self, job: _Job) -> bool:
        """Whether every drive was found as it was connected to and configured: since then one may have restarted.

        One drive a cycle is asked, so that none goes without its exchange for as long as six accesses take.
        """
        engine = self._engine
        self._require_engageable()
        if job.asked_in != engine.cycles:
            job.asked_in = engine.cycles
            self.reconnected = True
            try:
                engine.bank.verify(job.verified, _ACCESS_TIME * engine.config.drives.watchdog)
            except HardwareError as error:
                raise RefusedError(f"{error}; disconnect, connect and home anew") from error
            job.verified += 1
        return job.verified == len(engine.bank.status)

    def _engage(self) -> None:
        engine = self._engine
        self._require_engageable()
        engine.reference.hold(engine.frame.fields["pose"])
        engine.enter(State.ENGAGING)

    def _require_engageable(self) -> None:
        engine = self._engine
        self._require(State.PARKED)
        if not self.loop.passed:
            raise RefusedError(self.loop.message)
        self._require_fresh()
        self._require_recording()
        self._require_cells()
        self._require_tare()
        self._require_no_torque()
        if not (engine.machine.homed and engine.frame.pose_valid):
            raise RefusedError("the measured pose is not known: home first")

    def _checked(self, command: Follow, samples: npt.NDArray[np.float64] | None) -> MotionTable:
        """The motion as a table, when every sample of it is allowed."""
        if samples is None or len(samples) < 2:
            raise RefusedError("a motion needs at least two rows")
        table = MotionTable(command.step, samples)
        reason = self._refusal(table)
        if reason:
            raise RefusedError(reason)
        return table

    def _away(self, table: MotionTable) -> npt.NDArray[np.float64]:
        """(6,) m and rad between where a motion starts and where the reference is."""
        start = coordinates_to_pose(table.samples[0, :6])
        return np.abs(pose_difference(start, self._engine.frame.now[:7]))

    def _follow(self, name: str, table: MotionTable) -> None:
        engine = self._engine
        self._require(State.ENGAGED)
        self._require_fresh()
        self._require_recording()
        if engine.reference.paused:
            raise RefusedError(f"{self.motion!r} is paused: resume it, abandon it, or park")
        distance = self._away(table)
        if not distance.max() <= _START_DISTANCE:
            away = f"{in_words(distance[:3].max(), 'm')} and {in_words(distance[3:].max(), 'rad')}"
            raise RefusedError(f"the motion starts {away} from where the platform is: move to its start first")
        self.motion = name
        engine.reference.follow(table, name)
        engine.enter(State.RUNNING)

    def _pause(self) -> None:
        self._require(State.RUNNING)
        self._engine.pause()

    def _resume(self) -> None:
        self._require(State.ENGAGED, State.RUNNING)
        self._require_fresh()
        self._require_recording()
        if self._engine.machine.state is State.ENGAGED and not self._engine.reference.paused:
            raise RefusedError("nothing is paused")
        self._engine.resume()
        if self._engine.machine.state is State.ENGAGED:
            self._engine.enter(State.RUNNING)

    def _abandon(self) -> None:
        engine, reference = self._engine, self._engine.reference
        if engine.machine.state is State.RUNNING:
            raise RefusedError(f"{self.motion!r} is running: pause it first")
        self._require(State.ENGAGED)
        if not reference.paused:
            raise RefusedError("nothing is paused")
        place = f"{reference.path_time:.3f} of {reference.path_duration:.3f} s"
        reference.stay()
        engine.record("info", f"{self.motion!r} is abandoned at {place}")

    def _way_home(self) -> MotionTable | None:
        """The move home from where the platform stands, when every sample of it is allowed; None if it does not."""
        engine = self._engine
        if engine.machine.state is not State.ENGAGED:
            return None
        table = approach_move(engine.config, engine.frame.now[:7].copy(), engine.config.machine.geometry.home_pose)
        reason = self._refusal(table)
        if reason:
            raise RefusedError(f"{reason}\n  move somewhere else first, or STOP, which takes the torque off")
        return table

    def _park(self, table: MotionTable | None) -> None:
        engine = self._engine
        self._require(State.ENGAGED)
        if table is None or not self._away(table).max() <= _STANDING:
            raise RefusedError("the platform was moving when it was asked for: ask again")
        self.motion = "park"
        engine.reference.follow(table, "move")
        engine.enter(State.PARKING)

    def _reset(self, reply: Future[Reply]) -> None:
        engine = self._engine
        try:
            self._require(State.FAULT)
            if engine.clearing:
                raise RefusedError("a reset is under way")
            if not engine.bank.connected:
                self.reconnected = True
                engine.bank.connect(engine.config.drives.connect_timeout)
        except (RefusedError, HardwareError) as error:
            reply.set_result(Reply(False, f"reset: {error}", isinstance(error, HardwareError)))
            return
        engine.clear_faults(reply)

    def _shutdown(self) -> None:
        state = self._engine.machine.state
        if state in TORQUE_STATES:
            raise RefusedError(f"not in state {state.name}: stop or park first")
        self._engine.bank.close()
        self.ended = True
