"""A failed check of a conformance suite, how checks are run, and what several suites look at."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel


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


def refusal(kind: type[Exception], words: str, call: Callable[[], object]) -> str:
    """What is wrong where `call` does not raise such an error with these words; "" if it does."""
    try:
        call()
    except kind as error:
        return "" if words in str(error) else f"raises {type(error).__name__} without {words!r}: {error}"
    except Exception as error:  # of whatever kind, where what is checked is somebody else's
        return f"raises {type(error).__name__}, must be {kind.__name__}: {error}"
    return f"raises nothing, must be {kind.__name__}"


def wrong_kind(what: str, value: object, kind: type) -> str:
    """What is wrong where `value` is no `kind`; "" if it is."""
    return "" if isinstance(value, kind) else f"{what} is a {type(value).__name__}, must be a {kind.__name__}"


def alike(part: type[BaseModel], options: type[BaseModel]) -> bool:
    """Whether the options have the defaults of a part of theirs."""
    whole = options.model_fields
    return all(
        field.get_default(call_default_factory=True) == whole[name].get_default(call_default_factory=True)
        for name, field in part.model_fields.items()
        if name in whole
    )
