"""Figure 3 of Dasgupta & Mruthyunjaya (1998): how a coordinate goes along a straight path, eqs. 39 and 40."""

import numpy as np
from matplotlib.figure import Figure

from rig.papers.drawing import GREY, INK, series
from rig.papers.paths import PLANS
from rig.papers.study import Picture
from rig.report import LEG_COLORS, STYLE, drawing, styled

_STEPS = 240
_ASIDE = 1e-9  # of the duration, on either side of a jump
_NAMES = ("coordinate", "velocity", "acceleration")
_SHOWN = ((0, "$t_x$, m", "tx", LEG_COLORS[0]), (5, r"$\theta_z$, rad", "thetaz", LEG_COLORS[1]))


def trajectory_figure() -> Picture:
    """One coordinate of the position and one of the angles on path I, with velocity and acceleration."""
    trajectory = PLANS["I"].trajectory()
    edges = np.array(trajectory.breakpoints)
    aside = _ASIDE * trajectory.duration
    even = np.setdiff1d(np.linspace(0.0, trajectory.duration, _STEPS + 1), edges)
    times = np.sort(np.concatenate([even, edges - aside, edges + aside]))
    table = np.stack([values[:, [place for place, *_ in _SHOWN]] for values in trajectory.coordinates(times)])
    with styled(STYLE):
        figure = Figure(figsize=(10.5, 5.2), layout="constrained")
        panels = figure.subplots(3, 1, sharex=True)
        for values, name, axes in zip(table, _NAMES, panels, strict=True):
            for column, (_, label, _, color) in enumerate(_SHOWN):
                axes.plot(
                    times,
                    values[:, column],
                    color=color,
                    linestyle="-" if column == 0 else "--",
                    linewidth=1.4,
                    label=label,
                )
            for edge in edges:
                axes.axvline(edge, color=GREY, linewidth=0.7, linestyle=(0, (4, 3)))
            axes.set_ylabel(name)
        for edge in edges:
            panels[0].annotate(
                f"{edge:.4g} s", (edge, 1.0), xycoords=("data", "axes fraction"), xytext=(0, 2),
                textcoords="offset points", ha="center", va="bottom", fontsize=8, color=INK,
            )  # fmt: skip
        panels[-1].set_xlabel("time, s")
        panels[-1].legend(loc="upper right", ncols=2)
        picture = drawing(figure)
    columns = [f"{name}_{which}" for which in _NAMES for *_, name, _ in _SHOWN]
    numbers = series("fig-3", "t", times, columns, np.hstack(list(table)))
    return Picture(
        "Figure 3: a coordinate over time",
        "Path I: constant acceleration, constant velocity, constant deceleration, the blends τ by eq. 39 and their "
        "acceleration by eq. 40; position and angles have blends of their own, whose edges are marked. Per second, and "
        "per second squared.",
        picture,
        numbers,
    )
