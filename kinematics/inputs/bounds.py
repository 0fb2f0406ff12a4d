"""Numbers and their bounds as pydantic checks them: what is outside is named with its value, its unit and the bound."""

from typing import Annotated

from pydantic import AfterValidator, Field

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
"""A finite number; no text, no bool."""


def within(least: float, greatest: float, unit: str = "") -> AfterValidator:
    """The range, ends included, that a setting can physically have, in its SI `unit`; others are refused with it."""

    def check(value: float) -> float:
        if not least <= value <= greatest:
            shown, bounds = (f"{text} {unit}".rstrip() for text in (f"{value:g}", f"{least:g} to {greatest:g}"))
            raise ValueError(f"{shown}, must be {bounds}")
        return value or 0.0  # minus zero is zero

    return AfterValidator(check)
