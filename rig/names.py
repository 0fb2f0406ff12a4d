"""Names and notes that people and other programs give: what they may be, and how any text is shown on a terminal."""

import contextlib
import re
import sys
from collections.abc import Iterator
from typing import Any, TextIO

from rig.errors import InputError

LONGEST_NAME = 255
"""characters of a name, as of a file's"""
LONGEST_LINE = 1000
"""characters of a note"""
"""characters of a message"""

_NEVER = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_CONTROL = re.compile(f"[\t\n\r{_NEVER}]")
"""Control characters, separators of lines, changes of the direction of writing, halves of characters."""
_HIDDEN = re.compile(f"\r(?!\n)|[{_NEVER}]")
"""The same without what lays a text out: tab, line feed, and the carriage return before one."""


def valid_line(text: str) -> str:
    """A line of text, which may be empty. Raises ValueError, saying what is wrong with it."""
    if len(text) > LONGEST_LINE:
        raise ValueError(f"{len(text)} characters, must be at most {LONGEST_LINE} characters")
    found = _CONTROL.search(text)
    if found is not None:
        shown = printable(found.group().replace("\n", "\\n").replace("\t", "\\t"))
        raise ValueError(f"must be one line without control characters; character {found.start() + 1} is {shown}")
    return text


def valid_name(text: str) -> str:
    """A name: a line that says something. Raises ValueError, saying what is wrong with it."""
    if len(text) > LONGEST_NAME:
        raise ValueError(f"{len(text)} characters, must be at most {LONGEST_NAME} characters")
    if not text.strip():
        raise ValueError("must not be empty")
    return valid_line(text)


def check_name(what: str, text: str) -> str:
    """A name that was given for `what`. Raises InputError."""
    try:
        return valid_name(text)
    except ValueError as error:
        raise InputError(f"{what}: {error}") from None


def as_name(text: str, otherwise: str) -> str:
    """A name made of what a file, or another program, calls something; `otherwise` where nothing is left of it."""
    return _CONTROL.sub("?", text)[:LONGEST_NAME].strip() or otherwise


def printable(text: str) -> str:
    """A text whose control characters are shown as escapes; tabs and line ends stay."""
    return _HIDDEN.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


class PrintableStream:
    """A text stream that shows control characters as escapes, whoever writes them and wherever they came from.

    `raw` is the stream below it, for what the program itself controls the terminal by; Rich finds it by its name for
    the same, `rich_proxied_file`.
    """

    def __init__(self, raw: TextIO) -> None:
        self.raw = self.rich_proxied_file = raw
        if raw.encoding and raw.encoding.lower().replace("-", "") in ("ascii", "usascii", "ansi_x3.41968"):
            with contextlib.suppress(AttributeError):  # no file's
                raw.reconfigure(errors="backslashreplace")  # type: ignore[attr-defined]

    def write(self, text: str) -> int:
        """Write a text."""
        return self.raw.write(printable(text))

    def writelines(self, lines: Any) -> None:
        """Write texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":  # whoever writes bytes would go past this
            raise AttributeError(name)
        return getattr(self.raw, name)


@contextlib.contextmanager
def printable_streams() -> Iterator[None]:
    """Within a `with` block, what goes to the standard output or error is printable."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (PrintableStream(raw) for raw in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
