"""The plant that MuJoCo moves beside the exact one: the same motion and the same cells, within stated bounds."""

import builtins
import math
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest

from actuators import Mode
from dynamics import Dynamics, Mechanism, load_mechanism
from kinematics import (
    MotionTable,
    TrajectorySpec,
    build_trajectory,
    leg_kinematics,
    pose_difference,
    stepped_pose,
    tabulate,
)
from rig.cli import main
from rig.config import PlantFriction, Virtual, load_config
from rig.errors import ConfigError, ExitCode
from rig.safety import with_bandwidth
from rig.virtual import (
    MujocoPlant,
    Plant,
    VirtualRig,
    controllers,
    on_reference,
    run_loop,
    scaled_mechanism,
    truth_of,
)
from rig.virtual import drive_kernel as columns
from rig.virtual.closed_loop import simulation
from rig.virtual.mujoco_plant import STEP

MACHINE = load_mechanism("lab-hexapod")
CYCLE = 2e-3
WRENCH = np.array([5.0, -3.0, 10.0, 0.5, 0.4, -0.3])
FRICTION = PlantFriction(extending=(1.0,) * 6, breakaway_retracting=(2.0,) * 6, load=(0.01,) * 6)


def with_cells(*locations: Literal["rod_end", "base", "actuator"]) -> Mechanism:
    """The mechanism with a cell of some mass and a place off the axis in each leg."""
    legs = [
        replace(
            leg, load_cell=replace(leg.load_cell, location=where, mass_beyond=0.3, place=np.array([-0.05, 0.01, 0.02]))
        )
        for leg, where in zip(MACHINE.legs, locations, strict=True)
    ]
    return replace(MACHINE, legs=tuple(legs))


MIXED = with_cells("rod_end", "base", "actuator", "rod_end", "base", "actuator")


def settings(**changes: object) -> Virtual:
    return Virtual.model_validate({"step": 1e-4, "drive": {"start_spread": 0.002}, **changes})


def move(plant: Plant, duration: float) -> np.ndarray:
    """Have the legs swing by their drives' position loops; motion (19) and cells (6) of each cycle."""
    start, rates = np.array(plant.readings), 2.0 * math.pi * np.array([1.0, 1.3, 0.8, 1.1, 0.9, 1.2])
    rows = []
    for cycle in range(round(duration / CYCLE)):
        angles = rates * cycle * CYCLE
        positions, speeds = start + 0.01 * (1.0 - np.cos(angles)), 0.01 * rates * np.sin(angles)
        for leg in range(6):
            plant.command(leg, Mode.POSITION, 0.0, positions[leg], speeds[leg], True, False, False)
        plant.advance((cycle + 1) * CYCLE)
        rows.append(np.concatenate([plant.state, plant.acceleration, plant.cells]))
    return np.array(rows)


@pytest.fixture(scope="module")
def swings() -> tuple[np.ndarray, np.ndarray]:
    """The same commands to both, past the jolt of the opening brakes."""
    exact, mujoco = (kind(MIXED, settings(), friction=FRICTION) for kind in (Plant, MujocoPlant))
    for plant in (exact, mujoco):
        plant.wrench[:] = WRENCH
    return move(exact, 0.6)[50:], move(mujoco, 0.6)[50:]


def test_it_moves_as_the_exact_plant_does(swings: tuple[np.ndarray, np.ndarray]) -> None:
    exact, mujoco = swings
    assert np.ptp(exact[:, 2]) > 0.01
    assert np.abs(exact[:, :3] - mujoco[:, :3]).max() < 2e-6
    assert np.abs(exact[:, 3:7] - mujoco[:, 3:7]).max() < 3e-6
    assert np.abs(exact[:, 7:10] - mujoco[:, 7:10]).max() < 2e-4
    # what is left is where the speeds change sign: MuJoCo's friction has another shape there
    assert np.sqrt(((exact[:, 19:] - mujoco[:, 19:]) ** 2).mean(axis=0)).max() < 0.1


def test_its_cells_read_what_the_model_says_of_its_motion() -> None:
    """MuJoCo's forces against ours at MuJoCo's own motion, without friction's shape: the give of its constraints."""
    legs = [replace(leg, friction=replace(leg.friction, coulomb=0.0)) for leg in MIXED.legs]
    machine = replace(MIXED, legs=tuple(legs))
    plant = MujocoPlant(machine, settings())
    plant.wrench[:] = WRENCH
    rows = move(plant, 0.4)[25:]
    expected = Dynamics(machine).cells(rows[:, :19], np.tile(WRENCH, (len(rows), 1)))
    assert np.ptp(expected, axis=0).min() > 1.0
    assert np.abs(rows[:, 19:] - expected).max() < 1e-4


@pytest.mark.parametrize("location", ["rod_end", "base", "actuator"])
def test_at_rest_on_its_brakes_it_carries_the_weight(location: Literal["rod_end", "base", "actuator"]) -> None:
    machine = with_cells(*[location] * 6)
    exact, mujoco = (kind(machine, settings()) for kind in (Plant, MujocoPlant))
    for plant in (exact, mujoco):
        plant.advance(0.05)
    assert mujoco.cells == pytest.approx(exact.cells, abs=1e-4)
    assert np.abs(mujoco.state - exact.state)[:7].max() < 1e-8
    assert mujoco.fault == "" and mujoco.time == 0.05


def test_a_payload_is_carried_from_the_moment_it_is_put_on() -> None:
    exact, mujoco = (kind(MACHINE, settings()) for kind in (Plant, MujocoPlant))
    before = sum(mujoco.cells)
    for plant in (exact, mujoco):
        plant.add_payload(3.0, (0.05, 0.0, 0.1))
        plant.advance(0.1)
    assert mujoco.cells == pytest.approx(exact.cells, abs=0.05)
    assert sum(mujoco.cells) > before + 25.0


def test_an_error_of_its_constraints_is_gone_with_the_step() -> None:
    """The give of its joints is of the second order in the step, as a constraint's error decays in so many of them."""
    gaps = []
    for step in (1e-4, 5e-5):
        plant = MujocoPlant(MACHINE, settings(step=step))
        move(plant, 0.05)
        gaps.append(np.abs(plant._data.efc_pos[:18]).max())
    assert gaps[0] == pytest.approx(4.0 * gaps[1], rel=0.1) and gaps[0] < 1e-9
    assert MujocoPlant(MACHINE, settings(step=5e-4)).step == STEP


def test_it_stands_still_where_it_diverges() -> None:
    plant = MujocoPlant(MACHINE, settings())
    plant.wrench[0] = 1e8
    plant.advance(0.01)
    assert "the plant stands still" in plant.fault
    assert np.isfinite(plant.state).all() and not np.any(plant.state[7:]) and plant.speeds == [0.0] * 6
    before = plant.state
    plant.advance(0.02)
    assert np.array_equal(plant.state, before) and plant.time == 0.02


def test_a_configuration_asks_for_it_and_the_truth_says_so() -> None:
    config = load_config("virtual").changed({"virtual": {"plant": {"engine": "mujoco", "as_built": 3}}})
    assert isinstance(VirtualRig(config).plant, MujocoPlant)
    assert "# engine = mujoco" in truth_of(config).text


@pytest.fixture(scope="module")
def table() -> MotionTable:
    """Half a second that begins and ends at rest."""
    terms = [{"dof": "z", "amplitude": 0.01, "frequency": 3.0}, {"dof": "ry", "amplitude": 0.03, "frequency": 2.0}]
    part = {"type": "harmonic", "duration": 0.5, "fade": 0.15, "terms": terms}
    spec = TrajectorySpec.model_validate({"frame": "home", "parts": [part]})
    return tabulate(build_trajectory(spec, MACHINE.geometry.home_pose), 1e-3)


EXACT = load_config("virtual")
MOVED = EXACT.changed({"virtual": {"plant": {"engine": "mujoco"}}})
TWIST = np.array([0.01, -0.006, 0.016, 0.04, -0.02, 0.03])


@pytest.mark.parametrize("controller", controllers())
def test_any_plant_is_followed_as_the_compiled_loop_follows_its_own(
    controller: str, table: MotionTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop around MuJoCo's plant, with the exact plant in its place: only the integrator of the drives differs."""
    start = on_reference(EXACT, table, TWIST)
    compiled = run_loop(EXACT, table, controller, start=start)
    monkeypatch.setattr(simulation, "MujocoPlant", Plant)
    stepped = run_loop(MOVED, table, controller, start=start)
    assert len(stepped.states) == len(compiled.states) and stepped.end == compiled.end
    apart = pose_difference(stepped.states[:, :7], compiled.states[:, :7])
    assert np.abs(apart).max() < (3e-5 if controller == "position" else 1e-6)
    assert np.abs(stepped.cells() - compiled.cells()).max() < 1.0
    assert np.abs(stepped.motors - compiled.motors)[5:].max() < 1.0


def test_a_plant_set_moving_has_the_legs_speeds_and_the_forces_accelerations() -> None:
    """Off home and turned, with motors that give the model's forces: accelerations are those that they are for."""
    legs = [replace(leg, friction=replace(leg.friction, coulomb=0.0)) for leg in MACHINE.legs]
    machine, home = replace(MACHINE, legs=tuple(legs)), MACHINE.geometry.home_pose
    pose = stepped_pose(home, np.array([0.03, -0.02, 0.02, 0.1, -0.15, 0.2]), "base", np.zeros(3))
    motion = np.concatenate([pose, 5.0 * TWIST, 10.0 * TWIST])
    drives = np.zeros((6, columns.DRIVE_COLUMNS))
    drives[:, columns.GAIN], drives[:, columns.LEG] = 1.0, np.arange(6)
    drives[:, columns.MOTOR] = Dynamics(machine).forces(motion)
    for kind in (Plant, MujocoPlant):
        plant = kind(machine, settings())
        plant.set_moving(motion[:13], drives)
        legs_moving = leg_kinematics(MACHINE.geometry, motion)
        np.testing.assert_allclose(plant.lengths, legs_moving.length, atol=1e-9)
        np.testing.assert_allclose(plant.speeds, legs_moving.velocity, atol=1e-8)
        np.testing.assert_allclose(plant.state, motion[:13], atol=1e-9)
        np.testing.assert_allclose(plant.acceleration, motion[13:], atol=2e-3)


@pytest.mark.parametrize("mass", [0.8, 1.2])
def test_computed_torque_is_not_behind_force_at_the_same_bandwidth_on_either_plant(
    mass: float, table: MotionTable
) -> None:
    plant = scaled_mechanism(MACHINE, mass)
    errors = {}
    for law in ("force", "computed-torque"):
        for engine in (EXACT, MOVED):
            run = run_loop(with_bandwidth(engine, 11.5), table, law, plant=plant)
            errors[law, engine] = float(np.sqrt((run.error[:, :3] ** 2).sum(axis=1).mean()))
    for law in ("force", "computed-torque"):
        assert errors[law, MOVED] == pytest.approx(errors[law, EXACT], rel=0.02)
    assert errors["computed-torque", MOVED] < 0.9 * errors["force", MOVED]


def test_what_mujoco_felt_is_in_the_run(table: MotionTable) -> None:
    """Accelerations and cells are MuJoCo's own, and what our inverse dynamics says of its motion."""
    quiet = MOVED.changed({"virtual": {"cells": {"noise": 0.0}}})
    run = run_loop(quiet, table, "computed-torque")
    modelled = Dynamics(MACHINE, 1e-3).cells(run.motion)
    assert np.abs(run.cells() - modelled).max() < 0.5 < np.ptp(modelled, axis=0).min()
    slopes = np.gradient(run.states[:, 7:], run.times, axis=0)
    # by the median: where a leg turns round, friction makes a step
    assert (np.median(np.abs(slopes - run.motion[:, 13:]), axis=0) < 0.02 * slopes.std(axis=0).max()).all()


def test_too_stiff_a_drive_and_a_body_that_cannot_exist_are_refused() -> None:
    with pytest.raises(ConfigError, match="cannot be integrated at a step of"):
        MujocoPlant(MACHINE, settings(drive={"brake_stiffness": 1e9}))
    flat = replace(MACHINE, inertia=np.diag([1.0, 1.0, 5.0]))
    with pytest.raises(ConfigError, match=r"virtual\.plant\.engine: MuJoCo cannot take lab-hexapod: "):
        MujocoPlant(flat, settings())


def test_without_mujoco_it_is_refused_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    imported = builtins.__import__

    def without(name: str, *others: Any, **more: Any) -> Any:
        if name == "mujoco":
            raise ImportError(f"No module named {name!r}")
        return imported(name, *others, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    config = load_config("virtual").changed({"virtual": {"plant": {"engine": "mujoco"}}})
    with pytest.raises(ConfigError, match=r"needs MuJoCo, which is not installed: pip install 'stewart-rig\[mujoco\]'"):
        VirtualRig(config)
    assert main(["demo", "--lockstep", "--plant", "mujoco"]) == ExitCode.INPUT
    assert "pip install 'stewart-rig[mujoco]'" in capsys.readouterr().err
