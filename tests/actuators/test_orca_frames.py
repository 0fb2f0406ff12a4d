"""Frames of the ORCA driver and its twin, byte for byte as the maker's own client and the motor have them.

Captured from orcaSDK 1.1.1 against a motor that stands at 123.456 mm with -7.890 N, 25 W, 31 °C and 48.012 V; asleep it
has no force.
"""

import pytest

from actuators.framing import crc16
from actuators.orca import VirtualOrca
from actuators.orca.protocol import (
    FORCE_CODE,
    FRAMING,
    POSITION_CODE,
    SLEEP_CODE,
    Measured,
    MotorMode,
    read_request,
    read_values,
    stream_request,
    stream_values,
    wide_value,
    write_request,
    writes_request,
)
from rig.testing import BenchLeg as Leg

CAPTURED = {
    "01 03 01 56 00 02 25 e7": "01 03 04 e2 40 00 01 0c 5f",
    "01 03 01 5c 00 02 05 e5": "01 03 04 00 00 00 00 fa 33",
    "01 03 01 b0 00 01 84 11": "01 03 02 00 00 b8 44",
    "01 03 01 3d 00 01 14 3a": "01 03 02 00 01 79 84",
    "01 03 01 50 00 01 85 e7": "01 03 02 00 1f f9 8c",
    "01 03 01 52 00 01 24 27": "01 03 02 bb 8c cb 11",
    "01 03 01 5e 00 01 e4 24": "01 03 02 00 19 79 8e",
    "01 03 01 96 00 02 25 db": "01 03 04 d6 87 00 12 f2 5f",
    "01 03 01 98 00 01 04 19": "01 03 02 00 06 38 46",
    "01 06 00 00 00 02 08 0b": "01 06 00 00 00 02 08 0b",
    "01 10 00 8c 00 02 04 93 e0 00 04 d6 eb": "01 10 00 8c 00 02 80 23",
    "01 06 00 8b 00 46 78 12": "01 06 00 8b 00 46 78 12",
    "01 06 00 8f 00 c8 b9 b7": "01 06 00 8f 00 c8 b9 b7",
    "01 10 00 85 00 06 0c 00 c8 00 32 00 00 00 00 0d 40 00 03 70 5f": "01 10 00 85 00 06 51 e2",
    "01 06 00 01 04 00 da ca": "01 06 00 01 04 00 da ca",
    "01 06 00 03 00 02 f8 0b": "01 06 00 03 00 02 f8 0b",
    "01 64 1c ff fe 1d c0 8a c2": "01 64 00 01 e2 40 ff ff e1 2e 00 19 1f bb 8c 00 00 40 36",
    "01 06 00 03 00 03 39 cb": "01 06 00 03 00 03 39 cb",
    "01 64 1e 00 01 24 f8 e0 a4": "01 64 00 01 e2 40 ff ff e1 2e 00 19 1f bb 8c 00 00 40 36",
    "01 10 00 1e 00 02 04 ec 78 ff ff c6 16": "01 10 00 1e 00 02 21 ce",
    "01 17 01 56 00 08 00 1c 00 04 08 00 01 00 02 00 03 00 04 24 97": (
        "01 17 10 e2 40 00 01 00 00 00 00 00 00 00 00 e1 2e ff ff 7c 70"
    ),
    "01 06 00 03 00 01 b8 0a": "01 06 00 03 00 01 b8 0a",
    "01 64 00 00 00 00 00 03 e4": "01 64 00 01 e2 40 00 00 00 00 00 19 1f bb 8c 00 00 01 12",
}
"""Request → reply, in the order in which they were captured."""


def captured_motor() -> VirtualOrca:
    leg = Leg(length=0.4)
    leg.motor = -7.890
    motor = VirtualOrca(leg, serial=0x12D687)
    motor.show("temperature", 31.0)
    motor.show("supply", 48.012)
    motor.power = 25
    leg.length = 0.4 + 0.123456
    return motor


def test_the_twin_answers_as_the_motor_that_was_captured():
    motor = captured_motor()
    assert {request: motor.respond(bytes.fromhex(request)).hex(" ") for request in CAPTURED} == CAPTURED


@pytest.mark.parametrize(
    ("message", "captured"),
    [
        (read_request(1, 342, 2), "01 03 01 56 00 02 25 e7"),
        (write_request(1, 0, 2), "01 06 00 00 00 02 08 0b"),
        (write_request(1, 3, MotorMode.FORCE), "01 06 00 03 00 02 f8 0b"),
        (write_request(1, 3, MotorMode.POSITION), "01 06 00 03 00 03 39 cb"),
        (writes_request(1, 30, (0xEC78, 0xFFFF)), "01 10 00 1e 00 02 04 ec 78 ff ff c6 16"),
        (stream_request(1, FORCE_CODE, -123456), "01 64 1c ff fe 1d c0 8a c2"),
        (stream_request(1, POSITION_CODE, 75000), "01 64 1e 00 01 24 f8 e0 a4"),
        (stream_request(1, SLEEP_CODE, 0), "01 64 00 00 00 00 00 03 e4"),
    ],
)
def test_the_driver_asks_as_the_makers_client_does(message, captured):
    assert (message + crc16(message)).hex(" ") == captured


def test_replies_mean_what_they_say():
    with_error = bytes.fromhex("01 64 00 01 24 f8 ff ff b1 e0 00 0c 22 bb 4e 08 00 53 f3")
    assert FRAMING.message(with_error)
    assert stream_values(1, with_error[:-2]) == Measured(75000, -20000, 12, 34, 47950, 0x0800)
    assert stream_values(2, with_error[:-2]) is None and stream_values(1, with_error[:-3]) is None
    words = read_values(1, 3, 2, bytes.fromhex("01 03 04 e1 2e ff ff"))
    assert words is not None and wide_value(*words) == -7890


def test_older_functions_of_the_stream():
    """104 reads and 105 writes a register, with mode and measurement in the reply."""
    motor = captured_motor()
    measured = "00 01 e2 40 00 00 00 00 00 19 1f bb 8c 00 00"
    assert motor.respond(bytes.fromhex("01 68 01 56 02 ea 01")).hex(" ").startswith(f"01 68 00 01 e2 40 01 {measured}")
    assert motor.respond(bytes.fromhex("01 69 00 8b 01 00 00 00 32 63 8c")).hex(" ").startswith(f"01 69 01 {measured}")
    assert motor.answer(read_request(1, 139, 1)).hex() == "01030200" + "32"
    for wrong in ("01 68 03 cd 01", "01 68 01 56 03", "01 69 03 cd 01 00 00 00 00"):
        message = bytes.fromhex(wrong)
        assert motor.answer(message)[1] == message[1] | 0x80
