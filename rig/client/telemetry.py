"""Live telemetry as arrays: the newest rows that came in, and their columns by name."""

import threading
from collections import deque
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rig.errors import InputError
from rig.states import State
from rig.telemetry import MEANING, ROW

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Telemetry:
    """Consecutive cycles of a rig, oldest first; `len` is their number n. Legs 1 to 6 are the columns 0 to 5.

    The usual columns are attributes; `rows` has every column by name, and `Telemetry.meaning` says what each is.
    """

    rows: npt.NDArray[np.void]
    """(n,) structured, dtype `rig.telemetry.ROW`: `rows["terms"]`, `rows.dtype.names`"""

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        if not len(self):
            return "Telemetry: no cycles"
        return f"Telemetry: {len(self)} cycles, t = {self.t[0]:.3f} to {self.t[-1]:.3f} s"

    @staticmethod
    def meaning(column: str) -> str:
        """Unit and meaning of a column of `rows`. Raises InputError for one that there is not."""
        if column not in MEANING:
            raise InputError(f"telemetry: no column {column!r}; there are {', '.join(MEANING)}")
        return MEANING[column]

    @property
    def t(self) -> Floats:
        """(n,) s, rig time."""
        return self._column("t")

    @property
    def state(self) -> npt.NDArray[np.uint8]:
        """(n,) `rig.states.State`."""
        column: npt.NDArray[np.uint8] = self.rows["state"]
        return column

    @property
    def reference(self) -> Floats:
        """(n, 7) m and quaternion (scalar first), where the platform is commanded to be, base frame."""
        return self._column("reference")[:, :7]

    @property
    def pose(self) -> Floats:
        """(n, 7) m and quaternion (scalar first), where it is as measured, base frame."""
        return self._column("pose")

    @property
    def lengths(self) -> Floats:
        """(n, 6) m, legs as measured."""
        return self._column("length")

    @property
    def speeds(self) -> Floats:
        """(n, 6) m/s, legs as measured."""
        return self._column("velocity")

    @property
    def forces(self) -> Floats:
        """(n, 6) N, load cells, calibrated and tared, compression positive."""
        return self._column("force_measured")

    @property
    def model_forces(self) -> Floats:
        """(n, 6) N, what the exact model has at the load cells, at the reference."""
        return self._column("force_model")

    @property
    def residuals(self) -> Floats:
        """(n, 6) N, `forces` less `model_forces`."""
        return self._column("force_residual")

    def during(self, state: State) -> "Telemetry":
        """The cycles in one state."""
        return Telemetry(self.rows[self.rows["state"] == state])

    def _column(self, name: str) -> Floats:
        column: Floats = self.rows[name]
        return column


class TelemetryLog:
    """The newest rows of a rig, at most `capacity` of them, whatever thread adds them."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._batches: deque[npt.NDArray[np.void]] = deque()
        self._count = 0
        self._lock = threading.Lock()

    def add(self, rows: npt.NDArray[np.void]) -> None:
        """Take in rows (n,) that follow those before, and that nobody changes any more."""
        if not len(rows):
            return
        with self._lock:
            self._batches.append(rows)
            self._count += len(rows)
            while self._count - len(self._batches[0]) >= self._capacity:
                self._count -= len(self._batches.popleft())

    def newest(self, duration: float | None = None) -> Telemetry:
        """A copy of the rows of the last `duration` s, or of all that are kept."""
        with self._lock:
            rows = np.concatenate([np.empty(0, ROW), *self._batches])[-self._capacity :]
        if duration is not None and len(rows):
            rows = rows[rows["t"] > rows["t"][-1] - duration]
        return Telemetry(rows)
