"""Motions that random operators ask for, those among them that must be refused."""

import numpy as np

from kinematics import MotionTable, pose_to_coordinates
from rig.config import RigConfig


def wave(config: RigConfig, duration: float, amplitude: float) -> MotionTable:
    """A sin⁴ in z and about x, from home and back."""
    period = config.period
    t = np.arange(round(duration / period) + 1) * period
    w = np.pi / duration
    s, c = np.sin(w * t), np.cos(w * t)
    shape = np.stack([s**4, 4 * w * s**3 * c, w**2 * (12 * s**2 * c**2 - 4 * s**4)], axis=1)
    samples = (shape[:, :, np.newaxis] * amplitude * np.array([0, 0, 1.0, 3.0, 0, 0])).reshape(len(t), 18)
    samples[:, :6] += pose_to_coordinates(config.machine.geometry.home_pose)
    return MotionTable(period, samples)


def torn(table: MotionTable) -> MotionTable:
    samples = table.samples.copy()
    samples[len(samples) // 2, 2] += 0.01
    return MotionTable(table.step, samples)


GOOD = ("gentle", "brisk")
BAD = ("beyond the stroke", "beyond the speed", "torn", "sparse")


def motions(config: RigConfig) -> dict[str, MotionTable]:
    """Those of a rig, by name: `GOOD` ones, and `BAD` ones, which are to be refused."""
    return {
        "gentle": wave(config, 0.8, 4e-3),
        "brisk": wave(config, 0.4, 8e-3),
        "beyond the stroke": wave(config, 0.8, 0.3),
        "beyond the speed": wave(config, 0.05, 0.02),
        "torn": torn(wave(config, 0.4, 4e-3)),
        "sparse": MotionTable(0.05, wave(config, 0.8, 0.04).samples[[0, round(0.4 / config.period)]]),
    }
