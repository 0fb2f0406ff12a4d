"""Faults while one leg is tested: of its wire and of the others', of wiring, speed and supply."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from checkpoints import go
from configured import SHIPPED
from engine_support import CONFIG, Bench, bench

from actuators import Mode, Status
from rig.config import RigConfig
from rig.engine import Connect, MoveLeg
from rig.engine.snapshot import Snapshot
from rig.recording import Recording, open_recording
from rig.states import FaultCode, State, StopSeverity

NEAR = {"virtual": {"drive": {"start_spread": 1e-3}}}
LEG = 3
K = 3  # stale samples that are borne
ONCE = 1.5 * CONFIG.period  # s: one exchange takes place in it
assert SHIPPED.virtual is not None
SHIPPED_STEP = SHIPPED.virtual.step
TEST = MoveLeg(LEG, 2e-3, 10e-3, home=True)
MOVING, HOMING = "moving there", "looking for the reference"


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Bench]:
    with connected(tmp_path, CONFIG) as made:
        yield made


@contextmanager
def connected(folder: Path, config: RigConfig) -> Iterator[Bench]:
    with bench(folder, config.changed(NEAR)) as made:
        made.engine.sink = made.sink
        made.request(Connect())
        yield made


def begun(rig: Bench, phase: str = MOVING) -> int:
    """The test is in a phase, and a little into it; the next cycle's number.

    A leg that is to be moved has found its reference in a test before.
    """
    if phase == MOVING:
        go(rig, rig, ("a test of leg 3",), lambda: whole(rig))

    def there(now: Snapshot) -> bool:
        return now.leg_test is not None and now.leg_test.phase == phase

    rig.request(TEST)
    rig.wait(there, 20.0, phase)
    rig.run(0.1)
    assert rig.status().state is State.SINGLE_LEG
    return rig.engine.cycles


def whole(rig: Bench) -> None:
    rig.request(TEST)
    rig.until(State.IDLE, timeout=20.0)
    assert rig.engine.leg_test is not None and rig.engine.leg_test.ended


def recorded(rig: Bench) -> Recording:
    rig.close()
    return open_recording(rig.recording)


def stopped(rig: Bench, since: int, code: FaultCode, within: int, leg: int = LEG) -> tuple[str, npt.NDArray[np.void]]:
    """A fault of `code`, whose quick stop began within so many cycles and took the torque off; its words, the rows."""
    rig.until(State.FAULT, timeout=20.0)
    cause, test = rig.engine.machine.cause, rig.status().leg_test
    assert cause is not None and (cause.code, cause.leg) == (code, leg), cause
    assert test is not None and test.result is not None and not test.result.passed and not test.result.stopped
    assert test.result.faults[0] == cause.finding
    rig.run(0.2)
    assert all(rig.virtual.plant.braked(index) for index in range(6))
    rows = recorded(rig).rows
    begins = np.flatnonzero(rows["stop"] >= StopSeverity.QUICK_STOP)
    assert 0 < begins[0] - since + 1 <= within and rows["stop"][begins[0]] == StopSeverity.QUICK_STOP
    assert (np.delete(rows["mode"], LEG - 1, axis=1) == Mode.OFF).all()
    assert not (rows["mode"][begins[0] + 1 :, LEG - 1] == Mode.POSITION).any()
    return cause.text, rows


@pytest.mark.parametrize("leg", [LEG, 6])
@pytest.mark.parametrize(
    ("fault", "value", "duration"),
    [
        ("drop_write", None, None),
        ("delay", ONCE, ONCE),
        ("replay", None, ONCE),
        ("bit_flip", 57.0, ONCE),  # of the function code
        ("bit_flip", 3.0, ONCE),  # of the transaction's number
        ("rechunk", 1.0, None),
    ],
)
def test_one_reply_that_is_lost_late_replayed_damaged_or_split_is_borne(
    rig: Bench, leg: int, fault: str, value: float | None, duration: float | None
) -> None:
    begun(rig)
    rig.virtual.faults.inject(fault, leg, value, duration)
    rig.until(State.IDLE, timeout=20.0)
    test = rig.status().leg_test
    assert test is not None and test.result is not None and test.result.passed
    stale = recorded(rig).rows["stale"]
    assert stale.sum() == np.count_nonzero(stale[:, leg - 1]) == 1


@pytest.mark.parametrize("leg", [LEG, 6])
@pytest.mark.parametrize(("fault", "value"), [("bit_flip", 57.0), ("replay", None), ("busy", None), ("drop_all", None)])
def test_replies_that_are_none_for_good_stop_the_leg(rig: Bench, leg: int, fault: str, value: float | None) -> None:
    since = begun(rig)
    rig.virtual.faults.inject(fault, leg, value)
    said, _rows = stopped(rig, since, FaultCode.COMMUNICATION_LOST, K + 1, leg)
    assert said.startswith(f"leg {leg}: no fresh feedback for 15 ms (bound 15 ms)")


def test_replies_that_are_a_cycle_old_for_good_are_borne_and_said(rig: Bench) -> None:
    begun(rig)
    rig.virtual.faults.inject("lag", LEG)
    rig.run(0.1)
    assert rig.status().echo_lag == (0, 0, 1, 0, 0, 0)
    rig.until(State.IDLE, timeout=20.0)
    test = rig.status().leg_test
    assert test is not None and test.result is not None and test.result.passed
    recording = recorded(rig)
    assert recording.rows["stale"].sum() == 1
    assert any("leg 3: the drive's replies are 1 cycle old" in event.text for event in recording.events)


def test_replies_older_than_is_borne_stop_the_leg(rig: Bench) -> None:
    since = begun(rig)
    rig.virtual.faults.inject("lag", LEG, 2.0)
    stopped(rig, since, FaultCode.COMMUNICATION_LOST, K + 1)


@pytest.mark.parametrize("phase", ["at rest", HOMING, MOVING])
def test_motors_that_are_wired_to_each_others_drives_are_found(tmp_path: Path, phase: str) -> None:
    """The drive of leg 3 moves leg 5, whose encoder says so: by how much hangs on the plant's step."""
    with connected(tmp_path, CONFIG.changed({"virtual": {"step": SHIPPED_STEP}})) as rig:
        since = begun(rig, phase)
        rig.virtual.faults.inject("motor_exchanged", LEG, 5.0)
        said, rows = stopped(rig, since, FaultCode.WIRING, 1000, 5)
    assert said.startswith("leg 5: its encoder moved 0.2") and "while leg 3 was moved" in said
    before = rows["stop"] == StopSeverity.NONE
    assert np.abs(rows["length"][before, 4] - rows["length"][since, 4])[since:].max() < 2.5e-4


@pytest.mark.parametrize("phase", [HOMING, MOVING])
def test_a_brake_that_lets_go_of_another_leg_is_found(rig: Bench, phase: str) -> None:
    begun(rig, phase)
    rig.virtual.faults.inject("brake_open", 6)
    rig.until(State.FAULT, timeout=20.0)
    cause = rig.engine.machine.cause
    assert cause is not None and (cause.code, cause.leg) == (FaultCode.WIRING, 6)
    assert not rig.engine.drives.any(Status.ENABLED)


@pytest.mark.parametrize("push", [6000.0, -6000.0])
def test_a_leg_that_is_pushed_faster_than_it_may_be_is_stopped(tmp_path: Path, push: float) -> None:
    with connected(tmp_path, SHIPPED) as rig:
        pushed(rig, push)


def pushed(rig: Bench, push: float) -> None:
    since = begun(rig)
    rig.virtual.faults.inject("force_step", LEG, push)
    said, rows = stopped(rig, since, FaultCode.OVERSPEED, 20)
    assert "leg 3: measured speed" in said and "(bound 1 m/s)" in said
    fast = np.flatnonzero(np.abs(rows["velocity"][:, LEG - 1]) > 1.0)
    assert rows["stop"][fast[0]] == StopSeverity.QUICK_STOP


@pytest.mark.parametrize("volts", [30.0, 70.0])
@pytest.mark.parametrize("leg", [LEG, 6])
def test_a_bad_supply_stops_the_leg(rig: Bench, leg: int, volts: float) -> None:
    since = begun(rig)
    rig.virtual.faults.inject("supply", leg, volts)
    said, _rows = stopped(rig, since, FaultCode.SUPPLY_VOLTAGE, 6, leg)
    assert f"supply has {volts:.1f} V" in said
