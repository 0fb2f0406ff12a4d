"""The guards, one by one: what stands against a command in a snapshot in which that alone is amiss."""

from dataclasses import replace
from typing import Any

import pytest

from rig.engine import (
    Abandon,
    Connect,
    Disconnect,
    Engage,
    Follow,
    Home,
    IoReport,
    MoveLeg,
    Pace,
    Park,
    Pause,
    Reset,
    Resume,
    RigCommand,
    Shutdown,
    Snapshot,
    Stop,
    Unproven,
    obstacle,
)
from rig.findings import Code, Finding
from rig.safety import TORQUE_STATES
from rig.states import State, StopSeverity

FOLLOW = Follow("up", 1.0)
MOVE_LEG = MoveLeg(3, 2e-3, 5e-3)
ALLOWED: list[tuple[RigCommand, State, dict[str, Any]]] = [
    (Connect(), State.OFF, {}),
    (Disconnect(), State.IDLE, {}),
    (Disconnect(), State.PARKED, {}),
    (Home(), State.IDLE, {"homed": False, "pose_known": False}),
    (Home(unproven=True), State.IDLE, {"unproven": Unproven((1, 2), Finding.of_text("legs 1, 2 are not proven"))}),
    (MOVE_LEG, State.IDLE, {"homed": False, "pose_known": False, "dead_cells": ("leg 3",)}),
    (Engage(), State.PARKED, {}),
    (FOLLOW, State.ENGAGED, {}),
    (Pause(), State.RUNNING, {}),
    (Resume(), State.ENGAGED, {"paused": True}),
    (Resume(), State.RUNNING, {"slowing": True}),
    (Abandon(), State.ENGAGED, {"paused": True}),
    (Park(), State.ENGAGED, {}),
    (Park(), State.ENGAGED, {"paused": True}),
    *((Pace(0.5), state, {}) for state in State),
    (Reset(), State.FAULT, {"latched": True}),
    *((Shutdown(), state, {}) for state in State if state not in TORQUE_STATES),
    *((Stop(category), state, {}) for state in State for category in (0, 1, 2)),
]
SILENT = {"silent": (2, 5)}
FULL = {"recording_fault": "the disk is full"}
TORQUE = {"torque": (3,)}
OPEN = {"io": IoReport((("emergency_stop", False),), (), (Finding(Code.EMERGENCY_STOP_OPEN),))}
UNKNOWN = {"io": IoReport((("emergency_stop", None),), (), (Finding(Code.IO_UNKNOWN),))}
UNPROVEN = {"unproven": Unproven((4,), Finding.of_text("leg 4: no test is on record"))}
WITHOUT_FEEDBACK = "no fresh feedback of leg 2, 5"
UNRECORDED = "nothing is being recorded: the disk is full"
STILL_TORQUE = "leg 3: the drive still has torque"
AMISS: list[tuple[RigCommand, State, dict[str, Any], str, bool]] = [
    (Disconnect(), State.IDLE, TORQUE, STILL_TORQUE, True),
    (Disconnect(), State.PARKED, TORQUE, STILL_TORQUE, True),
    (Home(), State.IDLE, UNPROVEN, "leg 4: no test is on record; test each of these legs", False),
    *((Shutdown(), state, {"powered": (3,)}, STILL_TORQUE, True) for state in State if state not in TORQUE_STATES),
    *(
        (command, state, io, text, io is UNKNOWN)
        for command, state in ((Home(), State.IDLE), (MOVE_LEG, State.IDLE), (Engage(), State.PARKED))
        for io, text in ((OPEN, "the emergency stop's chain is open"), (UNKNOWN, "the inputs are not known"))
    ),
    (Home(), State.IDLE, SILENT, WITHOUT_FEEDBACK, True),
    (Home(), State.IDLE, FULL, UNRECORDED, False),
    (Home(), State.IDLE, {"cells_silence": ""}, "no fresh reading of the load cells", True),
    (Home(), State.IDLE, {"dead_cells": ("leg 4 reads nothing", "leg 5")}, "leg 4 reads nothing; leg 5", False),
    (Home(), State.IDLE, TORQUE, STILL_TORQUE, False),
    (MOVE_LEG, State.IDLE, SILENT, WITHOUT_FEEDBACK, True),
    (MOVE_LEG, State.IDLE, FULL, UNRECORDED, False),
    (MOVE_LEG, State.IDLE, TORQUE, STILL_TORQUE, False),
    (
        Engage(),
        State.PARKED,
        {"homed": False},
        "is not homed any more: disconnect, connect and home",
        False,
    ),
    (Engage(), State.PARKED, {"pose_known": False}, "pose is not known: disconnect, connect and home", False),
    (Engage(), State.PARKED, {"loop": "it is unstable"}, "it is unstable", False),
    (Home(), State.IDLE, {"lines": "the line a is slow"}, "the line a is slow", False),
    (MoveLeg(1, 2e-3, 5e-3), State.IDLE, {"lines": "the line a is slow"}, "the line a is slow", False),
    (Engage(), State.PARKED, SILENT, WITHOUT_FEEDBACK, True),
    (Engage(), State.PARKED, FULL, UNRECORDED, False),
    (Engage(), State.PARKED, {"cells_silence": "it stands"}, "no fresh reading of the load cells: it stands", True),
    (Engage(), State.PARKED, {"dead_cells": ("leg 4 reads nothing", "leg 5")}, "leg 4 reads nothing; leg 5", False),
    (Engage(), State.PARKED, {"settled": 0.1}, "zero is not judged yet, 0.2 s at rest are needed", False),
    (Engage(), State.PARKED, {"tare_residual": (0, 0, -9.0, 0, 0, 0), "tare_bound": 5.0}, "leg 3 is -9.0 N off", False),
    (Engage(), State.PARKED, TORQUE, STILL_TORQUE, False),
    (FOLLOW, State.ENGAGED, {"paused": True}, "'demo' is paused: resume it, abandon it, or park", False),
    (FOLLOW, State.ENGAGED, SILENT, WITHOUT_FEEDBACK, True),
    (FOLLOW, State.ENGAGED, FULL, UNRECORDED, False),
    (Resume(), State.ENGAGED, {}, "nothing is paused", False),
    (Resume(), State.RUNNING, {}, "nothing is paused", False),
    (Resume(), State.ENGAGED, {"paused": True} | SILENT, WITHOUT_FEEDBACK, True),
    (Resume(), State.ENGAGED, {"paused": True} | FULL, UNRECORDED, False),
    (Abandon(), State.ENGAGED, {}, "nothing is paused", False),
    (Abandon(), State.RUNNING, {}, "'demo' is running: pause it first", False),
    (Reset(), State.FAULT, {"clearing": True}, "a reset is under way", False),
    (Reset(), State.STOPPING, {"latched": True, "stop": StopSeverity.CATEGORY_2}, "press STOP, then reset", False),
]


def snapshot(state: State, **changes: Any) -> Snapshot:
    """An engine without trouble."""
    made = Snapshot(
        state=state,
        stop=StopSeverity.NONE,
        t=1.0,
        finding=None,
        cause_t=0.0,
        latched=False,
        homed=True,
        paused=False,
        lease="",
        motion="demo",
        path_time=0.0,
        path_duration=0.0,
        reference=(0.0,) * 7,
        cycles=500,
        overruns=0,
        rate=500.0,
        virtual=True,
        realtime=(),
        recording="",
        rows=500,
        dropped=0,
        recording_fault="",
        ring="",
    )
    return replace(made, **changes)


@pytest.mark.parametrize(("command", "state", "changes"), ALLOWED)
def test_nothing_stands_against_what_is_in_order(command: RigCommand, state: State, changes: dict[str, Any]) -> None:
    assert obstacle(command, snapshot(state, **changes)) is None


@pytest.mark.parametrize("command", {type(command): command for command, *_ in ALLOWED}.values())
def test_every_other_state_stands_against_a_command(command: RigCommand) -> None:
    for state in State:
        if not any(type(one) is type(command) and allowed is state for one, allowed, _ in ALLOWED):
            for paused in (False, True):
                found = obstacle(command, snapshot(state, paused=paused))
                assert found is not None and found.text and not found.passing, state


@pytest.mark.parametrize(("command", "state", "changes", "text", "passing"), AMISS)
def test_what_is_amiss_stands_against_a_command(
    command: RigCommand, state: State, changes: dict[str, Any], text: str, passing: bool
) -> None:
    found = obstacle(command, snapshot(state, **changes))
    assert found is not None and text in found.text and found.passing is passing


def test_what_a_command_does_not_need_does_not_stand_against_it() -> None:
    """A rig that cannot record, or misses a reply, is still parked, paused, stopped and left."""
    troubled = SILENT | FULL | {"dead_cells": ("leg 1",), "cells_silence": "", "homed": False, "loop": "unstable"}
    for command, state in ((Park(), State.ENGAGED), (Pause(), State.RUNNING), (Shutdown(), State.PARKED)):
        assert obstacle(command, snapshot(state, **troubled)) is None
    assert obstacle(Disconnect(), snapshot(State.PARKED, **troubled)) is None
    assert obstacle(Abandon(), snapshot(State.ENGAGED, **troubled | {"paused": True})) is None
