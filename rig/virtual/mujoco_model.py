"""A mechanism as a model of MuJoCo: six legs on two hinges and a slide each, their tops held to a free platform."""

from typing import Any

import numpy as np

from dynamics import Body, Mechanism
from kinematics import leg_lengths
from rig.virtual.arrays import Array

SOLVER_STEPS = 2.0
"""Time in which an error of a joint's constraint decays, in steps: MuJoCo's least."""
IMPEDANCE = 0.9999
"""Part of a constraint that is kept at once, MuJoCo's greatest; the rest is a give of the constraint."""


def mjcf(mechanism: Mechanism, step: float) -> str:
    """The mechanism as MJCF, its joints' zeros at home. SI units, axes of the base.

    Leg i has the joints 3i, 3i + 1 (hinges, u fixed in the base and then v) and 3i + 2 (slide along the leg) and the
    bodies 1 + 2i (lower part, frame D) and 2 + 2i (upper part, frame U); body 13 is the platform on a free joint. The
    site `cell<i>` is where the mass sits that the leg's load cell feels beside its joint. The spherical joints are
    `connect` constraints, their friction is not there.

    Args:
        mechanism: any whose bodies can exist. step: of integration, s.
    """
    geometry = mechanism.geometry
    home = geometry.home_pose
    soft = f"{_text((SOLVER_STEPS * step, 1.0))}", f"{_text((IMPEDANCE, IMPEDANCE, 0.001))}"
    legs, connects = [], []
    frames = leg_frames(mechanism)
    lengths = leg_lengths(geometry, home)
    for index, (leg, frame, length) in enumerate(zip(mechanism.legs, frames, lengths, strict=True)):
        friction, cell = leg.friction, leg.load_cell
        site = f'<site name="cell{index}" pos="{_text(cell.place)}"/>'
        below, above = (site, "") if cell.location == "base" else ("", site)
        hinge = f'<joint type="hinge" damping="{friction.universal!r}"'
        legs.append(
            f'<body name="lower{index}" pos="{_text(geometry.base_points[index])}" quat="{_quaternion(frame)}">'
            f'{hinge} axis="{_text(frame.T @ geometry.universal_axes[index])}"/>{hinge} axis="0 1 0"/>'
            f"{_inertial(leg.lower)}{below}"
            f'<body name="upper{index}" pos="{float(length)!r} 0 0">'
            f'<joint name="slide{index}" type="slide" axis="1 0 0" damping="{friction.prismatic!r}" '
            f'frictionloss="{friction.coulomb!r}"/>'
            f"{_inertial(leg.upper)}{above}</body></body>"
        )
        connects.append(
            f'<connect body1="upper{index}" body2="platform" anchor="0 0 0" solref="{soft[0]}" solimp="{soft[1]}"/>'
        )
    platform = Body(mechanism.mass, mechanism.center_of_mass, mechanism.inertia)
    return (
        f'<mujoco><option integrator="Euler" timestep="{step!r}" gravity="{_text(mechanism.gravity)}" '
        'solver="Newton" tolerance="1e-14" jacobian="dense"><flag contact="disable" eulerdamp="disable" '
        'autoreset="disable"/></option>'
        f'<worldbody>{"".join(legs)}<body name="platform" pos="{_text(home[:3])}" quat="{_text(home[3:])}"><freejoint/>'
        f"{_inertial(platform)}</body></worldbody><equality>{''.join(connects)}</equality></mujoco>"
    )


def smooth_friction(model: Any, speed: float) -> None:
    """Have the Coulomb friction of a compiled `mjcf` reach its full size over a speed (m/s) of its slides.

    MuJoCo's friction is f = −(b v + a)/R up to its bound, R = A (1 − d)/d, A of the joint alone: b is such that it
    does not lag behind, and the impedance d gives the slope.
    """
    rate = 0.5 / model.opt.timestep
    for dof in range(2, 18, 3):
        stiffness = model.dof_frictionloss[dof] * model.dof_invweight0[dof] / (speed * rate)
        impedance = min(max(stiffness / (1.0 + stiffness), 1.0 - IMPEDANCE), IMPEDANCE)
        model.dof_solimp[dof, :2] = impedance
        model.dof_solref[dof] = -1.0, -rate * impedance


def leg_frames(mechanism: Mechanism) -> Array:
    """Axes of the legs' frames at home, as columns [s, v, s×v], base axes, (6, 3, 3)."""
    geometry = mechanism.geometry
    home = geometry.home_pose
    s = geometry.platform_points @ _rotation(home[3:]).T + home[:3] - geometry.base_points
    s /= np.linalg.norm(s, axis=1, keepdims=True)
    v = np.cross(geometry.universal_axes, s)
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    return np.stack([s, v, np.cross(s, v)], axis=2)


def joint_positions(mechanism: Mechanism, pose: Array) -> Array:
    """MuJoCo's qpos (25,) of a pose (7,): rad and m of the legs' joints from home, then the pose itself."""
    geometry = mechanism.geometry
    S = geometry.platform_points @ _rotation(pose[3:]).T + pose[:3] - geometry.base_points
    lengths = np.linalg.norm(S, axis=1)
    s = S / lengths[:, None]
    u = geometry.universal_axes
    frames = leg_frames(mechanism)
    v = frames[:, :, 1]
    across = np.cross(v, u)  # where the leg at home points, but for its part along u

    def along(a: Array, b: Array) -> Array:
        return np.asarray(np.einsum("ij,ij->i", a, b))

    positions = np.empty(25)
    positions[0:18:3] = np.arctan2(along(s, v), along(s, across))
    # a turn about v takes the leg away from u
    positions[1:18:3] = np.arcsin(along(frames[:, :, 0], u)) - np.arcsin(along(s, u))
    positions[2:18:3] = lengths - leg_lengths(geometry, geometry.home_pose)
    positions[18:] = pose
    return positions


def _rotation(quaternion: Array) -> Array:
    w, x, y, z = quaternion / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _quaternion(matrix: Array) -> str:
    """The unit quaternion of a rotation, w first, as text."""
    # the largest of the four squares, so that nothing is divided by little
    trace = float(np.trace(matrix))
    squares = np.array([1.0 + trace, *(1.0 - trace + 2.0 * np.diag(matrix))])
    k = int(np.argmax(squares))
    skew = np.array([matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]])
    full = np.empty((4, 4))
    full[0, 0], full[0, 1:], full[1:, 0] = squares[0], skew, skew
    full[1:, 1:] = matrix + matrix.T
    full[1:, 1:][np.diag_indices(3)] = squares[1:]
    return _text(full[k] / np.linalg.norm(full[k]))


def _inertial(body: Body) -> str:
    full = np.asarray(body.inertia)[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    return f'<inertial pos="{_text(body.center_of_mass)}" mass="{body.mass!r}" fullinertia="{_text(full)}"/>'


def _text(values: object) -> str:
    return " ".join(repr(float(value)) for value in np.ravel(np.asarray(values)))
