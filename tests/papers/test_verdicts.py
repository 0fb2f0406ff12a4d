"""Every verdict that is counted turns, with another result, threshold or input; and the classes are these."""

from dataclasses import replace

import numpy as np
import pytest
from reproduced import study

from dynamics import papers
from rig.papers import STUDIES, Claim, Range, Verdict
from rig.papers.claims import Between, Legs, Near, Order, Unquantified
from rig.papers.paths import manipulator, run_path

_FAR = 1e9


def counted() -> list[tuple[str, Claim]]:
    """All claims that are counted, with their studies."""
    return [(name, claim) for name in STUDIES for claim in study(name).counted]


def elsewhere(claim: Claim, met: bool) -> Claim:
    """The claim with results that are all met, or all missed, everything else the same."""
    criterion = claim.criterion
    if isinstance(criterion, Legs):
        value: float | tuple[int, ...] = criterion.legs if met else (*criterion.legs, 7)
    elif isinstance(criterion, Near | Order):
        value = criterion.value if met else _FAR * (criterion.value or 1.0)
    else:
        assert isinstance(criterion, Between)
        inside = _FAR if criterion.high is None else -_FAR
        value = inside if met else -inside
    ranges = tuple(replace(one, computed=(value,) * len(one.tried)) for one in claim.ranges)
    return replace(claim, computed=value, ranges=ranges)


def decided(claim: Claim) -> Claim:
    """The claim as if the paper printed what it leaves open: the threshold, or a bound, and the input taken here."""
    if isinstance(claim.criterion, Unquantified):
        return replace(claim, criterion=claim.criterion.at(_FAR), thresholds=())
    return replace(claim, thresholds=(), ranges=())


@pytest.mark.parametrize("wanted", list(Verdict))
def test_every_verdict_turns(wanted: Verdict) -> None:
    claims = [(name, claim) for name, claim in counted() if claim.verdict is wanted]
    assert claims
    for name, claim in claims:
        if wanted is Verdict.UNDECIDABLE:
            assert decided(claim).verdict is not wanted, (name, claim.key)
            continue
        met = elsewhere(claim, met=True)
        missed = replace(elsewhere(claim, met=False), mended=None)
        assert met.verdict is Verdict.REPRODUCED, (name, claim.key)
        assert missed.verdict is Verdict.CONTRADICTED, (name, claim.key)
        if wanted is Verdict.ERRATUM:
            assert replace(claim, mended=None).verdict is Verdict.CONTRADICTED, (name, claim.key)
        if wanted is Verdict.CONTRADICTED:
            assert claim.mended is None, (name, claim.key)
        # one input with which it comes out otherwise, and it is open
        other = missed if wanted is Verdict.REPRODUCED else met
        turned = Range("other", ("taken", "other"), (claim.computed, other.computed), "taken")
        assert replace(claim, ranges=(*claim.ranges, turned)).verdict is Verdict.UNDECIDABLE, (name, claim.key)


def test_a_threshold_of_ours_turns_each_verdict_that_rests_on_one() -> None:
    """The outcome turns where the range says so; the plausible range of a decided verdict lies short of it."""
    for name, claim in counted():
        if not claim.thresholds:
            continue
        turn, above = claim.criterion.turn(claim.computed)
        aside = 0.001 * abs(turn) + 1e-300
        assert claim.criterion.at(turn + aside).met(claim.computed) is above, (name, claim.key)
        assert claim.criterion.at(turn - aside).met(claim.computed) is not above, (name, claim.key)
        low, high = claim.thresholds
        if claim.verdict is not Verdict.UNDECIDABLE:
            assert not low < turn < high, (name, claim.key)


def test_no_threshold_of_ours_is_without_its_range() -> None:
    """Tolerances and bounds have their plausible range, or are the paper's own."""
    own = {
        # more or less: the bound is none or one
        "parallel", "joint-space", "fraction-payload", "fraction-speed", "modified-cheaper", "newton-euler-cheaper",
        "step-works-better", "less-effort", "parallel-axes", "path-2-accuracy", "path-3-accuracy",
        "realistic-parameters",  # of nature
        "errors",  # printed
    }  # fmt: skip
    for name, claim in counted():
        criterion = claim.criterion
        if isinstance(criterion, Between) or (isinstance(criterion, Near | Order) and criterion.at(0.0) != criterion):
            assert claim.thresholds or claim.key in own, (name, claim.key)


def test_what_is_contradicted_was_tried_in_every_reading() -> None:
    contradicted = [claim for _, claim in counted() if claim.verdict is Verdict.CONTRADICTED]
    assert [claim.key for claim in contradicted if sum(len(one.tried) for one in claim.ranges) < 3] == []


@pytest.mark.parametrize(
    ("name", "classes"),
    [
        (
            "dasgupta-1998",
            {
                Verdict.ERRATUM: {"spherical-ends"},
                Verdict.CONTRADICTED: {"realistic-parameters", "higher-condition"},
                Verdict.UNDECIDABLE: {
                    "operations-leg", "operations-final", "operations-constraints", "path-1-moderate", "path-1-smooth",
                    "path-1-conditioned", "leg-inertia-significant", "light-platform", "path-2-forces",
                    "path-2-fraction", "path-2-distribution", "fraction-range", "path-3-forces",
                    "near-singular-forces", "condition-and-force", "reliable-measure",
                },
            },
        ),
        (
            "pedrammehr-2012",
            {
                Verdict.ERRATUM: {"tangential-acceleration", "compact-form"},
                Verdict.CONTRADICTED: {"parallel-axes", "path-1-perpendicular"},
                Verdict.UNDECIDABLE: {
                    "path-1-velocities", "path-1-accelerations", "path-1-perpendicular-accelerations",
                    "tangential-only", "path-2-significant", "path-3-significant", "path-3-accuracy",
                },
            },
        ),
        (
            "turney-1980",
            {
                Verdict.ERRATUM: {
                    "links-axes", "modified-equivalent", "strobing-rates", "strobing-coriolis-inward",
                    "turney-1980-2-multiplications", "turney-1980-2-additions",
                },
                Verdict.CONTRADICTED: set(),
                Verdict.UNDECIDABLE: {"turney-1980-5-additions", "parallelism", "less-effort"},
            },
        ),
        (
            "lee-1982",
            {
                Verdict.ERRATUM: {"control-laws"},
                Verdict.CONTRADICTED: set(),
                Verdict.UNDECIDABLE: {"errors", "oscillatory", "hundred-times", "lee-1982-2-multiplications"},
            },
        ),
        (
            "iterative-newton-euler",
            {Verdict.ERRATUM: {"prismatic-rows"}, Verdict.CONTRADICTED: set(), Verdict.UNDECIDABLE: set()},
        ),
    ],
)  # fmt: skip
def test_the_classes(name: str, classes: dict[Verdict, set[str]]) -> None:
    for verdict, keys in classes.items():
        assert {claim.key for claim in study(name).counted if claim.verdict is verdict} == keys


def test_what_the_ranges_show() -> None:
    """Inputs that a paper does not print, and what hangs on them."""
    errors, oscillatory = (_claim("lee-1982", key) for key in ("errors", "oscillatory"))
    assert errors.ranges[0].same(errors.criterion) == (1.0, 2.0)
    assert oscillatory.ranges[0].same(oscillatory.criterion) == (2.0, 7.0)
    # with u along the base points the statements on both figures come out, pods 1, 2, 6 and pod 3
    for key in ("path-1-velocities", "path-1-accelerations"):
        claim = _claim("pedrammehr-2012", key)
        axes = next(one for one in claim.ranges if one.name.startswith("axes u, within 3.5"))
        assert claim.criterion.met(axes.computed[axes.tried.index("along b")]), key
    relation = _claim("dasgupta-1998", "condition-and-force").ranges[0]
    assert relation.computed[relation.tried.index("path I")] == pytest.approx(-0.7337, abs=5e-5)
    # the 40 % of figure 6 come out with eq. 16 as printed and without, and with every k_1
    fraction = _claim("dasgupta-1998", "path-1-fraction-maximum-printed").ranges[1]
    assert fraction.computed[:2] == pytest.approx((40.50, 39.71), abs=5e-3)
    run = run_path("I")
    moment = papers.mended_1998(manipulator(), run.motions, (papers.Mend1998.MOMENT,))
    assert 100.0 * np.abs(1.0 - run.massless / moment)[:, 3].max() == pytest.approx(53.0, abs=0.5)
    platform = _claim("dasgupta-1998", "light-platform")
    assert platform.ranges[0].same(platform.criterion) == (2.0, 4.0)
    near = _claim("dasgupta-1998", "near-singular-forces").ranges[0]
    assert near.computed[near.taken] < 13.0  # type: ignore[operator]
    assert near.computed[near.tried.index("path III")] == 100.0


def _claim(name: str, key: str) -> Claim:
    return next(claim for claim in study(name).claims if claim.key == key)
