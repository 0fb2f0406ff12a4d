"""Claims of a paper and computed values: the verdict follows from both and a stated threshold.

A claim is counted if the paper prints it and our result could have differed. Claims that hold by construction,
by arithmetic on printed numbers, or from our own number are shown separately, with the reason.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

Computed = float | tuple[int, ...]
"""A number, or the numbers of the legs (or joints) for which something is true, from 1."""


class Verdict(StrEnum):
    """Verdict on a claim."""

    HOLDS = "holds"
    DIFFERS = "differs"
    UNDECIDABLE = "not decidable"
    """The paper gives no threshold, or lacks data for the computation."""


class Origin(StrEnum):
    """Origin of a claim."""

    PAPER = "paper"
    REPRODUCTION = "reproduction"
    """Not printed: result of an independent evaluation of the paper's example."""


class Threshold(StrEnum):
    """Origin of the threshold."""

    PAPER = "paper"
    OURS = "ours"
    """The paper's words are read as a bound of ours: a tolerance, a fraction, what is called large."""


class Criterion(Protocol):
    """The claimed value, its tolerance, and the difference of a result."""

    def met(self, computed: Computed) -> bool | None:
        """Return whether the claim holds; None if undecidable."""

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

    def met(self, computed: Computed) -> bool:
        """Whether |computed − value| ≤ share·|value|."""
        return abs(_scalar(computed) - self.value) <= self.share * abs(self.value)

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
class Rounded:
    """A value given with a number of digits, met by results that round to it; `last` is one in its last digit."""

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
        """Return the difference in percent of the value."""
        return relative(_scalar(computed), self.value)


@dataclass(frozen=True, slots=True)
class Between:
    """A range, bounds included; None is unbounded."""

    low: float | None
    high: float | None

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
class Claim:
    """A checked claim of a study.

    `statement` is the claim, `source` its place; `criterion` holds the published value (data), `computed` ours.
    `measure` describes the computed quantity of a claim in words; `why` explains a difference or an agreement, or names
    the data missing for a verdict. `threshold` is the origin of the deciding number. `apart` is the reason
    why it is not counted: why the result could not have differed.
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
        """Verdict from criterion and computed value."""
        met = self.criterion.met(self.computed)
        return Verdict.UNDECIDABLE if met is None else Verdict.HOLDS if met else Verdict.DIFFERS

    @property
    def counted(self) -> bool:
        """Whether the paper prints it and the result could have differed."""
        return self.origin is Origin.PAPER and not self.apart

    @property
    def published(self) -> str:
        """The claimed value, as text."""
        return self.criterion.claimed(self.unit)

    @property
    def found(self) -> str:
        """The computed value, as text."""
        return number(self.computed, self.unit)

    @property
    def tolerance(self) -> str:
        """The tolerance, as text."""
        return self.criterion.tolerance(self.unit)

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
            "verdict": str(self.verdict),
            "difference": self.difference,
            "tolerance": self.tolerance,
            "threshold": str(self.threshold),
            "measure": self.measure,
            "why": self.why,
            "apart": self.apart,
        }
