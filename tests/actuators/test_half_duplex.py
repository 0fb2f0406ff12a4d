"""Several units on one line of Modbus RTU: their turns, silences, checksums, and what must not be taken for a reply."""

import itertools
import time
from collections.abc import Iterable

import pytest
from drive_support import PROFILE
from hypothesis import given, settings
from hypothesis import strategies as st
from pymodbus.framer import FramerRTU
from pymodbus.pdu import DecodePDU
from pymodbus.pdu.register_message import ReadHoldingRegistersRequest
from virtual_line import LINE, LineBench, Pseudoterminal, VirtualLine, line_servo

from actuators import (
    COMMAND_HOME,
    COMMAND_OFF,
    COMMAND_STOP,
    Buses,
    Command,
    ConnectError,
    FaultyServo,
    Mode,
    SerialEndpoint,
    Status,
    create_drive,
    exchange_all,
)
from actuators.bus import Exchange, HalfDuplexBus, advance_all
from actuators.framing import crc16, silence
from actuators.interface import Counters
from actuators.wire import SerialWire
from rig.testing import BenchLeg as Leg

READ = bytes.fromhex("03 0000 0001")
PATIENCE = 5.0


@given(st.binary(min_size=1, max_size=60))
def test_the_checksum_is_pymodbus_own(data):
    assert crc16(data) == FramerRTU.compute_CRC(data).to_bytes(2, "big")


def test_frames_are_pymodbus_own():
    request = ReadHoldingRegistersRequest(address=0x1802, count=2, dev_id=1)
    theirs = FramerRTU(DecodePDU(is_server=False)).buildFrame(request)
    message = bytes.fromhex("01 03 1802 0002")
    assert message + crc16(message) == theirs
    assert crc16(bytes.fromhex("01 10 18 02 00 02 04 ff ff fc 18")) == bytes.fromhex("99 58")  # of a maker's manual


def test_silences_and_bytes_take_what_the_line_gives_them():
    assert silence(9600) == pytest.approx(4.01e-3, abs=1e-5)
    assert silence(115200) == 1.75e-3
    assert SerialEndpoint("line", 19200).byte_time == pytest.approx(11 / 19200)
    assert SerialEndpoint("line", 19200, "none").byte_time == pytest.approx(10 / 19200)


class Clock:
    time = 0.0


class Wire:
    """A line on a clock of the test's own; `answers` says for each request what comes after how long (s)."""

    descriptor = -1

    def __init__(self, answers, clock: Clock) -> None:
        self.clock = clock
        self.connected = True
        self.answers = answers
        self.sent: list[tuple[float, bytes]] = []
        self.coming: list[tuple[float, bytes]] = []

    def now(self) -> float:
        return self.clock.time

    def send(self, data: bytes) -> bool:
        self.sent.append((self.now(), data))
        for delay, reply in self.answers(data, len(self.sent)):
            self.coming.append((self.now() + delay, reply))
        return True

    def receive(self, deadline: float) -> bytes:
        ready = b"".join(data for at, data in self.coming if at <= self.now())
        self.coming = [(at, data) for at, data in self.coming if at > self.now()]
        return ready

    def wait(self, until: float, others) -> "list[Wire]":
        """Waiting for bytes moves the clock to the next that come."""
        arrivals = [at for wire in (self, *others) for at, _ in wire.coming if at <= until]
        self.clock.time = now = min([until, *arrivals])
        return [wire for wire in (self, *others) if any(at <= now for at, _ in wire.coming)]

    def close(self) -> None:
        self.connected = False


def good(unit: int, value: int = 7) -> bytes:
    message = bytes((unit, 3, 2, 0, value))
    return message + crc16(message)


def bus_with(answers, units=(1, 2, 3), turnaround=1e-3, reply_timeout=5e-3, clock=None):
    wire = Wire(answers, clock or Clock())
    bus = HalfDuplexBus(lambda _timeout: wire, turnaround, reply_timeout)
    members = [Exchange(unit, Counters()) for unit in units]
    for member in members:
        member.reply_length = 5
        bus.join(member, 1.0)
    return bus, wire, members


def ask(bus, members, within=0.1):
    for member in members:
        assert bus.begin(member, bytes((member.unit,)) + READ)
    deadline = bus.now() + within
    return [bus.collect(member, deadline) for member in members]


def test_each_has_its_turn_and_the_line_is_silent_between():
    bus, wire, members = bus_with(lambda data, _n: [(2e-3, good(data[0])[:3]), (2.5e-3, good(data[0])[3:])])
    assert ask(bus, members) == [good(unit)[:-2] for unit in (1, 2, 3)]
    assert [data[0] for _, data in wire.sent] == [1, 2, 3]
    gaps = [later - sooner for (sooner, _), (later, _) in itertools.pairwise(wire.sent)]
    assert gaps == pytest.approx([3.5e-3, 3.5e-3])  # 2.5 ms for the reply, 1 ms of silence


def test_a_unit_that_is_silent_costs_the_others_its_time_alone():
    bus, wire, members = bus_with(lambda data, _n: [] if data[0] == 2 else [(1e-3, good(data[0]))])
    assert ask(bus, members) == [good(1)[:-2], None, good(3)[:-2]]
    assert wire.sent[2][0] - wire.sent[1][0] == pytest.approx(6e-3)


def test_a_unit_that_stays_silent_is_asked_last_and_costs_the_others_nothing():
    """In a window of 6 ms for units that take 1 ms each, and one that would be waited for for 5."""
    silent = {2}
    bus, wire, members = bus_with(lambda data, _n: [] if data[0] in silent else [(1e-3, good(data[0]))])
    heard = []
    for cycle in range(6):
        if cycle == 4:
            silent.clear()
        sent = len(wire.sent)
        wire.clock.time = 0.01 * cycle
        heard.append([reply is not None for reply in ask(bus, members, within=6e-3)])
        order = [data[0] for _, data in wire.sent[sent:]]
        assert order == ([1, 2] if cycle == 0 else [1, 3, 2] if cycle < 5 else [1, 2, 3])
    assert heard == [[True, False, False], *[[True, False, True]] * 3, *[[True] * 3] * 2]


def test_the_line_is_free_as_soon_as_nobody_waits_for_a_silent_unit():
    bus, _wire, members = bus_with(lambda data, _n: [] if data[0] == 2 else [(1e-3, good(data[0]))], reply_timeout=0.02)
    members[1].presence.silent = True
    for _ in range(3):  # one cycle right after the other
        assert ask(bus, members, within=6e-3) == [good(1)[:-2], None, good(3)[:-2]]


def test_a_stop_goes_first_and_does_not_wait_for_whom_nobody_waits_for():
    bus, wire, members = bus_with(lambda data, _n: [] if data[0] == 2 else [(1e-3, good(data[0]))], reply_timeout=0.05)
    assert ask(bus, members, within=4e-3) == [good(1)[:-2], None, None]  # 2 falls silent, and holds the line
    assert ask(bus, members, within=4e-3) == [None] * 3
    members[2].urgent = True
    now, sent = bus.now(), len(wire.sent)
    assert ask(bus, members, within=4.5e-3) == [good(1)[:-2], None, good(3)[:-2]]
    assert [data[0] for _, data in wire.sent[sent:]][:2] == [3, 1] and wire.sent[sent][0] - now < 2e-3


@pytest.mark.parametrize("late", [8e-3, 10.5e-3])
def test_a_reply_that_comes_after_it_was_given_up_is_no_noise(late):
    """Before the next request, or during it: on a line of one unit, which is asked again at once."""
    other = bytes.fromhex("01 04 02 00 07")  # a reply to another function
    first = [(late, other + crc16(other))]
    bus, wire, (member,) = bus_with(lambda _data, n: first if n == 1 else [(1e-3, good(1))], units=(1,))
    assert ask(bus, [member], within=9e-3) == [None]
    for begin in (0.01, 0.02):
        wire.clock.time = begin
        assert ask(bus, [member]) == [good(1)[:-2]]
    assert (member.counters.rejected, member.counters.belated, member.counters.unusable) == (1, 1, 0)
    wire.coming.append((0.025, good(1)))  # unasked
    wire.clock.time = 0.03
    assert ask(bus, [member]) == [good(1)[:-2]]
    assert (member.counters.rejected, member.counters.unusable) == (2, 1)


def test_what_the_deadline_finds_waiting_is_not_sent_later():
    bus, wire, members = bus_with(lambda data, _n: [(2e-3, good(data[0]))])
    assert ask(bus, members, within=4e-3) == [good(1)[:-2], None, None]
    assert [data[0] for _, data in wire.sent] == [1, 2]
    assert ask(bus, members[2:]) == [good(3)[:-2]]  # after the reply of 2, which nobody waits for any more
    assert [data[0] for _, data in wire.sent] == [1, 2, 3]
    assert wire.sent[2][0] - wire.sent[1][0] >= 3e-3
    assert (members[1].counters.rejected, members[1].counters.unusable) == (1, 0)  # late, and no noise


def test_who_leaves_before_its_turn_sends_nothing():
    bus, wire, members = bus_with(lambda data, _n: [(2e-3, good(data[0]))])
    for member in members:
        assert bus.begin(member, bytes((member.unit,)) + READ)
    bus.leave(members[1])
    assert [bus.collect(member, 0.1) for member in members] == [good(1)[:-2], None, good(3)[:-2]]
    assert [data[0] for _, data in wire.sent] == [1, 3]


def flipped(frame: bytes, bit: int) -> bytes:
    byte, place = divmod(bit, 8)
    return frame[:byte] + bytes((frame[byte] ^ 1 << place,)) + frame[byte + 1 :]


@pytest.mark.parametrize("bit", range(7 * 8))
def test_no_damaged_frame_is_a_reply(bit):
    bus, _, members = bus_with(lambda data, n: [(1e-3, flipped(good(1), bit) if n == 1 else good(1))], (1,))
    assert ask(bus, members) == [None]
    counters = members[0].counters
    assert counters.crc + counters.rejected == 1
    assert ask(bus, members) == [good(1)[:-2]]


@pytest.mark.parametrize(
    ("arriving", "value", "crc", "rejected"),
    [
        (b"\xff\x00" + good(1), 7, 0, 1),  # noise before it
        (good(2) + good(1, 9), 9, 0, 1),  # another unit's
        (good(1)[:4], None, 0, 0),  # cut
        (good(1) + b"\x00", 7, 0, 1),
        (b"\x01" + good(1), 7, 0, 1),
        (good(2) + b"\x55" * 3, None, 0, 1),
        (b"\x01\x04\x02\x00\x07" + crc16(b"\x01\x04\x02\x00\x07"), None, 0, 1),  # of another function
    ],
)
def test_a_reply_is_found_among_what_does_not_belong(arriving, value, crc, rejected):
    bus, _, members = bus_with(lambda data, n: [(1e-3, arriving if n == 1 else good(1))], (1,))
    assert ask(bus, members) == [None if value is None else good(1, value)[:-2]]
    assert (members[0].counters.crc, members[0].counters.rejected) == (crc, rejected)
    assert ask(bus, members) == [good(1)[:-2]]


def test_an_exception_is_a_reply():
    message = bytes.fromhex("01 83 06")
    bus, _, members = bus_with(lambda data, n: [(1e-3, message + crc16(message))], (1,))
    assert ask(bus, members) == [message]


def test_bytes_from_before_a_request_are_dropped():
    bus, wire, members = bus_with(lambda data, n: [(1e-3, good(1, 7 + n))], (1,))
    wire.coming.append((0.0, good(1, 99)))
    assert ask(bus, members) == [good(1, 8)[:-2]]
    assert members[0].counters.rejected == 1


@settings(deadline=None, max_examples=200)
@given(st.lists(st.binary(max_size=12), max_size=6))
def test_any_bytes_are_no_reply_without_their_checksum(pieces):
    stream = b"".join(pieces)
    bus, _, members = bus_with(lambda data, n: [(1e-3 * k, piece) for k, piece in enumerate(pieces)], (1,))
    (reply,) = ask(bus, members)
    assert reply is None or reply + crc16(reply) in stream


def test_lines_work_at_the_same_time():
    clock = Clock()
    made = [bus_with(lambda data, _n: [(2e-3, good(data[0]))], clock=clock) for _ in range(2)]
    for bus, _, members in made:
        for member in members:
            bus.begin(member, bytes((member.unit,)) + READ)
    advance_all([bus for bus, _, _ in made], 0.1)
    assert all(bus.idle and all(member.reply for member in members) for bus, _, members in made)
    assert clock.time == pytest.approx(3 * 2e-3 + 2 * 1e-3)  # two lines of three, not six one after the other


# -- servos on a line ------------------------------------------------------------------------------------------------


def servos(units: Iterable[int], device: str, **options):
    buses = Buses()
    drives = []
    for unit in units:
        given = {"name": f"drive {unit}", "device": device, "unit": unit, "profile": PROFILE, "buses": buses}
        drives.append(create_drive("servo", given | LINE | options))
    return drives


def test_six_servos_on_one_pseudoterminal():
    legs = {unit: Leg(0.5 + 0.01 * unit) for unit in range(1, 7)}
    devices = {unit: FaultyServo(line_servo(leg, unit)) for unit, leg in legs.items()}
    line = VirtualLine(devices)
    with Pseudoterminal(line) as name:
        drives = servos(devices, name)
        assert len({id(drive.line) for drive in drives}) == 1
        for drive in drives:
            drive.connect(1.0)
            assert drive.identify().product == "virtual servo"
            drive.configure()
        for command in (COMMAND_OFF, COMMAND_HOME):
            feedback = exchange_all(drives, [command] * 6, time.monotonic(), PATIENCE)
            assert all(one.fresh for one in feedback)
        for leg in legs.values():
            leg.settle()
        for now in range(6):
            for device in devices.values():
                device.tick(0.002 * now)
            feedback = exchange_all(drives, [COMMAND_HOME] * 6, time.monotonic(), PATIENCE)
        assert all(one.status & Status.HOMED for one in feedback)
        commands = [Command(Mode.FORCE, 10.0 * unit, enable=True) for unit in legs]
        exchange_all(drives, commands, time.monotonic(), PATIENCE)
        assert [leg.force for leg in legs.values()] == pytest.approx([10.0 * unit for unit in legs])
        assert [request[0] for request in line.requests[-6:]] == [1, 2, 3, 4, 5, 6]
        stop = [*commands[:4], COMMAND_STOP, COMMAND_OFF]
        exchange_all(drives, stop, time.monotonic(), PATIENCE)
        assert [drive._station._exchange.urgent for drive in drives] == [False] * 4 + [True] * 2
        with pytest.raises(ConnectError, match=r"cannot open .* at 1000000 baud"):
            SerialWire(SerialEndpoint(name, 1_000_000))  # it is ours alone
        for drive in drives:
            drive.close()
        SerialWire(SerialEndpoint(name, 1_000_000)).close()


def test_replies_are_taken_while_the_line_still_works():
    devices = {unit: FaultyServo(line_servo(Leg(0.5 + 0.01 * unit), unit)) for unit in range(1, 7)}
    with Pseudoterminal(VirtualLine(devices)) as name:
        drives = servos(devices, name)
        for drive in drives:
            drive.connect(1.0)
        taken = []

        def noting(drive, finish):
            def finished(deadline):
                taken.append((drive.name, drive.line.idle))
                return finish(deadline)

            return finished

        for drive in drives:
            drive.finish = noting(drive, drive.finish)
        replies = exchange_all(drives, [COMMAND_OFF] * 6, time.monotonic(), PATIENCE)
        for drive in drives:
            drive.close()
    assert all(reply.fresh for reply in replies)
    assert taken == [(drive.name, drive is drives[-1]) for drive in drives]


def test_the_first_on_each_line_is_asked_before_the_second_on_any(monkeypatch):
    started = []
    begin = HalfDuplexBus.begin

    def noting(bus, exchange, message):
        started.append((bus.place, exchange.unit))
        return begin(bus, exchange, message)

    monkeypatch.setattr(HalfDuplexBus, "begin", noting)
    lines = [VirtualLine({unit: FaultyServo(line_servo(Leg(), unit)) for unit in (1, 2)}) for _ in range(2)]
    with Pseudoterminal(lines[0]) as first, Pseudoterminal(lines[1]) as second:
        drives = [*servos((1, 2), first), *servos((1, 2), second)]
        for drive in drives:
            drive.connect(1.0)
        started.clear()
        assert all(reply.fresh for reply in exchange_all(drives, [COMMAND_OFF] * 4, time.monotonic(), PATIENCE))
        for drive in drives:
            drive.close()
    assert started == [(first, 1), (second, 1), (first, 2), (second, 2)]


def test_one_silent_servo_of_six_leaves_the_others_fresh():
    devices = {unit: FaultyServo(line_servo(Leg(), unit)) for unit in range(1, 7)}
    line = VirtualLine(devices)
    with Pseudoterminal(line) as name:
        drives = servos(devices, name, reply_timeout=0.02)
        for drive in drives:
            drive.connect(1.0)
        devices[3].inject("drop_all")
        feedback = exchange_all(drives, [COMMAND_OFF] * 6, time.monotonic(), PATIENCE)
        assert [one.fresh for one in feedback] == [True, True, False, True, True, True]
        devices[3].clear("drop_all")
        line.damage = lambda frame: frame[:-1] + bytes((frame[-1] ^ 1,)) if frame[0] == 5 else frame
        feedback = exchange_all(drives, [COMMAND_OFF] * 6, time.monotonic(), PATIENCE)
        assert [one.fresh for one in feedback] == [True, True, True, True, False, True]
        assert drives[4].counters.crc == 1
        for drive in drives:
            drive.close()


def test_a_port_that_is_not_there():
    with pytest.raises(ConnectError, match=r"drive 1: cannot open /dev/no-such-port at 1000000 baud"):
        servos([1], "/dev/no-such-port")[0].connect(1.0)


def test_a_servo_on_a_line_reads_what_one_on_tcp_reads():
    bench = LineBench()
    bench.leg.cell, bench.leg.velocity = 321.5, -0.125
    feedback = bench.do(COMMAND_OFF)
    assert feedback.fresh and feedback.force == pytest.approx(321.5) and feedback.velocity == pytest.approx(-0.125)
    assert bench.line.requests[-1][0] == 3
