"""Machines of half a kilogram and of 380 kg are identified as the lab-hexapod is: priors have their size."""

from dataclasses import fields, replace

import numpy as np
import pytest
from built_machines import MACHINE, NOISE, RATE, SMOOTHING, motion
from exploration import LONG
from sized_machines import off, sized

from calibration import Accuracy, ForceRecord, IdentificationSettings, hold_out, identify
from dynamics import FRICTIONS, Dynamics, Leg, Mechanism, linear_parameters, machine_size


def stretch(truth: Mechanism, seed: int, duration: float = 24.0) -> ForceRecord:
    """What encoders and cells say of a motion as large as the machine: noise and steps as large as it, too."""
    size, generator = machine_size(truth), np.random.default_rng([seed, 1])
    path = motion(duration, seed)
    for columns in (slice(0, 3), slice(7, 10), slice(13, 16)):
        path[:, columns] *= size.length
    model = Dynamics(truth, SMOOTHING)
    cells = model.cells(path) + size.force * NOISE * generator.normal(size=(len(path), 6))
    pose = path[:, :7] + size.length * generator.uniform(-5e-8, 5e-8, (len(path), 7))
    pose[:, 3:] /= np.linalg.norm(pose[:, 3:], axis=1, keepdims=True)
    drives = model.inverse(path).forces + size.force * 0.2 * generator.normal(size=cells.shape)
    return ForceRecord(RATE, pose, cells, drives)


@pytest.mark.parametrize(("mass", "told"), [(0.5, 45), (380.0, 55)])
def test_small_and_large_machines_are_told_within_what_is_said(mass: float, told: int) -> None:
    machine = sized(mass)
    noise = NOISE * machine_size(machine).force
    settings = IdentificationSettings(coulomb_speed=SMOOTHING, noise=np.full(6, noise))
    away = []
    for seed in (3, 2, 1) if LONG else (2, 1):
        truth = off(machine, seed)
        record = stretch(truth, seed)
        result = identify(machine, [record], settings)
        away.append((result.base.matrix @ (result.theta - linear_parameters(truth)))[result.identifiable])
        away[-1] /= result.base_sigma[result.identifiable]
    every = np.concatenate(away)
    assert np.mean(np.abs(every) < 2.0) > 0.93 and np.abs(every).max() < 4.0
    assert np.count_nonzero(result.identifiable) > told and result.terms == ()
    coulomb = np.sqrt(np.diag(result.covariance))[[place.stop - 1 for place in FRICTIONS]]
    assert coulomb.max() < 0.15 * machine_size(machine).force  # drives tell it, whose forces are noisy by their size
    held = hold_out(result, [record], [stretch(truth, 21, 8.0)], SMOOTHING)
    assert held.verdict == "pass" and held.after < 1.1 * noise < 0.4 * held.before


def test_what_is_stated_has_the_size_of_the_machine() -> None:
    assert Accuracy.of(MACHINE) == Accuracy()
    large, stated = Accuracy.of(sized(380.0), gain=5e-3), Accuracy()
    k = 380.0 / 18.0
    assert large.gain == 5e-3 and large.mass == stated.mass and large.lag == stated.lag
    assert large.center == pytest.approx(stated.center * k ** (1 / 3), rel=1e-6)
    assert large.least_coulomb == pytest.approx(stated.least_coulomb * k, rel=1e-6)
    assert large.least_prismatic == pytest.approx(stated.least_prismatic * k ** (5 / 6), rel=1e-6)
    assert large.least_damping == pytest.approx(stated.least_damping * k**1.5, rel=1e-6)
    assert large.compliance == pytest.approx(stated.compliance * k ** (-2 / 3), rel=1e-6)
    assert {each.name for each in fields(Accuracy)} > {"offset", "drift"}
    assert (large.offset, large.drift) == pytest.approx((stated.offset * k, stated.drift * k), rel=1e-6)


def test_the_size_of_a_machine_without_limits_is_that_of_its_platform() -> None:
    def unlimited(leg: Leg) -> Leg:
        return replace(leg, limits=None)

    for mass in (0.5, 18.0, 380.0):
        machine = sized(mass)
        bare = machine_size(replace(machine, legs=tuple(map(unlimited, machine.legs))))
        size = machine_size(machine)
        assert (bare.force, bare.length, bare.mass, bare.speed) == pytest.approx(
            (size.force, size.length, size.mass, size.speed), rel=1e-3
        )
    floating = replace(MACHINE, gravity=np.zeros(3), legs=tuple(map(unlimited, MACHINE.legs)))
    assert machine_size(floating).force == pytest.approx(1.0)
    limits = MACHINE.legs[2].limits
    assert limits is not None
    weak = replace(MACHINE.legs[2], limits=replace(limits, force=100.0))
    assert machine_size(replace(MACHINE, legs=(*MACHINE.legs[:2], weak, *MACHINE.legs[3:]))).force == 0.25
