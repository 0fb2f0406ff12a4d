"""Simulation of chains, computed torque, and the PUMA."""

from typing import Any

import numpy as np
import pytest
from serial_chains import PinocchioChain, random_chain

from dynamics import DynamicsError
from dynamics.serial import (
    ERROR_BOUND,
    ControlStudy,
    computed_torque,
    computed_torque_lagrange,
    puma,
    puma_study,
    simulate_chain,
    strobed_gravity,
    strobed_mass_matrix,
)
from kinematics import Array


def test_a_free_chain_keeps_its_energy() -> None:
    rng = np.random.default_rng(12)
    chain = random_chain(rng, 3, friction=False)
    peer = PinocchioChain(chain)
    q, qd = rng.normal(size=(2, 3))
    drifts = []
    for step in (0.02, 0.01):
        run = simulate_chain(chain, q, qd, lambda _t, _q, _qd: [0.0] * 3, 0.4, step)
        assert run.q.shape == run.qd.shape == (len(run.times), 3)
        assert run.times[-1] == pytest.approx(0.4)
        energy = [peer.energy(x, v) for x, v in zip(run.q, run.qd, strict=True)]
        kinetic = 0.5 * qd @ peer.mass_matrix(q) @ qd
        drifts.append(abs(energy[-1] - energy[0]) / kinetic)
    assert drifts[1] < 1e-6
    assert drifts[1] < drifts[0] / 12.0  # of fourth order


def test_simulation_refuses_impossible_times() -> None:
    chain = puma()
    still = [0.0] * 6
    for duration, step in ((0.0, 0.01), (1.0, 0.0), (float("nan"), 0.1), (0.105, 0.01)):
        with pytest.raises(DynamicsError, match="duration"):
            simulate_chain(chain, still, still, lambda _t, _q, _qd: still, duration, step)


def test_eqs_4_1_and_4_4_of_000_are_one_law() -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        chain = puma(friction=True, payload=1.0) if seed == 0 else random_chain(rng, 5)
        desired = tuple(rng.normal(size=(3, len(chain))).tolist())
        q, qd = rng.normal(size=(2, len(chain)))
        one = computed_torque(chain, desired, q, qd, 100.0, 20.0)
        other = computed_torque_lagrange(chain, desired, q, qd, 100.0, 20.0)
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-11 * np.abs(one).max())


def test_puma_against_printed_numbers() -> None:
    """Gravity load and inertia at Corke's nominal pose, as printed in his books for |g| = 9.81."""
    chain = puma(gravity=9.81)
    nominal: Array = np.radians([0.0, 45.0, 180.0, 0.0, 45.0, 0.0])
    np.testing.assert_allclose(strobed_gravity(chain, nominal), [0.0, 31.6399, 6.0351, 0.0, 0.0283, 0.0], atol=6e-5)
    mass: Array = np.array(strobed_mass_matrix(chain, nominal))
    np.testing.assert_allclose(mass[0], [3.6594, -0.4044, 0.1006, -0.0025, 0.0, 0.0], atol=6e-5)
    np.testing.assert_allclose(np.diag(mass), [3.6594, 4.4137, 0.9378, 0.1925, 0.1713, 0.1941], atol=6e-5)


def ours(**changes: Any) -> ControlStudy:
    """The study with rotors and preview, which 000's equations have not."""
    return puma_study(**(dict[str, Any](plant=puma(), model=puma(), preview=True) | changes))


def test_puma_under_computed_torque_as_printed() -> None:
    study = puma_study()
    assert study.times[1] - study.times[0] == pytest.approx(0.01)
    np.testing.assert_allclose(study.desired[0], np.radians([90.0, 0.0, 90.0, 0.0, 0.0, 0.0]))
    np.testing.assert_allclose(study.desired[-1], np.radians([45.0, 30.0, 0.0, 45.0, 60.0, 90.0]))
    assert study.error.shape == study.torques.shape == study.rates.shape == (len(study.times), 6)
    assert study.peak.max() == pytest.approx(1545e-6, abs=1e-6)
    assert puma_study(preview=True, settling=0.0).peak.max() == pytest.approx(1405e-6, abs=1e-6)
    # the paper does not print how fast its arm moves: slowly enough, the bound is kept
    assert puma_study(duration=7.0, settling=0.0).peak.max() < ERROR_BOUND


def test_puma_with_rotors_and_preview() -> None:
    study = ours(duration=1.5)
    assert (study.peak < ERROR_BOUND).all()
    assert (study.peak > 0.0).all()
    assert np.abs(study.error[-1]).max() < 1e-5
    # an unknown payload is not compensated
    loaded = ours(plant=puma(payload=1.0), settling=0.0, duration=1.0)
    assert loaded.peak.max() > 10.0 * ERROR_BOUND
    with pytest.raises(DynamicsError, match="sampling"):
        puma_study(sampling=0.0)
    with pytest.raises(DynamicsError, match="settling"):
        puma_study(settling=-1.0)
