"""TOML that is written reads back as what it was."""

import tomllib
from datetime import date
from typing import Any

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from kinematics import add_toml_entry, toml_item

VALUES = st.recursive(
    st.text(st.characters(exclude_categories=["Cs"])) | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), inner),
    max_leaves=8,
)


def _line(key: str, value: Any, comment: str = "", column: int = 0) -> str:
    document = tomlkit.document()
    add_toml_entry(document, key, value, comment, column)
    return tomlkit.dumps(document)


@given(VALUES)
def test_whatever_is_written_reads_back(value: Any) -> None:
    back = tomllib.loads(_line("key", value, "a comment"))["key"]
    assert repr(back) == repr(value)  # NaN is not itself, and 0 not −0


def test_lines_as_a_person_writes_them() -> None:
    assert _line("rate", 500.0, "Hz", 16) == "rate = 500.0    # Hz\n"
    assert _line("rate", 500.0, "Hz", 4) == "rate = 500.0  # Hz\n"
    assert _line("day", date(2026, 11, 21)) == "day = 2026-11-21\n"
    assert _line("drive", {"host": "a", "port": 502}) == 'drive = {host = "a", port = 502}\n'
    assert toml_item((1, (True, "x\x7f"))).as_string() == '[1, [true, "x\\u007f"]]'


def test_what_toml_has_no_form_for_is_refused() -> None:
    with pytest.raises(TypeError, match="NoneType"):
        toml_item([None])
