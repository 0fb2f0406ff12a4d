"""Random chains of revolute and prismatic joints, and the same chains in Pinocchio."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
from pinocchio_arm import PinocchioJoints
from random_mechanisms import random_body

from dynamics.serial import Link, SerialChain


def random_chain(rng: np.random.Generator, joints: int, friction: bool = True, revolute: bool = False) -> SerialChain:
    """A chain whose every number is at random, of both kinds of joint unless all are to turn."""
    links = []
    for index in range(joints):
        body = random_body(rng, rng.uniform(0.5, 5.0), rng.normal(scale=0.2, size=3), 0.2)
        turns = revolute or index == joints - 1 or rng.uniform() < 0.6
        links.append(
            Link(
                "revolute" if turns else "prismatic",
                a=rng.uniform(-0.5, 0.5),
                alpha=rng.uniform(-np.pi, np.pi),
                d=rng.uniform(-0.5, 0.5),
                theta=rng.uniform(-np.pi, np.pi),
                mass=body.mass,
                center=body.center_of_mass.tolist(),
                inertia=body.inertia.tolist(),
                motor_inertia=rng.uniform(0.0, 0.5),
                viscous=rng.uniform(0.0, 2.0) * friction,
                coulomb=rng.uniform(0.0, 2.0) * friction,
            )
        )
    if joints > 1 and not revolute and all(link.revolute for link in links):
        links[0] = replace(links[0], joint="prismatic")
    return SerialChain(tuple(links), rng.normal(scale=6.0, size=3).tolist())


class PinocchioChain(PinocchioJoints):
    """A chain: joint i in frame i − 1, the rest of the Denavit–Hartenberg step behind it."""

    def __init__(self, chain: SerialChain) -> None:
        model = pin.Model()
        model.gravity.linear = np.array(chain.gravity)
        placement, parent = pin.SE3.Identity(), 0
        for index, link in enumerate(chain.links):
            turn = pin.SE3(pin.utils.rotate("z", link.theta), np.zeros(3))
            joint = pin.JointModelRZ() if link.revolute else pin.JointModelPZ()
            parent = model.addJoint(parent, joint, placement * turn, f"joint{index + 1}")
            placement = pin.SE3(pin.utils.rotate("x", link.alpha), np.array([link.a, 0.0, link.d]))
            body = pin.Inertia(link.mass, np.array(link.center), np.array(link.inertia))
            model.appendBodyToJoint(parent, body, placement)
        model.armature = np.array([link.motor_inertia for link in chain.links])
        friction = np.array([(link.viscous, link.coulomb, 0.0) for link in chain.links])
        super().__init__(model, placement, *friction.T)
