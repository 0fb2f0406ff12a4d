"""Import of a log to a recording, with findings on the limits of its data."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from calibration import IdentificationSettings, exchanged_pairs
from dynamics import Mechanism
from kinematics import (
    CONVERGED,
    COORDINATES,
    FORWARD_WORK,
    Array,
    KinematicsError,
    forward_kinematics,
    forward_kinematics_kernel,
    leg_kinematics,
    pose_to_coordinates,
)
from rig.analysis import AT_REST_SPEEDS, NARROWEST, REPEATED, SHORTEST, Smoothing, runs_of
from rig.config import RigConfig
from rig.errors import InputError
from rig.importing.log import Log, LogMapping, read_log
from rig.importing.recorded import ImportedLog, LegMotions, lengths_of, low_passed_motion, modelled, speeds_of
from rig.importing.sampling import Stamps, check_rate, delay_of, resampled, stamps_of, white_noise
from rig.recording import Finding, Found
from rig.telemetry import TERMS

_JUDGED = 20_000  # rows for comparing forces and model, at most
_FLIPPED = 0.5  # residual with the other sign, relative to that with the given sign
_SIGMAS = 3.0
_JITTER = 1e-2  # of an interval, above which jitter is reported
_BAND_OF_RATE = 4.0  # ratio of rate to bandwidth that the identification needs, see `calibration`
_DELAY = 0.5  # of a cycle, above which a delay is reported
_LEAST_DIFFERENCE = 1e-6  # m


def findings_of(log: ImportedLog) -> Iterator[Found]:
    """Yield all findings of a log."""
    yield from _of_times(log)
    yield from _of_motion(log)
    yield from _of_forces(log)


def ranges_of(log: ImportedLog) -> list[dict[str, Any]]:
    """Return least and greatest measured values, each with the limits of mechanism and cells.

    One entry per quantity: `name`, `unit` (SI), `least` and `most`, `limit_least` and `limit_most` (None: none), of
    each leg or coordinate.
    """
    machine, cycles = log.config.machine, log.cycles
    limits = [leg.limits for leg in machine.legs]
    speeds = np.abs(speeds_of(machine, log.measured.motion[cycles]))
    ranges = []
    for leg in range(6):
        own = limits[leg]
        stroke = (None, None) if own is None or own.length is None else own.length
        most_speed = None if own is None else own.velocity
        ranges.append(_range(f"length {leg + 1}", "m", log.measured.lengths[cycles, leg], *stroke))
        ranges.append(_range(f"speed {leg + 1}", "m/s", speeds[:, leg], None, most_speed) | {"least": None})
        if "forces" in log.log.groups:
            end = log.config.load_cells.range
            ranges.append(_range(f"force {leg + 1}", "N", log.forces[cycles, leg], -end, end))
    coordinates = pose_to_coordinates(log.measured.pose[cycles])
    for k, name in enumerate(COORDINATES):
        ranges.append(_range(name, "m" if k < 3 else "rad", coordinates[:, k], None, None))
    return ranges


def _range(name: str, unit: str, values: Array, least: float | None, most: float | None) -> dict[str, Any]:
    known = values[np.isfinite(values)]
    ends = (float(known.min()), float(known.max())) if len(known) else (None, None)
    return {"name": name, "unit": unit, "least": ends[0], "most": ends[1], "limit_least": least, "limit_most": most}


def _of_times(log: ImportedLog) -> Iterator[Found]:
    stamps = log.stamps
    summary = log.summary()
    if log.missing:
        figures = {"gaps": summary["gaps"], "missing": log.missing, "longest": summary["longest_gap_s"]}
        yield Found(Finding.GAPS, figures)
    if stamps.bridged:
        yield Found(Finding.BRIDGED, {"bridged": stamps.bridged, "longest": stamps.longest_bridged})
    if stamps.jitter > _JITTER * stamps.interval:
        if stamps.share is None:
            yield Found(Finding.STAMPS_AMBIGUOUS, {"jitter": stamps.jitter})
        elif not stamps.sampled or stamps.share < 0.5:
            figures = {"jitter": stamps.jitter, "share": stamps.share, "sigma": stamps.sigma}
            yield Found(Finding.STAMPS_LATE, figures)
    known = log.log.groups[log.source]
    known = known[np.isfinite(known).all(axis=1)]
    lengths = known if log.source == "lengths" else lengths_of(log.config.machine, known)
    noise = float(white_noise(lengths, stamps.pieces).max())
    fastest = float(np.nanmax(np.abs(speeds_of(log.config.machine, log.measured.motion)), initial=0.0))
    if stamps.time_noise is not None and stamps.time_noise * fastest > max(noise, _LEAST_DIFFERENCE):
        yield Found(Finding.TIME_NOISE, {"time_noise": stamps.time_noise, "length": stamps.time_noise * fastest})
    least = _BAND_OF_RATE * IdentificationSettings().cutoff
    if log.rate < least:
        yield Found(Finding.SLOW_RATE, {"rate": log.rate, "needed": least})
    if log.longest / log.rate < SHORTEST:
        yield Found(Finding.SHORT, {"longest": log.longest / log.rate, "needed": SHORTEST})
    if log.commanded is not None:
        if log.delay is None:
            yield Found(Finding.DELAY_UNKNOWN, {})
        elif abs(log.delay.delay) > max(_SIGMAS * log.delay.sigma, _DELAY / log.rate):
            figures = {"delay": log.delay.delay, "sigma": log.delay.sigma, "aligned": log.aligned}
            yield Found(Finding.DELAY, figures)
    if log.differ is not None:
        poses = log.log.groups["pose"]
        others = lengths_of(log.config.machine, poses[np.isfinite(poses).all(axis=1)])
        both = math.hypot(noise, float(white_noise(others, [slice(0, len(others))]).max()))
        if log.differ > max(_SIGMAS * both, _LEAST_DIFFERENCE):
            yield Found(Finding.LENGTHS_DIFFER, {"rms": log.differ, "noise": both})


def _of_motion(log: ImportedLog) -> Iterator[Found]:
    if log.commanded is None:
        yield Found(Finding.NO_COMMANDS, {})
    twists = log.measured.motion[log.cycles, 7:13]
    twists = twists[np.isfinite(twists).all(axis=1)]
    at_rest = np.abs(twists).max(axis=0, initial=0.0) < AT_REST_SPEEDS
    if at_rest.any():
        names = [name for name, rests in zip(COORDINATES, at_rest.tolist(), strict=True) if rests]
        yield Found(Finding.STILL, {"coordinates": names})
    most, legs = 0.0, []
    for leg, part in enumerate(log.config.machine.legs):
        if part.limits is not None and part.limits.length is not None:
            lengths = log.measured.lengths[log.cycles, leg]
            beyond = max(part.limits.length[0] - lengths.min(), lengths.max() - part.limits.length[1])
            if beyond > 0.0:
                legs.append(leg + 1)
                most = max(most, float(beyond))
    if legs:
        yield Found(Finding.BEYOND_STROKE, {"legs": legs, "most": most})


def _of_forces(log: ImportedLog) -> Iterator[Found]:
    if "forces" not in log.log.groups:
        yield Found(Finding.NO_FORCES, {})
        return
    raw = log.log.groups["forces"]
    raw = raw[np.isfinite(raw).all(axis=1)]
    share = float(np.mean((np.diff(raw, axis=0) == 0.0).all(axis=1)))
    if share > REPEATED:
        yield Found(Finding.FORCES_REPEATED, {"share": share})
    end = log.config.load_cells.range
    beyond = [leg + 1 for leg in range(6) if np.abs(raw[:, leg]).max() >= end]
    if beyond:
        yield Found(Finding.BEYOND_RANGE, {"legs": beyond, "range": end})
    forces, motion = log.forces[log.cycles], log.measured.motion[log.cycles]
    places = np.flatnonzero(np.isfinite(forces).all(axis=1) & np.isfinite(motion).all(axis=1))
    places = places[:: -(-len(places) // _JUDGED) or 1]
    if not len(places):
        return
    cells, terms = modelled(log.config, motion[places])
    yield from _of_order(forces[places], cells)
    inertia = terms[:, TERMS.index("leg inertia")] - _of_drives(log.config.machine, motion[places])
    rms = float(np.sqrt(np.mean(inertia**2)))
    noise = float(white_noise(raw, [slice(0, len(raw))]).max())
    independent = max(1.0, 2.0 * log.bandwidth * len(log.cycles) / log.rate)
    resolved = _SIGMAS * noise / math.sqrt(independent)
    if rms < resolved:
        yield Found(Finding.LEG_INERTIA_LOST, {"rms": rms, "noise": noise, "resolved": resolved})


def _of_drives(machine: Mechanism, motions: Array) -> Array:
    """The drives' part (n, 6) N of the legs' inertia, where the load cell does not read it."""
    unread = np.array([0.0 if leg.load_cell.location == "motor" else leg.drive.mass for leg in machine.legs])
    return np.asarray(unread * leg_kinematics(machine.geometry, motions).acceleration)


def _of_order(measured: Array, model: Array) -> Iterator[Found]:
    """Detect exchanged legs, or a wrong sign, by the residuals to the model (n, 6), N."""
    cost = np.mean((measured[:, :, np.newaxis] - model[:, np.newaxis, :]) ** 2, axis=0)
    turned = np.sqrt(np.mean((measured + model) ** 2, axis=0) / np.diag(cost))
    legs = (np.flatnonzero(turned < _FLIPPED) + 1).tolist()
    if legs:
        yield Found(Finding.FORCES_TURNED, {"legs": legs})
    if pairs := exchanged_pairs(cost):
        yield Found(Finding.FORCES_EXCHANGED, {"pairs": [[cell + 1, leg + 1] for cell, leg in pairs]})


BANDWIDTH = 25.0
"""low-pass on motions, Hz, as far as the rate allows"""

_MOST_CYCLES = 20_000_000
_GROSS = 0.1
"""fraction of a leg's stroke: lengths mostly farther outside it, or RMS farther from those of the poses, are invalid"""
_SAME_LENGTH = 1e-5  # m RMS, tolerance of lengths against those of poses
_TOLERANCE = 1e-12  # m


def import_log(
    path: Path,
    config: RigConfig,
    mapping: LogMapping | None = None,
    *,
    span: tuple[float, float] | None = None,
    rate: float | None = None,
    bandwidth: float | None = None,
    align: bool = False,
) -> ImportedLog:
    """Interpret a log by a mapping, and resample it to a constant rate; nothing is written yet.

    Args:
        path: of the log.
        config: the rig: mechanism, limits, cells.
        mapping: of its columns; None: that of this program's own tables.
        span: s on the log's own clock, the part to import; None: all.
        rate: Hz of the cycle; None: that of the log, of its slowest table.
        bandwidth: Hz, of the low-pass on motions; None: BANDWIDTH, or as much as the rate allows.
        align: shift the commanded motion by the delay of the measured one.

    Raises:
        InputError: the log cannot be read or does not fit this mechanism, or an option does not fit it.
    """
    machine = config.machine
    log = read_log(path, mapping, machine.geometry.home_pose)
    if span is not None:
        log = _during(log, span)
    source = "lengths" if "lengths" in log.groups else "pose"
    commanded = next((name for name in ("commanded_lengths", "commanded_pose") if name in log.groups), None)
    if align and commanded is None:
        raise InputError("align: there is no commanded motion to be moved")
    stamps = _stamps(log, source, machine)
    rate, bandwidth = _rates(stamps, rate, bandwidth)
    begin = min(float(stamps[source].t[part.start]) for part in stamps[source].stretches)
    end = max(float(stamps[source].t[part.stop - 1]) for part in stamps[source].stretches)
    count = math.floor((end - begin) * rate + 1e-6) + 1
    if count > _MOST_CYCLES:
        raise InputError(f"{path}: {end - begin:.4g} s at {rate:g} Hz are {count} cycles, at most {_MOST_CYCLES} go")

    def on_cycle(name: str, later: float = 0.0) -> Array | None:
        """Resample a table of the log to the cycle, shifted `later` s; None if missing."""
        if name not in log.groups:
            return None
        values = log.groups[name]
        values = resampled(stamps[name], values[np.isfinite(values).all(axis=1)], rate, begin - later, count)
        if name.endswith("pose"):
            values[:, 3:] /= np.linalg.norm(values[:, 3:], axis=1, keepdims=True)
        elif not log.mapping.corrected:
            values = config.cell_errors.corrected(values) if name == "forces" else values - machine.length_offsets
        return values

    smoothing = Smoothing(math.sqrt(2.0) * bandwidth, rate)
    lengths, pose = on_cycle("lengths"), on_cycle("pose")
    measured, differ = _motion("measured", lengths, pose, machine, smoothing)
    here = np.asarray(np.isfinite(measured.pose).all(axis=1))
    if not here.any():
        raise InputError(f"{path}: its stretches without a gap are too short for a cycle of {rate:g} Hz")
    reference, delay = replace(measured, lengths=lengths_of(machine, measured.motion[:, :7])), None
    if commanded is not None:

        def commanded_motion(later: float = 0.0) -> LegMotions:
            lengths, pose = on_cycle("commanded_lengths", later), on_cycle("commanded_pose", later)
            found, _ = _motion("commanded", lengths, pose, machine, smoothing)
            motion = found.motion.copy()
            motion[:, :7] = found.pose  # a command has no noise to filter
            return replace(found, motion=motion)

        reference = commanded_motion()
        both = runs_of(np.asarray(here & np.isfinite(reference.pose).all(axis=1)))
        stretches = [slice(int(run[0]), int(run[-1]) + 1) for run in both]
        delay = delay_of(reference.lengths, measured.lengths, stretches, rate) if stretches else None
        if align:
            if delay is None:
                raise InputError("align: the delay between commanded and measured motion cannot be told")
            reference = commanded_motion(delay.delay)
    forces = on_cycle("forces")
    found = ImportedLog(
        config=config,
        log=log,
        rate=rate,
        begin=begin,
        stamps=stamps[source],
        source=source,
        commanded=commanded,
        bandwidth=bandwidth,
        delay=delay,
        aligned=align,
        differ=differ,
        cycles=np.flatnonzero(here),
        measured=measured,
        reference=reference,
        forces=np.full((count, 6), np.nan) if forces is None else forces,
    )
    return replace(found, findings=tuple(findings_of(found)))


def _during(log: Log, span: tuple[float, float]) -> Log:
    """Select the rows of a span of time, s. Raises InputError if there are none."""
    inside = (log.t >= span[0]) & (log.t <= span[1])
    if not inside.any():
        raise InputError(
            f"during: {span[0]:g} to {span[1]:g} s, the log has rows from {log.t[0]:.9g} to {log.t[-1]:.9g} s"
        )
    return replace(log, t=log.t[inside], groups={name: values[inside] for name, values in log.groups.items()})


def _stamps(log: Log, source: str, machine: Mechanism) -> dict[str, Stamps]:
    """Return the stamps of each table's rows; the measured motion shows whether samples were taken at them."""
    time = log.mapping.time
    found: dict[str, Stamps] = {}
    kind = time.stamps
    for name in sorted(log.groups, key=lambda each: each != source):
        values = log.groups[name]
        known = np.isfinite(values).all(axis=1)
        values = lengths_of(machine, values[known]) if name.endswith("pose") else values[known]
        found[name] = stamps_of(log.t[known], values, kind, time.gap, name.replace("_", " "))
        if name == source:
            kind = "sampled" if found[name].sampled else "even"
    return found


def _rates(stamps: dict[str, Stamps], rate: float | None, bandwidth: float | None) -> tuple[float, float]:
    """Rate of the cycle and bandwidth of the low-pass, Hz, as requested or from the log."""
    if rate is not None and not (math.isfinite(rate) and rate > 0.0):
        raise InputError(f"rate: {rate:g} Hz, must be above 0 Hz")
    rate = min(each.rate for each in stamps.values()) if rate is None else rate
    for name, each in stamps.items():
        check_rate(rate, each.rate, name.replace("_", " "))
    widest = rate / (NARROWEST * math.sqrt(2.0))
    bandwidth = min(BANDWIDTH, widest) if bandwidth is None else bandwidth
    if not 0.0 < bandwidth <= widest:
        raise InputError(
            f"bandwidth: {bandwidth:g} Hz, must be above 0 and at most {widest:.4g} Hz at {rate:g} cycles a second"
        )
    return rate, bandwidth


def _motion(
    what: str, lengths: Array | None, pose: Array | None, machine: Mechanism, smoothing: Smoothing
) -> tuple[LegMotions, float | None]:
    """Return a motion by leg lengths (n, 6) or poses (n, 7), and the RMS difference, m, if both are given."""
    strokes = [leg.limits.length for leg in machine.legs if leg.limits is not None and leg.limits.length is not None]
    shortest = min(most - least for least, most in strokes)
    differ = None
    if lengths is None:
        assert pose is not None
        lengths = lengths_of(machine, pose)
        _refuse_lengths(f"{what} pose: its leg", lengths, strokes)
    else:
        _refuse_lengths(f"{what} lengths: leg", lengths, strokes)
        if pose is not None:
            differ = _difference(what, lengths, lengths_of(machine, pose), _GROSS * shortest)
        pose = _poses(what, lengths, machine, smoothing.rate)
    return LegMotions(pose, lengths, low_passed_motion(pose, smoothing)), differ


def _refuse_lengths(what: str, lengths: Array, strokes: list[tuple[float, float]]) -> None:
    """Reject lengths that are mostly far outside the strokes: another unit, another origin, or another machine's."""
    faults = []
    for leg, (least, most) in enumerate(strokes):
        values = lengths[np.isfinite(lengths[:, leg]), leg]
        spare = _GROSS * (most - least)
        beyond = np.mean((values < least - spare) | (values > most + spare)) if len(values) else 0.0
        if beyond > 0.5:
            faults.append(
                f"{what} {leg + 1} is {values.min():.6g} to {values.max():.6g} m, its stroke {least:g} to {most:g} m"
            )
    if faults:
        raise InputError(
            "the log is none of this mechanism: the unit, the offset (lengths from another zero), the order of legs or "
            "the frame of poses is another:",
            faults,
        )


def _difference(what: str, lengths: Array, others: Array, most: float) -> float | None:
    """RMS, m, of lengths minus those of poses. Raises InputError if it is more than `most`, or legs are exchanged."""
    both = np.isfinite(lengths).all(axis=1) & np.isfinite(others).all(axis=1)
    if not both.any():
        return None
    apart = lengths[both, :, np.newaxis] - others[both, np.newaxis, :]
    cost = np.mean(apart**2, axis=0)
    rms = float(np.sqrt(np.trace(cost) / 6.0))
    pairs = exchanged_pairs(cost) if rms > _SAME_LENGTH else []
    if rms <= most and not pairs:
        return rms
    named = ", ".join(f"column {column + 1} is leg {leg + 1}" for column, leg in pairs)
    hint = f"; in another order they fit: {named}" if pairs else ""
    raise InputError(
        f"{what} lengths and poses: RMS {1e3 * rms:.4g} mm apart, at most {1e3 * most:.4g} mm go: units, offsets, "
        f"rotation or order of legs are others{hint}"
    )


def _poses(what: str, lengths: Array, machine: Mechanism, rate: float) -> Array:
    """Poses (n, 7) of leg lengths (n, 6): each from the previous or last found one, the first from home."""
    geometry = machine.geometry
    poses = np.full((len(lengths), 7), np.nan)
    pose = geometry.home_pose.copy()
    work, last = np.empty(FORWARD_WORK), -2
    for row in np.flatnonzero(np.isfinite(lengths).all(axis=1)).tolist():
        try:
            if row != last + 1:
                pose = forward_kinematics(geometry, lengths[row], pose).copy()
            elif forward_kinematics_kernel(geometry.array, lengths[row], pose, _TOLERANCE, 100, work)[0] != CONVERGED:
                pose = forward_kinematics(geometry, lengths[row], pose).copy()  # raises, with the reason
        except KinematicsError as error:
            shown = ", ".join(f"{length:.6g}" for length in lengths[row])
            raise InputError(
                f"{what} lengths: no pose for {shown} m, {row / rate:.6g} s after the first of them, from the pose "
                f"before (offset, unit, order of legs? --during leaves out what is none): {error}"
            ) from None
        poses[row], last = pose, row
    return poses
