"""Section [validation] of a rig's configuration: what a model has to achieve for a report's verdict to be "pass".

A motion's file may have the same table: what it names goes before what the rig's says.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, TypeVar

from pydantic import ValidationError

from kinematics import Number, Thresholds, read_number, within
from rig.errors import ConfigError

RIG, MOTION, GIVEN = "rig", "motion", "given"
"""Whose a threshold is: the configuration's, that of the motion's own file, or of neither."""
PROPOSED: Mapping[str, float] = {
    "residual_noise": 1.3,
    "band_noise": 2.0,
    "bias": 0.5,
    "lag": 1e-3,
    "mass_error": 0.02,
    "inertia_error": 0.1,
    "gravity_error": 0.02,
    "friction_error": 0.2,
    "center_error": 2e-3,
    "gain_error": 0.005,
}
"""Thresholds, SI: a right model of a laboratory hexapod keeps them in a motion that tells, and a wrong one does not.
The shipped configuration and the guide have the same."""
_Kind = TypeVar("_Kind", bound=Thresholds)


class Validation(Thresholds):
    """A rig's thresholds. What is not given is not judged, and none is needed."""

    confidence: Annotated[Number, within(0.5, 0.9999)] = 0.95
    """Of a pass or a fail, on either side of a threshold: whatever is less sure is undecided."""

    @property
    def thresholds(self) -> dict[str, float]:
        """What was given, SI, by name, without the confidence."""
        return {name: value for name, value in self.named.items() if name != "confidence"}

    def under(self, own: Thresholds) -> "Validation":
        """What a run is judged by: these, but where its motion's `own` say otherwise."""
        return self.model_copy(update=own.named)


def own_thresholds(wanted: Validation, rig: Validation, before: Thresholds) -> Thresholds:
    """What a motion's file has to say so that its runs are judged by `wanted`, on a rig that says `rig`.

    That is what differs from the rig's, and what the motion's file named `before`.

    Raises:
        ConfigError: something is not wanted that the rig's configuration asks of every motion.
    """
    values: dict[str, float] = {}
    faults = []
    for name in Validation.model_fields:
        value, general = getattr(wanted, name), getattr(rig, name)
        if value is None and general is not None:
            faults.append(f"{name}: the rig's configuration asks {general:g} of every motion, which can only change it")
        elif value is not None and (value != general or name in before.named):
            values[name] = value
    if faults:
        raise ConfigError("thresholds cannot be the motion's:", faults)
    return Thresholds.model_validate(values)


def parse_thresholds(texts: Mapping[str, str], kind: type[_Kind]) -> _Kind:
    """Thresholds as a person types them, numbers in SI or with their unit; those that are empty are not given.

    Raises:
        ConfigError: unknown names, no numbers, or values out of bounds: all of them at once.
    """
    values: dict[str, float | str] = {}
    for name, text in texts.items():
        if text.strip():
            values[name] = text.strip()
            with suppress(ValueError):
                values[name] = read_number(text)
    return checked_thresholds(values, kind)


def checked_thresholds(values: Mapping[str, float | str], kind: type[_Kind]) -> _Kind:
    """Thresholds by name, numbers in SI or texts with their unit. Raises ConfigError as `parse_thresholds`."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        unknown = f"there is no threshold of this name; there are {', '.join(kind.model_fields)}"
        faults = [
            f"{_said(item['loc'])}: {unknown if item['type'] == 'extra_forbidden' else _plain(item['msg'])}"
            for item in error.errors(include_url=False)
        ]
        raise ConfigError("thresholds cannot be used:", faults) from None


def _said(place: tuple[int | str, ...]) -> str:
    return ".".join(map(str, place)) or "thresholds"


def _plain(message: str) -> str:
    return message.removeprefix("Value error, ")
