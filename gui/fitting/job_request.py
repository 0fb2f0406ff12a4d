"""What a wizard asks of a service, and what comes of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class JobRequest:
    """A service of `rig.services` and its request, without the file that it writes.

    service: the function. kind: of its request, which is made of `values` once it is run: a value that cannot be is
    then refused by its name. contents: the service that only looks into the files, None where there are none. files:
    that it works on. saved: name of a file beside which what it writes is offered to be saved, with the end of its
    name. planning: whether it plans what is to be measured, instead of working on it. writes: the field of the request
    that names the file.
    """

    service: Callable[..., Any]
    kind: Callable[..., Any]
    values: Mapping[str, object] = field(default_factory=dict)
    contents: Callable[..., Any] | None = None
    files: tuple[Path, ...] = ()
    saved: Path = Path()
    planning: bool = False
    writes: str = "output"

    def request(self, output: Path | None = None) -> Any:
        """The request; of one that only looks into files, without the file that it writes. Raises InputError."""
        return self.kind(**self.values, **({} if output is None else {self.writes: output}))


def values_of(**values: object) -> dict[str, object]:
    """Fields of a request by their names; those are left out whose value is None or empty."""
    return {name: value for name, value in values.items() if value is not None and value != ""}


def unless(value: float, usual: float) -> float | None:
    """A value, None where it is the usual one: the service then takes its own."""
    return None if value == usual else value


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it.

    asked: for it. result: as a JSON object. text: of the file that it wrote, None where it refused to write
    one. refusal: why, in its words. warnings: that it gave.
    """

    asked: JobRequest
    result: Mapping[str, Any]
    text: str | None
    refusal: str = ""
    warnings: tuple[str, ...] = ()
