"""Recorded stretches of machines that are off their drawing, made without a rig: the truth is known, noise is drawn."""

from dataclasses import dataclass, replace

import numpy as np
from followed_poses import followed_poses

from calibration import Accuracy, ForceRecord
from dynamics import (
    BODIES,
    FRICTIONS,
    Dynamics,
    Mechanism,
    deformed,
    linear_parameters,
    load_mechanism,
    with_linear_parameters,
)
from kinematics import (
    Array,
    Geometry,
    Harmonic,
    HarmonicTerm,
    Placement,
    leg_kinematics,
    leg_lengths,
)

MACHINE = load_mechanism("lab-hexapod")
RATE = 250.0
NOISE = 0.5
SMOOTHING = 1e-3
STATED = Accuracy()


@dataclass(frozen=True, slots=True)
class Made:
    """A truth and a stretch of its motion."""

    truth: Mechanism
    record: ForceRecord


def drawn(seed: int, part: float = 0.2) -> Mechanism:
    """A machine whose masses, moments and frictions are off by up to `part`, each body one that can exist."""
    generator = np.random.default_rng(seed)
    theta = linear_parameters(MACHINE)
    for place in BODIES:
        stretch = np.diag(np.sqrt(1.0 + generator.uniform(-part, part, 3)))
        theta[place] = deformed(
            theta[place], 1.0 + generator.uniform(-part, part), generator.uniform(-3e-3, 3e-3, 3), stretch
        )
    for place in FRICTIONS:
        theta[place] *= 1.0 + generator.uniform(-part, part, 4)
    return with_linear_parameters(MACHINE, theta)


def motion(duration: float, seed: int = 0) -> Array:
    """All six coordinates at once, several frequencies each, with the fastest first: what tells much in little time."""
    generator = np.random.default_rng(seed)
    terms = []
    for dof, size in zip(("x", "y", "z", "rx", "ry", "rz"), (0.02, 0.02, 0.015, 0.1, 0.1, 0.12), strict=True):
        for frequency in generator.uniform(0.3, 2.2, 4):
            terms.append(HarmonicTerm(dof, size / (1.0 + frequency), frequency, generator.uniform(0.0, 6.0)))
    path = Harmonic(terms, duration, 1.0, placement=Placement("home", home=MACHINE.geometry.home_pose))
    return path.motion(np.arange(int(duration * RATE)) / RATE)


def recorded(
    truth: Mechanism, motions: Array, seed: int, *, noise: float = NOISE, lag: float = 0.0, offsets: Array | None = None
) -> Made:
    """What encoders and cells say of a motion: drawn noise, an encoder's steps of 0.1 µm in the pose."""
    generator = np.random.default_rng([seed, 1])
    model = Dynamics(truth, SMOOTHING)
    cells = model.cells(motions)
    times = np.arange(len(motions)) / RATE
    if lag:
        cells = np.column_stack([np.interp(times - lag, times, column) for column in cells.T])
    cells = cells + generator.normal(0.0, noise, cells.shape) + (0.0 if offsets is None else offsets)
    pose = motions[:, :7] + generator.uniform(-5e-8, 5e-8, (len(motions), 7))
    pose[:, 3:] /= np.linalg.norm(pose[:, 3:], axis=1, keepdims=True)
    drives = model.inverse(motions).forces + generator.normal(0.0, 0.2, cells.shape)
    return Made(truth, ForceRecord(RATE, pose, cells, drives))


def without_drives(record: ForceRecord) -> ForceRecord:
    """The same where nobody knows the drives' forces."""
    return replace(record, drives=None)


def drawn_of_the_prior(seed: int, path: Array, accuracy: Accuracy = STATED) -> Made:
    """A machine, its cells, drives and encoders, all as far off as is stated: one draw of what is known before."""
    generator = np.random.default_rng([seed, 2])

    def normal(*shape: int) -> Array:
        return generator.normal(size=shape)

    theta, geometry = linear_parameters(MACHINE), MACHINE.geometry
    for place in BODIES:
        stretch = np.eye(3) + np.diag(0.5 * accuracy.inertia * normal(3))
        for value, (i, j) in zip(0.125 * accuracy.inertia * normal(3), ((0, 1), (0, 2), (1, 2)), strict=True):
            stretch[i, j] += value
            stretch[j, i] += value
        theta[place] = deformed(theta[place], 1.0 + accuracy.mass * normal(1)[0], accuracy.center * normal(3), stretch)
    least = (accuracy.least_damping, accuracy.least_prismatic, accuracy.least_damping, accuracy.least_coulomb)
    for place in FRICTIONS:
        theta[place] = np.abs(theta[place] + np.maximum(accuracy.friction * theta[place], least) * normal(4))
    built = Geometry(
        geometry.base_points + accuracy.joints * normal(6, 3),
        geometry.universal_axes,
        geometry.platform_points + accuracy.joints * normal(6, 3),
        geometry.home,
    )
    truth = replace(with_linear_parameters(MACHINE, theta), geometry=built)
    model = Dynamics(truth, SMOOTHING)
    forces, cells, times = model.inverse(path).forces, model.cells(path), np.arange(len(path)) / RATE
    neighbours = np.abs(np.subtract.outer(range(6), range(6))) % 4 == 1
    cells = cells @ (np.eye(6) + accuracy.gain * np.diag(normal(6)) + accuracy.cross_talk * neighbours * normal(6, 6))
    lags = accuracy.lag * normal(6)
    cells = np.column_stack([np.interp(times - lag, times, column) for lag, column in zip(lags, cells.T, strict=True)])
    cells += accuracy.offset * normal(6) + accuracy.drift * normal(6) * (times - times.mean())[:, np.newaxis]
    lengths = leg_lengths(built, path[:, :7]) + accuracy.lengths * normal(6) + accuracy.compliance * normal(6) * forces
    lengths += generator.uniform(-5e-8, 5e-8, lengths.shape)
    pose = followed_poses(geometry, lengths, path[0, :7])
    speeds = leg_kinematics(built, path).velocity
    coulomb, viscous = np.array([(leg.friction.coulomb, leg.friction.prismatic) for leg in truth.legs]).T
    along = np.tanh(speeds / SMOOTHING) * coulomb + speeds * viscous
    # a small part of friction follows no law, for 0.1 s each time
    span = round(0.1 * RATE)
    unmodelled = np.repeat(normal(len(path) // span + 1, 6), span, axis=0)[: len(path)]
    forces = forces + 0.005 * unmodelled * along
    drives = forces * (1.0 + 0.02 * normal(6)) + 2.0 * normal(6) + 0.2 * normal(*forces.shape)
    return Made(truth, ForceRecord(RATE, pose, cells + NOISE * normal(*cells.shape), drives))
