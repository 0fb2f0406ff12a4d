"""Motions and forces of small arms, measured with coloured noise, with friction inside or outside of the models."""

from dataclasses import replace
from typing import Any

import numpy as np

from calibration.arm import ArmRecord, drive_matrix
from dynamics.serial import Arm, ArmDynamics, ArmJoint
from kinematics import Array

RATE = 200.0


def elbow(*, coupled: bool = False) -> Arm:
    """A vertical arm of three revolute joints, the second and third parallel; geared with a coupling if wanted."""
    upright, tilted = np.eye(3), np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    numbers: list[Any] = [
        (upright, [0.0, 0.0, 0.3], 6.0, [0.01, 0.02, -0.05], [0.05, 0.05, 0.03], 0.4, 4.0, 3.0, 0.3),
        (tilted, [0.0, 0.0, 0.0], 5.0, [0.16, -0.01, 0.03], [0.02, 0.07, 0.06], 0.3, 3.0, 2.5, -0.4),
        (upright, [0.35, 0.0, 0.0], 3.0, [0.12, 0.02, 0.01], [0.01, 0.03, 0.03], 0.1, 1.0, 1.2, 0.2),
    ]
    at_joints = 0.0 if coupled else 1.0
    joints = tuple(
        ArmJoint(
            f"joint {k + 1}", "revolute", np.array(r), np.array(p), m, np.array(c), np.diag(i),
            at_joints * j, at_joints * v, at_joints * f, o,
        )
        for k, (r, p, m, c, i, j, v, f, o) in enumerate(numbers)
    )  # fmt: skip
    if not coupled:
        return Arm("elbow", joints)
    ratios = np.array([[50.0, 0.0, 0.0], [0.0, -60.0, 0.0], [0.0, 40.0, 40.0]])
    return Arm(
        "elbow", joints, transmission=ratios, rotor_inertia=np.array([1.6e-4, 8e-5, 6e-5]),
        motor_viscous=np.array([1.6e-3, 8e-4, 6e-4]), motor_coulomb=np.array([0.06, 0.04, 0.03]),
    )  # fmt: skip


def motion(arm: Arm, seed: int, seconds: float = 12.0, size: float = 1.0) -> tuple[Array, Array, Array]:
    """Positions, speeds and accelerations (N, n): five harmonics of 0.2 Hz with random phases."""
    rng = np.random.default_rng(seed)
    t = np.arange(round(seconds * RATE)) / RATE
    omega = 2.0 * np.pi * 0.2 * np.arange(1, 6)
    amplitude = size * rng.normal(size=(5, len(arm))) / np.sqrt(np.arange(1, 6))[:, np.newaxis] * 0.4
    phase = rng.uniform(0.0, 2.0 * np.pi, (5, len(arm)))
    at = omega[:, np.newaxis, np.newaxis] * t[np.newaxis, :, np.newaxis] + phase[:, np.newaxis, :]
    q = np.einsum("kj,ktj->tj", amplitude, np.sin(at))
    qd = np.einsum("kj,ktj->tj", amplitude * omega[:, np.newaxis], np.cos(at))
    qdd = -np.einsum("kj,ktj->tj", amplitude * omega[:, np.newaxis] ** 2, np.sin(at))
    return q, qd, qdd


def coloured(rng: np.random.Generator, count: int, sizes: Array, seconds: float) -> Array:
    """First-order noise (count, n) of a standard deviation each, with a correlation time."""
    from scipy.signal import lfilter

    keep = np.exp(-1.0 / (seconds * RATE))
    drawn = rng.normal(size=(count + 2000, len(sizes))) * np.sqrt(1.0 - keep**2)
    return np.asarray(lfilter([1.0], [1.0, -keep], drawn, axis=0)[2000:] * sizes)


def measured(
    arm: Arm,
    seed: int,
    *,
    seconds: float = 12.0,
    noise: float = 0.3,
    correlation: float = 0.05,
    outside: float = 0.0,
    load: Array | None = None,
    size: float = 1.0,
    gains: Array | None = None,
    begin: float = 0.0,
) -> ArmRecord:
    """A record of an arm by its compiled dynamics, whose friction is smoothed over 0.02 rad/s.

    noise: N m, of each joint's force, of a correlation in s. outside: N m, of Stribeck and position-dependent friction
    that no model of the identification has. load: mass, centre (3,) of a ball on the last link. gains: what is measured
    is the drives' forces over these.
    """
    rng = np.random.default_rng(1000 + seed)
    q, qd, qdd = motion(arm, seed, seconds, size)
    loaded = arm if load is None else with_ball(arm, load)
    tau = ArmDynamics(loaded, 0.02).inverse(q, qd, qdd)
    tau += outside * np.tanh(qd / 0.02) * (1.5 * np.exp(-np.abs(qd) / 0.2) + 0.5 * np.sin(9.0 * q))
    tau += coloured(rng, len(q), np.full(len(arm), noise), correlation)
    drives = tau @ drive_matrix(arm).T
    ball = None if load is None else ball_numbers(load)
    q = q + rng.normal(size=q.shape) * 1e-6
    return ArmRecord(RATE, q, drives if gains is None else drives / gains, ball, f"run-{seed}", begin)


def ball_numbers(load: Array) -> Array:
    """m, h, J (10,) of a small ball of a mass at a centre: load is mass, x, y, z."""
    from dynamics import Body, linear_body

    return linear_body(Body(float(load[0]), load[1:], 1e-3 * np.eye(3)))


def with_ball(arm: Arm, load: Array) -> Arm:
    """The arm with a ball on its last link."""
    from dynamics import Body, body_of, linear_body

    last = arm.joints[-1]
    whole = body_of(linear_body(Body(last.mass, last.center, last.inertia)) + ball_numbers(load))
    inertia = np.asarray(whole.inertia)
    joint = replace(last, mass=whole.mass, center=np.asarray(whole.center_of_mass), inertia=0.5 * (inertia + inertia.T))
    return replace(arm, joints=(*arm.joints[:-1], joint))


def roughly_known(arm: Arm, seed: int = 0) -> Arm:
    """The arm as one knows it before: bodies off by a fifth, no friction and rotors stated."""
    rng = np.random.default_rng(seed)
    joints = tuple(
        replace(
            joint, mass=joint.mass * rng.uniform(0.8, 1.2), center=joint.center + rng.normal(size=3) * 0.02,
            inertia=joint.inertia * rng.uniform(0.8, 1.2), motor_inertia=0.0, viscous=0.0, coulomb=0.0, offset=0.0,
        )
        for joint in arm.joints
    )  # fmt: skip
    return replace(arm, joints=joints, rotor_inertia=None, motor_viscous=None, motor_coulomb=None)
