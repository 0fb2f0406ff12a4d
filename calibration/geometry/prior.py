"""What is known of the geometry before anything is measured: the drawing, its tolerances, and the tracker's scale.

Joints and offsets lie where the drawing has them, d ~ N(0, σ²) along each axis, in frames that are agreed on by the
gauge (`calibration.geometry.frames`). In measured frames that costs min over A of Σ ‖b_i − A b⁰_i‖²/σ², which no rigid
motion of all joints changes: its gradient is 2 (b − A b⁰)/σ², its curvature that of the joints' changes that are no
rigid motion.
"""

from dataclasses import dataclass, replace

import numpy as np

from calibration.geometry.frames import Gauge, into_mechanism, placed, rigid_tangents
from calibration.geometry.model import LEG, SCALE, UNKNOWNS
from kinematics import Array


@dataclass(frozen=True, slots=True)
class GeometryPrior:
    """Standard deviations of what is known beforehand.

    joints: m, of each coordinate of a joint's place about the drawing; 2 mm is what welded and bolted frames of a metre
        keep to by ISO 2768-1, class c. offsets: m, of each length offset about the nominal one.
    scale: of the tracker's scale about the encoders' metre. Laser trackers keep to 15 µm + 6 µm/m (Leica AT500,
        greatest permissible error by ISO 10360-10); steel that is 1.5 K off is 18e-6 longer.
    """

    joints: float = 2e-3
    offsets: float = 2e-3
    scale: float = 20e-6

    def faults(self) -> list[str]:
        """What cannot be."""
        return [
            f"{name}: {value:g}{unit}, must be finite and above 0"
            for name, value, unit in (
                ("tolerance of joints", self.joints, " m"),
                ("tolerance of length offsets", self.offsets, " m"),
                ("tracker's scale sigma", self.scale, ""),
            )
            if not 0.0 < value < np.inf
        ]

    def wider(self, tolerances: float, scale: float) -> "GeometryPrior":
        """The same with the tolerances and the scale's sigma times these."""
        return replace(
            self, joints=self.joints * tolerances, offsets=self.offsets * tolerances, scale=self.scale * scale
        )

    @property
    def variances(self) -> Array:
        """(42,), m²: of all parameters."""
        return np.tile(np.repeat([self.joints**2, self.offsets**2], [LEG - 1, 1]), 6)


@dataclass(frozen=True, slots=True, eq=False)
class UnknownsPrior:
    """A prior about the nominal unknowns (6, 7) of a gauge, as the fit and its covariance take it.

    targets_scale: the tracker's scale as known targets tell it, and its standard deviation.
    """

    prior: GeometryPrior
    nominal: Array
    gauge: Gauge
    targets_scale: tuple[float, float] | None = None

    @property
    def targets_precision(self) -> float:
        """Of the scale by known targets; 0 without."""
        return 0.0 if self.targets_scale is None else self.targets_scale[1] ** -2

    @property
    def scale_precision(self) -> float:
        """Of the scale, by all but the poses."""
        return float(self.prior.scale**-2 + self.targets_precision)

    def terms(self, x: Array, scale: float) -> tuple[float, Array, Array]:
        """Cost, matrix (43, 43) and right side (43,) at unknowns (6, 7) in measured frames and a scale."""
        base, platform = into_mechanism(x, self.nominal, self.gauge)
        drawn = placed(self.nominal, base.inverse, platform.inverse)
        per = 1.0 / self.prior.variances
        off = (x - drawn).ravel()
        matrix, right = np.zeros((UNKNOWNS + 1, UNKNOWNS + 1)), np.zeros(UNKNOWNS + 1)
        rigid = rigid_tangents(drawn, self.gauge)
        matrix[:SCALE, :SCALE] = np.diag(per) - (rigid * per[:, None]) @ rigid.T
        matrix[SCALE, SCALE] = self.prior.scale**-2
        right[:SCALE], right[SCALE] = per * off, scale * self.prior.scale**-2
        cost = float(off @ (per * off) + scale * right[SCALE])
        if self.targets_scale is not None:
            value, precision = self.targets_scale[0], self.targets_precision
            matrix[SCALE, SCALE] += precision
            right[SCALE] += precision * (scale - value)
            cost += precision * (scale - value) ** 2
        return cost, matrix, right
