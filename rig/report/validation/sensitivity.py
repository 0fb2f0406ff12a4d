"""Coefficients of the model's terms in the residual, with uncertainties: they limit the detectable errors.

The model is linear in each term: if term k were off by the fraction β, the cells would read β g_k(t) more. Each
coefficient is estimated separately, by least squares over all legs, with an offset and a lag of each leg free:

    β = Σ h·r / Σ h²,   h = g less its projection on 1 and dF/dt, leg by leg

r is the residual of the model along the measured motion of the legs, not along the reference: a wrong feed-forward
model moves the machine off its reference, which would otherwise change its own coefficient.

Its variance is Newey and West's (Econometrica 55, 1987) of the scores h·(r - β h), summed over the blocks of the
window, one block of lag, and never below that of the cells' noise alone. Uncertainty of parameter files is given
separately: it moves the model, not the measurement. Terms with similar effects share an error: each coefficient is
the term's error if all others were exact.
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
"""Fraction of the cells' noise: a term with a smaller RMS effect is not judged."""
_ROUNDING = 1e-9
"""N RMS: smaller effects of a term are rounding errors"""


def sensitivity(
    samples: Samples,
    mechanism: Mechanism,
    noise: float,
    uncertainty: ReadingsUncertainty | None = None,
    coulomb_speed: float = 0.0,
) -> dict[str, Any]:
    """Return the coefficients of all terms at the samples.

    Args:
        samples: with residuals, N, slopes of the modelled readings, N/s, and blocks.
        mechanism: as recorded, with the files' values.
        noise: of the cells, N.
        uncertainty: of the modelled readings, by parameter files and calibrations.
        coulomb_speed: m/s, of the recorded control.

    Returns:
        `freedom` of the sigmas (0 with too few blocks) and `terms`, each `term`, `leg` (of a cell's gain, else null),
        `unit`, `coefficient`, `sigma`, `parameters_sigma` (null if the motion does not excite it),
        `whole_n` (N RMS effect of the whole term on the most affected leg, without offset and lag), `whole` (the
        coefficient of the whole term), for a unit coefficient `square_n2` and `mean_n` (6) of its effect, with
        `square_sigma_n2` and `mean_sigma_n` from block differences, and `scale` and `scale_unit`
        (the mechanism's value of one unit). Coefficients are fractions of the term, and of gravity where it acts
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
    """Return mean square and mean of columns (m, 6) N, and the sampling sigmas of an equal residual."""
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
    """Return the change (m, 6), N, of the modelled readings from the reference to the measured motion."""
    model = Dynamics(mechanism, coulomb_speed)
    moved = followed(samples.motions, samples.deviations, mechanism)
    more: Floats = model.cells(moved) - model.cells(samples.motions)
    return more


def _newey_west(scores: Floats) -> float:
    """Return the variance of the sum of scores (blocks,), Bartlett weights, one lag; unbiased for white scores."""
    blocks = len(scores)
    together = max(0.0, float(scores[1:] @ scores[:-1]))
    return (float(scores @ scores) + together) * blocks / (blocks - 1)


def _free(columns: Floats, slopes: Floats) -> Floats:
    """Return columns (m, 6) without their projection on each leg's offset and lag."""
    columns, slopes = columns - columns.mean(axis=0), slopes - slopes.mean(axis=0)
    power = np.sum(slopes**2, axis=0)
    share = np.sum(columns * slopes, axis=0) / np.where(power > 0.0, power, np.inf)
    free: Floats = columns - share * slopes
    return free


def _terms(mechanism: Mechanism, motions: Floats, coulomb_speed: float) -> list[tuple[dict[str, Any], Floats]]:
    """Return each term and the change of the readings (m, 6), N, per unit of its coefficient.

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
    legs = replace(weightless, legs=tuple(_with_double_mass(leg) for leg in mechanism.legs))
    rough = replace(mechanism, legs=tuple(_with_double_friction(leg) for leg in mechanism.legs))
    found = [
        _term("platform mass", more(heavier), scale=mechanism.mass, scale_unit="kg"),
        _term("platform inertia", more(both, weightless)),
        _term("platform rotational inertia", more(stiffer)),
        _term("leg inertia", more(legs, weightless)),
        _term("friction", more(rough)),
        _term("gravity", exact - cells(weightless), scale=gravity, scale_unit="m/s²"),
    ]
    if any(leg.load_cell.location == "motor" and leg.drive.mass for leg in mechanism.legs):
        turning = replace(mechanism, legs=tuple(_with_double_drive(leg) for leg in mechanism.legs))
        found.append(_term("drive inertia", more(turning)))
    if gravity > 0.0:
        for number, turned in zip("12", _orthogonal(mechanism.gravity), strict=True):
            tilted = replace(mechanism, gravity=mechanism.gravity + gravity * turned)
            found.append(_term(f"gravity direction {number}", more(tilted), whole=0.1))
    for axis, place in enumerate("xyz"):
        centre = np.array(mechanism.center_of_mass) + _SHIFT * np.eye(3)[axis]
        shifted = replace(mechanism, center_of_mass=centre)
        # readings are quadratic in the centre: derivative at the model's value by a small shift
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


def _with_double_mass(leg: Leg) -> Leg:
    """Return a leg of twice the mass, including the part beyond the cell."""
    lower, upper = (Body(2.0 * one.mass, one.center_of_mass, 2.0 * one.inertia) for one in (leg.lower, leg.upper))
    cell = replace(leg.load_cell, mass_beyond=2.0 * leg.load_cell.mass_beyond)
    return replace(leg, lower=lower, upper=upper, load_cell=cell)


def _with_double_friction(leg: Leg) -> Leg:
    old = leg.friction
    return replace(
        leg,
        friction=Friction(2.0 * old.universal, 2.0 * old.prismatic, 2.0 * old.spherical, 2.0 * old.coulomb),
        drive=replace(leg.drive, viscous=2.0 * leg.drive.viscous, coulomb=2.0 * leg.drive.coulomb),
    )


def _with_double_drive(leg: Leg) -> Leg:
    return replace(leg, drive=leg.drive.with_mass(2.0 * leg.drive.mass))


def _orthogonal(vector: Floats) -> Floats:
    """Return two unit vectors (2, 3) orthogonal to a vector and to each other."""
    across: Floats = np.linalg.svd(np.asarray(vector)[np.newaxis])[2][1:]
    return across
