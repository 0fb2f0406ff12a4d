"""The data of a cycle: the estimated pose, reference, model at each leg's own time, and the telemetry row of it."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from actuators import Command
from dynamics import Dynamics, DynamicsError
from kinematics import (
    CONVERGED,
    FORWARD_WORK,
    Array,
    Geometry,
    condition_number_kernel,
    forward_kinematics_kernel,
    inverse_kinematics_kernel,
    kernel,
    leg_rows_kernel,
    solve_kernel,
)
from rig.config import RigConfig
from rig.engine.drive_group import DriveGroup
from rig.engine.reference import Reference
from rig.engine.zero_order_hold import ZeroOrderHold
from rig.runtime import Tick
from rig.safety import StateMachine
from rig.telemetry import ROW, CycleFlag, RowWriter

_TOLERANCE = 1e-9  # m, far below what a drive resolves
_ITERATIONS = 8


@kernel
def _twist_kernel(geometry: Array, pose: Array, velocity: Array, rows: Array, twist: Array) -> bool:
    """Twist (6,) whose leg speeds at `pose` are `velocity` (6,): Hᵀ [v; ω] = L̇. False at a singular pose."""
    leg_rows_kernel(geometry, pose, rows)
    for i in range(6):
        rows[i, 6] = velocity[i]
    if solve_kernel(rows) == 0.0:
        return False
    for i in range(6):
        twist[i] = rows[i, 6]
    return True


@kernel
def estimate_kernel(
    geometry: Array, length: Array, velocity: Array, pose: Array, twist: Array, work: Array, rows: Array
) -> bool:
    """Move `pose` (7,) on to the leg `length` (6,), m, and fill `twist` (6,) from `velocity` (6,), m/s.

    geometry (6, 9), work (FORWARD_WORK,), rows (6, 7). False when the lengths have no pose near, or a singular one.
    """
    status, _, _, _ = forward_kinematics_kernel(geometry, length, pose, _TOLERANCE, _ITERATIONS, work)
    return status == CONVERGED and _twist_kernel(geometry, pose, velocity, rows, twist)


class PoseEstimator:
    """Forward kinematics of each cycle, from the pose of the cycle before.

    Args:
        geometry: of the platform; must have a home pose.
    """

    def __init__(self, geometry: Geometry) -> None:
        self._geometry = geometry.array
        self._home = geometry.home_pose
        self._pose = self._home.copy()
        self._work = np.zeros(FORWARD_WORK)
        self._rows = np.zeros((6, 7))

    def forget(self) -> None:
        """Begin anew from the home pose."""
        self._pose[:] = self._home

    def update(self, length: Array, velocity: Array, pose: Array, twist: Array) -> bool:
        """Fill `pose` (7,) and `twist` (6,), base frame, from leg `length` m and `velocity` m/s (6,).

        False, with both left alone, when the lengths have no pose near the one before.
        """
        if not estimate_kernel(self._geometry, length, velocity, self._pose, twist, self._work, self._rows):
            return False
        pose[:] = self._pose
        return True


_DEPTH = 128
"""cycles that are kept"""


class ModelHistory:
    """What the model said in the last cycles, and between them on a straight line."""

    def __init__(self, terms: int) -> None:
        """terms: how many the model's forces have."""
        self._times = [math.nan] * _DEPTH
        self._cells = np.zeros((_DEPTH, 6))
        self._terms = np.zeros((_DEPTH, terms, 6))
        self._count = 0

    def forget(self) -> None:
        """Begin anew: what was before is another machine's, or of nowhere."""
        self._count = 0

    def note(self, t: float, cells: Array, terms: Array) -> None:
        """Keep the forces at the cells (6,) and by term (n, 6) of the cycle at `t`, s; later than the one before."""
        place = self._count % _DEPTH
        self._times[place] = t
        self._cells[place], self._terms[place] = cells, terms
        self._count += 1

    def recall(self, t: float, leg: int, cells: Array, terms: Array) -> bool:
        """Put in what the model said of a leg (index) at `t`, s; False, and nothing put in, where that is not kept."""
        for back in range(1, min(self._count, _DEPTH)):
            after, before = (self._count - back) % _DEPTH, (self._count - back - 1) % _DEPTH
            if self._times[before] <= t <= self._times[after]:
                part = (t - self._times[before]) / (self._times[after] - self._times[before])
                for kept, out in ((self._cells[:, leg], cells[leg : leg + 1]), (self._terms[:, :, leg], terms[:, leg])):
                    out[:] = (1.0 - part) * kept[before] + part * kept[after]
                return True
        return False


_SAME_TIME = 2e-5
"""s; a force changes by nothing that can be measured in it"""


_ASKED_LATER, _READ_LATER, _READ_BEFORE = 1, 2, 4
"""Bits of what drives and cells of a cycle may be: not all at its time."""


@kernel
def carry_legs_kernel(legs: Array, later: Array, read: Array, lengths: Array, speeds: Array) -> int:
    """Lengths, m, and speeds, m/s, (6,) `later` (6,) s than `legs` (6, ≥3) has them with their accelerations.

    Returns bits of `_ASKED_LATER`, by `later`, and of the other two by `read` (6,), when cells were read, s.
    """
    bits = 0
    for i in range(6):
        length, speed, acceleration = legs[i, 0], legs[i, 1], legs[i, 2]
        lengths[i] = length + later[i] * (speed + 0.5 * later[i] * acceleration)
        speeds[i] = speed + later[i] * acceleration
        if later[i] != 0.0:
            bits |= _ASKED_LATER
        if read[i] > 0.0:
            bits |= _READ_LATER
        elif read[i] < -_SAME_TIME:
            bits |= _READ_BEFORE
    return bits


class CycleData:
    """Holds the telemetry row of the present cycle and computes its fields.

    Args:
        config: gives mechanism, timing and the characteristic length of the condition number.
        force_feedforward: by leg, whether a drive that closes its own loop takes the model's force along.

    `fields` are views of the row's array fields by name, `row` is the row (1,); `now` (19,) is the reference motion,
    `legs` (6, 13) its legs as `kinematics.inverse_kinematics_kernel` gives them, `condition` that of its pose;
    `ahead`, `legs_ahead` and `condition_ahead` are those for which the next command is computed, `ahead_by` s from now.
    `length_error` and `velocity_error` (6,) are m and m/s of the reference of now less measured, `offset` (6,) is how
    long after the cycle's time they were, s; `elapsed` s ago the cycle before was; `dynamics` is the exact model.
    `held` is what drives give of forces that are held.
    """

    def __init__(self, config: RigConfig, force_feedforward: Sequence[bool] = (False,) * 6) -> None:
        mechanism = config.machine
        self.row = np.zeros(1, ROW)
        self.fields: dict[str, Array] = {name: self.row[name][0] for name in ROW.names or () if ROW[name].shape}
        self.now = np.zeros(19)
        self.legs = np.zeros((6, 13))
        self.condition = math.nan
        self.ahead = np.zeros(19)
        self.legs_ahead = np.zeros((6, 13))
        self.condition_ahead = math.nan
        self.length_error = np.zeros(6)
        self.velocity_error = np.zeros(6)
        self.pose_valid = False
        self.elapsed = config.period
        self.dynamics = Dynamics(mechanism, coulomb_speed=config.control.coulomb_speed)
        self.held = ZeroOrderHold(config, force_feedforward)
        self._home = mechanism.geometry.home_pose
        self._marks = config.marks
        self._geometry = mechanism.geometry.array
        self._estimator = PoseEstimator(mechanism.geometry)
        self.offset = np.zeros(6)
        self._cells_offset = np.zeros(6)
        self._apart = 0
        named = self.fields
        self._modelled = named["force_model"], named["terms"], named["force_held"], named["velocity_held"]
        self._history = ModelHistory(len(self.fields["terms"]))
        self._reference: Reference | None = None
        self._shifted, self._legs_shifted = np.zeros(19), np.zeros((6, 13))
        self._legs_of_forces = self.legs_ahead
        self.ahead_by = config.period + config.command_lead
        self._forces_ahead_by = config.period + config.force_lead
        self._characteristic_length = config.safety.characteristic_length
        self._work = np.zeros((6, 6))

    def forget(self) -> None:
        """Look for the measured pose from home again."""
        self._estimator.forget()
        self._history.forget()
        self.held.forget()

    def measure(self, bank: DriveGroup, *, homed: bool) -> None:
        """Take over the feedback, and the pose and twist that follow from it where lengths are absolute."""
        fields = self.fields
        fields["length"][:] = bank.length
        fields["velocity"][:] = bank.velocity
        fields["force_measured"][:] = bank.force
        self.offset[:], self._cells_offset[:] = bank.offset, bank.cells_offset
        lengths = bank.length - bank.offset * bank.velocity  # all at the cycle's time
        self.pose_valid = homed and self._estimator.update(lengths, bank.velocity, fields["pose"], fields["twist"])
        if not self.pose_valid:
            fields["pose"][:] = fields["twist"][:] = math.nan

    def refer(self, reference: Reference | None) -> None:
        """Evaluate the reference of now, its legs and conditioning; each leg's own when its length was measured.

        With None the host closes no loop: the reference is the measured pose at rest, or home where there is none.
        """
        now, fields = self.now, self.fields
        self._reference = reference
        if reference is not None:
            reference.evaluate(0.0, now)
        else:
            now[:] = 0.0
            now[:7] = fields["pose"] if self.pose_valid else self._home
        inverse_kinematics_kernel(self._geometry, now, self.legs)
        fields["reference"][:] = now
        lengths, speeds = fields["length_reference"], fields["velocity_reference"]
        self._apart = carry_legs_kernel(self.legs, self.offset, self._cells_offset, lengths, speeds)
        np.subtract(lengths, fields["length"], out=self.length_error)
        np.subtract(speeds, fields["velocity"], out=self.velocity_error)
        self.condition = condition_number_kernel(self._geometry, now[:7], self._characteristic_length, self._work)

    def refer_leg(self, leg: int, length: float, speed: float) -> None:
        """Have one leg (index) be referred to a length, m, and a speed, m/s, of its own."""
        fields = self.fields
        fields["length_reference"][leg], fields["velocity_reference"][leg] = length, speed

    def model(self, t: float, *, known: bool) -> None:
        """The model at the cells and by term at the reference of now, `t` s; not a number where no pose is `known`.

        Of a leg whose cell was read later in the cycle, at the reference of then; of one that was read before it, as
        the model was then. To it is added what held forces are more at that instant, see `ZeroOrderHold`.

        Raises:
            DynamicsError: the model has no solution there.
        """
        fields = self.fields
        model, terms, held, rates = self._modelled
        if known:
            try:
                modelled = self.dynamics.cell_and_terms(self.now)
            except DynamicsError:
                self._no_model()
                raise
            model[:], terms[:] = modelled.cells, modelled.terms
            self._history.note(t, modelled.cells, modelled.terms)
            if self._apart & _READ_LATER:
                for legs in self._later(self._cells_offset, 0.0):
                    modelled = self.dynamics.cell_and_terms(self._shifted)
                    model[legs], terms[:, legs] = modelled.cells[legs], modelled.terms[:, legs]
            if self._apart & _READ_BEFORE:
                for leg in np.flatnonzero(self._cells_offset < -_SAME_TIME).tolist():
                    self._history.recall(t + self._cells_offset[leg], leg, model, terms)
            speeds = fields["velocity_reference"]
            self.held.excess(t, self.offset, self._cells_offset, terms, speeds, self.legs, self.now, held, rates)
            model += held
        else:
            self._no_model()
            self._history.forget()
        np.subtract(fields["force_measured"], model, out=fields["force_residual"])

    def _no_model(self) -> None:
        model, terms, held, rates = self._modelled
        model[:] = terms[:] = math.nan
        held[:] = rates[:] = 0.0

    def no_command(self) -> None:
        """No set-point is commanded in this cycle."""
        self.fields["force_feedforward"][:] = self.fields["force_command"][:] = 0.0
        self.fields["position_command"][:] = math.nan

    def foresee(self, reference: Reference) -> None:
        """Evaluate the reference of the time at which the next exchange acts, its legs and conditioning.

        Raises:
            DynamicsError: the reference is not defined there.
        """
        ahead = self.ahead
        if not reference.evaluate(self.ahead_by, ahead):
            raise DynamicsError("the reference is not defined at the time of the next command")
        inverse_kinematics_kernel(self._geometry, ahead, self.legs_ahead)
        self.condition_ahead = condition_number_kernel(
            self._geometry, ahead[:7], self._characteristic_length, self._work
        )

    def force_ahead(self) -> None:
        """Fill `force_feedforward` with the model's forces at the time at which each leg's next command acts.

        Raises:
            DynamicsError: the model has no solution there.
        """
        forces, by = self.fields["force_feedforward"], self._forces_ahead_by
        motion, self._legs_of_forces = self.ahead, self.legs_ahead
        if by != self.ahead_by and self._reference is not None and self._reference.evaluate(by, self._shifted):
            motion, self._legs_of_forces = self._shifted, self._legs_shifted
            inverse_kinematics_kernel(self._geometry, motion, self._legs_of_forces)
        self.dynamics.forces(motion, out=forces)
        if self._apart & _ASKED_LATER:
            for legs in self._later(self.offset, by):
                forces[legs] = self.dynamics.forces(self._shifted)[legs]

    def note_command(self, t: float) -> None:
        """The forces of `force_ahead` are commanded in the cycle at `t`, s."""
        self.held.note(t, self.fields["force_feedforward"], self._legs_of_forces[:, 1], self.legs_ahead)

    def _later(self, offset: Array, ahead: float) -> Iterator[NDArray[np.intp]]:
        """Legs whose time within the cycle is the same, at which `_shifted` is the reference `ahead` s from now."""
        if self._reference is None:
            return
        times = np.round(offset / _SAME_TIME)
        for time in np.unique(times[times > 0.0]):
            if self._reference.evaluate(ahead + float(time) * _SAME_TIME, self._shifted):
                yield np.flatnonzero(times == time)

    def home_error(self, bank: DriveGroup) -> tuple[int, float] | None:
        """Leg index and error, m, of the leg that stands farthest from its length at its mark; None if no pose fits."""
        self._estimator.forget()
        if not self._estimator.update(bank.length, bank.velocity, self.fields["pose"], self.fields["twist"]):
            return None
        error = bank.length - self._marks
        leg = int(np.argmax(np.abs(error)))
        return leg, float(error[leg])


_FRESH, _HOMED, _POSE, _PAUSED, _LATCHED = (flag.value for flag in CycleFlag)


class CycleRow:
    """Completes the row that `frame` holds.

    Args:
        frame: its row is written.
        machine, bank, reference: what is reported.
    """

    def __init__(self, frame: CycleData, machine: StateMachine, bank: DriveGroup, reference: Reference) -> None:
        self._frame = frame
        self._machine = machine
        self._bank = bank
        self._reference = reference
        self._row = RowWriter(frame.row)

    def complete(
        self,
        tick: Tick,
        cycles: int,
        motion: int,
        commands: Sequence[Command],
        exchange_time: float,
        compute_time: float,
    ) -> None:
        """Write the scalars of the cycle at `tick`.

        Args:
            tick: the cycle's time.
            cycles: done before it.
            motion: id of the motion under way, 0 for none.
            commands: the six decided in it.
            exchange_time, compute_time: s.
        """
        machine, bank, reference, frame = self._machine, self._bank, self._reference, self._frame
        cause = machine.cause
        flags = (
            (0 if any(bank.stale) else _FRESH)
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
            cycles + tick.overruns,
            tick.overruns,
            flags,
            motion,
            *bank.error,
            *bank.stale,
            *bank.status,
            0 if cause is None else cause.code.value,
            machine.state.value,
            machine.stop.value,
            0 if cause is None else cause.leg,
            *[command.mode for command in commands],
        )
