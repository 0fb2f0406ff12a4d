"""The motions of a recording, and which of them its headline and its numbers are about."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from rig.recording import MotionRecord, Recorded
from rig.report.older_motions import find_motions
from rig.states import MotionKind, MotionOutcome, State, enum_name

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

    def of_rows(self, rows: Rows, seen: int) -> npt.NDArray[np.uint32]:
        """Id of each row's motion, 0 without one, of rows (m,) that follow on `seen` others."""
        ids: npt.NDArray[np.uint32] = rows["motion"] if self._ids is None else self._ids(seen, seen + len(rows))
        return np.where(np.isin(rows["state"], MOVING), ids, np.uint32(0))

    @property
    def begin(self) -> float | None:
        """Rig time, s, at which the longest motion begins for the first time, jogs included; None without a motion."""
        longest = max((motion.reached for motion in self.records), default=0.0)
        return next((motion.start for motion in self.records if motion.reached >= 0.99 * longest), None)

    @property
    def headline(self) -> MotionRecord | None:
        """The longest run, the last of several as long, or another motion that did not come to its end; None without.

        Jogs, moves and ways to a motion's start that came to their end do not count.
        """
        return _longest([one for one in self.records if _counts(one)])

    @property
    def covered(self) -> MotionRecord | None:
        """The motion that the numbers are of: the headline's, or else the longest; None without any."""
        return self.headline or _longest([one for one in self.records if one.kind != MotionKind.PARK])


def _counts(motion: MotionRecord) -> bool:
    ended = motion.outcome == MotionOutcome.FINISHED
    return motion.kind == MotionKind.RUN or (motion.kind != MotionKind.PARK and not ended)


def _longest(motions: list[MotionRecord]) -> MotionRecord | None:
    return max(reversed(motions), key=lambda one: round(max(one.duration, one.reached), 3), default=None)


def described(motion: MotionRecord) -> dict[str, Any]:
    """A motion as a JSON object: `id`, `name`, `kind`, `outcome`, `begin_s`, `end_s`, `reached_s`, `duration_s`."""
    return {
        "id": motion.id,
        "name": motion.name,
        "kind": enum_name(MotionKind, motion.kind).lower().replace("_", " "),
        "outcome": enum_name(MotionOutcome, motion.outcome).lower(),
        "begin_s": motion.start,
        "end_s": None if math.isnan(motion.end) else motion.end,
        "reached_s": motion.reached,
        "duration_s": motion.duration or None,
    }
