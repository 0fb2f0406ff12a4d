"""The conformance suite of a driver of devices with digital inputs and outputs, over its own twin."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from actuators import (
    ConnectError,
    Identity,
    IoDevice,
    IoOptions,
    create_io_device,
    create_io_twin,
    find_io_driver,
)
from rig.testing.benches import IoBench, MakeIoBench, io_benches
from rig.testing.declaration import lacking, refusal, unknown_option, wrong_kind
from rig.testing.failure import Failure, on_bench, on_every_bench, run_checks
from rig.testing.twins import survives_any_bytes, within_modbus_bounds

_NAME = "block 7"
_CYCLE = 2e-3  # s
_PERIOD = 0.01  # s


def _declared(bench: IoBench) -> Iterator[str]:
    driver = find_io_driver(bench.driver)
    yield from lacking(driver, [driver.address], IoOptions)


def _describes_itself(bench: IoBench) -> Iterator[str]:
    device = bench.device
    if wrong := wrong_kind("it", device, IoDevice):
        yield wrong
    found = (device.name, device.inputs, device.outputs)
    if found != (_NAME, bench.inputs, bench.outputs):
        yield f"it says {found}, its options {(_NAME, bench.inputs, bench.outputs)}"
    if wrong := wrong_kind("what identify gives", device.identify(), Identity):
        yield wrong


def _refuses_options(bench: IoBench) -> Iterator[str]:
    yield from unknown_option(
        partial(create_io_device, bench.driver),
        lambda options: create_io_twin(bench.driver, options, bench.terminals),
    )


def _inputs(bench: IoBench) -> Iterator[str]:
    bench.cycles(bench.takes)
    for signals in (set(), set(bench.inputs), *({one} for one in bench.inputs)):
        bench.terminals.inputs = set(signals)
        reading = bench.cycles(bench.takes)[-1]
        wanted = tuple(channel in signals for channel in bench.inputs)
        if (reading.inputs, reading.fresh, reading.age) != (wanted, True, 0.0):
            yield f"channels {sorted(signals)} of {bench.inputs} have a signal, and it reads {reading}"


def _outputs(bench: IoBench) -> Iterator[str]:
    count = len(bench.outputs)
    for place in (None, *range(count)):
        states = tuple(place is None or one == place for one in range(count))
        bench.cycle(states)
        if bench.on != states:
            yield f"in the cycle that commands {states} of channels {bench.outputs} they are {bench.on}"
    foreign = bench.terminals.outputs - set(bench.outputs)
    if foreign:
        yield f"it switches channels {sorted(foreign)}, which are not among its outputs"


def _off_before_and_after(bench: IoBench) -> Iterator[str]:
    bench.cycle((True,) * len(bench.outputs))
    bench.device.switch_off()
    if any(bench.on):
        yield f"switched off, they are {bench.on}"
    bench.cycle((True,) * len(bench.outputs))
    if not all(bench.on):
        yield f"commanded on again, they are {bench.on}"
    bench.device.connect(1.0)
    if not all(bench.on):
        yield "connecting switches outputs"
    bench.device.configure()
    if any(bench.on):
        yield f"after configure they are {bench.on}, must be off"


def _lost_write(bench: IoBench) -> Iterator[str]:
    bench.cycles(3)
    bench.twin.inject("drop_all")
    bench.cycle((True,) * len(bench.outputs))
    bench.cycle()
    bench.twin.clear("drop_all")
    bench.cycles(3)
    if not all(bench.on):
        yield f"a write was lost, and three cycles later the outputs are {bench.on}"


def _wire_fault(fault: str, bench: IoBench) -> Iterator[str]:
    bench.terminals.inputs = set(bench.inputs[:1])
    good = bench.cycles(3)[-1]
    received = bench.device.counters.received
    bench.twin.inject(fault, 1.0 if fault == "delay" else None)
    for cycle in range(1, 6):
        reading = bench.cycle()
        if (reading.inputs, reading.fresh) != (good.inputs, False) or abs(reading.age - _CYCLE * cycle) > 1e-6:
            yield f"cycle {cycle} of the fault: {reading}, before it {good}"
    if bench.device.counters.received != received:
        yield f"nothing good was received, and it counts {bench.device.counters}"
    bench.twin.clear(fault)
    if fault == "close":
        if bench.device.connected:
            yield "the connection was closed, and connected is True"
        bench.device.connect(1.0)
    if not bench.cycles(4)[-1].fresh:
        yield "it does not answer again after the fault"


def _nothing_received(bench: IoBench) -> Iterator[str]:
    bench.terminals.inputs = set(bench.inputs)
    bench.twin.inject("drop_all")
    reading = bench.cycle()
    if reading.fresh or reading.inputs:
        yield f"nothing was received yet, and it reads {reading}"
    bench.twin.clear("drop_all")
    for reading in bench.cycles(4):
        if reading.inputs not in ((), (True,) * len(bench.inputs)):
            yield f"all inputs have a signal, and before it was read it is {reading}"


def _slower(bench: IoBench) -> Iterator[str]:
    bench.cycle()
    sent = bench.device.counters.sent
    bench.cycles(20)
    if bench.device.overdue:
        yield "every request was answered, and it is overdue"
    if bench.device.counters.sent - sent not in (4, 5):
        yield f"in 40 ms with a period of 10 ms it is asked {bench.device.counters.sent - sent} times"
    bench.cycle(tuple(not one for one in bench.states))
    if bench.on != bench.states:
        yield "an output that changes waits for its period"


def _watchdog(bench: IoBench) -> Iterator[str]:
    if not bench.device.watchdog:
        return
    bench.cycle((True,) * len(bench.outputs))
    for _ in range(1000):
        bench.cycle()
        if not all(bench.on):
            yield "within 2 s of cycles its own watchdog has switched outputs off"
            return
    bench.twin.tick(bench.now + 61.0)
    if any(bench.on):
        yield "nobody writes any more, and its outputs stay on"


def _reconnects(bench: IoBench) -> Iterator[str]:
    device = bench.device
    device.close()
    device.close()
    if device.connected or bench.cycle().fresh:
        yield "closed, it is connected or reads"
    for what, call in (("identify", device.identify), ("switch_off", device.switch_off)):
        if text := refusal(ConnectError, _NAME, call):
            yield f"closed, {what} {text}"
    device.connect(1.0)
    if not device.connected or not bench.cycles(2)[-1].fresh:
        yield "connected again, it does not read"


IoCheck = Callable[[IoBench], Iterator[str]]
_CHECKS: Mapping[str, IoCheck] = {
    "declared": _declared,
    "describes itself": _describes_itself,
    "refuses options": _refuses_options,
    "inputs": _inputs,
    "outputs": _outputs,
    "off before and after": _off_before_and_after,
    "lost write": _lost_write,
    "nothing received": _nothing_received,
    **{f"wire fault {name}": partial(_wire_fault, name) for name in ("drop_all", "delay", "busy", "close")},
    "slower than the cycle": _slower,
    "watchdog": _watchdog,
    "reconnects": _reconnects,
    "twin: any bytes": lambda bench: survives_any_bytes(bench.twin),
    "twin: Modbus": lambda bench: within_modbus_bounds(bench.twin.device),
}


IO_CHECKS: Mapping[str, Callable[[MakeIoBench], Iterator[str]]] = {
    name: partial(on_bench, check, {"sample_period": _PERIOD} if name == "slower than the cycle" else {})
    for name, check in _CHECKS.items()
}
"""The checks of a driver of inputs and outputs by name; each is given what makes its bench.

The declaration is whole; wrong options are refused; inputs are read by channel; an output is switched in its cycle, and
no other; a lost write is repeated; all are off after `configure` and `switch_off`; faults of the wire leave the last
inputs and are never raised; a slower device is asked at its own pace, but written to at once; a watchdog is served.
"""


def check_io_driver(name: str, benches: Mapping[str, MakeIoBench] | None = None) -> tuple[Failure, ...]:
    """Check the driver of inputs and outputs called `name` on each of `benches`, by default those of `io_benches`.

    Raises:
        ConfigurationError: no such driver.
    """
    found = io_benches(name) if benches is None else benches
    return run_checks(on_every_bench(IO_CHECKS, found))
