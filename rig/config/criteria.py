"""Criteria of a run's verdict: caption, units and place in the report of each threshold."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Criterion:
    """A threshold of a verdict.

    caption: English; the app translates it. place: report section with the value. unit: SI unit of the threshold.
    shown: display unit; factor: from SI to the display unit. at_least: whether it is a minimum instead of a
    maximum. times: whether it counts multiples.
    """

    caption: str
    place: str
    unit: str = ""
    shown: str = ""
    factor: float = 1.0
    at_least: bool = False
    times: bool = False


CRITERIA: dict[str, Criterion] = {
    "residual_rms": Criterion("Residual, RMS", "residuals", "N", "N"),
    "residual_noise": Criterion("… in cells' noise", "residuals", times=True),
    "peak_residual": Criterion("Residual, peak", "residuals", "N", "N"),
    "bias": Criterion("Bias", "residuals", "N", "N"),
    "lag": Criterion("Lag", "validation", "s", "ms", 1e3),
    "r_squared": Criterion("R², at least", "forces", at_least=True),
    "inside_band": Criterion("In the band, at least", "residuals", at_least=True),
    "band_noise": Criterion("Band, in cells' noise", "validation", times=True),
    "mass_error": Criterion("Platform's mass", "validation", "", "%", 1e2),
    "inertia_error": Criterion("Inertia", "validation", "", "%", 1e2),
    "gravity_error": Criterion("Gravity", "validation", "", "%", 1e2),
    "friction_error": Criterion("Friction at the cells", "validation", "", "%", 1e2),
    "center_error": Criterion("Centre of mass", "validation", "m", "mm", 1e3),
    "gain_error": Criterion("Cells' gains", "validation", "", "%", 1e2),
    "peak_force": Criterion("Peak force", "forces", "N", "N"),
    "period_error": Criterion("Period ±, 99 %", "timing", "s", "µs", 1e6),
    "position_rms": Criterion("Position, RMS", "tracking", "m", "µm", 1e6),
    "position_max": Criterion("Position, largest", "tracking", "m", "µm", 1e6),
    "rotation_rms": Criterion("Rotation, RMS", "tracking", "rad", "µrad", 1e6),
    "rotation_max": Criterion("Rotation, largest", "tracking", "rad", "µrad", 1e6),
    "overruns": Criterion("Share of cycles skipped", "timing", "", "%", 1e2),
}
"""Criteria by the names of the thresholds in a configuration."""
