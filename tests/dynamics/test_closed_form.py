"""M, h, Coriolis matrix, gravity, friction, energy: closed form, strobed, kernel and Pinocchio against each other."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pinocchio as pin
import pytest
from pinocchio_platform import PinocchioPlatform
from random_mechanisms import random_mechanism, random_motions

from dynamics import (
    TERMS,
    Body,
    Dynamics,
    DynamicsError,
    EquationsMethod,
    Friction,
    Mechanism,
    SingularityError,
    closed_form_equations,
    closed_form_pods,
    equations_of_motion,
    forward_dynamics,
    friction_power,
    mechanical_energy,
    supplied_power,
    task_space_equations,
)
from kinematics import (
    Array,
    Harmonic,
    HarmonicTerm,
    Placement,
    leg_kinematics,
    leg_matrix,
    quaternion_from_rotation_vector,
    quaternion_multiply,
    quaternion_to_matrix,
)

SEEDS = range(6)
METHODS: tuple[EquationsMethod, ...] = ("kernel", "closed-form", "strobed")
STENCIL = (4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0)  # first derivative, central, of eighth order


def derivative(function: Callable[[float], Array], step: float) -> Array:
    """d function/dt at 0."""
    total = sum(weight * (function(k * step) - function(-k * step)) for k, weight in enumerate(STENCIL, start=1))
    return np.asarray(total / step)


def carried(pose: Array, twist: Array, t: float) -> Array:
    """The pose after `t` s of a constant twist."""
    turn = quaternion_from_rotation_vector(twist[3:] * t)
    return np.concatenate([pose[:3] + twist[:3] * t, quaternion_multiply(turn, pose[3:])])


def largest(array: Array) -> float:
    return float(np.abs(array).max())


def pinocchio_mass(peer: PinocchioPlatform, pose: Array) -> Array:
    """M (6, 6) from Pinocchio's joint-space matrix, reduced to the platform's twist."""
    reduction = np.empty((peer.model.nv, 6))
    for column, twist in enumerate(np.eye(6)):
        peer.set_state(np.concatenate([pose, twist]))
        reduction[:, column] = peer.v
    tree = pin.crba(peer.model, peer.data, peer.q)
    tree = np.triu(tree) + np.triu(tree, 1).T
    return np.asarray(reduction.T @ tree @ reduction)


@pytest.mark.parametrize("seed", SEEDS)
def test_four_ways_to_the_same_equations(seed: int) -> None:
    mechanism = random_mechanism(seed, coulomb=True)
    peer = PinocchioPlatform(mechanism)
    for motion in random_motions(seed + 600, 3):
        state = motion[:13]
        mass = pinocchio_mass(peer, state[:7])
        still = np.concatenate([state, np.zeros(6)])
        bias = leg_matrix(mechanism.geometry, state[:7]) @ peer.inverse(still, np.zeros(6))[0]
        equations = task_space_equations(mechanism, state)
        found = [equations_of_motion(mechanism, state, method=method) for method in METHODS]
        for M, h in [*found, (equations.mass[0], equations.bias[0])]:
            assert largest(M - mass) < 1e-11 * largest(mass)
            assert largest(h - bias) < 1e-11 * largest(bias)
            assert largest(M - M.T) < 1e-13 * largest(M)
            assert np.linalg.eigvalsh(M)[0] > 0.0


@pytest.mark.parametrize("seed", SEEDS)
def test_forward_dynamics_by_every_method(seed: int) -> None:
    mechanism = random_mechanism(seed, coulomb=True)
    peer = PinocchioPlatform(mechanism)
    rng = np.random.default_rng(seed)
    for motion in random_motions(seed + 700, 2):
        forces, wrench = rng.normal(scale=200.0, size=6), rng.normal(scale=50.0, size=6)
        expected = peer.acceleration(motion[:13], forces, wrench)
        for method in METHODS:
            actual = forward_dynamics(mechanism, motion[:13], forces, wrench, method=method)
            assert largest(actual - expected) < 1e-10 * largest(expected)
        by_kernel, *others = (forward_dynamics(mechanism, motion[:13], forces, method=method) for method in METHODS)
        for actual in others:
            assert largest(actual - by_kernel) < 1e-11 * largest(by_kernel)


@pytest.mark.parametrize("seed", SEEDS)
def test_pods_give_the_forces_on_their_tops(seed: int) -> None:
    """F_i = −F_act n + Q (Ẍ + α×q) + V (2012, eq. 41)."""
    mechanism = random_mechanism(seed, coulomb=True)
    peer = PinocchioPlatform(mechanism)
    motions = random_motions(seed + 800, 3)
    Q, V, _ = closed_form_pods(mechanism, motions[:, :13])
    assert largest(Q - Q.swapaxes(-1, -2)) < 1e-14 * largest(Q)
    directions = leg_kinematics(mechanism.geometry, motions).direction
    for sample, motion in enumerate(motions):
        forces, tops = peer.inverse(motion, np.zeros(6))
        q = mechanism.geometry.platform_points @ quaternion_to_matrix(motion[3:7]).T
        tip = motion[13:16] + np.cross(motion[16:19], q)
        found = -forces[:, None] * directions[sample] + np.einsum("lij,lj->li", Q[sample], tip) + V[sample]
        assert largest(found - tops) < 1e-11 * largest(tops)


def test_printed_eq_42_is_not_symmetric() -> None:
    """Why Q is written out again: with inertias about the centres of mass and one n uᵀ it still is no tip inertia."""
    mechanism = random_mechanism(0)
    pose = random_motions(0, 1)[0, :7]
    state = np.concatenate([pose, np.zeros(6)])
    Q = closed_form_pods(mechanism, state)[0][0, 0]
    leg, geometry = mechanism.legs[0], mechanism.geometry
    S = quaternion_to_matrix(pose[3:]) @ geometry.platform_points[0] + pose[:3] - geometry.base_points[0]
    length = np.linalg.norm(S)
    n, u = S / length, geometry.universal_axes[0]
    v = np.cross(u, n) / np.linalg.norm(np.cross(u, n))
    c, T = np.cross(u, v), np.column_stack([n, v, np.cross(n, v)])

    def skew(a: Array) -> Array:
        return np.cross(np.eye(3), a).T

    d, w = skew(T @ leg.lower.center_of_mass), skew(S + T @ leg.upper.center_of_mass)
    m_d, m_u, inertia = leg.lower.mass, leg.upper.mass, T @ (leg.lower.inertia + leg.upper.inertia) @ T.T
    across = skew(n) / length
    moments = m_u * w @ w + m_d * d @ d
    spin = np.outer(n, u) * (u @ n) / (1.0 - (u @ n) ** 2)
    row = n @ moments @ across - n @ inertia @ (np.eye(3) + spin) @ across
    printed = m_u * np.outer(n, n) + across @ (moments - inertia) @ across
    printed += np.outer(np.cross(c, n) / (c @ n), row) / length
    assert largest(printed - Q) > 0.05 * largest(Q)
    assert largest(printed - printed.T) > 1e-3 * largest(Q)


def mass_rate(dynamics: Dynamics, pose: Array, twist: Array) -> Array:
    return derivative(lambda t: dynamics.mass_matrix(carried(pose, twist, t)), 4e-3)


@pytest.mark.parametrize("seed", SEEDS)
def test_mass_rate_less_twice_coriolis_is_skew(seed: int) -> None:
    """Ṁ − 2C, with Ṁ from differences of the kernel's M along the twist, of the whole and of the platform alone."""
    mechanism = random_mechanism(seed)
    nothing = Body(0.0, np.zeros(3), np.zeros((3, 3)))
    bare = replace(mechanism, legs=tuple(replace(leg, lower=nothing, upper=nothing) for leg in mechanism.legs))
    for motion in random_motions(seed + 900, 3):
        pose, twist = motion[:7], motion[7:13]
        equations = task_space_equations(mechanism, motion[:13])
        for machine, C in ((mechanism, equations.coriolis[0]), (bare, equations.platform_coriolis[0])):
            rate = mass_rate(Dynamics(machine), pose, twist)
            remainder = rate - 2.0 * C
            assert largest(rate) > 0.1
            assert largest(remainder + remainder.T) < 1e-10 * largest(rate)
            assert abs(twist @ remainder @ twist) < 1e-10 * largest(rate)


@pytest.mark.parametrize("seed", SEEDS)
def test_coriolis_is_the_bias_of_the_velocities_alone(seed: int) -> None:
    mechanism = random_mechanism(seed)
    legs = tuple(replace(leg, friction=Friction()) for leg in mechanism.legs)
    floating = Dynamics(replace(mechanism, legs=legs, gravity=np.zeros(3)))
    for motion in random_motions(seed + 1000, 3, speed=2.0):
        equations = task_space_equations(mechanism, motion[:13])
        expected = floating.bias(motion[:13])
        assert largest(equations.coriolis[0] @ motion[7:13] - expected) < 1e-11 * largest(expected)


def test_gravity_is_the_gradient_of_the_potential() -> None:
    mechanism = random_mechanism(1)
    pose = random_motions(1, 1)[0, :7]
    state = np.concatenate([pose, np.zeros(6)])
    gravity = task_space_equations(mechanism, state).gravity[0]

    def potential(t: float, twist: Array) -> Array:
        return mechanical_energy(mechanism, np.concatenate([carried(pose, twist, t), np.zeros(6)])).potential

    slopes = [derivative(partial(potential, twist=twist), 4e-3)[0] for twist in np.eye(6)]
    np.testing.assert_allclose(gravity, slopes, rtol=0.0, atol=1e-10 * largest(gravity))
    np.testing.assert_allclose(Dynamics(mechanism).bias(state), gravity, rtol=0.0, atol=1e-11 * largest(gravity))


@pytest.mark.parametrize("seed", SEEDS)
def test_terms_split_any_force(seed: int) -> None:
    mechanism = random_mechanism(seed, coulomb=True)
    motions = random_motions(seed + 1100, 3)
    wrenches = np.random.default_rng(seed).normal(scale=40.0, size=(3, 6))
    equations = task_space_equations(mechanism, motions[:, :13], coulomb_speed=1e-2)
    dynamics = Dynamics(mechanism, coulomb_speed=1e-2)
    terms, leg_terms = equations.terms(motions[:, 13:], wrenches), equations.leg_terms(motions[:, 13:], wrenches)
    assert terms.shape == leg_terms.shape == (3, len(TERMS), 6)
    for sample in range(3):
        cycle = dynamics.cell_and_terms(motions[sample], wrenches[sample])
        assert largest(leg_terms[sample] - cycle.terms) < 1e-11 * largest(cycle.terms)
        H = leg_matrix(mechanism.geometry, motions[sample, :7])
        assert largest(terms[sample] - cycle.terms @ H.T) < 1e-11 * largest(terms[sample])
        total = H @ dynamics.forces(motions[sample], wrenches[sample])
        assert largest(terms[sample].sum(axis=0) - total) < 1e-11 * largest(terms[sample])
    still = equations.terms(np.zeros(6))
    np.testing.assert_allclose(still.sum(axis=1), equations.bias, rtol=0.0, atol=1e-11 * largest(still))


@pytest.mark.parametrize("seed", SEEDS)
def test_energy_is_pinocchios_and_half_the_mass_matrix(seed: int) -> None:
    mechanism = random_mechanism(seed)
    peer = PinocchioPlatform(mechanism)
    states = random_motions(seed + 1200, 4)[:, :13]
    energy = mechanical_energy(mechanism, states)
    mass, _ = closed_form_equations(mechanism, states)
    half = 0.5 * np.einsum("ni,nij,nj->n", states[:, 7:], mass, states[:, 7:])
    np.testing.assert_allclose(energy.kinetic, half, rtol=1e-11)
    expected = [peer.energy(state) for state in states]
    np.testing.assert_allclose(energy.kinetic + energy.potential, expected, rtol=1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_energy_rate_is_power(seed: int) -> None:
    """d(T+V)/dt = F·L̇ + wrench·twist − friction along a motion, F from the exact inverse dynamics."""
    mechanism = random_mechanism(seed, coulomb=True)
    home = mechanism.geometry.home
    rng = np.random.default_rng(seed)
    terms = [
        HarmonicTerm(dof, amplitude, float(rng.uniform(0.5, 1.5)), float(rng.uniform(0.0, 6.0)))
        for dof, amplitude in zip(("x", "y", "z", "rx", "ry", "rz"), (0.04, 0.04, 0.05, 0.1, 0.1, 0.1), strict=True)
    ]
    path = Harmonic(terms, 4.0, 1.0, placement=Placement("home", home=home))
    dynamics = Dynamics(mechanism)
    for t in (1.7, 2.0, 2.3):
        motion = path.motion(t)[0]
        wrench = rng.normal(scale=40.0, size=6)

        def energy(offset: float, t: float = t) -> Array:
            return np.add(*mechanical_energy(mechanism, path.motion(t + offset)[:, :13]))

        rate = derivative(energy, 4e-3)[0]
        forces = dynamics.forces(motion, wrench)
        power = supplied_power(mechanism, motion[:13], forces, wrench)[0]
        lost = friction_power(mechanism, motion[:13])[0]
        assert lost > 0.0
        scale = np.abs(forces * leg_kinematics(mechanism.geometry, motion).velocity).sum()
        assert abs(rate - (power - lost)) < 1e-10 * scale


def test_friction_power_is_that_of_the_friction_vector() -> None:
    mechanism = random_mechanism(2, coulomb=True)
    states = random_motions(2, 5)[:, :13]
    for coulomb_speed in (0.0, 5e-2):
        equations = task_space_equations(mechanism, states, coulomb_speed)
        power = friction_power(mechanism, states, coulomb_speed)
        np.testing.assert_allclose(np.sum(equations.friction * states[:, 7:], axis=1), power, rtol=1e-11)


def test_coulomb_friction_is_smoothed_by_every_method() -> None:
    mechanism = random_mechanism(4, coulomb=True)
    state = random_motions(4, 1)[0, :13]
    sharp = equations_of_motion(mechanism, state)[1]
    expected = equations_of_motion(mechanism, state, coulomb_speed=0.3)[1]
    assert largest(sharp - expected) > 0.1
    for method in METHODS[1:]:
        h = equations_of_motion(mechanism, state, method=method, coulomb_speed=0.3)[1]
        assert largest(h - expected) < 1e-11 * largest(expected)


def test_many_states_are_one_at_a_time() -> None:
    mechanism = random_mechanism(5)
    states = random_motions(5, 4)[:, :13]
    mass, bias = closed_form_equations(mechanism, states)
    assert mass.shape == (4, 6, 6)
    assert bias.shape == (4, 6)
    for sample, state in enumerate(states):
        M, h = closed_form_equations(mechanism, state)
        assert M.shape == (6, 6)
        np.testing.assert_allclose(mass[sample], M, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(bias[sample], h, rtol=1e-12, atol=1e-12)


def along_its_axis(mechanism: Mechanism, state: Array) -> Array:
    """The state moved so that leg 4 stands along its universal joint's fixed axis."""
    geometry, moved = mechanism.geometry, state.copy()
    reach = quaternion_to_matrix(state[3:7]) @ geometry.platform_points[3]
    moved[:3] = geometry.base_points[3] + 0.6 * geometry.universal_axes[3] - reach
    return moved


def test_what_cannot_be_computed_is_refused() -> None:
    mechanism = random_mechanism(0)
    state = random_motions(0, 1)[0, :13]
    singular = along_its_axis(mechanism, state)
    functions: list[Callable[[Array], object]] = [
        lambda x: closed_form_equations(mechanism, x),
        lambda x: closed_form_pods(mechanism, x),
        lambda x: task_space_equations(mechanism, x),
        lambda x: mechanical_energy(mechanism, x),
        lambda x: friction_power(mechanism, x),
        lambda x: supplied_power(mechanism, x, np.zeros(6)),
        *(lambda x, method=method: equations_of_motion(mechanism, x, method=method) for method in METHODS),
        *(lambda x, method=method: forward_dynamics(mechanism, x, np.zeros(6), method=method) for method in METHODS),
    ]
    for function in functions:
        with pytest.raises(SingularityError, match="leg 4 "):
            function(singular)
        with pytest.raises(DynamicsError, match="shape"):
            function(np.zeros(12))
        with pytest.raises(DynamicsError, match="finite"):
            function(np.where(np.arange(13) == 8, np.nan, state))
    with pytest.raises(DynamicsError, match=r"'lagrange'.*kernel, closed-form, strobed"):
        equations_of_motion(mechanism, state, method="lagrange")  # type: ignore[arg-type]
    equations = task_space_equations(mechanism, np.stack([state, state]))
    with pytest.raises(DynamicsError, match="accelerations: 3 samples"):
        equations.terms(np.zeros((3, 6)))
    with pytest.raises(DynamicsError, match="forces: 3 samples"):
        supplied_power(mechanism, np.stack([state, state]), np.zeros((3, 6)))
    nothing = Body(0.0, np.zeros(3), np.zeros((3, 3)))
    empty = replace(
        mechanism,
        mass=0.0,
        inertia=np.zeros((3, 3)),
        legs=tuple(replace(leg, lower=nothing, upper=nothing) for leg in mechanism.legs),
    )
    for method in METHODS:
        with pytest.raises(DynamicsError, match="mass matrix is singular"):
            forward_dynamics(empty, state, np.zeros(6), method=method)
