"""That a verdict can turn: the claims of a study computed again with a change of the code under them."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from rig.papers import Claim, Study, Verdict

_CACHED = ("rig.papers", "dynamics")


@dataclass(frozen=True, slots=True)
class Turn:
    """A change under which a claim's verdict is another one.

    change: breaks the code, not the claim: a model's equation, its input, what is counted.
    claims: computes the claim again, with as few others as there may be.
    """

    change: Callable[[pytest.MonkeyPatch], None]
    claims: Callable[[], Iterable[Claim]]


def forget() -> None:
    """Empty every cache of the studies and of the models, so that what they hold is computed again."""
    for name, module in list(sys.modules.items()):
        if name.startswith(_CACHED):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


@contextmanager
def changed(change: Callable[[pytest.MonkeyPatch], None]) -> Iterator[None]:
    """The code with a change, and nothing kept from before it or of it."""
    with pytest.MonkeyPatch.context() as patch:
        change(patch)
        forget()
        try:
            yield
        finally:
            patch.undo()
            forget()


def check_turn(study: Study, key: str, turn: Turn) -> None:
    """The verdict of the counted claim `key` is decided, and is another one after the change."""
    before = next(claim for claim in study.counted if claim.key == key)
    assert before.verdict is not Verdict.UNDECIDABLE
    with changed(turn.change):
        after = next(claim for claim in turn.claims() if claim.key == key)
    assert after.verdict is not before.verdict, f"{key}: {before.found} before, {after.found} after"


def check_whole(study: Study, turns: Mapping[str, Turn]) -> None:
    """Every counted claim that is decided has its turn, and no other has."""
    decided = {claim.key for claim in study.counted if claim.verdict is not Verdict.UNDECIDABLE}
    assert set(turns) == decided
