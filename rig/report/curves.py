"""What the report's figures draw: outlines of curves and histograms, of one look at all rows, block by block."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from rig.angles import rotation_vector
from rig.recording import Recorded, has_tracking
from rig.report.series import Angles, Floats, Outline
from rig.report.streaming_stats import Histogram
from rig.report.summary import window_of

_POWERED = {
    "measured": 6,
    "model": 6,
    "residual": 6,
    "position error": 3,
    "rotation error": 3,
    "length error": 6,
    "condition": 1,
    "measured place": 6,
    "commanded place": 6,
    "terms": 30,
}
"""Quantities over the time under power, and how many columns each has."""
_DURATIONS = {"exchange": "exchange_time", "lateness": "lateness", "computation": "compute_time"}
_SUMMARY_KEYS = {"exchange": "exchange", "lateness": "lateness", "computation": "compute"}

_FINE = 1200
"""Stretches of a curve that can be zoomed into"""

Curve = tuple[Floats, Floats]
"""Times and values, (m,)."""


class Curves:
    """Outlines and histograms of a recording. Memory does not grow with its length.

    Args:
        recording: read through once; at least two rows.
        summary: what `summarize` gave of it.

    Raises:
        RecordingError: the file changed meanwhile.
    """

    def __init__(self, recording: Recorded, summary: Mapping[str, Any]) -> None:
        powered, cycle = summary["powered"], summary["cycle"]
        self._begin, count = powered["first_row"], powered["rows"]
        self._end = self._begin + count
        self._window = tuple(summary["window"]["span"]) if summary["window"]["rows"] else (self._begin, self._end)
        self._covered = Outline(self._window[1] - self._window[0], sum(_POWERED.values()))
        self._fine = Outline(count, sum(_POWERED.values()), _FINE)
        self._fine_timing = Outline(recording.count - 1, 1 + len(_DURATIONS), _FINE)
        self._period = Outline(recording.count - 1, 1)
        self._durations = Outline(recording.count, len(_DURATIONS))
        self._places = (Angles(), Angles())
        self._tracked = has_tracking(recording.header)
        self._nominal = 1e6 / cycle["rate_hz"] if cycle["rate_hz"] else 0.0
        self.residuals = [_histogram(leg["min_residual_n"], leg["max_residual_n"]) for leg in summary["force"]["legs"]]
        """over the part that the numbers cover, N; None of a leg without"""
        low, high = cycle["period_min_us"], cycle["period_max_us"]
        nominal = self._nominal
        self.period_error = None if low is None else _histogram(low - nominal, high - nominal)
        """µs"""
        self.durations = {
            name: _histogram(cycle[f"{key}_min_us"], cycle[f"{key}_max_us"]) for name, key in _SUMMARY_KEYS.items()
        }
        """µs"""
        seen = 0
        with np.errstate(all="ignore"):  # whatever a file says
            for rows in recording.blocks():
                self._add(rows, seen, summary)
                seen += len(rows)

    def covered(self, quantity: str, column: int = 0) -> Curve:
        """Curve of a quantity over what the numbers cover, or else the time under power.

        SI, but errors in µm and µrad, places in mm and degrees.
        """
        return self._covered.curve(_column(quantity, column))

    def fine(self, quantity: str, column: int = 0) -> Curve:
        """The curve over all of the time under power, in finer stretches, to be zoomed into."""
        return self._fine.curve(_column(quantity, column))

    def fine_timing(self, column: int) -> Curve:
        """Of all cycles but the first, µs, in finer stretches: period error (column 0), then the durations."""
        return self._fine_timing.curve(column)

    def period_error_over_time(self) -> Curve:
        """µs, of all cycles but the first."""
        return self._period.curve(0)

    def duration(self, name: str) -> Curve:
        """µs, of all cycles: exchange, lateness or computation."""
        return self._durations.curve(list(_DURATIONS).index(name))

    def _add(self, rows: npt.NDArray[np.void], seen: int, summary: Mapping[str, Any]) -> None:
        begin, end = max(self._begin - seen, 0), max(self._end - seen, 0)
        if len(part := rows[begin:end]):
            values = self._under_power(part)
            self._fine.add(part["t"], values)
            first, last = (min(max(row - seen - begin, 0), len(part)) for row in self._window)
            self._covered.add(part["t"][first:last], values[first:last])
        error = 1e6 * rows["period"] - self._nominal
        self._period.add(rows["t"][not seen :], error[not seen :, np.newaxis])
        durations = {name: 1e6 * rows[field] for name, field in _DURATIONS.items()}
        stacked = np.stack(list(durations.values()), axis=1)
        self._durations.add(rows["t"], stacked)
        timing = np.column_stack([error, stacked])
        self._fine_timing.add(rows["t"][not seen :], timing[not seen :])
        if self.period_error is not None:
            self.period_error.add(error[not seen :])
        for name, values in durations.items():
            if (histogram := self.durations[name]) is not None:
                histogram.add(values)
        covered = window_of(rows, seen, summary)
        if covered.any():
            residual = rows["force_residual"][covered]
            for leg, histogram in enumerate(self.residuals):
                if histogram is not None:
                    histogram.add(residual[:, leg])

    def _under_power(self, rows: npt.NDArray[np.void]) -> Floats:
        pose, reference = rows["pose"], rows["reference"]
        followed = 1.0 if self._tracked else np.nan
        parts = {
            "measured": rows["force_measured"],
            "model": rows["force_model"],
            "residual": rows["force_residual"],
            "position error": followed * 1e6 * (pose[:, :3] - reference[:, :3]),
            "rotation error": followed * 1e6 * rotation_vector(reference[:, 3:7], pose[:, 3:7]),
            "length error": followed * 1e6 * (rows["length"] - rows["length_reference"]),
            "condition": rows["condition"][:, np.newaxis],
            "measured place": _place(pose, self._places[0]),
            "commanded place": _place(reference, self._places[1]),
            "terms": rows["terms"].reshape(len(rows), -1),
        }
        return np.concatenate([parts[name] for name in _POWERED], axis=1)


def _column(quantity: str, column: int) -> int:
    names = list(_POWERED)
    return sum(_POWERED[name] for name in names[: names.index(quantity)]) + column


def _place(pose: Floats, angles: Angles) -> Floats:
    """Position, mm, and angles, degrees, (m, 6) of poses (m, 7 or more)."""
    return np.concatenate([1e3 * pose[:, :3], np.degrees(angles.add(pose[:, 3:7]))], axis=1)


def _histogram(low: float | None, high: float | None) -> Histogram | None:
    return None if low is None or high is None else Histogram(low, high)
