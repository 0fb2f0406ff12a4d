"""What a check, a guard or a device finds: a code with its numbers, from which every text is made."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from rig.findings.codes import Code, Remedy, Severity
from rig.states import FaultCode

Value = str | int | float | bool | list[int] | list[float] | list[str]


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding.

    code: what was found; severity, unit, remedy and the fault that it is follow from that. leg: 1…6, or 0 for the whole
    rig. value, bound: what was measured and what it must keep to, in the code's SI unit. details: what else its text
    names. within: findings that this one is made of, or is about.
    """

    __pydantic_config__: ClassVar = {"ser_json_inf_nan": "constants"}  # NaN would be null, which is no number

    code: Code
    leg: int = 0
    value: float | None = None
    bound: float | None = None
    details: dict[str, Value] = field(default_factory=dict, hash=False)
    within: tuple["Finding", ...] = ()

    @property
    def root(self) -> "Finding":
        """What was found itself, where this finding only says in what connection."""
        return self.within[0].root if self.code.wraps and self.within else self

    @property
    def severity(self) -> Severity:
        """How grave it is."""
        return self.root.code.severity

    @property
    def fault(self) -> FaultCode:
        """The kind of fault that it is, NONE where it stops nothing."""
        return self.root.code.fault

    @property
    def remedy(self) -> Remedy:
        """What the operator can do about it."""
        return self.code.remedy if self.code.remedy is not Remedy.NONE else self.root.code.remedy

    @property
    def unit(self) -> str:
        """SI unit of value and bound, "" where they have none."""
        return self.root.code.unit

    @property
    def text(self) -> str:
        """The finding in English; `render` has it in other languages."""
        from rig.findings.text import render

        return render(self)

    def __str__(self) -> str:
        """See `text`."""
        return self.text

    def elided(self, most: int = 4000) -> Self:
        """The same with texts of at most `most` characters, for a link or a file that is not to be flooded."""
        from rig.findings.text import elided

        texts = {name: elided(value, most) for name, value in self.details.items() if isinstance(value, str)}
        return replace(self, details=self.details | texts, within=tuple(part.elided(most) for part in self.within))

    def leaves(self) -> Iterator["Finding"]:
        """The findings that this one is made of, itself where it is made of none."""
        if not self.within:
            yield self
        for part in self.within:
            yield from part.leaves()

    def as_dict(self) -> dict[str, Any]:
        """As JSON-able data, with its text; what is no finite number is None."""

        def finite(value: float | None) -> float | None:
            return value if value is not None and math.isfinite(value) else None

        root = self.root
        return {
            "code": root.code.value,
            "severity": root.severity.value,
            "leg": root.leg,
            "value": finite(root.value),
            "bound": finite(root.bound),
            "unit": root.unit,
            "remedy": self.remedy.value,
            "text": self.text,
        }

    @classmethod
    def of_text(cls, text: str) -> Self:
        """What a driver, the operating system or a library says in its own words."""
        return cls(Code.MESSAGE, details={"text": text})
