"""The newest readings of a running engine's sensors, as series, for whoever looks at them live."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rig.recording import READING, SensorSeries
from rig.runtime import TelemetryRing
from rig.telemetry import SensorChannels

_MOST = 1 << 18
"""readings of a sensor that are kept: nine minutes at 500 Hz"""


class _Kept:
    """The newest readings of one sensor, in the order of their times."""

    def __init__(self, channels: SensorChannels) -> None:
        self._channels = channels
        self._rows = np.zeros(0, READING)
        self._count = 0

    def append(self, rows: npt.NDArray[np.void]) -> None:
        """Append readings; those not after the last one are left out here."""
        rows = rows[np.argsort(rows["t"], kind="stable")]
        before = self._rows["t"][self._count - 1] if self._count else -np.inf
        rows = rows[np.diff(rows["t"], prepend=before) > 0.0]
        end = self._count + len(rows)
        if end > len(self._rows):
            kept = self._rows[max(0, self._count - _MOST) : self._count]
            self._count, end = len(kept), len(kept) + len(rows)
            self._rows = np.concatenate([kept, np.zeros(max(1024, end), READING)])
        self._rows[self._count : end] = rows
        self._count = end

    @property
    def series(self) -> SensorSeries:
        """The readings; valid until the next are appended."""
        rows = self._rows[max(0, self._count - _MOST) : self._count]
        values = rows["values"][:, : len(self._channels.names)]
        return SensorSeries(self._channels, rows["t"], values, rows["sent"], rows["received"], rows["sequence"])


class ReadingBuffer:
    """Reads the ring of an engine's sensors.

    Args:
        ring: its name, `EngineAddress.readings`.
        channels: of each sensor, in the configuration's order.

    Raises:
        SharedMemoryError: there is no such ring.
    """

    def __init__(self, ring: str, channels: Sequence[SensorChannels]) -> None:
        self.name = ring
        """of the ring"""
        self._ring = TelemetryRing.attach(ring, READING)
        self._reader = self._ring.reader(0)
        self._kept = [_Kept(each) for each in channels]

    def series(self) -> tuple[SensorSeries, ...]:
        """The newest readings of each sensor, up to now; valid until the next call."""
        rows, _ = self._reader.read_new()
        if len(rows):
            for number, kept in enumerate(self._kept):
                kept.append(rows[rows["sensor"] == number])
        return tuple(kept.series for kept in self._kept)

    def close(self) -> None:
        """Let go of the ring."""
        self._ring.close()
