"""The long profile of tests that explore: EXPLORE=1, as `make explore` sets it.

Without it they do a little of the same, always alike. EXPLORE_SEED names the first seed of a long one; left out, it is
drawn. A long one says its seeds (`pytest -s`), so that it can be done again. EXPLORE_MINUTES is how long whole rigs are
explored.
"""

import itertools
import os
import secrets
import time
from collections.abc import Iterator
from typing import TypeVar

_Case = TypeVar("_Case")

LONG = os.environ.get("EXPLORE", "0") not in ("", "0")
MINUTES = float(os.environ.get("EXPLORE_MINUTES") or 30)
_FIRST = int(os.environ.get("EXPLORE_SEED") or secrets.randbelow(1_000_000))


def either(short: int, long: int) -> int:
    """A number of examples, steps or rounds: `long` of them where there is time."""
    return long if LONG else short


def first_or_all(*cases: _Case) -> list[_Case]:
    """The first of several cases that should come out alike; all of them where there is time."""
    return list(cases if LONG else cases[:1])


def seeds(long: int) -> list[int]:
    """What to begin with: always 0, or `long` seeds in a row."""
    return list(range(_FIRST, _FIRST + long)) if LONG else [0]


def seeds_for(share: float) -> Iterator[int]:
    """Always 0; or one seed after the other, at least one, for that share of the minutes."""
    end = time.monotonic() + 60.0 * share * MINUTES
    for seed in itertools.count(_FIRST) if LONG else [0]:
        yield seed
        if time.monotonic() >= end:
            return
