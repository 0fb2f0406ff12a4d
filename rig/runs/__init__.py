"""Runs: each motion that was run, in whichever recording it lies, with what is known and what was said of it since."""

from rig.runs.annotations import BOOK, Book, Entry, read_book, said_of, write_entry
from rig.runs.catalogue import Catalogue, Listed, beside, matches
from rig.runs.numbers import NUMBERS, judge_again, numbers_of
from rig.runs.run import Run, runs_of

__all__ = [
    "BOOK",
    "NUMBERS",
    "Book",
    "Catalogue",
    "Entry",
    "Listed",
    "Run",
    "beside",
    "judge_again",
    "matches",
    "numbers_of",
    "read_book",
    "runs_of",
    "said_of",
    "write_entry",
]
