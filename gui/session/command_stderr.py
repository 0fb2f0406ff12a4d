"""What a `rig` command says on its error stream, taken apart."""

from collections.abc import Iterable
from pathlib import Path

STEP = "… "
"""begins a line that says what is being done"""

QUESTION = "? "
"""begins a line that says what is to be done before the command goes on"""

_WARNING = "warning: "
_ERRORS = ("error: ", "Error: ")  # the second of whoever reads the options
_UNUSABLE = ("these recordings cannot be used:",)


def errors_and_warnings(stream: str) -> tuple[list[str], list[str]]:
    """The errors and the warnings of a whole stream, each with the lines that go on with it."""
    errors: list[str] = []
    warnings: list[str] = []
    into: list[str] | None = None
    for line in stream.splitlines():
        marks = [mark for mark in (*_ERRORS, _WARNING) if line.startswith(mark)]
        if line.startswith((STEP, QUESTION)):
            into = None
        elif marks:
            into = warnings if marks[0] == _WARNING else errors
            into.append(line.removeprefix(marks[0]).strip())
        elif into is not None and line.strip():
            into[-1] += f"\n{line.rstrip()}"
    return errors, warnings


def in_a_line(text: str, files: Iterable[Path]) -> str:
    """A message in one line, without what a list of files says of them already."""
    lines = [line.strip() for line in text.splitlines()]
    for file in files:
        lines = [line.removeprefix(f"{file}: ") for line in lines]
    return "; ".join(line for line in lines if line not in _UNUSABLE)
