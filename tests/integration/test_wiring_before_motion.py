"""Motors, encoders or drives of two legs exchanged, all six legs exactly at home: found before the first motion.

Homing moves nothing then, and shows nothing. The first run asks for the tests of the legs, one of which finds the
exchange, or shows it to who watches.
"""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from exploration import LONG
from lockstep_bench import bench_config

from rig.client import Interruption, LockstepRig, lifecycle
from rig.commissioning import LegMove, move_leg, put_on_record, record_path
from rig.config import RigConfig, load_config
from rig.engine import Disconnect, Home
from rig.errors import HardwareError, RefusedError
from rig.findings import Code
from rig.states import State

Kind = Literal["motor", "encoder", "drives"]
RIGS: dict[str, Callable[[], RigConfig]] = {
    "tcp": lambda: bench_config(drives={"legs": [{"host": "127.0.0.1", "port": 15021 + leg} for leg in range(6)]}),
    "servo": lambda: load_config("virtual-servo"),
    "iai": lambda: load_config("virtual-iai"),
    "jrk-g2": lambda: load_config("virtual-jrk-g2"),
}
PAIRS = list(itertools.combinations(range(1, 7), 2)) if LONG else [(2, 5)]


def crossed(folder: Path, rig: str, kind: Kind, pair: tuple[int, int]) -> RigConfig:
    """A rig whose legs stand at home, those of a pair (1 to 6) exchanged."""
    ways = [pair, pair[::-1]] if kind == "drives" else [pair]
    fault = {"drives": "swap_unit"}.get(kind, f"{kind}_exchanged")
    faults = [{"fault": fault, "leg": leg, "value": float(value), "at": 0.0} for leg, value in ways]
    virtual = {"drive": {"start_spread": 0.0}, "faults": faults}
    return RIGS[rig]().changed({"recording": {"directory": str(folder)}, "virtual": virtual})


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("kind", ["motor", "encoder", "drives"])
@pytest.mark.parametrize("rig", RIGS)
def test_legs_at_home_show_their_exchange_before_the_first_motion(
    tmp_path: Path, rig: str, kind: Kind, pair: tuple[int, int]
) -> None:
    config = crossed(tmp_path, rig, kind, pair)
    one, other = pair
    with LockstepRig(config, None, Interruption()) as bench:
        plant = bench.virtual.plant
        start = np.array(plant.lengths)
        way = np.zeros(6)

        def look(_test: object = None) -> None:
            way[:] = np.maximum(way, np.abs(np.array(plant.lengths) - start))

        try:
            lifecycle.connect_for_state(bench)
        except HardwareError as error:
            assert kind == "drives" and f"has serial number 'VIRTUAL-{other}'" in str(error)
            return
        with pytest.raises(RefusedError, match="legs 1, 2, 3, 4, 5, 6: no test is on record"):
            lifecycle.home(bench)
        look()
        assert way.max() < 1e-5
        result = move_leg(bench, LegMove(one, home=True), look)
        if kind == "drives":  # all that the drive reports is the other leg's: who watches sees that one move
            assert result.passed and way[other - 1] > 1.8e-3
            assert np.delete(way, other - 1).max() < 1e-4
        else:
            found = result.faults[0].root
            assert (found.code, found.leg, found.details["tested"]) == (Code.OTHER_ENCODER_MOVED, other, one)
            assert way.max() < 1e-3
            with pytest.raises(RefusedError, match="did not pass"):
                put_on_record(config, result)
        assert bench.status().state in (State.IDLE, State.FAULT) and not record_path(config).exists()


@pytest.mark.parametrize("rig", RIGS)
def test_legs_at_home_that_are_wired_right_pass_and_home(tmp_path: Path, rig: str) -> None:
    """A motor that is exchanged with itself: the program does not take the wiring for granted."""
    config = crossed(tmp_path, rig, "motor", (1, 1))
    with LockstepRig(config, None, Interruption()) as bench:
        for leg in range(1, 7):
            result = move_leg(bench, LegMove(leg, 0.5e-3, home=True), lambda _test: None)
            assert result.passed, result.faults
            put_on_record(config, result)
        bench.request(Disconnect())
        lifecycle.connect_for_state(bench)
        bench.request(Home())
        assert bench.status().state is State.HOMING
