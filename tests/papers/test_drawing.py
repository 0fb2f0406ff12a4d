"""The studies' figures as they are drawn: poles, jumps, hues, and how their page prints."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from kinematics import Array
from rig.papers.drawing import INK, Curve, Rule, components, six_panels_figure, within
from rig.papers.page import mathematics
from rig.papers.paths import PLANS, crossings, drawn_motions, run_path, singular_times, traced_path, zeros
from rig.report.figures import LEG_COLORS

TEMPLATE = Path(__file__).parents[2] / "rig" / "papers" / "templates" / "papers.html.j2"
TIMES = np.linspace(0.0, 2.0, 201)


def panel(*curves: Curve, leg: int = 0, rule: Rule | None = None, linear: float | None = None) -> Axes:
    figure = six_panels_figure(TIMES, curves, "N", rule=rule, linear=linear, pole="pole")
    return figure.axes[leg]


@pytest.mark.parametrize("largest", [0.02, 1800.0, 3e7])
@pytest.mark.parametrize("columns", [0, 4])
def test_every_label_has_its_place(monkeypatch: pytest.MonkeyPatch, largest: float, columns: int) -> None:
    """None leaves the figure, or lies over another or over a panel: in six panels and in rows of four."""
    values = np.repeat(np.linspace(-largest, largest, len(TIMES))[:, None], 6, axis=1)
    if columns:
        made: list[Figure] = []
        monkeypatch.setattr("rig.papers.drawing.drawing", made.append)
        components(TIMES, [Curve("a", np.repeat(values[:, :, None], columns, axis=2))], "xyzs", "rad/s²")
        (figure,) = made
    else:
        figure = six_panels_figure(TIMES, [Curve("a", values)], "N m, joint 3 N")
    renderer = FigureCanvasAgg(figure).get_renderer()
    (legend,) = figure.legends
    boxes = [axes.get_tightbbox(renderer) for axes in figure.axes]
    whole = [box for box in (*boxes, legend.get_window_extent(renderer)) if box is not None]
    assert len(whole) == len(figure.axes) + 1
    assert all(box.x0 >= 0.0 and box.y0 >= 0.0 and box.x1 <= figure.bbox.x1 for box in whole)
    assert all(box.y1 <= figure.bbox.y1 for box in whole)
    for one, other in combinations(whole, 2):
        assert not one.padded(-1.0).overlaps(other.padded(-1.0))


def lines(axes: Axes, name: str) -> tuple[Array, Array]:
    line = next(line for line in axes.lines if line.get_label() == name)
    return np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)


def marks(axes: Axes) -> list[float]:
    return [float(np.asarray(line.get_xdata())[0]) for line in axes.lines if str(line.get_label()).startswith("_")]


def fraction(place: float) -> Curve:
    """1/(t − place) in every leg."""
    values = np.repeat((1.0 / (TIMES - place))[:, None], 6, axis=1)
    return Curve("F", values, poles=((place,),) * 6)


def test_a_curve_is_cut_at_its_pole_which_is_marked() -> None:
    axes = panel(fraction(0.7051), rule=Rule())
    x, y = lines(axes, "F")
    assert marks(axes) == [0.7051]
    across = (x[:-1] < 0.7051) & (x[1:] > 0.7051)
    assert not np.isfinite(y[:-1][across] * y[1:][across]).any()
    assert np.sign(y[x < 0.7051][np.isfinite(y[x < 0.7051])]).max() < 0.0


def test_a_pole_does_not_rule_the_axis() -> None:
    low, high = panel(fraction(0.7051), rule=Rule(near=0.05)).get_ylim()
    assert -12.0 < low < -9.0
    assert 9.0 < high < 12.0
    low, high = panel(fraction(0.7051), rule=Rule(near=0.05, most=2.0)).get_ylim()
    assert -2.5 < low < high < 2.5


def test_nothing_is_drawn_beyond_the_axes() -> None:
    """Not every viewer of an SVG file clips."""
    axes = panel(fraction(0.7051), rule=Rule(most=2.0))
    _, y = lines(axes, "F")
    low, high = axes.get_ylim()
    shown = y[np.isfinite(y)]
    assert low <= shown.min() < 0.99 * low
    assert 0.99 * high < shown.max() <= high


def test_a_line_is_cut_where_it_passes_a_bound() -> None:
    x, y = within(np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 4.0, 4.0, -4.0]), -2.0, 2.0)
    kept = np.isfinite(y)
    assert x[kept].tolist() == [0.0, 0.5, 2.25, 2.75]
    assert y[kept].tolist() == [0.0, 2.0, 2.0, -2.0]
    assert not kept[(x > 0.5) & (x < 2.25)].any()


def test_the_legend_has_all_six_legs() -> None:
    curve = np.zeros((len(TIMES), 6))
    figure = six_panels_figure(TIMES, (Curve("exact", curve), Curve("printed", curve, INK)), "N")
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["exact, legs 1 to 6", "printed"]
    shown = [line.get_color() for line in legend.findobj(Line2D) if line.get_color() in LEG_COLORS]
    assert tuple(dict.fromkeys(shown)) == LEG_COLORS


def test_what_agrees_is_dashed_over_solid() -> None:
    same = np.zeros((len(TIMES), 6))
    axes = panel(Curve("printed", same, INK, "--"), Curve("exact", same))
    order = {str(line.get_label()): line.get_zorder() for line in axes.lines}
    assert order["printed"] > order["exact"]


def test_a_spike_may_be_drawn_to_a_logarithmic_scale() -> None:
    axes = panel(fraction(0.7051), rule=Rule(), linear=1.0)
    assert axes.get_yscale() == "symlog"
    assert panel(fraction(0.7051)).get_yscale() == "linear"


@pytest.mark.parametrize("name", ["I", "II"])
def test_forces_jump_where_the_acceleration_does(name: str) -> None:
    drawn, edges = traced_path(name), PLANS[name].trajectory().breakpoints
    twice = drawn.times[:-1][np.diff(drawn.times) == 0.0]
    assert twice.tolist() == pytest.approx(list(edges))
    steps = np.abs(np.diff(drawn.exact, axis=0)).max(axis=1)
    jump = np.diff(drawn.times) == 0.0
    assert steps[jump].min() > (0.5 if name == "I" else 20.0) > 0.0
    assert np.diff(drawn.times)[jump].max() == 0.0


def test_what_is_drawn_passes_through_the_samples() -> None:
    run, drawn = run_path("II"), traced_path("II")
    clear = np.abs(run.times[:, None] - PLANS["II"].trajectory().breakpoints).min(axis=1) > 1e-6
    at = np.searchsorted(drawn.times, run.times[clear] - 1e-9)
    np.testing.assert_allclose(drawn.exact[at], run.exact[clear], rtol=1e-6, atol=1e-3)


def test_path_three_is_cut_at_its_singularity() -> None:
    (place,) = singular_times("III")
    assert place == pytest.approx(3.6705, abs=1e-4)
    assert singular_times("I") == ()
    drawn = traced_path("III")
    before = int(np.searchsorted(drawn.times, place)) - 1
    assert (np.sign(drawn.exact[before]) == -np.sign(drawn.exact[before + 1])).all()
    assert np.abs(drawn.exact[before : before + 2]).min() > 1e8


def test_the_poles_of_the_dynamic_fraction_are_the_zeros_of_the_force() -> None:
    drawn = traced_path("I")
    poles = zeros(drawn.times, drawn.exact)
    assert [len(by_leg) for by_leg in poles] == [0, 0, 0, 0, 1, 1]
    assert np.abs(drawn.fraction).max() > 1e3


def test_a_jump_through_zero_has_no_zero() -> None:
    times = np.array([0.0, 1.0, 1.0, 2.0, 4.0])
    assert crossings(times, np.array([1.0, 1.0, -1.0, -1.0, 1.0])) == (3.0,)


def test_close_instants_lie_about_a_pole() -> None:
    trajectory = PLANS["I"].trajectory()
    times, motions = drawn_motions(trajectory, (3.0,))
    assert motions.shape == (len(times), 19)
    assert (np.diff(times) >= 0.0).all()
    assert np.abs(times - 3.0)[np.abs(times - 3.0) > 1e-9].min() == pytest.approx(6e-6)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("|F_d/F| > 60 %", "|<i>F</i><sub>d</sub>/<i>F</i>| &gt; 60 %"),
        ("C_jj + 2C_jk", "<i>C</i><sub>jj</sub> + 2<i>C</i><sub>jk</sub>"),
        ("2√K_p", "2√<i>K</i><sub>p</sub>"),
        ("L̇_u", "<i>L̇</i><sub>u</sub>"),
        ("r̄_iᵗ, of the C^i", "<i>r̄</i><sub>i</sub>ᵗ, of the <i>C</i><sup>i</sup>"),
        ("f_{N+1}", "<i>f</i><sub>N+1</sub>"),
        ("lab_hexapod, a <b>", "lab_hexapod, a &lt;b&gt;"),
        ("straight_condition", "straight_condition"),
    ],
)
def test_symbols_are_set_as_mathematics(text: str, shown: str) -> None:
    assert mathematics(text) == shown


def test_no_heading_is_left_alone_in_print() -> None:
    """Headings stay with what follows, figures, rows and the pictures' sections are whole, tables repeat their head."""
    text = TEMPLATE.read_text(encoding="utf-8")
    printed = re.sub(r"/\*.*?\*/", "", text[text.index("@media print") : text.index("</style>")])
    rules: dict[str, str] = {}
    for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", printed):
        for selector in selectors.split(","):
            rules[selector.strip()] = rules.get(selector.strip(), "") + body
    for selector in ("h2", "h3", ".note", "figcaption", "thead"):
        assert "break-after: avoid" in rules[selector], selector
    assert "table-header-group" in rules["thead"]
    room = re.search(r"height: (\d+)mm; margin-bottom: -(\d+)mm", rules["section > h3::after"])
    assert room is not None
    assert room[1] == room[2]
    assert int(room[1]) >= 30
    assert "break-inside: avoid" in rules["section > h3"]
    for selector in (".picture", "figure", "tr", "li"):
        assert "break-inside: avoid" in rules[selector], selector
    assert text.count("<thead>") == text.count("<table>")
