"""A failed check of a conformance suite, and how checks are run."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar


class Bench(Protocol):
    """What a check of a driver is given: the driver over its own twin."""

    def close(self) -> None:
        """Close the driver's device."""


_Bench = TypeVar("_Bench", bound=Bench)
_Make = TypeVar("_Make")


@dataclass(frozen=True, slots=True)
class Failure:
    """check: its name, a key of `LAW_CHECKS` or its like, of a driver behind that of its bench. text: what is wrong."""

    check: str
    text: str


class ConformanceError(Exception):
    """What a check has found, with which it cannot go on."""


def run_checks(checks: Mapping[str, Callable[[], Iterator[str]]]) -> tuple[Failure, ...]:
    """Run every check; the first thing that each finds, and an exception as one."""
    failures = []
    for name, check in checks.items():
        try:
            text = next(check(), None)
        except ConformanceError as error:
            text = str(error)
        except Exception as error:  # of whatever kind, where what is checked is somebody else's
            text = f"{type(error).__name__}: {error}"
        if text is not None:
            failures.append(Failure(name, text))
    return tuple(failures)


def on_bench(
    check: Callable[[_Bench], Iterator[str]], options: Mapping[str, Any], make: Callable[..., _Bench]
) -> Iterator[str]:
    """Run a check on a bench of its own, made with these options, and close it."""
    with closing(make(**options)) as bench:
        yield from check(bench)


def on_every_bench(
    checks: Mapping[str, Callable[[_Make], Iterator[str]]], benches: Mapping[str, _Make]
) -> dict[str, Callable[[], Iterator[str]]]:
    """Every check on every bench, by the names of both."""
    return {
        f"{bench}: {name}": partial(check, make) for bench, make in benches.items() for name, check in checks.items()
    }
