"""A cycle that follows a stream at 1 kHz beside one that follows a table, in turns on the same rig: `make bench`."""

import math
import time

import numpy as np

import rig
from rig.config import load_config
from rig.engine import Engine, FollowStream
from rig.engine.drive_group import ExchangeTimes
from rig.streaming import SampleRing, new_samples

CYCLES, ROUNDS = 400, 12
TERM = {"dof": "x", "amplitude": 0.01, "frequency": 1.0}
SWAY = {"parts": [{"type": "harmonic", "duration": 2.0, "fade": 0.3, "terms": [TERM]}]}


def test_cycle_time_with_a_stream_and_with_a_table(monkeypatch) -> None:
    exchanged = 0.0
    make = ExchangeTimes.make

    def timed(*arguments) -> None:
        nonlocal exchanged
        begun = time.thread_time()
        make(*arguments)
        exchanged += time.thread_time() - begun

    monkeypatch.setattr(ExchangeTimes, "make", timed)
    config = load_config("virtual").changed({"stream": {"frame": "home", "fade_in": 0.1}})
    with rig.open(config, lockstep=True, record=False) as robot, SampleRing.create() as ring:
        lockstep = robot.rig
        engine: Engine = lockstep.engine  # type: ignore[attr-defined]
        robot.home()
        robot.engage()
        count = 0

        def sent() -> None:
            nonlocal count
            for k in range(2):
                sample = new_samples(1)
                t = engine.tick.t + 1e-3 * k
                sample["sequence"], sample["time"] = count, t
                sample["pose"] = 0.01 * math.sin(2.0 * math.pi * t), 0.0, 0.0, 1.0, 0.0, 0.0, 0.0
                count += 1
                ring.push(sample)

        def spent(feed: bool) -> tuple[float, float]:
            """s of a cycle, with and without the exchange, over `CYCLES`."""
            nonlocal exchanged
            step, whole = engine.step, 0.0
            exchanged = 0.0

            def measured(tick) -> None:
                nonlocal whole
                begun = time.thread_time()
                step(tick)
                whole += time.thread_time() - begun

            monkeypatch.setattr(engine, "step", measured)
            for _ in range(CYCLES):
                if feed:
                    sent()
                lockstep.step()  # type: ignore[attr-defined]
            monkeypatch.setattr(engine, "step", step)
            return whole / CYCLES, (whole - exchanged) / CYCLES

        results = []
        for _ in range(ROUNDS):
            robot.start(SWAY)
            of_table = spent(False)
            robot.wait()
            lockstep.request(FollowStream("stream", ring.name))
            for _ in range(600):
                sent()
                lockstep.step()  # type: ignore[attr-defined]
            assert robot.status.stream is not None and robot.status.stream.phase == "following"
            of_stream = spent(True)
            robot.pause()
            robot.abandon()
            results.append([*of_table, *of_stream])
    table, computed, streamed, streamed_computed = 1e6 * np.min(results, axis=0)
    print(f"\na cycle, {config.rate:g} Hz: with a stream at 1 kHz {streamed:.0f} µs, ratio {streamed / table:.3f} to a "
          f"table's ({table:.0f} µs); without the exchange {streamed_computed:.0f} µs, "
          f"ratio {streamed_computed / computed:.3f} ({computed:.0f} µs)")  # fmt: skip
    assert streamed < 2.0 * table
