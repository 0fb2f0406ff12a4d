"""Somebody else's master on the simulators of shipped profiles: what it reads by their registers is what is there."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest
from drive_support import serving_at
from pymodbus.client import ModbusSerialClient
from pymodbus.client.mixin import ModbusClientMixin
from pymodbus.pdu.diag_message import DiagnosticBase
from pymodbus.pdu.mei_message import ReadDeviceInformationResponse
from waiting import eventually

from actuators import (
    AmplifierProfile,
    DeviceLine,
    FaultyDevice,
    SerialEndpoint,
    ServoProfile,
    create_cell_twin,
    create_twin,
    load_profile,
    servo_profiles,
    shipped_profiles,
)
from actuators.register_map import MappedCodec
from rig.testing import BenchLeg as Leg

TIMEOUT = 5.0
UNIT = 7
BAUD = 115_200


SERVOS = [*servo_profiles()]
AMPLIFIERS = [name for name in shipped_profiles() if name not in SERVOS]
DATATYPE = ModbusClientMixin.DATATYPE
KINDS = {"i32": DATATYPE.INT32, "u32": DATATYPE.UINT32, "f32": DATATYPE.FLOAT32}


@contextmanager
def opened(twin: FaultyDevice, folder: Path) -> Iterator[ModbusSerialClient]:
    """A master at the twin's serial port."""
    port = SerialEndpoint(str(folder / "line"), BAUD)
    with (
        serving_at([(port, DeviceLine([twin]))], tick=2e-4),
        ModbusSerialClient(port.device, baudrate=BAUD, timeout=TIMEOUT, retries=0) as client,
    ):
        yield client


def read(client: ModbusSerialClient, address: int, kind: str, order: str, function: int = 3) -> float:
    """A register's raw value, unpacked by the master."""
    words: Literal["big", "little"] = "little" if order == "little" else "big"
    ask = client.read_input_registers if function == 4 else client.read_holding_registers
    reply = ask(address, count=KINDS[kind].value[1], device_id=UNIT)
    assert not reply.isError(), reply
    value = client.convert_from_registers(list(reply.registers), KINDS[kind], word_order=words)
    assert isinstance(value, int | float)
    return value


@pytest.mark.parametrize("name", SERVOS)
def test_a_master_reads_where_the_leg_of_a_servo_is(name: str, tmp_path: Path) -> None:
    leg, profile = Leg(0.6), load_profile(name, ServoProfile)
    twin = create_twin("servo", {"device": "memory", "unit": UNIT, "profile": profile}, leg)
    position = profile.feedback.position
    with opened(twin, tmp_path) as client:
        leg.length = 0.6125
        raw = read(client, position.address, position.type, profile.word_order, profile.functions.read)
        assert raw * position.scale == pytest.approx(0.0125, abs=abs(position.scale)), "from where it was switched on"
        assert client.read_holding_registers(60000, count=1, device_id=UNIT).exception_code == 2


@pytest.mark.parametrize("name", ["delta-asda-a2", "lexium-32", "oriental-az"])
def test_a_master_reads_whole_parameters_of_two_registers(name: str, tmp_path: Path) -> None:
    """As these makers' own software does. A Lexium has no halves of them."""
    profile = load_profile(name, ServoProfile)
    twin = create_twin("servo", {"device": "memory", "unit": UNIT, "profile": profile}, Leg(0.6))
    status, error = profile.feedback.status, profile.feedback.error
    assert status is not None and error is not None
    with opened(twin, tmp_path) as client:
        word = int(read(client, status.address & ~1, "u32", profile.word_order))
        half = client.read_holding_registers(status.address, count=1, device_id=UNIT)
        if name == "lexium-32":
            assert half.exception_code == 2
            for first, count in ((status.address, 2), (status.address & ~1, 3)):
                assert client.read_holding_registers(first, count=count, device_id=UNIT).exception_code == 2
            assert client.write_registers(6919, [6], device_id=UNIT).exception_code == 2
            assert client.write_registers(6918, [0, 6], device_id=UNIT).exception_code == 0
        else:
            assert half.registers == [word]
        assert read(client, error.address & ~1, "u32", profile.word_order) == 0
        assert client.write_register(status.address ^ 1, 1, device_id=UNIT).exception_code == 2


@pytest.mark.parametrize("name", AMPLIFIERS)
def test_a_master_reads_the_force_of_every_cell(name: str, tmp_path: Path) -> None:
    profile = load_profile(name, AmplifierProfile)
    legs = [Leg() for _ in profile.reading.forces]
    for number, leg in enumerate(legs):
        leg.cell = 50.0 - 30.0 * number
    twin = create_cell_twin("modbus", {"device": "memory", "unit": UNIT, "profile": name}, legs)
    with opened(twin, tmp_path) as client:
        for number, (leg, register) in enumerate(zip(legs, profile.reading.forces, strict=True)):
            raw = read(client, register.address, register.type, profile.word_order)
            force = abs(leg.cell) if profile.reading.negative else leg.cell
            assert raw * register.scale == pytest.approx(force, abs=register.scale), f"channel {number + 1}"


class Master:
    """Another make's master of a drive, which reads and writes whole parameters."""

    def __init__(self, client: ModbusSerialClient, leg: Leg, order: str) -> None:
        self.client, self.leg, self.order = client, leg, order

    def get(self, address: int) -> int:
        return int(read(self.client, address, "i32", self.order))

    def put(self, address: int, *values: int) -> None:
        order: Literal["big", "little"] = "little" if self.order == "little" else "big"
        words = [self.client.convert_to_registers(value, KINDS["i32"], word_order=order) for value in values]
        assert not self.client.write_registers(address, list(itertools.chain(*words)), device_id=UNIT).isError()

    def settle(self, address: int, bits: int, what: str) -> None:
        """Let the leg go where it is sent, and wait until the status has these bits."""

        def settled() -> bool:
            self.leg.settle()
            return self.get(address) & bits == bits

        eventually(settled, what, TIMEOUT)


def stop(master: Master, status: int, control: int, on: int, quick_stop: int, move: Callable[[int], None]) -> int:
    """Stop a move, and go on by another one after it; the status while it was stopped."""
    leg = master.leg
    move(300)
    leg.velocity = 0.2
    master.put(control, on | quick_stop)
    assert leg.quick_stop
    leg.length, leg.velocity = 0.6525, 0.0
    eventually(lambda: not leg.quick_stop, "rest", TIMEOUT)
    assert leg.enabled and not leg.brake, "it stands under torque"
    stopped = master.get(status)
    move(300)
    assert leg.position == pytest.approx(0.6525)
    master.put(control, on)
    assert leg.position == pytest.approx(0.6525), "the move is over"
    move(200)
    eventually(lambda: leg.position == pytest.approx(0.652), "the ramp's end", TIMEOUT)
    return stopped


def lexium(master: Master) -> None:
    control, status, mode = 6914, 6916, 6918
    master.put(mode, 1)
    for word, state in ((6, 0x0231), (7, 0x0233), (15, 0x0237)):
        master.put(control, word)
        assert master.get(status) & 0x027F == state, "remote, voltage"
    master.put(mode, 6)
    master.put(control, 0x1F)
    assert not master.get(status) & 0x9400
    master.settle(status, 0x9400, "homing attained, target reached, reference valid")
    master.put(control, 0x0F)
    master.put(mode, 1)
    assert not master.get(status) & 0x1000
    master.put(6940, round(2e-3 / 3.0517578125e-7), 3000)
    master.put(control, 0x1F)
    assert master.get(status) & 0x1400 == 0x1000, "acknowledged without the bit for a change at once, and under way"
    master.put(control, 0x0F)
    assert not master.get(status) & 0x1000
    master.settle(status, 0x0400, "target reached")
    identity = master.client.read_device_information(read_code=1, device_id=UNIT)
    assert isinstance(identity, ReadDeviceInformationResponse) and identity.information[0] == b"stewart-rig"


def oriental(master: Master) -> None:
    control, status = 0x7C, 0x7E
    master.put(control, 1 << 6)
    master.settle(status, 0x21, "excited, ready")
    assert master.get(0xD6) == 120, "0.1 % of the rated torque at 60 N"
    master.put(control, 1 << 6 | 1 << 4)
    assert not master.get(status) & 0x30, "it searches the reference"
    master.settle(status, 0x30, "reference found, ready")
    master.put(control, 1 << 6)

    def move(steps: int) -> None:
        master.put(0x58, 0, 1, steps, 5000, 1_000_000, 1_000_000, 1000, 1)

    move(200)
    assert not master.get(status) & 1 << 14
    master.settle(status, 1 << 14, "in position")
    assert stop(master, status, control, 1 << 6, 1 << 5, move) & 0x21 == 1, "excited, not ready"
    master.settle(status, 1 << 14, "in position")
    master.put(0x5C, 300)
    master.put(control, 1 << 6)
    assert master.leg.position == pytest.approx(0.652), "nothing moves without a trigger"
    echo = master.client.diag_query_data(b"\x12\x34", device_id=UNIT)
    assert isinstance(echo, DiagnosticBase) and echo.message == b"\x12\x34"
    both = master.client.readwrite_registers(
        read_address=status, read_count=2, write_address=control, values=[0, 1 << 6], device_id=UNIT
    )
    assert both.registers[1] & 1


def delta(master: Master) -> None:
    control, status = 0x040E, 0x005C
    for address, value in ((0x023C, 5), (0x030C, 0x3F), (0x0022, 0), (0x0024, 0x36)):
        master.put(address, value)
    assert master.get(0x0000) == 1, "firmware"
    assert master.get(status) & 1, "servo ready"
    master.put(control, 1)
    assert master.get(status) & 2
    assert master.get(0x14) == 12, "% of the rated torque at 60 N"
    master.put(control, 0x11)
    master.settle(status, 0x110, "reference found, in position")
    master.put(control, 1)

    def move(steps: int) -> None:
        stopped = master.get(control) & 1 << 5
        master.put(0x0606, steps * 1000)
        for word in (9, 0x0D, 9):
            master.put(control, word | stopped)

    move(200)
    assert not master.get(status) & 1 << 4
    master.settle(status, 1 << 4, "in position")
    assert stop(master, status, control, 9, 1 << 5, move) & 3 == 3, "servo ready, servo on"
    master.settle(status, 1 << 4, "in position")


@pytest.mark.parametrize(
    ("name", "sequence"), [("lexium-32", lexium), ("oriental-az", oriental), ("delta-asda-a2", delta)]
)
def test_a_master_that_waits_for_what_the_makers_manual_says_moves_the_drive(
    name: str, sequence: Callable[[Master], None], tmp_path: Path
) -> None:
    leg, profile = Leg(0.6, home=0.65), load_profile(name, ServoProfile)
    options = {"device": "memory", "unit": UNIT, "profile": profile, "position_offset": 0.65}
    with opened(create_twin("servo", options, leg), tmp_path) as client:
        sequence(Master(client, leg, profile.word_order))
        position = profile.feedback.position
        eventually(lambda: leg.position == pytest.approx(0.652, abs=abs(position.scale)), "the ramp's end", TIMEOUT)
        leg.settle()
        assert read(client, position.address, position.type, profile.word_order) * position.scale == pytest.approx(
            2e-3, abs=abs(position.scale)
        )
    assert leg.length == pytest.approx(0.652, abs=abs(position.scale))


@pytest.mark.parametrize("name", ["delta-asda-a2", "lexium-32", "oriental-az"])
def test_the_driver_reads_whole_parameters(name: str) -> None:
    """A Lexium knows no others."""
    profile = load_profile(name, ServoProfile)
    reads = MappedCodec(profile, UNIT).reads
    assert all(one.address % 2 == 0 and one.count % 2 == 0 for one in reads)
    assert all(profile.feedback.position.address != one.address + 1 for one in reads)
