"""The virtual rig in one piece: plant, drives, load cells and faults, brought to any instant asked for."""

import math
from collections.abc import Callable, Sequence

from actuators import (
    AmplifierProfile,
    ConfigurationError,
    FaultyAmplifier,
    FaultyDevice,
    FaultyServo,
    MemoryWire,
    Responder,
    ServoProfile,
    VirtualAmplifier,
    VirtualServo,
    load_profile,
)
from rig.config import RigConfig
from rig.errors import ConfigError
from rig.virtual.faults import Faults
from rig.virtual.plant import Plant
from rig.virtual.port import LegPort

SLICE = 5e-3
"""Longest time, s, over which the drives do not look at their clocks (watchdog, end of homing)."""


class VirtualRig:
    """Everything behind the wires of a rig, on a clock that its owner moves with `advance`.

    `plant` is the machine, `faults` what is wrong with it, `servos` and `amplifier` (None when the drives read the
    cells) the devices behind their fallible wires. `time` (s) is the instant all of it stands at, `skipped` (s) what
    `advance` has left out. Two rigs of one configuration, moved and asked alike, answer the same bytes. When the plant
    stands still for good, no device answers any more: feedback that does not move passes for a platform at rest.

    Raises ConfigError when the configuration has no [virtual] section or describes devices that have no virtual twin.
    """

    def __init__(
        self,
        config: RigConfig,
        start: float = 0.0,
        longest_gap: float = math.inf,
        hang: Callable[[bool], None] = lambda _stop: None,
    ) -> None:
        """Power everything up at `start` (s).

        longest_gap: s; of a longer time asked of `advance` at once only this much is integrated: after a suspended
        process is woken it must not fall further and further behind.
        hang: see `Faults`.
        """
        settings = config.virtual
        if settings is None:
            raise ConfigError(f"configuration {config.path}: no [virtual] section, it describes real hardware")
        if config.drives.driver != "servo-tcp":
            raise ConfigError(f"drives.driver: no virtual drive speaks {config.drives.driver!r}, only 'servo-tcp'")
        self.skipped = 0.0
        self._longest_gap = longest_gap
        self.plant = Plant(config.machine, settings, start)
        self._ports = [LegPort(self.plant, leg, settings) for leg in range(6)]
        self.servos = [self._servo(config, leg) for leg in range(6)]
        for servo in self.servos:
            servo.peers = self.servos
        self.amplifier = self._make_amplifier(config)
        self._devices: Sequence[FaultyDevice] = [*self.servos, *([self.amplifier] if self.amplifier else [])]
        self._endpoints = _endpoints(config)
        self._tick()
        self.faults = Faults(self.plant, self._ports, self.servos, self.amplifier, settings.faults, hang)
        self.faults.play()

    @property
    def time(self) -> float:
        """Instant the rig stands at, s."""
        return self.plant.time

    @property
    def endpoints(self) -> list[tuple[str, int, Responder]]:
        """Host, port and device of the six drives, then of the amplifier if there is one, as a server takes them."""
        return [(host, port, device) for (host, port), device in zip(self._endpoints, self._devices, strict=True)]

    def wires(self) -> list[MemoryWire]:
        """New wires to the six drives, then to the amplifier if there is one, in this process and without sockets.

        Nothing that is sent over them moves the rig's clock: that is `advance`.
        """
        return [MemoryWire(device.respond) for device in self._devices]

    def advance(self, now: float) -> None:
        """Integrate the plant to `now` (s), the drives' own clocks and the timetable of faults with it."""
        plant = self.plant
        gap = now - plant.time
        if gap > self._longest_gap:
            self.skipped += gap - self._longest_gap
            plant.skip(gap - self._longest_gap)
        while plant.time < now:
            due = self.faults.due
            until = min(now, plant.time + SLICE)
            if plant.time < due < until:
                until = due
            plant.advance(until)
            if plant.fault:
                for device in self._devices:
                    device.fall_silent()
            self._tick()
            if due <= until:
                self.faults.play()

    def _tick(self) -> None:
        now = self.plant.time
        for device in self._devices:
            device.tick(now)

    def _servo(self, config: RigConfig, leg: int) -> FaultyServo:
        address = config.drives.legs[leg]
        try:
            servo = VirtualServo(
                load_profile(config.drives.profile, ServoProfile),
                self._ports[leg],
                unit=address.unit,
                serial=address.serial or f"VIRTUAL-{leg + 1}",
                position_offset=address.position_offset,
            )
        except ConfigurationError as error:
            raise ConfigError(f"drive {leg + 1}: {error}") from error
        return FaultyServo(servo)

    def _make_amplifier(self, config: RigConfig) -> FaultyAmplifier | None:
        address = config.load_cells.amplifier
        if address is None:
            return None
        try:
            profile = load_profile(address.profile, AmplifierProfile)
            cells = [faulty.servo for faulty in self.servos]
            return FaultyAmplifier(VirtualAmplifier(profile, cells, unit=address.unit))
        except ConfigurationError as error:
            raise ConfigError(f"amplifier: {error}") from error


def _endpoints(config: RigConfig) -> list[tuple[str, int]]:
    """Address of each device; ConfigError where two share one: a virtual device is the only one behind its port."""
    places = [(f"drives.legs[{leg}]", drive.host, drive.port) for leg, drive in enumerate(config.drives.legs, start=1)]
    amplifier = config.load_cells.amplifier
    if amplifier is not None:
        places.append(("load_cells.amplifier", amplifier.host, amplifier.port))
    seen: dict[tuple[str, int], str] = {}
    faults = []
    for name, host, port in places:
        other = seen.setdefault((host, port), name)
        if other != name:
            faults.append(f"{name}: {host}:{port} is taken by {other}; each virtual device needs a port of its own")
    if faults:
        raise ConfigError("the virtual rig cannot be served:", faults)
    return [(host, port) for _, host, port in places]
