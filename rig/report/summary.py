"""The numbers of a recording as one JSON object, computed block by block in one pass over all rows."""

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
import numpy.typing as npt

from actuators import Mode
from rig.angles import rotation_vector
from rig.recording import (
    MotionRecord,
    Recorded,
    RecordedEvent,
    RecordingError,
    caveats,
    has_tracking,
    injection,
    is_command,
    recorded_cell_noise,
)
from rig.report.digital_io import PointStates
from rig.report.motions import Motions, described
from rig.report.streaming import Column, Moments
from rig.states import FaultCode, State, StopSeverity, cause_text, enum_name, fault_name

Rows = npt.NDArray[np.void]


class LegTests:
    """Collects the leg tests in `found`, JSON-able in SI units; `travel_m` is the largest set-point change."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []
        self._open: dict[str, Any] | None = None
        self._start = 0.0
        self._commanded = np.nan

    def add(self, rows: Rows) -> None:
        """Add the following rows (n,) of dtype ROW."""
        moving = (rows["mode"] == Mode.POSITION) & (rows["state"] == State.SINGLE_LEG)[:, np.newaxis]
        if self._open is None and not moving.any():
            return
        for row, mask in zip(rows, moving, strict=True):
            self._add(row, mask)

    def _add(self, row: np.void, moving: npt.NDArray[np.bool_]) -> None:
        if not moving.any():
            self._open = None
            return
        leg = int(np.argmax(moving))
        command = float(row["position_command"][leg])
        if self._open is None:
            self._start, self._commanded = command, np.nan
            self._open = {"leg": leg + 1, "begin_s": float(row["t"]), "travel_m": 0.0, "following_max_m": 0.0}
            self.found.append(self._open)
        test = self._open
        test["end_s"] = float(row["t"])
        if abs(command - self._start) > abs(test["travel_m"]):
            test["travel_m"] = command - self._start
        error = abs(float(row["length"][leg]) - self._commanded)  # the previous row's command acted in the meantime
        if test["travel_m"] and error > test["following_max_m"]:  # by then the drive carries the load
            test["following_max_m"] = error
        self._commanded = command


POWERED = (State.ENGAGING, State.ENGAGED, State.RUNNING, State.PARKING, State.STOPPING, State.SINGLE_LEG)
HOLD_STATES = (State.ENGAGING, State.ENGAGED, State.PARKING)
_TIMINGS = ("period", "lateness", "exchange_time", "compute_time")
_PERCENTAGES = {"p50": 50.0, "p99": 99.0, "max": 100.0}
_MOST_MOTIONS = 1000  # motions with numbers, the first ones
_MOST_STRETCHES = 20_000  # state stretches and causes, the first ones


class Covered:
    """Tracking and forces over a subset of the rows."""

    def __init__(self) -> None:
        self.rows = 0
        self.begin = self.end = 0.0
        """s, rig times of the first and the last row"""
        self.span = (0, 0)
        """numbers of the first row and of the one after the last"""
        self.position, self.rotation = Moments(1), Moments(1)
        self.length = Moments(6)
        self.measured, self.model, self.residual, self.command = (Moments(6) for _ in range(4))
        self.condition, self.rate = Moments(1), Moments(1)
        self.overruns = 0
        """cycles skipped from the first row to the last"""
        self._overruns_before = 0

    def add(self, rows: Rows, numbers: npt.NDArray[np.intp]) -> None:
        """Add rows (m,) with these numbers (m,)."""
        if not len(rows):
            return
        self.span = (self.span[0] if self.rows else int(numbers[0]), int(numbers[-1]) + 1)
        if not self.rows:
            self.begin, self._overruns_before = float(rows["t"][0]), int(rows["overruns"][0])
        self.end, self.overruns = float(rows["t"][-1]), int(rows["overruns"][-1]) - self._overruns_before
        self.rows += len(rows)
        pose, reference = rows["pose"], rows["reference"]
        self.position.add(np.linalg.norm(pose[:, :3] - reference[:, :3], axis=1, keepdims=True))
        turned = rotation_vector(reference[:, 3:7], pose[:, 3:7])
        self.rotation.add(np.linalg.norm(turned, axis=1, keepdims=True))
        self.length.add(rows["length"] - rows["length_reference"])
        self.measured.add(rows["force_measured"])
        self.model.add(rows["force_model"])
        self.residual.add(rows["force_residual"])
        self.command.add(rows["force_command"])
        self.condition.add(rows["condition"][:, np.newaxis])
        self.rate.add(rows["path_rate"][:, np.newaxis])


class Survey:
    """Statistics over the rows of a recording, in constant memory.

    `covered` is what the numbers are computed over: the motion the report is about, see `Motions.covered`; without
    one, the powered rows. `by_motion` has the numbers of each motion along a path, by its id.

    Args:
        recording: read once.
        rate: configured rate, Hz, or None.

    Raises:
        RecordingError: the file changed meanwhile, or the temporary folder has no room for its durations.
    """

    def __init__(self, recording: Recorded, rate: float | None) -> None:
        self.rate = rate
        self.stretches: list[tuple[int, float, float]] = []
        """state, begin and end, s, of the stretches in one state"""
        self.faults: list[dict[str, Any]] = []
        """first row of each stop cause"""
        self.motions = Motions(recording)
        counted = [*self.motions.along_paths[:_MOST_MOTIONS], *filter(None, [self.motions.covered])]
        self.by_motion = {motion.id: Covered() for motion in counted}
        self.motion: MotionRecord | None = self.motions.covered
        """the motion of `covered`; None without one"""
        self.leg_tests = LegTests()
        self.points = PointStates(recording.header)
        self.powered = (0, recording.count)
        """numbers of the first powered row and of the one after the last; all rows if none is powered"""
        self.timing = Moments(len(_TIMINGS))
        """period, lateness, exchange and computation, s; the first row has no period"""
        self.durations: dict[str, float | None] = {}
        """`period_error_p50`, …, s"""
        self.period_error: float | None = None
        """99th percentile over the rows of `covered`, s"""
        self.stale = self.overruns = 0
        self.begin = self.end = 0.0
        """s, rig times of the first and the last row"""
        self._covered_at_hold = Covered()
        self._seen = 0
        self._powered: tuple[int, int] | None = None
        self._overruns_before = 0
        self._last: np.void | None = None
        try:
            with ExitStack() as resources, np.errstate(all="ignore"):  # a file may hold any value
                columns = [Column() for _ in _TIMINGS]
                steps, covered = Column(), Column()
                for column in (*columns, steps, covered):
                    resources.callback(column.close)
                for rows in recording.blocks():
                    self._add(rows, columns, covered, steps if rate is None else None)
                self._conclude(columns, covered, steps)
        except OSError as error:
            raise RecordingError(f"{recording.path}: no room to sort its durations: {error.strerror}") from None

    @property
    def covered(self) -> Covered:
        """Return the rows that the numbers cover."""
        motion = self.motion
        return self._covered_at_hold if motion is None else self.by_motion[motion.id]

    def _add(self, rows: Rows, columns: list[Column], covered: Column, steps: Column | None) -> None:
        state, t = rows["state"], rows["t"]
        first = self._last is None
        before = rows[0] if self._last is None else self._last
        if first:
            self.begin, self._overruns_before = float(t[0]), int(rows["overruns"][0])
        changes = np.flatnonzero(np.diff(state, prepend=before["state"] if not first else ~state[0]))
        self._change_states(state[changes], t[changes])
        powered = np.flatnonzero(np.isin(state, POWERED))
        if len(powered):
            begin = self._powered[0] if self._powered else self._seen + int(powered[0])
            self._powered = (begin, self._seen + int(powered[-1]) + 1)
        self._add_faults(rows, before["fault"] if not first else np.uint16(FaultCode.NONE))
        ids = self._add_motions(rows)
        self.leg_tests.add(rows)
        self.points.add(rows)
        timing = np.stack([rows[name] for name in _TIMINGS], axis=1)
        if first:
            timing[0, 0] = np.nan
        self.timing.add(timing)
        for column, values in zip(columns, timing.T, strict=True):
            column.add(values)
        if steps is not None:
            steps.add(np.diff(t, prepend=[] if first else before["t"]))
        self.stale += int(np.count_nonzero(rows["stale"].any(axis=1)))
        in_hold = np.isin(state, HOLD_STATES)
        covered.add(timing[in_hold if self.motion is None else ids == self.motion.id, 0])
        if in_hold.any():
            self._covered_at_hold.add(rows if in_hold.all() else rows[in_hold], self._seen + np.flatnonzero(in_hold))
        self._last = rows[-1].copy()
        self._seen += len(rows)

    def _add_motions(self, rows: Rows) -> npt.NDArray[np.uint32]:
        """Add the rows of each motion; return the motion id of each row."""
        ids = self.motions.of_rows(rows, self._seen)
        for number in np.unique(ids).tolist():
            covered = self.by_motion.get(number)
            if covered is not None:
                places = np.flatnonzero(ids == number)
                covered.add(rows if len(places) == len(rows) else rows[places], self._seen + places)
        return ids

    def _change_states(self, states: npt.NDArray[np.uint8], times: npt.NDArray[np.float64]) -> None:
        for state, t in zip(states.tolist(), times.tolist(), strict=True):
            if len(self.stretches) > _MOST_STRETCHES:
                return
            if self.stretches:
                self.stretches[-1] = (*self.stretches[-1][:2], t)
            self.stretches.append((state, t, t))

    def _add_faults(self, rows: Rows, before: np.uint16) -> None:
        causes = rows["fault"]
        begins = np.flatnonzero((causes != FaultCode.NONE) & (np.diff(causes, prepend=before) != 0))
        for row in rows[begins[: max(0, _MOST_STRETCHES - len(self.faults))]]:
            self.faults.append(
                {
                    "t_s": float(row["t"]),
                    "fault": enum_name(FaultCode, row["fault"]),
                    "leg": int(row["fault_leg"]) or None,
                    "state": enum_name(State, row["state"]),
                    "stop": enum_name(StopSeverity, row["stop"]),
                }
            )

    def _conclude(self, columns: list[Column], covered: Column, steps: Column) -> None:
        if self._last is not None:
            self.end = float(self._last["t"])
            self.overruns = int(self._last["overruns"]) - self._overruns_before
            self.stretches[-1] = (*self.stretches[-1][:2], self.end)
        self.powered = self._powered or self.powered
        if self.rate is None:
            (step,) = steps.percentiles([50.0])
            self.rate = 1 / step if step is not None and step > 0 else None
        for name, column in zip(("period_error", "lateness", "exchange", "compute"), columns, strict=True):
            center = None
            if name == "period_error":
                center = 1 / self.rate if self.rate else None
            found = column.percentiles(list(_PERCENTAGES.values()), center)
            if name == "period_error" and not self.rate:
                found = [None] * len(found)
            self.durations |= {f"{name}_{key}": value for key, value in zip(_PERCENTAGES, found, strict=True)}
        if self.rate:
            (self.period_error,) = covered.percentiles([99.0], 1 / self.rate)


_TIMED = ("period", "lateness", "exchange", "compute")


def summarize(recording: Recorded) -> dict[str, Any]:
    """Summarize a recording as a JSON object of finite numbers, strings and null where there is no value.

    Keys: `checks_off` (the checks that the configuration switched off), `cycle` (rate, overruns, timing percentiles in
    µs, over all rows), `motions` (each as `described`, with `rows` and its own `tracking`, `force` and `condition`),
    `motion` (that of the headline, see `Motions.headline`, or null), `motion_begin_s` (where the longest first begins),
    `leg_tests` (legs moved alone: which, how far, the largest following error),
    `window` (the rows that `tracking`, `force` and `condition` cover: those of one motion, see `Motions.covered`, or
    else the powered ones; `overruns` and `period_error_p99_s` are of these rows, `speed` is the largest fraction of
    full speed at which the motion was followed),
    `io` (digital inputs and outputs, see `PointStates.result`),
    `tracking` (m and rad), `force` (N, per leg; residuals are measured minus model, including the bias, which is also
    given separately), `condition`, `states`, `faults`, `events`, `begin_s`, `recording`, `powered` (the rows from the
    first to the last powered one).

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
        "io": survey.points.result(),
        "faults": [fault | {"cause": _cause(fault, recording.events)} for fault in survey.faults],
        "events": [
            {
                "t_s": event.t,
                "level": event.level,
                "code": event.code,
                "kind": _kind(event),
                "text": event.text,
                "finding": None if event.finding is None else event.finding.as_dict(),
            }
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
    """Return the mask of rows (n,), after `seen` others, that tracking and forces cover; see `summarize`."""
    window = summary["window"]
    begin, end = (max(number - seen, 0) for number in window["span"])
    mask: npt.NDArray[np.bool_] = np.isin(rows["state"], [State[name] for name in window["states"]])
    mask[:begin] = mask[end:] = False
    return mask


def checks_off(header: dict[str, Any]) -> list[str]:
    """Return the names of the checks that the recording's configuration switched off."""
    names = header.get("config", {}).get("safety", {}).get("off", [])
    return [str(name) for name in names] if isinstance(names, list) else []


def old_replies(closing: dict[str, Any]) -> int:
    """Return how many drive replies answered an earlier cycle's command, according to the recording's end."""
    counts = closing.get("lagging")
    return sum(int(count) for count in counts if isinstance(count, int)) if isinstance(counts, list) else 0


def rejected_replies(closing: dict[str, Any]) -> dict[str, int]:
    """Return the number of invalid replies by device name; devices without any are left out."""
    counts = closing.get("rejected")
    legs = counts if isinstance(counts, list) else []
    named = {f"leg {leg}": count for leg, count in enumerate(legs, start=1)}
    named |= {"load cells": closing.get("cells_rejected", 0), "inputs and outputs": closing.get("io_rejected", 0)}
    return {name: count for name, count in named.items() if isinstance(count, int) and count > 0}


def untaken_replies(closing: dict[str, Any]) -> dict[str, dict[str, int]]:
    """Return the replies that were not taken, by device name and kind (`rig.engine.REPLY_KINDS`).

    Empty for recordings that do not have them by kind.
    """
    found = closing.get("replies")
    devices = found if isinstance(found, dict) else {}
    counted = {
        str(name): {str(kind): count for kind, count in kinds.items() if isinstance(count, int) and count > 0}
        for name, kinds in devices.items()
        if isinstance(kinds, dict)
    }
    return {name: kinds for name, kinds in counted.items() if kinds}


def configured_rate(header: dict[str, Any]) -> float | None:
    """Return the configured cycle rate, Hz; None without one."""
    value = header.get("rate", header.get("config", {}).get("rate"))
    return float(value) if isinstance(value, int | float) and value > 0 else None


def _cause(fault: Mapping[str, Any], events: Sequence[RecordedEvent]) -> str:
    """Describe a fault: the text of its event, or else its kind."""
    code = next((code for code in FaultCode if code.name == fault["fault"]), FaultCode.NONE)
    texts = [event.text for event in events if event.code == code and event.t <= fault["t_s"]]
    if texts:
        return cause_text(code, texts[-1])
    return fault_name(code) + (f" of leg {fault['leg']}" if fault["leg"] else "")


def _kind(event: RecordedEvent) -> str:
    """Return "command" for a client's event, "virtual rig" for an injected one, "" for any other."""
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
        "replies": untaken_replies(recording.closing),
        "slower": _slower(recording.closing),
    }


def _slower(closing: Mapping[str, Any]) -> float:
    """Return by what fraction a virtual run was slower than real time; 0 if unknown."""
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
        covers, states = "ENGAGING, ENGAGED and PARKING: no trajectory ran", HOLD_STATES
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
    """Return one motion's numbers; null without a path, and beyond the first thousand motions."""
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
    """Return tracking; null where the reference was derived from the measured motion and agrees by construction."""
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
