import math

import pytest
from drive_support import PROFILE, Bench, ask
from hypothesis import given, settings
from hypothesis import strategies as st

from actuators import COMMAND_CLEAR, COMMAND_HOME, COMMAND_OFF, COMMAND_STOP, Command, Mode, Status

FORCE = Command(Mode.FORCE, 50.0, 0.6, 0.0, enable=True)
POSITION = Command(Mode.POSITION, 0.0, 0.66, 0.0, enable=True)
OFF_STATUS = Status.READY | Status.BRAKE | Status.STANDSTILL


def enabled(**options) -> Bench:
    bench = Bench(**options)
    bench.drive.configure()
    bench.do(COMMAND_OFF)
    assert bench.do(FORCE).status & Status.ENABLED
    return bench


def homed() -> Bench:
    bench = Bench()
    bench.drive.configure()
    bench.do(COMMAND_OFF)
    bench.do(COMMAND_HOME)
    bench.leg.settle()
    assert bench.do(COMMAND_HOME).status & Status.HOMED
    return bench


def test_power_up():
    bench = Bench()
    feedback = bench.do(COMMAND_OFF)
    assert feedback.status == OFF_STATUS
    assert feedback.position == 0.0  # not homed: relative to where it stood
    assert feedback.force == 100.0
    assert bench.leg.brake
    assert not bench.leg.enabled


def test_force_reaches_the_plant_in_the_same_exchange():
    bench = enabled()
    assert (bench.leg.mode, bench.leg.force, bench.leg.enabled, bench.leg.brake) == (Mode.FORCE, 50.0, True, False)
    feedback = bench.do(Command(Mode.FORCE, -1.2346, enable=True))
    assert bench.leg.force == pytest.approx(-1.235)
    assert feedback.status == Status.READY | Status.ENABLED | Status.STANDSTILL
    assert feedback.sequence == bench.drive.sequence


def test_enable_wants_to_be_seen_low_first():
    bench = Bench()
    assert not bench.do(FORCE).status & Status.ENABLED
    bench.do(COMMAND_OFF)
    assert bench.do(FORCE).status & Status.ENABLED


def test_clearing_enable_takes_power_off_at_once():
    for command in (COMMAND_OFF, Command(Mode.FORCE), Command(Mode.OFF, enable=True)):
        bench = enabled()
        bench.leg.velocity = 0.3
        assert bench.do(command).status == Status.READY | Status.BRAKE
        assert bench.leg.brake
        assert bench.do(FORCE).status & Status.ENABLED


def test_quick_stop_runs_to_standstill_and_then_brakes():
    bench = enabled()
    bench.leg.velocity = 0.3
    feedback = bench.do(COMMAND_STOP)
    assert feedback.status == Status.READY | Status.ENABLED | Status.QUICK_STOP
    assert bench.leg.quick_stop
    assert bench.do(FORCE).status & Status.QUICK_STOP  # not taken back
    bench.leg.velocity = 0.0
    assert bench.do(FORCE).status == OFF_STATUS
    assert not bench.do(FORCE).status & Status.ENABLED
    bench.do(COMMAND_OFF)
    assert bench.do(FORCE).status & Status.ENABLED


def test_quick_stop_that_does_not_come_to_rest_ends_by_its_time():
    bench = enabled()
    bench.leg.velocity = 0.3
    bench.do(COMMAND_STOP)
    bench.pass_time(0.1)
    assert not bench.leg.brake
    bench.pass_time(0.11)
    assert bench.leg.brake
    assert not bench.leg.enabled


def test_quick_stop_of_a_drive_without_power_changes_nothing():
    bench = Bench()
    bench.do(COMMAND_OFF)
    assert bench.do(COMMAND_STOP).status == OFF_STATUS


def test_homing():
    bench = Bench()
    bench.do(COMMAND_OFF)
    assert bench.do(COMMAND_HOME).status & (Status.HOMING | Status.HOMED) == Status.HOMING
    assert bench.leg.mode is Mode.HOMING
    bench.leg.settle()
    feedback = bench.do(COMMAND_HOME)
    assert feedback.status & (Status.HOMING | Status.HOMED) == Status.HOMED
    assert feedback.position == pytest.approx(0.65, abs=1e-7)
    assert bench.do(POSITION).status & Status.ENABLED
    assert bench.leg.position == pytest.approx(0.66)


def test_homing_again_is_not_homed_until_done():
    bench = homed()
    bench.do(FORCE)
    bench.leg.homing_done = False
    assert bench.do(COMMAND_HOME).status & (Status.HOMING | Status.HOMED) == Status.HOMING
    assert not bench.do(FORCE).status & Status.HOMED


def test_position_offset_is_between_drive_and_leg():
    bench = Bench(position_offset=0.5)
    bench.do(COMMAND_OFF)
    bench.do(COMMAND_HOME)
    bench.leg.settle()
    assert bench.do(COMMAND_HOME).position == pytest.approx(0.65, abs=1e-7)
    assert ask(bench.servo, "03 0003 0002") == "0304" + (1_500_000).to_bytes(4, "big").hex()
    bench.do(POSITION)
    assert bench.leg.position == pytest.approx(0.66)


def test_position_mode_wants_a_reference():
    bench = Bench()
    bench.do(COMMAND_OFF)
    feedback = bench.do(POSITION)
    assert feedback.status & Status.FAULT
    assert bench.drive.error_text(feedback.error) == "position mode without a reference"
    assert not bench.do(FORCE).status & Status.READY


def test_watchdog_stops_the_leg_by_itself():
    bench = enabled(watchdog=0.05)
    bench.leg.velocity = 0.2
    bench.pass_time(0.05)
    assert not bench.leg.quick_stop
    bench.pass_time(0.001)
    assert bench.leg.quick_stop
    bench.leg.velocity = 0.0
    bench.pass_time(0.001)
    assert bench.leg.brake
    feedback = bench.do(FORCE)
    assert feedback.status == Status.FAULT | Status.WATCHDOG | Status.BRAKE | Status.STANDSTILL
    assert bench.drive.error_text(feedback.error) == "no command within the watchdog time"


def test_fault_is_latched_until_a_clear_edge_and_never_leads_straight_to_motion():
    bench = enabled()
    bench.pass_time(0.1)
    bench.pass_time(0.001)
    assert bench.do(COMMAND_OFF).status & Status.FAULT
    assert bench.do(FORCE).status & Status.FAULT
    both = Command(Mode.FORCE, 50.0, enable=True, clear=True)
    assert bench.do(both).status & (Status.FAULT | Status.WATCHDOG | Status.ENABLED) == Status(0)
    assert not bench.do(both).status & Status.ENABLED
    bench.do(COMMAND_OFF)
    assert bench.do(FORCE).status & Status.ENABLED


def test_clear_is_an_edge_and_waits_for_standstill():
    bench = enabled()
    bench.leg.velocity = 0.2
    bench.pass_time(0.06)  # watchdog: stopping
    assert bench.do(Command(Mode.FORCE, enable=True, clear=True)).status & Status.FAULT
    bench.leg.velocity = 0.0
    assert bench.do(COMMAND_CLEAR).status & Status.FAULT  # no edge: clear stood already
    bench.do(COMMAND_OFF)
    assert not bench.do(COMMAND_CLEAR).status & Status.FAULT


def test_watchdog_sleeps_without_power_and_when_zero():
    bench = Bench()
    bench.drive.configure()
    bench.do(COMMAND_OFF)
    bench.pass_time(10.0)
    assert bench.do(COMMAND_OFF).status == OFF_STATUS
    bench = Bench()  # not configured
    bench.do(COMMAND_OFF)
    bench.do(FORCE)
    bench.pass_time(10.0)
    assert bench.do(FORCE).status & Status.ENABLED


def test_only_valid_writes_of_the_command_feed_the_watchdog():
    bench = enabled(watchdog=0.05)
    bench.pass_time(0.04)
    assert ask(bench.servo, "03 0000 000b").startswith("0316")
    assert ask(bench.servo, "06 0065 0063") == "8603"
    bench.pass_time(0.02)
    assert bench.leg.quick_stop
    bench = enabled(watchdog=0.05)
    bench.pass_time(0.04)
    assert ask(bench.servo, "06 0066 0007") == "0600660007"
    bench.pass_time(0.02)
    assert not bench.leg.quick_stop


def test_reboot_forgets_everything():
    bench = homed()
    bench.do(FORCE)
    bench.servo.reboot()
    assert bench.leg.brake
    feedback = bench.do(FORCE)
    assert feedback.status == OFF_STATUS
    assert feedback.position == 0.0
    assert ask(bench.servo, "03 00c8 0001") == "03020000"
    assert ask(bench.servo, "03 0066 0001") == "0302" + bench.drive.sequence.to_bytes(2, "big").hex()


def test_quantities_are_rounded_to_the_resolution():
    bench = homed()
    bench.leg.length, bench.leg.velocity, bench.leg.cell = 0.612345649, -0.1234567, 12.34567
    feedback = bench.do(COMMAND_HOME)
    assert feedback.position == pytest.approx(0.6123456, abs=1e-12)
    assert feedback.velocity == pytest.approx(-0.123457, abs=1e-12)
    assert feedback.force == pytest.approx(12.346, abs=1e-12)


@pytest.mark.parametrize("length", [math.nan, math.inf, -math.inf, 1e9, 214.8, -215.0])
def test_position_that_does_not_fit_is_a_fault_and_never_wraps(length):
    bench = homed()
    bench.do(FORCE)
    bench.leg.length = length
    bench.leg.velocity = 0.1
    feedback = bench.do(FORCE)
    assert math.isnan(feedback.position)
    assert feedback.status & (Status.FAULT | Status.QUICK_STOP | Status.HOMED) == Status.FAULT | Status.QUICK_STOP
    assert "position sensor" in bench.drive.error_text(feedback.error)


@pytest.mark.parametrize("cell", [math.nan, math.inf, -math.inf, 3e6, -3e6, -(2**31) * 1e-3])
def test_force_signal_without_value_is_reported_without_a_fault(cell):
    bench = enabled()
    bench.leg.cell = cell
    feedback = bench.do(FORCE)
    assert math.isnan(feedback.force)
    assert feedback.status & (Status.FAULT | Status.ENABLED) == Status.ENABLED
    assert "force signal" in bench.drive.error_text(feedback.error)
    bench.leg.cell = 1.0
    assert bench.do(FORCE).error == 0


def test_value_without_an_invalid_one_stops_at_the_end_of_its_range():
    content = PROFILE.model_dump()
    content["feedback"]["force"]["invalid"] = None
    bench = Bench(type(PROFILE).model_validate(content))
    bench.leg.cell = -1e9
    assert bench.do(COMMAND_OFF).force == pytest.approx(-(2**31) * 1e-3)
    bench.leg.cell = 1e9
    feedback = bench.do(COMMAND_OFF)
    assert feedback.force == pytest.approx((2**31 - 1) * 1e-3)
    assert feedback.error == 16


def test_float_registers_and_lower_word_first():
    content = PROFILE.model_dump()
    content["word_order"] = "little"
    for table in ("feedback", "command"):
        content[table]["force"] = {"address": content[table]["force"]["address"], "type": "f32"}
    content["parameters"]["watchdog"] = {"address": 200, "type": "u32", "scale": 1e-6}
    bench = enabled(profile=type(PROFILE).model_validate(content))
    assert ask(bench.servo, "03 00c8 0002") == "0304c3500000"  # 50000 us, lower word first
    bench.leg.cell = 1.25
    assert bench.do(FORCE).force == 1.25
    bench.leg.cell = math.nan
    feedback = bench.do(FORCE)
    assert math.isnan(feedback.force)
    assert feedback.error == 16
    before = bench.leg.force
    assert ask(bench.servo, "10 0067 0002 04 0000 7fc0") == "9003"  # NaN
    assert bench.leg.force == before
    bench.pass_time(0.049)
    assert not bench.leg.quick_stop
    bench.pass_time(0.05)
    assert bench.leg.quick_stop


@settings(max_examples=60)
@given(
    st.lists(
        st.one_of(
            st.builds(
                Command,
                st.sampled_from(Mode),
                st.sampled_from([0.0, 80.0]),
                st.just(0.6),
                st.just(0.0),
                enable=st.booleans(),
                quick_stop=st.booleans(),
                clear=st.booleans(),
            ),
            st.sampled_from(["wait", "settle", "reboot", "blind", "moving"]),
        ),
        max_size=40,
    )
)
def test_invariants_of_the_drive(steps):
    bench = Bench()
    bench.drive.configure()
    low_since_stop, faulted = False, False
    for step in steps:
        if isinstance(step, Command):
            feedback = bench.do(step)
            faulted_before, faulted = faulted, bool(feedback.status & Status.FAULT)
            low_since_stop = low_since_stop or (not step.enable and not faulted)
            status = feedback.status
            assert bool(status & Status.FAULT) == bool(feedback.error)
            assert bool(status & Status.READY) != bool(status & Status.FAULT)
            assert bool(status & Status.BRAKE) != bool(status & Status.ENABLED) == bench.leg.enabled
            assert bench.leg.brake != bench.leg.enabled
            if not step.enable:
                assert not status & Status.ENABLED
            if status & Status.FAULT and status & Status.ENABLED:
                assert status & Status.QUICK_STOP
            if faulted_before and not faulted:
                assert step.clear
                assert not status & Status.ENABLED
            if status & Status.ENABLED and not status & Status.QUICK_STOP:
                assert low_since_stop
            if not status & Status.ENABLED and step.enable and step.mode is not Mode.OFF:
                low_since_stop = False
            if status & Status.QUICK_STOP or faulted:
                low_since_stop = False
        elif step == "wait":
            bench.pass_time(0.06)
        elif step == "settle":
            bench.leg.settle()
        elif step == "reboot":
            bench.servo.reboot()
            low_since_stop, faulted = False, False
            bench.drive.configure()
        elif step == "moving":
            bench.leg.velocity = 0.2
        else:
            bench.leg.length = 0.6 if math.isnan(bench.leg.length) else math.nan
