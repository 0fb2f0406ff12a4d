"""The papers' studies: the facts that a reproduction must show, from the objects computed."""

import tomllib
from collections.abc import Callable
from importlib.resources import files

import numpy as np
import pytest
from reproduced import heard, study

from rig.papers import STUDIES, Claim, Origin, Study, dasgupta_1998, reproduce
from rig.papers.paths import force_error, run_path
from rig.papers.study import Picture, Report, Sheet


def claims(name: str) -> dict[str, Claim]:
    return {claim.key: claim for claim in study(name).claims}


def value(name: str, key: str) -> float:
    computed = claims(name)[key].computed
    assert isinstance(computed, float)
    return computed


def _parts(made: Study) -> list[Picture | Sheet]:
    return [*made.pictures, *made.sheets]


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_is_whole(name: str) -> None:
    made = study(name)
    assert made.name == name
    assert len({claim.key for claim in made.claims}) == len(made.claims)
    assert all(claim.statement and claim.source for claim in made.claims)
    missed = [claim for claim in made.counted if claim.met is False]
    assert [claim.key for claim in missed if not (claim.why or claim.mended or claim.open)] == []
    files = [part.numbers.name for part in _parts(made)]
    assert len(set(files)) == len(files)
    for part in _parts(made):
        assert part.numbers.rows
        assert {len(row) for row in part.numbers.rows} == {len(part.numbers.columns)}


@pytest.mark.parametrize("name", STUDIES)
def test_what_a_reproduction_must_show_holds(name: str) -> None:
    missed = [c.key for c in study(name).claims if c.origin is Origin.REPRODUCTION and not c.met]
    assert missed == []


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("dasgupta-1998", [f"Figure {k}" for k in range(3, 11)]),
        ("pedrammehr-2012", [f"Figure {k}" for k in range(5, 11)]),
        ("turney-1980", [f"Table {k}" for k in range(1, 6)]),
        ("lee-1982", ["Figures 3 to 8", "Table 1", "Table 2"]),
        ("iterative-newton-euler", ["Joint forces of an arm whose third joint slides", "Accelerations of its links"]),
    ],
)
def test_figures_and_tables(name: str, titles: list[str]) -> None:
    found = [part.title.split(":")[0] for part in _parts(study(name))]
    assert [title for title in titles if title not in found] == []


@pytest.mark.parametrize(
    ("path", "dasgupta", "pedrammehr"),
    [("I", (1.92, 27.7), (0.07, 1.2)), ("II", (5.73, 103.9), (5.62, 118.5))],
)
def test_error_tables(path: str, dasgupta: tuple[float, float], pedrammehr: tuple[float, float]) -> None:
    run = run_path(path)
    for forces, (share, peak) in ((run.dasgupta, dasgupta), (run.pedrammehr, pedrammehr)):
        error = force_error(forces, run.exact)
        assert error[0] == pytest.approx(share, abs=0.005)
        assert error[1] == pytest.approx(peak, abs=0.05)
    number = len(path)
    assert value("dasgupta-1998", f"path-{number}-error-rms") == force_error(run.dasgupta, run.exact)[0]
    assert value("pedrammehr-2012", f"path-{number}-error-peak") == force_error(run.pedrammehr, run.exact)[1]


def test_path_one() -> None:
    run = run_path("I")
    assert run.condition[0] == pytest.approx(38.0, abs=0.5)
    assert run.condition[-1] == pytest.approx(47.0, abs=0.5)
    assert run.crossing == (5, 6)
    medians = np.median(np.abs(run.fraction), axis=0)
    assert medians.min() == pytest.approx(0.14, abs=0.005)
    assert medians.max() == pytest.approx(0.29, abs=0.005)


def test_path_three() -> None:
    run = run_path("III")
    assert run.times[run.condition.argmax()] == pytest.approx(3.7)
    assert run.condition.max() == pytest.approx(2.1e4, abs=500.0)
    assert run.condition[0] == pytest.approx(2.9e2, abs=5.0)
    assert run.peak.max() > 1e5
    assert value("dasgupta-1998", "singularity-located") < 1e-3
    assert value("dasgupta-1998", "optimised-condition") < 0.1
    assert value("dasgupta-1998", "optimised-forces") < 0.1


def test_where_the_paper_of_1998_differs() -> None:
    found = claims("dasgupta-1998")
    assert found["path-1-fraction-maximum-printed"].met
    assert not found["path-1-fraction-maximum"].met
    assert found["operations-sum"].met
    assert value("dasgupta-1998", "operations-counted") == 4561.0
    # of the exact model, which counts fewer than the printed equations
    assert found["operations-leg"].why.endswith("the exact model here takes 455")
    assert "the exact model: 711 over 1356" in found["parallel"].why


def test_the_spin_of_path_one() -> None:
    found = claims("pedrammehr-2012")
    assert found["path-1-spin"].computed == (4,)
    assert found["path-1-velocities"].computed == (1, 2, 4, 6)
    assert found["path-1-accelerations"].computed == (4,)
    for key, percent in (
        ("path-1-perpendicular", "16, 14, 48, 0, 30, 16"),
        ("path-1-perpendicular-accelerations", "43, 39, 18, 0, 72, 42"),
    ):
        assert found[key].computed == (4,)
        assert f"by pod up to {percent} %" in found[key].why
    assert not found["path-1-speed"].counted
    assert value("pedrammehr-2012", "path-1-speed") == pytest.approx(0.5 / 6.0)


def test_what_the_paper_of_2012_improves() -> None:
    found = claims("pedrammehr-2012")
    assert "5.70 against 5.78 % RMS, 120.7 against 104.8 N" in found["path-3-accuracy"].measure
    for path, own, other in (("2", "35.1 N", "1.93 % and 28.4 N"), ("3", "60.9 N", "2.14 % and 52.7 N")):
        significant = found[f"path-{path}-significant"]
        assert own in significant.measure
        assert other in significant.measure
    assert value("pedrammehr-2012", "reaction-direction") < 1e-9
    assert value("pedrammehr-2012", "reaction-share") == pytest.approx(1.0, abs=0.02)


def test_serial_formulations_and_counts() -> None:
    found = claims("turney-1980")
    for key in ("equivalence", "strobing", "legs-as-chains"):
        assert value("turney-1980", key) < 1e-11
    for key in ("links-axes", "modified-equivalent", "strobing-rates"):
        assert value("turney-1980", key) > 1e-3
        assert found[key].mended is not None
    assert [claim.computed for claim in found.values() if claim.key.endswith("order")] == [1.0, 1.0, 3.0]
    assert value("turney-1980", "modified-cheaper") == pytest.approx(100.0 * (1.0 - 1158 / 1302))
    assert not found["modified-saving"].counted
    assert value("turney-1980", "step-works-better") < 0.5
    sums = [claim for claim in found.values() if "-sum-" in claim.key]
    assert {(claim.met, claim.counted) for claim in sums} == {(True, False)}
    # r̄_i + r_i formed for each link, table 5 is exact
    (programs,) = found["turney-1980-5-additions"].ranges
    assert programs.computed == (185.0, 203.0)


def test_puma_as_printed_and_ours() -> None:
    found = claims("lee-1982")
    assert value("lee-1982", "errors") == pytest.approx(1545e-6, abs=1e-6)
    arms = found["errors"].ranges[-1]
    assert arms.computed[-1] == pytest.approx(244e-6, abs=1e-6)
    for key in ("error-equation", "pdp"):
        assert not found[key].counted, key
    # by the program of table 1, with nothing formed twice, and of order n³
    assert found["hundred-times"].ranges[0].computed == pytest.approx((137.3, 20.3, 8.5), abs=0.05)
    # with the vector products of eqs. 3.23 and 3.24 as they stand
    assert found["lee-1982-2-multiplications"].ranges[0].computed == (708.0, 726.0, 708.0)
    # table 2's a_i and ā_i, row by row as printed
    table = next(sheet for sheet in study("lee-1982").sheets if sheet.title.startswith("Table 2: "))
    rows = {row[0]: row for row in table.shown}
    assert rows["a_i"][3] == rows["a_i"][6] == rows["ā_i"][3] == rows["ā_i"][6] == "0"
    assert all(not claim.counted for key, claim in found.items() if key.startswith("lee-1982-1-"))


def test_one_printed_axis_of_1998_is_no_unit_vector() -> None:
    file = tomllib.loads((files("dynamics") / "mechanisms" / "dasgupta-1998.toml").read_text(encoding="utf-8"))
    printed = file["base"]["universal_axes"]
    lengths = np.linalg.norm(printed, axis=1)
    assert lengths[0] == pytest.approx(0.858, abs=5e-4)
    assert lengths[1:] == pytest.approx(np.ones(5), abs=1e-4)
    assert tuple(printed[0]) == dasgupta_1998.K_1


@pytest.mark.parametrize("name", STUDIES)
def test_progress_is_reported(name: str) -> None:
    fractions = [fraction for _, fraction in heard(name)]
    assert fractions == sorted(fractions)
    assert 0.0 <= fractions[0] <= fractions[-1] < 1.0
    assert all(what.startswith(f"{name}: ") for what, _ in heard(name))


def test_the_progress_of_several_studies_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(name: str) -> Callable[[Report], Study]:
        def make(report: Report) -> Study:
            report(name, 0.0)
            report(name, 0.5)
            return study(name)

        return make

    names = ["turney-1980", "iterative-newton-euler"]
    monkeypatch.setattr("rig.papers.catalogue._STUDIES", {name: made(name) for name in names})
    reported: list[tuple[str, float]] = []
    assert [one.name for one in reproduce(names, lambda what, fraction: reported.append((what, fraction)))] == names
    assert reported == [(names[0], 0.0), (names[0], 0.25), (names[1], 0.5), (names[1], 0.75)]


def test_an_unknown_study() -> None:
    with pytest.raises(KeyError, match="euler-1776"):
        reproduce(["euler-1776"])
