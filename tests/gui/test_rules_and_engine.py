"""What the app's controls let be done, against the engine itself: what it refuses is disabled, and nothing else."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from situations import CYCLES, SITUATIONS, Rig, ask, brought, faulty, idle, off, parked, running, slowing_down

from gui.models.rules import Action, Phase, Situation, ending, obstacle
from rig.engine import (
    Abandon,
    Connect,
    Disconnect,
    Engage,
    Follow,
    FollowStream,
    Home,
    Pace,
    Park,
    Pause,
    Reset,
    Resume,
    RigCommand,
    Shutdown,
    Snapshot,
    Stop,
)
from rig.states import State
from rig.streaming import SampleRing

RING: list[str] = []
"""name of the ring of the stream"""
COMMANDS: dict[Action, Callable[[Snapshot], list[RigCommand]]] = {
    Action.CONNECT: lambda _status: [Connect()],
    Action.HOME: lambda _status: [Home()],
    Action.ENGAGE: lambda _status: [Engage()],
    Action.PARK: lambda _status: [Park()],
    Action.RESET: lambda _status: [Reset()],
    Action.DISCONNECT: ending,
    Action.MOVE: lambda _status: [Follow("up", 1.0)],
    Action.FOLLOW: lambda _status: [FollowStream("stream", RING[0])],
    Action.PAUSE: lambda _status: [Pause()],
    Action.RESUME: lambda _status: [Resume()],
    Action.ABANDON: lambda _status: [Abandon()],
    Action.SPEED: lambda _status: [Pace(0.5)],
}
"""What the app sends for each action of a state of the engine."""


@pytest.fixture(scope="module", autouse=True)
def ring() -> Iterator[None]:
    with SampleRing.create() as made:
        RING.append(made.name)
        yield


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
            assert (reply.result().accepted, reply.result().reason) == (False, f"{kind}: {reasons[action]}"), action
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
