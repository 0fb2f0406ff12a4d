"""What every registered driver must do, whatever its protocol: each one is run against its own virtual twin.

A driver that is registered but has no bench here fails the first test: add one to `BENCHES`.
"""

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from drive_support import Bench, Leg, alike
from iai_bench import IaiBench
from jrk_bench import JrkBench
from orca_bench import OrcaBench
from servo_profiles import BARE, COILS, GUIDE, SEPARATE, SHIPPED, SINGLE, SWAPPED, UGLY
from virtual_line import LineBench

from actuators import (
    COMMAND_CLEAR,
    COMMAND_HOME,
    COMMAND_OFF,
    COMMAND_STOP,
    ActuatorError,
    Command,
    CommandError,
    ConfigurationError,
    ConnectError,
    Counters,
    Drive,
    DriveAddress,
    DriveOptions,
    Feedback,
    Identity,
    Mode,
    Status,
    create_drive,
    create_twin,
    drive_names,
    find_driver,
)

BENCHES: dict[str, Callable[..., Any]] = {
    "servo": Bench,
    "servo on a line": LineBench,
    "servo, function after function": partial(Bench, SEPARATE),
    "servo on a line, function after function": partial(LineBench, SEPARATE),
    "servo, word after word": partial(Bench, SINGLE),
    "servo, bytes in every order": partial(Bench, SWAPPED),
    "servo for positions": partial(Bench, BARE),
    "servo for positions on a line": partial(LineBench, BARE),
    "servo of the guide": partial(LineBench, GUIDE),
    "servo with an ugly map": partial(Bench, UGLY),
    "servo with an ugly map on a line": partial(LineBench, UGLY),
    "servo with coils": partial(Bench, COILS),
    "servo with coils on a line": partial(LineBench, COILS),
    "lexium-32": partial(Bench, SHIPPED["lexium-32"]),
    "oriental-az": partial(LineBench, SHIPPED["oriental-az"]),
    "delta-asda-a2": partial(LineBench, SHIPPED["delta-asda-a2"]),
    "iai": IaiBench,
    "jrk-g2": JrkBench,
    "jrk-g2, with checksums": partial(JrkBench, crc=True),
    "orca": OrcaBench,
}
"""Driver → bench: `.drive` connected to a twin over `.leg`; `do(command)` is a cycle of 2 ms, `pass_time(s)` silence;
`.faults` has the wire faults, `.step` (m, m/s) is what it resolves, `.lacks` names what it does not say or do, `.takes`
is the number of cycles after which the feedback says that a command was carried out, `.arrives` that after which the
leg has been told to be where it is to go, by a ramp of the drive's own."""


def test_every_registered_driver_is_enrolled():
    missing = set(drive_names()) - set(BENCHES)
    assert not missing, f"drivers without a bench in BENCHES: {', '.join(sorted(missing))}"


@pytest.mark.parametrize("name", drive_names())
def test_what_is_registered_is_whole(name):
    """What the configuration, the claim, the virtual rig and the app ask of a driver."""
    driver = find_driver(name)
    lacking = [
        text
        for text, there in (
            ("an address with fields of its own", set(driver.address.model_fields) - {"unit"}),
            ("settings that name their files", set(driver.settings.files) <= set(driver.settings.model_fields)),
            (
                "options that take its address and settings",
                {*driver.address.model_fields, *driver.settings.model_fields, *DriveOptions.model_fields}
                <= set(driver.options.model_fields),
            ),
            (
                "the defaults of its address and settings in its options",
                alike(driver.address, driver.options) and alike(driver.settings, driver.options),
            ),
            ("an identity for the claim", driver.address.identity is not DriveAddress.identity),
            ("a place for messages", driver.address.place is not DriveAddress.place),
            ("a virtual twin", driver.twin),
            (
                "documented fields",
                all(model.__doc__ for model in (driver.address, driver.settings, driver.options)),
            ),
        )
        if not there
    ]
    assert not lacking, f"driver {name} lacks {', '.join(lacking)}: see docs/adding-a-device.md"


@pytest.fixture(params=BENCHES)
def bench(request):
    bench = BENCHES[request.param](name="drive 4", watchdog=0.05)
    yield bench
    bench.drive.close()


def start(bench) -> None:
    bench.drive.configure()
    bench.do(COMMAND_OFF)


def reach(bench, command: Command) -> Feedback:
    """What a command has led to when it has been carried out."""
    feedback: Feedback = bench.do(command)
    for _ in range(bench.takes - 1):
        feedback = bench.do(command)
    return feedback


def homed(bench) -> None:
    start(bench)
    assert reach(bench, COMMAND_HOME).status & Status.HOMING
    bench.leg.settle()
    assert reach(bench, COMMAND_HOME).status & Status.HOMED


def moving(bench) -> Command:
    """Power the drive in a mode it has."""
    homed(bench)
    mode = Mode.FORCE if Mode.FORCE in bench.drive.capabilities.modes else Mode.POSITION
    bench.do(COMMAND_OFF)
    command = Command(mode, 10.0, bench.leg.length, enable=True)
    assert reach(bench, command).status & Status.ENABLED
    return command


def test_describes_itself(bench):
    assert isinstance(bench.drive, Drive)
    assert bench.drive.name == "drive 4"
    can = bench.drive.capabilities
    assert Mode.OFF in can.modes
    assert (Mode.HOMING in can.modes) == can.homing
    assert all(
        math.isfinite(limit) and limit > 0 for limit in (can.force_limit, can.position_limit, can.velocity_limit)
    )
    identity = bench.drive.identify()
    assert isinstance(identity, Identity)
    assert identity.product
    assert (identity.vendor and identity.serial) or "identity" in bench.lacks
    assert bench.drive.error_text(0) and bench.drive.error_text(12345)


def test_options_that_are_wrong_are_refused_in_words(bench):
    for name in drive_names():
        with pytest.raises(ConfigurationError, match="no_such_option"):
            create_drive(name, {"name": "drive 4", "no_such_option": 1})
        with pytest.raises(ConfigurationError, match="no_such_option"):
            create_twin(name, {"name": "drive 4", "no_such_option": 1}, Leg())


def test_nothing_moves_before_it_is_told(bench):
    assert bench.drive.connected
    bench.drive.identify()
    bench.drive.configure()
    assert not bench.leg.enabled
    assert bench.leg.brake


def test_feedback_is_in_si_units_of_the_leg(bench):
    homed(bench)
    bench.leg.velocity, bench.leg.cell = -0.125, 321.5
    feedback = bench.do(COMMAND_OFF)
    assert isinstance(feedback, Feedback)
    assert feedback.position == pytest.approx(bench.leg.length, abs=bench.step)
    assert feedback.velocity == pytest.approx(0.0 if "velocity" in bench.lacks else -0.125, abs=bench.step)
    if bench.drive.capabilities.force_feedback:
        assert feedback.force == pytest.approx(321.5, abs=1e-2)
    assert (feedback.fresh, feedback.age, feedback.error) == (True, 0, 0)


def test_set_points_reach_the_leg(bench):
    command = moving(bench)
    velocity = 0.0 if "feedforward" in bench.lacks else 0.02
    for _ in range(bench.arrives):
        bench.do(Command(command.mode, -77.5, 0.61, velocity, enable=True))
        bench.leg.settle()
    assert bench.leg.mode is command.mode
    if command.mode is Mode.FORCE:
        assert bench.leg.force == pytest.approx(-77.5, abs=1e-2)
    if command.mode is Mode.POSITION or "one set-point" not in bench.lacks:
        assert bench.leg.position == pytest.approx(0.61, abs=bench.step)
    if "feedforward" in bench.lacks:
        return
    assert bench.leg.feedforward == pytest.approx(0.0 if "velocity" in bench.lacks else 0.02, abs=bench.step)


def test_status_follows_power(bench):
    command = moving(bench)
    bench.leg.velocity = 0.2
    stopping = bench.do(COMMAND_STOP).status
    assert stopping & Status.QUICK_STOP or "quick stop" in bench.lacks
    bench.leg.settle()
    stopped = reach(bench, COMMAND_STOP).status
    assert stopped & Status.BRAKE or "brake" in bench.lacks
    assert not stopped & Status.ENABLED and bench.leg.brake
    assert not reach(bench, command).status & Status.ENABLED  # it wants to see the power off first
    bench.do(COMMAND_OFF)
    assert reach(bench, command).status & Status.ENABLED
    assert not bench.do(COMMAND_OFF).status & Status.ENABLED
    assert not bench.leg.enabled


def test_watchdog_is_the_drives_own(bench):
    if not bench.drive.capabilities.watchdog:
        return
    moving(bench)
    bench.leg.velocity = 0.2
    bench.pass_time(0.06)
    assert bench.leg.quick_stop
    bench.leg.settle()
    bench.pass_time(0.001)
    assert bench.leg.brake
    feedback = bench.do(COMMAND_OFF)
    assert feedback.status & Status.FAULT and feedback.status & Status.WATCHDOG
    assert feedback.error
    assert not bench.do(COMMAND_CLEAR).status & Status.FAULT


def test_observing_tells_the_same_and_commands_nothing(bench):
    command = moving(bench)
    told = reach(bench, command)
    seen = bench.drive.observe(1.0)
    assert (seen.status, seen.error, seen.sequence, seen.fresh) == (told.status, 0, told.sequence, True)
    assert seen.position == pytest.approx(told.position, abs=1e-6)
    assert seen.velocity == 0.0  # also of a drive that does not say its speed
    if bench.drive.capabilities.watchdog:
        bench.pass_time(0.04)
        bench.drive.observe(1.0)
        bench.pass_time(0.04)  # together more than the watchdog bears: looking does not feed it
        assert bench.drive.observe(1.0).status & Status.WATCHDOG
    bench.faults.inject("drop_all")
    with pytest.raises(ConnectError, match="drive 4"):
        bench.drive.observe(0.05)


def test_stale_keeps_the_last_good_values(bench):
    command = moving(bench)
    bench.faults.inject("drop_all")
    last = bench.drive.exchange(command, bench.now + 0.25, 0.0)
    assert (last.fresh, last.age) == (False, pytest.approx(0.25))
    again = bench.drive.exchange(command, bench.now + 0.5, 0.0)
    assert again == Feedback(
        last.position, last.velocity, last.force, last.status, last.error, False, again.age, last.sequence
    )
    assert again.age == pytest.approx(0.5)
    assert math.isfinite(last.position)
    bench.faults.clear("drop_all")
    feedback = bench.do(command)
    assert (feedback.fresh, feedback.age) == (True, 0)
    if feedback.sequence >= 0:
        assert feedback.sequence == bench.drive.sequence


@pytest.mark.parametrize("fault", ["drop_all", "delay", "bit_flip", "busy", "close", "hang"])
def test_wire_faults_are_counted_and_never_raised(bench, fault):
    command = moving(bench)
    if fault == "hang" and bench.do(command).sequence < 0:
        return  # without an echo nothing tells a hung drive from one at rest
    before = bench.drive.counters.received
    bench.faults.inject(fault)
    started = time.monotonic()
    for age in range(1, 6):
        assert bench.do(command).age == pytest.approx(0.002 * age)
    assert time.monotonic() - started < 5.0
    counters = bench.drive.counters
    assert isinstance(counters, Counters)
    assert counters.received == before
    assert (
        fault == "close"
        or counters.late + counters.rejected + counters.exceptions + counters.crc + counters.mismatched >= 5
    )


def test_the_reply_before_is_none_or_is_said_to_be_old(bench):
    """Without transaction ids, as on a serial line, the echo alone tells it from the reply of a slow gateway."""
    command = moving(bench)
    if bench.do(command).sequence < 0:
        return
    bench.faults.inject("replay")
    seen = [bench.do(command) for _ in range(5)]
    assert not seen[0].fresh
    assert all(not one.fresh or one.lag == 1 for one in seen[1:])
    assert bench.drive.line is not None or not any(one.fresh for one in seen)


def test_replies_of_a_drive_that_hangs_are_stale_and_say_so(bench):
    for command in (COMMAND_OFF, moving(bench)):
        assert bench.do(command).fresh and bench.drive.silence == ""
        echo = bench.drive.sequence
        if bench.do(command).sequence < 0:
            return  # without an echo nothing tells a hung drive from one at rest
        bench.faults.inject("hang")
        for age in range(1, 6):
            feedback = bench.do(command)
            assert (feedback.fresh, feedback.age, feedback.sequence) == (False, pytest.approx(0.002 * age), echo + 1)
            assert f"acts on command {echo + 1}, not on {bench.drive.sequence}" in bench.drive.silence
        bench.faults.clear("hang")
        assert bench.do(COMMAND_OFF).fresh and bench.drive.silence == ""


def test_replies_that_are_a_cycle_old_for_good_are_borne_within_a_bound(bench):
    start(bench)
    if bench.do(COMMAND_OFF).sequence < 0:
        return
    bench.faults.inject("lag", 1.0)
    seen = [bench.do(COMMAND_OFF) for _ in range(6)]
    assert [feedback.fresh for feedback in seen] == [True, False, True, True, True, True]
    assert [feedback.lag for feedback in seen] == [0, 0, 1, 1, 1, 1]
    assert (bench.drive.counters.lagging, bench.drive.counters.mismatched) == (4, 1)
    bench.faults.inject("lag", 2.0)
    assert not any([bench.do(COMMAND_OFF).fresh for _ in range(8)][2:])
    bench.faults.clear("lag")
    assert [bench.do(COMMAND_OFF).lag for _ in range(3)][1:] == [0, 0]


def test_commands_that_cannot_be_are_refused_and_change_nothing(bench):
    moving(bench)
    before = (bench.leg.mode, bench.leg.force, bench.leg.position, bench.drive.counters.sent)
    mode = bench.leg.mode
    for bad in (
        Command(mode, force=math.nan, enable=True),
        Command(mode, position=math.inf, enable=True),
        Command(mode, velocity=-math.inf, enable=True),
        Command(mode, force=2.0 * bench.drive.capabilities.force_limit, enable=True),
    ):
        with pytest.raises(CommandError, match="drive 4"):
            bench.drive.begin(bad, bench.now)
    assert (bench.leg.mode, bench.leg.force, bench.leg.position, bench.drive.counters.sent) == before


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_largest_commands_that_may_be_are_sent(bench, sign):
    command, can = moving(bench), bench.drive.capabilities
    largest = Command(
        command.mode, sign * can.force_limit, sign * can.position_limit, sign * can.velocity_limit, enable=True
    )
    before = bench.drive.counters.sent
    for _ in range(3):
        bench.do(largest)
        bench.do(command)
    assert bench.drive.counters.sent == before + 6


def test_closing_and_reconnecting_sends_no_command(bench):
    moving(bench)
    before = (bench.leg.mode, bench.leg.force, bench.leg.position)
    bench.drive.close()
    bench.drive.close()
    assert not bench.drive.connected
    assert not bench.drive.exchange(COMMAND_OFF, bench.now, 0.0).fresh
    with pytest.raises(ConnectError, match="drive 4"):
        bench.drive.observe(1.0)
    bench.drive.connect(1.0)
    bench.drive.identify()
    assert (bench.leg.mode, bench.leg.force, bench.leg.position) == before


def test_a_device_that_does_not_answer_is_a_typed_error_within_its_time():
    for make in BENCHES.values():
        bench = make(name="drive 4", request_timeout=0.01)
        bench.faults.inject("busy")
        accesses = [partial(bench.drive.observe, 0.01)]
        accesses += [] if "identity" in bench.lacks else [bench.drive.identify, bench.drive.configure]
        for access in accesses:
            with pytest.raises(ActuatorError, match="drive 4"):
                access()
        bench.faults.clear("busy")
        bench.faults.inject("drop_all")
        with pytest.raises(ConnectError, match=r"drive 4 .* did not answer within 0.01 s"):
            bench.drive.observe(0.01)
