"""Recorded stretches of machines that are off their drawing, made without a rig: the truth is known, noise is drawn."""

from dataclasses import dataclass, replace

import numpy as np

from calibration import ForceRecord
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
from kinematics import Array, Harmonic, HarmonicTerm, Placement

MACHINE = load_mechanism("lab-hexapod")
RATE = 250.0
NOISE = 0.5
SMOOTHING = 1e-3


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
