"""Somebody else's master on the simulators of shipped profiles: what it reads by their registers is what is there."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest
from drive_support import serving_at
from pymodbus.client import ModbusSerialClient
from pymodbus.client.mixin import ModbusClientMixin

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
    """As these makers' own software does; the driver reads the one word that says something."""
    profile = load_profile(name, ServoProfile)
    twin = create_twin("servo", {"device": "memory", "unit": UNIT, "profile": profile}, Leg(0.6))
    status, error = profile.feedback.status, profile.feedback.error
    assert status is not None and error is not None
    with opened(twin, tmp_path) as client:
        word = client.read_holding_registers(status.address, count=1, device_id=UNIT).registers[0]
        assert read(client, status.address & ~1, "u32", profile.word_order) == word
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
