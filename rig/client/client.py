"""The rig for scripts, notebooks and the console: one object to read, wait for and command it."""

import atexit
import contextlib
import os
import sys
import threading
import traceback
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from kinematics import Array, JogFrame
from rig.client import lifecycle, motion_runner
from rig.client.arguments import (
    AXES,
    LEGS,
    TIME,
    Amount,
    Motion,
    count,
    given_speeds,
    is_source,
    jogged,
    motion_of,
    pivot_of,
    positive,
    scale,
    speeds,
    target_pose,
)
from rig.client.feeding import Stream, follow_stream
from rig.client.fmu_following import follow_unit
from rig.client.heartbeat import Heartbeat
from rig.client.hold_to_run import follow_hold_to_run, greatest_speed, jog_motion
from rig.client.interruption import HoldInterrupt, Interruption
from rig.client.lockstep import LockstepRig
from rig.client.motion_runner import PATIENCE, MotionSequence, Progress
from rig.client.motions import checked_move, prepare_motion
from rig.client.rig import FaultControl, Rig
from rig.client.telemetry import Telemetry, TelemetryLog, external_wrench
from rig.config import CueOptions, ReferenceFmu, RigConfig
from rig.engine import (
    LEAST_PACE,
    SOURCE_GROUP,
    Abandon,
    Disconnect,
    Event,
    FollowSource,
    Pace,
    Pause,
    ReferenceSource,
    Reset,
    Resume,
    Snapshot,
)
from rig.errors import HardwareError, InputError, InterruptedRunError, RigError
from rig.findings import Code, Finding
from rig.names import check_name
from rig.runtime import StopRequest
from rig.states import MotionKind, State
from rig.streaming import is_tuning_file

if TYPE_CHECKING:
    from rig.analysis import ExternalWrench


_EVENTS = 10_000
KEEP = 60.0
"""s of telemetry in memory by default"""


class CommandSession:
    """A rig that is always closed: by `close`, at a `with` block's end, with the last reference, or at the exit.

    Args:
        rig: the connection; closed with this object if `own`ed.
        interruption: the rig's. If not `own`ed, its installer handles Ctrl-C.
        own: whether this object ends the rig and handles Ctrl-C.
        end: whether it then ends the engine.
        tidy: called after the rig was closed.
        keep: s of telemetry in memory.
    """

    def __init__(
        self,
        rig: Rig,
        interruption: Interruption,
        *,
        own: bool = False,
        end: bool = True,
        tidy: Callable[[], object] | None = None,
        keep: float = KEEP,
    ) -> None:
        self.rig = rig
        self._interruption = interruption
        self._own = own
        self._sequence: MotionSequence | None = None
        self._log = TelemetryLog(max(1, round(keep * rig.config.rate)))
        self._happened: deque[Event] = deque(maxlen=_EVENTS)
        self._finalizer = weakref.finalize(self, _end_quietly, rig, end, tidy)
        if own:
            interruption.at_once = None  # a second Ctrl-C gives up waiting for the hold, which is under way
            interruption.at_first = _Flag(rig)
            rig.listen(_Notes(self._happened), self._log.add)
            atexit.register(self._finalizer)  # before multiprocessing waits for the engine
        else:
            self._finalizer.detach()

    # -- what is so --------------------------------------------------------------------------------------------------

    @property
    def config(self) -> RigConfig:
        """The rig's configuration."""
        return self.rig.config

    @property
    def recording(self) -> Path:
        """The file with every cycle, event and command; whole after `close`. `rig report` takes it.

        Raises InputError if nothing is recorded.
        """
        return self.rig.recording

    @property
    def status(self) -> Snapshot:
        """State, cause of a stop, motion and place on its path, reference pose, lease and more, at present."""
        self._check_open()
        return self.rig.status()

    @property
    def state(self) -> State:
        """OFF, IDLE, HOMING, PARKED, ENGAGING, ENGAGED, RUNNING, PARKING, STOPPING or FAULT."""
        return self.status.state

    @property
    def pose(self) -> Array:
        """(7,) m and unit quaternion (scalar first), commanded pose of the platform, base frame."""
        return np.array(self.status.reference)

    @property
    def events(self) -> list[Event]:
        """Events since this object was made, oldest first: transitions, warnings, faults."""
        self._refresh()
        return list(self._happened)

    def telemetry(self, last: float | None = None) -> Telemetry:
        """The cycles of the last so many s, or all in memory (60 s, or as given to `rig.open`), as arrays."""
        self._refresh()
        return self._log.newest(last)

    def wrench(
        self,
        last: float = 1.0,
        *,
        bandwidth: float | None = 20.0,
        false_alarms: float = 1.0,
        quiet: Telemetry | None = None,
        model_sigma: float = 0.0,
    ) -> "ExternalWrench":
        """The external wrench on the platform over the last so many s, with covariance and contact.

        Args:
            last: s of the newest cycles.
            bandwidth: Hz, of the low-pass on the residuals; None for none. Its newest result is 0.66/bandwidth s old.
            false_alarms: false alarms an hour by noise.
            quiet: telemetry without contact, from which noise and bias are estimated. Left out, the cells' noise is the
                configuration's, and the bias 0.
            model_sigma: N, standard deviation of the model at a cell, with the configuration's noise.

        Raises InputError if the platform was not at rest under power, or for an invalid argument.
        """
        return external_wrench(
            self.config,
            self.telemetry(last),
            bandwidth=bandwidth,
            false_alarms=false_alarms,
            quiet=quiet,
            model_sigma=model_sigma,
        )

    @property
    def faults(self) -> FaultControl | None:
        """`inject(name, leg, value, duration)` and `clear(name, leg)` of an own virtual rig; else None."""
        return self.rig.faults

    # -- the end -----------------------------------------------------------------------------------------------------

    @property
    def closed(self) -> bool:
        """Whether the rig was closed."""
        return self._own and not self._finalizer.alive

    def close(self) -> None:
        """Bring the platform to rest, close the recording and end the started processes. May be called again.

        Raises HardwareError if the rig does not come to rest, or does not answer; its processes are ended all the same.
        """
        ended = self._finalizer.detach()
        if ended is None:
            return
        atexit.unregister(self._finalizer)
        with contextlib.suppress(HardwareError):
            self.rig.refresh()  # the last rows and events
        with self._interruptible() as interruption:
            _end(*ended[2])
        if interruption is not None and interruption.count:
            raise KeyboardInterrupt("interrupted while the rig was closed, which it is")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def _refresh(self) -> None:
        if not self.closed:
            with contextlib.suppress(HardwareError):  # what is known is given
                self.rig.refresh()

    def _check_open(self) -> None:
        if self.closed:
            raise HardwareError("the rig was closed; `rig.open` opens it again")

    @contextlib.contextmanager
    def _asking(self) -> Iterator[None]:
        """Within the block Ctrl-C holds the platform."""
        self._check_open()
        with self._interruptible() as interruption:
            try:
                yield
            except RigError:
                if interruption is None or not interruption.count:
                    raise
            if interruption is not None and interruption.count:
                raise HoldInterrupt(self._hold_text())

    @contextlib.contextmanager
    def _interruptible(self) -> Iterator[Interruption | None]:
        """Within the block Ctrl-C sets a flag; None in other threads than the main one, which alone gets it."""
        if self._own and threading.current_thread() is threading.main_thread():
            self._interruption.forget()
            with self._interruption.installed() as interruption:
                yield interruption
        else:
            yield None

    def _hold_text(self) -> str:
        """Wait until the platform rests; text of its state."""
        with contextlib.suppress(InterruptedRunError):
            self._interruption.check()  # once: it was heard
        if self._sequence is not None:
            self._sequence.end(Finding(Code.INTERRUPTED))
        self.rig.raise_stop_flag(2)  # again: what was being asked for has begun to move after the first one
        try:
            begun = self.rig.status().cycles  # the cycle that is under way may be the last one without the flag

            def holds(seen: Snapshot) -> bool:
                return seen.cycles > begun + 1 and lifecycle.has_stopped(seen, 2)

            status = self.rig.wait(holds, PATIENCE, "the platform to hold")
        except RigError as error:
            return f"interrupted; whether the platform holds is not known: {error}"
        if status.state is not State.ENGAGED:
            return f"interrupted: the rig is in state {status.state.name}. {status.cause_text}".rstrip(" .")
        paused = (
            f", {status.motion!r} paused at {status.path_time:.3f} s: resume(), abandon()," if status.paused else ":"
        )
        return f"interrupted: the platform holds under power{paused} park() or stop()"


class _Flag:
    """Raises the stop flag of category 2, from the signal handler."""

    def __init__(self, rig: Rig) -> None:
        self._rig = rig

    def __call__(self) -> None:
        self._rig.raise_stop_flag(2)


class _Notes:
    """Stores events without a reference to the client, which could else not be collected."""

    def __init__(self, events: deque[Event]) -> None:
        self._events = events

    def __call__(self, news: Event | str) -> None:
        if isinstance(news, Event):
            self._events.append(news)


def _end(rig: Rig, end: bool, tidy: Callable[[], object] | None) -> None:
    with contextlib.ExitStack() as resources:
        if tidy is not None:
            resources.callback(tidy)
        resources.callback(rig.close)
        rig.listen(None)
        if end:
            if rig.status().state not in motion_runner.AT_REST:
                lifecycle.stop(rig)
            lifecycle.leave(rig)


def _end_quietly(rig: Rig, end: bool, tidy: Callable[[], object] | None) -> None:
    """Report errors that nobody can catch: known ones in a line, others with their traceback."""
    if isinstance(threading.current_thread(), Heartbeat):  # it holds what the end would wait for, and is to be ended
        threading.Thread(target=_end_quietly, args=(rig, end, tidy), name="end of the rig").start()
        return
    try:
        _end(rig, end, tidy)
    except RigError as error:
        sys.stderr.write(f"the rig could not be parked and closed: {error}\n")
    except Exception:
        traceback.print_exc()


class RigClient(CommandSession):
    """A rig under command, from `rig.open`; a context manager, also usable cell by cell in a notebook.

    A method that moves something returns when that is done. It raises RefusedError for a guard or a limit (nothing has
    moved), RunFaultError if it ended in a fault or was stopped, HardwareError if something does not answer, and
    InputError for an argument. Numbers are SI; text has a unit: 0.005 is "5 mm".

    Ctrl-C, or a notebook's interrupt, while a method waits: the platform decelerates along its path and holds under
    power (a stop of category 2), and `HoldInterrupt`, a KeyboardInterrupt, is raised. The object remains usable:
    `resume`, `abandon`, `park`, `stop`.

    A heartbeat in the background keeps the command lease between two calls. `close`, the end of the `with` block, the
    last reference or the interpreter's end brings the platform to rest (torque off, brakes on) and ends the engine
    that was started; an attached one continues unless its owner has ended.

    Args: see `CommandSession`.
    """

    # -- states ------------------------------------------------------------------------------------------------------

    def connect(self, *, reset: bool = False) -> None:
        """OFF → IDLE: open and configure the drives; `reset`: also reset their earlier faults."""
        with self._asking():
            lifecycle.connect(self.rig, reset=reset)

    def home(self, *, connect: bool = True, unproven: bool = False) -> None:
        """IDLE → PARKED: find every leg's reference; from OFF `connect` first. The rig moves.

        Refused if a leg was not tested with its present wiring (`rig setup leg`; see `status.unproven`), unless
        `unproven` permits it. The recording notes the permission.
        """
        with self._asking():
            if connect and self.rig.status().state is State.OFF:
                lifecycle.connect(self.rig)
            lifecycle.home(self.rig, unproven=unproven)

    def engage(self) -> None:
        """PARKED → ENGAGED: hold the platform under power."""
        with self._asking():
            lifecycle.settle(self.rig)
            lifecycle.engage(self.rig)

    def settle(self) -> None:
        """Wait until a parked platform has rested long enough to be engaged."""
        with self._asking():
            lifecycle.settle(self.rig)

    def park(self) -> None:
        """ENGAGED → PARKED: move home, brakes on, torque off. A paused motion is dropped."""
        with self._asking():
            lifecycle.park(self.rig)

    def stop(self, category: StopRequest = 1) -> None:
        """Stop, from any state: decelerate and hold (2), decelerate and torque off (1), torque off at once (0).

        Thread-safe; it ends the waiting of other threads.
        """
        if category not in (0, 1, 2):
            raise InputError(f"category: {category} must be 0, 1 or 2")
        self._check_open()
        self.rig.raise_stop_flag(category)  # before all that may wait
        with self._asking():
            if self._sequence is not None:
                self._sequence.end(Finding(Code.STOP_REQUESTED))
            lifecycle.stop(self.rig, category)

    def reset(self) -> None:
        """FAULT → IDLE, once the cause is gone."""
        with self._asking():
            self.rig.request(Reset())

    def disconnect(self) -> None:
        """IDLE or PARKED → OFF: close the drives."""
        with self._asking():
            self.rig.request(Disconnect())

    # -- motions -----------------------------------------------------------------------------------------------------

    def move(self, pose: ArrayLike | str, *, speed: Amount | None = None, rotation_speed: Amount | None = None) -> None:
        """Move straight to a pose, with minimum jerk.

        Args:
            pose: (7,) x, y, z in m and a unit quaternion qw, qx, qy, qz, base frame; or "home", or the name of a
                saved position.
            speed, rotation_speed: peak speeds, m/s and rad/s; by default those of the configuration, or lower where
                legs or drives need that.
        """
        target = target_pose(self.config, pose)
        self._move("go to pose", MotionKind.MOVE, lambda _here: target, speed, rotation_speed)

    def jog(
        self,
        axis: str,
        step: Amount,
        *,
        frame: JogFrame = "base",
        pivot: Sequence[Amount] = (0.0, 0.0, 0.0),
        speed: Amount | None = None,
        rotation_speed: Amount | None = None,
    ) -> None:
        """Move a step along or about an axis, or one leg.

        Args:
            axis: x, y, z, rx, ry, rz, or leg1 to leg6.
            step: m or rad, signed.
            frame: axes of the "base" or of the "platform".
            pivot: (3,) m, centre of rotation, platform frame.
            speed, rotation_speed: as for `move`.
        """
        purpose = MotionKind.LEG_STEP if axis in LEGS else MotionKind.JOG

        def target(here: Array) -> Array:
            return jogged(self.config, here, axis, step, frame, pivot)

        self._move(f"jog {axis}", purpose, target, speed, rotation_speed)

    def hold(
        self,
        axis: str,
        direction: Literal[1, -1],
        held: Callable[[], bool],
        *,
        frame: JogFrame = "base",
        pivot: Sequence[Amount] = (0.0, 0.0, 0.0),
        speed: Amount | None = None,
    ) -> None:
        """Move along or about an axis, or one leg, as long as `held()`, at most to the end of the free range.

        The engine ends the motion itself if `held` does not return for `safety.hold_renewal`. The platform then
        decelerates smoothly to rest, and the motion is dropped.

        Args:
            axis, frame, pivot: as for `jog`.
            direction: 1 or -1.
            held: called repeatedly; gives whether the motion is to continue.
            speed: m/s, or rad/s about an axis; by default that of the configuration.
        """
        if direction not in (1, -1):
            raise InputError(f"direction: {direction!r} is neither 1 nor -1")
        turning = axis in AXES[3:]
        wanted = speeds(self.config, None if turning else speed, speed if turning else None)[turning]
        purpose = MotionKind.LEG_STEP if axis in LEGS else MotionKind.JOG
        with self._asking():
            here = self.pose
            jogged(self.config, here, axis, 0.0, frame, pivot)  # names what is wrong with an argument
            greatest = greatest_speed(self.config, axis, pivot_of(pivot))
            way = jog_motion(self.config, axis, direction, frame, pivot, wanted, greatest, here)
            follow_hold_to_run(self.rig, way, f"hold {'+' if direction > 0 else '-'}{axis}", purpose, held)

    def run(
        self,
        motion: Motion | ReferenceSource,
        *,
        amplitude: float = 1.0,
        repeats: int = 1,
        report: Callable[[Progress], None] | None = None,
        name: str | None = None,
    ) -> None:
        """Move to a motion's start, rest there, and follow it to its end; all is checked before anything moves.

        Args:
            motion: a trajectory file, the name of a shipped one, its content as a dict (lengths about home), or a
                trajectory; in lockstep also a `ReferenceSource`, see `follow`, without amplitude and repeats.
            amplitude: its size about its start pose.
            repeats: how many times, each from its start.
            report: receives the progress.
            name: of the motion, in events and recording.
        """
        if is_source(motion):
            if (amplitude, repeats) != (1.0, 1):
                raise InputError("motion: a ReferenceSource has neither amplitude nor repeats")
            self.follow(motion, name=name)
            self.wait(report=report)
            return
        label, trajectory = motion_of(self.config, motion)
        size, repeats = scale("amplitude", amplitude), count("repeats", repeats)
        sequence = MotionSequence(check_name("name of the motion", name or label))
        table = prepare_motion(self.config, trajectory, size, repeats)
        with self._asking():
            before, self._sequence = self._sequence, sequence
            try:
                motion_runner.perform(self.rig, table, sequence.name, report, repeats, sequence)
            finally:
                self._sequence = before

    def start(
        self,
        motion: Motion,
        *,
        amplitude: float = 1.0,
        report: Callable[[Progress], None] | None = None,
        name: str | None = None,
    ) -> None:
        """As `run`, but return once the motion has begun; `wait` waits for its end."""
        label, trajectory = motion_of(self.config, motion)
        called = check_name("name of the motion", name or label)
        table = prepare_motion(self.config, trajectory, scale("amplitude", amplitude))
        with self._asking():
            motion_runner.move_to_start(self.rig, table, report)
            motion_runner.begin(self.rig, table, called)

    def follow(
        self,
        source: str | ReferenceSource | Stream | ReferenceFmu,
        *,
        settings: Mapping[str, Any] | None = None,
        name: str | None = None,
        rate: float = 200.0,
        duration: float | None = None,
        cue: str | os.PathLike[str] | None = None,
    ) -> None:
        """Follow what arises as it is followed: a stream of poses until it ends, or a reference, once it has begun.

        Each reference of the platform is checked before it is commanded. `pause` and `stop` bring it to rest. `wait`
        waits for the end of a reference; `[stream]` of the configuration says how a stream is followed.

        Args:
            source: a stream: called with the time t, s since the platform is there, gives a pose (7,), m and unit
                quaternion (scalar first), or (pose, velocity) or (pose, velocity, acceleration), (6,) each, in the
                frame of `stream.frame`; None ends it. Or an iterable of such values. Or a `rig.streaming.SampleRing`
                in shared memory that something else writes. The first value is repeated until the platform is there,
                then the time begins: a motion that begins at rest is followed from its beginning.
                An FMU whose outputs are the motion: a `rig.config.ReferenceFmu`, such as `config.reference`.
                A reference: the name of an installed one, which the engine makes; in lockstep also an object, a
                `rig.engine.ReferenceSource`. It is followed from where the platform stands.
            settings: of a named reference.
            name: of the motion, in events and recording; None: the reference's own, the FMU's, or "stream".
            rate: values of a stream a second, at most 2000 Hz. Not for a ring or an FMU, which has `ReferenceFmu.step`.
            duration: s after which a stream ends, of an FMU's own time. Not for a ring.
            cue: tuning of a washout, a .toml file or the name of a shipped one: the stream is a vehicle's motion. Its
                values are specific force, m/s², and angular rate, rad/s, along the vehicle's axes, (6,) or (3,) each.
                The file is read again when it changes. None: as `[stream.cue]` says, without it a stream of poses.
        """
        called = None if name is None else check_name("name of the motion", name)
        if isinstance(source, str) or is_source(source):
            self._follow_source(source, settings, called or "")
            return
        if settings is not None:
            raise InputError("settings: a stream has none, they go with a reference's name")
        options = self.config.stream.cue
        if cue is not None:
            name = os.fspath(cue)
            given = {"tuning": str(Path(name).absolute()) if is_tuning_file(name) else name}
            options = CueOptions(**given) if options is None else options.model_copy(update=given)
        with self._asking():
            if isinstance(source, ReferenceFmu):
                if cue is not None:
                    raise InputError("cue: an FMU gives poses, which go through no washout")
                follow_unit(self.rig, source, called or Path(source.fmu).stem, duration)
            else:
                follow_stream(self.rig, source, called or "stream", rate, duration, options)

    def _follow_source(self, source: str | ReferenceSource, settings: Mapping[str, Any] | None, called: str) -> None:
        with self._asking():
            if isinstance(source, str):
                self.rig.request(FollowSource(source, dict(settings or {}), called))
            elif settings is not None:
                raise InputError("settings: an object has its own, they go with a reference's name")
            elif isinstance(self.rig, LockstepRig):
                self.rig.follow_source(source, called)
            else:
                raise InputError(
                    "source: the engine is another process, which makes a reference by its name: declare it in the "
                    f"entry-point group {SOURCE_GROUP!r}, or open the rig with lockstep=True"
                )

    def wait(self, duration: Amount | None = None, report: Callable[[Progress], None] | None = None) -> None:
        """Wait so many s of the rig's time, or for the end of the started motion."""
        seconds = None if duration is None else positive("duration", duration, TIME)
        with self._asking():
            now = self.rig.status()
            if seconds is not None:
                end = now.t + seconds
                self.rig.wait(lambda status: status.t >= end, seconds + PATIENCE, f"{seconds:g} s to pass")
            elif now.state in (State.RUNNING, State.STOPPING, State.FAULT):
                motion_runner.finish(self.rig, report)

    def pause(self) -> bool:
        """Decelerate along the path to rest; False if the motion ended before. Thread-safe."""
        with self._asking():
            sequence = self._sequence
            if sequence is not None and sequence.pause() is None:
                return True  # it is on its way: whoever runs it sends the pause, or ends it
            self.rig.request(Pause())
            now = self.rig.wait(lambda status: status.state is not State.RUNNING, PATIENCE, "the motion to pause")
            paused = now.resumable
            if not paused and sequence is None:
                motion_runner.finish(self.rig)  # it came to its end before, or was stopped
            return paused

    def resume(self, *, take_over: bool = False) -> None:
        """Continue along the path; `wait` waits for its end.

        A motion begun under another command lease, also a lost one of this client, needs `take_over`.
        """
        with self._asking():
            self.rig.request(Resume(take_over))
            if self._sequence is not None:
                self._sequence.resume(self.rig.status().t)

    def set_speed(self, part: float) -> None:
        """Set the part of full speed, 0.1 to 1, of the present and later motions. Thread-safe.

        The path stays the same; speeds are multiplied by the part, accelerations by its square. Moves to a start, jogs,
        other moves and parking are not affected.
        """
        if not LEAST_PACE <= part <= 1.0:  # nor is what is no number
            raise InputError(f"speed: {part!r} of full speed, must be {LEAST_PACE:g} to 1")
        with self._asking():
            self.rig.request(Pace(part))

    def abandon(self) -> None:
        """Drop the rest of a paused motion, and hold the present pose. Thread-safe."""
        with self._asking():
            sequence = self._sequence
            if sequence is None:
                self.rig.request(Abandon())
                return
            sequence.doubt(False)  # whoever runs it may see the engine forget it before the answer is here
            try:
                self.rig.request(Abandon())
                sequence.end(Finding(Code.ABANDON_REQUESTED))
            finally:
                sequence.doubt(True)

    # -- the rest ----------------------------------------------------------------------------------------------------

    def _move(
        self,
        name: str,
        purpose: MotionKind,
        target: Callable[[Array], Array],
        speed: Amount | None,
        rotation_speed: Amount | None,
    ) -> None:
        peaks = given_speeds(speed, rotation_speed)
        with self._asking():
            here = self.pose
            motion_runner.follow(self.rig, checked_move(self.config, here, target(here), *peaks), name, purpose=purpose)
