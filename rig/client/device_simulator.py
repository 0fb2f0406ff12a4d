"""`rig twin`: one virtual device at a port that any client can open."""

import os
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from actuators import (
    CAN_SCHEME,
    AmplifierProfile,
    Endpoint,
    SerialEndpoint,
    cell_driver_names,
    drive_names,
    find_cell_driver,
    find_driver,
    find_io_driver,
    io_driver_names,
    load_profile,
    servo_profiles,
    shipped_profiles,
)
from kinematics import InputFileError, parse_toml, read_text
from rig.client.interruption import Interruption
from rig.client.ports import free_ports
from rig.config import RigConfig, device_keys, in_real_time, load_config, names_file, shipped_configs
from rig.engine import ProgressCallback
from rig.errors import InputError
from rig.virtual import serve_device

_LOCAL = "127.0.0.1"
_LINE = ("baud", "parity", "stop_bits")
_PLACE = ("host", "port", "device", "framing", *_LINE)
_WATCHDOG = "watchdog"
"""Setting that all drivers of drives share."""
_BAUD = 115_200
_LAST_PORT = 65535
_DRIVES = 6
_BLOCK = -1
"""index of the block of inputs and outputs, the last device"""
_POINTS = {
    "inputs": {"emergency_stop": {"channel": 0}, "safe_torque_off": {"channel": 1}},
    "outputs": {"enable": {"channel": 0}, "brake": {"channel": 1}, "lamp": {"channel": 2}},
}
"""Points of a block that is served alone."""
_ALONE = {"sample_period": 1.0}
"""Of a load cell that is served alone: no cycle forbids a setting that makes it slow."""
_OF_DEVICES, _OF_SERVOS = "virtual-mixed", "virtual"
"""Shipped configurations: with a device for each load cell, and with servos on Modbus TCP."""
_UNSEEN = "a pseudo-terminal: a client's baud rate, stop bits and breaks have no effect; open it without parity"


class _Interrupted:
    """Set by Ctrl-C."""

    def __init__(self, interruption: Interruption) -> None:
        self._interruption = interruption

    def is_set(self) -> bool:
        return self._interruption.count > 0


def serve_twin(
    name: str,
    leg: int | None,
    listen: str | None,
    *,
    print_line: Callable[[str], None],
    cell: int | None = None,
    settings: Mapping[str, Any] | None = None,
    reply_delay: float | None = None,
    report_compiling: ProgressCallback | None = None,
) -> None:
    """Serve one virtual device until Ctrl-C, or SIGTERM.

    Args:
        name: a driver's name, a profile's name or file, or a configuration.
        leg: 1…6 of the drive or load cell; None: the first; not allowed if one device reads all six cells.
        listen: host:port to serve it at; "": a free port of this machine, or a pseudo-terminal for a serial device;
            None: a pseudo-terminal.
        print_line: receives lines for the user.
        cell: 1…6 of a load cell of a configuration, in place of a drive; of its amplifier if one device reads all six.
        settings: of its driver or address, by key, in place of those of the configuration.
        reply_delay: for how long it waits before it answers on a serial line, s; None: as configured.
        report_compiling: receives the progress of the first start on a machine, in the process that compiles.

    Raises:
        InputError, ConfigError: no such driver, profile or configuration, it has no such device or setting, cells are
            asked for a leg, or a delay is given where bytes take no time.
        HardwareError, ActuatorError: the port is taken.
    """
    if cell is not None and leg is not None:
        raise InputError("--leg and --cell: one of the two")
    config, cells = _configuration(name)
    single = config.load_cells.devices is not None
    if cell is not None:
        if not config.load_cells.places:
            raise InputError(f"--cell {cell}: the drives of {name} read its load cells")
        cells, leg = True, cell if single else None
    if cells and leg is not None and not single:
        raise InputError(f"--leg {leg}: {name} reads the load cells of all six legs")
    device = (leg or 1) - 1 + (_DRIVES if cells else 0)
    if name in io_driver_names():
        if leg is not None:
            raise InputError(f"--leg {leg}: {name} is one block for the whole rig")
        device = _BLOCK
    for key, value in (settings or {}).items():
        config = config.changed(_with(config, device, key, value))
    what, place = _device(config, device)
    config = config.changed(_at(config, device, _placed(place, listen)))
    endpoint = device_keys(config)[device][1].endpoint
    if reply_delay is not None and type(endpoint) is not SerialEndpoint:
        raise InputError(f"--reply-delay: {endpoint} is no serial line")
    interruption = Interruption()

    def ready(endpoint: Endpoint) -> None:
        line = f", {endpoint.settings} ({_UNSEEN})" if isinstance(endpoint, SerialEndpoint) else ""
        unit = _device(config, device)[1].get("unit", 1)
        print_line(f"{what} at {endpoint}{line}, unit {unit}; Ctrl-C ends it")

    with interruption.installed(signal.SIGTERM):
        serve_device(in_real_time(config), device, _Interrupted(interruption), ready, reply_delay, report_compiling)


def _configuration(name: str) -> tuple[RigConfig, bool]:
    """The configuration that has the device, and whether that is one of load cells."""
    if names_file(name):
        if profiled := _by_profile(name):
            return profiled
        config = load_config(name)
        return (config if config.virtual is not None else config.changed({"virtual": {}})), False
    for shipped in shipped_configs():
        config = load_config(shipped)
        if name in (shipped, config.drives.driver):
            return config, False
        if name == config.load_cells.driver and config.load_cells.places:
            return config.changed({"load_cells": _ALONE}), True
    if name in cell_driver_names():
        devices = [{"device": f"cell-{number}"} for number in range(1, _DRIVES + 1)]
        return load_config(_OF_DEVICES).changed({"load_cells": {"driver": name, "devices": devices} | _ALONE}), True
    if name in io_driver_names():
        return load_config().changed({"io": {"driver": name, "block": {"host": _LOCAL}, **_POINTS}}), False
    if name in drive_names():
        raise InputError(
            f"driver {name!r}: no configuration that comes along has its drives; give a file that has, with their "
            "addresses and a [virtual] table"
        )
    if profiled := _by_profile(name):
        return profiled
    known = sorted({*map(_drives_of, shipped_configs()), *cell_driver_names(), *io_driver_names()})
    drivers, profiles = ", ".join(known), ", ".join(shipped_profiles())
    raise InputError(
        f"no virtual device {name!r}: give a driver ({drivers}), a profile ({profiles}), or a configuration"
    )


def _by_profile(name: str) -> tuple[RigConfig, bool] | None:
    """A configuration with devices of a profile, a shipped one or a file, on Modbus TCP; whether they are load cells.

    None if it is the name of no profile.
    """
    if names_file(name):
        tables: Mapping[str, Any] = {}
        with suppress(InputFileError):  # as reading the configuration is going to say
            tables = parse_toml(read_text(Path(name)))
        of_servo, of_cells = "feedback" in tables, "reading" in tables
        name = str(Path(name).resolve())
    else:
        of_servo, of_cells = name in servo_profiles(), name in shipped_profiles()
    if not (of_servo or of_cells):
        return None
    places = [{"host": _LOCAL, "port": 1 + number} for number in range(_DRIVES + 1)]
    if of_servo:
        cells = {"source": "amplifier", "amplifier": places.pop()}
        drives = {"profile": name, "legs": places}
        return load_config(_OF_SERVOS).changed({"mode": "position", "drives": drives, "load_cells": cells}), False
    channels = len(load_profile(name, AmplifierProfile).reading.forces)
    own = [place | {"profile": name} for place in places]
    source = {"devices": own[:_DRIVES]} if channels == 1 else {"source": "amplifier", "amplifier": own[0]}
    base = load_config(_OF_DEVICES if channels == 1 else _OF_SERVOS)
    return base.changed({"load_cells": {"driver": "modbus"} | source}), True


def _drives_of(shipped: str) -> str:
    return load_config(shipped).drives.driver


def _device(config: RigConfig, device: int) -> tuple[str, dict[str, Any]]:
    """Text and address of a device, by its index among the six drives and then the cells' own devices."""
    resolved, cells = config.resolved(), config.load_cells
    if device == _BLOCK and config.io is not None:
        return f"{config.io.driver}, inputs and outputs,", resolved["io"]["block"]
    if device < _DRIVES:
        return f"{config.drives.driver_of(device)}, leg {device + 1},", resolved["drives"]["legs"][device]
    if cells.devices is not None:
        number = device - _DRIVES
        return f"{cells.driver}, load cell {number + 1},", resolved["load_cells"]["devices"][number]
    return f"{cells.driver}, six load cells,", resolved["load_cells"]["amplifier"]


def _with(config: RigConfig, device: int, key: str, value: Any) -> dict[str, Any]:
    """Changes of a configuration that give a device another setting, of its driver or its address."""
    place = _device(config, device)[1]
    own: Mapping[str, Any] = {}
    if device == _BLOCK and config.io is not None:
        kind = find_io_driver(config.io.driver).address
    elif device >= _DRIVES:
        declared = find_cell_driver(config.load_cells.driver)
        kind = declared.address if config.load_cells.devices is None else declared.cell_address
    else:
        driver = find_driver(config.drives.driver_of(device))
        kind, own = driver.address, driver.settings.model_fields
    if key in own or (key == _WATCHDOG and device in range(_DRIVES)):
        if key in own and place.get("settings") is not None:
            return _at(config, device, place | {"settings": place["settings"] | {key: value}})
        return {"drives": {key: value}}
    known = {*own, *kind.model_fields, *([_WATCHDOG] if device in range(_DRIVES) else [])} - set(_PLACE[:3])
    if key not in known:
        raise InputError(f"--set {key}: it has {', '.join(sorted(known))}")
    return _at(config, device, place | {key: value})


def _placed(place: dict[str, Any], listen: str | None) -> dict[str, Any]:
    """The address with another port, of the same kind unless the other was requested."""
    connection = {key: value for key, value in place.items() if key not in _PLACE and value is not None}
    if (place.get("device") or "").startswith(CAN_SCHEME):
        if listen:
            raise InputError(f"--listen {listen}: a CAN bus is served on a pseudo-terminal, as an SLCAN adapter")
        return connection | {"device": f"{CAN_SCHEME}twin/{os.getpid()}"}
    line = {key: place[key] for key in _LINE} if place.get("device") is not None else {}
    if listen is None or (line and not listen):
        return connection | {"baud": _BAUD} | line | {"device": f"twin-{os.getpid()}"}
    if not listen:
        return connection | {"host": _LOCAL, "port": free_ports(1)[0]}
    host, _, port = listen.rpartition(":")
    if not (host and port.isdecimal() and int(port) <= _LAST_PORT):
        raise InputError(f"--listen {listen!r}: give HOST:PORT, port 0 for any free one")
    return connection | {"host": host, "port": int(port) or free_ports(1)[0]}


def _at(config: RigConfig, device: int, address: dict[str, Any]) -> dict[str, Any]:
    """Changes of a configuration that give one device another address."""
    resolved = config.resolved()
    if device == _BLOCK:
        return {"io": {"block": {"host": None, "device": None} | address}}
    if device >= _DRIVES and config.load_cells.devices is None:
        return {"load_cells": {"amplifier": {"host": None, "device": None} | address}}
    section, key, place = (
        ("drives", "legs", device) if device < _DRIVES else ("load_cells", "devices", device - _DRIVES)
    )
    places = list(resolved[section][key])
    places[place] = address
    return {section: {key: places}}
