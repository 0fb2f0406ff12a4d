"""The longest motion of a recording, and whether it came to its end."""

import re
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from rig.recording import Recording
from rig.report.series import angles
from rig.states import State
from rig.telemetry import CycleFlag

_ABANDONED = re.compile(r"(?P<name>.*) is abandoned at [\d.]+ of (?P<duration>[\d.]+) s", re.DOTALL)
"""What the engine says of a motion that is given up."""
_SAME = 1e-6  # m and rad
_LOOKS = 500  # rows, about, that a motion is told from a straight move by


def longest_motion(recording: Recording) -> dict[str, Any] | None:
    """The longest motion that ran, the last of several as long; None where there were at most jogs.

    Straight moves that came to their end, such as jogs and the way to a motion's start, do not count. Keys: `outcome`
    ("finished", "abandoned", "unfinished"), `name` (null unless abandoned: only then is it recorded), `reached_s` and
    `duration_s` (s of its path; null where it is not known).
    """
    rows = recording.rows
    running = np.flatnonzero(rows["state"] == State.RUNNING)
    if not len(running):
        return None
    starts = np.flatnonzero(np.diff(rows["path_time"][running], prepend=np.inf) < 0.0)  # resumed it goes on counting
    until = [*rows["t"][running[starts[1:]]].tolist(), np.inf]
    motions = [
        (running[begin:end], _outcome(recording, running[end - 1], next_begin))
        for (begin, end), next_begin in zip(pairwise([*starts, len(running)]), until, strict=True)
    ]
    motions.reverse()  # of several as long the last comes first
    motions.sort(key=lambda motion: round(motion[1]["duration_s"] or motion[1]["reached_s"], 3), reverse=True)
    for stretch, outcome in motions:
        if outcome["outcome"] != "finished" or not _straight_move(rows, stretch):
            return outcome
    return None


def _outcome(recording: Recording, last: int, next_begin: float) -> dict[str, Any]:
    """How the motion ended whose last row is `last`, the next beginning at `next_begin` s."""
    rows = recording.rows
    after = rows[min(last + 1, len(rows) - 1)]
    reached = float(after["path_time"] if after["state"] == State.ENGAGED else rows["path_time"][last])
    if after["state"] == State.ENGAGED and not after["flags"] & CycleFlag.PAUSED:
        return {"outcome": "finished", "name": None, "reached_s": reached, "duration_s": reached}
    for event in recording.events:
        if rows["t"][last] <= event.t < next_begin and (found := _ABANDONED.fullmatch(event.text)):
            duration = float(found["duration"])
            return {"outcome": "abandoned", "name": found["name"], "reached_s": reached, "duration_s": duration}
    return {"outcome": "unfinished", "name": None, "reached_s": reached, "duration_s": None}


def _straight_move(rows: npt.NDArray[np.void], stretch: npt.NDArray[np.intp]) -> bool:
    """Whether a motion that came to its end is a minimum-jerk move from pose to pose, as `straight_move` makes it."""
    end = stretch[-1] + 1
    looked = np.append(stretch[:: 1 + len(stretch) // _LOOKS], end)
    reference = rows["reference"][looked, :7]
    place = np.concatenate([reference[:, :3], angles(reference[:, 3:])], axis=1)
    u = rows["path_time"][looked, np.newaxis] / rows["path_time"][end]
    law = u**3 * (10.0 - 15.0 * u + 6.0 * u**2)
    expected = place[0] + (law - law[0]) / (1.0 - law[0]) * (place[-1] - place[0])
    return bool((np.abs(place - expected) <= _SAME).all())
