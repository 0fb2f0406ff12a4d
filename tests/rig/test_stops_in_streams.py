"""STOP at random times in streams of all sizes with faults: the braking path, in numpy, keeps to every limit."""

from collections.abc import Iterator

import numpy as np
import pytest
from exploration import LONG, either, seeds
from streamed import CONFIG, Sender, StreamBench, poses_beyond

from kinematics import Array

STOPS = either(12, 1000)
SEEDS = 10
PARTS = 4  # of a cycle, at whose ends the motion is looked at
BOOLE = np.array([7.0, 32.0, 12.0, 32.0, 7.0]) / 90.0  # exact for polynomials of degree 5
STOP_TIME = CONFIG.safety.stop_time
LONGEST = 2.0  # s
BRISK = CONFIG.changed({"motion": {"approach_speed": 0.3, "approach_rotation": 1.0}})
"""the way to a stream is short, as most STOPs are drawn while it is followed"""
DECELERATIONS = ((STOP_TIME,), (STOP_TIME, 2.0 * STOP_TIME), (0.01,))
"""s to come to rest in, as tried one after the other; where none is within the limits, the known way is followed"""


def braking_paths(mode: str, resampling: str, seed: int, stops: int) -> Iterator[Array]:
    """The motion (n, PARTS + 1, 19) within each cycle from a STOP on until the platform rests."""
    random = np.random.default_rng(seed)
    bench = StreamBench(BRISK, mode=mode, resampling=resampling, fade_in=0.1)
    sender, motion = Sender(random, bench.ring), np.zeros(19)
    for _ in range(stops):
        sender.change()
        left = int(random.integers(1, 400))  # cycles in which it is followed
        for _ in range(int(random.integers(1, 4000))):
            sender.send(bench.t)
            bench.step()
            if bench.source.paused:
                bench.source.resume((STOP_TIME,))
            left -= bench.source.report.phase == "following"
            if left == 0:
                break
        bench.source.decelerate(DECELERATIONS[random.integers(3)])
        cycles = []
        while not bench.source.paused:
            parts = []
            for part in range(PARTS + 1):
                assert bench.source.evaluate(part / PARTS * bench.period, motion)
                parts.append(motion.copy())
            cycles.append(parts)
            assert len(cycles) * bench.period < LONGEST
            sender.send(bench.t)
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


@pytest.mark.parametrize("resampling", ["interpolate", "predict"])
@pytest.mark.parametrize("mode", ["refuse", "limit"])
def test_a_stop_at_any_time_keeps_to_every_limit_until_the_platform_rests(mode: str, resampling: str) -> None:
    worst, longest, fastest, count = np.full(6, -np.inf), 0.0, 0.0, 0
    for seed in seeds(SEEDS):
        for cycles in braking_paths(mode, resampling, seed, STOPS):
            places, speeds = integrated(cycles)
            assert np.abs(places[:-1] - cycles[:, 0, :3]).max() < 1e-6  # the motion is the integral that it says
            assert np.abs(speeds[-1]).max() < 1e-4  # at rest
            poses = np.concatenate([cycles[:, :-1].reshape(-1, 19), cycles[-1:, -1]])[:, :7]
            worst = np.maximum(worst, poses_beyond(poses, CONFIG.period / PARTS))
            longest, count = max(longest, len(cycles) * CONFIG.period), count + 1
            fastest = max(fastest, float(np.linalg.norm(speeds[0])))
        if LONG:
            excess = np.array2string(worst, precision=3)
            print(f"{mode}, {resampling}: {count} stops from up to {fastest:.2f} m/s, to rest within {longest:.2f} s")
            print(f"excess {excess} m, m/s, m/s², rad, rad, condition", flush=True)
    assert count > STOPS // 4
    assert fastest > 0.1
    assert (worst <= 0.0).all(), worst
