"""Telemetry as a rig could have produced it, made from sines and noise."""

import hashlib
import json
from typing import Any

import numpy as np
import numpy.typing as npt

from rig.recording.schema import PACKED_SIZE
from rig.states import State
from rig.telemetry import ROW

NOISE = 0.5
TIMELINE = (
    (State.IDLE, 0.04),
    (State.HOMING, 0.10),
    (State.PARKED, 0.13),
    (State.ENGAGING, 0.2),
    (State.ENGAGED, 0.24),
    (State.RUNNING, 0.88),
    (State.ENGAGED, 0.92),
    (State.PARKING, 0.98),
    (State.PARKED, 1.0),
)
"""States and the part of the whole duration at which each ends."""


def packed(rows: npt.NDArray[np.void]) -> bytes:
    """Bytes of rows without the padding at the end of each, which numpy's copies leave undefined."""
    assert rows.dtype == ROW
    raw = np.frombuffer(rows.tobytes(), np.uint8).reshape(-1, ROW.itemsize)
    return raw[:, :PACKED_SIZE].tobytes()


def make_header(rate: float = 500.0) -> dict[str, Any]:
    """Header like the engine's."""
    config = {
        "name": "synthetic",
        "mechanism": "lab-hexapod",
        "mode": "computed-torque",
        "rate": rate,
        "load_cells": {"source": "drive", "noise": NOISE},
    }
    mechanism = 'name = "lab-hexapod"\n'
    return {
        "clock": {"monotonic_ns": 123456789, "wall_ns": 1_700_000_000_000_000_000},
        "config": config,
        "config_sha256": hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest(),
        "mechanism": mechanism,
        "mechanism_sha256": hashlib.sha256(mechanism.encode()).hexdigest(),
        "rate": rate,
        "virtual": True,
        "software": {"version": "0.1.0", "python": "3.11"},
    }


def make_rows(
    duration: float = 20.0, rate: float = 500.0, *, seed: int = 1, bias: float = 0.2, skipped: tuple[int, ...] = ()
) -> npt.NDArray[np.void]:
    """Rows of a session from power-up to parked; the cycles in `skipped` never took place."""
    random = np.random.default_rng(seed)
    count = round(duration * rate)
    rows = np.zeros(count, ROW)
    t = np.arange(count) / rate
    rows["t"] = t
    rows["cycle"] = np.arange(count)
    rows["lateness"] = random.gamma(4.0, 12e-6, count)
    rows["period"] = 1 / rate + np.diff(rows["lateness"], prepend=rows["lateness"][0])
    rows["exchange_time"] = 180e-6 + random.gamma(3.0, 15e-6, count)
    rows["compute_time"] = 25e-6 + random.gamma(3.0, 3e-6, count)

    begin = 0
    for state, part in TIMELINE:
        end = round(part * count)
        rows["state"][begin:end] = state
        begin = end
    moving = rows["state"] == State.RUNNING
    start, stop = t[moving][0], t[moving][-1]
    s = np.clip(t - start, 0, stop - start)
    fade = np.clip(np.minimum(s, stop - start - s) / (0.1 * (stop - start)), 0, 1)
    fade = fade**3 * (10 - 15 * fade + 6 * fade**2)
    rows["path_time"] = s
    rows["path_rate"] = moving

    frequency = 2 * np.pi * np.array([0.5, 0.7, 0.9, 0.6, 0.8, 1.1])
    amplitude = np.array([0.03, 0.03, 0.02, 0.1, 0.1, 0.15])
    wave = np.sin(s[:, None] * frequency) * fade[:, None]
    pose = amplitude * wave
    rows["reference"][:, :3] = pose[:, :3] + [0, 0, 0.6]
    rows["reference"][:, 3:7] = _quaternion(pose[:, 3:])
    rows["reference"][:, 7:13] = np.gradient(pose, 1 / rate, axis=0)
    rows["reference"][:, 13:] = -(frequency**2) * pose
    error = 2e-5 * np.cos(s[:, None] * frequency) * fade[:, None] + random.normal(0, 2e-6, (count, 6))
    rows["pose"][:, :3] = rows["reference"][:, :3] + error[:, :3]
    rows["pose"][:, 3:] = _quaternion(pose[:, 3:] + 4 * error[:, 3:])
    rows["twist"] = rows["reference"][:, 7:13]
    mixing = np.array([[np.cos(leg * 1.1), np.sin(leg * 1.1), 0.9, 0.2, -0.2, 0.1 * (-1) ** leg] for leg in range(6)])
    rows["length_reference"] = 0.65 + pose @ mixing.T
    rows["length"] = rows["length_reference"] + error @ mixing.T
    rows["velocity_reference"] = np.gradient(rows["length_reference"], 1 / rate, axis=0)
    rows["velocity"] = rows["velocity_reference"]
    rows["condition"] = 8 + 3 * np.abs(wave[:, 0])

    on = rows["state"] >= State.ENGAGING
    terms = rows["terms"]
    terms[:, 0] = 20 * (frequency**2 * pose / 3) @ mixing.T
    terms[:, 1] = 45 + 60 * pose @ mixing.T
    terms[:, 2] = 0.15 * terms[:, 0]
    terms[:, 3] = 6 * np.tanh(rows["velocity"] / 1e-3) + 15 * rows["velocity"]
    terms[~on] = 0
    rows["force_model"] = terms.sum(axis=1)
    rows["force_feedforward"] = rows["force_model"]
    rows["force_command"] = rows["force_model"] + 2e4 * (rows["length_reference"] - rows["length"]) * on[:, None]
    leg_bias = bias * np.array([1, -1, 0.5, 0, -0.5, 1])
    rows["force_measured"] = rows["force_model"] + leg_bias + random.normal(0, NOISE, (count, 6))
    rows["force_residual"] = rows["force_measured"] - rows["force_model"]
    rows["drive_status"] = 0x0B
    rows["mode"] = on[:, None]
    rows["position_command"] = np.nan
    if skipped:
        kept = np.ones(count, bool)
        kept[list(skipped)] = False
        rows["overruns"] = np.cumsum(~kept)
        rows["period"][1:] = np.where(kept[:-1], rows["period"][1:], rows["period"][1:] + 1 / rate)
        rows = rows[kept]
    return rows


def _quaternion(vector: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    angle = np.linalg.norm(vector, axis=1, keepdims=True)
    scalar = np.cos(angle / 2)
    return np.concatenate([scalar, vector * np.sinc(angle / (2 * np.pi)) / 2], axis=1)
