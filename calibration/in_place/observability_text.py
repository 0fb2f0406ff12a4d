"""Which legs' gains the poses do not tell, and which movement of the platform would."""

import numpy as np

from calibration.in_place.rests import cell_forces
from dynamics import Mechanism
from kinematics import Array, coordinates_to_pose, pose_to_coordinates

_NAMES = ("x", "y", "z", "rx", "ry", "rz")
_STEPS = np.array([0.05, 0.05, 0.05, 0.17, 0.17, 0.17])  # m, rad: what platforms move
_IN_WORDS = ("±50 mm", "±10 deg")


def unobservable_gains(mechanism: Mechanism, poses: Array, forces: Array, relative: Array, limit: float) -> list[str]:
    """Faults: each leg whose gain is told worse than the limit, with the two movements that change its force most."""
    faults = []
    changes = _changes(mechanism, poses)
    for leg in np.flatnonzero(~(relative <= limit)):
        best = np.argsort(changes[:, leg])[::-1][:2]
        would = " and ".join(f"{_NAMES[k]} by {_IN_WORDS[k // 3]} ({changes[k, leg]:.0f} N)" for k in best)
        told = "not at all" if np.isinf(relative[leg]) else f"to {100.0 * relative[leg]:.2g} %"
        faults.append(
            f"leg {leg + 1}: these poses load its cell with {forces[:, leg].min():.1f} to {forces[:, leg].max():.1f} N "
            f"and tell its gain {told}, wanted {100.0 * limit:g} %: gain and offset look alike; what would change its "
            f"force: {would}; `--plan` gives such poses"
        )
    return faults


def _changes(mechanism: Mechanism, poses: Array) -> Array:
    """(6, 6) N: how much each leg's force (column) differs between both ends of a movement (row) about the mean."""
    middle = pose_to_coordinates(poses[len(poses) // 2])
    steps = np.diag(_STEPS)
    ends = coordinates_to_pose(np.concatenate([middle + steps, middle - steps]))
    forces = cell_forces(mechanism, ends)
    change: Array = np.abs(forces[:6] - forces[6:])
    return change
