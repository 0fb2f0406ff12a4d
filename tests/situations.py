"""Situations that a lockstep rig can be brought to, in which what may be asked for is tried on the engine."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from checkpoints import go

from rig.client import Interruption
from rig.client.lockstep import LockstepRig
from rig.client.motions import checked_move
from rig.config.rig_config import load_config
from rig.engine import (
    Connect,
    Engage,
    Follow,
    Home,
    MoveLeg,
    Park,
    Pause,
    Reply,
    Reset,
    RigCommand,
    Stop,
    Submission,
)
from rig.states import State

CONTROL = {"stiffness": 1e3, "damping": 60.0}
CONFIG = load_config("virtual").changed(
    {"rate": 50.0, "control": CONTROL, "drives": {"watchdog": 0.2}, "stream": {"delay": 0.2}}
)
SPEED, TURN = 0.02, 0.2  # m/s, rad/s
CYCLES = 2000  # by when every state is reached

Rig = LockstepRig
Situation = Callable[[Rig], None]


def until(rig: Rig, *states: State) -> None:
    for _ in range(CYCLES):
        if rig.status().state in states:
            return
        rig.step()
    raise AssertionError(f"{rig.status().state.name} is none of {states}")


def steps(rig: Rig, count: int) -> None:
    for _ in range(count):
        rig.step()


def up(rig: Rig, distance: float = 2e-3) -> tuple[Follow, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
    here = np.array(rig.status().reference)
    there = here.copy()
    there[2] += distance
    table = checked_move(rig.config, here, there, SPEED, TURN)
    return Follow("up", table.step), table.samples


def off(rig: Rig) -> None:
    rig.step()


def idle(rig: Rig) -> None:
    rig.request(Connect())
    rig.step()


def a_leg_alone(rig: Rig) -> None:
    idle(rig)
    rig.request(MoveLeg(2, 2e-3, 5e-3, home=True))
    steps(rig, 3)


def homing(rig: Rig) -> None:
    idle(rig)
    rig.request(Home())
    steps(rig, 3)


def parked_just_now(rig: Rig) -> None:
    homing(rig)
    until(rig, State.PARKED)


def parked(rig: Rig) -> None:
    def walk() -> None:
        parked_just_now(rig)
        steps(rig, 25)

    go(rig, rig, ("parked",), walk)


def parked_unrecorded(rig: Rig) -> None:
    parked(rig)
    rig.sink.fault = "the disk is full"
    rig.step()


def parked_with_a_shifted_cell(rig: Rig) -> None:
    parked(rig)
    rig.virtual.faults.inject("cell_offset", 4, 8.0)
    steps(rig, 100)


def parked_with_a_late_reply(rig: Rig) -> None:
    parked(rig)
    rig.virtual.faults.inject("drop_write", 3)
    rig.step()


def engaging(rig: Rig) -> None:
    parked(rig)
    rig.request(Engage())


def engaged(rig: Rig) -> None:
    def walk() -> None:
        engaging(rig)
        until(rig, State.ENGAGED)

    go(rig, rig, ("engaged",), walk)


def engaged_unrecorded(rig: Rig) -> None:
    engaged(rig)
    rig.sink.fault = "the disk is full"
    rig.step()


def running(rig: Rig) -> None:
    engaged(rig)
    rig.request(*up(rig, 0.01))
    steps(rig, 10)


def slowing_down(rig: Rig) -> None:
    running(rig)
    rig.request(Pause())
    rig.step()


def paused(rig: Rig) -> None:
    slowing_down(rig)
    until(rig, State.ENGAGED)


def paused_unrecorded(rig: Rig) -> None:
    paused(rig)
    rig.sink.fault = "the disk is full"
    rig.step()


def parking(rig: Rig) -> None:
    paused(rig)
    rig.request(Park())
    rig.step()


def stopping(rig: Rig) -> None:
    running(rig)
    rig.request(Stop(1))
    rig.step()


def held_for_a_fault(rig: Rig) -> None:
    engaged(rig)
    rig.virtual.faults.inject("cell_nan", 6)
    until(rig, State.STOPPING)
    steps(rig, 50)
    assert rig.status().held_for_fault


def faulty(rig: Rig) -> None:
    engaged(rig)
    rig.virtual.faults.inject("force_step", None, 2000.0)
    until(rig, State.FAULT)
    rig.virtual.faults.clear()
    steps(rig, 10)


def being_reset(rig: Rig) -> None:
    faulty(rig)
    rig.operator.submit(Submission(Reset(), None, Future()))
    rig.step()


def unhomed(rig: Rig) -> None:
    """Without a word of its drives' references, as after one of them restarted."""
    parked(rig)
    rig.engine.machine.homed = False
    rig.step()


SITUATIONS = (
    off, idle, a_leg_alone, homing, parked_just_now, parked, parked_unrecorded, parked_with_a_shifted_cell,
    parked_with_a_late_reply, unhomed, engaging, engaged, engaged_unrecorded, running, slowing_down, paused,
    paused_unrecorded, parking, stopping, held_for_a_fault, faulty, being_reset,
)  # fmt: skip


@contextmanager
def brought(folder: Path, situation: Callable[[Rig], None]) -> Iterator[Rig]:
    own = folder / str(len(list(folder.iterdir())))
    own.mkdir()
    with LockstepRig(CONFIG, own / "run.mcap", Interruption()) as rig:
        situation(rig)
        yield rig


def ask(rig: Rig, command: RigCommand) -> Future[Reply]:
    reply: Future[Reply] = Future()
    samples = up(rig)[1] if isinstance(command, Follow) else None
    rig.operator.submit(Submission(command, samples, reply))
    return reply
