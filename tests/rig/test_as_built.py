"""The plant as built: what is drawn, what it does, and that nobody but a judge is told."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from dynamics import BODIES, linear_parameters, load_mechanism, parse_mechanism, pseudo_inertia
from kinematics import leg_lengths
from rig.client import runs
from rig.config import RigConfig, Tolerance, Virtual, load_config
from rig.engine import ClockPair, recording_header
from rig.errors import ConfigError, InputError
from rig.virtual import Plant, VirtualRig, differs, truth_of
from rig.virtual import drive_kernel as columns
from rig.virtual.as_built import Draw
from rig.virtual.drive_kernel import LEG_COLUMNS as WIDTH
from rig.virtual.drive_kernel import encoder_kernel, friction_kernel

MACHINE = load_mechanism("lab-hexapod")
TOLERANCE = Tolerance()
SEEDS = range(20)


def configured(**plant: object) -> RigConfig:
    return load_config("virtual").changed({"virtual": {"plant": plant}})


@pytest.mark.parametrize("seed", SEEDS)
def test_every_body_can_exist_and_is_off_by_what_is_stated(seed: int) -> None:
    built = Draw(seed, TOLERANCE).mechanism(MACHINE)
    theta, drawing = linear_parameters(built), linear_parameters(MACHINE)
    for place in BODIES:
        assert np.linalg.eigvalsh(pseudo_inertia(theta[place]))[0] > 0.0
        assert 0.1 <= abs(theta[place.start] / drawing[place.start] - 1.0) <= 0.2
    geometry = built.geometry
    assert 0.0 < np.abs(geometry.base_points - MACHINE.geometry.base_points).max() <= TOLERANCE.joints
    assert np.abs(geometry.platform_points - MACHINE.geometry.platform_points).max() <= TOLERANCE.joints
    assert np.linalg.norm(geometry.universal_axes - MACHINE.geometry.universal_axes, axis=1).max() < 1e-3
    assert 0.0 < np.abs(built.length_offsets).max() <= TOLERANCE.length_offset
    assert np.linalg.norm(built.center_of_mass - MACHINE.center_of_mass) <= math.sqrt(3.0) * TOLERANCE.center
    assert len({leg.lower.mass for leg in built.legs}) == 6


def test_a_seed_is_one_machine() -> None:
    assert np.array_equal(Draw(4, TOLERANCE).mechanism(MACHINE).array, Draw(4, TOLERANCE).mechanism(MACHINE).array)
    assert not np.array_equal(Draw(4, TOLERANCE).mechanism(MACHINE).array, Draw(5, TOLERANCE).mechanism(MACHINE).array)
    assert truth_of(configured(as_built=4)).text == truth_of(configured(as_built=4)).text


def leg_row(**values: float) -> np.ndarray:
    row = np.zeros(WIDTH)
    row[columns.STRIBECK_SPEED] = row[columns.FRICTION_SPEED] = 0.01
    for name, value in values.items():
        row[getattr(columns, name)] = value
    return row


@pytest.mark.parametrize("velocity", [-0.5, -0.01, -1e-4, 1e-4, 0.01, 0.5])
def test_friction_takes_energy_and_is_each_directions_own(velocity: float) -> None:
    row = leg_row(EXTENDING=1.0, RETRACTING=2.0, BREAKAWAY_EXTENDING=0.5, BREAKAWAY_RETRACTING=0.7, LOAD=0.01)
    force = friction_kernel(row, -40.0, velocity)
    assert force * velocity < 0.0
    level, excess = (1.0, 0.5) if velocity > 0.0 else (2.0, 0.7)
    expected = level + excess * math.exp(-((velocity / 0.01) ** 2)) + 0.4
    assert abs(force) == pytest.approx(expected * math.tanh(abs(velocity) / 0.01))


def test_an_encoder_reads_what_gives_way_and_what_plays() -> None:
    row = leg_row(OFFSET=2e-4, COMPLIANCE=1e-7, BACKLASH=4e-5)
    assert encoder_kernel(row, 0.5, 50.0) == pytest.approx(0.5 + 2e-4 + 5e-6 + 2e-5)
    assert encoder_kernel(row, 0.5, -50.0) == pytest.approx(0.5 + 2e-4 - 5e-6 - 2e-5)


def test_a_homed_leg_stands_where_its_encoder_says() -> None:
    rig = VirtualRig(configured(as_built=3))
    plant, truth = rig.plant, truth_of(configured(as_built=3)).mechanism
    marks = leg_lengths(MACHINE.geometry, MACHINE.geometry.home_pose)
    assert [plant.reference(leg) for leg in range(6)] == pytest.approx(marks, abs=1e-12)
    assert np.array(plant.readings) - plant.lengths == pytest.approx(truth.length_offsets, abs=1e-12)


@pytest.mark.parametrize("lag", [1e-3, 3e-3, 3.3e-3])
def test_cells_lag_by_what_is_asked(lag: float) -> None:
    settings = Virtual.model_validate({"cells": {"lag": lag, "noise": 0.0}, "drive": {"start_spread": 0.0}})
    plant = Plant(MACHINE, settings)
    seen = {}
    for step in range(1, 40):
        plant.wrench[2] = 100.0 * math.sin(0.4 * step)
        plant.advance(2e-3 * step)
        seen[step] = list(plant.cells)
        whole, part = divmod(lag, 2e-3)
        first = step - 1 - int(whole)
        if first > 1:
            early = part / 2e-3
            pairs = zip(seen[first], seen[first + 1], strict=True)
            expected = [(1.0 - early) * later + early * earlier for earlier, later in pairs]
            assert plant.cells_before(lag) == pytest.approx(expected, abs=1e-6)


def test_cells_read_their_neighbours_and_warm_up() -> None:
    cells = {"noise": 0.0, "cross_talk": 0.01, "warming": 2.0, "warming_time": 10.0, "resolution": 0.25}
    rig = VirtualRig(load_config("virtual").changed({"virtual": {"cells": cells}}))
    rig.advance(10.0)
    forces = rig.plant.cells
    for leg, port in enumerate(rig._ports):
        expected = forces[leg] + 0.01 * (forces[leg - 1] + forces[(leg + 1) % 6]) + 2.0 * (1.0 - math.exp(-1.0))
        assert port.cell == pytest.approx(expected, abs=0.126)
        assert port.cell % 0.25 == pytest.approx(0.0, abs=1e-9)


def test_the_truth_is_a_mechanisms_file_and_the_engine_has_none_of_it() -> None:
    config = configured(as_built=8)
    truth = truth_of(config)
    again = parse_mechanism(truth.text)
    assert np.array_equal(again.array, truth.mechanism.array)
    assert np.array_equal(again.length_offsets, truth.mechanism.length_offsets)
    assert differs(config) and not differs(load_config("virtual"))
    assert np.array_equal(config.machine.array, MACHINE.array)
    header = json.dumps(recording_header(config, None, ClockPair(0, 0)))
    assert f"{truth.mechanism.mass!r}" not in header


def test_a_plant_may_have_a_file_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text(truth_of(configured(as_built=2)).text)
    config = configured(mechanism=str(tmp_path / "other.toml"))
    assert truth_of(config).mechanism.mass == truth_of(configured(as_built=2)).mechanism.mass
    assert config.machine.mass == MACHINE.mass
    with pytest.raises(ConfigError, match="give one of them"):
        configured(mechanism="lab-hexapod", as_built=1)
    with pytest.raises(ConfigError, match=r"virtual\.plant\.mechanism: .*nowhere\.toml: no such file"):
        truth_of(configured(mechanism="nowhere.toml"))


def test_a_truth_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none/a\.truth\.toml: cannot be written: No such file"):
        runs._write_truth(configured(as_built=1), tmp_path / "none" / "a.truth.toml")
