"""What the engine computes in a cycle, and what of it held forces take, beside the model alone: `make bench`."""

import time
import timeit

import pytest

from rig.config import load_config
from rig.engine.warmup import rehearsed
from rig.engine.zero_order_hold import zero_order_hold_kernel

CYCLES, ROUNDS = 50, 60


@pytest.mark.parametrize("mode", ["force", "computed-torque", "position"])
def test_held_forces_against_the_model(mode: str) -> None:
    config = load_config("virtual").changed({"mode": mode})
    engine = rehearsed(config)
    cycle, count = engine.cycle_data, 0
    engine.reference.hold(config.machine.geometry.home_pose)
    cycle.measurement.take(engine.drives, homed=True)

    def computed() -> None:
        nonlocal count
        count += 1
        t = count * config.period
        cycle.reference.evaluate(engine.reference, cycle.measurement)
        cycle.model.evaluate(t, cycle.reference, cycle.measurement, known=True)
        cycle.set_points.clear()
        cycle.reference.foresee(engine.reference, t)
        engine.law.compute(cycle)
        engine.law.commands(cycle)
        cycle.note_command(t)

    def held() -> None:
        nonlocal count
        count += 1
        t = count * config.period
        zero_order_hold_kernel(cycle.frame, cycle.model.zero_order_hold.data, t)
        cycle.note_command(t)

    def model() -> None:
        cycle.model.dynamics.cell_and_terms(cycle.reference.now)
        cycle.model.dynamics.forces(cycle.reference.ahead)

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
