"""Section [validation] of a rig's configuration: what a model has to achieve for a report's verdict to be "pass"."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated

from pydantic import ValidationError

from kinematics import Force, Time
from rig.config.sections import Number, Section, within
from rig.errors import ConfigError


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


def parse_thresholds(texts: Mapping[str, str]) -> Validation:
    """Thresholds as a person types them, numbers in SI or with their unit; those that are empty are not given.

    Raises:
        ConfigError: unknown names, no numbers, or values out of bounds: all of them at once.
    """
    values: dict[str, float | str] = {}
    for name, text in texts.items():
        if text.strip():
            values[name] = text.strip()
            with suppress(ValueError):
                values[name] = float(text)
    try:
        return Validation.model_validate(values)
    except ValidationError as error:
        faults = [f"{_said(item['loc'])}: {_plain(item['msg'])}" for item in error.errors(include_url=False)]
        raise ConfigError("thresholds cannot be used:", faults) from None


def _said(place: tuple[int | str, ...]) -> str:
    return ".".join(map(str, place)) or "thresholds"


def _plain(message: str) -> str:
    return message.removeprefix("Value error, ")
