"""STOP at random times in streams of all sizes with faults: the way to rest, in numpy, keeps to every limit."""

from collections.abc import Iterator

import numpy as np
import pytest
from exploration import LONG, either, seeds
from streamed import CONFIG, HOME, StreamBench

from kinematics import Array, coordinates_to_pose, pose_to_coordinates, quaternion_to_matrix

STOPS = either(4, 10_000)
PARTS = 4  # of a cycle, at whose ends the motion is looked at
BOOLE = np.array([7.0, 32.0, 12.0, 32.0, 7.0]) / 90.0  # exact for polynomials of degree 5
STOP_TIME = CONFIG.safety.stop_time
LONGEST = 2.0  # s
DECELERATIONS = ((STOP_TIME,), (STOP_TIME, 2.0 * STOP_TIME), (0.01,))
"""s to come to rest in, as tried one after the other; where none is within the limits, the known way is followed"""


class Sender:
    """Sines in all axes at 500 Hz, of a size that changes, with jumps, bursts, jitter and what is not finite."""

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random
        self._step, self._home = np.zeros(6), pose_to_coordinates(HOME)
        self._burst = 0
        self.change()

    def change(self) -> None:
        """Another motion."""
        random = self._random
        self._size = 10.0 ** random.uniform(-1.0, 0.5) * random.normal(size=6) * [0.02, 0.02, 0.02, 0.05, 0.05, 0.05]
        self._rate, self._phase = random.uniform(1.0, 10.0, 6), random.uniform(0.0, 6.0, 6)

    def send(self, bench: StreamBench) -> None:
        random, chance = self._random, self._random.random()
        if chance < 5e-4:
            self._step = 0.02 * random.normal(size=6)
        if 0.01 < chance < 0.0105:
            self._burst = int(random.integers(10, 60))
        if self._burst or chance > 0.99:
            self._burst, bench.count = max(0, self._burst - 1), bench.count + 1
            return
        q = self._home + self._step + self._size * np.sin(self._rate * bench.t + self._phase)
        pose = coordinates_to_pose(np.clip(q, -1.0, 1.0))
        if 0.02 < chance < 0.022:
            pose[int(random.integers(7))] = random.choice([np.nan, np.inf])
        late = 0.004 * random.normal() if 0.03 < chance < 0.0305 else 0.0
        bench.send(pose, bench.t + late)


def ways_to_rest(mode: str, resampling: str, seed: int, stops: int) -> Iterator[Array]:
    """The motion (n, PARTS + 1, 19) within each cycle from a STOP on until the platform rests."""
    random = np.random.default_rng(seed)
    bench = StreamBench(mode=mode, resampling=resampling, fade_in=0.1)
    sender, motion = Sender(random), np.zeros(19)
    for _ in range(stops):
        sender.change()
        for _ in range(int(random.integers(100, 600))):
            sender.send(bench)
            bench.step()
            if bench.source.paused:
                bench.source.resume((STOP_TIME,))
        bench.source.decelerate(DECELERATIONS[random.integers(3)])
        cycles = []
        while not bench.source.paused:
            parts = []
            for part in range(PARTS + 1):
                assert bench.source.evaluate(part / PARTS * bench.period, motion)
                parts.append(motion.copy())
            cycles.append(parts)
            assert len(cycles) * bench.period < LONGEST
            sender.send(bench)
            bench.step()
        bench.motions.clear()
        if cycles:
            yield np.array(cycles)
        bench.source.resume((STOP_TIME,))


def integrated(cycles: Array) -> tuple[Array, Array]:
    """Places (n + 1, 3) and speeds (n + 1, 3) at the ends of cycles, from the accelerations alone."""
    h = CONFIG.period
    left = h * (1.0 - np.arange(PARTS + 1) / PARTS)
    x, v = cycles[0, 0, :3].copy(), cycles[0, 0, 7:10].copy()
    places, speeds = [x], [v]
    for a in cycles[:, :, 13:16]:
        x = x + h * v + h * (BOOLE * left) @ a
        v = v + h * BOOLE @ a
        places.append(x)
        speeds.append(v)
    return np.array(places), np.array(speeds)


def excess(cycles: Array) -> Array:
    """By how much a way is beyond stroke m, speed m/s, acceleration m/s², joint angles rad and condition, at worst.

    From the poses alone: lengths by vector algebra, speeds and accelerations as their differences.
    """
    poses = np.concatenate([cycles[:, :-1].reshape(-1, 19), cycles[-1:, -1]])[:, :7]
    geometry, h = CONFIG.machine.geometry.array, CONFIG.period / PARTS
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


@pytest.mark.parametrize("resampling", ["interpolate", "predict"])
@pytest.mark.parametrize("mode", ["refuse", "limit"])
def test_a_stop_at_any_time_keeps_to_every_limit_until_the_platform_rests(mode: str, resampling: str) -> None:
    worst, longest, fastest, count = np.full(6, -np.inf), 0.0, 0.0, 0
    for seed in seeds(1):
        for cycles in ways_to_rest(mode, resampling, seed, STOPS):
            places, speeds = integrated(cycles)
            assert np.abs(places[:-1] - cycles[:, 0, :3]).max() < 1e-6  # the motion is the integral that it says
            assert np.abs(speeds[-1]).max() < 1e-4  # at rest
            worst = np.maximum(worst, excess(cycles))
            longest, count = max(longest, len(cycles) * CONFIG.period), count + 1
            fastest = max(fastest, float(np.linalg.norm(speeds[0])))
    if LONG:
        print(f"{mode}, {resampling}: {count} stops, to rest in {longest:.2f} s at most, from up to {fastest:.2f} m/s; "
              f"excess {np.array2string(worst, precision=3)}")  # fmt: skip
    assert count > STOPS // 4
    assert fastest > 0.02
    assert (worst <= 0.0).all(), worst
