"""Printed data of the papers: titles, errata, what they leave open, paths and claims, from one TOML file per paper."""

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as validated

from kinematics import Blend
from rig.papers.claims import (
    Between,
    Claim,
    Computed,
    Criterion,
    Legs,
    Mended,
    Near,
    Order,
    Origin,
    Range,
    Rounded,
    Unquantified,
)
from rig.papers.study import Erratum

_STRICT = ConfigDict(extra="forbid", strict=False)
_CRITERIA: Mapping[str, type[Criterion]] = {
    "near": Near,
    "order": Order,
    "rounded": Rounded,
    "between": Between,
    "unquantified": Unquantified,
}


@validated(frozen=True, slots=True, config=_STRICT)
class PathPlan:
    """A straight line with parabolic blends: [t, θ] at its ends, m and rad; duration s, speeds m/s and rad/s."""

    start: tuple[float, float, float, float, float, float]
    end: tuple[float, float, float, float, float, float]
    duration: float
    speed: float
    angular_speed: float | None = None

    def trajectory(self) -> Blend:
        """Return the path as a trajectory."""
        return Blend(self.start, self.end, self.duration, self.speed, self.angular_speed)


@validated(frozen=True, slots=True, config=_STRICT)
class _PrintedClaim:
    """A claim of a data file: exactly one of near, order, rounded, between, legs and unquantified."""

    key: str
    statement: str
    source: str
    near: dict[str, float] | None = None
    order: dict[str, float] | None = None
    rounded: dict[str, float] | None = None
    between: dict[str, float] | None = None
    legs: tuple[int, ...] | None = None
    unquantified: dict[str, str] | None = None
    unit: str = ""
    measure: str = ""
    why: str = ""
    origin: Literal["paper", "reproduction"] = "paper"
    apart: str = ""
    thresholds: tuple[float, float] | tuple[()] = ()
    words: str = ""

    @property
    def criterion(self) -> Criterion:
        """Return its criterion. Raises ValueError if there is not exactly one, or a number is missing."""
        given = [name for name in (*_CRITERIA, "legs") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"claim {self.key!r}: must have exactly one criterion, got {', '.join(given) or 'none'}")
        if self.legs is not None:
            return Legs(self.legs)
        fields = getattr(self, given[0])
        if given[0] == "between":
            fields = {"low": None, "high": None} | fields
        try:
            return _CRITERIA[given[0]](**fields)
        except TypeError as error:
            raise ValueError(f"claim {self.key!r}: {given[0]}: {error}") from None


@validated(frozen=True, slots=True, config=_STRICT)
class _File:
    title: str
    citation: str
    summary: str
    claims: list[_PrintedClaim] = Field(default_factory=list)
    errata: tuple[Erratum, ...] = ()
    open: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()
    paths: dict[str, PathPlan] = Field(default_factory=dict)


class PrintedStudy:
    """A paper's title, citation, summary, errata, what it leaves open, its paths, and its claims to be checked.

    Args:
        name: of the paper's study, for messages.
        data: the file's tables.

    Raises:
        ValueError: a field is missing, unknown or of the wrong kind; two claims have one key, or a claim not exactly
            one criterion.
    """

    def __init__(self, name: str, data: Mapping[str, Any]) -> None:
        try:
            file = TypeAdapter(_File).validate_python(data)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise ValueError(f"{name}: {place}: {first['msg']}") from None
        self.title, self.citation, self.summary = file.title, file.citation, file.summary
        self.errata, self.open, self.comments, self.paths = file.errata, file.open, file.comments, file.paths
        self._claims: dict[str, Claim] = {}
        for printed in file.claims:
            if printed.key in self._claims:
                raise ValueError(f"{name}: two claims have the key {printed.key!r}")
            self._claims[printed.key] = Claim(
                printed.key,
                printed.statement,
                printed.source,
                printed.criterion,
                float("nan"),
                printed.unit,
                printed.measure,
                printed.why,
                Origin(printed.origin),
                printed.apart,
                printed.thresholds,
                words=printed.words,
            )

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the claims, in the file's order."""
        return tuple(self._claims)

    def claim(
        self,
        key: str,
        computed: Computed,
        *ranges: Range,
        mended: Mended | None = None,
        measure: str | None = None,
        why: str | None = None,
        apart: str | None = None,
    ) -> Claim:
        """Return the printed claim with the computed value, the results over its ranges and with the print mended.

        measure, why, apart: texts that replace the printed claim's own.  Raises KeyError for an unknown key.
        """
        printed = self._claims[key]
        return replace(
            printed,
            computed=computed,
            ranges=ranges,
            mended=mended,
            measure=printed.measure if measure is None else measure,
            why=printed.why if why is None else why,
            apart=printed.apart if apart is None else apart,
        )


@cache
def printed_study(name: str) -> PrintedStudy:
    """Return the printed data of a study. Raises ValueError if its data file is invalid."""
    text = (files("rig.papers") / "data" / f"{name}.toml").read_text(encoding="utf-8")
    return PrintedStudy(name, tomllib.loads(text))
