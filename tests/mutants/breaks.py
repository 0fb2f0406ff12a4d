"""What a break is, and making it."""

import re
from dataclasses import dataclass
from pathlib import Path


class BreakError(Exception):
    """A break does not fit the text any more."""


@dataclass(frozen=True, slots=True)
class Break:
    """One guard, check or reaction taken out.

    name: what is broken, in words. path: of the module, from the root. old, new: its text, which must be there exactly
    once, and what takes its place. tests: files or tests, from `tests`, of which one must fail; the quick ones first.
    equivalent: why no test can fail, for a break that changes nothing anybody could see.
    """

    name: str
    path: str
    old: str
    new: str
    tests: tuple[str, ...]
    equivalent: str = ""

    def broken(self, text: str) -> str:
        """The module's text with the break in it. Raises BreakError."""
        count = text.count(self.old)
        if count != 1:
            raise BreakError(f"{self.name}: the text to be broken is {count} times in {self.path}, must be there once")
        text = text.replace(self.old, self.new)
        if not self.path.endswith(".py"):
            return text
        try:
            compile(text, self.path, "exec", dont_inherit=True)
        except SyntaxError as error:
            raise BreakError(f"{self.name}: {self.path} would be no Python any more: {error}") from None
        return text


def check(breaks: list[Break], root: Path) -> list[str]:
    """What is wrong with a table of breaks, one line each."""
    faults = []
    names = [one.name for one in breaks]
    faults += [f"{name}: there is another break of this name" for name in {n for n in names if names.count(n) > 1}]
    for one in breaks:
        try:
            one.broken((root / one.path).read_text(encoding="utf-8"))
        except (BreakError, OSError) as error:
            faults.append(str(error))
        faults += [f"{one.name}: no {test}" for test in one.tests if not _exists(root / "tests", test)]
    return faults


def _exists(tests: Path, test: str) -> bool:
    """Whether there is a file, and the function in it that a test's name ends with."""
    file, *parts = test.split("::")
    path = tests / file
    return path.exists() and all(
        re.search(rf"^ *(?:def|class) {re.escape(part.partition('[')[0])}\b", path.read_text(encoding="utf-8"), re.M)
        for part in parts
    )
