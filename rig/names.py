"""Rules for names and notes from users and other programs, and safe output of texts on a terminal."""

import contextlib
import re
import sys
from collections.abc import Iterator
from typing import Any, TextIO

from rig.errors import InputError

LONGEST_NAME = 255
"""characters of a name, as for a file name"""
LONGEST_LINE = 1000
"""characters of a note"""
"""characters of a message"""

_NEVER = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_CONTROL = re.compile(f"[\t\n\r{_NEVER}]")
"""Control characters, line separators, bidirectional controls, surrogates."""
_HIDDEN = re.compile(f"\r(?!\n)|[{_NEVER}]")
"""The same without layout characters: tab, line feed, and carriage return before a line feed."""


def valid_line(text: str) -> str:
    """Return a valid line of text, possibly empty. Raises ValueError with the fault."""
    if len(text) > LONGEST_LINE:
        raise ValueError(f"{len(text)} characters, must be at most {LONGEST_LINE} characters")
    found = _CONTROL.search(text)
    if found is not None:
        shown = printable(found.group().replace("\n", "\\n").replace("\t", "\\t"))
        raise ValueError(f"must be one line without control characters; character {found.start() + 1} is {shown}")
    return text


def valid_name(text: str) -> str:
    """Return a valid non-blank name. Raises ValueError with the fault."""
    if len(text) > LONGEST_NAME:
        raise ValueError(f"{len(text)} characters, must be at most {LONGEST_NAME} characters")
    if not text.strip():
        raise ValueError("must not be empty")
    return valid_line(text)


def check_name(what: str, text: str) -> str:
    """Check the name given for `what`. Raises InputError."""
    try:
        return valid_name(text)
    except ValueError as error:
        raise InputError(f"{what}: {error}") from None


def as_name(text: str, otherwise: str) -> str:
    """Make a valid name from a file's or another program's; `otherwise` if nothing is left of it."""
    return _CONTROL.sub("?", text)[:LONGEST_NAME].strip() or otherwise


def printable(text: str) -> str:
    """Return a text with control characters escaped, except tabs and line ends."""
    return _HIDDEN.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


class PrintableStream:
    """A text stream that escapes control characters in all output.

    `raw` is the underlying stream, for the program's own terminal control; Rich finds it as
    `rich_proxied_file`.
    """

    def __init__(self, raw: TextIO) -> None:
        self.raw = self.rich_proxied_file = raw
        if raw.encoding and raw.encoding.lower().replace("-", "") in ("ascii", "usascii", "ansi_x3.41968"):
            with contextlib.suppress(AttributeError):  # not a file stream
                raw.reconfigure(errors="backslashreplace")  # type: ignore[attr-defined]

    def write(self, text: str) -> int:
        """Write a text."""
        return self.raw.write(printable(text))

    def writelines(self, lines: Any) -> None:
        """Write texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":  # writing bytes would bypass the escaping
            raise AttributeError(name)
        return getattr(self.raw, name)


@contextlib.contextmanager
def printable_streams() -> Iterator[None]:
    """Make standard output and error printable within a `with` block."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (PrintableStream(raw) for raw in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
