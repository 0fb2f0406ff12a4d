"""What a recording says of itself is JSON, and JSON has no number that is not finite."""

import pytest

from rig.recording.metadata import digest, parse_object


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_a_number_that_is_not_finite_is_no_json(constant: str) -> None:
    doubts: list[str] = []
    with pytest.raises(ValueError, match=f"{constant} is no number"):
        parse_object("the header", {"json": f'{{"rate": {constant}}}'}, doubts)
    assert doubts == []


def test_the_text_is_held_against_its_hash() -> None:
    doubts: list[str] = []
    text = '{"rate": 500.0}'
    assert parse_object("the header", {"json": text, "sha256": digest(text)}, doubts) == ({"rate": 500.0}, True)
    assert doubts == []
    parse_object("the header", {"json": text, "sha256": digest("{}")}, doubts)
    assert doubts == ["the header is not as it was written: its checksum differs"]
