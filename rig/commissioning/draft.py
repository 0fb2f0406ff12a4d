"""Draft of a new rig's configuration: driver settings, found drives, and conversion to a validated file."""

import ast
import inspect
import math
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import tomlkit
from pydantic import BaseModel
from tomlkit.items import AoT, Array, Table

from actuators import (
    CAN_SCHEME,
    ActuatorError,
    ConfigurationError,
    ModbusAddress,
    TcpAddress,
    find_driver,
)
from calibration import CalibrationError, LoadCellCalibration, calibration_file_name, save_cell_calibration
from dynamics import mechanism_names
from kinematics import (
    InputFileError,
    NumberTextError,
    add_toml_entry,
    align_comment,
    interpreted,
    parse_toml,
    read_number,
    read_text,
    toml_item,
)
from rig.config import RigConfig, Safety, law_names, load_config, names_file, parse_config, relaxed_bounds
from rig.csvio import check_output, whole_file
from rig.engine import DriveGroup, make_drive_group
from rig.errors import ConfigError, ConfigFault, InputError
from rig.findings import Code, Finding, Value
from rig.safety import check_loop
from rig.telemetry import CHANNELS
from rig.virtual import VirtualRig

_PROFILE = "profile"
FIRST_REPLY_TIMEOUT = 0.25
"""s, for replies on a line, where a drive that is slower than configured is still measured."""
_PATIENCE = 4.0  # times the longest measured reply delay, for which replies are waited for


@dataclass(frozen=True, slots=True)
class OwnSetting:
    """One setting of a driver. usual: default in TOML notation, "" for none. about: description."""

    name: str
    usual: str
    about: str


def has_profile(driver: str) -> bool:
    """Return whether a driver uses a register map; False for an unknown driver."""
    return _PROFILE in _fields(driver)


def own_settings(driver: str) -> tuple[OwnSetting, ...]:
    """Return a driver's settings besides the profile, which drafts store separately; none for an unknown driver."""
    fields = _fields(driver)
    about = _setting_texts(find_driver(driver).settings) if fields else {}
    return tuple(
        OwnSetting(name, _written(field.get_default(call_default_factory=True)), about.get(name, ""))
        for name, field in fields.items()
        if name != _PROFILE
    )


def usual_frame(driver: str) -> tuple[str, int] | None:
    """Return default parity and stop bits of a driver's serial ports; None if it has none."""
    fields = find_driver(driver).address.model_fields
    return (fields["parity"].default, fields["stop_bits"].default) if "parity" in fields else None


def usual_unit(driver: str) -> int:
    """Return the default unit id of a driver's drives."""
    return int(find_driver(driver).address.model_fields["unit"].default)


def speaks_modbus(driver: str) -> bool:
    """Return whether a scan request only reads from the driver's drives; for others it could be a command."""
    return issubclass(find_driver(driver).address, ModbusAddress | TcpAddress)


def setting_value(text: str) -> Any:
    """Parse a setting entered by a user: a TOML value (0.2, true, { … }), any other text unchanged.

    A number may have a decimal comma; digit grouping is not supported.
    """
    bare = text.strip()
    if "_" in bare and bare.lstrip("+-")[:1].isdecimal():  # TOML would accept it as a number
        return bare
    try:
        table = tomllib.loads(f"value = {bare}")
    except (ValueError, RecursionError):  # not TOML, too many digits, or nested too deep
        with suppress(NumberTextError):
            return read_number(bare) if "," in bare else bare
        return bare
    return table["value"] if table.keys() == {"value"} else text


def _fields(driver: str) -> dict[str, Any]:
    try:
        return find_driver(driver).settings.model_fields
    except ActuatorError:
        return {}


def _written(value: object) -> str:
    return "" if value is None else toml_item(value).as_string()


def _setting_texts(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstrings of the fields of a model and its bases, by field."""
    texts = {}
    for kind in reversed(model.__mro__[: model.__mro__.index(BaseModel)]):
        try:
            (definition,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
        except (OSError, TypeError, SyntaxError):
            continue  # third-party class without source
        assert isinstance(definition, ast.ClassDef)
        for entry, text in pairwise(definition.body):
            match entry, text:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(docstring))):
                    texts[name] = " ".join(docstring.split())
    return texts


def check_devices(config: RigConfig, path: Path | None = None, *, cells: bool = True) -> None:
    """Create the drives, cells and, for a virtual rig, their counterparts and faults, without connecting.

    Args:
        config: the rig.
        path: file name for the message; None: the current one.
        cells: whether drives that are to read load cells must have some.

    Raises:
        ConfigError: a driver or profile rejects its configuration, or lacks a mode of the control law or a load cell, a
            drive cannot represent every length of its leg, the load cells' calibration is unusable, or the virtual rig
            cannot be served.
    """
    path = path or config.path
    try:
        with interpreted():  # once: the compiler takes 40 times as long to load
            drives = make_drive_group(config)
            found = [*drives.lacking(cells=cells).values(), *_out_of_reach(config, drives)]
            if config.virtual is not None and not found:
                VirtualRig(config)
    except (ConfigurationError, CalibrationError) as error:
        raise ConfigError(_unusable(path), [ConfigFault((), Finding.of_text(str(error)))]) from error
    except ConfigError as error:
        raise ConfigError(_unusable(path), [ConfigFault((), error.finding)]) from error
    if found:
        raise ConfigError(_unusable(path), [ConfigFault((), one) for one in found])


def _unusable(path: Path) -> Finding:
    return Finding(Code.CONFIG_UNUSABLE, details={"path": str(path)})


def _out_of_reach(config: RigConfig, drives: DriveGroup) -> Iterator[Finding]:
    offsets = [address.position_offset for address in config.drives.legs]
    for number, (leg, (shortest, longest), offset, home) in enumerate(
        zip(config.machine.legs, drives.reach, offsets, config.marks, strict=True), start=1
    ):
        assert leg.limits is not None and leg.limits.length is not None  # ensured by `load_config`
        low, high = leg.limits.length
        if low < shortest or high > longest:
            reach: dict[str, Value] = {"shortest": shortest, "longest": longest, "low": low, "high": high}
            details = reach | {"offset": offset, "home": float(home)}
            yield Finding(Code.LEG_BEYOND_DRIVE, number, details=details)


_COMMENT_COLUMN = 39
_HEADER = (
    'Plain numbers are SI; text may carry a unit ("300 mm"). What is left out takes its default:',
    "[control], [safety], [motion] and [realtime] among it. docs/configuration.md of the program",
    "lists every key with its unit, its bounds and its default.",
)


@dataclass(frozen=True, slots=True)
class DriveAddress:
    """Address of a leg's drive; with `serial`, the number it must have ("" = any).

    device: a serial port or a CAN bus, instead of host and port. baud, parity, stop_bits: of the port, the first also
    of the bus, 0 or "" for the driver's default. position_offset: m, the leg's length where the drive reads zero.
    reply_delay: s, on a port or where messages go in turn, 0 if unknown.
    """

    host: str = ""
    port: int = 502
    unit: int = 1
    serial: str = ""
    device: str = ""
    baud: int = 0
    parity: str = ""
    stop_bits: int = 0
    position_offset: float = 0.0
    reply_delay: float = 0.0

    @property
    def entry(self) -> dict[str, Any]:
        """Return the leg's table in a configuration."""
        common = {"unit": self.unit, "serial": self.serial, "position_offset": self.position_offset or ""}
        if self.device.startswith(CAN_SCHEME):
            return {"device": self.device, "bitrate": self.baud or "", **common}
        common["reply_delay"] = self.reply_delay or ""
        if not self.device:
            return {"host": self.host, "port": self.port, **common}
        line = {"baud": self.baud or "", "parity": self.parity, "stop_bits": self.stop_bits or ""}
        return {"device": self.device, **line, **common}


@dataclass(frozen=True, slots=True)
class CellAmplifier:
    """A separate load-cell amplifier, at a host and port or a serial port; see `DriveAddress`."""

    host: str = ""
    port: int = 502
    unit: int = 1
    profile: str = "generic-amplifier"
    device: str = ""
    baud: int = 0
    parity: str = ""
    stop_bits: int = 0

    @property
    def entry(self) -> dict[str, Any]:
        """Return the amplifier's table in a configuration."""
        line = (self.device, self.baud, self.parity, self.stop_bits)
        address = DriveAddress(self.host, self.port, self.unit, "", *line)
        return address.entry | {"profile": self.profile}


@dataclass(frozen=True, slots=True)
class Draft:
    """A configuration being edited by the user; validated only by `draft_config`. SI units.

    `mechanism` and the profiles are names of shipped ones or paths; relative paths refer to the output file's folder.
    `task_bandwidth`: Hz, of mode computed-torque; None for the default. `gains`: stiffness N/m and damping N s/m of a
    leg; None for the defaults.
    `settings`: the driver's non-default ones by name; its profile is separate.
    `amplifier` None: the drives report the load cells. `calibration`: file name, "" for none. `sensors`: the tables
    [[sensors]], as in the file. `virtual`: a rehearsal with virtual drives, IMUs and trackers on this computer.
    """

    name: str = ""
    mechanism: str = "lab-hexapod"
    mode: str = "force"
    rate: float = 500.0
    task_bandwidth: float | None = None
    gains: tuple[float, float] | None = None
    driver: str = "servo"
    profile: str = "generic-servo"
    watchdog: float = 0.05
    settings: Mapping[str, Any] = field(default_factory=dict)
    drives: tuple[DriveAddress, ...] = (DriveAddress(),) * 6
    amplifier: CellAmplifier | None = None
    noise: float | None = 0.5
    range: float | None = 800.0
    calibration: str = ""
    recording: str = "recordings"
    sensors: tuple[Mapping[str, Any], ...] = ()
    virtual: bool = False


def draft_text(draft: Draft) -> str:
    """Return the draft as the text of its TOML file, whether valid or not."""
    document = tomlkit.document()
    for line in _HEADER:
        document.add(tomlkit.comment(line))
    document.add(tomlkit.nl())
    _add(document, "name", draft.name)
    _add(document, "mechanism", draft.mechanism, "a shipped one, or a TOML file from here")
    _add(document, "mode", draft.mode, "or " + ", ".join(f'"{law}"' for law in law_names() if law != draft.mode))
    _add(document, "rate", draft.rate, "Hz, cycles per second")
    control = tomlkit.table()
    if draft.task_bandwidth is not None:
        _add(control, "task_bandwidth", draft.task_bandwidth, "Hz, of the error; or two matrices in its place")
    elif draft.gains is not None:
        _add(control, "stiffness", draft.gains[0], "N/m of each leg, stable at this rate")
        _add(control, "damping", draft.gains[1], "N s/m")
    if control:
        document.add("control", control)
    drives = tomlkit.table()
    _add(drives, "driver", draft.driver)
    if has_profile(draft.driver):
        _add(drives, "profile", draft.profile, "the drives' register map")
    _add(drives, "watchdog", draft.watchdog, "s of silence after which a drive stops by itself")
    for key, value in draft.settings.items():
        _add(drives, key, value)
    drives.add("legs", _legs(draft.drives))
    document.add("drives", drives)
    document.add("load_cells", _load_cells(draft))
    recording = tomlkit.table()
    _add(recording, "directory", draft.recording, "starts where the command runs")
    document.add("recording", recording)
    if draft.sensors:
        document.add("sensors", _tables(draft.sensors))
    if draft.virtual:
        safety = tomlkit.table()
        for key, value in relaxed_bounds(draft.watchdog, draft.rate, Safety()).items():
            _add(safety, key, value, "cycles; virtual drives on a busy machine")
        document.add("safety", safety)
        virtual = tomlkit.table()
        align_comment(virtual, "[virtual]", "a rehearsal; without this table: real drives", _COMMENT_COLUMN)
        _add(virtual, "seed", 1)
        simulated = [{"name": sensor.get("name", "")} for sensor in draft.sensors if _has_twin(sensor)]
        if simulated:
            virtual.add("sensors", _tables(simulated))
        document.add("virtual", virtual)
    return f"{tomlkit.dumps(document).rstrip()}\n"


def _tables(tables: Sequence[Mapping[str, Any]]) -> AoT:
    found = tomlkit.aot()
    for entries in tables:
        table = tomlkit.table()
        for key, value in entries.items():
            _add(table, key, value)
        found.append(table)
    return found


def _has_twin(sensor: Mapping[str, Any]) -> bool:
    """Return whether a virtual rig can simulate a sensor."""
    return sensor.get("kind") in CHANNELS and str(sensor.get("source", "")).startswith("udp://")


def _legs(drives: tuple[DriveAddress, ...]) -> Array:
    legs = tomlkit.array()
    gap = " " * (_COMMENT_COLUMN - len("legs = ["))
    legs.add_line(indent=gap, newline=False, comment="legs 1 to 6; a serial number given must answer")
    for drive in drives:
        legs.add_line(toml_item(_given(drive.entry)))
    legs.add_line(indent="")  # closing bracket on its own line
    return legs


def _load_cells(draft: Draft) -> Table:
    cells = tomlkit.table()
    _add(cells, "source", "amplifier" if draft.amplifier else "drive", "what reads the cells")
    if draft.noise is not None:
        _add(cells, "noise", draft.noise, "N, standard deviation to expect")
    if draft.range is not None:
        _add(cells, "range", draft.range, "N, end of scale")
    if draft.calibration:
        _add(cells, "calibration", draft.calibration, "beside this file")
    if draft.amplifier is not None:
        _add(cells, "amplifier", _given(draft.amplifier.entry))
    return cells


def draft_config(draft: Draft, path: Path, *, cells: bool = True) -> RigConfig:
    """Return the draft's configuration for the file `path`, with devices checked, without writing it.

    cells: see `check_devices`.

    Raises:
        ConfigError: an invalid draft; all faults found.
    """
    config = parse_config(_encodable(draft_text(draft), path), path)
    check_devices(config, path, cells=cells)
    return config


def draft_faults(draft: Draft, path: Path) -> tuple[ConfigFault, ...]:
    """Return the draft's faults for the file `path`, each with its key in the file; devices are not checked."""
    try:
        parse_config(_encodable(draft_text(draft), path), path)
    except ConfigError as error:
        return error.found
    return ()


def save_draft(draft: Draft, path: Path, *, overwrite: bool = False) -> RigConfig:
    """Write the draft to `path` atomically: the file is read back and validated before it gets its name.

    Raises:
        InputError: the file exists and `overwrite` is false, or it cannot be written.
        ConfigError: the draft is not valid; all faults found.
    """
    check_output(path)
    _check_free(path, overwrite)
    with whole_file(path) as file:
        file.write(_encodable(draft_text(draft), path))
        file.flush()
        try:
            config = load_config(Path(file.name))
        except ConfigError as error:
            raise ConfigError(Finding(Code.CONFIG_NOT_WRITTEN, details={"path": str(path)}), error.found) from error
        check_devices(config, path)
        _check_free(path, overwrite)
    return load_config(path)


def save_rig(draft: Draft, path: Path, zero: LoadCellCalibration | None, *, overwrite: bool = False) -> RigConfig:
    """Write the draft as `save_draft`, with a calibration of its load cells in a new file next to it.

    Raises:
        InputError, ConfigError: as `save_draft`; the calibration is then deleted, unless the file names it.
        CalibrationError: the calibration's file cannot be written; nothing is.
    """
    if zero is None:
        return save_draft(draft, path, overwrite=overwrite)
    check_output(path)
    calibration_path = free_calibration_path(path.parent, zero.date)
    save_cell_calibration(calibration_path, zero)
    try:
        return save_draft(replace(draft, calibration=calibration_path.name), path, overwrite=overwrite)
    except BaseException:
        if not _names(path, calibration_path.name):  # it may have been written before the error
            calibration_path.unlink()
        raise


def _names(path: Path, calibration: str) -> bool:
    """Return whether the file `path` names a calibration; False if unreadable."""
    try:
        cells = parse_toml(read_text(path)).get("load_cells")
    except InputFileError:
        return False
    return isinstance(cells, dict) and cells.get("calibration") == calibration


def free_calibration_path(folder: Path, day: date) -> Path:
    """Return an unused file name in `folder` for a calibration of that day."""
    first = folder / calibration_file_name(day)
    path, number = first, 2
    while path.exists():
        path = first.with_stem(f"{first.stem}-{number}")
        number += 1
    return path


def placed_mechanism(name: str, folder: Path) -> str:
    """Return the name of a mechanism for a configuration in `folder`: a shipped name, or a path.

    A path below `folder` becomes relative to it, another one absolute.
    """
    return name if name in mechanism_names() else _placed(Path(name), folder)


def placed_profile(name: str, folder: Path) -> str:
    """Return the name of a device profile for a configuration in `folder`, see `placed_mechanism`."""
    return _placed(Path(name), folder) if names_file(name) else name


def _placed(path: Path, folder: Path) -> str:
    path, base = path.resolve(), folder.resolve()
    return path.relative_to(base).as_posix() if path.is_relative_to(base) else str(path)


def with_serials(draft: Draft, serials: dict[int, str]) -> Draft:
    """Return the draft with the serial numbers found, by leg 1 to 6; they are then required."""
    drives = tuple(
        replace(drive, serial=serials.get(leg, drive.serial)) for leg, drive in enumerate(draft.drives, start=1)
    )
    return replace(draft, drives=drives)


def with_patience(draft: Draft) -> Draft:
    """Return the draft to query its drives with: without a `reply_timeout` of its own, it waits long for replies."""
    if draft.virtual or "reply_timeout" in draft.settings or _usual_timeout(draft.driver) is None:
        return draft
    return replace(draft, settings={**draft.settings, "reply_timeout": FIRST_REPLY_TIMEOUT})


def with_reply_delays(draft: Draft, delays: Mapping[int, float]) -> Draft:
    """Return the draft with measured reply delays (s), by leg 1 to 6, for the plan of its lines.

    Without a `reply_timeout` of its own it has one of four times the longest, if the driver's default is shorter.
    """
    drives = tuple(
        replace(drive, reply_delay=delays.get(leg, drive.reply_delay))
        for leg, drive in enumerate(draft.drives, start=1)
    )
    needed = math.ceil(_PATIENCE * 1e3 * max(delays.values(), default=0.0)) / 1e3
    usual = _usual_timeout(draft.driver)
    settings = draft.settings
    if usual is not None and "reply_timeout" not in settings and needed > usual:
        settings = {**settings, "reply_timeout": needed}
    return replace(draft, drives=drives, settings=settings)


def _usual_timeout(driver: str) -> float | None:
    """Return the default `reply_timeout` of a driver, s; None if it has none."""
    setting = _fields(driver).get("reply_timeout")
    return None if setting is None else float(setting.default)


def with_stable_gains(draft: Draft, config: RigConfig) -> tuple[Draft, Finding | None]:
    """Return the draft with gains of the legs that have the required margin at its rate, and what was changed.

    config: of the draft. Left alone are a draft whose default gains have it, and one whose law has no such gains.
    """
    loop = check_loop(config)
    if not (loop.at_host and loop.at_legs) or loop.remembers or loop.bandwidth is not None or not loop.message:
        return draft, None
    factor = loop.gain_margin / loop.wanted
    if not 0.0 < factor < 1.0:
        return draft, None
    stiffness, damping = (_rounded_down(factor * gain) for gain in (loop.stiffness, loop.damping))
    details: dict[str, Value] = {
        "stiffness": loop.stiffness,
        "damping": loop.damping,
        "rate": loop.rate,
        "new_stiffness": stiffness,
        "new_damping": damping,
    }
    return replace(draft, gains=(stiffness, damping)), Finding(Code.GAINS_FITTED, details=details)


def _rounded_down(gain: float) -> float:
    """Return a gain with two digits, not above it."""
    step = 10.0 ** (math.floor(math.log10(gain)) - 1)
    return math.floor(gain / step) * step


def _check_free(path: Path, overwrite: bool) -> None:
    if path.exists() and not overwrite:
        raise InputError(f"{path} exists already; it is replaced only where that is asked for")


def _encodable(text: str, path: Path) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        found = Finding(Code.CHARACTER_UNUSABLE, details={"character": text[error.start]})
        raise ConfigError(_unusable(path), [ConfigFault((), found)]) from None
    return text


def _add(table: tomlkit.TOMLDocument | Table, key: str, value: Any, comment: str = "") -> None:
    add_toml_entry(table, key, value, comment, _COMMENT_COLUMN)


def _given(table: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if value != "" or key == "host"}
