"""Published models of the leg forces, for comparison with the exact model; never used in control.

`dasgupta-1998`, `pedrammehr-2012` and `massless` follow their papers as printed, including errors that change the
result; each module lists these. None of them has Coulomb friction: the mechanism's is ignored, unless `variant_forces`
is asked for the same friction in every model. `dasgupta-1998-mended` and `pedrammehr-2012-mended` count every inertia
once: the first lacks only the legs' spin and the direction of the universal joint's moment, the second equals `exact`.
`without-spin` and `moment-along-leg` lack one of these two each. None of them has drives: what these take of the
motors' forces is the same in all models, and is added.

Error of the leg forces against `exact`: RMS of the difference over all legs and samples, relative to the RMS of the
exact forces, and the largest difference. Manipulator of the 1998 paper (mechanism `dasgupta-1998`, z of r_u0 =
+0.08 m), its paths I and II (linear-parabolic, eqs. 39 and 40) at all 61 samples; samples on the edges of the
angles' blends (the 11th and the 51st) have the acceleration of the piece between them, which is zero:

    path              dasgupta-1998          pedrammehr-2012
    I  (6 s)          1.92 %   27.7 N        0.07 %    1.2 N
    II (0.6 s)        5.73 %  103.9 N        5.62 %  118.5 N

With the 2012 paper's r_u0 (z = −0.08 m) the errors are 2.32 % and 0.08 %, 5.78 % and 5.70 %.
"""

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from dynamics.arguments import batch
from dynamics.errors import DynamicsError
from dynamics.external import friction_signs
from dynamics.mechanism import NO_BODY, LoadCell, Mechanism, without_friction
from dynamics.model import Dynamics
from dynamics.papers.dasgupta import Mend1998, dasgupta_1998, massless
from dynamics.papers.pedrammehr import pedrammehr_2012
from dynamics.papers.reactions import LegReactions
from dynamics.regressor import Regressor, drive_parameters
from kinematics import Array, leg_kinematics

MODELS = ("exact", "dasgupta-1998", "pedrammehr-2012", "massless")
"""Names of the models; the first is the default, and the only one for control."""

MENDED = ("dasgupta-1998-mended", "pedrammehr-2012-mended", "without-spin", "moment-along-leg")
"""Names of the published models with every inertia counted once; and those of 1998 mended but for one slip each."""
FrictionChoice = Literal["printed", "same", "none"]
"""Friction of a model of `variant_forces`: the paper's own, the mechanism's whole friction in every model, or none."""
FRICTION_CHOICES: tuple[FrictionChoice, ...] = get_args(FrictionChoice)

_PUBLISHED: dict[str, Callable[[Mechanism, Array, Array], LegReactions]] = {
    "dasgupta-1998": dasgupta_1998,
    "pedrammehr-2012": pedrammehr_2012,
    "massless": massless,
    "dasgupta-1998-mended": partial(dasgupta_1998, mends=(Mend1998.INERTIA,)),
    "pedrammehr-2012-mended": partial(pedrammehr_2012, mended=True),
    "without-spin": partial(dasgupta_1998, mends=(Mend1998.INERTIA, Mend1998.MOMENT)),
    "moment-along-leg": partial(dasgupta_1998, mends=(Mend1998.INERTIA, Mend1998.SPIN)),
}
_CHUNK = 2048  # samples per chunk: limits memory to some 20 MB


def variant_forces(
    model: str,
    mechanism: Mechanism,
    motions: npt.ArrayLike,
    wrenches: npt.ArrayLike | None = None,
    *,
    friction: FrictionChoice = "printed",
) -> Array:
    """Compute actuator forces (n, 6) N, pushing positive, of motions (n, 19) by `model`, one of MODELS or MENDED.

    wrenches: (n, 6), or one (6,) for all, N and N m at the platform origin in platform axes; None for none.
    friction: "printed", what the model's paper has: no Coulomb friction, in `massless` none at all; "same", all of the
        mechanism's in every model, joints turning as that model has them; "none".
    Raises DynamicsError for an unknown model or friction, a wrong shape or a number that is not finite,
    SingularityError if the leg forces are not determined.
    """
    samples, loads = _checked(model, motions, wrenches, MODELS + MENDED)
    model, mechanism = _with_chosen(friction, model, mechanism)
    if model == "exact":
        return Dynamics(mechanism).inverse(samples, loads).forces
    forces = _by_chunks(model, mechanism, samples, loads, lambda reactions: reactions.forces)
    if friction == "same":
        forces += _coulomb(mechanism, samples)
    return forces + _drives(mechanism, samples)


def _with_chosen(friction: FrictionChoice, model: str, mechanism: Mechanism) -> tuple[str, Mechanism]:
    """Return model and mechanism with the chosen friction, but for the Coulomb friction of published models."""
    if friction not in FRICTION_CHOICES:
        raise DynamicsError(f"friction: {friction!r}, must be one of {', '.join(FRICTION_CHOICES)}")
    if friction == "none":
        return model, without_friction(mechanism)
    if model == "massless" and friction == "same":
        legs = tuple(
            replace(leg, lower=NO_BODY, upper=NO_BODY, load_cell=LoadCell(leg.load_cell.location))
            for leg in mechanism.legs
        )
        return "exact", replace(mechanism, legs=legs)
    return model, mechanism


def mended_1998(mechanism: Mechanism, motions: npt.ArrayLike, mends: Collection[Mend1998]) -> Array:
    """Compute actuator forces (n, 6) N of motions (n, 19) by `dasgupta-1998` with corrections, without a wrench.

    Errors as of `variant_forces`.
    """
    return dasgupta_1998(mechanism, *batch(motions, None), mends).forces


def variant_cells(
    model: str,
    mechanism: Mechanism,
    motions: npt.ArrayLike,
    wrenches: npt.ArrayLike | None = None,
    *,
    friction: FrictionChoice = "printed",
    coulomb_speed: float = 0.0,
) -> Array:
    """Predict load-cell readings (n, 6) N, compression positive, by `model`, one of MODELS.

    As `Dynamics.cells` for the exact model: the reactions of the model itself give its cell readings.
    A cell at the rod's end or at the base does not see the prismatic joint's friction. A cell at the actuator and a
    force by the motor do: as printed, their prediction lacks the Coulomb friction of all published models, and viscous
    friction in `massless`. coulomb_speed: m/s, over which Coulomb friction is smoothed, as in `Dynamics`.

    Other arguments, and errors, as of `variant_forces`.
    """
    samples, loads = _checked(model, motions, wrenches, MODELS)
    model, mechanism = _with_chosen(friction, model, mechanism)
    if model == "exact":
        return Dynamics(mechanism, coulomb_speed=coulomb_speed).cells(samples, loads)
    readings = _by_chunks(model, mechanism, samples, loads, lambda reactions: reactions.cells(mechanism))
    locations = np.array([leg.load_cell.location for leg in mechanism.legs])
    if friction == "same":
        readings += np.isin(locations, ("actuator", "motor")) * _coulomb(mechanism, samples, coulomb_speed)
    readings += (locations == "motor") * _drives(mechanism, samples, coulomb_speed)
    return readings


def _coulomb(mechanism: Mechanism, motions: Array, coulomb_speed: float = 0.0) -> Array:
    """Coulomb friction of the prismatic joints (n, 6) N."""
    limits = np.array([leg.friction.coulomb for leg in mechanism.legs])
    return limits * friction_signs(leg_kinematics(mechanism.geometry, motions).velocity, coulomb_speed)


def _drives(mechanism: Mechanism, motions: Array, coulomb_speed: float = 0.0) -> Array:
    """What the drives take of the motors' forces (n, 6) N: their inertia and friction."""
    columns: Array = Regressor(mechanism, coulomb_speed=coulomb_speed).drives(motions)
    return np.asarray(np.einsum("nik,ik->ni", columns, drive_parameters(mechanism)))


def _checked(
    model: str, motions: npt.ArrayLike, wrenches: npt.ArrayLike | None, known: tuple[str, ...]
) -> tuple[Array, Array]:
    if model not in known:
        raise DynamicsError(f"model: {model!r}, must be one of {', '.join(known)}")
    return batch(motions, wrenches)


def _by_chunks(
    model: str, mechanism: Mechanism, motions: Array, wrenches: Array, wanted: Callable[[LegReactions], Array]
) -> Array:
    """Compute a result (n, 6) from a published model's reactions, chunk by chunk."""
    values = np.empty((len(motions), 6))
    for first in range(0, len(motions), _CHUNK):
        chunk = slice(first, first + _CHUNK)
        values[chunk] = wanted(_PUBLISHED[model](mechanism, motions[chunk], wrenches[chunk]))
    return values
