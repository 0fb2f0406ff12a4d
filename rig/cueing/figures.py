"""The figures of a cueing: what the vehicle did and what is felt, the platform, its legs, and the objective test."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kinematics import COORDINATES
from rig.csvio import per_leg
from rig.cueing.cueing import Cueing
from rig.cueing.omct import FREQUENCIES, TESTS, AxisTest, Complex, ObjectiveTest
from rig.papers import GREY, INK, Numbers, Picture, series
from rig.report import LEG_COLORS, STYLE, WIDTH, drawing, styled

_MOST_DRAWN = 4000  # samples of a curve
_LEAST_RANGE = 0.25  # of a panel's, of that of the panel with the greatest
_AFTER = 12.0  # s, of the way home
_AXES = ("x", "y", "z")
_BLUE, _ORANGE = "#0072B2", "#D55E00"
_BOUND: Any = {"color": "#8A929A", "linestyle": "--", "linewidth": 0.8, "zorder": 1}


def pictures(cueing: Cueing, test: ObjectiveTest | None) -> Iterator[tuple[str, Picture]]:
    """Yield each figure with the name of its section of the page, in order."""
    yield "cues", _compared(cueing, "force", "Specific force", "m/s²", slice(0, 3), "xyz")
    yield "cues", _compared(cueing, "rate", "Angular rate", "°/s", slice(3, 6), "xyz")
    yield "cues", _by_gravity(cueing)
    yield "motion", _pose(cueing)
    yield "legs", _legs(cueing)
    if test is not None:
        yield "fidelity", _responses(test, "direct", "Direct responses", tuple(one for one in TESTS if one.direct))
        yield "fidelity", _responses(test, "cross", "Cross responses", tuple(one for one in TESTS if not one.direct))


def _grid(rows: int, columns: int, height: float) -> tuple[Figure, Any]:
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    return figure, figure.subplots(rows, columns, sharex=True, squeeze=False)


def _framed(cueing: Cueing, panels: Sequence[Axes]) -> None:
    """Give panels of one quantity comparable scales, and show the way home for as long as something is to be seen."""
    ranges = [panel.get_ylim() for panel in panels]
    least = _LEAST_RANGE * max(high - low for low, high in ranges)
    for panel, (low, high) in zip(panels, ranges, strict=True):
        missing = 0.5 * max(least - (high - low), 0.0)
        panel.set_ylim(low - missing, high + missing)
        panel.axvline(cueing.vehicle_end, color=GREY, linewidth=0.6, zorder=1)
        panel.set_xlim(float(cueing.times[0]), min(float(cueing.times[-1]), cueing.vehicle_end + _AFTER))


def _rows(cueing: Cueing) -> slice:
    return slice(None, None, -(-len(cueing.times) // _MOST_DRAWN))


def _compared(cueing: Cueing, name: str, title: str, unit: str, part: slice, axes: str) -> Picture:
    """Draw three components of the vehicle's motion, the same scaled, and what is felt at the head."""
    rows, factor = _rows(cueing), 180.0 / np.pi if name == "rate" else 1.0
    rest = np.zeros(3)
    if name == "force":
        rest[2] = float(np.linalg.norm(np.asarray(cueing.mechanism.gravity)))
    given = cueing.tuning.input
    scale = np.array(given.force_scale if name == "force" else given.rate_scale)
    vehicle = (cueing.vehicle[:, part] - rest) * factor
    sensed = (cueing.sensed[:, part] - rest) * factor
    t = cueing.times[rows]
    with styled(STYLE):
        figure, grid = _grid(3, 1, 6.0)
        for place, panel in enumerate(grid[:, 0]):
            panel.plot(t, vehicle[rows, place], color=GREY, linewidth=1.0, label="vehicle")
            panel.plot(t, scale[place] * vehicle[rows, place], color=INK, linewidth=1.0, linestyle="--", label="scaled")
            panel.plot(t, sensed[rows, place], color=_BLUE, linewidth=1.6, label="felt at the head")
            panel.set_ylabel(f"{'f' if name == 'force' else 'ω'}{axes[place]}, {unit}")
            if name == "rate" and place < 2:
                for bound in (-factor * cueing.tuning.tilt.rate, factor * cueing.tuning.tilt.rate):
                    panel.axhline(bound, **_BOUND)
        _framed(cueing, grid[:, 0])
        grid[-1, 0].set_xlabel("time, s")
        figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        made = drawing(figure)
    what = "less that of rest, " if name == "force" else "grey: the tilt's greatest rate, "
    columns = [f"{kind}_{axis}" for kind in ("vehicle", "felt") for axis in _AXES]
    caption = f"Along the axes of the vehicle and of the platform, {what}z up. The vertical line: the vehicle's end."
    table = np.hstack([cueing.vehicle[:, part], cueing.sensed[:, part]])
    return Picture(title, caption, made, series(name, "t", cueing.times, columns, table))


def _by_gravity(cueing: Cueing) -> Picture:
    """Draw what acceleration and what gravity give of the force that is felt, along x and y."""
    rows, t = _rows(cueing), cueing.times[_rows(cueing)]
    scale = cueing.tuning.input.force_scale
    felt, gravity = cueing.sensed[:, :2], cueing.sensed_by_tilt[:, :2]
    with styled(STYLE):
        figure, grid = _grid(2, 1, 4.6)
        for axis, panel in enumerate(grid[:, 0]):
            panel.plot(
                t, scale[axis] * cueing.vehicle[rows, axis], color=INK, linestyle="--", linewidth=1.0, label="scaled"
            )
            panel.plot(t, felt[rows, axis] - gravity[rows, axis], color=_ORANGE, linewidth=1.1, label="by acceleration")
            panel.plot(t, gravity[rows, axis], color="#009E73", linewidth=1.1, label="by tilt")
            panel.plot(t, felt[rows, axis], color=_BLUE, linewidth=1.6, label="felt at the head")
            panel.set_ylabel(f"f{_AXES[axis]}, m/s²")
        _framed(cueing, grid[:, 0])
        grid[-1, 0].set_xlabel("time, s")
        figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
        made = drawing(figure)
    columns = [f"{kind}_{axis}" for kind in ("acceleration", "tilt") for axis in "xy"]
    return Picture(
        "Specific force by acceleration and by tilt",
        "The onset comes from the platform's acceleration, which is washed out; the tilt against gravity takes over.",
        made,
        series("tilt", "t", cueing.times, columns, np.hstack([felt - gravity, gravity])),
    )


def _pose(cueing: Cueing) -> Picture:
    rows, t = _rows(cueing), cueing.times[_rows(cueing)]
    shown = cueing.coordinates[rows] * [1e3, 1e3, 1e3, *[180.0 / np.pi] * 3]
    with styled(STYLE):
        figure, grid = _grid(2, 1, 4.6)
        for axis, color in enumerate((_ORANGE, "#009E73", _BLUE)):
            grid[0, 0].plot(t, shown[:, axis], color=color, label=COORDINATES[axis])
            grid[1, 0].plot(t, shown[:, 3 + axis], color=color, label=COORDINATES[3 + axis])
        grid[0, 0].set_ylabel("place from home, mm")
        grid[1, 0].set(ylabel="angle, °", xlabel="time, s")
        for panel in grid[:, 0]:
            panel.margins(y=0.2)  # room for the legend above the curves
            panel.legend(loc="upper right", ncols=3)
            _framed(cueing, [panel])
        made = drawing(figure)
    return Picture(
        "Pose of the platform",
        "Of the platform's origin from home, and the angles of R = Rz(rz) Ry(ry) Rx(rx).",
        made,
        series("pose", "t", cueing.times, COORDINATES, cueing.coordinates),
    )


def _legs(cueing: Cueing) -> Picture:
    rows, t = _rows(cueing), cueing.times[_rows(cueing)]
    use = cueing.use
    with styled(STYLE):
        figure, grid = _grid(3, 1, 6.0)
        for panel, (name, values) in zip(grid[:, 0], use.items(), strict=True):
            for leg, color in enumerate(LEG_COLORS):
                panel.plot(t, 100.0 * values[rows, leg], color=color, linewidth=1.1, label=f"leg {leg + 1}")
            for bound in (-100.0, 100.0):
                panel.axhline(bound, **_BOUND)
            panel.set_ylabel(f"{name}, % of its limit")
            _framed(cueing, [panel])
        grid[-1, 0].set_xlabel("time, s")
        figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=6)
        made = drawing(figure)
    legs = cueing.legs
    return Picture(
        "Use of the legs",
        "Stroke from its middle, speed and acceleration of each leg; dashed: the mechanism's limits.",
        made,
        series(
            "legs", "t", cueing.times, [*per_leg("l"), *per_leg("v"), *per_leg("a")],
            np.hstack([legs.length, legs.velocity, legs.acceleration]),
        ),
    )  # fmt: skip


def _responses(test: ObjectiveTest, name: str, title: str, tests: Sequence[AxisTest]) -> Picture:
    """Draw gain and phase over the frequency, a column of panels for each test."""
    rows = 2 * -(-len(tests) // 3) if len(tests) > 4 else 2
    columns = len(tests) if len(tests) <= 4 else 3
    with styled(STYLE):
        figure, grid = _grid(rows, columns, 2.6 * rows)
        for place, one in enumerate(tests):
            top, column = 2 * (place // columns), place % columns
            _bode(test, one, grid[top, column], grid[top + 1, column])
        for panel in grid[-1]:
            panel.set_xlabel("frequency, rad/s")
        handles = grid[0, 0].get_legend_handles_labels()
        if len(handles[0]) > 1:
            figure.legend(*handles, loc="outside upper center", ncols=2)
        made = drawing(figure)
    kinds = (False, True) if test.with_rig is not None else (False,)
    named = [f"{one.name.replace(' ', '_')}_{kind}{'_with_rig' if rig else ''}"
             for one in tests for rig in kinds for kind in ("magnitude", "phase_rad")]  # fmt: skip
    values = [part(test.response(one, rig=rig)) for one in tests for rig in kinds for part in (np.abs, np.angle)]
    numbers = Numbers(
        f"omct-{name}",
        ("omega_rad_s", *named),
        tuple(zip(FREQUENCIES.tolist(), *map(np.ndarray.tolist, values), strict=True)),
    )
    caption = "Of what is felt at the head over the vehicle's motion, at the twelve frequencies."
    return Picture(title, caption, made, numbers)


def _bode(test: ObjectiveTest, one: AxisTest, above: Axes, below: Axes) -> None:
    curves: list[tuple[Complex, dict[str, Any]]] = [
        (test.response(one), {"color": _BLUE, "marker": "o", "markersize": 3.5, "label": "washout"})
    ]
    if test.with_rig is not None:
        style = {"color": _ORANGE, "marker": "s", "markersize": 3.0, "linestyle": "--", "label": "with the rig"}
        curves.append((test.response(one, rig=True), style))
    for gains, style in curves:
        above.loglog(FREQUENCIES, np.maximum(np.abs(gains), 1e-4), **style)
        below.semilogx(FREQUENCIES, np.degrees(np.unwrap(np.angle(gains))), **style)
    if one.direct:
        above.axhline(1.0, **_BOUND)
        below.axhline(0.0, **_BOUND)
        above.set_ylim(1e-3, 3.0)
    above.set_title(f"{one.number}  {one.name}")
    above.set_ylabel(f"gain{', ' + one.unit if one.unit else ''}")
    below.set_ylabel("phase, °")
