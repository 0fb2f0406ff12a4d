"""Sensors and output of one leg for its drive: encoder, load cell with its errors, homing switch."""

import math
from collections.abc import Sequence

import numpy as np

from actuators import Mode
from kinematics import kernel
from rig.config import Virtual, VirtualCells
from rig.virtual.arrays import Array, Counts
from rig.virtual.plant import Plant
from rig.virtual.plant_kernel import CELLS, READINGS, SPEEDS

_EFFECTS = 8  # key of the random streams, followed by leg and effect
_JUMP, _SPIKE, _HUM = range(3)
_LOOPS = (1.0 / 32.0, 1.0 / 16.0, 1.0 / 8.0, 1.0 / 4.0)
"""Fractions of the range at which the elements of a cell's hysteresis slip, each with an equal part of its width."""
_BLOCK = 64


class Cell:
    """The load cell of leg 0…5: from true forces to readings, without noise and rounding.

    Call it at increasing times: hysteresis, jumps and spikes have a state.

    Hysteresis is a Prandtl–Ishlinskii model of parallel slipping elements: each holds back its part of the force until
    it slips, so that the reading lags the force in both directions, independent of rate.
    """

    def __init__(self, cells: VirtualCells, leg: int, limit: float, seed: int) -> None:
        """See the class. limit: end of the cell's range, N."""
        self._leg, self._limit = leg, limit
        self._gain, self._bias, self._drift = cells.gain[leg], cells.bias[leg], cells.drift[leg]
        self._warming, self._gain_warming, self._warming_time = (
            cells.warming[leg], cells.gain_warming[leg], cells.warming_time,
        )  # fmt: skip
        self._before, self._behind = cells.cross_talk[leg]
        self._curvature, self._hysteresis = cells.curvature[leg], cells.hysteresis[leg]
        self._elements = [0.0] * len(_LOOPS)  # N, force held back by each element
        self._force = 0.0
        self._hum, self._turning = cells.hum[leg], 2.0 * math.pi * cells.hum_frequency
        self._phase = float(_stream(seed, leg, _HUM).uniform(0.0, 2.0 * math.pi))
        self._jump, self._spike = cells.jump[leg], cells.spike[leg]
        self._jumps = _Arrivals(cells.jump_rate, _stream(seed, leg, _JUMP))
        self._spikes = _Arrivals(cells.spike_rate, _stream(seed, leg, _SPIKE))
        self._zero = 0.0
        self._bends = self._curvature != 0.0 or self._hysteresis != 0.0
        self._strays = self._hum != 0.0 or self._jump != 0.0 or self._spike != 0.0
        mixed = self._before != 0.0 or self._behind != 0.0
        self.linear = not (mixed or self._warming or self._gain_warming or self._bends or self._strays)

    def reading(self, forces: Sequence[float], test_load: float, time: float) -> float:
        """Return the reading, N, for true forces (6,) N and a test load, N, `time` s after the start, without noise."""
        leg = self._leg
        force = forces[leg] + test_load
        bias, gain = self._bias + self._drift * time, self._gain
        if self.linear:
            return gain * force + bias
        # one factor for both neighbours, to give their sum times it exactly
        other = forces[(leg + 1) % 6]
        force += self._before * (forces[leg - 1] + other) + (self._behind - self._before) * other
        if self._warming or self._gain_warming:
            cold = math.expm1(-time / self._warming_time)
            bias -= self._warming * cold
            gain -= self._gain * self._gain_warming * cold
        if self._bends:
            force = self._distorted(force)
        if self._strays:
            bias += self._disturbance(time)
        return gain * force + bias

    def _distorted(self, force: float) -> float:
        """Return the force with curvature, minus the force held back by the hysteresis."""
        change, self._force = force - self._force, force
        resisting = 0.0
        for i, part in enumerate(_LOOPS):
            slip = part * self._limit
            self._elements[i] = min(max(self._elements[i] + change, -slip), slip)
            resisting += self._elements[i] / slip
        return (
            force
            + self._curvature * force * force / self._limit
            - self._hysteresis * self._limit * resisting / (2.0 * len(_LOOPS))
        )

    def _disturbance(self, time: float) -> float:
        """Return the sum of hum, jumps until now and a spike, N."""
        if self._jump:
            self._zero += self._jump * sum(self._jumps.until(time))
        stray = self._zero + self._hum * math.sin(self._turning * time + self._phase)
        if self._spike and (signs := self._spikes.until(time)):
            stray += self._spike * signs[-1]
        return stray


class _Arrivals:
    """Poisson process: events with a mean rate, 1/s, each with a random sign."""

    def __init__(self, rate: float, random: np.random.Generator) -> None:
        self._rate, self._random = rate, random
        self._times: list[float] = []
        self._signs: list[float] = []
        self._last = 0.0
        self._next = 0

    def until(self, time: float) -> list[float]:
        """Return the signs of the new events until `time`, s."""
        if not self._rate:
            return []
        found: list[float] = []
        while True:
            if self._next == len(self._times):
                self._times = (self._last + np.cumsum(self._random.exponential(1.0 / self._rate, _BLOCK))).tolist()
                self._signs = self._random.choice((-1.0, 1.0), _BLOCK).tolist()
                self._last, self._next = self._times[-1], 0
            if self._times[self._next] > time:
                return found
            found.append(self._signs[self._next])
            self._next += 1


def _stream(seed: int, leg: int, effect: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64([seed, _EFFECTS, leg, effect]))


ENCODER, CELL, MOTOR = range(3)
"""Entries of `LegPort.wired`."""

_NOISE_BLOCK = 256


class Noise:
    """White normal noise of unit variance on six channels, the same sequences for the same seed.

    `samples` (6, n) are those drawn in advance; the first `left` (6,) of each channel, one or more, are still to come,
    the last of them next.
    """

    def __init__(self, seed: int) -> None:
        self._generators = [np.random.Generator(np.random.PCG64([seed, channel])) for channel in range(6)]
        self.samples = np.zeros((6, _NOISE_BLOCK))
        self.left = np.zeros(6, np.int64)
        self.refill()

    def draw(self, channel: int) -> float:
        """Next sample of a channel."""
        self.left[channel] -= 1
        sample = float(self.samples[channel, self.left[channel]])
        if not self.left[channel]:
            self.refill()
        return sample

    def refill(self) -> None:
        """Draw in advance where nothing is left."""
        for channel in np.flatnonzero(self.left == 0):
            self.samples[channel] = self._generators[channel].standard_normal(_NOISE_BLOCK)
            self.left[channel] = _NOISE_BLOCK


@kernel
def sense_kernel(
    outputs: Array, resolution: float, plain: bool, linear: Array, offsets: Array, time: float, cell_resolution: float,
    samples: Array, left: Counts, signals: Array, wired: Counts, legs: int, out: Array,
) -> bool:  # fmt: skip
    """Write what `LegPort`s read, (3, 6): m, m/s, N. Returns whether a channel of the noise has no sample left.

    legs: bits of those that are read, bit 0 for the first. outputs: rows of the plant's. resolution: m. plain: whether
    the cells are linear at `time`, s after the start; if not, `signals` (6,) has their readings, N. linear (4, 6):
    gain, bias N, drift N/s, noise N. offsets (2, 6): test load and jump of the zero, N. cell_resolution: N, 0 for none.
    samples, left: see `Noise`. wired (3, 6): see `LegPort`.
    """
    empty = False
    for i in range(6):
        if not legs >> i & 1:
            continue
        encoder, cell = wired[ENCODER, i], wired[CELL, i]
        out[0, i] = np.rint(outputs[READINGS, encoder] / resolution) * resolution
        out[1, i] = outputs[SPEEDS, encoder]
        if plain:
            signals[i] = linear[0, i] * (outputs[CELLS, cell] + offsets[0, i]) + (linear[1, i] + linear[2, i] * time)
        left[i] -= 1
        empty = empty or left[i] == 0
        reading = signals[i] + (offsets[1, i] + linear[3, i] * samples[i, left[i]])
        out[2, i] = np.rint(reading / cell_resolution) * cell_resolution if cell_resolution else reading
    return empty


class LegPort:
    """Sensors and output of leg 0…5: an `actuators.PlantPort`.

    The encoder is rounded to its resolution. The cell reads `Cell` for the forces `lag` ago, with a new noise sample
    at each reading, and is rounded to its own resolution.
    """

    def __init__(
        self, plant: Plant, leg: int, settings: Virtual, cells: VirtualCells, limit: float, noise: Noise
    ) -> None:
        """See the class. cells: instead of those of `settings`. limit: end of the cells' range, N."""
        self._plant = plant
        self._leg = leg
        self._resolution = settings.drive.position_resolution
        self._start = plant.time
        self._cells = cells
        self._cell = Cell(cells, leg, limit, settings.seed)
        self.linear = self._cell.linear and not cells.lag
        """Whether its cell reads the present force, scaled and shifted."""
        self._spread = cells.noise[leg]
        self._noise = noise
        self.offsets = np.zeros(2)
        """Test load and jump of the zero, N."""
        self.wired: Counts = np.full(3, leg)
        """Legs 0…5 whose encoder, load cell and motor are wired here. The plant's drive is that of the encoder."""

    @property
    def test_load(self) -> float:
        """N, of a test mass hung on the cell; it loads the cell alone, not the platform."""
        return float(self.offsets[0])

    @test_load.setter
    def test_load(self, force: float) -> None:
        self.offsets[0] = force

    @property
    def zero_jump(self) -> float:
        """N, jump of the cell's zero."""
        return float(self.offsets[1])

    @zero_jump.setter
    def zero_jump(self, force: float) -> None:
        self.offsets[1] = force

    @property
    def length(self) -> float:
        """Leg length by the encoder, m."""
        return round(self._plant.readings[int(self.wired[ENCODER])] / self._resolution) * self._resolution

    @property
    def velocity(self) -> float:
        """Rate of the leg length, m/s."""
        return self._plant.speeds[int(self.wired[ENCODER])]

    @property
    def cell(self) -> float:
        """Reading of the load cell, N, compression positive."""
        settings = self._cells
        reading = self.signal() + (self.zero_jump + self._spread * self._noise.draw(self._leg))
        return round(reading / settings.resolution) * settings.resolution if settings.resolution else reading

    def signal(self) -> float:
        """Return the reading, N, without noise, jump of the zero and rounding; once for each reading."""
        lag = self._cells.lag
        forces = self._plant.cells_before(lag) if lag else self._plant.cells
        if self.wired[CELL] != self._leg:
            forces[self._leg] = forces[self.wired[CELL]]
        return self._cell.reading(forces, self.test_load, self._plant.time - self._start)

    @property
    def motor(self) -> float:
        """Force of the motor by its current, N, pushing positive."""
        return float(self._plant.motors[self.wired[ENCODER]])

    @property
    def homing_done(self) -> bool:
        """True once homing has reached the mark; False in any other mode."""
        return self._plant.homed(int(self.wired[ENCODER]))

    def command(
        self, mode: Mode, force: float, position: float, velocity: float, enabled: bool, quick_stop: bool, brake: bool
    ) -> None:
        """See `actuators.PlantPort.command`."""
        drive = int(self.wired[ENCODER])
        self._plant.command(drive, mode, force, position, velocity, enabled, quick_stop, brake)


_STRAIGHT = list(range(6))


class LegPorts:
    """The six `LegPort`s as one: an `actuators.PlantPorts`."""

    def __init__(
        self, plant: Plant, settings: Virtual, cells: VirtualCells, ports: Sequence[LegPort], noise: Noise
    ) -> None:
        """See the class. cells: of the ports. noise: of theirs."""
        self._plant, self._ports, self._noise, self._start = plant, ports, noise, plant.time
        self._resolution, self._cell_resolution = settings.drive.position_resolution, cells.resolution
        self._plain = all(port.linear for port in ports)
        self._linear = np.array([cells.gain, cells.bias, cells.drift, cells.noise], float)
        self._offsets, self._wired = np.zeros((2, 6)), np.zeros((3, 6), np.int64)
        for leg, port in enumerate(ports):
            port.offsets = self._offsets[:, leg]
            self._wired[:, leg] = port.wired
            port.wired = self._wired[:, leg]
        self._signals = np.zeros(6)
        self._sense(noise.left.copy(), np.zeros((3, 6)), 0)  # compiled here, not at the first reading

    def sense(self, out: Array, legs: int) -> None:
        """See `PlantPorts.sense`."""
        if not self._plain:
            for leg, port in enumerate(self._ports):
                if legs >> leg & 1:
                    self._signals[leg] = port.signal()
        if self._sense(self._noise.left, out, legs):
            self._noise.refill()

    def _sense(self, left: Counts, out: Array, legs: int) -> bool:
        """See `sense_kernel`."""
        empty: bool = sense_kernel(
            self._plant.outputs, self._resolution, self._plain, self._linear, self._offsets,
            self._plant.time - self._start, self._cell_resolution, self._noise.samples, left, self._signals,
            self._wired, legs, out,
        )  # fmt: skip
        return empty

    def command(self, commands: Array, legs: int) -> None:
        """See `PlantPorts.command`."""
        drives = self._wired[ENCODER].tolist()
        if drives != _STRAIGHT:
            commands = commands[np.argsort(drives)]
            legs = sum(1 << drive for leg, drive in enumerate(drives) if legs >> leg & 1)
        self._plant.command_all(commands, legs)
