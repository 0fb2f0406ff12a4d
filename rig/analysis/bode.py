"""Bode plots of frequency responses, as an SVG file."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from rig.analysis.response import Response
from rig.analysis.response_fit import ResponseFit
from rig.csvio import whole_binary_file


def draw_bode(responses: Mapping[str, Response], fits: Mapping[str, ResponseFit], dof: str, path: Path) -> None:
    """Magnitude and phase with two standard uncertainties, and coherence, of responses by name, over their fits' lags.

    Raises InputError where the file cannot be written; nothing is left of it then.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.6 * len(responses) + 0.6, 6.2), layout="constrained")
    columns = figure.subplots(3, len(responses), sharex="col", squeeze=False)
    for place, (name, response) in enumerate(responses.items()):
        size, phase, coherence = columns[:, place]
        f, magnitude = response.frequency, np.abs(response.gain)
        spread = 2.0 * response.sigma / np.sqrt(2.0)
        size.errorbar(f, 20.0 * np.log10(magnitude), yerr=8.686 * spread / magnitude, fmt=".", markersize=4)
        phase.errorbar(f, np.degrees(response.phase), yerr=np.degrees(spread / magnitude), fmt=".", markersize=4)
        coherence.semilogx(f, response.coherence, ".", markersize=4)
        size.set_title(f"{name}, {dof}: lag {fits[name].lag * 1e3:.2f} ± {fits[name].lag_sigma * 1e3:.2f} ms")
        size.axhline(20.0 * np.log10(magnitude[0]) - 3.0103, linewidth=0.8, linestyle=":")
        for axes, label in zip((size, phase, coherence), ("|H|, dB", "phase, deg", "coherence"), strict=True):
            axes.set_ylabel(label)
            axes.grid(True, linewidth=0.4)
        coherence.set_ylim(0.0, 1.05)
        coherence.set_xlabel("frequency, Hz")
    with whole_binary_file(path) as file, rc_context({"svg.hashsalt": "bode"}):  # the same gives the same bytes
        figure.savefig(file, format="svg", metadata={"Date": None})
