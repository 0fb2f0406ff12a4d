from dataclasses import replace

import numpy as np
import pytest

from calibration import CalibrationError, Excitation, design_excitation
from dynamics import Dynamics, LegLimits, load_mechanism
from kinematics import joint_angles, leg_kinematics

MACHINE = load_mechanism("lab-hexapod")
MARGIN = 0.7


@pytest.fixture(scope="module")
def motion() -> Excitation:
    return design_excitation(MACHINE, 20.0, margin=MARGIN, candidates=3, seed=2)


def test_it_keeps_every_limit_by_its_margin(motion: Excitation) -> None:
    samples = motion.trajectory(MACHINE.geometry.home_pose).motion(np.linspace(0.0, 20.0, 5001))
    legs, forces = leg_kinematics(MACHINE.geometry, samples), Dynamics(MACHINE).inverse(samples).forces
    angles = joint_angles(MACHINE.geometry, samples[:, :7])
    slack = 1.02  # between the samples that the design looks at
    limits = MACHINE.legs[0].limits
    assert limits is not None and limits.length is not None
    low, high = limits.length
    assert np.abs(legs.length - 0.5 * (low + high)).max() < slack * MARGIN * 0.5 * (high - low)
    for values, bound in (
        (legs.velocity, limits.velocity),
        (legs.acceleration, limits.acceleration),
        (forces, limits.force),
        (angles.universal, limits.universal_angle),
        (angles.spherical, limits.spherical_angle),
    ):
        assert bound is not None and np.abs(values).max() < slack * MARGIN * bound


def test_it_moves_all_six_coordinates_and_stands_at_both_ends(motion: Excitation) -> None:
    assert {term.dof for term in motion.terms} == {"x", "y", "z", "rx", "ry", "rz"}
    ends = motion.trajectory(MACHINE.geometry.home_pose).motion([0.0, motion.duration])
    assert np.abs(ends[:, 7:]).max() < 1e-9
    assert ends[:, :7] == pytest.approx(np.tile(MACHINE.geometry.home_pose, (2, 1)), abs=1e-12)


def test_more_candidates_never_tell_less(motion: Excitation) -> None:
    one = design_excitation(MACHINE, 20.0, margin=MARGIN, candidates=1, seed=2)
    assert one.information <= motion.information
    slow = design_excitation(MACHINE, 20.0, margin=0.3, candidates=1, seed=2)
    assert slow.information < one.information


def test_progress_is_told_and_may_end_it() -> None:
    told: list[float] = []
    design_excitation(MACHINE, 10.0, candidates=2, progress=told.append)
    assert told[0] == 0.0 and told[-1] == 1.0

    def cancel(_part: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        design_excitation(MACHINE, 10.0, candidates=2, progress=cancel)


def test_what_cannot_be_designed_is_refused() -> None:
    with pytest.raises(CalibrationError, match="duration: nan, must be 10 to 3600") as refused:
        design_excitation(MACHINE, float("nan"), margin=2.0)
    assert len(refused.value.faults) == 2
    loose = replace(MACHINE, legs=tuple(replace(leg, limits=LegLimits()) for leg in MACHINE.legs))
    with pytest.raises(CalibrationError, match="needs a home and limits of its legs' lengths"):
        design_excitation(loose)
    narrow = tuple(replace(leg, limits=replace(leg.limits, length=(0.40, 0.41))) for leg in MACHINE.legs)  # type: ignore[type-var]
    with pytest.raises(CalibrationError, match="its limits permit no motion about home"):
        design_excitation(replace(MACHINE, legs=narrow), candidates=1)
