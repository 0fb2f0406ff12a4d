"""Rigs of half a kilogram and of 380 kg by the defaults alone: gains, bounds, cells and drives have their size."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_support import Bench, bench, smooth_table
from sized_machines import sized

from dynamics import format_mechanism
from kinematics import MotionTable, pose_to_coordinates
from rig.client.lifecycle import connect_and_home
from rig.client.motion_runner import Progress
from rig.commissioning import ZeroOptions, measure_zero
from rig.config import load_config
from rig.config.rig_config import SCALED, RigConfig
from rig.errors import ConfigError
from rig.safety.stability import check_loop
from rig.states import State
from rig.telemetry import ROW

DRIVES = "\n".join(f'    {{ host = "127.0.0.1", port = {15020 + leg} }},' for leg in range(1, 7))
PLAIN = f"""
name = "sized"
mechanism = "sized.toml"
mode = "force"
[drives]
legs = [
{DRIVES}
]
[virtual]
seed = 1
"""


def rig_of(folder: Path, mass: float, more: str = "") -> RigConfig:
    (folder / "sized.toml").write_text(format_mechanism(sized(mass)))
    (folder / "rig.toml").write_text(PLAIN + more)
    return load_config(folder / "rig.toml")


def away(config: RigConfig, amplitude: float) -> MotionTable:
    table = smooth_table(2.0, amplitude)
    home = config.machine.geometry.home_pose
    table.samples[:, :6] += pose_to_coordinates(home) - table.samples[0, :6]
    return table


@pytest.mark.parametrize("mass", [0.5, 380.0])
def test_a_rig_homes_moves_and_parks_by_its_defaults(tmp_path: Path, mass: float) -> None:
    config = rig_of(tmp_path, mass)
    assert check_loop(config).message == ""
    with bench(tmp_path, config) as rig:
        rig.engage()
        rig.tap.rows.clear()
        rig.follow(away(config, 12e-3 * (mass / 18.0) ** (1 / 3)))
        rig.run(2.5)
        assert rig.state is State.ENGAGED and rig.engine.machine.cause is None
        rows = rig.tap.take()
    residual = rows["force_residual"][:, :].std(axis=0)
    assert residual == pytest.approx(np.full(6, config.load_cells.noise), rel=0.1)
    assert np.ptp(rows["force_model"], axis=0).max() > 5.0 * config.load_cells.noise
    assert np.abs(rows["length"] - rows["length_reference"]).max() < 0.1 * config.safety.following_error


@pytest.mark.parametrize("mass", [0.5, 380.0])
def test_the_cells_of_a_rig_of_any_size_are_zeroed(tmp_path: Path, mass: float) -> None:
    config = rig_of(tmp_path, mass)
    with bench(tmp_path, config) as rig:
        connect_and_home(rig, lambda _progress: None)
        found = measure_zero(rig, lambda: _new(rig), ZeroOptions(duration=0.5), _ignore)
    assert found.faults == ()
    assert np.abs(found.shift).max() < config.load_cells.noise
    assert found.calibration.drift is not None
    # by the defaults' size, or five standard errors of two means of 125 readings
    least = np.maximum(config.load_cells.range / 1600.0, 3.0 * config.load_cells.noise / np.sqrt(62.0))
    assert (found.calibration.drift.bound < 1.5 * least).all()


def test_defaults_are_those_of_the_sections_at_the_lab_hexapods_size_and_what_is_given_holds(tmp_path: Path) -> None:
    usual = rig_of(tmp_path, 18.0)
    for way, keys in SCALED.items():
        section: Any = usual
        for part in way:
            section = getattr(section, part)
        for key in keys:
            assert getattr(section, key) == type(section).model_fields[key].default, (way, key)
    given = rig_of(tmp_path, 380.0, "[safety]\nforce_residual = 30.0\n[load_cells]\nnoise = 2.0\n")
    assert given.safety.force_residual == 30.0 and given.load_cells.noise == 2.0
    assert given.load_cells.range == 16900.0 and given.safety.tare_shift == 106.0
    assert given.control.stiffness == 422e3 and given.safety.following_error == 2e-3
    assert given.virtual is not None and given.virtual.cells.noise == (10.6,) * 6
    again = given.changed({"rate": 400.0})
    assert again.load_cells == given.load_cells and again.control == given.control


def test_a_default_that_a_machine_cannot_have_is_asked_for_by_its_key(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        rig_of(tmp_path, 1e-3)
    text = str(error.value)
    assert "virtual.drive.position_damping: 0.05 N s/m, must be 0.1 to 1e+07 N s/m: not given" in text
    assert "safety.brake_slip: 7.63e-05 m, must be 0.0001 to 0.05 m" in text


def _ignore(_progress: Progress) -> None:
    pass


def _new(rig: Bench) -> Any:
    return rig.tap.take() if rig.tap.rows else np.empty(0, ROW)
