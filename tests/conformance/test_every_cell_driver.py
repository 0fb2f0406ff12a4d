"""What every registered driver of load cells must do, whatever its protocol: each is run against its own virtual twin.

A driver that is registered but has no place here fails the first test: add one to `PLACES`.
"""

import math
from typing import Any

import pytest
from drive_support import Leg, alike

from actuators import (
    CellDevice,
    CellOptions,
    ConfigurationError,
    ConnectError,
    DeviceReading,
    DriveAddress,
    Identity,
    MemoryWire,
    cell_driver_names,
    create_cell_device,
    create_cell_twin,
    find_cell_driver,
)

_CELL = {"profile": "generic-cell"}
_LINE = {"device": "twin", "unit": 9}
PLACES: dict[str, list[dict[str, Any]]] = {
    "loadstar": [{"device": "twin", "stream": False}, {"device": "twin", "polarity": -1}, {"host": "twin"}],
    "mantracourt": [
        {"device": "twin", "unit": 9},
        {"device": "twin", "unit": 200, "scale": -9.80665},
        {"device": "twin", "unit": 9, "modbus_number": 28, "scale": -9.80665},
        {"host": "twin", "unit": 247, "modbus_number": 0},
    ],
    "modbus": [{"host": "twin"}, {"host": "twin", **_CELL}, _LINE, _LINE | _CELL, _LINE | {"profile": "laumas"}],
}
"""Driver → options of its devices, of each number of cells and each kind of wire."""
STEPS = {"laumas": 0.05}
"""What a device resolves, N, by its profile; else 0.01."""
LACKS = {
    "laumas": {"identity", "sample"},
    "mantracourt": {"identity", "sample"},
    "loadstar": {"identity", "sample", "validity"},
}
"""What it does not say, by its profile or else its driver: who it is, whether it has converted, that there is none."""


class Bench:
    """A device of cells over its twin in the same process, on a clock that only `read` moves."""

    def __init__(self, driver: str, place: dict[str, Any], **options: Any) -> None:
        self.now = 0.0
        self.step = STEPS.get(place.get("profile", ""), 0.01)
        self.lacks = LACKS.get(place.get("profile", driver), set())
        given = {"name": "cells 7", **place, **options}
        self.device = create_cell_device(
            driver, {"open_wire": lambda timeout: MemoryWire(self.respond, lambda: self.twin.due()), **given}
        )
        self.by_itself = not self.device.exchanges
        """whether it is asked for nothing in a cycle, and talks at its own pace"""
        self.cycle = 0.01 if self.by_itself else 0.002
        """s"""
        self.legs = [Leg() for _ in range(self.device.channels)]
        self.twin = create_cell_twin(driver, given, self.legs)
        self.device.connect(1.0)

    def respond(self, data: bytes) -> bytes:
        return self.twin.respond(data)

    def read(self) -> DeviceReading:
        """One cycle."""
        self.now += self.cycle
        self.twin.tick(self.now)
        self.device.begin(self.now)
        return self.device.finish(self.now)


def test_every_registered_driver_is_enrolled() -> None:
    missing = set(cell_driver_names()) - set(PLACES)
    assert not missing, f"cell drivers without a place in PLACES: {', '.join(sorted(missing))}"


@pytest.mark.parametrize("name", cell_driver_names())
def test_what_is_registered_is_whole(name: str) -> None:
    """What the configuration, the virtual rig and `rig doctor` ask of a driver."""
    driver = find_cell_driver(name)
    addresses = (driver.address, driver.cell_address)
    fields = {field for address in addresses for field in address.model_fields}
    lacking = [
        text
        for text, there in (
            ("an address with fields of its own", fields - {"unit"}),
            ("files that its addresses name", set(driver.files) <= fields),
            ("options that take its address", {*fields, *CellOptions.model_fields} <= set(driver.options.model_fields)),
            ("its address's defaults in its options", alike(driver.address, driver.options)),
            ("an identity", all(address.identity is not DriveAddress.identity for address in addresses)),
            ("a place for messages", all(address.place is not DriveAddress.place for address in addresses)),
            ("a virtual twin", driver.twin),
            ("documented fields", all(model.__doc__ for model in (*addresses, driver.options))),
        )
        if not there
    ]
    assert not lacking, f"cell driver {name} lacks {', '.join(lacking)}: see docs/adding-a-device.md"


@pytest.fixture(params=[(name, place) for name, places in PLACES.items() for place in places], ids=str)
def bench(request: pytest.FixtureRequest) -> Bench:
    return Bench(*request.param)


def test_describes_itself(bench: Bench) -> None:
    assert isinstance(bench.device, CellDevice) and bench.device.name == "cells 7" and bench.device.channels in (1, 6)
    identity = bench.device.identify()
    assert isinstance(identity, Identity) and identity.product
    assert (identity.vendor and identity.serial) or "identity" in bench.lacks


@pytest.mark.parametrize("name", cell_driver_names())
def test_options_that_are_wrong_are_refused_in_words(name: str) -> None:
    wrong = {"name": "cells 7", "no_such_option": 1}
    with pytest.raises(ConfigurationError, match=r"(?s)cells 7: options of cell driver .*no_such_option"):
        create_cell_device(name, wrong)
    with pytest.raises(ConfigurationError, match="no_such_option"):
        create_cell_twin(name, wrong, [])


def test_forces_are_in_newtons_by_channel(bench: Bench) -> None:
    for channel, leg in enumerate(bench.legs):
        leg.cell = 100.0 - 37.5 * channel
    reading = bench.read()
    assert (reading.fresh, reading.age) == (True, 0.0) and not bench.device.overdue and not bench.device.standing
    assert reading.forces == pytest.approx(
        [100.0 - 37.5 * channel for channel in range(len(bench.legs))], abs=bench.step
    )
    for leg in bench.legs:
        leg.cell = -leg.cell
    assert bench.read().forces == pytest.approx([-force for force in reading.forces], abs=bench.step)


def test_nothing_received_yet_is_no_number(bench: Bench) -> None:
    bench.twin.inject("drop_all")
    reading = bench.read()
    if bench.by_itself:
        assert reading.fresh and math.isfinite(reading.forces[0])  # as it was begun to be listened to
        return
    assert not reading.fresh and len(reading.forces) == len(bench.legs) and all(map(math.isnan, reading.forces))


def test_a_cell_without_a_value_is_no_number(bench: Bench) -> None:
    bench.read()
    bench.legs[-1].cell = math.nan
    reading = bench.read()
    if "validity" in bench.lacks:
        assert not reading.fresh
        return
    assert reading.fresh and math.isnan(reading.forces[-1]) and not any(map(math.isnan, reading.forces[:-1]))


@pytest.mark.parametrize("fault", ["drop_all", "delay", "bit_flip", "busy", "close"])
def test_a_wire_that_fails_leaves_the_last_values_and_never_raises(bench: Bench, fault: str) -> None:
    good = bench.read()
    received = bench.device.counters.received
    bench.twin.inject(fault, 1.0 if fault == "delay" else None)
    for cycle in range(1, 6):
        reading = bench.read()
        assert (reading.forces, reading.fresh) == (good.forces, False) and reading.age == pytest.approx(
            bench.cycle * cycle
        )
        assert bench.device.overdue and bench.device.counters.received == received
    bench.twin.clear(fault)
    if fault == "close":
        assert not bench.device.connected
        bench.device.connect(1.0)
    for _ in range(3):
        reading = bench.read()
    assert reading.fresh


def test_a_device_that_hangs_is_told_from_cells_at_rest(bench: Bench) -> None:
    bench.read()
    assert bench.read().fresh
    if "sample" in bench.lacks:
        return  # nothing tells it from cells at rest
    bench.twin.inject("hang")
    for _ in range(3):
        reading = bench.read()
    assert not reading.fresh and bench.device.standing


def test_a_slower_device_is_asked_at_its_own_pace() -> None:
    for name, places in PLACES.items():
        bench = Bench(name, places[0], sample_period=0.01)
        seen = [bench.read() for _ in range(20)]
        assert sum(reading.fresh for reading in seen) == bench.device.counters.sent == 4
        assert max(reading.age for reading in seen) == pytest.approx(0.008)


def test_closing_and_reconnecting(bench: Bench) -> None:
    bench.device.close()
    bench.device.close()
    assert not bench.device.connected and not bench.read().fresh
    with pytest.raises(ConnectError, match="cells 7"):
        bench.device.identify()
    bench.device.connect(1.0)
    assert bench.device.connected and bench.read().fresh


@pytest.mark.parametrize("name", cell_driver_names())
def test_a_twin_reads_as_many_cells_as_its_device(name: str) -> None:
    for place in PLACES[name]:
        with pytest.raises(ConfigurationError, match="cells, not 3"):
            create_cell_twin(name, {"name": "cells 7", **place}, [Leg()] * 3)
