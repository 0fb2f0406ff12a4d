"""Path 1 of Pedrammehr et al. (2012), and how the legs (“pods”) turn along a path with and without their spin."""

from dataclasses import dataclass

import numpy as np

from kinematics import Array, Blend, LegMotion, TrajectoryError, leg_kinematics
from rig.papers.paths import SAMPLES, manipulator

START, END = (0.1, 0.0, 0.5, 0.0, 0.0, 0.0), (0.6, 0.0, 0.5, 0.0, 0.0, 0.0)
DURATION = 6.0  # s
PRINTED_SPEED = 0.08  # m/s


@dataclass(frozen=True, slots=True, eq=False)
class PodRun:
    """The pods' rotation along a path, with their universal joints and simplified (no spin): (n, 6, 3), base axes.

    direction: s.  velocity, acceleration: W rad/s, A rad/s².  *_simple: 1998 eqs. 6 and 9.
    axial, axial_acceleration (n, 6): W·s, A·s.
    """

    times: Array
    direction: Array
    velocity: Array
    velocity_simple: Array
    acceleration: Array
    acceleration_simple: Array
    axial: Array
    axial_acceleration: Array


def path_one() -> Blend:
    """Path 1 at the one speed that is constant."""
    return Blend(START, END, DURATION, (END[0] - START[0]) / DURATION)


def printed_path_refusal() -> str:
    """Why path 1 cannot be had at its printed speed; empty if it can."""
    try:
        Blend(START, END, DURATION, PRINTED_SPEED)
    except TrajectoryError as error:
        return str(error)
    return ""


def pods_of(trajectory: Blend) -> PodRun:
    """The pods' rotation along a path of the 1998 manipulator, at 61 samples."""
    times = np.linspace(0.0, trajectory.duration, SAMPLES)
    return turning_pods(times, trajectory.motion(times))


def turning_pods(times: Array, motions: Array) -> PodRun:
    """The pods' rotation in motions (n, 19) of the 1998 manipulator at times (n,)."""
    legs = leg_kinematics(manipulator().geometry, motions)
    velocity, acceleration = _without_spin(motions, legs)
    axial = np.einsum("nij,nij->ni", legs.angular_acceleration, legs.direction)
    return PodRun(
        times,
        legs.direction,
        legs.angular_velocity,
        velocity,
        legs.angular_acceleration,
        acceleration,
        legs.spin,
        axial,
    )


def _without_spin(motions: Array, legs: LegMotion) -> tuple[Array, Array]:
    """Angular velocity and acceleration of legs that do not spin: W = s×Ṡ/L, A = (s×S̈ − 2L̇W)/L (1998 eqs. 6, 9).

    The speed and acceleration of a platform point across its leg are those of the exact kinematics:
    Ṡ = L̇s + W×S and S̈ = L̈s + A×S + W×(W×S) + 2L̇W×s whatever the spin.
    """
    s, length = legs.direction, legs.length[..., None]
    S, rate = s * length, legs.velocity[..., None]
    W, A = legs.angular_velocity, legs.angular_acceleration
    S_dot = rate * s + np.cross(W, S)
    S_ddot = (
        legs.acceleration[..., None] * s + np.cross(A, S) + np.cross(W, np.cross(W, S)) + 2.0 * rate * np.cross(W, s)
    )
    simple = np.cross(s, S_dot) / length
    return simple, (np.cross(s, S_ddot) - 2.0 * rate * simple) / length
