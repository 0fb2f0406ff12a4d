"""Input files of bounded size and depth; and TOML formatted for people."""

import os
import re
import select
import stat
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any, TextIO

import tomlkit
from tomlkit.items import Item, Table

from kinematics.errors import InputFileError, MissingFileError

MOST_BYTES = 1_000_000
"""Limit of a TOML file; the shipped ones have some thousand."""
MOST_TABLE_BYTES = 500_000_000
"""Limit of a CSV table: an hour at 1 kHz with every column."""
PIPE_PATIENCE = 60.0
"""longest time without data from a pipe, s"""
_IN_MEMORY = 16_000_000  # bytes of a pipe; more goes into a temporary file
_PIECE = 1 << 16
_DEEPEST = 16  # nesting of tables and lists; the files of this project need five
_LARGEST_INTEGER = 2**63

_WORD = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_-])(?:{_WORD}[ \t]*+\.[ \t]*+){{{_DEEPEST}}}")
"""A key with so many dotted parts that the TOML parser, which is quadratic in them, might take minutes."""


def is_pipe(path: str | Path) -> bool:
    """Return whether a path is a pipe: /dev/stdin behind a command, a FIFO, or a shell's <(command)."""
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


@contextmanager
def open_table(path: str | Path, most: int = MOST_TABLE_BYTES) -> Iterator[TextIO]:
    """Open as `open_input`, also a pipe, read until its last writer has closed it."""
    with open_input(path, most, pipe=True) as file:
        yield file


@contextmanager
def open_input(path: str | Path, most: int = MOST_TABLE_BYTES, *, pipe: bool = False) -> Iterator[TextIO]:
    """Open a regular file of at most `most` bytes as UTF-8 text, with or without byte order mark, newlines untouched.

    pipe: whether a pipe is allowed, also of at most `most` bytes.

    Raises:
        MissingFileError: the file does not exist.
        InputFileError: it is a folder, a device, a pipe where none is allowed, too large, cannot be read, or is a
            pipe without data for `PIPE_PATIENCE`; also from the body, if it reads bytes that are not
            UTF-8.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)  # do not block on a pipe
        found = os.fstat(descriptor)
        piped = pipe and stat.S_ISFIFO(found.st_mode)
        if not (piped or stat.S_ISREG(found.st_mode)):
            os.close(descriptor)
            must = "must be a regular file or a pipe" if pipe else "must be a regular file"
            raise InputFileError(f"cannot be read: {_kind(found.st_mode)}, {must}")
        with open(descriptor, "rb") as raw:
            if found.st_size > most:
                raise InputFileError(f"{found.st_size} bytes, must be at most {most}")
            with TextIOWrapper(_drained(descriptor, most) if piped else raw, "utf-8-sig", newline="") as file:
                yield file
    except UnicodeDecodeError as error:
        raise InputFileError(f"not a text file: byte 0x{error.object[error.start]:02x} is not UTF-8") from None
    except FileNotFoundError:
        raise MissingFileError("no such file") from None
    except OSError as error:
        raise InputFileError(f"cannot be read: {error.strerror or error}") from None
    except UnicodeEncodeError:
        raise InputFileError("no file name may have such characters") from None
    except ValueError as error:
        if "null byte" not in str(error):  # raised by the body, not by opening
            raise
        raise InputFileError("no file name may have a null character") from None


def _drained(descriptor: int, most: int) -> IO[bytes]:
    """Read a non-blocking pipe to its end. Raises InputFileError."""
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    spooled = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115  closed by the reader
    count = 0
    try:
        while True:
            if not poller.poll(PIPE_PATIENCE * 1e3):
                raise InputFileError(f"a pipe into which nothing is written for {PIPE_PATIENCE:g} s")
            piece = os.read(descriptor, _PIECE)
            count += len(piece)
            if count > most:
                raise InputFileError(f"more than {most} bytes out of a pipe")
            if not piece:
                break
            spooled.write(piece)
        spooled.seek(0)
    except BaseException:
        spooled.close()
        raise
    return spooled


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "a folder"
    if stat.S_ISFIFO(mode):
        return "a pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"


def read_text(path: str | Path, most: int = MOST_BYTES) -> str:
    """Return the text of a file with newlines normalised. Raises as `open_input`."""
    with open_input(path, most) as file:
        text = file.read(most + 1)  # files in /proc report no size
    if len(text) > most:
        raise InputFileError(f"more than {most} characters")
    return text.replace("\r\n", "\n")


def parse_toml(text: str) -> dict[str, Any]:
    """Parse a TOML text to its tables.

    Raises:
        InputFileError: invalid TOML, nested too deep, or an integer beyond 64 bits.
    """
    if len(text) > MOST_BYTES:
        raise InputFileError(f"{len(text)} characters, must be at most {MOST_BYTES}")
    long = _LONG_KEY.search(text)
    too_deep = f"tables and lists are nested more than {_DEEPEST} deep"
    if long is not None:
        line = text.count("\n", 0, long.start()) + 1
        raise InputFileError(f"{too_deep}, by the dotted key in line {line}")
    try:
        data = tomllib.loads(text)
    except RecursionError:
        raise InputFileError(too_deep) from None
    except tomllib.TOMLDecodeError as error:
        raise InputFileError(f"not valid TOML: {error}") from None
    except ValueError as error:  # a number with too many digits, an impossible date
        raise InputFileError(f"not valid TOML: {str(error).partition(';')[0]}") from None
    level: list[Any] = [data]
    for _depth in range(_DEEPEST + 1):
        level = [item for one in level for item in (one.values() if isinstance(one, dict) else one)]
        for item in level:
            if isinstance(item, int) and not -_LARGEST_INTEGER <= item < _LARGEST_INTEGER:
                raise InputFileError(f"an integer of {item.bit_length()} bits, TOML has 64")
        level = [item for item in level if isinstance(item, dict | list)]
        if not level:
            return data
    raise InputFileError(too_deep)


def toml_item(value: Any) -> Item:
    """Convert a value to TOML: text, bool, int, float, date, a sequence or a mapping of them (an inline table).

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
    """Add the line of a key to a table, with a comment, if any, from that column on."""
    item = toml_item(value)
    table.add(key, item)
    if comment:
        align_comment(item, f"{key} = {item.as_string()}", comment, column)


def align_comment(item: Item, line: str, comment: str, column: int) -> None:
    """Attach a comment to the `line` of an item, from that column on or two spaces behind a longer line."""
    item.comment(comment)
    item.trivia.comment_ws = " " * max(column - len(line), 2)
