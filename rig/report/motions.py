"""The motions of a recording, and which of them its headline and its numbers are about."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rig.recording import MotionRecord, Recorded, RecordedEvent, cause_of
from rig.report.legacy_motions import find_motions
from rig.states import PATHLESS, FaultCode, MotionKind, MotionOutcome, State, enum_name

Rows = npt.NDArray[np.void]

MOVING = (State.RUNNING, State.PARKING)


class Motions:
    """The motions of a recording, in the order of their ids, and the rows of each.

    Args:
        recording: as it recorded them; one made before is read through for them.

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
        """those in which the platform follows a path"""

    def _follow_to_the_last_row(self, recording: Recorded) -> None:
        """Have motions whose end was never told, as the file is cut or the engine left, come as far as rows tell."""
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
        """Id of each row's motion, 0 without one, of rows (m,) that follow on `seen` others."""
        ids: npt.NDArray[np.uint32] = rows["motion"] if self._ids is None else self._ids(seen, seen + len(rows))
        return np.where(np.isin(rows["state"], MOVING), ids, np.uint32(0))

    @property
    def begin(self) -> float | None:
        """Rig time, s, at which the longest motion begins for the first time, jogs included; None without a motion."""
        longest = max((motion.reached for motion in self.along_paths), default=0.0)
        return next((motion.start for motion in self.along_paths if motion.reached >= 0.99 * longest), None)

    @property
    def headline(self) -> MotionRecord | None:
        """The longest run, the last of several as long, or another motion that did not come to its end; None without.

        Jogs, moves and ways to a motion's start that came to their end do not count, nor does what has no path.
        """
        return _longest([one for one in self.along_paths if _counts(one)])

    @property
    def covered(self) -> MotionRecord | None:
        """The motion that the numbers are of: the headline's, or else the longest; None without any."""
        return self.headline or _longest([one for one in self.along_paths if one.kind != MotionKind.PARK])


def _counts(motion: MotionRecord) -> bool:
    ended = motion.outcome == MotionOutcome.FINISHED
    return motion.kind == MotionKind.RUN or (motion.kind != MotionKind.PARK and not ended)


def _longest(motions: list[MotionRecord]) -> MotionRecord | None:
    def length(one: MotionRecord) -> float:
        return round(max(one.duration, one.reached) if math.isfinite(one.duration) else one.reached, 3)

    return max(reversed(motions), key=length, default=None)


def described(motion: MotionRecord, events: Sequence[RecordedEvent]) -> dict[str, Any]:
    """A motion as a JSON object.

    Keys: `id`, `name`, `kind`, `outcome`, `begin_s`, `end_s`; `cause_code` and `cause`, the first cause of the stop
    that ended it (see `rig.recording.cause_of`), null where no stop did; `reached_s` and `duration_s`, null where there
    is no path, the latter also where its length is not known, or it has no end; `amplitude`, null where it was not
    recorded.
    """
    code, cause = cause_of(motion, events)
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
