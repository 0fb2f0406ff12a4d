"""Checks of a configuration across its sections: against its mechanism, drives and load cells."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from actuators import DriveAddress, SerialEndpoint
from dynamics import LegLimits, Mechanism
from kinematics import MOST_BYTES, PEAK_ACCELERATION, PEAK_SPEED, InputFileError, open_input
from rig.config.sections import MOST_DELAYED
from rig.config.sensors import UdpSource, sensor_faults
from rig.config.shapes import MOST_SHAPE_BYTES
from rig.config.task_gains import gain_faults
from rig.errors import ConfigFault, KeyPath, key_text
from rig.findings import Code, Finding, Value

if TYPE_CHECKING:
    from rig.config.rig_config import RigConfig

_RAMP = 1.5  # maximum over mean slope of the stop ramp
_RAMP_PART = 0.8  # fraction of `safety.stop_time` available to the ramp of a controlled stop
_STROKE_PART = 0.1  # fraction of a leg's stroke that a length bound may reach
_SIGMAS = 3.0
_OF_LINE = ("turnaround", "reply_timeout", "crc")
"""Driver settings that apply to a serial line, not to one drive."""


def conflicts(config: RigConfig, machine: Mechanism | None) -> list[ConfigFault]:
    """Return all conflicts.

    `machine` is the configuration's mechanism, None if a rig cannot use it.
    """
    faults = [*_modes(config), *gain_faults(config), *_timing(config), *_lines(config), *_files(config)]
    faults += _sensors(config)
    if machine is not None:
        limits = [leg.limits or LegLimits() for leg in machine.legs]
        faults += [*_moves(config, machine, limits), *_bounds(config, machine, limits)]
    return faults


def _modes(config: RigConfig) -> Iterator[ConfigFault]:
    yield from config.law.conflicts(config)
    key = ("mode",)
    own = [str(leg) for leg, own in enumerate(config.own_loops, start=1) if own]
    if config.law.own_loops or not own:
        return
    if len(own) == len(config.own_loops):
        yield ConfigFault(key, Finding(Code.MODE_EVERYWHERE, details={"mode": config.mode}))
    elif not config.law.mixed:
        found = Finding(Code.MODE_MIXED, details={"mode": config.mode, "legs_listed": ", ".join(own)})
        yield ConfigFault(key, found)


def _timing(config: RigConfig) -> Iterator[ConfigFault]:
    watchdog, sampling = config.drives.watchdog, config.drives.sample_period
    if sampling > 0.5 * watchdog:
        yield ConfigFault(
            ("drives", "sample_period"), Finding(Code.SAMPLE_PERIOD_LONG, value=sampling, bound=0.5 * watchdog)
        )
    borne, period = config.safety.stale_time, config.period
    if borne is not None and borne < period:
        found = Finding(Code.STALE_BELOW_CYCLE, 0, borne, period, {"rate": config.rate})
        yield ConfigFault(("safety", "stale_time"), found)
    for least, other in (
        (sampling, "drives.sample_period"),
        (config.load_cells.sample_period, "load_cells.sample_period"),
    ):
        if borne is not None and borne < least:
            yield ConfigFault(
                ("safety", "stale_time"), Finding(Code.STALE_BELOW_SAMPLE, 0, borne, least, {"other": other})
            )
    for name, cell in config.load_cells.places.items():
        if config.reading_period < cell.reading_time:
            least = math.ceil(cell.reading_time * 1e4) / 1e4
            found = Finding(Code.READINGS_TOO_FAST, 0, config.reading_period, least, {"device": f"load_cells.{name}"})
            yield ConfigFault(("load_cells", "sample_period"), found)
            break
    for leg in range(len(config.drives.legs)):
        interpolated = config.drives.settings_of(leg).get("sync_period")
        if interpolated and not math.isclose(interpolated, config.exchange_period, rel_tol=1e-6):
            key = ("drives", "sync_period") if config.drives.legs[leg].settings is None else ("drives", "legs", leg)
            yield ConfigFault(key, Finding(Code.SYNC_PERIOD_DIFFERS, value=interpolated, bound=config.exchange_period))
            break
    virtual = None if config.virtual is None else config.virtual.drive.delay
    delays: tuple[tuple[KeyPath, float | None], ...] = (
        (("drives", "delay"), config.drives.delay),
        (("virtual", "drive", "delay"), virtual),
    )
    for place, delay in delays:
        if delay is not None and delay > MOST_DELAYED * period:
            found = Finding(Code.DELAY_LONG, value=delay, bound=MOST_DELAYED * period, details={"cycles": MOST_DELAYED})
            yield ConfigFault(place, found)
    if watchdog < 2.0 * period:
        yield ConfigFault(("drives", "watchdog"), Finding(Code.WATCHDOG_SHORT, value=watchdog, bound=2.0 * period))


def device_keys(config: RigConfig) -> list[tuple[KeyPath, DriveAddress]]:
    """Return the addresses of drives, of the load cells' own devices and of the block of inputs and outputs.

    Each with its key.
    """
    keys: list[tuple[KeyPath, DriveAddress]] = [
        (("drives", "legs", leg), drive) for leg, drive in enumerate(config.drives.legs)
    ]
    cells = config.load_cells
    for number, (name, address) in enumerate(cells.places.items()):
        keys.append((("load_cells", name) if cells.devices is None else ("load_cells", "devices", number), address))
    if config.io is not None and config.io.block is not None:
        keys.append((("io", "block"), config.io.block))
    return keys


def _lines(config: RigConfig) -> Iterator[ConfigFault]:
    """Yield devices on one serial line with contradictory line parameters, equal addresses, or exclusive use."""
    devices = device_keys(config)
    yield from _line_settings(config)
    lines: dict[str, tuple[KeyPath, SerialEndpoint]] = {}
    units: dict[tuple[str, int], KeyPath] = {}
    owners = {address.place: key for key, address in reversed(devices) if address.alone}
    for key, address in devices:
        owner = owners.get(address.place, key)
        if owner != key:
            yield ConfigFault(
                key, Finding(Code.PLACE_TAKEN, details={"place": address.place, "other": key_text(owner)})
            )
            continue
        yield from _reply_delay(config, key, address)
        endpoint = address.endpoint
        if not isinstance(endpoint, SerialEndpoint):
            continue
        first, other = lines.setdefault(endpoint.device, (key, endpoint))
        if other != endpoint:
            details: dict[str, Value] = {"line": str(endpoint), "settings": str(endpoint.settings)}
            details |= {"other": key_text(first), "others": str(other.settings)}
            yield ConfigFault(key, Finding(Code.LINE_DIFFERS, details=details))
        taken = units.setdefault((endpoint.device, address.unit), key)
        if taken != key:
            details = {"number": address.unit, "line": str(endpoint), "other": key_text(taken)}
            yield ConfigFault(key, Finding(Code.UNIT_TAKEN, details=details))


def _reply_delay(config: RigConfig, key: KeyPath, address: DriveAddress) -> Iterator[ConfigFault]:
    """Yield a device that takes as long to answer as its reply is waited for."""
    delay = getattr(address, "reply_delay", None)
    own = config.drives.settings_of(int(key[2])) if key[0] == "drives" else address.model_dump()
    timeout = own.get("reply_timeout")
    if delay is not None and timeout is not None and delay >= timeout:
        yield ConfigFault((*key, "reply_delay"), Finding(Code.REPLY_DELAY_LONG, value=delay, bound=timeout))


def _line_settings(config: RigConfig) -> Iterator[ConfigFault]:
    """Yield drives on one serial line with different line settings."""
    drives = config.drives
    first: dict[str, tuple[int, dict[str, object]]] = {}
    for leg, drive in enumerate(drives.legs):
        if not isinstance(drive.endpoint, SerialEndpoint):
            continue
        own = {name: value for name, value in drives.settings_of(leg).items() if name in _OF_LINE}
        number, other = first.setdefault(drive.place, (leg + 1, own))
        for name in _OF_LINE:
            if name in own and name in other and other[name] != own[name]:
                details: dict[str, Value] = {"setting": name, "given": str(own[name]), "others": str(other[name])}
                details |= {"other": number, "place": drive.place}
                yield ConfigFault(("drives", "legs", leg), Finding(Code.LINE_SETTING_DIFFERS, details=details))


def _files(config: RigConfig) -> Iterator[ConfigFault]:
    calibration = config.calibration_path
    if calibration is not None:
        try:
            with open_input(calibration, MOST_BYTES):
                pass
        except InputFileError as error:
            yield _unusable(("load_cells", "calibration"), error, calibration)
    for body in ("platform", "base"):
        name = getattr(config.picture, body)
        try:
            if name is not None:
                with open_input(config.folder / name, MOST_SHAPE_BYTES):
                    pass
        except InputFileError as error:
            yield _unusable(("picture", body), error, config.folder / name)


def _sensors(config: RigConfig) -> Iterator[ConfigFault]:
    """Yield contradictions between sensors, and twins of what has none."""
    for place, text in sensor_faults(config.sensors):
        yield ConfigFault(("sensors", place), Finding(Code.SENSOR_CONFLICT, details={"text": text}))
    if config.virtual is None:
        return
    known = {sensor.name: sensor for sensor in config.sensors}
    seen: set[str] = set()
    for place, twin in enumerate(config.virtual.sensors):
        sensor = known.get(twin.name)
        own_clock = bool(twin.clock_offset or twin.clock_drift)
        if sensor is None:
            text = f"{twin.name!r} is none of the [[sensors]]: {', '.join(known) or 'there are none'}"
        elif twin.name in seen:
            text = f"{twin.name!r} is there twice"
        elif sensor.kind == "scalar" or not isinstance(sensor.place, UdpSource) or sensor.place.port == 0:
            text = f"{twin.name!r} must be of kind imu or pose, with a source udp://HOST:PORT"
        elif own_clock and sensor.clock != "sender":
            text = f'clock_offset and clock_drift need clock = "sender", not "{sensor.clock}"'
        else:
            text = ""
        seen.add(twin.name)
        if text:
            yield ConfigFault(("virtual", "sensors", place), Finding(Code.SENSOR_CONFLICT, details={"text": text}))


def _unusable(key: KeyPath, error: InputFileError, file: Path) -> ConfigFault:
    return ConfigFault(key, Finding(Code.FILE_UNUSABLE, details={"text": str(error), "file": str(file)}))


def _moves(config: RigConfig, machine: Mechanism, limits: list[LegLimits]) -> Iterator[ConfigFault]:
    """Check the speed of the rig's own moves, and the ramp of a controlled stop."""
    motion, geometry = config.motion, machine.geometry
    speed = min(limit.velocity or np.inf for limit in limits)
    acceleration = min(limit.acceleration or np.inf for limit in limits)
    arm = float(np.linalg.norm(geometry.platform_points, axis=1).max())
    stroke = _least_stroke(limits)
    fastest = min(speed, PEAK_SPEED * (acceleration * stroke / PEAK_ACCELERATION) ** 0.5)  # reachable within the stroke
    legs: dict[str, Value] = {"speed": float(speed), "acceleration": float(acceleration)}
    for name, value, unit, bound in (
        ("approach_speed", motion.approach_speed, "m/s", fastest),
        ("approach_rotation", motion.approach_rotation, "rad/s", fastest / max(arm, 1e-9)),
    ):
        if value > bound:
            details: dict[str, Value] = {"unit": unit, **legs, "stroke": stroke}
            yield ConfigFault(("motion", name), Finding(Code.MOVE_FASTER_THAN_LEGS, 0, value, bound, details))
    shortest = max(_RAMP * (limit.velocity or 0.0) / (limit.acceleration or np.inf) / _RAMP_PART for limit in limits)
    if config.safety.stop_time < shortest:
        found = Finding(Code.STOP_TIME_SHORT, 0, config.safety.stop_time, shortest, legs)
        yield ConfigFault(("safety", "stop_time"), found)


def _bounds(config: RigConfig, machine: Mechanism, limits: list[LegLimits]) -> Iterator[ConfigFault]:
    """Yield bounds that could never be reached, or that rest at home already violates."""
    safety, cells = config.safety, config.load_cells
    stroke = _least_stroke(limits)
    for name in ("following_error", "position_jump", "homing_tolerance"):
        value = getattr(safety, name)
        if value > _STROKE_PART * stroke:
            yield ConfigFault(("safety", name), Finding(Code.BEYOND_STROKE, value=value, bound=_STROKE_PART * stroke))
    weakest = min(limit.force or np.inf for limit in limits)
    for name in ("force_residual", "tare_shift"):
        value = getattr(safety, name)
        if value > weakest:
            yield ConfigFault(("safety", name), Finding(Code.BEYOND_FORCE_LIMIT, value=value, bound=float(weakest)))
    if cells.noise * _SIGMAS > safety.bound("force_residual"):
        most, residual = safety.force_residual / _SIGMAS, safety.force_residual
        found = Finding(Code.NOISE_WOULD_STOP, 0, cells.noise, most, {"residual": residual})
        yield ConfigFault(("load_cells", "noise"), found)
    yield from _at_home(config, machine, limits)


def _at_home(config: RigConfig, machine: Mechanism, limits: list[LegLimits]) -> Iterator[ConfigFault]:
    safety, reach = config.safety, config.load_cells.range
    wrenches = _leg_wrenches(machine)
    scaled = wrenches / np.repeat([1.0, safety.characteristic_length], 3)[:, np.newaxis]
    largest, *_, least = np.linalg.svd(scaled, compute_uv=False)
    if not largest <= safety.condition * least:
        condition = float(largest / least) if least > 0.0 else math.inf
        found = Finding(Code.CONDITION_AT_HOME, value=condition, bound=safety.condition)
        yield ConfigFault(("safety", "condition"), found)
        return
    weight = machine.mass * np.asarray(machine.gravity)
    forces = np.abs(np.linalg.solve(wrenches, -np.concatenate([weight, np.cross(machine.center_of_mass, weight)])))
    for leg, (force, limit) in enumerate(zip(forces, limits, strict=True), start=1):
        if limit.force is not None and force > limit.force:
            found = Finding(Code.WEIGHT_BEYOND_LIMIT, leg, float(force), limit.force)
            yield ConfigFault(("mechanism",), found)
        if force >= reach:
            yield ConfigFault(("load_cells", "range"), Finding(Code.WEIGHT_BEYOND_CELL, leg, float(force), reach))


def _leg_wrenches(machine: Mechanism) -> npt.NDArray[np.float64]:
    """Return the wrenches (6, 6) about the platform's origin of unit leg forces, at home with a level platform.

    Uses numpy, so that reading a file compiles no kernel.
    """
    geometry = machine.geometry
    legs = geometry.home_pose[:3] + geometry.platform_points - geometry.base_points
    directions = legs / np.linalg.norm(legs, axis=1, keepdims=True)
    return np.vstack([directions.T, np.cross(geometry.platform_points, directions).T])


def _least_stroke(limits: list[LegLimits]) -> float:
    return min((limit.length[1] - limit.length[0] for limit in limits if limit.length), default=np.inf)
