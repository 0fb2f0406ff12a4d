"""The numbers of a washout's tuning, as an operator changes them while the platform moves."""

from dataclasses import dataclass
from typing import Any, get_args

from gui.texts import mark
from kinematics import Range, Tuning

ENTRY_GROUPS: dict[str, str] = {
    "input": mark("Vehicle's motion"),
    "translation": mark("Translation: high-pass"),
    "tilt": mark("Tilt coordination"),
    "rotation": mark("Rotation: high-pass"),
    "limiter": mark("Limits of the legs"),
}
"""Captions of a tuning's tables."""
CAPTIONS: dict[str, str] = {
    "input.force_scale": mark("Scale of the specific force"),
    "input.force_limit": mark("Limit of the specific force"),
    "input.rate_scale": mark("Scale of the angular rate"),
    "input.rate_limit": mark("Limit of the angular rate"),
    "translation.frequency": mark("Break frequency"),
    "translation.damping": mark("Damping ratio"),
    "translation.return_frequency": mark("Frequency of the return"),
    "tilt.frequency": mark("Break frequency"),
    "tilt.damping": mark("Damping ratio"),
    "tilt.rate": mark("Greatest rate"),
    "tilt.acceleration": mark("Greatest acceleration"),
    "tilt.angle": mark("Greatest angle"),
    "rotation.frequency": mark("Break frequency"),
    "rotation.damping": mark("Damping ratio"),
    "limiter.speed_share": mark("Share of the speed limit"),
    "limiter.acceleration_share": mark("Share of the acceleration limit"),
    "limiter.jerk": mark("Greatest jerk"),
    "limiter.approach": mark("Approach to the end of a stroke"),
    "limiter.recovery": mark("Recovery after a limit"),
}
"""Captions of the numbers that may be changed while the platform moves; the others are the file's."""


@dataclass(frozen=True, slots=True)
class TuningEntry:
    """One number of a tuning, or a few of one kind.

    key: as `input.force_scale`. caption: to be translated. unit: SI. least, greatest: bounds of each. axes: what each
    of several is of, as "x"; one "" for a single number.
    """

    key: str
    caption: str
    unit: str
    least: float
    greatest: float
    axes: tuple[str, ...]

    @property
    def group(self) -> str:
        """The table that it is in."""
        return self.key.partition(".")[0]

    def values(self, tuning: Tuning) -> tuple[float, ...]:
        """Its numbers in a tuning, SI."""
        group, _, name = self.key.partition(".")
        found = getattr(getattr(tuning, group), name)
        return found if isinstance(found, tuple) else (found,)


def tuning_entries() -> list[TuningEntry]:
    """The numbers of a tuning that may be changed while the platform moves, in the order of its file."""
    found = []
    for key, caption in CAPTIONS.items():
        group, _, name = key.partition(".")
        section: Any = Tuning.model_fields[group].annotation
        info = section.model_fields[name]
        parts = get_args(info.annotation)
        marks = parts[0].__metadata__ if parts else info.metadata
        bounds = next(one for one in marks if isinstance(one, Range))
        axes = ("x", "y", "z")[: len(parts)] if parts else ("",)
        found.append(TuningEntry(key, caption, bounds.unit, bounds.least, bounds.greatest, axes))
    return found


def with_values(tuning: Tuning, values: dict[str, tuple[float, ...]]) -> Tuning:
    """A tuning with other numbers, SI, by their keys.

    Raises ValueError if one of them is outside its bounds.
    """
    data = tuning.model_dump()
    for key, numbers in values.items():
        group, _, name = key.partition(".")
        data[group][name] = numbers if isinstance(data[group][name], tuple) else numbers[0]
    return Tuning.model_validate(data)
