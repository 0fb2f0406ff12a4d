"""Runs: each motion in any recording, with its numbers and annotations."""

from rig.runs.catalogue import (
    BOOK,
    Annotations,
    Catalogue,
    Entry,
    Listed,
    annotations_of,
    compare_runs,
    matches,
    read_annotations,
    write_entry,
)
from rig.runs.run import NUMBERS, Run, judge_again, numbers_of, runs_of

__all__ = [
    "BOOK",
    "NUMBERS",
    "Annotations",
    "Catalogue",
    "Entry",
    "Listed",
    "Run",
    "annotations_of",
    "compare_runs",
    "judge_again",
    "matches",
    "numbers_of",
    "read_annotations",
    "runs_of",
    "write_entry",
]
