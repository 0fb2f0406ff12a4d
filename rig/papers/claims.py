"""What a paper claims beside what comes out here: the verdict follows from the two and a stated threshold.

A claim is counted when the paper prints it and what comes out here could have been otherwise. What follows by
construction, from arithmetic on printed numbers, or from our own number is shown apart, with the reason.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

Computed = float | tuple[int, ...]
"""A number, or the numbers of the legs (or joints) of which something is true, from 1."""


class Verdict(StrEnum):
    """What became of a claim."""

    HOLDS = "holds"
    DIFFERS = "differs"
    UNDECIDABLE = "not decidable"
    """The paper gives no threshold, or not what would be needed to compute it."""


class Origin(StrEnum):
    """Who says it."""

    PAPER = "paper"
    REPRODUCTION = "reproduction"
    """Not printed: what an independent evaluation of the paper's example gives."""


class Threshold(StrEnum):
    """Whose the number is that decides."""

    PAPER = "paper"
    OURS = "ours"
    """The paper's words are read as a bound of ours: a tolerance, a share, what is called large."""


class Criterion(Protocol):
    """What is claimed, how exactly it has to be met, and how far something is from it."""

    def met(self, computed: Computed) -> bool | None:
        """Whether the claim holds; None where that cannot be decided."""

    def claimed(self, unit: str) -> str:
        """What is claimed, in words."""

    def tolerance(self, unit: str) -> str:
        """What counts as met, in words."""

    def difference(self, computed: Computed) -> str:
        """How far apart the two are, in words."""


def number(value: Computed, unit: str = "") -> str:
    """A number as one reads it, four digits, with its unit; legs as a list."""
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
    """Signed difference in percent of what is claimed, or as it is from nothing."""
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
    """A value, met within a share of it."""

    value: float
    share: float

    def met(self, computed: Computed) -> bool:
        """Whether |computed − value| ≤ share·|value|."""
        return abs(_scalar(computed) - self.value) <= self.share * abs(self.value)

    def claimed(self, unit: str) -> str:
        """The value."""
        return number(self.value, unit)

    def tolerance(self, unit: str) -> str:
        """The share."""
        return f"±{number(100.0 * self.share)} %" if self.share else "exactly"

    def difference(self, computed: Computed) -> str:
        """In percent of the value."""
        return relative(_scalar(computed), self.value)


@dataclass(frozen=True, slots=True)
class Rounded:
    """A value given to so many digits, met by what rounds to it; `last` is one in its last digit."""

    value: float
    last: float

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
        """In percent of the value."""
        return relative(_scalar(computed), self.value)


@dataclass(frozen=True, slots=True)
class Between:
    """A range, bounds included; None is open."""

    low: float | None
    high: float | None

    def met(self, computed: Computed) -> bool:
        """Whether the number lies within."""
        value = _scalar(computed)
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    def claimed(self, unit: str) -> str:
        """The range."""
        if self.low is None or self.high is None:
            return f"at least {number(self.low, unit)}" if self.low is not None else self._most(unit)
        return f"{number(self.low)} to {number(self.high, unit)}"

    def tolerance(self, unit: str) -> str:
        """The bounds stand for themselves."""
        return ""

    def difference(self, computed: Computed) -> str:
        """How far outside, in percent of the bound."""
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

    def met(self, computed: Computed) -> bool:
        """Whether they are the same."""
        return computed == self.legs

    def claimed(self, unit: str) -> str:
        """The list."""
        return number(self.legs)

    def tolerance(self, unit: str) -> str:
        """There is none."""
        return "exactly"

    def difference(self, computed: Computed) -> str:
        """What is missing and what is too much."""
        found = computed if isinstance(computed, tuple) else ()
        missing = tuple(leg for leg in self.legs if leg not in found)
        extra = tuple(leg for leg in found if leg not in self.legs)
        parts = [f"not {number(missing)}" if missing else "", f"also {number(extra)}" if extra else ""]
        return ", ".join(part for part in parts if part) or "none"


@dataclass(frozen=True, slots=True)
class Unquantified:
    """A claim in words that name no number, or not what it takes to compute it.

    What comes out here is shown, and nothing decided. `missing` says what is not given.
    """

    words: str
    missing: str = "no number given"

    def met(self, computed: Computed) -> None:
        """Cannot be decided."""

    def claimed(self, unit: str) -> str:
        """The paper's words."""
        return f"“{self.words}”"

    def tolerance(self, unit: str) -> str:
        """There is none."""
        return self.missing

    def difference(self, computed: Computed) -> str:
        """There is none to be told."""
        return "–"


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim of a study, checked.

    `statement` says what is claimed, `source` where; `criterion` holds the published value (data), `computed` ours.
    `measure` says what was computed where the claim is in words; `why` explains a difference, what stands behind an
    agreement, or what is missing to decide. `threshold` says whose the number is that decides. `apart` is the reason
    why it is not counted: why nothing else could have come out.
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
    threshold: Threshold = Threshold.PAPER
    apart: str = ""

    @property
    def verdict(self) -> Verdict:
        """What follows from criterion and computed value."""
        met = self.criterion.met(self.computed)
        return Verdict.UNDECIDABLE if met is None else Verdict.HOLDS if met else Verdict.DIFFERS

    @property
    def counted(self) -> bool:
        """Whether the paper prints it and something else could have come out."""
        return self.origin is Origin.PAPER and not self.apart

    @property
    def published(self) -> str:
        """The claim's value, as text."""
        return self.criterion.claimed(self.unit)

    @property
    def found(self) -> str:
        """The computed value, as text."""
        return number(self.computed, self.unit)

    @property
    def tolerance(self) -> str:
        """What counts as holding, as text."""
        return self.criterion.tolerance(self.unit)

    @property
    def difference(self) -> str:
        """How far apart, as text."""
        return self.criterion.difference(self.computed)

    def record(self) -> dict[str, object]:
        """All of it as one JSON object; also a row of the claims' CSV."""
        return {
            "key": self.key,
            "origin": str(self.origin),
            "counted": self.counted,
            "statement": self.statement,
            "source": self.source,
            "published": self.published,
            "computed": list(self.computed) if isinstance(self.computed, tuple) else self.computed,
            "unit": self.unit,
            "verdict": str(self.verdict),
            "difference": self.difference,
            "tolerance": self.tolerance,
            "threshold": str(self.threshold),
            "measure": self.measure,
            "why": self.why,
            "apart": self.apart,
        }
