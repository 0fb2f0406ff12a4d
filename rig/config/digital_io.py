"""Section [io] of a rig's configuration: digital inputs and outputs, at drives or at a block of a driver."""

from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator, SerializeAsAny, create_model, model_validator

from actuators import DriveAddress, IoDriver, find_io_driver
from kinematics import Time, within
from rig.config.sections import LEGS, Section, Text, read_of_driver

DRIVER = "modbus-io"
"""Default driver of a block."""


class Point(Section):
    """An input or output: a channel of the block, or a named one of a leg's drive."""

    channel: Annotated[int, Field(strict=True, ge=0, le=0xFFFF)] | None = None
    """Channel of [io.block]."""
    leg: Annotated[int, Field(strict=True, ge=1, le=LEGS)] | None = None
    """Leg whose drive has it, 1 to 6; with `name`."""
    name: Text | None = None
    """Its name in [inputs] or [outputs] of that drive's profile, or in `inputs` or `outputs` of the leg's table."""
    active: Literal["high", "low"] = "high"
    """"low": it is on without a signal."""

    @model_validator(mode="after")
    def _one_place(self) -> "Point":
        if (self.leg is None) != (self.name is None):
            raise ValueError("leg and name go together: the drive, and what its profile calls the point")
        if (self.channel is None) == (self.leg is None):
            given = "neither" if self.channel is None else "both"
            raise ValueError(f"channel (of the block) or leg and name (of a drive): one of the two, not {given}")
        return self


class Inputs(Section):
    """What is read. An input is on while its circuit is closed: a wire that breaks is an open circuit."""

    emergency_stop: Point | None = None
    """The chain of emergency stops: on while it is closed."""
    safe_torque_off: Point | None = None
    """Feedback of the drives' safe torque off: on while its circuit is closed and lets them have torque."""

    @property
    def points(self) -> dict[str, Point]:
        """Return those that are given, by name."""
        return {name: point for name in Inputs.model_fields if (point := getattr(self, name)) is not None}


class Outputs(Section):
    """What is written; all of them are off when the rig ends."""

    enable: Point | None = None
    """On while the drives may have torque."""
    brake: Point | None = None
    """Supply of all brakes, on to release them; each drive must hold its own as well, as legs are homed in turn."""
    brakes: tuple[Point, Point, Point, Point, Point, Point] | None = None
    """The brake of each leg, on to release it, legs 1 to 6 in this order."""
    lamp: Point | None = None
    """On in a state with torque, flashing while a fault is latched."""

    @property
    def points(self) -> dict[str, Point]:
        """Return those that are given, by name; the brakes of legs are brake_1 to brake_6."""
        found = {name: getattr(self, name) for name in ("enable", "brake", "lamp")}
        found |= {f"brake_{leg}": point for leg, point in enumerate(self.brakes or (), start=1)}
        return {name: point for name, point in found.items() if point is not None}

    @model_validator(mode="after")
    def _consistent(self) -> "Outputs":
        for name, point in self.points.items():
            if point.active == "low":
                raise ValueError(f'{name}: active = "low" is of inputs: an output that is off has no signal')
        if self.brake is not None and self.brakes is not None:
            raise ValueError("brake (of all legs) or brakes (of each): one of the two, not both")
        return self


class DigitalIo(Section):
    """Digital inputs and outputs, each at the block or at a drive. None of them is a safety function."""

    driver: Text = DRIVER
    """Driver of the block."""
    sample_period: Annotated[Time, within(0.0, 1.0, "s")] = 0.0
    """Time between two exchanges with a block slower than the cycle, s; 0: one per cycle."""
    brake_time: Annotated[Time, within(0.0, 2.0, "s")] = 0.1
    """Time for which a brake closes before torque is switched off at rest, s; of brake outputs."""
    block: DriveAddress | None = None
    """The block."""
    inputs: Inputs = Inputs()
    """What is read."""
    outputs: Outputs = Outputs()
    """What is written."""

    @property
    def input_channels(self) -> tuple[int, ...]:
        """Return the block's channels that are read, in the order of `inputs.points`."""
        return tuple(point.channel for point in self.inputs.points.values() if point.channel is not None)

    @property
    def output_channels(self) -> tuple[int, ...]:
        """Return the block's channels that are written, in the order of `outputs.points`."""
        return tuple(point.channel for point in self.outputs.points.values() if point.channel is not None)

    @property
    def closing_time(self) -> float:
        """Return the time for which a brake closes under torque, s; 0 without a brake output."""
        return 0.0 if self.outputs.brake is None and self.outputs.brakes is None else self.brake_time

    @model_validator(mode="after")
    def _consistent(self) -> "DigitalIo":
        faults = list(self._faults())
        if faults:
            raise ValueError("; ".join(faults))
        return self

    def _faults(self) -> Iterator[str]:
        inputs, outputs = self.inputs.points, self.outputs.points
        if not (inputs or outputs):
            yield "neither an input nor an output is given: leave the table out"
        channels = bool(self.input_channels or self.output_channels)
        if channels and self.block is None:
            yield "[io.block] with its address is missing, but a point is a channel of it"
        if self.block is not None and not channels:
            yield "[io.block] is given, but no point is a channel of it"
        for name, points in (("inputs", inputs), ("outputs", outputs)):
            seen: dict[tuple[object, ...], str] = {}
            for key, point in points.items():
                place = (point.channel, point.leg, point.name)
                other = seen.setdefault(place, key)
                if other != key:
                    yield f"{name}.{key} and {name}.{other} are the same point"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by content: the class is generated per driver in each process."""
        return read_io, (self.model_dump(),)


def read_io(data: object) -> DigitalIo:
    """Validate `data` as this section, with the address of the driver it names. Raises ValidationError."""
    return read_of_driver(data, DigitalIo, DRIVER, lambda name: _section(find_io_driver(name)))


@cache
def _section(driver: IoDriver) -> type[DigitalIo]:
    """Return the section's model with the address of one driver's device."""
    make: Any = create_model
    address = make("IoPlace", __base__=(Section, driver.address), __module__=__name__)
    model: type[DigitalIo] = make("DigitalIo", __base__=DigitalIo, __module__=__name__, block=(address | None, None))
    return model


AnyIo = Annotated[SerializeAsAny[DigitalIo], PlainValidator(read_io)]
"""`DigitalIo` with the address of the driver named in the section."""
