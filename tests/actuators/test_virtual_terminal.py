"""Virtual devices on a pseudo-terminal, asked by somebody else's client."""

import math
import os
import select
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from drive_support import serving_at
from pymodbus.client import ModbusSerialClient
from virtual_line import line_servo
from waiting import eventually

from actuators import (
    COMMAND_OFF,
    ActuatorError,
    Buses,
    ConnectError,
    DeviceLine,
    FaultyServo,
    Responder,
    SerialEndpoint,
    TwinServer,
    create_cell_twin,
    create_drive,
    exchange_all,
    open_wire,
)
from actuators.framing import crc16
from rig.testing import BenchLeg as Leg

BAUD = 115200
TIMEOUT = 5.0
READ = bytes.fromhex("01 03 0000 0001")
READ += crc16(READ)


@contextmanager
def served(link: Path, units=(1, 2), byte_time: float = 0.0, **options) -> Iterator[DeviceLine]:
    """A line of servos at a pseudo-terminal, by a thread that ends with the block."""
    line = DeviceLine([FaultyServo(line_servo(Leg(), unit, serial=f"U{unit}")) for unit in units], byte_time)
    with serving_at([(SerialEndpoint(str(link), BAUD), line)], **{"tick": 2e-4, **options}):
        yield line
    assert not link.is_symlink()


def test_pymodbus_serial_client_reads_and_writes(tmp_path: Path):
    with (
        served(tmp_path / "line"),
        ModbusSerialClient(str(tmp_path / "line"), baudrate=BAUD, timeout=TIMEOUT, retries=0) as client,
    ):
        for unit in (1, 2, 1):
            serial = client.read_holding_registers(316, count=8, device_id=unit).registers
            assert serial[0] == int.from_bytes(f"U{unit}".encode(), "big")
        assert client.read_input_registers(0, count=1, device_id=1).registers == [0x181]
        assert not client.write_register(200, 40, device_id=2).isError()
        assert client.read_holding_registers(200, count=1, device_id=2).registers == [40]
        assert client.read_holding_registers(200, count=1, device_id=1).registers == [0]
        assert not client.write_registers(100, [0, 1, 5], device_id=1).isError()
        reply = client.readwrite_registers(
            read_address=0, read_count=11, write_address=100, values=[1, 1, 6, 0, 5000, 0, 0, 0, 0], device_id=1
        )
        assert reply.registers[:3] == [0x103, 0, 6]
        assert client.read_holding_registers(50, count=1, device_id=1).exception_code == 2
        assert client.write_register(101, 9, device_id=1).exception_code == 3
        assert client.read_coils(0, count=1, device_id=1).exception_code == 1


def read_exactly(descriptor: int, count: int) -> bytes:
    data, deadline = b"", time.monotonic() + TIMEOUT
    while len(data) < count:
        assert select.select([descriptor], [], [], max(deadline - time.monotonic(), 0.0))[0]
        data += os.read(descriptor, count - len(data))
    return data


def test_requests_in_pieces_in_one_go_and_after_rubbish(tmp_path: Path):
    with served(tmp_path / "line", clock=lambda: 0.0):  # between two writes of a thread there may be a pause
        descriptor = os.open(tmp_path / "line", os.O_RDWR | os.O_NOCTTY)
        try:
            for byte in READ:
                os.write(descriptor, bytes((byte,)))
            assert read_exactly(descriptor, 7)[:3] == b"\x01\x03\x02"
            os.write(descriptor, READ + READ)
            assert read_exactly(descriptor, 14)[7:10] == b"\x01\x03\x02"
            os.write(descriptor, READ[:-1] + b"\xff")  # its checksum is wrong
            assert not select.select([descriptor], [], [], 0.1)[0]
            os.write(descriptor, READ)
            assert read_exactly(descriptor, 7)[:3] == b"\x01\x03\x02"
        finally:
            os.close(descriptor)


def test_one_that_begins_a_request_and_goes_leaves_nothing_to_the_next(tmp_path: Path):
    passed = 0.0
    with served(tmp_path / "line", clock=lambda: time.monotonic() + passed):
        for sent in (READ[:5], READ):
            descriptor = os.open(tmp_path / "line", os.O_RDWR | os.O_NOCTTY)
            os.write(descriptor, sent)
            if sent is READ:
                assert read_exactly(descriptor, 7)[:3] == b"\x01\x03\x02"
            else:
                assert not select.select([descriptor], [], [], 0.1)[0]  # nobody answers that
                passed += 1.0  # longer than a frame may pause
                assert not select.select([descriptor], [], [], 0.1)[0]
            os.close(descriptor)


class Watched(TwinServer):
    """A server on a clock that the test sets, and what it has seen."""

    def __init__(self, link: Path, device: Responder) -> None:
        self.time = 10.0
        self.elsewhere, self.back = threading.Event(), threading.Event()
        self.back.set()
        super().__init__(
            [(SerialEndpoint(str(link), BAUD), device)], tick=2e-4, clock=lambda: self.time, advance=self._go_on
        )

    def _go_on(self, _now: float) -> None:
        self.elsewhere.set()
        assert self.back.wait(TIMEOUT)

    @contextmanager
    def serving(self) -> Iterator[None]:
        stop, ready = threading.Event(), threading.Event()
        thread = threading.Thread(target=self.serve, args=(stop, lambda _: ready.set()))
        thread.start()
        try:
            assert ready.wait(TIMEOUT)
            yield
        finally:
            stop.set()
            thread.join(TIMEOUT)

    def write(self, descriptor: int, data: bytes) -> None:
        """Write, and wait until the server has taken it."""
        (client,) = self._clients.values()
        before = client.taken
        os.write(descriptor, data)
        eventually(lambda: client.taken == before + len(data), "the server to take what was written", TIMEOUT)

    def wait(self, passed: float) -> None:
        """Let time pass (s), and wait until the server has seen that nothing is there."""
        self.time += passed
        eventually(lambda: self._quiet_at == self.time, "the server to look", TIMEOUT)


CHARACTER = 11 / BAUD  # s


@pytest.mark.parametrize(
    ("pause", "seen", "whole"),
    [(5 * CHARACTER + 1.7e-3, True, True), (5 * CHARACTER + 1.8e-3, True, False), (0.05, False, True)],
    ids=["shorter", "longer", "longer, while the server was elsewhere"],
)
def test_a_pause_of_three_and_a_half_characters_ends_a_frame(tmp_path: Path, pause: float, seen: bool, whole: bool):
    """1.75 ms above 19200 baud, after the last byte has passed; neither half is a frame then."""
    link = tmp_path / "line"
    server = Watched(link, FaultyServo(line_servo(Leg(), 1)))
    with server.serving():
        descriptor = os.open(link, os.O_RDWR | os.O_NOCTTY)
        try:
            server.write(descriptor, READ[:5])
            server.wait(0.0)
            if seen:
                server.wait(pause)
                server.write(descriptor, READ[5:])
            else:
                server.back.clear()
                server.elsewhere.clear()
                server.time += 1e-3
                assert server.elsewhere.wait(TIMEOUT)
                server.time += pause
                os.write(descriptor, READ[5:])
                server.back.set()
            assert bool(select.select([descriptor], [], [], TIMEOUT if whole else 0.1)[0]) is whole
            if whole:
                read_exactly(descriptor, 7)
            server.wait(1.0)
            server.write(descriptor, READ)
            assert read_exactly(descriptor, 7)[:3] == b"\x01\x03\x02", "the next frame is a new one"
        finally:
            os.close(descriptor)


def test_what_somebody_types_is_a_request(tmp_path: Path):
    """In ASCII no silence ends it."""
    link, leg = tmp_path / "line", Leg()
    leg.cell = 12.5
    server = Watched(link, create_cell_twin("mantracourt", {"device": "memory", "unit": 7}, [leg]))
    with server.serving():
        descriptor = os.open(link, os.O_RDWR | os.O_NOCTTY)
        try:
            for character in b"!007:SYS?\r":
                server.write(descriptor, bytes((character,)))
                server.wait(3.0)
            assert read_exactly(descriptor, 11) == b"+00012.500\r"
        finally:
            os.close(descriptor)


def test_our_drives_on_it_take_the_time_of_their_bytes(tmp_path: Path):
    baud, link = 19200, tmp_path / "line"
    with served(link, byte_time=11 / baud):
        buses = Buses()
        given = {"device": str(link), "baud": baud, "turnaround": 1e-3, "reply_timeout": 1.0, "buses": buses}
        drives = [create_drive("servo", given | {"name": f"drive {unit}", "unit": unit}) for unit in (1, 2)]
        for drive in drives:
            drive.connect(TIMEOUT)
        assert [drive.identify().serial for drive in drives] == ["U1", "U2"]
        begun = time.monotonic()
        feedback = exchange_all(drives, [COMMAND_OFF] * 2, begun, TIMEOUT)
        assert all(one.fresh for one in feedback)
        exchange = (31 + 27) * 11 / baud
        assert time.monotonic() - begun > 2 * exchange
        assert feedback[0].offset >= 31 * 11 / baud and feedback[1].offset >= exchange + 31 * 11 / baud
        with pytest.raises(ConnectError, match=f"cannot open {link} at {baud} baud"):
            open_wire(SerialEndpoint(str(link), baud), 1.0)
        for drive in drives:
            drive.close()


def test_a_port_that_is_served_is_not_taken_over(tmp_path: Path):
    link = tmp_path / "line"
    with served(link):
        before = link.resolve()
        second = TwinServer([(SerialEndpoint(str(link), BAUD), FaultyServo(line_servo(Leg(), 1)))])
        with pytest.raises(ActuatorError, match=f"cannot serve {link}: another virtual rig serves it"):
            second.serve(threading.Event())
        assert link.resolve() == before
    assert not list(tmp_path.iterdir())


def test_a_device_that_has_fallen_silent_holds_nobody_up(tmp_path: Path):
    """Its replies that were to come do so no more, and the time goes on."""
    device = FaultyServo(line_servo(Leg(), 1))
    device.inject("delay", 0.5)
    device.tick(1.0)
    device.respond(READ)
    assert device.next_event == 1.5
    device.fall_silent()
    assert device.next_event == math.inf and device.due() == b""


def test_bytes_are_there_when_they_are_and_not_at_the_next_tick(tmp_path: Path):
    with served(tmp_path / "line", byte_time=1e-4, tick=60.0):
        descriptor = os.open(tmp_path / "line", os.O_RDWR | os.O_NOCTTY)
        try:
            os.write(descriptor, READ)
            assert read_exactly(descriptor, 7)[:3] == b"\x01\x03\x02"
        finally:
            os.close(descriptor)


def test_an_access_that_is_lost_on_a_line_is_tried_again_within_its_time(tmp_path: Path):
    link = tmp_path / "line"
    with served(link) as line:
        given = {"device": str(link), "baud": BAUD, "turnaround": 1e-3, "reply_timeout": 0.02, "name": "drive 1"}
        drive = create_drive("servo", given)
        drive.connect(TIMEOUT)
        line.devices[0].inject("drop_write", 3)
        assert drive.identify().serial == "U1" and not line.devices[0].active
        line.devices[0].inject("drop_all")
        with pytest.raises(ConnectError, match=r"drive 1 .* did not answer within 0\.1 s"):
            drive.observe(0.1)
        drive.close()


def test_a_port_that_is_not_there_is_said_once():
    with pytest.raises(ConnectError, match=r"^cannot open /dev/none at 9600 baud: No such file or directory$"):
        open_wire(SerialEndpoint("/dev/none", 9600), 1.0)


def test_what_stands_where_a_port_is_to_be_is_kept(tmp_path: Path):
    link = tmp_path / "line"
    link.write_text("mine")
    server = TwinServer([(SerialEndpoint(str(link), BAUD), FaultyServo(line_servo(Leg(), 1)))])
    with pytest.raises(ActuatorError, match=f"cannot serve {link}: "):
        server.serve(threading.Event())
    assert link.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [link]
    link.unlink()
    link.symlink_to("/dev/pts/gone")  # what a rig that was killed has left
    with served(link):
        assert link.resolve() != Path("/dev/pts/gone")
