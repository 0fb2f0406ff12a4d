"""Somebody else's CANopen master opens the twin, and our driver a bus of python-can."""

import queue
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import can
import canopen
import pytest
from drive_support import serving_at

from actuators import COMMAND_OFF, Command, ConnectError, Mode, Status, create_drive, create_twin
from actuators.canopen import CanEndpoint, frame_of, line_of
from actuators.virtual.server import DeviceLine
from rig.testing import BenchLeg

BOOT_UP, OPERATIONAL, PRE_OPERATIONAL = 0, 5, 127  # the states in a heartbeat (CiA 301)
OPTIONS = {"device": "can://virtual/nowhere", "unit": 3}


@pytest.fixture
def leg() -> BenchLeg:
    return BenchLeg(length=0.6)


@pytest.fixture
def network(leg: BenchLeg, tmp_path: Path) -> Iterator[canopen.Network]:
    """The PyPI client on the SLCAN adapter of a line of two twins."""
    port = CanEndpoint(str(tmp_path / "adapter"), 1_000_000, "none")
    twins = [create_twin("canopen", OPTIONS | {"unit": unit}, each) for unit, each in ((3, leg), (4, BenchLeg()))]
    with serving_at([(port, DeviceLine(twins))], tick=1e-3):
        network = canopen.Network()
        network.connect(interface="slcan", channel=port.device, bitrate=1_000_000, sleep_after_open=0.0)
        try:
            yield network
        finally:
            network.disconnect()


def dictionary() -> canopen.ObjectDictionary:
    """As the maker's EDS would say it, of what is asked for here."""
    found = canopen.ObjectDictionary()
    types = canopen.objectdictionary.datatypes
    for index, name, kind in (
        (0x1000, "Device type", types.UNSIGNED32),
        (0x1008, "Device name", types.VISIBLE_STRING),
        (0x1017, "Producer heartbeat time", types.UNSIGNED16),
        (0x6041, "Statusword", types.UNSIGNED16),
        (0x6060, "Modes of operation", types.INTEGER8),
        (0x6061, "Mode display", types.INTEGER8),
        (0x6064, "Position actual value", types.INTEGER32),
        (0x606C, "Velocity actual value", types.INTEGER32),
        (0x6072, "Maximum torque", types.UNSIGNED16),
    ):
        variable = canopen.objectdictionary.ODVariable(name, index)
        variable.data_type = kind
        found.add_object(variable)
    return found


def test_the_pypi_client_reads_true_values_of_every_node(network: canopen.Network, leg: BenchLeg) -> None:
    node = network.add_node(3, dictionary())
    assert node.sdo["Device name"].raw == "virtual CiA 402 drive"
    assert node.sdo["Device type"].raw & 0xFFFF == 402
    assert node.sdo["Statusword"].raw & 0x6F == 0x40 & 0x6F  # switch on disabled
    before = node.sdo["Position actual value"].raw
    leg.length, leg.velocity = 0.625, -0.02
    assert node.sdo["Position actual value"].raw - before == 250_000  # of 0.1 um
    assert node.sdo["Velocity actual value"].raw == -200_000
    node.sdo["Modes of operation"].raw = 8
    assert node.sdo["Mode display"].raw == 8
    with pytest.raises(canopen.SdoAbortedError) as refused:
        _ = node.sdo["Maximum torque"].raw
    assert refused.value.code == 0x06020000  # it has no such object
    other = network.add_node(4, dictionary())
    assert other.sdo["Position actual value"].raw == 0


def test_the_pypi_client_hears_heartbeats_and_resets_a_node(network: canopen.Network) -> None:
    node = network.add_node(3, dictionary())
    # The client's own waits forget what came before they began: a boot-up that was quick would be missed.
    heard: queue.Queue[int] = queue.Queue()
    node.nmt.add_heartbeat_callback(heard.put)

    def hear(state: int) -> None:
        while heard.get(timeout=5.0) != state:
            pass

    node.sdo["Producer heartbeat time"].raw = 20
    hear(PRE_OPERATIONAL)
    node.nmt.state = "OPERATIONAL"
    hear(OPERATIONAL)
    node.nmt.state = "RESET"
    hear(BOOT_UP)
    assert node.sdo["Producer heartbeat time"].raw == 0


@pytest.fixture
def bridged(leg: BenchLeg) -> Iterator[None]:
    """The twin on a virtual bus of python-can, carried there by a thread of the test."""
    twin = create_twin("canopen", OPTIONS, leg)
    there, stop = threading.Event(), threading.Event()

    def carry() -> None:
        with can.Bus(interface="virtual", channel="nowhere") as bus:
            there.set()  # a bus carries nothing to whoever comes later
            while not stop.is_set():
                message = bus.recv(0.01)
                if message is None:
                    continue
                line = b"t%03X%d" % (message.arbitration_id, message.dlc) + message.data.hex().encode() + b"\r"
                for reply in twin.respond(line).split(b"\r")[:-1]:
                    content = bytes.fromhex(reply[5:].decode())
                    bus.send(can.Message(arbitration_id=int(reply[1:4], 16), data=content, is_extended_id=False))

    thread = threading.Thread(target=carry)
    thread.start()
    try:
        assert there.wait(10.0)
        yield
    finally:
        stop.set()
        thread.join(5.0)


@pytest.mark.usefixtures("bridged")
def test_the_driver_commands_a_drive_over_python_can(leg: BenchLeg) -> None:
    drive = create_drive("canopen", {"name": "drive 1", "watchdog": 5.0, **OPTIONS})
    drive.connect(1.0)
    try:
        assert drive.identify().product == "virtual CiA 402 drive"
        drive.configure()
        feedback = drive.exchange(COMMAND_OFF, drive._bus.now(), 5.0)  # type: ignore[attr-defined]
        assert feedback.fresh and feedback.status & Status.READY
        for _ in range(6):
            command = Command(Mode.FORCE, 77.0, 0.0, enable=True)
            feedback = drive.exchange(command, drive._bus.now(), 5.0)  # type: ignore[attr-defined]
        assert feedback.status & Status.ENABLED
        assert leg.mode is Mode.FORCE and leg.force == 77.0
        assert drive.counters.received == drive.counters.sent == 7
    finally:
        drive.close()


def test_a_bus_that_cannot_be_opened_is_named() -> None:
    drive = create_drive("canopen", {"name": "drive 1", "device": "can://socketcan/nothing7", "unit": 1})
    with pytest.raises(ConnectError, match=r"drive 1: cannot open can://socketcan/nothing7 at 1000000 bit/s"):
        drive.connect(1.0)


def test_a_master_enables_homes_and_moves_it_by_sdo_alone(leg: BenchLeg) -> None:
    """Without a PDO, as a client does that knows the object dictionary only."""
    twin = create_twin("canopen", OPTIONS, leg)
    now = 0.0

    def send(identifier: int, data: bytes = b"") -> bytes:
        nonlocal now
        now += 1e-3
        twin.tick(now)
        return twin.respond(line_of(identifier, data))

    def write(index: int, size: int, value: int) -> None:
        request = struct.pack("<BHBi", 0x23 | (4 - size) << 2, index, 0, value)
        assert frame_of(send(0x603, request)[:-1]) == (0x583, b"\x60" + request[1:4] + bytes(4))

    def read(index: int, code: str) -> int:
        _, data = frame_of(send(0x603, struct.pack("<BHBi", 0x40, index, 0, 0))[:-1]) or (0, b"")
        (value,) = struct.unpack_from("<" + code, data, 4)
        return int(value)

    send(0x000, bytes((1, 3)))
    for word, state in ((6, 0x21), (7, 0x23), (15, 0x27)):
        write(0x6040, 2, word)
        assert read(0x6041, "H") & 0x6F == state
    assert leg.enabled and not leg.brake
    write(0x6040, 2, 0x1F)
    leg.settle()
    send(0x080)
    assert read(0x6041, "H") & 0x1000 and leg.length == leg.home
    position = read(0x6064, "i")
    write(0x607A, 4, position)
    write(0x6060, 1, 8)
    write(0x6040, 2, 15)
    for _ in range(10):
        write(0x607A, 4, position - 20_000)
        send(0x080)
    leg.settle()
    assert leg.length == pytest.approx(leg.home - 2e-3, abs=1e-9) and read(0x6064, "i") == position - 20_000
    write(0x6040, 2, 0)
    assert not leg.enabled and read(0x6041, "H") & 0x4F == 0x40
