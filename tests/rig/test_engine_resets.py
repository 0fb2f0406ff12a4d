"""Homing, resets after a fault, and what the status tells, on the lockstep rig."""

from pathlib import Path

import numpy as np
import pytest
from engine_support import CONFIG, HOME, Bench, bench, smooth_table

from actuators import Status
from kinematics import leg_lengths
from rig.engine.messages import Connect, Engage, Home, Reset
from rig.states import FaultCode, State, StopSeverity
from rig.telemetry import CycleFlag

PATIENCE = CONFIG.safety.stale_cycles


# -- homing ----------------------------------------------------------------------------------------------------------


def test_homing_again_searches_again(rig: Bench) -> None:
    """After a fault the drives still have their references: their old word is not the answer."""
    rig.engage()
    rig.virtual.faults.inject("force_step", None, 2000.0)
    rig.until(State.FAULT)
    rig.virtual.faults.clear()
    assert rig.engine.machine.homed
    rig.run(0.1)
    rig.request(Reset())
    rig.tap.take()
    rig.request(Home())
    assert not rig.engine.machine.homed
    rig.until(State.PARKED)
    rows = rig.tap.take()
    homing = rows[rows["state"] == State.HOMING]
    assert len(homing) > 50 and (homing["drive_status"] & Status.HOMING != 0).any(axis=0).all()
    assert (homing["flags"] & CycleFlag.HOMED == 0).all()
    assert rig.engine.machine.homed
    rig.run(0.4)
    rig.request(Engage())
    rig.until(State.ENGAGED)


def test_references_that_disagree_are_a_fault(rig: Bench) -> None:
    rig.virtual.faults.inject("encoder_scale", 3, 1.01)
    rig.request(Connect())
    rig.request(Home())
    rig.until(State.FAULT)
    cause = rig.engine.machine.cause
    assert cause is not None and cause.code is FaultCode.HOMING_FAILED and cause.leg == 3
    assert "mm from its length at home (bound 0.1 mm)" in cause.text and not rig.engine.machine.homed


def test_homing_that_never_ends_is_stopped(tmp_path: Path) -> None:
    with bench(tmp_path, CONFIG.changed({"safety": {"homing_timeout": 0.3}})) as rig:
        rig.request(Connect())
        rig.request(Home())
        rig.until(State.FAULT)
        cause = rig.engine.machine.cause
        assert cause is not None and cause.code is FaultCode.HOMING_FAILED and "0.3 s" in cause.text
        assert not rig.engine.drives.any(Status.ENABLED)


# -- faults and resets -----------------------------------------------------------------------------------------------


def test_a_reset_needs_the_cause_gone_and_every_request_is_answered(rig: Bench) -> None:
    rig.park()
    rig.virtual.faults.inject("cell_nan", 6)
    rig.until(State.FAULT)
    first, second = rig.submit(Reset()), rig.submit(Reset())
    rig.run(0.25)
    assert not first.result(0).accepted and not second.result(0).accepted
    assert "leg 6: the load cell reads nan N" in first.result(0).reason
    assert "under way" in second.result(0).reason
    assert rig.state is State.FAULT and rig.engine.machine.cause is not None
    rig.virtual.faults.clear()
    rig.run(0.25)
    assert rig.state is State.FAULT
    rig.request(Reset())
    assert rig.state is State.IDLE and rig.engine.machine.cause is None


def test_a_drive_that_restarts_while_a_fault_is_latched_clears_homed(rig: Bench) -> None:
    rig.park()
    rig.virtual.faults.inject("cell_nan", 1)
    rig.until(State.FAULT)
    cause = rig.engine.machine.cause
    assert rig.engine.machine.homed
    rig.virtual.faults.inject("reboot", 2)
    rig.step()
    assert not rig.engine.machine.homed and rig.engine.machine.cause is cause


def test_a_drive_without_a_reference_clears_homed_although_its_length_stays(tmp_path: Path) -> None:
    """Drive position zero is at home: what a drive reads after a restart there is what it read before."""
    lengths = leg_lengths(CONFIG.machine.geometry, HOME)
    legs = [
        leg.model_dump() | {"position_offset": float(length)}
        for leg, length in zip(CONFIG.drives.legs, lengths, strict=True)
    ]
    with bench(tmp_path, CONFIG.changed({"drives": {"legs": legs}})) as rig:
        rig.park()
        rig.virtual.faults.inject("drop_all", 1)
        rig.until(State.FAULT)
        before = rig.engine.drives.length.copy()
        rig.virtual.faults.inject("reboot", 2)
        rig.run(0.02)
        assert rig.engine.drives.length == pytest.approx(before, abs=1e-4)
        assert not rig.engine.machine.homed


def test_a_restart_clears_homed_even_behind_another_fault(rig: Bench) -> None:
    rig.engage()
    rig.virtual.faults.inject("drop_all", 1)
    rig.run(0.02)
    cause = rig.engine.machine.cause
    assert cause is not None and cause.code is FaultCode.COMMUNICATION_LOST and rig.engine.machine.homed
    rig.virtual.faults.inject("reboot", 2)
    rig.step()
    assert not rig.engine.machine.homed and rig.engine.machine.cause is cause


def test_a_quick_stop_reaches_every_leg_in_the_cycle_of_its_cause(rig: Bench) -> None:
    rig.engage()
    rig.follow(smooth_table(2.0))
    rig.run(0.3)
    rig.tap.take()
    rig.virtual.faults.inject("encoder_jump", 2, 0.004)
    rig.run(0.02)
    rows = rig.tap.take()
    (found,) = np.flatnonzero(rows["stop"] == StopSeverity.QUICK_STOP)[:1]
    assert found == 0 and rows["fault_leg"][0] == 2
    assert (rows["drive_status"][found] & Status.QUICK_STOP != 0).all()
    assert not rig.engine.machine.homed


def test_the_status_tells_what_a_client_needs(rig: Bench) -> None:
    rig.engage()
    rig.follow(smooth_table(), "up and down")
    rig.run(0.5)
    status = rig.status()
    assert (status.state, status.motion, status.rate, status.virtual) == (
        State.RUNNING,
        "up and down",
        CONFIG.rate,
        True,
    )
    assert status.path_time == pytest.approx(0.5, abs=0.005) and status.path_duration == pytest.approx(1.0)
    assert status.reference == tuple(rig.engine.cycle_data.reference.now[:7]) and status.cycles == rig.engine.cycles
    assert (status.cause, status.cause_code, status.homed, status.paused) == ("", FaultCode.NONE, True, False)
    assert status.events[-1].text == "ENGAGED → RUNNING" and len(status.events) <= 50
    rig.tap.fault = "the disk is full"
    rig.step()
    assert rig.status().recording_fault == "the disk is full"
