"""Readings of external sensors: one reading as a record, and a sensor's readings as a series in rig time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rig.telemetry import MOST_CHANNELS, QUATERNION, SensorChannels

READING = np.dtype(
    [
        ("t", "f8"),
        ("sent", "f8"),
        ("received", "f8"),
        ("sequence", "u8"),
        ("sensor", "u8"),
        ("values", "f8", MOST_CHANNELS),
    ]
)
"""A reading.

t: s, rig time at which it was measured. sent: s, the sender's own clock; NaN without one. received: s, rig time of its
arrival. sequence: the sender's count. sensor: place in [[sensors]], from 0. values: of its channels, in their units;
those beyond are not used.
"""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SensorSeries:
    """The readings of one sensor, in the order of their times.

    time (n,): s, rig time at which each was measured, increasing. values (n, k): of its channels. sent, received (n,):
    s, the sender's own clock, and rig time of the arrival. sequence (n,): the sender's count. None is resampled.
    """

    channels: SensorChannels
    time: Floats
    values: Floats
    sent: Floats
    received: Floats
    sequence: npt.NDArray[np.uint64]

    def column(self, name: str) -> Floats:
        """Values (n,) of a channel. Raises KeyError for an unknown one."""
        if name not in self.channels.names:
            raise KeyError(f"sensor {self.channels.name!r} has no channel {name!r}: {', '.join(self.channels.names)}")
        column: Floats = self.values[:, self.channels.names.index(name)]
        return column

    def resampled(self, times: Floats, gap: float = math.inf) -> Floats:
        """Values (m, k) at rig times (m,): linear between the readings before and after, NaN outside them.

        A quaternion is interpolated linearly on the shorter way and normalised. gap: s; between two readings that are
        farther apart, NaN.
        """
        found = np.full((len(times), self.values.shape[1]), np.nan)
        if not len(self.time):
            return found
        values = self.values
        if self.channels.kind == "pose" and len(values) > 1:
            values = values.copy()
            turned = values[:, QUATERNION]
            signs = np.sign((turned[1:] * turned[:-1]).sum(axis=1))
            turned[1:] *= np.cumprod(np.where(signs == 0.0, 1.0, signs))[:, np.newaxis]
        after = np.searchsorted(self.time, times)
        before = np.where(self.time[np.minimum(after, len(self.time) - 1)] == times, after, after - 1)
        known = (before >= 0) & (after < len(self.time))
        first, last = before[known], after[known]
        span = self.time[last] - self.time[first]
        part = np.where(span > 0.0, (times[known] - self.time[first]) / np.where(span > 0.0, span, 1.0), 0.0)
        inside = values[first] + part[:, np.newaxis] * (values[last] - values[first])
        if self.channels.kind == "pose":
            inside[:, QUATERNION] /= np.linalg.norm(inside[:, QUATERNION], axis=1, keepdims=True)
        inside[span > gap] = np.nan
        found[known] = inside
        return found

    def newest(self, times: Floats, oldest: float = math.inf) -> Floats:
        """Values (m, k) of the newest reading at each of the rig times (m,); NaN before the first one.

        oldest: s; where it is older than that, NaN.
        """
        found = np.full((len(times), self.values.shape[1]), np.nan)
        place = np.searchsorted(self.time, times, "right") - 1
        known = place >= 0
        known[known] &= times[known] - self.time[place[known]] <= oldest
        found[known] = self.values[place[known]]
        return found

    def readings(self, number: int) -> npt.NDArray[np.void]:
        """The readings (n,) of dtype `READING`, with the sensor's number."""
        found = np.zeros(len(self.time), READING)
        for name in ("sent", "received", "sequence"):
            found[name] = getattr(self, name)
        found["t"], found["sensor"] = self.time, number
        found["values"][:, : self.values.shape[1]] = self.values
        return found

    def between(self, begin: float, end: float) -> "SensorSeries":
        """The readings of rig times `begin` to `end`, s."""
        part = slice(np.searchsorted(self.time, begin), np.searchsorted(self.time, end, "right"))
        return SensorSeries(
            self.channels, self.time[part], self.values[part], self.sent[part], self.received[part], self.sequence[part]
        )


def series_of(channels: SensorChannels, readings: Sequence[npt.NDArray[np.void]]) -> SensorSeries:
    """The series of one sensor's readings, arrays (m,) with the fields of `READING`; of two at one time, the first."""
    rows = np.concatenate([np.zeros(0, READING), *readings]) if readings else np.zeros(0, READING)
    _, kept = np.unique(rows["t"], return_index=True)
    rows = rows[kept]
    return SensorSeries(
        channels,
        rows["t"].copy(),
        rows["values"][:, : len(channels.names)].copy(),
        rows["sent"].copy(),
        rows["received"].copy(),
        rows["sequence"].copy(),
    )
