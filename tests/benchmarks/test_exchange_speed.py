"""One cycle's exchange with six drives, beside pymodbus' own client against the same server in the same run.

The server answers every request with a canned reply from a process of its own, so that what is timed is the client.
"""

import multiprocessing
import selectors
import socket
import time

import pytest
from drive_support import Bench
from pymodbus.client import ModbusTcpClient

from actuators import COMMAND_OFF, Command, MemoryWire, Mode, ServoProfile, create_drive, exchange_all, load_profile
from actuators.codec import ExchangeCodec
from actuators.framing import MBAP

PROFILE = load_profile("generic-servo", ServoProfile)
COMMAND = Command(Mode.FORCE, 12.3, 0.6, 0.01, enable=True)
DRIVES = 6
ROUNDS, CYCLES = 15, 100


def answer_for_ever(listener: socket.socket) -> None:
    """Answer every frame with a good reply of its transaction id, as fast as Python can."""
    message = ExchangeCodec(PROFILE, 1).encode_reply((3, 0, 1, 1000, 0, 5000, 350, 4800))
    reply = MBAP.pack(0, 0, len(message))[2:] + message
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is listener:
                connection, _ = listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                selector.register(connection, selectors.EVENT_READ)
                continue
            peer = key.fileobj
            assert isinstance(peer, socket.socket)
            if data := peer.recv(256):
                peer.send(data[:2] + reply)
            else:
                selector.unregister(peer)
                peer.close()


@pytest.fixture(scope="module")
def address():
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        process = multiprocessing.get_context("spawn").Process(target=answer_for_ever, args=(listener,), daemon=True)
        process.start()
        yield listener.getsockname()
        process.terminate()
        process.join()


def seconds_per_call(function) -> float:
    """Median over rounds of the mean time of a call."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(CYCLES):
            function()
        times.append((time.perf_counter() - start) / CYCLES)
    return sorted(times)[ROUNDS // 2]


def test_six_drives_over_tcp(address, record_property, capsys):
    host, port = address
    drives = [create_drive("servo", {"host": host, "port": port, "profile": PROFILE}) for _ in range(DRIVES)]
    for drive in drives:
        drive.connect(5.0)
    commands = [COMMAND] * DRIVES
    feedback = exchange_all(drives, commands, time.monotonic(), 5.0)
    assert all(one.fresh for one in feedback)
    ours = seconds_per_call(lambda: exchange_all(drives, commands, time.monotonic(), 0.1))
    assert sum(drive.counters.late for drive in drives) == 0
    for drive in drives:
        drive.close()

    clients = [ModbusTcpClient(host, port=port, timeout=5.0, retries=0) for _ in range(DRIVES)]
    for client in clients:
        assert client.connect()
    registers = [1, 1, 1, 0, 12300, 0x5B, 0x8D80, 0, 10000]

    def theirs_once() -> None:
        for client in clients:
            client.readwrite_registers(read_address=0, read_count=11, write_address=100, values=registers, device_id=1)

    theirs = seconds_per_call(theirs_once)
    for client in clients:
        client.close()
    report(record_property, capsys, "six drives over TCP", ours, "pymodbus client, one after the other", theirs)


def test_one_drive_without_its_wire(record_property, capsys):
    message = ExchangeCodec(PROFILE, 1).encode_reply((3, 0, 1, 1000, 0, 5000, 350, 4800))
    reply = MBAP.pack(0, 0, len(message))[2:] + message
    wire = MemoryWire(lambda adu: adu[:2] + reply)
    drive = create_drive("servo", {"host": "memory", "profile": PROFILE, "open_wire": lambda timeout: wire})
    drive.connect(1.0)
    ours = seconds_per_call(lambda: drive.exchange(COMMAND, 0.0, 0.0))
    bench = Bench()
    bench.do(COMMAND_OFF)
    twin = seconds_per_call(lambda: bench.drive.exchange(COMMAND, 0.0, 0.0))
    report(record_property, capsys, "drive and canned reply in memory", ours, "drive and virtual twin in memory", twin)


def report(record_property, capsys, name: str, ours: float, peer: str, theirs: float) -> None:
    record_property(f"{name}, us", round(ours * 1e6, 2))
    record_property(f"{peer}, us", round(theirs * 1e6, 2))
    with capsys.disabled():
        print(f"\n{name}: {ours * 1e6:.1f} us; {peer}: {theirs * 1e6:.1f} us; ratio {theirs / ours:.2f}")
