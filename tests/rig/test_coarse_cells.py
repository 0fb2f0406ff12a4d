"""Load cells whose readings come in coarse steps: known of the drivers, told from frozen ones, counted as noise."""

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import feedback_samples
import numpy as np
import pytest
from engine_support import CONFIG, Bench, bench, smooth_table

from calibration import identity, rounded_noise, rounding_of_mean, save_cell_calibration, shift_offsets
from calibration.cells import Provenance
from kinematics import Array
from rig.analysis import Smoothing, residuals_of
from rig.analysis.weighing import payload_samples
from rig.client.lifecycle import connect_and_home
from rig.client.motion_runner import Progress
from rig.commissioning import ZeroOptions, measure_zero
from rig.config.rig_config import RigConfig
from rig.engine.header import ClockPair, recording_header
from rig.errors import ConfigError
from rig.recording import recorded_cell_noise, recorded_cell_steps, recorded_rounding
from rig.safety.cell_checks import CellChecks
from rig.states import FaultCode, State
from rig.telemetry import ROW

STEP = 1.0  # N
RATE = CONFIG.rate


def coarse(noise: float, *, known: bool = True, **virtual: Any) -> RigConfig:
    """The virtual rig with cells that are rounded to `STEP`, of a noise, N, that the configuration does not know."""
    cells = {"noise": noise, "resolution": STEP}
    changes: dict[str, Any] = {"virtual": {"cells": cells, **virtual}}
    return CONFIG.changed(changes | ({"load_cells": {"resolution": STEP}} if known else {}))


class Cells:
    """Six cells that read what the model says, with noise and rounding, one cycle after the other."""

    def __init__(self, config: RigConfig, noise: float, step: float, seed: int = 1) -> None:
        self._checks = CellChecks(config, np.zeros((2, 6)))
        self._noise, self._step = noise, step
        self._generator = np.random.default_rng(seed)
        self._last = np.zeros(6)

    def read(self, model: Array, frozen: int | None = None) -> Any:
        force = model + self._noise * self._generator.normal(size=6)
        if self._step:
            force = np.round(force / self._step) * self._step
        if frozen is not None:
            force[frozen] = self._last[frozen]
        self._last = force.copy()
        return self._checks.check(1.0, feedback_samples.Cells(force), force - model, controlled=True)


# -- what is known of the steps --------------------------------------------------------------------------------------


def test_steps_are_those_of_the_numbers_that_a_device_sends_times_the_gain(tmp_path: Path) -> None:
    assert CONFIG.cell_steps == (1e-3,) * 6  # of the servo's profile
    amplifier: dict[str, Any] = {"source": "amplifier", "amplifier": {"host": "127.0.0.1", "port": 15027}}
    assert CONFIG.changed({"load_cells": amplifier}).cell_steps == (1e-3,) * 6
    places = [{"device": f"cell-{leg}", "profile": "laumas"} for leg in range(6)]
    each = {"source": "devices", "devices": places, "sample_period": 0.05}
    weights = CONFIG.changed({"load_cells": each, "safety": {"stale_time": 0.2}})
    assert weights.cell_steps == (0.0980665,) * 6  # divisions of 10 g
    # raw units of 0.5 N: a step of 1e-3 of them is half as much
    raw, when = np.random.default_rng(1).normal(size=(8, 6)), date(2026, 1, 1)
    zeroed = shift_offsets(identity(), raw, np.full((8, 6), 40.0), when, provenance=Provenance())
    halved = replace(zeroed, cells=tuple(replace(cell, gain=0.5) for cell in zeroed.cells))
    path = tmp_path / "cells.toml"
    save_cell_calibration(path, halved)
    scaled = CONFIG.changed({"load_cells": {"calibration": str(path)}})
    assert scaled.cell_steps == (5e-4,) * 6


def test_what_a_driver_does_not_know_is_said_in_the_configuration() -> None:
    modules = [{"device": f"cell-{leg}"} for leg in range(6)]
    unknown: dict[str, Any] = {"source": "devices", "driver": "mantracourt", "devices": modules}
    assert CONFIG.changed({"load_cells": unknown}).cell_steps == (0.0,) * 6
    assert CONFIG.changed({"load_cells": unknown | {"resolution": STEP}}).cell_steps == (STEP,) * 6
    own = CONFIG.changed({"load_cells": {"resolution": [0.1, 0.2, 0.3, 0.4, 0.5, "0.6 N"]}})
    assert own.cell_steps == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
    with pytest.raises(ConfigError, match=r"load_cells\.resolution: -1 N, must be 0 to 10000 N"):
        CONFIG.changed({"load_cells": {"resolution": -1.0}})


# -- rounding is noise -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.25, 0.5])
def test_rounding_leaves_what_is_said_in_readings_in_motion_and_in_a_mean_at_rest(noise: float) -> None:
    generator = np.random.default_rng(3)
    true = generator.uniform(0.0, 50.0, size=4000)
    raw = true + noise * generator.normal(size=(400, 4000))
    off = np.round(raw) - true
    assert off.std() == pytest.approx(float(rounded_noise(noise, 1.0)), rel=0.03)
    of_mean = np.sqrt(max(off.mean(axis=0).std() ** 2 - noise**2 / 400 - 1.0 / 12.0 / 400 * (noise > 0.2), 0.0))
    assert of_mean == pytest.approx(float(rounding_of_mean(noise, 1.0)), rel=0.25, abs=0.004)


def test_rounding_is_among_the_noise_of_the_rig_and_of_its_recordings() -> None:
    config = coarse(0.5)
    assert config.cell_noise == pytest.approx(np.hypot(0.5, 1.0 / np.sqrt(12.0)), rel=1e-12)
    header = recording_header(config, None, ClockPair(0, 0))
    assert recorded_cell_steps(header).tolist() == [STEP] * 6
    assert recorded_cell_noise(header) == config.cell_noise
    del header["cell_steps"]  # a recording made before
    assert recorded_cell_noise(header) == 0.5
    assert recorded_cell_noise({}) is None


def test_a_mean_at_rest_is_no_surer_than_the_steps_of_its_readings(tmp_path: Path) -> None:
    """A weighing at rest, of cells with steps of 1 N and 0.05 N of noise, which averages nothing of them out."""
    config = coarse(0.05, drive={"start_spread": 1e-3}).changed({"load_cells": {"noise": 0.05}})
    with bench(tmp_path, config) as rig:
        rig.engage()
        rig.run(1.0)
        rows = rig.tap.take()
    smoothing = Smoothing(10.0, config.rate)
    left = recorded_rounding(recording_header(config, None, ClockPair(0, 0)))
    assert left == pytest.approx(np.full(6, STEP / np.sqrt(12.0)), rel=0.06)
    samples = payload_samples(
        residuals_of([rows], config.machine, smoothing),
        config.machine,
        smoothing,
        config.cell_noise,
        loaded=True,
        recording=0,
        rounding=left,
    )
    assert len(samples) == 1 and not samples.moving.any()
    assert (np.abs(samples.residual) < 2.5 * np.sqrt(samples.variance)).all()
    assert np.sqrt(samples.variance) == pytest.approx(np.full((1, 6), STEP / np.sqrt(12.0)), rel=0.1)


# -- a cell that lives, and one that does not ------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.5, 0.25, 0.1, 0.0])
@pytest.mark.parametrize("speed", [0.0, 0.2, 2.0, 30.0])
def test_a_coarse_cell_that_lives_is_never_taken_for_a_frozen_one(noise: float, speed: float) -> None:
    """The configuration knows a noise of 0.5 N, whatever there is; forces go up and down by 8 N at a speed, N/s."""
    cells = Cells(coarse(noise), noise, STEP)
    t = np.arange(3_000) / RATE
    course = 8.0 * np.sin(speed / 8.0 * t)
    models = 40.0 + course[:, np.newaxis] * np.array([1.0, -1.0, 0.5, 0.9, 1.1, -0.7])
    assert [cells.read(model) for model in models] == [None] * len(models)


@pytest.mark.parametrize(("step", "noise", "changes"), [(1e-3, 0.5, 0.6), (STEP, 0.5, 5.5), (STEP, 0.0, 5.5)])
def test_a_frozen_cell_is_found_once_the_force_has_changed(step: float, noise: float, changes: float) -> None:
    """At 30 N/s: a fine cell within 20 ms and 0.6 N, as ever, a coarse one within 5.5 N."""
    config = CONFIG if step < 0.1 else coarse(noise)
    cells, found, moved = Cells(config, noise, step), None, 0.0
    model = np.full(6, 40.2)
    for cycle in range(600):
        model = model + 30.0 / RATE
        found = cells.read(model, 2 if cycle >= 300 else None)
        if found is not None:
            moved = (cycle - 299) * 30.0 / RATE
            break
    assert found is not None and (found.cause.code, found.cause.leg) == (FaultCode.LOAD_CELL, 3)
    assert "model's force changed by" in found.cause.text
    assert config.safety.frozen_cycles * 30.0 / RATE <= moved <= changes


def test_a_frozen_cell_is_found_in_slow_motion_after_a_step_and_a_half() -> None:
    cells, model = Cells(coarse(0.0), 0.0, STEP), np.full(6, 40.2)
    for cycle in range(5000):
        model = model + 0.5 / RATE
        if cells.read(model, 2 if cycle >= 2000 else None) is not None:
            assert 0.5 <= (cycle - 1999) * 0.5 / RATE < 1.6  # it had some of its step behind it
            return
    pytest.fail("a frozen cell was never found")


def test_steps_that_nobody_stated_show_in_the_readings() -> None:
    cells = Cells(CONFIG, 0.1, STEP)
    t = np.arange(3_000) / RATE
    models = 40.5 + np.outer(8.0 * np.sin(0.25 * t), np.ones(6))
    assert [cells.read(model) for model in models] == [None] * len(models)


@pytest.mark.parametrize("noise", [0.5, 0.0])
def test_a_rig_with_coarse_cells_runs_a_slow_motion_and_rests(tmp_path: Path, noise: float) -> None:
    with bench(tmp_path, coarse(noise, drive={"start_spread": 1e-3})) as rig:
        rig.engage()
        rig.run(0.5)
        rig.follow(smooth_table(3.0, amplitude=3e-3))
        rig.run(3.6)
        assert rig.state is State.ENGAGED and rig.engine.machine.cause is None


# -- the zero of coarse cells ----------------------------------------------------------------------------------------


def _ignore(_progress: Progress) -> None:
    pass


def test_cells_without_noise_that_are_coarse_can_be_zeroed_to_their_steps(tmp_path: Path) -> None:
    with bench(tmp_path, coarse(0.0, drive={"start_spread": 1e-3})) as rig:
        connect_and_home(rig, _ignore)
        found = measure_zero(rig, lambda: _new(rig), ZeroOptions(duration=0.5), _ignore)
    assert found.faults == ()
    assert np.abs(found.shift).max() <= 0.5 * STEP + 0.05
    for cell in found.calibration.cells:
        assert cell.offset_standard_error == pytest.approx(STEP / np.sqrt(12.0), rel=1e-6)


def _new(rig: Bench) -> Any:
    return rig.tap.take() if rig.tap.rows else np.empty(0, ROW)
