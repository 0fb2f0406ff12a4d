"""Zeroing the cells of a rig in lockstep: what is found, and when it is not usable."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from engine_support import CONFIG, Bench, bench

from calibration import save_cell_calibration
from rig.client.lifecycle import connect_and_home
from rig.client.motion_runner import Progress
from rig.commissioning import Zero, ZeroOptions, check_zero, measure_zero
from rig.config.rig_config import RigConfig
from rig.engine import Engage
from rig.errors import InputError, RefusedError, RunFaultError
from rig.findings import Code
from rig.states import State
from rig.telemetry import ROW

NEAR = CONFIG.changed({"virtual": {"drive": {"start_spread": 1e-3}}})
BIAS = [3.0, -20.0, 0.0, 7.5, 1.0, -2.0]
OFF = NEAR.changed({"virtual": {"cells": {"bias": BIAS}}})
SHORT = ZeroOptions(duration=1.0, operator="me", note="before the run")


def _ignore(_progress: Progress) -> None:
    pass


def new_rows(rig: Bench) -> npt.NDArray[np.void]:
    """Telemetry since the last look, none as it may be."""
    return rig.tap.take() if rig.tap.rows else np.empty(0, ROW)


def zero(folder: Path, config: RigConfig = OFF, options: ZeroOptions = SHORT, *faults: Any) -> Zero:
    with bench(folder, config) as rig:
        connect_and_home(rig, _ignore)
        for fault in faults:
            rig.virtual.faults.inject(*fault)
        return measure_zero(rig, lambda: new_rows(rig), options, _ignore)


def test_the_bias_of_the_cells_is_found(tmp_path: Path) -> None:
    found = zero(tmp_path)
    assert found.faults == ()
    assert found.shift == pytest.approx(BIAS, abs=0.15)
    assert found.calibration.offset == pytest.approx(BIAS, abs=0.15)
    assert found.noise == pytest.approx([0.5] * 6, rel=0.15)
    assert max(map(abs, found.drift)) < 0.2
    assert found.bound == 80.0
    kept = found.calibration.provenance
    assert (kept.operator, kept.note) == ("me", "before the run") and "gain taken as 1" in kept.source
    data = found.as_dict()
    assert data["verdict"] == "ok" and [cell["leg"] for cell in data["cells"]] == [1, 2, 3, 4, 5, 6]


def test_a_rig_that_could_not_be_engaged_can_once_it_is_zeroed(tmp_path: Path) -> None:
    with bench(tmp_path, OFF) as rig:
        rig.park()
        with pytest.raises(RefusedError, match="tare the cells"):
            rig.request(Engage())
    (tmp_path / "engine.mcap").unlink()
    found = zero(tmp_path, OFF)
    (tmp_path / "engine.mcap").unlink()
    save_cell_calibration(tmp_path / "zero.toml", found.calibration)
    with bench(tmp_path, OFF.changed({"load_cells": {"calibration": str(tmp_path / "zero.toml")}})) as rig:
        rig.engage()
        assert rig.state is State.ENGAGED
        rig.step()
        residual = rig.engine.cycle_data.model.residual
        assert np.abs(residual).max() < 3.0


def test_the_present_calibration_keeps_its_gain(tmp_path: Path) -> None:
    gains = OFF.changed({"virtual": {"cells": {"gain": [1.02, -0.95, 1.0, 0.9, 1.1, -1.0], "bias": BIAS}}})
    first = zero(tmp_path).calibration
    (tmp_path / "engine.mcap").unlink()
    cells = tuple(
        replace(cell, gain=1.0 / abs(gain), polarity=1 if gain > 0 else -1, n=9, range=300.0, offset=0.0)
        for cell, gain in zip(first.cells, gains.virtual.cells.gain, strict=True)  # type: ignore[union-attr]
    )
    save_cell_calibration(tmp_path / "masses.toml", replace(first, cells=cells))
    found = zero(tmp_path, gains.changed({"load_cells": {"calibration": str(tmp_path / "masses.toml")}}))
    assert found.faults == ()
    assert found.calibration.gain == pytest.approx(1.0 / np.array(gains.virtual.cells.gain))  # type: ignore[union-attr]
    assert found.calibration.offset == pytest.approx(BIAS, abs=0.15)
    assert "gain taken" not in found.calibration.provenance.source


@pytest.mark.parametrize(
    ("change", "faults", "words"),
    [
        ({}, [("cell_offset", 2, 150.0)], "leg 2: the zero would shift by +1"),
        ({"virtual": {"cells": {"noise": 5.0}}}, [], "leg 1: noise "),
        ({"virtual": {"cells": {"drift": [0.0, 0.0, 3.0, 0.0, 0.0, 0.0]}}}, [], "leg 3: the zero drifted by +1"),
        ({}, [("cell_silent", 2)], "leg 2: its load cell is frozen: "),
        ({}, [("encoder_jump", 5, 1e-3, 0.5)], "leg 5 is not at rest: it moved 1.00"),
    ],
)
def test_what_is_not_to_be_used_says_why(tmp_path: Path, change: dict[str, Any], faults: list[Any], words: str) -> None:
    found = zero(tmp_path, NEAR.changed(change), SHORT, *faults)
    assert any(words in fault.text for fault in found.faults), found.faults
    assert found.as_dict()["verdict"] == "refused"


@pytest.mark.parametrize(("signs", "legs"), [([-1.0] * 6, [1, 2, 3, 4, 5, 6]), ([1.0, 1.0, -1.0, 1.0, 1.0, 1.0], [3])])
def test_a_reversed_cell_is_not_zeroed(tmp_path: Path, signs: list[float], legs: list[int]) -> None:
    found = zero(tmp_path, NEAR.changed({"virtual": {"cells": {"gain": signs}}}))
    assert [(fault.code, fault.leg) for fault in found.faults] == [(Code.ZERO_CELL_REVERSED, leg) for leg in legs]


def test_the_bound_is_the_callers(tmp_path: Path) -> None:
    found = zero(tmp_path, OFF, ZeroOptions(duration=1.0, largest_shift=5.0))
    assert [(fault.code, fault.leg, fault.bound) for fault in found.faults] == [
        (Code.ZERO_SHIFT, 2, 5.0),
        (Code.ZERO_SHIFT, 4, 5.0),
    ]


def test_a_dead_cell_or_a_fault_is_no_zero(tmp_path: Path) -> None:
    with pytest.raises((RefusedError, RunFaultError), match=r"cell|leg 4"):
        zero(tmp_path, OFF, SHORT, ("cell_saturated", 4, 5000.0))
    (tmp_path / "engine.mcap").unlink()
    with bench(tmp_path, OFF) as rig, pytest.raises(RunFaultError, match="left PARKED"):
        measure_zero(rig, lambda: new_rows(rig), SHORT, _ignore)


@pytest.mark.parametrize(
    "options",
    [
        ZeroOptions(duration=0.1),
        ZeroOptions(duration=float("nan")),
        ZeroOptions(duration=1e3),
        ZeroOptions(largest_shift=0.0),
        ZeroOptions(largest_shift=float("nan")),
        ZeroOptions(largest_shift=1e4),
    ],
)
def test_options_outside_their_range_are_refused(options: ZeroOptions) -> None:
    with pytest.raises(InputError, match="is outside"):
        check_zero(CONFIG, options)
