"""The curves that the page itself draws, so that they can be zoomed and read out: JSON for `templates/zoom.js`."""

import base64
import json
from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np

from rig.report.curves import Curve, Curves
from rig.report.plots import AXIS_COLORS, LEG_COLORS, TERM_COLORS, darker
from rig.report.series import Floats
from rig.telemetry import TERMS

MISSING = 65535
"""Stands for a value that is not known; the others are whole numbers below it, from a curve's lowest to its highest."""
_DARK = "#3A424A"
_UNSAFE = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}
"""What could end a script's element, or a line in it, whatever a name holds."""
_GRID = 200
"""Places at which what is known at some is told in between"""
_SHOWN = "Shown is what the numbers cover; double click: all that was recorded under power."
ONE_SCALE = ("forces", "residuals", "terms")
"""Figures whose panels, one for each leg, are to be compared by eye"""


def curves_json(curves: Curves, summary: Mapping[str, Any], names: Container[str]) -> str | None:
    """JSON of the panels of these figures, safe inside a script's element; None where there is nothing to draw.

    Curves are lowest and highest values of stretches, two bytes each: to 1/65534 of the curve's range.
    """
    plots = {name: panels for name, panels in _plots(curves, summary).items() if name in names}
    times = {"powered": curves.fine("condition")[0], "cycles": curves.fine_timing(0)[0]}
    times = {name: one[::2] if _paired(one) else one for name, one in times.items()}
    known = {name: np.round(one, 5).tolist() for name, one in times.items() if _growing(one)}
    for name, (axes, plot) in _of_validation(summary).items():
        if name in names:
            known |= {axis: one.tolist() for axis, one in axes.items()}
            plots[name] = plot
    plots = {name: plot for name, plot in plots.items() if plot["times"] in known}
    if not plots:
        return None
    window = summary["window"]
    return plots_json(known, plots, _SHOWN, [window["begin_s"], window["end_s"]] if window["rows"] else None)


def plots_json(
    times: Mapping[str, list[float]], plots: Mapping[str, Any], shown: str, window: list[float] | None = None
) -> str:
    """What the page's script draws: `plots` by name over `times`, safe inside a script's element.

    Args:
        times: s, by name.
        plots: by name: `times` (their name), `beside` (what is printed stays in view), `one_scale`, `panels` (see
            `panel`; one that is not over time has `times` of its own, and `axis`: its `unit`, and whether it is `log`:
            the decimal logarithm of what is told), and `shown` where it is not that of all.
        shown: a sentence on what is shown before anybody zooms.
        window: begin and end, s, of what is shown first; None: all.
    """
    data = {"times": times, "window": window, "shown": shown, "plots": plots}
    return json.dumps(data, separators=(",", ":"), allow_nan=False).translate(_UNSAFE)


def _plots(curves: Curves, summary: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Panels of every figure by its name: as those that are printed show them."""
    fine, noise = curves.fine, summary["force"]["noise_n"]
    legs = list(enumerate(LEG_COLORS))
    forces = [
        panel(f"Leg {leg + 1}", "N", [
            curve("measured", color, fine("measured", leg)), curve("model", darker(color), fine("model", leg), True)
        ])
        for leg, color in legs
    ]  # fmt: skip
    levels = [0.0] if not noise else [-noise, 0.0, noise]
    residuals = [
        panel(f"Leg {leg + 1}", "N", [curve("residual", color, fine("residual", leg))], levels) for leg, color in legs
    ]
    tracking = [
        panel("Position error", "µm", _each("xyz", AXIS_COLORS, curves, "position error")),
        panel("Rotation error", "µrad", _each("xyz", AXIS_COLORS, curves, "rotation error")),
        panel("Leg length error", "µm", _each("123456", LEG_COLORS, curves, "length error")),
        panel("Condition number of H", "", [curve("", _DARK, fine("condition"))]),
    ]
    pose = [
        panel(name, unit, [
            curve("measured", color, fine("measured place", column)),
            curve("command", darker(color), fine("commanded place", column), True),
        ])
        for axis, color in enumerate(AXIS_COLORS)
        for name, unit, column in (("xyz"[axis], "mm", axis), ("θ" + "xyz"[axis], "deg", 3 + axis))
    ]  # fmt: skip
    terms = [
        panel(f"Leg {leg + 1}", "N", [
            curve(name, color, fine("terms", 6 * term + leg))
            for term, (name, color) in enumerate(zip(TERMS, TERM_COLORS, strict=True))
        ])
        for leg in range(6)
    ]  # fmt: skip
    durations = [
        curve(name, color, curves.fine_timing(1 + index))
        for index, (name, color) in enumerate(zip(curves.durations, ("#0072B2", "#E69F00", "#009E73"), strict=True))
    ]
    timing = [
        panel("Period error", "µs", [curve("", "#0072B2", curves.fine_timing(0))]),
        panel("Durations", "µs", durations),
    ]
    powered = {"forces": forces, "residuals": residuals, "tracking": tracking, "pose": pose, "terms": terms}
    return {
        name: {"times": "powered", "beside": False, "one_scale": name in ONE_SCALE, "panels": panels}
        for name, panels in powered.items()
    } | {"timing": {"times": "cycles", "beside": True, "one_scale": False, "panels": timing}}


_Axes = dict[str, Floats]
_OF_ALL = "Shown is all of it."


def _of_validation(summary: Mapping[str, Any]) -> dict[str, tuple[_Axes, dict[str, Any]]]:
    """Plots that are not over time, by name: their axes by name, and the panels over these."""
    found = summary.get("validation") or {}
    made: dict[str, tuple[_Axes, dict[str, Any]]] = {}
    if found.get("spectrum"):
        made["spectrum"] = _spectrum(found["spectrum"], summary["force"]["noise_n"], summary["cycle"]["rate_hz"])
    if found.get("dependence"):
        made["dependence"] = _dependence(found["dependence"], summary["force"]["noise_n"])
    return {name: (axes, plot) for name, (axes, plot) in made.items() if all(map(_growing, axes.values()))}


def _spectrum(told: Mapping[str, Any], noise: float | None, rate: float | None) -> tuple[_Axes, dict[str, Any]]:
    """Density in dB of 1 N/√Hz, and coherence, over the decimal logarithm of the frequency in Hz."""
    frequency = np.log10(np.array(told["frequency_hz"]))
    with np.errstate(divide="ignore"):
        densities = [10.0 * np.log10(np.array(leg["residual_n2_per_hz"])) for leg in told["legs"]]
        white = [float(10.0 * np.log10(2.0 * noise**2 / rate))] if noise and rate else []
    legs = list(zip(told["legs"], LEG_COLORS, strict=True))
    density = [
        curve(str(leg["leg"]), color, (frequency, values)) for (leg, color), values in zip(legs, densities, strict=True)
    ]
    coherence = [
        curve(str(leg["leg"]), color, (frequency, np.array(leg["coherence"], dtype=np.float64))) for leg, color in legs
    ]
    unrelated = curve("unrelated, 95 %", _DARK, (frequency, np.array(told["coherence_level"])), True)
    axis = {"times": "frequency", "axis": {"unit": "Hz", "log": True}}
    panels = [
        panel("Residual", "dB re 1 N/√Hz", density, white) | axis,
        panel("Coherence of model and measurement", "", [*coherence, unrelated]) | axis,
    ]
    return {"frequency": frequency}, _plot("frequency", panels, one_scale=False)


def _dependence(told: Mapping[str, Any], noise: float | None) -> tuple[_Axes, dict[str, Any]]:
    """Mean residual over speed and over acceleration, between the places where each leg has some."""
    axes, panels = {}, []
    levels = [0.0] if not noise else [-noise, 0.0, noise]
    for name, unit in (("speed", "m/s"), ("acceleration", "m/s²")):
        legs = [leg for leg in told[name]["legs"] if leg["at"]]
        ends = [place for leg in legs for place in (leg["at"][0], leg["at"][-1])]
        axes[name] = grid = np.linspace(min(ends, default=0.0), max(ends, default=0.0), _GRID)
        curves = [
            curve(
                str(leg["leg"]),
                LEG_COLORS[leg["leg"] - 1],
                (grid, np.interp(grid, leg["at"], leg["mean_n"], left=np.nan, right=np.nan)),
            )
            for leg in legs
        ]
        panels.append(
            panel(f"Over {name}", "N", curves, levels) | {"times": name, "axis": {"unit": unit, "log": False}}
        )
    return axes, _plot("speed", panels, one_scale=True)


def _plot(times: str, panels: list[dict[str, Any]], *, one_scale: bool) -> dict[str, Any]:
    return {"times": times, "beside": False, "one_scale": one_scale, "panels": panels, "shown": _OF_ALL}


def _each(names: str, colors: Sequence[str], curves: Curves, quantity: str) -> list[dict[str, Any]]:
    return [
        curve(name, color, curves.fine(quantity, column))
        for column, (name, color) in enumerate(zip(names, colors, strict=True))
    ]


def panel(title: str, unit: str, curves: list[dict[str, Any]], levels: Sequence[float] = ()) -> dict[str, Any]:
    """A panel of curves, see `curve`; levels: where a line is drawn across, dashed but for the one at 0."""
    return {"title": title, "unit": unit, "curves": curves, "levels": list(levels)}


def curve(name: str, color: str, of: Curve, dash: bool = False) -> dict[str, Any]:
    """A curve as the script takes it; times that are there twice have the lowest and highest value of a stretch."""
    t, values = of
    known = np.isfinite(values)
    low, high = (float(values[known].min()), float(values[known].max())) if known.any() else (0.0, 0.0)
    return {
        "name": name,
        "color": color,
        "dash": dash,
        "per": 2 if _paired(t) else 1,
        "low": low,
        "high": high,
        "values": base64.b64encode(_whole(values, low, high)).decode(),
    }


def _whole(values: Floats, low: float, high: float) -> bytes:
    span = high - low if high > low else 1.0
    share = np.where(np.isfinite(values), (values - low) / span, 0.0)
    counts = np.round(share * (MISSING - 1)).astype("<u2")
    counts[~np.isfinite(values)] = MISSING
    return counts.tobytes()


def _paired(t: Floats) -> bool:
    """Whether every time is there twice, for the lowest and the highest value of its stretch."""
    return len(t) > 1 and len(t) % 2 == 0 and bool(np.array_equal(t[::2], t[1::2]))


def _growing(t: Floats) -> bool:
    return len(t) > 1 and bool(np.isfinite(t).all() and (np.diff(t) > 0.0).all())
