"""The numbers of a recording, as one JSON object."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rig.recording import (
    Recorded,
    RecordedEvent,
    caveats,
    has_tracking,
    injection,
    is_command,
    recorded_cell_noise,
)
from rig.report.motions import described
from rig.report.statistics_pass import HELD, Covered, Survey
from rig.states import FaultCode, State, cause_text, enum_name, fault_name

_TIMED = ("period", "lateness", "exchange", "compute")


def summarize(recording: Recorded) -> dict[str, Any]:
    """Summary of a recording: a JSON object of finite numbers, strings and null where there is nothing to count.

    Keys: `checks_off` (the checks that the configuration switched off), `cycle` (rate, overruns, timing percentiles in
    µs, over all rows), `motions` (each as `described`, with `rows` and its own `tracking`, `force` and `condition`),
    `motion` (that of the headline, see `Motions.headline`, or null), `motion_begin_s` (where the longest first begins),
    `leg_tests` (legs moved alone: which, how far, the largest following error),
    `window` (the rows that `tracking`, `force` and `condition` cover: those of one motion, see `Motions.covered`; where
    there is none, those with the legs under power; `overruns` and `period_error_p99_s` are of these rows,
    `speed` is the greatest part of full speed at which the motion was followed),
    `tracking` (m and rad), `force` (N, per leg; residuals are measured minus model, bias included, the bias given
    beside them), `condition`, `states`, `faults`, `events`, `begin_s`, `recording`, `powered` (the rows from the first
    to the last with the legs under power).
    Raises RecordingError when the file changes meanwhile.
    """
    survey = Survey(recording, configured_rate(recording.header))
    covered = survey.covered
    begin, end = survey.powered
    noise = recorded_cell_noise(recording.header)
    tracked = has_tracking(recording.header)
    headline = survey.motions.headline
    return {
        "cycle": _cycle(recording, survey),
        "window": _window(survey),
        "motions": [
            described(motion, recording.events) | _motion(survey.by_motion.get(motion.id), noise, tracked)
            for motion in survey.motions.records
        ],
        "motion": None if headline is None else described(headline, recording.events),
        "motion_begin_s": survey.motions.begin,
        "leg_tests": survey.leg_tests.found,
        "tracking": _tracking(covered, tracked),
        "force": _force(covered, noise),
        "checks_off": checks_off(recording.header),
        "condition": _condition(covered),
        "states": [
            {"state": enum_name(State, state), "begin_s": first, "end_s": last}
            for state, first, last in survey.stretches
        ],
        "faults": [fault | {"cause": _cause(fault, recording.events)} for fault in survey.faults],
        "events": [
            {"t_s": event.t, "level": event.level, "code": event.code, "kind": _kind(event), "text": event.text}
            for event in recording.events
        ],
        "begin_s": survey.begin,
        "recording": {
            "rows": recording.count,
            "dropped": recording.dropped,
            "complete": recording.complete,
            "caveats": caveats(recording),
            "duration_s": survey.end - survey.begin,
        },
        "powered": {"first_row": begin, "rows": end - begin},
    }


def window_of(rows: npt.NDArray[np.void], seen: int, summary: Mapping[str, Any]) -> npt.NDArray[np.bool_]:
    """Mask of rows (n,), `seen` others before them, that tracking and forces are judged by; see `summarize`."""
    window = summary["window"]
    begin, end = (max(number - seen, 0) for number in window["span"])
    mask: npt.NDArray[np.bool_] = np.isin(rows["state"], [State[name] for name in window["states"]])
    mask[:begin] = mask[end:] = False
    return mask


def checks_off(header: dict[str, Any]) -> list[str]:
    """Checks that the recording's configuration switched off, by name."""
    names = header.get("config", {}).get("safety", {}).get("off", [])
    return [str(name) for name in names] if isinstance(names, list) else []


def old_replies(closing: dict[str, Any]) -> int:
    """How many of the drives' replies answered an earlier cycle's command, as far as the recording's end says."""
    counts = closing.get("lagging")
    return sum(int(count) for count in counts if isinstance(count, int)) if isinstance(counts, list) else 0


def rejected_replies(closing: dict[str, Any]) -> dict[str, int]:
    """How often what came from a device was no good reply, by its name; those of which all was good are left out."""
    counts = closing.get("rejected")
    legs = counts if isinstance(counts, list) else []
    named = {f"leg {leg}": count for leg, count in enumerate(legs, start=1)}
    named |= {"load cells": closing.get("cells_rejected", 0)}
    return {name: count for name, count in named.items() if isinstance(count, int) and count > 0}


def configured_rate(header: dict[str, Any]) -> float | None:
    """Cycle rate of the recording's configuration, Hz; None when it has none."""
    value = header.get("rate", header.get("config", {}).get("rate"))
    return float(value) if isinstance(value, int | float) and value > 0 else None


def _cause(fault: Mapping[str, Any], events: Sequence[RecordedEvent]) -> str:
    """A fault in words: what the event says that told of it, or its kind alone."""
    code = next((code for code in FaultCode if code.name == fault["fault"]), FaultCode.NONE)
    told = [event.text for event in events if event.code == code and event.t <= fault["t_s"]]
    if told:
        return cause_text(code, told[-1])
    return fault_name(code) + (f" of leg {fault['leg']}" if fault["leg"] else "")


def _kind(event: RecordedEvent) -> str:
    """Whether an event is a "command" of a client or something injected into the "virtual rig"; "" for any other."""
    if is_command(event):
        return "command"
    return "" if injection(event) is None else "virtual rig"


def _cycle(recording: Recorded, survey: Survey) -> dict[str, Any]:
    span = survey.end - survey.begin
    lowest = {f"{name}_min": survey.timing.low(column) for column, name in enumerate(_TIMED)}
    highest = {"period_max": survey.timing.high(0)}
    return {
        "rate_hz": survey.rate,
        "rate_measured_hz": (recording.count - 1 + recording.dropped) / span if span > 0 else None,
        "cycles": recording.count + recording.dropped,
        "overruns": survey.overruns,
        **{
            f"{name}_us": None if seconds is None else seconds * 1e6
            for name, seconds in (survey.durations | lowest | highest).items()
        },
        "stale_feedback": survey.stale,
        "old_replies": old_replies(recording.closing),
        "rejected_replies": rejected_replies(recording.closing),
        "slower": _slower(recording.closing),
    }


def _slower(closing: Mapping[str, Any]) -> float:
    """By which part a run on virtual hardware took longer than real time; 0 where that is not known."""
    slower = closing.get("slower", 0.0)
    return float(slower) if isinstance(slower, int | float) and 0.0 <= slower < math.inf else 0.0


def _window(survey: Survey) -> dict[str, Any]:
    covered = survey.covered
    if not covered.rows:
        nothing = "nothing: the legs were never under power"
        empty = {"states": [], "span": [0, 0], "rows": 0, "begin_s": None, "end_s": None, "motion": None}
        return {"covers": nothing} | empty | {"overruns": 0, "period_error_p99_s": None, "speed": None}
    motion = survey.motion
    covers: str
    states: tuple[State, ...]
    if motion is None:
        covers, states = "ENGAGING, ENGAGED and PARKING: no trajectory ran", HELD
    else:
        covers, states = f"the motion {motion.name!r}" if motion.name else "the longest motion", (State.RUNNING,)
    return {
        "covers": covers,
        "states": [state.name for state in states],
        "span": list(covered.span),
        "rows": covered.rows,
        "begin_s": covered.begin,
        "end_s": covered.end,
        "motion": None if motion is None else motion.id,
        "overruns": covered.overruns,
        "period_error_p99_s": survey.period_error,
        "speed": None if motion is None else covered.rate.peak(),
    }


def _motion(covered: Covered | None, noise: float | None, tracked: bool) -> dict[str, Any]:
    """One motion's numbers; those are null without a path, and of motions beyond the first thousand."""
    if covered is None:
        return {"rows": None, "tracking": None, "force": None, "condition": None}
    numbers = {
        "tracking": _tracking(covered, tracked),
        "force": _force(covered, noise),
        "condition": _condition(covered),
    }
    return {"rows": covered.rows} | numbers


def _condition(covered: Covered) -> dict[str, float | None]:
    return {"min": covered.condition.low(), "max": covered.condition.peak()}


def _tracking(covered: Covered, tracked: bool) -> dict[str, Any]:
    """Tracking; null where the reference was made of the measured motion, which it follows by construction."""
    of = covered if tracked else Covered()
    return {
        "position_rms_m": of.position.rms(),
        "position_max_m": of.position.peak(),
        "rotation_rms_rad": of.rotation.rms(),
        "rotation_max_rad": of.rotation.peak(),
        "legs": [{"length_rms_m": of.length.rms(leg), "length_max_m": of.length.peak(leg)} for leg in range(6)],
    }


def _force(covered: Covered, noise: float | None) -> dict[str, Any]:
    legs = []
    for leg in range(6):
        rms = covered.residual.rms(leg)
        legs.append(
            {
                "leg": leg + 1,
                "rms_measured_n": covered.measured.rms(leg),
                "rms_model_n": covered.model.rms(leg),
                "rms_residual_n": rms,
                "bias_n": covered.residual.mean(leg),
                "noise_ratio": rms / noise if noise and rms is not None else None,
                "peak_measured_n": covered.measured.peak(leg),
                "peak_command_n": covered.command.peak(leg),
                "peak_residual_n": covered.residual.peak(leg),
                "min_residual_n": covered.residual.low(leg),
                "max_residual_n": covered.residual.high(leg),
            }
        )
    ratios = [leg["noise_ratio"] for leg in legs if leg["noise_ratio"] is not None]
    return {"legs": legs, "noise_n": noise, "noise_ratio_max": max(ratios) if ratios else None}
