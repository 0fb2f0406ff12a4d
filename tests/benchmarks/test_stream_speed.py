"""A cycle that follows a stream beside one that follows a table, in turns on the same rig: `make bench`."""

import gc
import math
import time

import numpy as np
import pytest
from streamed import HOME, StreamBench

import rig
from rig.config import load_config
from rig.engine import Engine, FollowStream
from rig.engine.drive_group import ExchangeTimes
from rig.streaming import SampleRing, new_samples

CYCLES, ROUNDS = 400, 5
RATES = (20.0, 100.0, 500.0, 1000.0, 2000.0)
TERM = {"dof": "x", "amplitude": 0.01, "frequency": 1.0}
SWAY = {"parts": [{"type": "harmonic", "duration": 2.0, "fade": 0.3, "terms": [TERM]}]}


@pytest.mark.parametrize("rate", RATES)
def test_cycle_time_with_a_stream_and_with_a_table(monkeypatch, rate) -> None:
    exchanged = 0.0
    make = ExchangeTimes.make

    def timed(*arguments) -> None:
        nonlocal exchanged
        begun = time.thread_time()
        make(*arguments)
        exchanged += time.thread_time() - begun

    monkeypatch.setattr(ExchangeTimes, "make", timed)
    # what a sender of 20 Hz asks of the buffer costs others nothing
    config = load_config("virtual").changed({"stream": {"frame": "home", "fade_in": 0.1, "delay": 0.15}})
    with rig.open(config, lockstep=True, record=False) as robot, SampleRing.create() as ring:
        lockstep = robot.rig
        engine: Engine = lockstep.engine  # type: ignore[attr-defined]
        robot.home()
        robot.engage()
        count, due = 0, 0.0

        def sent() -> None:
            """Push what is due: also beside a table, as the sender's work is none of the cycle's."""
            nonlocal count, due
            due = max(due, engine.tick.t - config.period)
            while due <= engine.tick.t:
                sample = new_samples(1)
                sample["sequence"], sample["time"] = count, due
                sample["pose"] = 0.01 * math.sin(2.0 * math.pi * due), 0.0, 0.0, 1.0, 0.0, 0.0, 0.0
                count, due = count + 1, due + 1.0 / rate
                ring.push(sample)

        def spent() -> list[float]:
            """s of a cycle, with and without the exchange: medians over `CYCLES`, and the 99th percentile without."""
            nonlocal exchanged
            step, whole, computed = engine.step, [], []

            def measured(tick) -> None:
                nonlocal exchanged
                exchanged, begun = 0.0, time.thread_time()
                step(tick)
                whole.append(time.thread_time() - begun)
                computed.append(whole[-1] - exchanged)

            monkeypatch.setattr(engine, "step", measured)
            for _ in range(CYCLES):
                sent()
                lockstep.step()  # type: ignore[attr-defined]
            monkeypatch.setattr(engine, "step", step)
            return [float(np.median(whole)), float(np.median(computed)), float(np.percentile(computed, 99.0))]

        results = []
        for _ in range(ROUNDS):
            robot.start(SWAY)
            of_table = spent()
            robot.wait()
            lockstep.request(FollowStream("stream", ring.name))
            for _ in range(600):
                sent()
                lockstep.step()  # type: ignore[attr-defined]
            assert robot.status.stream is not None and robot.status.stream.phase == "following"
            of_stream = spent()
            robot.pause()
            robot.abandon()
            results.append([*of_table, *of_stream])
    best = 1e6 * np.min(results, axis=0)
    table, streamed, ratios = best[:3], best[3:], best[3:] / best[:3]
    print(f"\na cycle, {config.rate:g} Hz: with a stream at {rate:g} Hz {streamed[0]:.0f} µs, ratio {ratios[0]:.3f} to "
          f"a table's ({table[0]:.0f} µs); without the exchange {streamed[1]:.0f} µs, ratio {ratios[1]:.3f} "
          f"({table[1]:.0f} µs), in 99 % of the cycles {streamed[2]:.0f} µs, {ratios[2]:.3f}")  # fmt: skip
    assert ratios[0] < 1.3


def swayed(t: float):
    """A motion near the legs' limits of speed and acceleration, within 1 s from rest."""
    pose = HOME.copy()
    pose[:3] += min(1.0, t) * np.array([0.05 * math.sin(12.0 * t), 0.0, 0.015 * math.sin(20.0 * t)])
    return pose


def heaved(t: float):
    """A motion far beyond the stroke."""
    pose = HOME.copy()
    pose[2] += min(1.0, t) * 0.2 * math.sin(3.0 * t)
    return pose


@pytest.mark.parametrize(
    ("pose", "settings"),
    [
        (swayed, {}),
        (swayed, {"resampling": "predict", "predict": 0.03}),
        (heaved, {"mode": "limit"}),
        (heaved, {}),
    ],
)
def test_worst_cycle_of_a_stream_near_and_beyond_the_limits(pose, settings) -> None:
    def spent() -> list[float]:
        bench = StreamBench(frame="base", fade_in=0.1, **settings)
        times = []
        for _ in range(1500):
            for k in range(2):
                bench.send(pose(bench.t + 1e-3 * k), bench.t + 1e-3 * k)
            bench.cycle += 1
            bench.clock.set(bench.t)
            told, begun = len(bench.found), time.thread_time()
            bench.source.advance(bench.period)
            times.append(time.thread_time() - begun if len(bench.found) == told else 0.0)  # a report costs the same
            if bench.source.paused:
                bench.source.resume((0.4,))
        return times

    gc.disable()
    try:
        each = 1e6 * np.min([spent() for _ in range(6)], axis=0)  # the same motion: what is left is the cycle's own
    finally:
        gc.enable()
    print(f"\n{pose.__name__} {settings}: in the cycle {np.median(each):.1f} µs, {np.percentile(each, 99.0):.1f} µs in "
          f"99 %, at most {each[5:].max():.1f} µs")  # fmt: skip
    assert np.percentile(each, 99.0) < 30.0
