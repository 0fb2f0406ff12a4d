"""Random chains of revolute and prismatic joints, and the same chains in Pinocchio."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
from random_mechanisms import random_body

from dynamics.serial import Link, SerialChain
from kinematics import Array


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


class PinocchioChain:
    """A chain as a pin.Model: joint i in frame i − 1, the rest of the Denavit–Hartenberg step behind it."""

    def __init__(self, chain: SerialChain) -> None:
        self.chain = chain
        self.model = pin.Model()
        self.model.gravity.linear = np.array(chain.gravity)
        placement, parent = pin.SE3.Identity(), 0
        for index, link in enumerate(chain.links):
            turn = pin.SE3(pin.utils.rotate("z", link.theta), np.zeros(3))
            joint = pin.JointModelRZ() if link.revolute else pin.JointModelPZ()
            parent = self.model.addJoint(parent, joint, placement * turn, f"joint{index + 1}")
            placement = pin.SE3(pin.utils.rotate("x", link.alpha), np.array([link.a, 0.0, link.d]))
            body = pin.Inertia(link.mass, np.array(link.center), np.array(link.inertia))
            self.model.appendBodyToJoint(parent, body, placement)
        self.tip = placement
        self.model.armature = np.array([link.motor_inertia for link in chain.links])
        self.data = self.model.createData()

    def friction(self, qd: Array) -> Array:
        """Joint friction (n,)."""
        viscous = np.array([link.viscous for link in self.chain.links])
        coulomb = np.array([link.coulomb for link in self.chain.links])
        return np.asarray(viscous * qd + coulomb * np.sign(qd))

    def external(self, wrench: Array) -> list[pin.Force]:
        """The tool wrench as Pinocchio's external forces."""
        forces = [pin.Force.Zero() for _ in range(self.model.njoints)]
        forces[-1] = self.tip.act(pin.Force(wrench[:3], wrench[3:]))
        return forces

    def inverse(self, q: Array, qd: Array, qdd: Array, wrench: Array) -> Array:
        """Joint forces (n,)."""
        return np.asarray(pin.rnea(self.model, self.data, q, qd, qdd, self.external(wrench)) + self.friction(qd))

    def mass_matrix(self, q: Array) -> Array:
        """M (n, n)."""
        upper = np.triu(pin.crba(self.model, self.data, q))
        return np.asarray(upper + np.triu(upper, 1).T)

    def forward(self, q: Array, qd: Array, tau: Array, wrench: Array) -> Array:
        """Joint accelerations (n,)."""
        return np.asarray(pin.aba(self.model, self.data, q, qd, tau - self.friction(qd), self.external(wrench)))

    def energy(self, q: Array, qd: Array) -> float:
        """Kinetic energy, rotors included, plus potential energy, J."""
        kinetic = 0.5 * qd @ self.mass_matrix(q) @ qd
        return float(kinetic + pin.computePotentialEnergy(self.model, self.data, q))
