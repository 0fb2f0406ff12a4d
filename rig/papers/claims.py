"""Claims of a paper and computed values: the verdict follows from both, over the range of what the paper leaves open.

A claim is counted if the paper prints it and our result could have differed. Claims that hold by construction,
by arithmetic on printed numbers, by a fit to them, or from our own number are shown separately, with the reason.
"""

from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from typing import Protocol

Computed = float | tuple[int, ...]
"""A number, or the numbers of the legs (or joints) for which something is true, from 1."""


class Verdict(StrEnum):
    """Class of a verdict. One rule for all papers, by `Claim.verdict`."""

    REPRODUCED = "reproduced"
    """Met as printed, over the whole range of what the paper leaves open."""
    ERRATUM = "erratum"
    """Not met as printed, where the print contradicts itself or a derivation; met once that is mended."""
    CONTRADICTED = "contradicted"
    """Not met by any reading of the print."""
    UNDECIDABLE = "not decidable"
    """Threshold or inputs are not printed, and the outcome changes within their plausible range."""


class Origin(StrEnum):
    """Origin of a claim."""

    PAPER = "paper"
    REPRODUCTION = "reproduction"
    """Not printed: result of an independent evaluation of the paper's example."""


class Criterion(Protocol):
    """The claimed value, its threshold, and the difference of a result."""

    @property
    def word(self) -> str:
        """What the threshold is called; empty if there is none that could be another."""

    def met(self, computed: Computed) -> bool | None:
        """Return whether the claim holds; None if undecidable."""

    def at(self, threshold: float) -> "Criterion":
        """Return the criterion with another threshold."""

    def turn(self, computed: Computed) -> tuple[float, bool]:
        """Return the threshold at which the outcome changes, and whether it is met above."""

    def claimed(self, unit: str) -> str:
        """Return the claimed value as text."""

    def tolerance(self, unit: str) -> str:
        """Return the tolerance as text."""

    def difference(self, computed: Computed) -> str:
        """Return the difference as text."""


def number(value: Computed, unit: str = "") -> str:
    """Format a number with four digits and its unit; legs as a list."""
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) if value else "none"
    size = abs(value)
    if size >= 1e6 or 0.0 < size < 1e-3:
        mantissa, exponent = f"{value:.2e}".split("e")
        text = f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    else:
        text = f"{value:.0f}" if size >= 1e3 else f"{value:.4g}"
    return f"{text.replace('-', '−')} {unit}".rstrip()


def relative(computed: float, claimed: float) -> str:
    """Format the signed difference in percent of the claim, or absolute if the claim is zero."""
    if claimed == 0.0:
        return number(computed) if computed else "none"
    share = computed / claimed - 1.0
    if share < -1.0:
        return f"of the other sign, {number(computed - claimed)}"
    if share > 9.0:
        return f"{number(computed / claimed)} times as much"
    percent = 100.0 * share
    text = f"{percent:+.0f}" if abs(percent) >= 9.5 else f"{percent:+.2g}"
    return "none" if abs(share) < 5e-7 else f"{text} %".replace("-", "−")


def _scalar(computed: Computed) -> float:
    if isinstance(computed, tuple):
        raise TypeError(f"{computed} is a list of legs, not a number")
    return computed


@dataclass(frozen=True, slots=True)
class Near:
    """A value, met within a relative tolerance."""

    value: float
    share: float

    @property
    def word(self) -> str:
        """The relative tolerance."""
        return "tolerance"

    def met(self, computed: Computed) -> bool:
        """Whether |computed − value| ≤ share·|value|."""
        return abs(_scalar(computed) - self.value) <= self.share * abs(self.value)

    def at(self, threshold: float) -> "Near":
        """Return it with another relative tolerance."""
        return Near(self.value, threshold)

    def turn(self, computed: Computed) -> tuple[float, bool]:
        """Return the relative difference: met with any larger tolerance."""
        return abs(_scalar(computed) / self.value - 1.0) if self.value else abs(_scalar(computed)), True

    def claimed(self, unit: str) -> str:
        """The value."""
        return number(self.value, unit)

    def tolerance(self, unit: str) -> str:
        """Return the relative tolerance."""
        return f"±{number(100.0 * self.share)} %" if self.share else "exactly"

    def difference(self, computed: Computed) -> str:
        """Return the difference in percent of the value."""
        return relative(_scalar(computed), self.value)


@dataclass(frozen=True, slots=True)
class Order:
    """An order of magnitude: met by positive results within a factor of the value."""

    value: float
    factor: float

    @property
    def word(self) -> str:
        """The factor."""
        return "factor"

    def met(self, computed: Computed) -> bool:
        """Whether value/factor ≤ computed ≤ value·factor."""
        return self.value / self.factor <= _scalar(computed) <= self.value * self.factor

    def at(self, threshold: float) -> "Order":
        """Return it with another factor."""
        return Order(self.value, threshold)

    def turn(self, computed: Computed) -> tuple[float, bool]:
        """Return the factor between computed and value: met with any larger one."""
        ratio = _scalar(computed) / self.value
        return (max(ratio, 1.0 / ratio) if ratio > 0.0 else float("inf")), True

    def claimed(self, unit: str) -> str:
        """The order."""
        return f"of the order of {number(self.value, unit)}"

    def tolerance(self, unit: str) -> str:
        """Return the factor."""
        return f"within a factor of {number(self.factor)}"

    def difference(self, computed: Computed) -> str:
        """Return the ratio."""
        return f"{number(_scalar(computed) / self.value)} times"


@dataclass(frozen=True, slots=True)
class Rounded:
    """A value given with a number of digits, met by results that round to it; `last` is one in its last digit."""

    value: float
    last: float

    @property
    def word(self) -> str:
        """None: the digits are printed."""
        return ""

    def at(self, threshold: float) -> "Rounded":
        """Return it with another last digit."""
        return Rounded(self.value, threshold)

    def turn(self, computed: Computed) -> tuple[float, bool]:
        """Return twice the difference: met with any coarser digit."""
        return 2.0 * abs(_scalar(computed) - self.value), True

    def met(self, computed: Computed) -> bool:
        """Whether |computed − value| is at most half the last digit."""
        return abs(_scalar(computed) - self.value) <= 0.5 * self.last * (1.0 + 1e-9)

    def claimed(self, unit: str) -> str:
        """The value."""
        return number(self.value, unit)

    def tolerance(self, unit: str) -> str:
        """Half the last digit."""
        return f"±{number(0.5 * self.last, unit)}"

    def difference(self, computed: Computed) -> str:
        """Return the difference in percent of the value."""
        return relative(_scalar(computed), self.value)


@dataclass(frozen=True, slots=True)
class Between:
    """A range, bounds included; None is unbounded."""

    low: float | None
    high: float | None

    @property
    def word(self) -> str:
        """The one bound; with two bounds both are the paper's."""
        return "bound" if (self.low is None) is not (self.high is None) else ""

    def at(self, threshold: float) -> "Between":
        """Return it with another bound."""
        return Between(threshold, None) if self.low is not None else Between(None, threshold)

    def turn(self, computed: Computed) -> tuple[float, bool]:
        """Return the computed value: met with any bound on its other side."""
        return _scalar(computed), self.low is None

    def met(self, computed: Computed) -> bool:
        """Return whether the number is in the range."""
        value = _scalar(computed)
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    def claimed(self, unit: str) -> str:
        """The range."""
        if self.low is None or self.high is None:
            return f"at least {number(self.low, unit)}" if self.low is not None else self._most(unit)
        return f"{number(self.low)} to {number(self.high, unit)}"

    def tolerance(self, unit: str) -> str:
        """Return no text: the bounds are exact."""
        return ""

    def difference(self, computed: Computed) -> str:
        """Return the excess in percent of the bound."""
        value = _scalar(computed)
        bound = self.low if self.low is not None and value < self.low else self.high
        if self.met(value) or bound is None:
            return "none"
        if bound and value / bound > 10.0:
            return f"{number(value / bound)} times the bound"
        return f"{relative(value, bound)} from the bound"

    def _most(self, unit: str) -> str:
        return "" if self.high is None else f"at most {number(self.high, unit)}"


@dataclass(frozen=True, slots=True)
class Legs:
    """Exactly these legs (or joints, or pods)."""

    legs: tuple[int, ...]

    @property
    def word(self) -> str:
        """None: what counts as such a leg is varied with the legs computed."""
        return ""

    def at(self, threshold: float) -> "Legs":
        """Return itself."""
        return self

    def turn(self, computed: Computed) -> tuple[float, bool]:
        """Return no threshold."""
        return float("nan"), False

    def met(self, computed: Computed) -> bool:
        """Return whether they are the same."""
        return computed == self.legs

    def claimed(self, unit: str) -> str:
        """The list."""
        return number(self.legs)

    def tolerance(self, unit: str) -> str:
        """Return that the match is exact."""
        return "exactly"

    def difference(self, computed: Computed) -> str:
        """Return missing and extra ones."""
        found = computed if isinstance(computed, tuple) else ()
        missing = tuple(leg for leg in self.legs if leg not in found)
        extra = tuple(leg for leg in found if leg not in self.legs)
        parts = [f"not {number(missing)}" if missing else "", f"also {number(extra)}" if extra else ""]
        return ", ".join(part for part in parts if part) or "none"


@dataclass(frozen=True, slots=True)
class Unquantified:
    """A claim without a number, or without the data to compute it.

    The result is shown without a verdict. `missing` is what the paper does not give.
    """

    words: str
    missing: str = "no number given"

    @property
    def word(self) -> str:
        """None."""
        return ""

    def at(self, threshold: float) -> "Between":
        """Return what a printed bound would make of it."""
        return Between(None, threshold)

    def turn(self, computed: Computed) -> tuple[float, bool]:
        """Return no threshold."""
        return float("nan"), False

    def met(self, computed: Computed) -> None:
        """Return None: undecidable."""

    def claimed(self, unit: str) -> str:
        """The paper's words."""
        return f"“{self.words}”"

    def tolerance(self, unit: str) -> str:
        """Return the missing data."""
        return self.missing

    def difference(self, computed: Computed) -> str:
        """Return a dash: undecidable."""
        return "–"


@dataclass(frozen=True, slots=True)
class Range:
    """Results over something that the paper leaves open: an input, a tolerance, a reading of its words.

    name: what it is.  tried: its plausible values, numbers in rising order or words.  computed: the claim's value at
    each of them.  at: the value that the claim takes.
    """

    name: str
    tried: tuple[float | str, ...]
    computed: tuple[Computed, ...]
    at: float | str
    unit: str = ""

    def __post_init__(self) -> None:
        if len(self.tried) != len(self.computed) or self.at not in self.tried:
            raise ValueError(f"range {self.name!r}: must have a result for each value, and the claim's among them")

    @property
    def taken(self) -> int:
        """Index of the value that the claim takes."""
        return self.tried.index(self.at)

    def same(self, criterion: Criterion) -> tuple[float | str, ...]:
        """Return the values with the outcome of the claim's own: numbers on end from it, or all such words."""
        outcomes = [criterion.met(value) for value in self.computed]
        alike = [outcome is outcomes[self.taken] for outcome in outcomes]
        if isinstance(self.at, str):
            return tuple(value for value, as_taken in zip(self.tried, alike, strict=True) if as_taken)
        first = last = self.taken
        while first > 0 and alike[first - 1]:
            first -= 1
        while last + 1 < len(alike) and alike[last + 1]:
            last += 1
        return self.tried[first : last + 1]

    def text(self, criterion: Criterion, every: bool = False) -> str:
        """Format the values over which the outcome stays the same, and the next at which it does not; or every one."""
        same = self.same(criterion)
        if isinstance(self.at, str):
            other = ", ".join(str(value) for value in self.tried if value not in same)
            if other:
                return f"{self.name}: all but {other}"
            named = every or len(same) <= _NAMED
            return (
                f"{self.name}: all of {', '.join(map(str, same))}" if named else f"{self.name}: all {len(same)} tried"
            )
        first, last = self.tried.index(same[0]), self.tried.index(same[-1])
        changes = [
            f"between {_value(self.tried[low])} and {_value(self.tried[low + 1], self.unit)}"
            for low in (first - 1, last)
            if 0 <= low < len(self.tried) - 1
        ]
        over = f"{_value(same[0])} to {_value(same[-1], self.unit)}" if len(same) > 1 else _value(same[0], self.unit)
        return f"{self.name}: {over}" + (f", changes {' and '.join(changes)}" if changes else "")


_ROUNDING = 1e-9
"""A bound below this is one of rounding, which differs from machine to machine."""
_NAMED = 4
"""Words that are named when all of them give the same; a contradicted claim names all, and so does every record."""


def _value(value: float | str, unit: str = "") -> str:
    return value if isinstance(value, str) else number(value, unit)


@dataclass(frozen=True, slots=True)
class Mended:
    """What a claim's value is once the print is mended, and the mend.

    criterion: what is claimed then, if the mend changes that and not the result.
    """

    mend: str
    computed: Computed
    criterion: Criterion | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A checked claim of a study.

    `statement` is the claim, `source` its place; `criterion` holds the published value (data), `computed` ours.
    `measure` describes the computed quantity of a claim in words; `why` explains a difference or an agreement, or names
    the data missing for a verdict. `thresholds` are the least and the largest plausible threshold where the paper
    prints none; `ranges` the results over whatever else it leaves open; `mended` the result with the print mended where
    it contradicts itself. `words` are the paper's own where it prints no number, and the criterion is our reading of
    them. `apart` is the reason why a claim is not counted: why the result could not have differed.
    """

    key: str
    statement: str
    source: str
    criterion: Criterion
    computed: Computed
    unit: str = ""
    measure: str = ""
    why: str = ""
    origin: Origin = Origin.PAPER
    apart: str = ""
    thresholds: tuple[float, ...] = ()
    ranges: tuple[Range, ...] = ()
    mended: Mended | None = None
    words: str = ""

    @property
    def outcomes(self) -> set[bool | None]:
        """Whether the claim is met as printed, at every plausible threshold and for every result of its ranges."""
        return {criterion.met(value) for criterion, value in product(self._criteria(), self._values)}

    @property
    def _values(self) -> list[Computed]:
        return [self.computed, *(value for tried in self.ranges for value in tried.computed)]

    @property
    def verdict(self) -> Verdict:
        """Class: decided only if the outcome is one over the whole range of what the paper leaves open."""
        outcomes = self.outcomes
        if None in outcomes or len(outcomes) > 1:
            return Verdict.UNDECIDABLE
        if outcomes == {True}:
            return Verdict.REPRODUCED
        mended = self.mended is not None and all(
            one.met(self.mended.computed) for one in self._criteria(self.mended.criterion)
        )
        return Verdict.ERRATUM if mended else Verdict.CONTRADICTED

    def _criteria(self, other: Criterion | None = None) -> list[Criterion]:
        criterion = other or self.criterion
        return [criterion, *(criterion.at(threshold) for threshold in self.thresholds)]

    @property
    def met(self) -> bool | None:
        """Whether the criterion is met by the computed value alone; None if undecidable."""
        return self.criterion.met(self.computed)

    @property
    def word(self) -> str:
        """The verdict as shown: its class, or that the claim is not counted."""
        return str(self.verdict) if self.counted else "not counted"

    @property
    def counted(self) -> bool:
        """Whether the paper prints it and the result could have differed."""
        return self.origin is Origin.PAPER and not self.apart

    @property
    def open(self) -> tuple[str, ...]:
        """Over which thresholds and inputs the outcome stays the same, each as text."""
        every = self.verdict is Verdict.CONTRADICTED
        ranges = [
            tried.text(self.criterion, every and all(tried.tried != other.tried for other in self.ranges[:place]))
            for place, tried in enumerate(self.ranges)
        ]
        return (*([self._threshold_text()] if self.thresholds else []), *ranges)

    def _threshold_text(self) -> str:
        scale, unit = {"tolerance": (100.0, "%"), "factor": (1.0, "")}.get(self.criterion.word, (1.0, self.unit))
        alike = [value for value in self._values if self.criterion.met(value) is self.met]
        turns = [self.criterion.turn(value) for value in alike]
        rising = turns[0][1] is self.met
        bound = max(turn for turn, _ in turns) if rising else min(turn for turn, _ in turns)
        low, high = (scale * threshold for threshold in (min(self.thresholds), max(self.thresholds)))
        plausible = f"plausible {number(low)} to {number(high, unit)}"
        shown = number(scale * bound, unit) if not 0.0 < scale * bound < _ROUNDING else "rounding"
        return f"{self.criterion.word}: {'from' if rising else 'up to'} {shown}, {plausible}"

    @property
    def published(self) -> str:
        """The claimed value, as text; the paper's words where it prints none."""
        return f"“{self.words}”" if self.words else self.criterion.claimed(self.unit)

    @property
    def found(self) -> str:
        """The computed value, as text."""
        return number(self.computed, self.unit)

    @property
    def found_mended(self) -> str:
        """The computed value once the print is mended, and what is claimed then if it changes; empty if none is."""
        if self.mended is None:
            return ""
        claimed = "" if self.mended.criterion is None else f", claimed {self.mended.criterion.claimed(self.unit)}"
        return number(self.mended.computed, self.unit) + claimed

    @property
    def tolerance(self) -> str:
        """The tolerance, as text; for words how they are read."""
        tolerance = self.criterion.tolerance(self.unit)
        return f"read as {self.criterion.claimed(self.unit)}" if self.words and not tolerance else tolerance

    @property
    def difference(self) -> str:
        """The difference, as text."""
        return self.criterion.difference(self.computed)

    def record(self) -> dict[str, object]:
        """Return the claim as one JSON object; also a row of the claims' CSV."""
        return {
            "key": self.key,
            "origin": str(self.origin),
            "counted": self.counted,
            "statement": self.statement,
            "source": self.source,
            "published": self.published,
            "computed": list(self.computed) if isinstance(self.computed, tuple) else self.computed,
            "unit": self.unit,
            "verdict": self.word,
            "met": self.met,
            "difference": self.difference,
            "tolerance": self.tolerance,
            "thresholds": list(self.thresholds),
            "ranges": [
                {"name": one.name, "unit": one.unit, "tried": list(one.tried), "computed": list(one.computed),
                 "same": list(one.same(self.criterion))}
                for one in self.ranges
            ],
            "open": "; ".join(self.open),
            "mended": None
            if self.mended is None
            else {
                "mend": self.mended.mend,
                "computed": self.mended.computed,
                "published": self.mended.criterion.claimed(self.unit) if self.mended.criterion else self.published,
            },
            "measure": self.measure,
            "why": self.why,
            "apart": self.apart,
        }  # fmt: skip
