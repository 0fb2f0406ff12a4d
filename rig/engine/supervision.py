"""What stops the rig by itself: timing, feedback, reference and recording, judged every cycle."""

import math
from collections.abc import Callable
from typing import Literal, Protocol

import numpy as np

from actuators import Status
from dynamics import DynamicsError
from kinematics import Array
from rig.config import RigConfig
from rig.engine.braking import Braking
from rig.engine.cycle_data import CycleData
from rig.engine.drive_group import DriveGroup
from rig.engine.laws import ControlLaw
from rig.engine.reference import Reference
from rig.findings import Code, Finding, Value
from rig.safety import (
    LAW_STATES,
    TORQUE_STATES,
    Cause,
    FeedbackMonitor,
    LegReference,
    MeasuredBounds,
    Recheck,
    ReferenceCheck,
    RestMonitor,
    StateMachine,
    TorqueChecks,
    TrafficCheck,
    Trip,
    no_recheck,
)
from rig.states import State, StopSeverity

ROOM_BOUNDS = (600.0, 120.0)
"""s of room on the disk below which it is warned, once each."""
_MORE_ROOM = 1.2
"""Times a bound, beyond which there is room again."""


class Stops(Protocol):
    """Where a finding goes, and what is to be said without stopping."""

    def trip(
        self,
        cause: Cause,
        category: StopSeverity,
        *,
        latch: bool = True,
        unhome: bool = False,
        recheck: Recheck = no_recheck,
    ) -> None:
        """Stop the rig for `cause`; recheck: see `Trip`."""

    def record(self, level: Literal["info", "warning", "error"], finding: Finding) -> None:
        """Report an event."""


class Supervision:
    """Judges each cycle and stops the rig for what it finds.

    Args:
        config: gives the bounds.
        law: the one in command, which says what of it means something.
        bank, machine, frame, limits: what is judged.
        stops: told what was found.
    """

    def __init__(
        self,
        config: RigConfig,
        law: ControlLaw,
        bank: DriveGroup,
        machine: StateMachine,
        frame: CycleData,
        limits: ReferenceCheck,
        stops: Stops,
    ) -> None:
        self._config = config
        self.law = law
        self._bank = bank
        self._machine = machine
        self._frame = frame
        self._legs_reference = LegReference(frame.fields["length_reference"], frame.fields["velocity_reference"])
        self._limits = limits
        self._stops = stops
        self._monitor = FeedbackMonitor(config, bank.resolution, bank.velocity_feedback)
        self._measured = MeasuredBounds(config.machine, config.safety, bank.auxiliary)
        self._rest = RestMonitor(config.safety)
        self._braking = Braking(config, limits)
        self._looked_at = 0
        self._torque = TorqueChecks(machine, bank.homing_ends_off)
        self._lag: list[float] = bank.lag.tolist()
        self._traffic = TrafficCheck(config.safety.rejected_replies)
        self._overruns_in_a_row = 0
        self._unrecorded = False
        self._room = math.inf
        self._short = 0
        """how many of `ROOM_BOUNDS` there was less room than, as was reported"""

    @property
    def controlled(self) -> bool:
        """Whether the control law commands the drives: what the feedback says of the control means something."""
        return self._machine.state in LAW_STATES and self._machine.stop < StopSeverity.QUICK_STOP

    def forget(self) -> None:
        """Begin anew: the next sample is compared with none before it."""
        self._monitor.forget()
        self._rest.forget()
        self._torque.forget()
        self._traffic.forget()

    def rehearse(self) -> None:
        """Judge the bank's present values once, so that kernels are compiled; nothing is stopped."""
        bank, frame = self._bank, self._frame
        length, velocity, force, residual = bank.length, bank.velocity, bank.force, frame.fields["force_residual"]
        self._limits.judge(0.0, frame.legs, frame.condition)
        self._limits.judge_step(0.0, frame.legs, frame.legs_ahead, frame.ahead_by)
        standing = Reference(frame.now[:7])
        self._braking.keep(0.0, frame.now, frame.legs, standing)
        self._braking.brake(standing, 0.0)
        self._braking.forget()
        self._monitor.check_motion(0.0, 1.0, bank, LegReference(length, velocity), homed=True, controlled=True)
        self._monitor.check_forces(0.0, bank, residual, controlled=False)
        self._measured.check_speed(0.0, bank.fresh, velocity)
        self._measured.check_force(0.0, bank.fresh, force, Code.FORCE_WHILE_HOMING)
        self._rest.check(0.0, 1.0, bank.fresh, bank.status, length, velocity, self._monitor.departure, homed=True)
        self.forget()

    def timing(self, t: float, missed: int) -> None:
        """Judge that `missed` cycles were skipped before the one at rig time `t` (s)."""
        bound, watchdog = self._config.safety.overruns_in_a_row, self._config.drives.watchdog
        self._overruns_in_a_row = self._overruns_in_a_row + 1 if missed else 0
        if missed * self._config.period > watchdog:
            self.stood_still(t, missed * self._config.period)
        elif self._overruns_in_a_row >= bound:
            found = Finding(Code.OVERRUNS, 0, self._overruns_in_a_row, bound)
            self._stops.trip(Cause(found, t), StopSeverity.CATEGORY_1, latch=False)

    def stood_still(self, t: float, held: float) -> None:
        """Judge that the process was not run for `held` s before the feedback that the cycle at `t` (s) has now."""
        watchdog = self._config.drives.watchdog
        if held > watchdog:
            self._stops.trip(Cause(Finding(Code.HOST_SUSPENDED, 0, held, watchdog), t), StopSeverity.QUICK_STOP)

    def feedback(self, t: float, elapsed: float) -> None:
        """Judge the last exchange, made at rig time `t` (s), `elapsed` s after the one before."""
        bank, machine, monitor, frame, law = self._bank, self._machine, self._monitor, self._frame, self.law
        self._trip(monitor.check_drives(t, bank, homed=machine.homed))
        self._trip_or_report(
            self._torque.check(t, bank.stale, bank.status, bank.asked, bank.searching)
        )  # a fault of the drive would explain its torque
        lag = bank.lag.tolist()
        if lag != self._lag:
            self._say_lag(lag)
        if self._traffic.due(t):
            disturbed, warnings = self._traffic.check(t, bank.traffic)
            for warning in warnings:
                self._stops.record("warning", warning)
            self._trip(disturbed)
        self.references()
        self._trip(
            monitor.check_motion(
                t,
                elapsed,
                bank,
                self._legs_reference,
                homed=machine.homed if law.platform else law.homed,
                controlled=self.controlled if law.platform else law.commanded,
                following_error_stop=law.following_error_stop,
            )
        )
        if machine.homed and not frame.pose_valid and bank.fresh.all():
            cause = Cause(Finding(Code.LENGTHS_WITHOUT_POSE), t)
            self._stops.trip(cause, StopSeverity.QUICK_STOP, recheck=self._poseless)
        residual = frame.fields["force_residual"]
        self._trip(
            monitor.check_forces(
                t,
                bank,
                residual,
                controlled=self.controlled and law.platform,
                alive=law.platform and machine.state is not State.IDLE,
            )
        )

    def references(self) -> None:
        """Where a drive has lost its reference the rig is not homed any more, whatever else was found."""
        if not self._bank.all(Status.HOMED):
            self._machine.homed = False

    def measured(self, t: float, elapsed: float) -> None:
        """Judge what is measured against the machine's own limits; arguments as `feedback`, which comes first."""
        bank, machine, measured = self._bank, self._machine, self._measured
        self._looked_at = (self._looked_at + 1) % 6  # these change slowly: one drive a cycle
        self._trip(measured.check_drive(t, self._looked_at))
        lost = bank.watchdog_fault(self._looked_at)
        if lost and machine.state in TORQUE_STATES:  # elsewhere engaging is refused
            leg = self._looked_at + 1
            cause = Cause(Finding(Code.NO_WATCHDOG, leg, details={"text": lost}), t)
            self._stops.trip(cause, StopSeverity.CATEGORY_1)
        if machine.state not in TORQUE_STATES:
            departure = self._monitor.departure
            found = self._rest.check(
                t, elapsed, bank.fresh, bank.status, bank.length, bank.velocity, departure, homed=machine.homed
            )
            self._trip_or_report(found)
            return
        self._rest.forget()
        if machine.stop < StopSeverity.QUICK_STOP:
            self._trip(measured.check_speed(t, bank.fresh, bank.velocity))
        if not bank.cells_fresh:
            return
        if machine.state is State.HOMING:
            self._trip(measured.check_force(t, bank.fresh, bank.force, Code.FORCE_WHILE_HOMING))
        elif self.controlled and any(self.law.own_loops):
            # a test tells of a dead cell; where six drives hold, one at its end of scale may be a force as well
            scale = math.inf if self.law.platform else self._config.load_cells.range
            fresh = np.multiply(bank.fresh, self.law.own_loops)
            self._trip(measured.check_force(t, fresh, bank.force, Code.FORCE_WHILE_HOLDING, scale))

    def reference(self, t: float, reference: Reference) -> None:
        """Judge the `reference` of rig time `t` (s), where the host follows one; one that fails is not followed."""
        frame, braking = self._frame, self._braking
        if not (self.controlled and self.law.platform):
            braking.forget()
            return
        found = self._limits.judge(t, frame.legs, frame.condition)
        if self._passes(found or braking.judge_step(t, frame.legs, reference)):
            braking.keep(t, frame.now, frame.legs, reference)
        else:
            braking.brake(reference, t)
            frame.refer(reference)

    def foresee(self, t: float, reference: Reference) -> None:
        """Judge what the next command of rig time `t` (s) is to be computed for; what fails is not commanded.

        Raises:
            DynamicsError: the reference is not defined there.
        """
        frame = self._frame
        frame.foresee(reference)
        limits, ahead = self._limits, frame.legs_ahead
        found = limits.judge(t, ahead, frame.condition_ahead)
        if not self._passes(found or limits.judge_step(t, frame.legs, ahead, frame.ahead_by)):
            self._braking.brake(reference, t)
            frame.foresee(reference)

    def come_to_rest(self, t: float, reference: Reference) -> None:
        """Let the `reference` come to rest from the last good one, unless it does already; see `foresee`."""
        if not self._braking.active(reference):
            self._braking.brake(reference, t)
        self._frame.foresee(reference)

    def _passes(self, cause: Cause | None) -> bool:
        if cause is not None:
            self._stops.trip(cause, StopSeverity.CATEGORY_2)
        return cause is None

    def lengths(self, t: float, command: Array) -> bool:
        """Whether the lengths (6,) m that are to be commanded at rig time `t` (s), NaN for none, are the legs' to take.

        The last look at what a drive's own loop would follow, however it came about.
        """
        low, high = self._limits.legs[:, 0], self._limits.legs[:, 1]
        beyond = (command < low) | (command > high)
        if not beyond.any():
            return True
        leg = int(np.flatnonzero(beyond)[0])
        limits: dict[str, Value] = {"low": float(low[leg]), "high": float(high[leg])}
        found = Finding(Code.COMMANDED_LENGTH, leg + 1, float(command[leg]), details=limits)
        self._stops.trip(Cause(found, t), StopSeverity.QUICK_STOP)
        return False

    def recording(self, t: float, fault: str, room: float) -> None:
        """Judge at rig time `t` (s) the recording, where the disk has room for `room` s more.

        `fault`: why nothing is recorded, empty while recording is healthy.
        """
        if fault and self._machine.state is State.RUNNING:
            failed = Finding(Code.RECORDING_FAILED, details={"text": fault})
            self._stops.trip(Cause(failed, t), StopSeverity.CATEGORY_2, latch=False)
        elif fault and not self._unrecorded:
            self._stops.record("warning", Finding(Code.NOT_RECORDED, details={"text": fault}))
        self._unrecorded = bool(fault)
        if room != self._room:
            self._say_room(room)

    def guarded(self, t: float, compute: Callable[[], object]) -> bool:
        """Do a computation of the model; False where it has no answer, and the rig is stopped for it."""
        try:
            compute()
        except DynamicsError as error:
            found = Finding(Code.NO_MODEL, details={"text": str(error)})
            self._stops.trip(Cause(found, t), StopSeverity.QUICK_STOP)
            return False
        return True

    def _say_room(self, room: float) -> None:
        """Once when the room for the recording has become less than each bound; again after it was clearly more."""
        self._room = room
        short = sum(room < bound for bound in ROOM_BOUNDS)
        if short > self._short:
            left: dict[str, Value] = {"minutes": room / 60.0, "least": ROOM_BOUNDS[short - 1] / 60.0}
            self._stops.record("warning", Finding(Code.DISK_NEARLY_FULL, details=left))
        if short > self._short or (self._short and room > _MORE_ROOM * ROOM_BOUNDS[self._short - 1]):
            self._short = short

    def _say_lag(self, now: list[float]) -> None:
        """Once when replies have come to be older, or younger, by whole cycles: what they are now, by leg."""
        bound = self._config.safety.echo_lag
        for leg, (lag, before) in enumerate(zip(now, self._lag, strict=True), start=1):
            if lag == before:
                continue
            if not lag:
                self._stops.record("info", Finding(Code.REPLIES_PROMPT, leg))
                continue
            code = Code.REPLIES_OLD if lag > 1 else Code.REPLIES_ONE_CYCLE_OLD
            self._stops.record("warning", Finding(code, leg, bound=bound, details={"cycles": lag}))
        self._lag = now

    def _trip(self, trip: Trip | None) -> None:
        if trip is not None:
            self._stops.trip(trip.cause, trip.category, unhome=trip.unhome, recheck=trip.recheck)

    def _trip_or_report(self, trip: Trip | None) -> None:
        """Stop for what is reported in any case, where it is not the first cause beside that."""
        if trip is not None and self._machine.state is State.FAULT:
            self._stops.record("error", trip.cause.finding)
        self._trip(trip)

    def _poseless(self) -> Finding | None:
        lost = self._machine.homed and self._frame.home_error(self._bank) is None
        return Finding(Code.NO_POSE) if lost else None
