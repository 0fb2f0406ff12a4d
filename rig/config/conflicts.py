"""What a configuration asks for that its own mechanism, drives and load cells cannot do: seen by no section alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from actuators import DriveAddress, SerialEndpoint
from dynamics import LegLimits, Mechanism
from kinematics import MOST_BYTES, PEAK_ACCELERATION, PEAK_SPEED, InputFileError, figure_and_bound, open_input
from rig.config.shapes import MOST_SHAPE_BYTES

if TYPE_CHECKING:
    from rig.config.rig_config import RigConfig

_RAMP = 1.5  # steepest slope of the ramp that stops a path, over its mean
_RAMP_PART = 0.8  # of `safety.stop_time` that the ramp of a controlled stop may take
_STROKE_PART = 0.1  # of a leg's stroke, that a bound on its length may have
_SIGMAS = 3.0
_OF_LINE = ("turnaround", "reply_timeout", "crc")
"""Settings of drivers that are of a line, not of a drive."""


def conflicts(config: RigConfig, machine: Mechanism | None) -> list[str]:
    """All of them, one line each: the setting, its value, its unit and the bound.

    `machine` is the configuration's mechanism, None where it cannot be used by a rig.
    """
    faults = [*_modes(config), *_timing(config), *_lines(config), *_files(config)]
    if machine is not None:
        limits = [leg.limits or LegLimits() for leg in machine.legs]
        faults += [*_moves(config, machine, limits), *_bounds(config, machine, limits)]
    return faults


def _modes(config: RigConfig) -> Iterator[str]:
    if config.mode == "observer" and config.exchange_period > config.period:
        yield (
            f"mode: observer compares every cycle with the one before, {config.period:g} s, but drives answer every "
            f"{config.exchange_period:g} s: rate must be {_whole_rate(config)} Hz at most, or mode force"
        )
    if config.mode == "observer" and config.drives.delay > config.period:
        yield (
            f"mode: observer knows of drives that follow within a cycle, {config.period:g} s, but drives.delay is "
            f"{config.drives.delay:g} s"
        )
    own = [str(leg) for leg, own in enumerate(config.own_loops, start=1) if own]
    if config.mode == "position" or not own:
        return
    if len(own) == len(config.own_loops):
        yield f'mode: {config.mode}, but every leg has mode = "position": say it here, once'
    elif config.mode != "force":
        yield f'mode: {config.mode} has the forces of all six legs, but leg {", ".join(own)} has mode = "position"'


def _whole_rate(config: RigConfig) -> int:
    return int(1.0 / config.exchange_period * (1.0 + 1e-9))


def _timing(config: RigConfig) -> Iterator[str]:
    watchdog, sampling = config.drives.watchdog, config.drives.sample_period
    if sampling > 0.5 * watchdog:
        yield (
            f"drives.sample_period: {sampling:g} s, must be at most {0.5 * watchdog:g} s, half of drives.watchdog: "
            "one lost telegram would stop the rig"
        )
    borne, slow_cells = config.safety.stale_time, config.load_cells.sample_period
    for least, what in (
        (config.period, f"a cycle at {config.rate:g} Hz"),
        (sampling, "drives.sample_period"),
        (slow_cells, "load_cells.sample_period"),
    ):
        if borne is not None and borne < least:
            yield f"safety.stale_time: {borne:g} s, must be at least {least:g} s, {what}"
    for name, cell in config.load_cells.places.items():
        if config.reading_period < cell.reading_time:
            yield (
                f"load_cells.sample_period: {config.reading_period:g} s between two readings, must be at least "
                f"{math.ceil(cell.reading_time * 1e4) / 1e4:g} s: what load_cells.{name} sends takes that on its line"
            )
            break
    if watchdog < 2.0 * config.period:
        yield (
            f"drives.watchdog: {watchdog:g} s is less than two cycles ({2.0 * config.period:g} s): "
            "one lost telegram would stop the rig"
        )


def _lines(config: RigConfig) -> Iterator[str]:
    """Devices of one serial line that say different things of it, are called alike there, or do not share."""
    places: list[tuple[str, DriveAddress]] = [
        (f"drives.legs[{leg}]", drive) for leg, drive in enumerate(config.drives.legs, start=1)
    ]
    places += [(f"load_cells.{name}", address) for name, address in config.load_cells.places.items()]
    yield from _line_settings(config)
    lines: dict[str, tuple[str, SerialEndpoint]] = {}
    units: dict[tuple[str, int], str] = {}
    owners = {address.place: name for name, address in reversed(places) if address.alone}
    for name, address in places:
        owner = owners.get(address.place, name)
        if owner != name:
            yield f"{name}: {address.place} is {owner}'s, whose driver has no other device there"
            continue
        endpoint = address.endpoint
        if not isinstance(endpoint, SerialEndpoint):
            continue
        first, other = lines.setdefault(endpoint.device, (name, endpoint))
        if other != endpoint:
            yield f"{name}: {endpoint} at {endpoint.settings}, {first} has it at {other.settings}"
        taken = units.setdefault((endpoint.device, address.unit), name)
        if taken != name:
            yield f"{name}: unit {address.unit} of {endpoint} is {taken}'s"


def _line_settings(config: RigConfig) -> Iterator[str]:
    """Drives of one serial line whose settings of that line differ."""
    drives = config.drives
    first: dict[str, tuple[int, dict[str, object]]] = {}
    for leg, drive in enumerate(drives.legs):
        if not isinstance(drive.endpoint, SerialEndpoint):
            continue
        own = {name: value for name, value in drives.settings_of(leg).items() if name in _OF_LINE}
        number, other = first.setdefault(drive.place, (leg + 1, own))
        for name in _OF_LINE:
            if name in own and name in other and other[name] != own[name]:
                yield (
                    f"drives.legs[{leg + 1}]: {name} {own[name]}, but leg {number} on the same line, "
                    f"{drive.place}, has {other[name]}"
                )


def _files(config: RigConfig) -> Iterator[str]:
    calibration = config.calibration_path
    if calibration is not None:
        try:
            with open_input(calibration, MOST_BYTES):
                pass
        except InputFileError as error:
            yield f"load_cells.calibration: {error}: {calibration}"
    for body in ("platform", "base"):
        name = getattr(config.picture, body)
        try:
            if name is not None:
                with open_input(config.folder / name, MOST_SHAPE_BYTES):
                    pass
        except InputFileError as error:
            yield f"picture.{body}: {error}: {config.folder / name}"


def _moves(config: RigConfig, machine: Mechanism, limits: list[LegLimits]) -> Iterator[str]:
    """The speed of the rig's own moves, and the ramp of a controlled stop."""
    motion, geometry = config.motion, machine.geometry
    speed = min(limit.velocity or np.inf for limit in limits)
    acceleration = min(limit.acceleration or np.inf for limit in limits)
    arm = float(np.linalg.norm(geometry.platform_points, axis=1).max())
    stroke = _least_stroke(limits)
    fastest = min(speed, PEAK_SPEED * (acceleration * stroke / PEAK_ACCELERATION) ** 0.5)  # even across the stroke
    for name, value, unit, bound in (
        ("approach_speed", motion.approach_speed, "m/s", fastest),
        ("approach_rotation", motion.approach_rotation, "rad/s", fastest / max(arm, 1e-9)),
    ):
        if value > bound:
            given, most = figure_and_bound(value, bound, ".6g", 3)
            yield (
                f"motion.{name}: {given} {unit}, must be at most {most} {unit} by the legs' limits of "
                f"{speed:g} m/s and {acceleration:g} m/s^2 across {stroke:.3g} m"
            )
    shortest = max(_RAMP * (limit.velocity or 0.0) / (limit.acceleration or np.inf) / _RAMP_PART for limit in limits)
    if config.safety.stop_time < shortest:
        given, least = figure_and_bound(config.safety.stop_time, shortest, ".6g", 3)
        yield (
            f"safety.stop_time: {given} s, must be at least {least} s to brake from the "
            f"legs' {speed:g} m/s with their {acceleration:g} m/s^2"
        )


def _bounds(config: RigConfig, machine: Mechanism, limits: list[LegLimits]) -> Iterator[str]:
    """Bounds that could never be reached, or that the platform at rest at home is beyond."""
    safety, cells = config.safety, config.load_cells
    stroke = _least_stroke(limits)
    for name in ("following_error", "position_jump", "homing_tolerance"):
        value = getattr(safety, name)
        if value > _STROKE_PART * stroke:
            given, most = figure_and_bound(value, _STROKE_PART * stroke, ".6g", 3)
            yield f"safety.{name}: {given} m, must be at most {most} m, a tenth of the shortest stroke"
    weakest = min(limit.force or np.inf for limit in limits)
    for name in ("force_residual", "tare_shift"):
        value = getattr(safety, name)
        if value > weakest:
            yield f"safety.{name}: {value:g} N, must be at most {weakest:g} N, the least of the legs' force limits"
    if cells.noise * _SIGMAS > safety.bound("force_residual"):
        given, most = figure_and_bound(cells.noise, safety.force_residual / _SIGMAS, ".6g", 3)
        yield (
            f"load_cells.noise: {given} N, must be at most {most} N: "
            f"beyond safety.force_residual = {safety.force_residual:g} N it would stop the rig"
        )
    yield from _at_home(config, machine, limits)


def _at_home(config: RigConfig, machine: Mechanism, limits: list[LegLimits]) -> Iterator[str]:
    safety, reach = config.safety, config.load_cells.range
    wrenches = _leg_wrenches(machine)
    scaled = wrenches / np.repeat([1.0, safety.characteristic_length], 3)[:, np.newaxis]
    largest, *_, least = np.linalg.svd(scaled, compute_uv=False)
    if not largest <= safety.condition * least:
        condition = largest / least if least > 0.0 else np.inf
        yield f"safety.condition: {safety.condition:g}, but at home it is {condition:.3g}: no pose could be held there"
        return
    weight = machine.mass * np.asarray(machine.gravity)
    forces = np.abs(np.linalg.solve(wrenches, -np.concatenate([weight, np.cross(machine.center_of_mass, weight)])))
    for leg, (force, limit) in enumerate(zip(forces, limits, strict=True), start=1):
        if limit.force is not None and force > limit.force:
            yield f"mechanism: force limit of leg {leg}: {limit.force:g} N, but it {_bears(force)}"
        if force >= reach:
            yield f"load_cells.range: {reach:g} N, but leg {leg} {_bears(force)}"


def _bears(force: float) -> str:
    return f"bears {force:.3g} N of the platform's weight at home"


def _leg_wrenches(machine: Mechanism) -> npt.NDArray[np.float64]:
    """(6, 6): force and moment about the platform's origin of unit leg forces, at home, where the platform is level.

    In numpy: no kernel is compiled because a file is read.
    """
    geometry = machine.geometry
    legs = geometry.home_pose[:3] + geometry.platform_points - geometry.base_points
    directions = legs / np.linalg.norm(legs, axis=1, keepdims=True)
    return np.vstack([directions.T, np.cross(geometry.platform_points, directions).T])


def _least_stroke(limits: list[LegLimits]) -> float:
    return min((limit.length[1] - limit.length[0] for limit in limits if limit.length), default=np.inf)
