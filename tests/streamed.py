"""A stream's source without an engine, fed sample by sample on a clock of the test's; its motion is judged in numpy."""

from collections.abc import Callable

import numpy as np

from kinematics import Array, coordinates_to_motion_kernel, pose_to_coordinates, quaternion_to_matrix
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
        config: of the rig.
        stream: keys of [stream].
    """

    def __init__(self, config: RigConfig = CONFIG, /, **stream: object) -> None:
        self.config = config.changed({"stream": stream})
        self.period = self.config.period
        self.ring, self.clock = SampleRing.local(), ManualClock()
        self.found: list[tuple[int, Finding]] = []
        """findings, with the number of the cycle"""
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


class Sender:
    """Sines in all axes, of a size that changes, with jumps, bursts, jitter and what is not finite.

    Args:
        random: draws them.
        ring: of the samples.
    """

    def __init__(self, random: np.random.Generator, ring: SampleRing) -> None:
        self._random, self._ring = random, ring
        self.name = ring.name
        """name to attach to the ring by"""
        self._count = 0
        self._step, self._home = np.zeros(6), pose_to_coordinates(HOME)
        self._burst, self._sample = 0, new_samples(1)
        self._state, self._moved = np.zeros(18), np.zeros(19)
        self.change()

    def change(self) -> None:
        """Another motion."""
        random = self._random
        self._size = 10.0 ** random.uniform(-1.0, 0.3) * random.normal(size=6) * [0.02, 0.02, 0.02, 0.05, 0.05, 0.05]
        self._rate, self._phase = random.uniform(1.0, 10.0, 6), random.uniform(0.0, 6.0, 6)

    def send(self, t: float) -> None:
        """The sample of the time t, s, or none."""
        random, chance = self._random, self._random.random()
        if chance < 5e-4:
            self._step = 0.02 * random.normal(size=6)
        if 0.01 < chance < 0.0105:
            self._burst = int(random.integers(10, 60))
        if self._burst or chance > 0.99:
            self._burst, self._count = max(0, self._burst - 1), self._count + 1
            return
        q = self._home + self._step + self._size * np.sin(self._rate * t + self._phase)
        self._state[:6] = np.clip(q, -1.0, 1.0)
        coordinates_to_motion_kernel(self._state, self._moved)
        pose = self._moved[:7]
        if 0.02 < chance < 0.022:
            pose[int(random.integers(7))] = random.choice([np.nan, np.inf])
        late = 0.004 * random.normal() if 0.03 < chance < 0.0305 else 0.0
        sample = self._sample
        sample["pose"], sample["time"], sample["sequence"] = pose, t + late, self._count
        self._count += 1
        self._ring.push(sample)


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


def poses_beyond(poses: Array, step: float) -> Array:
    """By how much a way is beyond stroke m, speed m/s, acceleration m/s², joint angles rad and condition, at worst.

    From poses (n, 7), `step` s apart, alone: lengths by vector algebra, speeds and accelerations as their differences.
    """
    geometry, h = CONFIG.machine.geometry.array, step
    R = quaternion_to_matrix(poses[:, 3:])
    arm = np.einsum("nij,kj->nki", R, geometry[:, 6:9])
    S = poses[:, None, :3] + arm - geometry[:, :3]
    L = np.linalg.norm(S, axis=-1)
    s = S / L[..., None]
    limits = [leg.limits for leg in CONFIG.machine.legs]
    low, high = np.array([limit.length for limit in limits]).T  # type: ignore[union-attr]
    home_R = quaternion_to_matrix(HOME[3:])
    home = HOME[:3] + np.einsum("ij,kj->ki", home_R, geometry[:, 6:9]) - geometry[:, :3]
    home /= np.linalg.norm(home, axis=-1, keepdims=True)
    universal = np.arccos(np.clip((s * home).sum(-1), -1, 1))
    own, home_own = np.einsum("nji,nkj->nki", R, s), home @ home_R
    spherical = np.arccos(np.clip((own * home_own).sum(-1), -1, 1))
    H = np.concatenate([s, np.cross(arm, s) / CONFIG.safety.characteristic_length], -1)[::8]
    return np.array(
        [
            np.maximum(low - L, L - high).max(),
            (np.abs(np.diff(L, axis=0) / h) - [limit.velocity for limit in limits]).max(),  # type: ignore[union-attr]
            (np.abs(np.diff(L, 2, axis=0) / h**2) - [limit.acceleration for limit in limits]).max(),  # type: ignore[union-attr]
            (universal - [limit.universal_angle for limit in limits]).max(),  # type: ignore[union-attr]
            (spherical - [limit.spherical_angle for limit in limits]).max(),  # type: ignore[union-attr]
            np.linalg.cond(H).max() - CONFIG.safety.condition,
        ]
    )
