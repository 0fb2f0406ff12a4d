"""Where the cells are read, and devices slower than the cycle: the same engine over each."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from configured import SHIPPED as CONFIG
from engine_support import bench, smooth_table

from actuators import COMMAND_CLEAR, Status
from rig.config import RigConfig, load_config, relaxed_timing
from rig.engine.messages import Engage, Reset
from rig.errors import ConfigError
from rig.findings import Code, Finding
from rig.safety import check_loop
from rig.states import FaultCode, State, StopSeverity
from rig.virtual import VirtualRig

DEVICES: dict[str, Any] = {
    "load_cells": {
        "source": "devices",
        "devices": [{"host": "127.0.0.1", "port": 15030 + leg, "unit": leg} for leg in range(1, 7)],
    }
}
AMPLIFIER = {"load_cells": {"source": "amplifier", "amplifier": {"host": "127.0.0.1", "port": 15027}}}
NOTHING_FRESH = "load cells: no fresh reading for 6 ms (bound 6 ms)"
QUIET = {"virtual": {"cells": {"noise": 0.0}}}


@pytest.mark.parametrize("cells", [{}, AMPLIFIER, DEVICES], ids=["drives", "amplifier", "devices"])
def test_the_engine_reads_six_cells_wherever_they_are(tmp_path: Path, cells: dict[str, object]) -> None:
    config = CONFIG.changed(cells | QUIET)
    assert len(VirtualRig(config).endpoints) == 6 + len(config.load_cells.places)
    with bench(tmp_path, config) as rig:
        rig.engage()
        rig.follow(smooth_table(1.0))
        cycle = rig.engine.cycle_data
        forces, residuals = [], []
        for _ in range(250):
            rig.step()
            forces.append(cycle.measurement.force.copy())
            residuals.append(np.abs(cycle.model.residual).max())
        assert rig.state is State.RUNNING and rig.engine.machine.cause is None
        assert max(residuals) < 1.0 and np.ptp(forces, axis=0).min() > 0.1


@pytest.mark.parametrize(
    ("fault", "leg", "words"),
    [
        ("drop_all", 0, NOTHING_FRESH),
        ("standing", 0, f"{NOTHING_FRESH}: load cell 3 answers, but its conversion counter stands"),
        ("invalid_1", 3, "leg 3: the load cell reads nan N"),
    ],
)
def test_one_of_six_cell_devices_that_gives_nothing_holds_the_platform(
    tmp_path: Path, fault: str, leg: int, words: str
) -> None:
    with bench(tmp_path, CONFIG.changed(DEVICES)) as rig:
        rig.engage()
        rig.follow(smooth_table(4.0))
        rig.run(0.5)
        rig.virtual.cells[2].inject(fault)
        rig.run(0.05)
        machine = rig.engine.machine
        assert machine.stop is StopSeverity.CATEGORY_2 and machine.cause is not None
        assert (machine.cause.code, machine.cause.leg, machine.cause.text) == (FaultCode.LOAD_CELL, leg, words)


def test_drives_of_50_hz_under_500_hz_are_not_stale(tmp_path: Path) -> None:
    config = CONFIG.changed({"drives": {"sample_period": 0.02}})
    assert config.stale_time == config.cells_stale_time == pytest.approx(0.06)
    with bench(tmp_path, config) as rig:
        rig.park()  # the drives home by themselves
        stale, ages = set(), set()
        for _ in range(250):
            rig.step()
            stale.add(int(rig.engine.cycle_data.row["stale"][0, 0]))
            ages.add(round(rig.engine.drives.age[0], 9))
        assert rig.state is State.PARKED and rig.engine.machine.cause is None
        assert sorted(stale) == list(range(10)) and sorted(ages) == pytest.approx(0.002 * np.arange(10))
        rig.virtual.faults.inject("drop_all", 2)
        rig.run(0.1)
        assert rig.engine.machine.cause is not None
        assert rig.engine.machine.cause.text.startswith("leg 2: no fresh feedback for 60 ms (bound 60 ms)")
        assert Finding(Code.LEG_SILENT, 2, details={"silence": ""}) in rig.engine.drives.troubles()
        rig.virtual.faults.clear()
        rig.run(0.1)
        for _ in range(10):  # a drive that is not asked in a cycle is no trouble
            rig.step()
            assert not [text for text in rig.engine.drives.troubles() if "fresh" in text]


SOFT = {  # gains that the loop bears at this rate
    0.004: {"stiffness": 4000.0, "damping": 400.0},
    0.01: {"stiffness": 1000.0, "damping": 160.0},
    0.02: {"stiffness": 360.0, "damping": 80.0},
}


@pytest.mark.parametrize("mode", ["force", "position"])
@pytest.mark.parametrize("sampling", SOFT)
def test_slow_drives_home_engage_and_follow_and_a_silent_one_is_named(
    tmp_path: Path, sampling: float, mode: str
) -> None:
    config = CONFIG.changed({"mode": mode, "drives": {"sample_period": sampling}, "control": SOFT[sampling]})
    with bench(tmp_path, config) as rig:
        rig.engage()
        rig.follow(smooth_table(0.5))
        rig.until(State.ENGAGED)
        assert rig.engine.machine.cause is None
        rig.virtual.faults.inject("drop_all", 2)
        rig.run(0.1)
        cause = rig.engine.machine.cause
        assert cause is not None and cause.code is FaultCode.COMMUNICATION_LOST and cause.leg == 2
        assert cause.text.startswith(f"leg 2: no fresh feedback for {3e3 * sampling:g} ms")


@pytest.mark.parametrize(("leg", "which"), [(2, "leg 2"), (None, "all six legs")])
def test_slow_drives_that_were_not_asked_are_not_counted_as_silent_beside_one_that_is(
    tmp_path: Path, leg: int | None, which: str
) -> None:
    """The bound of 50 ms is passed in a cycle in which none of them is asked."""
    config = CONFIG.changed({"drives": {"sample_period": 0.02}, "safety": {"stale_time": 0.05}})
    with bench(tmp_path, config) as rig:
        rig.park()
        while rig.engine.drives.stale[0]:
            rig.step()
        rig.virtual.faults.inject("drop_all", leg)
        rig.run(0.06)
        assert rig.engine.machine.cause is not None
        assert rig.engine.machine.cause.text.startswith(f"{which}: no fresh feedback for 50 ms (bound 50 ms)")


def test_slow_drives_are_reset_although_the_telegram_that_clears_a_fault_is_lost_once(tmp_path: Path) -> None:
    with bench(tmp_path, CONFIG.changed({"mode": "position", "drives": {"sample_period": 0.02}})) as rig:
        rig.engage()
        rig.virtual.faults.inject("drop_all", 2)
        rig.until(State.FAULT)
        rig.virtual.faults.clear()
        rig.run(0.1)
        assert rig.engine.drives.status[1] & Status.WATCHDOG
        reply = rig.submit(Reset())
        while COMMAND_CLEAR not in rig.engine._commander.commands:
            rig.step()
        rig.virtual.faults.inject("drop_write", 2)
        rig.run(0.05)
        assert reply.result(0).accepted and rig.state is State.IDLE


def test_a_silent_one_of_slow_drives_refuses_to_be_engaged(tmp_path: Path) -> None:
    """Which all of them would, most of the time, if one that is not asked counted as silent."""
    with bench(tmp_path, CONFIG.changed({"mode": "position", "drives": {"sample_period": 0.02}})) as rig:
        rig.park()
        shown = set()
        for _ in range(20):
            rig.step()
            shown.add(rig.status().silent)
        assert shown == {()}
        rig.virtual.faults.inject("drop_all", 5)
        while not rig.status().silent:
            rig.step()
        assert rig.status().silent == (5,) and rig.status().cells_silence == ""
        reply = rig.submit(Engage())
        rig.run(0.06)
        assert reply.result(0).reason == "engage: no fresh feedback of leg 5"


def test_a_drive_is_told_what_holds_until_it_is_asked_again(tmp_path: Path) -> None:
    """A length is carried on at its mean speed till then, and the loop is judged at the rate of the exchanges."""
    slow = {"drives": {"sample_period": 0.02}}
    with bench(tmp_path, CONFIG.changed({"mode": "position"} | slow)) as rig:
        rig.engage()
        rig.follow(smooth_table(1.0))
        rig.run(0.1)
        legs = rig.engine.cycle_data.reference.legs_ahead
        speeds = [command.velocity for command in rig.engine.law.commands(rig.engine.cycle_data)]
        assert speeds == pytest.approx((legs[:, 1] + 0.01 * legs[:, 2]).tolist()) and np.abs(legs[:, 2]).min() > 1e-3
    usual = load_config()
    assert usual.changed(slow).command_lead - usual.command_lead == pytest.approx(0.009)
    verdict = check_loop(usual.changed(slow))
    assert not verdict.passed and verdict.lowest_rate is None and "at 50 Hz" in verdict.message


def test_cells_of_50_hz_have_a_bound_of_their_own() -> None:
    slow = {"load_cells": DEVICES["load_cells"] | {"sample_period": "20 ms"}}
    config = CONFIG.changed(slow)
    assert (config.stale_time, config.cells_stale_time) == pytest.approx((0.006, 0.06))


def test_the_bound_may_be_given_in_seconds_or_in_cycles() -> None:
    def bounds(safety: Mapping[str, object], rate: float = 500.0) -> RigConfig:
        return load_config().changed({"rate": rate, "safety": safety})

    assert bounds({}).stale_time == pytest.approx(0.006)  # as files say it that give cycles, or nothing
    assert bounds({}, 1000.0).stale_time == pytest.approx(0.003)
    assert bounds({"stale_cycles": 5}, 1000.0).stale_time == pytest.approx(0.005)
    assert bounds({"stale_time": "8 ms"}, 1000.0).stale_time == pytest.approx(0.008)
    assert relaxed_timing(bounds({"stale_time": "8 ms"})).stale_time == pytest.approx(0.025)  # half a watchdog
    for safety, text in (
        ({"stale_time": "8 ms", "stale_cycles": 5}, "stale_time and stale_cycles are one bound"),
        ({"stale_time": "1 ms"}, r"safety\.stale_time: 0\.001 s, must be at least 0\.002 s, a cycle at 500 Hz"),
        ({"stale_time": "2 s"}, r"safety\.stale_time: 2 s, must be 0\.0001 to 1 s"),
        ({"off": ["stale_time"]}, "stale_time is never switched off"),
    ):
        with pytest.raises(ConfigError, match=text):
            bounds(safety)
    slow = {"drives": {"sample_period": "10 ms"}, "load_cells": DEVICES["load_cells"] | {"sample_period": "20 ms"}}
    seconds = load_config().changed(slow | {"safety": {"stale_time": "50 ms"}})
    assert (seconds.stale_time, seconds.cells_stale_time) == (0.05, 0.05)  # what is given in seconds is seconds
    with pytest.raises(ConfigError, match="stale_time") as refused:
        load_config().changed(slow | {"safety": {"stale_time": "8 ms"}})
    assert "safety.stale_time: 0.008 s, must be at least 0.01 s, drives.sample_period" in str(refused.value)
    assert "safety.stale_time: 0.008 s, must be at least 0.02 s, load_cells.sample_period" in str(refused.value)
    with pytest.raises(ConfigError, match=r"drives\.sample_period: 0\.03 s, must be at most 0\.025 s"):
        load_config().changed({"drives": {"sample_period": 0.03}})


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        ({"source": "devices"}, 'source is "devices", but devices, six of them with their addresses, are missing'),
        (DEVICES["load_cells"] | {"source": "drive"}, 'devices are described, but source is "drive"'),
        ({"sample_period": 0.02}, 'sample_period is of devices, but source is "drive"'),
        (
            {"source": "devices", "devices": [{"host": "x", "port": 1}] * 5 + [{"host": "x", "port": 0}]},
            r"load_cells\.devices\[6\]\.port: must be at least 1, not 0",
        ),
    ],
)
def test_cells_that_cannot_be_configured(cells: dict[str, object], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        load_config().changed({"load_cells": cells})


def test_devices_must_have_six_channels_in_all(tmp_path: Path) -> None:
    six = [entry | {"profile": "generic-amplifier"} for entry in DEVICES["load_cells"]["devices"]]
    with pytest.raises(ConfigError, match="has 6 cells, not 1"):
        VirtualRig(CONFIG.changed({"load_cells": {"source": "devices", "devices": six}}))
