"""A stream's source without an engine, fed sample by sample on a clock of the test's; its motion is judged in numpy."""

from collections.abc import Callable

import numpy as np

from kinematics import Array, quaternion_to_matrix
from rig.config import RigConfig, load_config
from rig.engine.stream import StreamSource
from rig.findings import Finding
from rig.runtime import ManualClock
from rig.safety import Report, Trip
from rig.streaming import SampleRing, new_samples

CONFIG = load_config("virtual")
HOME = CONFIG.machine.geometry.home_pose
Moved = Callable[[float], Array]


def configured(**stream: object) -> RigConfig:
    return CONFIG.changed({"stream": stream})


class StreamBench:
    """A source, its ring and its clock; a stop decelerates it as the engine does.

    Args:
        stream: keys of [stream].
    """

    def __init__(self, **stream: object) -> None:
        self.config = configured(**stream)
        self.period = self.config.period
        self.ring, self.clock = SampleRing.local(), ManualClock()
        self.found: list[tuple[int, Finding]] = []
        """what was told, with the number of the cycle"""
        self.source = StreamSource(self.config, self.ring, "bench", self.clock, self._act, self.clock.now)
        self.source.begin(HOME)
        self.cycle = self.count = 0
        self.late = 0.0
        """s, by which the clock of the streams is ahead of the rig's cycles"""
        self.motions: list[Array] = []
        self.asked: list[Array] = []

    def _act(self, found: Trip | Report) -> None:
        self.found.append((self.cycle, found.cause.finding if isinstance(found, Trip) else found.finding))
        if isinstance(found, Trip):
            self.source.decelerate((0.4, 0.8))

    @property
    def t(self) -> float:
        return self.cycle * self.period

    def codes(self) -> list[str]:
        return [found.code.value for _, found in self.found]

    def when(self, code: str) -> int:
        """Cycle of the first finding of that code."""
        return next(cycle for cycle, found in self.found if found.code.value == code)

    def send(self, pose: Array, t: float, sequence: int | None = None, given: int = 0, velocity: object = 0.0) -> None:
        sample = new_samples(1)
        sample["pose"], sample["time"], sample["given"], sample["velocity"] = pose, t, given, velocity
        sample["sequence"] = self.count if sequence is None else sequence
        self.count += 1
        self.ring.push(sample)

    def step(self, skipped: int = 0) -> Array:
        """One cycle, after so many that were skipped: the reference now, and it is kept."""
        self.cycle += 1 + skipped
        self.clock.set(self.t + self.late)
        self.source.advance((1 + skipped) * self.period)
        motion = np.zeros(19)
        assert self.source.evaluate(0.0, motion)
        self.motions.append(motion)
        return motion

    def follow(self, pose: Moved, duration: float, every: int = 5) -> None:
        """Steps with a good sample each `every` cycles, meant for the time at which it is sent."""
        for _ in range(round(duration / self.period)):
            if self.cycle % every == 0:
                self.send(pose(self.t), self.t)
            self.step()


def swaying(amplitude: float = 0.02, frequency: float = 1.0, axis: int = 0) -> Moved:
    def pose(t: float) -> Array:
        here = HOME.copy()
        here[axis] += amplitude * np.sin(2.0 * np.pi * frequency * t)
        return here

    return pose


def legs_beyond(motions: Array) -> Array:
    """By how much motions (n, 19) are beyond the legs' limits, at worst: stroke m, speed m/s, acceleration m/s².

    By vector algebra alone: neither the model's kernels nor their formulas.
    """
    geometry = CONFIG.machine.geometry
    R = quaternion_to_matrix(motions[:, 3:7])
    arm = np.einsum("nij,kj->nki", R, geometry.array[:, 6:9])
    w, a, alpha = motions[:, None, 10:13], motions[:, None, 13:16], motions[:, None, 16:19]
    S = arm + motions[:, None, :3] - geometry.array[:, :3]
    dS = motions[:, None, 7:10] + np.cross(w, arm)
    ddS = a + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
    L = np.linalg.norm(S, axis=-1)
    dL = (S * dS).sum(-1) / L
    ddL = ((dS * dS).sum(-1) + (S * ddS).sum(-1) - dL**2) / L
    limits = [leg.limits for leg in CONFIG.machine.legs]
    low, high = np.array([limit.length for limit in limits if limit is not None and limit.length is not None]).T
    speed = np.array([limit.velocity for limit in limits if limit is not None])
    acceleration = np.array([limit.acceleration for limit in limits if limit is not None])
    return np.array(
        [np.maximum(low - L, L - high).max(), (np.abs(dL) - speed).max(), (np.abs(ddL) - acceleration).max()]
    )
