"""One leg of the plant as its drive sees it: encoder, load cell, homing switch and output."""

import numpy as np

from actuators import Mode
from rig.config import Virtual, VirtualCells
from rig.virtual.cells import Cell
from rig.virtual.plant import Plant

_BLOCK = 256


class Noise:
    """White normal noise of unit variance, the same sequence for the same seed and channel."""

    def __init__(self, seed: int, channel: int) -> None:
        self._generator = np.random.Generator(np.random.PCG64([seed, channel]))
        self._left: list[float] = []

    def draw(self) -> float:
        """Next sample."""
        if not self._left:
            self._left = self._generator.standard_normal(_BLOCK).tolist()
        return self._left.pop()


class LegPort:
    """Sensors and output of leg 0…5: an `actuators.PlantPort`.

    The encoder is rounded to its resolution. The cell reads what `Cell` says of the forces as they were `lag` ago, with
    a new sample of noise each time it is read, and is rounded to its own resolution.
    """

    def __init__(self, plant: Plant, leg: int, settings: Virtual, cells: VirtualCells, limit: float) -> None:
        """See the class. cells: in place of those of `settings`. limit: end of the cells' range, N."""
        self._plant = plant
        self._leg = leg
        self._resolution = settings.drive.position_resolution
        self._start = plant.time
        self._cells = cells
        self._cell = Cell(cells, leg, limit, settings.seed)
        self._spread = cells.noise[leg]
        self._noise = Noise(settings.seed, leg)
        self.test_load = 0.0
        """N, of a test mass hung on the cell; it loads the cell alone, not the platform."""
        self.zero_jump = 0.0
        """N, by which the cell's zero has jumped."""

    @property
    def length(self) -> float:
        """Leg length as the encoder has it, m."""
        return round(self._plant.readings[self._leg] / self._resolution) * self._resolution

    @property
    def velocity(self) -> float:
        """Rate of the leg length, m/s."""
        return self._plant.speeds[self._leg]

    @property
    def cell(self) -> float:
        """Reading of the load cell, N, compression positive."""
        settings = self._cells
        forces = self._plant.cells_before(settings.lag) if settings.lag else self._plant.cells
        reading = self._cell.reading(forces, self.test_load, self._plant.time - self._start)
        reading += self.zero_jump + self._spread * self._noise.draw()
        return round(reading / settings.resolution) * settings.resolution if settings.resolution else reading

    @property
    def homing_done(self) -> bool:
        """True once homing has reached the mark; False again in another mode."""
        return self._plant.homed(self._leg)

    def command(
        self, mode: Mode, force: float, position: float, velocity: float, enabled: bool, quick_stop: bool, brake: bool
    ) -> None:
        """See `actuators.PlantPort.command`."""
        self._plant.command(self._leg, mode, force, position, velocity, enabled, quick_stop, brake)
