"""One leg of the plant as its drive sees it: encoder, load cell, homing switch and output."""

import math

import numpy as np

from actuators import Mode
from rig.config import Virtual, VirtualCells
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

    The encoder is rounded to its resolution. The cell reads gain·(true force + cross-talk + test load) + bias +
    drift·time + warming + noise, as the forces were `lag` ago, a new sample of noise each time it is read, and is
    rounded to its own resolution.
    """

    def __init__(self, plant: Plant, leg: int, settings: Virtual, cells: VirtualCells) -> None:
        self._plant = plant
        self._leg = leg
        self._resolution = settings.drive.position_resolution
        self._start = plant.time
        self._cells = cells
        self._gain, self._bias = cells.gain[leg], cells.bias[leg]
        self._spread, self._drift, self._warming = cells.noise[leg], cells.drift[leg], cells.warming[leg]
        self._noise = Noise(settings.seed, leg)
        self.test_load = 0.0
        """N, of a test mass hung on the cell; it loads the cell alone, not the platform."""

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
        settings, leg = self._cells, self._leg
        forces = self._plant.cells_before(settings.lag) if settings.lag else self._plant.cells
        force = forces[leg] + self.test_load
        if settings.cross_talk:
            force += settings.cross_talk * (forces[leg - 1] + forces[(leg + 1) % 6])
        time = self._plant.time - self._start
        bias = self._bias + self._drift * time
        if self._warming:
            bias -= self._warming * math.expm1(-time / settings.warming_time)
        reading = self._gain * force + bias + self._spread * self._noise.draw()
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
