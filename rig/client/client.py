"""The rig as a script, a notebook or the console commands it: one object, live and in lockstep."""

from collections.abc import Callable, Sequence
from typing import Literal

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
    jogged,
    motion_of,
    pivot_of,
    positive,
    scale,
    speeds,
    target_pose,
)
from rig.client.hold_to_run import follow_hold_to_run, greatest_speed, hold_to_run_motion
from rig.client.motion_runner import PATIENCE, Progress
from rig.client.motions import checked_move, prepare_motion
from rig.client.sequence import MotionSequence
from rig.client.session import CommandSession
from rig.engine import LEAST_PACE, Abandon, Disconnect, Pace, Pause, Reset, Resume
from rig.errors import InputError
from rig.names import check_name
from rig.runtime import StopRequest
from rig.states import MotionKind, State


class RigClient(CommandSession):
    """A rig under command, from `rig.open`; a context manager, and as good cell by cell.

    A method that moves something returns once that is done, and raises why it is not: RefusedError where a guard or a
    limit says no (nothing has moved), RunFaultError where it ended in a fault or was stopped, HardwareError where
    something does not answer, InputError for an argument. Numbers are SI; text carries its unit: 0.005 is "5 mm".

    Ctrl-C, or a notebook's interrupt, while a method waits: the platform decelerates along its path and holds under
    power (a stop of category 2), and `HoldInterrupt`, a KeyboardInterrupt, says so. The object can be used on:
    `resume`, `abandon`, `park`, `stop`.

    A heartbeat in the background holds the command lease between two calls. `close`, the end of the `with` block, the
    last reference or the interpreter's end brings the platform to rest (torque off, brakes on) and ends the engine
    that was started; one that was attached to goes on unless its owner is gone.

    Args: see `CommandSession`.
    """

    # -- states ------------------------------------------------------------------------------------------------------

    def connect(self, *, reset: bool = False) -> None:
        """OFF → IDLE: open and configure the drives; `reset`: also a fault that they have from before."""
        with self._asking():
            lifecycle.connect(self.rig, reset=reset)

    def home(self, *, connect: bool = True, unproven: bool = False) -> None:
        """IDLE → PARKED: find every leg's reference; from OFF `connect` first. The rig moves.

        Refused where a leg was not tested as it is wired now (`rig setup leg`; `status.unproven` says which), unless
        you say that the wiring is `unproven`. The recording has your word.
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
        """Wait until a platform that is parked has stood for long enough to be engaged."""
        with self._asking():
            lifecycle.settle(self.rig)

    def park(self) -> None:
        """ENGAGED → PARKED: move home, brakes on, torque off. A paused motion is forgotten."""
        with self._asking():
            lifecycle.park(self.rig)

    def stop(self, category: StopRequest = 1) -> None:
        """Stop, from any state: decelerate and hold (2), decelerate and torque off (1), torque off at once (0).

        Any thread may; what another one waits for ends with that.
        """
        if category not in (0, 1, 2):
            raise InputError(f"category: {category} is none of 0, 1, 2")
        self._check_open()
        self.rig.raise_stop_flag(category)  # before all that may wait
        with self._asking():
            if self._sequence is not None:
                self._sequence.end("stopped")
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
            speed, rotation_speed: peak speeds, m/s and rad/s; those of the configuration where none are given.
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
            pivot: (3,) m, point of the platform, in its axes, that it turns about.
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

        The engine lets go by itself where `held` does not answer for `safety.hold_renewal`. The platform comes to a
        smooth stand then, and nothing of the motion is left.

        Args:
            axis, frame, pivot: as for `jog`.
            direction: 1 or -1.
            held: asked again and again whether the motion is to go on.
            speed: m/s, or rad/s about an axis; that of the configuration where none is given.
        """
        if direction not in (1, -1):
            raise InputError(f"direction: {direction!r} is neither 1 nor -1")
        turning = axis in AXES[3:]
        wanted = speeds(self.config, None if turning else speed, speed if turning else None)[turning]
        purpose = MotionKind.LEG_STEP if axis in LEGS else MotionKind.JOG
        with self._asking():
            here = self.pose

            def target(extent: float) -> Array:
                return jogged(self.config, here, axis, direction * extent, frame, pivot)

            target(0.0)  # names what is wrong with an argument
            greatest = greatest_speed(self.config, axis, pivot_of(pivot))
            way = hold_to_run_motion(self.config, target, wanted, greatest, turning=turning)
            follow_hold_to_run(self.rig, way, f"hold {'+' if direction > 0 else '-'}{axis}", purpose, held)

    def run(
        self,
        motion: Motion,
        *,
        amplitude: float = 1.0,
        repeats: int = 1,
        report: Callable[[Progress], None] | None = None,
        name: str | None = None,
    ) -> None:
        """Move to where a motion starts, rest there, and follow it to its end; checked whole before anything moves.

        Args:
            motion: a trajectory file, the name of a shipped one, its content as a dict (lengths about home), or a
                trajectory.
            amplitude: its size about its start pose.
            repeats: how many times, each from its start.
            report: told the progress.
            name: of the motion, in events and recording.
        """
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
        """As `run`, but return as soon as the motion has begun; `wait` waits to its end."""
        label, trajectory = motion_of(self.config, motion)
        called = check_name("name of the motion", name or label)
        table = prepare_motion(self.config, trajectory, scale("amplitude", amplitude))
        with self._asking():
            motion_runner.move_to_start(self.rig, table, report)
            motion_runner.begin(self.rig, table, called)

    def wait(self, duration: Amount | None = None, report: Callable[[Progress], None] | None = None) -> None:
        """Wait so many s of the rig's time, or to the end of the motion that was started."""
        seconds = None if duration is None else positive("duration", duration, TIME)
        with self._asking():
            now = self.rig.status()
            if seconds is not None:
                end = now.t + seconds
                self.rig.wait(lambda status: status.t >= end, seconds + PATIENCE, f"{seconds:g} s to pass")
            elif now.state in (State.RUNNING, State.STOPPING, State.FAULT):
                motion_runner.finish(self.rig, report)

    def pause(self) -> bool:
        """Slow down along the path and stand; False where the motion came to its end before. Any thread may."""
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
        """Go on along the path; `wait` waits to its end.

        What was begun under another command lease, another client's or one that this one has lost, goes on only with
        `take_over`.
        """
        with self._asking():
            self.rig.request(Resume(take_over))
            if self._sequence is not None:
                self._sequence.resume(self.rig.status().t)

    def set_speed(self, part: float) -> None:
        """Follow motions at this part of full speed, 0.1 to 1, from now on, also one that is followed. Any thread may.

        Slower along the same path: speeds are that part of what they would be, accelerations its square. Motions to a
        start, jogs, moves and parking are not concerned.
        """
        if not LEAST_PACE <= part <= 1.0:  # nor is what is no number
            raise InputError(f"speed: {part!r} of full speed, must be {LEAST_PACE:g} to 1")
        with self._asking():
            self.rig.request(Pace(part))

    def abandon(self) -> None:
        """Forget the rest of a motion that is paused, and hold where the platform stands. Any thread may."""
        with self._asking():
            sequence = self._sequence
            if sequence is None:
                self.rig.request(Abandon())
                return
            sequence.doubt(False)  # whoever runs it may see the engine forget it before the answer is here
            try:
                self.rig.request(Abandon())
                sequence.end("abandoned")
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
        peaks = speeds(self.config, speed, rotation_speed)
        with self._asking():
            here = self.pose
            motion_runner.follow(self.rig, checked_move(self.config, here, target(here), *peaks), name, purpose=purpose)
