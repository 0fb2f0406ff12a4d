"""The platform papers' figures as their studies make them."""

import re

import numpy as np
import pytest
from reproduced import study

from rig.papers import Picture
from rig.papers.paths import run_path
from rig.papers.pedrammehr_2012 import OWN

POLE = "stroke: #b23c00"


def picture(name: str, number: str) -> Picture:
    """The figure of that number of a study."""
    (made,) = [picture for picture in study(name).pictures if picture.title.startswith(f"{number}:")]
    return made


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
    ("number", "marks"),
    [("Figure 4", 0), ("Figure 6", 4 + 1), ("Figure 9", 6 + 1)],  # of the panels, and in the legend
)
def test_poles_are_marked(number: str, marks: int) -> None:
    assert picture("dasgupta-1998", number).drawing.svg.count(POLE) == marks


def test_forces_jump_at_the_blends_edges() -> None:
    assert upright(picture("dasgupta-1998", "Figure 7").drawing.svg) >= 6 * 4
    assert upright(picture("pedrammehr-2012", "Figure 10").drawing.svg) >= 6 * 3
    assert upright(picture("dasgupta-1998", "Figure 9").drawing.svg) == 0


def test_the_fraction_is_set_as_mathematics() -> None:
    svg = picture("dasgupta-1998", "Figure 6").drawing.svg
    assert r"<!-- $F_\mathrm{d}/F$ -->" in svg
    assert "F_d" not in svg


def test_figures_nine_and_ten_have_the_papers_own_mass_centre() -> None:
    numbers = picture("pedrammehr-2012", "Figure 10").numbers
    table = np.array(numbers.rows)
    place = numbers.columns.index("pedrammehr2012_1")
    np.testing.assert_array_equal(table[:, place : place + 6], run_path("II", OWN).pedrammehr)
    assert np.abs(table[:, place : place + 6] - run_path("II").pedrammehr).max() > 1.0


def test_rotations_have_their_signs() -> None:
    made = picture("pedrammehr-2012", "Figure 5")
    for column in ("x", "y", "z", "size"):
        assert f"<!-- {column} -->" in made.drawing.svg
    assert made.drawing.svg.count("rad/s -->") == 6
    rows = np.array(made.numbers.rows)
    assert rows[:, 1:].min() < 0.0 < rows[:, 1:].max()
