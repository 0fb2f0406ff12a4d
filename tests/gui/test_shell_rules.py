"""What can be done in which state, and the reasons given for what cannot."""

import numpy as np
import pytest
from shell_support import make_event, make_status

from gui.models.operate import CycleMeter, detail_of, state_style
from gui.models.rules import Action, Phase, Situation, obstacle
from gui.session.session_state import log_entry
from rig.client import EventFollower
from rig.engine import Event
from rig.findings import Code, Finding
from rig.states import State, StopSeverity
from rig.telemetry import ROW

_ALWAYS = {Action.INJECT}


@pytest.mark.parametrize("phase", list(Phase))
def test_without_an_engine_only_connecting_is_possible(phase: Phase) -> None:
    now = Situation(phase, None)
    possible = {action for action in Action if not obstacle(action, now)} - _ALWAYS
    assert possible == ({Action.CONNECT} if phase in (Phase.DOWN, Phase.DIED) else set())


def test_a_request_under_way_blocks_the_others_and_is_named() -> None:
    now = Situation(Phase.UP, make_status(State.IDLE), busy="home")
    assert obstacle(Action.HOME, now) == "home is under way"


@pytest.mark.parametrize("busy", ["", "follow 'demo'"])
def test_between_two_motions_of_a_sequence_it_can_be_paused_and_stopped(busy: str) -> None:
    now = Situation(Phase.UP, make_status(State.ENGAGED), busy=busy, following=bool(busy), moving=True)
    assert not obstacle(Action.HOLD, now) and not obstacle(Action.PAUSE, now)
    still = Situation(Phase.UP, make_status(State.ENGAGED), busy=busy)
    assert obstacle(Action.HOLD, still) and obstacle(Action.PAUSE, still)


def test_stop_motion_waits_for_no_request_and_pause_for_its_own() -> None:
    running = Situation(Phase.UP, make_status(State.RUNNING), busy="pause", moving=True)
    assert not obstacle(Action.HOLD, running)
    assert obstacle(Action.PAUSE, running) == "pause is under way"
    paused = Situation(Phase.UP, make_status(State.ENGAGED, paused=True), moving=True)
    assert obstacle(Action.PAUSE, paused) == "no motion is running"


@pytest.mark.parametrize("state", list(State))
def test_while_the_engine_does_not_answer_it_can_only_be_stopped_or_ended(state: State) -> None:
    for paused in (False, True):
        now = Situation(Phase.UP, make_status(state, paused=paused), moving=paused, silent=True)
        possible = {action for action in Action if not obstacle(action, now)} - _ALWAYS
        stops = {Action.HOLD} if paused or state is State.RUNNING else set()
        heard = Situation(Phase.UP, make_status(state, paused=paused))
        assert possible == stops | ({Action.DISCONNECT} if not obstacle(Action.DISCONNECT, heard) else set())
        assert obstacle(Action.PARK, now) == obstacle(Action.RESUME, now) == "the engine does not answer"


def test_reasons_name_what_is_lacking() -> None:
    paused = Situation(Phase.UP, make_status(State.ENGAGED, paused=True, motion="demo"))
    assert obstacle(Action.MOVE, paused) == "'demo' is paused: resume it, abandon it, or park"
    assert not obstacle(Action.RESUME, paused) and not obstacle(Action.ABANDON, paused)
    unhomed = Situation(Phase.UP, make_status(State.PARKED, homed=False))
    assert "not homed" in obstacle(Action.ENGAGE, unhomed)
    full = Situation(Phase.UP, make_status(State.PARKED, recording_fault="disk full"))
    assert obstacle(Action.ENGAGE, full) == "nothing is being recorded: disk full"
    real = Situation(Phase.UP, make_status(State.PARKED), virtual=False)
    assert "virtual rig only" in obstacle(Action.INJECT, real)
    running = Situation(Phase.UP, make_status(State.RUNNING), recording="a.mcap")
    assert "park or stop first" in obstacle(Action.REPORT, running)


def test_the_first_cause_is_told_in_words() -> None:
    status = make_status(State.FAULT, finding=Finding(Code.FORCE_RESIDUAL, 3, 31.0, 20.0), cause_t=4.2, latched=True)
    now = Situation(Phase.UP, status)
    assert state_style(now).text == "Fault"
    cause = "Force residual: leg 3: measured force is +31.0 N off the model (bound 20 N), at 4.200 s."
    assert detail_of(now) == f"{cause} Next: fix the cause, then Reset fault."
    stopping = make_status(State.STOPPING, stop=StopSeverity.CATEGORY_1, cause="operator's stop", cause_t=1.0)
    assert detail_of(Situation(Phase.UP, stopping)).startswith("Category 1: decelerate, brakes on, torque off")


def test_that_nothing_is_recorded_is_told_before_any_next_step() -> None:
    said = "Nothing is being recorded: the recorder is gone. Next: "
    for changes in ({}, {"paused": True, "motion": "demo"}):
        engaged = make_status(State.ENGAGED, recording_fault="the recorder is gone", **changes)
        assert detail_of(Situation(Phase.UP, engaged)) == f"{said}Park, Disconnect, Connect."
    parked = make_status(State.PARKED, recording_fault="the recorder is gone")
    assert detail_of(Situation(Phase.UP, parked, armed=True)) == f"{said}Disconnect, Connect."
    worse = make_status(State.FAULT, recording_fault="the recorder is gone", cause="leg 3: jam", latched=True)
    assert detail_of(Situation(Phase.UP, worse)).startswith("Leg 3: jam")
    assert "does not answer" in detail_of(Situation(Phase.UP, parked, silent=True))


def test_held_for_a_fault_the_way_out_is_told() -> None:
    """The engine holds for as long as nobody takes the torque off."""
    held = make_status(State.STOPPING, stop=StopSeverity.CATEGORY_2, cause="cell 4 is dead", latched=True)
    now = Situation(Phase.UP, held)
    assert detail_of(now).endswith("Next: STOP, which takes the torque off, then Reset fault.")
    for action in (Action.RESET, Action.PARK, Action.MOVE):
        assert obstacle(action, now) == "held after a fault: press STOP, then reset"


def test_a_platform_stopped_away_from_home_is_not_called_parked() -> None:
    away, home = (Situation(Phase.UP, make_status(State.PARKED, from_home=m)) for m in (0.0321, 2e-4))
    assert state_style(away).text == "Parked" and "32 mm from home" in detail_of(away)
    assert state_style(home).text == "Parked"
    assert obstacle(Action.PARK, away) == "engage first" and obstacle(Action.PARK, home) == "the platform is parked"


def test_states_differ_in_text_shape_and_not_in_colour_alone() -> None:
    looks = [state_style(Situation(Phase.UP, make_status(state))) for state in State]
    assert len({look.text for look in looks}) == len({look.icon for look in looks}) == len(looks)


def test_events_are_told_apart_from_those_seen_before() -> None:
    follower = EventFollower()
    first = [make_event("one", 1.0), make_event("two", 2.0)]
    assert [event.text for event in follower.new(first)] == ["one", "two"]
    assert follower.new(first) == []
    assert [event.text for event in follower.new([first[1], make_event("two", 3.0)])] == ["two"]
    assert [log_entry(event).code for event in follower.new([make_event(Finding(Code.OVERRUNS, 0, 3, 2), 4.0)])] == [
        "OVERRUN"
    ]


def test_an_event_whose_value_is_no_number_is_told_once() -> None:
    """Such values come from the link anew with each status, and are equal to nothing."""

    def said() -> list[Event]:
        return [make_event(Finding(Code.STREAM_ENDED, 0, float("nan"), details={"stream": "s"}), 5.0)]

    follower = EventFollower()
    assert len(follower.new(said())) == 1
    assert follower.new(said()) == []


def test_the_meter_measures_rate_and_spread() -> None:
    meter = CycleMeter(0.002)
    assert meter.figures() is None
    rows = np.zeros(501, ROW)
    rows["t"] = np.arange(501) * 0.002
    rows["period"] = 0.002
    rows["period"][::50] = 0.0021
    meter.add(rows)
    figures = meter.figures()
    assert figures is not None
    assert figures.rate == pytest.approx(500.0)
    assert figures.spread == pytest.approx(1e-4)
