"""Benches for drivers: a driver over memory to its twin, on a clock that only the bench moves."""

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from pydantic import BaseModel

from actuators import (
    Command,
    DeviceReading,
    Drive,
    Feedback,
    IoReading,
    MemoryWire,
    Mode,
    create_cell_device,
    create_cell_twin,
    create_drive,
    create_io_device,
    create_io_twin,
    create_twin,
    find_cell_driver,
    find_driver,
    find_io_driver,
)

_CYCLE = 2e-3  # s
_PASSIVE_CYCLE = 1e-2  # s, of a device that talks at its own pace
_PLACES: Mapping[str, Mapping[str, Any]] = {
    "device": {"device": "memory"},
    "host": {"host": "memory", "port": 5020},
}
"""What an address is given, by its field for the place of a device."""


class BenchLeg:
    """A leg of the plant (`PlantPort`) that keeps what it was commanded, and moves only by `settle`."""

    def __init__(self, length: float = 0.6, home: float = 0.65) -> None:
        """length, home: m, its length now, and where its reference is."""
        self.length = length
        self.velocity = 0.0
        self.cell = 100.0
        self.motor = 60.0
        self.homing_done = False
        self.home = home
        self.mode = Mode.OFF
        self.force = self.position = self.feedforward = 0.0
        self.enabled = self.quick_stop = False
        self.brake = True

    def command(
        self,
        mode: Mode,
        force: float,
        position: float,
        velocity: float,
        enabled: bool,
        quick_stop: bool,
        brake: bool,
    ) -> None:
        """See `PlantPort.command`."""
        self.mode, self.force, self.position, self.feedforward = mode, force, position, velocity
        self.enabled, self.quick_stop, self.brake = enabled, quick_stop, brake
        self.homing_done = self.homing_done and mode is Mode.HOMING

    def settle(self) -> None:
        """Bring the commanded motion to its end."""
        self.velocity = 0.0
        if self.enabled and self.mode is Mode.HOMING:
            self.length, self.homing_done = self.home, True
        elif self.enabled and self.mode is Mode.POSITION:
            self.length = self.position


class DriveBench:
    """A driver over memory to its faulty twin, which moves a `BenchLeg`.

    What a drive resolves, and its lack of a measured speed, are taken from its `Capabilities`. A subclass overrides
    them by the attributes below, which declare what else its drive does not do. It may replace `respond`, the wire.
    """

    step = 1e-6
    """m, m/s: what the drive resolves, at least; its `Capabilities.resolution` counts where it is more."""
    lacks: Collection[str] = frozenset()
    """What the drive does not report or do: "identity" (its maker or serial number), "velocity", "feedforward" (of a
    set speed), "quick stop" and "brake" (in its status), "one set-point" (it is sent the one of its mode alone),
    "transaction" (a late reply looks like a good one; on a shared line none is expected)."""
    force_step = 1e-2
    """N, what it resolves."""
    takes = 1
    """Cycles after which the feedback shows that a command was carried out."""
    arrives = 1
    """Cycles after which the leg has its final set-point, by a ramp of the drive's own."""

    def __init__(self, driver: str, options: Mapping[str, Any]) -> None:
        """driver: its name. options: of `create_drive`; `open_wire` is the bench's."""
        self.driver = driver
        self.leg = self.make_leg()
        self.options = {"name": "drive 1", **options}
        self.faults = create_twin(driver, self.options, self.leg)
        self.now = 0.0
        """s"""
        self.sent: list[bytes] = []
        self.received: list[bytes] = []
        opened = {"open_wire": lambda _timeout: MemoryWire(self.respond, lambda: self.faults.due())}
        self.drive: Drive = create_drive(driver, self.options | opened)
        can = self.drive.capabilities
        self.step = max(self.step, can.resolution)
        if not can.velocity_feedback:
            self.lacks = {*self.lacks, "velocity"}
        self.drive.connect(1.0)

    def make_leg(self) -> BenchLeg:
        """The leg that the twin moves."""
        return BenchLeg()

    def respond(self, frame: bytes) -> bytes:
        """Carry bytes to the twin; what it answers at once."""
        self.sent.append(frame)
        self.received.append(self.faults.respond(frame))
        return self.received[-1]

    def pass_time(self, seconds: float) -> None:
        """Let time pass in which nothing is sent."""
        self.now += seconds
        self.faults.tick(self.now)

    def do(self, command: Command) -> Feedback:
        """One cycle of 2 ms."""
        self.pass_time(_CYCLE)
        return self.drive.exchange(command, self.now, 0.0)

    def close(self) -> None:
        """Close the drive."""
        self.drive.close()


class _PlainDriveBench(DriveBench):
    """The bench of a driver that declares none: each command may take some cycles, and its zero lies elsewhere."""

    takes = 25

    def __init__(self, driver: str, options: Mapping[str, Any]) -> None:
        super().__init__(driver, {"position_offset": 0.05, **options})


class CellBench:
    """A driver of load cells over memory to its twin, over one `BenchLeg` a channel."""

    step = 0.01
    """N, what the device resolves."""
    lacks: Collection[str] = frozenset()
    """What it does not report: "identity" (its maker or serial number), "sample" (whether it has converted), "validity"
    (that a cell has no value)."""

    def __init__(self, driver: str, options: Mapping[str, Any]) -> None:
        """driver: its name. options: of `create_cell_device`; `open_wire` is the bench's."""
        self.driver = driver
        self.now = 0.0
        """s"""
        self.options = given = {"name": "cells 7", **options}
        self.device = create_cell_device(
            driver, {"open_wire": lambda _timeout: MemoryWire(self.respond, lambda: self.twin.due()), **given}
        )
        self.by_itself = not self.device.exchanges and self.device.line is not None
        """whether it is asked for nothing in a cycle, and talks at its own pace"""
        self.cycle = _PASSIVE_CYCLE if self.by_itself else _CYCLE
        """s"""
        self.legs = [BenchLeg() for _ in range(self.device.channels)]
        self.twin = create_cell_twin(driver, given, self.legs)
        self.device.connect(1.0)

    def respond(self, data: bytes) -> bytes:
        """Carry bytes to the twin; what it answers at once."""
        return self.twin.respond(data)

    def read(self) -> DeviceReading:
        """One cycle."""
        self.now += self.cycle
        self.twin.tick(self.now)
        self.device.begin(self.now)
        return self.device.finish(self.now)

    def close(self) -> None:
        """Close the device."""
        self.device.close()


class BenchTerminals:
    """What is wired to a virtual block: `inputs` have a signal, `outputs` are on."""

    def __init__(self) -> None:
        """No signal anywhere."""
        self.inputs: set[int] = set()
        self.outputs: set[int] = set()

    def read(self, channel: int) -> bool:
        """See `actuators.Terminals`."""
        return channel in self.inputs

    def write(self, channel: int, on: bool) -> None:
        """See `actuators.Terminals`."""
        self.outputs = self.outputs | {channel} if on else self.outputs - {channel}


class IoBench:
    """A driver of inputs and outputs over memory to its twin."""

    inputs, outputs = (0, 1, 5), (0, 1, 2, 9)
    """Channels that are used."""
    takes = 2
    """Cycles after which a change is seen at the other end."""

    def __init__(self, driver: str, options: Mapping[str, Any]) -> None:
        """driver: its name. options: of `create_io_device`; `open_wire` is the bench's."""
        self.driver = driver
        self.now = 0.0
        """s"""
        self.terminals = BenchTerminals()
        self.options = given = {"name": "block 7", "inputs": self.inputs, "outputs": self.outputs, **options}
        self.twin = create_io_twin(driver, given, self.terminals)
        wire = {"open_wire": lambda _timeout: MemoryWire(self.twin.respond, lambda: self.twin.due())}
        self.device = create_io_device(driver, given | wire)
        self.device.connect(1.0)
        self.device.configure()
        self.states = (False,) * len(self.outputs)

    def cycle(self, states: tuple[bool, ...] | None = None) -> IoReading:
        """One cycle, with other outputs from it on if they are given."""
        self.states = self.states if states is None else states
        self.now += _CYCLE
        self.twin.tick(self.now)
        self.device.begin(self.states, self.now)
        return self.device.finish(self.now)

    def cycles(self, count: int) -> list[IoReading]:
        """Several cycles."""
        return [self.cycle() for _ in range(count)]

    def close(self) -> None:
        """Close the device."""
        self.device.close()

    @property
    def on(self) -> tuple[bool, ...]:
        """What is on at the twin, by channel of `outputs`."""
        return tuple(channel in self.terminals.outputs for channel in self.outputs)


MakeDriveBench = Callable[..., DriveBench]
"""Called with options of the drive by keyword, as `name` and `watchdog`."""
MakeCellBench = Callable[..., CellBench]
MakeIoBench = Callable[..., IoBench]
"""Called with options of the device by keyword, as `sample_period`."""


def drive_benches(driver: str) -> dict[str, MakeDriveBench]:
    """Benches of a driver by where it is: at a serial port (`device`), a TCP port (`host`), or without a place.

    Raises ConfigurationError: no such driver.
    """
    address = find_driver(driver).address
    return {
        f"{driver} {place}".strip(): partial(_bench, _PlainDriveBench, driver, options)
        for place, options in places(address).items()
    }


def cell_benches(driver: str) -> dict[str, MakeCellBench]:
    """The same of a driver of load cells, for devices that read six and one."""
    found = find_cell_driver(driver)
    kinds = dict.fromkeys((found.address, found.cell_address))
    return {
        f"{driver} {kind.__name__} {place}".strip(): partial(_bench, CellBench, driver, options)
        for kind in kinds
        for place, options in places(kind).items()
    }


def io_benches(driver: str) -> dict[str, MakeIoBench]:
    """The same of a driver of inputs and outputs."""
    return {
        f"{driver} {place}".strip(): partial(_bench, IoBench, driver, options)
        for place, options in places(find_io_driver(driver).address).items()
    }


def places(address: type[BaseModel]) -> dict[str, dict[str, Any]]:
    """Options for the place of a device, by the field of its address: at a serial port, at a host."""
    fields = address.model_fields
    found = {
        place: {name: value for name, value in options.items() if name in fields}
        for place, options in _PLACES.items()
        if place in fields
    }
    return found or {"": {}}


def _bench(kind: Callable[[str, dict[str, Any]], Any], driver: str, place: dict[str, Any], **options: Any) -> Any:
    return kind(driver, place | options)
