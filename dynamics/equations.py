"""M and h of M [ẗ; α] + h = H F + wrench in three ways, and forward dynamics by each.

`kernel`: what `Dynamics` computes, the fast one. `closed-form`: `closed_form_equations`, from each leg's Q and V.
`strobed`: the inverse dynamics asked with unit accelerations, one at a time, and with none (Turney, Mudge & Lee 1980,
end of section 3).
"""

from dataclasses import replace
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from dynamics.arguments import WRENCH_FIELDS, checked
from dynamics.closed_form import closed_form_equations
from dynamics.errors import DynamicsError
from dynamics.mechanism import Mechanism
from dynamics.model import Dynamics
from kinematics import Array, leg_matrix, quaternion_to_matrix

EquationsMethod = Literal["kernel", "closed-form", "strobed"]


def equations_of_motion(
    mechanism: Mechanism, state: npt.ArrayLike, *, method: EquationsMethod = "kernel", coulomb_speed: float = 0.0
) -> tuple[Array, Array]:
    """M (6, 6) and h (6,) in a state (13,), base axes about the platform origin, N and N m.

    `coulomb_speed` (m/s) as in `Dynamics`. Raises DynamicsError for an unknown method, a wrong shape or a number that
    is not finite, SingularityError where a leg's universal joint, or, strobed, the platform is singular.
    """
    start = _one("state", state, 13)
    if method == "kernel":
        dynamics = Dynamics(mechanism, coulomb_speed)
        return dynamics.mass_matrix(start[:7]), dynamics.bias(start)
    if method == "closed-form":
        return closed_form_equations(mechanism, start, coulomb_speed)
    if method == "strobed":
        return _strobed(mechanism, start, coulomb_speed)
    raise DynamicsError(f"method: {method!r}, must be one of {', '.join(get_args(EquationsMethod))}")


def forward_dynamics(
    mechanism: Mechanism,
    state: npt.ArrayLike,
    forces: npt.ArrayLike,
    wrench: npt.ArrayLike | None = None,
    *,
    method: EquationsMethod = "kernel",
    coulomb_speed: float = 0.0,
) -> Array:
    """Acceleration [ẗ; α] (6,) in a state (13,) under leg forces (6,) N and a wrench (6,) in platform axes.

    By M and h of `method`; `kernel` is `Dynamics.acceleration`, which in a loop is called by itself. Raises as
    `equations_of_motion`, and DynamicsError where the mass matrix is singular.
    """
    if method == "kernel":
        return Dynamics(mechanism, coulomb_speed).acceleration(state, forces, wrench)
    start = _one("state", state, 13)
    push = _one("forces", forces, 6, ("f1", "f2", "f3", "f4", "f5", "f6"))
    load = np.zeros(6) if wrench is None else _one("wrench", wrench, 6, WRENCH_FIELDS)
    M, h = equations_of_motion(mechanism, start, method=method, coulomb_speed=coulomb_speed)
    R = quaternion_to_matrix(start[3:7])
    external = np.concatenate([R @ load[:3], R @ load[3:]])
    try:
        return np.asarray(np.linalg.solve(M, leg_matrix(mechanism.geometry, start[:7]) @ push + external - h))
    except np.linalg.LinAlgError:
        raise DynamicsError("the mass matrix is singular: the mechanism has no inertia in some direction") from None


def _strobed(mechanism: Mechanism, state: Array, coulomb_speed: float) -> tuple[Array, Array]:
    """Column j of M is H F for the j-th unit acceleration at rest without gravity, h is H F without acceleration."""
    H = leg_matrix(mechanism.geometry, state[:7])
    strobes = np.zeros((6, 19))
    strobes[:, :7] = state[:7]
    strobes[:, 13:] = np.eye(6)
    weightless = Dynamics(replace(mechanism, gravity=np.zeros(3)))
    M = H @ weightless.inverse(strobes).forces.T
    h = H @ Dynamics(mechanism, coulomb_speed).inverse(np.concatenate([state, np.zeros(6)])).forces[0]
    return M, h


def _one(name: str, value: npt.ArrayLike, size: int, fields: tuple[str, ...] = ()) -> Array:
    array = checked(name, value, size, fields)
    if array.ndim != 1:
        raise DynamicsError(f"{name}: shape {array.shape}, must be ({size},)")
    return array
