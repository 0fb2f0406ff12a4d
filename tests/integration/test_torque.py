"""Torque that goes without a fault, that stays, that comes by itself: on the lockstep rig."""

from pathlib import Path

import pytest
from fault_bench import C0, LEG, K, invariants
from lockstep_bench import TARE, Bench, causes

from actuators import Status
from rig.engine.messages import Connect, Disconnect, Engage, Home, Park, Pause, Reset, Shutdown
from rig.errors import RefusedError
from rig.states import FaultCode, State

LEGS = [pytest.param(LEG, id="one"), pytest.param(None, id="six")]
LOST = 2  # cycles from the first sample that shows it to the latched stop
BRAKES = 3  # cycles that a drive's brake takes to close
SHORT = 3  # cycles for which the circuit is open: it closes again before anybody could have noticed


def bring(bench: Bench, state: State) -> None:
    """To `state`, with a while of it still to come."""
    if state is State.PARKED:
        bench.park()
    elif state is State.HOMING:
        bench.rig.request(Home())
        bench.until(lambda: bench.engine.drives.all(Status.ENABLED))
    elif state is State.ENGAGING:
        bench.park().rig.request(Engage())
        bench.until(lambda: bench.engine.drives.all(Status.ENABLED))
    elif state is State.ENGAGED:
        bench.engage()
    else:
        bench.run(0.6)
        if state is State.PARKING:
            bench.rig.request(Pause())
            bench.until_state(State.ENGAGED)
            bench.rig.request(Park())
        elif state is State.STOPPING:
            bench.engine.stop(1)
        bench.steps(5)
    assert bench.in_state(state)


def without_torque(bench: Bench, cycles: int) -> None:
    """For so long nobody asks for torque, and no drive has any, nor its brake open once it had the time to close."""
    for cycle in range(cycles):
        bench.steps(1)
        assert not any(command.enable for command in bench.engine.commands)
        assert not bench.engine.drives.any(Status.ENABLED)
        assert cycle < BRAKES or not bench.torque


def engage_again(bench: Bench) -> None:
    """What it takes to have torque again."""
    if bench.in_state(State.FAULT):
        with pytest.raises(RefusedError, match="a fault is latched: reset first"):
            bench.rig.request(Engage())
        bench.rig.request(Reset())
        bench.rig.request(Home())
        bench.until_state(State.PARKED)
        bench.until(lambda: bench.engine.settled_for() > TARE)
    bench.rig.request(Engage())
    bench.until_state(State.ENGAGED)
    assert bench.torque and len(bench.engine.drives.legs(Status.ENABLED)) == 6


@pytest.mark.parametrize("open_for", [SHORT, 40])
@pytest.mark.parametrize("leg", LEGS)
@pytest.mark.parametrize("state", [State.ENGAGING, State.ENGAGED, State.RUNNING, State.PARKING, State.STOPPING])
def test_torque_that_is_lost_comes_back_by_a_new_engage_only(
    tmp_path: Path, state: State, leg: int | None, open_for: int
) -> None:
    with Bench(tmp_path) as bench:
        bring(bench, state)
        bench.inject("safe_torque_off", leg)
        bench.steps(LOST)
        cause = bench.machine.cause
        assert cause is not None and bench.machine.latched
        assert (cause.code, cause.leg) == (FaultCode.TORQUE_LOST, leg or 0)
        assert cause.text.startswith(f"leg {LEG}: " if leg else "legs 1, 2, 3, 4, 5, 6: ")
        bench.steps(open_for - LOST)
        bench.virtual.faults.clear()
        without_torque(bench, 100)
        assert bench.in_state(State.FAULT) and bench.machine.cause is cause and bench.machine.homed
        if (state, open_for) == (State.RUNNING, SHORT):
            engage_again(bench)
        recording = bench.recording()
        assert causes(recording).count(FaultCode.TORQUE_LOST) == 1
        stop = recording.rows["stop"][bench.injected : bench.injected + LOST]
        assert (stop >= C0).any()
        invariants(recording)


@pytest.mark.parametrize("found", [False, True])
@pytest.mark.parametrize("leg", LEGS)
def test_torque_lost_while_homing(tmp_path: Path, leg: int | None, found: bool) -> None:
    """Also by a leg that has found its reference while others search."""
    with Bench(tmp_path) as bench:
        bench.rig.request(Connect())
        bring(bench, State.HOMING)
        if found:
            bench.until(lambda: bool(bench.engine.drives.status[LEG - 1] & Status.HOMED))
        bench.inject("safe_torque_off", leg)
        bench.steps(LOST)
        assert bench.machine.cause is not None and bench.machine.cause.code is FaultCode.TORQUE_LOST
        bench.steps(40)
        bench.virtual.faults.clear()
        without_torque(bench, 100)
        assert bench.in_state(State.FAULT) and not bench.machine.homed


@pytest.mark.parametrize("leg", LEGS)
def test_the_circuit_opened_and_closed_while_parked_gives_nobody_torque(tmp_path: Path, leg: int | None) -> None:
    with Bench(tmp_path) as bench:
        bench.park().inject("safe_torque_off", leg)
        without_torque(bench, 50)
        bench.virtual.faults.clear()
        without_torque(bench, 100)
        assert bench.in_state(State.PARKED) and bench.machine.cause is None  # it was not needed
        engage_again(bench)


@pytest.mark.parametrize("command", [Home(), Engage()])
@pytest.mark.parametrize("leg", LEGS)
def test_torque_that_does_not_come_is_not_waited_for_for_long(
    tmp_path: Path, leg: int | None, command: Home | Engage
) -> None:
    with Bench(tmp_path) as bench:
        if isinstance(command, Engage):
            bench.park()
        else:
            bench.rig.request(Connect())
        bench.inject("safe_torque_off", leg)
        bench.rig.request(command)
        bench.until_state(State.FAULT)
        all_six = "leg 1" if isinstance(command, Home) else "legs 1, 2, 3, 4, 5, 6"  # homing begins with leg 1
        who = f"leg {LEG}" if leg else all_six
        assert (
            bench.machine.cause is not None
            and bench.machine.cause.text == f"{who}: no torque within 0.32 s (drives.enable_time)"
        )
        bench.virtual.faults.clear()
        without_torque(bench, 100)


@pytest.mark.parametrize("category", [0, 1])
def test_torque_taken_off_by_a_stop_is_not_lost(tmp_path: Path, category: int) -> None:
    with Bench(tmp_path) as bench:
        bench.run(0.6)
        bench.engine.stop(category)  # type: ignore[arg-type]
        bench.until_state(State.PARKED)
        without_torque(bench, 300)
        assert bench.in_state(State.PARKED) and bench.machine.cause is None


@pytest.mark.parametrize("state", [State.IDLE, State.PARKED])
def test_torque_that_nobody_asked_for(tmp_path: Path, state: State) -> None:
    """A drive whose power stage comes on by itself: fault, leg named, reset only once it is off."""
    with Bench(tmp_path) as bench:
        if state is State.IDLE:
            bench.rig.request(Connect())
            bench.steps(5)
        else:
            bench.park()
        bench.inject("torque_stuck", LEG)
        bench.steps(K)
        cause = bench.machine.cause
        assert cause is not None and bench.in_state(State.FAULT)
        assert (cause.code, cause.leg) == (FaultCode.TORQUE_UNEXPECTED, LEG)
        assert cause.text == f"leg {LEG}: the drive has torque in state {state.name}"
        with pytest.raises(RefusedError, match=f"leg {LEG}: the drive still has torque"):
            bench.rig.request(Reset())
        assert bench.in_state(State.FAULT) and bench.machine.cause is cause
        bench.virtual.faults.clear()
        bench.rig.request(Reset())
        assert bench.in_state(State.IDLE)
        recording = bench.recording()
        assert causes(recording) == [FaultCode.TORQUE_UNEXPECTED]
        invariants(recording)


def test_torque_that_comes_on_behind_another_fault_is_said_beside_it(tmp_path: Path) -> None:
    with Bench(tmp_path) as bench:
        bench.park().inject("encoder_nan", 1)
        bench.until_state(State.FAULT)
        first = bench.machine.cause
        bench.inject("torque_stuck", LEG)
        bench.steps(200)
        assert bench.machine.cause is first
        bench.virtual.faults.clear("torque_stuck")
        bench.steps(50)
        bench.inject("torque_stuck", LEG)  # which is another time
        bench.steps(50)
        said = [event.text for event in bench.engine.events if event.code is FaultCode.TORQUE_UNEXPECTED]
        assert said == [f"leg {LEG}: the drive has torque in state FAULT"] * 2


@pytest.mark.parametrize(("category", "state"), [(0, State.STOPPING), (1, State.PARKED)])
def test_a_drive_that_does_not_switch_off_is_named(tmp_path: Path, category: int, state: State) -> None:
    """A stop, or parking, leaves it the time that a drive may take; after that it is a fault of that leg."""
    with Bench(tmp_path) as bench:
        bench.engage()
        bench.inject("torque_stuck", LEG)
        bench.steps(5)
        assert bench.in_state(State.ENGAGED) and bench.machine.cause is None  # it is to have torque
        bench.engine.stop(category)  # type: ignore[arg-type]
        bench.steps(2)
        assert bench.in_state(state)
        told = bench.engine.tick.t
        bench.until_state(State.FAULT)
        off_time = bench.machine.deadlines.torque_off
        assert off_time < bench.engine.tick.t - told + 2 * bench.config.period < off_time + 2 * K * bench.config.period
        cause = bench.machine.cause
        code = FaultCode.TORQUE_UNEXPECTED if category else FaultCode.STOP_OVERDUE
        assert cause is not None and (cause.code, cause.leg) == (code, LEG)
        text = "the drive has torque in state PARKED" if category else "torque was not off within 0.5 s"
        assert cause.text == f"leg {LEG}: {text}"


@pytest.mark.parametrize("command", [Engage(), Disconnect()])
def test_while_a_drive_has_yet_to_switch_off_nobody_engages_or_leaves(
    tmp_path: Path, command: Engage | Disconnect
) -> None:
    with Bench(tmp_path) as bench:
        bench.engage()
        bench.inject("torque_stuck", LEG)
        bench.engine.stop(1)
        bench.until(lambda: bench.in_state(State.PARKED) and bench.engine.settled_for() > TARE)
        why = f"leg {LEG}: the drive still has torque" if isinstance(command, Engage) else "a fault is latched"
        with pytest.raises(RefusedError, match=why):
            bench.rig.request(command)
        assert bench.engine.drives.connected


def test_the_engine_does_not_end_while_a_drive_reports_torque(tmp_path: Path) -> None:
    """In a fault as well; safe torque off is a way out, and so is to cut the supply: that drive is silent."""
    with Bench(tmp_path) as bench:
        bench.park().inject("torque_stuck", LEG)
        bench.until_state(State.FAULT)
        bench.inject("delay", LEG, 0.02, 0.02)  # a late reply is no end of it
        bench.steps(2)
        with pytest.raises(RefusedError, match=f"leg {LEG}: the drive still has torque.*press the emergency stop"):
            bench.rig.request(Shutdown())
        assert bench.engine.drives.connected and not bench.rig.operator.ended
        bench.inject("safe_torque_off", LEG)
        bench.rig.request(Shutdown())
        assert bench.rig.operator.ended
    (tmp_path / "silent").mkdir()
    with Bench(tmp_path / "silent") as bench:
        bench.park().inject("torque_stuck", LEG)
        bench.until_state(State.FAULT)
        bench.inject("drop_all", LEG)
        bench.rig.request(Shutdown())
        assert bench.rig.operator.ended


@pytest.mark.parametrize("leg", [None, LEG])
@pytest.mark.parametrize("latched", [True, False])
def test_a_stop_that_holds_takes_the_torque_off_while_the_rig_is_engaging(
    tmp_path: Path, leg: int | None, latched: bool
) -> None:
    """Category 2 would end in ENGAGED; here it must not, whatever drives have no torque yet."""
    with Bench(tmp_path) as bench:
        bench.park()
        bench.inject("safe_torque_off", leg)
        bench.rig.request(Engage())
        bench.steps(3)
        assert bench.in_state(State.ENGAGING)
        if latched:
            bench.virtual.faults.inject("cell_nan", LEG)
            bench.until(lambda: bench.machine.latched)
        else:
            bench.engine.stop(2)
        bench.steps(2)
        bench.virtual.faults.clear()
        without_torque(bench, 100)
        assert bench.in_state(State.FAULT if latched else State.PARKED)
        until_then = bench.engine.cycles
        if not latched:
            bench.until(lambda: bench.engine.settled_for() > TARE)
            engage_again(bench)
        recording = bench.recording()
        assert not (recording.rows["state"] == State.ENGAGED)[:until_then].any()
        invariants(recording)
