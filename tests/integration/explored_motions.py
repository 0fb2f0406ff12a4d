"""Motions that random operators ask for, those among them that must be refused."""

import numpy as np
from configured import VIRTUAL

from kinematics import MotionTable, pose_to_coordinates

CONFIG = VIRTUAL
_GEOMETRY, _PERIOD = CONFIG.machine.geometry, CONFIG.period


def wave(duration: float, amplitude: float) -> MotionTable:
    """A sin⁴ in z and about x, from home and back."""
    t = np.arange(round(duration / _PERIOD) + 1) * _PERIOD
    w = np.pi / duration
    s, c = np.sin(w * t), np.cos(w * t)
    shape = np.stack([s**4, 4 * w * s**3 * c, w**2 * (12 * s**2 * c**2 - 4 * s**4)], axis=1)
    samples = (shape[:, :, np.newaxis] * amplitude * np.array([0, 0, 1.0, 3.0, 0, 0])).reshape(len(t), 18)
    samples[:, :6] += pose_to_coordinates(_GEOMETRY.home_pose)
    return MotionTable(_PERIOD, samples)


def torn(table: MotionTable) -> MotionTable:
    samples = table.samples.copy()
    samples[len(samples) // 2, 2] += 0.01
    return MotionTable(table.step, samples)


GOOD = {"gentle": wave(0.8, 4e-3), "brisk": wave(0.4, 8e-3)}
MOTIONS = GOOD | {
    "beyond the stroke": wave(0.8, 0.3),
    "beyond the speed": wave(0.05, 0.02),
    "torn": torn(wave(0.4, 4e-3)),
    "sparse": MotionTable(0.05, wave(0.8, 0.04).samples[[0, round(0.4 / _PERIOD)]]),
}
