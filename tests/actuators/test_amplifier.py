import math

import pytest
from drive_support import PROFILE

from actuators import (
    Amplifier,
    AmplifierOptions,
    AmplifierProfile,
    ConfigurationError,
    ConnectError,
    MemoryWire,
    VirtualAmplifier,
    VirtualServo,
    create_cell_device,
    load_profile,
)
from rig.testing import BenchLeg as Leg

AMPLIFIER = load_profile("generic-amplifier", AmplifierProfile)


def bench(cells, **options):
    twin = VirtualAmplifier(AMPLIFIER, cells, rate=1000.0)
    amplifier = Amplifier(AmplifierOptions(host="x", open_wire=lambda timeout: MemoryWire(twin.respond), **options))
    amplifier.connect(1.0)
    return twin, amplifier


def test_six_forces_in_one_exchange():
    legs = [Leg() for _ in range(6)]
    twin, amplifier = bench(legs)
    assert amplifier.identify().product == "virtual amp"
    for index, leg in enumerate(legs):
        leg.cell = 10.0 * index - 0.0004
    twin.tick(0.0015)
    reading = amplifier.exchange(0.0, 0.0)
    assert reading.forces == pytest.approx((0.0, 10.0, 20.0, 30.0, 40.0, 50.0), abs=1e-9)
    assert (reading.fresh, reading.age, reading.status, reading.sample) == (True, 0, 0, 1)
    legs[0].cell = 7.0
    twin.tick(0.0019)  # between conversions
    assert amplifier.exchange(0.0, 0.0).forces[0] == 0.0
    twin.tick(0.0021)
    assert amplifier.exchange(0.0, 0.0).forces[0] == 7.0


def test_channel_without_a_value():
    legs = [Leg() for _ in range(6)]
    twin, amplifier = bench([VirtualServo(PROFILE, leg) for leg in legs])
    legs[2].cell, legs[5].cell = math.nan, 1e9
    twin.tick(1.0)
    reading = amplifier.exchange(0.0, 0.0)
    assert reading.status == 0b100100
    assert [math.isnan(force) for force in reading.forces] == [False, False, True, False, False, True]


def test_stale_reading_keeps_the_last_values():
    _, amplifier = bench([Leg() for _ in range(6)])
    good = amplifier.exchange(0.0, 0.0)
    amplifier.close()
    assert not amplifier.connected
    reading = amplifier.exchange(0.25, 0.0)
    assert (reading.fresh, reading.age, reading.forces) == (False, 0.25, good.forces)
    with pytest.raises(ConnectError, match="amplifier at x:502 is not connected"):
        amplifier.identify()
    assert amplifier.counters.sent == amplifier.counters.received == 1


def test_nothing_received_yet():
    amplifier = Amplifier(AmplifierOptions(host="x", open_wire=lambda timeout: MemoryWire(lambda adu: b"")))
    amplifier.connect(1.0)
    reading = amplifier.exchange(0.0, 0.0)
    assert all(math.isnan(force) for force in reading.forces)
    assert (reading.fresh, reading.sample, amplifier.counters.late) == (False, -1, 1)


def test_bad_options_and_cells():
    with pytest.raises(ConfigurationError, match=r"(?s)amplifier: options of cell driver modbus.*gain:"):
        create_cell_device("modbus", {"gain": 2})
    with pytest.raises(ConfigurationError, match="an amplifier by generic-amplifier has 6 cells, not 5"):
        VirtualAmplifier(AMPLIFIER, [Leg()] * 5)
    with pytest.raises(ConfigurationError, match=r"serial .* does not fit into 8 registers"):
        VirtualAmplifier(AMPLIFIER, [Leg()] * 6, serial="x" * 17)
    with pytest.raises(ConfigurationError, match=r"unit id 300 is outside 0\.\.255"):
        VirtualAmplifier(AMPLIFIER, [Leg()] * 6, unit=300)
    closed = create_cell_device("modbus", {"host": "127.0.0.1", "port": 1})
    with pytest.raises(ConnectError, match=r"amplifier: cannot connect to 127\.0\.0\.1:1"):
        closed.connect(1.0)


def test_amplifier_takes_no_writes():
    twin, _ = bench([Leg() for _ in range(6)])
    assert twin.respond(bytes.fromhex("0001 0000 0006 01 06 0000 0001"))[-2:] == b"\x86\x02"


def test_a_counter_that_stands_is_stale():
    twin, amplifier = bench([Leg() for _ in range(6)])
    twin.tick(1.0)
    assert amplifier.exchange(0.0, 0.0).fresh and not amplifier.standing
    twin.converting = False
    for age in (1, 2, 3):
        twin.tick(1.0 + age)
        reading = amplifier.exchange(float(age), 0.0)
        assert (reading.fresh, reading.age, amplifier.standing) == (False, age, True)
    twin.converting = True
    twin.tick(5.0)
    assert amplifier.exchange(0.0, 0.0).fresh and not amplifier.standing
    amplifier.connect(1.0)
    assert amplifier.exchange(0.0, 0.0).fresh  # whatever the counter said before


def test_a_channel_that_the_status_word_calls_invalid_has_no_value():
    twin, amplifier = bench([Leg() for _ in range(6)])
    twin.invalid = 0b000100
    twin.tick(1.0)
    assert [math.isnan(force) for force in amplifier.exchange(0.0, 0.0).forces] == [
        False,
        False,
        True,
        False,
        False,
        False,
    ]
