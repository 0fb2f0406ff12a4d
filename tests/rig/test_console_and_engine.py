"""What the console says is not possible now, against the engine itself: in its words, and nothing is sent for it."""

from pathlib import Path
from typing import Any

import pytest
from situations import CYCLES, SITUATIONS, Rig, Situation, ask, brought, parked_just_now

from rig.cli.console import Console
from rig.client import Interruption
from rig.engine import (
    Abandon,
    Connect,
    Disconnect,
    Engage,
    Follow,
    Home,
    Pace,
    Park,
    Pause,
    Reset,
    Resume,
    RigCommand,
)
from rig.errors import RefusedError
from rig.states import State

FOLLOW = Follow("up", 1.0)
TYPED: dict[str, RigCommand] = {
    "connect": Connect(),
    "home": Home(),
    "engage": Engage(),
    "park": Park(),
    "disconnect": Disconnect(),
    "reset": Reset(),
    "go home": FOLLOW,
    "jog z 1mm": FOLLOW,
    "hold z + --for 1s": FOLLOW,
    "run demo --amplitude 0.1": FOLLOW,
    "start demo --amplitude 0.1": FOLLOW,
    "pause": Pause(),
    "resume": Resume(),
    "abandon": Abandon(),
    "speed 40": Pace(0.4),
}
"""What can be typed, and the command that the engine is sent for it."""


class SentError(Exception):
    """A command that the console has sent; it goes no further."""


def typed(rig: Rig, line: str, monkeypatch: pytest.MonkeyPatch) -> RigCommand | str:
    """The command that is sent for a line, or why none is."""

    def request(command: RigCommand, _samples: Any = None) -> None:
        raise SentError(command)

    with monkeypatch.context() as patch:
        patch.setattr(rig, "request", request)
        try:
            Console(rig, Interruption(), terminal=False)._carry_out(line)
        except SentError as sent:
            (command,) = sent.args
            assert isinstance(command, RigCommand)
            return command
        except RefusedError as error:
            return str(error)
    raise AssertionError(f"{line}: neither sent nor refused")


def answered(rig: Rig, command: RigCommand) -> str:
    """Why the engine refuses a command, empty where it does not."""
    reply = ask(rig, command)
    for _ in range(CYCLES):
        if reply.done():
            break
        rig.step()
    return reply.result(0).reason


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.__name__)
def test_what_the_engine_refuses_is_said_before_it_is_sent_and_all_else_is_sent(
    tmp_path: Path, situation: Situation, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: dict[str, str] = {}
    with brought(tmp_path, situation) as rig:
        for line, command in TYPED.items():
            if situation is parked_just_now and line == "engage":  # it waits for what passes
                continue
            said = typed(rig, line, monkeypatch)
            if isinstance(said, str):
                refused[line] = said
            else:
                assert type(said) is type(command), line
        replies = {line: ask(rig, TYPED[line]) for line in refused}
        rig.step()
        assert {line: reply.result(0).reason for line, reply in replies.items()} == refused
    for command in {type(command): command for line, command in TYPED.items() if line not in refused}.values():
        with brought(tmp_path, situation) as rig:
            if situation is not parked_just_now or command != Engage():
                assert answered(rig, command) == "", command


def test_a_platform_that_was_parked_just_now_is_let_stand_before_it_is_engaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with brought(tmp_path, parked_just_now) as rig:
        assert answered(rig, Engage()) != ""
        assert typed(rig, "engage", monkeypatch) == Engage()
        assert rig.status().state is State.PARKED and rig.status().settled >= 0.5
