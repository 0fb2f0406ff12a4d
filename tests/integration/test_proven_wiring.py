"""Motion on a wiring that no test of the legs is on record for: refused, or on the operator's word."""

import itertools
import threading
from pathlib import Path
from typing import Any

import pytest
from fault_bench import invariants
from lockstep_bench import Bench, bench_config

from rig.client import lifecycle
from rig.commissioning import LegMove, move_leg, put_on_record, record_path, strike_from_record
from rig.config import RigConfig
from rig.engine import Connect, Disconnect, Home, obstacle, wiring
from rig.engine.leg_move import LegResult
from rig.engine.wiring import RecordStrikes, unproven
from rig.errors import HardwareError, InputError, RefusedError
from rig.findings import Code, Finding
from rig.states import State

ROOT = Path(__file__).parents[2]
PAIRS = list(itertools.combinations(range(1, 7), 2))


def rig(folder: Path, *, serials: bool = False, exchanged: tuple[int, int] | None = None, **changes: Any) -> RigConfig:
    """A rig wired otherwise than its configuration says: the program cannot take that for granted."""
    legs = [{"host": "127.0.0.1", "port": 15021 + leg} for leg in range(6)]
    if serials:
        legs = [leg | {"serial": f"VIRTUAL-{number}"} for number, leg in enumerate(legs, start=1)]
    one, other = exchanged or (1, 1)
    crossed = [
        {"fault": "swap_unit", "leg": leg, "value": float(value), "at": 0.0}
        for leg, value in {one: other, other: one}.items()
    ]
    changes = {"recording": {"directory": str(folder)}, "drives": {"legs": legs}} | changes
    return bench_config(**changes, virtual={"faults": crossed})


def passed(leg: int, serial: str) -> LegResult:
    return LegResult(leg, 2e-3, (), False, None, 2e-3, 0.0, 0.0, 0.0, 0.0, {}, serial)


def prove(config: RigConfig, *legs: int) -> None:
    for leg in legs or range(1, 7):
        put_on_record(config, passed(leg, f"VIRTUAL-{leg}"))


def asked(bench: Bench, *, word: bool = False) -> str:
    """Why a rig that is connected may not home; empty where it does."""
    try:
        bench.rig.request(Home(word))
    except RefusedError as error:
        assert bench.in_state(State.IDLE) and not bench.torque
        return str(error)
    assert bench.in_state(State.HOMING)
    return ""


def test_the_first_motion_asks_for_the_legs_tests_and_goes_on_the_operators_word(tmp_path: Path) -> None:
    config = rig(tmp_path)
    with Bench(tmp_path, config) as bench:
        bench.rig.request(Connect())
        status = bench.rig.status()
        assert status.unproven is not None and status.unproven.legs == (1, 2, 3, 4, 5, 6)
        assert obstacle(Home(), status) is not None and obstacle(Home(unproven=True), status) is None
        refusal = asked(bench)
        assert "legs 1, 2, 3, 4, 5, 6: no test is on record" in refusal and "home with the wiring unproven" in refusal
        assert asked(bench, word=True) == ""
        bench.until_state(State.PARKED)
        recording = bench.recording()
        assert sum("homing without proof of the wiring" in event.text for event in recording.events) == 1
        assert any("home, with a wiring that is not proven, by" in event.text for event in recording.events)
        invariants(recording)


def test_a_leg_that_was_tested_and_seen_counts_as_long_as_it_is_wired_so(tmp_path: Path) -> None:
    config = rig(tmp_path)
    with Bench(tmp_path, config) as bench:
        result = move_leg(bench.rig, LegMove(3, 0.5e-3, 20e-3, home=True), lambda _test: None)
        assert result.passed and result.serial == "VIRTUAL-3"
        put_on_record(config, result)
    serials = [f"VIRTUAL-{leg}" for leg in range(1, 7)]
    lacking = unproven(config, serials)
    assert lacking is not None and lacking.legs == (1, 2, 4, 5, 6)
    prove(config)
    assert unproven(config, serials) is None
    legs = [leg.model_dump() for leg in config.drives.legs]
    amplifier, mechanism = {"host": "127.0.0.1", "port": 15030}, tmp_path / "other.toml"
    drawn = (ROOT / "dynamics/mechanisms/lab-hexapod.toml").read_text(encoding="utf-8")
    mechanism.write_text(drawn.replace("[-0.108156, 0.332870, 0.0]", "[-0.108156, 0.332970, 0.0]"), encoding="utf-8")
    changes: list[tuple[dict[str, Any], tuple[int, ...]]] = [
        ({"drives": {"legs": [legs[1], legs[0], *legs[2:]]}}, (1, 2)),
        ({"drives": {"legs": [legs[0] | {"position_offset": 0.01}, *legs[1:]]}}, (1,)),
        ({"load_cells": {"source": "amplifier", "amplifier": amplifier}}, (1, 2, 3, 4, 5, 6)),
        ({"mechanism": str(mechanism)}, (3,)),
        ({"drives": {"legs": [leg | {"serial": f"VIRTUAL-{n}"} for n, leg in enumerate(legs, start=1)]}}, ()),
        ({"rate": 100.0, "drives": {"reply_deadline": 0.5}}, ()),
    ]  # fmt: skip
    for change, expected in changes:
        found = unproven(config.changed(change), serials)
        assert (found.legs if found else ()) == expected, change
    other = unproven(config, [*serials[:5], "REPLACED"])
    assert other is not None and other.legs == (6,) and "changed places" not in other.text
    strike_from_record(config, 4)
    struck = unproven(config, serials)
    assert struck is not None and struck.legs == (4,)


def test_a_serial_port_is_known_by_its_path_in_the_file(tmp_path: Path) -> None:
    """Adapters get other names of the system when they are found again, the paths by their identities lead there."""
    ports = [tmp_path / f"usb-{number}" for number in range(1, 7)]
    for number, port in enumerate(ports):
        port.symlink_to(tmp_path / f"ttyUSB{number}")
    config = rig(tmp_path).changed(
        {"virtual": None, "drives": {"legs": [{"device": str(port), "baud": 1_000_000} for port in ports]}}
    )
    serials = [f"VIRTUAL-{leg}" for leg in range(1, 7)]
    prove(config)
    assert unproven(config, serials) is None
    for number, port in enumerate(ports):
        port.unlink()
        port.symlink_to(tmp_path / f"ttyUSB{5 - number}")
    assert unproven(config, serials) is None
    legs = [{"device": str(port), "baud": 1_000_000} for port in reversed(ports)]
    exchanged = unproven(config.changed({"drives": {"legs": legs}}), serials)
    assert exchanged is not None and exchanged.legs == (1, 2, 3, 4, 5, 6)


def test_a_disk_that_is_held_up_holds_nobody_up_and_its_record_proves_nothing_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, serials = rig(tmp_path), [f"VIRTUAL-{leg}" for leg in range(1, 7)]
    prove(config)
    free = threading.Event()

    def slowly(config: RigConfig, *legs: int) -> None:
        assert free.wait(60.0)
        strike_from_record(config, *legs)

    monkeypatch.setattr(wiring, "strike_from_record", slowly)
    found: list[Finding] = []
    strikes = RecordStrikes(config, found.append)
    strikes.start()
    strikes.strike(1, 2)  # comes back though the file is not written
    strikes.strike(5)
    assert unproven(config, serials) is None and set(strikes.pending) == {1, 2, 5}
    lacking = unproven(config, serials, strikes.pending)
    assert lacking is not None and lacking.legs == (1, 2, 5)
    free.set()
    strikes.close()
    lacking = unproven(config, serials)
    assert lacking is not None and lacking.legs == (1, 2, 5) and strikes.pending == () and found == []


def test_tests_that_cannot_be_taken_off_the_record_prove_nothing_and_are_reported(tmp_path: Path) -> None:
    config = rig(tmp_path)
    prove(config)
    record = record_path(config).read_text(encoding="utf-8")
    found: list[Finding] = []
    strikes = RecordStrikes(config, found.append)
    record_path(config).write_text("torn", encoding="utf-8")
    strikes.strike(3, 4)
    assert [finding.code for finding in found] == [Code.RECORD_NOT_STRUCK]
    record_path(config).write_text(record, encoding="utf-8")
    lacking = unproven(config, [f"VIRTUAL-{leg}" for leg in range(1, 7)], strikes.pending)
    assert lacking is not None and lacking.legs == (3, 4)


def test_what_is_no_record_proves_nothing(tmp_path: Path) -> None:
    config = rig(tmp_path)
    failed = LegResult(
        2,
        2e-3,
        (Finding(Code.LEG_MISSED, 2, -2e-3, details={"travel": 2e-3}),),
        False,
        None,
        -2e-3,
        0.0,
        0.0,
        0.0,
        0.0,
        {},
    )
    with pytest.raises(RefusedError, match="did not pass"):
        put_on_record(config, failed)
    assert not record_path(config).exists()
    for text in (
        "leg = 3",
        "[[leg]]\nleg = 7\n",
        "\x00",
        '[[leg]]\nleg = 1\nwiring = "x"\ntested = 2026-01-01T00:00:00Z\n',
    ):
        record_path(config).write_text(text, encoding="utf-8")
        found = unproven(config, [""] * 6)
        assert found is not None and len(found.legs) == 6 and str(record_path(config)) in found.text
        with pytest.raises(InputError):
            put_on_record(config, passed(1, ""))
        assert record_path(config).read_text(encoding="utf-8") == text


def test_a_rig_that_the_program_makes_itself_is_wired_as_it_says(tmp_path: Path) -> None:
    with Bench(tmp_path, bench_config()) as bench:
        bench.rig.request(Connect())
        assert bench.rig.status().unproven is None and asked(bench) == ""


@pytest.mark.parametrize("mode", ["force", "position"])
def test_each_pair_that_is_exchanged_is_refused_before_anything_moves(tmp_path: Path, mode: str) -> None:
    """Without a proof, with one of before the exchange, and where the configuration has the serial numbers."""
    for pair in PAIRS:
        folder = tmp_path / f"{pair[0]}-{pair[1]}"
        folder.mkdir()
        config = rig(folder, exchanged=pair, mode=mode)
        with Bench(folder, config) as bench:
            bench.rig.request(Connect())
            assert "no test is on record" in asked(bench)
            bench.rig.request(Disconnect())
            prove(config)  # as it was wired before
            bench.rig.request(Connect())
            assert f"the drives of legs {pair[0]} and {pair[1]} have been exchanged" in asked(bench)
            lacking = bench.rig.status().unproven
            assert lacking is not None and lacking.legs == pair
        (folder / "run.mcap").unlink()
        with Bench(folder, rig(folder, serials=True, exchanged=pair, mode=mode)) as bench:
            with pytest.raises(HardwareError, match=f"leg {pair[0]}: .*has serial number 'VIRTUAL-{pair[1]}'"):
                lifecycle.connect_for_state(bench.rig)
            assert bench.in_state(State.OFF)
