"""How large a machine is, by its own limits and masses, in those of the lab-hexapod.

Defaults, priors and thresholds in N, m or kg suit the lab-hexapod; another machine has them times its size.
"""

from dataclasses import dataclass

import numpy as np

from dynamics.mechanism import Mechanism

# Of the lab-hexapod: least force limit of a leg, N; shortest stroke, m; mass that the legs move, kg; least speed, m/s.
_FORCE, _STROKE, _MASS, _SPEED = 400.0, 0.22, 24.6, 0.8
_WEIGHT = 18.0 * 9.80665  # N, of its platform
_LENGTH = 0.22  # m, from its platform's origin to a joint


@dataclass(frozen=True, slots=True)
class MachineSize:
    """Forces, lengths, masses and speeds of a machine over those of the lab-hexapod, whose are all 1."""

    force: float
    length: float
    mass: float
    speed: float


def machine_size(mechanism: Mechanism) -> MachineSize:
    """The size of a mechanism: by the weakest leg's force, the shortest stroke, what the legs move, the slowest leg.

    What its legs do not limit is taken from the platform: forces by its weight (its mass without gravity), lengths by
    the place of its joints, speeds by √(length).
    """
    limits = [leg.limits for leg in mechanism.legs if leg.limits is not None]
    forces = [each.force for each in limits if each.force is not None]
    strokes = [each.length[1] - each.length[0] for each in limits if each.length is not None]
    speeds = [each.velocity for each in limits if each.velocity is not None]
    gravity = float(np.linalg.norm(mechanism.gravity)) or 9.80665
    radius = float(np.linalg.norm(mechanism.geometry.platform_points, axis=1).max())
    length = _round(min(strokes) / _STROKE if strokes else radius / _LENGTH)
    return MachineSize(
        force=_round(min(forces) / _FORCE if forces else mechanism.mass * gravity / _WEIGHT),
        length=length,
        mass=_round((mechanism.mass + sum(leg.upper.mass for leg in mechanism.legs)) / _MASS),
        speed=_round(min(speeds) / _SPEED if speeds else length**0.5),
    )


def _round(value: float) -> float:
    """To nine digits: a machine of the lab-hexapod's size has exactly that."""
    return float(f"{value:.9g}")
