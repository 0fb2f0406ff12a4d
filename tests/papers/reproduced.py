"""The studies, each computed and drawn once for all tests of a session."""

from functools import cache

from rig.papers import Study, reproduce


def study(name: str) -> Study:
    """The study of that name."""
    return _made(name)[0]


def heard(name: str) -> tuple[tuple[str, float], ...]:
    """What was told of its progress while it was made."""
    return _made(name)[1]


@cache
def _made(name: str) -> tuple[Study, tuple[tuple[str, float], ...]]:
    told: list[tuple[str, float]] = []
    (made,) = reproduce([name], lambda what, fraction: told.append((what, fraction)))
    return made, tuple(told)
