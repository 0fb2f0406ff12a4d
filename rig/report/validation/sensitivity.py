"""What of the residual goes with each term of the model, how sure that is, and so how small an error would be noticed.

The model is linear in each term: were term k off by the part β, the cells would read β g_k(t) more. Each coefficient
is found by itself, by least squares over all legs, with an offset and a lag of each leg free:

    β = Σ h·r / Σ h²,   h = g less its projection on 1 and dF/dt, leg by leg

r is the residual beside the model in the motion that the legs followed, not that of the reference: a wrong model that
is fed forward moves the machine off its reference, and so would change its own coefficient.

Its variance is Newey and West's (Econometrica 55, 1987) of the scores h·(r - β h), summed over the blocks of the
window, one block of lag, and never below that of the cells' noise alone. Uncertainty of parameter files is given
apart: it moves the model, not the measurement. Terms that move the readings alike share an error: each coefficient is
what the term would be off by if it alone were.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from calibration import ReadingsUncertainty, followed
from dynamics import Body, Dynamics, Friction, Leg, Mechanism
from rig.report.streaming import Floats
from rig.report.validation.band import Samples
from rig.report.validation.blocks import FEWEST, BlockSums, Numbers

_LEGS = 6
NEGLIGIBLE = 0.2
"""Part of the cells' noise below which the RMS of a whole term says nothing, and the term is not judged."""
_ROUNDING = 1e-9
"""N RMS: readings that a term moves by less it does not move"""


def sensitivity(
    samples: Samples,
    mechanism: Mechanism,
    noise: float,
    uncertainty: ReadingsUncertainty | None = None,
    coulomb_speed: float = 0.0,
) -> dict[str, Any]:
    """The coefficients of all terms at the samples.

    Args:
        samples: with residuals, N, slopes of the modelled readings, N/s, and blocks.
        mechanism: as recorded, with the files' values.
        noise: of the cells, N.
        uncertainty: of the modelled readings, by parameter files and calibrations.
        coulomb_speed: m/s, of the recorded control.

    Returns:
        `freedom` of the sigmas (0 where there are too few blocks) and `terms`, each `term`, `leg` (of a cell's gain,
        else null), `unit`, `coefficient`, `sigma`, `parameters_sigma` (null where the motion does not move it),
        `whole_n` (N RMS of the leg that the whole of it moves most, offset and lag taken off), `whole` (what counts as
        the whole of it), for each unit of the coefficient `square_n2` and `mean_n` (6) of what it moves, with
        `square_sigma_n2` and `mean_sigma_n` by how blocks differ, and `scale` and `scale_unit`
        (what one unit of it is of the mechanism). Coefficients are parts of the term, and of gravity where it acts
        across its direction; those of the centre of mass are in m. Positive: the machine has more of it than the model.

    Raises:
        DynamicsError: the model cannot be computed along the motion.
        CalibrationError: parameters that the mechanism does not have.
    """
    found, numbers = [], np.unique(samples.blocks)
    starts = np.searchsorted(samples.blocks, numbers)
    freedom = len(numbers) - 1 if len(numbers) >= FEWEST else 0
    rows = max(1, len(samples.residuals))
    residuals = _free(samples.residuals - _off_reference(samples, mechanism, coulomb_speed), samples.slopes)
    weights = []
    for term, columns in _terms(mechanism, samples.motions, coulomb_speed):
        moved = _free(columns, samples.slopes)
        power = float(np.sum(moved**2))
        term |= {
            "whole_n": term["whole"] * float(np.sqrt(np.mean(moved**2, axis=0).max())),
            **_of_legs(columns, samples.blocks),
            "coefficient": None,
            "sigma": None,
            "parameters_sigma": None,
        }
        if freedom and power > rows * _ROUNDING**2:
            value = float(np.sum(moved * residuals)) / power
            scores = np.add.reduceat(np.sum(moved * (residuals - value * moved), axis=1), starts)
            of_blocks = np.sqrt(_newey_west(scores)) / power
            term |= {"coefficient": value, "sigma": float(max(of_blocks, noise / np.sqrt(power)))}
            weights.append((term, moved / power))
        found.append(term)
    if uncertainty and weights:
        variances = np.diag(uncertainty.combined(samples.motions, [each for _, each in weights]))
        for (term, _), variance in zip(weights, variances, strict=True):
            term["parameters_sigma"] = float(np.sqrt(max(0.0, variance)))
    return {"freedom": freedom, "terms": found}


def _of_legs(columns: Floats, blocks: Numbers) -> dict[str, list[float]]:
    """Mean square and mean of columns (m, 6) N, and how sure a residual like them would be of its own."""
    sums = BlockSums(2 * _LEGS)
    sums.add(np.concatenate([columns**2, columns], axis=1), blocks)
    sigmas = [0.0 if one is None else one.sigma for one in sums.estimates(lambda means: means)]
    return {
        "square_n2": np.mean(columns**2, axis=0).tolist(),
        "mean_n": columns.mean(axis=0).tolist(),
        "square_sigma_n2": sigmas[:_LEGS],
        "mean_sigma_n": sigmas[_LEGS:],
    }


def _off_reference(samples: Samples, mechanism: Mechanism, coulomb_speed: float) -> Floats:
    """What the model reads more (m, 6), N, as the legs moved than as their reference did."""
    model = Dynamics(mechanism, coulomb_speed)
    moved = followed(samples.motions, samples.deviations, mechanism)
    more: Floats = model.cells(moved) - model.cells(samples.motions)
    return more


def _newey_west(scores: Floats) -> float:
    """Variance of the sum of scores (blocks,) with Bartlett's weight of one lag; of white ones unbiased."""
    blocks = len(scores)
    together = max(0.0, float(scores[1:] @ scores[:-1]))
    return (float(scores @ scores) + together) * blocks / (blocks - 1)


def _free(columns: Floats, slopes: Floats) -> Floats:
    """Columns (m, 6) less what an offset and a lag of each leg make of them."""
    columns, slopes = columns - columns.mean(axis=0), slopes - slopes.mean(axis=0)
    power = np.sum(slopes**2, axis=0)
    share = np.sum(columns * slopes, axis=0) / np.where(power > 0.0, power, np.inf)
    free: Floats = columns - share * slopes
    return free


def _terms(mechanism: Mechanism, motions: Floats, coulomb_speed: float) -> list[tuple[dict[str, Any], Floats]]:
    """Each term and what one unit of its coefficient moves of the readings (m, 6), N.

    Exact, as readings are linear in all of them but the centre of mass.
    """

    def cells(changed: Mechanism) -> Floats:
        return Dynamics(changed, coulomb_speed).cells(motions)

    def more(changed: Mechanism, reference: Mechanism | None = None, part: float = 1.0) -> Floats:
        moved: Floats = (cells(changed) - (exact if reference is None else cells(reference))) / part
        return moved

    exact = cells(mechanism)
    gravity = float(np.linalg.norm(mechanism.gravity))
    weightless = replace(mechanism, gravity=np.zeros(3))
    heavier = replace(mechanism, mass=2.0 * mechanism.mass)
    stiffer = replace(mechanism, inertia=2.0 * mechanism.inertia)
    both = replace(weightless, mass=2.0 * mechanism.mass, inertia=2.0 * mechanism.inertia)
    legs = replace(weightless, legs=tuple(_doubled(leg) for leg in mechanism.legs))
    rough = replace(mechanism, legs=tuple(_rougher(leg) for leg in mechanism.legs))
    found = [
        _term("platform mass", more(heavier), scale=mechanism.mass, scale_unit="kg"),
        _term("platform inertia", more(both, weightless)),
        _term("platform rotational inertia", more(stiffer)),
        _term("leg inertia", more(legs, weightless)),
        _term("friction", more(rough)),
        _term("gravity", exact - cells(weightless), scale=gravity, scale_unit="m/s²"),
    ]
    if gravity > 0.0:
        for number, turned in zip("12", _across(mechanism.gravity), strict=True):
            tilted = replace(mechanism, gravity=mechanism.gravity + gravity * turned)
            found.append(_term(f"gravity direction {number}", more(tilted), whole=0.1))
    for axis, place in enumerate("xyz"):
        centre = np.array(mechanism.center_of_mass) + _SHIFT * np.eye(3)[axis]
        shifted = replace(mechanism, center_of_mass=centre)
        # readings are of second degree in the centre: the slope at the model's, by a shift that is small
        moved = more(shifted, part=_SHIFT)
        found.append(_term(f"centre of mass {place}", moved, unit="m", whole=0.05))
    for leg in range(_LEGS):
        column = np.zeros_like(exact)
        column[:, leg] = exact[:, leg]
        found.append(_term("cell gain", column, leg=leg + 1))
    return found


_SHIFT = 1e-5
"""m"""


def _term(
    name: str,
    columns: Floats,
    *,
    leg: int | None = None,
    unit: str = "",
    whole: float = 1.0,
    scale: float | None = None,
    scale_unit: str = "",
) -> tuple[dict[str, Any], Floats]:
    term = {"term": name, "leg": leg, "unit": unit, "whole": whole, "scale": scale, "scale_unit": scale_unit}
    return term, columns


def _doubled(leg: Leg) -> Leg:
    """A leg of twice the mass, the part of it beyond the cell with it."""
    lower, upper = (Body(2.0 * one.mass, one.center_of_mass, 2.0 * one.inertia) for one in (leg.lower, leg.upper))
    cell = replace(leg.load_cell, mass_beyond=2.0 * leg.load_cell.mass_beyond)
    return replace(leg, lower=lower, upper=upper, load_cell=cell)


def _rougher(leg: Leg) -> Leg:
    old = leg.friction
    return replace(
        leg, friction=Friction(2.0 * old.universal, 2.0 * old.prismatic, 2.0 * old.spherical, 2.0 * old.coulomb)
    )


def _across(vector: Floats) -> Floats:
    """Two unit vectors (2, 3) across a vector and each other."""
    across: Floats = np.linalg.svd(np.asarray(vector)[np.newaxis])[2][1:]
    return across
