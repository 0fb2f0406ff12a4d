"""What an imported log can and cannot support, and what about it looks wrong: codes with their figures."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from calibration import IdentificationSettings, exchanged_pairs
from kinematics import COORDINATES, Array, pose_to_coordinates
from rig.analysis import REPEATED, SHORTEST, STILL
from rig.importing.recorded import ImportedLog, lengths_of, modelled, speeds_of
from rig.importing.sampling import white_noise
from rig.recording import Finding, Found
from rig.telemetry import TERMS

_JUDGED = 20_000  # rows by which forces and model are compared, at most
_TURNED = 0.5  # of what is left of a force as it is, what the other sign leaves
_SIGMAS = 3.0
_JITTER = 1e-2  # of an interval, from which stamps are worth a word
_BAND_OF_RATE = 4.0  # of the rate that the identification's low-pass needs, see `calibration`
_DELAY = 0.5  # of a cycle, from which a delay is worth a word
_LEAST_DIFFERENCE = 1e-6  # m


def findings_of(log: ImportedLog) -> Iterator[Found]:
    """All that was found of a log."""
    yield from _of_times(log)
    yield from _of_motion(log)
    yield from _of_forces(log)


def ranges_of(log: ImportedLog) -> list[dict[str, Any]]:
    """Least and greatest of what was measured, each beside the limits of mechanism and cells.

    One entry each: `name`, `unit` (SI), `least` and `most`, `limit_least` and `limit_most` (None: there is none), of
    each leg or coordinate.
    """
    machine, cycles = log.config.machine, log.cycles
    limits = [leg.limits for leg in machine.legs]
    speeds = np.abs(speeds_of(machine, log.measured.motion[cycles]))
    told = []
    for leg in range(6):
        own = limits[leg]
        stroke = (None, None) if own is None or own.length is None else own.length
        most_speed = None if own is None else own.velocity
        told.append(_range(f"length {leg + 1}", "m", log.measured.lengths[cycles, leg], *stroke))
        told.append(_range(f"speed {leg + 1}", "m/s", speeds[:, leg], None, most_speed) | {"least": None})
        if "forces" in log.log.groups:
            end = log.config.load_cells.range
            told.append(_range(f"force {leg + 1}", "N", log.forces[cycles, leg], -end, end))
    coordinates = pose_to_coordinates(log.measured.pose[cycles])
    for k, name in enumerate(COORDINATES):
        told.append(_range(name, "m" if k < 3 else "rad", coordinates[:, k], None, None))
    return told


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
            yield Found(Finding.STAMPS_UNTOLD, {"jitter": stamps.jitter})
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
            yield Found(Finding.DELAY_UNTOLD, {})
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
    still = np.abs(twists).max(axis=0, initial=0.0) < STILL
    if still.any():
        names = [name for name, rests in zip(COORDINATES, still.tolist(), strict=True) if rests]
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
    inertia = terms[:, TERMS.index("leg inertia")]
    rms = float(np.sqrt(np.mean(inertia**2)))
    noise = float(white_noise(raw, [slice(0, len(raw))]).max())
    independent = max(1.0, 2.0 * log.bandwidth * len(log.cycles) / log.rate)
    resolved = _SIGMAS * noise / math.sqrt(independent)
    if rms < resolved:
        yield Found(Finding.LEG_INERTIA_LOST, {"rms": rms, "noise": noise, "resolved": resolved})


def _of_order(measured: Array, model: Array) -> Iterator[Found]:
    """Forces of another leg, or of the other sign, by what is left of them beside the model (n, 6), N."""
    cost = np.mean((measured[:, :, np.newaxis] - model[:, np.newaxis, :]) ** 2, axis=0)
    turned = np.sqrt(np.mean((measured + model) ** 2, axis=0) / np.diag(cost))
    legs = (np.flatnonzero(turned < _TURNED) + 1).tolist()
    if legs:
        yield Found(Finding.FORCES_TURNED, {"legs": legs})
    if pairs := exchanged_pairs(cost):
        yield Found(Finding.FORCES_EXCHANGED, {"pairs": [[cell + 1, leg + 1] for cell, leg in pairs]})
