"""§5 of the 2012 paper: the pods' rotation is more significant with electric drives; the numbers of its row."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from dynamics import Drive, Dynamics, Mechanism, rotor_spin_forces, without_friction
from kinematics import Array, leg_kinematics, leg_matrices, quaternion_to_matrix
from rig.papers.paths import manipulator, run_path

ROOT = Path(__file__).resolve().parents[2]
OWN = "pedrammehr-2012"
PATH_3 = "II"


def forces_by_hand(mechanism: Mechanism, motions: Array, spin: float) -> Array:
    """Actuator forces (n, 6) N without friction and wrench, of pods that have the part `spin` of W·s and A·s."""
    geometry, g = mechanism.geometry, mechanism.gravity
    legs = leg_kinematics(geometry, motions)
    s, L = legs.direction, legs.length[..., None]
    across = np.cross(geometry.universal_axes, s)
    sine = np.linalg.norm(across, axis=-1, keepdims=True)
    v = across / sine
    T = np.stack([s, v, np.cross(s, v)], axis=-1)
    W, A = (
        each - (1.0 - spin) * np.sum(each * s, axis=-1, keepdims=True) * s
        for each in (legs.angular_velocity, legs.angular_acceleration)
    )
    C, D = np.zeros_like(s), np.zeros_like(legs.length)
    for index, leg in enumerate(mechanism.legs):
        w, a, turn = W[:, index], A[:, index], T[:, index]
        for body, sliding in ((leg.lower, 0.0), (leg.upper, 1.0)):
            r = turn @ body.center_of_mass + sliding * L[:, index] * s[:, index]
            swing = np.cross(a, r) + np.cross(w, np.cross(w, r))
            rising = legs.acceleration[:, index, None] * s[:, index]
            coriolis = 2.0 * legs.velocity[:, index, None] * np.cross(w, s[:, index])
            force = body.mass * (swing + sliding * (rising + coriolis) - g)
            inertia = turn @ body.inertia @ turn.transpose(0, 2, 1)
            momentum = np.einsum("nij,nj->ni", inertia, w)
            C[:, index] += np.cross(r, force) + np.einsum("nij,nj->ni", inertia, a) + np.cross(w, momentum)
            D[:, index] += sliding * np.sum(s[:, index] * force, axis=-1)
    m_c = -np.sum(C * s, axis=-1, keepdims=True) / sine
    K = np.cross(C - m_c * np.cross(geometry.universal_axes, v), s) / L
    R = quaternion_to_matrix(motions[:, 3:7])
    q, r = geometry.platform_points @ R.transpose(0, 2, 1), R @ mechanism.center_of_mass
    omega, alpha = motions[:, 10:13], motions[:, 16:19]
    a = motions[:, 13:16] + np.cross(alpha, r) + np.cross(omega, np.cross(omega, r))
    inertia = R @ mechanism.inertia @ R.transpose(0, 2, 1)
    force = mechanism.mass * (g - a)
    moment = np.cross(r, force) - np.einsum("nij,nj->ni", inertia, alpha)
    moment -= np.cross(omega, np.einsum("nij,nj->ni", inertia, omega)) + np.cross(q, K).sum(axis=1)
    c = np.concatenate([force - K.sum(axis=1), moment], axis=-1)
    return D - np.linalg.solve(leg_matrices(geometry, motions[:, :7]), c[..., None])[..., 0]


def rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


def computed() -> list[float]:
    """RMS on path 3 of the pods' rotation, the rotors' spin and the rotors' inertia, and the last one's peak, N."""
    machine, motions = manipulator(OWN), run_path(PATH_3, OWN).motions
    still = without_friction(machine)
    exact = Dynamics(still).inverse(motions).forces
    driven = replace(still, legs=tuple(replace(leg, drive=Drive(inertia=5e-5, lead=5e-3)) for leg in still.legs))
    np.testing.assert_allclose(forces_by_hand(still, motions, 1.0), exact, rtol=1e-11, atol=1e-9)
    reflected = Dynamics(driven).inverse(motions).forces - exact
    pods, rotors = forces_by_hand(still, motions, 0.0) - exact, rotor_spin_forces(driven, motions)
    return [rms(pods), rms(rotors), rms(reflected), float(np.abs(reflected).max())]
