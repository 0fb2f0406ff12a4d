"""The numbers of a recording, as one JSON object."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from rig.recording import Recording, caveats
from rig.report.motions import longest_motion
from rig.report.series import Floats, rotation_vector
from rig.states import FaultCode, State, StopCategory, enum_name

_PERCENTILES = {"p50": 50.0, "p99": 99.0, "max": 100.0}


def summarize(recording: Recording) -> dict[str, Any]:
    """Summary of a recording: a JSON object of finite numbers, strings and null where there is nothing to count.

    Keys: `checks_off` (the checks that the configuration switched off), `cycle` (rate, overruns, timing percentiles in
    µs, over all rows), `window` (the rows that `tracking`, `force` and `condition` cover: the RUNNING ones; where there
    are none, those with the legs under power), `motion` (see `longest_motion`), `tracking` (m and rad), `force` (N, per
    leg; residuals are measured minus model, bias included, the bias given beside them), `condition`, `states`,
    `faults`, `events`, `recording`.
    """
    rows = recording.rows
    window = window_of(rows)
    covered = rows[window]
    return {
        "cycle": _cycle(recording),
        "window": _window(rows, window),
        "motion": longest_motion(recording),
        "tracking": _tracking(covered),
        "force": _force(covered, configured_noise(recording.header)),
        "checks_off": checks_off(recording.header),
        "condition": {"min": _number(_finite(covered["condition"]), np.min), "max": _peak(covered["condition"])},
        "states": state_timeline(rows),
        "faults": _faults(rows),
        "events": [
            {"t_s": event.t, "level": event.level, "code": event.code, "text": event.text} for event in recording.events
        ],
        "recording": {
            "rows": len(rows),
            "dropped": recording.dropped,
            "complete": recording.complete,
            "caveats": caveats(recording),
            "duration_s": float(rows["t"][-1] - rows["t"][0]) if len(rows) else 0.0,
        },
    }


def window_of(rows: npt.NDArray[np.void]) -> npt.NDArray[np.bool_]:
    """Mask of the rows that tracking and forces are judged by, see `summarize`."""
    running: npt.NDArray[np.bool_] = rows["state"] == State.RUNNING
    return running if running.any() else np.isin(rows["state"], [State.ENGAGING, State.ENGAGED, State.PARKING])


def configured_noise(header: dict[str, Any]) -> float | None:
    """Standard deviation of the load cells' noise that the recording's configuration states, N."""
    value = header.get("config", {}).get("load_cells", {}).get("noise")
    return float(value) if isinstance(value, int | float) and value > 0 else None


def checks_off(header: dict[str, Any]) -> list[str]:
    """Checks that the recording's configuration switched off, by name."""
    names = header.get("config", {}).get("safety", {}).get("off", [])
    return [str(name) for name in names] if isinstance(names, list) else []


def configured_rate(recording: Recording) -> float | None:
    """Cycle rate of the recording's configuration, Hz; by its periods when it has none."""
    value = recording.header.get("rate", recording.header.get("config", {}).get("rate"))
    if isinstance(value, int | float) and value > 0:
        return float(value)
    if len(recording.rows) < 2:
        return None
    step = float(np.median(np.diff(recording.rows["t"])))
    return 1 / step if step > 0 else None


def state_timeline(rows: npt.NDArray[np.void]) -> list[dict[str, Any]]:
    """Stretches of rows in one state, in order: name of the state, begin and end in s of rig time."""
    if not len(rows):
        return []
    edges = [0, *(np.flatnonzero(np.diff(rows["state"])) + 1).tolist(), len(rows)]
    ends = [*rows["t"][edges[1:-1]].tolist(), float(rows["t"][-1])]
    return [
        {"state": enum_name(State, rows["state"][begin]), "begin_s": float(rows["t"][begin]), "end_s": end}
        for (begin, _), end in zip(pairwise(edges), ends, strict=True)
    ]


def _cycle(recording: Recording) -> dict[str, Any]:
    rows = recording.rows
    rate = configured_rate(recording)
    error = np.abs(rows["period"][1:] - 1 / rate) if rate else np.empty(0)
    skipped = int(rows["overruns"][-1]) - int(rows["overruns"][0]) if len(rows) else 0
    span = float(rows["t"][-1] - rows["t"][0]) if len(rows) else 0.0
    return {
        "rate_hz": rate,
        "rate_measured_hz": (len(rows) - 1 + recording.dropped) / span if span > 0 else None,
        "cycles": len(rows) + recording.dropped,
        "overruns": skipped,
        **_microseconds("period_error", error),
        **_microseconds("lateness", rows["lateness"]),
        **_microseconds("exchange", rows["exchange_time"]),
        **_microseconds("compute", rows["compute_time"]),
        "stale_feedback": int(np.count_nonzero(rows["stale"].any(axis=1))),
    }


def _microseconds(name: str, seconds: Floats) -> dict[str, float | None]:
    finite = _finite(seconds)
    return {
        f"{name}_{key}_us": float(np.percentile(finite, q)) * 1e6 if len(finite) else None
        for key, q in _PERCENTILES.items()
    }


def _window(rows: npt.NDArray[np.void], window: npt.NDArray[np.bool_]) -> dict[str, Any]:
    covered = rows[window]
    if not len(covered):
        return {"covers": "nothing: the legs were never under power", "rows": 0, "begin_s": None, "end_s": None}
    running = covered["state"][0] == State.RUNNING
    return {
        "covers": "RUNNING" if running else "ENGAGING, ENGAGED and PARKING: no trajectory ran",
        "rows": len(covered),
        "begin_s": float(covered["t"][0]),
        "end_s": float(covered["t"][-1]),
    }


def _tracking(rows: npt.NDArray[np.void]) -> dict[str, Any]:
    position = np.linalg.norm(rows["pose"][:, :3] - rows["reference"][:, :3], axis=1)
    rotation = np.linalg.norm(rotation_vector(rows["reference"][:, 3:7], rows["pose"][:, 3:7]), axis=1)
    length = rows["length"] - rows["length_reference"]
    return {
        "position_rms_m": _rms(position),
        "position_max_m": _peak(position),
        "rotation_rms_rad": _rms(rotation),
        "rotation_max_rad": _peak(rotation),
        "legs": [{"length_rms_m": _rms(leg), "length_max_m": _peak(leg)} for leg in length.T],
    }


def _force(rows: npt.NDArray[np.void], noise: float | None) -> dict[str, Any]:
    legs = []
    for leg in range(6):
        measured, residual = rows["force_measured"][:, leg], rows["force_residual"][:, leg]
        rms = _rms(residual)
        legs.append(
            {
                "leg": leg + 1,
                "rms_measured_n": _rms(measured),
                "rms_model_n": _rms(rows["force_model"][:, leg]),
                "rms_residual_n": rms,
                "bias_n": _number(_finite(residual), np.mean),
                "noise_ratio": rms / noise if noise and rms is not None else None,
                "peak_measured_n": _peak(measured),
                "peak_command_n": _peak(rows["force_command"][:, leg]),
                "peak_residual_n": _peak(residual),
            }
        )
    ratios = [leg["noise_ratio"] for leg in legs if leg["noise_ratio"] is not None]
    return {"legs": legs, "noise_n": noise, "noise_ratio_max": max(ratios) if ratios else None}


def _faults(rows: npt.NDArray[np.void]) -> list[dict[str, Any]]:
    """First row of every stop cause that shows up."""
    causes = rows["fault"]
    begins = np.flatnonzero((causes != FaultCode.NONE) & (np.diff(causes, prepend=np.uint16(0)) != 0))
    return [
        {
            "t_s": float(row["t"]),
            "fault": enum_name(FaultCode, row["fault"]),
            "leg": int(row["fault_leg"]) or None,
            "state": enum_name(State, row["state"]),
            "stop": enum_name(StopCategory, row["stop"]),
        }
        for row in rows[begins]
    ]


def _finite(values: Floats) -> Floats:
    return values[np.isfinite(values)]


def _number(values: Floats, function: Any) -> float | None:
    return float(function(values)) if len(values) else None


def _peak(values: Floats) -> float | None:
    return _number(_finite(np.abs(values)), np.max)


def _rms(values: Floats) -> float | None:
    return _number(_finite(values), lambda finite: math.sqrt(float(np.mean(finite**2))))
