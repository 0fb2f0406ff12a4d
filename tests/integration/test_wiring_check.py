"""Drives that answer at each other's address, whole: told by the forces at rest before and after homing."""

from pathlib import Path
from typing import Any

import pytest
from fault_bench import invariants
from lockstep_bench import TARE, Bench, bench_config, causes

from rig.config.rig_config import RigConfig
from rig.engine.messages import Connect, Home, Reset
from rig.safety.wiring_check import SETTLING
from rig.states import FaultCode, State

REST = 150  # cycles between connecting and homing
UNTOLD = "the forces cannot show whether drives are exchanged"


def anonymous(spread: float = 0.01, *, exchanged: tuple[int, int] | None = None, **virtual: Any) -> RigConfig:
    """A rig whose drives are taken whoever they are; `exchanged`: legs whose network cables have changed places."""
    legs = [{"host": "127.0.0.1", "port": 15021 + leg} for leg in range(6)]
    faults = []
    if exchanged is not None:
        one, other = exchanged
        faults = [
            {"fault": "swap_unit", "leg": leg, "value": float(value), "at": 0.0}
            for leg, value in ((one, other), (other, one))
        ]
    virtual = {"drive": {"start_spread": spread}, "faults": faults} | virtual
    return bench_config(drives={"legs": legs}, virtual=virtual)


def homed(folder: Path, config: RigConfig, rest: int = REST) -> Bench:
    """OFF → PARKED with the forces compared, or FAULT."""
    bench = Bench(folder, config)
    bench.rig.request(Connect())
    bench.steps(rest)
    bench.rig.request(Home(unproven=True))
    bench.until(lambda: bench.machine.latched or (bench.in_state(State.PARKED) and bench.engine.settled_for() > TARE))
    return bench


def untold(bench: Bench) -> list[str]:
    return [event.text for event in bench.engine.events if event.text.startswith(UNTOLD)]


@pytest.mark.parametrize(("pair", "seed"), [((2, 5), 4), ((1, 2), 1)])
def test_drives_at_each_others_address_are_found_before_anything_is_engaged(
    tmp_path: Path, pair: tuple[int, int], seed: int
) -> None:
    with homed(tmp_path, anonymous(exchanged=pair, seed=seed)) as bench:
        cause = bench.machine.cause
        assert bench.in_state(State.FAULT) and cause is not None
        assert cause.text.startswith(f"the drives of legs {pair[0]} and {pair[1]} answer at each other's address")
        assert (cause.code, cause.leg) == (FaultCode.WIRING, pair[0])
        assert not bench.machine.homed and not bench.torque
        recording = bench.recording()
        parked = int((recording.rows["state"] == State.PARKED).sum())
        assert SETTLING <= parked * bench.config.period <= SETTLING + 0.01
        assert causes(recording) == [FaultCode.WIRING]
        invariants(recording)


def test_load_cells_that_are_exchanged_are_not_taken_for_drives(tmp_path: Path) -> None:
    faults = [{"fault": "cell_exchanged", "leg": 1, "value": 3.0, "at": 0.0}]
    with homed(tmp_path, anonymous(seed=1, faults=faults)) as bench:
        cause = bench.machine.cause
        assert cause is not None and cause.code is FaultCode.WIRING
        assert "or the load cells of legs 1 and 3 are exchanged: the load cells' change" in cause.text


def test_found_once_it_is_not_forgotten_by_homing_again_from_home(tmp_path: Path) -> None:
    with homed(tmp_path, anonymous(exchanged=(2, 5), seed=4)) as bench:
        bench.rig.request(Reset())
        bench.steps(REST)
        bench.rig.request(Home(unproven=True))
        bench.until(lambda: bench.machine.latched)
        assert bench.machine.cause is not None
        assert "legs 2 and 5" in bench.machine.cause.text and "connect again" in bench.machine.cause.text


def test_at_a_low_rate_too_they_are_found_before_anything_can_be_engaged(tmp_path: Path) -> None:
    slow = {"rate": 50.0, "control": {"stiffness": 1e3, "damping": 45.0}}
    with homed(tmp_path, anonymous(exchanged=(2, 5), seed=4).changed(slow), rest=20) as bench:
        assert bench.machine.cause is not None and bench.machine.cause.code is FaultCode.WIRING
        parked = int((bench.recording().rows["state"] == State.PARKED).sum())
        assert parked * bench.config.period < 0.2  # at rest, without which Engage is refused


@pytest.mark.parametrize(("seed", "spread"), [(1, 0.01), (2, 0.003)])
def test_what_else_changes_the_forces_is_no_exchange(tmp_path: Path, seed: int, spread: float) -> None:
    cells = {"gain": [0.97, 1.03, 1.0, 1.03, 0.97, 1.02], "bias": [20.0, -20.0, 10.0, -5.0, 15.0, -20.0]}
    plant = {"mass_scale": 1.1, "payload": {"mass": 5.0, "center_of_mass": [0.0, 0.0, 0.1]}}
    with homed(tmp_path, anonymous(spread, seed=seed, cells=cells, plant=plant)) as bench:
        assert bench.in_state(State.PARKED) and bench.machine.homed
        assert causes(bench.recording()) == []


def test_what_the_forces_do_not_tell_is_said(tmp_path: Path) -> None:
    with homed(tmp_path, anonymous(0.0002)) as bench:
        assert len(untold(bench)) == 1 and "any two legs" in untold(bench)[0]
    (tmp_path / "hurried").mkdir()
    with homed(tmp_path / "hurried", anonymous(), rest=0) as bench:
        assert untold(bench) == [f"{UNTOLD}: the rig was not at rest long enough before homing"]
    (tmp_path / "known").mkdir()
    with homed(tmp_path / "known", bench_config()) as bench:
        assert not untold(bench)  # the drives were told by their serial numbers
