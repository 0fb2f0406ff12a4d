from dataclasses import replace

import numpy as np
import pytest

from calibration import Accuracy, CalibrationError, Excitation, ExcitationSettings, base_parameters, design_excitation
from calibration.inertia.excitation import Grid, MotionInformation
from calibration.inertia.prior import prior
from dynamics import Dynamics, LegLimits, Regressor, linear_parameters, load_mechanism
from kinematics import Array, Harmonic, HarmonicTerm, Placement, joint_angles, leg_kinematics

MACHINE = load_mechanism("lab-hexapod")
HOME = MACHINE.geometry.home_pose
MARGIN = 0.7


@pytest.fixture(scope="module")
def motion() -> Excitation:
    return design_excitation(MACHINE, ExcitationSettings(20.0, margin=MARGIN, candidates=3, steps=30, seed=2))


def test_it_keeps_every_limit_by_its_margin(motion: Excitation) -> None:
    samples = motion.trajectory(HOME).motion(np.linspace(0.0, 20.0, 5001))
    standing = samples.copy()
    standing[:, 7:] = 0.0
    legs, model = leg_kinematics(MACHINE.geometry, samples), Dynamics(MACHINE)
    angles = joint_angles(MACHINE.geometry, samples[:, :7])
    slack = 1.002  # between the samples that the design looks at
    limits = MACHINE.legs[0].limits
    assert limits is not None and limits.length is not None
    low, high = limits.length
    used = [np.abs(legs.length - 0.5 * (low + high)).max() / (0.5 * (high - low))]
    for values, bound in (
        (legs.velocity, limits.velocity),
        (legs.acceleration, limits.acceleration),
        (model.inverse(samples).forces, limits.force),
        (model.inverse(standing).forces, limits.force),
        (angles.universal, limits.universal_angle),
        (angles.spherical, limits.spherical_angle),
    ):
        assert bound is not None
        used.append(np.abs(values).max() / bound)
    assert 0.98 * MARGIN < max(used) < slack * MARGIN


def test_it_moves_all_six_coordinates_and_stands_at_both_ends(motion: Excitation) -> None:
    assert {term.dof for term in motion.terms} == {"x", "y", "z", "rx", "ry", "rz"}
    assert max(term.frequency for term in motion.terms) <= 2.0 and len(motion.terms) <= 100
    ends = motion.trajectory(HOME).motion([0.0, motion.duration])
    assert np.abs(ends[:, 7:]).max() < 1e-9
    assert ends[:, :7] == pytest.approx(np.tile(HOME, (2, 1)), abs=1e-12)


def told(motion: Excitation, noise: float = 0.5, accuracy: Accuracy | None = None) -> float:
    """½ log det of what cells tell beside what was known, zero, drift, lag, gain and cross-talk of each left open."""
    accuracy = Accuracy() if accuracy is None else accuracy
    _, known = prior(MACHINE, accuracy)
    base = base_parameters(MACHINE, np.sqrt(np.diag(known)), drives=False)
    rate = 50.0
    t = np.arange(0.0, motion.duration, 1.0 / rate)
    samples = motion.trajectory(HOME).motion(t)
    rows, beyond = Regressor(MACHINE, 0.02).cells(samples)
    forces = rows @ linear_parameters(MACHINE) + beyond
    size, others = len(base.pivots), 6 * 6
    before = np.linalg.inv(base.matrix @ known @ base.matrix.T)
    whole = np.zeros((size + others, size + others))
    whole[:size, :size] = before
    sigmas = [accuracy.offset, accuracy.drift, accuracy.lag, accuracy.gain, accuracy.cross_talk, accuracy.cross_talk]
    whole[size:, size:] = np.diag(np.tile(sigmas, 6) ** -2.0)
    for leg in range(6):
        columns = np.zeros((len(t), size + others))
        columns[:, :size] = rows[:, leg, list(base.pivots)]
        columns[:, size + 6 * leg : size + 6 * leg + 6] = np.column_stack(
            [
                np.ones(len(t)),
                t - t.mean(),
                -np.gradient(forces[:, leg], 1.0 / rate),
                forces[:, leg],
                forces[:, leg - 1],
                forces[:, (leg + 1) % 6],
            ]
        )
        whole += columns.T @ columns * (500.0 / rate / noise**2)
    covariance = np.linalg.inv(whole)[:size, :size]
    return -0.5 * float(np.linalg.slogdet(covariance @ before)[1]) / size


def test_its_information_is_that_of_the_whole_motion(motion: Excitation) -> None:
    assert motion.information == pytest.approx(told(motion), abs=0.02)


def test_the_gradient_makes_it_tell_nepers_more_than_the_best_that_was_drawn(motion: Excitation) -> None:
    drawn = design_excitation(MACHINE, ExcitationSettings(20.0, margin=MARGIN, candidates=3, steps=0, seed=2))
    assert drawn.information == motion.drawn == drawn.drawn and drawn.gain == 0.0
    assert motion.parameters * (told(motion) - told(drawn)) > 30.0


def test_the_same_seed_designs_the_same_motion() -> None:
    few = ExcitationSettings(10.0, candidates=1, steps=3, seed=2)
    one, other, different = (design_excitation(MACHINE, each) for each in (few, few, replace(few, seed=3)))
    assert one.terms == other.terms != different.terms


def test_derivatives_of_the_information_are_those_of_differences() -> None:
    information = MotionInformation(MACHINE, Accuracy(), 0.5, drives=True)
    terms = [HarmonicTerm(dof, 0.03, 0.3 + 0.1 * k, k) for k, dof in enumerate(("x", "y", "z", "rx", "ry", "rz"))]
    trajectory = Harmonic(terms, 20.0, 2.0, placement=Placement("home", home=HOME))
    grid = Grid.of(20.0, 2.0, 10.0, 15.0)
    coordinates = np.hstack(trajectory.coordinates(grid.t))
    _, derivatives = information.gradient(grid, coordinates)
    generator = np.random.default_rng(3)
    for first, size in ((0, 1e-6), (6, 1e-6), (12, 1e-4)):
        change: Array = np.zeros_like(coordinates)
        change[:, first : first + 6] = size * generator.normal(size=(len(grid.t), 6))
        difference = information.of(grid, coordinates + change)[0] - information.of(grid, coordinates - change)[0]
        assert 2.0 * np.sum(derivatives * change) == pytest.approx(difference, rel=1e-3)


def test_more_candidates_never_tell_less() -> None:
    three = design_excitation(MACHINE, ExcitationSettings(20.0, margin=MARGIN, candidates=3, steps=0, seed=2))
    one = design_excitation(MACHINE, ExcitationSettings(20.0, margin=MARGIN, candidates=1, steps=0, seed=2))
    assert one.information <= three.information
    slow = design_excitation(MACHINE, ExcitationSettings(20.0, margin=0.3, candidates=1, steps=0, seed=2))
    assert slow.information < one.information


def test_what_another_check_refuses_is_made_smaller() -> None:
    def low(trajectory: Harmonic) -> bool:
        return float(np.abs(trajectory.motion(np.linspace(0.0, 12.0, 500))[:, 2] - HOME[2]).max()) < 0.01

    found = design_excitation(MACHINE, ExcitationSettings(12.0, candidates=1, steps=4), permits=low)
    assert low(found.trajectory(HOME)) and found.information >= found.drawn
    with pytest.raises(CalibrationError, match="its limits permit no motion about home"):
        design_excitation(MACHINE, ExcitationSettings(12.0, candidates=1, steps=4), permits=lambda _trajectory: False)


def test_progress_is_told_and_may_end_it() -> None:
    parts: list[float] = []
    design_excitation(MACHINE, ExcitationSettings(10.0, candidates=2, steps=3), progress=parts.append)
    assert parts[0] == 0.0 and parts[-1] == 1.0 and parts == sorted(parts)

    def cancel(part: float) -> None:
        if part > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        design_excitation(MACHINE, ExcitationSettings(10.0, candidates=2, steps=3), progress=cancel)


def test_what_cannot_be_designed_is_refused() -> None:
    with pytest.raises(CalibrationError, match="duration: nan, must be 10 to 3600") as refused:
        design_excitation(MACHINE, ExcitationSettings(float("nan"), margin=2.0, steps=-1))
    assert len(refused.value.faults) == 3
    loose = replace(MACHINE, legs=tuple(replace(leg, limits=LegLimits()) for leg in MACHINE.legs))
    with pytest.raises(CalibrationError, match="needs a home and limits of its legs' lengths"):
        design_excitation(loose)
    narrow = tuple(replace(leg, limits=replace(leg.limits, length=(0.40, 0.41))) for leg in MACHINE.legs)  # type: ignore[type-var]
    with pytest.raises(CalibrationError, match="its limits permit no motion about home"):
        design_excitation(replace(MACHINE, legs=narrow), ExcitationSettings(candidates=1))
