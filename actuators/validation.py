"""What is wrong with a profile or with options, by the code and context of pydantic's faults.

It says what `kinematics.inputs.validation` says of a configuration, which this package does not import.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, ValidationError
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

_LISTED_FAULTS = 30
_MAX_SHOWN = 60  # characters shown of a value
_BARE = {"missing": "missing", "extra_forbidden": "unknown key"}
_TYPES = {
    "finite_number": "must be a finite number",
    "string_type": "must be text",
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "must be an integer"),
    **dict.fromkeys(("float_type", "float_parsing"), "must be a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "must be true or false"),
    **dict.fromkeys(("list_type", "tuple_type"), "must be a list"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "must be a table"),
}
_COMPARISONS = {
    "greater_than": ("greater than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("less than", "lt"),
    "less_than_equal": ("at most", "le"),
}


class FaultsError(ValueError):
    """Several faults of one table; each has a line of its own in `describe`."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = tuple(faults)


@dataclass(frozen=True, slots=True)
class SiUnit:
    """Marks a number with its SI unit: for the reference of all keys, and for the message of one out of bounds."""

    unit: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """See pydantic: the number's own schema, whose comparisons say the unit."""
        return core_schema.no_info_wrap_validator_function(self._checked, handler(source))

    def _checked(self, value: Any, check: core_schema.ValidatorFunctionWrapHandler) -> Any:
        try:
            return check(value)
        except ValidationError as error:
            (fault,) = error.errors(include_url=False)
            if fault["type"] not in _COMPARISONS:
                raise
            text = f"{_comparison(fault)} {self.unit}, not {value!r} {self.unit}"
            raise PydanticCustomError("out_of_bounds", "{text}", {"text": text}) from None


def shown(value: object) -> str:
    """A value as messages show it."""
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 3]}..."


def describe(error: ValidationError, data: Mapping[str, Any]) -> str:
    """All faults of a pydantic validation of `data`, one line each: path inside it, then what is wrong."""
    faults = []
    for fault in error.errors(include_url=False):
        path = _path(fault["loc"], data, missing=fault["type"] == "missing")
        faults += [f"  {path}: {text}" if path else f"  {text}" for text in _texts(fault)]
    faults = list(dict.fromkeys(faults))
    more = len(faults) - _LISTED_FAULTS
    return "\n".join(faults[:_LISTED_FAULTS] + ([f"  and {more} more"] if more > 0 else []))


def _path(place: Sequence[str | int], data: Any, *, missing: bool) -> str:
    """The keys of pydantic's location that are in the data, the last even if it is missing; the rest names types."""
    path, value = "", data
    for depth, part in enumerate(place):
        if isinstance(value, Mapping) and (part in value or (missing and depth == len(place) - 1)):
            path, value = f"{path}.{part}", value.get(part)
        elif isinstance(part, int) and isinstance(value, list | tuple) and part < len(value):
            path, value = f"{path}[{part + 1}]", value[part]
    return path.removeprefix(".")


def _texts(fault: Any) -> Sequence[str]:
    kind, value, context = fault["type"], fault["input"], fault.get("ctx", {})
    refused = context.get("error")
    if isinstance(refused, FaultsError):
        return refused.faults
    if kind == "value_error":
        return [str(refused)]
    if kind in _BARE:
        return [_BARE[kind]]
    if kind in ("too_short", "too_long"):
        words, name = ("at least", "min_length") if kind == "too_short" else ("at most", "max_length")
        return [f"{context['actual_length']} entries, must be {words} {context[name]}"]
    return [fault["msg"] if kind == "out_of_bounds" else f"{_must_be(fault)}, not {shown(value)}"]


def _must_be(fault: Any) -> str:
    kind, context = fault["type"], fault.get("ctx", {})
    if kind in _TYPES:
        return _TYPES[kind]
    if kind in _COMPARISONS:
        return _comparison(fault)
    return f"must be {context['expected']}" if kind == "literal_error" else str(fault["msg"])


def _comparison(fault: Any) -> str:
    words, name = _COMPARISONS[fault["type"]]
    return f"must be {words} {fault['ctx'][name]:.15g}"
