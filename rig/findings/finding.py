"""Finding of a check, a guard or a device: a code with its values, from which every text is generated.

Findings are converted to text only here, in any language. A template of `codes` has the fields of `str.format`:
`leg`, `value`, `bound`, the names in the finding's details, and `within`, its inner findings. A part in `[[…]]` is
omitted if a field in it is missing or empty. The text starts with the leg or legs (`legs` of its details) unless the
template, or the inner findings, contain them. Formats in addition to Python's:

| format | text |
|---|---|
| `~.3f` of value and bound | enough digits that both texts compare as the numbers do |
| `^.3f` of value, `low` and `high` | likewise, for a value that must lie between two |
| `…/3` | digits of the bound |
| `…*1e3` | times that factor, for millimetres and milliseconds |
| `in:m` | with a unit of suitable scale, as `2.5 mm` |
| `~unit` of value and bound | likewise, in the finding's unit, with enough digits to compare |
| `join, ` | elements of a list, or the findings, with this separator |
| `lines` | likewise, one indented line each |
| `name` | localised name of a state or a quantity |
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from string import Formatter
from typing import Annotated, Any, ClassVar, Self

from rig.findings.codes import Code, Remedy, Severity
from rig.states import FaultCode, State, fault_name

Translate = Callable[[str], str]

_OPTIONAL = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)
_SPEC = re.compile(r"([~^]?)([^~^/*]*)(?:/(\d+))?(?:\*([-+.e\d]+))?")
_COMPARED = {"~": ("value", "bound"), "^": ("value", "low", "high")}
_JOIN = "join"
_IN = "in:"
_WITH_UNIT = "~unit"
_LINES = "lines"
_NAME = "name"
_NAMES_LEGS = {"leg", "legs", "within"}
LEG, LEGS = "leg {leg}", "legs {legs}"
"""Prefix for one leg and for several."""
QUANTITIES = (
    "least length",
    "greatest length",
    "speed",
    "acceleration",
    "angle of the universal joint",
    "angle of the spherical joint",
    "condition number",
    "force",
    "force at a standstill",
    "speed by the drive's ramp",
    "acceleration by the drive's ramp",
    "lag by the drive's ramp",
    "travel between two commands",
    "speed at start or end",
)
"""Quantities limited by the motion check."""
SENSORS = ("accelerometer", "tracker")
"""External sensors whose files an acceptance test reads."""
_NAMES = (LEG, LEGS, *(state.name for state in State), *(fault_name(code) for code in FaultCode if code))
_CODES = {code.value: code for code in Code} | {"stream_no_way": Code.STREAM_NO_BRAKING_PATH}
"""By their names in recordings, with those that older ones have."""
Value = str | int | float | bool | list[int] | list[float] | list[str]

_NOT_FINITE = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}
"""by their names in JSON, where pydantic writes null for a number among values of several types"""


def _written(details: dict[str, Value]) -> dict[str, Any]:
    return {name: _named(value) for name, value in details.items()}


def _named(value: Any) -> Any:
    if isinstance(value, list):
        return [_named(each) for each in value]
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0.0 else "-Infinity"


def _read(details: Any) -> Any:
    if not isinstance(details, dict):
        return details
    return {name: _number(value) for name, value in details.items()}


def _number(value: Any) -> Any:
    if isinstance(value, list):
        return [_number(each) for each in value]
    return _NOT_FINITE.get(value, value) if isinstance(value, str) else value


class _InJson:
    """How pydantic writes and reads details; it is not loaded where nobody does."""

    @staticmethod
    def __get_pydantic_core_schema__(source: Any, handler: Callable[[Any], Any]) -> Any:
        from pydantic_core import core_schema

        written = core_schema.plain_serializer_function_ser_schema(_written, when_used="json")
        return core_schema.no_info_before_validator_function(_read, handler(source), serialization=written)


_Details = Annotated[dict[str, Value], _InJson]


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding.

    code: determines severity, unit, remedy and fault. leg: 1…6, or 0 for the whole
    rig. value, bound: measured value and its limit, in the code's SI unit. details: other values of its
    text. within: findings that this one consists of, or refers to.
    """

    __pydantic_config__: ClassVar = {"ser_json_inf_nan": "constants"}  # otherwise NaN becomes null

    code: Code
    leg: int = 0
    value: float | None = None
    bound: float | None = None
    details: _Details = field(default_factory=dict, hash=False)
    within: tuple["Finding", ...] = ()

    @property
    def root(self) -> "Finding":
        """Return the innermost finding if this one only adds context."""
        return self.within[0].root if self.code.wraps and self.within else self

    @property
    def severity(self) -> Severity:
        """Return the severity."""
        return self.root.code.severity

    @property
    def fault(self) -> FaultCode:
        """Return the kind of fault, NONE if it stops nothing."""
        return self.root.code.fault

    @property
    def remedy(self) -> Remedy:
        """Return the operator's remedy."""
        return self.code.remedy if self.code.remedy is not Remedy.NONE else self.root.code.remedy

    @property
    def unit(self) -> str:
        """Return the SI unit of value and bound, "" without one: its detail of that name, else the code's."""
        return str(self.root.details.get("unit", self.root.code.unit))

    @property
    def text(self) -> str:
        """Return the text in English; `render` supports other languages."""
        return render(self)

    def __str__(self) -> str:
        """See `text`."""
        return self.text

    def elided(self, most: int = 4000) -> Self:
        """Return a copy with texts of at most `most` characters, to limit the size on a link or in a file."""
        texts = {name: elided(value, most) for name, value in self.details.items() if isinstance(value, str)}
        return replace(self, details=self.details | texts, within=tuple(part.elided(most) for part in self.within))

    def names(self, code: Code) -> bool:
        """Return whether this is a finding of `code`, or contains one."""
        return self.code is code or any(part.names(code) for part in self.within)

    def leaves(self) -> Iterator["Finding"]:
        """Yield the findings without inner findings, possibly this one itself."""
        if not self.within:
            yield self
        for part in self.within:
            yield from part.leaves()

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able data with the text; non-finite numbers become None."""

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
            "details": _written(root.details),
            "remedy": self.remedy.value,
            "text": self.text,
        }

    @classmethod
    def of_text(cls, text: str) -> Self:
        """Wrap a message of a driver, the operating system or a library."""
        return cls(Code.MESSAGE, details={"text": text})


def render(finding: Finding, translate: Translate = str) -> str:
    """Return a finding as text; `translate` translates a template with the same fields.

    If a field of the text is missing, code and numbers are given: a missing text must not stop an engine.
    """
    try:
        return _Words(finding, translate).whole()
    except (KeyError, TypeError, ValueError, IndexError):
        return f"{finding.code}: {finding_to_json(finding)}"


def statement(finding: Finding, translate: Translate = str) -> str:
    """Return a finding as text without the leading leg, where the context already gives it."""
    return _Words(finding, translate).filled()


class _Words:
    """Formats the template of one finding."""

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
        """Return the text, with the leg in front unless the template contains it."""
        text, named = self.filled(), fields_of(self._finding.code.text)
        legs = self._fields.get("legs") or ([self._finding.leg] if self._finding.leg else [])
        return f"{self._legs(legs)}: {text}" if legs and not named & _NAMES_LEGS else text

    def filled(self) -> str:
        """Return the template with its fields filled in."""
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
            parts = [render(one, self._translate) if isinstance(one, Finding) else str(one) for one in value]
            if spec == _LINES:
                return "".join("\n  " + part.replace("\n", "\n  ") for part in parts)
            return self._translate(spec.removeprefix(_JOIN) if spec else ", ").join(parts)
        if spec == _NAME:
            return self._translate(value)
        if spec.startswith(_IN):
            from kinematics import in_words

            return in_words(float(value), spec.removeprefix(_IN))
        if spec == _WITH_UNIT:
            from kinematics import in_words_with_bound

            unit = str(self._fields.get("unit", self._finding.code.unit))
            return in_words_with_bound(self._fields["value"], self._fields["bound"], unit)[name == "bound"]
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


def stop_cause(finding: Finding) -> Finding:
    """The cause of a stop with the kind of fault in front, where it is one."""
    kind = finding.fault
    return Finding(Code.FAULT_CAUSE, details={"kind": fault_name(kind)}, within=(finding,)) if kind else finding


def elided(text: str, most: int = 4000) -> str:
    """Shorten a text to `most` characters: beginning, number of omitted characters, and end."""
    if len(text) <= most:
        return text
    mark = f" … {len(text) - most} characters left out … "
    end = most // 4
    return text[: most - end] + mark + text[len(text) - end :]


def _scaled(value: float, factor: float) -> float:
    """Return a value in its display unit, without the product's rounding error."""
    product = float(value) * factor
    return product if factor == 1.0 or not math.isfinite(product) else float(f"{product:.12g}")


@cache
def _split(spec: str) -> tuple[str, str, int, float]:
    """Return comparison mode, Python format, digits of the bound, and factor of a format."""
    found = _SPEC.fullmatch(spec)
    if found is None:
        raise ValueError(f"format {spec!r}")
    return found[1], found[2], int(found[3] or 6), float(found[4] or 1.0)


@cache
def fields_of(template: str) -> frozenset[str]:
    """Return the names of the fields in a template."""
    return frozenset(name for _, name, _, _ in Formatter().parse(template) if name)


def finding_texts() -> list[str]:
    """Return all texts of findings for translation catalogues: templates, list conjunctions, states."""
    joints = {
        spec.removeprefix(_JOIN)
        for code in Code
        for _, _, spec, _ in Formatter().parse(code.text)
        if spec and spec.startswith(_JOIN)
    }
    words = sorted(joint for joint in joints if any(map(str.isalpha, joint)))
    words += [*QUANTITIES, *SENSORS]
    return [*dict.fromkeys(code.text for code in Code if any(map(str.isalpha, _bare(code.text)))), *_NAMES, *words]


def _bare(template: str) -> str:
    """Return a template without its fields."""
    return "".join(literal for literal, _, _, _ in Formatter().parse(template))


def finding_to_json(finding: Finding) -> str:
    """Return a complete finding as JSON; non-finite numbers are NaN and Infinity, as Python writes them."""
    return json.dumps(_packed(finding), separators=(",", ":"))


def finding_from_json(text: str) -> Finding | None:
    """Parse a finding from JSON; None for "", and for a code unknown to this version.

    Raises:
        ValueError: it is not a finding's JSON.
    """
    if not text:
        return None
    try:
        return _unpacked(json.loads(text))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no finding: {error}") from error


def _packed(finding: Finding) -> dict[str, Any]:
    packed: dict[str, Any] = {"code": finding.code.value}
    if finding.leg:
        packed["leg"] = finding.leg
    for name in ("value", "bound"):
        if getattr(finding, name) is not None:
            packed[name] = getattr(finding, name)
    if finding.details:
        packed["details"] = finding.details
    if finding.within:
        packed["within"] = [_packed(part) for part in finding.within]
    return packed


def _unpacked(packed: dict[str, Any]) -> Finding | None:
    if packed["code"] not in _CODES:
        return None
    within = [_unpacked(part) for part in packed.get("within", ())]
    if None in within:
        return None
    return Finding(
        _CODES[packed["code"]],
        int(packed.get("leg", 0)),
        packed.get("value"),
        packed.get("bound"),
        dict(packed.get("details", {})),
        tuple(part for part in within if part is not None),
    )
