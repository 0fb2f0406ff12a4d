"""The state machine: which state follows which, how stops rise, which cause is kept."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rig.findings import Code, Finding
from rig.safety.machine import LAW_STATES, LEGS, TORQUE_STATES, Cause, Conditions, Deadlines, StateMachine
from rig.states import FaultCode, State, StopSeverity

DEADLINES = Deadlines(homing=30.0, stop=1.0)
QUIET = Conditions(t=0.0, torque=LEGS, standstill=True, moving=False)
BUSY = QUIET._replace(standstill=False, moving=True)
OFF = QUIET._replace(torque=())
STOPS = tuple(StopSeverity)[1:]


def machine(state: State, *, homed: bool = True, t: float = 0.0) -> StateMachine:
    made = StateMachine(DEADLINES)
    made.homed = homed
    made.enter(state, t)
    return made


def of_fault(fault: FaultCode, leg: int = 0) -> Finding:
    """A finding of some code that is this kind of fault."""
    return next((Finding(code, leg) for code in Code if code.fault is fault), Finding(Code.MESSAGE))


def cause(code: FaultCode = FaultCode.FOLLOWING_ERROR) -> Cause:
    return Cause(of_fault(code, 3), 1.0)


def test_states_that_may_carry_torque() -> None:
    assert set(State) - {State.OFF, State.IDLE, State.PARKED, State.FAULT} == TORQUE_STATES
    assert TORQUE_STATES - {State.HOMING} == LAW_STATES


@pytest.mark.parametrize("category", STOPS)
@pytest.mark.parametrize("state", [State.IDLE, State.PARKED])
def test_a_latched_cause_without_torque_is_a_fault_at_once(state: State, category: StopSeverity) -> None:
    rig = machine(state)
    assert rig.trip(cause(), category)
    assert (rig.state, rig.latched, rig.cause) == (State.FAULT, True, cause())


@pytest.mark.parametrize("category", STOPS)
@pytest.mark.parametrize("state", [State.IDLE, State.PARKED, State.FAULT, State.OFF])
def test_an_operators_stop_without_torque_changes_nothing(state: State, category: StopSeverity) -> None:
    rig = machine(state)
    assert not rig.trip(cause(FaultCode.OPERATOR_STOP), category, latch=False)
    assert (rig.state, rig.stop, rig.latched, rig.cause) == (state, StopSeverity.NONE, False, None)


def test_nothing_trips_a_rig_that_is_off() -> None:
    rig = machine(State.OFF)
    assert not rig.trip(cause(), StopSeverity.CATEGORY_0)
    assert rig.cause is None and not rig.latched


@pytest.mark.parametrize("state", sorted(LAW_STATES - {State.STOPPING}))
@pytest.mark.parametrize(("first", "second"), list(itertools.product(STOPS, STOPS)))
def test_severity_only_rises_and_the_first_latched_cause_is_kept(
    state: State, first: StopSeverity, second: StopSeverity
) -> None:
    rig = machine(state)
    assert rig.trip(cause(), first)
    rig.trip(Cause(Finding(Code.DRIVE_FAULT), 2.0), second)
    least = {State.ENGAGING: StopSeverity.CATEGORY_1, State.SINGLE_LEG: StopSeverity.QUICK_STOP}
    assert (rig.state, rig.stop, rig.cause) == (
        State.STOPPING,
        max(first, second, least.get(state, StopSeverity.CATEGORY_2)),
        cause(),
    )


def test_a_fault_during_an_operators_stop_is_the_cause() -> None:
    rig = machine(State.RUNNING)
    rig.trip(Cause(Finding(Code.OPERATOR_STOP), 0.5), StopSeverity.CATEGORY_1, latch=False)
    assert rig.cause is not None and rig.cause.code is FaultCode.OPERATOR_STOP and not rig.latched
    assert rig.trip(cause(), StopSeverity.CATEGORY_2)
    assert (rig.cause, rig.latched, rig.stop) == (cause(), True, StopSeverity.CATEGORY_1)


@pytest.mark.parametrize("category", STOPS)
def test_while_homing_only_the_drives_can_decelerate(category: StopSeverity) -> None:
    rig = machine(State.HOMING, homed=False)
    rig.trip(cause(), category)
    assert rig.stop is (StopSeverity.CATEGORY_0 if category is StopSeverity.CATEGORY_0 else StopSeverity.QUICK_STOP)


def test_homing_that_takes_too_long_is_reported() -> None:
    rig = machine(State.HOMING, homed=False)
    assert rig.update(BUSY._replace(t=30.0)) is None
    overdue = rig.update(BUSY._replace(t=30.1))
    assert overdue is not None and overdue.code is FaultCode.HOMING_FAILED and "30 s" in overdue.text
    named = machine(State.HOMING, homed=False).update(BUSY._replace(t=30.1, missing=[2, 3], unsought=[3]))
    said = "homing did not end within 30 s: no reference found by legs 2, 3. Drive 3 reports a reference but was not "
    assert named is not None and named.text.startswith(said)


def test_engaging_ends_when_every_drive_has_torque_and_stands_still() -> None:
    rig = machine(State.ENGAGING)
    for t, now in ((0.1, OFF), (0.2, QUIET), (0.3, BUSY), (0.35, QUIET), (0.5, QUIET)):
        assert rig.update(now._replace(t=t)) is None
        assert rig.state is State.ENGAGING
    rig.update(QUIET._replace(t=0.56))
    assert rig.state is State.ENGAGED


def test_what_stands_still_without_torque_is_neither_engaged_nor_stopped_with_it() -> None:
    engaging = machine(State.ENGAGING)
    for t in (0.1, 0.5, 1.0):
        engaging.update(QUIET._replace(torque=(1, 2, 3, 4, 5), t=t))
        assert engaging.state is State.ENGAGING
    stopping = machine(State.RUNNING)
    stopping.trip(cause(), StopSeverity.QUICK_STOP)
    for t in (1.1, 1.3, 1.5):
        stopping.update(QUIET._replace(torque=(4,), t=t))
        assert stopping.state is State.STOPPING
    for t in (1.6, 1.81):
        stopping.update(OFF._replace(t=t))
    assert stopping.state is State.FAULT


def test_a_platform_that_does_not_come_to_rest_while_engaging_is_reported() -> None:
    rig = machine(State.ENGAGING)
    assert rig.update(BUSY._replace(t=2.1)) is None
    overdue = rig.update(BUSY._replace(t=2.3))
    assert overdue is not None and overdue.code is FaultCode.DRIVE_FAULT and "come to rest within 2 s" in overdue.text


def test_running_ends_with_its_motion_and_parking_at_rest() -> None:
    rig = machine(State.RUNNING)
    rig.update(BUSY._replace(t=1.0))
    assert rig.state is State.RUNNING
    rig.update(QUIET._replace(t=1.1))
    assert rig.state is State.ENGAGED and rig.dwell(1.5) == pytest.approx(0.4)
    rig.enter(State.PARKING, 2.0)
    rig.update(BUSY._replace(t=2.1))
    rig.update(QUIET._replace(t=2.2))
    assert rig.state is State.PARKING
    rig.update(QUIET._replace(t=2.41))
    assert rig.state is State.PARKED


def test_category_2_holds_under_power() -> None:
    rig = machine(State.RUNNING)
    rig.trip(cause(FaultCode.CLIENT_LOST), StopSeverity.CATEGORY_2, latch=False)
    rig.update(BUSY._replace(t=1.5))
    assert rig.state is State.STOPPING
    rig.update(QUIET._replace(t=1.6))
    assert (rig.state, rig.stop, rig.cause) == (State.ENGAGED, StopSeverity.NONE, None)


def test_a_latched_category_2_stop_holds_for_as_long_as_it_takes() -> None:
    rig = machine(State.RUNNING)
    rig.trip(cause(), StopSeverity.CATEGORY_2)
    rig.update(QUIET._replace(t=1.5))
    for t in (2.5, 1000.0):
        assert rig.update(QUIET._replace(t=t)) is None
        assert rig.update(QUIET._replace(t=t + 0.1, standstill=False)) is None  # a trembling leg is not a late stop
        assert (rig.state, rig.stop) == (State.STOPPING, StopSeverity.CATEGORY_2)
    rig.trip(Cause(Finding(Code.OPERATOR_STOP), 1001.0), StopSeverity.CATEGORY_1, latch=False)
    assert rig.update(BUSY._replace(t=1001.5)) is None  # its time begins with itself
    rig.update(QUIET._replace(t=1001.6))
    assert (rig.state, rig.cause) == (State.FAULT, cause())


@pytest.mark.parametrize("category", [StopSeverity.CATEGORY_2, StopSeverity.CATEGORY_1, StopSeverity.QUICK_STOP])
def test_every_stop_that_is_late_says_so(category: StopSeverity) -> None:
    rig = machine(State.RUNNING)
    rig.trip(cause(), category)  # at 1 s
    assert rig.update(BUSY._replace(t=1.9)) is None
    overdue = rig.update(BUSY._replace(t=2.1))
    assert overdue is not None and overdue.code is FaultCode.STOP_OVERDUE and "1 s" in overdue.text


def test_category_1_ends_without_torque() -> None:
    for homed, latched, after in ((True, False, State.PARKED), (False, False, State.IDLE), (True, True, State.FAULT)):
        rig = machine(State.RUNNING, homed=homed)
        rig.trip(cause(), StopSeverity.CATEGORY_1, latch=latched)
        rig.update(BUSY._replace(t=1.2))
        assert rig.state is State.STOPPING
        rig.update(QUIET._replace(t=1.3))
        assert rig.state is after


def test_the_drives_quick_stop_ends_when_they_are_off_and_stand_still() -> None:
    rig = machine(State.RUNNING)
    rig.trip(cause(), StopSeverity.QUICK_STOP)
    for t, now in ((1.1, QUIET), (1.2, OFF), (1.3, OFF)):
        rig.update(now._replace(t=t))
        assert rig.state is State.STOPPING
    rig.update(OFF._replace(t=1.41))
    assert rig.state is State.FAULT


def test_category_0_ends_when_the_drives_are_off() -> None:
    rig = machine(State.RUNNING)
    rig.trip(cause(), StopSeverity.CATEGORY_0)
    rig.update(BUSY._replace(t=1.1))
    assert rig.state is State.STOPPING
    rig.update(OFF._replace(t=1.2, standstill=False))
    assert rig.state is State.FAULT


def test_a_drive_that_keeps_its_torque_is_a_fault_even_after_an_operators_stop() -> None:
    rig = machine(State.RUNNING)
    rig.trip(cause(FaultCode.OPERATOR_STOP), StopSeverity.CATEGORY_0, latch=False)
    assert rig.update(BUSY._replace(t=1.4)) is None
    overdue = rig.update(BUSY._replace(t=1.6))
    assert overdue is not None and overdue.code is FaultCode.STOP_OVERDUE
    assert rig.trip(overdue, StopSeverity.CATEGORY_0)
    assert rig.update(BUSY._replace(t=1.7)) is None
    assert (rig.state, rig.cause) == (State.FAULT, overdue)


def test_only_a_reset_leaves_a_fault() -> None:
    rig = machine(State.PARKED)
    rig.trip(cause(), StopSeverity.CATEGORY_0)
    for t, now in enumerate((QUIET, BUSY, OFF), start=2):
        assert rig.update(now._replace(t=float(t))) is None
        assert rig.state is State.FAULT
    rig.reset(9.0)
    assert (rig.state, rig.stop, rig.cause, rig.latched) == (State.IDLE, StopSeverity.NONE, None, False)


_TRIPS = st.tuples(st.sampled_from(STOPS), st.booleans(), st.sampled_from(list(FaultCode)[1:]))
_MOMENTS = st.tuples(st.floats(1e-3, 0.4), st.booleans(), st.booleans(), st.booleans())


@settings(max_examples=150, derandomize=True)
@given(st.sampled_from(sorted(TORQUE_STATES - {State.STOPPING})), st.lists(st.one_of(_TRIPS, _MOMENTS), max_size=30))
def test_whatever_happens_a_stop_goes_one_way(state: State, happenings: list[tuple[object, ...]]) -> None:
    rig = machine(state)
    t = 0.0
    for what in happenings:
        before, severity, first, latched = rig.state, rig.stop, rig.cause, rig.latched
        if len(what) == 3:
            category, latch, code = what
            rig.trip(Cause(of_fault(code), t), category, latch=latch)  # type: ignore[arg-type]
        else:
            duration, enabled, standstill, moving = what
            t += duration  # type: ignore[operator]
            rig.update(Conditions(t, LEGS if enabled else (), bool(standstill), bool(moving)))
        if before is State.STOPPING and rig.state is State.STOPPING:
            assert rig.stop >= severity
        if latched:
            assert rig.latched and rig.cause is first
            assert rig.state in (State.STOPPING, State.FAULT)
        if before is State.FAULT:
            assert rig.state is State.FAULT
        assert (rig.state is State.FAULT) <= rig.latched
