"""What a claim's verdict follows from, and how it reads."""

from typing import Any

import pytest

from rig.cli.paper import _print_study
from rig.papers import Claim, Mended, Origin, Range, Study, Verdict, count
from rig.papers.claims import Between, Legs, Near, Order, Rounded, Unquantified, number
from rig.papers.page import render


def claim(criterion: Near | Rounded | Between | Legs, computed: float | tuple[int, ...], unit: str = "") -> Claim:
    return Claim("key", "statement", "§1", criterion, computed, unit)


@pytest.mark.parametrize(
    ("criterion", "met", "missed"),
    [
        (Near(200.0, 0.1), (180.0, 220.0), (179.0, 221.0)),
        (Near(0.0, 0.0), (0.0,), (1e-9,)),
        (Rounded(1.92, 0.01), (1.915, 1.9249), (1.9149, 1.926)),
        (Between(None, 1e-11), (0.0, 1e-11), (2e-11,)),
        (Between(20.0, 50.0), (20.0, 50.0), (19.9, 50.1)),
        (Between(0.9, None), (0.9, 5.0), (0.89, -0.9)),
        (Legs((5, 6)), ((5, 6),), ((), (5,), (4, 5, 6))),
        (Order(1e5, 4.0), (2.5e4, 4e5), (2.4e4, 4.1e5, -1e5)),
    ],
)
def test_a_criterion(
    criterion: Near | Rounded | Between | Legs,
    met: tuple[float | tuple[int, ...], ...],
    missed: tuple[float | tuple[int, ...], ...],
) -> None:
    assert {claim(criterion, value).verdict for value in met} == {Verdict.REPRODUCED}
    assert {claim(criterion, value).verdict for value in missed} == {Verdict.CONTRADICTED}


@pytest.mark.parametrize(
    ("criterion", "value"),
    [(Near(200.0, 0.1), 215.0), (Between(None, 1e-9), 0.02), (Between(50.0, None), 48.6), (Order(1.0, 10.0), 3.6)],
)
def test_a_threshold_turns_where_it_is_told_to(criterion: Near | Between | Order, value: float) -> None:
    turn, above = criterion.turn(value)
    assert criterion.at(1.01 * turn).met(value) is above
    assert criterion.at(0.99 * turn).met(value) is not above


FORM = Range("form", ("quintic", "cubic"), (3.0, 1.0), "quintic")
TIME = Range("duration", (1.0, 2.0, 4.0, 7.0), (4.0, 3.0, 2.5, 1.0), 2.0, "s")
MEND = Mended("the other sign", 0.5)
BOUND = Between(None, 2.0)


@pytest.mark.parametrize(
    ("computed", "more", "verdict"),
    [
        (1.0, {}, Verdict.REPRODUCED),
        (1.0, {"thresholds": (1.5, 3.0)}, Verdict.REPRODUCED),
        (1.0, {"thresholds": (0.5, 3.0)}, Verdict.UNDECIDABLE),
        (3.0, {}, Verdict.CONTRADICTED),
        (3.0, {"thresholds": (1.0, 2.5)}, Verdict.CONTRADICTED),
        (3.0, {"mended": MEND}, Verdict.ERRATUM),
        (3.0, {"mended": MEND, "thresholds": (0.1, 2.0)}, Verdict.CONTRADICTED),
        (1.0, {"mended": MEND}, Verdict.REPRODUCED),
        # the mend changes what is claimed
        (3.0, {"mended": Mended("another bound", 3.0, Between(None, 3.5))}, Verdict.ERRATUM),
        (3.0, {"mended": Mended("another bound", 3.0, Between(None, 2.5))}, Verdict.CONTRADICTED),
        (3.0, {"ranges": (FORM,)}, Verdict.UNDECIDABLE),
        (3.0, {"ranges": (TIME,), "mended": MEND}, Verdict.UNDECIDABLE),
        (3.0, {"ranges": (Range("form", ("quintic", "cubic"), (3.0, 9.0), "quintic"),)}, Verdict.CONTRADICTED),
        # neither the bound nor the input alone turns it, both together do
        (1.0, {"thresholds": (1.5, 3.0), "ranges": (Range("g", (1.0, 2.0), (1.0, 1.8), 1.0),)}, Verdict.UNDECIDABLE),
    ],
)
def test_the_class_of_a_verdict(computed: float, more: dict[str, Any], verdict: Verdict) -> None:
    assert Claim("key", "statement", "§1", BOUND, computed, **more).verdict is verdict


def test_over_what_an_outcome_stays_the_same() -> None:
    assert FORM.text(BOUND) == "form: all but cubic"
    assert TIME.text(BOUND) == "duration: 1 to 4 s, changes between 4 and 7 s"
    assert TIME.same(BOUND) == (1.0, 2.0, 4.0)
    assert Range("g", (9.7, 9.9), (1.0, 1.1), 9.9, "m/s²").text(BOUND) == "g: 9.7 to 9.9 m/s²"
    assert Range("axes", ("x", "y"), (1.0, 1.1), "x").text(BOUND) == "axes: all of x, y"
    open_ = Claim("key", "statement", "§1", Near(20.0, 0.25), 18.8, "%", thresholds=(0.1, 0.5)).open
    assert open_ == ("tolerance: from 6 %, plausible 10 to 50 %",)
    open_ = Claim("key", "statement", "§1", Between(50.0, None), 48.6, "%", thresholds=(33.0, 75.0)).open
    assert open_ == ("bound: from 48.6 %, plausible 33 to 75 %",)


def test_a_range_has_the_claims_own_value() -> None:
    with pytest.raises(ValueError, match="range 'g': must have a result for each value"):
        Range("g", (9.7, 9.9), (1.0, 1.1), 9.81)


@pytest.mark.parametrize(
    ("criterion", "computed", "difference"),
    [
        (Near(4889.0, 0.1), 3605.0, "−26 %"),
        (Near(0.08, 0.01), 0.5 / 6.0, "+4.2 %"),
        (Near(0.0, 0.0), 0.1, "0.1"),
        (Near(5.0, 0.0), 5.0, "none"),
        (Near(1.0, 0.1), 100.0, "100 times as much"),
        (Rounded(38.0, 1.0), 38.08, "+0.21 %"),
        (Between(0.9, None), -0.7, "of the other sign, −1.6 from the bound"),
        (Between(None, 1e-9), 5e-3, "5e6 times the bound"),
        (Between(None, 0.9), 0.98, "+8.9 % from the bound"),
        (Between(1.0, 2.0), 1.5, "none"),
        (Legs((1, 2, 6)), (1, 2, 4, 6), "also 4"),
        (Legs((1, 2)), (), "not 1, 2"),
        (Legs((1, 2)), (1, 2), "none"),
    ],
)
def test_difference(
    criterion: Near | Rounded | Between | Legs, computed: float | tuple[int, ...], difference: str
) -> None:
    assert claim(criterion, computed).difference == difference


def test_a_list_of_legs_is_no_number() -> None:
    with pytest.raises(TypeError, match="list of legs"):
        Near(1.0, 0.1).met((1, 2))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0 N"),
        (0.5, "0.5 N"),
        (-0.73434, "−0.7343 N"),
        (27.683, "27.68 N"),
        (21048.2, "21048 N"),
        (972797.0, "972797 N"),
        (1e6, "1e6 N"),
        (2.69e-7, "2.69e−7 N"),
        ((1, 4), "1, 4"),
        ((), "none"),
    ],
)
def test_numbers_as_one_reads_them(value: float | tuple[int, ...], text: str) -> None:
    assert number(value, "N") == text


def test_record() -> None:
    record = claim(Near(4889.0, 0.1), 3605.0, "flops").record()
    assert record["published"] == "4889 flops"
    assert record["computed"] == 3605.0
    assert (record["verdict"], record["difference"], record["tolerance"]) == ("contradicted", "−26 %", "±10 %")
    assert claim(Legs((5, 6)), (5, 6)).record()["computed"] == [5, 6]


def test_words_without_a_number_decide_nothing() -> None:
    open_ = Claim("key", "statement", "§1", Unquantified("significant"), 2.3, "%")
    assert (open_.verdict, open_.published, open_.found) == (Verdict.UNDECIDABLE, "“significant”", "2.3 %")
    assert open_.counted


def test_what_could_not_come_out_otherwise_is_not_counted() -> None:
    claims = (
        claim(Near(1.0, 0.1), 1.05),
        claim(Near(1.0, 0.1), 2.0),
        Claim("key", "statement", "§1", Near(1.0, 0.1), 2.0, mended=Mended("the other sign", 1.0)),
        Claim("key", "statement", "§1", Unquantified("large"), 2.0),
        Claim("key", "statement", "§1", Near(1.0, 0.1), 1.0, apart="arithmetic on printed numbers"),
        Claim("key", "statement", "§1", Near(1.0, 0.1), 2.0, origin=Origin.REPRODUCTION),
    )
    study = Study("name", "title", "citation", "summary", claims, (), (), ())
    assert (study.counted, study.apart) == (claims[:4], claims[4:])
    assert [one.word for one in claims[3:]] == ["not decidable", "not counted", "not counted"]
    assert study.counts.text == (
        "4 claims: 1 reproduced, 1 erratum, 1 contradicted, 1 not decidable; 2 not counted; 0 errata listed"
    )


def test_one_text_counts_for_page_command_and_document(capsys: pytest.CaptureFixture[str]) -> None:
    studies = [
        Study("name", "title", "citation", "summary", (claim(Near(1.0, 0.1), value),), (), (), ())
        for value in (1.0, 2.0)
    ]
    text = "2 claims: 1 reproduced, 0 erratum, 1 contradicted, 0 not decidable; 0 not counted; 0 errata listed"
    assert count(studies).text == text
    assert f"<p><b>{text}.</b></p>" in render(studies)
    _print_study(studies[0])
    assert f"  {count(studies[:1]).text}\n" in capsys.readouterr().out


def test_a_mended_claim_and_its_range_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    made = Claim("key", "statement", "§1", BOUND, 3.0, "N", mended=MEND, thresholds=(1.0, 2.5), words="is equal")
    study = Study("name", "title", "citation", "summary", (made,), (), (), ())
    _print_study(study)
    out = capsys.readouterr().out
    assert "claimed “is equal” (read as at most 2 N); computed 3 N" in out
    assert "mended: the other sign: 0.5 N" in out
    assert "range: bound: up to 3 N, plausible 1 to 2.5 N" in out
    page = render([study])
    assert "mended: 0.5 N" in page
    assert "plausible 1 to 2.5 N" in page
