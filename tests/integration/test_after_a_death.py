"""Drives whose engine has died: the next run says what they need, and resets them only when it is told to."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from lockstep_bench import Bench, motion_table

from rig.cli.options import error_text
from rig.client.lifecycle import connect, run_motion
from rig.engine.core import Engine
from rig.engine.devices import make_drive_group
from rig.engine.operator import Operator
from rig.errors import RunFaultError
from rig.states import FaultCode, State


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A rig whose engine died while a motion ran; another one is there, in state OFF."""
    with Bench(tmp_path) as made:
        made.run()
        rig = made.rig
        for _ in range(round(0.5 / made.config.period)):  # nobody commands the drives, and their watchdogs trip
            rig._ticker.next()
        made.virtual.advance(rig._ticker.now())
        assert not made.torque
        rig.engine = made.engine = Engine(
            made.config, make_drive_group(made.config, made.virtual.wires), rig.sink, rig._ticker
        )
        rig.operator = Operator(rig.engine)
        made.machine = rig.engine.machine
        yield made


def test_a_run_says_that_the_drives_need_a_reset(bench: Bench) -> None:
    with pytest.raises(RunFaultError) as fault:
        run_motion(bench.rig, motion_table(bench.config), "bench", lambda _progress: None)
    text = str(fault.value)
    assert text.startswith("the drives were in a fault before they were connected: drive watchdog: leg ")
    assert "watchdog" in text and "Look at the machine" in text and "rig run" not in text  # the app says it too
    assert error_text(fault.value) == f"{text} (`rig run --reset`, or `reset` at the prompt of `rig operate`)"
    assert bench.in_state(State.FAULT) and bench.machine.latched and not bench.torque
    cause = bench.machine.cause
    assert cause is not None and cause.code is FaultCode.DRIVE_WATCHDOG


def test_a_run_that_is_told_to_resets_them_and_brings_no_torque_by_that(bench: Bench) -> None:
    connect(bench.rig, reset=True)
    assert bench.in_state(State.IDLE) and not bench.machine.latched and bench.machine.cause is None
    bench.steps(50)
    assert bench.in_state(State.IDLE) and not bench.torque and not bench.machine.homed


def test_a_reset_is_no_hindrance_where_nothing_is_wrong(tmp_path: Path) -> None:
    with Bench(tmp_path) as bench:
        run_motion(bench.rig, motion_table(bench.config), "bench", lambda _progress: None, reset=True)
        assert bench.in_state(State.OFF)
