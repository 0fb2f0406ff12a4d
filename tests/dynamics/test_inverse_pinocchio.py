"""Inverse dynamics and every reaction against Pinocchio, on mechanisms made at random."""

import numpy as np
import pinocchio as pin
import pytest
from pinocchio_platform import PinocchioPlatform
from random_mechanisms import random_mechanism, random_motions

from dynamics import Dynamics, load_mechanism

SEEDS = range(6)


@pytest.mark.parametrize("seed", SEEDS)
def test_forces_and_tops(seed: int) -> None:
    mechanism = random_mechanism(seed, coulomb=seed % 2 == 1)
    peer = PinocchioPlatform(mechanism)
    motions = random_motions(seed + 100, 8, speed=1.0 + seed % 3)
    wrenches = np.random.default_rng(seed).normal(scale=60.0, size=(8, 6))
    result = Dynamics(mechanism).inverse(motions, wrenches)
    for sample in range(8):
        forces, tops = peer.inverse(motions[sample], wrenches[sample])
        np.testing.assert_allclose(result.forces[sample], forces, rtol=1e-11, atol=1e-9)
        np.testing.assert_allclose(result.tops[sample], tops, rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_reactions_balance_every_body(seed: int) -> None:
    """Newton and Euler for each part of each leg, with Pinocchio's velocities and accelerations of the parts."""
    mechanism = random_mechanism(seed, coulomb=True)
    peer = PinocchioPlatform(mechanism)
    motions = random_motions(seed + 200, 3)
    result = Dynamics(mechanism).inverse(motions)
    for sample, motion in enumerate(motions):
        peer.inverse(motion, np.zeros(6))
        omega = motion[10:13]
        for index, leg in enumerate(mechanism.legs):
            lower, upper = peer.lowers[index], peer.tops[index]
            rotation = peer.data.oMi[lower].rotation
            b = mechanism.geometry.base_points[index]
            top = peer.data.oMi[upper].translation
            s = rotation[:, 0]
            spin = peer.data.oMi[lower].rotation @ peer.data.v[lower].angular
            speed = peer.v[peer.prismatic[index]]
            friction = leg.friction.prismatic * speed + leg.friction.coulomb * np.sign(speed)
            spherical = leg.friction.spherical * (spin - omega)
            slide = result.prismatic_forces[sample, index] - friction * s  # lower on upper
            guide = result.prismatic_moments[sample, index]  # lower on upper, about b
            foot = result.base_forces[sample, index]
            head = result.tops[sample, index]
            universal = result.universal_moments[sample, index] - leg.friction.universal * spin
            loads = {
                lower: (leg.lower, [(foot, b)], -slide, universal - guide),
                upper: (leg.upper, [(head, top)], slide, guide - spherical),
            }
            for joint, (body, forces, across, moment) in loads.items():
                frame = peer.data.oMi[joint]
                lever = frame.rotation @ body.center_of_mass
                center = frame.translation + lever
                w = frame.rotation @ peer.data.v[joint].angular
                wd = frame.rotation @ peer.data.a[joint].angular
                origin = pin.getClassicalAcceleration(peer.model, peer.data, joint, pin.LOCAL_WORLD_ALIGNED).linear
                acceleration = origin + np.cross(wd, lever) + np.cross(w, np.cross(w, lever))
                inertia = frame.rotation @ body.inertia @ frame.rotation.T
                net = sum((force for force, _ in forces), across) + body.mass * mechanism.gravity
                np.testing.assert_allclose(net, body.mass * acceleration, rtol=0.0, atol=1e-9)
                # `across` acts with `moment` about b
                about_center = moment + np.cross(b - center, across)
                about_center = sum((np.cross(place - center, force) for force, place in forces), about_center)
                rate = inertia @ wd + np.cross(w, inertia @ w)
                np.testing.assert_allclose(about_center, rate, rtol=0.0, atol=1e-9)
            guide_force = result.guide_forces[sample, index]
            np.testing.assert_allclose(guide_force @ s, 0.0, atol=1e-9)
            np.testing.assert_allclose(
                guide_force + result.forces[sample, index] * s, result.prismatic_forces[sample, index], atol=1e-9
            )
            # a universal joint passes no moment about its two axes
            u = mechanism.geometry.universal_axes[index]
            constraint = result.universal_moments[sample, index]
            np.testing.assert_allclose([constraint @ u, constraint @ np.cross(u, s)], 0.0, atol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_load_cells_balance_the_part_cut_off(seed: int) -> None:
    """The force through the cell, from the momentum of what lies on one side of it."""
    mechanism = random_mechanism(seed)
    peer = PinocchioPlatform(mechanism)
    motions = random_motions(seed + 300, 4)
    dynamics = Dynamics(mechanism)
    readings = dynamics.cells(motions)
    for sample, motion in enumerate(motions):
        forces, tops = peer.inverse(motion, np.zeros(6))
        result = dynamics.inverse(motion)
        for index, leg in enumerate(mechanism.legs):
            cell = leg.load_cell
            joint = peer.lowers[index] if cell.location == "base" else peer.tops[index]
            frame = peer.data.oMi[joint]
            s = frame.rotation[:, 0]
            lever = frame.rotation @ cell.place
            w = frame.rotation @ peer.data.v[joint].angular
            wd = frame.rotation @ peer.data.a[joint].angular
            origin = pin.getClassicalAcceleration(peer.model, peer.data, joint, pin.LOCAL_WORLD_ALIGNED).linear
            acceleration = origin + np.cross(wd, lever) + np.cross(w, np.cross(w, lever))
            momentum = cell.mass_beyond * (acceleration - mechanism.gravity)
            through = {
                "actuator": forces[index] * s - momentum,  # drive pushes what lies before the cell
                "rod_end": momentum - tops[index],  # the rest of the rod pushes the part beyond
                "base": result.base_forces[0, index] - momentum,  # the part above the joint pushes what is above it
            }[cell.location]
            np.testing.assert_allclose(readings[sample, index], through @ s, rtol=1e-11, atol=1e-9)


def test_cells_where_nothing_is_given_read_the_actuator_force() -> None:
    mechanism = load_mechanism("dasgupta-1998", evaluate_only=True)
    motion = np.zeros(19)
    motion[[2, 3]] = 0.5, 1.0
    dynamics = Dynamics(mechanism)
    np.testing.assert_array_equal(dynamics.cells(motion)[0], dynamics.forces(motion))
