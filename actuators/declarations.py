"""What distributions declare as entry points, found by name: drivers, control laws, references, sensor readers."""

import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from actuators.errors import ConfigurationError

_Declared = TypeVar("_Declared")


def installed() -> tuple[EntryPoint, ...]:
    """Entry points of this program's groups, of all distributions on the present `sys.path`, sorted."""
    return _installed(tuple(sys.path))


@cache
def _installed(_path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Cached, as each look through all of them takes milliseconds."""
    every = entry_points()
    groups = [group for group in every.groups if group.startswith("stewart_rig.")]
    return tuple(sorted(entry for group in groups for entry in every.select(group=group)))


class Declarations(Generic[_Declared]):
    """Declarations of one kind: those of this program, and those in an entry-point group.

    Args:
        called: what one is called in messages; an s makes it plural.
        kind: class of a declaration. If it has a name, this must be that of its entry point.
        groups: of entry points.
        built_in: found without installed metadata, so that a source checkout works; an installation may declare them.
        error: class of the exceptions.
        adapt: makes a declaration of what an entry point of that name has.
    """

    def __init__(
        self,
        called: str,
        kind: type[_Declared],
        *groups: str,
        built_in: Sequence[EntryPoint] = (),
        error: type[Exception] = ConfigurationError,
        adapt: Callable[[str, object], object] = lambda _name, found: found,
    ) -> None:
        self._called, self._kind, self._groups = called, kind, groups
        self._built_in, self._error, self._adapt = built_in, error, adapt

    def _entries(self) -> dict[str, EntryPoint]:
        entries = {entry.name: entry for entry in self._built_in}
        for entry in installed():
            if entry.group not in self._groups:
                continue
            known = entries.setdefault(entry.name, entry)
            if known.value != entry.value:
                raise self._error(f"two {self._called}s are called {entry.name!r}: {known.value} and {entry.value}")
        return entries

    def names(self) -> tuple[str, ...]:
        """All names, those of this program first, the others sorted. Raises an error if two share one."""
        return tuple(self._entries())

    def find(self, name: str) -> _Declared:
        """The declaration called `name`. Raises an error for an unknown one, listing the known, or a broken one."""
        entries, called = self._entries(), self._called
        if name not in entries:
            known = ", ".join(sorted(entries)) or "none"
            raise self._error(f"no {called} {name!r}; known {called}s: {known}")
        where = f"{called} {name!r} ({entries[name].value})"
        try:
            found = self._adapt(name, entries[name].load())
        except Exception as error:  # whatever a module of another distribution raises when it is imported
            raise self._error(f"{where} cannot be loaded: {type(error).__name__}: {error}") from error
        if not isinstance(found, self._kind):
            raise self._error(f"{where} must be a {self._kind.__name__}, got {found!r}")
        if getattr(found, "name", name) != name:
            raise self._error(f"{where} declares the name {found.name!r}")  # type: ignore[attr-defined]
        return found
