"""The papers' data files: every printed claim is judged, and a wrong file is refused by its place."""

from typing import Any

import pytest
from reproduced import study

from rig.papers import STUDIES
from rig.papers.claims import Between, Legs, Near, Order, Rounded, Unquantified, Verdict
from rig.papers.printed import PrintedStudy, printed_study

HEAD = {"title": "T", "citation": "C", "summary": "S"}
CLAIM = {"key": "k", "statement": "is so", "source": "§1", "near": {"value": 2.0, "share": 0.1}}


def printed(**changes: Any) -> PrintedStudy:
    claim = {name: value for name, value in (CLAIM | changes).items() if value is not None}
    return PrintedStudy("a-study", HEAD | {"claims": [claim]})


@pytest.mark.parametrize("name", STUDIES)
def test_every_printed_claim_is_judged(name: str) -> None:
    made = study(name)
    assert set(printed_study(name).keys) <= {claim.key for claim in made.claims}
    assert made.citation == printed_study(name).citation


@pytest.mark.parametrize(
    ("table", "criterion"),
    [
        ({"near": {"value": 2.0, "share": 0.1}}, Near(2.0, 0.1)),
        ({"order": {"value": 1e5, "factor": 10.0}}, Order(1e5, 10.0)),
        ({"rounded": {"value": 2.0, "last": 0.1}}, Rounded(2.0, 0.1)),
        ({"between": {"low": 1.0, "high": 3.0}}, Between(1.0, 3.0)),
        ({"between": {"high": 3.0}}, Between(None, 3.0)),
        ({"legs": [1, 2]}, Legs((1, 2))),
        ({"unquantified": {"words": "large"}}, Unquantified("large")),
    ],
)
def test_each_kind_of_criterion(table: dict[str, Any], criterion: object) -> None:
    assert printed(**({"near": None} | table)).claim("k", 2.0).criterion == criterion


def test_the_verdict_follows_from_what_is_computed() -> None:
    assert printed().claim("k", 2.1).verdict is Verdict.REPRODUCED
    claim = printed(why="as printed").claim("k", 3.0, why="by 50 %")
    assert claim.verdict is Verdict.CONTRADICTED and claim.why == "by 50 %"
    assert printed(thresholds=[0.01, 0.2]).claim("k", 2.1).verdict is Verdict.UNDECIDABLE


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"near": None}, "claim 'k': must have exactly one criterion, got none"),
        ({"legs": [1]}, "claim 'k': must have exactly one criterion, got near, legs"),
        ({"near": {"value": 2.0}}, "claim 'k': near: .*share"),
        ({"statment": "is so"}, "a-study: claims.0.statment: "),
        ({"source": None}, "a-study: claims.0.source: "),
        ({"thresholds": "some"}, "a-study: claims.0.thresholds"),
    ],
)
def test_a_wrong_file_is_refused_by_its_place(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        printed(**changes)


def test_keys_are_unique_and_known() -> None:
    with pytest.raises(ValueError, match="two claims have the key 'k'"):
        PrintedStudy("a-study", HEAD | {"claims": [CLAIM, CLAIM]})
    with pytest.raises(KeyError, match="unknown"):
        printed().claim("unknown", 1.0)
