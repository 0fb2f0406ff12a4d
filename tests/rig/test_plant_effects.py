"""Effects of the virtual plant that no estimator has a formula of: each by its physics, in the plant and offline."""

import math
from dataclasses import replace

import numpy as np
import pytest
from configured import SHIPPED
from scipy.spatial.transform import Rotation
from test_closed_loop import HELD, HOME, TABLE, loop

from actuators import Mode
from dynamics import Dynamics, load_mechanism
from rig.config import Hose, PlantFriction, Virtual
from rig.errors import ConfigError
from rig.virtual import MujocoPlant, Plant, cycle_times, hose_wrenches, on_reference, run_loop
from rig.virtual import drive_kernel as columns
from rig.virtual.drive_kernel import (
    bristle_kernel,
    every_friction_kernel,
    friction_kernel,
    keep_bristle_kernel,
    run_in_kernel,
)
from rig.virtual.plant import leg_rows, plant_mechanism

MACHINE = load_mechanism("lab-hexapod")
COULOMB = MACHINE.legs[0].friction.coulomb
PRISMATIC = MACHINE.legs[0].friction.prismatic
EVERY = PlantFriction(
    extending=(0.5,) * 6, breakaway_retracting=(1.0,) * 6, shape=1.2, load=(0.01,) * 6, viscous=(1.0,) * 6,
    viscous_exponent=0.5, ripple=(0.8,) * 6, ripple_length=0.012, presliding_stiffness=(2e5,) * 6,
    presliding_damping=(60.0,) * 6, running_in=0.4, running_in_time=2.0,
)  # fmt: skip
HOSE = Hose(stiffness=800.0, damping=5.0, point=(0.1, -0.05, 0.02), rest=(0.12, 0.0, 0.4))


def row(**friction: object) -> np.ndarray:
    """The first leg's row with a friction of the plant's."""
    return np.array(leg_rows(MACHINE, Virtual().plant, PlantFriction.model_validate(friction))[0])


def rub(leg: np.ndarray, velocity: float, *, length: float = 0.5, force: float = 0.0) -> float:
    if leg[columns.OWN_FRICTION] == columns.EVERY_FRICTION:
        return every_friction_kernel(leg, np.zeros(columns.DRIVE_COLUMNS), force, length, velocity)
    return friction_kernel(leg, force, velocity)


def plant_of(kind: type[Plant] = Plant, **changes: object) -> Plant:
    settings = Virtual.model_validate({"drive": {"start_spread": 0.002}, **changes})
    return kind(plant_mechanism(MACHINE, settings.plant), settings)


def swing(plant: Plant, duration: float, cycle: float = 2e-3) -> np.ndarray:
    """The legs swing by their drives' position loops; motion (19), cells and forces of each cycle."""
    start, rates = np.array(plant.readings), 2.0 * math.pi * np.array([1.0, 1.3, 0.8, 1.1, 0.9, 1.2])
    rows = []
    for k in range(round(duration / cycle)):
        angles = rates * k * cycle
        for leg in range(6):
            position = start[leg] + 0.01 * (1.0 - math.cos(angles[leg]))
            speed = 0.01 * rates[leg] * math.sin(angles[leg])
            plant.command(leg, Mode.POSITION, 0.0, position, speed, True, False, False)
        plant.advance((k + 1) * cycle)
        rows.append(np.concatenate([plant.state, plant.acceleration, plant.cells, plant.forces]))
    return np.array(rows)


# -- friction ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [0.5, 1.0, 3.0])
def test_stribecks_curve_has_its_exponent(shape: float) -> None:
    leg = row(breakaway_extending=2.0, speed=0.02, shape=shape)
    for velocity in (0.02, 0.04, 0.1):
        expected = COULOMB + 2.0 * math.exp(-((velocity / 0.02) ** shape)) + PRISMATIC * velocity
        assert rub(leg, velocity) == pytest.approx(-expected, rel=1e-9)


@pytest.mark.parametrize("exponent", [0.3, 1.0, 2.0])
def test_viscous_friction_follows_its_power_in_both_directions(exponent: float) -> None:
    leg = row(viscous=3.0, viscous_speed=0.2, viscous_exponent=exponent)
    for velocity in (0.05, 0.2, 0.8):
        expected = COULOMB + PRISMATIC * velocity + 3.0 * (velocity / 0.2) ** exponent
        assert rub(leg, velocity) == pytest.approx(-expected, rel=1e-9)
        assert rub(leg, -velocity) == pytest.approx(expected, rel=1e-9)
    assert rub(leg, 0.0) == 0.0


def test_friction_follows_the_leg_length_with_its_wave_and_phase() -> None:
    leg = row(ripple=1.5, ripple_length=0.02, ripple_phase=0.3)
    lengths = 0.5 + np.linspace(0.0, 0.04, 81)
    sizes = np.array([-rub(leg, 0.1, length=float(length)) for length in lengths])
    wave = np.sin(2.0 * math.pi * lengths / 0.02 + 0.3)
    assert sizes == pytest.approx(COULOMB + PRISMATIC * 0.1 + 1.5 * wave, abs=1e-9)


def test_friction_that_would_push_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"virtual\.plant\.friction: leg 1: ripple 9 N is above"):
        row(ripple=9.0)
    with pytest.raises(ConfigError, match="would push"):
        row(ripple=1.0, retracting=-COULOMB)


def test_friction_falls_as_it_runs_in() -> None:
    rows = np.array([row(running_in=0.5, running_in_time=40.0)])
    rows[0, columns.BEGAN] = 7.0
    cold = COULOMB + PRISMATIC * 0.1
    for time, factor in ((7.0, 1.5), (47.0, 1.0 + 0.5 / math.e), (1e4, 1.0)):
        run_in_kernel(rows, time)
        assert rub(rows[0], 0.1) == pytest.approx(-factor * cold, rel=1e-9)


def test_a_plant_runs_in_from_its_own_start() -> None:
    settings = Virtual.model_validate({"plant": {"friction": {"running_in": 1.0, "running_in_time": 0.1}}})
    plant = Plant(MACHINE, settings, 1000.0)
    plant.advance(1000.1)
    assert plant._legs[:, columns.FACTOR] == pytest.approx(1.0 + math.exp(-1.0), rel=0.01)


def slide(leg: np.ndarray, ways: np.ndarray, h: float = 5e-4) -> tuple[np.ndarray, np.ndarray]:
    """Friction and deflection of a leg whose length goes so far in each step; what LuGre's damping does is left out."""
    drive = np.zeros(columns.DRIVE_COLUMNS)
    length = drive[columns.BRISTLE_LENGTH] = 0.5
    forces, deflections = [], []
    for way in ways:
        length += way
        keep_bristle_kernel(leg, drive, 0.0, length, way / h)
        forces.append(-leg[columns.PRESLIDING_STIFFNESS] * drive[columns.BRISTLE])
        deflections.append(drive[columns.BRISTLE])
    return np.array(forces), np.array(deflections)


@pytest.mark.parametrize("stiffness", [1e5, 1e6, 1e8])
def test_before_it_slides_friction_is_a_spring_and_behind_its_limit_coulombs(stiffness: float) -> None:
    leg = row(presliding_stiffness=stiffness)
    limit = COULOMB / stiffness
    forces, _ = slide(leg, np.array([1e-4 * limit]))
    assert forces[0] == pytest.approx(-COULOMB * 1e-4, rel=2e-3)
    forces, _ = slide(leg, np.array([0.5 * limit, 1e4 * limit, -1e4 * limit]))
    assert forces == pytest.approx([-COULOMB * (1.0 - math.exp(-0.5)), -COULOMB, COULOMB], rel=1e-6)
    at_once, _ = slide(leg, np.array([0.7 * limit]))
    in_parts, _ = slide(leg, np.full(70, 0.01 * limit))
    assert in_parts[-1] == pytest.approx(at_once[0], rel=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_no_way_to_and_fro_gets_more_out_of_friction_than_went_in(seed: int) -> None:
    """Work done against it is at least what its spring holds more, whatever the steps are and however friction falls.

    Over a way w against a limit z∞, from z₀ to z₁, Dahl's spring takes ∫ z dL = ±z∞ (w − z₁ + z₀) times its stiffness.
    """
    random = np.random.default_rng(seed)
    stiffness = 10.0 ** random.uniform(5.0, 8.0)
    leg = row(presliding_stiffness=stiffness, breakaway_extending=4.0, breakaway_retracting=3.0, ripple=1.0, shape=1.0)
    drive = np.zeros(columns.DRIVE_COLUMNS)
    length = drive[columns.BRISTLE_LENGTH] = 0.5
    taken = []
    for way in random.choice([-1.0, 1.0], 400) * 10.0 ** random.uniform(-8.0, -4.0, 400):
        way, length = length + way - length, length + way
        _, limit = bristle_kernel(leg, drive, 0.0, length, way / 5e-4)
        before = drive[columns.BRISTLE]
        keep_bristle_kernel(leg, drive, 0.0, length, way / 5e-4)
        after, least = drive[columns.BRISTLE], float(np.clip(before, -limit, limit))
        work = stiffness * math.copysign(limit, way) * (way - after + least)
        taken.append(work - 0.5 * stiffness * (after**2 - before**2))
        assert abs(after) <= limit <= (COULOMB + 4.0 + 1.0) / stiffness
    assert min(taken) >= -1e-12 and sum(taken) > 0.0


@pytest.mark.parametrize("velocity", [-0.5, -1e-3, 1e-3, 0.5])
def test_every_friction_together_takes_energy_as_it_slides(velocity: float) -> None:
    leg = leg_rows(MACHINE, Virtual().plant, EVERY)[0]
    drive = np.zeros(columns.DRIVE_COLUMNS)
    drive[columns.BRISTLE_LENGTH] = 0.5 - math.copysign(0.1, velocity)
    for length in np.linspace(0.5, 0.52, 9):
        assert every_friction_kernel(leg, drive, -40.0, float(length), velocity) * velocity < 0.0


def test_a_leg_sticks_under_less_than_its_friction_where_it_would_creep() -> None:
    part, stiffness = 0.3, 5e5

    def pushed(**friction: object) -> np.ndarray:
        plant = plant_of(plant={"friction": friction}, drive={"start_spread": 0.0})
        held = np.concatenate([plant.state[:7], np.zeros(12)])
        weight = Dynamics(MACHINE).forces(held)
        for step in range(-300, 400):  # held, then pushed slowly: a jolt would take it further
            force = weight + max(step, 0) / 400.0 * part * COULOMB
            for leg in range(6):
                plant.command(leg, Mode.FORCE, float(force[leg]), 0.0, 0.0, True, False, False)
            plant.advance((step + 301) * 1e-3)
            if step == 0:
                before = np.array(plant.lengths)
        moved: np.ndarray = np.array(plant.lengths) - np.array(before)
        return moved

    stuck = pushed(presliding_stiffness=stiffness, presliding_damping=200.0)
    assert stuck == pytest.approx(np.full(6, -COULOMB / stiffness * math.log(1.0 - part)), rel=0.2)
    assert pushed().min() > 20.0 * stuck.max()


def test_friction_in_the_legs_rows_is_that_of_the_mechanism() -> None:
    """All effects of no size: the mechanism's friction comes from the rows and not from its dynamics."""
    by_dynamics = swing(plant_of(), 0.3)
    by_rows = swing(plant_of(plant={"friction": {"shape": 2.5}}), 0.3)
    assert np.ptp(by_dynamics[:, 2]) > 1e-3
    assert np.abs(by_rows[:, :13] - by_dynamics[:, :13]).max() < 1e-9
    assert np.abs(by_rows[:, 19:25] - by_dynamics[:, 19:25]).max() < 1e-6


def test_too_stiff_a_presliding_and_too_stiff_a_hose_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"virtual\.plant\.friction: presliding_stiffness.*step of 0\.0005 s"):
        plant_of(plant={"friction": {"presliding_stiffness": 1e9}})
    hose = {"stiffness": 1e6, "damping": 1e6, "rest": [0.0, 0.0, 0.5]}
    with pytest.raises(ConfigError, match=r"virtual\.plant\.hose: stiffness and damping.*1e\+06 N/m"):
        plant_of(plant={"hose": hose})


# -- hose and tilt -----------------------------------------------------------------------------------------------------


def test_a_hose_pulls_its_point_back_and_brakes_it() -> None:
    random = np.random.default_rng(2)
    turn, place, velocity, spin = Rotation.random(rng=3), *random.normal(size=(3, 3))
    state = np.concatenate([place, turn.as_quat(scalar_first=True), velocity, spin])
    arm = turn.apply(HOSE.point)
    force = -HOSE.stiffness * (place + arm - HOSE.rest) - HOSE.damping * (velocity + np.cross(spin, arm))
    expected = np.concatenate([turn.inv().apply(force), turn.inv().apply(np.cross(arm, force))])
    assert hose_wrenches(HOSE, state[np.newaxis])[0] == pytest.approx(expected, rel=1e-12)
    assert not hose_wrenches(None, state[np.newaxis]).any()


def test_cells_feel_the_hose_at_rest_and_in_motion() -> None:
    plant = plant_of(plant={"hose": HOSE.model_dump()})
    rows = swing(plant, 0.2)[50:]
    model = Dynamics(MACHINE, 1e-3)
    with_hose = model.cells(rows[:, :19], hose_wrenches(HOSE, rows))
    assert rows[:, 19:25] == pytest.approx(with_hose, abs=1e-9)
    assert np.abs(with_hose - model.cells(rows[:, :19])).max() > 5.0


@pytest.mark.parametrize("kind", [Plant, MujocoPlant])
def test_a_tilted_base_is_gravity_turned(kind: type[Plant]) -> None:
    tilt = (0.05, -0.08)
    turned = Rotation.from_euler("XY", tilt).inv().apply(np.array(MACHINE.gravity))
    plant = plant_of(kind, plant={"tilt": tilt}, drive={"start_spread": 0.0})
    machine = plant_mechanism(MACHINE, Virtual.model_validate({"plant": {"tilt": tilt}}).plant)
    assert machine.gravity == pytest.approx(turned, abs=1e-12)
    plant.advance(0.2)
    still = np.concatenate([plant.state[:7], np.zeros(12)])
    assert plant.cells == pytest.approx(Dynamics(machine).cells(still)[0], abs=0.01)
    assert np.abs(np.array(plant.cells) - Dynamics(MACHINE).cells(still)[0]).max() > 1.0


# -- MuJoCo and offline ------------------------------------------------------------------------------------------------


def test_mujoco_moves_a_difficult_machine_as_the_exact_plant_does() -> None:
    plant = {"friction": EVERY.model_dump(), "hose": HOSE.model_dump(), "tilt": (0.02, 0.01)}
    exact, mujoco = (swing(plant_of(kind, plant=plant, step=1e-4), 0.4)[50:] for kind in (Plant, MujocoPlant))
    assert np.ptp(exact[:, 2]) > 0.005
    assert np.abs(exact[:, :3] - mujoco[:, :3]).max() < 5e-6
    assert np.sqrt(((exact[:, 19:25] - mujoco[:, 19:25]) ** 2).mean(axis=0)).max() < 0.1


def test_offline_it_is_the_same_machine() -> None:
    """Speeds of the offline loop have the accelerations that its forces, frictions and hose give."""
    difficult = {"plant": {"friction": EVERY.model_dump(), "hose": HOSE.model_dump(), "tilt": (0.02, 0.01)}}
    run = run_loop(SHIPPED.changed({"virtual": difficult}), TABLE, "force")
    assert not run.end
    by_speed = np.gradient(run.states[:, 7:13], run.times, axis=0)
    apart = np.abs(run.motion[:, 13:] - by_speed)[50:-5]
    assert np.median(apart) < 0.02 * np.abs(by_speed).max()
    easy = loop("force")
    assert np.abs(run.error[:, :3]).max() > 3.0 * np.abs(easy.error[:, :3]).max()
    cells = Dynamics(run.plant, 1e-3).cells(run.motion, hose_wrenches(HOSE, run.states))
    assert run.cells() - cells == pytest.approx(np.zeros_like(cells), abs=3.0)  # noise alone


def test_offline_and_in_steps_a_difficult_machine_moves_alike() -> None:
    """The weight is held, then a push moves the platform, by the plant's integrator and by that of the offline loop."""
    hose = HOSE.model_dump() | {"rest": tuple(HOME[:3] + np.array(HOSE.point)), "damping": 50.0}
    plant_settings = {"friction": EVERY.model_dump() | {"running_in": 0.0}, "hose": hose}
    config = SHIPPED.changed({"virtual": {"drive": {"start_spread": 0.0}, "plant": plant_settings}})
    assert config.virtual is not None
    plant = Plant(config.machine, config.virtual)
    weight = on_reference(config, HELD).motors
    for leg in range(6):
        plant.command(leg, Mode.FORCE, float(weight[leg]), 0.0, 0.0, True, False, False)
    plant.advance(0.5)
    start = replace(on_reference(config, HELD), state=plant.state)
    push = np.array([60.0, 20.0, 80.0, 1.0, 0.0, 0.0])
    plant.wrench[:] = push
    run = run_loop(config, HELD, "none", start=start, wrenches=np.tile(push, (len(cycle_times(config, HELD)), 1)))
    states = []
    for cycle in range(1, 60):
        plant.advance(0.5 + cycle * config.period)
        states.append(plant.state)
    moved = np.array(states)[:, :3] - start.state[:3]
    assert np.abs(moved).max() > 2e-3
    assert np.abs(run.states[1:60, :3] - np.array(states)[:, :3]).max() < 0.02 * np.abs(moved).max()
