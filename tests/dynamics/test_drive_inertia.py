"""The drives' inertia and friction: against Pinocchio's armature and against rotors that are bodies of their own."""

from dataclasses import replace

import numpy as np
import pytest
from pinocchio_platform import PinocchioPlatform
from random_mechanisms import random_mechanism, random_motions

from dynamics import (
    Drive,
    Dynamics,
    DynamicsError,
    LoadCell,
    Mechanism,
    MechanismError,
    Regressor,
    closed_form_equations,
    drive_parameters,
    format_mechanism,
    friction_power,
    inverse_batch,
    linear_parameters,
    load_mechanism,
    mechanical_energy,
    mechanism_tables,
    papers,
    parse_mechanism,
    parse_tables,
    rotor_spin_forces,
    supplied_power,
    task_space_equations,
    with_drive_parameters,
    without_leg_friction,
)
from kinematics import Array, leg_kinematics

SEEDS = range(4)
LEAD = 5e-3  # m


def driven(seed: int, coulomb: bool = True) -> Mechanism:
    """A random mechanism whose six drives differ, of 8 to 160 kg at the rod."""
    rng = np.random.default_rng(seed + 50)
    mechanism = random_mechanism(seed, coulomb=coulomb)
    drives = [
        Drive(rng.uniform(0.5e-5, 1e-4), LEAD, None, rng.uniform(0.0, 90.0), coulomb * rng.uniform(1.0, 9.0))
        for _ in range(6)
    ]
    legs = [replace(leg, drive=drive) for leg, drive in zip(mechanism.legs, drives, strict=True)]
    return replace(mechanism, legs=tuple(legs))


def without_drives(mechanism: Mechanism) -> Mechanism:
    return replace(mechanism, legs=tuple(replace(leg, drive=Drive()) for leg in mechanism.legs))


def own_parts(mechanism: Mechanism, motions: Array) -> Array:
    """m_r L̈ + C_r L̇ + F_r sign(L̇), by the kinematics."""
    legs = leg_kinematics(mechanism.geometry, motions)
    m, c, f = drive_parameters(mechanism).T
    return np.asarray(m * legs.acceleration + c * legs.velocity + f * np.sign(legs.velocity))


def test_a_rotor_of_a_common_drive_weighs_79_kg_at_the_rod() -> None:
    assert Drive(inertia=5e-5, lead=5e-3).mass == pytest.approx(78.957, abs=1e-3)


@pytest.mark.parametrize("seed", SEEDS)
def test_forces_are_those_with_armature(seed: int) -> None:
    mechanism, motions = driven(seed), random_motions(seed + 100, 6, speed=1.0 + seed % 3)
    peer, wrench = PinocchioPlatform(mechanism), np.random.default_rng(seed).normal(scale=60.0, size=6)
    result = Dynamics(mechanism).inverse(motions, wrench)
    for sample, motion in enumerate(motions):
        forces, tops = peer.inverse(motion, wrench)
        np.testing.assert_allclose(result.forces[sample], forces, rtol=1e-11, atol=1e-9)
        np.testing.assert_allclose(result.tops[sample], tops, rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_accelerations_are_those_with_armature(seed: int) -> None:
    mechanism, motions = driven(seed), random_motions(seed + 100, 4)
    peer, dynamics = PinocchioPlatform(mechanism), Dynamics(mechanism)
    rng = np.random.default_rng(seed)
    for motion in motions:
        forces, wrench = rng.normal(scale=200.0, size=6), rng.normal(scale=60.0, size=6)
        found = dynamics.acceleration(motion[:13], forces, wrench)
        np.testing.assert_allclose(found, peer.acceleration(motion[:13], forces, wrench), rtol=1e-11, atol=1e-10)


@pytest.mark.parametrize("turning", [1, -1])
@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_neglected_is_the_rotors_spin_momentum(seed: int, turning: int) -> None:
    """Rotors as six further bodies give the forces of the model and of `rotor_spin_forces` together, to rounding."""
    mechanism, motions = driven(seed), random_motions(seed + 100, 4)
    peer = PinocchioPlatform(mechanism, "rotors")
    peer.turning *= turning
    forces = np.array([peer.inverse(motion, np.zeros(6))[0] for motion in motions])
    model, spin = Dynamics(mechanism).inverse(motions).forces, rotor_spin_forces(mechanism, motions, turning)
    np.testing.assert_allclose(model + spin, forces, rtol=1e-11, atol=1e-9)
    assert np.abs(forces - model).max() > 1e3 * 1e-9


def test_the_neglected_part_is_some_thousandths_of_the_drives_inertia() -> None:
    """It is in proportion to lead/(2π L), 0.16 % at 5 mm and 0.5 m, and to the tilt of the universal joints."""
    shares = []
    for seed in SEEDS:
        mechanism, motions = driven(seed), random_motions(seed + 100, 50)
        inertia = drive_parameters(mechanism)[:, 0] * leg_kinematics(mechanism.geometry, motions).acceleration
        shares.append(np.sqrt(np.mean(rotor_spin_forces(mechanism, motions) ** 2) / np.mean(inertia**2)))
    assert 5e-4 < max(shares) < 5e-3


def test_on_the_lab_hexapod_it_is_three_ten_thousandths() -> None:
    machine, generator = load_mechanism("lab-hexapod"), np.random.default_rng(0)
    machine = replace(machine, legs=tuple(replace(leg, drive=Drive(5e-5, LEAD)) for leg in machine.legs))
    motions = np.zeros((500, 19))
    motions[:, :3] = machine.geometry.home_pose[:3] + generator.uniform(-0.05, 0.05, (500, 3))
    quaternion = np.column_stack([np.ones(500), generator.uniform(-0.1, 0.1, (500, 3))])
    motions[:, 3:7] = quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)
    motions[:, 7:] = generator.uniform(-1.0, 1.0, (500, 12)) * np.repeat([0.3, 1.0, 3.0, 10.0], 3)
    inertia = 5e-5 * (2.0 * np.pi / LEAD) ** 2 * leg_kinematics(machine.geometry, motions).acceleration
    spin = rotor_spin_forces(machine, motions)
    assert np.sqrt(np.mean(inertia**2)) == pytest.approx(170.0, abs=10.0)
    assert np.sqrt(np.mean(spin**2) / np.mean(inertia**2)) == pytest.approx(2.6e-4, rel=0.1)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_form_of_the_equations_has_them(seed: int) -> None:
    mechanism, motions = driven(seed), random_motions(seed + 100, 20)
    dynamics = Dynamics(mechanism)
    forces = dynamics.inverse(motions).forces
    scale = np.abs(forces).max()
    assert np.abs(inverse_batch(mechanism, motions) - forces).max() < 1e-11 * scale
    mass, bias = closed_form_equations(mechanism, motions[:, :13])
    task = task_space_equations(mechanism, motions[:, :13])
    assert np.abs(task.leg_terms(motions[:, 13:]).sum(axis=1) - forces).max() < 1e-10 * scale
    for sample, motion in enumerate(motions):
        np.testing.assert_allclose(mass[sample], dynamics.mass_matrix(motion[:7]), rtol=1e-11, atol=1e-9)
        np.testing.assert_allclose(bias[sample], dynamics.bias(motion[:13]), rtol=1e-10, atol=1e-9)
        np.testing.assert_allclose(task.mass[sample], mass[sample], rtol=1e-11, atol=1e-9)
        np.testing.assert_allclose(task.bias[sample], bias[sample], rtol=1e-10, atol=1e-9)
        cycle = dynamics.cell_and_terms(motion)
        np.testing.assert_allclose(cycle.forces, forces[sample], rtol=1e-11, atol=1e-9)
        np.testing.assert_allclose(cycle.terms.sum(axis=0), cycle.forces, rtol=1e-11, atol=1e-9)
        np.testing.assert_allclose(cycle.cells, dynamics.cells(motion)[0], rtol=1e-11, atol=1e-9)
        np.testing.assert_allclose(dynamics.acceleration(motion[:13], forces[sample]), motion[13:], rtol=0, atol=1e-8)


def test_the_coriolis_part_is_skew() -> None:
    """Ṁ − 2C, by differences of M along the motion."""
    mechanism, motion, step = driven(1), random_motions(101, 1)[0], 1e-6
    task = task_space_equations(mechanism, motion[:13])
    ends = []
    for sign in (1.0, -1.0):
        state = motion[:13].copy()
        state[:3] += sign * step * motion[7:10]
        w, x, y, z = motion[3:7]
        a, b, c = 0.5 * sign * step * motion[10:13]
        state[3:7] += [-a * x - b * y - c * z, a * w + b * z - c * y, b * w + c * x - a * z, c * w + a * y - b * x]
        state[3:7] /= np.linalg.norm(state[3:7])
        ends.append(task_space_equations(mechanism, state).leg_mass[0])
    rate = (ends[0] - ends[1]) / (2.0 * step)
    rest = rate - 2.0 * task.leg_coriolis[0]
    assert np.abs(rest + rest.T).max() < 1e-6 * np.abs(rate).max()


def test_energy_is_supplied_and_dissipated() -> None:
    mechanism, state, step = driven(2), random_motions(102, 1)[0][:13], 1e-5
    forces = np.array([120.0, -40.0, 60.0, 90.0, -10.0, 30.0])
    dynamics = Dynamics(mechanism)
    after, before = dynamics.step(state, forces, step), dynamics.step(state, forces, -step)
    rate = (sum(mechanical_energy(mechanism, after)) - sum(mechanical_energy(mechanism, before))) / (2.0 * step)
    power = supplied_power(mechanism, state, forces) - friction_power(mechanism, state)
    np.testing.assert_allclose(rate, power, rtol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_cells_and_joints_do_not_feel_the_drive_but_a_motors_current_does(seed: int) -> None:
    """Readings and reactions at given motions are those without drives; the motors' forces are more."""
    mechanism, motions = driven(seed), random_motions(seed + 100, 20)
    bare = without_drives(mechanism)
    assert {leg.load_cell.location for leg in mechanism.legs} == {"actuator", "rod_end", "base"}
    np.testing.assert_allclose(Dynamics(mechanism).cells(motions), Dynamics(bare).cells(motions), rtol=1e-11, atol=1e-9)
    ours, theirs = Dynamics(mechanism).inverse(motions), Dynamics(bare).inverse(motions)
    for name in ("tops", "base_forces", "universal_moments", "prismatic_forces", "guide_forces", "prismatic_moments"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-10, atol=1e-9)
    own = own_parts(mechanism, motions)
    np.testing.assert_allclose(ours.forces - theirs.forces, own, rtol=1e-10, atol=1e-9)
    at_motors = replace(mechanism, legs=tuple(replace(leg, load_cell=LoadCell("motor")) for leg in mechanism.legs))
    np.testing.assert_allclose(Dynamics(at_motors).cells(motions), ours.forces, rtol=1e-11, atol=1e-9)
    matrix, known = Regressor(at_motors).cells(motions)
    np.testing.assert_allclose(matrix @ linear_parameters(at_motors) + known, ours.forces, rtol=1e-10, atol=1e-9)
    assert papers.variant_cells("massless", at_motors, motions) == pytest.approx(
        papers.variant_forces("massless", bare, motions) + own
    )


@pytest.mark.parametrize("smoothing", [0.0, 0.05])
def test_the_motors_forces_are_linear_in_the_drives(smoothing: float) -> None:
    mechanism, motions = driven(3), random_motions(103, 20)
    regressor = Regressor(mechanism, smoothing)
    forces = regressor.forces(motions) @ linear_parameters(mechanism)
    forces += np.einsum("nik,ik->ni", regressor.drives(motions), drive_parameters(mechanism))
    np.testing.assert_allclose(forces, Dynamics(mechanism, smoothing).inverse(motions).forces, rtol=1e-10, atol=1e-9)


def test_gravity_does_not_act_on_what_turns() -> None:
    mechanism, motion = driven(0, coulomb=False), random_motions(100, 1)
    motion[:, 7:] = 0.0
    np.testing.assert_array_equal(
        Dynamics(mechanism).inverse(motion).forces, Dynamics(without_drives(mechanism)).inverse(motion).forces
    )


@pytest.mark.parametrize("model", papers.MODELS[1:])
def test_published_models_differ_from_the_exact_one_as_without_drives(model: str) -> None:
    mechanism, motions = driven(1), random_motions(101, 10)
    bare = without_drives(mechanism)
    with_them = papers.variant_forces(model, mechanism, motions) - papers.variant_forces("exact", mechanism, motions)
    without = papers.variant_forces(model, bare, motions) - papers.variant_forces("exact", bare, motions)
    np.testing.assert_allclose(with_them, without, rtol=0.0, atol=1e-9)


def test_friction_along_the_legs_is_taken_out_whole() -> None:
    mechanism = driven(1)
    smooth, friction = without_leg_friction(Dynamics(mechanism).parameters)
    assert friction[0] == pytest.approx([leg.viscous for leg in mechanism.legs])
    assert friction[1] == pytest.approx([leg.coulomb for leg in mechanism.legs])
    legs = [replace(leg, friction=replace(leg.friction, prismatic=0.0, coulomb=0.0)) for leg in mechanism.legs]
    legs = [replace(leg, drive=replace(leg.drive, viscous=0.0, coulomb=0.0)) for leg in legs]
    np.testing.assert_array_equal(smooth, replace(mechanism, legs=tuple(legs)).array)


def test_drives_come_back_from_a_file_to_the_bit_in_their_own_form() -> None:
    mechanism = driven(1)
    legs = list(mechanism.legs)
    legs[1] = replace(legs[1], drive=Drive(reflected_mass=1.0 / 3.0, viscous=2.5))
    legs[2] = replace(legs[2], drive=Drive())
    mechanism = replace(mechanism, legs=tuple(legs))
    again = parse_mechanism(format_mechanism(mechanism))
    np.testing.assert_array_equal(again.array, mechanism.array)
    assert [leg.drive for leg in again.legs] == [leg.drive for leg in mechanism.legs]
    assert "drive" not in mechanism_tables(mechanism)["legs"][2]


def test_other_drive_parameters_keep_the_form() -> None:
    mechanism = driven(1)
    values = drive_parameters(mechanism) * [[1.2, 0.5, 2.0]]
    changed = with_drive_parameters(mechanism, values)
    assert drive_parameters(changed) == pytest.approx(values)
    assert changed.legs[0].drive.lead == LEAD and changed.legs[0].drive.inertia == pytest.approx(
        1.2 * (mechanism.legs[0].drive.inertia or 0.0)
    )
    values[3, 2] = -1.0
    with pytest.raises(DynamicsError, match=r"legs\[3\]\.drive\.coulomb: -1 N must be finite and at least 0 N"):
        with_drive_parameters(mechanism, values)
    with pytest.raises(DynamicsError, match=r"drives: shape \(3,\), must be \(6, 3\)"):
        with_drive_parameters(mechanism, values[0])


@pytest.mark.parametrize(
    ("drive", "words"),
    [
        ({"inertia": 5e-5}, r"lead \(m per revolution\) is missing"),
        ({"lead": 5e-3}, r"inertia \(kg m²\) is missing"),
        ({"inertia": 5e-5, "lead": 5e-3, "reflected_mass": 79.0}, "reflected_mass 79 kg is the drive's inertia"),
        ({"lead": 5e-3, "reflected_mass": 79.0}, "reflected_mass 79 kg is the drive's inertia"),
        ({"inertia": float("nan"), "lead": 5e-3}, "nan is not finite; expected a moment of inertia"),
        ({"inertia": -1e-5, "lead": 5e-3}, "-1e-05 kg m²"),
        ({"inertia": 5e-5, "lead": 0.0}, "lead"),
        ({"reflected_mass": 2e6}, "kg"),
        ({"inertia": 1.0, "lead": 1e-5}, r"is a reflected mass of 3.94784e\+11 kg, must be at most 1e\+06 kg"),
        ({"inertia": "50 kg cm²", "lead": "5 mm", "stiffness": 1.0}, r"stiffness \(leg 4\): unknown key"),
    ],
)
def test_bad_drives_are_refused_by_name(drive: dict[str, float], words: str) -> None:
    tables = mechanism_tables(load_mechanism("lab-hexapod"))
    tables["legs"][3]["drive"] = drive
    with pytest.raises(MechanismError, match=words) as caught:
        parse_tables(tables)
    assert "legs[3].drive" in str(caught.value)


def test_units_of_a_drive_may_be_written() -> None:
    tables = mechanism_tables(load_mechanism("lab-hexapod"))
    for leg in tables["legs"]:
        leg["drive"] = {"inertia": 5e-5, "lead": "5 mm", "coulomb": "3 N"}
    drive = parse_tables(tables).legs[5].drive
    assert drive.mass == pytest.approx(78.957, abs=1e-3) and drive.coulomb == 3.0


def test_a_drive_may_have_friction_alone() -> None:
    tables = mechanism_tables(load_mechanism("lab-hexapod"))
    tables["legs"][3]["drive"] = {"viscous": 5.0, "coulomb": 2.0}
    mechanism = parse_tables(tables)
    for read in (mechanism, parse_mechanism(format_mechanism(mechanism))):
        assert read.legs[3].drive == Drive(viscous=5.0, coulomb=2.0)


def test_half_a_form_is_refused_in_code_too() -> None:
    with pytest.raises(ValueError, match=r"lead \(m per revolution\) is missing"):
        Drive(inertia=5e-5)


def test_a_motors_current_has_no_mass_beyond_it() -> None:
    tables = mechanism_tables(load_mechanism("lab-hexapod"))
    tables["legs"][1]["load_cell"] |= {"location": "motor", "mass_beyond": 0.2}
    with pytest.raises(MechanismError, match=r"legs\[1\] .*mass_beyond 0.2 kg must be 0 kg"):
        parse_tables(tables)


def test_the_spin_of_a_rotor_without_lead_is_unknown() -> None:
    mechanism = random_mechanism(0)
    legs = (replace(mechanism.legs[0], drive=Drive(reflected_mass=79.0)), *mechanism.legs[1:])
    motions = random_motions(1, 2)
    with pytest.raises(DynamicsError, match=r"leg 1: drive\.reflected_mass 79 kg without a lead"):
        rotor_spin_forces(replace(mechanism, legs=legs), motions)
    with pytest.raises(DynamicsError, match="turning: 2, must be 1 or -1"):
        rotor_spin_forces(mechanism, motions, 2)
    np.testing.assert_array_equal(rotor_spin_forces(mechanism, motions), 0.0)
