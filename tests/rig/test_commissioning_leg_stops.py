"""The test of one leg is stopped, interrupted or not begun: the torque is off on every path."""

import os
from pathlib import Path

import numpy as np
import pytest
from drive_support import servo_of
from leg_stand import CONFIG, HOME, Stand, homed, moving

from actuators import Status
from rig.client import Interruption, on_free_ports
from rig.commissioning import LatchedFaultError, check_move, run_leg_test
from rig.engine import LegMove
from rig.engine.drive_lock import claim_drives
from rig.errors import HardwareError, InputError, RefusedError
from rig.findings import Code, Finding
from rig.runtime import StopRequest
from rig.safety import Cause, Trip
from rig.states import FaultCode, State, StopSeverity

pytestmark = pytest.mark.usefixtures("stand_folder")


@pytest.mark.parametrize("category", [0, 1, 2])
def test_a_stop_brings_the_leg_to_rest_by_its_drive(category: StopRequest) -> None:
    seen: set[int] = set()

    def look(now: Stand) -> bool:
        seen.update(leg for leg, one in enumerate(now.rig.engine.commands, start=1) if one.quick_stop)
        return False

    stand = homed().when(look, lambda _stand: None).when(moving, lambda now: now.rig.raise_stop_flag(category))
    result = stand.run(LegMove(3))
    assert result.stopped and len(result.faults) == 1 and result.faults[0].fault is FaultCode.OPERATOR_STOP
    assert np.isnan(result.reached) and "measured" not in result.finding.text
    assert abs(stand.moved()) < 2e-3
    assert seen == (set() if category == 0 else {3})  # the others are at rest: nothing to be stopped
    assert stand.machine.state is State.IDLE and stand.rig.engine.law.name == "force"


def test_a_stop_while_it_looks_for_its_reference() -> None:
    stand = Stand()

    def stop(now: Stand) -> None:
        now.rig.raise_stop_flag(1)

    result = stand.when(lambda now: bool(now.drives.status[2] & Status.HOMING), stop).run(HOME)
    assert result.stopped and result.homed is None


def test_ctrl_c_stops_the_leg_and_gives_what_came_of_it() -> None:
    stand = homed()
    interruption = stand.rig._interruption

    def press(_stand: Stand) -> None:
        interruption.count += 1

    result = stand.when(moving, press).run(LegMove(3))
    assert result.stopped and result.faults == (Finding(Code.OPERATOR_STOP, details={"category": 1}),)


def test_without_a_client_the_leg_is_stopped() -> None:
    """The lease being given up, or its holder silent, is a stop as any other."""
    stand = homed()

    def lose(now: Stand) -> None:
        cause = Cause(Finding(Code.NO_COMMAND_LEASE), now.rig.engine.tick.t)
        now.rig.engine.trip(Trip(cause, StopSeverity.CATEGORY_2, latch=False))

    result = stand.when(moving, lose).run(LegMove(3))
    assert result.stopped and result.faults == (Finding(Code.NO_COMMAND_LEASE),)
    assert abs(stand.moved()) < 3e-3


def test_a_latched_fault_is_cleared_only_where_that_is_allowed() -> None:
    stand = Stand()
    servo_of(stand.virtual.drives[4])._latch("watchdog")
    with pytest.raises(LatchedFaultError, match="leg 5: drive fault 1, no command within the watchdog time: a latched"):
        stand.run(HOME)
    stand = Stand()
    servo_of(stand.virtual.drives[4])._latch("watchdog")
    assert stand.run(LegMove(3, home=True, clear=True)).passed
    stand = Stand()
    servo_of(stand.virtual.drives[4])._latch("watchdog")
    stand.virtual.faults.inject("encoder_nan", 5)
    with pytest.raises(RefusedError, match="reset: the cause is still there: leg 5"):
        stand.run(LegMove(3, home=True, clear=True))
    assert abs(stand.moved()) < 1e-5


def test_a_watchdog_that_is_no_fault_is_cleared_like_one() -> None:
    stand = Stand()
    servo_of(stand.virtual.drives[4])._watchdog_tripped = True
    with pytest.raises(LatchedFaultError, match="leg 5: "):
        stand.run(HOME)
    stand = Stand()
    servo_of(stand.virtual.drives[4])._watchdog_tripped = True
    assert stand.run(LegMove(3, home=True, clear=True)).passed


def test_a_second_stop_is_seen_while_the_drive_does_not_obey_the_first() -> None:
    stand = homed()
    stopped: list[float] = []

    def now_is(now: Stand) -> float:
        return now.rig.engine.tick.t

    def stop(now: Stand) -> None:
        now.virtual.faults.inject("drop_all", 3)  # it neither stops nor says so
        now.rig.raise_stop_flag(1)
        stopped.append(now_is(now))

    def insist(now: Stand) -> None:
        now.rig.raise_stop_flag(0)
        stopped.append(now_is(now))

    def torque_off(now: Stand) -> bool:
        return len(stopped) == 2 and not now.rig.engine.commands[2].enable

    stand.when(moving, stop).when(lambda now: bool(stopped) and now_is(now) > stopped[0] + 0.1, insist)
    stand.when(torque_off, lambda now: stopped.append(now_is(now)))
    result = stand.run(LegMove(3))
    assert result.stopped
    assert stopped[1] == pytest.approx(stopped[0] + 0.1, abs=0.01)
    assert stopped[2] - stopped[1] < 5 * stand.config.period < stand.config.safety.stop_time


def test_a_leg_whose_drive_has_no_position_mode_is_not_tested(tmp_path: Path) -> None:
    source = Path(CONFIG.path).parents[3] / "actuators" / "profiles" / "generic-servo.toml"
    profile = tmp_path / "plain.toml"
    profile.write_text(source.read_text(encoding="utf-8").replace("\nposition = 2\n", "\n"), encoding="utf-8")
    with pytest.raises(
        RefusedError, match=r"leg 3: its drive has no mode POSITION \(driver servo, profile .*plain.toml\)"
    ):
        check_move(CONFIG.changed({"drives": {"profile": str(profile)}}), HOME)


def test_drives_that_another_process_commands_are_left_alone() -> None:
    config = on_free_ports(CONFIG).changed({"virtual": None})
    with (
        claim_drives(config),
        pytest.raises(HardwareError, match=rf"leg 1: another program \(process {os.getpid()}, .*\) commands the drive"),
    ):
        run_leg_test(config, HOME, Interruption(), lambda _progress: None)


def test_devices_that_cannot_be_made_are_an_input_that_is_wrong() -> None:
    amplifier = {"host": "127.0.0.1", "port": 1, "profile": "nothing"}
    config = on_free_ports(CONFIG).changed(
        {"virtual": None, "load_cells": {"source": "amplifier", "amplifier": amplifier}}
    )
    with pytest.raises(InputError, match="no profile 'nothing'"):
        run_leg_test(config, HOME, Interruption(), lambda _progress: None)


def test_ctrl_c_before_anything_moves_is_a_stop_too() -> None:
    stand = Stand()
    stand.rig._interruption.count = 1
    result = stand.run(HOME)
    assert result.stopped and result.faults == (Finding(Code.STOPPED_BEFORE_MOVING),) and result.homed is None
    assert abs(stand.moved()) < 1e-6


def test_torque_on_another_drive_takes_it_off_everywhere() -> None:
    stand = homed().when(moving, lambda now: now.virtual.faults.inject("torque_stuck", 5))
    result = stand.run(LegMove(3))
    assert result.faults[0].text == "leg 5: the drive has torque in state SINGLE_LEG"
    rows = stand.recording().rows
    assert (rows["stop"][rows["fault"] == FaultCode.TORQUE_UNEXPECTED][0]) == StopSeverity.CATEGORY_0
