"""Lag between model and measurement: y(t) = c + m(t - τ) by least squares with sub-sample resolution and uncertainty.

τ and c of each leg minimise the sum of the squared residual r over all samples (Gauss–Newton, started at the best whole
number of samples). With u = ṁ(t - τ) less its mean, J = Σu² and S the spectral densities, n samples give

    cov(τ_i, τ_k) = n ∫ S_u,ik(f) S_r,ik(f)* df / (J_i J_k)

This uses the residual's own spectrum, also between legs; it equals σ²/J only if that is white and the legs are
independent (Söderström & Stoica, System Identification, 1989, section 4.4). For all legs: the mean weighted by 1/σ².
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError

from rig.config import RigConfig
from rig.recording import imported_from
from rig.report.streaming import Floats
from rig.report.validation.spectra import Welch, circle_mean, window_length
from rig.report.validation.spool import Spool


def hold_lag(header: Mapping[str, Any]) -> float | None:
    """Return the lag of the cells' readings behind the reference, s, caused by the zero-order hold; None if unknown.

    A force is commanded for the instant `command_lead` ahead, the middle of the period in which it acts, and held. It
    is read with the next exchange, at the period's end: late by the period less the lead. The motion is not late.
    Known where the host closes all loops by forces and the drives read the cells, and the motion is not imported.
    """
    if imported_from(header) is not None:
        return None
    try:
        config = RigConfig.model_validate(header.get("config", {}))
    except ValidationError:
        return None
    if any(config.own_loops) or config.load_cells.source != "drive":
        return None
    return config.exchange_period - config.command_lead


def unknown_zoh(header: Mapping[str, Any], modelled: npt.NDArray[Any]) -> list[dict[str, Any] | None]:
    """Return for each leg why the drive's force between two commands is unknown; None where it is known.

    Args:
        header: of the recording.
        modelled: by leg, whether the model includes it.

    Returns:
        Causes: `code` ("own_loop" for a drive that closes its own loop, "in_turns" for one that is not polled in every
        cycle) and `period_s`, for which a command is held.
    """
    name = imported_from(header)
    if name is not None:
        return [{"code": "imported", "name": name}] * 6
    try:
        config = RigConfig.model_validate(header.get("config", {}))
    except ValidationError:
        return [None] * len(modelled)
    seldom = config.exchange_period > config.period
    return [
        {"code": "own_loop" if own else "in_turns", "period_s": config.exchange_period}
        if not known and (own or seldom)
        else None
        for own, known in zip(config.own_loops, modelled.tolist(), strict=True)
    ]


LONGEST_LAG = 0.1
"""s, limit of the search in either direction"""
_HALF = 16
"""samples of the interpolation kernel on either side"""
_TAPER = 8.0
"""shape parameter of the Kaiser window: an error of 1e-4 below 0.8 of the Nyquist frequency"""
_SUBSET = 200_000
"""samples of the iteration, before the last steps on all"""
_STEPS = 12
_CONVERGED = 1e-3
"""samples: a smaller step ends the iteration"""
_FEWEST_WINDOWS = 6
_SHORTEST_WINDOW = 16
"""samples; at the lowest rate that is a window of 3.2 s"""
_UNDETERMINED = 0.1
"""sigma over `LONGEST_LAG` above which the lag counts as undetermined"""
_LEGS = 6


@dataclass(frozen=True, slots=True)
class _Sums:
    """Per leg (6,), over samples: centred sums of u² and u r, and the means of u and of the residual."""

    count: int
    curvature: Floats
    slope: Floats
    mean: Floats
    offset: Floats


def find_lag(spool: Spool, rate: float) -> dict[str, Any]:
    """Return the lag of the measurement behind the model, s, positive where it is late.

    Args:
        spool: columns 0 to 5 measured, 6 to 11 modelled, N, at `rate` (Hz).

    Returns:
        `lag_s`, `sigma_s` of all legs together, `legs` with the same of each and the RMS slope of its modelled force,
        `slope_n_per_s`, `consistency_p` (probability of such differences between legs of equal lag); null
        where the motion does not determine it, then `why` is a code: "few_samples" without a gap, "no_change" of the
        modelled forces, "not_told": too small against the residual.
    """
    nothing: dict[str, Any] = {
        "lag_s": None,
        "sigma_s": None,
        "consistency_p": None,
        "legs": [{"leg": leg + 1, "lag_s": None, "sigma_s": None, "slope_n_per_s": None} for leg in range(_LEGS)],
    }
    most = math.ceil(LONGEST_LAG * rate)
    halo = most + _HALF + 1
    start = _whole_lag(spool, most, halo)
    if start is None:
        return nothing | {"why": "few_samples"}
    lag = _refined(spool, start, most, halo)
    length = window_length(spool.count, rate, _SHORTEST_WINDOW)
    last = _sums(spool, lag, halo)
    known = last.curvature > 0.0
    if not known.any() or not length:
        return nothing | {"why": "few_samples" if known.any() else "no_change"}
    lag = np.clip(lag + _step(last), -most, most)
    welch = Welch(2 * _LEGS, length)
    for values, continues in spool.pieces(halo):
        delayed, slope = _delayed(values[:, _LEGS:], lag, halo)
        residual = values[halo : len(values) - halo, :_LEGS] - delayed - last.offset
        welch.add(np.concatenate([slope - last.mean, residual], axis=1), continues=continues)
    if welch.windows < _FEWEST_WINDOWS:
        return nothing | {"why": "few_samples"}
    density = welch.density()
    products = density[:, :_LEGS, :_LEGS] * density[:, _LEGS:, _LEGS:].conj()
    curvature = np.where(known, last.curvature, np.inf)
    covariance = last.count * circle_mean(products) / np.outer(curvature, curvature) / rate**2
    return nothing | _legs(lag / rate, covariance, known, rate * np.sqrt(last.curvature / last.count))


def _legs(lag: Floats, covariance: Floats, known: npt.NDArray[np.bool_], slope: Floats) -> dict[str, Any]:
    sigma = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    known_well = known & (sigma > 0.0) & (sigma < _UNDETERMINED * LONGEST_LAG) & (np.abs(lag) <= LONGEST_LAG)
    legs = [
        {
            "leg": leg + 1,
            "lag_s": float(lag[leg]) if known_well[leg] else None,
            "sigma_s": float(sigma[leg]) if known_well[leg] else None,
            "slope_n_per_s": float(slope[leg]),
        }
        for leg in range(_LEGS)
    ]
    if not known_well.any():
        return {"legs": legs, "why": "not_told"}
    weights = np.where(known_well, 1.0, 0.0) / np.where(known_well, sigma, 1.0) ** 2
    weights /= weights.sum()
    joint = float(weights @ np.where(known_well, lag, 0.0))
    variance = float(weights @ np.where(np.outer(known_well, known_well), covariance, 0.0) @ weights)
    return {
        "lag_s": joint,
        "sigma_s": float(np.sqrt(max(variance, 0.0))),
        "consistency_p": _consistency(lag[known_well], covariance[np.ix_(known_well, known_well)]),
        "legs": legs,
        "why": "",
    }


def _consistency(lag: Floats, covariance: Floats) -> float | None:
    """Return the probability of such differences between legs of equal lag, by χ²; None for one leg."""
    if len(lag) < 2:
        return None
    from scipy.special import chdtrc

    difference = np.eye(len(lag))[1:] - np.eye(len(lag))[:1]
    apart = difference @ lag
    spread = difference @ covariance @ difference.T
    return float(chdtrc(len(apart), max(0.0, float(apart @ np.linalg.pinv(spread, hermitian=True) @ apart))))


def _whole_lag(spool: Spool, most: int, halo: int) -> Floats | None:
    """Return each leg's best lag (6,) in whole samples within ±most: the minimum variance of the residual."""
    lags = np.arange(-most, most + 1)
    cross, squares, sums = (np.zeros((len(lags), _LEGS)) for _ in range(3))
    measured, count = np.zeros(_LEGS), 0
    for values, _ in spool.pieces(halo, _SUBSET):
        y, m = values[halo : len(values) - halo, :_LEGS], values[halo - most : len(values) - halo + most, _LEGS:]
        size = 1 << int(np.ceil(np.log2(len(m) + len(y))))
        product = np.fft.rfft(m, size, axis=0) * np.fft.rfft(y, size, axis=0).conj()
        found = np.fft.irfft(product, size, axis=0)[: len(lags)]
        cross += found[::-1]  # m begins `most` samples early: its first entry is the longest lag
        for total, part in ((squares, m**2), (sums, m)):
            running = np.concatenate([np.zeros((1, _LEGS)), np.cumsum(part, axis=0)])
            total += (running[len(y) :] - running[: len(lags)])[::-1]
        measured += y.sum(axis=0)
        count += len(y)
    if not count:
        return None
    # Var(y - m_k), without terms that do not depend on k
    cost = (squares - 2.0 * cross) / count - (sums / count) ** 2 + 2.0 * measured / count * sums / count
    best: Floats = lags[np.argmin(cost, axis=0)].astype(np.float64)
    return best


def _refined(spool: Spool, lag: Floats, most: int, halo: int) -> Floats:
    for _ in range(_STEPS):
        step = np.clip(_step(_sums(spool, lag, halo, _SUBSET)), -1.0, 1.0)
        lag = np.clip(lag + step, -most, most)
        if np.abs(step).max() < _CONVERGED:
            break
    return lag


def _step(sums: _Sums) -> Floats:
    """Return the Gauss–Newton step, samples (6,)."""
    return -sums.slope / np.where(sums.curvature > 0.0, sums.curvature, np.inf)


def _sums(spool: Spool, lag: Floats, halo: int, most: int | None = None) -> _Sums:
    count = 0
    u, uu, r, ur = (np.zeros(_LEGS) for _ in range(4))
    for values, _ in spool.pieces(halo, most):
        delayed, slope = _delayed(values[:, _LEGS:], lag, halo)
        residual = values[halo : len(values) - halo, :_LEGS] - delayed
        count += len(slope)
        u, uu = u + slope.sum(axis=0), uu + (slope**2).sum(axis=0)
        r, ur = r + residual.sum(axis=0), ur + (slope * residual).sum(axis=0)
    curvature = uu - u * u / count
    moving = np.where(curvature > 1e-12 * uu, curvature, 0.0)
    return _Sums(count, moving, ur - u * r / count, u / count, r / count)


def _delayed(model: Floats, lag: Floats, halo: int) -> tuple[Floats, Floats]:
    """Return forces (m, 6) delayed by `lag` (6,) samples, and their slopes, N per sample, from (halo + m + halo, 6)."""
    whole = np.floor(lag).astype(int)
    count = len(model) - 2 * halo
    delayed, slope = np.zeros((_LEGS, count)), np.zeros((_LEGS, count))
    places = np.arange(-_HALF, _HALF + 1)
    values, slopes = _kernel(places[:, np.newaxis] - (lag - whole))
    columns = np.ascontiguousarray(model.T)
    for leg, column in enumerate(columns):
        for value, rise, place in zip(values[:, leg], slopes[:, leg], places.tolist(), strict=True):
            first = halo - int(whole[leg]) - place
            piece = column[first : first + count]
            delayed[leg] += value * piece
            slope[leg] += rise * piece
    return delayed.T, slope.T


def _kernel(x: Floats) -> tuple[Floats, Floats]:
    """Return a Kaiser-windowed sinc at x (k, 6) samples, and its derivative; exact for a constant."""
    step = 1e-4
    value, slope = _tapered(x), (_tapered(x + step) - _tapered(x - step)) / (2.0 * step)
    return value / value.sum(axis=0), slope - slope.mean(axis=0)


def _tapered(x: Floats) -> Floats:
    inside = np.sqrt(np.maximum(0.0, 1.0 - (x / (_HALF + 1.0)) ** 2))
    tapered: Floats = np.sinc(x) * np.i0(_TAPER * inside) / np.i0(_TAPER)
    return tapered
