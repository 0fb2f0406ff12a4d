"""The motion that tells most within the limits, by gradient from one that is given.

Sines and cosines of given frequencies in all six coordinates, and a shift of each: maximise the information
(`MotionInformation`) with every part of a limit s at most `margin`, g = ½ ((s/margin)² − 1) ≤ 0, at every time of a
grid.
By an augmented Lagrangian, −J + Σ (max(0, λ + ρ g)² − λ²) / 2ρ, whose multipliers λ and weight ρ grow from round to
round (Nocedal & Wright, Numerical Optimization, 17.4), each round by L-BFGS. What comes of it is near the limits on
either side; whoever takes it has to make it small enough.
"""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from calibration.inertia.limit_usage import Stress
from calibration.inertia.motion_information import STEPS, Grid, MotionInformation
from dynamics import DynamicsError, Mechanism
from kinematics import Array, Harmonic, HarmonicTerm, KinematicsError, Placement

_COORDINATES = ("x", "y", "z", "rx", "ry", "rz")
_ROUNDS = 6
_WEIGHT, _HEAVIER = 5.0, 2.0  # ρ of the first round, in nepers, and how much more in each further one
_MEMORY = 30  # steps from which L-BFGS has its curvature
_IMPOSSIBLE = 1e6  # nepers, where the model cannot be evaluated


class Waves:
    """Sines about home with given frequencies (k,), Hz, as linear functions of their coefficients.

    Coefficients (6, 2 k + 1): of each coordinate a shift, then a sine and a cosine of each frequency, in units of
    `sizes` (6, 2 k + 1). All of them fade in and out, the shift as well, so that motions begin and end at home.
    """

    def __init__(self, frequencies: Array, duration: float, fade: float, sizes: Array) -> None:
        self.frequencies, self.duration, self.fade, self.sizes = frequencies, duration, fade, sizes

    def basis(self, t: Array) -> Array:
        """Values and two derivatives (3, n, 2 k + 1) of functions of unit size at times (n,), s."""
        columns = []
        for frequency, phase in (
            (0.0, 0.5 * math.pi),
            *((f, p) for f in self.frequencies for p in (0.0, 0.5 * math.pi)),
        ):
            term = HarmonicTerm("x", 1.0, float(frequency), phase)
            columns.append([each[:, 0] for each in Harmonic([term], self.duration, self.fade).coordinates(t)])
        return np.array(columns).transpose(1, 2, 0)

    def coefficients(self, terms: tuple[HarmonicTerm, ...]) -> Array:
        """Those of a motion, each frequency taken to be the nearest of these."""
        found = np.zeros_like(self.sizes)
        for term in terms:
            row = _COORDINATES.index(term.dof)
            if term.frequency == 0.0:
                found[row, 0] += term.amplitude * math.sin(term.phase)
                continue
            place = 1 + 2 * int(np.argmin(np.abs(self.frequencies - term.frequency)))
            found[row, place] += term.amplitude * math.cos(term.phase)
            found[row, place + 1] += term.amplitude * math.sin(term.phase)
        return found / self.sizes

    def terms(self, coefficients: Array) -> tuple[HarmonicTerm, ...]:
        """The motion that has these; a shift is a sine without a frequency, a quarter of a period on."""
        whole = coefficients * self.sizes
        found = []
        for row, name in enumerate(_COORDINATES):
            found.append(HarmonicTerm(name, float(whole[row, 0]), 0.0, 0.5 * math.pi))
            for number, frequency in enumerate(self.frequencies.tolist()):
                sine, cosine = whole[row, 1 + 2 * number : 3 + 2 * number].tolist()
                phase = math.atan2(cosine, sine) % (2.0 * math.pi)
                found.append(HarmonicTerm(name, math.hypot(sine, cosine), frequency, phase))
        return tuple(found)


def ascended(
    mechanism: Mechanism,
    information: MotionInformation,
    grid: Grid,
    waves: Waves,
    start: Array,
    margin: float,
    steps: int,
    progress: Callable[[float], None],
) -> list[Array]:
    """Coefficients at the end of each round, from `start` (6, 2 k + 1) on, in `steps` evaluations of the gradient.

    progress: told the part that is done.
    """
    from scipy.optimize import minimize  # takes long to import, and few need it

    problem = _Problem(mechanism, information, grid, waves, margin)
    found = []
    done = 0

    def value(x: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        nonlocal done
        progress(min(1.0, done / steps))
        done += 1
        return problem.value(x)

    x: npt.NDArray[np.float64] = start.ravel()
    for number in range(_ROUNDS):
        most = (number + 1) * steps // _ROUNDS - done
        if most > 0:
            options = {"maxfun": most, "maxiter": most, "maxcor": _MEMORY, "ftol": 1e-9, "gtol": 1e-5}
            x = np.asarray(minimize(value, x, jac=True, method="L-BFGS-B", options=options).x)  # type: ignore[call-overload]
        found.append(x.reshape(start.shape).copy())
        problem.next_round(x)
    return found


class _Problem:
    """The augmented Lagrangian, as a function of all coefficients in one row."""

    def __init__(
        self, mechanism: Mechanism, information: MotionInformation, grid: Grid, waves: Waves, margin: float
    ) -> None:
        self._information, self._grid, self._margin = information, grid, margin
        self._stress = Stress(mechanism)
        self._placement = Placement("home", home=mechanism.geometry.home_pose)
        self._basis = waves.basis(grid.t)
        self._sizes = waves.sizes
        self._weight = _WEIGHT
        self._multipliers: Array = np.zeros((len(grid.t), 1))

    def value(self, x: Array) -> tuple[float, Array]:
        """Its value and its gradient; a large one where the model cannot be evaluated."""
        coordinates = self._coordinates(x)
        try:
            told, derivatives = self._information.gradient(self._grid, coordinates)
            penalty, more = self._penalty(coordinates)
        except (KinematicsError, DynamicsError):
            return _IMPOSSIBLE, np.zeros_like(x)
        slopes = (more - derivatives).reshape(-1, 3, 6)
        by_coefficients = np.einsum("dnk,ndi->ik", self._basis, slopes)
        return penalty - told, (by_coefficients * self._sizes).ravel()

    def next_round(self, x: Array) -> None:
        """Take the multipliers from what limits are exceeded by, and the next weight."""
        beyond, _ = self._beyond(self._coordinates(x))
        self._multipliers = np.maximum(0.0, self._multipliers + self._weight * beyond)
        self._weight *= _HEAVIER

    def _coordinates(self, x: Array) -> Array:
        whole = x.reshape(self._sizes.shape) * self._sizes
        coordinates: Array = np.hstack([each @ whole.T for each in self._basis])
        return coordinates

    def _beyond(self, coordinates: Array) -> tuple[Array, Array]:
        """g and s (n, 42)."""
        motions = self._placement.to_motion(coordinates[:, :6], coordinates[:, 6:12], coordinates[:, 12:])
        parts = self._stress.of(motions)
        return 0.5 * ((parts / self._margin) ** 2 - 1.0), parts

    def _penalty(self, coordinates: Array) -> tuple[float, Array]:
        """What limits take from the information, nepers, and its derivatives (n, 18)."""
        beyond, parts = self._beyond(coordinates)
        pushed = np.maximum(0.0, self._multipliers + self._weight * beyond)
        value = float(np.sum(pushed**2) - np.sum(self._multipliers**2)) / (2.0 * self._weight)
        slopes = pushed * parts / self._margin**2
        here = np.flatnonzero(slopes.any(axis=1))
        derivatives = np.zeros_like(coordinates)
        for place, step in enumerate(STEPS):
            beside = coordinates[here].copy()
            beside[:, place] += step
            derivatives[here, place] = np.sum(slopes[here] * (self._beyond(beside)[1] - parts[here]), axis=1) / step
        return value, derivatives
