"""A rig's configuration: one TOML file that names the mechanism and describes the rig, validated whole."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import AfterValidator, Field, PrivateAttr, ValidationError

from actuators import Capabilities, cell_device_step, create_drive, drive_cell_step, find_driver
from calibration import (
    CalibrationError,
    CellErrors,
    ParameterFile,
    cell_errors,
    load_cell_calibration,
    load_parameters,
    overlaid,
    rounded_noise,
)
from dynamics import (
    DynamicsError,
    MachineSize,
    Mechanism,
    MechanismError,
    format_mechanism,
    load_mechanism,
    machine_size,
)
from kinematics import Array, Frequency, InputFileError, MissingFileError, parse_toml, read_text, within
from rig.config.acceptance import Acceptance
from rig.config.conflicts import conflicts
from rig.config.control_laws import AnyLaws, LawDeclaration, find_law
from rig.config.declarations import ExtensionSettings
from rig.config.digital_io import AnyIo
from rig.config.faulty_values import config_faults, finding_of
from rig.config.fmu import ReferenceFmu
from rig.config.load_cells import AnyCells, read_cells
from rig.config.sections import (
    LEGS,
    MOST_STALE_CYCLES,
    AnyDrives,
    Control,
    Motion,
    Realtime,
    RecordingOptions,
    Safety,
    Section,
    Stream,
    Text,
    Validation,
    resolve_name,
    with_found_files,
)
from rig.config.sensors import MOST_SENSORS, SensorOptions
from rig.config.shapes import Picture
from rig.config.task_gains import TaskGains, task_gains
from rig.config.virtual_rig import Virtual
from rig.errors import ConfigError, ConfigFault
from rig.findings import Code, Finding

LEAST_RATE = 5.0
"""Lowest rate of a rig, Hz."""
_FORCE, _LENGTH, _MASS, _SPEED = "force", "length", "mass", "speed"

SCALED: Mapping[tuple[str, ...], Mapping[str, tuple[str, ...]]] = {
    ("control",): {"stiffness": (_MASS,), "damping": (_MASS,)},
    ("safety",): {
        "force_residual": (_FORCE,),
        "characteristic_length": (_LENGTH,),
        "homing_tolerance": (_LENGTH,),
        "tare_shift": (_FORCE,),
        "brake_slip": (_LENGTH,),
    },
    ("motion",): {"approach_speed": (_SPEED,), "approach_rotation": (_SPEED, f"-{_LENGTH}")},
    ("load_cells",): {"noise": (_FORCE,), "range": (_FORCE,)},
    ("virtual", "drive"): {
        "force_limit": (_FORCE,),
        "homing_speed": (_SPEED,),
        "position_stiffness": (_MASS,),
        "position_damping": (_MASS,),
        "brake_stiffness": (_MASS,),
        "brake_damping": (_MASS,),
        "brake_force": (_FORCE,),
        "quick_stop_damping": (_MASS,),
        "start_spread": (_LENGTH,),
    },
    ("virtual", "cells"): {"noise": (_FORCE,)},
    ("virtual", "plant", "tolerance"): {"center": (_LENGTH,), "cell_bias": (_FORCE,)},
}
"""Keys by section, and the size quantities that each scales with; "-": inversely."""


def with_scaled_defaults(config: RigConfig, machine: Mechanism) -> tuple[RigConfig, list[ConfigFault]]:
    """Return the configuration with the defaults of `SCALED` for this machine, and faults for invalid ones."""
    size = machine_size(machine)
    faults: list[ConfigFault] = []
    for way, keys in SCALED.items():
        config = _scaled(config, way, keys, size, faults)
    return config, faults


def _with_bounds_of_drives(config: RigConfig, given: Set[str]) -> RigConfig:
    """Return the configuration with the bounds that its drivers state, except those of [safety] that are `given`."""
    drivers = [find_driver(config.drives.driver_of(leg)) for leg in range(6)]
    safety, bounds = config.safety, dict[str, float]()
    supplies = {driver.supply for driver in drivers}
    supply = supplies.pop()
    if not supplies and supply is not None and not {"supply_min", "supply_max"} & given:
        bounds |= {"supply_min": supply[0], "supply_max": supply[1]}
    tolerance = max(driver.homing_tolerance or 0.0 for driver in drivers)
    if tolerance > safety.homing_tolerance and "homing_tolerance" not in given:
        bounds["homing_tolerance"] = tolerance
    return config.model_copy(update={"safety": safety.model_copy(update=bounds)}) if bounds else config


def _scaled(
    top: Any, way: tuple[str, ...], keys: Mapping[str, tuple[str, ...]], size: MachineSize, faults: list[ConfigFault]
) -> Any:
    """Return a copy of section `top` with scaled defaults of `keys` in the section at path `way` below it."""
    if way:
        part: Section | None = getattr(top, way[0])
        if part is None:
            return top
        found: list[ConfigFault] = []
        new = _scaled(part, way[1:], keys, size, found)
        faults += [replace(fault, key=(way[0], *fault.key)) for fault in found]
        return top if new is part else top.model_copy(update={way[0]: new})
    changes: dict[str, Any] = {}
    for key in keys.keys() - top.model_fields_set:
        factor = 1.0
        for power in keys[key]:
            factor *= 1.0 / getattr(size, power[1:]) if power.startswith("-") else getattr(size, power)
        value = getattr(top, key)
        if factor != 1.0:
            several = isinstance(value, tuple)
            changes[key] = tuple(_round(one * factor) for one in value) if several else _round(value * factor)
    try:
        type(top).model_validate(top.model_dump() | changes)
    except ValidationError as error:
        wrong = {str(item["loc"][0]): finding_of(item) for item in error.errors()}
        faults += [
            ConfigFault((key,), Finding(Code.SCALED_DEFAULT, within=(found,)))
            for key, found in wrong.items()
            if key in changes
        ]
    return top.model_copy(update=changes) if changes else top


def _round(value: float) -> float:
    return float(f"{value:.3g}")


_SHIPPED = Path(__file__).parent / "shipped"
_ENABLING_EXCHANGES = 4  # exchanges with a drive for the whole enabling handshake, or until its torque is off
_TORQUE_OFF = 0.5  # s, at the least, until a drive reports its commanded torque off
_CHECKED = 100.0  # samples of a motion in a second that are checked, at the least: a slow cycle misses its peaks
_NEEDED_LIMITS = ("length", "velocity", "acceleration", "force")


def _known_law(name: str) -> str:
    try:
        return find_law(name).name
    except ConfigError as error:
        raise ValueError(str(error)) from None


class DriveRamps(NamedTuple):
    """What drives allow that move to a length by a ramp of their own; infinite where one has none.

    Also infinite where the host closes the leg's loop.
    """

    speed: Array
    """(6,) m/s, greatest"""
    acceleration: Array
    """(6,) m/s², greatest"""
    trailing: Array
    """(6,) m/s², a of the lag v²/2a of those that brake for each length, as no speed comes with it"""


class RigConfig(Section):
    """A whole rig, validated; see `rig.config.sections` for the sections.

    `machine` is the loaded mechanism with the calibrated parameters, `nominal` the one without them, `folder` the base
    of relative paths in the file, `path` the file itself.
    """

    name: Text
    """Name of the rig in recordings, reports and messages."""
    mechanism: Text
    """Name of a shipped mechanism, or a TOML file relative to the configuration's folder."""
    parameters: Annotated[tuple[Text, ...], Field(max_length=100)] = ()
    """Files of calibrated parameters, relative to the folder; they override the mechanism's, later files earlier
    ones."""
    mode: Annotated[Text, AfterValidator(_known_law)] = "force"
    """Control law: "force", "computed-torque", "observer", "position", or one of another distribution; in "position"
    the drives close their own position loops."""
    rate: Annotated[Frequency, within(LEAST_RATE, 2000.0, "Hz")] = 500.0
    """Cycles per second."""
    control: Control = Control()
    """Gains and timing of the control law."""
    laws: AnyLaws = Field(default_factory=dict)
    """Settings of control laws of other distributions, a table for each, by the law's name."""
    safety: Safety = Safety()
    """Bounds on feedback, reference and timing."""
    motion: Motion = Motion()
    """Speeds of the rig's own moves."""
    stream: Stream = Stream()
    """Poses that are streamed in."""
    reference: ReferenceFmu | None = None
    """An FMU whose motion is followed as a stream."""
    drives: AnyDrives
    """The six drives."""
    load_cells: AnyCells = Field(default_factory=lambda: read_cells({}))
    """The six load cells."""
    io: AnyIo | None = None
    """Digital inputs and outputs; without this table there are none."""
    recording: RecordingOptions = RecordingOptions()
    """Folder, operator and note of recordings."""
    picture: Picture = Picture()
    """Shapes of the machine in pictures."""
    realtime: Realtime = Realtime()
    """Real-time settings requested from the operating system."""
    validation: Validation = Validation()
    """Thresholds of a run's verdict."""
    acceptance: Acceptance = Acceptance()
    """Sizes and thresholds of the acceptance test."""
    sensors: Annotated[tuple[SensorOptions, ...], Field(max_length=MOST_SENSORS)] = ()
    """External sensors that are read and recorded."""
    virtual: Virtual | None = None
    """The virtual rig; without this table the configuration describes real hardware."""

    _path: Path = PrivateAttr(default=Path())
    _machine: Mechanism = PrivateAttr()
    _nominal: Mechanism = PrivateAttr()
    _parameter_files: tuple[ParameterFile, ...] = PrivateAttr(default=())

    @property
    def path(self) -> Path:
        """Return the file it was loaded from."""
        return self._path

    @property
    def folder(self) -> Path:
        """Return the folder of the file's relative paths."""
        return self._path.parent

    @property
    def shipped(self) -> bool:
        """Return whether the file is part of the project, hence read-only."""
        return self.folder == _SHIPPED

    @property
    def machine(self) -> Mechanism:
        """Return the mechanism that `mechanism` names."""
        return self._machine

    @property
    def marks(self) -> Array:
        """Return lengths (6,) m of the homed legs at their reference marks.

        The marks were set for the nominal mechanism at its home; calibrated lengths are these less the drives' offsets.
        """
        return self._nominal.geometry.home_lengths - self._machine.length_offsets

    @property
    def nominal(self) -> Mechanism:
        """Return the mechanism of its file, without calibrated parameters."""
        return self._nominal

    @property
    def cell_errors(self) -> CellErrors:
        """Return the load cells' errors beyond their calibration, by the parameter files."""
        return cell_errors(self._parameter_files)

    @cached_property
    def cell_steps(self) -> tuple[float, ...]:
        """Return resolution steps (6,) N of the load cells' readings; 0 if unknown.

        `load_cells.resolution`; else the steps of the numbers that devices send, as far as their drivers know them,
        times the calibrated gains.

        Raises:
            ActuatorError, CalibrationError: a profile or the cells' calibration cannot be used.
        """
        return self.load_cells.resolution or sent_steps(self)

    @cached_property
    def command_waits(self) -> Array:
        """Return for how long each leg's drive waits at a commanded length for the next one, (6,) s; read-only.

        0 where the host closes the leg's loop, and where the drive carries the length on at the commanded speed. A
        length that is commanded for a later time than it arrives shortens the wait. A drive that takes over only some
        of the lengths waits longer.

        Raises:
            ConfigurationError: a driver or profile does not take what is configured.
        """
        return command_waits(self)

    @cached_property
    def drives_with_loops(self) -> Mapping[int, Capabilities]:
        """Return what the drives can do that close their legs' loops, by leg from 0. Raises as `command_waits`."""
        legs = np.flatnonzero(self.own_loops).tolist()
        return {leg: create_drive(self.drives.driver_of(leg), drive_options(self, leg)).capabilities for leg in legs}

    @cached_property
    def drive_ramps(self) -> DriveRamps:
        """Return what the drives' own ramps allow; arrays are read-only. Raises as `command_waits`."""
        return drive_ramps(self)

    @property
    def cell_noise(self) -> float:
        """Return the standard deviation of a load cell's reading, N, including rounding: √(noise² + step²/12).

        For the coarsest cell. Raises as `cell_steps`.
        """
        return float(rounded_noise(self.load_cells.noise, max(self.cell_steps)))

    @property
    def parameter_files(self) -> tuple[ParameterFile, ...]:
        """Return the loaded contents of the files in `parameters`."""
        return self._parameter_files

    @property
    def period(self) -> float:
        """Return the cycle period, s."""
        return 1.0 / self.rate

    @property
    def exchange_period(self) -> float:
        """Return the exchange period of a drive, for which a command holds, s: a cycle, or a slow drive's."""
        return max(self.period, self.drives.sample_period)

    @property
    def reading_period(self) -> float:
        """Return the time between two readings of the load cells, s: a cycle, or a slow device's."""
        own = self.drives.sample_period if self.load_cells.source == "drive" else self.load_cells.sample_period
        return max(self.period, own)

    @property
    def enable_time(self) -> float:
        """Return the maximum time from an enable command to a drive's confirmation, s."""
        return self.drives.enable_time + _ENABLING_EXCHANGES * self.exchange_period

    @property
    def torque_off_time(self) -> float:
        """Return the maximum time from a command without torque to a drive's confirmation, s."""
        return max(_TORQUE_OFF, _ENABLING_EXCHANGES * self.exchange_period)

    @property
    def check_rate(self) -> float:
        """Return how many samples of a motion are checked in a second, at the least, Hz: one in a cycle, or more."""
        return max(self.rate, _CHECKED)

    @property
    def stale_time(self) -> float:
        """Return the permitted age of a drive's feedback, s; if given in cycles, in those of slow drives."""
        return self.safety.staleness(self.exchange_period)

    @property
    def cells_stale_time(self) -> float:
        """Return the permitted age of the load cells' readings, s."""
        return self.safety.staleness(self.reading_period)

    @property
    def io_stale_time(self) -> float:
        """Return the permitted age of the inputs, s: of the slowest device that has some."""
        if self.io is None:
            return math.inf
        every = [*self.io.inputs.points.values(), *self.io.outputs.points.values()]
        periods = [self.period if point.leg is None else self.exchange_period for point in every]
        return self.safety.staleness(max(*periods, self.io.sample_period))

    @property
    def command_lead(self) -> float:
        """Return the time by which a command's reference is evaluated ahead of its cycle, s.

        `control.lead` if given; else half of `exchange_period`, for which a force is held, the drive's dead time and
        the time constant of its force loop. For a length, which the drive extrapolates at the commanded speed: the
        dead time (`length_lead`).
        """
        if all(self.own_loops):
            return self.length_lead
        return self.force_lead

    @property
    def force_lead(self) -> float:
        """Return `command_lead` for force commands, s."""
        if self.control.lead is not None:
            return self.control.lead
        return 0.5 * self.exchange_period + self.drives.delay + 1.0 / (2.0 * math.pi * self.drives.force_bandwidth)

    @property
    def length_lead(self) -> float:
        """Return `command_lead` for length commands, s; with both kinds `control.lead` applies to forces only."""
        mixed = any(self.own_loops) and not all(self.own_loops)
        return self.drives.delay if mixed or self.control.lead is None else self.control.lead

    @property
    def own_loops(self) -> tuple[bool, ...]:
        """Return by leg whether the drive closes its own position loop; else the host closes it by forces."""
        every = self.law.own_loops
        return tuple(every or leg.mode == "position" for leg in self.drives.legs)

    @property
    def law(self) -> LawDeclaration:
        """Return what the control law that `mode` names declares."""
        return find_law(self.mode)

    def law_settings(self, name: str) -> Any:
        """Return the settings of the control law called `name`, a model of the type that it declares."""
        found: ExtensionSettings | None = self.laws.get(name)
        return find_law(name).settings() if found is None else found

    @property
    def position_loop(self) -> tuple[float, float] | None:
        """Return stiffness, N/m, and damping, N s/m, of the drives' own position loops; None if unknown.

        Those of [drives]; for a virtual rig without them, those of its drives.
        """
        if self.drives.position_stiffness is not None and self.drives.position_damping is not None:
            return self.drives.position_stiffness, self.drives.position_damping
        return (
            None
            if self.virtual is None
            else (self.virtual.drive.position_stiffness, self.virtual.drive.position_damping)
        )

    @property
    def gains_unused(self) -> str:
        """Describe the gains of [control] that do not apply if all drives close their own loops; else empty."""
        if not all(self.own_loops):
            return ""
        return (
            "mode position: the drives close the loop by their own gains; control.stiffness, damping and the gains of "
            "computed-torque (control.task_…) do not apply"
        )

    @property
    def task_gains(self) -> TaskGains:
        """Return the gains of mode `computed-torque`: those of [control], or those of its bandwidth."""
        return task_gains(self)

    @property
    def calibration_path(self) -> Path | None:
        """Return the load cells' calibration file, or None."""
        name = self.load_cells.calibration
        return None if name is None else self.folder / name

    def resolved(self) -> dict[str, Any]:
        """Return all values including defaults as JSON-able data, for recordings and hashes.

        The gains of mode `computed-torque` are matrices or numbers there, also where a bandwidth gives them.
        """
        data = self.model_dump(mode="json")
        control = data["control"]
        if control["task_stiffness"] is None:
            gains = self.task_gains.numbers
            assert gains is not None
            control["task_stiffness"], control["task_damping"] = gains
            control["task_bandwidth"] = control["task_damping_ratio"] = None
        return data

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> RigConfig:
        """Return a copy, as pydantic's, without what was computed from the values before the update."""
        copy = super().model_copy(update=update, deep=deep)
        for name, value in vars(RigConfig).items():
            if isinstance(value, cached_property):
                copy.__dict__.pop(name, None)
        return copy

    def changed(self, changes: Mapping[str, Any]) -> RigConfig:
        """Return a copy with nested `changes`, `{"rate": 1000, "virtual": {"seed": 3}}`, validated like a file.

        Raises:
            ConfigError: an invalid change.
        """
        return _build(_merged(self.model_dump(mode="json"), changes), self._path)


def load_config(path_or_name: str | Path = "virtual") -> RigConfig:
    """Read and check a configuration with its mechanism: a shipped one by its bare name, or a TOML file.

    Raises:
        ConfigError: no such file, not TOML, or wrong values: all of them at once, each with its place in the file.
    """
    path = _find(path_or_name)
    try:
        text = read_text(path)
    except MissingFileError:
        known = ", ".join(shipped_configs())
        raise ConfigError(f"no such configuration: {path} (neither a file nor one of those shipped: {known})") from None
    except InputFileError as error:
        raise ConfigError(f"configuration {path}: {error}") from None
    return parse_config(text, path)


def parse_config(text: str, path: Path) -> RigConfig:
    """Check the text of the configuration file `path`, without reading the file.

    Raises:
        ConfigError: see `load_config`.
    """
    try:
        data = parse_toml(text)
    except InputFileError as error:
        raise ConfigError(f"configuration {path}: {error}") from None
    return _build(data, path)


def drive_options(config: RigConfig, leg: int) -> dict[str, Any]:
    """Return the options for the driver of a leg's (index) drive, and for its virtual counterpart."""
    drives = config.drives
    return {
        "name": f"drive {leg + 1}",
        "watchdog": drives.watchdog,
        "echo_lag": config.safety.echo_lag,
        "request_timeout": drives.connect_timeout,
        "sample_period": drives.sample_period,
        **drives.settings_of(leg),
        **drives.legs[leg].given,
    }


def cell_options(config: RigConfig) -> list[dict[str, Any]]:
    """Return the options for the driver of each of the load cells' own devices, and for its virtual counterpart."""
    cells = config.load_cells
    shared = {"request_timeout": config.drives.connect_timeout, "sample_period": cells.sample_period}
    return [
        {"name": place if cells.devices is None else f"load cell {number}", **shared, **address.model_dump()}
        for number, (place, address) in enumerate(cells.places.items(), start=1)
    ]


def io_options(config: RigConfig) -> dict[str, Any] | None:
    """Return the options for the driver of the block of inputs and outputs, and for its virtual counterpart."""
    io = config.io
    if io is None or io.block is None:
        return None
    return {
        "request_timeout": config.drives.connect_timeout,
        "sample_period": io.sample_period,
        "inputs": io.input_channels,
        "outputs": io.output_channels,
        **io.block.model_dump(),
    }


def sent_steps(config: RigConfig) -> tuple[float, ...]:
    """Return steps (6,) N of the cells' readings as sent by the devices, 0 where a driver does not know them.

    Raises ActuatorError, CalibrationError.
    """
    cells, drives = config.load_cells, config.drives
    if cells.source == "drive":
        drivers = [drives.driver_of(leg) for leg in range(LEGS)]
        raw = [drive_cell_step(driver, drive_options(config, leg)) for leg, driver in enumerate(drivers)]
    else:
        devices = [cell_device_step(cells.driver, options) for options in cell_options(config)]
        raw = devices if cells.devices is not None else devices * LEGS
    path = config.calibration_path
    gains = [1.0] * LEGS if path is None else np.abs(load_cell_calibration(path).gain).tolist()
    return tuple(step * gain for step, gain in zip(raw, gains, strict=True))


def command_waits(config: RigConfig) -> Array:
    """Return for how long each leg's drive waits at a commanded length, (6,) s; see `RigConfig.command_waits`."""
    waits = np.zeros(LEGS)
    earlier = max(0.0, config.length_lead - config.drives.delay)
    for leg, drive in config.drives_with_loops.items():
        if not drive.velocity_feedforward:
            waits[leg] = max(0.0, drive.set_point_exchanges * config.exchange_period - earlier)
    waits.setflags(write=False)
    return waits


def drive_ramps(config: RigConfig) -> DriveRamps:
    """Return the bounds of the drives' own ramps; see `RigConfig.drive_ramps`."""
    ramps = np.full((3, LEGS), np.inf)
    for leg, drive in config.drives_with_loops.items():
        ramps[:2, leg] = drive.speed_limit, drive.ramp_limit
        if not drive.velocity_feedforward:
            ramps[2, leg] = drive.ramp_limit
    ramps.setflags(write=False)
    return DriveRamps(*ramps)


def shipped_configs() -> list[str]:
    """Return the names of the shipped configurations."""
    return sorted(path.stem for path in _SHIPPED.glob("*.toml"))


def _find(path_or_name: str | Path) -> Path:
    shipped = _SHIPPED / f"{path_or_name}.toml"
    if isinstance(path_or_name, str) and path_or_name in shipped_configs():
        return shipped
    return Path(path_or_name)


def _build(data: Mapping[str, Any], path: Path) -> RigConfig:
    faults: list[ConfigFault] = []
    config: RigConfig | None = None
    try:
        config = RigConfig.model_validate(data)
    except ValidationError as error:
        faults.extend(config_faults(error, data))
    nominal, machine_faults = _load_machine(data.get("mechanism"), path.parent)
    machine = nominal
    files: list[ParameterFile] = []
    if config is not None and nominal is not None and config.parameters and not machine_faults:
        try:
            files = [load_parameters(path.parent / name) for name in config.parameters]
            machine = overlaid(nominal, files)
            machine = replace(machine, source=format_mechanism(machine))
            cell_errors(files)
        except CalibrationError as error:
            machine_faults = [_refused("parameters", line) for line in error.lines]
    faults.extend(machine_faults)
    if config is not None:
        given = config.safety.model_fields_set
        if nominal is not None:
            config, scale_faults = with_scaled_defaults(config, nominal)
            faults.extend(scale_faults)
        config = _with_bounds_of_drives(config, given)
        config = with_found_files(config, path.parent.absolute())
        config._path = path
        faults.extend(conflicts(config, machine if not machine_faults else None))
    if config is None or machine is None or nominal is None or faults:
        raise ConfigError(Finding(Code.CONFIG_UNUSABLE, details={"path": str(path)}), faults)
    config._machine, config._nominal = machine, nominal
    config._parameter_files = tuple(files)
    return config


def _load_machine(name: object, folder: Path) -> tuple[Mechanism | None, list[ConfigFault]]:
    if not isinstance(name, str) or not name:
        return None, []
    try:
        machine = load_mechanism(resolve_name(folder, name))
    except MechanismError as error:
        return None, [_refused("mechanism", line) for line in error.lines]
    except (DynamicsError, OSError) as error:
        return None, [_refused("mechanism", str(error))]
    found = []
    if machine.geometry.home is None:
        found.append(Finding(Code.NO_HOME, details={"mechanism": name}))
    for leg, part in enumerate(machine.legs, start=1):
        missing = [limit for limit in _NEEDED_LIMITS if part.limits is None or getattr(part.limits, limit) is None]
        if missing:
            found.append(Finding(Code.LIMITS_MISSING, leg, details={"mechanism": name, "limits": missing}))
    return machine, [ConfigFault(("mechanism",), one) for one in found]


def _refused(key: str, text: str) -> ConfigFault:
    return ConfigFault((key,), Finding(Code.VALUE_REFUSED, details={"text": text}))


def _merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(base)
    for key, value in changes.items():
        old = result.get(key)
        result[key] = _merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return result


_WATCHDOG_PART = 0.5  # fraction of a drive's watchdog


def relaxed_timing(config: RigConfig) -> RigConfig:
    """Return the configuration with tolerances of half a drive watchdog for late replies and cycles.

    For a demonstration on a shared computer whose six drives are one process: there a late reply is caused by the
    scheduler, not by a drive. A rig with real drives keeps its own bounds.
    """
    return config.changed({"safety": relaxed_bounds(config.drives.watchdog, config.rate, config.safety)})


def in_real_time(config: RigConfig) -> RigConfig:
    """Return the configuration with its virtual rig in real time; one of real hardware is unchanged."""
    return config if config.virtual is None else config.changed({"virtual": {"real_time": True}})


def relaxed_bounds(watchdog: float, rate: float, own: Safety) -> dict[str, int | float]:
    """Return the bounds of `relaxed_timing` by name: none below `own`, none that the schema rejects.

    Args:
        watchdog: of the drives, s; not validated yet, like `rate`.
        rate: Hz.
        own: bounds of the configuration.
    """
    cycles = int(max(0.0, min(float(MOST_STALE_CYCLES), _WATCHDOG_PART * watchdog * rate)))  # a number even for NaN
    overruns = max(cycles, own.overruns_in_a_row)
    if own.stale_time is not None:
        return {"stale_time": max(_WATCHDOG_PART * watchdog, own.stale_time), "overruns_in_a_row": overruns}
    return {"stale_cycles": max(cycles, own.stale_cycles), "overruns_in_a_row": overruns}
