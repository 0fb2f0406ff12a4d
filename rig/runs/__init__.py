"""Runs: each motion that was run, in whichever recording it lies, with what is known and what was said of it since."""

from rig.runs.annotations import BOOK, Annotations, Entry, annotations_of, read_annotations, write_entry
from rig.runs.catalogue import Catalogue, Listed, compare_runs, matches
from rig.runs.numbers import NUMBERS, judge_again, numbers_of
from rig.runs.run import Run, runs_of

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
