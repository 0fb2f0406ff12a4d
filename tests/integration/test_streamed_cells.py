"""The whole rig with load cells that talk by themselves, slower than the cycle, in lockstep."""

from pathlib import Path

import numpy as np
import pytest
from lockstep_bench import Bench, causes

from rig.config import load_config
from rig.errors import ConfigError
from rig.states import FaultCode, State

NOISE = 0.01  # N
CONFIG = load_config("virtual-servo").changed(
    {
        "load_cells": {
            "source": "devices",
            "driver": "loadstar",
            "sample_period": 0.01,
            "devices": [{"device": f"cell-{leg}", "baud": 230_400} for leg in range(1, 7)],
            "noise": NOISE,
        },
        "virtual": {"drive": {"start_spread": 1e-3}, "cells": {"noise": NOISE}},
    }
)
LEG = 4


def test_each_reading_is_compared_once_and_with_the_model_of_its_own_time(tmp_path: Path) -> None:
    with Bench(tmp_path, CONFIG) as bench:
        bench.run(2.0)
        recording = bench.recording()
    assert recording.complete and causes(recording) == []
    rows = recording.rows[recording.rows["state"] == State.RUNNING]
    changed = np.abs(np.diff(rows["force_measured"], axis=0)) > 0.0
    assert changed.any(axis=1).sum() == pytest.approx(0.5 * len(rows), abs=2)  # every second cycle, all six
    rate = np.gradient(rows["force_model"], CONFIG.period, axis=0)
    lag = np.sum(rate * rows["force_residual"]) / np.sum(rate**2)
    assert abs(lag) < 0.5 * CONFIG.period  # the readings are up to 12 ms old


def test_a_stream_that_ends_stops_the_rig(tmp_path: Path) -> None:
    with Bench(tmp_path, CONFIG) as bench:
        bench.engage()
        bench.rig.virtual.cells[LEG - 1].inject("drop_all")
        bench.until_state(State.STOPPING)
        cause = bench.machine.cause
        assert cause is not None and cause.code is FaultCode.LOAD_CELL and "no fresh reading" in cause.text


def test_a_pace_that_a_stream_does_not_keep_is_refused() -> None:
    slow = [{"device": f"cell-{leg}"} for leg in range(1, 7)]
    with pytest.raises(
        ConfigError, match=r"sample_period: 0.005 s .* at least 0.0094 s, the time that a reading by load_cells.devices"
    ):
        CONFIG.changed({"load_cells": {"sample_period": 0.005, "devices": slow}})
    assert CONFIG.changed({"load_cells": {"devices": slow}}).reading_period == 0.01
    with pytest.raises(ConfigError, match=r"sample_period: 0.01 s .* at least 0.0143 s, the time"):
        CONFIG.changed({"load_cells": {"devices": [place | {"series": "di-1000"} for place in slow]}})
