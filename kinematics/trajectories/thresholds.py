"""What runs of a motion have to achieve, as far as its file says so: the table [validation] of a trajectory file.

[validation]
residual_rms = "0.8 N"         # what is named here goes before what the rig's configuration says
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict

from kinematics.inputs import Angle, Force, Length, Number, Time, within


class Thresholds(BaseModel):
    """Thresholds of a verdict on a run, SI; each is judged of all legs by the worst one. None where it is not given."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, defer_build=True)

    residual_rms: Annotated[Force, within(1e-6, 1e5, "N")] | None = None
    """Greatest root mean square of the residual, N."""
    residual_noise: Annotated[Number, within(0.1, 1e4)] | None = None
    """The same in multiples of the rig's `load_cells.noise`."""
    bias: Annotated[Force, within(1e-6, 1e5, "N")] | None = None
    """Greatest mean of the residual, either way, N."""
    lag: Annotated[Time, within(1e-6, 0.1, "s")] | None = None
    """Greatest lag between model and measurement, either way, s."""
    r_squared: Annotated[Number, within(0.0, 1.0)] | None = None
    """Least share of the measured forces' variance that the model explains."""
    inside_band: Annotated[Number, within(0.0, 1.0)] | None = None
    """Least fraction of the samples inside the uncertainty band of two sigmas."""
    band_noise: Annotated[Number, within(1.0, 1e4)] | None = None
    """Greatest residual in any band of frequencies, in multiples of what the cells' noise has in it."""
    mass_error: Annotated[Number, within(1e-4, 10.0)] | None = None
    """Greatest error of the platform's mass that the residual shows, part of it."""
    inertia_error: Annotated[Number, within(1e-4, 10.0)] | None = None
    """The same of the inertia of platform and legs, and of the platform's about its centre of mass alone."""
    gravity_error: Annotated[Number, within(1e-4, 10.0)] | None = None
    """The same of gravity, part of it, and of its direction, rad."""
    friction_error: Annotated[Number, within(1e-4, 10.0)] | None = None
    """The same of what friction reaches the cells, part of it."""
    center_error: Annotated[Length, within(1e-6, 1.0, "m")] | None = None
    """The same of the platform's centre of mass, each axis, m."""
    gain_error: Annotated[Number, within(1e-4, 10.0)] | None = None
    """The same of each load cell's gain, part of it."""
    position_rms: Annotated[Length, within(1e-9, 10.0, "m")] | None = None
    """Greatest root mean square of the distance between measured and commanded position of the platform, m."""
    position_max: Annotated[Length, within(1e-9, 10.0, "m")] | None = None
    """Greatest such distance, m."""
    rotation_rms: Annotated[Angle, within(1e-9, 4.0, "rad")] | None = None
    """Greatest root mean square of the angle between measured and commanded attitude, rad."""
    rotation_max: Annotated[Angle, within(1e-9, 4.0, "rad")] | None = None
    """Greatest such angle, rad."""
    peak_force: Annotated[Force, within(1e-3, 1e7, "N")] | None = None
    """Greatest measured force, either way, N."""
    peak_residual: Annotated[Force, within(1e-6, 1e7, "N")] | None = None
    """Greatest residual, either way, N."""
    period_error: Annotated[Time, within(1e-7, 1.0, "s")] | None = None
    """By how much, s, 99 of 100 cycles may at most be longer or shorter than they should."""
    overruns: Annotated[Number, within(0.0, 1.0)] | None = None
    """Greatest fraction of the cycles that may be skipped."""
    confidence: Annotated[Number, within(0.5, 0.9999)] | None = None
    """Of a pass or a fail, on either side of a threshold that an estimate is held against: whatever is less sure is
    undecided. What is counted over all rows, tracking, peaks and timing, is sure."""

    @property
    def named(self) -> dict[str, float]:
        """What is given, by name, the confidence among it."""
        named: dict[str, float] = self.model_dump(exclude_none=True)
        return named

    @property
    def text(self) -> str:
        """The same as a JSON object, for a recording; empty where nothing is given."""
        return self.model_dump_json(exclude_none=True) if self.named else ""


NO_THRESHOLDS = Thresholds()
"""Of a motion whose file wants nothing of its runs."""
