"""The conformance suite of a driver of devices that read load cells, over its own twin."""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from actuators import (
    CellDevice,
    CellOptions,
    ConfigurationError,
    ConnectError,
    DeviceReading,
    create_cell_device,
    create_cell_twin,
    find_cell_driver,
)
from rig.testing.benches import BenchLeg, CellBench, MakeCellBench, cell_benches
from rig.testing.declaration import incomplete, lacking, refusal, unknown_option, wrong_kind
from rig.testing.failure import Failure, on_bench, on_every_bench, run_checks
from rig.testing.twins import survives_any_bytes, survives_no_numbers, within_modbus_bounds

_NAME = "cells 7"


def _unlike(found: tuple[float, ...], wanted: list[float], step: float) -> bool:
    return len(found) != len(wanted) or not all(
        abs(one - other) <= step for one, other in zip(found, wanted, strict=True)
    )


def _declared(bench: CellBench) -> Iterator[str]:
    driver = find_cell_driver(bench.driver)
    yield from lacking(driver, [driver.address, driver.cell_address], CellOptions, files=driver.files)


def _describes_itself(bench: CellBench) -> Iterator[str]:
    device = bench.device
    if wrong := wrong_kind("it", device, CellDevice):
        yield wrong
    if device.name != _NAME:
        yield f"its name is {device.name!r}, its options say {_NAME!r}"
    if device.channels not in (1, 6):
        yield f"it reads {device.channels} cells, must be 1 or 6"
    yield from incomplete(device.identify(), bench.lacks)


def _refuses_options(bench: CellBench) -> Iterator[str]:
    yield from unknown_option(
        partial(create_cell_device, bench.driver), lambda options: create_cell_twin(bench.driver, options, [])
    )


def _newtons(bench: CellBench) -> Iterator[str]:
    wanted = [100.0 - 37.5 * channel for channel in range(len(bench.legs))]
    for sign in (1.0, -1.0):
        for leg, force in zip(bench.legs, wanted, strict=True):
            leg.cell = sign * force
        reading = bench.read()
        if (reading.fresh, reading.age) != (True, 0.0) or bench.device.overdue or bench.device.standing:
            yield f"a good reading is {reading}, overdue={bench.device.overdue}, standing={bench.device.standing}"
        if _unlike(reading.forces, [leg.cell for leg in bench.legs], bench.step):
            yield f"it reads {reading.forces} N, the cells have {[leg.cell for leg in bench.legs]} N"


def _nothing_received(bench: CellBench) -> Iterator[str]:
    bench.twin.inject("drop_all")
    reading = bench.read()
    if bench.by_itself:
        if not (reading.fresh and math.isfinite(reading.forces[0])):  # as it was begun to be listened to
            yield f"nothing is lost yet, and it reads {reading}"
    elif reading.fresh or len(reading.forces) != len(bench.legs) or not all(map(math.isnan, reading.forces)):
        yield f"nothing was received yet, and it reads {reading}"


def _no_value(bench: CellBench) -> Iterator[str]:
    bench.read()
    bench.legs[-1].cell = math.nan
    reading = bench.read()
    if "validity" in bench.lacks:
        if reading.fresh:
            yield f"a cell has no value, which the device does not say, and it reads {reading}"
    elif not reading.fresh or not math.isnan(reading.forces[-1]) or any(map(math.isnan, reading.forces[:-1])):
        yield f"its last cell has no value, and it reads {reading}"


def _wire_fault(fault: str, bench: CellBench) -> Iterator[str]:
    device, good = bench.device, bench.read()
    received = device.counters.received
    bench.twin.inject(fault, 1.0 if fault == "delay" else None)
    for cycle in range(1, 6):
        reading = bench.read()
        if (reading.forces, reading.fresh) != (good.forces, False) or abs(reading.age - bench.cycle * cycle) > 1e-6:
            yield f"cycle {cycle} of the fault: {reading}, before it {good}"
        if not device.overdue or device.counters.received != received:
            yield f"cycle {cycle} of the fault: overdue={device.overdue}, {device.counters}"
    bench.twin.clear(fault)
    if fault == "close":
        if device.connected:
            yield "the connection was closed, and connected is True"
        device.connect(1.0)
    if not [bench.read() for _ in range(3)][-1].fresh:
        yield "it does not read again after the fault"


def _stands(bench: CellBench) -> Iterator[str]:
    bench.read()
    if not bench.read().fresh:
        yield "its second reading is not fresh"
    if "sample" in bench.lacks:
        return  # nothing tells it from cells at rest
    bench.twin.inject("hang")
    if [bench.read() for _ in range(3)][-1].fresh or not bench.device.standing:
        yield f"it converts no more, and standing is {bench.device.standing}"


def _slower(bench: CellBench) -> Iterator[str]:
    seen = [bench.read() for _ in range(20)]
    fresh, sent = sum(reading.fresh for reading in seen), bench.device.counters.sent
    if bench.cycle < _PERIOD and not fresh == sent == 4:
        yield f"in 40 ms with a period of 10 ms it is asked {sent} times, with {fresh} fresh readings, not 4"
    if abs(max(reading.age for reading in seen) - (_PERIOD - bench.cycle)) > 1e-6:
        yield f"its oldest reading is {max(reading.age for reading in seen)} s old, not {_PERIOD - bench.cycle} s"


def _reconnects(bench: CellBench) -> Iterator[str]:
    device = bench.device
    device.close()
    device.close()
    if device.connected or bench.read().fresh:
        yield "closed, it is connected or reads"
    if text := refusal(ConnectError, _NAME, device.identify):
        yield f"closed, identify {text}"
    device.connect(1.0)
    if not device.connected or not bench.read().fresh:
        yield "connected again, it does not read"


def _channels(bench: CellBench) -> Iterator[str]:
    wrong = [BenchLeg()] * 3
    if text := refusal(
        ConfigurationError, "cells, not 3", partial(create_cell_twin, bench.driver, bench.options, wrong)
    ):
        yield f"a twin over three cells {text}"


def _read_after_a_second(bench: CellBench) -> DeviceReading:
    bench.now += 1.0
    return bench.read()


CellCheck = Callable[[CellBench], Iterator[str]]
_PERIOD = 0.01  # s
_CHECKS: Mapping[str, CellCheck] = {
    "declared": _declared,
    "describes itself": _describes_itself,
    "refuses options": _refuses_options,
    "newtons": _newtons,
    "nothing received": _nothing_received,
    "no value": _no_value,
    **{f"wire fault {name}": partial(_wire_fault, name) for name in ("drop_all", "delay", "bit_flip", "busy", "close")},
    "stands": _stands,
    "slower than the cycle": _slower,
    "reconnects": _reconnects,
    "channels": _channels,
    "twin: any bytes": lambda bench: survives_any_bytes(bench.twin),
    "twin: no numbers": lambda bench: survives_no_numbers(bench.legs, partial(_read_after_a_second, bench)),
    "twin: Modbus": lambda bench: within_modbus_bounds(bench.twin.device),
}


CELL_CHECKS: Mapping[str, Callable[[MakeCellBench], Iterator[str]]] = {
    name: partial(on_bench, check, {"sample_period": _PERIOD} if name == "slower than the cycle" else {})
    for name, check in _CHECKS.items()
}
"""The checks of a driver of load cells by name; each is given what makes its bench.

The declaration is whole; the device identifies itself; wrong options are refused; forces are in newtons by channel,
NaN without a value; faults of the wire leave the last values, are counted, and never raised; a device that converts no
more reports it; a slower one is asked at its own pace; the twin tolerates any bytes and values.
"""


def check_cell_driver(name: str, benches: Mapping[str, MakeCellBench] | None = None) -> tuple[Failure, ...]:
    """Check the driver of load cells called `name` on each of `benches`, by default those of `cell_benches`.

    Raises:
        ConfigurationError: no such driver.
    """
    found = cell_benches(name) if benches is None else benches
    return run_checks(on_every_bench(CELL_CHECKS, found))
