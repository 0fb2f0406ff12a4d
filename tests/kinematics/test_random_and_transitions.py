"""Random motion, and transitions between parts that do not meet."""

import numpy as np
import pytest

from kinematics.errors import TrajectoryError
from kinematics.trajectories import (
    Blend,
    Chirp,
    ChirpTerm,
    Hold,
    MinimumJerk,
    RandomMotion,
    RandomTerm,
    Sequence,
    join,
)

A = np.array([0.1, 0.0, 0.4, 0.0, 0.0, -0.2])
B = np.array([0.3, 0.0, 0.6, 0.0, 0.0, 0.2])


def test_a_transition_joins_what_moves_and_turns_at_both_ends() -> None:
    before = Sequence([Blend(A, B, 3.0, 0.28284271247461906 / 3.0, 0.4 / 3.0)])  # of constant speed
    after = Chirp([ChirpTerm("y", 0.02, 0.4, 2.0, 0.7)], 6.0, 1.0, offset=A)
    for first, then in ((before, after), (after, before), (before, before)):
        whole = Sequence([first, join(first, then, 1.3), then])
        seams = [first.duration, first.duration + 1.3]
        assert not set(seams) & set(whole.breakpoints)
        for seam in seams:
            for left, right in zip(*(whole.coordinates([seam + step]) for step in (-1e-9, 1e-9)), strict=True):
                np.testing.assert_allclose(left, right, atol=1e-6)


def test_a_transition_between_two_at_rest_is_of_minimum_jerk() -> None:
    t = np.linspace(0.0, 2.0, 33)
    transition = join(Hold(A, 1.0), Hold(B, 1.0), 2.0).coordinates(t)
    for one, other in zip(transition, MinimumJerk(A, B, 2.0).coordinates(t), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-14)


def test_random_motion_has_its_rms_in_its_band_and_rests_at_both_ends() -> None:
    made = RandomMotion([RandomTerm("z", 0.01, 1.0, 3.0)], 400.0, 2.0, seed=5, offset=A)
    q, _, _ = made.coordinates(np.arange(2**15) / 100.0)
    z = q[400:, 2] - A[2]
    assert np.std(z) == pytest.approx(0.01, rel=0.02)
    power, frequency = np.abs(np.fft.rfft(z * np.hanning(len(z)))) ** 2, np.fft.rfftfreq(len(z), 0.01)
    assert power[(frequency > 0.95) & (frequency < 3.05)].sum() > 0.9999 * power.sum()
    assert not (q - A)[:, [0, 1, 3, 4, 5]].any()
    ends, rates, accelerations = made.coordinates([0.0, 400.0])
    np.testing.assert_allclose(ends, [A, A], atol=1e-15)
    assert not rates.any() and not accelerations.any()


def test_the_same_seed_is_the_same_motion_wherever_it_is_made() -> None:
    def z(seed: int) -> float:
        made = RandomMotion([RandomTerm("z", 1.0, 0.5, 2.0)], 20.0, 1.0, seed)
        return float(made.coordinates([7.0])[0][0, 2])

    # PCG64's own numbers by its published definition, which any version of NumPy keeps
    assert z(7) == pytest.approx(-0.7017568572820052, abs=1e-12) and z(8) != z(7)


@pytest.mark.parametrize(
    ("term", "seed", "why"),
    [
        (RandomTerm("z", 0.01, 2.0, 1.0), 0, "term 1, high_frequency: 1 Hz, must be finite, from 2 to 1e"),
        (RandomTerm("z", np.nan, 1.0, 2.0), 0, "term 1, rms: nan m"),
        (RandomTerm("w", 0.01, 1.0, 2.0), 0, "term 1, dof: 'w'"),
        (RandomTerm("z", 0.01, 1.0, 2.0), -1, "seed: -1, must be at least 0"),
    ],
)
def test_random_motion_says_what_is_wrong(term: RandomTerm, seed: int, why: str) -> None:
    with pytest.raises(TrajectoryError, match=why):
        RandomMotion([term], 6.0, 1.0, seed)
