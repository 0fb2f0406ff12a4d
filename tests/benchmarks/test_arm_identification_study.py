"""Arms identified beside ordinary least squares on Pinocchio's regressor: `make bench`.

Arms as built, with friction that no model has; and, where the environment variable TX40_DATA names a folder with
`motor_positions.csv` and `motor_torques.csv` of the TX40 (docs/arm-identification.md), its measured torques.
"""

import hashlib
import os
import time
from pathlib import Path

import numpy as np
import pinocchio as pin
from measured_arms import elbow, measured, roughly_known
from pinocchio_arm import PinocchioArm

from calibration import ArmIdentification, ArmRecord, ArmSettings, identify_arm
from calibration.arm import Study
from dynamics import Body, linear_body
from dynamics.serial import load_arm
from kinematics import Array
from rig.analysis import ArmColumns, read_arm_record

RANK = 1e-4
"""of the largest singular value, below which least squares leaves a direction out"""
TX40_SHA256 = {
    "motor_positions.csv": "5cc1cecc1024ef0e331d0caba06f689456ab789ec3f1e904599c0a8be5c27bc8",
    "motor_torques.csv": "f4592f4ba4db42f5d7625688986be25b575ca34d0504b27979ca6b0276bd3af9",
}


def pinocchio_columns(record: ArmIdentification) -> Array:
    """Joint forces (T, n, p) by Pinocchio's regressor, with rotors, friction, offsets and each coupling."""
    arm, samples = record.arm, record.samples
    theirs, n = PinocchioArm(arm), len(arm.joints)
    bodies = np.stack(
        [
            pin.computeJointTorqueRegressor(theirs.model, theirs.data, *states)
            for states in zip(samples.q, samples.qd, samples.qdd, strict=True)
        ]
    )
    each = np.eye(n)
    parts = [bodies]
    parts += [values[:, np.newaxis, :] * each for values in (samples.qdd, samples.qd, np.sign(samples.qd))]
    parts.append(np.broadcast_to(each, (len(samples.t), n, n)))
    ratios = arm.motor_ratios
    for motor, joint in np.argwhere(ratios - np.diag(np.diag(ratios)) != 0.0):
        pair = np.zeros((len(samples.t), n, 3))
        together = samples.qd[:, motor] + samples.qd[:, joint] * ratios[motor, joint] / ratios[motor, motor]
        for here, other in ((motor, joint), (joint, motor)):
            pair[:, here, 0], pair[:, here, 1] = samples.qdd[:, other], samples.qd[:, other]
            pair[:, here, 2] = np.sign(together)
        parts.append(pair)
    return np.concatenate(parts, axis=2)


def ordinary(found: ArmIdentification, columns: Array, split: int) -> Array:
    """Relative residual of held-out joint forces (n,) by ordinary least squares, on the rows of a split."""
    held = found.formulation("chosen").hold_outs[split]
    forces, fitted = held.measured, ~held.held
    x = np.linalg.lstsq(columns[fitted].reshape(-1, columns.shape[2]), forces[fitted].ravel(), rcond=RANK)[0]
    left = (forces - columns @ x)[held.held]
    ratio: Array = np.linalg.norm(left, axis=0) / np.linalg.norm(forces[held.held], axis=0)
    return ratio


def test_arms_as_built_beside_pinocchios_regressor() -> None:
    arm = elbow()
    truth = np.concatenate([linear_body(Body(each.mass, each.center, each.inertia)) for each in arm.joints])
    ratios, away, seconds = [], [], []
    for seed in range(30):
        known, records = roughly_known(arm, seed), [measured(arm, seed, noise=0.5, outside=0.5, correlation=0.1)]
        begun = time.perf_counter()
        found = identify_arm(known, records)
        seconds.append(time.perf_counter() - begun)
        columns = pinocchio_columns(found)
        for split, held in enumerate(found.formulation("chosen").hold_outs):
            ratios.append(np.mean(held.held_out) / np.mean(ordinary(found, columns, split)))
        bodies = len(truth)
        inertial = np.array([pivot < bodies for pivot in found.base.pivots]) & found.determined
        # combinations of bodies alone: those with a rotor's or friction's share are left out
        alone = inertial & ~(np.abs(found.base.matrix[:, bodies:]) > 0.0).any(axis=1)
        away.append((found.base_after[alone] - found.base.matrix[alone][:, :bodies] @ truth) / found.base_sigma[alone])
    errors = np.concatenate(away)
    inside = np.mean(np.abs(errors) < 2.0)
    print(
        f"\n30 arms as built: held-out residual over that of ordinary least squares: median {np.median(ratios):.3f}, "
        f"worst {np.max(ratios):.3f}; {inside:.1%} of {len(errors)} base parameters within 2 σ, RMS "
        f"{np.sqrt(np.mean(errors**2)):.2f} σ; {np.median(seconds):.2f} s each"
    )
    assert np.median(ratios) < 1.0
    assert inside > 0.85


def halves(found: ArmIdentification, settings: ArmSettings) -> Array:
    """Differences of determined base parameters (k,) by every other of 18 blocks, over what σ states of them.

    Half of the rows has twice the variance, so that a difference has twice the σ. Nothing by which σ is stated compares
    halves.
    """
    study, samples = Study(found.samples, settings), found.samples
    block = (np.arange(len(samples.t)) * 18 // len(samples.t)) % 2 == 0
    problem = study.problem(settings, found.terms, found.smoothing, None)
    change = problem.fit(block).x - problem.fit(~block).x
    away: Array = found.base.matrix[found.determined] @ change / (2.0 * found.base_sigma[found.determined])
    return away


def tx40(folder: Path) -> ArmRecord:
    """The measured motion of the TX40. Fails where the files are other ones."""
    for name, expected in TX40_SHA256.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == expected, f"{folder / name}: another file"
    columns = ArmColumns(at="motors", rate=5000.0, zero=(0.0, -0.5 * np.pi, 0.5 * np.pi, 0.0, 0.0, 0.0))
    return read_arm_record(load_arm("tx40"), [folder / name for name in TX40_SHA256], columns)


if "TX40_DATA" in os.environ:

    def test_the_measured_tx40_beside_pinocchios_regressor() -> None:
        record = tx40(Path(os.environ["TX40_DATA"]))
        for cutoff, settings in ((None, ArmSettings()), (40.0, ArmSettings()), (None, ArmSettings(friction="auto"))):
            begun = time.perf_counter()
            found = identify_arm(load_arm("tx40"), [record], settings, cutoff)
            seconds = time.perf_counter() - begun
            columns = pinocchio_columns(found)
            ratio = found.stated_over_bootstrap
            print(
                f"\nTX40, {found.samples.cutoff:g} Hz, friction {', '.join(('Coulomb', 'viscous', *found.terms))}: "
                f"{seconds:.1f} s; {found.determined.sum()} of {len(found.determined)} determined; σ over bootstrap's "
                f"{np.quantile(ratio, 0.1):.2f} {np.median(ratio):.2f} {np.quantile(ratio, 0.9):.2f}"
            )
            for split, held in enumerate(found.formulation("chosen").hold_outs):
                theirs = ordinary(found, columns, split)
                for name, values in (("ordinary", theirs), ("ours", held.held_out), ("in motion", held.moving)):
                    print(f"  {held.split:10} {name:9} {' '.join(f'{value:.3f}' for value in values)}")
                assert (held.held_out <= theirs).all()
            assert found.fit.consistent
            assert found.determined.sum() > 40
            between = halves(found, settings)
            print(
                f"  halves of the blocks apart by {np.sqrt(np.mean(between**2)):.2f} σ RMS, "
                f"{np.mean(np.abs(between) < 2.0):.0%} within 2 σ"
            )
            assert np.sqrt(np.mean(between**2)) < 1.5
