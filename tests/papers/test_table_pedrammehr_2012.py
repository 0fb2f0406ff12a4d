"""The documents' table of the paper of 2012 says of every claim what is computed of it."""

import pytest
from test_table import told

from rig.papers import Claim, Origin
from rig.papers.claims import Legs
from rig.papers.pedrammehr_2012 import claims

_ROUNDING = 1e-9


TOLD = list(told("Pedrammehr"))
"""The keys that the section's rows name, each with its row."""


@pytest.fixture(scope="module")
def computed() -> dict[str, Claim]:
    return {claim.key: claim for claim in claims()}


def test_every_claim_is_in_it_once(computed: dict[str, Claim]) -> None:
    assert sorted(key for key, _ in TOLD) == sorted(computed)


def test_verdicts_and_numbers_are_the_computed_ones(computed: dict[str, Claim]) -> None:
    for key, row in TOLD:
        claim, here, verdict = computed[key], row[4], row[5]
        assert verdict == (str(claim.verdict) if claim.counted else "not counted"), key
        rounding = isinstance(claim.computed, float) and abs(claim.computed) < _ROUNDING
        if key != "elapsed":
            assert ("to rounding" if rounding else claim.found) in here, (key, claim.found)
        if isinstance(claim.criterion, Legs) and claim.origin is Origin.PAPER:
            assert row[3] == claim.published, key
