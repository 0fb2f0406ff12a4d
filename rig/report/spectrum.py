"""The figure of a validation's spectra: what the residual is made of, and where model and measurement go together."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from rig.report.pages import panelled


def spectrum_figure(summary: Mapping[str, Any], colors: Sequence[str]) -> Figure:
    """Square root of the residual's density, and coherence, over frequency; of a summary that has them."""
    spectrum, noise = summary["validation"]["spectrum"], summary["force"]["noise_n"]
    rate = summary["cycle"]["rate_hz"]
    figure = panelled(3.0, 1, above=0.36)
    density, coherence = figure.subplots(1, 2)
    frequency = spectrum["frequency_hz"]
    for leg, color in zip(spectrum["legs"], colors, strict=True):
        density.plot(frequency, np.sqrt(leg["residual_n2_per_hz"]), color=color, label=str(leg["leg"]))
        known = [np.nan if value is None else value for value in leg["coherence"]]
        coherence.plot(frequency, known, color=color)
    if noise and rate:
        white = noise / np.sqrt(rate / 2)
        density.axhline(white, color="#222A32", linestyle=(0, (4, 2)), linewidth=0.8, label="noise")
    level = spectrum["coherence_level"]
    coherence.plot(frequency, level, color="#222A32", linestyle=(0, (4, 2)), linewidth=0.8, label="unrelated, 95 %")
    density.set(title="Residual", ylabel="N/√Hz", yscale="log")
    coherence.set(title="Coherence of model and measurement", ylim=(0.0, 1.02))
    for axes in (density, coherence):
        axes.set(xscale="log", xlabel="Hz")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _place: f"{value:g}"))
    for formatter in (density.yaxis.set_major_formatter, density.yaxis.set_minor_formatter):
        formatter(FuncFormatter(lambda value, _place: f"{value:.2g}"))
    density.tick_params(axis="y", which="both", labelsize=7)
    density.legend(loc="upper right", ncols=7, borderaxespad=0, bbox_to_anchor=(1, 1.12), columnspacing=0.8)
    coherence.legend(loc="upper right", borderaxespad=0, bbox_to_anchor=(1, 1.12))
    return figure
