"""The block of inputs and outputs on Modbus: its messages, a foreign client on its twin, ours on a foreign server."""

import time
from collections.abc import Iterator

import pytest
from drive_support import serving
from pymodbus.client import ModbusTcpClient
from pymodbus.server import ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice
from test_foreign_slaves import Slave

from actuators import ConfigurationError, FaultyDevice, MemoryWire, ProtocolError, create_io_device, create_io_twin
from actuators.io_device import IoDevice
from actuators.modbus_io import ModbusIo, ModbusIoOptions
from rig.testing.benches import BenchTerminals

UNIT = 5
PATIENCE = 10.0  # s
CHANNELS = {"inputs": (3, 4), "outputs": (0, 1, 2)}


def sent(**options: object) -> tuple[list[str], IoDevice]:
    """Messages of some cycles, without their transaction, and the device."""
    terminals, messages = BenchTerminals(), []
    given = {"host": "twin", "unit": UNIT, **CHANNELS, **options}
    twin = create_io_twin("modbus-io", given, terminals)

    def respond(frame: bytes) -> bytes:
        messages.append(frame[6:].hex())
        return twin.respond(frame)

    device = create_io_device("modbus-io", given | {"open_wire": lambda _timeout: MemoryWire(respond)})
    device.connect(1.0)
    return messages, device


def cycle(device: IoDevice, states: tuple[bool, ...], now: float) -> bool:
    device.begin(states, now)
    return device.finish(now).fresh


def test_a_cycle_has_one_message() -> None:
    messages, device = sent()
    for step in range(5):
        assert cycle(device, (True, False, True), 0.002 * step)
    assert messages == ["050f0000000301" + "05", *["050200030002"] * 4]
    assert cycle(device, (False, False, True), 0.01)
    assert messages[-1] == "050f00000003" + "0104"
    assert cycle(device, (False, False, True), 0.012) and messages[-1] == "050200030002"
    assert cycle(device, (False, False, True), 0.2) and messages[-1] == "050f000000030104", "it is due"


def test_inputs_that_are_refused_grow_old_while_outputs_are_confirmed() -> None:
    refused = False
    twin = create_io_twin("modbus-io", {"host": "twin", "unit": UNIT, **CHANNELS}, BenchTerminals())

    def respond(frame: bytes) -> bytes:
        reply = twin.respond(frame)
        reads = frame[7] == 2
        return reply[:4] + bytes((0, 3, UNIT, 0x82, 4)) if refused and reads else reply

    block = {"host": "twin", "unit": UNIT, **CHANNELS, "open_wire": lambda _timeout: MemoryWire(respond)}
    device = create_io_device("modbus-io", block)
    device.connect(1.0)
    assert all(cycle(device, (True, False, True), 0.002 * step) for step in range(5))
    refused = True
    readings = []
    for step in range(5, 505):
        device.begin((step % 100 < 50, False, True), 0.002 * step)
        readings.append(device.finish(0.002 * step))
    assert not any(reading.fresh for reading in readings) and device.overdue
    assert readings[-1].age == pytest.approx(1.0)
    refused = False
    assert [cycle(device, (True, False, True), 1.01 + 0.002 * step) for step in range(3)][1:] == [True, True]


def test_coils_one_by_one() -> None:
    messages, device = sent(write=5)
    assert cycle(device, (True, False, True), 0.0)
    assert messages == ["05050000ff00", "050500010000", "05050002ff00"]


def test_outputs_apart_are_written_without_what_is_between() -> None:
    messages, device = sent(outputs=(0, 7, 8))
    assert cycle(device, (True, True, True), 0.0)
    assert messages == ["050f000000010101", "050f000700020103"]


def test_its_plan_on_a_line_is_its_longer_exchange() -> None:
    device = ModbusIo(ModbusIoOptions(device="twin", unit=UNIT, **CHANNELS))
    assert device.exchanges == [(10, 8)]
    assert device.line is not None


def test_a_refused_output_is_named() -> None:
    fewer = {"host": "twin", "unit": UNIT, "inputs": (3,), "outputs": (0,)}
    twin = create_io_twin("modbus-io", fewer, BenchTerminals())
    other = create_io_device(
        "modbus-io",
        {"host": "twin", "unit": UNIT, **CHANNELS, "open_wire": lambda _timeout: MemoryWire(twin.respond)},
    )
    other.connect(1.0)
    with pytest.raises(ProtocolError, match=r"refused a write of coils 0\.\.2: .*02"):
        other.configure()
    assert not cycle(other, (True, True, True), 0.0)
    assert (other.counters.exceptions, other.counters.exception_code) == (1, 2)


def test_a_confirmation_of_other_outputs_is_named() -> None:
    def respond(frame: bytes) -> bytes:
        return frame[:5] + b"\6" + frame[6:11] + bytes((frame[11] - 1,))

    device = create_io_device(
        "modbus-io", {"host": "twin", "unit": UNIT, **CHANNELS, "open_wire": lambda _timeout: MemoryWire(respond)}
    )
    device.connect(1.0)
    with pytest.raises(ProtocolError, match=r"answered a write of coils 0\.\.2 with something else: 05 0f 00 00 00 02"):
        device.configure()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"inputs": (1, 1)}, "inputs: channel 1 is there twice"),
        ({"read": "coils", "inputs": (1,), "outputs": (1,)}, "coil 1 is an input and an output"),
        ({"inputs": (0, 5000)}, "channels 0 to 5000, one request reads 2000"),
        ({"inputs": (), "outputs": ()}, "neither an input nor an output"),
        ({"watchdog": 1.0}, "watchdog and watchdog_register go together"),
        ({"watchdog": 0.01, "watchdog_register": 1}, r"watchdog 0.01 s is outside 0.1\.\.6553.5 s"),
    ],
)
def test_wrong_options_are_named(options: dict[str, object], text: str) -> None:
    with pytest.raises(ConfigurationError, match=text):
        create_io_device("modbus-io", {"host": "twin", **CHANNELS, **options})


# -- strangers ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def client() -> Iterator[tuple[ModbusTcpClient, BenchTerminals]]:
    terminals = BenchTerminals()
    twin = create_io_twin(
        "modbus-io",
        {"host": "twin", "unit": UNIT, **CHANNELS, "watchdog": 60.0, "watchdog_register": 4096},
        terminals,
    )
    with serving([twin]) as [(host, port)], ModbusTcpClient(host, port=port, timeout=PATIENCE, retries=0) as made:
        yield made, terminals


def test_a_foreign_client_reads_and_writes_the_twin(client: tuple[ModbusTcpClient, BenchTerminals]) -> None:
    master, terminals = client
    terminals.inputs = {4}
    assert master.read_discrete_inputs(3, count=2, device_id=UNIT).bits[:2] == [False, True]
    assert master.read_discrete_inputs(2, count=1, device_id=UNIT).exception_code == 2
    assert not master.write_coils(0, [True, False, True], device_id=UNIT).isError()
    assert terminals.outputs == {0, 2}
    assert master.read_coils(0, count=3, device_id=UNIT).bits[:3] == [True, False, True]
    assert not master.write_coil(0, False, device_id=UNIT).isError()
    assert terminals.outputs == {2}
    assert master.write_coils(1, [True] * 3, device_id=UNIT).exception_code == 2
    assert terminals.outputs == {2}, "a write is carried out as a whole or not at all"
    assert not master.write_register(4096, 600, device_id=UNIT).isError()
    assert master.read_holding_registers(4096, count=1, device_id=UNIT).registers == [600]
    assert master.write_register(4097, 1, device_id=UNIT).exception_code == 2


def test_our_driver_on_a_foreign_server() -> None:
    coils, inputs = [False] * 16, [False] * 16
    inputs[4] = True
    device = SimDevice(
        UNIT,
        (
            [SimData(0, values=coils, datatype=DataType.BITS)],
            [SimData(0, values=inputs, datatype=DataType.BITS)],
            [SimData(0, values=[0] * 4, datatype=DataType.REGISTERS)],
            [SimData(0, values=[0] * 4, datatype=DataType.REGISTERS)],
        ),
    )
    with Slave(lambda: ModbusTcpServer(device, address=("127.0.0.1", 0))) as slave:
        assert slave.server is not None
        port = slave.server.transport.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
        block = create_io_device("modbus-io", {"host": "127.0.0.1", "port": port, "unit": UNIT, **CHANNELS})
        block.connect(PATIENCE)
        try:
            block.identify()
            block.configure()
            for _ in range(3):
                now = time.monotonic()
                block.begin((True, False, True), now)
                reading = block.finish(now + PATIENCE)
                assert reading.fresh
            assert reading.inputs == (False, True)
        finally:
            block.close()
        with ModbusTcpClient("127.0.0.1", port=port, timeout=PATIENCE, retries=0) as master:
            assert master.read_coils(0, count=3, device_id=UNIT).bits[:3] == [True, False, True]


@pytest.mark.parametrize("outputs", [(0, 1, 2), (0, 8)], ids=["all at once", "in turn"])
def test_late_replies_of_a_block_are_late_and_not_invalid(outputs: tuple[int, ...]) -> None:
    """Reading and writing alternate, so that a late reply has another length than the one that is awaited."""
    device, twin = _slow_block(outputs)
    for cycle in range(1, 40):
        now = 0.01 * cycle
        twin.tick(now)
        device.begin([cycle // 3 % 2 == 0] * len(outputs), now)
        device.finish(now)
    counters = device.counters
    assert counters.late > 10 and counters.belated > 10 and counters.unusable == 0
    twin.clear("delay")
    for cycle in range(40, 60):
        twin.tick(0.01 * cycle)
        device.begin([False] * len(outputs), 0.01 * cycle)
        reading = device.finish(0.01 * cycle)
    assert reading.fresh and counters.unusable == 0


def _slow_block(outputs: tuple[int, ...]) -> tuple[IoDevice, FaultyDevice]:
    """A block over memory to its twin, which answers 12 ms late."""
    options = {"host": "twin", "inputs": tuple(range(30)), "outputs": outputs}
    twin = create_io_twin("modbus-io", options, BenchTerminals())
    wire = {"open_wire": lambda _timeout: MemoryWire(twin.respond, lambda: twin.due())}
    device = create_io_device("modbus-io", options | wire)
    device.connect(1.0)
    device.configure()
    twin.inject("delay", 0.012)
    return device, twin
