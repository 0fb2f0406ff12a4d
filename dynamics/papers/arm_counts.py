"""Operation counts of the formulations on an arm's own structure, and on general chains of any kinds of joints."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from dynamics.errors import DynamicsError
from dynamics.papers.counting import Operations, count_operations, counted, sum_operations
from dynamics.papers.operation_counts import general_chain
from dynamics.serial.arm import Arm, JointKind
from dynamics.serial.chain import SerialChain
from dynamics.serial.formulations import FORMULATIONS, Formulation
from dynamics.serial.iterative import ModifiedChain, modified_chain
from dynamics.serial.torque_control import (
    chain_acceleration,
    computed_torque,
    computed_torque_lagrange,
    strobed_mass_matrix,
)

Chain = SerialChain | ModifiedChain
AnyChain = TypeVar("AnyChain", bound=Chain)

_ROUNDING = 1e-15
MOST_JOINTS = 30
"""Joints of a chain that is counted: Lagrange's form grows with n³, its control law with n⁴."""


@dataclass(frozen=True, slots=True)
class ArmCount:
    """Operations of one algorithm: its name, what it computes, and the numbers."""

    name: str
    title: str
    operations: Operations


def structured_chain(kinds: Sequence[JointKind]) -> SerialChain:
    """Return a chain of the given kinds of joints without numbers 0, 1 or −1; gravity along z₀, no rotors, no friction.

    Raises DynamicsError for no joints, or more than MOST_JOINTS.
    """
    if not 1 <= len(kinds) <= MOST_JOINTS:
        raise DynamicsError(f"joints: {len(kinds)}, must be 1 to {MOST_JOINTS}")
    chain = general_chain(len(kinds))
    links = tuple(replace(link, joint=kind, theta=0.0) for link, kind in zip(chain.links, kinds, strict=True))
    return replace(chain, links=links)


def count_arm(arm: Arm) -> list[ArmCount]:
    """Count on the arm's own bodies: what is 0, 1 or −1 in its geometry, masses and gravity costs nothing."""
    return _counts([joint.kind for joint in arm.joints], lambda each: _with_exact_zeros(each.chain(arm)))


def count_structure(kinds: Sequence[JointKind]) -> list[ArmCount]:
    """Count on a chain of the given kinds of joints that has no zeros, as the papers do."""
    chain = structured_chain(kinds)
    return _counts(kinds, lambda each: modified_chain(chain) if each.modified else chain)


def _with_exact_zeros(chain: AnyChain) -> AnyChain:
    """Return the chain with cosines and sines of right angles that are 0, 1 or −1 to the last bit."""
    links = []
    for link in chain.links:
        made = replace(link)
        for name in ("cos_alpha", "sin_alpha"):
            value = getattr(made, name)
            nearest = float(round(value))
            object.__setattr__(made, name, nearest if abs(value - nearest) < _ROUNDING else value)
        links.append(made)
    return replace(chain, links=tuple(links))


def _counts(kinds: Sequence[JointKind], chain_of: Callable[[Formulation], Chain]) -> list[ArmCount]:
    """Count every formulation that the kinds of joints allow, on the chain in its form, and the control laws."""
    joints, turning = len(kinds), all(kind == "revolute" for kind in kinds)
    chains = {
        name: chain_of(each)
        for name, each in FORMULATIONS.items()
        if (turning or not each.revolute) and not each.printed
    }
    rng = np.random.default_rng(100 + joints)
    numbers = [rng.uniform(0.5, 0.9, joints) for _ in range(3)]

    def count(run: Callable[..., object], *arguments: object) -> Operations:
        return sum_operations(count_operations(run, *arguments))

    def motion() -> list[list[object]]:
        return [list[object](counted(x)) for x in numbers]

    found = [
        ArmCount(name, FORMULATIONS[name].title, count(FORMULATIONS[name].recursion, chain, *motion()))
        for name, chain in chains.items()
    ]
    standard = chains["newton-euler"]
    q, qd, qdd = motion()
    gains = 99.0, 19.0
    found += [
        ArmCount("mass-matrix", "M by strobing (001 §6)", count(strobed_mass_matrix, standard, q)),
        ArmCount("acceleration", "q̈ by strobing and elimination (001 §7)",
                 count(chain_acceleration, standard, q, qd, qdd)),
        ArmCount("control-4.4", "computed torque, Newton–Euler (000 eq. 4.4)",
                 count(computed_torque, standard, motion(), q, qd, *gains)),
        ArmCount("control-4.1", "computed torque, Lagrange (000 eq. 4.1)",
                 count(computed_torque_lagrange, standard, motion(), q, qd, *gains)),
    ]  # fmt: skip
    return found
