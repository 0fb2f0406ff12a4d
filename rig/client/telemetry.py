"""Live telemetry as arrays: the newest rows, their columns by name, and their external wrench."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from calibration import ReadingsUncertainty, rounding_of_mean
from rig.config import RigConfig
from rig.engine import cell_calibration
from rig.errors import InputError
from rig.states import State
from rig.telemetry import MEANING, ROW

if TYPE_CHECKING:
    from rig.analysis import ExternalWrench, Residuals

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Telemetry:
    """Consecutive cycles of a rig, oldest first; `len` is their number n. Legs 1 to 6 are the columns 0 to 5.

    The usual columns are attributes; `rows` has every column by name, and `Telemetry.meaning` describes each.
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
        """Unit and meaning of a column of `rows`. Raises InputError for an unknown one."""
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
        """(n, 7) m and quaternion (scalar first), commanded pose of the platform, base frame."""
        return self._column("reference")[:, :7]

    @property
    def pose(self) -> Floats:
        """(n, 7) m and quaternion (scalar first), measured pose, base frame."""
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
        """(n, 6) N, forces of the exact model at the load cells, at the reference."""
        return self._column("force_model")

    @property
    def residuals(self) -> Floats:
        """(n, 6) N, `forces` less `model_forces`."""
        return self._column("force_residual")

    def during(self, state: State) -> Telemetry:
        """Select the cycles in one state."""
        return Telemetry(self.rows[self.rows["state"] == state])

    def _column(self, name: str) -> Floats:
        column: Floats = self.rows[name]
        return column


class TelemetryLog:
    """The newest rows of a rig, at most `capacity`; thread-safe."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._batches: deque[npt.NDArray[np.void]] = deque()
        self._count = 0
        self._lock = threading.Lock()

    def add(self, rows: npt.NDArray[np.void]) -> None:
        """Add rows (n,) that follow those before, and are not changed any more."""
        if not len(rows):
            return
        with self._lock:
            self._batches.append(rows)
            self._count += len(rows)
            while self._count - len(self._batches[0]) >= self._capacity:
                self._count -= len(self._batches.popleft())

    def newest(self, duration: float | None = None) -> Telemetry:
        """A copy of the rows of the last `duration` s, or of all in memory."""
        with self._lock:
            rows = np.concatenate([np.empty(0, ROW), *self._batches])[-self._capacity :]
        if duration is not None and len(rows):
            rows = rows[rows["t"] > rows["t"][-1] - duration]
        return Telemetry(rows)


def external_wrench(
    config: RigConfig,
    telemetry: Telemetry,
    *,
    bandwidth: float | None,
    false_alarms: float,
    quiet: Telemetry | None = None,
    model_sigma: float = 0.0,
) -> ExternalWrench:
    """The wrench on the platform over the last cycles of `telemetry` under power: `CommandSession.wrench`.

    Raises InputError without cycles under power, or with too few for the bandwidth; for an invalid bandwidth or rate of
    false alarms; and for a quiet stretch from which no noise can be estimated.
    """
    # its statistics take long to load
    from rig.analysis import Smoothing, WrenchEstimator, learned_noise, residuals_of, stated_noise

    smoothing = Smoothing(bandwidth, config.rate)
    drives = {"delay": config.drives.delay, "force_bandwidth": config.drives.force_bandwidth}

    def residuals(rows: npt.NDArray[np.void]) -> Iterator[Residuals]:
        return residuals_of([rows], config.machine, smoothing, config.control.coulomb_speed, drives)

    if quiet is None:
        rounding = rounding_of_mean(config.load_cells.noise, np.array(config.cell_steps)).max()
        noise = stated_noise(config.cell_noise, smoothing, float(np.hypot(model_sigma, rounding)))
    else:
        noise = learned_noise(list(residuals(quiet.rows)))
    unsure = ReadingsUncertainty(
        config.machine, config.parameter_files, config.control.coulomb_speed, cell_calibration(config)
    )
    estimator = WrenchEstimator(config.machine, smoothing, noise, false_alarms, unsure)
    found = [estimator.estimate(one) for one in residuals(telemetry.rows)]
    newest = found[-1] if found else None
    if newest is None or not np.any(newest.t >= telemetry.t[-1] - 2.0 * (smoothing.half + 1) / config.rate):
        least = (2 * smoothing.half + 1) / config.rate
        raise InputError(
            f"external wrench: the platform did not stand under power, its pose known, over the last {least:.3g} s"
        )
    return newest
