"""The physically consistent parameters nearest to an estimate: a convex problem, by a barrier method."""

from collections.abc import Sequence

import numpy as np

from calibration.errors import CalibrationError
from calibration.inertia.prior import SIZE, exists
from dynamics import pseudo_inertia
from kinematics import Array

_WEIGHTS = (10.0, 1.0, 0.1, 1e-2, 1e-3)
"""Weights of the barrier, nats of the distance; the last bounds how far the result is from the optimum."""
_STEPS = 60
_DECREMENT = 1e-8  # nats, of what a Newton step would still gain
_NOT_FOUND = "no bodies that can exist explain the forces: the search for them did not converge"
_BASIS = np.stack([pseudo_inertia(row) for row in np.eye(SIZE)])  # P is linear in the body's ten numbers


def all_consistent(x: Array, bodies: Sequence[slice], positive: Sequence[slice]) -> bool:
    """Whether all bodies of x can exist, see `exists`, and no number at the places `positive` is negative."""
    return all(exists(x[place]) for place in bodies) and all((x[place] >= 0.0).all() for place in positive)


def nearest_body_parameters(
    estimate: Array, information: Array, start: Array, bodies: Sequence[slice], positive: Sequence[slice]
) -> Array:
    """The x (n,) with consistent bodies and positive numbers that is nearest to an estimate by its information (n, n).

    The pseudo-inertia of a body is linear in its numbers and must be positive definite, so that this is a semidefinite
    program (Wensing, Kim & Slotine 2018). By Newton's method with a barrier −Σ log det P − Σ log x, whose weight falls.
    start (n,): inside, its numbers at `positive` above zero.
    Raises CalibrationError if it does not converge.
    """
    x: Array = start.copy()
    if not _inside(x, bodies, positive):
        raise CalibrationError("no bodies that can exist to begin from")
    for weight in _WEIGHTS:
        for _ in range(_STEPS):
            slope, curvature = _derivatives(x, bodies, positive)
            slope = information @ (x - estimate) + weight * slope
            step = _newton_step(information + weight * curvature, slope)
            gain = -float(slope @ step)
            if abs(gain) < _DECREMENT:
                break
            if not gain > 0.0:
                raise CalibrationError(_NOT_FOUND)
            x = _searched(x, step, gain, estimate, information, weight, bodies, positive)
        else:
            raise CalibrationError(_NOT_FOUND)
    return x


def _newton_step(curvature: Array, slope: Array) -> Array:
    """−C⁻¹ s, in units in which the diagonal of C is one: those of masses and moments differ by magnitudes."""
    scale = 1.0 / np.sqrt(np.diag(curvature))
    step: Array = -scale * np.linalg.solve(curvature * np.outer(scale, scale), scale * slope)
    return step


def _inside(x: Array, bodies: Sequence[slice], positive: Sequence[slice]) -> bool:
    return all((x[place] > 0.0).all() for place in positive) and all(exists(x[place]) for place in bodies)


def _value(
    x: Array, estimate: Array, information: Array, weight: float, bodies: Sequence[slice], positive: Sequence[slice]
) -> float:
    barrier = -sum(float(np.linalg.slogdet(pseudo_inertia(x[place]))[1]) for place in bodies)
    barrier -= sum(float(np.log(x[place]).sum()) for place in positive)
    away = x - estimate
    return 0.5 * float(away @ information @ away) + weight * barrier


def _derivatives(x: Array, bodies: Sequence[slice], positive: Sequence[slice]) -> tuple[Array, Array]:
    """Gradient (n,) and Hessian (n, n) of the barrier."""
    slope, curvature = np.zeros(len(x)), np.zeros((len(x), len(x)))
    for place in bodies:
        by = np.linalg.inv(pseudo_inertia(x[place])) @ _BASIS
        slope[place] = -np.trace(by, axis1=1, axis2=2)
        curvature[place, place] = np.einsum("kij,lji->kl", by, by)
    for place in positive:
        slope[place] = -1.0 / x[place]
        curvature[place, place] = np.diag(1.0 / x[place] ** 2)
    return slope, curvature


def _searched(
    x: Array,
    step: Array,
    gain: float,
    estimate: Array,
    information: Array,
    weight: float,
    bodies: Sequence[slice],
    positive: Sequence[slice],
) -> Array:
    """The point along a Newton step that stays inside and lowers the value (backtracking)."""
    before = _value(x, estimate, information, weight, bodies, positive)
    length = 1.0
    for _ in range(60):
        there = x + length * step
        if _inside(there, bodies, positive):
            after = _value(there, estimate, information, weight, bodies, positive)
            if after <= before - 0.1 * length * gain + 1e-9 * abs(before):
                return there
        length *= 0.5
    return x
