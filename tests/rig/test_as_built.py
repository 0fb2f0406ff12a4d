"""The plant as built: what is drawn, what it does, and that nobody but a judge is told."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from calibration.inertia.departures import friction_terms
from dynamics import BODIES, linear_parameters, load_mechanism, parse_mechanism, pseudo_inertia
from kinematics import leg_lengths
from rig.client import runs
from rig.config import PlantFriction, RigConfig, Tolerance, Virtual, VirtualCells, load_config
from rig.engine import ClockPair, recording_header
from rig.errors import ConfigError, InputError
from rig.virtual import Plant, VirtualRig, differs, truth_of
from rig.virtual import drive_kernel as columns
from rig.virtual.drive_kernel import LEG_COLUMNS as WIDTH
from rig.virtual.drive_kernel import encoder_kernel, friction_kernel
from rig.virtual.truth import CELL_EFFECTS, Draw

MACHINE = load_mechanism("lab-hexapod")
TOLERANCE = Tolerance()
SEEDS = range(20)
SIMPLE = ("extending", "retracting", "breakaway_extending", "breakaway_retracting", "speed", "load")


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


def test_a_seed_is_the_machine_that_it_always_was() -> None:
    truth = truth_of(configured(as_built=4))
    mechanism, friction, cells = truth.mechanism, truth.friction, truth.cells
    found = [
        mechanism.mass, mechanism.legs[5].upper.mass, mechanism.inertia[0, 1], mechanism.geometry.base_points[2, 1],
        mechanism.legs[3].length_offset, mechanism.legs[1].friction.coulomb, friction.extending[4],
        friction.breakaway_retracting[2], friction.load[5], cells.gain[3], cells.bias[0],
    ]  # fmt: skip
    expected = [
        20.552775870742945, 0.9100389351283359, 0.026765882820097328, 0.33288893532200986, 5.70442385652313e-06,
        3.5895449273840945, 0.21563138266656523, 0.6659897417908957, 0.0026510310859968636, 1.0003958987191066,
        0.12615082077654927,
    ]  # fmt: skip
    assert found == pytest.approx(expected, rel=1e-12)
    assert friction == PlantFriction(**{name: getattr(friction, name) for name in SIMPLE})
    assert truth.tilt == (0.0, 0.0) and truth.hose is None
    assert all(getattr(cells, name) == VirtualCells.model_fields[name].default for name in CELL_EFFECTS)


def test_the_plant_shares_no_shape_of_friction_with_the_estimators() -> None:
    """Import-linter holds that it imports nothing of theirs; no number of a machine as built is one of theirs."""
    shapes = [
        float(name.split("_")[1]) for term in friction_terms(0.1) for name, _, _ in term.columns if "stribeck" in name
    ]
    drawn = [Draw(seed, TOLERANCE).friction(MACHINE).speed for seed in range(200)]
    everything = np.array([*drawn, *TOLERANCE.stribeck_speeds, PlantFriction().speed])
    assert len(set(shapes)) > 10
    assert np.abs(everything[:, np.newaxis] - shapes).min() > 0.0


HARD = {
    "stribeck_shape": 0.8, "viscous": 0.4, "ripple": 0.3, "presliding": 2e-5, "running_in": 0.5,
    "cell_gain_warming": 1e-3, "cell_cross_talk": 5e-3, "cell_curvature": 1e-3, "cell_hysteresis": 1e-3,
    "cell_hum": 0.5,
    "cell_jump": 2.0, "cell_spike": 10.0, "tilt": 0.01, "hose": 300.0,
}  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_a_difficult_machine_is_within_what_is_stated(seed: int) -> None:
    config = configured(as_built=seed, tolerance=HARD)
    truth, easy = truth_of(config), truth_of(configured(as_built=seed))
    friction, cells, hose = truth.friction, truth.cells, truth.hose
    coulomb = np.array([leg.friction.coulomb for leg in MACHINE.legs])
    assert 0.0 < abs(friction.shape - 2.0) <= 0.8 and 0.3 <= friction.viscous_exponent <= 2.0
    assert 0.0 < np.max(friction.viscous / coulomb) <= 0.4 and 0.0 < np.max(friction.ripple / coulomb) <= 0.3
    ways = coulomb / friction.presliding_stiffness
    assert ways.min() >= 1e-5 and ways.max() <= 2e-5 and min(friction.presliding_damping) > 0.0
    assert 0.0 < friction.running_in <= 0.5 and 20.0 <= friction.running_in_time <= 300.0
    assert 0.0 < np.abs(cells.gain_warming).max() <= 1e-3 and 0.0 < np.abs(cells.curvature).max() <= 1e-3
    assert len(set(np.ravel(cells.cross_talk))) == 12 and np.abs(cells.cross_talk).max() <= 5e-3
    assert 0.0 < max(cells.hysteresis) <= 1e-3 and 0.0 < max(cells.hum) <= 0.5
    assert 0.0 < max(cells.jump) <= 2.0 and 1.0 / 200.0 <= cells.jump_rate <= 1.0 / 20.0
    assert 0.0 < max(cells.spike) <= 10.0 and 0.05 <= cells.spike_rate <= 0.5
    assert 0.0 < np.abs(truth.tilt).max() <= 0.01 and hose is not None and 150.0 <= hose.stiffness <= 300.0
    # what was drawn before is as it was, but for gravity
    assert np.array_equal(truth.mechanism.array[3:], easy.mechanism.array[3:])
    assert np.linalg.norm(truth.mechanism.gravity) == pytest.approx(np.linalg.norm(MACHINE.gravity), rel=1e-12)
    assert (friction.extending, friction.load, cells.gain) == (
        easy.friction.extending,
        easy.friction.load,
        easy.cells.gain,
    )
    VirtualRig(config)


def test_every_effect_has_numbers_of_its_own_and_what_is_given_holds() -> None:
    every = truth_of(configured(as_built=3, tolerance=HARD))
    one = truth_of(configured(as_built=3, tolerance={"cell_hum": 0.5, "ripple": 0.3}))
    assert one.cells.hum == every.cells.hum and one.friction.ripple == every.friction.ripple
    assert one.friction.viscous == (0.0,) * 6 and one.cells.jump_rate == 0.0 and one.hose is None
    given = configured(
        as_built=3, tolerance=HARD, tilt=[0.1, 0.0], hose={"stiffness": 50.0, "rest": [0.0, 0.0, 0.5]},
        friction={"viscous": 0.1, "ripple_length": 0.5},
    ).changed({"virtual": {"cells": {"jump": 9.0, "jump_rate": 0.5, "hum_frequency": 60.0}}})  # fmt: skip
    found = truth_of(given)
    assert found.friction.viscous == (0.1,) * 6 and found.friction.viscous_exponent == 1.0
    assert found.friction.ripple == every.friction.ripple and found.friction.ripple_length == 0.5
    assert found.cells.jump == (9.0,) * 6 and found.cells.jump_rate == 0.5
    assert found.cells.hum == every.cells.hum and found.cells.hum_frequency == 60.0
    assert found.hose is not None and found.hose.stiffness == 50.0
    assert found.tilt == pytest.approx((every.tilt[0] + 0.1, every.tilt[1]))


def test_the_truth_says_every_effect() -> None:
    truth = truth_of(configured(as_built=3, tolerance=HARD))
    assert truth.hose is not None
    lines = truth.text.splitlines()
    for name in (
        "shape",
        "viscous",
        "viscous_exponent",
        "ripple",
        "ripple_length",
        "presliding_stiffness",
        "running_in",
    ):
        assert f"# friction.{name} = {getattr(truth.friction, name)}" in lines
    for name in ("cross_talk", *CELL_EFFECTS, "jump_rate", "spike_rate", "hum_frequency"):
        assert f"# cells.{name} = {getattr(truth.cells, name)}" in lines
    assert f"# tilt = {truth.tilt}" in lines and f"# hose.stiffness = {truth.hose.stiffness}" in lines
    assert np.array_equal(parse_mechanism(truth.text).gravity, truth.mechanism.gravity)
    assert differs(load_config("virtual").changed({"virtual": {"cells": {"hysteresis": 1e-3}}}))
    assert differs(configured(tilt=[0.01, 0.0]))


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
