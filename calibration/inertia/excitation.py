"""A motion that tells the parameters: sines in all six coordinates, within the mechanism's limits."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from calibration.errors import CalibrationError
from calibration.inertia.ascent import Waves, ascended
from calibration.inertia.limit_usage import Stress
from calibration.inertia.motion_information import Grid, MotionInformation
from calibration.inertia.prior import Accuracy
from dynamics import DynamicsError, Mechanism
from kinematics import Array, Harmonic, HarmonicTerm, KinematicsError, Placement

_COORDINATES = ("x", "y", "z", "rx", "ry", "rz")
_HARMONICS = 5  # sines of each coordinate of a motion that is drawn …
_MOST_HARMONICS = 15  # … and frequencies of one that is designed: a trajectory file has at most 100 terms
_HALVINGS = 16
_FADE = 2.0  # s
_PERIOD = 10.0  # s, about
_COARSE, _FINE = 12.0, 40.0  # samples in a period of the fastest sine: where a motion is designed, and judged
_LEAST_RATE = 10.0  # Hz, of both
_WORK = 600 * 320
"""samples of all gradients together that a design may take, some 40 s"""
_SMALLER, _TRIES = 0.98, 60
"""by what a motion is made smaller that does not pass, and how often"""


@dataclass(frozen=True, slots=True, eq=False)
class Excitation:
    """A designed motion: the sines about home, m and rad, and how well it tells the base parameters.

    condition: of the information of the base parameters in units of what is known of them before, the root of it.
    information: ½ log det of what is known of them afterwards by what was known before, over their number: the mean of
    ½ log(1 + what is told / what is known), in nepers, with what is estimated beside them left open (see
    `MotionInformation`).
    parameters: how many there are. drawn: the same information of the best of the `tried` random motions.
    """

    duration: float
    fade: float
    terms: tuple[HarmonicTerm, ...]
    condition: float
    information: float
    parameters: int
    tried: int
    drawn: float

    @property
    def gain(self) -> float:
        """What it tells more than the best random motion of all base parameters together, nepers."""
        return self.parameters * (self.information - self.drawn)

    def trajectory(self, home: Array) -> Harmonic:
        """As a trajectory about a home pose (7,)."""
        return _trajectory(self.terms, self.duration, home)


def design_excitation(
    mechanism: Mechanism,
    duration: float = 60.0,
    *,
    fastest: float = 2.0,
    margin: float = 0.75,
    candidates: int = 40,
    steps: int = 300,
    seed: int = 0,
    accuracy: Accuracy | None = None,
    noise: float = 0.5,
    drives: bool = False,
    permits: Callable[[Harmonic], bool] = lambda _trajectory: True,
    progress: Callable[[float], None] = lambda _part: None,
) -> Excitation:
    """Search for the motion that tells most: the best of random ones, made better by gradient.

    The random ones are Fourier series of random phases, each as large as limits permit. From the best of them on, all
    amplitudes and phases of up to 15 frequencies and a shift of each coordinate follow the gradient of the
    information (`ascent`). What comes of it is made as small as limits demand, and taken where it tells more.

    Args:
        mechanism: with limits and a home.
        duration: s. fastest: Hz, of the sines. margin: part of every limit that may be used.
        candidates: how many are drawn. steps: evaluations of the gradient at most, fewer where each takes long; 0 for
            the best that was drawn. seed: of phases.
        accuracy, noise: what is known before, `Accuracy.of` the mechanism if None; N, of the cells.
        drives: whether the drives' forces are known, too.
        permits: what else a motion has to pass, such as the check before it is run.
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
        ("steps", steps, 0, 100_000),
        ("noise", noise, 1e-6, 1e6),
    ):
        if not (math.isfinite(value) and least <= value <= greatest):
            faults.append(f"{name}: {value:g}, must be {least:g} to {greatest:g}")
    lengths = [None if limits is None else limits.length for limits in mechanism.limits]
    if mechanism.geometry.home is None or None in lengths:
        faults.append(f"{mechanism.name}: needs a home and limits of its legs' lengths")
    if faults:
        raise CalibrationError(faults)
    known = Accuracy.of(mechanism) if accuracy is None else accuracy
    information = MotionInformation(mechanism, known, noise, drives)
    search = _Search(mechanism, duration, fastest, margin, information, permits)
    begun = candidates / (candidates + steps)
    best: Excitation | None = None
    generator = np.random.Generator(np.random.PCG64(seed))
    for number in range(candidates):
        progress(begun * number / candidates)
        found = search.judged(_drawn(generator, duration, fastest), candidates, 0.0)
        if found is not None and (best is None or found.information > best.information):
            best = found
    best = None if best is None else search.permitted(best)
    if best is None:
        raise CalibrationError(f"{mechanism.name}: its limits permit no motion about home in all six coordinates")
    best = replace(best, drawn=best.information)
    for terms in search.designed(best, steps, lambda part: progress(begun + (1.0 - begun) * part)):
        found = search.judged(terms, candidates, best.drawn)
        if found is not None and found.information > best.information:
            found = search.permitted(found)
            if found is not None and found.information > best.information:
                best = found
    progress(1.0)
    return best


def _period(duration: float) -> float:
    """s, that goes into the duration."""
    return duration / max(1, round(duration / _PERIOD))


def _frequencies(duration: float, fastest: float) -> Array:
    """Hz, the multiples of one by the period."""
    period = _period(duration)
    multiples: Array = np.arange(1, int(fastest * period) + 1) / period
    return multiples


def _trajectory(terms: tuple[HarmonicTerm, ...], duration: float, home: Array) -> Harmonic:
    return Harmonic(terms, duration, _FADE, placement=Placement("home", home=home))


def _drawn(generator: np.random.Generator, duration: float, fastest: float) -> tuple[HarmonicTerm, ...]:
    """Sines of a period that goes into the duration; slow ones larger, so that all need about the same speed."""
    frequencies = _frequencies(duration, fastest)
    terms = []
    for axis, name in enumerate(_COORDINATES):
        chosen = generator.choice(frequencies, size=min(_HARMONICS, len(frequencies)), replace=False)
        for frequency in sorted(chosen.tolist()):
            size = generator.uniform(0.3, 1.0) / (1.0 + frequency) * (1.0 if axis < 3 else 4.0)
            terms.append(HarmonicTerm(name, size, frequency, generator.uniform(0.0, 2.0 * math.pi)))
    return tuple(terms)


class _Search:
    """Judges motions of a mechanism, makes them as large as they may be, and looks for better ones."""

    def __init__(
        self,
        mechanism: Mechanism,
        duration: float,
        fastest: float,
        margin: float,
        information: MotionInformation,
        permits: Callable[[Harmonic], bool],
    ) -> None:
        self._mechanism, self._duration, self._fastest, self._margin = mechanism, duration, fastest, margin
        self._information, self._permits = information, permits
        self._home = mechanism.geometry.home_pose
        self._stress = Stress(mechanism)
        self._fine = self._grid(_FINE)

    def _grid(self, samples: float) -> Grid:
        rate = max(samples * self._fastest, _LEAST_RATE)
        return Grid.of(self._duration, _FADE, _period(self._duration), rate)

    def judged(self, terms: tuple[HarmonicTerm, ...], tried: int, drawn: float) -> Excitation | None:
        """A motion in the largest common size that the limits permit; None where there is none."""
        low, high = 0.0, 1.0
        while high < 1024.0 and self._within(_times(terms, high)):
            low, high = high, 2.0 * high
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            if self._within(_times(terms, middle)):
                low = middle
            else:
                high = middle
        return self._excitation(_times(terms, low), tried, drawn) if low else None

    def permitted(self, motion: Excitation) -> Excitation | None:
        """The same as much smaller as `permits` demands; None where it permits none."""
        terms = motion.terms
        for _ in range(_TRIES):
            if self._permits(_trajectory(terms, self._duration, self._home)):
                return motion if terms is motion.terms else self._excitation(terms, motion.tried, motion.drawn)
            terms = _times(terms, _SMALLER)
        return None

    def designed(
        self, start: Excitation, steps: int, progress: Callable[[float], None]
    ) -> Iterator[tuple[HarmonicTerm, ...]]:
        """Motions that the gradient leads to from one, not yet of their size."""
        if steps == 0:
            return
        every = _frequencies(self._duration, self._fastest)
        count = min(_MOST_HARMONICS, len(every))
        frequencies = every[np.round(np.linspace(0, len(every) - 1, count)).astype(int)]
        waves = Waves(frequencies, self._duration, _FADE, self._sizes(frequencies))
        grid = self._grid(_COARSE)
        steps = min(steps, max(1, _WORK // len(grid.t)))
        begin = waves.coefficients(start.terms)
        for each in ascended(self._mechanism, self._information, grid, waves, begin, self._margin, steps, progress):
            yield waves.terms(each)

    def _sizes(self, frequencies: Array) -> Array:
        """What amplitudes (6, 2 k + 1), m and rad, come about as near to a limit as each other."""
        limits = [limits for limits in self._mechanism.limits if limits is not None]
        stroke = 0.25 * min(np.ptp(each.length) for each in limits if each.length is not None)
        speed = min((each.velocity for each in limits if each.velocity is not None), default=math.inf)
        acceleration = min((each.acceleration for each in limits if each.acceleration is not None), default=math.inf)
        rates = 2.0 * math.pi * frequencies
        sizes = np.minimum(stroke, np.minimum(speed / rates, acceleration / rates**2))
        row = np.concatenate([[stroke], np.repeat(sizes, 2)])
        radius = float(np.linalg.norm(self._mechanism.geometry.platform_points, axis=1).mean())
        scaled: Array = np.outer([1.0] * 3 + [1.0 / radius] * 3, row)
        return scaled

    def _within(self, terms: tuple[HarmonicTerm, ...]) -> bool:
        try:
            parts = self._stress.of(_trajectory(terms, self._duration, self._home).motion(self._fine.t))
        except (KinematicsError, DynamicsError):
            return False
        return float(np.abs(parts).max()) <= self._margin

    def _excitation(self, terms: tuple[HarmonicTerm, ...], tried: int, drawn: float) -> Excitation:
        coordinates = np.hstack(_trajectory(terms, self._duration, self._home).coordinates(self._fine.t))
        told, spread = self._information.of(self._fine, coordinates)
        size = self._information.size
        return Excitation(self._duration, _FADE, terms, math.sqrt(spread), told / size, size, tried, drawn)


def _times(terms: tuple[HarmonicTerm, ...], factor: float) -> tuple[HarmonicTerm, ...]:
    return tuple(HarmonicTerm(term.dof, factor * term.amplitude, term.frequency, term.phase) for term in terms)
