"""The virtual rig in one object: plant, drives, load cells and faults; or one virtual device alone."""

import gc
import math
import multiprocessing
import signal
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

from actuators import (
    ConfigurationError,
    DeviceLine,
    DriveAddress,
    Endpoint,
    FaultyDevice,
    FaultyDrive,
    MemoryWire,
    Responder,
    SerialEndpoint,
    StopEvent,
    TwinServer,
    VirtualServoGroup,
    create_cell_twin,
    create_io_twin,
    create_twin,
)
from kinematics import interpreted, report_compilation
from rig.config import RigConfig, cell_options, device_keys, drive_options, io_options
from rig.engine import Compiling, ProgressCallback, virtual_port
from rig.errors import ConfigError, ConfigFault, KeyPath, key_text
from rig.findings import Code, Finding, Value
from rig.fmu import FmuError, failure_of
from rig.virtual.cabinet import Cabinet
from rig.virtual.faults import Faults
from rig.virtual.mujoco_plant import MujocoPlant
from rig.virtual.payload_unit import PayloadUnit
from rig.virtual.plant import Plant
from rig.virtual.port import LegPort, LegPorts, Noise
from rig.virtual.sensor_twins import SensorTwins
from rig.virtual.truth import truth_of

SLICE = 5e-3
"""Longest time, s, between updates of the drives' clocks (watchdog, end of homing); some need less."""


class VirtualRig:
    """Everything behind the wires of a rig, on a clock that its owner sets with `advance`.

    `plant` is the machine, `sensors` the simulated ones beside it, `faults` their faults, `drives` and `cells` (none if
    the drives read them) the devices behind their fallible wires; `cabinet` has the circuits
    and the block of inputs and outputs. `time` (s) is the current time of the rig, `skipped`
    (s) the time that `advance` left out. Two rigs of one configuration with the same calls and requests answer the same
    bytes. When the plant has stopped permanently, no device answers any more: constant feedback would look like a
    platform at rest.

    Raises ConfigError if the configuration has no [virtual] section or describes devices without a virtual twin,
    and as `Plant` and `MujocoPlant`.
    """

    def __init__(
        self,
        config: RigConfig,
        start: float = 0.0,
        longest_gap: float = math.inf,
        hang: Callable[[bool], None] = lambda _stop: None,
        payload: PayloadUnit | None = None,
    ) -> None:
        """Switch everything on at `start` (s).

        longest_gap: s; a longer `advance` integrates only this much, so that a suspended process does not fall further
        and further behind after it is resumed.
        hang: see `Faults`.
        payload: coupled to the plant from now on, see `payload_of`; not closed by the rig. Raises FmuError.
        """
        settings = config.virtual
        if settings is None:
            raise ConfigError(f"configuration {config.path}: no [virtual] section, it describes real hardware")
        self.skipped = 0.0
        self._longest_gap = longest_gap
        truth = truth_of(config)
        marks = config.nominal.geometry.home_lengths
        kind = MujocoPlant if settings.plant.engine == "mujoco" else Plant
        self.plant: Plant = kind(
            truth.mechanism, settings, start, friction=truth.friction, hose=truth.hose, marks=marks,
            exchange_period=config.exchange_period,
        )  # fmt: skip
        self._payload = payload
        self.failure: Finding | None = None
        """why the payload's FMU has failed"""
        if payload is not None:
            payload.begin(self.plant)
        limit = config.load_cells.range
        noise = Noise(settings.seed)
        self._ports = [LegPort(self.plant, leg, settings, truth.cells, limit, noise) for leg in range(6)]
        self.drives = [self._drive(config, leg) for leg in range(6)]
        for drive in self.drives:
            drive.peers = self.drives
        self.cells = self._cell_devices(config)
        self._slice = min(SLICE, *(drive.longest_step for drive in self.drives))
        self.cabinet = Cabinet(config.io, self.drives, self.plant.hold_brake)
        self.cabinet.block = self._io_block(config)
        self.devices: Sequence[FaultyDevice] = [*self.drives, *self.cells]
        """those, the block last"""
        if self.cabinet.block is not None:
            self.devices = [*self.devices, self.cabinet.block]
        self._groups = _grouped(config, self.devices)
        self._responders = [_responder(devices, address.endpoint) for address, devices in self._groups]
        ports = LegPorts(self.plant, settings, truth.cells, self._ports, noise)
        alone = [drive for drive in self.drives if drive in self._responders]  # each on its own wire
        self._servos = VirtualServoGroup.of(alone, ports)
        self._others = [each for each in self._responders if self._servos is None or each not in alone]
        self._tick()
        self.sensors = SensorTwins(config, self.plant)
        self.faults = Faults(self.plant, self._ports, self.cabinet, self.cells, self.sensors, settings.faults, hang)
        self.faults.play()

    @property
    def time(self) -> float:
        """Current time of the rig, s."""
        return self.plant.time

    @property
    def next_event(self) -> float:
        """Time of the next event of a device, s: a request's last byte arrives, or a reply is due."""
        return min([responder.next_event for responder in self._responders])

    @property
    def endpoints(self) -> list[tuple[Endpoint, Responder]]:
        """Endpoints of the drives and the cells' own devices, each with its device or a line of several.

        Raises ConfigError if one of them has no endpoint.
        """
        found: list[tuple[Endpoint, Responder]] = []
        for (address, _), responder in zip(self._groups, self._responders, strict=True):
            endpoint = _endpoint(address)
            served = virtual_port(endpoint, make=True) if isinstance(endpoint, SerialEndpoint) else endpoint
            found.append((served, responder))
        return found

    def address(self, device: int) -> Endpoint:
        """Return a device's endpoint, by its index in `devices`; raises as `endpoints`."""
        wanted = self.devices[device]
        return next(_endpoint(address) for address, group in self._groups if wanted in group)

    def wires(self) -> list[MemoryWire]:
        """Return new in-process wires to the six drives, then to the cells' own devices and to the block.

        Messages do not advance the rig's clock: use `advance`. A serial line takes no time.
        """
        behind = {device: _responder(devices) for _, devices in self._groups for device in devices}
        return [
            MemoryWire(behind[device].respond, behind[device].due, self._servos if place < 6 else None, place)
            for place, device in enumerate(self.devices)
        ]

    def advance(self, now: float, *, watched: bool = True) -> None:
        """Integrate the plant to `now` (s), with the drives' own clocks and the timetable of faults.

        watched: whether somebody is connected; if not, a machine that stands is not integrated.
        """
        plant = self.plant
        gap = now - plant.time
        if not watched and gap > 0.0 and self.stands(now):
            self.hold(now)
            return
        if gap > self._longest_gap:
            self.skipped += gap - self._longest_gap
            self._skip(gap - self._longest_gap)
        while plant.time < now:
            due = self.faults.due
            until = min(now, plant.time + self._slice)
            if plant.time < due < until:
                until = due
            if self._payload is not None and not plant.fault:
                until = min(until, self._payload.due)
            if plant.time < self.sensors.due < until:
                until = self.sensors.due
            plant.advance(until)
            self._exchange()
            if not plant.fault:
                self.sensors.measure()
            if plant.fault:
                for device in self.devices:
                    device.fall_silent()
            self._tick()
            if due <= until:
                self.faults.play()

    def stands(self, now: float) -> bool:
        """Whether the machine stands, and nothing moves it until `now` (s)."""
        return self._payload is None and self.plant.standing and not self.faults.active and self.faults.due > now

    def hold(self, now: float) -> None:
        """Let the devices go on to `now` (s), and the machine stay as it is: commands and faults reach it later."""
        self._skip(max(0.0, now - self.plant.time))
        self._tick()

    def _skip(self, duration: float) -> None:
        self.plant.skip(duration)
        self.sensors.skip()
        if self._payload is not None:
            self._payload.skip(duration)

    def _exchange(self) -> None:
        """Let the payload do its step where it is due; where it fails the plant stands still."""
        payload, plant = self._payload, self.plant
        if payload is None or plant.fault or plant.time < payload.due:
            return
        try:
            payload.exchange(plant)
        except FmuError as error:
            self.failure = failure_of(Code.PAYLOAD_FMU_FAILED, error, payload.time)
            plant.fault = self.failure.text

    def _tick(self) -> None:
        now = self.plant.time
        if self._servos is not None:
            self._servos.tick(now)
        for responder in self._others:
            responder.tick(now)
        if self.cabinet.polled:
            self.cabinet.follow()

    def _drive(self, config: RigConfig, leg: int) -> FaultyDrive:
        options = drive_options(config, leg)
        options["serial"] = options["serial"] or f"VIRTUAL-{leg + 1}"
        try:
            return create_twin(config.drives.driver_of(leg), options, self._ports[leg])
        except ConfigurationError as error:
            raise ConfigError(f"drive {leg + 1}: {error}") from error

    def _cell_devices(self, config: RigConfig) -> list[FaultyDevice]:
        """Return the twins of the cells' own devices: one for all six legs, or one for each."""
        devices = []
        cells = config.load_cells
        for leg, (place, options) in enumerate(zip(cells.places, cell_options(config), strict=True)):
            legs = self.drives if cells.devices is None else self.drives[leg : leg + 1]
            try:
                devices.append(create_cell_twin(cells.driver, options, legs))
            except ConfigurationError as error:
                raise ConfigError(f"{place}: {error}") from error
        return devices

    def _io_block(self, config: RigConfig) -> FaultyDevice | None:
        options = io_options(config)
        if config.io is None or options is None:
            return None
        try:
            return create_io_twin(config.io.driver, options, self.cabinet)
        except ConfigurationError as error:
            raise ConfigError(f"io.block: {error}") from error


def _endpoint(address: DriveAddress) -> Endpoint:
    endpoint = address.endpoint
    if endpoint is None:
        raise ConfigError(f"the twin of {address.label} cannot be served: its address names no port")
    return endpoint


def _responder(devices: Sequence[FaultyDevice], endpoint: Endpoint | None = None) -> Responder:
    """Return the responder behind a wire to one device or several; on a serial line bytes take their time."""
    if isinstance(endpoint, SerialEndpoint):
        return DeviceLine(devices, endpoint.byte_time)
    return devices[0] if len(devices) == 1 else DeviceLine(devices)


def _grouped(config: RigConfig, devices: Sequence[FaultyDevice]) -> list[tuple[DriveAddress, list[FaultyDevice]]]:
    """Group the devices by wire, each with its address. Raises ConfigError if two have the same address."""
    groups: dict[object, tuple[DriveAddress, list[FaultyDevice]]] = {}
    seen: dict[tuple[Endpoint, int], KeyPath] = {}
    faults = []
    for (key, address), device in zip(device_keys(config), devices, strict=True):
        endpoint = address.endpoint
        _, group = groups.setdefault(key if endpoint is None else endpoint, (address, []))
        if endpoint is not None:
            other = seen.setdefault((endpoint, device.unit), key)
            if other != key:
                details: dict[str, Value] = {"line": str(endpoint), "number": device.unit, "other": key_text(other)}
                faults.append(ConfigFault(key, Finding(Code.TWIN_TAKEN, details=details)))
            elif group and group[0].framing != device.framing:
                faults.append(ConfigFault(key, Finding(Code.TWIN_FRAMING, details={"line": str(endpoint)})))
        group.append(device)
    if faults:
        raise ConfigError(Finding(Code.TWINS_UNUSABLE), faults)
    return list(groups.values())


_KERNELS = (
    "dynamics.kernels.forward.equations_kernel",
    "dynamics.kernels.inverse.forces_kernel",
    "kinematics.assembly.forward.forward_kinematics_kernel",
    "kinematics.leg.determinant_kernel",
    "kinematics.leg.leg_matrix_kernel",
    "rig.virtual.drive_kernel.queue_kernel",
    "rig.virtual.plant_kernel.advance_kernel",
    "rig.virtual.port.sense_kernel",
)
_OF_MUJOCO = (
    "kinematics.leg._lengths_batch",
    "rig.virtual.mujoco_kernel.apply_kernel",
    "rig.virtual.mujoco_kernel.drives_kernel",
    "rig.virtual.mujoco_kernel.motors_kernel",
    "rig.virtual.mujoco_kernel.settle_kernel",
)


def kernels_of(config: RigConfig) -> list[str]:
    """Return the kernels that the virtual rig calls directly, with their modules."""
    of_mujoco = config.virtual is not None and config.virtual.plant.engine == "mujoco"
    servos = all(config.drives.driver_of(leg) == "servo" for leg in range(6))
    return [*_KERNELS, *(_OF_MUJOCO if of_mujoco else ()), *(VirtualServoGroup.kernels if servos else ())]


_TICK = 2e-3  # s
_LONGEST_GAP = 0.5  # s; longest time integrated at once after the process did not run
_TURN = 2e-4  # s, for which a thread that loads may keep one waiting that serves
_STOP_PERIOD = 0.05  # s, within which a request to stop is noticed


def serve_device(
    config: RigConfig,
    device: int,
    stop: StopEvent,
    ready: Callable[[Endpoint], None],
    reply_delay: float | None = None,
    report_compiling: ProgressCallback | None = None,
) -> None:
    """Serve one device of a virtual rig in real time until stopped; the brakes of the others stay closed.

    No compiler is loaded until the first client connects. The machine stands for about a second then, in which the
    device answers as always, and commands wait.

    Args:
        config: its endpoint and description.
        device: its index in `VirtualRig.devices`.
        stop: set to end.
        ready: called with the endpoint once it is served.
        reply_delay: for how long it waits on a serial line before it answers, s; None: as the configuration says.
        report_compiling: receives the progress of the first start on a machine, in the process that compiles.

    Raises:
        ConfigError: the device has no virtual twin, or its address has no port.
        HardwareError, ActuatorError: the port is taken.
    """
    with interpreted():
        VirtualRig(config)  # refuses what cannot be served
    _store_kernels(config, stop, report_compiling)
    with interpreted(), _Kernels(config) as kernels:
        rig = VirtualRig(config, time.monotonic(), _LONGEST_GAP)
        rig.advance(rig.time + SLICE)  # the first commands have reached the brakes
        twin = rig.devices[device]
        if reply_delay is not None:
            twin.reply_delay = reply_delay
        endpoint = rig.address(device)
        serial = isinstance(endpoint, SerialEndpoint)
        responder: Responder = DeviceLine([twin], endpoint.byte_time) if isinstance(endpoint, SerialEndpoint) else twin

        def advance(now: float) -> None:
            if kernels.loaded:
                rig.advance(now, watched=server.attended)
            else:
                if server.attended or not rig.stands(now):
                    kernels.load()
                rig.hold(now)
            if serial:
                responder.tick(rig.time)

        served = virtual_port(endpoint, make=True) if isinstance(endpoint, SerialEndpoint) else endpoint
        server = TwinServer([(served, responder)], advance=advance, tick=_TICK)
        server.serve(stop, lambda found: ready(found[0]))


class _Kernels:
    """The compiled kernels of a rig, loaded in a thread while another one interprets them and serves."""

    def __init__(self, config: RigConfig) -> None:
        self._config = config
        self._executor = ThreadPoolExecutor(1, "kernels")
        self._loading: Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._executor.shutdown()

    @property
    def loaded(self) -> bool:
        """Whether they are loaded. Raises what loading them raised."""
        if self._loading is None or not self._loading.done():
            return False
        self._loading.result()
        return True

    def load(self) -> None:
        """Begin to load them; does nothing after the first call."""
        if self._loading is None:
            self._loading = self._executor.submit(self._load)

    def _load(self) -> None:
        turn = sys.getswitchinterval()
        sys.setswitchinterval(_TURN)
        gc.disable()  # going through all that the compiler consists of would keep a client waiting for 0.3 s
        try:
            _call_kernels(self._config)
            gc.freeze()
        finally:
            gc.enable()
            sys.setswitchinterval(turn)


def _store_kernels(config: RigConfig, stop: StopEvent, report: ProgressCallback | None) -> None:
    """Have the kernels in the cache, compiled in a process of its own that takes the compiler's memory with it."""
    process = multiprocessing.get_context("fork").Process(target=_compile, args=(config, report), daemon=True)
    process.start()
    while process.is_alive():
        process.join(_STOP_PERIOD)
        if stop.is_set():
            process.kill()
    process.close()


def _compile(config: RigConfig, report: ProgressCallback | None) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the process that waits for this one handles them

    def report_progress(done: int, total: int) -> None:
        if report is not None:
            report(Compiling("the simulated machine", done, total))

    with report_compilation(kernels_of(config), report_progress):
        _call_kernels(config)


def _call_kernels(config: RigConfig) -> None:
    """Call all kernels of a rig, and so compile them or load them from the cache."""
    VirtualRig(config).advance(1e-3)
