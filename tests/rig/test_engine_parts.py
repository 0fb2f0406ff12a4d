"""The cycle's smaller parts: feedback and reference checks, pose estimate, frame, drives, homing."""

import math
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from engine_support import CONFIG, HOME, bench, smooth_table
from feedback_samples import Drives, LegReference
from judged_references import judge
from scipy.spatial.transform import Rotation

from actuators import COMMAND_STOP, Capabilities, Command, Mode, Status
from kinematics import Array, Geometry, condition_number, inverse_kinematics_kernel, leg_kinematics, leg_lengths
from rig.config.sections import Safety
from rig.engine.cycle_data import CycleData, Measurement
from rig.engine.homing import Homing, disagreement
from rig.engine.laws import make_law
from rig.engine.lease import Leases
from rig.engine.loop import run_cycles
from rig.engine.messages import Connect, Engage, Home
from rig.errors import HardwareError
from rig.findings import Code, Finding
from rig.runtime.shared_memory import ControlBlock
from rig.runtime.ticker import MachineTicker, Tick
from rig.safety.feedback import FeedbackMonitor
from rig.safety.limits import ReferenceCheck
from rig.safety.trip import Trip
from rig.states import FaultCode, State, StopSeverity

GEOMETRY: Geometry = CONFIG.machine.geometry
LENGTH = leg_lengths(GEOMETRY, HOME)
ZERO = np.zeros(6)
PERIOD = CONFIG.period
SAFETY = CONFIG.safety


# -- feedback --------------------------------------------------------------------------------------------------------


def monitor() -> FeedbackMonitor:
    return FeedbackMonitor(CONFIG, [0.0] * 6, [True] * 6)


def look(
    judge: FeedbackMonitor,
    length: Array,
    velocity: Array = ZERO,
    *,
    fresh: Array | None = None,
    reference: Array | None = None,
    speed: Array = ZERO,
    homed: bool = True,
    controlled: bool = True,
) -> Trip | None:
    return judge.check_motion(
        1.0,
        PERIOD,
        Drives(length, velocity, np.ones(6) if fresh is None else fresh),
        LegReference(length if reference is None else reference, speed),
        homed=homed,
        controlled=controlled,
    )


def one(leg: int, value: float, others: Array = ZERO) -> Array:
    changed = others.copy()
    changed[leg] = value
    return changed


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("leg", range(6))
def test_numbers_that_are_none_stop_the_rig_in_any_state(leg: int, value: float) -> None:
    for homed, controlled in ((True, True), (True, False), (False, False)):
        for length, velocity in ((one(leg, value, LENGTH), ZERO), (LENGTH, one(leg, value))):
            found = look(monitor(), length, velocity, reference=LENGTH, homed=homed, controlled=controlled)
            assert found is not None and found.category is StopSeverity.QUICK_STOP
            assert (found.cause.code, found.cause.leg) == (FaultCode.FEEDBACK_INVALID, leg + 1)


def test_a_jump_is_what_the_speed_does_not_explain() -> None:
    judge = monitor()
    assert look(judge, LENGTH) is None
    step = 0.5 * SAFETY.position_jump
    assert look(judge, LENGTH + step) is None
    found = look(judge, one(2, LENGTH[2] + step + 1.1 * SAFETY.position_jump, LENGTH + step))
    assert found is not None and found.unhome and found.category is StopSeverity.QUICK_STOP
    assert (found.cause.code, found.cause.leg) == (FaultCode.POSITION_JUMP, 3)
    assert look(monitor(), LENGTH + 1.0, homed=False, controlled=False) is None  # lengths are not absolute yet


@pytest.mark.parametrize("lost", [1, 2, 20])
def test_a_gap_in_the_feedback_is_no_jump(lost: int) -> None:
    """A leg at 0.8 m/s covers 1.6 mm a cycle: the speed explains as many of them as were lost."""
    judge, velocity = monitor(), np.full(6, 0.8)
    start = LENGTH - 0.03
    assert look(judge, start, velocity) is None
    for _ in range(lost):
        assert look(judge, start, velocity, fresh=np.zeros(6)) is None
    assert look(judge, start + 0.8 * (lost + 1) * PERIOD, velocity) is None
    found = look(judge, start + 0.8 * (lost + 2) * PERIOD + 1.1 * SAFETY.position_jump, velocity)
    assert found is not None and found.cause.code is FaultCode.POSITION_JUMP


def test_following_errors_and_runaways_matter_only_under_control() -> None:
    for factor, code, category in (
        (1.01, FaultCode.FOLLOWING_ERROR, StopSeverity.CATEGORY_1),
        (3.01, FaultCode.RUNAWAY, StopSeverity.CATEGORY_0),
    ):
        reference = one(4, LENGTH[4] - factor * SAFETY.following_error, LENGTH)
        found = look(monitor(), LENGTH, reference=reference)
        assert found is not None and (found.cause.code, found.category, found.cause.leg) == (code, category, 5)
        assert look(monitor(), LENGTH, reference=reference, controlled=False) is None
    assert look(monitor(), LENGTH, reference=LENGTH + 0.99 * SAFETY.following_error) is None


def test_an_absurd_length_is_not_believed() -> None:
    for length in (0.0, 5.0):
        found = look(monitor(), one(1, length, LENGTH), controlled=False)
        assert (
            found is not None
            and found.cause.code is FaultCode.FEEDBACK_INVALID
            and "limits 0.4 to 0.62 m" in str(found.cause.text)
        )


def test_a_moving_encoder_must_not_repeat_itself() -> None:
    judge, speed = monitor(), np.full(6, 0.05)
    verdicts = [look(judge, LENGTH, speed=speed, reference=LENGTH + 1.1e-3) for _ in range(SAFETY.frozen_cycles + 1)]
    assert verdicts[:-1] == [None] * SAFETY.frozen_cycles
    assert verdicts[-1] is not None and verdicts[-1].cause.code is FaultCode.FEEDBACK_FROZEN
    judge = monitor()
    assert all(look(judge, LENGTH) is None for _ in range(10 * SAFETY.frozen_cycles))  # at rest it may


def drives(
    stale: Sequence[int] = (0,) * 6, status: Sequence[int] = (Status.HOMED,) * 6, age: Sequence[float] | None = None
) -> Trip | None:
    ages = [CONFIG.period * count for count in stale] if age is None else list(age)
    return monitor().check_drives(1.0, Drives(LENGTH, stale=list(stale), age=ages, status=list(status)), homed=True)


def test_what_the_drives_say_of_themselves() -> None:
    k = SAFETY.stale_cycles
    assert drives() is None and drives(stale=(0, k - 1, 0, 0, 0, 0)) is None
    overslept = (0.0, 10 * k * CONFIG.period, 0.0, 0.0, 0.0, 0.0)  # s: the host asked nobody meanwhile
    assert drives(stale=(0, 1, 0, 0, 0, 0), age=overslept) is None
    lost = drives(stale=(0, 2, 0, 0, 0, 0), age=overslept)
    assert lost is not None and lost.cause.text == "leg 2: no fresh feedback for 150 ms (bound 15 ms)"
    early = drives(stale=(0, 3, 0, 0, 0, 0), age=(0.0, 14.4e-3, 0.0, 0.0, 0.0, 0.0))  # s: three cycles, as they began
    assert early is not None
    assert early.cause.text == "leg 2: no fresh feedback for 14.4 ms (bound 12.5 ms, 15 ms less half a cycle)"
    homed = int(Status.HOMED)
    for found, code, category, leg, unhome in (
        (drives(stale=(0, k, 0, 0, 0, 0)), FaultCode.COMMUNICATION_LOST, StopSeverity.QUICK_STOP, 2, False),
        (
            drives(status=[homed] * 5 + [homed | Status.FAULT]),
            FaultCode.DRIVE_FAULT,
            StopSeverity.CATEGORY_0,
            6,
            False,
        ),
        (
            drives(status=[homed | Status.FAULT | Status.WATCHDOG] + [homed] * 5),
            FaultCode.DRIVE_WATCHDOG,
            StopSeverity.QUICK_STOP,
            1,
            False,
        ),
        (drives(status=[homed, homed, 0, *[homed] * 3]), FaultCode.DRIVE_RESTARTED, StopSeverity.QUICK_STOP, 3, True),
    ):
        assert found is not None
        assert (found.cause.code, found.category, found.cause.leg, found.unhome) == (code, category, leg, unhome)


# -- reference -------------------------------------------------------------------------------------------------------


def _legs(motion: Array) -> Array:
    out = np.zeros((6, 13))
    inverse_kinematics_kernel(GEOMETRY.array, motion, out)
    return out


def test_a_reference_at_its_limits_passes_and_beyond_them_does_not() -> None:
    check, legs = ReferenceCheck(CONFIG.machine, SAFETY), _legs(np.concatenate([HOME, np.zeros(12)]))
    limits = CONFIG.machine.legs[3].limits
    assert limits is not None and limits.length and limits.velocity and limits.acceleration
    assert judge(check, legs, 5.0) is None and judge(check, legs, SAFETY.condition) is None
    for column, bound, code in (
        (0, limits.length[0], FaultCode.LENGTH_LIMIT),
        (0, limits.length[1], FaultCode.LENGTH_LIMIT),
        (1, -limits.velocity, FaultCode.SPEED_LIMIT),
        (1, limits.velocity, FaultCode.SPEED_LIMIT),
        (2, -limits.acceleration, FaultCode.SPEED_LIMIT),
        (2, limits.acceleration, FaultCode.SPEED_LIMIT),
    ):
        at, beyond = legs.copy(), legs.copy()
        at[3, column] = bound
        outwards = 1.0 + 1e-6 if bound != limits.length[0] else 1.0 - 1e-6
        beyond[3, column] = bound * outwards
        assert judge(check, at, 5.0) is None
        cause = judge(check, beyond, 5.0, t=2.5)
        assert cause is not None and (cause.code, cause.leg, cause.t) == (code, 4, 2.5)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("column", range(3))
def test_a_reference_that_is_no_number_never_passes(column: int, value: float) -> None:
    check, legs = ReferenceCheck(CONFIG.machine, SAFETY), _legs(np.concatenate([HOME, np.zeros(12)]))
    legs[5, column] = value
    cause = judge(check, legs, 5.0)
    assert cause is not None and (cause.code, cause.leg) == (FaultCode.REFERENCE_INVALID, 6)


@pytest.mark.parametrize("condition", [math.nan, math.inf, 100.1])
def test_a_pose_that_is_badly_conditioned_does_not_pass(condition: float) -> None:
    check, legs = ReferenceCheck(CONFIG.machine, SAFETY), _legs(np.concatenate([HOME, np.zeros(12)]))
    cause = judge(check, legs, condition)
    assert cause is not None and cause.code is FaultCode.CONDITIONING


# -- pose ------------------------------------------------------------------------------------------------------------


def measured(measurement: Measurement, length: Array, velocity: Array = ZERO, offset: Array = ZERO) -> bool:
    """Whether a homed rig that reports this has a pose."""
    feedback: Any = SimpleNamespace(length=length, velocity=velocity, force=ZERO, offset=offset, cells_offset=ZERO)
    measurement.take(feedback, homed=True)
    return measurement.pose_valid


def test_the_measured_pose_and_twist_are_those_of_the_legs() -> None:
    random, measurement = np.random.default_rng(5), CycleData(CONFIG).measurement
    for _ in range(50):
        turn = Rotation.from_rotvec(0.1 * random.normal(size=3))
        pose = np.concatenate([HOME[:3] + 0.01 * random.normal(size=3), np.roll(turn.as_quat(), 1)])
        motion = np.concatenate([pose, random.normal(size=6), np.zeros(6)])
        legs = leg_kinematics(GEOMETRY, motion)
        offset = 1e-4 * random.random(6)
        assert measured(measurement, legs.length + offset * legs.velocity, legs.velocity.copy(), offset)
        found = measurement.pose
        np.testing.assert_allclose(found * np.sign(found[3] * pose[3]), pose, atol=1e-9)
        np.testing.assert_allclose(measurement.twist, motion[7:13], atol=1e-8)


@pytest.mark.parametrize("bad", [math.nan, math.inf, 0.0, -1.0, 9.0])
def test_lengths_without_a_pose_have_none_and_are_forgotten(bad: float) -> None:
    measurement = CycleData(CONFIG).measurement
    assert not measured(measurement, one(2, bad, LENGTH))
    assert np.isnan(measurement.pose).all() and np.isnan(measurement.twist).all()
    assert measured(measurement, LENGTH)
    np.testing.assert_allclose(measurement.pose, HOME, atol=1e-9)


def test_a_row_has_what_drives_report_whose_replies_are_a_cycle_old(tmp_path: Path) -> None:
    different = []
    with bench(tmp_path) as rig:
        drives, push = rig.engine.drives, rig.tap.push

        def compare(row: Any) -> None:
            if (row["drive_status"][0].tolist(), row["drive_error"][0].tolist()) != (drives.status, drives.error):
                different.append(float(row["t"][0]))
            push(row)

        rig.tap.push = compare  # type: ignore[method-assign]
        rig.request(Connect())
        rig.virtual.drives[2].inject("lag", 1.0)
        rig.request(Home())
        rig.until(State.PARKED)
        rig.run(0.4)
        rig.request(Engage())
        rig.until(State.ENGAGED)
        assert drives.lag.tolist() == [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    assert not different


def test_the_frame_holds_reference_measurement_and_model(tmp_path: Path) -> None:
    with bench(tmp_path) as rig:
        rig.engage()
        rig.run(0.5)
        rig.follow(smooth_table())
        rig.tap.take()
        rig.run(0.8)
        rows = rig.tap.take()
        legs = leg_kinematics(GEOMETRY, rows["reference"])
        np.testing.assert_allclose(rows["length_reference"], legs.length, atol=1e-12)
        np.testing.assert_allclose(rows["velocity_reference"], legs.velocity, atol=1e-12)
        np.testing.assert_allclose(rows["force_residual"], rows["force_measured"] - rows["force_model"], atol=1e-12)
        assert np.abs(rows["force_residual"]).max() < 10.0
        np.testing.assert_allclose(leg_lengths(GEOMETRY, rows["pose"]), rows["length"], atol=1e-8)
        numbers = [
            condition_number(GEOMETRY, pose, SAFETY.characteristic_length) for pose in rows["reference"][::50, :7]
        ]
        np.testing.assert_allclose(rows["condition"][::50], numbers, rtol=1e-9)
        assert np.isfinite(rows["force_command"]).all() and (rows["mode"] == Mode.FORCE).all()
        assert (np.diff(rows["cycle"].astype(np.int64)) == 1).all()
        np.testing.assert_allclose(np.diff(rows["t"]), PERIOD, atol=1e-12)


def test_skipped_cycles_are_counted_and_not_caught_up(tmp_path: Path) -> None:
    with bench(tmp_path) as rig:
        rig.engage()
        rig.run(0.5)
        rig.follow(smooth_table(2.0))
        rig.run(0.5)
        rig.tap.take()
        now, place = rig.engine.tick.t, rig.engine.reference.path_time
        for overruns in (1, 2):
            now += 2 * PERIOD
            rig._ticker.set(now)
            rig.virtual.advance(now)
            rig.engine.step(Tick(now, 0.0, 2 * PERIOD, overruns))
        assert rig.state is State.RUNNING
        rows = rig.tap.take()
        assert len(rows) == 2 and list(np.diff(rows["cycle"].astype(np.int64))) == [2]
        assert rig.engine.reference.path_time - place == pytest.approx(4 * PERIOD)
        now += 2 * PERIOD
        rig._ticker.set(now)
        rig.virtual.advance(now)
        rig.engine.step(Tick(now, 0.0, 2 * PERIOD, 3))
        assert rig.state is State.STOPPING and rig.engine.machine.stop is StopSeverity.CATEGORY_1
        assert "3 overrun cycles in a row (bound 3)" in rig.tap.texts()[-2]


# -- drives ----------------------------------------------------------------------------------------------------------


def test_commands_of_the_closed_loop() -> None:
    cycle = CycleData(CONFIG)
    cycle.set_points.force[:] = np.arange(6.0)
    commands = make_law(CONFIG, cycle.model.dynamics).commands(cycle)
    assert [one.force for one in commands] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert all(one.mode is Mode.FORCE and one.enable and not one.quick_stop for one in commands)


def test_connecting_commands_nothing(tmp_path: Path) -> None:
    with bench(tmp_path) as rig:
        before = rig.virtual.plant.state
        rig.request(Connect())
        drives = rig.engine.drives
        assert drives.connected and not drives.any(Status.ENABLED) and drives.all(Status.BRAKE)
        np.testing.assert_allclose(rig.virtual.plant.state, before, atol=1e-6)
        assert (drives.force_limit > 450.0).all()
        drives.close()
        drives.close()
        assert not drives.connected
        assert drives.connect(1.0)[2].text.startswith("leg 3: stewart-rig virtual servo")


def test_a_drive_that_cannot_take_forces_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def connected(_timeout: float) -> None:
        raise AssertionError("it was connected to")

    with bench(tmp_path) as rig:
        drive = rig.engine.drives._drives[4]
        monkeypatch.setattr(drive, "connect", connected)
        drive.capabilities = Capabilities((Mode.OFF, Mode.POSITION), True, False, True, 1e3, 1.0, 1.0)
        with pytest.raises(HardwareError, match="connect: leg 5: the drive has no mode FORCE, HOMING"):
            rig.request(Connect())
        assert rig.state is State.OFF and not rig.engine.drives.connected


def test_homing_is_done_when_every_leg_has_searched_and_found() -> None:
    found, seeking, lost = Status.HOMED.value, Status.HOMING.value, 0
    homing = Homing(Safety())
    assert not homing.done([found] * 6)  # an old reference
    assert not homing.done([found | seeking] * 6)
    assert homing.done([found] * 6)
    homing.begin()
    assert not homing.done([found] * 6)
    assert not homing.done([lost] * 5 + [found])
    assert not homing.done([found] * 6)  # the sixth has never searched
    assert not homing.done([found] * 5 + [seeking])
    assert homing.done([found | Status.STANDSTILL] * 6)


def test_a_drive_that_has_its_reference_but_was_never_seen_to_search_is_named() -> None:
    found, seeking = Status.HOMED.value, Status.HOMING.value
    homing = Homing(Safety())
    assert not homing.done([found] * 6)
    assert homing.missing([found] * 6) == homing.unsought([found] * 6) == [1]  # the others have not begun
    assert not homing.done([seeking] + [found] * 5)
    assert homing.missing([seeking] + [found] * 5) == [1] and not homing.unsought([seeking] + [found] * 5)
    assert not homing.missing([found] * 6)


def test_a_search_that_is_too_short_to_be_seen_counts_for_a_leg_at_home() -> None:
    found = Status.HOMED.value | Status.ENABLED.value
    homing = Homing(Safety())

    def admit(t: float, status: int = found, *, at_home: bool = True) -> list[int]:
        homing.done([status] * 6)
        return homing.admit(t, [status] * 6, [at_home] * 6)

    assert admit(0.0) == [] == admit(1.9)
    assert admit(1.95, Status.HOMED.value) == []  # without torque it cannot search
    assert admit(2.0) == [] == admit(3.9)
    assert admit(3.95, at_home=False) == []
    assert admit(4.0) == [] == admit(5.9)
    assert homing.unsought([found] * 6) == [1]
    assert admit(6.0) == [1] and homing.unsought([found] * 6) == []  # the others have not begun
    assert admit(6.1) == []
    homing.begin()
    assert admit(6.2) == []


class _Search:
    """A homing on the way, at 100 Hz: legs that are found as they begin, and what each has moved, mm."""

    def __init__(self) -> None:
        self.homing, self.t, self.moved = Homing(Safety()), 0.0, [0.0] * 6
        self.homing.done([Status.HOMING.value] * 6)

    def follow(self, seconds: float, **moved: float) -> Finding | None:
        """Let time pass with legs, `leg3` for one, where they are then; a finding if there is one."""
        for name, way in moved.items():
            self.moved[int(name.removeprefix("leg")) - 1] = 1e-3 * way
        for _ in range(round(100 * seconds)):
            self.t += 0.01
            trip = self.homing.follow(self.t, [Status.HOMED.value] * 6, self.moved)
            if trip is not None:
                return trip.cause.finding
        return None


def test_homing_waits_where_a_leg_was_found_without_a_move() -> None:
    search = _Search()
    assert search.follow(0.2) is None and sum(search.homing.begun) == 1
    assert search.follow(0.1) is None and sum(search.homing.begun) == 2
    assert search.follow(0.01, leg2=0.3) is None and sum(search.homing.begun) == 3  # it has shown that it moves itself
    assert search.follow(1.1) is None and all(search.homing.begun)
    assert not search.homing.waiting(search.t)


def test_a_drive_that_moves_another_leg_while_it_is_waited_for_is_named_with_it() -> None:
    search = _Search()
    search.follow(0.3)
    found = search.follow(0.2, leg5=-0.25)
    assert found is not None and (found.code, found.leg, found.details["other"]) == (Code.OTHER_LEG_HOMED, 2, 5)


def test_each_drive_that_may_have_moved_another_leg_is_named_with_it() -> None:
    search = _Search()
    search.follow(0.55)  # legs 1 and 2 were found
    found = search.follow(0.1, leg1=0.06, leg5=0.3)
    assert found is not None and found.code is Code.OTHER_LEG_HOMED_BY_ONE and found.leg == 5
    assert "motors or encoders of legs 1 and 5 or of legs 3 and 5" in found.text
    search = _Search()
    search.follow(0.55)
    found = search.follow(0.1, leg3=0.3, leg2=0.06, leg5=2.1)
    assert found is not None and (found.code, found.leg, found.details["other"]) == (Code.OTHER_LEG_HOMED, 2, 5)
    search = _Search()
    search.follow(0.55)
    found = search.follow(0.1, leg3=0.3, leg5=2.1)
    assert found is not None and found.code is Code.BRAKE_SLIPS_HOMING and found.leg == 5


def test_a_found_leg_that_leaves_its_reference_is_named_with_the_leg_that_was_commanded_then() -> None:
    search = _Search()
    search.follow(0.55)
    assert search.follow(0.01, leg2=0.3) is None  # as leg 3 is commanded
    found = search.follow(0.5, leg2=2.1, leg3=-1.8)
    assert found is not None and (found.code, found.leg, found.details["other"]) == (Code.FOUND_LEG_MOVED, 2, 3)


def test_references_must_agree_with_the_forward_kinematics() -> None:
    marks = np.array([0.4, 0.42, 0.44, 0.46, 0.48, 0.5])
    third, sixth = np.eye(6)[2], np.eye(6)[5]
    assert disagreement(marks + 0.99e-4 * third, marks, 1e-4, 1.0, posed=True) is None
    failed, exchanged = FaultCode.HOMING_FAILED, FaultCode.WIRING
    for lengths, posed, code, leg in (
        (marks - 1.01e-4 * third, True, failed, 3),
        (marks, False, failed, 0),
        (marks + 0.06 * (third - sixth), True, exchanged, 3),
        (marks + 0.06 * (third - sixth), False, exchanged, 3),  # the lengths fit no pose either
        (marks + 0.06 * third - 0.0598 * sixth, True, failed, 3),
        (marks + 0.06 * (third - sixth) + 2e-4 * np.eye(6)[0], True, failed, 3),
    ):
        cause = disagreement(lengths, marks, 1e-4, 1.0, posed=posed)
        assert cause is not None and (cause.code, cause.leg, cause.t) == (code, leg, 1.0)


class _DeliberateError(Exception):
    pass


def test_the_last_words_of_a_failing_cycle_are_the_drives_own_quick_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with bench(tmp_path) as rig:
        rig.engage()
        said: list[Command] = []
        exchange = rig.engine.drives.exchange

        def listen(commands: Sequence[Command], now: float, timeout: float) -> None:
            said.extend(commands)
            exchange(commands, now, timeout)

        def fail(_tick: Tick) -> None:
            raise _DeliberateError

        monkeypatch.setattr(rig.engine.drives, "exchange", listen)
        monkeypatch.setattr(rig.engine, "step", fail)
        block = ControlBlock.create()
        try:
            with pytest.raises(_DeliberateError):
                run_cycles(rig.engine, rig.operator, _Unwatched(block), MachineTicker(PERIOD))  # type: ignore[arg-type]
        finally:
            block.close()
        assert len(said) >= 6 and all(command == COMMAND_STOP for command in said)
        assert rig.engine.drives.all(Status.QUICK_STOP)


class _Unwatched:
    """A watch that sees nothing."""

    abandoned = False

    def __init__(self, block: ControlBlock) -> None:
        self.leases = Leases(block)

    def look(self, t: float) -> None:
        pass
