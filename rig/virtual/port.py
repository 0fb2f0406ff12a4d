"""One leg of the plant as its drive sees it: encoder, load cell, homing switch and output."""

import numpy as np

from actuators import Mode
from rig.config import Virtual
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

    The encoder is rounded to its resolution. The cell reads gain·(true force + test load) + bias + drift·time + noise,
    a new sample of noise each time it is read.
    """

    def __init__(self, plant: Plant, leg: int, settings: Virtual) -> None:
        self._plant = plant
        self._leg = leg
        self._resolution = settings.drive.position_resolution
        self._start = plant.time
        cells = settings.cells
        self._gain, self._bias = cells.gain[leg], cells.bias[leg]
        self._spread, self._drift = cells.noise[leg], cells.drift[leg]
        self._noise = Noise(settings.seed, leg)
        self.test_load = 0.0
        """N, of a test mass hung on the cell; it loads the cell alone, not the platform."""

    @property
    def length(self) -> float:
        """Leg length, m."""
        return round(self._plant.lengths[self._leg] / self._resolution) * self._resolution

    @property
    def velocity(self) -> float:
        """Rate of the leg length, m/s."""
        return self._plant.speeds[self._leg]

    @property
    def cell(self) -> float:
        """Reading of the load cell, N, compression positive."""
        force = self._plant.cells[self._leg] + self.test_load
        drift = self._drift * (self._plant.time - self._start)
        return self._gain * force + self._bias + drift + self._spread * self._noise.draw()

    @property
    def homing_done(self) -> bool:
        """True once homing has reached the mark; False again in another mode."""
        return self._plant.homed(self._leg)

    def command(
        self, mode: Mode, force: float, position: float, velocity: float, enabled: bool, quick_stop: bool, brake: bool
    ) -> None:
        """See `actuators.PlantPort.command`."""
        self._plant.command(self._leg, mode, force, position, velocity, enabled, quick_stop, brake)
