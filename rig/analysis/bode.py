"""Bode plots of frequency responses, as an SVG file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rig.analysis.response import Distortion, Response
from rig.analysis.response_fit import ResponseFit
from rig.analysis.smoothing import Floats
from rig.csvio import whole_binary_file


def draw_bode(responses: Mapping[str, Response], fits: Mapping[str, ResponseFit], dof: str, path: Path) -> None:
    """Magnitude and phase with two standard uncertainties, coherence, and output beside what is not linear in it.

    Of responses by name, with the lags of their fits.
    Raises InputError where the file cannot be written; nothing is left of it then.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    rows = 4 if any(one.distortion is not None for one in responses.values()) else 3
    figure = Figure(figsize=(4.6 * len(responses) + 0.6, 2.0 * rows + 0.2), layout="constrained")
    columns = figure.subplots(rows, len(responses), sharex="col", squeeze=False)
    for place, (name, response) in enumerate(responses.items()):
        size, phase, coherence = columns[:3, place]
        f, magnitude, fit = response.frequency, np.abs(response.gain), fits[name]
        spread = 2.0 * response.sigma / np.sqrt(2.0)
        size.errorbar(f, 20.0 * np.log10(magnitude), yerr=8.686 * spread / magnitude, fmt=".", markersize=4)
        phase.errorbar(f, np.degrees(response.phase), yerr=np.degrees(spread / magnitude), fmt=".", markersize=4)
        coherence.semilogx(f, response.coherence, ".", markersize=4)
        lag = "no model fits"
        if fit.lag is not None and fit.lag_sigma is not None:
            lag = f"lag {fit.lag * 1e3:.2f} ± {fit.lag_sigma * 1e3:.2f} ms"
        size.set_title(f"{name}, {dof}: {lag}")
        size.axhline(20.0 * np.log10(magnitude[0]) - 3.0103, linewidth=0.8, linestyle=":")
        labels = ("|H|, dB", "phase, deg", "coherence")
        for axes, label in zip((size, phase, coherence), labels, strict=True):
            axes.set_ylabel(label)
        coherence.set_ylim(0.0, 1.05)
        for axes in columns[:, place]:
            axes.grid(True, linewidth=0.4)
        if response.distortion is not None:
            _draw_distortion(columns[3, place], response, response.distortion)
        columns[-1, place].set_xlabel("frequency, Hz")
    with whole_binary_file(path) as file, rc_context({"svg.hashsalt": "bode"}):  # the same gives the same bytes
        figure.savefig(file, format="svg", metadata={"Date": None})


def _draw_distortion(axes: Any, response: Response, distortion: Distortion) -> None:
    whole = response.output.max()
    noise_of = f"noise {100.0 * distortion.noise_part:.2g} %"
    for label, frequency, level, mark in (
        ("output", response.frequency, response.output, "."),
        (f"odd {100.0 * distortion.odd_part:.2g} %", *_lines(distortion, ~distortion.even), "x"),
        (f"even {100.0 * distortion.even_part:.2g} %", *_lines(distortion, distortion.even), "+"),
        (noise_of, distortion.frequency, distortion.noise, "-"),
    ):
        decibel = 20.0 * np.log10(np.maximum(level / whole, 1e-12))
        axes.semilogx(frequency, decibel, mark, markersize=4, linewidth=0.8, label=label)
    axes.set_ylabel("output, dB")
    axes.legend(fontsize="x-small")


def _lines(distortion: Distortion, which: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
    return distortion.frequency[which], distortion.level[which]
