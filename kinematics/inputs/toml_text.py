"""TOML written for a person to read, by tomlkit: lists and mappings inline, comments in a column of their own."""

from collections.abc import Mapping, Sequence
from typing import Any

import tomlkit
from tomlkit.items import Item, Table


def toml_item(value: Any) -> Item:
    """A value as TOML: text, bool, int, float, date, a sequence or a mapping of them (an inline table).

    Raises TypeError for anything else.
    """
    if isinstance(value, Mapping):
        table = tomlkit.inline_table()
        for key, each in value.items():
            table.append(key, toml_item(each))
        return table
    if isinstance(value, Sequence) and not isinstance(value, str):
        array = tomlkit.array()
        array.extend(map(toml_item, value))
        return array
    item: Item = tomlkit.item(value)
    return item


def add_toml_entry(
    table: tomlkit.TOMLDocument | Table, key: str, value: Any, comment: str = "", column: int = 0
) -> None:
    """Add the line of a key to a table, with a comment from that column on if there is one."""
    item = toml_item(value)
    table.add(key, item)
    if comment:
        align_comment(item, f"{key} = {item.as_string()}", comment, column)


def align_comment(item: Item, line: str, comment: str, column: int) -> None:
    """Let the `line` of an item carry a comment from that column on, or two spaces behind a longer one."""
    item.comment(comment)
    item.trivia.comment_ws = " " * max(column - len(line), 2)
