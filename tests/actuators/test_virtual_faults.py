import math

import pytest
from drive_support import PROFILE, Bench

from actuators import (
    COMMAND_HOME,
    COMMAND_OFF,
    SENSOR_FAULTS,
    SERVO_FAULTS,
    WIRE_FAULTS,
    Amplifier,
    AmplifierOptions,
    Command,
    ConfigurationError,
    FaultyDevice,
    IdentityError,
    Mode,
    Status,
    VirtualAmplifier,
    VirtualServo,
    load_profile,
)
from actuators.amplifier_profile import AmplifierProfile
from actuators.virtual.drive import AUXILIARY_FAULTS, POWER_FAULTS
from actuators.wire import MemoryWire
from rig.testing import BenchLeg as Leg

FORCE = Command(Mode.FORCE, 50.0, 0.6, 0.0, enable=True)


def running(**options) -> Bench:
    bench = Bench(**options)
    bench.drive.configure()
    bench.do(COMMAND_OFF)
    bench.do(COMMAND_HOME)
    bench.leg.settle()
    bench.do(COMMAND_HOME)
    assert bench.do(FORCE).fresh
    return bench


def fresh(bench: Bench, cycles: int) -> str:
    return "".join("+" if bench.do(FORCE).fresh else "-" for _ in range(cycles))


def test_one_write_lost():
    bench = running()
    bench.faults.inject("drop_write")
    before = bench.drive.sequence
    assert fresh(bench, 3) == "-++"
    assert bench.drive.counters.late == 1
    assert bench.drive.sequence == before + 3
    assert bench.faults.active == {}
    bench.faults.inject("drop_write", 2)
    assert fresh(bench, 4) == "--++"


def test_all_writes_lost_lets_the_drive_stop_itself():
    bench = running(watchdog=0.05)
    bench.leg.velocity = 0.1
    bench.faults.inject("drop_all")
    assert fresh(bench, 24) == "-" * 24
    assert not bench.leg.quick_stop
    assert fresh(bench, 2) == "--"
    assert bench.leg.quick_stop
    bench.faults.clear("drop_all")
    assert bench.do(FORCE).status & Status.WATCHDOG


def test_late_replies_are_rejected_when_they_come():
    bench = running()
    bench.faults.inject("delay", 0.003)
    assert fresh(bench, 4) == "----"
    assert bench.leg.force == 50.0
    assert bench.drive.counters.rejected == 2
    bench.faults.clear("delay")
    assert fresh(bench, 3) == "+++"
    assert bench.drive.counters.rejected == 4
    assert bench.drive.counters.late == 4
    assert bench.drive.counters.unusable == 0  # they disturb nothing


def test_delayed_replies_are_due_in_their_order():
    bench = running()
    bench.faults.inject("delay", 0.010)
    fresh(bench, 2)
    assert bench.faults.due() == b""
    bench.pass_time(0.020)
    assert bench.faults.due().startswith(bench.sent[-2][:2])
    assert bench.faults.due() == b""


@pytest.mark.parametrize("bit", range(72))
def test_a_bit_flipped_in_the_header_discards_the_reply_and_no_other(bit):
    bench = running()
    bench.faults.inject("bit_flip", bit)
    assert fresh(bench, 2) == "--"
    bench.faults.clear("bit_flip")
    assert fresh(bench, 3) == "+++"


def test_busy_device():
    bench = running()
    bench.faults.inject("busy")
    assert fresh(bench, 3) == "---"
    assert (bench.drive.counters.exceptions, bench.drive.counters.exception_code) == (3, 6)
    bench.faults.clear("busy")
    assert fresh(bench, 1) == "+"


def test_reply_of_the_cycle_before():
    bench = running()
    bench.faults.inject("replay")
    assert fresh(bench, 3) == "---"
    assert bench.received[-1][:2] == bench.sent[-2][:2]
    bench.faults.clear("replay")
    assert fresh(bench, 2) == "++"


def test_replies_cut_and_merged():
    bench = running()
    bench.faults.inject("rechunk")
    assert fresh(bench, 3) == "-++"
    bench.faults.inject("rechunk", 3)
    assert fresh(bench, 6) == "---+++"


def test_closed_connection():
    bench = running()
    bench.faults.inject("close")
    assert fresh(bench, 2) == "--"
    assert not bench.drive.connected
    bench.faults.clear("close")
    assert fresh(bench, 1) == "-"
    bench.drive.connect(1.0)
    assert fresh(bench, 1) == "+"


def test_swapped_units_show_in_the_identity():
    bench = running(serial="VIRTUAL-1")
    other = FaultyDevice(VirtualServo(PROFILE, Leg(), unit=7, serial="VIRTUAL-2"))
    bench.faults.peers = (bench.faults, other)
    bench.drive.identify()
    bench.faults.inject("swap_unit", 2)
    with pytest.raises(IdentityError, match=r"'VIRTUAL-2', expected 'VIRTUAL-1'"):
        bench.drive.identify()
    with pytest.raises(ConfigurationError, match=r"device 3 is outside 1\.\.2"):
        bench.faults.inject("swap_unit", 3)


def moved(name: str, value: float | None = None):
    bench = running()
    bench.leg.velocity = 0.2
    bench.leg.length, bench.leg.cell = 0.60, 100.0
    bench.do(FORCE)
    bench.faults.inject(name, value)
    bench.leg.length, bench.leg.cell = 0.61, 110.0
    return bench, bench.do(FORCE)


@pytest.mark.parametrize(
    ("name", "value", "position", "velocity", "force"),
    [
        ("encoder_frozen", None, 0.60, 0.0, 110.0),
        ("encoder_jump", None, 0.615, 0.2, 110.0),
        ("encoder_jump", -0.01, 0.60, 0.2, 110.0),
        ("encoder_scale", None, 0.6161, 0.202, 110.0),
        ("encoder_nan", None, math.nan, math.nan, 110.0),
        ("encoder_reversed", None, 0.59, -0.2, 110.0),
        ("cell_nan", None, 0.61, 0.2, math.nan),
        ("cell_silent", None, 0.61, 0.2, 100.0),
        ("cell_saturated", None, 0.61, 0.2, 1000.0),
        ("cell_offset", -5.0, 0.61, 0.2, 105.0),
        ("cell_scale", None, 0.61, 0.2, 121.0),
    ],
)
def test_sensor_faults(name, value, position, velocity, force):
    bench, feedback = moved(name, value)
    assert feedback.fresh
    assert feedback.position == pytest.approx(position, abs=1e-6, nan_ok=True)
    assert feedback.velocity == pytest.approx(velocity, abs=1e-6, nan_ok=True)
    assert feedback.force == pytest.approx(force, abs=1e-6, nan_ok=True)
    bench.faults.clear(name)
    assert bench.servo.plant is bench.leg
    assert bench.do(FORCE).position == pytest.approx(0.61, abs=1e-6)


def test_force_reversed():
    bench, _ = moved("force_reversed")
    assert bench.leg.force == -50.0


def test_a_frozen_sensor_keeps_its_value_while_other_faults_come_and_go():
    bench, feedback = moved("encoder_frozen")
    bench.faults.inject("cell_offset")
    bench.leg.length = 0.7
    assert bench.do(FORCE).position == feedback.position
    bench.faults.clear("cell_offset")
    assert bench.do(FORCE).position == feedback.position
    bench.faults.clear_all()
    assert bench.do(FORCE).position == pytest.approx(0.7)


@pytest.mark.parametrize(("name", "usual"), [("temperature", 35.0), ("supply", 48.0)])
def test_auxiliary_registers_show_what_they_are_told(name, usual):
    bench = running()
    bench.do(FORCE)
    assert bench.drive.auxiliary[name] == pytest.approx(usual)
    bench.faults.inject(name, 61.5)
    bench.do(FORCE)
    assert bench.drive.auxiliary[name] == pytest.approx(61.5)
    bench.faults.clear(name)
    bench.do(FORCE)
    assert bench.drive.auxiliary[name] == pytest.approx(usual)


def test_reboot_happens_once():
    bench = running()
    bench.faults.inject("reboot")
    assert bench.faults.active == {}
    feedback = bench.do(FORCE)
    assert feedback.status & (Status.HOMED | Status.ENABLED | Status.BRAKE) == Status.BRAKE


def test_requests_for_faults_that_cannot_be():
    bench = Bench()
    with pytest.raises(ConfigurationError, match="no fault 'fire'; known faults: drop_write, drop_all, delay"):
        bench.faults.inject("fire")
    with pytest.raises(ConfigurationError, match="no fault 'fire'"):
        bench.faults.clear("fire")
    with pytest.raises(ConfigurationError, match="fault delay: value nan is not a finite number"):
        bench.faults.inject("delay", math.nan)
    with pytest.raises(ConfigurationError, match="fault delay: value -1 s is negative"):
        bench.faults.inject("delay", -1.0)
    with pytest.raises(ConfigurationError, match="fault busy takes no value"):
        bench.faults.inject("busy", 1.0)
    assert bench.faults.active == {}
    bench.faults.clear("busy")


def test_every_fault_is_explained_and_can_be_injected_and_cleared():
    assert set(SERVO_FAULTS) == {*WIRE_FAULTS, *SENSOR_FAULTS, *AUXILIARY_FAULTS, *POWER_FAULTS, "reboot"}
    bench = running()
    bench.faults.peers = (bench.faults,)
    for name, kind in SERVO_FAULTS.items():
        assert kind.text
        bench.faults.inject(name)
        bench.do(FORCE)
        bench.faults.clear(name)
        if not bench.drive.connected:
            bench.drive.connect(1.0)
    bench.do(FORCE)
    assert bench.do(FORCE).fresh


def test_amplifier_behind_a_wire_that_fails():
    profile = load_profile("generic-amplifier", AmplifierProfile)
    faults = FaultyDevice(VirtualAmplifier(profile, [Leg() for _ in range(6)]))
    amplifier = Amplifier(AmplifierOptions(host="x", open_wire=lambda timeout: MemoryWire(faults.respond)))
    amplifier.connect(1.0)
    assert amplifier.exchange(0.0, 0.0).fresh
    faults.inject("busy")
    reading = amplifier.exchange(0.5, 0.0)
    assert (reading.fresh, reading.age, reading.forces) == (False, 0.5, (100.0,) * 6)
    with pytest.raises(ConfigurationError, match="no fault 'encoder_jump'"):
        faults.inject("encoder_jump")
