"""The motions of a recording, and which of them its headline and its numbers are about.

In recordings from before motions were recorded, they are found from the rows and from the events' sentences.
No other code parses such sentences.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from kinematics import minimum_jerk
from rig.recording import COMMAND, MotionRecord, Recorded, RecordedEvent, cause_of
from rig.report.streaming import Angles, Floats, finite
from rig.states import PATHLESS, FaultCode, MotionKind, MotionOutcome, State, enum_name
from rig.telemetry import CycleFlag

_ABANDONED = re.compile(r"(?P<name>.*) is abandoned at [0-9.]+ of (?P<duration>[0-9]+(\.[0-9]+)?) s", re.DOTALL)
"""The engine's event for an abandoned motion."""
_FOLLOWED = re.compile(rf"{COMMAND}follow (?P<quote>['\"])(?P<name>.*)(?P=quote), by [^,]*", re.DOTALL)
"""The event for a motion that a client started successfully."""
_MAX_TEXT = 1000  # characters of an event that are searched
_SAME = 1e-6  # m and rad
_STRAIGHT_ROWS = 500  # approximate number of rows compared with a straight move
_MAX_MOTIONS = 20_000  # motions kept, the first ones


@dataclass(slots=True)
class _Motion:
    """One motion: its rows as stretches separated by pauses, and the row after its last one."""

    begin_t: float
    stretches: list[tuple[int, int]] = field(default_factory=list)
    """numbers of the first row and of the one after the last"""
    end_t: float = 0.0
    """s, rig time of the last row"""
    reached: float = 0.0
    """s along its path, at the last row"""
    after: np.void | None = None

    @property
    def rows(self) -> int:
        return sum(end - begin for begin, end in self.stretches)

    def numbers(self, places: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """Return the row numbers at these indices, counted within the motion."""
        begins = np.array([begin for begin, _end in self.stretches])
        before = np.cumsum([0, *(end - begin for begin, end in self.stretches)])
        stretch = np.searchsorted(before, places, "right") - 1
        numbers: npt.NDArray[np.intp] = begins[stretch] + places - before[stretch]
        return numbers


class OlderMotions:
    """Finds the motions in rows that are added block by block."""

    def __init__(self) -> None:
        self._motions: list[_Motion] = []
        self._seen = 0
        self._running = False  # whether the previous row was
        self._full = False
        self._path_time = math.inf

    def add(self, rows: npt.NDArray[np.void]) -> None:
        """Add the following rows (m,) of dtype ROW."""
        if not len(rows):
            return
        running = rows["state"] == State.RUNNING
        path_time = np.where(finite(rows["path_time"]), rows["path_time"], 0.0)
        if self._running and not running[0] and not self._full:
            self._motions[-1].after = rows[0].copy()
        edges = np.flatnonzero(np.diff(running, prepend=False, append=False))
        for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            self._run(rows, path_time, begin, end)
        self._running = bool(running[-1])
        self._seen += len(rows)

    def _run(self, rows: npt.NDArray[np.void], path_time: Floats, begin: int, end: int) -> None:
        """Add rows begin to end of a block, all running; a resumed motion continues its count."""
        new = (np.flatnonzero(np.diff(path_time[begin:end], prepend=self._path_time) < 0.0) + begin).tolist()
        self._path_time = float(path_time[end - 1])
        for first, stop in pairwise(sorted({begin, *new, end})):
            if first in new:
                if self._motions and self._motions[-1].after is None:
                    self._motions[-1].after = rows[first].copy()
                self._full |= len(self._motions) == _MAX_MOTIONS
                if not self._full:
                    self._motions.append(_Motion(float(rows["t"][first])))
            if self._full:
                return
            motion = self._motions[-1]
            motion.stretches.append((self._seen + first, self._seen + stop))
            motion.end_t, motion.reached = float(rows["t"][stop - 1]), float(path_time[stop - 1])
            motion.after = rows[stop].copy() if stop < len(rows) else None

    def records(self, recording: Recorded) -> list[MotionRecord]:
        """Return the motions in order, numbered from 1, as far as rows and sentences determine them.

        Completed straight moves, such as jogs and moves to a motion's start, count as jogs.
        """
        until = [motion.begin_t for motion in self._motions[1:]]
        abandoned_motions, client_motions = _abandoned_motions(recording.events), _client_motions(recording.events)
        found = []
        for number, (motion, end) in enumerate(zip(self._motions, [*until, math.inf], strict=False), start=1):
            outcome, reached, duration, name = _outcome(motion, abandoned_motions, end)
            name = name or next((name for t, name in reversed(client_motions) if t <= motion.begin_t), "")
            straight = outcome is MotionOutcome.FINISHED and _straight_move(recording, motion)
            kind = MotionKind.JOG if straight else MotionKind.RUN
            begin, last = motion.begin_t, max(motion.end_t, motion.begin_t)
            place, whole = max(reached, 0.0), max(duration, 0.0)
            found.append(MotionRecord(number, kind, outcome, begin, last, place, whole, name))
        return found

    def ids(self) -> Callable[[int, int], npt.NDArray[np.uint32]]:
        """Return a function that gives the motion of each row, its number or 0, for the rows in [begin, end)."""
        spans = [(*span, number) for number, one in enumerate(self._motions, start=1) for span in one.stretches]
        begins, ends, numbers = np.array(spans, dtype=np.int64).reshape(-1, 3).T

        def of_rows(begin: int, end: int) -> npt.NDArray[np.uint32]:
            rows = np.arange(begin, end)
            if not len(spans):
                return np.zeros(len(rows), np.uint32)
            span = np.maximum(np.searchsorted(begins, rows, "right") - 1, 0)
            inside = (rows >= begins[span]) & (rows < ends[span])
            return np.where(inside, numbers[span], 0).astype(np.uint32)

        return of_rows


def find_motions(recording: Recorded) -> OlderMotions:
    """Read all rows and find their motions. Raises RecordingError when the file changes meanwhile."""
    motions = OlderMotions()
    with np.errstate(all="ignore"):  # a file may hold any value
        for rows in recording.blocks():
            motions.add(rows)
    return motions


def _abandoned_motions(events: Sequence[RecordedEvent]) -> list[tuple[float, str, float]]:
    """Return abandoned motions: time, s, name and duration, s."""
    found = []
    for event in events:
        match = _ABANDONED.fullmatch(event.text) if len(event.text) <= _MAX_TEXT else None
        if match and len(match["duration"]) < _STRAIGHT_ROWS:
            found.append((event.t, match["name"], float(match["duration"])))
    return found


def _client_motions(events: Sequence[RecordedEvent]) -> list[tuple[float, str]]:
    """Return motions that clients started: time, s, and name."""
    found = []
    for event in events:
        match = _FOLLOWED.fullmatch(event.text) if len(event.text) <= _MAX_TEXT else None
        if match:
            found.append((event.t, match["name"]))
    return found


def _outcome(
    motion: _Motion, abandoned_motions: list[tuple[float, str, float]], next_begin: float
) -> tuple[MotionOutcome, float, float, str]:
    """Return how a motion ended before the next began, path time reached and total, s, and its name, if known."""
    after, reached = motion.after, motion.reached
    if after is not None and after["state"] == State.ENGAGED:
        reached = float(after["path_time"]) if np.isfinite(after["path_time"]) else reached
        if not after["flags"] & CycleFlag.PAUSED:
            return MotionOutcome.FINISHED, reached, reached, ""
    for t, name, duration in abandoned_motions:
        if motion.end_t <= t < next_begin:
            return MotionOutcome.ABANDONED, reached, duration, name[1:-1]
    faulty = after is not None and after["flags"] & CycleFlag.LATCHED
    return MotionOutcome.FAULT if faulty else MotionOutcome.STOPPED, reached, 0.0, ""


def _straight_move(recording: Recorded, motion: _Motion) -> bool:
    """Return whether a completed motion is a minimum-jerk move between two poses, as `straight_move` makes it."""
    count = motion.rows
    sampled = motion.numbers(np.arange(0, count, 1 + count // _STRAIGHT_ROWS))
    rows = recording.take([*sampled.tolist(), motion.stretches[-1][1]])
    reference = rows["reference"][:, :7]
    with np.errstate(all="ignore"):  # a file may hold any value
        place = np.concatenate([reference[:, :3], Angles().add(reference[:, 3:])], axis=1)
        u = rows["path_time"][:, np.newaxis] / rows["path_time"][-1]
        law = minimum_jerk(u)[0]
        expected = place[0] + (law - law[0]) / (1.0 - law[0]) * (place[-1] - place[0])
        return bool((np.abs(place - expected) <= _SAME).all())


Rows = npt.NDArray[np.void]

MOVING = (State.RUNNING, State.PARKING)


class Motions:
    """The motions of a recording, in the order of their ids, and the rows of each.

    Args:
        recording: as recorded; an older one is searched for motions.

    Raises:
        RecordingError: the file changed meanwhile.
    """

    def __init__(self, recording: Recorded) -> None:
        self.records: list[MotionRecord] = list(recording.motions)
        self._ids = None
        if not self.records:
            older = find_motions(recording)
            self.records, self._ids = older.records(recording), older.ids()
        elif any(motion.outcome == MotionOutcome.UNDERWAY for motion in self.records):
            self._follow_to_the_last_row(recording)
        self.along_paths = [motion for motion in self.records if motion.kind not in PATHLESS]
        """motions along a path"""

    def _follow_to_the_last_row(self, recording: Recorded) -> None:
        """Extend motions without a recorded end (file cut or engine exited) to the last row."""
        reached = {one.id: 0.0 for one in self.records if one.outcome == MotionOutcome.UNDERWAY and one.duration > 0.0}
        for rows in recording.blocks():
            for number in reached:
                places = rows["path_time"][rows["motion"] == number]
                reached[number] = max(reached[number], float(np.max(places[np.isfinite(places)], initial=0.0)))
        self.records = [
            replace(one, reached=min(reached[one.id], one.duration)) if one.id in reached else one
            for one in self.records
        ]

    def of_rows(self, rows: Rows, seen: int) -> npt.NDArray[np.uint32]:
        """Return each row's motion id, 0 without one, for rows (m,) that follow `seen` others."""
        ids: npt.NDArray[np.uint32] = rows["motion"] if self._ids is None else self._ids(seen, seen + len(rows))
        return np.where(np.isin(rows["state"], MOVING), ids, np.uint32(0))

    @property
    def begin(self) -> float | None:
        """Return the rig time, s, at which the longest motion first begins, jogs included; None without a motion."""
        longest = max((motion.reached for motion in self.along_paths), default=0.0)
        return next((motion.start for motion in self.along_paths if motion.reached >= 0.99 * longest), None)

    @property
    def headline(self) -> MotionRecord | None:
        """Return the longest run (the last of equal ones), or another motion that did not complete; None without one.

        Completed jogs, moves and moves to a motion's start do not count, nor do motions without a path.
        """
        return _longest([one for one in self.along_paths if _counts(one)])

    @property
    def covered(self) -> MotionRecord | None:
        """Return the motion that the numbers cover: the headline's, or else the longest; None without any."""
        return self.headline or _longest([one for one in self.along_paths if one.kind != MotionKind.PARK])


def _counts(motion: MotionRecord) -> bool:
    ended = motion.outcome == MotionOutcome.FINISHED
    return motion.kind == MotionKind.RUN or (motion.kind != MotionKind.PARK and not ended)


def _longest(motions: list[MotionRecord]) -> MotionRecord | None:
    def length(one: MotionRecord) -> float:
        return round(max(one.duration, one.reached) if math.isfinite(one.duration) else one.reached, 3)

    return max(reversed(motions), key=length, default=None)


def described(motion: MotionRecord, events: Sequence[RecordedEvent]) -> dict[str, Any]:
    """Return a motion as a JSON object.

    Keys: `id`, `name`, `kind`, `outcome`, `begin_s`, `end_s`; `cause_code` and `cause`, the first cause of the stop
    that ended it (see `rig.recording.cause_of`), null without a stop; `reached_s` and `duration_s`, null without a
    path, the latter also where its length is unknown or infinite; `amplitude`, null where it was not recorded.
    """
    code, cause, _finding = cause_of(motion, events)
    return {
        "id": motion.id,
        "name": motion.name,
        "kind": enum_name(MotionKind, motion.kind).lower().replace("_", " "),
        "outcome": enum_name(MotionOutcome, motion.outcome).lower(),
        "cause_code": enum_name(FaultCode, code) if code else None,
        "cause": cause or None,
        "begin_s": motion.start,
        "end_s": None if math.isnan(motion.end) else motion.end,
        "reached_s": None if motion.kind in PATHLESS else motion.reached,
        "duration_s": motion.duration if 0.0 < motion.duration < math.inf else None,
        "amplitude": motion.amplitude or None,
    }
