"""Machines and motions that studies are tested on."""

from collections.abc import Callable
from functools import cache

import numpy as np
from random_mechanisms import random_mechanism
from sized_machines import sized

from dynamics import Mechanism, load_mechanism
from kinematics import Array, Blend, Harmonic, HarmonicTerm, Hold, Placement, Trajectory
from rig.motions import SampledMotion
from rig.motions.motion_source import even_times

PATH_1 = Blend([0.1, 0.0, 0.4, 0.0, 0.0, -0.2], [0.3, 0.0, 0.6, 0.0, 0.0, 0.2], 6.0, 0.08, 0.08)
PATH_2 = Blend([0.1, 0.0, 0.4, 0.0, 0.0, -0.2], [0.3, 0.0, 0.6, 0.0, 0.0, 0.2], 0.6, 0.8, 0.8)
PATH_3 = Blend([0.4, 1.4, 1.2, 0.1, 0.2, 0.0], [0.8, 1.8, 1.8, 0.3, 0.4, 0.0], 6.0, 0.2, 0.08)
"""Paths I to III of 1998."""


def along(trajectory: Trajectory, step: float, wrenches: Array | None = None) -> SampledMotion:
    """A trajectory in even steps, as `read_motion` and `sampled` give it."""
    times = even_times(trajectory.duration, step)
    loads = None if wrenches is None else np.tile(wrenches, (len(times), 1))
    return SampledMotion("path", "trajectory", times, trajectory.motion(times), loads, trajectory)


def sway(mechanism: Mechanism, size: float = 1.0) -> Trajectory:
    """All six coordinates in sines about home, of a size in platforms' radii."""
    length = size * float(np.linalg.norm(mechanism.geometry.platform_points, axis=1).max())
    terms = [
        HarmonicTerm(dof, 0.08 * (length if place < 3 else 1.0), 0.7 + 0.13 * place, 0.4 * place)
        for place, dof in enumerate(("x", "y", "z", "rx", "ry", "rz"))
    ]
    return Harmonic(terms, 3.0, 0.5, placement=Placement("home", home=mechanism.geometry.home_pose))


@cache
def tilted() -> Mechanism:
    """Six unlike legs, their universal joints' axes tilted and not radial, with friction of every kind."""
    return random_mechanism(11, coulomb=True)


@cache
def shipped(name: str) -> Mechanism:
    """A shipped mechanism, for evaluation only."""
    return load_mechanism(name, evaluate_only=True)


MACHINES: dict[str, Callable[[], tuple[Mechanism, SampledMotion]]] = {
    "lab-hexapod": lambda: (shipped("lab-hexapod"), along(sway(shipped("lab-hexapod")), 0.02)),
    "dasgupta-1998": lambda: (shipped("dasgupta-1998"), along(PATH_2, 0.01)),
    "pedrammehr-2012": lambda: (shipped("pedrammehr-2012"), along(PATH_1, 0.1)),
    "tilted": lambda: (tilted(), along(sway(tilted()), 0.02, np.array([20.0, -10.0, 40.0, 2.0, 3.0, -1.0]))),
    "300 kg": lambda: (sized(300.0), along(sway(sized(300.0)), 0.02)),
}
"""Machines by name, each with a motion."""


def at_home(mechanism: Mechanism) -> SampledMotion:
    """A second at home."""
    return along(Hold(np.zeros(6), 1.0, placement=Placement("home", home=mechanism.geometry.home_pose)), 0.1)
