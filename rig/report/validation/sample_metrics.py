"""Exact numbers of a verdict, counted over all covered rows: tracking, peaks and timing."""

from collections.abc import Mapping
from typing import Any

from rig.report.validation.blocks import FEWEST

Cause = dict[str, Any] | None
"""A `code` and its fields, see `rig.report.text_summary.cause_text`."""
_TRACKING = {
    "position_rms": "position_rms_m",
    "position_max": "position_max_m",
    "rotation_rms": "rotation_rms_rad",
    "rotation_max": "rotation_max_rad",
}
_PEAKS = {"peak_force": "peak_measured_n", "peak_residual": "peak_residual_n"}
COUNTED = (*_TRACKING, *_PEAKS, "period_error", "overruns")
"""Names of their thresholds."""


def counted(
    summary: Mapping[str, Any], *, real_time: bool, damaged: Cause, saturated: Cause, imported: bool = False
) -> dict[str, dict[str, Any]]:
    """Return the values for the thresholds of tracking, peaks and timing, by threshold name.

    Each has `value` (SI, None if unavailable), `leg` (that of the largest, None for the platform or the cycle) and
    `doubt`: why it is unknown, or with a value why it may be larger; None where it is certain.

    Args:
        summary: result of `summarize`.
        real_time: whether cycles could be late; on a simulated clock none can.
        damaged: why these rows decide nothing, None where they do.
        saturated: why the forces differ from the readings, None if they do not.
        imported: whether the cycles are those of another program's log.
    """
    window, tracking = summary["window"], summary["tracking"]
    few = damaged
    if not few and window["rows"] < FEWEST:
        few = {"code": "few_rows", "count": window["rows"]}
    found = {name: _number(tracking[key], few) for name, key in _TRACKING.items()}
    for name, key in _PEAKS.items():
        worst = max(summary["force"]["legs"], key=lambda leg: -1.0 if leg[key] is None else leg[key])
        found[name] = _number(worst[key], few) | {"leg": worst["leg"]}
        if saturated and not few:
            found[name] |= {"doubt": saturated, "value": worst[key] if name == "peak_force" else None}
    rows = window["rows"] + window["overruns"]
    simulated = None if real_time else {"code": "simulated_clock"}
    clock = few or ({"code": "imported_cycles"} if imported else simulated)
    found["period_error"] = _number(window["period_error_p99_s"], clock)
    found["overruns"] = _number(window["overruns"] / rows if rows else None, clock)
    return found


def _number(value: float | None, doubt: Cause) -> dict[str, Any]:
    """Return a certain number, or why there is none."""
    why = doubt or (None if value is not None else {"code": "not_recorded"})
    return {"value": None if why else value, "leg": None, "doubt": why}
