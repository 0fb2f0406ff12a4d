"""Coulomb friction of legs that turn round between two samples."""

import numpy as np

from kinematics import Array

_SUBSTEPS = 20  # of a period
_PLACES = (np.arange(_SUBSTEPS) + 0.5) / _SUBSTEPS


def friction_signs(speeds: Array, coulomb_speed: float) -> Array:
    """Signs of speeds, m/s, of any shape, smoothed over coulomb_speed, m/s, as `Dynamics` smooths them."""
    signs: Array = np.tanh(speeds / coulomb_speed) if coulomb_speed else np.sign(speeds)
    return signs


def switched_friction(speeds: Array, coulomb_speed: float) -> Array:
    """What the sign of speeds (n, 6) m/s is more than its mean over the periods before and after, (n, 6).

    Weighted as a second difference of lengths weighs accelerations. Speeds are linear between the samples; the sign is
    that of `friction_signs`.
    """
    here = friction_signs(speeds, coulomb_speed)
    mean = np.zeros_like(here)
    for place in _PLACES:
        between = friction_signs(speeds[:-1] + place * (speeds[1:] - speeds[:-1]), coulomb_speed)
        mean[:-1] += (1.0 - place) * between / _SUBSTEPS
        mean[1:] += place * between / _SUBSTEPS
    mean[:1] += 0.5 * here[:1]  # nothing is known beyond the ends
    mean[-1:] += 0.5 * here[-1:]
    excess: Array = here - mean
    return excess
