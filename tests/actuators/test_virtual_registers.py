import pytest
from drive_support import PROFILE, Bench, ask
from hypothesis import given
from hypothesis import strategies as st

from actuators import COMMAND_OFF, Command, Mode, VirtualServo
from rig.testing import BenchLeg as Leg


@pytest.mark.parametrize(
    ("request_pdu", "answer"),
    [
        ("03 012c 0002", "030473746577"),  # "stew"
        ("04 012c 0001", "04027374"),
        ("03 0000 0000", "8303"),
        ("03 0000 007e", "8303"),
        ("03 0000 000c", "8302"),
        ("03 000b 0001", "8302"),
        ("03 ffff 0002", "8302"),
        ("03 0000", "8303"),
        ("03 0000 0001 00", "8303"),
        ("01 0000 0001", "8101"),
        ("2b 0e 01 00", "ab01"),
        ("83 02", ""),  # the code of an exception
        ("06 0065 0001", "0600650001"),
        ("06 0065 0009", "8603"),  # no such mode
        ("06 0000 0001", "8602"),  # read only
        ("06 0065", "8603"),
        ("10 0064 0002 04 0000 0001", "1000640002"),
        ("10 0064 0002 03 0000 0001", "9003"),
        ("10 0064 0002 04 0000", "9003"),
        ("10 0064 0000 00", "9003"),
        ("10 0064 007c f8" + "0000" * 124, "9003"),
        ("10 0063 0002 04 0000 0001", "9002"),
        ("10 006c 0002 04 0000 0001", "9002"),
        ("10 00c8 0001 02 0032", "1000c80001"),
        ("17 0000 0001 00c8 0001 02 0032", "17020181"),
        ("17 000b 0001 00c8 0001 02 0032", "9702"),
        ("17 0000 0001 0000 0001 02 0032", "9702"),
        ("17 0000 0000 00c8 0001 02 0032", "9703"),
        ("17 0000 007e 00c8 0001 02 0032", "9703"),
        ("17 0000 0001 00c8 007a f4" + "0000" * 122, "9703"),
        ("17 0000 0001 00c8 0001 03 0032", "9703"),
    ],
)
def test_function_codes_and_exceptions(request_pdu, answer):
    assert ask(VirtualServo(PROFILE, Leg()), request_pdu) == answer


@pytest.mark.parametrize(
    "request_pdu",
    [
        "10 0064 0009 12 0001 0009 0000 0000 0000 0000 0000 0000 0000",  # bad mode among good values
        "10 0068 0006 0c" + "0001" * 6,  # runs out of the block
        "17 0fff 0001 0064 0002 04 0001 0001",  # unreadable address with a good write
        "10 0064 0002 04 0001",  # short
    ],
)
def test_a_write_that_is_not_valid_as_a_whole_changes_nothing(request_pdu):
    servo = VirtualServo(PROFILE, Leg())
    ask(servo, "10 0064 0003 06 0000 0001 0007")
    before = ask(servo, "03 0064 0009")
    assert int(ask(servo, request_pdu)[:2], 16) & 0x80
    assert ask(servo, "03 0064 0009") == before


def test_partial_writes_merge_with_what_stands_there():
    bench = Bench()
    assert ask(bench.servo, "10 0067 0002 04 ffff d8f0") == "1000670002"  # -10.000 N
    assert ask(bench.servo, "06 0065 0001") == "0600650001"
    assert ask(bench.servo, "06 0064 0001") == "0600640001"
    assert bench.leg.enabled
    assert bench.leg.force == -10.0


def test_parameters_are_not_taken_under_power():
    bench = Bench()
    bench.drive.configure()
    bench.do(COMMAND_OFF)
    bench.do(Command(Mode.FORCE, enable=True))
    assert ask(bench.servo, "06 00c8 0000") == "8604"
    assert ask(bench.servo, "03 00c8 0001") == "03020032"


def test_other_units_and_what_is_no_frame():
    servo = VirtualServo(PROFILE, Leg())
    assert ask(servo, "03 0000 0001", unit=2) == ""
    gateway = VirtualServo(PROFILE.model_copy(update={"wrong_unit": "gateway"}), Leg())
    assert ask(gateway, "03 0000 0001", unit=2) == "830b"
    assert servo.respond(b"") == b""
    assert servo.respond(bytes.fromhex("0001 0000 0002 01")) == b""
    assert servo.respond(bytes.fromhex("0001 0001 0006 01 03 0000 0001")) == b""
    assert servo.respond(bytes.fromhex("0001 0000 0007 01 03 0000 0001")) == b""


@given(
    st.lists(
        st.one_of(
            st.binary(max_size=64),
            st.builds(
                lambda function, data: b"\0\1\0\0" + (len(data) + 2).to_bytes(2, "big") + bytes((1, function)) + data,
                st.sampled_from([3, 4, 6, 16, 23]),
                st.binary(max_size=40),
            ),
        ),
        max_size=10,
    )
)
def test_any_bytes_are_answered_within_the_protocol(requests):
    servo = VirtualServo(PROFILE, Leg())
    for request in requests:
        answer = servo.respond(request)
        if answer:
            assert answer[:4] == request[:2] + b"\0\0"
            assert int.from_bytes(answer[4:6], "big") == len(answer) - 6 <= 253
            assert answer[7] in (request[7], request[7] | 0x80)
