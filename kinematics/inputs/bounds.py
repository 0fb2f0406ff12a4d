"""Numbers and their bounds as pydantic checks them: what is outside is named with its value, its unit and the bound."""

import math
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, GetCoreSchemaHandler
from pydantic_core import core_schema

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
"""A finite number; no text, no bool."""


@dataclass(frozen=True, slots=True)
class Range:
    """The range of a setting, ends included, in its SI `unit`, and the pydantic marker that checks it.

    `least` is minus infinity where only the other end is bounded. Found again in a model field's `metadata`, for the
    reference of all keys.
    """

    least: float
    greatest: float
    unit: str = ""

    @property
    def text(self) -> str:
        """The bounds in words, without the unit."""
        least = "at most" if self.least == -math.inf else f"{self.least:g} to"
        return f"{least} {self.greatest:g}"

    def check(self, value: float) -> float:
        """Return `value`, minus zero as zero. Raises ValueError with value, unit and bounds where it is outside."""
        if not self.least <= value <= self.greatest:
            raise ValueError(f"{value:g} {self.unit}".rstrip() + f", must be {self.text} {self.unit}".rstrip())
        return value or 0.0  # minus zero is zero

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))


def within(least: float, greatest: float, unit: str = "") -> Range:
    """The range of a setting, ends included, in its SI `unit`: other values are refused with it."""
    return Range(least, greatest, unit)
