"""Drivers as another distribution would bring them: each one file and a registration."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from actuators import (
    Amplifier,
    AmplifierOptions,
    AmplifierProfile,
    Cell,
    CellDriver,
    CellOptions,
    DriveAddress,
    DriveOptions,
    Driver,
    DriveSettings,
    FaultyDevice,
    FaultyDrive,
    Line,
    ModbusServo,
    ModbusServoOptions,
    PlantPort,
    TcpEndpoint,
    VirtualAmplifier,
    find_driver,
    load_profile,
)

SERVO = find_driver("servo")


class GatewayAddress(DriveAddress):
    """A slot of a gateway whose ports follow from the slot."""

    gateway: Line
    slot: Annotated[int, Field(ge=1, le=6)]

    @property
    def identity(self) -> tuple[str, str]:
        return self.gateway, f"slot {self.slot}"

    @property
    def place(self) -> str:
        return f"slot {self.slot} of {self.gateway}"

    @property
    def endpoint(self) -> TcpEndpoint:
        return TcpEndpoint(self.gateway, 47000 + self.slot)


class GatewaySettings(DriveSettings):
    """What all slots share."""

    gain: Annotated[float, Field(gt=0.0, le=10.0)] = 1.0


class GatewayOptions(DriveOptions, GatewayAddress):
    """All of it."""

    gain: float = 1.0

    @property
    def servo(self) -> ModbusServoOptions:
        host, port = self.endpoint
        shared = self.model_dump(include=set(DriveOptions.model_fields))
        return ModbusServoOptions(host=host, port=port, **shared)


def _twin(options: GatewayOptions, leg: PlantPort) -> FaultyDrive:
    assert SERVO.twin is not None
    return SERVO.twin(options.servo, leg)


GATEWAY = Driver(
    GatewayAddress,
    GatewaySettings,
    GatewayOptions,
    lambda options: ModbusServo(options.servo),
    _twin,
)


class BoxAddress(GatewayAddress):
    """A slot of the same gateway with cells in it."""

    cells: Annotated[int, Field(ge=1, le=6)] = 6

    @property
    def endpoint(self) -> TcpEndpoint:
        return TcpEndpoint(self.gateway, 48000 + self.slot)


class SingleAddress(BoxAddress):
    """A slot with one cell."""

    cells: int = 1


class BoxOptions(CellOptions, BoxAddress):
    """All of it."""

    @property
    def amplifier(self) -> AmplifierOptions:
        host, port = self.endpoint
        shared = self.model_dump(include=set(CellOptions.model_fields))
        return AmplifierOptions(host=host, port=port, profile=self.profile, **shared)

    @property
    def profile(self) -> str:
        return "generic-cell" if self.cells == 1 else "generic-amplifier"


def _box_twin(options: BoxOptions, cells: Sequence[Cell]) -> FaultyDevice:
    return FaultyDevice(VirtualAmplifier(load_profile(options.profile, AmplifierProfile), cells))


BOX = CellDriver(BoxAddress, SingleAddress, BoxOptions, lambda options: Amplifier(options.amplifier), _box_twin)
BLIND = CellDriver(BoxAddress, SingleAddress, BoxOptions, lambda options: Amplifier(options.amplifier))


class LineAddress(DriveAddress):
    """A device on a serial line."""

    device: Line
    baud: Annotated[int, Field(strict=True, ge=1200, le=4_000_000)] = 19200

    @property
    def identity(self) -> tuple[str, str]:
        return "", f"{self.device} unit {self.unit}"

    @property
    def place(self) -> str:
        return self.device


class LineOptions(DriveOptions, LineAddress):
    """All of it."""


LINE = Driver(LineAddress, DriveSettings, LineOptions, lambda options: ModbusServo(ModbusServoOptions(host="nowhere")))
