"""What a person sees of a report: nothing lies over something else, and what an agreement is worth is said."""

import html
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from synthetic_rows import make_header, make_rows

from rig.recording import Recording
from rig.report import figures, summarize, write_report
from rig.report.figures import Curves
from rig.report.pages import fix_titles
from rig.report.validation import validate

RATE = 250.0


def test_no_legend_lies_over_a_title_and_nothing_leaves_its_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Figure] = []

    def keep(figure: Figure) -> str:
        drawn.append(figure)
        return ""

    monkeypatch.setattr(figures, "svg_text", keep)
    rows = make_rows(8.0, RATE)
    rows["exchange_time"][100] = 5.999e-3  # the last label of its axis stands at its end
    recording = Recording(Path("run.mcap"), make_header(RATE), rows, (), dropped=0, complete=True, closing={})
    summary = summarize(recording)
    summary["validation"] = validate(recording, summary)
    figures.draw(Curves(recording, summary), summary, figures.figure_names(summary))
    legends = 0
    for figure in drawn:
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        renderer = canvas.get_renderer()
        for axes in figure.axes:
            whole = axes.get_tightbbox(renderer)
            assert whole is not None and whole.x0 >= 0.0 and whole.x1 <= figure.bbox.x1, axes.get_title(loc="left")
            legend = axes.get_legend()
            if legend is None:
                continue
            named = axes.get_title(loc="left")
            title = next(each for each in axes.get_children() if isinstance(each, Text) and each.get_text() == named)
            legends += 1
            box = legend.get_window_extent(renderer)
            assert box.x0 > title.get_window_extent(renderer).x1, title.get_text()
            assert box.x1 <= figure.bbox.x1 + 1
    assert legends > 10


@pytest.mark.parametrize(("largest", "above"), [(2.0, ""), (3e9, "1e9")])
def test_a_title_makes_way_for_a_power_of_ten(largest: float, above: str) -> None:
    places = []
    for fix in (fix_titles, lambda _figure: None):
        figure = Figure()
        axes = figure.add_subplot()
        axes.plot([0.0, largest])
        title = axes.set_title("Condition number", loc="left")
        fix(figure)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        assert axes.yaxis.get_offset_text().get_text() == above
        places.append(title.get_window_extent(canvas.get_renderer()).bounds)
    assert places[0] == places[1]


@pytest.mark.parametrize(
    ("config", "agrees", "part"),
    [
        ({"virtual": {"plant": {"as_built": None, "friction": {"load": [0.0] * 6}}}}, True, "calibration and timing. "),
        ({"virtual": {"plant": {"as_built": 3}}}, False, "differs from the model by virtual.plant.as_built: "),
        ({"virtual": {"plant": {"friction": {"load": [0.1] * 6}}}}, False, "by virtual.plant.friction: "),
        ({"virtual": {"plant": {"expected_residual": 5.0}}}, True, "Up to 5.00 N RMS"),
        ({"mode": "position", "drives": {"legs": [{}] * 6}}, True, "own loops between two set-points. "),
    ],
)
def test_a_plant_that_differs_from_the_model_does_not_agree_by_construction(
    tmp_path: Path, config: dict[str, Any], agrees: bool, part: str
) -> None:
    whole = Recording(Path("run.mcap"), make_header(RATE), make_rows(8.0, RATE), (), 0, complete=True, closing={})
    summary = summarize(whole)
    expected = config.get("virtual", {}).get("plant", {}).get("expected_residual")
    summary["validation"] = validate(whole, summary) | {"expected_n": expected}
    header = whole.header | {"config": whole.header["config"] | config}
    made = replace(whole, header=header, rows=whole.rows[:1])  # without pictures
    write_report(made, tmp_path / "page.html", summary=summary)
    page = html.unescape((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert ("these agree by construction" in page) is agrees and part in page


def test_agreement_by_construction_is_of_a_virtual_rig_alone(tmp_path: Path) -> None:
    whole = Recording(Path("run.mcap"), make_header(RATE), make_rows(8.0, RATE), (), 0, complete=True, closing={})
    entry = {"model": "exact", "rms_residual_n": [0.5] * 6, "rms_difference_n": [0.0] * 6, "peak_difference_n": 0.0}
    without = {key: value for key, value in whole.header.items() if key != "virtual"}
    for header, said in ((whole.header, 1), (whole.header | {"virtual": False}, 0), (without, 0)):
        summary = summarize(whole)
        summary["force"] |= {"models": [entry], "models_friction": "same"}
        made = replace(whole, header=header, rows=whole.rows[:1])  # without pictures
        write_report(made, tmp_path / "page.html", summary=summary)
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert page.count("The rig was virtual.") == page.count("these agree by construction") == said
        assert page.count("which may be below the noise") == said
