"""Section [load_cells] of a rig's configuration: common keys, and the addresses of a driver's devices."""

from functools import cache
from typing import Annotated, Any, Literal

from pydantic import PlainValidator, SerializeAsAny, create_model, model_validator

from actuators import CellDriver, DriveAddress, find_cell_driver
from kinematics import Force, Time, within
from rig.config.sections import LEGS, OnceOrPerLeg, Section, Text, read_of_driver

_Step = Annotated[Force, within(0.0, 1e4, "N")]
StepPerLeg = Annotated[tuple[_Step, _Step, _Step, _Step, _Step, _Step], OnceOrPerLeg]
DRIVER = "modbus"
"""Default driver of a configuration."""


class LoadCells(Section):
    """Source and properties of the load cells; `read_cells` adds the chosen driver's addresses."""

    source: Literal["drive", "amplifier", "devices"] = "drive"
    """Devices that read the cells: the drives, one amplifier, or one device per cell."""
    driver: Text = DRIVER
    """Driver of the amplifier or of the devices; not used with source "drive"."""
    noise: Annotated[Force, within(1e-6, 1e4, "N")] = 0.5
    """Expected standard deviation of a reading, N, without the rounding to `resolution`."""
    resolution: StepPerLeg | None = None
    """Step of the readings, N, one or six; not given: that of the device's numbers if its driver knows it, else 0."""
    range: Annotated[Force, within(0.1, 1e7, "N")] = 800.0
    """Full scale of a cell, N; readings at or beyond it are invalid."""
    calibration: Text | None = None
    """Calibration file, relative to the configuration's folder."""
    sample_period: Annotated[Time, within(0.0, 1.0, "s")] = 0.0
    """Time between two exchanges with devices slower than the cycle, s; 0: one per cycle."""
    amplifier: DriveAddress | None = None
    """The device that reads all six cells."""
    devices: tuple[DriveAddress, DriveAddress, DriveAddress, DriveAddress, DriveAddress, DriveAddress] | None = None
    """The devices that read one cell each, legs 1 to 6 in this order."""

    @property
    def places(self) -> dict[str, DriveAddress]:
        """Return addresses of the cells' own devices by their name in this section; empty if the drives read them."""
        if self.devices is not None:
            return {f"devices[{leg}]": address for leg, address in enumerate(self.devices, start=1)}
        return {} if self.amplifier is None else {"amplifier": self.amplifier}

    @model_validator(mode="after")
    def _consistent(self) -> "LoadCells":
        if self.source == "amplifier" and self.amplifier is None:
            raise ValueError('source is "amplifier", but [load_cells.amplifier] with its address is missing')
        if self.source == "devices" and self.devices is None:
            raise ValueError('source is "devices", but devices, six of them with their addresses, are missing')
        for source, given in (("amplifier", self.amplifier), ("devices", self.devices)):
            if given is not None and self.source != source:
                what = "an amplifier is" if source == "amplifier" else "devices are"
                raise ValueError(f'{what} described, but source is "{self.source}"')
        if self.sample_period and self.source == "drive":
            raise ValueError('sample_period is of devices, but source is "drive": see drives.sample_period')
        if self.driver != DRIVER and self.source == "drive":
            raise ValueError(f'driver {self.driver} is of devices, but source is "drive": see drives.driver')
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by content: the class is generated per driver in each process."""
        return read_cells, (self.model_dump(),)


def read_cells(data: object) -> LoadCells:
    """Validate `data` as this section, with the models of the driver it names. Raises ValidationError."""
    return read_of_driver(data, LoadCells, DRIVER, lambda name: _section(find_cell_driver(name)))


@cache
def _section(driver: CellDriver) -> type[LoadCells]:
    """Return the section's model with the addresses of one driver's devices."""
    make: Any = create_model
    address, cell = (
        make("CellPlace", __base__=(Section, one), __module__=__name__) for one in (driver.address, driver.cell_address)
    )
    devices = tuple.__class_getitem__((cell,) * LEGS)
    model: type[LoadCells] = make(
        "LoadCells",
        __base__=LoadCells,
        __module__=__name__,
        amplifier=(address | None, None),
        devices=(devices | None, None),
    )
    return model


AnyCells = Annotated[SerializeAsAny[LoadCells], PlainValidator(read_cells)]
"""`LoadCells` with the addresses of the driver named in the section."""
