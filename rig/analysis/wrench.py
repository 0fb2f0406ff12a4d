"""The external wrench on the platform, with its covariance, and whether something touches it."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from calibration import ReadingsUncertainty
from dynamics import Mechanism, wrench_from_residual
from rig.analysis.false_alarms import alarm_threshold
from rig.analysis.noise import ResidualNoise
from rig.analysis.residuals import Residuals
from rig.analysis.smoothing import Floats, Smoothing

BANDWIDTH = 20.0
"""Hz"""
PER_HOUR = 1.0
"""false alarms that are borne"""

_MODEL_RATE = 25.0
"""Hz, at which the model's uncertainty is computed anew"""


@dataclass(frozen=True, slots=True, eq=False)
class ExternalWrench:
    """The wrench on the platform over time: n samples, oldest first.

    t (n,) s. wrench (n, 6): [force N; moment N m] at the platform's origin, platform axes. covariance (n, 6, 6) of it.
    distance (n,): squared Mahalanobis distance from nothing, χ² with six degrees of freedom; contact (n,): whether it
    is above the `threshold`, which noise alone passes `per_hour` times an hour.
    """

    t: Floats
    wrench: Floats
    covariance: Floats
    distance: Floats
    threshold: float
    per_hour: float

    def __len__(self) -> int:
        return len(self.t)

    @property
    def sigma(self) -> Floats:
        """Standard uncertainty (n, 6) of each component."""
        found: Floats = np.sqrt(np.einsum("nii->ni", self.covariance))
        return found

    @property
    def contact(self) -> npt.NDArray[np.bool_]:
        """Whether something touches the platform (n,), at the stated rate of false alarms."""
        touched: npt.NDArray[np.bool_] = self.distance > self.threshold
        return touched

    def during(self, mask: npt.NDArray[np.bool_]) -> "ExternalWrench":
        """The samples of a mask (n,)."""
        return replace(
            self,
            t=self.t[mask],
            wrench=self.wrench[mask],
            covariance=self.covariance[mask],
            distance=self.distance[mask],
        )


@dataclass(frozen=True, slots=True)
class Contact:
    """A time, s, during which something touches the platform.

    `peak` is the time of the greatest distance within; wrench (6,) and sigma (6,) are of then.
    """

    begin: float
    end: float
    peak: float
    wrench: tuple[float, ...]
    sigma: tuple[float, ...]
    distance: float


class WrenchEstimator:
    """Turns smoothed residuals into wrenches, w = W (r − bias), covariance W Σ Wᵀ, see `dynamics.wrench_from_residual`.

    Args:
        mechanism: of the rig.
        smoothing: that the residuals went through.
        noise: of those residuals.
        per_hour: how many false alarms are borne.
        model: how uncertain what the residuals are beyond is; with noise that was learned it is in that already.

    Raises InputError for a rate of false alarms that cannot be, see `alarm_threshold`.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        smoothing: Smoothing,
        noise: ResidualNoise,
        per_hour: float = PER_HOUR,
        model: ReadingsUncertainty | None = None,
    ) -> None:
        self.noise = noise
        self.per_hour = per_hour
        self.threshold = alarm_threshold(
            per_hour, smoothing.rate, noise.correlation, noise.samples, apart=smoothing.apart
        )
        self._geometry = mechanism.geometry
        self._bias_share = 0.0 if np.isinf(noise.samples) else 1.0 / noise.samples
        self._model = model if np.isinf(noise.samples) else None
        self._step = max(1, round(smoothing.rate / _MODEL_RATE))

    def estimate(self, residuals: Residuals) -> ExternalWrench:
        """The wrenches of residuals (n). The bias's own uncertainty is in the covariance, and the model's."""
        matrices = wrench_from_residual(self._geometry, residuals.motion[:, :7])
        beyond = residuals.residual - self.noise.mean
        model = self._of_model(residuals)
        whole = self.noise.covariance * (1.0 + self._bias_share) + (0.0 if model is None else model)
        covariance = matrices @ whole @ matrices.transpose(0, 2, 1)
        wrench = np.einsum("nij,nj->ni", matrices, beyond)
        distance = self.noise.distance(residuals.residual, model)
        return ExternalWrench(residuals.t, wrench, covariance, distance, self.threshold, self.per_hour)

    def _of_model(self, residuals: Residuals) -> Floats | None:
        """Covariance (n, 6, 6) N² of the model, straight between samples: it changes no faster than the motion."""
        if not self._model or not len(residuals):
            return None
        places = np.unique(np.append(np.arange(0, len(residuals), self._step), len(residuals) - 1))
        known = self._model.covariance(residuals.motion[places])
        wanted = np.arange(len(residuals))
        after = np.clip(np.searchsorted(places, wanted, side="right"), 1, max(1, len(places) - 1))
        if len(places) == 1:
            return known
        part = ((wanted - places[after - 1]) / (places[after] - places[after - 1]))[:, np.newaxis, np.newaxis]
        found: Floats = known[after - 1] * (1.0 - part) + known[after] * part
        return found


class ContactLog:
    """Finds the contacts in wrenches that come piece by piece, oldest first; `found` are those so far.

    Two that are nearer than what the smoothing runs together are one.
    """

    def __init__(self, smoothing: Smoothing) -> None:
        self.found: list[Contact] = []
        self._apart = smoothing.apart

    def add(self, piece: ExternalWrench) -> None:
        """Take in the next piece."""
        touched = piece.during(piece.contact)
        if not len(touched):
            return
        sigma = touched.sigma
        for places in np.split(np.arange(len(touched)), np.flatnonzero(np.diff(touched.t) > self._apart) + 1):
            peak = int(places[np.argmax(touched.distance[places])])
            new = Contact(
                begin=float(touched.t[places[0]]),
                end=float(touched.t[places[-1]]),
                peak=float(touched.t[peak]),
                wrench=tuple(touched.wrench[peak].tolist()),
                sigma=tuple(sigma[peak].tolist()),
                distance=float(touched.distance[peak]),
            )
            if self.found and new.begin - self.found[-1].end <= self._apart:
                new = _joined(self.found.pop(), new)
            self.found.append(new)


def _joined(one: Contact, later: Contact) -> Contact:
    greater = max(one, later, key=lambda contact: contact.distance)
    return Contact(one.begin, later.end, greater.peak, greater.wrench, greater.sigma, greater.distance)
