"""What is wrong with a key of a file or a request, by the code and context of pydantic's fault.

The one place that says it; pydantic's own sentences are used as they are where it has a code that is not here.
"""

from typing import Any

_LONGEST = 300  # characters
_BY_TYPE = {
    "missing": "missing",
    "extra_forbidden": "unknown key",
    "finite_number": "must be a finite number",
    "none_required": "must be left out",
    "path_type": "must be a path",
    **dict.fromkeys(("string_type", "string_sub_type"), "must be text"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "must be an integer"),
    **dict.fromkeys(("float_type", "float_parsing"), "must be a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "must be true or false"),
    **dict.fromkeys(("list_type", "tuple_type"), "must be a list"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type", "dataclass_type"), "must be a table"),
}
_COMPARISONS = {
    "greater_than": ("greater than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("less than", "lt"),
    "less_than_equal": ("at most", "le"),
}


def fault_reason(fault: Any) -> str:
    """Return the reason of one of the `errors()` of a ValidationError, without its place and value."""
    reason = _reason(fault["type"], fault.get("ctx", {}), fault["msg"])
    return reason if len(reason) <= _LONGEST else reason[:_LONGEST] + "…"


def _reason(kind: str, context: dict[str, Any], message: str) -> str:
    if kind in _BY_TYPE:
        return _BY_TYPE[kind]
    if kind in _COMPARISONS:
        words, name = _COMPARISONS[kind]
        bound = context[name]
        return f"must be {words} {bound:.15g}" if isinstance(bound, int | float) else f"must be {words} {bound}"
    match kind:
        case "value_error" | "assertion_error":
            return str(context.get("error", message))
        case "literal_error" | "enum":
            return f"must be {context['expected']}"
        case "is_instance_of":
            return f"must be of type {context['class']}"
        case "string_too_short" if context["min_length"] == 1:
            return "must not be empty"
        case "string_too_short":
            return f"must have at least {context['min_length']} characters"
        case "string_too_long":
            return f"must have at most {context['max_length']} characters"
        case "string_pattern_mismatch":
            return f"must match {context['pattern']}"
        case "too_short":
            return f"{context['actual_length']} entries, must be at least {context['min_length']}"
        case "too_long":
            return f"{context['actual_length'] or 'too many'} entries, must be at most {context['max_length']}"
        case "union_tag_invalid":
            return f"{context['discriminator']} is {context['tag']!r}, must be one of {context['expected_tags']}"
        case "union_tag_not_found":
            return f"{context['discriminator']} is missing"
        case _ if kind.startswith("date"):
            return "must be a valid date"
        case _:
            return message
