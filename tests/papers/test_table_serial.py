"""The documents' tables of the serial arms' papers say of every claim what is computed of it."""

import pytest
import reproduced
from test_table import told

from rig.papers import Claim

SECTIONS = {"lee-1982": "Lee", "turney-1980": "Turney", "iterative-newton-euler": "The iterative"}
_ROUNDING = 1e-9


@pytest.fixture(scope="module", params=SECTIONS)
def study(request: pytest.FixtureRequest) -> tuple[str, dict[str, Claim]]:
    made = reproduced.study(request.param)
    return made.name, {claim.key: claim for claim in made.claims}


def test_every_claim_is_in_it_once(study: tuple[str, dict[str, Claim]]) -> None:
    name, computed = study
    assert sorted(key for key, _ in told(SECTIONS[name])) == sorted(computed)


def test_verdicts_and_numbers_are_the_computed_ones(study: tuple[str, dict[str, Claim]]) -> None:
    name, computed = study
    for key, row in told(SECTIONS[name]):
        claim, here, verdict = computed[key], row[4], row[5]
        assert verdict == (str(claim.verdict) if claim.counted else "not counted"), key
        if isinstance(claim.computed, float) and abs(claim.computed) < _ROUNDING:
            assert "to rounding" in here or "to 1e−9" in here, key
        else:
            assert claim.found in here, (key, claim.found)
