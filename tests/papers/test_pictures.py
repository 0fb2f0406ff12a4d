"""The platform papers' figures as their studies make them."""

import re
from functools import cache

import numpy as np
import pytest

from rig.papers import Picture, dasgupta_1998, pedrammehr_2012
from rig.papers.paths import run_path
from rig.papers.pedrammehr_forces import OWN
from rig.papers.pods import path_one, pods_of

POLE = "stroke: #b23c00"


@cache
def picture(title: str) -> Picture:
    """One of the figures, drawn alone."""
    if title == "forces I":
        return dasgupta_1998._forces("Figure 4", run_path("I"), "Path I")
    if title == "forces II":
        return dasgupta_1998._forces("Figure 7", run_path("II"), "Path II")
    if title == "forces III":
        return dasgupta_1998._forces("Figure 9", run_path("III"), "Path III")
    if title == "fractions I":
        return dasgupta_1998._fractions("Figure 6", run_path("I"), "Path I")
    if title == "pod forces":
        return pedrammehr_2012._forces("Figure 10", "II", "Path 3", OWN, "its own L_uo")
    return pedrammehr_2012._rotation("Figure 5", pods_of(path_one()), "Path 1", path_one(), acceleration=False)


def upright(svg: str) -> int:
    """Upright strokes of more than two pixels within curves of more than twenty points."""
    found = 0
    for path in re.findall(r' d="(M[^"]+)"', svg):
        points = np.array(re.findall(r"[ML] (\S+) (\S+)", path), dtype=float)
        if len(points) > 20:
            step = np.abs(np.diff(points, axis=0))
            found += int(((step[:, 0] < 1e-3) & (step[:, 1] > 2.0)).sum())
    return found


@pytest.mark.parametrize(
    ("title", "marks"),
    [("forces I", 0), ("fractions I", 4 + 1), ("forces III", 6 + 1)],  # of the panels, and in the legend
)
def test_poles_are_marked(title: str, marks: int) -> None:
    assert picture(title).drawing.svg.count(POLE) == marks


def test_forces_jump_at_the_blends_edges() -> None:
    assert upright(picture("forces II").drawing.svg) >= 6 * 4
    assert upright(picture("pod forces").drawing.svg) >= 6 * 3
    assert upright(picture("forces III").drawing.svg) == 0


def test_the_fraction_is_set_as_mathematics() -> None:
    svg = picture("fractions I").drawing.svg
    assert r"<!-- $F_\mathrm{d}/F$ -->" in svg
    assert "F_d" not in svg


def test_figures_nine_and_ten_have_the_papers_own_mass_centre() -> None:
    numbers = picture("pod forces").numbers
    table = np.array(numbers.rows)
    place = numbers.columns.index("pedrammehr2012_1")
    np.testing.assert_array_equal(table[:, place : place + 6], run_path("II", OWN).pedrammehr)
    assert np.abs(table[:, place : place + 6] - run_path("II").pedrammehr).max() > 1.0


def test_rotations_have_their_signs() -> None:
    made = picture("rotation")
    for column in ("x", "y", "z", "size"):
        assert f"<!-- {column} -->" in made.drawing.svg
    assert made.drawing.svg.count("rad/s -->") == 6
    rows = np.array(made.numbers.rows)
    assert rows[:, 1:].min() < 0.0 < rows[:, 1:].max()
