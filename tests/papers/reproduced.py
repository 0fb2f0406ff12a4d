"""The studies, each computed and drawn once for all tests of a session.

As SVG all of their figures; as PDF the first of each, which stands for the others: `make explore` draws them too.
"""

from collections.abc import Callable
from functools import cache

import pytest
from exploration import LONG
from matplotlib.figure import Figure

from rig.papers import Study, reproduce
from rig.report import Drawing, drawing
from rig.report.pages import svg_text


def study(name: str) -> Study:
    """The study of that name."""
    return _made(name)[0]


def heard(name: str) -> tuple[tuple[str, float], ...]:
    """Progress reported while it was made."""
    return _made(name)[1]


@cache
def _made(name: str) -> tuple[Study, tuple[tuple[str, float], ...]]:
    reported: list[tuple[str, float]] = []
    with pytest.MonkeyPatch.context() as patch:
        if not LONG:
            drawn = _drawing_one_pdf()
            patch.setattr("rig.papers.drawing.drawing", drawn)
            patch.setattr("rig.papers.dasgupta_1998.drawing", drawn)
        (made,) = reproduce([name], lambda what, fraction: reported.append((what, fraction)))
    return made, tuple(reported)


def _drawing_one_pdf() -> Callable[[Figure], Drawing]:
    """`drawing`, of which all after the first have the first one's PDF."""
    pdfs: list[bytes] = []

    def drawn(figure: Figure) -> Drawing:
        if pdfs:
            return Drawing(svg_text(figure), pdfs[0])
        first = drawing(figure)
        pdfs.append(first.pdf)
        return first

    return drawn
