"""The samples of a recording that a payload is weighed with: poses at rest, and the platform in motion."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibration import CellZero, PayloadSamples
from dynamics import Mechanism, payload_wrenches, residual_from_wrench
from rig.analysis.residuals import Residuals
from rig.analysis.resting import LEAST_REST, STILL, runs_of
from rig.analysis.smoothing import Floats, Smoothing

BANDWIDTH = 10.0
"""Hz; a platform's motions are slower"""

_CELLS = 6


@dataclass(frozen=True, slots=True, eq=False)
class Weighing:
    """Samples at rest, one a pose, and in motion; `poses` and `moving` are their numbers."""

    at_rest: PayloadSamples
    in_motion: PayloadSamples

    @property
    def everything(self) -> PayloadSamples:
        """All of them."""
        both = (self.at_rest, self.in_motion)
        return PayloadSamples(
            np.concatenate([part.residual for part in both]),
            np.concatenate([part.design for part in both]),
            np.concatenate([part.slopes for part in both]),
            np.concatenate([part.variance for part in both]),
        )


def weighing_of(pieces: Iterable[Residuals], mechanism: Mechanism, smoothing: Smoothing, noise: float) -> Weighing:
    """What smoothed residuals tell of a payload.

    At rest (below 1 mm/s and 5 mrad/s for 0.3 s) the mean of each stretch is one sample. In motion every so many are
    taken that their noise is independent, and the model of the payload goes through the same low-pass as the cells; the
    slopes of the forces go along, so that lags can be estimated.
    A cell at the actuator reads the Coulomb friction of a joint that rests, wherever between its bounds that is: there
    its variance F_c²/3 is added.

    noise: standard deviation of a cell's reading, N.
    """
    rests: list[tuple[Floats, Floats, float]] = []
    moving: list[tuple[Floats, Floats, Floats]] = []
    friction = max(
        (leg.friction.coulomb for leg in mechanism.legs if leg.load_cell.location == "actuator"), default=0.0
    )
    least = max(2, round(LEAST_REST * smoothing.rate))
    for piece in pieces:
        still: npt.NDArray[np.bool_] = np.asarray((np.abs(piece.motion[:, 7:13]) < STILL).all(axis=1))
        for places in runs_of(still):
            if len(places) >= least:
                motion = piece.motion[places[len(places) // 2]].copy()
                motion[7:] = 0.0
                mean = piece.residual[places].mean(axis=0)
                rests.append(
                    (mean, _designs(mechanism, motion[np.newaxis])[0], noise**2 / len(places) + friction**2 / 3.0)
                )
        for places in runs_of(~still):
            if len(places) <= 2 * smoothing.half:
                continue
            design = smoothing(_designs(mechanism, piece.motion[places]))
            inner = places[smoothing.half : len(places) - smoothing.half : smoothing.settled]
            moving.append((piece.residual[inner], design[:: smoothing.settled], piece.slopes[inner]))
    return Weighing(
        PayloadSamples(
            _joined([rest[0][np.newaxis] for rest in rests], _CELLS),
            _joined([rest[1][np.newaxis] for rest in rests], _CELLS, 10),
            np.zeros((len(rests), _CELLS, 2)),
            np.array([rest[2] for rest in rests]),
        ),
        PayloadSamples(
            _joined([part[0] for part in moving], _CELLS),
            _joined([part[1] for part in moving], _CELLS, 10),
            _joined([part[2] for part in moving], _CELLS, 2),
            np.full(sum(len(part[0]) for part in moving), noise**2 * smoothing.noise_gain),
        ),
    )


def zero_of(pieces: Iterable[Residuals], smoothing: Smoothing, noise: float) -> CellZero | None:
    """What the cells read beyond the model in smoothed residuals without the payload; None where there are none.

    Their scatter counts where it is more than the noise: the model of the bare platform is not the same everywhere.
    """
    values = [piece.residual[:: smoothing.settled] for piece in pieces]
    everything = np.concatenate(values) if values else np.empty((0, _CELLS))
    if len(everything) <= _CELLS:
        return None
    white = noise**2 * smoothing.noise_gain
    spread = np.maximum(everything.var(axis=0, ddof=1) - white, 0.0)
    return CellZero(everything.mean(axis=0), np.diag(white / len(everything) + spread))


def _designs(mechanism: Mechanism, motions: Floats) -> Floats:
    to_cells = residual_from_wrench(mechanism.geometry, motions[:, :7])
    designs: Floats = to_cells @ payload_wrenches(motions, mechanism.gravity)
    return designs


def _joined(parts: list[Floats], *shape: int) -> Floats:
    return np.concatenate(parts) if parts else np.empty((0, *shape))
