"""What runs of a motion have to achieve, as far as its file says so: the table [validation] of a trajectory file.

[validation]
residual_rms = "0.8 N"         # what is named here goes before what the rig's configuration says
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict

from kinematics.inputs import Force, Number, Time, within


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
    confidence: Annotated[Number, within(0.5, 0.9999)] | None = None
    """Of a pass or a fail, on either side of a threshold: whatever is less sure is undecided."""

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
