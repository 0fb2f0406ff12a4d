"""The text of a finding, in any language: the one place where findings become words.

A template of `codes` has the fields of `str.format`: `leg`, `value`, `bound`, what the finding's details name, and
`within`, the findings in it. What stands in `[[…]]` is left out where a field in it is missing or empty. A finding at
a leg, or at several (`legs` of its details), begins with them unless its template names them,
or the findings in it. Formats, beside Python's:

| format | text |
|---|---|
| `~.3f` of value and bound | both so that they compare as the numbers do, however they are rounded |
| `^.3f` of value, `low` and `high` | likewise, of a value that must lie between two |
| `…/3` | digits of the bound |
| `…*1e3` | times that, for millimetres and milliseconds |
| `in:m` | with a unit of a size that fits, as `2.5 mm` |
| `join, ` | the parts of a list, or the findings, with that between |
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from string import Formatter
from typing import Any

from rig.findings.codes import Code
from rig.findings.finding import Finding

Translate = Callable[[str], str]

_OPTIONAL = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)
_SPEC = re.compile(r"([~^]?)([^~^/*]*)(?:/(\d+))?(?:\*([-+.e\d]+))?")
_COMPARED = {"~": ("value", "bound"), "^": ("value", "low", "high")}
_JOIN = "join"
_IN = "in:"
_NAMES_LEGS = {"leg", "legs", "within"}
LEG, LEGS = "leg {leg}", "legs {legs}"
"""What one leg and several are called."""


def render(finding: Finding, translate: Translate = str) -> str:
    """A finding in words; `translate` gives a template in another language, with the same fields."""
    return _Words(finding, translate).whole()


def statement(finding: Finding, translate: Translate = str) -> str:
    """Likewise without the leg in front, for where that is said already."""
    return _Words(finding, translate).filled()


class _Words:
    """Fills in the template of one finding."""

    def __init__(self, finding: Finding, translate: Translate) -> None:
        self._finding = finding
        self._translate = translate
        self._fields: Mapping[str, Any] = {
            **finding.details,
            "leg": finding.leg or None,
            "value": finding.value,
            "bound": finding.bound,
            "within": finding.within,
        }

    def whole(self) -> str:
        """The text, with the leg in front where the template does not name it."""
        text, named = self.filled(), fields_of(self._finding.code.text)
        legs = self._fields.get("legs") or ([self._finding.leg] if self._finding.leg else [])
        return f"{self._legs(legs)}: {text}" if legs and not named & _NAMES_LEGS else text

    def filled(self) -> str:
        """The template with its fields."""
        return self._fill(_OPTIONAL.sub(self._optional, self._translate(self._finding.code.text)))

    def _fill(self, template: str) -> str:
        filled = []
        for literal, name, spec, conversion in Formatter().parse(template):
            filled.append(literal)
            if name is not None:
                value = self._fields[name]
                filled.append(repr(value) if conversion == "r" else self._formatted(name, value, spec or ""))
        return "".join(filled)

    def _optional(self, part: re.Match[str]) -> str:
        given = all(self._fields.get(name) not in (None, "", (), []) for name in fields_of(part[1]))
        return part[1] if given else ""

    def _legs(self, legs: Sequence[int]) -> str:
        name = LEG if len(legs) == 1 else LEGS
        return self._translate(name).format(leg=legs[0], legs=", ".join(map(str, legs)))

    def _formatted(self, name: str, value: Any, spec: str) -> str:
        if name == "legs":
            return self._legs(value)
        if name == "within" or spec.startswith(_JOIN):
            between = self._translate(spec.removeprefix(_JOIN) if spec else ", ")
            return between.join(render(one, self._translate) if isinstance(one, Finding) else str(one) for one in value)
        if spec.startswith(_IN):
            from kinematics import in_words

            return in_words(float(value), spec.removeprefix(_IN))
        compared, spec, digits, factor = _split(spec)
        if not compared:
            return format(value if factor == 1.0 else _scaled(value, factor), spec)
        return self._compared(name, compared, spec, digits, factor)

    def _compared(self, name: str, compared: str, spec: str, digits: int, factor: float) -> str:
        from kinematics import figure_and_bound

        figures = {key: _scaled(self._fields[key], factor) for key in _COMPARED[compared]}
        value = figures["value"]
        bound = "bound" if compared == "~" else "low" if value < figures["low"] else "high"
        texts = figure_and_bound(value, figures[bound], spec, digits)
        return {"value": texts[0], bound: texts[1]}.get(name, f"{figures[name]:g}")


def elided(text: str, most: int = 4000) -> str:
    """A text of at most `most` characters: of a longer one its beginning and its end, and how much was left out."""
    if len(text) <= most:
        return text
    mark = f" … {len(text) - most} characters left out … "
    end = most // 4
    return text[: most - end] + mark + text[len(text) - end :]


def _scaled(value: float, factor: float) -> float:
    """A value in the unit in which it is shown, without the rounding of the product."""
    product = float(value) * factor
    return product if factor == 1.0 or not math.isfinite(product) else float(f"{product:.12g}")


@cache
def _split(spec: str) -> tuple[str, str, int, float]:
    """How a format compares, Python's part of it, digits of the bound, and the factor."""
    found = _SPEC.fullmatch(spec)
    if found is None:
        raise ValueError(f"format {spec!r}")
    return found[1], found[2], int(found[3] or 6), float(found[4] or 1.0)


@cache
def fields_of(template: str) -> frozenset[str]:
    """Names of the fields in a template."""
    return frozenset(name for _, name, _, _ in Formatter().parse(template) if name)


def finding_texts() -> list[str]:
    """Every text that findings are made from, for catalogues of translations: templates, and what joins their parts."""
    joints = {
        spec.removeprefix(_JOIN)
        for code in Code
        for _, _, spec, _ in Formatter().parse(code.text)
        if spec and spec.startswith(_JOIN)
    }
    words = sorted(joint for joint in joints if any(map(str.isalpha, joint)))
    return [*dict.fromkeys(code.text for code in Code if any(map(str.isalpha, _bare(code.text)))), LEG, LEGS, *words]


def _bare(template: str) -> str:
    """A template without its fields."""
    return "".join(literal for literal, _, _, _ in Formatter().parse(template))
