"""What came of a trajectory in the closed loop offline."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dynamics import WORK_SIZE, Dynamics, Mechanism
from kinematics import MotionTable, leg_kinematics, pose_difference
from rig.config import RigConfig, Virtual
from rig.virtual.arrays import Array
from rig.virtual.cells import Cell
from rig.virtual.closed_loop.cycle import APPLIED, BRISTLE, COMMANDED, SATURATED
from rig.virtual.closed_loop.motion import accelerations_kernel
from rig.virtual.drive_kernel import BEFORE_FRICTION, DRIVE_COLUMNS, LOWER_STOP, UPPER_STOP
from rig.virtual.plant import drive_parameters

_CELL_NOISE = 7
"""The stream of the seed's random numbers that the cells' noise comes from."""


@dataclass(frozen=True, eq=False)
class LoopRun:
    """A run of m cycles; `end` says in words why it is shorter than the trajectory, "" if it is not.

    config, table, controller: see `run_loop`; virtual: of the configuration. plant, legs: what moves, and its rows, see
    `leg_rows`: where all friction along the legs is in these, `plant` has none. hose: see `hose_row`.
    times (m,): places on the path, s. states (m, 13): the plant then. kept (m, ROWS, 6): see `cycle.ROWS`. wrenches
    (m, 6): see `run_loop`.
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
    kept: Array
    wrenches: Array
    end: str

    @cached_property
    def reference(self) -> Array:
        """Where the platform should have been, (m, 19)."""
        return self.table.motion(np.minimum(self.times, self.table.duration))

    @cached_property
    def error(self) -> Array:
        """Platform from its reference, (m, 6): position m, rotation vector rad, base axes."""
        return pose_difference(self.states[:, :7], self.reference[:, :7])

    @cached_property
    def motion(self) -> Array:
        """The platform's motion (m, 19), with its accelerations at these times."""
        return np.hstack([self.states, self._acting[0]])

    @cached_property
    def _acting(self) -> tuple[Array, Array, Array]:
        """Accelerations, friction along the legs that the plant's mechanism has not, N, wrenches with the hose's."""
        dynamics = Dynamics(self.plant, self.virtual.plant.coulomb_speed)
        accelerations, rubbed, loads = (np.zeros((len(self.times), 6)) for _ in range(3))
        accelerations_kernel(
            dynamics.parameters, self.plant.geometry.array, self.legs.copy(), drive_parameters(self.virtual.drive),
            self.times - self.times[0], self.states, self.motors, np.ascontiguousarray(self.kept[:, BRISTLE]),
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
        return np.ascontiguousarray(self.kept[:, APPLIED])

    @property
    def commands(self) -> Array:
        """Forces commanded, (m, 6) N."""
        return np.ascontiguousarray(self.kept[:, COMMANDED])

    @property
    def saturated(self) -> Array:
        """Share of the cycles in which each leg's force was bounded, (6,)."""
        share: Array = self.kept[:, SATURATED].mean(axis=0)
        return share

    @property
    def stopped(self) -> tuple[int, ...]:
        """Legs, 1…6, that reached an end stop."""
        rows = self.legs
        out = (self.lengths < rows[:, LOWER_STOP]) | (self.lengths > rows[:, UPPER_STOP])
        return tuple(int(leg) + 1 for leg in np.flatnonzero(out.any(axis=0)))

    def encoders(self) -> tuple[Array, Array]:
        """What the drives say of lengths, m, rounded to their resolution, and speeds, m/s; (m, 6) each."""
        resolution = self.virtual.drive.position_resolution
        lengths, speeds = self._legs(self.states)
        readings = lengths + self.plant.length_offsets
        return np.rint(readings / resolution) * resolution, speeds

    def cells(self) -> Array:
        """Readings of the load cells (m, 6), N, compression positive, as `Cell` has them, with noise, lag and steps."""
        cells, times = self.virtual.cells, self.times - self.times[0]
        _, rubbed, loads = self._acting
        true = Dynamics(self.plant, self.virtual.plant.coulomb_speed).cells(self.motion, loads)
        before = self.legs[:, BEFORE_FRICTION] != 0.0  # such a cell reads what the friction takes, too
        true[:, before] -= rubbed[:, before]
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
