"""One look at all rows of a recording, block by block, for everything that is counted in them."""

from contextlib import ExitStack
from typing import Any

import numpy as np
import numpy.typing as npt

from rig.angles import rotation_vector
from rig.recording import MotionRecord, Recorded, RecordingError
from rig.report.leg_tests import LegTests
from rig.report.motions import Motions
from rig.report.streaming_stats import Column, Moments
from rig.states import FaultCode, State, StopSeverity, enum_name

Rows = npt.NDArray[np.void]

POWERED = (State.ENGAGING, State.ENGAGED, State.RUNNING, State.PARKING, State.STOPPING, State.SINGLE_LEG)
HELD = (State.ENGAGING, State.ENGAGED, State.PARKING)
_TIMINGS = ("period", "lateness", "exchange_time", "compute_time")
_PERCENTAGES = {"p50": 50.0, "p99": 99.0, "max": 100.0}
_MOST_MOTIONS = 1000  # whose numbers are taken, the first ones
_MOST_STRETCHES = 20_000  # of one state, and of causes, the first ones


class Covered:
    """Tracking and forces over some of the rows."""

    def __init__(self) -> None:
        self.rows = 0
        self.begin = self.end = 0.0
        """s, rig times of the first and of the last row"""
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
        """Take in rows (m,) of these numbers (m,)."""
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
    """What is counted in the rows of a recording. Memory does not grow with its length.

    `covered` is what the numbers are taken of: the motion that the report is about, see `Motions.covered`; without any,
    the rows with the legs under power. `by_motion` has the numbers of each motion along a path, by its id.

    Args:
        recording: read through once.
        rate: configured rate, Hz, or None.

    Raises:
        RecordingError: the file changed meanwhile, or there is no room for its durations in the temporary folder.
    """

    def __init__(self, recording: Recorded, rate: float | None) -> None:
        self.rate = rate
        self.stretches: list[tuple[int, float, float]] = []
        """state, begin and end, s, of the stretches in one state"""
        self.faults: list[dict[str, Any]] = []
        """first row of every stop cause that shows up"""
        self.motions = Motions(recording)
        counted = [*self.motions.along_paths[:_MOST_MOTIONS], *filter(None, [self.motions.covered])]
        self.by_motion = {motion.id: Covered() for motion in counted}
        self.motion: MotionRecord | None = self.motions.covered
        """that `covered` is of; None where it is of none"""
        self.leg_tests = LegTests()
        self.powered = (0, recording.count)
        """numbers of the first row with the legs under power and of the one after the last; all when they never were"""
        self.timing = Moments(len(_TIMINGS))
        """of period, lateness, exchange and computation, s; of the period without the first row's"""
        self.durations: dict[str, float | None] = {}
        """`period_error_p50`, …, s"""
        self.period_error: float | None = None
        """of the rows that `covered` is of, s: 99 of 100 are no greater"""
        self.stale = self.overruns = 0
        self.begin = self.end = 0.0
        """s, rig times of the first and of the last row"""
        self._held = Covered()
        self._seen = 0
        self._powered: tuple[int, int] | None = None
        self._overruns_before = 0
        self._last: np.void | None = None
        try:
            with ExitStack() as resources, np.errstate(all="ignore"):  # whatever a file says
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
        """What the numbers are taken of."""
        motion = self.motion
        return self._held if motion is None else self.by_motion[motion.id]

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
        timing = np.stack([rows[name] for name in _TIMINGS], axis=1)
        if first:
            timing[0, 0] = np.nan
        self.timing.add(timing)
        for column, values in zip(columns, timing.T, strict=True):
            column.add(values)
        if steps is not None:
            steps.add(np.diff(t, prepend=[] if first else before["t"]))
        self.stale += int(np.count_nonzero(rows["stale"].any(axis=1)))
        held = np.isin(state, HELD)
        covered.add(timing[held if self.motion is None else ids == self.motion.id, 0])
        if held.any():
            self._held.add(rows if held.all() else rows[held], self._seen + np.flatnonzero(held))
        self._last = rows[-1].copy()
        self._seen += len(rows)

    def _add_motions(self, rows: Rows) -> npt.NDArray[np.uint32]:
        """Take in the rows of each motion; the id of each row's."""
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
