"""TOML written for a person to read: values, lines with comments, inline tables. `parse_toml` reads it back."""

import json
from collections.abc import Mapping
from datetime import date
from typing import Any


def toml_value(value: Any) -> str:
    """A value as TOML: text, bool, int, float, date, a sequence or a mapping of them (an inline table).

    Raises TypeError for anything else.
    """
    match value:
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return float.__repr__(value)  # the shortest text that reads back as the same number
        case date():
            return value.isoformat()
        case Mapping():
            return f"{{ {', '.join(toml_entry(str(key), item) for key, item in value.items())} }}"
        case list() | tuple():
            return f"[{', '.join(map(toml_value, value))}]"
    raise TypeError(f"{value!r} ({type(value).__name__}) has no form in TOML")


def toml_entry(key: str, value: Any, comment: str = "", column: int = 0) -> str:
    """The line of a key, with a comment from that column on if there is one."""
    text = f"{key} = {toml_value(value)}"
    return f"{text:<{max(column, len(text) + 1)}} # {comment}" if comment else text
