"""What every virtual Modbus device must do, asked by somebody else's client over a real connection.

A twin without a maker here fails the first test: add one to `TWINS`.
"""

import inspect
import math
import socket
from collections.abc import Iterator

import pytest
from drive_support import PROFILE, serving
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pymodbus import FramerType
from pymodbus.client import ModbusTcpClient
from servo_profiles import profile

from actuators import (
    AmplifierProfile,
    DeviceLine,
    FaultyDevice,
    ModbusDevice,
    VirtualAmplifier,
    VirtualServo,
    load_profile,
)
from actuators.framing import crc16
from actuators.iai import VirtualRoboCylinder
from actuators.modbus_io import VirtualIo
from actuators.orca import VirtualOrca
from actuators.virtual.device import MBAP_FRAMING, RTU_FRAMING, VirtualDevice
from actuators.virtual.mapped_servo import VirtualMappedServo
from rig.testing import BenchLeg as Leg

AMPLIFIER = load_profile("generic-amplifier", AmplifierProfile)
UNIT = 3
TIMEOUT = 5.0


def servo(legs, wrong_unit="silent"):
    return VirtualServo(PROFILE.model_copy(update={"wrong_unit": wrong_unit}), legs[0], unit=UNIT)


def amplifier(legs, wrong_unit="silent"):
    return VirtualAmplifier(AMPLIFIER.model_copy(update={"wrong_unit": wrong_unit}), legs, unit=UNIT)


def orca(legs, wrong_unit="silent"):
    return VirtualOrca(legs[0], unit=UNIT)


def iai(legs, wrong_unit="silent"):
    return VirtualRoboCylinder(legs[0], unit=UNIT)


def mapped(legs, wrong_unit="silent"):
    apart = profile(functions={"gap": 0}, wrong_unit=wrong_unit)
    return VirtualMappedServo(apart, legs[0], unit=UNIT)


TWINS = {
    VirtualServo: servo,
    VirtualMappedServo: mapped,
    VirtualAmplifier: amplifier,
    VirtualOrca: orca,
    VirtualRoboCylinder: iai,
}
FIRST = {iai: 0x9000}
"""First register that there is, where that is not 0."""


def concrete(kind: type) -> Iterator[type]:
    each: type
    for each in kind.__subclasses__():
        yield from concrete(each)
        if not inspect.isabstract(each) and each.__module__.startswith("actuators."):  # not what another test has made
            yield each


def test_every_twin_is_enrolled():
    assert set(concrete(ModbusDevice)) - {VirtualIo} == set(TWINS)  # which has bits, see test_modbus_io


def connection(device: FaultyDevice | ModbusDevice, host: str, port: int) -> ModbusTcpClient:
    """Somebody else's client, in the frames of the device."""
    framer = FramerType.SOCKET if device.framing is MBAP_FRAMING else FramerType.RTU
    return ModbusTcpClient(host, port=port, timeout=TIMEOUT, retries=0, framer=framer)


@pytest.fixture
def legs():
    return [Leg() for _ in range(6)]


@pytest.fixture(params=TWINS.values(), ids=[kind.__name__ for kind in TWINS])
def make(request):
    return request.param


@pytest.fixture
def client(make, legs):
    device = make(legs)
    with serving([device]) as [(host, port)], connection(device, host, port) as client:
        yield client


def test_identity_is_text_or_a_number(client, make):
    if make is iai:
        return  # it says neither
    if make is orca:
        assert client.read_holding_registers(406, count=3, device_id=UNIT).registers == [1, 0, 6]
        return
    registers = client.read_holding_registers(300, count=28, device_id=UNIT).registers
    text = b"".join(word.to_bytes(2, "big") for word in registers)
    assert text.startswith(b"stewart-rig\0")
    inputs = client.read_input_registers(300, count=28, device_id=UNIT)
    if make is mapped:
        assert inputs.exception_code == 1  # its profile names none
    else:
        assert inputs.registers == registers


def test_exceptions(client, make):
    assert client.read_coils(0, count=1, device_id=UNIT).exception_code == (2 if make is iai else 1)  # it has others
    assert client.read_holding_registers(5000, count=1, device_id=UNIT).exception_code == 2
    assert client.read_holding_registers(65535, count=2, device_id=UNIT).exception_code == 2
    first = FIRST.get(make, 0)
    assert client.write_register(300, 1, device_id=UNIT).exception_code == 2
    assert client.write_registers(300, [1, 2], device_id=UNIT).exception_code == 2
    reply = client.readwrite_registers(read_address=first, read_count=1, write_address=300, values=[1], device_id=UNIT)
    assert reply.exception_code == 2


def raw(device: ModbusDevice | VirtualDevice | FaultyDevice, pdu: str, unit: int = UNIT) -> str:
    data = bytes((unit,)) + bytes.fromhex(pdu)
    if device.framing is MBAP_FRAMING:
        return device.respond(b"\0\1\0\0" + len(data).to_bytes(2, "big") + data)[7:].hex()
    return device.respond(data + crc16(data))[1:-2].hex()


def test_another_unit_is_not_answered_or_by_the_gateway(make, legs):
    assert raw(make(legs), "03 0000 0001", unit=UNIT + 1) == ""
    if make in (servo, amplifier, mapped):
        assert raw(make(legs, "gateway"), "03 0000 0001", unit=UNIT + 1) == "830b"


def test_values_without_number_do_not_stop_it(make, legs):
    device = make(legs)
    for value in (math.nan, math.inf, -math.inf, 1e300):
        for leg in legs:
            leg.cell = leg.length = leg.velocity = value
        device.tick(device.now + 1.0)
        assert raw(device, f"03 {FIRST.get(make, 0):04x} 000b").startswith("0316")


def test_wire_faults_work_on_it(make, legs):
    faults = FaultyDevice(make(legs))
    faults.inject("busy")
    with serving([faults]) as [(host, port)], connection(faults, host, port) as client:
        assert client.read_holding_registers(0, count=1, device_id=UNIT).exception_code == 6
        faults.clear("busy")
        assert not client.read_holding_registers(FIRST.get(make, 0), count=1, device_id=UNIT).isError()


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(min_size=1, max_size=300), max_size=4))
def test_any_bytes_over_tcp_leave_it_serving(client, make, chunks):
    address = client.comm_params.host, client.comm_params.port
    with socket.create_connection(address, TIMEOUT) as stranger:
        try:
            for chunk in chunks:
                stranger.sendall(chunk)
            stranger.shutdown(socket.SHUT_WR)
            while stranger.recv(4096):
                pass
        except OSError:
            pass  # dropped for what it sent
    assert not client.read_holding_registers(FIRST.get(make, 0), count=1, device_id=UNIT).isError()


@pytest.mark.parametrize("function", [0x80, 0x83, 0x90, 0xE4, 0xFF])
def test_a_function_that_is_a_replys_is_not_answered(make, legs, function):
    """An exception to it would read as one to another function."""
    device = FaultyDevice(make(legs, "gateway"))
    for fault in ("", "busy"):
        if fault:
            device.inject(fault)
        for unit in (UNIT, UNIT + 1):
            assert raw(device, f"{function:02x} 0000 0001", unit=unit) == ""
    assert raw(device.device, "63").startswith("e301"), "one up to 127 that it does not know is refused"


BROADCAST = {
    servo: ("10 00c8 0001 02 0028", "03 00c8 0001", "03020028"),
    mapped: ("10 00c8 0001 02 0028", "03 00c8 0001", "03020028"),
    orca: ("06 00a3 0028", "03 00a3 0001", "03020028"),
    iai: ("05 0427 ff00", "03 9007 0001", "03020100"),
}
"""A write to unit 0, a question, and its answer after it; an amplifier takes none."""


def on_a_line(device: ModbusDevice) -> ModbusDevice:
    if device.framing is MBAP_FRAMING:
        device.framing = RTU_FRAMING
    return device


def test_a_broadcast_on_a_line_is_carried_out_by_all_and_answered_by_none(make, legs):
    twins = [FaultyDevice(on_a_line(make(legs))) for _ in range(3)]
    for number, twin in enumerate(twins):
        twin.device.unit = UNIT + number
    twins[2].inject("busy")
    line = DeviceLine(twins)
    write, question, answer = BROADCAST.get(make, ("06 0000 0001", "03 0000 0001", ""))
    before = raw(twins[2].device, question, UNIT + 2)
    for pdu in (question, "63", "06 ffff 0001", "17 0000 0001 00c8 0001 02 0063", write):
        data = b"\0" + bytes.fromhex(pdu)
        assert line.respond(data + crc16(data)) == b""
    for number, twin in enumerate(twins[:2]):
        assert raw(twin.device, question, UNIT + number).startswith(answer)
    assert raw(twins[2].device, question, UNIT + 2) == before, "one that is busy does not carry it out"


def test_unit_0_of_modbus_tcp_is_a_unit_like_others(legs):
    device = servo(legs)
    assert raw(device, "10 00c8 0001 02 0028", unit=0) == ""
    assert raw(device, "03 00c8 0001") == "03020000"
