"""A leg of the platform as a revolute–revolute–prismatic chain, and the platform's leg forces by chain recursion.

Frame 0 is at the base point b with z₀ = u, the universal joint's fixed axis; z₁ = v = (u×s)/‖u×s‖; z₂ = s; frame
3, carried by the prismatic joint, is at the platform point. Link 1 is the massless cross, link 2 the lower part,
link 3 the upper. Joint variables: the angle about u, the angle from u to s, the length L.
"""

import math

import numpy as np

from dynamics.errors import DynamicsError
from dynamics.mechanism import Mechanism
from dynamics.serial.chain import Link, SerialChain
from dynamics.serial.recursions import newton_euler
from kinematics import MOTION_FIELDS, Array, finite_array, leg_kinematics, leg_matrix, quaternion_to_matrix

WRENCH_FIELDS = ("fx", "fy", "fz", "mx", "my", "mz")
_RIGHT = 0.5 * math.pi
# columns: the leg's axes s, v, w = s×v in the axes of frames 2 and 3
_LEG_AXES = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])


def leg_base(mechanism: Mechanism, leg: int) -> Array:
    """Axes of the chain's frame 0 as columns (3, 3), base frame; z is u. `leg` is 0…5."""
    u = mechanism.geometry.universal_axes[leg]
    across = np.eye(3)[np.argmin(np.abs(u))]
    x = np.cross(u, across)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(u, x), u], axis=1)


def leg_chain(mechanism: Mechanism, leg: int) -> SerialChain:
    """Return leg 0…5 as a chain of three links with its friction and its drive; gravity in axes of frame 0.

    The spherical joint's friction is not included: it is a moment on the tip.
    """
    part = mechanism.legs[leg]
    friction = part.friction
    lower, upper = part.lower, part.upper
    links = (
        Link(alpha=-_RIGHT, viscous=friction.universal),
        Link(
            alpha=_RIGHT,
            mass=lower.mass,
            center=(_LEG_AXES @ lower.center_of_mass).tolist(),
            inertia=(_LEG_AXES @ lower.inertia @ _LEG_AXES.T).tolist(),
            viscous=friction.universal,
        ),
        Link(
            joint="prismatic",
            mass=upper.mass,
            center=(_LEG_AXES @ upper.center_of_mass).tolist(),
            inertia=(_LEG_AXES @ upper.inertia @ _LEG_AXES.T).tolist(),
            viscous=part.viscous,
            coulomb=part.coulomb,
            motor_inertia=part.drive.mass,
        ),
    )
    return SerialChain(links, (leg_base(mechanism, leg).T @ mechanism.gravity).tolist())


def leg_joints(mechanism: Mechanism, motion: Array) -> tuple[Array, Array, Array]:
    """q, q̇, q̈ (6, 3) of the legs' chains at a motion (19,) of the platform; rad and m."""
    legs = leg_kinematics(mechanism.geometry, motion)
    q, qd, qdd = np.empty((6, 3)), np.empty((6, 3)), np.empty((6, 3))
    for leg in range(6):
        u, s = mechanism.geometry.universal_axes[leg], legs.direction[leg]
        x, y, _ = leg_base(mechanism, leg).T @ s
        v = np.cross(u, s)
        n = np.linalg.norm(v)
        v /= n
        W, A = legs.angular_velocity[leg], legs.angular_acceleration[leg]
        q[leg] = math.atan2(y, x), math.atan2(n, u @ s), legs.length[leg]
        qd[leg] = W @ u, W @ v, legs.velocity[leg]
        qdd[leg] = A @ u, A @ v, legs.acceleration[leg]
    return q, qd, qdd


def serial_leg_forces(mechanism: Mechanism, motion: Array, wrench: Array | None = None) -> tuple[Array, Array]:
    """Compute actuator forces (6,) and forces on the legs' tops (6, 3), base axes, N, by six Newton–Euler recursions.

    A universal joint has no drive, so τ₁ = τ₂ = 0 gives the part K of the tip force across the leg; the platform's six
    equations give the part x s along it; τ₃ is then the actuator force. `motion` (19,), `wrench` (6,) in platform
    axes. Raises DynamicsError for wrong shapes, and numpy's LinAlgError if H is singular.
    """
    motion = finite_array("motion", motion, 19, MOTION_FIELDS)
    load = np.zeros(6) if wrench is None else finite_array("wrench", wrench, 6, WRENCH_FIELDS)
    if motion.shape != (19,) or load.shape != (6,):
        raise DynamicsError(f"motion and wrench: shapes {motion.shape}, {load.shape}, must be (19,), (6,)")
    legs = leg_kinematics(mechanism.geometry, motion)
    q, qd, qdd = leg_joints(mechanism, motion)
    R = quaternion_to_matrix(motion[3:7])
    omega, alpha = motion[10:13], motion[16:19]

    lever = R @ mechanism.center_of_mass
    inertia = R @ mechanism.inertia @ R.T
    acceleration = motion[13:16] + np.cross(alpha, lever) + np.cross(omega, np.cross(omega, lever))
    force = R @ load[:3] + mechanism.mass * (mechanism.gravity - acceleration)
    moment = R @ load[3:] - inertia @ alpha - np.cross(omega, inertia @ omega)
    moment += np.cross(lever, mechanism.mass * (mechanism.gravity - acceleration))

    drives, tips = np.empty(6), np.empty((6, 3))
    for leg in range(6):
        s = legs.direction[leg]
        v = np.cross(mechanism.geometry.universal_axes[leg], s)
        n = np.linalg.norm(v)
        v /= n
        # the spherical joint's friction on the tip, in axes of frame 3
        drag = mechanism.legs[leg].friction.spherical * (legs.angular_velocity[leg] - omega)
        axes = np.stack([s, v, np.cross(s, v)])
        tool = np.concatenate([np.zeros(3), -_LEG_AXES @ axes @ drag])
        t1, t2, t3 = newton_euler(leg_chain(mechanism, leg), q[leg], qd[leg], qdd[leg], tool)
        # a tip force K reduces τ₁ by (u×S)·K = L n v·K and τ₂ by (v×S)·K = −L w·K
        tips[leg] = (t1 / n * v - t2 * np.cross(s, v)) / legs.length[leg]
        drives[leg] = t3
        arm = R @ mechanism.geometry.platform_points[leg]
        force -= tips[leg]
        moment -= np.cross(arm, tips[leg]) - drag
    along = np.linalg.solve(leg_matrix(mechanism.geometry, motion[:7]), np.concatenate([force, moment]))
    return drives - along, tips + along[:, None] * legs.direction
