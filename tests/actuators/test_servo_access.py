"""Accesses to a drive outside the cycle: who it is, its watchdog, its errors in words, its options."""

import math

import pytest
from drive_support import Bench, Scripted
from hypothesis import given
from hypothesis import strategies as st

from actuators import (
    ActuatorError,
    CommandError,
    ConfigurationError,
    ConnectError,
    IdentityError,
    MemoryWire,
    ProtocolError,
    create_drive,
)


def test_identify_and_configure():
    bench = Bench(serial="VIRTUAL-1", watchdog=0.04)
    identity = bench.drive.identify()
    assert (identity.vendor, identity.product, identity.serial) == ("stewart-rig", "virtual servo", "VIRTUAL-1")
    bench.drive.configure()
    assert bench.servo.respond(bytes.fromhex("0001 0000 0006 01 03 00c8 0001"))[-2:] == b"\0\x28"


def test_another_device_is_refused():
    bench = Bench()
    drive = create_drive("servo", {**bench.options, "serial": "A-17", "open_wire": lambda _: MemoryWire(bench.respond)})
    drive.connect(1.0)
    with pytest.raises(IdentityError, match=r"drive 1 at twin:502 has serial number 'VIRTUAL-1', expected 'A-17'"):
        drive.identify()


@pytest.mark.parametrize(
    ("read", "message"),
    [(0, "has no watchdog: register 200 reads back zero"), (51, r"did not take the watchdog time 0.05 s.*\[51\]")],
)
def test_watchdog_that_does_not_read_back(read, message):
    bench = Scripted()
    bench.replies = [
        bytes.fromhex("0001 0000 0006 01 10 00c8 0001"),
        bytes.fromhex("0002 0000 0005 01 03 02") + read.to_bytes(2, "big"),
    ]
    with pytest.raises(ConfigurationError, match=message):
        bench.drive.configure()
    assert bench.requests[0] == bytes.fromhex("0001 0000 0009 01 10 00c8 0001 02 0032")


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (
            b"",
            ConnectError,
            r"drive 3 at 10.0.0.3:5023 did not answer within 0.01 s \(no reply to write of registers 200",
        ),
        (
            bytes.fromhex("0001 0000 0003 01 90 04"),
            ProtocolError,
            r"refused a write .*: exception 04 \(device failure\)",
        ),
        (bytes.fromhex("0001 0000 0006 01 10 00c9 0001"), ProtocolError, "answered a write of .* with something else"),
        (bytes.fromhex("0001 0000 0006 01 06 00c8 0001"), ProtocolError, "answered a write of .* with something else"),
        (bytes.fromhex("0001 0000 0006 02 10 00c8 0001"), ProtocolError, "with a frame that is none"),
        (bytes.fromhex("0001 0000 0006 01 77 00c8 0001"), ProtocolError, "with a frame that is none"),
    ],
)
def test_bad_answers_to_accesses_outside_the_cycle(answer, error, message):
    bench = Scripted()
    bench.replies = [answer]
    with pytest.raises(error, match=message):
        bench.drive.configure()


def test_accesses_without_a_connection():
    bench = Scripted()
    bench.drive.close()
    with pytest.raises(
        ConnectError, match=r"drive 3 at 10.0.0.3:5023 is not connected \(no read of registers 300..327"
    ):
        bench.drive.identify()


def test_error_text():
    drive = Scripted().drive
    assert drive.error_text(0) == "no error"
    assert drive.error_text(1) == "no command within the watchdog time"
    assert drive.error_text(77) == "error 77, which profile generic-servo does not explain"


def test_bad_options_are_listed_at_once():
    with pytest.raises(ConfigurationError) as caught:
        create_drive("servo", {"name": "drive 2", "port": 0, "unit": 256, "watchdog": math.nan, "colour": 9600})
    for part in ("drive 2: options", "port:", "unit:", "watchdog:", "colour:"):
        assert part in str(caught.value)
    with pytest.raises(ConfigurationError, match=r"drive: watchdog 70 s is outside 0.001..65.535 s"):
        create_drive("servo", {"host": "x", "watchdog": 70.0})
    with pytest.raises(CommandError, match="connection timeout nan s is not a positive number"):
        Scripted().drive.connect(math.nan)


@given(st.lists(st.binary(max_size=64), max_size=4))
def test_any_bytes_outside_the_cycle_give_typed_errors(arriving):
    bench = Scripted(request_timeout=0.001)
    bench.replies = list(arriving)
    for access in (bench.drive.identify, bench.drive.configure):
        with pytest.raises(ActuatorError):
            access()
