import asyncio
import errno
import os
import socket
import threading
import time

import pytest
from drive_support import PROFILE, serving
from pymodbus.client import AsyncModbusTcpClient, ModbusTcpClient

from actuators import (
    COMMAND_OFF,
    ActuatorError,
    Command,
    ConnectError,
    Endpoint,
    FaultyServo,
    Mode,
    Status,
    TcpEndpoint,
    TwinServer,
    VirtualServo,
    create_drive,
    exchange_all,
)
from rig.testing import BenchLeg as Leg

READ_STATUS = bytes.fromhex("0007 0000 0006 01 03 0000 0001")
STATUS = bytes.fromhex("0007 0000 0005 01 03 02 0181")
TIMEOUT = 5.0
FREE = TcpEndpoint("127.0.0.1", 0)


def twin(**options) -> VirtualServo:
    return VirtualServo(PROFILE, Leg(), **options)


def read_exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count and (piece := connection.recv(count - len(data))):
        data += piece
    return data


def until(condition) -> None:
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline


def test_pymodbus_client_reads_and_writes():
    with serving([twin()]) as [(host, port)], ModbusTcpClient(host, port=port, timeout=TIMEOUT, retries=0) as client:
        assert client.read_holding_registers(316, count=8, device_id=1).registers[0] == int.from_bytes(b"VI", "big")
        assert client.read_input_registers(0, count=1, device_id=1).registers == [0x181]
        assert not client.write_register(200, 40, device_id=1).isError()
        assert client.read_holding_registers(200, count=1, device_id=1).registers == [40]
        assert not client.write_registers(100, [0, 1, 5], device_id=1).isError()
        reply = client.readwrite_registers(
            read_address=0, read_count=11, write_address=100, values=[1, 1, 6, 0, 5000, 0, 0, 0, 0], device_id=1
        )
        assert reply.registers[:3] == [0x103, 0, 6]
        assert client.read_holding_registers(50, count=1, device_id=1).exception_code == 2
        assert client.write_register(101, 9, device_id=1).exception_code == 3
        assert client.read_coils(0, count=1, device_id=1).exception_code == 1


def test_pymodbus_async_client():
    async def talk(host: str, port: int) -> list[int]:
        client = AsyncModbusTcpClient(host, port=port, timeout=TIMEOUT, retries=0)
        await client.connect()
        try:
            replies = await asyncio.gather(*(client.read_holding_registers(2, count=1, device_id=1) for _ in range(5)))
            return [reply.registers[0] for reply in replies]
        finally:
            client.close()

    with serving([twin()]) as [(host, port)]:
        assert asyncio.run(talk(host, port)) == [0] * 5


def test_six_drives_at_once():
    legs = [Leg() for _ in range(6)]
    twins = [VirtualServo(PROFILE, leg, serial=f"S{number}") for number, leg in enumerate(legs, 1)]
    with serving(twins) as addresses:
        drives = [
            create_drive("servo", {"host": host, "port": port, "name": f"drive {leg}", "serial": f"S{leg}"})
            for leg, (host, port) in enumerate(addresses, 1)
        ]
        for drive in drives:
            drive.connect(TIMEOUT)
            drive.identify()
            drive.configure()
        for cycle in range(1, 20):
            commands = [COMMAND_OFF if cycle == 1 else Command(Mode.FORCE, force, enable=True) for force in range(6)]
            feedback = exchange_all(drives, commands, time.monotonic(), TIMEOUT)
            assert all(one.fresh and one.sequence == cycle for one in feedback)
        assert all(one.status & Status.ENABLED for one in feedback)
        assert [leg.force for leg in legs] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
        for drive in drives:
            drive.close()


def test_watchdog_of_a_twin_that_nobody_talks_to():
    leg = Leg()
    with serving([VirtualServo(PROFILE, leg)]) as [(host, port)]:
        drive = create_drive("servo", {"host": host, "port": port, "watchdog": 0.02})
        drive.connect(TIMEOUT)
        drive.configure()
        drive.exchange(COMMAND_OFF, time.monotonic(), TIMEOUT)
        assert drive.exchange(Command(Mode.FORCE, 5.0, enable=True), time.monotonic(), TIMEOUT).status & Status.ENABLED
        until(lambda: leg.brake)
        assert drive.exchange(COMMAND_OFF, time.monotonic(), TIMEOUT).status & Status.WATCHDOG
        drive.close()


def test_frames_split_and_merged_and_several_clients():
    with (
        serving([twin()]) as [address],
        socket.create_connection(address, TIMEOUT) as one,
        socket.create_connection(address, TIMEOUT) as two,
    ):
        one.sendall(READ_STATUS[:5])
        two.sendall(READ_STATUS * 3)
        assert read_exactly(two, 3 * len(STATUS)) == STATUS * 3
        one.sendall(READ_STATUS[5:] + READ_STATUS[:9])
        assert read_exactly(one, len(STATUS)) == STATUS
        one.sendall(READ_STATUS[9:])
        assert read_exactly(one, len(STATUS)) == STATUS


@pytest.mark.parametrize("garbage", [b"GET / HTTP/1.0\r\n\r\n", b"\0\1\0\0\0\1\1\3", b"\0\1\0\0\xff\xff\1\3"])
def test_a_client_that_sends_no_frames_is_dropped_and_others_are_not(garbage):
    with (
        serving([twin()]) as [address],
        socket.create_connection(address, TIMEOUT) as bad,
        socket.create_connection(address, TIMEOUT) as good,
    ):
        bad.sendall(garbage)
        assert bad.recv(10) == b""
        good.sendall(READ_STATUS)
        assert read_exactly(good, len(STATUS)) == STATUS


def test_clients_that_vanish():
    with serving([twin()]) as [address]:
        for _ in range(3):
            client = socket.create_connection(address, TIMEOUT)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            client.sendall(READ_STATUS)
            client.close()
        with socket.create_connection(address, TIMEOUT) as client:
            client.sendall(READ_STATUS)
            assert read_exactly(client, len(STATUS)) == STATUS


def test_a_client_that_never_reads_is_dropped():
    request = bytes.fromhex("0001 0000 0006 01 03 012c 001c") * 300
    with serving([twin()]) as [address], socket.create_connection(address, TIMEOUT) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(TIMEOUT)
        with pytest.raises(OSError, match=r"(reset|[Bb]roken pipe)"):
            for _ in range(100_000):
                client.sendall(request)


def test_a_slow_reader_gets_everything():
    count = 2000
    request = bytes.fromhex("0001 0000 0006 01 03 012c 0001")
    with serving([twin()]) as [address], socket.create_connection(address, TIMEOUT) as client:
        client.sendall(request * count)
        assert read_exactly(client, 11 * count) == bytes.fromhex("0001 0000 0005 01 03 02 7374") * count


def test_delayed_reply_comes_within_the_same_cycle():
    faults = FaultyServo(twin())
    with serving([faults]) as [(host, port)]:
        drive = create_drive("servo", {"host": host, "port": port})
        drive.connect(TIMEOUT)
        drive.exchange(COMMAND_OFF, time.monotonic(), TIMEOUT)
        faults.inject("delay", 0.005)
        assert drive.exchange(COMMAND_OFF, time.monotonic(), TIMEOUT).fresh
        faults.inject("close")
        assert not drive.exchange(COMMAND_OFF, time.monotonic(), TIMEOUT).fresh
        assert not drive.connected
        with pytest.raises(ConnectError, match=r"closed the connection \(no reply to read of registers"):
            drive.connect(TIMEOUT)
            drive.identify()
        drive.close()


def test_silent_device_is_named_with_its_deadline():
    faults = FaultyServo(twin())
    faults.inject("drop_all")
    with serving([faults]) as [(host, port)]:
        drive = create_drive("servo", {"host": host, "port": port, "name": "drive 3", "request_timeout": 0.05})
        drive.connect(TIMEOUT)
        message = rf"drive 3 at 127\.0\.0\.1:{port} did not answer within 0\.05 s \(no reply to read of registers 300"
        with pytest.raises(ConnectError, match=message):
            drive.identify()
        drive.close()


def test_nobody_listening():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    drive = create_drive("servo", {"host": "127.0.0.1", "port": port, "name": "drive 5"})
    with pytest.raises(ConnectError, match=rf"drive 5: cannot connect to 127\.0\.0\.1:{port}: Connection refused"):
        drive.connect(TIMEOUT)


def test_advance_brings_the_plant_to_each_request():
    times: list[float] = []
    with (
        serving([twin()], advance=times.append, clock=lambda: 42.0, tick=10.0) as [address],
        socket.create_connection(address, TIMEOUT) as client,
    ):
        until(lambda: times)
        before = len(times)
        client.sendall(READ_STATUS)
        assert read_exactly(client, len(STATUS)) == STATUS
        assert times[before:] == [42.0]


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_port_taken_names_it_and_leaves_nothing_open():
    before = open_descriptors()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        server = TwinServer([(FREE, twin()), (TcpEndpoint("127.0.0.1", port), twin())])
        with pytest.raises(ActuatorError, match=rf"cannot listen on 127\.0\.0\.1:{port}: Address already in use"):
            server.serve(threading.Event())
    with pytest.raises(ActuatorError, match=r"cannot listen on no\.such\.host\.invalid:502"):
        TwinServer([(TcpEndpoint("no.such.host.invalid", 502), twin())]).serve(threading.Event())
    assert open_descriptors() == before


def test_everything_is_closed_when_the_server_stops_or_fails():
    before = open_descriptors()
    with serving([twin(), twin()]) as addresses:
        clients = [socket.create_connection(address, TIMEOUT) for address in addresses * 2]
        for client in clients:
            client.sendall(READ_STATUS)
            assert read_exactly(client, len(STATUS)) == STATUS
    for client in clients:
        assert client.recv(1) == b""
        client.close()
    assert open_descriptors() == before

    def fail(now: float) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), serving([twin()], advance=fail):
        pass
    assert open_descriptors() == before


class Turns:
    """A stop event that counts the turns of the server's loop, one for each look at it, and ends after the last."""

    def __init__(self, last: int) -> None:
        self.last = last
        self.count = 0

    def is_set(self) -> bool:
        self.count += 1
        return self.count > self.last


def test_a_flood_on_one_drive_delays_the_others_by_a_few_frames():
    answered: list[str] = []

    class Noted(VirtualServo):
        serial = ""

        def respond(self, adu: bytes) -> bytes:
            answered.append(self.serial)
            return super().respond(adu)

    devices = []
    for name in ("flooded", "other"):
        device = Noted(PROFILE, Leg())
        device.serial = name
        devices.append(device)
    turns, flood = Turns(500), 341
    clients: list[socket.socket] = []

    def begin(served: list[Endpoint]) -> None:
        addresses = [endpoint for endpoint in served if isinstance(endpoint, TcpEndpoint)]
        clients.extend(socket.create_connection(address, TIMEOUT) for address in addresses)
        clients[0].sendall(READ_STATUS * flood)
        clients[1].sendall(READ_STATUS)

    try:
        TwinServer([(FREE, device) for device in devices]).serve(turns, begin)
        assert answered.index("other") <= 16  # two turns of the flooded one at most
        assert answered.count("flooded") == flood and answered.count("other") == 1
        assert read_exactly(clients[0], flood * len(STATUS)) == STATUS * flood
        assert read_exactly(clients[1], len(STATUS)) == STATUS
    finally:
        for client in clients:
            client.close()


def test_a_server_without_a_free_descriptor_pauses_and_then_lets_in_who_waited(monkeypatch):
    accept, attempts = socket.socket.accept, []
    now = 0.0
    free = False

    def tried(listener):
        attempts.append(now)
        if not free:
            raise OSError(errno.EMFILE, "Too many open files")
        return accept(listener)

    monkeypatch.setattr(socket.socket, "accept", tried)
    turns = Turns(60)
    clients: list[socket.socket] = []

    def begin(served: list[Endpoint]) -> None:
        addresses = [endpoint for endpoint in served if isinstance(endpoint, TcpEndpoint)]
        clients.append(socket.create_connection(addresses[0], TIMEOUT))
        clients[0].sendall(READ_STATUS)

    def advance(_now: float) -> None:
        nonlocal now, free
        if turns.count == 30:  # 30 turns at one instant; then time passes and a descriptor is free
            now, free = 1.0, True

    server = TwinServer([(FREE, twin())], advance=advance, tick=0.0, clock=lambda: now)
    try:
        server.serve(turns, begin)
        assert attempts == [0.0, 1.0]
        assert read_exactly(clients[0], len(STATUS)) == STATUS
    finally:
        clients[0].close()
