"""A failed check of a conformance suite, and how checks are run."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Failure:
    """check: its name, a key of `LAW_CHECKS`, `SOURCE_CHECKS` or `SENSOR_CHECKS`. text: what is wrong."""

    check: str
    text: str


def run_checks(checks: Mapping[str, Callable[[], Iterator[str]]]) -> tuple[Failure, ...]:
    """Run every check; the first thing that each finds, and an exception as one."""
    failures = []
    for name, check in checks.items():
        try:
            text = next(check(), None)
        except Exception as error:  # of whatever kind, where what is checked is somebody else's
            text = f"{type(error).__name__}: {error}"
        if text is not None:
            failures.append(Failure(name, text))
    return tuple(failures)
