"""What a person sees of a report: nothing lies over something else."""

from pathlib import Path

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from synthetic_rows import make_header, make_rows

from rig.recording import Recording
from rig.report import plots, summarize

RATE = 250.0


def test_no_legend_lies_over_a_title_or_leaves_its_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Figure] = []

    def keep(figure: Figure) -> str:
        drawn.append(figure)
        return ""

    monkeypatch.setattr(plots, "svg_text", keep)
    rows = make_rows(8.0, RATE)
    recording = Recording(Path("run.mcap"), make_header(RATE), rows, (), dropped=0, complete=True, closing={})
    plots.figures(recording, summarize(recording))
    legends = 0
    for figure in drawn:
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        renderer = canvas.get_renderer()
        for axes in figure.axes:
            legend, title = axes.get_legend(), axes._left_title
            if legend is None:
                continue
            legends += 1
            box = legend.get_window_extent(renderer)
            assert box.x0 > title.get_window_extent(renderer).x1, title.get_text()
            assert box.x1 <= figure.bbox.x1 + 1
    assert legends > 10
