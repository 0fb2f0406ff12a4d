"""What the app's controls let be done, against the engine itself: what it refuses is disabled, and nothing else."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from gui.session.rules import Action, Phase, Situation, ending, obstacle
from rig.client import Interruption
from rig.client.lockstep import LockstepRig
from rig.client.motions import checked_move
from rig.config.rig_config import load_config
from rig.engine import (
    Abandon,
    Connect,
    Disconnect,
    Engage,
    Follow,
    Home,
    MoveLeg,
    Park,
    Pause,
    Reply,
    Reset,
    Resume,
    RigCommand,
    Shutdown,
    Snapshot,
    Stop,
    Submission,
)
from rig.states import State

CONTROL = {"stiffness": 1e3, "damping": 60.0}
CONFIG = load_config("virtual").changed({"rate": 50.0, "control": CONTROL, "drives": {"watchdog": 0.2}})
SPEED, TURN = 0.02, 0.2  # m/s, rad/s
CYCLES = 2000  # by when every state is reached

Rig = LockstepRig
COMMANDS: dict[Action, Callable[[Snapshot], list[RigCommand]]] = {
    Action.CONNECT: lambda _status: [Connect()],
    Action.HOME: lambda _status: [Home()],
    Action.ENGAGE: lambda _status: [Engage()],
    Action.PARK: lambda _status: [Park()],
    Action.RESET: lambda _status: [Reset()],
    Action.DISCONNECT: ending,
    Action.MOVE: lambda _status: [Follow("up", 1.0)],
    Action.PAUSE: lambda _status: [Pause()],
    Action.RESUME: lambda _status: [Resume()],
    Action.ABANDON: lambda _status: [Abandon()],
}
"""What the app sends for each action of a state of the engine."""


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
    parked_just_now(rig)
    steps(rig, 25)


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
    engaging(rig)
    until(rig, State.ENGAGED)


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
    with LockstepRig(CONFIG, folder / f"{len(list(folder.iterdir()))}.mcap", Interruption()) as rig:
        situation(rig)
        yield rig


def ask(rig: Rig, command: RigCommand) -> Future[Reply]:
    reply: Future[Reply] = Future()
    samples = up(rig)[1] if isinstance(command, Follow) else None
    rig.operator.submit(Submission(command, samples, reply))
    return reply


def test_every_state_is_among_the_situations(tmp_path: Path) -> None:
    seen = set()
    for situation in SITUATIONS:
        with brought(tmp_path, situation) as rig:
            seen.add(rig.status().state)
    assert seen == set(State)
    assert set(COMMANDS) == set(Action) - {Action.HOLD, Action.INJECT, Action.REPORT}  # a stop is never refused


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.__name__)
def test_what_the_engine_refuses_is_disabled_for_its_reason_and_all_else_is_enabled(
    tmp_path: Path, situation: Callable[[Rig], None]
) -> None:
    with brought(tmp_path, situation) as rig:
        now = Situation(Phase.UP, rig.status())
        assert now.status is not None
        reasons = {action: obstacle(action, now) for action in COMMANDS}
        disabled = [action for action, reason in reasons.items() if reason]
        replies = {action: ask(rig, COMMANDS[action](now.status)[0]) for action in disabled}
        rig.step()
        for action, reply in replies.items():
            kind = COMMANDS[action](now.status)[0].kind
            assert reply.done(), action
            assert reply.result() == Reply(False, f"{kind}: {reasons[action]}"), action
    for action in reasons.keys() - replies.keys():
        with brought(tmp_path, situation) as rig:
            for command in COMMANDS[action](rig.status()):
                reply = ask(rig, command)
                for _ in range(CYCLES):
                    if reply.done():
                        break
                    rig.step()
                assert reply.result(0).accepted, (action, reply.result(0).reason)


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.__name__)
def test_a_motion_under_way_can_be_stopped_and_the_engine_takes_it(
    tmp_path: Path, situation: Callable[[Rig], None]
) -> None:
    with brought(tmp_path, situation) as rig:
        now = Situation(Phase.UP, rig.status())
        assert (obstacle(Action.HOLD, now) == "") == (situation in (running, slowing_down))
        reply = ask(rig, Stop(2))
        rig.step()
        assert reply.result(0).accepted


def test_only_an_engine_without_torque_is_ended(tmp_path: Path) -> None:
    for situation in (off, idle, parked, faulty):
        with brought(tmp_path, situation) as rig:
            assert ending(rig.status())[-1] == Shutdown()
            assert (Disconnect() in ending(rig.status())) == (situation in (idle, parked))
