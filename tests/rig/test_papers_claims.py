"""What a claim's verdict follows from, and how it reads."""

import pytest

from rig.cli.paper import _print_study
from rig.papers import Claim, Origin, Study, Threshold, Verdict, total
from rig.papers.claims import Between, Legs, Near, Rounded, Unquantified, number
from rig.papers.page import render


def claim(criterion: Near | Rounded | Between | Legs, computed: float | tuple[int, ...], unit: str = "") -> Claim:
    return Claim("key", "statement", "§1", criterion, computed, unit)


@pytest.mark.parametrize(
    ("criterion", "holding", "differing"),
    [
        (Near(200.0, 0.1), (180.0, 220.0), (179.0, 221.0)),
        (Near(0.0, 0.0), (0.0,), (1e-9,)),
        (Rounded(1.92, 0.01), (1.915, 1.9249), (1.9149, 1.926)),
        (Between(None, 1e-11), (0.0, 1e-11), (2e-11,)),
        (Between(20.0, 50.0), (20.0, 50.0), (19.9, 50.1)),
        (Between(0.9, None), (0.9, 5.0), (0.89, -0.9)),
        (Legs((5, 6)), ((5, 6),), ((), (5,), (4, 5, 6))),
    ],
)
def test_verdict(
    criterion: Near | Rounded | Between | Legs,
    holding: tuple[float | tuple[int, ...], ...],
    differing: tuple[float | tuple[int, ...], ...],
) -> None:
    assert {claim(criterion, value).verdict for value in holding} == {Verdict.HOLDS}
    assert {claim(criterion, value).verdict for value in differing} == {Verdict.DIFFERS}


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
    assert (record["verdict"], record["difference"], record["tolerance"]) == ("differs", "−26 %", "±10 %")
    assert claim(Legs((5, 6)), (5, 6)).record()["computed"] == [5, 6]


def test_words_without_a_number_decide_nothing() -> None:
    open_ = Claim("key", "statement", "§1", Unquantified("significant"), 2.3, "%")
    assert (open_.verdict, open_.published, open_.found) == (Verdict.UNDECIDABLE, "“significant”", "2.3 %")
    assert open_.counted


def test_what_could_not_come_out_otherwise_is_not_counted() -> None:
    holds = claim(Near(1.0, 0.1), 1.05)
    claims = (
        holds,
        claim(Near(1.0, 0.1), 2.0),
        Claim("key", "statement", "§1", Unquantified("large"), 2.0),
        Claim("key", "statement", "§1", Near(1.0, 0.1), 1.0, apart="arithmetic on printed numbers"),
        Claim("key", "statement", "§1", Near(1.0, 0.1), 2.0, origin=Origin.REPRODUCTION),
    )
    study = Study("name", "title", "citation", "summary", claims, (), (), ())
    assert (study.counted, study.apart) == (claims[:3], claims[3:])
    assert study.headline == (
        "3 claims that could have come out otherwise: 1 holding, 1 differing, 1 not decidable; 2 more shown, "
        "not counted"
    )


def test_a_total_adds_the_papers_up() -> None:
    holds, differs = claim(Near(1.0, 0.1), 1.05), claim(Near(1.0, 0.1), 2.0)
    ours = Claim("key", "statement", "§1", Near(1.0, 0.1), 1.0, apart="arithmetic on printed numbers")
    studies = [Study("name", "title", "citation", "summary", made, (), (), ()) for made in ((holds, ours), (differs,))]
    assert total(studies) == (
        "2 papers together: 2 claims that could have come out otherwise: 1 holding, 1 differing, 0 not decidable; "
        "1 more shown, not counted"
    )
    assert f"<p>{total(studies)}.</p>" in render(studies)
    assert "papers together" not in render(studies[:1])


def test_a_bound_of_ours_is_marked_also_without_a_tolerance(capsys: pytest.CaptureFixture[str]) -> None:
    bound = Claim("key", "statement", "§1", Between(0.5, None), 0.7, threshold=Threshold.OURS)
    theirs = Claim("other", "statement", "§1", Between(0.5, None), 0.7)
    study = Study("name", "title", "citation", "summary", (bound, theirs), (), (), ())
    _print_study(study)
    out = capsys.readouterr().out
    assert "claimed at least 0.5 (own threshold); computed 0.7" in out
    assert "claimed at least 0.5; computed 0.7" in out
    assert render([study]).count("a bound of ours") == 1
