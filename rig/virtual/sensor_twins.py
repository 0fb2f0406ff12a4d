"""Simulated sensors on the virtual machine: an IMU on the platform, and a tracker of it, with their errors."""

import math
import socket
from collections import deque

import numpy as np

from kinematics import angles_to_matrix, matrix_to_quaternion, quaternion_to_matrix
from rig.config import RigConfig, SensorOptions, UdpSource, VirtualSensor
from rig.sensing import Measurement, encode_packet, key_of
from rig.telemetry import QUATERNION
from rig.virtual.arrays import Array
from rig.virtual.plant import Plant

_ROUNDING = 1e-9  # s, within which a time is one of a sensor's grid
_STREAM = 7
"""of the random numbers, beside those of the plant's other parts"""


def imu_reading(state: Array, acceleration: Array, gravity: Array, position: Array, axes: Array) -> Array:
    """Specific force, m/s², and angular rate, rad/s, (6,) at a place of the platform, in a sensor's axes.

    f = Sᵀ Rᵀ (ẗ + α × R p + ω × (ω × R p) − g), w = Sᵀ Rᵀ ω.

    Args:
        state: (13,) pose and twist of the platform, base frame.
        acceleration: (6,) of its origin, and angular, base axes.
        gravity: (3,) m/s², base axes.
        position: (3,) m, p, of the sensor, platform frame.
        axes: (3, 3) S, sensor's axes → platform's.
    """
    rotation, rate = quaternion_to_matrix(state[3:7]), state[10:13]
    arm = rotation @ position
    felt = acceleration[:3] + np.cross(acceleration[3:], arm) + np.cross(rate, np.cross(rate, arm)) - gravity
    back = (rotation @ axes).T
    return np.concatenate([back @ felt, back @ rate])


def tracked_pose(pose: Array, options: SensorOptions) -> Array:
    """Pose (7,) of a tracker's target in the tracker's frame, for the platform's pose (7,) in the base frame."""
    rotation = quaternion_to_matrix(pose[3:])
    frame = angles_to_matrix(np.array(options.frame_rotation))
    place = frame.T @ (pose[:3] + rotation @ np.array(options.position) - np.array(options.frame_position))
    turned = frame.T @ rotation @ angles_to_matrix(np.array(options.rotation))
    return np.concatenate([place, matrix_to_quaternion(turned)])


class _Twin:
    """One simulated sensor."""

    def __init__(
        self, number: int, options: SensorOptions, errors: VirtualSensor, config: RigConfig, seed: int, start: float
    ) -> None:
        self.number = number
        self.options = options
        self._errors = errors
        self._key = key_of(options, config.folder)
        self._position = np.array(options.position)
        self._axes = angles_to_matrix(np.array(options.rotation))
        self._random = np.random.Generator(np.random.PCG64([seed, _STREAM, number]))
        self._start, self._count = start, 1
        self._sequence = 0
        self.waiting: deque[tuple[float, bytes]] = deque()
        """packets with the plant's time at which each is sent, s"""

    @property
    def due(self) -> float:
        """Time of the next reading, s."""
        return self._start + self._count / self.options.rate

    def skip(self, now: float) -> None:
        """Give no readings of the times before `now`, s."""
        self._count = max(self._count, math.ceil((now - self._start) * self.options.rate - _ROUNDING))

    def measure(self, plant: Plant, *, empty: bool) -> None:
        """Take a reading of the plant now; empty: it has no numbers."""
        stamp = self.due + self._errors.delay
        self._count += 1
        values = self._imu(plant) if self.options.kind == "imu" else self._pose(plant)
        if empty:
            values = np.full(len(values), np.nan)
        own = stamp * (1.0 + self._errors.clock_drift) + self._errors.clock_offset
        reading = Measurement(1, self._sequence, own, own, tuple(values.tolist()))
        self._sequence += 1
        if not (self._errors.loss and self._random.random() < self._errors.loss):
            self.waiting.append((stamp, encode_packet(reading, self._key)))

    def _imu(self, plant: Plant) -> Array:
        errors, spread = self._errors, math.sqrt(0.5 * self.options.rate)
        true = imu_reading(plant.state, plant.acceleration, plant.gravity, self._position, self._axes)
        noise = np.repeat([errors.force_noise, errors.rate_noise], 3) * spread * self._random.standard_normal(6)
        scale = np.array([*errors.force_scale, *errors.rate_scale])
        found: Array = scale * true + np.array([*errors.force_bias, *errors.rate_bias]) + noise
        return found

    def _pose(self, plant: Plant) -> Array:
        errors = self._errors
        pose = tracked_pose(plant.state[:7], self.options)
        noise = self._random.standard_normal(6)
        pose[:3] += errors.position_noise * noise[:3]
        if errors.rotation_noise:
            turned = quaternion_to_matrix(pose[QUATERNION]) @ angles_to_matrix(errors.rotation_noise * noise[3:])
            pose[QUATERNION] = matrix_to_quaternion(turned)
        return pose


class SensorTwins:
    """The simulated external sensors of a virtual rig.

    Args:
        config: the rig.
        plant: the machine.

    Raises InputError for a key that cannot be used.
    """

    def __init__(self, config: RigConfig, plant: Plant) -> None:
        self.silent = self.empty = False
        """whether they send nothing, and whether their readings have no numbers: faults"""
        self._plant = plant
        virtual = config.virtual
        places = {options.name: number for number, options in enumerate(config.sensors)}
        self._twins = [
            _Twin(places[errors.name], config.sensors[places[errors.name]], errors, config, virtual.seed, plant.time)
            for errors in (() if virtual is None else virtual.sensors)
            if virtual is not None
        ]

    def __bool__(self) -> bool:
        return bool(self._twins)

    @property
    def due(self) -> float:
        """Time of the next reading of any, s; infinite without one."""
        return min((twin.due for twin in self._twins), default=math.inf)

    def measure(self) -> None:
        """Take the readings whose time it is at the plant's."""
        now = self._plant.time
        for twin in self._twins:
            if twin.due <= now + _ROUNDING:
                twin.measure(self._plant, empty=self.empty)

    def skip(self) -> None:
        """The plant's time has gone on without a motion: there are no readings of it."""
        for twin in self._twins:
            twin.skip(self._plant.time)

    def take(self) -> list[tuple[int, bytes]]:
        """Packets that are sent by now, with the number of their sensor from 0."""
        found, now = [], self._plant.time + _ROUNDING
        for twin in self._twins:
            while twin.waiting and twin.waiting[0][0] <= now:
                found.append((twin.number, twin.waiting.popleft()[1]))
        return [] if self.silent else found


class TwinSender:
    """Sends the packets of simulated sensors to the ports of their readers; never waits."""

    def __init__(self, config: RigConfig, twins: SensorTwins) -> None:
        self._twins = twins
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._places = [
            (place.host, place.port) if isinstance(place := options.place, UdpSource) else None
            for options in config.sensors
        ]

    def send(self) -> None:
        """Send what is due. What has no receiver is lost."""
        for number, packet in self._twins.take():
            place = self._places[number]
            if place is not None:
                try:
                    self._socket.sendto(packet, place)
                except OSError:  # no receiver, or no room: lost, as on a wire
                    continue

    def close(self) -> None:
        """Close its socket."""
        self._socket.close()
