"""The figure of what the residual goes with: speed and acceleration of the leg."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from rig.report.pages import panelled


def dependence_figure(summary: Mapping[str, Any], colors: Sequence[str]) -> Figure:
    """Mean residual over speed and over acceleration; of a summary that has them."""
    told, noise = summary["validation"]["dependence"], summary["force"]["noise_n"]
    figure = panelled(3.0, 1, above=0.36)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, name, unit in zip(panels, ("speed", "acceleration"), ("m/s", "m/s²"), strict=True):
        for leg, color in zip(told[name]["legs"], colors, strict=True):
            axes.plot(leg["at"], leg["mean_n"], color=color, marker=".", markersize=3, label=str(leg["leg"]))
        for level in (-noise, noise) if noise else ():
            axes.axhline(level, color="#222A32", linestyle=(0, (4, 2)), linewidth=0.8)
        axes.axhline(0.0, color="#8A929A", linewidth=0.6)
        axes.set(title=f"Over {name}", xlabel=unit)
    panels[0].set_ylabel("mean residual, N")
    panels[1].legend(loc="upper right", ncols=6, borderaxespad=0, bbox_to_anchor=(1, 1.12), columnspacing=0.8)
    return figure
