"""The data of a cycle: measurement, reference, model and set-points, and the telemetry row that records them.

The arrays of all four are views of one telemetry row, so that the computed values are the recorded ones.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from actuators import Command, Commands
from dynamics import WORK_SIZE, Dynamics, DynamicsError, cell_and_terms_kernel, model_failure
from kinematics import (
    CONVERGED,
    FORWARD_WORK,
    Array,
    condition_number_kernel,
    forward_kinematics_kernel,
    inlined,
    inverse_kinematics_kernel,
    kernel,
    leg_rows_kernel,
    solve_kernel,
)
from rig.config import RigConfig
from rig.engine.drive_group import DriveGroup
from rig.engine.reference import Reference
from rig.engine.zero_order_hold import ZeroOrderHold, zero_order_hold_kernel
from rig.runtime import Tick
from rig.safety import Cause, ReferenceCheck, StateMachine, continue_kernel
from rig.telemetry import ROW, CycleFlag, RowWriter

Frame = NDArray[np.void]

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

    geometry (6, 9), work (FORWARD_WORK,), rows (6, 7). False if the lengths have no near pose, or a singular one.
    """
    status, _, _, _ = forward_kinematics_kernel(geometry, length, pose, _TOLERANCE, _ITERATIONS, work)
    return status == CONVERGED and _twist_kernel(geometry, pose, velocity, rows, twist)


FRAME = np.dtype(
    [
        ("row", ROW),
        ("offset", np.float64, (6,)),
        ("cells_offset", np.float64, (6,)),
        ("estimate", np.float64, (7,)),
        ("legs", np.float64, (6, 13)),
        ("length_error", np.float64, (6,)),
        ("velocity_error", np.float64, (6,)),
        ("ahead", np.float64, (19,)),
        ("legs_ahead", np.float64, (6, 13)),
        ("characteristic_length", np.float64),
        ("lengths", np.float64, (6,)),
        ("forward_work", np.float64, (FORWARD_WORK,)),
        ("rows", np.float64, (6, 7)),
        ("condition_work", np.float64, (6, 6)),
        ("forces", np.float64, (6,)),
    ],
    align=True,
)
"""numpy dtype of the data of a cycle, with its telemetry row first: one array for the kernels instead of twenty.

`offset` and `cells_offset` are those of `Measurement`, `estimate` the last pose found; `legs`, `length_error`,
`velocity_error`, `ahead` and `legs_ahead` are those of `ReferenceMotion`; `characteristic_length`, m, is the one of the
condition number; the rest is scratch. A kernel passes a field on as `field[:]`, an array as any other: for fields
themselves all that it calls would be compiled once more.
"""


@kernel
def locate_kernel(frame: Frame, geometry: Array, length: Array, velocity: Array, offset: Array, homed: bool) -> bool:
    """Estimate the row's `pose` and `twist`, NaN where there is none; returns whether there is one.

    geometry: (6, 9) of the platform.
    length (6,), m, and velocity (6,), m/s, were read `offset` (6,), s, after the cycle's time. homed: whether the
    lengths are absolute.
    """
    data = frame[0]
    pose, twist, lengths, now = data.row.pose[:], data.row.twist[:], data.lengths[:], data.estimate[:]
    for i in range(6):
        lengths[i] = length[i] - offset[i] * velocity[i]  # all at the cycle's time
    valid = homed and estimate_kernel(geometry, lengths, velocity, now, twist, data.forward_work[:], data.rows[:])
    for k in range(7):
        pose[k] = now[k] if valid else np.nan
    if not valid:
        for k in range(6):
            twist[k] = np.nan
    return valid


@kernel
def measure_kernel(
    frame: Frame, geometry: Array, length: Array, velocity: Array, force: Array, offset: Array, cells_offset: Array,
    homed: bool,
) -> bool:  # fmt: skip
    """Take the feedback of drives and cells, (6,) each, into the frame, and do as `locate_kernel`."""
    data = frame[0]
    row = data.row
    for i in range(6):
        row.length[i], row.velocity[i], row.force_measured[i] = length[i], velocity[i], force[i]
        data.offset[i], data.cells_offset[i] = offset[i], cells_offset[i]
    valid: bool = locate_kernel(frame, geometry, length, velocity, offset, homed)
    return valid


_DEPTH = 128
"""number of stored cycles"""


class ModelHistory:
    """The model's forces in the last cycles, interpolated linearly between them."""

    def __init__(self, terms: int) -> None:
        """terms: number of terms of the model's forces."""
        self._times = [math.nan] * _DEPTH
        self.cells, self.terms = np.zeros((_DEPTH, 6)), np.zeros((_DEPTH, terms, 6))
        """N, at the cells and by term, of the stored cycles"""
        self._count = 0

    def forget(self) -> None:
        """Drop all values."""
        self._count = 0

    @property
    def place(self) -> int:
        """Where in `cells` and `terms` the next ones go."""
        return self._count % _DEPTH

    def stored(self, t: float) -> None:
        """Those of the cycle at `t`, s, later than the one before, are at `place`, which moves on."""
        self._times[self.place] = t
        self._count += 1

    def recall(self, t: float, leg: int, cells: Array, terms: Array) -> bool:
        """Fill in the model's forces of a leg (index) at `t`, s; False, with no change, if they are not stored."""
        for back in range(1, min(self._count, _DEPTH)):
            after, before = (self._count - back) % _DEPTH, (self._count - back - 1) % _DEPTH
            if self._times[before] <= t <= self._times[after]:
                part = (t - self._times[before]) / (self._times[after] - self._times[before])
                for stored, out in (
                    (self.cells[:, leg], cells[leg : leg + 1]),
                    (self.terms[:, :, leg], terms[:, leg]),
                ):
                    out[:] = (1.0 - part) * stored[before] + part * stored[after]
                return True
        return False


_SAME_TIME = 2e-5
"""s, within which a force does not change measurably"""


_ASKED_LATER, _READ_LATER, _READ_BEFORE = 1, 2, 4
"""Bits: feedback that was not read at the cycle's time."""


@kernel
def carry_legs_kernel(legs: Array, later: Array, read: Array, lengths: Array, speeds: Array) -> int:
    """Lengths, m, and speeds, m/s, (6,) `later` (6,) s than `legs` (6, ≥3), extrapolated with the accelerations.

    Returns bits: `_ASKED_LATER` by `later`, the other two by `read` (6,), s, when the cells were read.
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


_AT_ONCE = np.zeros(6)  # s


@inlined
def _legs_and_condition(frame: Frame, geometry: Array, motion: Array, legs: Array) -> float:
    """Evaluate the legs (6, 13) of a motion (19,); returns the condition number."""
    data = frame[0]
    inverse_kinematics_kernel(geometry, motion, legs)
    condition: float = condition_number_kernel(geometry, motion[:7], data.characteristic_length, data.condition_work[:])
    return condition


@kernel
def follow_kernel(frame: Frame, geometry: Array) -> tuple[int, float]:
    """Evaluate the legs of the row's `reference`; returns bits of `carry_legs_kernel`, and the condition number."""
    data = frame[0]
    row = data.row
    condition = _legs_and_condition(frame, geometry, row.reference[:], data.legs[:])
    bits = carry_legs_kernel(data.legs, data.offset, data.cells_offset, row.length_reference, row.velocity_reference)
    for i in range(6):
        data.length_error[i] = row.length_reference[i] - row.length[i]
        data.velocity_error[i] = row.velocity_reference[i] - row.velocity[i]
    return bits, condition


@kernel
def foresee_kernel(
    frame: Frame, geometry: Array, limits: Array, condition_bound: float, allowed: Array, elapsed: float
) -> tuple[float, int, int, float, float]:
    """Evaluate the legs of the motion `ahead`, `elapsed` s after those of now, and judge them by `continue_kernel`.

    Returns the condition number, and what was found.
    """
    data = frame[0]
    condition = _legs_and_condition(frame, geometry, data.ahead[:], data.legs_ahead[:])
    what, leg, value, bound = continue_kernel(
        data.legs_ahead[:], limits, condition, condition_bound, data.legs[:], allowed, elapsed
    )
    return condition, what, leg, value, bound


@kernel
def hold_kernel(frame: Frame, hold: Frame, t: float) -> None:
    """Add to the row's `force_model` what held forces do, and fill its `force_residual`; see `ZeroOrderHold`."""
    row = frame[0].row
    zero_order_hold_kernel(frame, hold, t)
    for i in range(6):
        row.force_model[i] += row.force_held[i]
        row.force_residual[i] = row.force_measured[i] - row.force_model[i]


@kernel
def model_kernel(
    frame: Frame, wrench: Array, work: Array, place: int, cells: Array, terms: Array, hold: Frame, t: float
) -> int:
    """Evaluate the model at the row's `reference`, and store its forces at `place`; returns the model's status.

    If all cells are read at the cycle's time, `t` s, as `hold_kernel` says, too. wrench, work: of
    `dynamics.cell_and_terms_kernel`. cells, terms: of `ModelHistory`.
    """
    data = frame[0]
    row = data.row
    status = cell_and_terms_kernel(
        row.reference[:], wrench, work, data.forces[:], row.force_model[:], row.terms.reshape(30)
    )
    if status != 0:
        return status
    now = True
    for i in range(6):
        cells[place, i] = row.force_model[i]
        for term in range(len(row.terms)):
            terms[place, term, i] = row.terms[term, i]
        now = now and -_SAME_TIME <= data.cells_offset[i] <= 0.0  # as `carry_legs_kernel` has it
    if now:
        hold_kernel(frame, hold, t)
    return status


@dataclass(frozen=True, slots=True)
class Readings:
    """Feedback of six legs, as `DriveGroup` has it: (6,) m, m/s, N, and the two delays of the readings, s."""

    length: Array
    velocity: Array
    force: Array
    offset: Array
    cells_offset: Array


class Measurement:
    """Feedback of drives and load cells in this cycle, and the platform's pose by forward kinematics.

    `length` m, `velocity` m/s and `force` N (6,) are as measured; `offset` and `cells_offset` (6,), s, are the delays
    of the readings of lengths and forces after the cycle's time. `pose` (7,) and `twist` (6,), base frame, are of the
    cycle's time, and NaN unless `pose_valid`.

    Args:
        config: gives geometry and marks.
        frame: (1,) of dtype `FRAME`.
    """

    def __init__(self, config: RigConfig, frame: Frame) -> None:
        row = frame["row"]
        self.length, self.velocity, self.force = row["length"][0], row["velocity"][0], row["force_measured"][0]
        self.pose, self.twist = row["pose"][0], row["twist"][0]
        self.offset, self.cells_offset = frame["offset"][0], frame["cells_offset"][0]
        self.pose_valid = False
        self._frame = frame
        self._home = config.machine.geometry.home_pose
        self._geometry = config.machine.geometry.array
        self.forget()

    def forget(self) -> None:
        """Restart the pose estimate from home."""
        self._frame["estimate"] = self._home

    def take(self, drives: DriveGroup | Readings, *, homed: bool) -> None:
        """Take the feedback; estimate the pose if the lengths are absolute."""
        self.pose_valid = measure_kernel(
            self._frame, self._geometry, drives.length, drives.velocity, drives.force, drives.offset,
            drives.cells_offset, homed,
        )  # fmt: skip

    def located(self, drives: DriveGroup) -> bool:
        """Find the pose anew, from home; False if none fits."""
        self.forget()
        return bool(locate_kernel(self._frame, self._geometry, drives.length, drives.velocity, _AT_ONCE, True))


class ReferenceMotion:
    """The reference motion at the cycle's time and at the time at which the next command acts.

    `now` (19,) is pose, twist and acceleration at the cycle's time, `legs` (6, 13) its legs as
    `kinematics.inverse_kinematics_kernel` gives them, `condition` the condition number of its pose; `ahead`,
    `legs_ahead` and `condition_ahead` are the same `ahead_by` s later. `length` m and `velocity` m/s (6,) are those of
    each leg when it was measured; `length_error` and `velocity_error` (6,) are these less the measured ones.

    Args:
        config: gives the home pose and timing.
        frame: (1,) of dtype `FRAME`.
    """

    def __init__(self, config: RigConfig, frame: Frame) -> None:
        row = frame["row"]
        self._frame = frame
        self.now = row["reference"][0]
        self.legs, self.ahead, self.legs_ahead = frame["legs"][0], frame["ahead"][0], frame["legs_ahead"][0]
        self.condition = math.nan
        self.condition_ahead = math.nan
        self.ahead_by = config.period + config.command_lead
        self.length, self.velocity = row["length_reference"][0], row["velocity_reference"][0]
        self.length_error, self.velocity_error = frame["length_error"][0], frame["velocity_error"][0]
        self.apart = 0
        """bits of `carry_legs_kernel`: feedback that was not read at the cycle's time"""
        self.limits = ReferenceCheck(config.machine, config.safety)
        """bounds of a reference"""
        self.following = np.zeros((6, 13))
        """legs as `legs_ahead`, of a later time; see `follow_on`"""
        self._source: Reference | None = None
        self._home, self._geometry = config.machine.geometry.home_pose, config.machine.geometry.array
        self._moment = np.zeros(19)

    def evaluate(self, source: Reference | None, measurement: Measurement) -> None:
        """Evaluate `source` at the cycle's time, its legs and conditioning, and the legs' errors.

        With None the host closes no loop: the reference is the measured pose at rest, or home if there is none.
        """
        now = self.now
        self._source = source
        if source is not None:
            source.evaluate(0.0, now)
        else:
            now[:] = 0.0
            now[:7] = measurement.pose if measurement.pose_valid else self._home
        self.apart, self.condition = follow_kernel(self._frame, self._geometry)

    def set_leg(self, leg: int, length: float, velocity: float) -> None:
        """Set the length, m, and speed, m/s, of one leg (index)."""
        self.length[leg], self.velocity[leg] = length, velocity

    def foresee(self, source: Reference, t: float) -> Cause | None:
        """Evaluate `source` at the time at which the next command acts, its legs and conditioning.

        Returns the cause to refuse it, by itself or as continuation of the reference of now, at rig time `t` (s).

        Raises:
            DynamicsError: it is not defined there, and its source has no fault, with which the motion is NaN.
        """
        if not source.evaluate(self.ahead_by, self.ahead) and source.fault is None:
            raise DynamicsError("the reference is not defined at the time of the next command")
        limits = self.limits
        self.condition_ahead, what, leg, value, bound = foresee_kernel(
            self._frame, self._geometry, limits.legs, limits.condition, limits.allowed, self.ahead_by
        )
        return limits.cause(what, leg, value, bound, self.ahead_by, t)

    def at(self, later: float) -> Array | None:
        """The motion (19,) `later` s than the cycle's time, valid until the next call; None if there is none."""
        if self._source is None or not self._source.evaluate(later, self._moment):
            return None
        return self._moment

    def follow_on(self, later: float) -> bool:
        """Evaluate the legs `later` s after `legs_ahead` into `following`; False where nothing is known of then."""
        source = self._source
        if source is None or not source.foresees or not source.evaluate(self.ahead_by + later, self._moment):
            return False
        inverse_kinematics_kernel(self._geometry, self._moment, self.following)
        return True

    def by_time(self, offset: Array, later: float) -> Iterator[tuple[NDArray[np.intp], Array]]:
        """Indices of legs with the same `offset` (6,) s above 0, and the motion (19,) `later` s than that."""
        times = np.round(offset / _SAME_TIME)
        for time in np.unique(times[times > 0.0]):
            motion = self.at(later + float(time) * _SAME_TIME)
            if motion is not None:
                yield np.flatnonzero(times == time), motion


class LegForceModel:
    """The exact model's forces: at the load cells now, and as feedforward for the next command.

    `force` (6,) N is the expected reading of the cells, `terms` (n, 6) N its parts; `held` (6,) N and `held_velocity`
    (6,) m/s are the share of the forces that the drives hold between commands, see `ZeroOrderHold`. `residual` (6,) N
    is measured less modelled force. `dynamics` is the exact model.

    Args:
        config: gives mechanism and timing.
        frame: (1,) of dtype `FRAME`.
        force_feedforward, velocity_feedforward: see `ZeroOrderHold`.
    """

    def __init__(
        self,
        config: RigConfig,
        frame: Frame,
        force_feedforward: Sequence[bool],
        velocity_feedforward: Sequence[bool],
    ) -> None:
        row = frame["row"]
        self.dynamics = Dynamics(config.machine, coulomb_speed=config.control.coulomb_speed)
        self.zero_order_hold = ZeroOrderHold(config, force_feedforward, velocity_feedforward)
        self.force, self.terms, self.residual = row["force_model"][0], row["terms"][0], row["force_residual"][0]
        self.held, self.held_velocity = row["force_held"][0], row["velocity_held"][0]
        self._frame = frame
        self._geometry = config.machine.geometry.array
        self._history = ModelHistory(len(self.terms))
        self._work, self._no_wrench = np.zeros(WORK_SIZE), np.zeros(6)
        self._work[: len(self.dynamics.parameters)] = self.dynamics.parameters
        self._forces_ahead_by = config.period + config.force_lead
        self._legs_at_force = np.zeros((6, 13))
        self._speeds_at_force = np.zeros(6)

    def forget(self) -> None:
        """Restart: no command is held, and earlier results are dropped."""
        self._history.forget()
        self.zero_order_hold.forget()

    def evaluate(self, t: float, reference: ReferenceMotion, measurement: Measurement, *, known: bool) -> None:
        """Evaluate the model at the cells and by term at the present reference, `t` s; NaN if no pose is `known`.

        A cell that was read later in the cycle is compared with the model at the reference of that time; one that was
        read earlier, with the stored model. The effect of held forces at that instant is added.

        Raises:
            DynamicsError: the model has no solution there.
        """
        if not known:
            self._no_model()
            self._history.forget()
            np.subtract(measurement.force, self.force, out=self.residual)
            return
        history, hold = self._history, self.zero_order_hold.data
        status = model_kernel(
            self._frame, self._no_wrench, self._work, history.place, history.cells, history.terms, hold, t
        )
        if status != 0:
            self._no_model()
            raise model_failure(status)
        history.stored(t)
        if reference.apart & (_READ_LATER | _READ_BEFORE):
            self._at_times_of_cells(t, reference, measurement.cells_offset)
            hold_kernel(self._frame, hold, t)

    def _at_times_of_cells(self, t: float, reference: ReferenceMotion, cells_offset: Array) -> None:
        """Bring the model's forces to the times at which the cells were read, (6,) s after `t`, s."""
        model, terms = self.force, self.terms
        for legs, motion in reference.by_time(cells_offset, 0.0):
            modelled = self.dynamics.cell_and_terms(motion)
            model[legs], terms[:, legs] = modelled.cells[legs], modelled.terms[:, legs]
        for leg in np.flatnonzero(cells_offset < -_SAME_TIME).tolist():
            self._history.recall(t + cells_offset[leg], leg, model, terms)

    def _no_model(self) -> None:
        self.force[:] = self.terms[:] = math.nan
        self.held[:] = self.held_velocity[:] = 0.0

    def feedforward(self, reference: ReferenceMotion, measurement: Measurement, out: Array) -> None:
        """Fill `out` (6,), N, with the model's forces at the time at which each leg's next command acts.

        Raises:
            DynamicsError: the model has no solution there.
        """
        by, motion, legs = self._forces_ahead_by, reference.ahead, reference.legs_ahead
        shifted = reference.at(by) if by != reference.ahead_by else None
        if shifted is not None:
            motion, legs = shifted, self._legs_at_force
            inverse_kinematics_kernel(self._geometry, motion, legs)
        self._speeds_at_force = legs[:, 1]
        self.dynamics.forces(motion, out=out)
        if reference.apart & _ASKED_LATER:
            for some, moment in reference.by_time(measurement.offset, by):
                out[some] = self.dynamics.forces(moment)[some]

    def note_command(self, t: float, reference: ReferenceMotion, feedforward: Array, mean_speeds: Array) -> None:
        """Note that the forces (6,) N of `feedforward` are commanded in the cycle at `t`, s.

        mean_speeds: see `SetPoints`.
        """
        self.zero_order_hold.note(t, feedforward, self._speeds_at_force, reference.legs_ahead, mean_speeds)


class SetPoints:
    """Set-points of the next command.

    `force` (6,) N, its part `feedforward` (6,) N by the model, and `position` (6,) m, NaN where no length is commanded.
    `mean_speed` (6,) m/s: of the reference while a length holds, where that is commanded; else NaN.

    Args:
        row: (1,), the telemetry row.
    """

    def __init__(self, row: Frame) -> None:
        self.force, self.feedforward = row["force_command"][0], row["force_feedforward"][0]
        self.position = row["position_command"][0]
        self.mean_speed = np.full(6, math.nan)
        self._all: Array = np.ndarray((18,), np.float64, row.data, ROW.fields["force_command"][1])  # type: ignore[index]
        self._none = np.repeat([0.0, math.nan], (12, 6))

    def clear(self) -> None:
        """Command nothing."""
        self._all[:] = self._none


class CycleData:
    """Measurement, reference, model and set-points of the present cycle; a control law reads and fills them.

    Args:
        config: the rig.
        force_feedforward, velocity_feedforward: see `ZeroOrderHold`.

    `frame` (1,) of dtype `FRAME` is behind all of them, and `row` (1,) the telemetry row in it; `elapsed`, s, is the
    time since the cycle before.
    """

    def __init__(
        self,
        config: RigConfig,
        force_feedforward: Sequence[bool] = (False,) * 6,
        velocity_feedforward: Sequence[bool] = (True,) * 6,
    ) -> None:
        self.frame = frame = np.zeros(1, FRAME)
        frame["characteristic_length"] = config.safety.characteristic_length
        self.row: Frame = np.ndarray((1,), ROW, frame.data)
        self.row["stream_delay"] = self.row["stream_asked"] = math.nan
        self.measurement = Measurement(config, frame)
        self.reference = ReferenceMotion(config, frame)
        self.model = LegForceModel(config, frame, force_feedforward, velocity_feedforward)
        self.set_points = SetPoints(self.row)
        self.elapsed = config.period

    def forget(self) -> None:
        """Restart after the drives moved by themselves or were exchanged."""
        self.measurement.forget()
        self.model.forget()

    def compute_feedforward(self) -> None:
        """Fill `set_points.feedforward`. Raises DynamicsError, see `LegForceModel.feedforward`."""
        self.model.feedforward(self.reference, self.measurement, self.set_points.feedforward)

    def note_command(self, t: float) -> None:
        """Note that the set-points are commanded in the cycle at `t`, s."""
        self.model.note_command(t, self.reference, self.set_points.feedforward, self.set_points.mean_speed)


_FRESH, _HOMED, _POSE, _PAUSED, _LATCHED = (flag.value for flag in list(CycleFlag)[:5])


class TelemetryRow:
    """Completes the telemetry row with the scalars of a cycle.

    Args:
        cycle: its row is written.
        machine, drives, reference: what is recorded of them.
    """

    def __init__(self, cycle: CycleData, machine: StateMachine, drives: DriveGroup, reference: Reference) -> None:
        self._cycle = cycle
        self._machine = machine
        self._drives = drives
        self._reference = reference
        self._row = RowWriter(cycle.row)
        self._state: object = None
        """what `RowWriter.state` wrote last"""

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
        machine, drives, reference, cycle = self._machine, self._drives, self._reference, self._cycle
        cause = machine.cause
        flags = (
            (0 if any(drives.stale) else _FRESH)
            | (_HOMED if machine.homed else 0)
            | (_POSE if cycle.measurement.pose_valid else 0)
            | (_PAUSED if reference.paused else 0)
            | (_LATCHED if machine.latched else 0)
        )
        if drives.io is not None:
            flags |= drives.io.flags
        self._row.times(
            (
                tick.t,
                tick.lateness,
                tick.period,
                exchange_time,
                compute_time,
                reference.path_time,
                reference.path_rate,
                cycle.reference.condition,
            )
        )
        self._row.cycle(cycles + tick.overruns)
        modes = commands.mode if isinstance(commands, Commands) else [command.mode for command in commands]
        state = (
            tick.overruns, flags, motion, drives.error, drives.stale, drives.status, cause, machine.state,
            machine.stop, modes,
        )  # fmt: skip
        if state == self._state:
            return
        self._state = state
        self._row.state(
            tick.overruns,
            flags,
            motion,
            *drives.error,
            *drives.stale,
            *drives.status,
            0 if cause is None else cause.code.value,
            machine.state.value,
            machine.stop.value,
            0 if cause is None else cause.leg,
            *(modes if isinstance(modes, list) else [modes] * 6),
        )
