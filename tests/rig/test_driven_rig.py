"""A rig whose drives have inertia and friction of their own: its plants, cells and loops, and what is identified."""

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from built_loop import NOISE, built, recorded
from configured import SHIPPED, VIRTUAL

from actuators import Mode
from calibration import (
    Identification,
    IdentificationSettings,
    ParameterFile,
    format_parameters,
    identify,
    overlaid,
    parse_parameters,
    reported_parameters,
)
from calibration.inertia.estimate import nearest_consistent
from dynamics import (
    Drive,
    Dynamics,
    LoadCell,
    Mechanism,
    drive_parameters,
    format_mechanism,
    linear_parameters,
    load_mechanism,
)
from dynamics.mechanism import CellLocation
from kinematics import TrajectorySpec, build_trajectory, tabulate
from rig.client import execute
from rig.config import Tolerance, Virtual
from rig.recording import open_recording
from rig.report import summarize
from rig.report.html import report_page
from rig.safety import check_loop
from rig.states import State
from rig.virtual import MujocoPlant, Plant, run_loop, truth_of
from rig.virtual.plant import scaled_mechanism
from rig.virtual.truth import Draw

MACHINE = load_mechanism("lab-hexapod")
ROTOR = Drive(inertia=6e-6, lead=5e-3, viscous=8.0, coulomb=2.0)
"""9.5 kg at the rod"""
EVERYWHERE: tuple[CellLocation, ...] = ("rod_end", "base", "actuator", "motor", "actuator", "motor")


def driven(places: Sequence[CellLocation] = ("rod_end",) * 6, drive: Drive = ROTOR) -> Mechanism:
    """The lab-hexapod with a drive in each leg, and cells at these places."""
    legs = []
    for leg, place in zip(MACHINE.legs, places, strict=True):
        cell = LoadCell(place) if place == "motor" else replace(leg.load_cell, location=place)
        legs.append(replace(leg, drive=drive, load_cell=cell))
    return replace(MACHINE, legs=tuple(legs))


def saved(folder: Path, machine: Mechanism) -> str:
    path = folder / "driven.toml"
    path.write_text(format_mechanism(machine), encoding="utf-8")
    return str(path)


def harmonics(duration: float, *terms: tuple[str, float, float, float]) -> TrajectorySpec:
    """A sum of harmonics: coordinate, amplitude, Hz and rad of each."""
    names = ("dof", "amplitude", "frequency", "phase")
    part = {"type": "harmonic", "duration": duration, "fade": 0.5}
    part["terms"] = [dict(zip(names, term, strict=True)) for term in terms]
    return TrajectorySpec.model_validate({"frame": "home", "parts": [part]})


def swung(plant: Plant, duration: float) -> np.ndarray:
    """Motion (19) and cells (6) of each 2 ms of legs that swing by their drives' position loops."""
    start, rates = np.array(plant.readings), 2.0 * math.pi * np.array([1.0, 1.3, 0.8, 1.1, 0.9, 1.2])
    rows = []
    for cycle in range(round(duration / 2e-3)):
        angles = rates * cycle * 2e-3
        for leg, (position, speed) in enumerate(
            zip(start + 0.01 * (1.0 - np.cos(angles)), 0.01 * rates * np.sin(angles), strict=True)
        ):
            plant.command(leg, Mode.POSITION, 0.0, position, speed, True, False, False)
        plant.advance((cycle + 1) * 2e-3)
        rows.append(np.concatenate([plant.state, plant.acceleration, plant.cells]))
    return np.array(rows)[50:]


VIRTUAL_SETTINGS = Virtual.model_validate({"step": 1e-4, "drive": {"start_spread": 0.002}})


def test_mujocos_cells_read_the_models_forces_of_its_motion() -> None:
    """Armature of MuJoCo's slides, and its forces at each place of a cell; without friction's shape at standstill."""
    machine = driven(EVERYWHERE, replace(ROTOR, coulomb=0.0))
    legs = [replace(leg, friction=replace(leg.friction, coulomb=0.0)) for leg in machine.legs]
    machine = replace(machine, legs=tuple(legs))
    rows = swung(MujocoPlant(machine, VIRTUAL_SETTINGS), 0.3)
    expected = Dynamics(machine).cells(rows[:, :19])
    assert np.ptp(expected, axis=0).min() > 1.0
    assert np.abs(rows[:, 19:] - expected).max() < 1e-4


def test_legs_of_heavy_rotors_stand_still_in_their_drives_loops() -> None:
    """120 kg at each rod: an integral of the rate that suits legs without rotors would swing them up."""
    plant = Plant(driven(drive=Drive(reflected_mass=120.0)), VIRTUAL_SETTINGS)
    for leg in range(6):
        plant.command(leg, Mode.HOMING, 0.0, 0.0, 0.0, True, False, False)
    plant.advance(4.0)
    assert all(plant.homed(leg) for leg in range(6))


def test_both_plants_move_alike() -> None:
    exact, mujoco = (swung(kind(driven(EVERYWHERE), VIRTUAL_SETTINGS), 0.3) for kind in (Plant, MujocoPlant))
    assert np.ptp(exact[:, 2]) > 2e-3
    assert np.abs(exact[:, :3] - mujoco[:, :3]).max() < 2e-6
    assert np.sqrt(((exact[:, 19:] - mujoco[:, 19:]) ** 2).mean(axis=0)).max() < 0.15


@pytest.mark.usefixtures("undrawn_reports")
@pytest.mark.parametrize("mode", ["force", "position"])
def test_a_rig_that_is_its_model_leaves_noise_at_every_place_of_a_cell(mode: str, tmp_path: Path) -> None:
    """Feedforward, the hold of forces between cycles and its deviations: a whole run of 2 s in lockstep."""
    config = SHIPPED.changed(
        {
            "mechanism": saved(tmp_path, driven(EVERYWHERE)),
            "mode": mode,
            "rate": 200,
            "control": {"stiffness": 8e3, "damping": 360.0},
        }
    )
    fast = harmonics(
        2.0, ("x", 0.0017, 9.0, 0.0), ("y", 0.0004, 17.0, 1.0), ("z", 0.0008, 11.0, 2.0), ("rx", 0.0033, 13.0, 0.5)
    )
    motion = build_trajectory(fast, config.machine.geometry.home_pose)
    run = execute(config, motion, "fast", tmp_path, lockstep=True, report=lambda _progress: None)
    recording = open_recording(run.recording)
    rows = recording.rows
    rows = rows[rows["state"] == State.RUNNING]
    left = rows["force_residual"].std(axis=0)
    assert run.error is None and (left < 1.2 * NOISE).all(), left
    without = (rows["force_residual"] + rows["force_held"]).std(axis=0)
    assert (without > 5.0 * NOISE).all(), without
    page = report_page(recording, summarize(recording), {"terms": ""})
    assert (
        "the drives&#39; own, 9.47 kg at the rod of a leg and its friction; "
        "only the forces of the motors 4, 6 include it."
    ) in page


def test_a_feedforward_without_the_rotors_is_wrong_by_its_largest_part(tmp_path: Path) -> None:
    """Rotors of 79 kg, gently moved: a model without them is a millimetre off its reference, one with them 2 µm."""
    true = driven(drive=Drive(inertia=5e-5, lead=5e-3, viscous=20.0, coulomb=3.0))
    spec = harmonics(3.0, ("x", 0.01, 0.5, 0.0), ("z", 0.01, 0.7, 1.0), ("rx", 0.03, 0.4, 0.0))
    errors = []
    for machine in (MACHINE, true):
        config = SHIPPED.changed({"mechanism": saved(tmp_path, machine)})
        path = build_trajectory(spec, config.machine.geometry.home_pose)
        run = run_loop(config, tabulate(path, config.period), "force", plant=true)
        errors.append(float(np.abs(run.error[:, :3]).max()))
    assert errors[0] > 5e-4 and errors[1] < 5e-6


ROTORS_OFF = 9
"""seed of a machine as built"""


@pytest.fixture(scope="module")
def identified(tmp_path_factory: pytest.TempPathFactory) -> tuple[Identification, Mechanism]:
    """A machine as built, all of whose numbers are off, along a path of 9 s in the closed loop, and its truth."""
    folder = tmp_path_factory.mktemp("rotors")
    config = built(SHIPPED.changed({"mechanism": saved(folder, driven())}), ROTORS_OFF)
    generator = np.random.default_rng(0)
    terms = [
        (dof, size / (1.0 + frequency), frequency, float(generator.uniform(0.0, 6.0)))
        for dof, size in zip(("x", "y", "z", "rx", "ry", "rz"), (0.02, 0.02, 0.015, 0.1, 0.1, 0.12), strict=True)
        for frequency in generator.uniform(0.3, 2.2, 4).tolist()
    ]
    path = build_trajectory(harmonics(9.0, *terms), config.machine.geometry.home_pose)
    settings = IdentificationSettings(coulomb_speed=config.control.coulomb_speed, noise=np.full(6, NOISE))
    result = identify(config.machine, [recorded(config, tabulate(path, config.period))], settings)
    return result, truth_of(config).mechanism


def test_rotors_are_identified_from_the_drives_forces(identified: tuple[Identification, Mechanism]) -> None:
    """10 to 20 % off the file's, they have errors below two sigmas, which are below half a percent."""
    result, truth = identified
    found = {each.name: each for each in reported_parameters(result)[0]}
    rotors = [found[f"legs[{leg}].drive.inertia"] for leg in range(6)]
    true = np.array([leg.drive.inertia for leg in truth.legs], dtype=float)
    assert min(abs(each.nominal / value - 1.0) for each, value in zip(rotors, true, strict=True)) > 0.08
    assert all(each.sigma < 5e-3 * each.nominal for each in rotors)
    assert all(abs(each.value - value) < 2.0 * each.sigma for each, value in zip(rotors, true, strict=True))
    assert {each.unit for each in rotors} == {"kg m²"}


def test_the_sum_of_joint_and_drive_friction_is_identified(identified: tuple[Identification, Mechanism]) -> None:
    """A cell at the rod's end reads neither the joint's nor the drive's: only their sum is known."""
    result, truth = identified
    parameters, covariance, _ = reported_parameters(result)
    names = [each.name for each in parameters]
    for leg in range(6):
        pair = [names.index(f"legs[{leg}].{where}.coulomb") for where in ("friction", "drive")]
        total = sum(parameters[k].value for k in pair)
        sigma = float(np.sqrt(covariance[np.ix_(pair, pair)].sum()))
        assert sigma < 0.5 * parameters[pair[1]].sigma
        assert abs(total - truth.legs[leg].coulomb) < 3.0 * sigma


def test_a_parameter_file_brings_the_rotors_to_the_mechanism(identified: tuple[Identification, Mechanism]) -> None:
    result, _ = identified
    parameters, covariance, _ = reported_parameters(result)
    file = ParameterFile("inertia", date(2026, 1, 1), result.nominal.name, parameters, covariance=covariance)
    again = overlaid(result.nominal, [parse_parameters(format_parameters(file))])
    assert drive_parameters(again) == pytest.approx(drive_parameters(result.mechanism), rel=1e-12)
    assert again.legs[2].drive.lead == ROTOR.lead


def test_identified_friction_of_a_drive_is_not_negative() -> None:
    theta = linear_parameters(MACHINE)
    start = np.append(theta, 0.0)
    sigma = np.append(0.01 * np.abs(theta) + 1e-4, 0.1)
    estimate = start.copy()
    estimate[-1] = -3.0  # of a drive whose file says 2 N
    found = nearest_consistent(estimate, np.diag(1.0 / sigma**2), start, {len(theta): 2.0})
    assert -2.0 <= found[-1] < -1.99
    assert found[:-1] == pytest.approx(theta, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_drives_as_built_are_off_and_nothing_else_is_another(seed: int) -> None:
    built_one, bare = (Draw(seed, Tolerance()).mechanism(machine) for machine in (driven(), MACHINE))
    off = drive_parameters(built_one) / drive_parameters(driven()) - 1.0
    assert ((np.abs(off) >= 0.1) & (np.abs(off) <= 0.2)).all() and len(np.unique(off)) == 18
    without = replace(built_one, legs=tuple(replace(leg, drive=Drive()) for leg in built_one.legs))
    np.testing.assert_array_equal(without.array, bare.array)
    assert all(leg.drive == Drive() for leg in bare.legs)


def test_a_heavier_plant_has_heavier_rotors() -> None:
    scaled = scaled_mechanism(driven(), 1.5)
    assert drive_parameters(scaled)[:, 0] == pytest.approx(1.5 * ROTOR.mass)
    assert scaled_mechanism(MACHINE, 1.0).legs[0].drive == Drive()


def test_the_loops_margin_knows_the_rotors(tmp_path: Path) -> None:
    """Four times the mass along the legs: the damping of the same gains is less, the margin of the rate more."""
    heavy = VIRTUAL.changed({"mechanism": saved(tmp_path, driven(drive=replace(ROTOR, inertia=5e-5)))})
    light, loaded = check_loop(VIRTUAL), check_loop(heavy)
    assert loaded.model_margin > 3.0 * light.model_margin


@pytest.mark.parametrize(
    ("place", "viscous", "coulomb"),
    [("motor", 43.0, 6.0), ("actuator", 35.0, 4.0), ("rod_end", 0.0, 0.0), ("base", 0.0, 0.0)],
)
def test_a_cell_reads_the_friction_on_the_rods_side_of_it(place: CellLocation, viscous: float, coulomb: float) -> None:
    leg = driven((place,) * 6).legs[0]
    assert (leg.cell_viscous, leg.cell_coulomb) == (viscous, coulomb)
    assert (leg.viscous, leg.coulomb) == (43.0, 6.0)
