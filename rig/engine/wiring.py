"""Proof of the legs' wiring by recorded leg tests.

A leg's test shows a person that the drive at its address moves that leg. It is valid for the wiring of that time: the
drive's address, driver, profile and, if known, serial number, the leg's joints on the drawing, and the source of its
load cell's readings. The record is a file next to the configuration, read when the drives are connected.
"""

import hashlib
import json
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue
from typing import Annotated, Any

import tomlkit
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from actuators import DriveAddress, LineTimes, SerialEndpoint, find_driver
from kinematics import InputFileError, MissingFileError, parse_toml, read_text
from rig.config import RigConfig, config_faults
from rig.csvio import whole_file
from rig.engine.leg_move import LegResult
from rig.engine.snapshot import Unproven
from rig.errors import InputError, RefusedError
from rig.findings import Code, Finding

_CROSSING = {"swap_unit", "motor_exchanged", "encoder_exchanged", "cell_exchanged"}
"""faults of a virtual rig that change its wiring"""
_CLOSING_TIMEOUT = 5.0  # s for the disk
_HEAD = (
    "# Legs that were watched while they were tested (rig setup leg): each was the one that it is wired as.\n"
    "# A leg that is wired otherwise, or whose drive says another serial number, has to be tested again.\n\n"
)


class _Tested(BaseModel):
    """A leg's test on record."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    leg: Annotated[int, Field(ge=1, le=6)]
    wiring: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    serial: str = ""
    tested: datetime


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    leg: Annotated[list[_Tested], Field(max_length=6)] = []


def record_path(config: RigConfig) -> Path:
    """Path of the record of a rig's leg tests: next to its configuration; for a shipped one with its recordings."""
    folder = Path(config.recording.directory) if config.shipped else config.folder
    return folder / f"{config.path.stem}.wiring.toml"


def proven_by_construction(config: RigConfig) -> bool:
    """Whether the wiring is correct by construction: the program itself makes the rig by the configuration."""
    return config.virtual is not None and not any(fault.fault in _CROSSING for fault in config.virtual.faults)


def unproven(config: RigConfig, serials: Sequence[str], struck: Sequence[int] = ()) -> Unproven | None:
    """Finding of the legs without a recorded test; None if all have one.

    Args:
        config: the rig.
        serials: number of each drive, "" for none.
        struck: legs, 1 to 6, whose tests on record are to be removed.
    """
    if proven_by_construction(config):
        return None
    try:
        tested = {entry.leg: entry for entry in _read(config).leg if entry.leg not in struck}
        wirings = [_wiring(config, leg) for leg in range(1, 7)]
    except InputError as error:
        return Unproven(tuple(range(1, 7)), Finding(Code.UNPROVEN_UNREADABLE, details={"text": str(error)}))
    legs = []
    moved: dict[int, int] = {}  # where the drive that was tested at a leg is now
    for leg, serial in enumerate(serials, start=1):
        entry = tested.get(leg)
        if entry is None or entry.wiring != wirings[leg - 1] or entry.serial != serial:
            legs.append(leg)
        if entry is not None and entry.serial and entry.serial != serial and serials.count(entry.serial) == 1:
            moved[leg] = serials.index(entry.serial) + 1
    if not legs:
        return None
    found = Finding(Code.UNPROVEN, details={"legs": legs})
    exchanged = [f"{one} and {other}" for one, other in moved.items() if one < other and moved.get(other) == one]
    if exchanged:
        found = Finding(Code.UNPROVEN_EXCHANGED, details={"pairs": exchanged}, within=(found,))
    return Unproven(tuple(legs), found)


def put_on_record(config: RigConfig, result: LegResult) -> Path:
    """Record a passed test of a leg that a person confirmed. Returns the file.

    Raises:
        RefusedError: it did not pass.
        InputError: the file cannot be written, or holds something else.
    """
    if not result.passed:
        raise RefusedError(Finding(Code.TEST_NOT_PASSED, result.leg))
    now = datetime.now(UTC).replace(microsecond=0)
    entry = _Tested(leg=result.leg, wiring=_wiring(config, result.leg), serial=result.serial, tested=now)
    return _write(config, [result.leg], entry)


def strike_from_record(config: RigConfig, *legs: int) -> None:
    """Remove the recorded tests of legs 1 to 6, after another leg moved or forces named them. Raises InputError."""
    if record_path(config).exists() and any(each.leg in legs for each in _read(config).leg):
        _write(config, legs)


class RecordStrikes:
    """Removes recorded tests of legs, as `strike_from_record`; once started, in a thread, so that no cycle waits.

    Args:
        config: the rig.
        report: receives what went wrong, in that thread.
    """

    def __init__(self, config: RigConfig, report: Callable[[Finding], None]) -> None:
        self.report = report
        self._config = config
        self._queue: SimpleQueue[tuple[int, ...]] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._asked: tuple[int, ...] = ()
        self._orders = self._done = 0

    def start(self) -> None:
        """Write in a separate thread from now on."""
        self._thread = threading.Thread(target=self._serve, name="wiring-record", daemon=True)
        self._thread.start()

    @property
    def pending(self) -> tuple[int, ...]:
        """Legs, 1 to 6, whose tests may still be on record, as the file is not written yet or could not be."""
        return self._asked if self._done < self._orders else ()

    def strike(self, *legs: int) -> None:
        """Remove the recorded tests of legs 1 to 6."""
        self._asked = (*self.pending, *legs)
        self._orders += 1
        self._queue.put(legs)
        if self._thread is None:
            self._write_next()

    def close(self) -> None:
        """Write what is pending, for a limited time."""
        if self._thread is not None:
            self._queue.put(())
            self._thread.join(_CLOSING_TIMEOUT)

    def _serve(self) -> None:
        while self._write_next():
            pass

    def _write_next(self) -> bool:
        """Carry out the next order; False at the end."""
        legs = self._queue.get()
        if not legs:
            return False
        try:
            strike_from_record(self._config, *legs)
            self._done += 1
        except InputError as error:
            self.report(Finding(Code.RECORD_NOT_STRUCK, details={"legs": list(legs), "text": str(error)}))
        return True


def _write(config: RigConfig, legs: Sequence[int], *entries: _Tested) -> Path:
    """Replace the records of `legs` by `entries`."""
    path = record_path(config)
    others = [each for each in _read(config).leg if each.leg not in legs]
    records = sorted([*others, *entries], key=lambda each: each.leg)
    tables = tomlkit.aot()
    for each in records:
        tables.append(tomlkit.item(each.model_dump()))
    document = tomlkit.document()
    document.add("leg", tables)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
    with whole_file(path) as file:
        file.write(_HEAD + tomlkit.dumps(document))
    return path


def _read(config: RigConfig) -> _Record:
    """The record; empty without a file. Raises InputError."""
    path = record_path(config)
    try:
        return _Record.model_validate(parse_toml(read_text(path)))
    except MissingFileError:
        return _Record()
    except (InputFileError, OSError, UnicodeDecodeError) as error:
        raise InputError(f"tests of legs on record, {path}: {error}") from None
    except ValidationError as error:
        faults = [fault.text for fault in config_faults(error)]
        raise InputError(f"tests of legs on record, {path}: {'; '.join(faults)}") from None


def _wiring(config: RigConfig, leg: int) -> str:
    """Identification of a leg's (1 to 6) wiring, without the drive's serial number."""
    drives, cells, geometry, at = config.drives, config.load_cells, config.nominal.geometry, leg - 1
    address = drives.legs[at]
    driver, places = drives.driver_of(at), list(cells.places.values())
    settings = {name: value for name, value in drives.settings_of(at).items() if name not in LineTimes.model_fields}
    for name in find_driver(driver).settings.files:
        settings[name] = _content(settings[name])
    content: dict[str, Any] = {
        "leg": leg,
        "drive": _place(address),
        "position_offset": address.position_offset,
        "driver": driver,
        "settings": settings,
        "base": geometry.base_points[at].tolist(),
        "platform": geometry.platform_points[at].tolist(),
        "cell": [cells.source, _place(places[at if len(places) > 1 else 0]) if places else "", at],
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def _place(address: DriveAddress) -> tuple[str, str]:
    """Identification of a device's address; a serial port's is its path as configured.

    What a path under /dev/serial/by-id leads to, such as ttyUSB0, changes as adapters are found again.
    """
    end = address.endpoint
    return ("", f"{end.device} unit {address.unit}") if isinstance(end, SerialEndpoint) else address.identity


def _content(file: str) -> str:
    """Content of a driver's file, wherever it is; for a shipped one its name. Raises InputError."""
    if not Path(file).is_absolute():
        return file
    try:
        return read_text(file)
    except (InputFileError, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: {error}") from None
