"""A rig that is put where another one has gone is that one: it records the same bytes, whatever happens next."""

from pathlib import Path

import checkpoints
import pytest
from engine_support import CONFIG, Bench, bench

from rig.config.rig_config import RigConfig
from rig.engine import core
from rig.engine.messages import Engage
from rig.safety import StateMachine
from rig.states import State

OTHER = CONFIG.changed({"virtual": {"seed": 7}})


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> list[Bench]:
    """The rigs that have gone from OFF to PARKED cycle by cycle."""
    found: list[Bench] = []
    walk = Bench._park
    monkeypatch.setattr(checkpoints, "_kept", type(checkpoints._kept)())

    def counted(rig: Bench) -> None:
        found.append(rig)
        walk(rig)

    monkeypatch.setattr(Bench, "_park", counted)
    return found


def go_on(folder: Path, config: RigConfig = CONFIG, prepare: str = "") -> bytes:
    """What is recorded by a rig that is engaged after the cells' zero, and loses a drive."""
    folder.mkdir()
    with bench(folder, config) as rig:
        if prepare:
            rig.virtual.faults.inject(prepare, 2, 1.0)
        rig.park()
        rig.request(Engage())
        rig.until(State.ENGAGED)
        rig.virtual.faults.inject("drop_all", 3)
        rig.until(State.FAULT)
        assert rig.operator is not None and rig.engine.machine.cause is not None
        assert rig.engine.machine.cause.leg == 3
        assert rig.tap.rows[-1]["cycle"][0] == rig.engine.cycles - 1
        rig.engine.sink = rig.sink
        rig.run(0.1)
    return (folder / "engine.mcap").read_bytes()


def test_the_second_rig_is_put_there_and_records_the_same(tmp_path: Path, walks: list[Bench]) -> None:
    first, second, third = (go_on(tmp_path / str(number)) for number in range(3))
    assert len(walks) == 1
    assert first == second == third


def test_what_begins_otherwise_goes_its_own_way(tmp_path: Path, walks: list[Bench]) -> None:
    plain = go_on(tmp_path / "plain")
    assert go_on(tmp_path / "other", OTHER) != plain
    assert go_on(tmp_path / "biased", prepare="cell_offset") != plain
    assert len(walks) == 3
    assert go_on(tmp_path / "again") == plain
    assert go_on(tmp_path / "other again", OTHER) == go_on(tmp_path / "other once more", OTHER)
    assert len(walks) == 3


def test_who_was_put_somewhere_leaves_the_way_on_from_there_to_others(
    tmp_path: Path, walks: list[Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    engage, engaged = Bench._engage, []

    def counted(rig: Bench) -> None:
        engaged.append(rig)
        engage(rig)

    monkeypatch.setattr(Bench, "_engage", counted)
    recorded = []
    for number, bring in enumerate((Bench.park, Bench.engage, Bench.engage)):
        (tmp_path / str(number)).mkdir()
        with bench(tmp_path / str(number)) as rig:
            bring(rig)
            rig.run(0.1)
            recorded.append(repr(rig.tap.take().tolist()))
    assert len(walks) == 1 and len(engaged) == 1
    assert recorded[1] == recorded[2] != recorded[0]


@pytest.mark.parametrize(
    ("target", "name", "value"), [(core, "_STOP_RAMP", 0.41), (StateMachine, "dwell", StateMachine.dwell)]
)
def test_nothing_is_taken_from_others_while_the_program_is_changed(
    tmp_path: Path, walks: list[Bench], monkeypatch: pytest.MonkeyPatch, target: object, name: str, value: object
) -> None:
    go_on(tmp_path / "plain")
    monkeypatch.setattr(target, name, value)
    go_on(tmp_path / "changed")
    go_on(tmp_path / "changed too")
    assert len(walks) == 3


def test_a_rig_on_which_something_of_the_tests_hangs_goes_its_own_way(tmp_path: Path, walks: list[Bench]) -> None:
    seen: list[float] = []
    for number in range(2):
        (tmp_path / str(number)).mkdir()
        with bench(tmp_path / str(number)) as rig:
            rig.listen(None, lambda rows: seen.extend(rows["t"]))
            rig.park()
    assert len(walks) == 2
