"""Replies that come after they were given up, on lines where they do not say whose they are, and on slow TCP."""

import pytest
from servo_profiles import SEPARATE
from test_half_duplex import Clock, Wire

from actuators import COMMAND_OFF, ConfigurationError, ConnectError, MemoryWire, create_drive, create_twin
from actuators.ascii_cell import AsciiLine
from actuators.bus import Buses, Exchange, HalfDuplexBus
from actuators.framing import RTU_LINE, crc16
from actuators.interface import Counters
from actuators.station import Station
from rig.testing import BenchLeg as Leg

TIMEOUT = 5e-3


def line(late: float, units=(1, 2)):
    """Units that answer with their number; the first reply of unit 1 comes `late`."""
    answered: list[int] = []

    def answers(data: bytes, _number: int):
        unit = data[0]
        delay = late if unit == 1 and 1 not in answered else 1e-3
        answered.append(unit)
        return [(delay, f"{unit}\r".encode())]

    wire = Wire(answers, Clock())
    bus = HalfDuplexBus(lambda _timeout: wire, 0.0, TIMEOUT, framing=AsciiLine())
    members = [Exchange(unit, Counters()) for unit in units]
    for member in members:
        member.reply_length = 2
        bus.join(member, 1.0)
    return bus, wire, members


def cycle(bus, wire, members, period: float = 10e-3) -> list[bytes | None]:
    begun = bus.now()
    for member in members:
        bus.begin(member, bytes((member.unit,)))
    found = [bus.collect(member, begun + 0.6 * period) for member in members]
    wire.clock.time = max(wire.clock.time, begun + period)
    return found


@pytest.mark.parametrize("late", [5.5e-3, 7e-3, 9.9e-3, 12e-3, 16e-3, 21e-3, 24e-3])
def test_a_late_reply_is_never_another_units(late: float) -> None:
    bus, wire, members = line(late)
    seen = [cycle(bus, wire, members) for _ in range(10)]
    assert all(one in (None, b"1") and two in (None, b"2") for one, two in seen)
    assert seen[-1] == [b"1", b"2"]  # and it goes on


def test_a_stop_does_not_wait_and_its_reply_is_not_believed_meanwhile() -> None:
    bus, wire, members = line(12e-3)
    assert cycle(bus, wire, members)[0] is None
    members[1].urgent = True
    sent = len(wire.sent)
    assert bus.begin(members[1], b"\2")
    assert len(wire.sent) == sent + 1
    assert bus.collect(members[1], bus.now() + 4e-3) is None
    members[1].urgent = False
    assert [cycle(bus, wire, members) for _ in range(6)][-1] == [b"1", b"2"]


def test_one_alone_on_its_line_is_asked_again_at_once() -> None:
    bus, wire, members = line(7e-3, units=(1,))
    cycle(bus, wire, members)
    assert len(wire.sent) == 1
    cycle(bus, wire, members)
    assert len(wire.sent) == 2


@pytest.mark.parametrize("late", [5.6e-3, 7e-3, 12e-3, 24e-3])
@pytest.mark.parametrize("place", [0, 1, 2, 5])
def test_settings_of_one_alone_are_right_whichever_reply_is_late(late: float, place: int) -> None:
    """Read for its setting up, by requests of which each differs from the one before: none has another's answer."""
    options = {"name": "drive 1", "device": "line", "baud": 115_200, "reply_timeout": TIMEOUT, "request_timeout": 1.0}
    twin = create_twin("jrk-g2", options, Leg(0.61))

    def answers(data: bytes, number: int):
        return [(late if number == place else 1e-3, twin.respond(data))]

    wire = Wire(answers, Clock())
    drive = create_drive("jrk-g2", options | {"open_wire": lambda _timeout: wire})
    drive.connect(1.0)
    drive.configure()
    assert drive.verify(1.0) == drive.identify()
    assert drive.identify().product == "Jrk G2, device number 11"


def servo_over_late_line(late: float, place: int):
    """A Lexium 32 on a line, whose reads of status and error look alike; it answers one request after the other."""
    options = {"name": "drive 1", "device": "line", "baud": 115_200, "profile": "lexium-32"}
    options |= {"reply_timeout": TIMEOUT, "request_timeout": 1.0}
    twin = create_twin("servo", options, Leg(0.61))
    done = 0.0

    def answers(data: bytes, number: int):
        nonlocal done
        done = max(done, wire.clock.time) + (late if number == place else 1e-3)
        return [(done - wire.clock.time, twin.respond(data))]

    wire = Wire(answers, Clock())
    drive = create_drive("servo", options | {"open_wire": lambda _timeout: wire})
    drive.connect(1.0)
    return drive, wire


@pytest.mark.parametrize("late", [5.6e-3, 7e-3, 12e-3, 24e-3, 29e-3])
def test_a_late_reply_is_never_that_of_other_registers(late: float) -> None:
    """A servo that was asked twice for its status answers twice, the second time when its error is asked for."""
    right, wire = servo_over_late_line(1e-3, 0)
    expected = right.observe(1.0)._replace(force=0.0)  # it has none
    assert expected.status and expected.error == 0 and len(wire.sent) == 3
    for place in (1, 2, 3):
        drive, _ = servo_over_late_line(late, place)
        assert drive.observe(1.0)._replace(force=0.0) == expected


def request(unit: int, first: int, count: int) -> bytes:
    return bytes((unit, 3, 0, first, 0, count))


def reply(unit: int, data: bytes) -> bytes:
    message = bytes((unit, 3, len(data))) + data
    return message + crc16(message)


def test_other_registers_are_read_when_a_late_reply_has_come_or_will_not_come_any_more() -> None:
    wire = Wire(lambda _data, _number: [(8e-3, reply(1, b"\0\7"))], Clock())
    bus = HalfDuplexBus(lambda _timeout: wire, 0.0, TIMEOUT, byte_time=1e-5)
    status, error, speed, other = (Exchange(unit, Counters()) for unit in (1, 1, 1, 2))
    for member, length in ((status, 5), (error, 5), (speed, 7), (other, 5)):
        member.reply_length = length
        bus.join(member, 1.0)

    bus.begin(status, request(1, 10, 1))
    assert bus.collect(status, 6e-3) is None
    assert bus.held_until(error, request(1, 11, 1)) > bus.now()  # alike, and of another register
    free = [(status, request(1, 10, 1)), (speed, request(1, 20, 2)), (other, request(2, 11, 1))]
    assert all(bus.held_until(*one) <= bus.now() for one in free)
    wire.answers = lambda _data, _number: [(1e-3, reply(1, b"\0\x08"))]
    bus.begin(error, request(1, 11, 1))
    assert bus.collect(error, 20e-3) == reply(1, b"\0\x08")[:-2], "once the late one has come, and no other"
    assert (error.counters.rejected, error.counters.belated) == (1, 1) and bus.now() < 12e-3
    wire.answers = lambda _data, _number: []
    bus.begin(status, request(1, 10, 1))
    assert bus.collect(status, bus.now() + 6e-3) is None
    wire.answers = lambda _data, _number: [(1e-3, reply(1, b"\0\x08"))]
    bus.begin(error, request(1, 11, 1))
    assert bus.collect(error, bus.now() + 1.0) == reply(1, b"\0\x08")[:-2]
    assert bus.now() > 5 * TIMEOUT


def test_other_registers_wait_for_every_reply_that_was_given_up() -> None:
    """Behind a gateway, where bytes take no time: two late replies come one after the other."""
    late = {1: 20e-3, 2: 11e-3}
    status, error = Exchange(1, Counters()), Exchange(1, Counters())

    def answers(data: bytes, number: int):
        return [(late.get(number, 1e-3), reply(1, b"\0" + data[3:4]))]

    wire = Wire(answers, Clock())
    bus = HalfDuplexBus(lambda _timeout: wire, 0.0, TIMEOUT)
    for member in (status, error):
        member.reply_length = 5
        bus.join(member, 1.0)
    for begin in (0.0, 10e-3):
        wire.clock.time = begin
        bus.begin(status, request(1, 10, 1))
        assert bus.collect(status, begin + 6e-3) is None
    bus.begin(error, request(1, 11, 1))
    assert bus.collect(error, 60e-3) == reply(1, b"\0\x0b")[:-2]
    assert error.counters.belated == 2 and bus.now() < 25e-3


def test_a_request_is_given_up_as_what_it_was_when_its_deadline_passed() -> None:
    """The next one of the same exchange is longer, and waits behind it."""
    delays = [8e-3, 1e-3, 3e-3]
    wire = Wire(lambda data, number: [(delays[number - 1], reply(1, bytes(2 * data[5] - 1) + data[3:4]))], Clock())
    bus = HalfDuplexBus(lambda _timeout: wire, 0.0, TIMEOUT)
    drive, other = Exchange(1, Counters()), Exchange(1, Counters())
    for member in (drive, other):
        member.reply_length = 5
        bus.join(member, 1.0)
    bus.begin(drive, request(1, 10, 1))
    assert bus.collect(drive, 2e-3) is None
    drive.reply_length = 7
    bus.begin(drive, request(1, 20, 2))
    assert bus.collect(drive, 7e-3) == reply(1, b"\0\0\0\x14")[:-2]
    bus.begin(other, request(1, 11, 1))
    assert bus.collect(other, 60e-3) == reply(1, b"\0\x0b")[:-2]


def test_what_was_asked_outside_of_the_cycle_does_not_answer_a_cycles_request() -> None:
    """By one alone on a line without names, which is slower than the first question waits."""
    wire = Wire(lambda data, number: [(7e-3 if number == 1 else 3e-3, data + b"\r")], Clock())
    bus = HalfDuplexBus(lambda _timeout: wire, 0.0, TIMEOUT, framing=AsciiLine())
    station = Station(bus, "cell 1", 1, Counters())
    station.open(1.0)
    with pytest.raises(ConnectError, match=r"cell 1 did not answer within 0\.002 s"):
        station.request(b"first", 6, 2e-3, "reading")
    assert station.ask(0, b"other", 6)
    assert station.answer(0, 60e-3) == b"other"


def test_a_slow_server_on_tcp_is_waited_for_where_it_takes_one_request_at_a_time() -> None:
    """Slower than `reply_timeout`, which is of serial lines."""
    leg = Leg(0.61)
    options = {"name": "drive 1", "host": "slow", "profile": SEPARATE, "request_timeout": 1.0}
    twin = create_twin("servo", options, leg)
    wire = Wire(lambda data, _number: [(0.015, twin.respond(data))], Clock())
    drive = create_drive("servo", options | {"open_wire": lambda _timeout: wire})
    drive.connect(1.0)
    assert drive.identify().product == "virtual servo"
    asked = len(wire.sent)
    drive.configure()
    assert len(wire.sent) - asked == 2  # written, and read back
    assert drive.exchange(COMMAND_OFF, wire.now(), 0.1).fresh
    assert not drive.exchange(COMMAND_OFF, wire.now(), 0.01).fresh  # its reply comes later
    assert drive.exchange(COMMAND_OFF, wire.now(), 0.1).fresh


def test_devices_that_speak_otherwise_cannot_share_a_line() -> None:
    buses = Buses()
    shared = {"device": "/dev/line", "buses": buses, "open_wire": lambda _timeout: MemoryWire(lambda data: data)}
    create_drive("jrk-g2", {"name": "drive 1", **shared})
    create_drive("jrk-g2", {"name": "drive 2", "unit": 12, **shared})
    for driver, options, other in (
        ("iai", {"unit": 3}, "Modbus RTU"),
        ("jrk-g2", {"unit": 13, "crc": True}, "Pololu's protocol with checksums"),
    ):
        with pytest.raises(ConfigurationError, match=rf"/dev/line: devices that speak Pololu's protocol and {other}"):
            create_drive(driver, {"name": "drive 3", **shared, **options})


def test_a_late_reply_to_a_write_is_no_reply_to_a_write_elsewhere() -> None:
    """A unit that was asked twice answers twice: the second answer comes as the next thing is written."""
    first, second = (
        frame + crc16(frame) for frame in (bytes.fromhex("01 05 0427 ff00"), bytes.fromhex("01 05 042c 0000"))
    )
    asked = second[:-2]
    late = RTU_LINE.scan(first, asked, 6)
    assert late is None or late.reply == b""
    both = RTU_LINE.scan(first + second, asked, 6)
    assert both is not None and both.reply == asked and both.more
    refused = bytes.fromhex("01 85 02")
    exception = RTU_LINE.scan(first + refused + crc16(refused), asked, 6)
    assert exception is not None and exception.reply == refused
