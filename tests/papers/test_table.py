"""The document of the five papers: one shape, code that is there, and no number that is not the computed one."""

import re
from functools import cache

import document
import electric_drives
import numpy as np
import pytest
from reproduced import study

from dynamics import papers, serial
from rig.papers import STUDIES, Verdict
from rig.papers.paths import PLANS, SAMPLES, G, force_error, manipulator, run_path

ROOT = document.PAGE.parents[1]
HEADER = ["In the paper", "What", "In the code", "Printed", "Here", "Verdict"]
WORDS = {*map(str, Verdict), "not counted", "used"}
TEXT = document.PAGE.read_text(encoding="utf-8")
SECTIONS = dict(document.sections(TEXT))
_PLACE = re.compile(r"`[^`]*`|(?:eqs?\.|tables?|figs?\.|§§?) ?\d[\d.]*(?:(?:, | and | to |–|-)\d[\d.]*)*|4×4|\bRK4\b")
"""Names of code, places in a paper and the like: they have numbers that say nothing of a result."""
_NUMBER = re.compile(r"(?<![\w{_₀-₉])[−+]?\d+(?:\.\d+)?")


def rows(name: str) -> list[list[str]]:
    """The rows of a section's table, without its header."""
    return [row for row in map(document.cells, SECTIONS[name].splitlines()) if len(row) == 6][2:]


def test_computed_cells_are_current() -> None:
    """Verdicts, results and ranges of every claim, the totals, the errata: `tests/papers/document.py` writes them."""
    assert document.made(TEXT, {name: study(name) for name in STUDIES}).splitlines() == TEXT.splitlines()


@pytest.mark.parametrize("name", STUDIES)
def test_every_claim_of_a_paper_has_its_row(name: str) -> None:
    table = [row for row in map(document.cells, SECTIONS[name].splitlines()) if len(row) > 4]
    assert table[0] == HEADER
    assert [row for row in table if len(row) != len(HEADER) or "" in row] == []
    keys = [key for row in rows(name) for key in document.KEY.findall(row[1])]
    assert sorted(keys) == sorted(claim.key for claim in study(name).claims)
    for row in rows(name):
        assert set(row[5].split("; ")) <= WORDS, row[:2]
        for place, names in re.findall(r"`([a-z_/0-9]+\.py)`(?: \(([^)]*)\))?", row[2]):
            source = (ROOT / place).read_text(encoding="utf-8")
            for word in re.findall(r"`(?:\w+\.)?(\w+)`", names):
                assert re.search(rf"\b{word}\b", source), f"{row[0]}: {word} in {place}"


@pytest.mark.parametrize("name", STUDIES)
def test_a_row_has_the_numbers_of_its_claim(name: str) -> None:
    claims = {claim.key: claim for claim in study(name).claims}
    for row in rows(name):
        for key in document.KEY.findall(row[1])[:1]:
            claim = claims[key]
            own = " ".join((claim.statement, claim.published, claim.source, claim.measure, claim.why))
            own = own.replace("six joints", "6 joints")
            stated = _NUMBER.findall(_PLACE.sub("", row[0] + " ; " + row[1]))
            assert set(stated) <= set(_NUMBER.findall(own)), (row[:2], own)


@pytest.mark.parametrize("name", STUDIES)
def test_an_erratum_is_shown_by_a_claim_or_a_test(name: str) -> None:
    keys = {claim.key for claim in study(name).claims}
    for erratum in study(name).errata:
        assert erratum.shown in keys | {"by reading"} or (ROOT / erratum.shown).is_file(), erratum


@cache
def written() -> dict[tuple[str, str], list[float]]:
    """The numbers of the rows that name no claim, from the code, in their order."""
    arm = serial.puma(rotors=False)
    start, end = list(map(float, serial.torque_control.START)), list(map(float, serial.torque_control.END))
    machine, own = manipulator(), manipulator("pedrammehr-2012")
    leg, geometry = machine.legs[0], machine.geometry
    totals = [law.at(6) for row in papers.counted_table("turney-1980 table 1").rows[:3] for law in row.published or ()]
    masses = [leg.lower.mass, leg.upper.mass, machine.mass]
    friction = [leg.friction.universal, leg.friction.prismatic, leg.friction.spherical]
    tensors = float(leg.lower.inertia.size + leg.upper.inertia.size + machine.inertia.size)

    def path(name: str) -> list[float]:
        plan = PLANS[name]
        return [plan.duration, plan.speed, plan.angular_speed or 0.0, plan.duration / (SAMPLES - 1), SAMPLES]

    def pods(name: str) -> list[float]:
        return path(name)[:3]

    mended = [
        force_error(papers.mended_1998(machine, run_path(path).motions, [mend]), run_path(path).exact)[0]
        for path, mend in (("I", papers.Mend1998.MOMENT), ("II", papers.Mend1998.INERTIA))
    ]
    counted = next(claim for claim in study("dasgupta-1998").claims if claim.key == "operations-counted")
    lee, turney, dasgupta, pedrammehr = "lee-1982", "turney-1980", "dasgupta-1998", "pedrammehr-2012"
    return {
        (lee, "eqs. 3.1–3.5"): [-arm.gravity[2]] * 2,
        (lee, "eqs. 3.20–3.27"): [-arm.gravity[2]],
        (lee, "§5: no gains between joints"): [0.0],
        (lee, "fig. 2"): [1e3 * float(np.diff(serial.puma_study(duration=0.02, settling=0.0).times)[0])],
        (lee, "§5: the motion"): [*start, *end, 0.01],
        (turney, "eqs. 3.14, 3.15, 3.17, 3.19–3.21"): [-arm.gravity[2]],
        (turney, "§3: f_{n+1}, n_{n+1}"): [0.0],
        (turney, "table 1: Lagrange, Newton–Euler, modified"): [*totals, 6.0],
        (turney, "§6: Hollerbach's counts"): [150.0],
        (dasgupta, "§2.3: unknowns"): [2.0 * 6.0, 6.0 + 4.0 + 3.0],
        (dasgupta, "§4.2: condition number"): [1.0],
        (dasgupta, "abstract, §4.5: economy"): [counted.computed],  # type: ignore[list-item]
        (dasgupta, "§4.5: parallelism"): [len(machine.legs), 1.0],
        (dasgupta, "§5: test manipulator"): [0.0],
        (dasgupta, "§5.1: path I"): path("I"),
        (dasgupta, "§5.1: path II"): path("II"),
        (dasgupta, "§5.2: path III"): path("III"),
        (dasgupta, "appendix: points, axes"): [
            float(sum(np.size(x) for x in (geometry.base_points, geometry.platform_points, geometry.universal_axes)))
        ],
        (dasgupta, "appendix: masses, friction"): [*masses, *friction, G],
        (dasgupta, "appendix: mass centres"): [
            *leg.upper.center_of_mass, 2012.0, own.legs[0].upper.center_of_mass[2]
        ],
        (dasgupta, "comments of others"): mended,
        (pedrammehr, "appendix 2: points"): [
            float(np.size(geometry.base_points) + np.size(geometry.platform_points)), 1998.0
        ],
        (pedrammehr, "appendix 2: masses, friction"): [machine.mass, leg.lower.mass, leg.upper.mass, *friction, G],
        (pedrammehr, "appendix 2: mass centres"): [
            *own.legs[0].upper.center_of_mass, 1998.0, leg.upper.center_of_mass[2]
        ],
        (pedrammehr, "appendix 2: tensors"): [tensors],
        (pedrammehr, "appendix 2: paths 2, 3"): [*pods("I"), *pods("II"), SAMPLES],
        (pedrammehr, "appendix 2: external wrench"): [0.0, 0.0],
        (pedrammehr, "§5: electric drives"): [3.0, 5.0, 10.0, 5.0, *electric_drives.computed()],
        (pedrammehr, "fig. 9"): [1998.0],
        (pedrammehr, "fig. 10"): [1998.0],
        (pedrammehr, "§9"): [1.58],
    }  # fmt: skip


@pytest.mark.parametrize("name", STUDIES)
def test_every_number_without_a_claim_is_computed(name: str) -> None:
    found = {}
    for row in rows(name):
        if not document.KEY.findall(row[1]) and row[5] != "erratum":
            stated = _NUMBER.findall(_PLACE.sub("", " ; ".join(row[3:5])))
            if stated:
                assert (name, row[0]) not in found
                found[name, row[0]] = stated
    expected = {place: numbers for place, numbers in written().items() if place[0] == name}
    assert set(found) == set(expected)
    for place, numbers in expected.items():
        assert len(found[place]) == len(numbers), place
        for text, value in zip(found[place], numbers, strict=True):
            decimals = len(text.partition(".")[2])
            shown = f"{float(value):.{decimals}f}".replace("-", "−")
            assert shown == text.lstrip("+"), (place, text, value)
