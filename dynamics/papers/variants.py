"""Published models of the leg forces beside the exact one, to be compared with it; never used in control.

`dasgupta-1998`, `pedrammehr-2012` and `massless` are written as their papers print them, errors included where they
change the answer; each module says which. None of them has Coulomb friction: a mechanism's is left out.

Error of the leg forces against `exact`: RMS of the difference over all legs and samples, relative to the RMS of the
exact forces over the same, and the largest difference. Manipulator of the 1998 paper (mechanism `dasgupta-1998`, z of
r_u0 = +0.08 m), its paths I and II (linear-parabolic, eqs. 39 and 40) at all 61 samples, those on the edges of the
angles' blends (the 11th and the 51st) with the acceleration of the piece between them, which is zero:

    path              dasgupta-1998          pedrammehr-2012
    I  (6 s)          1.92 %   27.7 N        0.07 %    1.2 N
    II (0.6 s)        5.73 %  103.9 N        5.62 %  118.5 N

With the 2012 paper's r_u0 (z = −0.08 m) they are 2.32 % and 0.08 %, 5.78 % and 5.70 %.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from dynamics.arguments import batch
from dynamics.errors import DynamicsError
from dynamics.mechanism import Mechanism
from dynamics.model import Dynamics
from dynamics.papers.dasgupta import dasgupta_1998, massless
from dynamics.papers.pedrammehr import pedrammehr_2012
from dynamics.papers.reactions import LegReactions
from kinematics import Array

MODELS = ("exact", "dasgupta-1998", "pedrammehr-2012", "massless")
"""Names of the models; the first is the default, and the only one for control."""

_PUBLISHED: dict[str, Callable[[Mechanism, Array, Array], LegReactions]] = {
    "dasgupta-1998": dasgupta_1998,
    "pedrammehr-2012": pedrammehr_2012,
    "massless": massless,
}
_CHUNK = 2048  # samples at a time: some 20 MB of vectors, however long the motion


def variant_forces(
    model: str, mechanism: Mechanism, motions: npt.ArrayLike, wrenches: npt.ArrayLike | None = None
) -> Array:
    """Actuator forces (n, 6) N, pushing positive, that `model`, one of MODELS, gives for motions (n, 19).

    wrenches: (n, 6), or one (6,) for all, N and N m at the platform origin in platform axes; None is none.
    Raises DynamicsError for an unknown model, a wrong shape or a number that is not finite, SingularityError where the
    leg forces are not determined.
    """
    samples, loads = _checked(model, motions, wrenches)
    if model == "exact":
        return Dynamics(mechanism).inverse(samples, loads).forces
    return _by_chunks(model, mechanism, samples, loads, lambda reactions: reactions.forces)


def variant_cells(
    model: str, mechanism: Mechanism, motions: npt.ArrayLike, wrenches: npt.ArrayLike | None = None
) -> Array:
    """Readings (n, 6) N, compression positive, that `model`, one of MODELS, predicts of the load cells.

    As `Dynamics.cells` does of the exact model: every model is carried to the cells by its own reactions.
    A cell at the rod's end or at the base reads nothing of the prismatic joint's friction: whether a model has it makes
    no difference there. A cell at the actuator reads it, and there what a model leaves out is missing: Coulomb friction
    in all the published ones, viscous friction in `massless` too.

    Arguments and errors as of `variant_forces`.
    """
    samples, loads = _checked(model, motions, wrenches)
    if model == "exact":
        return Dynamics(mechanism).cells(samples, loads)
    return _by_chunks(model, mechanism, samples, loads, lambda reactions: reactions.cells(mechanism))


def _checked(model: str, motions: npt.ArrayLike, wrenches: npt.ArrayLike | None) -> tuple[Array, Array]:
    if model not in MODELS:
        raise DynamicsError(f"model: {model!r}, must be one of {', '.join(MODELS)}")
    return batch(motions, wrenches)


def _by_chunks(
    model: str, mechanism: Mechanism, motions: Array, wrenches: Array, wanted: Callable[[LegReactions], Array]
) -> Array:
    """What is wanted, (n, 6), of a published model's reactions."""
    values = np.empty((len(motions), 6))
    for first in range(0, len(motions), _CHUNK):
        chunk = slice(first, first + _CHUNK)
        values[chunk] = wanted(_PUBLISHED[model](mechanism, motions[chunk], wrenches[chunk]))
    return values
