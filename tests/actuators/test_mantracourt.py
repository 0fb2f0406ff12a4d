"""Mantracourt's modules: what is said over a line, and what is taken for a force."""

import math

import pytest
from drive_support import ScriptedCell
from hypothesis import given
from hypothesis import strategies as st
from pymodbus.framer import FramerRTU

from actuators import ConfigurationError, DeviceLine, MemoryWire, create_cell_device, create_cell_twin
from actuators.ascii_cell import AsciiLine
from actuators.bus import Buses
from actuators.mantracourt import VirtualMantracourt
from rig.testing import BenchLeg as Leg


def scripted(**options: object) -> ScriptedCell:
    module = ScriptedCell("mantracourt", name="cell 3", **{"unit": 3} | options)
    module.device.connect(1.0)
    return module


def test_the_makers_example() -> None:
    bench = scripted(unit=1)
    assert bench.read(b"+00032.100\r").forces == (32.1,)
    assert bench.requests == [b"!001:SYS?\r"]
    leg = Leg()
    leg.cell = 32.1
    assert VirtualMantracourt(leg).respond(b"!001:SYS?\r") == b"+00032.100\r"


@pytest.mark.parametrize(
    ("answer", "force"),
    [(b"-00012.500\r", 24.5), (b"+00000.000\r", 0.0), (b"+7\r", -13.72), (b"?\r", math.nan)],
)
def test_forces_are_scaled_and_signed(answer: bytes, force: float) -> None:
    reading = scripted(scale=-1.96).read(answer)
    assert reading.fresh and reading.forces == pytest.approx((force,), nan_ok=True)


@pytest.mark.parametrize(
    "answer",
    [b"", b"+00032.1", b"\r", b"00032.100\r", b"+0003q.100\r", b"+00032.\r", b"nan\r", b"+1e9\r", b"x" * 40, b"+inf\r"],
)
def test_what_is_no_number_is_no_reading(answer: bytes) -> None:
    bench = scripted()
    bench.read(b"+00010.000\r")
    reading = bench.read(answer)
    assert not reading.fresh and reading.forces == (10.0,)
    counters = bench.device.counters
    assert counters.received == 1 and counters.late + counters.rejected >= 1


@given(st.binary(max_size=40))
def test_any_bytes_are_a_number_or_none(data: bytes) -> None:
    bench = scripted()
    reading = bench.read(data)
    head = data.partition(b"\r")[0].decode("latin-1")
    if reading.fresh and head != "?":
        assert reading.forces == (float(head),)
    else:
        assert math.isnan(reading.forces[0])


@given(st.binary(max_size=40))
def test_any_bytes_may_reach_the_twin(data: bytes) -> None:
    framing = VirtualMantracourt(Leg()).framing
    size = framing.length(data)
    assert -1 <= size <= len(data)
    if size > 0:
        VirtualMantracourt(Leg()).respond(data[:size])
    assert AsciiLine().frame(data) == data


def test_the_twin_answers_its_own_number_and_refuses_what_it_does_not_know() -> None:
    module = VirtualMantracourt(Leg(), unit=7)
    assert module.respond(b"!008:SYS?\r") == b"" and module.respond(b"!000:SYS?\r") == b""
    for request in (b"!007:TEMP?\r", b"!007:BAUD=3\r", b"!007:SYS=1.5\r", b"!007:RST\r", b"!007:SYS\r"):
        assert module.respond(request) == b"?\r"
        assert module.respond(request.replace(b"007", b"000")) == b"", "a broadcast is not answered"
    assert module.respond(b"!007:SYS?\r") == b"+00100.000\r"


def test_several_on_one_line() -> None:
    legs = [Leg() for _ in range(3)]
    options = [{"name": f"cell {unit}", "device": "memory", "unit": unit} for unit in (1, 2, 3)]
    line = DeviceLine([create_cell_twin("mantracourt", one, [leg]) for one, leg in zip(options, legs, strict=True)])
    shared = {"buses": Buses(), "open_wire": lambda _: MemoryWire(line.respond)}
    devices = [create_cell_device("mantracourt", one | shared) for one in options]
    for device, leg, cell in zip(devices, legs, (11.0, -22.0, 33.0), strict=True):
        device.connect(1.0)
        leg.cell = cell
    for device in devices:
        device.begin(0.002)
    assert [device.finish(0.002).forces for device in devices] == [(11.0,), (-22.0,), (33.0,)]


@pytest.mark.parametrize(
    ("options", "said"), [({"unit": 0}, "unit: 0 is outside 1..255"), ({"scale": 0.0}, "scale: 0")]
)
def test_options_that_it_cannot_have(options: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        create_cell_device("mantracourt", {"device": "memory"} | options)


def checked(text: str) -> bytes:
    """A frame of Modbus RTU, by what is in it in hexadecimal digits."""
    data = bytes.fromhex(text)
    return data + FramerRTU.compute_CRC(data).to_bytes(2, "big")


def test_in_modbus_a_value_is_a_float_at_twice_its_number_with_the_low_word_first() -> None:
    """The maker's example, 1.23 as number 28 of unit 4; checksums by pymodbus."""
    module = ScriptedCell("mantracourt", unit=4, modbus_number=28, scale=2.0)
    module.device.connect(1.0)
    reading = module.read(checked("04 03 04 70a4 3f9d"))
    assert module.requests == [checked("04 03 0038 0002")]
    assert reading.fresh and reading.forces == pytest.approx((2.46,), rel=1e-7)
    leg = Leg()
    leg.cell = 2.46
    twin = create_cell_twin("mantracourt", {"device": "a", "unit": 4, "modbus_number": 28, "scale": 2.0}, [leg])
    assert twin.respond(checked("04 03 0038 0002")) == checked("04 03 04 70a4 3f9d")
    assert twin.respond(checked("04 03 0039 0002")) == checked("04 83 02")
    assert twin.respond(checked("05 03 0038 0002")) == b""


def test_in_modbus_nothing_damaged_is_a_reading() -> None:
    module = ScriptedCell("mantracourt", unit=4, modbus_number=28)
    module.device.connect(1.0)
    assert not module.read(bytes.fromhex("04 03 04 70a4 3f9d 0000")).fresh and module.device.counters.crc == 1


@pytest.mark.parametrize(
    ("given", "said"), [({"modbus_number": 40000}, "modbus_number"), ({"modbus_number": 3, "unit": 248}, "1..247")]
)
def test_what_no_module_has_is_refused(given: dict[str, int], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        create_cell_device("mantracourt", {"device": "a", **given})


def test_modules_that_speak_otherwise_do_not_share_a_line() -> None:
    buses = Buses()
    create_cell_device("mantracourt", {"device": "a", "unit": 1, "buses": buses})
    with pytest.raises(ConfigurationError, match="cannot share it"):
        create_cell_device("mantracourt", {"device": "a", "unit": 2, "modbus_number": 3, "buses": buses})
