"""The documents' table of the paper of 1998 says of every claim what is computed of it."""

import pytest
import reproduced
from test_table import told

from rig.papers import Claim
from rig.papers.claims import Legs

_ROUNDING = 1e-9


TOLD = list(told("Dasgupta"))
"""The keys that the section's rows name, each with its row."""


@pytest.fixture(scope="module")
def computed() -> dict[str, Claim]:
    return {claim.key: claim for claim in reproduced.study("dasgupta-1998").claims}


def test_every_claim_is_in_it_once(computed: dict[str, Claim]) -> None:
    assert sorted(key for key, _ in TOLD) == sorted(computed)


def test_verdicts_and_numbers_are_the_computed_ones(computed: dict[str, Claim]) -> None:
    for key, row in TOLD:
        claim, here, verdict = computed[key], row[4], row[5]
        assert verdict == (str(claim.verdict) if claim.counted else "not counted"), key
        rounding = isinstance(claim.computed, float) and 0.0 < abs(claim.computed) < _ROUNDING
        assert ("to rounding" if rounding else claim.found) in here, (key, claim.found)
        if isinstance(claim.criterion, Legs) and claim.counted:
            assert row[3] == claim.published, key
