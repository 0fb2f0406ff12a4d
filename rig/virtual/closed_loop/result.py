"""Result of an offline closed-loop run, and figures of merit to compare controllers."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dynamics import WORK_SIZE, Dynamics, Mechanism
from kinematics import MotionTable, leg_kinematics, pose_difference
from rig.config import RigConfig, Virtual
from rig.virtual.arrays import Array
from rig.virtual.closed_loop.cycle import APPLIED, BRISTLE, COMMANDED, SATURATED
from rig.virtual.closed_loop.motion import accelerations_kernel
from rig.virtual.drive_kernel import BEFORE_FRICTION, DRIVE_COLUMNS, LOWER_STOP, UPPER_STOP
from rig.virtual.plant import drive_row
from rig.virtual.port import Cell

_CELL_NOISE = 7
"""Stream of the seed's random numbers for the cells' noise."""


@dataclass(frozen=True, eq=False)
class LoopRun:
    """A run of m cycles; `end` is the reason why it is shorter than the trajectory, "" if complete.

    config, table, controller: see `run_loop`; virtual: of the configuration. plant, legs: the simulated mechanism and
    its rows, see `leg_rows`; if these include all friction along the legs, `plant` has none. hose: see `hose_row`.
    times (m,): path times, s. states (m, 13): of the plant. signals (m, ROWS, 6): see `cycle.ROWS`. wrenches (m, 6):
    see `run_loop`. moved (m, 12): accelerations, m/s² and rad/s², and forces at the load cells, N, as MuJoCo has them;
    None for the exact plant, whose equations give them.
    """

    config: RigConfig
    virtual: Virtual
    table: MotionTable
    controller: str
    plant: Mechanism
    legs: Array
    hose: Array
    times: Array
    states: Array
    signals: Array
    wrenches: Array
    end: str
    moved: Array | None = None

    @cached_property
    def reference(self) -> Array:
        """Reference motion of the platform, (m, 19)."""
        return self.table.motion(np.minimum(self.times, self.table.duration))

    @cached_property
    def error(self) -> Array:
        """Platform minus its reference, (m, 6): position m, rotation vector rad, base axes."""
        return pose_difference(self.states[:, :7], self.reference[:, :7])

    @cached_property
    def motion(self) -> Array:
        """Motion of the platform (m, 19), including accelerations."""
        return np.hstack([self.states, self._acting[0] if self.moved is None else self.moved[:, :6]])

    @cached_property
    def _acting(self) -> tuple[Array, Array, Array]:
        """Accelerations, friction along the legs that is not in the mechanism, N, and wrenches including the hose."""
        dynamics = Dynamics(self.plant, self.virtual.plant.coulomb_speed)
        accelerations, rubbed, loads = (np.zeros((len(self.times), 6)) for _ in range(3))
        accelerations_kernel(
            dynamics.parameters, self.plant.geometry.array, self.legs.copy(),
            drive_row(self.virtual.drive, self.plant, self.config.exchange_period),
            self.times - self.times[0], self.states, self.motors, np.ascontiguousarray(self.signals[:, BRISTLE]),
            self.wrenches, self.hose, np.zeros(DRIVE_COLUMNS), np.zeros(WORK_SIZE),
            np.zeros(6), np.zeros(6), np.zeros(6), accelerations, rubbed, loads,
        )  # fmt: skip
        return accelerations, rubbed, loads

    @cached_property
    def lengths(self) -> Array:
        """Distances between the joints of the legs, (m, 6) m."""
        return self._legs(self.states)[0]

    @property
    def motors(self) -> Array:
        """Forces of the motors, (m, 6) N."""
        return np.ascontiguousarray(self.signals[:, APPLIED])

    @property
    def commands(self) -> Array:
        """Commanded forces, (m, 6) N."""
        return np.ascontiguousarray(self.signals[:, COMMANDED])

    @property
    def saturated(self) -> Array:
        """Fraction of the cycles in which each leg's force was saturated, (6,)."""
        share: Array = self.signals[:, SATURATED].mean(axis=0)
        return share

    @property
    def stopped(self) -> tuple[int, ...]:
        """Legs, 1…6, that reached an end stop."""
        rows = self.legs
        out = (self.lengths < rows[:, LOWER_STOP]) | (self.lengths > rows[:, UPPER_STOP])
        return tuple(int(leg) + 1 for leg in np.flatnonzero(out.any(axis=0)))

    def encoders(self) -> tuple[Array, Array]:
        """Lengths, m, rounded to the drives' resolution, and speeds, m/s, as the drives report them; (m, 6) each."""
        resolution = self.virtual.drive.position_resolution
        lengths, speeds = self._legs(self.states)
        readings = lengths + self.plant.length_offsets
        return np.rint(readings / resolution) * resolution, speeds

    def cells(self) -> Array:
        """Readings of the load cells (m, 6), N, compression positive, of `Cell`, with noise, lag and rounding."""
        cells, times = self.virtual.cells, self.times - self.times[0]
        if self.moved is None:
            _, rubbed, loads = self._acting
            true = Dynamics(self.plant, self.virtual.plant.coulomb_speed).cells(self.motion, loads)
            before = self.legs[:, BEFORE_FRICTION] != 0.0  # such a cell reads the friction too
            true[:, before] -= rubbed[:, before]
        else:
            true = self.moved[:, 6:].copy()
        if cells.lag:
            true = np.column_stack([np.interp(times - cells.lag, times, column) for column in true.T])
        noise = np.random.Generator(np.random.PCG64([self.virtual.seed, _CELL_NOISE])).standard_normal(true.shape)
        bank = [Cell(cells, leg, self.config.load_cells.range, self.virtual.seed) for leg in range(6)]
        rows = zip(true.tolist(), times.tolist(), strict=True)
        readings: Array = np.array([[cell.reading(row, 0.0, time) for cell in bank] for row, time in rows])
        readings += np.array(cells.noise) * noise
        return np.rint(readings / cells.resolution) * cells.resolution if cells.resolution else readings

    def _legs(self, states: Array) -> tuple[Array, Array]:
        legs = leg_kinematics(self.plant.geometry, np.hstack([states, np.zeros((len(states), 6))]))
        return legs.length, legs.velocity


@dataclass(frozen=True, slots=True, eq=False)
class Merit:
    """Figures of merit of one run; RMS over all cycles, maximum peaks. SI units, (6,) by leg.

    position, rotation: RMS and peak of the platform's distance, m, and angle, rad, from its reference.
    leg_rms, leg_peak: of the legs' lengths from those of the reference, m.
    force_rms, force_peak: of the motors, N. share (6,): peak force over the limit of drive and leg.
    saturated (6,): fraction of the cycles with the leg's force saturated. stopped: legs, 1…6, that reached an end stop.
    end: why the run ended early, or "".
    """

    controller: str
    plant: str
    duration: float
    position: tuple[float, float]
    rotation: tuple[float, float]
    leg_rms: Array
    leg_peak: Array
    force_rms: Array
    force_peak: Array
    share: Array
    saturated: Array
    stopped: tuple[int, ...]
    end: str

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as JSON data, with units in the names."""
        return {
            "controller": self.controller,
            "plant": self.plant,
            "duration_s": self.duration,
            "position_rms_mm": 1e3 * self.position[0],
            "position_peak_mm": 1e3 * self.position[1],
            "rotation_rms_mrad": 1e3 * self.rotation[0],
            "rotation_peak_mrad": 1e3 * self.rotation[1],
            "leg_rms_mm": (1e3 * self.leg_rms).tolist(),
            "leg_peak_mm": (1e3 * self.leg_peak).tolist(),
            "force_rms_n": self.force_rms.tolist(),
            "force_peak_n": self.force_peak.tolist(),
            "share_of_limit": self.share.tolist(),
            "saturated_share": self.saturated.tolist(),
            "legs_at_stop": list(self.stopped),
            "end": self.end or None,
        }


def merit(run: LoopRun, plant: str, bounds: Array) -> Merit:
    """Compute the figures of a run on the plant named `plant`; bounds (6,): force limit of each leg, N."""
    wanted = leg_kinematics(run.config.machine.geometry, run.reference).length
    off, forces = run.lengths - wanted, np.abs(run.motors)
    peak = forces.max(axis=0)
    return Merit(
        run.controller,
        plant,
        float(run.times[-1] - run.times[0]),
        _size(run.error[:, :3]),
        _size(run.error[:, 3:]),
        np.sqrt((off**2).mean(axis=0)),
        np.abs(off).max(axis=0),
        np.sqrt((forces**2).mean(axis=0)),
        peak,
        peak / np.minimum(bounds, run.virtual.drive.force_limit),
        run.saturated,
        run.stopped,
        run.end,
    )


def _size(vectors: Array) -> tuple[float, float]:
    """RMS and peak of the vectors' norms."""
    squares = (vectors**2).sum(axis=1)
    return float(np.sqrt(squares.mean())), float(np.sqrt(squares.max()))
