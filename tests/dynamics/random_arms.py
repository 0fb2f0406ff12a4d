"""Random arms of revolute and prismatic joints."""

from typing import Any

import numpy as np
from random_mechanisms import random_body

from dynamics.serial import Arm, ArmJoint
from kinematics import Array

SIZES = (2, 2, 3, 4, 5, 6, 6, 7, 8)
"""Numbers of joints of the nine random arms."""


def random_rotation(rng: np.random.Generator) -> Array:
    """A rotation (3, 3), any as likely as any other."""
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return np.asarray(Q * np.sign(np.linalg.det(Q)))


def random_arm(rng: np.random.Generator, joints: int, *, coupled: bool = False, friction: bool = True) -> Arm:
    """An arm whose every number is at random, of both kinds of joint; with `coupled` a full transmission."""
    kinds = ["revolute", "prismatic", *rng.choice(["revolute", "revolute", "prismatic"], joints)][:joints]
    rng.shuffle(kinds)
    made = []
    for index, kind in enumerate(kinds):
        body = random_body(rng, rng.uniform(0.5, 5.0), rng.normal(scale=0.2, size=3), 0.2)
        made.append(
            ArmJoint(
                f"j{index + 1}",
                "revolute" if kind == "revolute" else "prismatic",
                random_rotation(rng),
                rng.normal(scale=0.3, size=3),
                body.mass,
                body.center_of_mass,
                body.inertia,
                motor_inertia=rng.uniform(0.0, 0.5),
                viscous=rng.uniform(0.0, 2.0) * friction,
                coulomb=rng.uniform(0.0, 2.0) * friction,
                offset=rng.normal() * friction,
            )
        )
    drives: dict[str, Any] = {}
    if coupled:
        drives = {
            "transmission": rng.normal(scale=20.0, size=(joints, joints)) + 40.0 * np.eye(joints),
            "rotor_inertia": rng.uniform(1e-4, 1e-3, joints),
            "motor_viscous": rng.uniform(0.0, 1e-3, joints) * friction,
            "motor_coulomb": rng.uniform(0.0, 0.1, joints) * friction,
        }
    return Arm("random", tuple(made), rng.normal(scale=6.0, size=3), random_rotation(rng), rng.normal(size=3), **drives)
