"""What must not be acted upon: old or doubtful readings, forces that are no numbers, a pose that is not known."""

from pathlib import Path

import numpy as np
import pytest
from configured import limits
from drive_support import servo_of
from engine_support import CONFIG, HOME, Bench, bench, refused, smooth_table
from feedback_samples import Cells, Drives, LegReference

from actuators import Mode, Status
from dynamics import DynamicsError
from kinematics import Array, pose_difference
from rig.engine.drive_group import DriveGroup
from rig.engine.messages import Connect, Disconnect, Engage, MoveLeg, Reset, Stop
from rig.errors import RefusedError
from rig.findings import Code, Finding
from rig.safety import Trip
from rig.safety.cell_checks import CellChecks
from rig.safety.feedback import MotionChecks
from rig.safety.machine import Cause
from rig.states import FaultCode, State, StopSeverity

SAFETY, CELLS = CONFIG.safety, CONFIG.load_cells
K = SAFETY.stale_cycles
AMPLIFIER = {"load_cells": {"source": "amplifier", "amplifier": {"host": "127.0.0.1", "port": 15027}}}


# -- load cells ------------------------------------------------------------------------------------------------------


def cell_checks(suspicion: Array) -> CellChecks:
    return CellChecks(CONFIG, suspicion)


def test_old_readings_of_the_cells_are_not_judged_and_stop_the_rig_when_they_stay_old() -> None:
    checks, bad = cell_checks(np.zeros((2, 6))), np.full(6, np.nan)
    for stale in range(1, K):
        for _ in range(5):
            assert checks.check(1.0, Cells(bad, stale, stale * CONFIG.period), bad, controlled=True) is None
    found = checks.check(1.0, Cells(np.zeros(6), K, K * CONFIG.period), np.zeros(6), controlled=True)
    assert found is not None and (found.cause.code, found.cause.leg) == (FaultCode.LOAD_CELL, 0)
    assert found.category is StopSeverity.CATEGORY_2


def test_an_amplifier_that_falls_silent_holds_the_platform(tmp_path: Path) -> None:
    with bench(tmp_path, CONFIG.changed(AMPLIFIER)) as rig:
        rig.engage()
        rig.follow(smooth_table(4.0))
        rig.run(0.5)
        rig.virtual.faults.inject("amplifier_drop_all")
        cycles = 0
        while rig.state is State.RUNNING:
            rig.step()
            cycles += 1
            assert cycles <= K + 1
        machine = rig.engine.machine
        assert machine.stop is StopSeverity.CATEGORY_2 and machine.cause is not None
        assert machine.cause.text.startswith(f"load cells: no fresh reading for {K * CONFIG.period * 1e3:g} ms")


@pytest.mark.parametrize("row", [0, 1])
def test_no_force_is_held_against_the_model_while_an_encoder_is_in_doubt(row: int) -> None:
    suspicion, generator = np.zeros((2, 6)), np.random.default_rng(1)
    checks = cell_checks(suspicion)

    def look() -> object:
        force = generator.normal(size=6)
        return checks.check(1.0, Cells(force), np.full(6, 2.0 * SAFETY.force_residual), controlled=True)

    suspicion[row, 4] = 1.0  # it repeats itself, or runs against its reference: the model is none of this leg's pose
    assert [look() for _ in range(10)] == [None] * 10
    suspicion[:] = 0.0
    found = [look() for _ in range(2)][1]
    assert found is not None and found.cause.code is FaultCode.FORCE_RESIDUAL  # type: ignore[attr-defined]


def test_no_following_error_is_told_of_an_encoder_that_repeats_itself() -> None:
    """It reads where the leg was: what is wrong is the encoder, and is said once it repeats itself for long enough."""
    checks = MotionChecks(CONFIG.machine, SAFETY, CONFIG.period, CONFIG.drives.watchdog)
    length, moving = np.full(6, 0.5), np.full(6, 0.05)
    ahead = length + 1.5 * SAFETY.following_error
    found = [
        checks.check(1.0, CONFIG.period, Drives(length), LegReference(ahead, moving), homed=True, controlled=True)
        for _ in range(SAFETY.frozen_cycles + 1)
    ]
    codes = [None if one is None else one.cause.code for one in found[1:]]  # the first repeats nothing yet
    assert codes == [None] * (SAFETY.frozen_cycles - 1) + [FaultCode.FEEDBACK_FROZEN]


# -- commands --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_force_that_is_no_number_is_never_sent(rig: Bench, monkeypatch: pytest.MonkeyPatch, value: float) -> None:
    rig.engage()
    engine = rig.engine
    compute = engine.law.compute

    def spoiled(*arguments: object) -> None:
        compute(*arguments)  # type: ignore[arg-type]
        engine.cycle_data.set_points.force[2] = value

    monkeypatch.setattr(engine.law, "compute", spoiled)
    rig.step()
    assert engine.machine.stop is StopSeverity.QUICK_STOP and engine.machine.cause is not None
    assert engine.machine.cause.code is FaultCode.INTERNAL_ERROR and "asks for" in engine.machine.cause.text
    assert all(one.quick_stop and one.mode is not Mode.FORCE for one in engine.commands)
    assert np.isfinite(rig.tap.take()["force_command"]).all()
    rig.step()
    assert engine.drives.all(Status.QUICK_STOP)


def test_a_reference_that_is_lost_while_a_stop_is_sent_is_lost_in_that_cycle(
    rig: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stop is sent in a second exchange, whose replies may tell what the first one's did not yet."""
    rig.engage()
    engine = rig.engine
    compute, exchange = engine.law.compute, engine.drives.exchange
    exchanges = []

    def spoiled(*arguments: object) -> None:
        compute(*arguments)  # type: ignore[arg-type]
        engine.cycle_data.set_points.force[2] = np.nan

    def losing(*arguments: object) -> None:
        exchange(*arguments)  # type: ignore[arg-type]
        exchanges.append(engine.machine.homed)
        if len(exchanges) == 2:
            engine.drives.status[4] &= ~Status.HOMED
            engine.drives.status_all &= ~Status.HOMED

    monkeypatch.setattr(engine.law, "compute", spoiled)
    monkeypatch.setattr(engine.drives, "exchange", losing)
    rig.step()
    assert exchanges == [True, True] and engine.machine.stop is StopSeverity.QUICK_STOP
    assert not engine.machine.homed


@pytest.mark.parametrize("category", [StopSeverity.CATEGORY_0, StopSeverity.QUICK_STOP])
def test_forces_computed_before_a_stop_are_not_sent_after_it(rig: Bench, category: StopSeverity) -> None:
    """A stop that comes between two cycles finds the forces of the next exchange ready."""
    rig.engage()
    engine = rig.engine
    assert all(one.mode is Mode.FORCE for one in engine.commands)
    engine.trip(Trip(Cause(Finding(Code.ENGINE_TOLD_TO_END), engine.tick.t), category, latch=False))
    assert all(one.mode is not Mode.FORCE and one.force == 0.0 for one in engine.commands)
    assert all(one.quick_stop for one in engine.commands) == (category is StopSeverity.QUICK_STOP)


def test_a_force_beyond_its_limit_is_held_to_it_and_stops_the_rig(rig: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.engage()
    engine, limit = rig.engine, limits(CONFIG.machine.legs[4]).force
    assert limit is not None
    compute = engine.law.compute

    def strong(*arguments: object) -> None:
        compute(*arguments)  # type: ignore[arg-type]
        engine.cycle_data.set_points.force[4] = -1.5 * limit

    monkeypatch.setattr(engine.law, "compute", strong)
    rig.step()
    machine = engine.machine
    assert machine.stop is StopSeverity.CATEGORY_1 and machine.latched and machine.cause is not None
    assert (machine.cause.code, machine.cause.leg) == (FaultCode.FORCE_LIMIT, 5)
    assert engine.commands[4].force == -limit
    assert rig.tap.take()["force_command"][-1, 4] == -limit


# -- what is wrong with the reference, the model or a stop ------------------------------------------------------------


def test_a_reference_is_judged_in_every_cycle_that_follows_it(rig: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every motion was checked beforehand; this is for what the check did not see."""
    rig.engage()
    monkeypatch.setattr(rig.operator, "_check", lambda _table: None)
    table = smooth_table(0.25, 0.03)
    rig.follow(table)
    rig.until(State.STOPPING)
    machine = rig.engine.machine
    assert machine.stop is StopSeverity.CATEGORY_2 and machine.latched and machine.cause is not None
    assert machine.cause.code is FaultCode.SPEED_LIMIT and machine.cause.text.startswith("reference of leg ")


def test_a_model_without_an_answer_is_a_quick_stop(rig: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.engage()

    def fail(*_arguments: object, **_known: bool) -> None:
        raise DynamicsError("no forces at this pose")

    monkeypatch.setattr(rig.engine.cycle_data.model, "evaluate", fail)
    rig.step()
    machine = rig.engine.machine
    assert machine.stop is StopSeverity.QUICK_STOP and machine.latched and machine.cause is not None
    assert (machine.cause.code, machine.cause.text) == (FaultCode.CONDITIONING, "no forces at this pose")


def test_lengths_that_belong_to_no_pose_are_a_quick_stop(rig: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.engage()
    measurement = rig.engine.cycle_data.measurement
    take = measurement.take

    def nowhere(drives: DriveGroup, *, homed: bool) -> None:
        take(drives, homed=homed)
        measurement.pose_valid = False

    monkeypatch.setattr(measurement, "take", nowhere)
    rig.step()
    machine = rig.engine.machine
    assert machine.stop is StopSeverity.QUICK_STOP and machine.latched and machine.cause is not None
    assert machine.cause.code is FaultCode.FEEDBACK_INVALID and "match no pose" in machine.cause.text


def test_a_stop_that_is_late_becomes_a_harder_one(rig: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.engage()
    rig.follow(smooth_table(4.0))
    rig.run(1.0)
    monkeypatch.setattr(rig.engine.reference, "decelerate", lambda _durations: None)  # it does not slow down
    rig.request(Stop(2))
    rig.run(0.1)
    found = []
    for _ in range(round(2.5 * SAFETY.stop_time * CONFIG.rate)):
        rig.step()
        found.append(rig.engine.machine.stop)
    order = [StopSeverity.CATEGORY_2, StopSeverity.CATEGORY_1, StopSeverity.CATEGORY_0]
    assert [one for one in dict.fromkeys(found) if one is not StopSeverity.NONE] == order
    assert rig.state is State.FAULT and all(rig.virtual.plant.braked(leg) for leg in range(6))


# -- where the platform is -------------------------------------------------------------------------------------------


def test_engaging_away_from_home_holds_the_pose_that_is_measured(rig: Bench) -> None:
    rig.engage()
    rig.follow(smooth_table(2.0))
    rig.run(0.9)
    rig.request(Stop(1))
    rig.until(State.PARKED)
    rig.run(0.4)
    measured = rig.engine.cycle_data.measurement.pose.copy()
    assert np.abs(pose_difference(measured, HOME)).max() > 2e-3
    rig.tap.take()
    rig.request(Engage())
    rig.until(State.ENGAGED)
    rows = rig.tap.take()
    held = rows["reference"][np.isin(rows["state"], (State.ENGAGING, State.ENGAGED))][:, :7]
    assert np.abs(pose_difference(held[0], measured)).max() < 1e-4 and np.ptp(held, axis=0).max() == 0.0
    assert np.abs(rows["length"] - rows["length"][0]).max() < 1e-3


@pytest.mark.parametrize("unknown", ["homed", "pose_valid"])
def test_nothing_is_engaged_whose_pose_is_not_known(rig: Bench, unknown: str) -> None:
    """Supervision leaves PARKED before this can be; the guard does not rely on it."""
    rig.park()
    setattr(rig.engine.machine if unknown == "homed" else rig.engine.cycle_data.measurement, unknown, False)
    rig.engine.publish()
    what = "the platform is not homed any more" if unknown == "homed" else "the measured pose is not known"
    assert refused(rig, Engage()) == f"engage: {what}: disconnect, connect and home"


def test_a_platform_whose_leg_was_moved_alone_is_not_homed(rig: Bench) -> None:
    rig.park()
    rig.virtual.faults.inject("drop_all", 2)
    rig.until(State.FAULT)
    rig.virtual.faults.clear()
    rig.run(0.1)
    rig.request(Reset())
    rig.request(MoveLeg(3, 5e-3, 5e-3))
    rig.run(0.2)
    assert rig.state is State.SINGLE_LEG
    rig.request(Stop(1))
    rig.run(1.0)
    assert rig.state is State.IDLE
    assert refused(rig, Engage()) == "engage: home first"


def test_no_reset_while_a_drive_is_silent(rig: Bench) -> None:
    """Its silence is over as a cause once it is told; that nothing is known of the drive is not."""
    rig.park()
    rig.virtual.faults.inject("drop_all", 3)
    rig.until(State.FAULT)
    rig.run(0.1)
    with pytest.raises(RefusedError, match="leg 3: no fresh feedback"):
        rig.request(Reset())
    assert rig.state is State.FAULT
    rig.virtual.faults.clear()
    rig.run(0.1)
    rig.request(Reset())
    assert rig.state is State.IDLE


def test_a_homing_is_forgotten_when_the_drives_were_left(rig: Bench) -> None:
    rig.park()
    rig.request(Disconnect())
    rig.virtual.faults.inject("reboot", 2)
    rig.request(Connect())
    assert not rig.engine.machine.homed and not rig.status().homed
    rig.run(0.1)
    assert rig.state is State.IDLE and rig.engine.machine.cause is None  # no reference to be lost any more


def test_connecting_sets_every_drives_watchdog(rig: Bench) -> None:
    watchdogs = [servo_of(drive)._watchdog for drive in rig.virtual.drives]
    assert watchdogs == [0.0] * 6
    rig.request(Connect())
    watchdogs = [servo_of(drive)._watchdog for drive in rig.virtual.drives]
    assert watchdogs == pytest.approx([CONFIG.drives.watchdog] * 6)
