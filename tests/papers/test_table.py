"""The documents' table of the five papers: one shape, no empty cell, and code that is there."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rig.papers import Verdict

ROOT = Path(__file__).parents[2]
HEADER = ("In the paper", "What", "In the code", "Printed", "Here", "Verdict")
KEY = re.compile(r"`([a-z0-9]+(?:-[a-z0-9]+)*)`")
"""A claim's key, as a row names it under "What"."""
_SECTIONS = re.split(r"^## ", (ROOT / "docs" / "papers.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]


def rows(section: str) -> list[tuple[str, ...]]:
    """The rows of a section's table, its header first."""
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]) for line in lines]


def told(title: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The keys that the rows of the section named so name, each with its row."""
    section = next(section for section in _SECTIONS if section.startswith(title))
    for row in rows(section)[2:]:
        for key in KEY.findall(row[1]):
            yield key, row


@pytest.mark.parametrize("section", _SECTIONS, ids=lambda section: section.splitlines()[0])
def test_a_paper_is_told_whole(section: str) -> None:
    found = rows(section)
    assert [len(row) for row in found if len(row) != len(HEADER)] == []
    assert [row for row in found if "" in row] == []
    for row in found[2:]:
        for place in re.findall(r"`([a-z_/0-9]+\.py)`", row[2]):
            assert (ROOT / place).is_file(), f"{row[0]}: {place}"


@pytest.mark.parametrize("section", _SECTIONS, ids=lambda section: section.splitlines()[0])
def test_no_verdict_is_without_its_claim(section: str) -> None:
    """What the key names is a claim of the study: each section's own test asks for that."""
    verdicts = set(map(str, Verdict))
    assert [row[:2] for row in rows(section)[2:] if row[5] in verdicts and not KEY.search(row[1])] == []
