"""Section [drives] of a rig's configuration: what every driver shares, and beside it what the chosen one asks for."""

from collections.abc import Mapping
from functools import cache, partial
from typing import Annotated, Any, Literal

from pydantic import PlainValidator, SerializeAsAny, create_model, model_validator

from actuators import (
    ActuatorError,
    DriveAddress,
    Driver,
    DriveSettings,
    find_driver,
)
from kinematics import Damping, Length, Number, Stiffness, Time, within
from rig.config.sections import LEGS, Bandwidth, Delay, Section, Text, refused, with_present_driver

DRIVER = "servo"
"""The driver of a configuration that names none."""


class LegDrive(Section, DriveAddress):
    """Where one leg's drive is found: here what every driver shares; `leg_section` adds the driver's own address."""

    driver: Text | None = None
    """This drive's driver, where it is another than that of the section."""
    settings: SerializeAsAny[DriveSettings] | None = None
    """Settings of its own driver, in place of all that the section says; see the driver's settings below."""
    mode: Literal["position"] | None = None
    """The drive closes its own loop, whatever closes those of the others."""
    serial: Text | None = None
    """Serial number that must answer there; not given: not compared."""
    position_offset: Annotated[Length, within(-10.0, 10.0, "m")] = 0.0
    """Leg length where the drive reads zero, beyond what its profile says, m."""

    @property
    def given(self) -> dict[str, Any]:
        """What its driver is given of it."""
        return self.model_dump(exclude={"driver", "settings", "mode"})


class Drives(Section, DriveSettings):
    """The six drives, legs 1 to 6 in this order; `read_drives` adds the chosen driver's own settings."""

    driver: Text = DRIVER
    """Driver of the drives; a leg's table may name another one for its drive."""
    watchdog: Annotated[Time, within(1e-3, 10.0, "s")] = 0.05
    """Silence after which a drive stops by itself, s."""
    reply_deadline: Annotated[Number, within(0.05, 0.95)] = 0.6
    """Time for the replies, as a fraction of the period."""
    sample_period: Annotated[Time, within(0.0, 1.0, "s")] = 0.0
    """Time between two exchanges with a drive that is slower than the cycle, s; 0: one in every cycle."""
    enable_time: Annotated[Time, within(0.01, 2.0, "s")] = 0.3
    """Time that a drive takes to have torque once it was told to, s, beside four exchanges with it; later is a fault,
    as the leg would begin when nobody expects it any more."""
    connect_timeout: Annotated[Time, within(0.01, 60.0, "s")] = 2.0
    """Longest time to connect to a drive, and for each access that is not cyclic, s."""
    force_bandwidth: Bandwidth = 300.0
    """-3 dB frequency of the force loop, assumed first order, Hz."""
    delay: Delay = 1e-4
    """Dead time between a command's arrival and its force, s."""
    position_stiffness: Annotated[Stiffness, within(0.0, 1e9, "N/m")] | None = None
    """Stiffness of the loop that a drive closes itself on its length, N/m: with `position_damping` it tells what the
    drive gives between two commands, if it takes the model's force along. Left out: not known."""
    position_damping: Annotated[Damping, within(0.0, 1e7, "N s/m")] | None = None
    """Damping of that loop, N s/m."""
    legs: tuple[LegDrive, LegDrive, LegDrive, LegDrive, LegDrive, LegDrive]
    """One table a leg, legs 1 to 6 in this order."""

    @property
    def settings(self) -> dict[str, Any]:
        """The driver's own settings by name."""
        return {name: getattr(self, name) for name in find_driver(self.driver).settings.model_fields}

    def driver_of(self, leg: int) -> str:
        """The driver of a leg's (index) drive."""
        return self.legs[leg].driver or self.driver

    def settings_of(self, leg: int) -> dict[str, Any]:
        """The settings of a leg's (index) driver by name."""
        own = self.legs[leg].settings
        return self.settings if own is None else {name: getattr(own, name) for name in type(own).model_fields}

    def described(self, leg: int) -> str:
        """Driver of a leg (index), and those of its settings that are not as usual, in words."""
        name = self.driver_of(leg)
        usual = find_driver(name).settings.model_fields
        own = [f"{key} {value}" for key, value in self.settings_of(leg).items() if value != usual[key].default]
        return ", ".join([f"driver {name}", *own])

    @property
    def unidentified(self) -> str:
        """Which legs' drives are taken whoever they are, and what follows, in words; empty when none is."""
        legs = [str(leg) for leg, drive in enumerate(self.legs, start=1) if drive.serial is None]
        if not legs:
            return ""
        which = "no drive has" if len(legs) == LEGS else f"the drive of leg {', '.join(legs)} has not"
        return (
            f"{which} a serial number in drives.legs: exchanged network cables are not noticed on connecting, and "
            "after homing only where the forces at rest tell"
        )

    @model_validator(mode="after")
    def _whole_loop(self) -> "Drives":
        if (self.position_stiffness is None) != (self.position_damping is None):
            raise ValueError("position_stiffness and position_damping: give both or none, the two are one loop")
        return self

    @model_validator(mode="after")
    def _distinct(self) -> "Drives":
        seen: dict[tuple[str, str], int] = {}
        for leg, drive in enumerate(self.legs, start=1):
            if drive.identity in seen:
                raise ValueError(f"legs {seen[drive.identity]} and {leg} share {drive.label}")
            seen[drive.identity] = leg
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled by what it says: its class is made for the driver in every process anew."""
        return read_drives, (self.model_dump(),)


def leg_section(driver: str) -> type[LegDrive]:
    """The model of a leg's table with the address that `driver` asks for. Raises ConfigurationError: no such driver."""
    return _sections(driver, find_driver(driver))[0]


def read_drives(data: object) -> Drives:
    """The section that `data` describes, by the models of the drivers that it names. Raises ValidationError."""
    if isinstance(data, Drives):
        return data
    data = with_present_driver(data)
    name = data.get("driver", DRIVER) if isinstance(data, Mapping) else DRIVER
    try:
        section = _sections(name, find_driver(name))[1] if isinstance(name, str) else Drives
    except ActuatorError as error:
        raise refused("Drives", "driver", name, str(error)) from error
    return section.model_validate(data)


def _read_leg(usual: str, data: object) -> LegDrive:
    """The leg's table that `data` is, by the model of the driver that it names, or else of the `usual` one."""
    if isinstance(data, LegDrive):
        return data
    data = with_present_driver(data)
    name = data.get("driver") if isinstance(data, Mapping) else None
    if not isinstance(name, str) or name == usual:
        return leg_section(usual).model_validate(data)
    try:
        section = leg_section(name)
    except ActuatorError as error:
        raise refused("LegDrive", "driver", name, str(error)) from error
    given = dict(data) if isinstance(data, Mapping) else {}
    return section.model_validate(given | {"settings": given.get("settings") or {}})


@cache
def _sections(name: str, driver: Driver) -> tuple[type[LegDrive], type[Drives]]:
    """Models of a leg's table and of the section, for one driver."""
    make: Any = create_model
    own = (driver.settings | None, None)
    leg = make("LegDrive", __base__=(driver.address, LegDrive), __module__=__name__, settings=own)
    any_leg: Any = Annotated[SerializeAsAny[LegDrive], PlainValidator(partial(_read_leg, name))]
    legs = (tuple.__class_getitem__((any_leg,) * LEGS), ...)
    return leg, make("Drives", __base__=(Drives, driver.settings), __module__=__name__, legs=legs)


AnyDrives = Annotated[SerializeAsAny[Drives], PlainValidator(read_drives)]
"""`Drives` with the models of whatever driver the section names."""
