"""Manoeuvres of a vehicle as they are in textbooks: a step, a sine, a drive with a double lane change and braking."""

import math
from collections.abc import Callable, Mapping

import numpy as np

from kinematics import Array

_GRAVITY = 9.80665  # m/s²
_RATE = 500.0  # Hz, of the vehicle's model
_MASS, _YAW_INERTIA = 1500.0, 2600.0  # kg, kg m²
_FRONT, _REAR = 1.2, 1.5  # m, from the centre of mass to the axles
_FRONT_STIFFNESS, _REAR_STIFFNESS = 1.1e5, 1.4e5  # N/rad, of both wheels of an axle
_ROLL, _PITCH = math.radians(5.0) / _GRAVITY, math.radians(2.5) / _GRAVITY  # rad per m/s², of the body on its springs
_BODY = 2.0 * math.pi * 1.5, 0.4  # rad/s and damping ratio, of the same
_SPEED = 80.0 / 3.6  # m/s
_SECTIONS = (15.0, 30.0, 25.0, 25.0, 15.0)  # m: lane, change, lane, change back, lane
_OFFSET = 3.5  # m, of the other lane
_PREVIEW = 0.9  # s, that the driver looks ahead
_BRAKING = 5.0  # m/s²


def _at_rest(count: int) -> Array:
    samples = np.zeros((count, 6))
    samples[:, 2] = _GRAVITY
    return samples


def step(rate: float) -> Array:
    """Return the samples (n, 6) of a step: 1 m/s² forward from 1 s to 9 s, on within 0.1 s, and rest until 14 s."""
    t = np.arange(round(14.0 * rate) + 1) / rate
    samples = _at_rest(len(t))
    samples[:, 0] = np.interp(t, [1.0, 1.1, 9.0, 9.1], [0.0, 1.0, 1.0, 0.0])
    return samples


def sine(rate: float) -> Array:
    """Return the samples (n, 6) of a sine: 1 m/s² to the left at 0.2 Hz for six periods, from 1 s on."""
    t = np.arange(round(33.0 * rate) + 1) / rate
    samples = _at_rest(len(t))
    samples[:, 1] = np.where((t > 1.0) & (t < 31.0), np.sin(0.4 * math.pi * (t - 1.0)), 0.0)
    return samples


def drive(rate: float) -> Array:
    """Return the samples (n, 6) of a car at 80 km/h: a double lane change (ISO 3888-1), then braking to a stop.

    A linear single-track model with a driver who looks ahead, and a body that rolls and pitches on its springs
    (Mitschke and Wallentowitz, Dynamik der Kraftfahrzeuge). The samples are those of an accelerometer and a gyroscope
    on the body at the centre of mass, z up.
    """
    dt = 1.0 / _RATE
    ends = np.cumsum(_SECTIONS)
    begin, coasting = 2.0, 2.0  # s
    change = begin + ends[-1] / _SPEED + coasting
    duration = change + _SPEED / _BRAKING + 3.0
    count = round(duration * _RATE) + 1
    away, side, yaw, slip, turn, steer = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    speed, slowing = _SPEED, 0.0
    accelerations, turns = np.zeros((count, 2)), np.zeros(count)
    for row in range(count):
        t = row * dt
        wanted = -_BRAKING if t > change and speed > 0.05 else 0.0
        slowing += (wanted - slowing) * dt / (0.1 if wanted else 0.05)
        ahead = away + speed * _PREVIEW
        sight = max(speed * _PREVIEW, 1.0)
        aim = 2.0 * (_lane(ahead - begin * _SPEED, ends) - side - sight * yaw) / sight**2 * (_FRONT + _REAR)
        aim *= 1.0 + speed**2 / 25.0**2  # as much as an understeering car needs
        steer += (aim - steer) * dt / 0.1
        v = max(speed, 2.0)
        front = _FRONT_STIFFNESS * (steer - slip - _FRONT * turn / v)
        rear = _REAR_STIFFNESS * (_REAR * turn / v - slip)
        sideways = (front + rear) / _MASS if speed > 2.0 else speed * turn
        accelerations[row], turns[row] = (slowing, sideways), turn
        slip += dt * (sideways / v - turn)
        turn += dt * (front * _FRONT - rear * _REAR) / _YAW_INERTIA
        if speed <= 2.0:
            slip, turn = 0.98 * slip, 0.98 * turn
        yaw += dt * turn
        away, side = away + dt * speed * math.cos(yaw + slip), side + dt * speed * math.sin(yaw + slip)
        speed = max(speed + dt * slowing, 0.0)
    roll, pitch = _on_springs(_ROLL * accelerations[:, 1], dt), _on_springs(-_PITCH * accelerations[:, 0], dt)
    samples = np.empty((count, 6))
    (angle, rate_x), (lean, rate_y) = roll, pitch
    samples[:, 0] = accelerations[:, 0] * np.cos(lean) - _GRAVITY * np.sin(lean)
    samples[:, 1] = accelerations[:, 1] * np.cos(angle) + _GRAVITY * np.cos(lean) * np.sin(angle)
    samples[:, 2] = _GRAVITY * np.cos(lean) * np.cos(angle) - accelerations[:, 1] * np.sin(angle)
    samples[:, 2] += accelerations[:, 0] * np.sin(lean)
    samples[:, 3:] = np.column_stack([rate_x, rate_y, turns])
    times, given = np.arange(round(duration * rate) + 1) / rate, np.arange(count) * dt
    return np.column_stack([np.interp(times, given, column) for column in samples.T])


def _lane(place: float, ends: Array) -> float:
    """The lane's place across, m, along the way of ISO 3888-1, with smooth changes."""
    up = min(max((place - ends[0]) / (ends[1] - ends[0]), 0.0), 1.0)
    down = min(max((place - ends[2]) / (ends[3] - ends[2]), 0.0), 1.0)

    def smooth(u: float) -> float:
        return u * u * u * (10.0 - 15.0 * u + 6.0 * u * u)

    return _OFFSET * (smooth(up) - smooth(down))


def _on_springs(angle: Array, dt: float) -> tuple[Array, Array]:
    """Angle and rate (n,) of the body, which follows the angle of equilibrium as a damped oscillator."""
    omega, zeta = _BODY
    found, rates = np.empty_like(angle), np.empty_like(angle)
    place, rate = 0.0, 0.0
    for row, aim in enumerate(angle.tolist()):
        found[row], rates[row] = place, rate
        rate += dt * (omega * omega * (aim - place) - 2.0 * zeta * omega * rate)
        place += dt * rate
    return found, rates


MANOEUVRES: Mapping[str, Callable[[float], Array]] = {"step": step, "sine": sine, "drive": drive}
"""By name: samples (n, 6) at a rate, Hz, as `VEHICLE` has them, with z up."""
