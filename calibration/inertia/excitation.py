"""A motion that tells the parameters: Fourier series in all six coordinates, within the mechanism's limits."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibration.errors import CalibrationError
from calibration.inertia.base import base_parameters
from calibration.inertia.prior import Accuracy, prior
from dynamics import Dynamics, DynamicsError, Mechanism, Regressor
from kinematics import Array, Harmonic, HarmonicTerm, KinematicsError, Placement, joint_angles, leg_kinematics

_COORDINATES = ("x", "y", "z", "rx", "ry", "rz")
_HARMONICS = 5  # sines of each coordinate
_SAMPLES = 400
_HALVINGS = 14
_FADE = 2.0  # s


@dataclass(frozen=True, slots=True, eq=False)
class Excitation:
    """A designed motion: the sines about home, m and rad, and how well it tells the base parameters.

    condition: of the regressor in units of what is known before; information: mean of ½ log(1 + what is told / what is
    known) over the base parameters, in nepers. tried: how many motions it was the best of.
    """

    duration: float
    fade: float
    terms: tuple[HarmonicTerm, ...]
    condition: float
    information: float
    tried: int

    def trajectory(self, home: Array) -> Harmonic:
        """As a trajectory about a home pose (7,)."""
        return Harmonic(self.terms, self.duration, self.fade, placement=Placement("home", home=home))


def design_excitation(
    mechanism: Mechanism,
    duration: float = 60.0,
    *,
    fastest: float = 2.0,
    margin: float = 0.75,
    candidates: int = 40,
    seed: int = 0,
    accuracy: Accuracy | None = None,
    noise: float = 0.5,
    progress: Callable[[float], None] = lambda _part: None,
) -> Excitation:
    """Search for the motion that tells most, among Fourier series of random phases, each as large as limits permit.

    Args:
        mechanism: with limits and a home.
        duration: s. fastest: Hz, of the sines. margin: part of every limit that may be used.
        candidates: how many are tried. seed: of their phases. accuracy, noise: what is known before,
            `Accuracy.of` the mechanism if None; N, of the cells.
        progress: told the part that is done.

    Raises:
        CalibrationError: limits are missing, or permit no motion; numbers out of bounds.
    """
    faults = []
    for name, value, least, greatest in (
        ("duration", duration, 10.0, 3600.0),
        ("fastest", fastest, 0.2, 20.0),
        ("margin", margin, 0.05, 1.0),
        ("candidates", candidates, 1, 10_000),
        ("noise", noise, 1e-6, 1e6),
    ):
        if not (math.isfinite(value) and least <= value <= greatest):
            faults.append(f"{name}: {value:g}, must be {least:g} to {greatest:g}")
    lengths = [None if limits is None else limits.length for limits in mechanism.limits]
    if mechanism.geometry.home is None or None in lengths:
        faults.append(f"{mechanism.name}: needs a home and limits of its legs' lengths")
    if faults:
        raise CalibrationError(faults)
    generator = np.random.Generator(np.random.PCG64(seed))
    _, known = prior(mechanism, Accuracy.of(mechanism) if accuracy is None else accuracy)
    sigma = np.sqrt(np.diag(known))
    base = base_parameters(mechanism, sigma, drives=False)
    root = np.asarray(np.linalg.cholesky(base.matrix @ known @ base.matrix.T), dtype=np.float64)
    best: Excitation | None = None
    for number in range(candidates):
        progress(number / candidates)
        terms = _scaled(mechanism, duration, _drawn(generator, duration, fastest), margin)
        if terms is None:
            continue
        condition, information = _judged(mechanism, duration, terms, base.matrix, root, noise)
        if best is None or information > best.information:
            best = Excitation(duration, _FADE, terms, condition, information, candidates)
    progress(1.0)
    if best is None:
        raise CalibrationError(f"{mechanism.name}: its limits permit no motion about home in all six coordinates")
    return best


def _drawn(generator: np.random.Generator, duration: float, fastest: float) -> list[HarmonicTerm]:
    """Sines of a period that goes into the duration; slow ones larger, so that all need about the same speed."""
    period = duration / max(1, round(duration / 10.0))
    frequencies = np.arange(1, int(fastest * period) + 1) / period
    terms = []
    for axis, name in enumerate(_COORDINATES):
        chosen = generator.choice(frequencies, size=min(_HARMONICS, len(frequencies)), replace=False)
        for frequency in sorted(chosen.tolist()):
            size = generator.uniform(0.3, 1.0) / (1.0 + frequency) * (1.0 if axis < 3 else 4.0)
            terms.append(HarmonicTerm(name, size, frequency, generator.uniform(0.0, 2.0 * math.pi)))
    return terms


def _scaled(
    mechanism: Mechanism, duration: float, terms: list[HarmonicTerm], margin: float
) -> tuple[HarmonicTerm, ...] | None:
    """The same with the largest common size that the limits permit; None where there is none."""
    low, high = 0.0, 0.5
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if _permitted(mechanism, duration, _times(terms, middle), margin):
            low = middle
        else:
            high = middle
    return _times(terms, low) if low else None


def _times(terms: list[HarmonicTerm], factor: float) -> tuple[HarmonicTerm, ...]:
    return tuple(HarmonicTerm(term.dof, factor * term.amplitude, term.frequency, term.phase) for term in terms)


def _motions(mechanism: Mechanism, duration: float, terms: tuple[HarmonicTerm, ...]) -> Array:
    home = mechanism.geometry.home_pose
    trajectory = Harmonic(terms, duration, _FADE, placement=Placement("home", home=home))
    motions: Array = trajectory.motion(np.linspace(0.0, duration, _SAMPLES))
    return motions


def _permitted(mechanism: Mechanism, duration: float, terms: tuple[HarmonicTerm, ...], margin: float) -> bool:
    try:
        motions = _motions(mechanism, duration, terms)
        legs = leg_kinematics(mechanism.geometry, motions)
        angles = joint_angles(mechanism.geometry, motions[:, :7])
        forces = Dynamics(mechanism).inverse(motions).forces
    except (KinematicsError, DynamicsError):
        return False
    for leg, part in enumerate(mechanism.legs):
        limits = part.limits
        assert limits is not None and limits.length is not None
        low, high = limits.length
        middle, half = 0.5 * (low + high), 0.5 * margin * (high - low)
        if np.abs(legs.length[:, leg] - middle).max() > half:
            return False
        for values, bound in (
            (legs.velocity[:, leg], limits.velocity),
            (legs.acceleration[:, leg], limits.acceleration),
            (forces[:, leg], limits.force),
            (angles.universal[:, leg], limits.universal_angle),
            (angles.spherical[:, leg], limits.spherical_angle),
        ):
            if bound is not None and np.abs(values).max() > margin * bound:
                return False
    return True


def _judged(
    mechanism: Mechanism, duration: float, terms: tuple[HarmonicTerm, ...], base: Array, root: Array, noise: float
) -> tuple[float, float]:
    """Condition number and information of a motion, about the base parameters in units of what is known before."""
    theta, _ = Regressor(mechanism).cells(_motions(mechanism, duration, terms))
    rows = theta.reshape(-1, theta.shape[2])
    # Y θ = Y_b K θ: the columns of the pivots are those of the base parameters
    columns = np.linalg.lstsq(base.T, rows.T, rcond=None)[0].T @ root
    values = np.linalg.svd(columns, compute_uv=False) / noise
    seconds = duration * 500.0 / _SAMPLES  # samples that each of these stands for, at a cycle of 2 ms
    return float(values[0] / values[-1]), float(np.mean(0.5 * np.log1p(seconds * values**2)))
