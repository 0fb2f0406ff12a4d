"""Safe torque off for 20 to 500 ms, one leg, any moment, every kind of drive: torque comes back by a request alone.

Which legs have torque is read from the plant, not from what the drives say. `make explore` draws some 3,000 cases.
"""

from importlib.resources import files
from itertools import count
from pathlib import Path
from random import Random

import numpy as np
import pytest
from exploration import LONG, either, seeds
from lockstep_bench import Bench, bench_config

from actuators import Status
from rig.client.motions import checked_move
from rig.config import RigConfig, load_config
from rig.engine.messages import Connect, Engage, Follow, Home, MoveLeg, Park
from rig.states import FaultCode, State
from rig.virtual import drive_kernel as columns

QUIET = {"load_cells": {"noise": 0.01}, "virtual": {"drive": {"start_spread": 1e-3}, "cells": {"noise": 0.01}}}
KINDS: dict[str, RigConfig] = {
    "servo": bench_config(),
    "position": bench_config(mode="position"),
    "line": load_config("virtual-servo").changed(QUIET),
    **{name: load_config(f"virtual-{name}").changed(QUIET) for name in ("jrk-g2", "iai", "canopen", "mixed")},
}
STATES = [State.ENGAGING, State.ENGAGED, State.RUNNING, State.PARKING, State.STOPPING, State.SINGLE_LEG]
PAIRS = [
    pytest.param(kind, state, id=f"{kind}-{state.name.lower()}")
    for kind in KINDS
    if kind not in ("servo", "position")
    for state in STATES
]
SHORTEST, LONGEST = 0.02, 0.5  # s
AFTER = 0.1  # s that are looked at once the circuit is closed
BORNE = 2  # cycles from the first sample that shows it to the latched stop


class Watched:
    """A bench of which every cycle is looked at: which power stages are on, and which came on again."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.on = self.powered()
        self.gone: set[int] = set()
        self.again: set[int] = set()

    def powered(self) -> set[int]:
        """Legs, 1 to 6, whose motors have power as the plant knows it; one that brakes by itself has none to move."""
        rows = self.bench.virtual.plant._drives
        return {leg for leg, row in enumerate(rows, start=1) if row[columns.ENABLED] and not row[columns.QUICK_STOP]}

    def steps(self, cycles: int) -> None:
        for _ in range(cycles):
            self.bench.steps(1)
            before, self.on = self.on, self.powered()
            self.gone |= before - self.on
            self.again |= self.on & self.gone

    def seconds(self, duration: float) -> None:
        self.steps(round(duration * self.bench.config.rate))


def with_the_circuit(bench: Bench) -> list[int]:
    return [leg for leg, drive in enumerate(bench.virtual.drives, start=1) if "safe_torque_off" in drive.kinds]


def open_the_circuit(bench: Bench, leg: int, duration: float) -> None:
    """Whoever had torque makes it a latched stop, at once; nobody has any again, whoever had it."""
    watched = Watched(bench)
    had = leg in watched.on and bool(bench.engine.drives.status[leg - 1] & Status.ENABLED)
    bench.inject("safe_torque_off", leg, duration=duration)
    watched.steps(BORNE)
    if had:
        cause = bench.machine.cause
        assert bench.machine.latched and cause is not None, f"nothing latched in {bench.machine.state.name}"
        own = bool(bench.engine.drives.status[leg - 1] & Status.FAULT)  # a target for a motor without power is an alarm
        assert (cause.code, cause.leg) == (FaultCode.DRIVE_FAULT if own else FaultCode.TORQUE_LOST, leg), cause.text
        assert own or not any(command.enable for command in bench.engine.commands)
    watched.seconds(duration + AFTER)
    assert not watched.again, f"legs {watched.again} have torque again"
    if had:
        assert bench.in_state(State.FAULT) and not watched.on and not bench.torque


def bring(bench: Bench, state: State, leg: int, draw: Random) -> None:
    """To a state with torque, anywhere in it; `leg` is the one that a test moves alone."""
    if state is State.SINGLE_LEG:
        bench.rig.request(Connect())
        bench.rig.request(MoveLeg(leg, 2e-3, 5e-3, home=True))
        bench.until(lambda: bool(bench.engine.drives.status[leg - 1] & Status.ENABLED))
        if draw.random() < 0.5:  # else while it looks for its reference
            bench.until(lambda: bench.engine.leg_test is not None and "moving" in bench.engine.leg_test.status.phase)
    elif state is State.ENGAGING:
        bench.park().rig.request(Engage())
        bench.until(lambda: bench.engine.drives.all(Status.ENABLED))
    else:
        bench.engage()
    if state in (State.RUNNING, State.PARKING, State.STOPPING):
        rig = bench.rig
        here = np.array(rig.status().reference)
        there = here.copy()
        there[2] += 5e-3
        table = checked_move(rig.config, here, there, 0.02, 0.2)
        rig.request(Follow("up", table.step), table.samples)
        if state is State.PARKING:
            bench.until_state(State.ENGAGED)
            rig.request(Park())
        bench.until(lambda: bench.engine.reference.path_time > 0.1)
    bench.steps(draw.randrange(5))
    if state is State.STOPPING:
        bench.engine.stop(2)
        bench.steps(2)
    assert bench.in_state(state)


def duration_of_homing(folder: Path, config: RigConfig) -> int:
    """Cycles."""
    with Bench(folder, config) as bench:
        bench.rig.request(Connect())
        bench.rig.request(Home())
        begun = bench.engine.cycles
        bench.until_state(State.PARKED)
        return bench.engine.cycles - begun


@pytest.mark.parametrize("seed", seeds(1))
@pytest.mark.parametrize("kind", KINDS)
def test_while_homing(tmp_path: Path, kind: str, seed: int) -> None:
    draw, config, number = Random(f"{kind} {seed}"), KINDS[kind], count()

    def folder() -> Path:
        made = tmp_path / str(next(number))
        made.mkdir()
        return made

    cycles = duration_of_homing(folder(), config)
    cases = either(6 if kind == "servo" else 1, 1000 if kind == "servo" else 300)
    for case in range(cases):
        with Bench(folder(), config) as bench:
            bench.rig.request(Connect())
            bench.rig.request(Home())
            phase = int((case + draw.random()) * cycles / cases)  # one in each part of the way
            leg, duration = draw.choice(with_the_circuit(bench)), draw.uniform(SHORTEST, LONGEST)
            bench.steps(phase)
            try:
                open_the_circuit(bench, leg, duration)
            except AssertionError as error:
                error.add_note(f"{kind}, seed {seed}: leg {leg} at cycle {phase} of {cycles} for {duration:.3f} s")
                raise
        bench.path.unlink()
    print(f"{kind}: {cases} cases over {cycles} cycles of homing")


@pytest.mark.parametrize("seed", seeds(20))
@pytest.mark.parametrize(("kind", "state"), PAIRS if LONG else PAIRS[::5])
def test_in_every_other_state_with_torque(tmp_path: Path, kind: str, state: State, seed: int) -> None:
    """Those of the servo by force and by position are tried by test_torque.py and test_faults_by_law.py."""
    draw = Random(f"{kind} {state} {seed}")
    with Bench(tmp_path, KINDS[kind]) as bench:
        leg, duration = draw.choice(with_the_circuit(bench)), draw.uniform(SHORTEST, LONGEST)
        bring(bench, state, leg, draw)
        open_the_circuit(bench, leg, duration)


@pytest.mark.parametrize("command", [Home(), Engage()])
def test_torque_comes_late_only_within_the_time_that_a_drive_needs(tmp_path: Path, command: Home | Engage) -> None:
    """The circuit is open as torque is asked for: closed after 0.1 s it gives torque, after 1.5 s it does not."""
    leg = 1  # the first to home
    for closed_after in (0.1, 1.5):
        folder = tmp_path / f"{closed_after}"
        folder.mkdir()
        with Bench(folder) as bench:
            if isinstance(command, Engage):
                bench.park()
            else:
                bench.rig.request(Connect())
            watched = Watched(bench)
            bench.inject("safe_torque_off", leg, duration=closed_after)
            bench.rig.request(command)
            if closed_after < bench.config.enable_time:
                bench.until_state(State.ENGAGED if isinstance(command, Engage) else State.PARKED)
                continue
            watched.seconds(bench.config.enable_time + 0.05)
            cause = bench.machine.cause
            assert cause is not None and (cause.code, cause.leg) == (FaultCode.DRIVE_FAULT, leg)
            assert bench.in_state(State.FAULT)
            watched.seconds(closed_after + AFTER)
            assert not watched.on


@pytest.mark.parametrize("kind", ["orca", "servo"])
def test_a_drive_whose_search_ends_without_torque_is_given_none_afterwards(tmp_path: Path, kind: str) -> None:
    if kind == "orca":
        config = load_config("virtual-orca").changed(QUIET)
    else:
        shipped = (files("actuators.profiles") / "generic-servo.toml").read_text(encoding="utf-8")
        (tmp_path / "sleeper.toml").write_text(f"homing_ends_off = true\n{shipped}", encoding="utf-8")
        config = bench_config(drives={"profile": str(tmp_path / "sleeper.toml")})
    with Bench(tmp_path, config) as bench:
        bench.rig.request(Connect())
        bench.rig.request(MoveLeg(3, 2e-3, 5e-3, home=True))
        bench.until(lambda: bench.in_state(State.IDLE))
        assert bench.engine.leg_test is not None and bench.engine.leg_test.status.result is not None
        assert bench.engine.leg_test.status.result.passed
        bench.rig.request(Home())
        watched = Watched(bench)
        ended = [0] * 6
        while not bench.in_state(State.PARKED):
            watched.steps(1)
            for leg, status in enumerate(bench.engine.drives.status):
                at_end = bench.engine._homing.begun[leg] and status & (Status.HOMED | Status.ENABLED) == Status.HOMED
                ended[leg] = ended[leg] + 1 if at_end and not status & Status.HOMING else 0
                assert ended[leg] < 3 or not bench.engine.drives.asked[leg]
        assert max(ended) > 3
        watched.steps(2)
        assert not watched.again and not watched.on
