"""Conversion of pydantic's validation errors to faults with codes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from kinematics import RangeError, fault_reason
from rig.errors import ConfigFault, KeyPath
from rig.findings import Code, Finding, Value

_MAX_SHOWN = 60  # characters shown of a value
_BY_TYPE = {
    "int_type": Code.NOT_INTEGER,
    "float_type": Code.NOT_NUMBER,
    "finite_number": Code.NOT_FINITE_NUMBER,
    "string_type": Code.NOT_TEXT,
    "bool_type": Code.NOT_BOOLEAN,
    "tuple_type": Code.NOT_LIST,
}


def config_faults(error: ValidationError, data: Mapping[str, Any] | None = None) -> list[ConfigFault]:
    """Return all faults without duplicates: one value given for six legs is one fault.

    data: the validated data, in which keys are looked up; None: use pydantic's keys.
    """
    faults = (ConfigFault(_key(data, item["loc"]), finding_of(item)) for item in error.errors(include_url=False))
    return list({fault.text: fault for fault in faults}.values())


def _key(data: Mapping[str, Any] | None, place: KeyPath) -> KeyPath:
    """Return the part of pydantic's location that exists in `data`; the rest names type alternatives."""
    if data is None:
        return place
    value: Any = data
    for depth, part in enumerate(place):
        if not isinstance(value, (Mapping, list, tuple)):
            return place[:depth]
        if isinstance(value, Mapping):
            value = value.get(part)
        else:
            value = value[part] if isinstance(part, int) and part < len(value) else None
    return place


def finding_of(item: Any) -> Finding:
    """Convert one of pydantic's errors to a finding."""
    kind, value, context = item["type"], item["input"], item.get("ctx", {})
    shown = repr(value)
    shown = shown if len(shown) <= _MAX_SHOWN else shown[: _MAX_SHOWN - 3] + "..."
    if kind in _BY_TYPE:
        return Finding(_BY_TYPE[kind], details={"shown": shown})
    match kind:
        case "extra_forbidden":
            return Finding(Code.KEY_UNKNOWN)
        case "missing":
            return Finding(Code.KEY_MISSING)
        case "too_long":
            return Finding(Code.ENTRY_COUNT, value=len(value), bound=context["max_length"])
        case "value_error":
            return _refused(context.get("error", item["msg"]))
        case "literal_error":
            return Finding(Code.NOT_A_CHOICE, details={"choices": context["expected"], "shown": shown})
        case "model_type":
            return Finding(Code.NOT_TABLE, details={"shown": shown})
        case "too_short" | "string_too_short" if context["min_length"] == 1:
            return Finding(Code.TEXT_EMPTY)
        case "greater_than_equal":
            return Finding(Code.BELOW_LEAST, value=value, bound=context["ge"], details={"shown": shown})
        case "less_than_equal":
            return Finding(Code.ABOVE_GREATEST, value=value, bound=context["le"], details={"shown": shown})
        case _:
            return Finding(Code.VALUE_INVALID, details={"text": fault_reason(item), "shown": shown})


def _refused(error: object) -> Finding:
    if not isinstance(error, RangeError):
        return Finding(Code.VALUE_REFUSED, details={"text": str(error)})
    value, bounds = error.value, error.bounds
    if bounds.least == -math.inf:
        return Finding(Code.MORE_THAN_MOST, 0, value, bounds.greatest, {"unit": bounds.unit})
    bound = bounds.greatest if value > bounds.greatest else bounds.least
    details: dict[str, Value] = {"low": bounds.least, "high": bounds.greatest, "unit": bounds.unit}
    return Finding(Code.OUT_OF_RANGE, 0, value, bound, details)
