"""Peaks of the joint reactions over a motion, and what the base bears, against Pinocchio's rate of momentum."""

import numpy as np
import pinocchio as pin
import pytest
from pinocchio_platform import PinocchioPlatform
from random_mechanisms import random_mechanism, random_motions

from dynamics import (
    REACTION_UNITS,
    Dynamics,
    DynamicsError,
    ReactionPeak,
    SingularityError,
    base_loads,
    load_mechanism,
    reaction_peaks,
)
from kinematics import Array, leg_kinematics, quaternion_to_matrix


def by_name(peaks: tuple[ReactionPeak, ...]) -> dict[tuple[str, int | None], ReactionPeak]:
    return {(peak.reaction, peak.leg): peak for peak in peaks}


def test_peaks_are_the_largest_of_all_samples() -> None:
    mechanism = random_mechanism(0, coulomb=True)
    motions = random_motions(0, 40)
    wrenches = np.random.default_rng(0).normal(scale=50.0, size=(40, 6))
    times = 3.0 + 0.01 * np.arange(40)
    peaks = reaction_peaks(mechanism, motions, wrenches, times=times)
    result = Dynamics(mechanism).inverse(motions, wrenches)
    expected = {
        "spherical force": result.tops,
        "universal force": result.base_forces,
        "universal moment": result.universal_moments,
        "prismatic force": result.prismatic_forces,
        "guide force": result.guide_forces,
        "prismatic moment": result.prismatic_moments,
    }
    found = by_name(peaks)
    assert len(found) == len(peaks) == 6 * 6 + 2
    assert list(dict.fromkeys(peak.reaction for peak in peaks)) == list(REACTION_UNITS)
    for reaction, vectors in expected.items():
        for leg in range(6):
            peak = found[reaction, leg + 1]
            sizes = np.linalg.norm(vectors[:, leg], axis=1)
            assert peak.unit == ("N m" if "moment" in reaction else "N")
            assert peak.magnitude == sizes.max()
            assert peak.sample == sizes.argmax()
            assert peak.time == times[peak.sample]
            np.testing.assert_array_equal(peak.components, vectors[peak.sample, leg])


def test_components_along_the_leg() -> None:
    """The guide bears nothing along s, the prismatic force has the drive's force there, m_c c has no part along v."""
    mechanism = random_mechanism(1, coulomb=True)
    motions = random_motions(1, 20)
    forces = Dynamics(mechanism).inverse(motions).forces
    found = by_name(reaction_peaks(mechanism, motions))
    for leg in range(1, 7):
        guide, slide = found["guide force", leg], found["prismatic force", leg]
        universal = found["universal moment", leg]
        for peak in (guide, slide, universal):
            assert peak.leg_components is not None
            np.testing.assert_allclose(np.linalg.norm(peak.leg_components), peak.magnitude, rtol=1e-12)
            np.testing.assert_allclose(np.linalg.norm(peak.components), peak.magnitude, rtol=1e-12)
        assert guide.leg_components is not None
        assert slide.leg_components is not None
        assert universal.leg_components is not None
        assert abs(guide.leg_components[0]) < 1e-11 * slide.magnitude
        assert slide.leg_components[0] == pytest.approx(forces[slide.sample, leg - 1], rel=1e-11)
        assert abs(universal.leg_components[1]) < 1e-12 * universal.magnitude


@pytest.mark.parametrize("seed", range(6))
def test_the_base_bears_weight_and_rate_of_momentum(seed: int) -> None:
    """Newton and Euler for everything above the base, about the base frame's origin."""
    mechanism = random_mechanism(seed, coulomb=True)
    peer = PinocchioPlatform(mechanism)
    motions = random_motions(seed + 50, 3)
    wrenches = np.random.default_rng(seed).normal(scale=50.0, size=(3, 6))
    spins = leg_kinematics(mechanism.geometry, motions).angular_velocity
    forces, moments = base_loads(mechanism, Dynamics(mechanism).inverse(motions, wrenches), spins)
    for sample, (motion, wrench) in enumerate(zip(motions, wrenches, strict=True)):
        peer.inverse(motion, wrench)  # leaves the tree's accelerations behind
        rate = pin.computeCentroidalMomentumTimeVariation(peer.model, peer.data)
        center = peer.data.com[0]
        rotation = quaternion_to_matrix(motion[3:7])
        push = rotation @ wrench[:3] + pin.computeTotalMass(peer.model) * mechanism.gravity
        turn = np.cross(motion[:3], rotation @ wrench[:3]) + rotation @ wrench[3:]
        turn = turn + np.cross(center, pin.computeTotalMass(peer.model) * mechanism.gravity)
        np.testing.assert_allclose(push - forces[sample], rate.linear, rtol=0.0, atol=1e-9)
        about_origin = rate.angular + np.cross(center, rate.linear)
        np.testing.assert_allclose(turn - moments[sample], about_origin, rtol=0.0, atol=1e-9)


def test_at_rest_the_base_bears_the_weight() -> None:
    mechanism = load_mechanism("lab-hexapod")
    home = mechanism.geometry.home
    assert home is not None
    motion = np.concatenate([home, np.zeros(12)])
    weight = mechanism.mass + sum(leg.lower.mass + leg.upper.mass for leg in mechanism.legs)
    found = by_name(reaction_peaks(mechanism, motion))
    base = found["base force", None]
    np.testing.assert_allclose(base.components, weight * mechanism.gravity, rtol=1e-12, atol=1e-10)
    assert base.leg_components is None
    assert base.time is None
    # the spherical joints bear the platform alone
    tops = np.array([found["spherical force", leg].components for leg in range(1, 7)])
    np.testing.assert_allclose(tops.sum(axis=0), mechanism.mass * mechanism.gravity, rtol=1e-12, atol=1e-10)


def test_of_equal_peaks_the_first_counts() -> None:
    mechanism = random_mechanism(2)
    motion = random_motions(2, 1)
    peaks = reaction_peaks(mechanism, np.repeat(motion, 4, axis=0), times=[0.1, 0.2, 0.3, 0.4])
    assert {(peak.sample, peak.time) for peak in peaks} == {(0, 0.1)}


def test_what_cannot_be_computed_is_refused() -> None:
    mechanism = random_mechanism(3)
    motions = random_motions(3, 3)
    with pytest.raises(DynamicsError, match="motions: none given"):
        reaction_peaks(mechanism, np.empty((0, 19)))
    with pytest.raises(DynamicsError, match="times: 2 samples, must be as many as motions, 3"):
        reaction_peaks(mechanism, motions, times=[0.0, 1.0])
    with pytest.raises(DynamicsError, match=r"times: sample 1, t is nan"):
        reaction_peaks(mechanism, motions, times=[0.0, np.nan, 1.0])
    with pytest.raises(DynamicsError, match="wrenches: 2 samples"):
        reaction_peaks(mechanism, motions, np.zeros((2, 6)))
    with pytest.raises(SingularityError, match=r"sample 1: leg 4 "):
        reaction_peaks(mechanism, along_its_axis(motions, 1))


def along_its_axis(motions: Array, sample: int) -> Array:
    geometry, moved = random_mechanism(3).geometry, motions.copy()
    reach = quaternion_to_matrix(moved[sample, 3:7]) @ geometry.platform_points[3]
    moved[sample, :3] = geometry.base_points[3] + 0.6 * geometry.universal_axes[3] - reach
    return moved


def test_spherical_joints_bear_what_pinocchio_says() -> None:
    mechanism = random_mechanism(4)
    motion = random_motions(4, 1)[0]
    _, tops = PinocchioPlatform(mechanism).inverse(motion, np.zeros(6))
    found = by_name(reaction_peaks(mechanism, motion))
    for leg in range(1, 7):
        np.testing.assert_allclose(found["spherical force", leg].components, tops[leg - 1], rtol=1e-11, atol=1e-9)
