"""What the engine computes in a cycle, and what of it held forces take, beside the model alone: `make bench`."""

import time
import timeit

import numpy as np
import pytest

from rig.config import load_config
from rig.engine.warmup import rehearsed

CYCLES, ROUNDS = 50, 60


@pytest.mark.parametrize("mode", ["force", "position"])
def test_held_forces_against_the_model(mode: str) -> None:
    config = load_config("virtual").changed({"mode": mode})
    engine = rehearsed(config)
    frame, cycle = engine.frame, 0
    engine.reference.hold(config.machine.geometry.home_pose)
    frame.measure(engine.bank, homed=True)

    def computed() -> None:
        nonlocal cycle
        cycle += 1
        t = cycle * config.period
        frame.refer(engine.reference)
        frame.model(t, known=True)
        frame.no_command()
        frame.foresee(engine.reference)
        engine.law.compute(frame)
        engine.law.commands(frame)
        frame.note_command(t)

    fields, offset = frame.fields, np.zeros(6)

    def held() -> None:
        nonlocal cycle
        cycle += 1
        t = cycle * config.period
        frame.held.excess(
            t, offset, offset, fields["terms"], fields["velocity_reference"], frame.legs, frame.now,
            fields["force_held"], fields["velocity_held"],
        )  # fmt: skip
        frame.note_command(t)

    def model() -> None:
        frame.dynamics.cell_and_terms(frame.now)
        frame.dynamics.forces(frame.ahead)

    for _ in range(3):
        computed()
    whole, part, peer = (
        1e6 * min(timeit.repeat(one, timer=time.thread_time, number=CYCLES, repeat=ROUNDS)) / CYCLES
        for one in (computed, held, model)
    )
    print(f"\nwhat the engine computes in a cycle, mode {mode}, {config.rate:g} Hz")
    print(f"  all of it {whole:.1f} µs: ratio {whole / peer:.2f} to the model, now and ahead, alone ({peer:.1f} µs)")
    print(f"  held forces {part:.1f} µs: ratio {part / peer:.2f}")
    assert part < 1.5 * peer
