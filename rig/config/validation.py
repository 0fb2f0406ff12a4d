"""Section [validation] of a rig's configuration: what a model has to achieve for a report's verdict to be "pass"."""

from typing import Annotated

from kinematics import Force, Time
from rig.config.sections import Number, Section, within


class Validation(Section):
    """Thresholds; each is judged of all legs by the worst one. What is not given is not judged, and none is needed."""

    residual_rms: Annotated[Force, within(1e-6, 1e5, "N")] | None = None
    """Greatest root mean square of the residual, N."""
    residual_noise: Annotated[Number, within(0.1, 1e4)] | None = None
    """The same in multiples of `load_cells.noise`."""
    bias: Annotated[Force, within(1e-6, 1e5, "N")] | None = None
    """Greatest mean of the residual, either way, N."""
    lag: Annotated[Time, within(1e-6, 0.1, "s")] | None = None
    """Greatest lag between model and measurement, either way, s."""
    r_squared: Annotated[Number, within(0.0, 1.0)] | None = None
    """Least share of the measured forces' variance that the model explains."""
    inside_band: Annotated[Number, within(0.0, 1.0)] | None = None
    """Least fraction of the samples inside the uncertainty band of two sigmas."""
    confidence: Annotated[Number, within(0.5, 0.9999)] = 0.95
    """Of a pass or a fail, on either side of a threshold: whatever is less sure is undecided."""

    @property
    def thresholds(self) -> dict[str, float]:
        """What was given, SI, by name."""
        named = self.model_dump(exclude={"confidence"})
        return {name: value for name, value in named.items() if value is not None}
